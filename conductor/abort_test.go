package conductor_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"cagenut/conductor"
	"cagenut/node"
)

const abortedText = "Inspection was aborted by request."

// contract.md §2.7, with design.md §4, point 5: the power is what was last known and off is promised.
func TestAbortLeavesTheNodeOfTheContractBeforeAnyBMCIsAsked(t *testing.T) {
	w := newWorld(t, conductor.Settings{})
	n, a := w.waiting("agent")
	w.must(moved(w, n, a, map[string]any{"agent_url": "http://192.0.2.9:9999", "agent_secret_token": "not-a-real-one"}))
	w.rack.of(n.UUID).set(func(b *testBMC) { b.silent = true })
	w.clock.advance(42 * time.Second)

	w.must(w.SetProvisionState(t.Context(), operator, n.UUID, conductor.ProvisionRequest{Target: "abort", Attempt: a.ID, Reason: "wrong cable"}))

	now := w.node(n)
	w.is(n, node.InspectFailed, abortedText)
	same(t, "target_provision_state", now.TargetProvisionState(), node.Manageable)
	same(t, "reservation", now.Reservation+now.ReservationID, "")
	same(t, "power_state", now.PowerState, node.PowerOn)
	same(t, "target_power_state", now.TargetPowerState, node.PowerOff)
	if !now.InspectionStartedAt.IsZero() || !now.InspectionFinishedAt.IsZero() {
		t.Errorf("inspection times are %v and %v (G44)", now.InspectionStartedAt, now.InspectionFinishedAt)
	}
	if len(now.DriverInternalInfo) != 0 {
		t.Errorf("driver_internal_info still has %v", now.DriverInternalInfo)
	}
	if calls, _ := w.rack.of(n.UUID).seen(); calls != 0 {
		t.Errorf("the BMC was asked %d times (G05)", calls)
	}
	if jobs := w.queue.of(n.UUID, node.JobCleanUp); len(jobs) != 1 || jobs[0].Attempt != a.ID || jobs[0].Hold != "" {
		t.Errorf("clean-up jobs: %+v", jobs)
	}
	ended := finals(w.history(n))
	if len(ended) != 1 {
		t.Fatalf("final history entries: %+v", ended)
	}
	h := ended[0]
	same(t, "event", h.Event, abortedText)
	same(t, "reason", h.Reason, "wrong cable")
	same(t, "actor", h.Actor, operator)
	same(t, "severity", h.Severity, node.SeverityError)
	same(t, "type", h.Type, node.TypeInspection)
	same(t, "state", h.State, node.InspectWait)
	if h.Duration < 42*time.Second {
		t.Errorf("duration is %s", h.Duration)
	}
	audit := w.lastAudit(n)
	same(t, "audit", audit.Action+" "+audit.Result+" "+audit.Reason+" "+audit.Actor.User, "abort accepted wrong cable rosa")
	now2 := w.attempt(now)
	same(t, "outcome", now2.Outcome, node.Aborted)
	same(t, "run state", now2.State, node.RunError)
	same(t, "run error", now2.Error, "Canceled by operator")
}

// moved writes into driver_internal_info as a ramdisk's heartbeat would.
func moved(w *world, n node.Node, a node.Attempt, internal map[string]any) error {
	_, err := w.store.Move(w.t.Context(), node.Move{Node: n.UUID, From: n.ProvisionState, Attempt: a.ID, At: w.clock.Now(), Internal: internal})
	return err
}

func TestAbortThatKeepsThePowerOnPromisesNoPowerOff(t *testing.T) {
	w := newWorld(t, conductor.Settings{})
	n, _ := w.waiting("agent")
	bmc := w.rack.of(n.UUID)
	bmc.set(func(*testBMC) {})
	w.must(w.SetProvisionState(t.Context(), operator, n.UUID, conductor.ProvisionRequest{Target: "abort", KeepPowerOn: true}))
	same(t, "target_power_state", w.node(n).TargetPowerState, "")
	w.work(n.UUID, node.JobCleanUp)
	_, log := bmc.seen()
	if diff := cmp.Diff([]string{"boot "}, log); diff != "" {
		t.Errorf("commands (-want +got):\n%s", diff)
	}
	same(t, "power", w.node(n).PowerState, node.PowerOn)
}

func TestAbortThatIsRefusedChangesNothingButTheAudit(t *testing.T) {
	for _, c := range []struct {
		name  string
		state func(w *world) node.Node
		ask   conductor.ProvisionRequest
		want  any
	}{
		{"an interface that cannot abort (G43)", func(w *world) node.Node {
			n, _ := w.waiting("agent")
			_, err := w.PatchNode(w.t.Context(), operator, n.UUID, 0, func(n node.Node) (node.Node, error) {
				n.Interfaces.Inspect = "no-inspect"
				return n, nil
			})
			w.must(err)
			return n
		}, conductor.ProvisionRequest{Target: "abort"}, new(*node.Unsupported)},
		{"an attempt that is not the node's any more", func(w *world) node.Node {
			n, _ := w.waiting("agent")
			return n
		}, conductor.ProvisionRequest{Target: "abort", Attempt: node.NewUUID()}, new(*node.Stale)},
		{"a state without abort (G07)", func(w *world) node.Node { return w.enrolled(node.Manageable, "agent") },
			conductor.ProvisionRequest{Target: "abort", Minor: 41}, new(*node.InvalidTransition)},
		{"a second abort", func(w *world) node.Node {
			n, _ := w.aborted()
			return n
		}, conductor.ProvisionRequest{Target: "abort"}, new(*node.InvalidTransition)},
		{"a start that holds the node", func(w *world) node.Node {
			n := w.enrolled(node.Manageable, "agent")
			w.must(w.ask(n, node.Inspect))
			return n
		}, conductor.ProvisionRequest{Target: "abort"}, new(*node.Locked)},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := newWorld(t, conductor.Settings{})
			n := w.node(c.state(w))
			before := w.history(n)
			err := w.SetProvisionState(t.Context(), operator, n.UUID, c.ask)
			if !errors.As(err, c.want) {
				t.Fatalf("the answer is %v, want a %T", err, c.want)
			}
			if diff := cmp.Diff(n, w.node(n)); diff != "" {
				t.Errorf("the node changed (-before +after):\n%s", diff)
			}
			if diff := cmp.Diff(before, w.history(n)); diff != "" {
				t.Errorf("the history changed (-before +after):\n%s", diff)
			}
			audit := w.lastAudit(n)
			same(t, "audit", audit.Actor.User+" "+audit.Action+" "+audit.Result, "rosa abort "+err.Error())
		})
	}
}

func TestAbortOlderThanItsMicroversionIsNotAcceptable(t *testing.T) {
	w := newWorld(t, conductor.Settings{})
	n, _ := w.waiting("agent")
	for _, minor := range []int{12, 13, 40} {
		err := w.SetProvisionState(t.Context(), operator, n.UUID, conductor.ProvisionRequest{Target: "abort", Minor: minor})
		if !errors.Is(err, node.ErrNotAcceptable) {
			t.Errorf("1.%d: %v (G06)", minor, err)
		}
	}
	w.is(n, node.InspectWait, "")
}

func TestAbortWaitsForAHeldNodeForItsPatienceOnly(t *testing.T) {
	w := newWorld(t, conductor.Settings{})
	n, _ := w.waiting("agent")
	w.must(w.SetPower(t.Context(), operator, n.UUID, conductor.PowerRequest{Target: "power on"}))
	began := w.clock.Now()
	err := w.ask(n, node.Abort)
	var locked *node.Locked
	if !errors.As(err, &locked) || locked.Holder != "rack-7" {
		t.Fatalf("the answer is %v", err)
	}
	if took := w.clock.Now().Sub(began); took < 2500*time.Millisecond || took > 2600*time.Millisecond {
		t.Errorf("it waited %s, want 2.5 s", took)
	}
	w.is(n, node.InspectWait, "")
	w.work(n.UUID, node.JobPower)
	w.must(w.ask(n, node.Abort))
	w.is(n, node.InspectFailed, abortedText)
}

// An external inspector has a word in it (design.md §4, point 2; G08).
func TestAbortThatAnExternalInspectorDoesNotAcceptKeepsTheNodeWaiting(t *testing.T) {
	for name, answer := range map[string]error{
		"409":          &node.Conflict{Text: "Failed to abort inspection: the node is locked"},
		"timeout":      &node.Unreachable{What: "inspector 192.0.2.2", Timeout: true, Err: context.DeadlineExceeded},
		"other answer": &node.Unreachable{What: "inspector 192.0.2.2", Err: errors.New("500 Internal Server Error")},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, conductor.Settings{})
			n, _ := w.waiting("inspector")
			w.foreign.set(func() { w.foreign.abortErr = answer })
			err := w.ask(n, node.Abort)
			if !errors.Is(err, answer) {
				t.Fatalf("the answer is %v, want %v", err, answer)
			}
			now := w.node(n)
			same(t, "state", now.ProvisionState, node.InspectWait)
			if !strings.HasPrefix(now.LastError, "Failed to abort inspection: ") {
				t.Errorf("last_error is %q", now.LastError)
			}
			h := w.history(n)
			if len(h) != 1 || h[0].Event != now.LastError || h[0].Actor != operator || h[0].Final {
				t.Errorf("history: %+v", h)
			}
			unknown := name == "timeout"
			if asked := w.attempt(n); asked.AbortAskedAt.IsZero() == unknown {
				t.Errorf("abort asked: %v by %v", asked.AbortAskedAt, asked.AbortAsked)
			}
			if len(w.queue.of(n.UUID, node.JobCleanUp)) != 0 {
				t.Error("clean-up was ordered")
			}
		})
	}
}

func TestAbortWhoseAnswerWasLostEndsInTheNameOfWhoAsked(t *testing.T) {
	w := newWorld(t, conductor.Settings{})
	n, _ := w.waiting("inspector")
	w.foreign.set(func() {
		w.foreign.abortErr = &node.Unreachable{What: "inspector 192.0.2.2", Timeout: true, Err: context.DeadlineExceeded}
	})
	err := w.SetProvisionState(t.Context(), operator, n.UUID, conductor.ProvisionRequest{Target: "abort", Reason: "wrong rack", KeepPowerOn: true})
	if err == nil {
		t.Fatal("the abort was accepted")
	}
	w.foreign.set(func() { w.foreign.state, w.foreign.failure = node.RunError, "Canceled by operator" })
	w.rounds(func(tick func(time.Duration)) { tick(15 * time.Second) })
	w.is(n, node.InspectFailed, abortedText)
	a := w.attempt(w.node(n))
	same(t, "outcome", a.Outcome, node.Aborted)
	same(t, "ended by", a.Ended.User, "rosa")
	same(t, "reason", a.Reason, "wrong rack")
	same(t, "power is kept on", a.KeepPowerOn, true)
	if h := finals(w.history(n)); len(h) != 1 || h[0].Actor != operator {
		t.Errorf("final history: %+v", h)
	}
}

// The inspector ends the run before it answers, and a round of the poll may see that first: it is the same abort.
func TestAbortThatThePollSeesBeforeItsAnswerComesIsAnswered(t *testing.T) {
	w := newWorld(t, conductor.Settings{})
	n, _ := w.waiting("inspector")
	w.rounds(func(tick func(time.Duration)) {
		w.foreign.set(func() {
			w.foreign.during = func() {
				w.foreign.set(func() {
					w.foreign.during, w.foreign.state, w.foreign.failure = nil, node.RunError, "Canceled by operator"
				})
				tick(15 * time.Second)
			}
		})
		w.must(w.SetProvisionState(t.Context(), operator, n.UUID, conductor.ProvisionRequest{Target: "abort", Reason: "wrong rack", KeepPowerOn: true}))
	})
	w.is(n, node.InspectFailed, abortedText)
	a := w.attempt(n)
	same(t, "ended by", a.Ended.User, "rosa")
	same(t, "reason", a.Reason, "wrong rack")
	same(t, "power is kept on", a.KeepPowerOn, true)
	same(t, "aborts", w.foreign.aborts, 1)
}

// Two may ask at once: the refusal of the one does not forget the other, whose answer is not known.
func TestARefusedAbortDoesNotForgetWhoElseAsked(t *testing.T) {
	w := newWorld(t, conductor.Settings{})
	n, _ := w.waiting("inspector")
	w.foreign.set(func() {
		w.foreign.abortErr = &node.Conflict{Text: "Failed to abort inspection: the node is locked"}
		w.foreign.during = func() {
			w.clock.advance(time.Second)
			w.foreign.set(func() {
				w.foreign.during = nil
				w.foreign.abortErr = &node.Unreachable{What: "inspector 192.0.2.2", Timeout: true, Err: context.DeadlineExceeded}
			})
			other := node.Actor{User: "ines", Source: node.SourceAPI}
			if err := w.SetProvisionState(t.Context(), other, n.UUID, conductor.ProvisionRequest{Target: "abort"}); err == nil {
				t.Error("the other abort was accepted")
			}
		}
	})
	if err := w.ask(n, node.Abort); err == nil {
		t.Fatal("the abort was accepted")
	}
	same(t, "asked by", w.attempt(n).AbortAsked.User, "ines")
}

// The caller may be gone when the inspector says yes: what it has ended must end here too.
func TestAbortThatTheInspectorAcceptedHoldsWhenTheCallerIsGone(t *testing.T) {
	w := newWorld(t, conductor.Settings{})
	n, _ := w.waiting("inspector")
	ctx, cancel := context.WithCancel(t.Context())
	w.foreign.set(func() { w.foreign.during = cancel })
	if err := w.SetProvisionState(ctx, operator, n.UUID, conductor.ProvisionRequest{Target: "abort"}); err != nil {
		t.Errorf("the answer is %v", err)
	}
	w.is(n, node.InspectFailed, abortedText)
}

// The appliance may die before the answer: who asked is on record before the inspector is asked (design.md §4, point 2).
func TestAbortIsOnRecordBeforeTheInspectorIsAsked(t *testing.T) {
	w := newWorld(t, conductor.Settings{})
	n, _ := w.waiting("inspector")
	var asked node.Attempt
	w.foreign.set(func() {
		w.foreign.during = func() { asked = w.attempt(n) }
		w.foreign.abortErr = &node.Conflict{Text: "Failed to abort inspection: the node is locked"}
	})
	if err := w.ask(n, node.Abort); err == nil {
		t.Fatal("the abort was accepted")
	}
	same(t, "asked by", asked.AbortAsked, operator)
	if after := w.attempt(n); !after.AbortAskedAt.IsZero() {
		t.Errorf("after the refusal it still counts as asked, by %+v", after.AbortAsked)
	}
}

func TestRunThatTheInspectorCancelledByItselfIsNoAbortOfOurs(t *testing.T) {
	w := newWorld(t, conductor.Settings{})
	n, _ := w.waiting("inspector")
	w.foreign.set(func() { w.foreign.state, w.foreign.failure = node.RunError, "Canceled by operator" })
	w.rounds(func(tick func(time.Duration)) { tick(15 * time.Second) })
	w.is(n, node.InspectFailed, "ironic-inspector inspection failed: Canceled by operator")
	same(t, "outcome", w.attempt(n).Outcome, node.Failed)
}

// contract.md §9, 25: an inspector may accept an abort and go on.
func TestSettleRepeatsTheAbortWhileTheOtherSideStillRuns(t *testing.T) {
	w := newWorld(t, conductor.Settings{})
	n, _ := w.waiting("inspector")
	w.must(w.ask(n, node.Abort))
	for range 3 {
		if again := w.step(n.UUID, node.JobSettle); again != 5*time.Second {
			t.Fatalf("it comes again after %s", again)
		}
	}
	same(t, "aborts", w.foreign.aborts, 4)
	if d := w.attempt(w.node(n)).Divergence; !strings.Contains(d, `still "waiting"`) {
		t.Errorf("divergence is %q", d)
	}
	w.foreign.set(func() { w.foreign.state = node.RunError })
	w.work(n.UUID, node.JobSettle)
	same(t, "divergence", w.attempt(w.node(n)).Divergence, "")
	same(t, "aborts", w.foreign.aborts, 4)
	w.is(n, node.InspectFailed, abortedText)
}

// The service has one run of a node: what was to end the last one must not end the next.
func TestSettleDoesNotAbortTheNextAttempt(t *testing.T) {
	w := newWorld(t, conductor.Settings{})
	n, _ := w.waiting("inspector")
	w.must(w.ask(n, node.Abort))
	w.foreign.set(func() {
		w.foreign.during = func() {
			w.foreign.set(func() { w.foreign.during = nil })
			w.must(w.ask(w.node(n), node.Inspect))
		}
	})
	w.step(n.UUID, node.JobSettle)
	same(t, "aborts", w.foreign.aborts, 1)
}

// Both jobs follow one abort; what the one has reached must not be undone by the other, which read the attempt before.
func TestSettleDoesNotUndoWhatCleanUpReachesMeanwhile(t *testing.T) {
	w := newWorld(t, conductor.Settings{})
	n, _ := w.waiting("inspector")
	w.must(w.ask(n, node.Abort))
	w.foreign.set(func() {
		w.foreign.during = func() {
			w.foreign.set(func() { w.foreign.during = nil })
			w.work(n.UUID, node.JobCleanUp)
		}
	})
	w.step(n.UUID, node.JobSettle)
	same(t, "clean-up", w.attempt(n).CleanUp, node.CleanUpDone)
}

// Contract.md §2.3: most verbs are too new before the state is looked at, the later ones only where it allows them.
func TestALateVerbIsJudgedByTheStateFirst(t *testing.T) {
	for _, tc := range []struct {
		verb  string
		minor int
		state node.State
		want  error
	}{
		{"unhold", 84, node.CleanHold, node.ErrNotAcceptable},
		{"unhold", 84, node.Manageable, &node.InvalidTransition{}},
		{"service", 86, node.Active, node.ErrNotAcceptable},
		{"service", 86, node.Manageable, &node.InvalidTransition{}},
		{"rescue", 37, node.Manageable, node.ErrNotAcceptable},
	} {
		t.Run(fmt.Sprintf("%s at 1.%d in %s", tc.verb, tc.minor, tc.state), func(t *testing.T) {
			w := newWorld(t, conductor.Settings{})
			n, err := w.store.CreateNode(t.Context(), node.Node{UUID: node.NewUUID(), Driver: node.DriverRedfish, ProvisionState: tc.state}, node.Audit{})
			w.must(err)
			err = w.SetProvisionState(t.Context(), operator, n.UUID, conductor.ProvisionRequest{Target: tc.verb, Minor: tc.minor})
			if tc.want == node.ErrNotAcceptable {
				if !errors.Is(err, node.ErrNotAcceptable) {
					t.Errorf("got %v", err)
				}
				return
			}
			if transition := (*node.InvalidTransition)(nil); !errors.As(err, &transition) {
				t.Errorf("got %v", err)
			}
		})
	}
}
