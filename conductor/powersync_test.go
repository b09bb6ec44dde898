package conductor_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"cagenut/conductor"
	"cagenut/node"
	"cagenut/store"
)

const outside = "outside of this appliance"

var silence = &node.Unreachable{What: "BMC 192.0.2.10", Timeout: true, Err: context.DeadlineExceeded}

// untilLooked lets seconds pass until the BMC has been asked so many times more, and what it said is recorded.
func (w *world) untilLooked(tick func(time.Duration), b *testBMC, times int) {
	w.t.Helper()
	before, _ := b.seen()
	seconds := 0
	// That a look begins proves that the one before is over: its finding is recorded one round later.
	for calls := before; calls <= before+times; calls, _ = b.seen() {
		if seconds++; seconds > 100*60 {
			w.t.Fatalf("the BMC was asked %d times, not %d", calls-before, times)
		}
		tick(time.Second)
	}
	tick(time.Second)
}

func events(all []node.History) (out []string) {
	for _, h := range all {
		out = append(out, fmt.Sprintf("%s %s %s", h.Severity, h.Type, h.Event))
	}
	return out
}

// G03: whatever the power sync finds, the reason why an inspection ended stays.
func TestPowerSyncNotesWhatSomebodyDidAtTheMachineAndNeverTouchesLastError(t *testing.T) {
	w := newWorld(t, conductor.Settings{PowerSyncInterval: time.Minute})
	n, _ := w.aborted()
	w.work(n.UUID, node.JobCleanUp)
	before := w.node(n)
	known := len(w.history(n))
	bmc := w.rack.of(n.UUID)
	w.rounds(func(tick func(time.Duration)) {
		w.untilLooked(tick, bmc, 2)
		same(t, "entries for a server that is as it was", len(w.history(n)), known)
		bmc.set(func(b *testBMC) { b.power = node.PowerOn })
		w.untilLooked(tick, bmc, 2)
		same(t, "power_state", w.node(n).PowerState, node.PowerOn)
		bmc.set(func(b *testBMC) { b.power = node.PowerOff })
		w.untilLooked(tick, bmc, 2)
	})
	want := []string{
		"INFO power Power state changed from 'power off' to 'power on' outside of this appliance.",
		"INFO power Power state changed from 'power on' to 'power off' outside of this appliance.",
	}
	if diff := cmp.Diff(want, events(w.history(n)[known:])); diff != "" {
		t.Errorf("history (-want +got):\n%s", diff)
	}
	w.is(n, node.InspectFailed, abortedText)
	now := w.node(n)
	if now.Version != before.Version || !now.UpdatedAt.Equal(before.UpdatedAt) || now.Reserved() || now.Maintenance || now.Fault != "" {
		t.Errorf("the node changed: %+v", now)
	}
	if _, log := bmc.seen(); len(log) != 0 {
		t.Errorf("the BMC was told %q", log)
	}
	if age := w.clock.Now().Sub(now.PowerCheckedAt); age > time.Minute+2*time.Second {
		t.Errorf("the power was read %s ago", age)
	}
}

func TestPowerSyncSpreadsItsLooksAlsoAfterAStart(t *testing.T) {
	w := newWorld(t, conductor.Settings{PowerSyncInterval: time.Minute})
	const nodes = 120
	for range nodes {
		w.enrolled(node.Manageable, "agent")
	}
	asked := func() (sum int) {
		w.rack.mu.Lock()
		defer w.rack.mu.Unlock()
		for _, b := range w.rack.bmcs {
			calls, _ := b.seen()
			sum += calls
		}
		return sum
	}
	w.rounds(func(tick func(time.Duration)) {
		for second := 1; second <= 60; second++ {
			tick(time.Second)
			for deadline := time.Now().Add(10 * time.Second); asked() < (second-1)*nodes/60; {
				if time.Now().After(deadline) {
					t.Fatalf("after %d s, %d of %d nodes were asked", second, asked(), nodes)
				}
				time.Sleep(time.Millisecond)
			}
			if got := asked(); got > (second+1)*nodes/60 {
				t.Fatalf("after %d s, %d of %d nodes were asked", second, got, nodes)
			}
		}
	})
	w.rack.mu.Lock()
	defer w.rack.mu.Unlock()
	for uuid, b := range w.rack.bmcs {
		if calls, _ := b.seen(); calls != 1 {
			t.Errorf("node %s was asked %d times within an interval", uuid, calls)
		}
	}
}

func TestPowerSyncIsOffWithAnIntervalOfZero(t *testing.T) {
	w := newWorld(t, conductor.Settings{InspectTimeout: time.Hour})
	bmc := w.rack.of(w.enrolled(node.Manageable, "agent").UUID)
	w.rounds(func(tick func(time.Duration)) {
		tick(time.Hour)
		tick(time.Hour)
	})
	if calls, _ := bmc.seen(); calls != 0 {
		t.Errorf("the BMC was asked %d times", calls)
	}
}

// G36: the healthy are asked on time while a rack of BMCs hangs.
func TestPowerSyncSaysOncePerVersionOfANodeThatNobodyCanBeAsked(t *testing.T) {
	w := newWorld(t, conductor.Settings{PowerSyncInterval: time.Minute})
	var log strings.Builder
	w.Log = slog.New(slog.NewTextHandler(&log, nil))
	n := w.enrolled(node.Manageable, "agent")
	bmc := w.rack.of(n.UUID)
	bmc.set(func(b *testBMC) { b.fail = node.Invalidf("redfish_verify_ca is odd") })
	w.rounds(func(tick func(time.Duration)) {
		w.untilLooked(tick, bmc, 4)
	})
	same(t, "lines for a node that stays as it is", strings.Count(log.String(), "redfish_verify_ca is odd"), 1)
	_, err := w.change(n, func(n *node.Node) { n.DriverInfo["redfish_verify_ca"] = "odd" })
	w.must(err)
	bmc = w.rack.of(n.UUID) // another one: its settings are new
	bmc.set(func(b *testBMC) { b.fail = node.Invalidf("redfish_verify_ca is odd") })
	w.rounds(func(tick func(time.Duration)) {
		w.untilLooked(tick, bmc, 3)
	})
	same(t, "lines after a change", strings.Count(log.String(), "redfish_verify_ca is odd"), 2)
}

func TestPowerSyncWaitsForNobodyThatHangs(t *testing.T) {
	w := newWorld(t, conductor.Settings{PowerSyncInterval: time.Minute})
	for range 100 {
		w.rack.of(w.enrolled(node.Manageable, "agent").UUID).set(func(b *testBMC) { b.silent = true })
	}
	healthy := make([]node.Node, 5)
	for i := range healthy {
		healthy[i] = w.enrolled(node.Manageable, "agent")
	}
	w.rounds(func(tick func(time.Duration)) {
		for range 62 {
			tick(time.Second)
		}
		for _, n := range healthy {
			w.untilLooked(tick, w.rack.of(n.UUID), 1)
			if now := w.node(n); w.clock.Now().Sub(now.PowerCheckedAt) > time.Minute+3*time.Second {
				t.Errorf("node %s was checked at %s, now is %s", n.UUID, now.PowerCheckedAt, w.clock.Now())
			}
		}
	})
}

// fullDisk is a store that fails a few times.
type fullDisk struct {
	*store.Store
	due, records atomic.Int64 // how many times more
}

func (f *fullDisk) PowerDue(ctx context.Context, from, to int64) ([]node.Node, error) {
	if f.due.Add(-1) >= 0 {
		return nil, errors.New("the disk is full")
	}
	return f.Store.PowerDue(ctx, from, to)
}

func (f *fullDisk) RecordLooks(ctx context.Context, looks []node.Look) error {
	if f.records.Add(-1) >= 0 {
		return errors.New("the disk is full")
	}
	return f.Store.RecordLooks(ctx, looks)
}

// G45: a round that fails comes again, and what it should have done is done then.
func TestARoundThatFailsIsMadeUpFor(t *testing.T) {
	w := newWorld(t, conductor.Settings{PowerSyncInterval: time.Minute})
	n := w.enrolled(node.Manageable, "agent")
	w.must(w.store.SetPowerState(t.Context(), n.UUID, node.PowerOff, w.clock.Now()))
	bmc := w.rack.of(n.UUID)
	bmc.set(func(b *testBMC) { b.power = node.PowerOn })
	f := &fullDisk{Store: w.store}
	w.Watched, w.Moves = f, f
	w.rounds(func(tick func(time.Duration)) {
		f.due.Store(59)
		for range 60 {
			tick(time.Second)
		}
		for calls, deadline := 0, time.Now().Add(10*time.Second); calls == 0; calls, _ = bmc.seen() {
			if time.Now().After(deadline) {
				t.Fatal("the turn that came while the store failed is lost")
			}
			time.Sleep(time.Millisecond)
		}
		f.records.Store(1)
		w.untilLooked(tick, bmc, 3)
	})
	same(t, "power_state", w.node(n).PowerState, node.PowerOn)
	same(t, "entries", len(w.history(n)), 1)
}
