package conductor_test

import (
	"errors"
	"strings"
	"sync"
	"testing"
	"time"

	"cagenut/conductor"
	"cagenut/node"
)

// contract.md §5.7: an inspector that stores nothing has written properties and ports itself; the inspection has succeeded.
func TestAnInspectorThatStoresNoDataFinishesAllTheSame(t *testing.T) {
	w := newWorld(t, conductor.Settings{})
	n, _ := w.waiting("inspector")
	w.foreign.set(func() { w.foreign.state = node.RunFinished })
	w.rounds(func(tick func(time.Duration)) { tick(15 * time.Second) })
	w.is(n, node.Manageable, "")
	a := w.attempt(n)
	same(t, "outcome", a.Outcome, node.Succeeded)
	same(t, "clean-up jobs", len(w.queue.of(n.UUID, node.JobCleanUp)), 1)
	if w.node(n).InspectionFinishedAt.IsZero() || !strings.Contains(strings.Join(a.Notes, " "), "stores no inspection data") {
		t.Errorf("finished at %v, notes %q", w.node(n).InspectionFinishedAt, a.Notes)
	}
}

// What is over here must end there too, or a late report would still be taken by the service.
func TestARunThatTimedOutHereIsAbortedAtTheInspector(t *testing.T) {
	w := newWorld(t, conductor.Settings{InspectTimeout: 30 * time.Minute})
	n, _ := w.waiting("inspector")
	w.rounds(func(tick func(time.Duration)) { tick(31 * time.Minute) })
	w.is(n, node.InspectFailed, timeoutText)
	same(t, "aborts before the job", w.foreign.aborts, 0)
	w.step(n.UUID, node.JobSettle)
	same(t, "aborts", w.foreign.aborts, 1)
	if d := w.attempt(n).Divergence; !strings.Contains(d, `the inspector service's run is still "waiting"`) {
		t.Errorf("divergence is %q", d)
	}
	w.foreign.set(func() { w.foreign.state = node.RunError })
	w.work(n.UUID, node.JobSettle)
	same(t, "divergence", w.attempt(n).Divergence, "")
	w.is(n, node.InspectFailed, timeoutText)
}

// A ramdisk may report here although the service was told of the run; the service must not wait for it any longer.
func TestARunWhoseReportCameHereIsAbortedAtTheInspector(t *testing.T) {
	w := newWorld(t, conductor.Settings{})
	n, a := w.waiting("inspector")
	w.must(w.post(a.Token, report("")))
	w.work(n.UUID, node.JobFinish)
	w.is(n, node.Manageable, "")
	w.step(n.UUID, node.JobSettle)
	same(t, "aborts", w.foreign.aborts, 1)
	w.foreign.set(func() { w.foreign.state = node.RunError })
	w.work(n.UUID, node.JobSettle)
	same(t, "divergence", w.attempt(n).Divergence, "")
	w.is(n, node.Manageable, "")
}

func TestWhatTheInspectorNeverHeardOfIsNotSettledThere(t *testing.T) {
	w := newWorld(t, conductor.Settings{})
	n := w.enrolled(node.Manageable, "inspector")
	w.must(w.ask(n, node.Inspect))
	w.rack.of(n.UUID).fail = errors.New("it does not answer")
	w.work(n.UUID, node.JobStart)
	if now := w.node(n); now.ProvisionState != node.InspectFailed {
		t.Fatalf("the node is %q", now.ProvisionState)
	}
	same(t, "settle jobs", len(w.queue.of(n.UUID, node.JobSettle)), 0)
}

// contract.md §9, 29: an inspector that does not answer is told on the attempt, and asked again.
func TestAnInspectorThatDoesNotAnswerIsToldOnTheAttempt(t *testing.T) {
	w := newWorld(t, conductor.Settings{})
	n, _ := w.waiting("inspector")
	w.foreign.set(func() {
		w.foreign.runErr = &node.Unreachable{What: "inspector service at http://192.0.2.2:5050", Err: errors.New("503 Service Unavailable")}
	})
	w.rounds(func(tick func(time.Duration)) {
		tick(15 * time.Second)
		w.is(n, node.InspectWait, "")
		if d := w.attempt(n).Divergence; !strings.Contains(d, "503 Service Unavailable") {
			t.Errorf("divergence is %q", d)
		}
		w.foreign.set(func() { w.foreign.runErr = nil })
		tick(15 * time.Second)
		same(t, "divergence", w.attempt(n).Divergence, "")
	})
}

// G32: an inspector that forgot the run can never finish it.
func TestARunThatTheInspectorForgotFailsAtTheNextRound(t *testing.T) {
	w := newWorld(t, conductor.Settings{})
	n, _ := w.waiting("inspector")
	w.foreign.set(func() { w.foreign.runErr = &node.NotFound{What: "Introspection of node", Ident: n.UUID} })
	w.rounds(func(tick func(time.Duration)) { tick(15 * time.Second) })
	w.is(n, node.InspectFailed, "The inspector service does not know this node any more.")
}

// A slow answer about one node must not keep the others waiting.
func TestRunsAreAskedForSideBySide(t *testing.T) {
	w := newWorld(t, conductor.Settings{})
	for range 4 {
		w.waiting("inspector")
	}
	var together sync.WaitGroup
	together.Add(4)
	w.foreign.set(func() {
		w.foreign.during = func() {
			together.Done()
			together.Wait() // returns only when all four are asked for at the same time
		}
	})
	w.rounds(func(tick func(time.Duration)) { tick(15 * time.Second) })
}
