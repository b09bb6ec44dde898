// Package process is what the black-box tests need to run our own binary and other people's programs.
package process

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
)

// unwatched leaves SQLite's translated code out: watched for races of its own it takes most of the time of a test.
const unwatched = "-gcflags=modernc.org/...=-race=false"

// Build makes our binary in a folder, watched for races, and gives its path.
func Build(dir string) (string, error) {
	binary := filepath.Join(dir, "cagenut")
	if out, err := exec.Command("go", "build", "-race", unwatched, "-o", binary, "cagenut/cmd/cagenut").CombinedOutput(); err != nil {
		return "", fmt.Errorf("build the binary: %w\n%s", err, out)
	}
	return binary, nil
}

// Environment is one without settings of whoever runs the tests, and with a home of its own.
func Environment(t *testing.T, more ...string) []string {
	env := []string{"HOME=" + t.TempDir(), "TMPDIR=" + t.TempDir()}
	for _, v := range os.Environ() {
		if !strings.HasPrefix(v, "CAGENUT_") && !strings.HasPrefix(v, "OS_") && !strings.HasPrefix(v, "HOME=") && !strings.HasPrefix(v, "TMPDIR=") {
			env = append(env, v)
		}
	}
	return append(env, more...)
}

// Output is what a process has printed so far. It may be read while the process runs.
type Output struct {
	mu   sync.Mutex
	text bytes.Buffer
}

// Write is the process's.
func (o *Output) Write(p []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.text.Write(p)
}

// String is all of it.
func (o *Output) String() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.text.String()
}

// Line is the rest of the first whole line that begins with prefix.
func (o *Output) Line(prefix string) (string, bool) {
	whole := strings.Split(o.String(), "\n")
	for _, l := range whole[:len(whole)-1] {
		if rest, ok := strings.CutPrefix(l, prefix); ok {
			return strings.TrimSpace(rest), true
		}
	}
	return "", false
}
