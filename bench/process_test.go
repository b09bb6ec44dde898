package bench_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"cagenut/e2e/process"
)

// workshop is a folder for as long as the benchmarks run.
var workshop string

func TestMain(m *testing.M) {
	var err error
	if workshop, err = os.MkdirTemp("", "cagenut-bench-"); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	code := m.Run()
	if err := os.RemoveAll(workshop); err != nil {
		fmt.Fprintln(os.Stderr, err)
	}
	os.Exit(code)
}

// binary is cagenut as it is shipped: not watched for races, because what it costs is measured.
var binary = sync.OnceValues(func() (string, error) {
	path := filepath.Join(workshop, "cagenut")
	if out, err := exec.Command("go", "build", "-trimpath", "-o", path, "cagenut/cmd/cagenut").CombinedOutput(); err != nil {
		return "", fmt.Errorf("build the binary: %w\n%s", err, out)
	}
	return path, nil
})

// program is a running cagenut in a process of its own.
type program struct {
	cmd       *exec.Cmd
	out, errs process.Output
	ended     chan struct{}
}

// run starts cagenut and returns with the rest of the line by which it says that it is up.
func run(b *testing.B, ready string, args ...string) (p *program, said string) {
	b.Helper()
	path, err := binary()
	must(b, err)
	p = &program{cmd: exec.Command(path, args...), ended: make(chan struct{})}
	p.cmd.Dir, p.cmd.Stdout, p.cmd.Stderr = b.TempDir(), &p.out, &p.errs
	must(b, p.cmd.Start())
	go func() {
		_ = p.cmd.Wait() // how it ended is read from ProcessState
		close(p.ended)
	}()
	b.Cleanup(p.stop)
	eventually(b, "cagenut "+args[0]+" is up", func() (up bool) {
		select {
		case <-p.ended:
			b.Fatalf("cagenut %s: %s\n%s", args[0], p.cmd.ProcessState, &p.errs)
		default:
		}
		said, up = p.out.Line(ready)
		return up
	})
	return p, said
}

// stop ends it as Ctrl-C does, and as a power cut does when that takes too long.
func (p *program) stop() {
	_ = p.cmd.Process.Signal(os.Interrupt) // it may have ended
	select {
	case <-p.ended:
	case <-time.After(time.Minute):
		_ = p.cmd.Process.Signal(syscall.SIGKILL)
		<-p.ended
	}
}

// lastWords are the end of what it logged.
func (p *program) lastWords() string {
	const most = 2000
	s := p.errs.String()
	return s[max(0, len(s)-most):]
}

// usage is what a process has used so far.
type usage struct {
	at        time.Time
	cpu       time.Duration // user and system
	resident  float64       // MB at the moment
	most      float64       // MB, ever
	threads   int
	openFiles int
}

// ticks is how many of /proc's units of CPU time make a second: Linux shows 100 on every machine.
const ticks = 100

func (p *program) usage(b *testing.B) (u usage) {
	b.Helper()
	dir := fmt.Sprintf("/proc/%d/", p.cmd.Process.Pid)
	stat, err := os.ReadFile(dir + "stat")
	must(b, err)
	u.at = time.Now()
	fields := strings.Fields(string(stat[bytes.LastIndexByte(stat, ')')+2:])) // from the third field on
	for _, f := range fields[11:13] {
		n, err := strconv.Atoi(f)
		must(b, err)
		u.cpu += time.Duration(n) * time.Second / ticks
	}
	status, err := os.ReadFile(dir + "status")
	must(b, err)
	for _, line := range strings.Split(string(status), "\n") {
		name, value, _ := strings.Cut(line, ":")
		n, _ := strconv.Atoi(strings.TrimSuffix(strings.TrimSpace(value), " kB")) // other lines are texts
		switch name {
		case "VmRSS":
			u.resident = float64(n) * 1024 / 1e6
		case "VmHWM":
			u.most = float64(n) * 1024 / 1e6
		case "Threads":
			u.threads = n
		}
	}
	files, err := os.ReadDir(dir + "fd")
	must(b, err)
	u.openFiles = len(files)
	return u
}

// share is how much of one core a process used from then to u, in percent.
func (u usage) share(then usage) float64 {
	return 100 * (u.cpu - then.cpu).Seconds() / u.at.Sub(then.at).Seconds()
}

// patience is how long anything may take that is not measured.
const patience = 3 * time.Minute

// eventually asks again and again whether something has become true.
func eventually(b *testing.B, what string, holds func() bool) {
	b.Helper()
	for deadline := time.Now().Add(patience); !holds(); time.Sleep(10 * time.Millisecond) {
		if time.Now().After(deadline) {
			b.Fatalf("never: %s", what)
		}
	}
}

// door is an HTTP API that speaks JSON.
type door struct {
	base   string
	client *http.Client
}

func newDoor(base string) door {
	return door{base, &http.Client{Timeout: time.Minute, Transport: &http.Transport{MaxIdleConnsPerHost: 32}}}
}

// ask makes a request that must succeed, and reads the answer into a value unless that is nil.
func (d door) ask(method, path string, body, into any) error {
	var in io.Reader
	if body != nil {
		raw, err := json.Marshal(body)
		if err != nil {
			return err
		}
		in = bytes.NewReader(raw)
	}
	req, err := http.NewRequest(method, d.base+path, in)
	if err != nil {
		return err
	}
	req.Header.Set("X-OpenStack-Ironic-API-Version", "latest")
	req.Header.Set("Content-Type", "application/json")
	res, err := d.client.Do(req)
	if err != nil {
		return err
	}
	answer, err := io.ReadAll(res.Body)
	if err = errors.Join(err, res.Body.Close()); err != nil {
		return err
	}
	if res.StatusCode >= 300 {
		return fmt.Errorf("%s %s: %d %s", method, path, res.StatusCode, answer)
	}
	if into == nil {
		return nil
	}
	return json.Unmarshal(answer, into)
}
