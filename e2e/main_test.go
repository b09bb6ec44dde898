package e2e_test

import (
	"fmt"
	"os"
	"os/exec"
	"testing"

	"cagenut/e2e/process"
)

// binary is the program under test.
var binary string

func TestMain(m *testing.M) {
	os.Exit(buildAndRun(m))
}

func buildAndRun(m *testing.M) int {
	dir, err := os.MkdirTemp("", "cagenut-e2e-")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer func() { _ = os.RemoveAll(dir) }()
	if binary, err = process.Build(dir); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return m.Run()
}

// peer finds a program that a test drives the appliance with. Where there is none, the test is skipped with that reason;
// with CAGENUT_REQUIRE_PEERS=1, as in CI, it fails.
func peer(t *testing.T, names ...string) string {
	t.Helper()
	for _, name := range names {
		if path, err := exec.LookPath(name); err == nil {
			return path
		}
	}
	missing(t, names[0])
	return ""
}

// python finds Debian's Python with modules that Debian brings. Another Python may come first in PATH and know none of them.
func python(t *testing.T, modules ...string) string {
	t.Helper()
	const path = "/usr/bin/python3"
	for _, module := range modules {
		if err := exec.Command(path, "-c", "import "+module).Run(); err != nil {
			missing(t, "Debian's Python with "+module)
		}
	}
	return path
}

func missing(t *testing.T, what string) {
	t.Helper()
	if os.Getenv("CAGENUT_REQUIRE_PEERS") == "1" {
		t.Fatalf("%s is not installed, and CAGENUT_REQUIRE_PEERS asks for it", what)
	}
	t.Skipf("%s is not installed on this machine: the appliance is NOT tested with it", what)
}
