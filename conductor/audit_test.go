package conductor_test

import (
	"strings"
	"testing"
	"time"

	"cagenut/conductor"
	"cagenut/node"
)

func TestLinesOfTheAuditAreForgottenWhenTheyAreOldEnough(t *testing.T) {
	w := newWorld(t, conductor.Settings{AuditKept: 24 * time.Hour})
	n := w.fakeNode()
	lines := func() int {
		t.Helper()
		all, err := w.store.AuditTrail(t.Context(), node.AuditFilter{Node: n.UUID})
		w.must(err)
		return len(all)
	}
	before := lines()
	w.rounds(func(tick func(time.Duration)) {
		tick(23 * time.Hour)
		w.must(w.SetMaintenance(t.Context(), operator, n.UUID, true, ""))
		same(t, "lines that are young enough", lines(), before+1)
		tick(2 * time.Hour)
		same(t, "lines after a day", lines(), 1)
	})
}

// G43: the audit keeps what was refused, but clients do not choose how much of it.
func TestTheAuditOfARefusedRequestIsShort(t *testing.T) {
	long := strings.Repeat("x", 300<<10)
	for name, ask := range map[string]func(w *world, uuid string) error{
		"an unknown verb": func(w *world, uuid string) error {
			return w.SetProvisionState(t.Context(), operator, uuid, conductor.ProvisionRequest{Target: long, Reason: long})
		},
		"an unknown power action": func(w *world, uuid string) error {
			return w.SetPower(t.Context(), operator, uuid, conductor.PowerRequest{Target: long})
		},
		"no RAID configuration": func(w *world, uuid string) error {
			return w.SetRAIDConfig(t.Context(), operator, uuid, map[string]any{"logical_disks": []any{map[string]any{"raid_level": long, "size_gb": "MAX"}}})
		},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, conductor.Settings{})
			n := w.fakeNode()
			err := ask(w, n.UUID)
			if err == nil {
				t.Fatal("taken")
			}
			if len(err.Error()) > 1500 {
				t.Errorf("the answer has %d bytes", len(err.Error()))
			}
			const most = 1000 + len("…")
			if a := w.lastAudit(n); a.Result == "accepted" || !strings.Contains(a.Result, "xxx") || len(a.Action) > most || len(a.Result) > most || len(a.Reason) > most {
				t.Errorf("%d bytes of action, %d of result, %d of reason: %.200s", len(a.Action), len(a.Result), len(a.Reason), a.Result)
			}
		})
	}
}
