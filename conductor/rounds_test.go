package conductor_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"cagenut/conductor"
	"cagenut/node"
)

// contract.md §2.9, word for word; then what we know beyond it.
const timeoutText = "Timeout reached while inspecting the node. Please check if the ramdisk responsible for the inspection is running on the node." +
	" No boot file was fetched: check the cabling of the boot NIC, its network, and that the server boots from it."

func TestWaitTimesOutOnceAndInMaintenanceToo(t *testing.T) {
	for name, maintenance := range map[string]bool{"a plain node": false, "a node in maintenance (G11)": true} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, conductor.Settings{InspectTimeout: 30 * time.Minute})
			n, _ := w.waiting("agent")
			w.must(w.SetMaintenance(t.Context(), operator, n.UUID, maintenance, "swap a fan"))
			w.rounds(func(tick func(time.Duration)) {
				tick(29 * time.Minute)
				w.is(n, node.InspectWait, "")
				tick(time.Minute + time.Second)
				w.is(n, node.InspectFailed, timeoutText)
				tick(time.Hour)
			})
			if strings.Contains(timeoutText, "aborted") {
				t.Error("the text has the word that clients look for (G03)")
			}
			a := w.attempt(n)
			same(t, "outcome", a.Outcome, node.TimedOut)
			same(t, "run error", a.Error, "Introspection timeout")
			same(t, "clean-up jobs", len(w.queue.of(n.UUID, node.JobCleanUp)), 1)
			same(t, "final entries", len(finals(w.history(n))), 1)
			same(t, "late report", errors.Is(w.post(a.Token, report("")), node.ErrNotReported), true)
		})
	}
}

func TestWaitOfAHeldNodeTimesOutOnceItIsFree(t *testing.T) {
	w := newWorld(t, conductor.Settings{InspectTimeout: 30 * time.Minute})
	n, _ := w.waiting("agent")
	w.must(w.SetPower(t.Context(), operator, n.UUID, conductor.PowerRequest{Target: "power on"}))
	w.rounds(func(tick func(time.Duration)) {
		tick(31 * time.Minute)
		same(t, "state while held (G11)", w.node(n).ProvisionState, node.InspectWait)
		w.work(n.UUID, node.JobPower)
		tick(time.Second)
	})
	w.is(n, node.InspectFailed, timeoutText)
}

// G45: each node in its own transaction; whoever was aborted in the meantime is nobody's error.
func TestThreeHundredWaitsTimeOutTogether(t *testing.T) {
	w := newWorld(t, conductor.Settings{InspectTimeout: 30 * time.Minute})
	all := make([]node.Node, 300)
	for i := range all {
		n := w.enrolled(node.Manageable, "agent")
		a := node.Attempt{ID: node.NewUUID(), NodeUUID: n.UUID, Interface: "agent", Token: node.Secret(node.NewUUID()), State: node.RunWaiting, StartedAt: w.clock.Now(), WaitingAt: w.clock.Now()}
		now := w.clock.Now()
		_, err := w.store.Move(t.Context(), node.Move{Node: n.UUID, From: node.Manageable, Event: node.Inspect, Then: []node.Event{node.Wait}, At: now, StartedAt: &now, NewAttempt: &a})
		w.must(err)
		all[i] = n
	}
	w.rounds(func(tick func(time.Duration)) {
		aborts := make(chan error, 1)
		go func() {
			var errs []error
			for _, n := range all[:100] {
				err := w.ask(n, node.Abort)
				if invalid := (*node.InvalidTransition)(nil); err != nil && !errors.As(err, &invalid) {
					errs = append(errs, fmt.Errorf("abort: %w", err))
				}
			}
			aborts <- errors.Join(errs...)
		}()
		tick(31 * time.Minute)
		w.must(<-aborts)
		tick(time.Second)
	})
	for _, n := range all {
		now := w.node(n)
		if now.ProvisionState != node.InspectFailed || (now.LastError != timeoutText && now.LastError != abortedText) {
			t.Fatalf("node %s is %q: %q", n.UUID, now.ProvisionState, now.LastError)
		}
		if ended := finals(w.history(n)); len(ended) != 1 || ended[0].Event != now.LastError {
			t.Fatalf("final history: %+v", ended)
		}
	}
}

// G10: what the last run of the appliance held is put in order; what waits goes on.
func TestRecoveryPutsInOrderWhatWasInTheMiddle(t *testing.T) {
	w := newWorld(t, conductor.Settings{InspectTimeout: 30 * time.Minute})
	verifying := w.enrolled(node.Enroll, "agent")
	w.must(w.ask(verifying, node.Manage))
	starting := w.enrolled(node.Manageable, "agent")
	w.must(w.ask(starting, node.Inspect))
	powering := w.enrolled(node.Manageable, "agent")
	w.must(w.SetPower(t.Context(), operator, powering.UUID, conductor.PowerRequest{Target: "power on"}))
	told := w.enrolled(node.Manageable, "inspector")
	w.must(w.ask(told, node.Inspect))
	waiting, _ := w.waiting("agent")
	reported, a := w.waiting("agent")
	w.must(w.post(a.Token, report("")))
	job := w.queue.of(powering.UUID, node.JobPower)[0]

	w.must(w.Recover(t.Context()))

	now := w.node(verifying)
	if now.ProvisionState != node.Enroll || !strings.Contains(now.LastError, "restarted") || now.Reserved() {
		t.Errorf("verifying: %q, %q", now.ProvisionState, now.LastError)
	}
	now = w.node(starting)
	if now.ProvisionState != node.InspectFailed || !strings.HasPrefix(now.LastError, "unable to start inspection: ") || now.Reserved() {
		t.Errorf("starting: %q, %q", now.ProvisionState, now.LastError)
	}
	same(t, "clean-up of the start", len(w.queue.of(starting.UUID, node.JobCleanUp)), 1)
	same(t, "made sure that a foreign inspector ends what it may have been told", len(w.queue.of(told.UUID, node.JobSettle)), 1)
	same(t, "and only that", len(w.queue.of(starting.UUID, node.JobSettle)), 0)
	w.work(starting.UUID, node.JobStart) // finds that it is not wanted
	same(t, "the start after its job", w.node(starting).ProvisionState, node.InspectFailed)
	now = w.node(powering)
	same(t, "target power", now.TargetPowerState, "")
	same(t, "reserved by power", now.Reserved(), false)
	if again, err := w.Work(t.Context(), job.Job, 1); err != nil || again >= 0 {
		t.Errorf("the old power job: %v, %v", again, err)
	}
	same(t, "waiting", w.node(waiting).ProvisionState, node.InspectWait)
	w.work(reported.UUID, node.JobFinish)
	same(t, "reported", w.node(reported).ProvisionState, node.Manageable)
	w.rounds(func(tick func(time.Duration)) { tick(31 * time.Minute) })
	w.is(waiting, node.InspectFailed, timeoutText)
}
