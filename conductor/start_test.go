package conductor_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"cagenut/conductor"
	"cagenut/node"
)

func TestStartGoesStepByStepIntoTheRamdisk(t *testing.T) {
	w := newWorld(t, conductor.Settings{})
	n := w.enrolled(node.Manageable, "agent")
	bmc := w.rack.of(n.UUID)
	bmc.set(func(b *testBMC) { b.power = node.PowerOn }) // G42
	w.must(w.ask(n, node.Inspect))
	now := w.node(n)
	same(t, "state", now.ProvisionState, node.Inspecting)
	same(t, "reservation", now.Reservation, "rack-7")
	if !now.InspectionStartedAt.Equal(w.clock.Now()) {
		t.Errorf("inspection_started_at is %v", now.InspectionStartedAt)
	}
	if calls, _ := bmc.seen(); calls != 0 {
		t.Error("the verb itself asked the BMC")
	}
	var steps []string
	for w.step(n.UUID, node.JobStart) >= 0 {
		steps = append(steps, w.attempt(now).Step)
		same(t, "held meanwhile", w.node(n).ReservationID, now.ReservationID)
	}
	if len(steps) < 3 {
		t.Errorf("steps: %q", steps)
	}
	_, log := bmc.seen()
	if diff := cmp.Diff([]string{"power off", "boot ", "boot pxe", "power on"}, log); diff != "" {
		t.Errorf("commands (-want +got):\n%s", diff)
	}
	now = w.node(n)
	w.is(n, node.InspectWait, "")
	same(t, "reserved", now.Reserved(), false)
	same(t, "power", now.PowerState, node.PowerOn)
	if _, ok := now.DriverInternalInfo["lookup_bmc_addresses"]; !ok {
		t.Errorf("driver_internal_info lacks the lookup addresses: %v", now.DriverInternalInfo)
	}
	a := w.attempt(now)
	same(t, "run state", a.State, node.RunWaiting)
	if a.Started != (node.Actor{User: "rosa", Source: node.SourceUI}) {
		t.Errorf("started by %+v", a.Started)
	}
}

func TestStartOnADeadBMCFailsWithinItsTime(t *testing.T) {
	for _, c := range []struct {
		name string
		bmc  func(*testBMC)
		want string
	}{
		{"that refuses connections", func(b *testBMC) {
			b.fail = &node.Unreachable{What: "BMC 192.0.2.10", Err: errors.New("connection refused")}
		}, "unable to start inspection: BMC 192.0.2.10: connection refused"},
		{"that accepts no packets", func(b *testBMC) { b.silent = true }, "unable to start inspection: BMC 192.0.2.10: context deadline exceeded"},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := newWorld(t, conductor.Settings{StartTimeout: 50 * time.Millisecond})
			n := w.enrolled(node.Manageable, "agent")
			w.rack.of(n.UUID).set(c.bmc)
			w.must(w.ask(n, node.Inspect))
			w.work(n.UUID, node.JobStart)
			w.is(n, node.InspectFailed, c.want)
			same(t, "reserved", w.node(n).Reserved(), false)
			same(t, "clean-up jobs (G41)", len(w.queue.of(n.UUID, node.JobCleanUp)), 1)
		})
	}
}

func TestStartThatIsNeverReadyFailsAfterItsTime(t *testing.T) {
	w := newWorld(t, conductor.Settings{})
	n := w.enrolled(node.Manageable, "agent")
	w.must(w.ask(n, node.Inspect))
	w.step(n.UUID, node.JobStart)
	w.clock.advance(time.Minute)
	w.work(n.UUID, node.JobStart)
	now := w.node(n)
	if now.ProvisionState != node.InspectFailed || !strings.HasPrefix(now.LastError, "unable to start inspection: the server was not ready within 1m0s (") {
		t.Errorf("the node is %q: %q", now.ProvisionState, now.LastError)
	}
}

func TestInspectThatCannotWorkIsRefusedBeforeAnythingStarts(t *testing.T) {
	for name, n := range map[string]func(w *world) node.Node{
		"no BMC address (G37)": func(w *world) node.Node {
			n, err := w.CreateNode(w.t.Context(), operator, node.Node{Driver: node.DriverRedfish, ProvisionState: node.Manageable})
			w.must(err)
			return n
		},
		"no interface": func(w *world) node.Node { return w.enrolled(node.Manageable, "no-inspect") },
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, conductor.Settings{})
			n := n(w)
			if err := w.ask(n, node.Inspect); err == nil {
				t.Fatal("it was accepted")
			}
			if diff := cmp.Diff(n, w.node(n)); diff != "" {
				t.Errorf("the node changed (-before +after):\n%s", diff)
			}
		})
	}
}

func TestNewInspectionCancelsTheCleanUpOfTheOneBefore(t *testing.T) {
	w := newWorld(t, conductor.Settings{})
	n, old := w.aborted()
	job := w.queue.of(n.UUID, node.JobCleanUp)[0]
	w.must(w.ask(n, node.Inspect))
	same(t, "clean-up jobs", len(w.queue.of(n.UUID, node.JobCleanUp)), 0)
	now := w.node(n)
	same(t, "target_power_state", now.TargetPowerState, "")
	cancelled, err := w.store.Attempt(t.Context(), old.ID)
	w.must(err)
	same(t, "clean-up", cancelled.CleanUp, node.CleanUpCancelled)
	w.work(n.UUID, node.JobStart)

	// One that was already running finds out by itself.
	bmc := w.rack.of(n.UUID)
	bmc.set(func(*testBMC) {})
	again, err := w.Work(t.Context(), job.Job, 0)
	if err != nil || again >= 0 {
		t.Errorf("the old clean-up: %v, %v", again, err)
	}
	if _, log := bmc.seen(); len(log) != 0 {
		t.Errorf("it sent %q", log)
	}
	w.is(n, node.InspectWait, "")
}

func TestStartThatTheApplianceInterruptsIsLeftToRecovery(t *testing.T) {
	w := newWorld(t, conductor.Settings{})
	n := w.enrolled(node.Manageable, "agent")
	w.must(w.ask(n, node.Inspect))
	job := w.queue.of(n.UUID, node.JobStart)[0]
	w.rack.of(n.UUID).set(func(b *testBMC) { b.silent = true })
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := w.Work(ctx, job.Job, 0); err == nil {
		t.Error("the job counts as done")
	}
	w.is(n, node.Inspecting, "")
}
