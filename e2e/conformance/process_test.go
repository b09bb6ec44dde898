package conformance_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"cagenut/e2e/process"
)

// ownService runs our binary until the test ends. No server has to reach it: the suite plays the ramdisks.
func ownService(t *testing.T, args ...string) *service {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "data")
	if err := os.MkdirAll(filepath.Join(dir, "boot"), 0o755); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"ipa.kernel", "ipa.initramfs"} {
		if err := os.WriteFile(filepath.Join(dir, "boot", name), []byte("fetched, never run"), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	args = append([]string{
		"serve", "--data-dir", dir, "--listen", "127.0.0.1:0", "--inspector-listen", "127.0.0.1:0", "--auth", "none", "--ramdisk-url", "http://127.0.0.1:6385",
		"--power-sync-interval", "1s", "--log-level", "warn",
	}, args...)
	cmd := exec.Command(binary, args...)
	var out, errs process.Output
	cmd.Env, cmd.Stdout, cmd.Stderr = process.Environment(t), &out, &errs
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan struct{})
	go func() {
		_ = cmd.Wait() // how it ended is read from ProcessState
		close(ended)
	}()
	t.Cleanup(func() {
		_ = cmd.Process.Signal(os.Interrupt)
		select {
		case <-ended:
		case <-time.After(time.Minute):
			_ = cmd.Process.Kill()
			<-ended
		}
		if code := cmd.ProcessState.ExitCode(); code != 0 || strings.Contains(errs.String(), "DATA RACE") || t.Failed() {
			t.Errorf("%s: %s\n%s", strings.Join(args, " "), cmd.ProcessState, &errs)
		}
	})
	s := &service{own: true, patience: time.Minute}
	s.until(t, "the address of the dashboard", func() bool {
		select {
		case <-ended:
			t.Fatalf("it ended: %s\n%s%s", cmd.ProcessState, &out, &errs)
		default:
		}
		_, rest, ok := strings.Cut(out.String(), "Dashboard: ")
		line, _, whole := strings.Cut(rest, "\n")
		s.base = strings.TrimSuffix(strings.TrimSpace(line), "/ui")
		return ok && whole
	})
	s.callback = s.base + "/v1/continue_inspection"
	return s
}
