package introspection_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"cagenut/inspect/introspection"
	"cagenut/node"
)

var (
	began = time.Date(2026, 11, 30, 2, 5, 27, 0, time.UTC)
	ended = began.Add(5 * time.Minute)
)

func uuid(n int) string    { return fmt.Sprintf("6a6d0a7e-0000-4a51-9a3c-%012d", n) }
func attempt(n int) string { return fmt.Sprintf("aaaaaaaa-0000-4a51-9a3c-%012d", n) }

// rack is nodes and attempts in memory. Node n has attempt n; a higher one is newer.
type rack struct {
	nodes       []node.Node
	attempts    []node.Attempt
	inventories map[string]node.Inventory
	asked       []string
	abort       func() error
	inspect     error
	report      error
	reapply     error
	reports     map[string]string
}

func (r *rack) add(state node.RunState, inspectInterface string) {
	n := len(r.nodes) + 1
	a := node.Attempt{ID: attempt(n), NodeUUID: uuid(n), Number: int64(n), Interface: inspectInterface, State: state, StartedAt: began, Token: node.Secret(fmt.Sprint("token-", n))}
	if state.Ended() {
		a.EndedAt = ended
	}
	if state == node.RunError {
		a.Error = "Introspection timeout"
	}
	r.nodes = append(r.nodes, node.Node{UUID: uuid(n), Name: fmt.Sprint("n", n), AttemptID: a.ID, Interfaces: node.Interfaces{Inspect: inspectInterface}})
	r.attempts = append(r.attempts, a)
}

func (r *rack) Node(_ context.Context, ident string) (node.Node, error) {
	for _, n := range r.nodes {
		if n.UUID == ident || n.Name == ident {
			return n, nil
		}
	}
	return node.Node{}, &node.NotFound{What: "Node", Ident: ident}
}

func (r *rack) Attempt(_ context.Context, id string) (node.Attempt, error) {
	for _, a := range r.attempts {
		if a.ID == id {
			return a, nil
		}
	}
	return node.Attempt{}, &node.NotFound{What: "Attempt", Ident: id}
}

func (r *rack) AttemptByToken(_ context.Context, token node.Secret) (node.Attempt, error) {
	for _, a := range r.attempts {
		if a.Token == token {
			return a, nil
		}
	}
	return node.Attempt{}, &node.NotFound{What: "Attempt", Ident: node.Mask}
}

func (r *rack) Attempts(ctx context.Context, f node.RunFilter) ([]node.Attempt, error) {
	if !f.Latest {
		return nil, errors.New("the list is of the latest attempts")
	}
	before := int64(len(r.attempts)) + 1
	if f.Marker != "" {
		a, err := r.Attempt(ctx, f.Marker)
		if err != nil {
			return nil, err
		}
		before = a.Number
	}
	out := []node.Attempt{}
	for _, a := range slices.Backward(r.attempts) {
		if a.Number < before && len(out) < f.Limit && (f.States == nil || slices.Contains(f.States, a.State)) {
			out = append(out, a)
		}
	}
	return out, nil
}

func (r *rack) Inventory(_ context.Context, nodeUUID string) (node.Inventory, error) {
	if i, ok := r.inventories[nodeUUID]; ok {
		return i, nil
	}
	return node.Inventory{}, &node.NotFound{What: "Inventory", Ident: nodeUUID}
}

func (r *rack) LastReport(_ context.Context, nodeUUID string) (node.Report, error) {
	if body, ok := r.reports[nodeUUID]; ok {
		return node.Report{Body: []byte(body)}, nil
	}
	return node.Report{}, &node.NotFound{What: "Report", Ident: nodeUUID}
}

func (r *rack) Reapply(_ context.Context, _ node.Actor, ident string, data []byte) error {
	r.asked = append(r.asked, "reapply "+ident+" "+string(data))
	return r.reapply
}

func (r *rack) Inspect(_ context.Context, _ node.Actor, ident string) error {
	r.asked = append(r.asked, "inspect "+ident)
	return r.inspect
}

func (r *rack) Abort(_ context.Context, _ node.Actor, ident, attempt string) error {
	r.asked = append(r.asked, "abort "+ident+" "+attempt)
	if r.abort != nil {
		return r.abort()
	}
	return nil
}

func (r *rack) Report(context.Context, node.Actor, []byte, node.Secret) (string, error) {
	return uuid(1), r.report
}

func service(r *rack) *introspection.Service {
	return introspection.New(introspection.Needs{Nodes: r, Runs: r, Verbs: r, Reports: r, Stored: r})
}

// kind is the type and the text of an error.
func kind(err error) string {
	if err == nil {
		return ""
	}
	return fmt.Sprintf("%T %s", err, err)
}

// G29: an abort is accepted exactly where it is true afterwards.
func TestAbortInEveryState(t *testing.T) {
	const busy = "*node.Conflict Node is locked, please, retry later"
	over := "*node.Invalid Introspection for node " + uuid(1) + " already finished on 2026-11-30 02:10:27"
	answers := map[node.RunState]string{
		node.RunStarting: busy, node.RunWaiting: "", node.RunProcessing: busy, node.RunFinished: over, node.RunError: over,
		"reapplying": busy, "enrolling": busy, "aborting": busy,
	}
	for _, state := range node.RunStates() {
		t.Run(string(state), func(t *testing.T) {
			want, listed := answers[state]
			if !listed {
				t.Fatal("nobody has said what an abort does in this state")
			}
			r := &rack{}
			r.add(state, "agent")
			before, err := service(r).Status(t.Context(), "n1")
			if err != nil {
				t.Fatal(err)
			}
			if got := kind(service(r).Abort(t.Context(), node.Actor{}, "n1")); got != want {
				t.Errorf("got %q, want %q", got, want)
			}
			var asked []string
			if want == "" {
				asked = []string{"abort " + uuid(1) + " " + attempt(1)}
			}
			if diff := cmp.Diff(asked, r.asked); diff != "" {
				t.Errorf("asked of the conductor: %s", diff)
			}
			if after, err := service(r).Status(t.Context(), "n1"); err != nil || after != before {
				t.Errorf("the service changed the run itself: %+v, %v", after, err)
			}
		})
	}
}

func TestAbortOfWhatHasNoRecord(t *testing.T) {
	r := &rack{nodes: []node.Node{{UUID: uuid(9), Name: "fresh"}}}
	for ident, want := range map[string]string{
		"nobody": "Node nobody was not found in Ironic", uuid(8): "Could not find node " + uuid(8) + " in cache", "fresh": "Could not find node " + uuid(9) + " in cache",
	} {
		if got := kind(service(r).Abort(t.Context(), node.Actor{}, ident)); got != "*node.NotFound "+want {
			t.Errorf("%s: got %q", ident, got)
		}
	}
}

func TestAbortThatSomebodyElseWasFasterThan(t *testing.T) {
	for _, tc := range []struct {
		name   string
		lost   error
		now    node.RunState
		answer string
	}{
		{"a worker holds the node", &node.Locked{Node: uuid(1), Holder: "rack1"}, node.RunWaiting, "*node.Conflict Node is locked, please, retry later"},
		{"the run was over already", &node.Stale{Node: uuid(1), Seen: attempt(1)}, node.RunError, "*node.Invalid Introspection for node " + uuid(1) + " already finished on 2026-11-30 02:10:27"},
		{"the report was first", &node.InvalidTransition{Node: uuid(1)}, node.RunProcessing, "*node.Conflict Node is locked, please, retry later"},
		{"another run waits by now, which nobody asked to stop", &node.Stale{Node: uuid(1), Seen: attempt(1)}, node.RunWaiting, "*node.Conflict Node is locked, please, retry later"},
		{"the interface cannot abort", &node.Unsupported{Driver: "redfish", Extension: "abort"}, node.RunWaiting, "*node.Unsupported Driver redfish does not support abort (disabled or not implemented)."},
	} {
		t.Run(tc.name, func(t *testing.T) {
			r := &rack{}
			r.add(node.RunWaiting, "agent")
			r.abort = func() error {
				r.attempts[0].State = tc.now
				if tc.now.Ended() {
					r.attempts[0].EndedAt = ended
				}
				return tc.lost
			}
			if got := kind(service(r).Abort(t.Context(), node.Actor{}, "n1")); got != tc.answer {
				t.Errorf("got %q", got)
			}
			if len(r.asked) != 1 {
				t.Errorf("asked %v", r.asked)
			}
		})
	}
}

func TestStart(t *testing.T) {
	yes, no := true, false
	for _, tc := range []struct {
		name, inspectInterface string
		ident                  string
		manageBoot             *bool
		fails                  error
		answer                 string
		asked                  int
	}{
		{"is the verb inspect", "agent", "n1", nil, nil, "", 1},
		{"takes manage_boot=true", "inspector", "n1", &yes, nil, "", 1},
		{"always manages boot", "agent", "n1", &no, nil, "*node.Invalid manage_boot=false is not possible: this inspector always manages the boot of the nodes that it inspects.", 0},
		{"refuses what it could not show", "redfish", "n1", nil, nil, "*node.Invalid Node " + uuid(1) + " has the inspect interface redfish, which works without a ramdisk: start its inspection with the verb inspect, or set its inspect_interface to agent.", 0},
		{"does not know every node", "agent", "nobody", nil, nil, "*node.NotFound Node nobody was not found in Ironic", 0},
		{"passes a refusal on", "agent", "n1", nil, &node.InvalidTransition{Node: uuid(1), From: node.Available, Event: node.Abort}, `*node.InvalidTransition The requested action "abort" can not be performed on node "` + uuid(1) + `" while it is in state "available".`, 1},
		{"names no holder of a lock", "agent", "n1", nil, &node.Locked{Node: uuid(1), Holder: "rack1"}, "*node.Conflict Node is locked, please, retry later", 1},
	} {
		t.Run(tc.name, func(t *testing.T) {
			r := &rack{inspect: tc.fails}
			r.add(node.RunFinished, tc.inspectInterface)
			if got := kind(service(r).Start(t.Context(), node.Actor{}, tc.ident, tc.manageBoot)); got != tc.answer {
				t.Errorf("got %q", got)
			}
			if len(r.asked) != tc.asked {
				t.Errorf("asked %v", r.asked)
			}
		})
	}
}

func TestStatusIsTheAttempt(t *testing.T) {
	r := &rack{}
	r.add(node.RunError, "agent")
	r.add(node.RunFinished, "redfish")
	got, err := service(r).Status(t.Context(), "n1")
	want := introspection.Run{UUID: uuid(1), Finished: true, State: node.RunError, StartedAt: began, FinishedAt: ended, Error: "Introspection timeout"}
	if err != nil || got != want {
		t.Errorf("got %+v, %v", got, err)
	}
	if _, err := service(r).Status(t.Context(), "n2"); kind(err) != "*node.NotFound Could not find node "+uuid(2)+" in cache" {
		t.Errorf("a run without a ramdisk is none of the inspector's: %v", err)
	}
}

func TestList(t *testing.T) {
	r := &rack{}
	r.add(node.RunFinished, "agent")   // 1
	r.add(node.RunFinished, "redfish") // 2, not shown
	r.add(node.RunWaiting, "inspector")
	r.add(node.RunFinished, "fake") // 4, not shown
	r.add(node.RunError, "agent")   // 5
	for _, tc := range []struct {
		name, marker string
		limit        int
		states       []node.RunState
		uuids        []string
		fails        string
	}{
		{"is newest first, of ramdisks only", "", 0, nil, []string{uuid(5), uuid(3), uuid(1)}, ""},
		{"fills its page past the others", "", 2, nil, []string{uuid(5), uuid(3)}, ""},
		{"goes on after the marker", uuid(5), 1, nil, []string{uuid(3)}, ""},
		{"takes a marker in capitals", "6A6D0A7E-0000-4A51-9A3C-000000000003", 0, nil, []string{uuid(1)}, ""},
		{"ends", uuid(1), 1, nil, nil, ""},
		{"filters by state", "", 0, []node.RunState{node.RunWaiting, node.RunFinished}, []string{uuid(3), uuid(1)}, ""},
		{"finds nothing in a state that is never entered", "", 0, []node.RunState{"enrolling"}, nil, ""},
		{"knows the states", "", 0, []node.RunState{"waiting", "x", "y"}, nil, `*node.Invalid State(s) "x, y" are not valid`},
		{"pages by UUID", "n5", 0, nil, nil, "*node.Invalid Marker not UUID-like"},
		{"has no page after a stranger", uuid(77), 0, nil, nil, "*node.NotFound Could not find node " + uuid(77) + " in cache"},
		{"has no negative page", "", -1, nil, nil, "*node.Invalid Limit cannot be negative"},
		{"has no page above 1000", "", 1001, nil, nil, "*node.Invalid Limit over 1000"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			runs, err := service(r).List(t.Context(), tc.marker, tc.limit, tc.states)
			if kind(err) != tc.fails {
				t.Fatalf("got %q", kind(err))
			}
			var uuids []string
			for _, run := range runs {
				uuids = append(uuids, run.UUID)
			}
			if diff := cmp.Diff(tc.uuids, uuids); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestDataIsOneFlatDocument(t *testing.T) {
	for _, tc := range []struct{ name, plugins, want string }{
		{"plugins beside the inventory", `{"macs":["02:00:5e:00:00:01"],"size":12345678901234567890}`, `{"inventory":{"hostname":"a"},"macs":["02:00:5e:00:00:01"],"size":12345678901234567890}`},
		{"nothing a plugin says replaces the inventory", `{"inventory":1}`, `{"inventory":{"hostname":"a"}}`},
		{"no plugins", ``, `{"inventory":{"hostname":"a"}}`},
		{"null for plugins", `null`, `{"inventory":{"hostname":"a"}}`},
	} {
		t.Run(tc.name, func(t *testing.T) {
			r := &rack{inventories: map[string]node.Inventory{uuid(1): {Inventory: []byte(`{"hostname":"a"}`), PluginData: []byte(tc.plugins)}}}
			r.add(node.RunFinished, "agent")
			got, err := service(r).Data(t.Context(), "n1")
			if err != nil || string(got) != tc.want {
				t.Errorf("got %s, %v", got, err)
			}
		})
	}
}

func TestDataThatIsNotThere(t *testing.T) {
	r := &rack{}
	r.add(node.RunWaiting, "agent")
	if _, err := service(r).Data(t.Context(), "n1"); kind(err) != "*node.NotFound Introspection data not found for node "+uuid(1)+", processed=True" {
		t.Errorf("got %v", err)
	}
	if _, err := service(r).Data(t.Context(), "nobody"); kind(err) != "*node.NotFound Node nobody was not found in Ironic" {
		t.Errorf("got %v", err)
	}
}

// G01 and G19: a late report is told that the run is over if it can prove that it was its own.
func TestReport(t *testing.T) {
	refused := fmt.Errorf("late: %w", node.ErrNotReported)
	const vague = "*node.NotFound Look up error: no introspection waits for this report; if there was one, it is already over."
	for _, tc := range []struct {
		name   string
		state  node.RunState
		token  node.Secret
		fails  error
		answer string
	}{
		{"is passed on", node.RunWaiting, "token-1", nil, ""},
		{"of a run that is over says so", node.RunError, "token-1", refused, "*node.Invalid Look up error: Introspection for node " + uuid(1) + " already finished on 2026-11-30 02:10:27"},
		{"that came twice is refused", node.RunProcessing, "token-1", refused, vague},
		{"with a foreign token learns nothing", node.RunError, "token-x", refused, vague},
		{"without a token learns nothing", node.RunError, "", refused, vague},
		{"of a busy node may be repeated", node.RunWaiting, "token-1", &node.Locked{}, "*node.Conflict Node is locked, please, retry later"},
		{"that cannot be read is told why", node.RunWaiting, "", node.Invalidf("Schema error for data: x"), "*node.Invalid Schema error for data: x"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			r := &rack{report: tc.fails}
			r.add(tc.state, "agent")
			got, err := service(r).Report(t.Context(), node.Actor{}, []byte(`{}`), tc.token)
			if kind(err) != tc.answer || (err == nil && got != uuid(1)) {
				t.Errorf("got %q, %q", got, kind(err))
			}
		})
	}
}
