package conductor_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"cagenut/conductor"
	"cagenut/node"
)

func TestCleanUpPowersOffAndRemovesTheOverride(t *testing.T) {
	w := newWorld(t, conductor.Settings{})
	n, _ := w.aborted()
	bmc := w.rack.of(n.UUID)
	bmc.set(func(*testBMC) {})
	w.work(n.UUID, node.JobCleanUp)
	_, log := bmc.seen()
	if diff := cmp.Diff([]string{"power off", "boot "}, log); diff != "" {
		t.Errorf("commands (-want +got):\n%s", diff)
	}
	now := w.node(n)
	same(t, "power_state (G04)", now.PowerState, node.PowerOff)
	same(t, "target_power_state", now.TargetPowerState, "")
	same(t, "clean-up", w.attempt(now).CleanUp, node.CleanUpDone)
	w.is(n, node.InspectFailed, abortedText)
}

func TestCleanUpThatFailsTellsOnTheNodeUntilItSucceeds(t *testing.T) {
	w := newWorld(t, conductor.Settings{})
	n, _ := w.aborted()
	bmc := w.rack.of(n.UUID)
	bmc.set(func(b *testBMC) {
		b.fail = &node.Unreachable{What: "BMC 192.0.2.10", Err: errors.New("no route to host")}
	})
	var pauses []time.Duration
	for range 8 {
		pauses = append(pauses, w.step(n.UUID, node.JobCleanUp))
	}
	for i := 1; i < len(pauses); i++ {
		if pauses[i] < pauses[i-1] || pauses[i] > time.Minute {
			t.Errorf("pauses do not grow to a minute: %v", pauses)
		}
	}
	w.is(n, node.InspectFailed, abortedText+" Power off not confirmed: BMC 192.0.2.10: no route to host")
	same(t, "target_power_state", w.node(n).TargetPowerState, node.PowerOff)
	h := w.history(n)
	if failed := h[len(h)-2]; failed.Count != 8 || failed.Final || !strings.Contains(failed.Event, "no route to host") {
		t.Errorf("history: %+v", failed)
	}
	same(t, "in the history once", h[len(h)-1].Event, "The BMC does not answer: BMC 192.0.2.10: no route to host")
	same(t, "marked", w.node(n).BMCError, "BMC 192.0.2.10: no route to host")
	bmc.set(func(b *testBMC) { b.fail = nil })
	w.work(n.UUID, node.JobCleanUp)
	w.is(n, node.InspectFailed, abortedText)
	same(t, "marked after an answer", w.node(n).BMCError, "")
	same(t, "power_state", w.node(n).PowerState, node.PowerOff)
	same(t, "error of the clean-up", w.attempt(n).CleanUpError, "")
}

func TestCleanUpThatKeepsThePowerOnTellsWhatItCouldNotDo(t *testing.T) {
	w := newWorld(t, conductor.Settings{})
	n, _ := w.waiting("agent")
	w.must(w.SetProvisionState(t.Context(), operator, n.UUID, conductor.ProvisionRequest{Target: "abort", KeepPowerOn: true}))
	w.rack.of(n.UUID).set(func(b *testBMC) { b.fail = errors.New("redfish: no answer") })
	w.step(n.UUID, node.JobCleanUp)
	w.is(n, node.InspectFailed, abortedText+" Boot override not removed: redfish: no answer")
}

// G41: a server that is off counts as off, also while its BMC refuses to forget the override.
func TestCleanUpThatCannotRemoveTheOverrideStillConfirmsThePower(t *testing.T) {
	w := newWorld(t, conductor.Settings{})
	n, _ := w.aborted()
	bmc := w.rack.of(n.UUID)
	bmc.set(func(b *testBMC) { b.noBoot = errors.New("ipmi: parameter not supported") })
	for range 3 {
		w.step(n.UUID, node.JobCleanUp)
	}
	w.is(n, node.InspectFailed, abortedText+" Boot override not removed: remove the boot override: ipmi: parameter not supported")
	same(t, "power_state", w.node(n).PowerState, node.PowerOff)
	same(t, "target_power_state", w.node(n).TargetPowerState, "")
	bmc.set(func(b *testBMC) { b.noBoot = nil })
	w.work(n.UUID, node.JobCleanUp)
	w.is(n, node.InspectFailed, abortedText)
}

// What is acknowledged is not undone by what follows an earlier abort, as with the power.
func TestCleanUpLeavesABootDeviceThatSomebodySetSince(t *testing.T) {
	for name, set := range map[string]func(w *world, n node.Node) func(string){
		"before it began":      func(w *world, n node.Node) func(string) { w.setBoot(n); return nil },
		"while it was at work": func(w *world, n node.Node) func(string) { return func(string) { w.setBoot(n) } },
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, conductor.Settings{})
			n, _ := w.aborted()
			bmc := w.rack.of(n.UUID)
			if during := set(w, n); during != nil {
				bmc.set(func(b *testBMC) {
					b.before = func(s string) { b.before = nil; during(s) }
				})
			}
			w.work(n.UUID, node.JobCleanUp)
			same(t, "boot device", bmc.boot, node.Boot{Device: node.BootDisk, Persistent: true})
			same(t, "power_state", w.node(n).PowerState, node.PowerOff)
			same(t, "clean-up", w.attempt(n).CleanUp, node.CleanUpDone)
			w.is(n, node.InspectFailed, abortedText)
		})
	}
}

func (w *world) setBoot(n node.Node) {
	w.must(w.SetBootDevice(w.t.Context(), operator, n.UUID, node.Boot{Device: node.BootDisk, Persistent: true}))
}

func TestCleanUpGivesUpAfterItsPatience(t *testing.T) {
	w := newWorld(t, conductor.Settings{CleanUpPatience: 10 * time.Minute})
	n, _ := w.aborted()
	began := w.clock.Now()
	w.rack.of(n.UUID).set(func(b *testBMC) { b.fail = errors.New("redfish: no answer") })
	w.work(n.UUID, node.JobCleanUp)
	if took := w.clock.Now().Sub(began); took < 10*time.Minute || took > 12*time.Minute {
		t.Errorf("it gave up after %s", took)
	}
	same(t, "clean-up", w.attempt(n).CleanUp, node.CleanUpGivenUp)
	same(t, "target_power_state", w.node(n).TargetPowerState, "")
	same(t, "power_state", w.node(n).PowerState, node.PowerOn)
	w.is(n, node.InspectFailed, abortedText+" Power off not confirmed: redfish: no answer")
}

func TestCleanUpThatIsOvertakenInTheMiddleSendsNoFurtherCommand(t *testing.T) {
	w := newWorld(t, conductor.Settings{})
	n, _ := w.aborted()
	job := w.queue.of(n.UUID, node.JobCleanUp)[0]
	bmc := w.rack.of(n.UUID)
	bmc.set(func(b *testBMC) {
		b.before = func(string) {
			b.before = nil
			w.must(w.ask(n, node.Inspect))
		}
	})
	// The first command was on its way; the override of the new attempt is not its to remove.
	for again := time.Duration(0); again >= 0; {
		var err error
		if again, err = w.Work(t.Context(), job.Job, 0); err != nil {
			t.Fatal(err)
		}
	}
	if _, log := bmc.seen(); len(log) != 1 {
		t.Errorf("it sent %q", log)
	}
	w.is(n, node.Inspecting, "")
}

func TestCleanUpOfADeletedNodeEnds(t *testing.T) {
	w := newWorld(t, conductor.Settings{})
	n, _ := w.aborted()
	job := w.queue.of(n.UUID, node.JobCleanUp)[0]
	bmc := w.rack.of(n.UUID)
	bmc.set(func(*testBMC) {})
	w.must(w.SetMaintenance(t.Context(), operator, n.UUID, true, ""))
	w.must(w.DeleteNode(t.Context(), operator, n.UUID))
	same(t, "clean-up jobs", len(w.queue.of(n.UUID, node.JobCleanUp)), 0)
	again, err := w.Work(t.Context(), job.Job, 0)
	if calls, _ := bmc.seen(); err != nil || again >= 0 || calls != 0 {
		t.Errorf("%v, %v, %d calls", again, err, calls)
	}
}

// Somebody who asks for power after an abort has taken over the server: clean-up must not turn it off behind them.
func TestCleanUpLeavesThePowerToWhoAskedForItSince(t *testing.T) {
	for name, during := range map[string]bool{"before its step": false, "while its step waits for the BMC": true} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, conductor.Settings{})
			n, _ := w.aborted()
			bmc := w.rack.of(n.UUID)
			bmc.set(func(*testBMC) {})
			take := func() {
				w.must(w.SetPower(t.Context(), operator, n.UUID, conductor.PowerRequest{Target: "power on"}))
			}
			if !during {
				take()
				w.work(n.UUID, node.JobPower)
			} else {
				w.rack.first = take
			}
			w.work(n.UUID, node.JobCleanUp)
			if during {
				w.work(n.UUID, node.JobPower)
			}
			if _, log := bmc.seen(); strings.Contains(strings.Join(log, ","), "power off") {
				t.Errorf("it sent %q", log)
			}
			now := w.node(n)
			same(t, "power_state", now.PowerState, node.PowerOn)
			same(t, "target_power_state", now.TargetPowerState, "")
			w.is(n, node.InspectFailed, abortedText)
		})
	}
}

func TestCleanUpOfANodeThatIsNeverPoweredOffReboots(t *testing.T) {
	w := newWorld(t, conductor.Settings{})
	n := w.enrolled(node.Manageable, "agent")
	_, err := w.PatchNode(t.Context(), operator, n.UUID, 0, func(n node.Node) (node.Node, error) {
		n.DisablePowerOff = true
		return n, nil
	})
	w.must(err)
	n, _ = w.inspected(n)
	w.must(w.ask(n, node.Abort))
	same(t, "target_power_state", w.node(n).TargetPowerState, "")
	bmc := w.rack.of(n.UUID)
	bmc.set(func(*testBMC) {})
	w.work(n.UUID, node.JobCleanUp)
	_, log := bmc.seen()
	if diff := cmp.Diff([]string{"boot ", "rebooting"}, log); diff != "" {
		t.Errorf("commands (-want +got):\n%s", diff)
	}
}
