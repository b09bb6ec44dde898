package conductor_test

import (
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"cagenut/conductor"
	"cagenut/node"
)

// What the appliance asked for and did not see come about is not somebody's when it does.
func TestWhatComesAboutLateIsNotSomebodys(t *testing.T) {
	w := newWorld(t, conductor.Settings{PowerSyncInterval: time.Minute})
	for name, tc := range map[string]struct {
		before node.PowerState
		action string
		stuck  node.PowerState
		then   []node.PowerState
		want   []string
	}{
		"a power off that takes longer than it was waited for": {node.PowerOn, "power off", node.PowerOn, []node.PowerState{node.PowerOff, node.PowerOn}, []string{
			"Power state is 'power off' now, after the appliance asked for 'power off'.",
			"Power state changed from 'power off' to 'power on' outside of this appliance."}},
		"a soft reboot, which switches off for a moment": {node.PowerOn, "soft rebooting", node.PowerOn, []node.PowerState{node.PowerOff, node.PowerOn}, []string{
			"Power state is 'power off' now, after the appliance asked for 'soft rebooting'.",
			"Power state is 'power on' now, after the appliance asked for 'soft rebooting'."}},
		"a power on, and then somebody with a finger on the button": {node.PowerOff, "power on", "", []node.PowerState{node.PowerOff, node.PowerOn}, []string{
			"Power state changed from 'power on' to 'power off' outside of this appliance.",
			"Power state changed from 'power off' to 'power on' outside of this appliance."}},
	} {
		t.Run(name, func(t *testing.T) {
			n := w.enrolled(node.Manageable, "agent")
			bmc := w.rack.of(n.UUID)
			bmc.set(func(b *testBMC) { b.power = tc.before })
			w.must(w.store.SetPowerState(t.Context(), n.UUID, tc.before, w.clock.Now()))
			bmc.set(func(b *testBMC) { b.stuck = tc.stuck })
			w.must(w.SetPower(t.Context(), operator, n.UUID, conductor.PowerRequest{Target: tc.action}))
			w.work(n.UUID, node.JobPower)
			known := len(w.history(n))
			w.rounds(func(tick func(time.Duration)) {
				for _, p := range tc.then {
					bmc.set(func(b *testBMC) { b.power = p })
					w.untilLooked(tick, bmc, 2)
				}
			})
			var got []string
			for _, h := range w.history(n)[known:] {
				got = append(got, h.Event)
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("history (-want +got):\n%s", diff)
			}
		})
	}
}

// A look that began before one of our own jobs and ends after it has seen a server that is no more.
func TestALookThatOneOfOurJobsOvertakesSaysNothing(t *testing.T) {
	for name, tc := range map[string]struct {
		from node.PowerState
		ours func(w *world, n node.Node)
	}{
		"a power off": {node.PowerOn, func(w *world, n node.Node) {
			w.must(w.SetPower(t.Context(), operator, n.UUID, conductor.PowerRequest{Target: "power off"}))
			w.work(n.UUID, node.JobPower)
		}},
		"off and on again, so that the node is as it was": {node.PowerOn, func(w *world, n node.Node) {
			for _, target := range []string{"power off", "power on"} {
				w.must(w.SetPower(t.Context(), operator, n.UUID, conductor.PowerRequest{Target: target}))
				w.work(n.UUID, node.JobPower)
			}
		}},
		"an inspection, its abort and the clean-up": {node.PowerOn, func(w *world, n node.Node) {
			w.must(w.ask(n, node.Inspect))
			w.work(n.UUID, node.JobStart)
			w.is(n, node.InspectWait, "")
			w.must(w.ask(n, node.Abort))
			w.work(n.UUID, node.JobCleanUp)
		}},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, conductor.Settings{PowerSyncInterval: time.Minute})
			n := w.enrolled(node.Manageable, "agent")
			bmc := w.rack.of(n.UUID)
			w.must(w.store.SetPowerState(t.Context(), n.UUID, tc.from, w.clock.Now()))
			began, goOn := make(chan struct{}), make(chan struct{})
			var first atomic.Bool
			bmc.set(func(b *testBMC) {
				b.power = node.PowerOff // what the look reads, and nobody records
				if tc.from == node.PowerOff {
					b.power = node.PowerOn
				}
				b.looking = func() {
					if first.CompareAndSwap(false, true) {
						close(began)
						<-goOn
					}
				}
			})
			w.rounds(func(tick func(time.Duration)) {
				for looking := false; !looking; {
					tick(time.Second)
					select {
					case <-began:
						looking = true
					default:
					}
				}
				bmc.set(func(b *testBMC) { b.power = tc.from })
				tc.ours(w, n)
				close(goOn)
				w.untilLooked(tick, bmc, 2)
			})
			for _, h := range w.history(n) {
				if strings.Contains(h.Event, outside) || strings.Contains(h.Event, "after the appliance asked") {
					t.Errorf("history: %s", h.Event)
				}
			}
			bmc.mu.Lock()
			real := bmc.power
			bmc.mu.Unlock()
			same(t, "power_state", w.node(n).PowerState, real)
		})
	}
}

// However looks and our own jobs meet, nothing that the appliance did is somebody's.
func TestNothingOfOursIsEverNotedAsSomebodys(t *testing.T) {
	w := newWorld(t, conductor.Settings{PowerSyncInterval: time.Second, StartTimeout: 24 * time.Hour})
	nodes := make([]node.Node, 8)
	for i := range nodes {
		nodes[i] = w.enrolled(node.Manageable, "agent")
		w.must(w.store.SetPowerState(t.Context(), nodes[i].UUID, node.PowerOff, w.clock.Now()))
	}
	stop := make(chan struct{})
	var (
		jobs  sync.WaitGroup
		turns atomic.Int64
	)
	w.rounds(func(tick func(time.Duration)) {
		for i, n := range nodes {
			jobs.Go(func() {
				for turn := 0; ; turn++ {
					select {
					case <-stop:
						return
					default:
					}
					w.oneOfOurs(n, i+turn)
					turns.Add(1)
				}
			})
		}
		for deadline := time.Now().Add(time.Minute); turns.Load() < 60 || w.rack.looks.Load() < 200; {
			if time.Now().After(deadline) {
				t.Errorf("only %d jobs and %d looks could meet", turns.Load(), w.rack.looks.Load())
				break
			}
			tick(250 * time.Millisecond)
		}
		close(stop)
		jobs.Wait()
		tick(2 * time.Second)
		tick(2 * time.Second)
	})
	for _, n := range nodes {
		for _, h := range w.history(n) {
			if strings.Contains(h.Event, outside) {
				t.Errorf("node %s: %s", n.UUID, h.Event)
			}
		}
	}
}

// oneOfOurs is a power action, or an inspection and its abort, worked off by hand while the rounds go on.
func (w *world) oneOfOurs(n node.Node, turn int) {
	work := func(kind node.JobKind) {
		for _, j := range w.queue.of(n.UUID, kind) {
			for round := range 50 {
				again, err := w.Work(w.t.Context(), j.Job, round)
				if err != nil {
					w.t.Errorf("%s job: %v", kind, err)
				}
				if again < 0 || err != nil {
					break
				}
			}
			if _, err := w.queue.db.ExecContext(w.t.Context(), `DELETE FROM test_jobs WHERE id = ?`, j.id); err != nil {
				w.t.Error(err)
			}
		}
	}
	if turn%4 != 3 {
		target := []string{"power on", "power off", "rebooting"}[turn%4]
		if err := w.SetPower(w.t.Context(), operator, n.UUID, conductor.PowerRequest{Target: target}); err != nil {
			w.t.Errorf("%s: %v", target, err)
		}
		work(node.JobPower)
		return
	}
	if err := w.ask(n, node.Inspect); err != nil {
		w.t.Errorf("inspect: %v", err)
	}
	work(node.JobStart)
	if err := w.ask(n, node.Abort); err != nil {
		w.t.Errorf("abort: %v", err)
	}
	work(node.JobCleanUp)
}
