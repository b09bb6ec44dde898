package store_test

import (
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"cagenut/node"
)

func TestALostMoveLeavesNothingBehind(t *testing.T) {
	for name, spoil := range map[string]func(*node.Move){
		"another state":                     func(m *node.Move) { m.From, m.Event = node.Manageable, node.Inspect },
		"a reservation that is not its own": func(m *node.Move) { m.Held = "mine" },
		"an earlier attempt":                func(m *node.Move) { m.Attempt = node.NewUUID() },
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t)
			n, a := r.waiting(t)
			last := must(r.LastChange(t.Context()))(t)
			m := abort(n, a).Move
			m.Audit = &node.Audit{NodeUUID: n.UUID, Action: "abort"}
			spoil(&m)
			if _, err := r.Move(t.Context(), m); !errors.Is(err, node.ErrLost) {
				t.Fatalf("got %v, not ErrLost", err)
			}
			if d := cmp.Diff(n, must(r.Node(t.Context(), n.UUID))(t)); d != "" {
				t.Error(d)
			}
			if h := must(r.History(t.Context(), n.UUID, node.Page{}))(t); len(h) != 0 {
				t.Errorf("history %+v", h)
			}
			if got := must(r.LastChange(t.Context()))(t); got != last || len(r.queue.jobs()) != 0 {
				t.Errorf("change %d after %d, jobs %v", got, last, r.queue.jobs())
			}
			if audits := must(r.Audits(t.Context(), n.UUID))(t); len(audits) != 1 {
				t.Errorf("audits %+v", audits)
			}
		})
	}
}

func TestOfFiftyWhoEndAnAttemptExactlyOneDoes(t *testing.T) {
	r := newRig(t)
	n, a := r.waiting(t)
	var won, lost atomic.Int32
	var all sync.WaitGroup
	for range 50 {
		all.Go(func() {
			switch _, err := r.EndAttempt(t.Context(), abort(n, a)); {
			case err == nil:
				won.Add(1)
			case errors.Is(err, node.ErrLost):
				lost.Add(1)
			default:
				t.Error(err)
			}
		})
	}
	all.Wait()
	if won.Load() != 1 || lost.Load() != 49 {
		t.Fatalf("%d won, %d lost", won.Load(), lost.Load())
	}
	ended := must(r.Attempt(t.Context(), a.ID))(t)
	if ended.Outcome != node.Aborted || ended.State != node.RunError || ended.Ended.User != "ada" || ended.CleanUp != node.CleanUpPending {
		t.Errorf("attempt %+v", ended)
	}
	if got := must(r.Node(t.Context(), n.UUID))(t); got.ProvisionState != node.InspectFailed {
		t.Errorf("node is %q", got.ProvisionState)
	}
	if h := must(r.History(t.Context(), n.UUID, node.Page{}))(t); len(h) != 1 || len(r.queue.jobs()) != 1 {
		t.Errorf("%d entries, jobs %v", len(h), r.queue.jobs())
	}
}

func TestEventsThatFollowAtOnceAreOneChange(t *testing.T) {
	r := newRig(t)
	n := r.add(t, node.Manageable)
	got := must(r.Move(t.Context(), node.Move{Node: n.UUID, From: node.Manageable, Event: node.Provide, Then: []node.Event{node.Done}, At: begin}))(t)
	if got.ProvisionState != node.Available {
		t.Fatalf("node is %q", got.ProvisionState)
	}
	changes := must(r.Changes(t.Context(), 0, 10))(t)
	if len(changes) != 1 || changes[0].From != node.Manageable || changes[0].To != node.Available {
		t.Errorf("changes %+v", changes)
	}
}

func TestAnEventThatTheTableDoesNotHaveIsRefused(t *testing.T) {
	r := newRig(t)
	n := r.add(t, node.Manageable)
	_, err := r.Move(t.Context(), node.Move{Node: n.UUID, From: node.Manageable, Event: node.Abort, At: begin})
	var refused *node.InvalidTransition
	if !errors.As(err, &refused) {
		t.Fatalf("got %v", err)
	}
}

func TestAReservationIsHeldByWhoeverKnowsItsID(t *testing.T) {
	r := newRig(t)
	n := r.add(t, node.Manageable)
	got := must(r.Move(t.Context(), node.Move{Node: n.UUID, From: node.Manageable, Hold: "w1", Host: "rack", At: begin}))(t)
	if got.Reservation != "rack" || !got.Reserved() {
		t.Fatalf("reservation %q", got.Reservation)
	}
	if held := must(r.Interrupted(t.Context()))(t); len(held) != 1 || held[0].UUID != n.UUID {
		t.Errorf("interrupted: %+v", held)
	}
	if _, err := r.Move(t.Context(), node.Move{Node: n.UUID, From: node.Manageable, Event: node.Inspect, At: begin}); !errors.Is(err, node.ErrLost) {
		t.Errorf("a stranger moved it: %v", err)
	}
	got = must(r.Move(t.Context(), node.Move{Node: n.UUID, From: node.Manageable, Held: "w1", At: begin}))(t)
	if got.Reserved() || got.Reservation != "" {
		t.Errorf("still held by %q", got.Reservation)
	}
}

func TestHistoryIsCappedButKeepsHowAttemptsEnded(t *testing.T) {
	r := newRig(t)
	n := r.add(t, node.Manageable)
	m := node.Move{Node: n.UUID, From: node.Manageable, At: begin, History: []node.History{{NodeUUID: n.UUID, At: begin, Event: "ended", Final: true}}}
	for i := range 305 {
		m.History = append(m.History, node.History{NodeUUID: n.UUID, At: begin.Add(time.Duration(i) * time.Second), Event: fmt.Sprint(i)})
	}
	must(r.Move(t.Context(), m))(t)
	h := must(r.History(t.Context(), n.UUID, node.Page{}))(t)
	if len(h) != 301 || h[0].Event != "ended" || h[1].Event != "5" || h[300].Event != "304" {
		t.Errorf("%d entries, from %q, %q", len(h), h[0].Event, h[1].Event)
	}
}

func TestAKeyedEntryCountsInsteadOfRepeating(t *testing.T) {
	r := newRig(t)
	n := r.add(t, node.Manageable)
	for i := range 3 {
		h := node.History{NodeUUID: n.UUID, At: begin.Add(time.Duration(i) * time.Second), Event: fmt.Sprintf("late report %d", i), Key: "late"}
		if err := r.Note(t.Context(), &h, nil); err != nil {
			t.Fatal(err)
		}
	}
	h := must(r.History(t.Context(), n.UUID, node.Page{}))(t)
	if len(h) != 1 || h[0].Count != 3 || !h[0].At.Equal(begin) || !h[0].LastAt.Equal(begin.Add(2*time.Second)) || h[0].Event != "late report 2" {
		t.Errorf("history %+v", h)
	}
}

func TestCleanUpAddsToLastErrorOnlyWhileItSpeaksOfTheAttempt(t *testing.T) {
	r := newRig(t)
	n, a := r.waiting(t)
	must(r.EndAttempt(t.Context(), abort(n, a)))(t)
	a = must(r.Attempt(t.Context(), a.ID))(t)
	say := func(text, want string) {
		t.Helper()
		if err := r.UpdateAttempt(t.Context(), a, &text); err != nil {
			t.Fatal(err)
		}
		if got := must(r.Node(t.Context(), n.UUID))(t).LastError; got != want {
			t.Errorf("last_error is %q, not %q", got, want)
		}
	}
	say(a.LastError+" The BMC does not answer.", a.LastError+" The BMC does not answer.")
	say(a.LastError, a.LastError)
	other := "Power failed."
	must(r.Move(t.Context(), node.Move{Node: n.UUID, From: node.InspectFailed, At: begin, LastError: &other}))(t)
	say(a.LastError+" Too late.", other)
}

func TestACancelledCleanUpCannotWriteAnyMore(t *testing.T) {
	r := newRig(t)
	n, a := r.waiting(t)
	must(r.EndAttempt(t.Context(), abort(n, a)))(t)
	next := node.Attempt{ID: node.NewUUID(), NodeUUID: n.UUID, Interface: "agent", Token: "t2", State: node.RunStarting, StartedAt: begin}
	must(r.Move(t.Context(), node.Move{Node: n.UUID, From: node.InspectFailed, Event: node.Inspect, At: begin, NewAttempt: &next, CancelJobs: []node.JobKind{node.JobCleanUp}}))(t)
	if got := must(r.Attempt(t.Context(), a.ID))(t).CleanUp; got != node.CleanUpCancelled {
		t.Errorf("clean-up is %q", got)
	}
	if err := r.UpdateAttempt(t.Context(), a, nil); !errors.Is(err, node.ErrLost) {
		t.Errorf("got %v, not ErrLost", err)
	}
}
