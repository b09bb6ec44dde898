package store_test

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"cagenut/node"
)

func TestTheDatabaseTellsHowMuchIsKeptAndThatItTakesMore(t *testing.T) {
	r := newRig(t)
	r.waiting(t)
	r.add(t, node.Manageable)
	l := must(r.Load(t.Context()))(t)
	counts := map[string]int64{}
	for _, k := range l.Kept {
		counts[k.What] = k.Count
	}
	if counts["nodes"] != 2 || counts["attempts"] != 1 || counts["reports"] != 0 || counts["audit"] != 2 {
		t.Errorf("kept are %v", counts)
	}
	if l.Unwritten != "" || l.Size+l.WAL == 0 || l.Schema < 17 || l.DiskSize <= 0 || l.DiskFree > l.DiskSize || l.Path != filepath.Join(r.folder, "cagenut.db") {
		t.Errorf("got %+v", l)
	}
}

func TestADatabaseThatNobodyCanWriteSaysSoInTime(t *testing.T) {
	r := newRig(t)
	tx, err := r.Writer().BeginTx(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = tx.Rollback() }()
	if l := must(r.Load(t.Context()))(t); !strings.Contains(l.Unwritten, "nobody could write within 1s") {
		t.Errorf("of a database whose only writer is at work: %q", l.Unwritten)
	}
}

func TestAFileThatIsGoneHasNoSize(t *testing.T) {
	r := newRig(t)
	if err := os.Remove(filepath.Join(r.folder, "cagenut.db-wal")); err != nil {
		t.Fatal(err)
	}
	if l := must(r.Load(t.Context()))(t); l.WAL != 0 {
		t.Errorf("got %+v", l)
	}
}

func TestTheBMCsThatHaveBeenSilentForTheLongestAreNamed(t *testing.T) {
	r := newRig(t)
	r.add(t, node.Manageable)
	if err := r.SetPowerState(t.Context(), r.add(t, node.Manageable).UUID, node.PowerOn, begin); err != nil {
		t.Fatal(err)
	}
	var marks []node.Look
	for i := range 25 {
		n := r.add(t, node.Manageable, func(n *node.Node) {
			n.Extra = map[string]any{"rack": "R07", "rack_unit": i + 1}
			n.DriverInfo = map[string]any{"redfish_address": "https://192.0.2.10"}
		})
		marks = append(marks, look(n, begin, func(l *node.Look) { l.Unreachable, l.SilentAt = "no answer", begin.Add(-time.Duration(i)*time.Hour) }))
	}
	if err := r.RecordLooks(context.Background(), marks); err != nil {
		t.Fatal(err)
	}
	l := must(r.BMCLoad(t.Context()))(t)
	if l.Answering != 1 || l.Silent != 25 || l.Unasked != 1 || len(l.Worst) != 20 {
		t.Fatalf("%d answer, %d are silent, %d were not asked, %d are named", l.Answering, l.Silent, l.Unasked, len(l.Worst))
	}
	want := node.SilentBMC{Node: marks[24].Node, Place: node.Location{Rack: "R07", Unit: 25, Units: 1}, Address: "192.0.2.10", Since: begin.Add(-24 * time.Hour), Error: "no answer"}
	if d := cmp.Diff(want, l.Worst[0]); d != "" {
		t.Errorf("the worst (-want +got):\n%s", d)
	}
}
