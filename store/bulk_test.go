package store_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"cagenut/node"
)

var bulkNoon = time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC)

func aBulkRun() node.BulkRun {
	return node.BulkRun{
		ID: node.NewUUID(), Action: node.BulkAbort, Actor: node.Actor{User: "mara", Source: node.SourceUI, Address: "192.0.2.7", RequestID: "req-7"},
		Reason: "wrong cable", KeepPowerOn: true, RetryOf: node.NewUUID(), StartedAt: bulkNoon,
	}
}

func pending(n int) []node.BulkResult {
	out := make([]node.BulkResult, n)
	for i := range out {
		out[i] = node.BulkResult{Node: node.NewUUID(), Name: fmt.Sprint("n", i+1), Place: "R07 · U21", Attempt: node.NewUUID(), State: node.BulkPending}
	}
	return out
}

func TestABulkRunComesBackAsItWasKept(t *testing.T) {
	r := newRig(t)
	run, results := aBulkRun(), pending(3)
	results[1] = node.BulkResult{Name: "nobody", State: node.BulkRefused, Refusal: node.RefusedMissing, Why: "Node nobody could not be found.", At: bulkNoon}
	job := node.Job{Kind: node.JobBulk, Run: run.ID}
	if _, err := r.StartBulk(t.Context(), run, results, job); err != nil {
		t.Fatal(err)
	}
	want := run
	want.Counts = node.BulkCounts{Pending: 2, Refused: 1}
	got, err := r.BulkRun(t.Context(), run.ID)
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
	for i := range results {
		results[i].Position = i + 1
	}
	kept, err := r.BulkResults(t.Context(), run.ID, node.BulkResultFilter{})
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(results, kept); d != "" {
		t.Error(d)
	}
	if got := r.queue.jobs(); len(got) != 1 || got[0] != job {
		t.Errorf("the jobs are %v", got)
	}
	if _, err := r.BulkRun(t.Context(), node.NewUUID()); !errors.As(err, new(*node.NotFound)) {
		t.Errorf("a run that is not there: %v", err)
	}
}

// A double press sends the same form twice.
func TestARunThatIsThereIsNotStartedAgain(t *testing.T) {
	r := newRig(t)
	run := aBulkRun()
	for range 2 {
		got, err := r.StartBulk(t.Context(), run, pending(2), node.Job{Kind: node.JobBulk, Run: run.ID})
		if err != nil || got.Counts.Pending != 2 {
			t.Fatalf("%+v, %v", got, err)
		}
		run.Action = node.BulkPowerOff // of the second one nothing counts
	}
	kept, err := r.BulkRun(t.Context(), run.ID)
	if err != nil || kept.Action != node.BulkAbort {
		t.Errorf("%+v, %v", kept, err)
	}
	if n := len(r.queue.jobs()); n != 1 {
		t.Errorf("%d jobs", n)
	}
}

func TestARunEndsWithItsLastResultAndEachNodeHasOne(t *testing.T) {
	r := newRig(t)
	run := aBulkRun()
	if _, err := r.StartBulk(t.Context(), run, pending(3), node.Job{}); err != nil {
		t.Fatal(err)
	}
	watch := r.Watch(t.Context())
	done := node.BulkResult{Position: 1, State: node.BulkDone, At: bulkNoon}
	refused := node.BulkResult{Position: 2, State: node.BulkRefused, Refusal: node.RefusedLocked, Why: "held", At: bulkNoon}
	got, err := r.RecordBulk(t.Context(), run.ID, []node.BulkResult{done, refused}, bulkNoon)
	if err != nil || got.Ended() || got.Counts != (node.BulkCounts{Pending: 1, Done: 1, Refused: 1}) {
		t.Fatalf("%+v, %v", got, err)
	}
	if n := <-watch; n != (node.Notice{NodeUUID: run.ID, Run: true}) {
		t.Errorf("watchers hear of %+v", n)
	}
	// The first one again, as a step that is repeated would have it: it stays what it is.
	done.State, done.Why = node.BulkRefused, "aborted already"
	last := node.BulkResult{Position: 3, State: node.BulkDone, At: bulkNoon}
	end := bulkNoon.Add(time.Minute)
	if got, err = r.RecordBulk(t.Context(), run.ID, []node.BulkResult{done, last}, end); err != nil || got.EndedAt != end || got.Counts != (node.BulkCounts{Done: 2, Refused: 1}) {
		t.Fatalf("%+v, %v", got, err)
	}
	for state, want := range map[node.BulkState]int{node.BulkPending: 0, node.BulkDone: 2, node.BulkRefused: 1} {
		if some, err := r.BulkResults(t.Context(), run.ID, node.BulkResultFilter{State: state}); err != nil || len(some) != want {
			t.Errorf("%s: %v, %v", state, some, err)
		}
	}
	if page, err := r.BulkResults(t.Context(), run.ID, node.BulkResultFilter{After: 1, Limit: 1}); err != nil || len(page) != 1 || page[0].Position != 2 || page[0].Why != "held" {
		t.Errorf("the page after the first: %v, %v", page, err)
	}
}

func TestARunOfNothingButUnknownNamesHasEndedWhenItBegins(t *testing.T) {
	r := newRig(t)
	got, err := r.StartBulk(t.Context(), aBulkRun(), []node.BulkResult{{Name: "nobody", State: node.BulkRefused}}, node.Job{})
	if err != nil || !got.Ended() || len(r.queue.jobs()) != 0 {
		t.Errorf("%+v, %v, %v", got, err, r.queue.jobs())
	}
}

func TestOnlyTheNewestRunsAreKeptAndThoseThatGoOn(t *testing.T) {
	r := newRig(t)
	start := func(state node.BulkState) string {
		t.Helper()
		run := aBulkRun()
		if _, err := r.StartBulk(t.Context(), run, []node.BulkResult{{Name: "n", State: state}}, node.Job{}); err != nil {
			t.Fatal(err)
		}
		return run.ID
	}
	goesOn, first := start(node.BulkPending), start(node.BulkRefused)
	for range node.BulkKept {
		start(node.BulkRefused)
	}
	runs, err := r.BulkRuns(t.Context())
	if err != nil || len(runs) != node.BulkKept+1 {
		t.Fatalf("%d runs, %v", len(runs), err)
	}
	if last := runs[len(runs)-1]; last.ID != goesOn {
		t.Errorf("the oldest one is %+v", last)
	}
	if results, err := r.BulkResults(t.Context(), first, node.BulkResultFilter{}); err != nil || len(results) != 0 {
		t.Errorf("of a run that is gone there is %v, %v", results, err)
	}
}

func TestTheAuditTellsWhatARequestWasAcceptedFor(t *testing.T) {
	r := newRig(t)
	ours, others := aBulkRun().Actor, node.Actor{User: "mara", RequestID: "req-8"}
	for _, a := range []node.Audit{
		{NodeUUID: "done", Actor: ours, At: bulkNoon, Result: "accepted"},
		{NodeUUID: "refused", Actor: ours, At: bulkNoon, Result: "Node is locked."},
		{NodeUUID: "of another request", Actor: others, At: bulkNoon, Result: "accepted"},
		{NodeUUID: "long ago", Actor: ours, At: bulkNoon.Add(-time.Hour), Result: "accepted"},
		{NodeUUID: "not asked", Actor: ours, At: bulkNoon, Result: "accepted"},
	} {
		if err := r.Note(t.Context(), nil, &a); err != nil {
			t.Fatal(err)
		}
	}
	got, err := r.BulkAccepted(t.Context(), "req-7", bulkNoon, []string{"done", "refused", "of another request", "long ago"})
	if d := cmp.Diff(map[string]bool{"done": true}, got); err != nil || d != "" {
		t.Error(err, d)
	}
}

func TestNodesAreChosenByNameUUIDOrFilterWithoutTheirDocuments(t *testing.T) {
	r := newRig(t)
	make := func(name, rack string, s node.State) node.Node {
		t.Helper()
		n, err := r.CreateNode(t.Context(), node.Node{
			UUID: node.NewUUID(), Name: name, Driver: node.DriverFake, ProvisionState: s, Interfaces: node.Interfaces{Inspect: "fake"},
			Extra: map[string]any{"rack": rack, "rack_unit": 4}, DriverInfo: map[string]any{"fake_password": "secret"},
		}, node.Audit{})
		if err != nil {
			t.Fatal(err)
		}
		return n
	}
	a, b, c := make("a", "R1", node.Manageable), make("b", "R2", node.Available), make("c", "R1", node.Available)
	names := func(nodes []node.Node) string {
		var all []string
		for _, n := range nodes {
			all = append(all, n.Name)
		}
		return strings.Join(all, " ")
	}
	for why, c := range map[string]struct {
		choice node.BulkChoice
		limit  int
		want   string
	}{
		"in the order of the choice, each once": {node.BulkChoice{Idents: []string{"c", a.UUID, c.UUID, "nobody", "nobody", "a"}}, 10, "c a nobody"},
		"of a rack":                             {node.BulkChoice{Filter: &node.Filter{Rack: "R1"}}, 10, "a c"},
		"of a state":                            {node.BulkChoice{Filter: &node.Filter{ProvisionStates: []node.State{node.Available}}}, 10, "b c"},
		"no more than the limit":                {node.BulkChoice{Filter: &node.Filter{}}, 2, "a b"},
	} {
		got, err := r.BulkNodes(t.Context(), c.choice, c.limit)
		if err != nil || names(got) != c.want {
			t.Errorf("%s: %q, %v; want %q", why, names(got), err, c.want)
		}
	}
	got, err := r.BulkNodes(t.Context(), node.BulkChoice{Idents: []string{b.UUID}}, 1)
	if err != nil || len(got) != 1 {
		t.Fatal(got, err)
	}
	if n := got[0]; n.ProvisionState != node.Available || n.Interfaces.Inspect != "fake" || n.Location().Rack != "R2" || n.Location().Unit != 4 || n.DriverInfo != nil {
		t.Errorf("the node is %+v", n)
	}
}
