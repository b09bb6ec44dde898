package conductor_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"cagenut/conductor"
	"cagenut/node"
)

// named gives a node a name and a place.
func (w *world) named(n node.Node, name string) node.Node {
	w.t.Helper()
	n, err := w.change(n, func(n *node.Node) { n.Name, n.Extra = name, map[string]any{"rack": "R07", "rack_unit": 21} })
	w.must(err)
	return n
}

// hold reserves a node, as a worker does.
func (w *world) hold(n node.Node) {
	w.t.Helper()
	_, err := w.store.Move(w.t.Context(), node.Move{Node: n.UUID, From: n.ProvisionState, Hold: node.NewUUID(), Host: "rack-7", At: w.clock.Now()})
	w.must(err)
}

// presser is somebody who presses a button of their own.
func presser() node.Actor {
	return node.Actor{User: "mara", Source: node.SourceUI, Address: "192.0.2.51", RequestID: "req-" + node.NewUUID()}
}

func idents(nodes ...node.Node) node.BulkChoice {
	var c node.BulkChoice
	for _, n := range nodes {
		c.Idents = append(c.Idents, n.UUID)
	}
	return c
}

// bulk starts a run and works it to its end.
func (w *world) bulk(req conductor.BulkRequest) (node.BulkRun, []node.BulkResult) {
	w.t.Helper()
	run, err := w.StartBulk(w.t.Context(), presser(), req)
	w.must(err)
	w.work("", node.JobBulk)
	return w.bulkRun(run.ID)
}

func (w *world) bulkRun(id string) (node.BulkRun, []node.BulkResult) {
	w.t.Helper()
	run, err := w.store.BulkRun(w.t.Context(), id)
	w.must(err)
	results, err := w.store.BulkResults(w.t.Context(), id, node.BulkResultFilter{})
	w.must(err)
	return run, results
}

// G53: of ten chosen nodes three have nothing to abort and one is held; six are aborted, and four say why not.
func TestABulkAbortDoesWhatItCanAndSaysWhyOfTheRest(t *testing.T) {
	w := newWorld(t, conductor.Settings{})
	var all []node.Node
	for range 6 {
		n, _ := w.waiting("agent")
		all = append(all, n)
	}
	for _, s := range []node.State{node.Manageable, node.Available, node.InspectFailed} {
		all = append(all, w.enrolled(s, "agent"))
	}
	held, _ := w.waiting("agent")
	w.hold(held)
	all = append(all, held)
	run, results := w.bulk(conductor.BulkRequest{Action: node.BulkAbort, Choice: idents(all...), Reason: "wrong cable", KeepPowerOn: true})
	same(t, "the counts", run.Counts, node.BulkCounts{Done: 6, Refused: 4})
	same(t, "the run has ended", run.Ended(), true)
	for i, r := range results {
		same(t, "the node", r.Node, all[i].UUID)
		switch {
		case i < 6:
			same(t, "the result", r.State, node.BulkDone)
			w.is(all[i], node.InspectFailed, "Inspection was aborted by request.")
			a := w.attempt(w.node(all[i]))
			same(t, "who aborted", a.Ended.User, "mara")
			same(t, "why", a.Reason, "wrong cable")
			same(t, "kept on", a.KeepPowerOn, true)
		case i < 9:
			same(t, "the refusal", r.Refusal, node.RefusedState)
			if !strings.Contains(r.Why, string(all[i].ProvisionState)) {
				t.Errorf("the reason is %q", r.Why)
			}
		default:
			same(t, "the refusal", r.Refusal, node.RefusedLocked)
			same(t, "the node waits", w.node(held).ProvisionState, node.InspectWait)
		}
	}
}

// G53: a foreign inspector that refuses one abort, and takes the next, stops nobody.
func TestOneBadNodeDoesNotStopTheRun(t *testing.T) {
	w := newWorld(t, conductor.Settings{})
	bad, _ := w.waiting("inspector")
	good, _ := w.waiting("agent")
	w.foreign.abortErr = &node.Unreachable{What: "the inspector", Err: errors.New("500")}
	run, results := w.bulk(conductor.BulkRequest{Action: node.BulkAbort, Choice: node.BulkChoice{Idents: []string{bad.UUID, "nobody", good.UUID}}})
	same(t, "the counts", run.Counts, node.BulkCounts{Done: 1, Refused: 2})
	same(t, "the bad one", results[0].Refusal, node.RefusedUnreachable)
	same(t, "the unknown one", results[1].Refusal, node.RefusedMissing)
	same(t, "its name", results[1].Name, "nobody")
	w.is(good, node.InspectFailed, "Inspection was aborted by request.")
}

func TestABulkAbortStopsNoLaterAttemptThanTheOneThatWasSeen(t *testing.T) {
	w := newWorld(t, conductor.Settings{})
	first, _ := w.waiting("agent")
	second, _ := w.waiting("agent")
	// Of the second node the page showed an attempt that had been over before the button was pressed.
	seen := second.AttemptID
	w.must(w.ask(second, node.Abort))
	second, _ = w.inspected(second)
	run, err := w.StartBulk(t.Context(), presser(), conductor.BulkRequest{Action: node.BulkAbort, Choice: idents(first, second), Seen: map[string]string{first.UUID: first.AttemptID, second.UUID: seen}})
	w.must(err)
	// Of the first one the attempt ends between the press and the job.
	w.must(w.ask(first, node.Abort))
	first, _ = w.inspected(first)
	w.work("", node.JobBulk)
	_, results := w.bulkRun(run.ID)
	for i, n := range []node.Node{first, second} {
		same(t, "the refusal", results[i].Refusal, node.RefusedStale)
		same(t, "the later attempt", w.node(n).ProvisionState, node.InspectWait)
	}
}

// A node that nobody had inspected when it was chosen has nothing to abort, whatever begins on it later.
func TestABulkAbortStopsNoAttemptWhereNoneWasSeen(t *testing.T) {
	for when, start := range map[string]func(*world, node.Node) (node.BulkRun, error){
		"between the question and the press": func(w *world, n node.Node) (node.BulkRun, error) {
			w.inspected(n)
			return w.StartBulk(t.Context(), presser(), conductor.BulkRequest{Action: node.BulkAbort, Choice: idents(n), Seen: map[string]string{}})
		},
		"between the request and the job": func(w *world, n node.Node) (node.BulkRun, error) {
			run, err := w.StartBulk(t.Context(), presser(), conductor.BulkRequest{Action: node.BulkAbort, Choice: idents(n)})
			w.inspected(n)
			return run, err
		},
	} {
		t.Run(when, func(t *testing.T) {
			w := newWorld(t, conductor.Settings{})
			n := w.enrolled(node.Manageable, "agent")
			run, err := start(w, n)
			w.must(err)
			w.work("", node.JobBulk)
			_, results := w.bulkRun(run.ID)
			same(t, "the refusal", results[0].Refusal, node.RefusedStale)
			same(t, "the inspection", w.node(n).ProvisionState, node.InspectWait)
		})
	}
}

func TestEachActionOfARunIsTheOneOfASingleButton(t *testing.T) {
	w := newWorld(t, conductor.Settings{})
	for _, c := range []struct {
		action node.BulkAction
		from   node.State
		want   func(node.Node) bool
	}{
		{node.BulkInspect, node.Manageable, func(n node.Node) bool { return n.ProvisionState == node.Inspecting }},
		{node.BulkManage, node.Enroll, func(n node.Node) bool { return n.ProvisionState == node.Verifying }},
		{node.BulkProvide, node.Manageable, func(n node.Node) bool { return n.ProvisionState == node.Available }},
		{node.BulkPowerOn, node.Manageable, func(n node.Node) bool { return n.TargetPowerState == node.PowerOn }},
		{node.BulkPowerOff, node.Manageable, func(n node.Node) bool { return n.TargetPowerState == node.PowerOff }},
		{node.BulkReboot, node.Manageable, func(n node.Node) bool { return n.PowerAsked == node.ActionReboot }},
		{node.BulkSoftOff, node.Manageable, func(n node.Node) bool { return n.PowerAsked == node.ActionSoftOff }},
		{node.BulkSoftReboot, node.Manageable, func(n node.Node) bool { return n.PowerAsked == node.ActionSoftReboot }},
		{node.BulkMaintenanceOn, node.Manageable, func(n node.Node) bool { return n.Maintenance && n.MaintenanceReason == "swap a fan" }},
		{node.BulkMaintenanceOff, node.Manageable, func(n node.Node) bool { return !n.Maintenance }},
	} {
		n := w.enrolled(c.from, "agent")
		if c.action == node.BulkMaintenanceOff {
			w.must(w.SetMaintenance(t.Context(), operator, n.UUID, true, "before"))
		}
		run, results := w.bulk(conductor.BulkRequest{Action: c.action, Choice: idents(n), Reason: "swap a fan"})
		if now := w.node(n); run.Counts.Done != 1 || !c.want(now) {
			t.Errorf("%s: %+v; the node is %s, power %q to %q, maintenance %t", c.action, results, now.ProvisionState, now.PowerState, now.TargetPowerState, now.Maintenance)
		}
		if a := w.lastAudit(n); a.Actor.User != "mara" || a.Result != "accepted" {
			t.Errorf("%s: the audit says %+v", c.action, a)
		}
	}
}

// A double press, or a program that asks again because it got no answer.
func TestTheSameRunAskedForTwiceIsOne(t *testing.T) {
	w := newWorld(t, conductor.Settings{})
	n := w.enrolled(node.Manageable, "agent")
	req := conductor.BulkRequest{ID: node.NewUUID(), Action: node.BulkReboot, Choice: idents(n)}
	for range 2 {
		_, err := w.StartBulk(t.Context(), presser(), req)
		w.must(err)
	}
	same(t, "jobs", len(w.queue.of("", node.JobBulk)), 1)
	w.work("", node.JobBulk)
	_, err := w.StartBulk(t.Context(), presser(), req)
	w.must(err)
	same(t, "jobs after the end", len(w.queue.of("", node.JobBulk)), 0)
	same(t, "reboots", len(w.queue.of(n.UUID, node.JobPower)), 1)
}

// deaf is a store that loses what a run records, as a process that dies does.
type deaf struct{ conductor.Bulks }

func (deaf) RecordBulk(context.Context, string, []node.BulkResult, time.Time) (node.BulkRun, error) {
	return node.BulkRun{}, errors.New("power cut")
}

func TestAfterARestartARunGoesOnAndDoesNothingTwice(t *testing.T) {
	w := newWorld(t, conductor.Settings{})
	var all []node.Node
	for range 20 {
		all = append(all, w.enrolled(node.Manageable, "agent"))
	}
	run, err := w.StartBulk(t.Context(), presser(), conductor.BulkRequest{Action: node.BulkReboot, Choice: idents(all...)})
	w.must(err)
	kept := w.Bulks
	w.Bulks = deaf{kept}
	if _, err := w.Work(t.Context(), w.queue.of("", node.JobBulk)[0].Job, 0); err == nil {
		t.Fatal("the step must fail")
	}
	begun := 0
	for _, n := range all {
		begun += len(w.queue.of(n.UUID, node.JobPower))
	}
	if begun == 0 {
		t.Fatal("nothing had been begun before the power cut")
	}
	w.Bulks = kept
	w.work("", node.JobBulk)
	ended, results := w.bulkRun(run.ID)
	same(t, "the counts", ended.Counts, node.BulkCounts{Done: 20})
	for i, n := range all {
		if jobs := len(w.queue.of(n.UUID, node.JobPower)); jobs != 1 {
			t.Errorf("node %d has been asked to reboot %d times: %+v", i, jobs, results[i])
		}
	}
}

func TestAStepThatIsCutLeavesTheRestForTheNext(t *testing.T) {
	w := newWorld(t, conductor.Settings{})
	n := w.enrolled(node.Manageable, "agent")
	run, err := w.StartBulk(t.Context(), presser(), conductor.BulkRequest{Action: node.BulkInspect, Choice: idents(n)})
	w.must(err)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, _ = w.Work(ctx, w.queue.of("", node.JobBulk)[0].Job, 0)
	if now, _ := w.bulkRun(run.ID); now.Counts.Pending != 1 {
		t.Errorf("the counts are %+v", now.Counts)
	}
	w.work("", node.JobBulk)
	same(t, "the node", w.node(n).ProvisionState, node.Inspecting)
}

func TestRefusedNodesAreTriedAgainInARunOfTheirOwn(t *testing.T) {
	w := newWorld(t, conductor.Settings{})
	free, _ := w.waiting("agent")
	held, _ := w.waiting("agent")
	hold := node.NewUUID()
	_, err := w.store.Move(t.Context(), node.Move{Node: held.UUID, From: held.ProvisionState, Hold: hold, Host: "rack-7", At: w.clock.Now()})
	w.must(err)
	run, err := w.StartBulk(t.Context(), presser(), conductor.BulkRequest{Action: node.BulkAbort, Choice: idents(free, held), Reason: "wrong cable", KeepPowerOn: true})
	w.must(err)
	_, err = w.StartBulk(t.Context(), presser(), conductor.BulkRequest{RetryOf: run.ID})
	if conflict := (*node.Conflict)(nil); !errors.As(err, &conflict) {
		t.Errorf("a retry while the run goes on: %v", err)
	}
	w.work("", node.JobBulk)
	_, err = w.store.Move(t.Context(), node.Move{Node: held.UUID, From: held.ProvisionState, Held: hold, At: w.clock.Now()})
	w.must(err)
	again, results := w.bulk(conductor.BulkRequest{RetryOf: run.ID})
	same(t, "what it repeats", again.RetryOf, run.ID)
	same(t, "the counts", again.Counts, node.BulkCounts{Done: 1})
	same(t, "the node", results[0].Node, held.UUID)
	same(t, "the reason", again.Reason, "wrong cable")
	same(t, "keep on", again.KeepPowerOn, true)
	w.is(held, node.InspectFailed, "Inspection was aborted by request.")
	_, err = w.StartBulk(t.Context(), presser(), conductor.BulkRequest{RetryOf: again.ID})
	if conflict := (*node.Conflict)(nil); !errors.As(err, &conflict) {
		t.Errorf("a retry of a run that refused nothing: %v", err)
	}
}

func TestAPlanSaysWhoCanTakeTheActionAndWhyOthersCannot(t *testing.T) {
	w := newWorld(t, conductor.Settings{})
	waits, _ := w.waiting("agent")
	stale, _ := w.waiting("agent")
	idle := w.named(w.enrolled(node.Manageable, "agent"), "r07-u21")
	held := w.enrolled(node.Manageable, "agent")
	w.hold(held)
	retired := w.enrolled(node.Manageable, "agent")
	_, err := w.change(retired, func(n *node.Node) { n.Retired = true })
	w.must(err)
	seen := map[string]string{waits.UUID: waits.AttemptID, stale.UUID: node.NewUUID()}
	all := idents(waits, stale, idle, held, retired)
	all.Idents = append(all.Idents, "nobody")
	const can = node.Refusal("")
	for action, want := range map[node.BulkAction][]node.Refusal{
		node.BulkAbort:         {can, node.RefusedStale, node.RefusedState, node.RefusedLocked, node.RefusedState, node.RefusedMissing},
		node.BulkInspect:       {node.RefusedState, node.RefusedState, can, node.RefusedLocked, can, node.RefusedMissing},
		node.BulkProvide:       {node.RefusedState, node.RefusedState, can, node.RefusedLocked, node.RefusedInvalid, node.RefusedMissing},
		node.BulkPowerOff:      {can, can, can, node.RefusedLocked, can, node.RefusedMissing},
		node.BulkMaintenanceOn: {can, can, can, can, can, node.RefusedMissing},
	} {
		_, plan, err := w.PlanBulk(t.Context(), conductor.BulkRequest{Action: action, Choice: all, Seen: seen})
		w.must(err)
		for i, b := range plan {
			got := can
			if b.Why != nil {
				got, _ = node.RefusalOf(b.Why)
			}
			if got != want[i] {
				t.Errorf("%s of node %d: %q (%v), want %q", action, i, got, b.Why, want[i])
			}
		}
		same(t, "place", plan[2].Node.Location().Unit, 21)
	}
	same(t, "nothing was done", w.node(waits).ProvisionState, node.InspectWait)
}

func TestARunThatMakesNoSenseIsRefused(t *testing.T) {
	w := newWorld(t, conductor.Settings{})
	n := w.enrolled(node.Manageable, "agent")
	for why, req := range map[string]conductor.BulkRequest{
		"nothing chosen":         {Action: node.BulkAbort},
		"nothing matches":        {Action: node.BulkAbort, Choice: node.BulkChoice{Filter: &node.Filter{Rack: "none"}}},
		"no action":              {Choice: idents(n)},
		"an action that is none": {Action: "explode", Choice: idents(n)},
		"a reason without end":   {Action: node.BulkAbort, Choice: idents(n), Reason: strings.Repeat("x", 501)},
		"an id that is none":     {ID: "x", Action: node.BulkAbort, Choice: idents(n)},
		"too many nodes":         {Action: node.BulkAbort, Choice: tooMany()},
	} {
		_, err := w.StartBulk(t.Context(), presser(), req)
		if invalid := (*node.Invalid)(nil); !errors.As(err, &invalid) {
			t.Errorf("%s: %v", why, err)
		}
	}
	_, err := w.StartBulk(t.Context(), presser(), conductor.BulkRequest{RetryOf: node.NewUUID()})
	if missing := (*node.NotFound)(nil); !errors.As(err, &missing) {
		t.Errorf("a retry of a run that is not there: %v", err)
	}
	runs, err := w.store.BulkRuns(t.Context())
	if err != nil || len(runs) != 0 {
		t.Errorf("%v, %v", runs, err)
	}
}

func tooMany() (c node.BulkChoice) {
	for range node.BulkMost + 1 {
		c.Idents = append(c.Idents, node.NewUUID())
	}
	return c
}
