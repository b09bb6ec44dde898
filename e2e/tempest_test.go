package e2e_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"cagenut/e2e/process"
)

// freeAddress is an address on loopback that nothing listens on, and that nobody else takes before a program does: of
// 127.0.0.1 any connection may take the port in between.
func freeAddress(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", fmt.Sprintf("127.%d.%d.%d:0", 128+rand.IntN(100), rand.IntN(256), 1+rand.IntN(254)))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = l.Close() }()
	return l.Addr().String()
}

// entry is a line of one of the lists of tempest/: a test's id, and after a tab or '#' the reason why it stands there.
type entry struct{ id, reason string }

func entries(t *testing.T, path string) (list []entry) {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(text)) {
		at := strings.IndexAny(line+"#", "#\t")
		id, reason := strings.TrimSpace(line[:min(at, len(line))]), strings.Trim(line[min(at, len(line)):], "#\t\n ")
		if id != "" {
			list = append(list, entry{id, reason})
		}
	}
	return list
}

func has(list []entry, id string) bool {
	return slices.ContainsFunc(list, func(e entry) bool { return e.id == id })
}

func reason(list []entry, id string) string {
	if i := slices.IndexFunc(list, func(e entry) bool { return e.id == id }); i >= 0 {
		return list[i].reason
	}
	return "it was not run"
}

// leavable is what may stand in not-served.txt: tests of what the appliance is not for.
var leavable = regexp.MustCompile(`\.(test_allocations|test_deploy_templates|test_portgroups|test_volume_connector|test_volume_target)\.|\.test_ports(_negative)?\..*portgroup`)

// The judge here is Ironic's own test suite: what it passes on real Ironic (reference.txt) passes here, except what
// not-served.txt names.
func TestTempestPassesWhatItPassesOnIronic(t *testing.T) {
	t.Parallel()
	bash := peer(t, "bash")
	for _, program := range []string{"tempest", "stestr", "curl"} {
		peer(t, program)
	}
	python(t, "ironic_tempest_plugin", "subunit")
	notServed, err := filepath.Abs("tempest/not-served.txt")
	if err != nil {
		t.Fatal(err)
	}
	leftOut, reference := entries(t, notServed), entries(t, "tempest/reference.txt")
	if len(reference) < 233 {
		t.Fatalf("the reference has only %d tests", len(reference))
	}

	inspector := freeAddress(t)
	a := serveOn(t, withBootFiles(t), "--inspector-listen", inspector, "--log-level", "warn")
	results := t.TempDir()
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Minute)
	defer cancel()
	run := exec.CommandContext(ctx, bash, "tempest/run.sh", a.base, results)
	run.Env = process.Environment(t, "INTROSPECTION_URL=http://"+inspector, "TEMPEST_EXCLUDE="+notServed)
	if out, err := run.CombinedOutput(); err != nil && (run.ProcessState == nil || run.ProcessState.ExitCode() != 1) {
		t.Fatalf("tempest could not be run: %v\n%s", err, out)
	}
	list := func(name string) []entry { return entries(t, filepath.Join(results, name)) }
	known, passed, failed, skipped := list("known.txt"), list("pass.txt"), list("fail-reasons.txt"), list("skip-reasons.txt")

	for _, e := range leftOut {
		if !has(known, e.id) {
			t.Errorf("not-served.txt names a test that is not there: %s", e.id)
		}
		if !leavable.MatchString(e.id) || e.reason == "" {
			t.Errorf("not-served.txt must not leave out %s (%s)", e.id, e.reason)
		}
	}
	for _, e := range failed {
		t.Errorf("failed: %s: %s", e.id, e.reason)
	}
	expected := 0
	for _, e := range reference {
		if has(leftOut, e.id) {
			continue
		}
		expected++
		if !has(passed, e.id) && !has(failed, e.id) {
			t.Errorf("passed by real Ironic and not here: %s: %s", e.id, reason(skipped, e.id))
		}
	}
	for _, e := range skipped {
		t.Logf("skipped: %s: %s", e.id, e.reason)
	}
	t.Logf("result: tempest: %d passed, %d failed, %d skipped; %d of them pass on real Ironic; %d left out by not-served.txt, of %d",
		len(passed), len(failed), len(skipped), expected, len(leftOut), len(known))
}
