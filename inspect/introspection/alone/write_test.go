package alone_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"cagenut/node"
)

// found is an ending that has found something, of a world with the node and its copy.
func found(w *world) node.Ending {
	n := node.Node{
		UUID: uuid(1), Description: "old", Owner: "lab", Properties: map[string]any{"cpus": 4, "gone": 1, "same": 1.5},
		Extra: map[string]any{"gone": true}, Traits: []string{"CUSTOM_A"},
	}
	w.remote[uuid(1)], w.copies[uuid(1)] = n, n
	p := node.Port{UUID: uuid(101), NodeUUID: uuid(1), Address: "02:00:5e:00:00:01", PXEEnabled: true, Extra: map[string]any{}, PhysicalNetwork: "p"}
	w.ports, w.remotePorts = []node.Port{p}, []node.Port{p}
	p.PXEEnabled, p.PhysicalNetwork, p.Extra = false, "", map[string]any{"x": 1}
	after := n
	after.Description, after.Owner, after.Extra, after.Traits, after.Retired = "new", "", map[string]any{"a": "b"}, []string{"CUSTOM_A", "CUSTOM_B"}, true
	at := time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC)
	return node.Ending{Outcome: node.Succeeded, CleanUp: true, Notes: []string{"a note"}, Move: node.Move{
		Node: uuid(1), From: node.Inspecting, Event: node.Done, Attempt: "attempt", At: at, FinishedAt: &at, Properties: map[string]any{"cpus": 8, "same": 1.5},
		As: &after, Changed: []string{"description", "extra", "owner", "properties", "retired", "traits"},
		NewPorts: []node.Port{{UUID: uuid(102), Address: "02:00:5e:00:00:02"}}, PortUpdates: []node.Port{p},
		Inventory: &node.Inventory{NodeUUID: uuid(1)}, Jobs: []node.Job{{Kind: node.JobCleanUp}},
		History: []node.History{{Event: "a rule"}, {Event: "Inspection finished.", Severity: node.SeverityInfo, Final: true}},
	}}
}

var written = []string{
	`port 02:00:5e:00:00:02`,
	`patch-port [{"op":"add","path":"/extra/x","value":1},{"op":"remove","path":"/physical_network","value":null},{"op":"add","path":"/pxe_enabled","value":false}]`,
	`patch [{"op":"add","path":"/properties/cpus","value":8},{"op":"remove","path":"/properties/gone","value":null},{"op":"add","path":"/description","value":"new"},` +
		`{"op":"add","path":"/extra/a","value":"b"},{"op":"remove","path":"/extra/gone","value":null},{"op":"remove","path":"/owner","value":null},{"op":"add","path":"/retired","value":true}]`,
	`traits ["CUSTOM_A","CUSTOM_B"]`,
}

func TestWhatWasFoundIsWrittenToIronicFirst(t *testing.T) {
	w := newWorld()
	e := found(w)
	got, err := w.writing().Ending(t.Context(), e)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(e, got); diff != "" {
		t.Errorf("the ending (-before +after):\n%s", diff)
	}
	if diff := cmp.Diff(written, w.asked); diff != "" {
		t.Errorf("written (-want +got):\n%s", diff)
	}
}

// The process may stop in the middle: what got through must not stand against the rest.
func TestWritingMayBeRepeated(t *testing.T) {
	w := newWorld()
	e := found(w)
	w.refuse["traits"] = &node.Conflict{Text: "Node is locked by host rack1, please retry."}
	if _, err := w.writing().Ending(t.Context(), e); err == nil {
		t.Fatal("it has ended although Ironic was busy")
	}
	n := w.remote[uuid(1)]
	n.Properties, n.Extra, n.Owner = map[string]any{"cpus": 8, "same": 1.5}, map[string]any{"a": "b"}, ""
	w.remote[uuid(1)] = n
	w.remotePorts[0].PhysicalNetwork = ""
	w.asked, w.refuse = nil, map[string]error{"port": &node.Exists{Text: "A port with MAC address 02:00:5e:00:00:02 already exists."}}
	if got, err := w.writing().Ending(t.Context(), e); err != nil || got.Outcome != node.Succeeded {
		t.Errorf("got %+v, %v", got, err)
	}
	if said := strings.Join(w.asked, "\n"); strings.Contains(said, "remove") || !strings.Contains(said, "traits") {
		t.Errorf("written again: %s", said)
	}
}

func TestWhatIronicRefusesFailsTheRun(t *testing.T) {
	for name, refusal := range map[string]error{
		"a bad value": node.Invalidf("Couldn't apply patch"), "a name that is taken": &node.Exists{Text: "A node with name x already exists."},
		"a node that is gone": &node.NotFound{Text: "Node could not be found."},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld()
			e := found(w)
			w.refuse["patch"] = refusal
			got, err := w.writing().Ending(t.Context(), e)
			text := "Failed to finish inspection: Ironic refused what was found: " + refusal.Error()
			if err != nil || got.Outcome != node.Failed || got.Error != text || got.LastError != text || *got.Move.LastError != text || got.Move.Event != node.Fail || !got.Move.FinishedAt.IsZero() {
				t.Fatalf("got %+v, %v", got, err)
			}
			if m := got.Move; m.Properties != nil || m.As != nil || m.Changed != nil || m.NewPorts != nil || m.PortUpdates != nil || m.Inventory != nil || len(m.Jobs) != 1 {
				t.Errorf("kept is %+v", m)
			}
			if h := got.Move.History[1]; h.Event != text || h.Severity != node.SeverityError || got.Move.History[0].Event != "a rule" {
				t.Errorf("the history is %+v", got.Move.History)
			}
			if e.Move.History[1].Event != "Inspection finished." {
				t.Error("the ending that was asked for has changed")
			}
		})
	}
}

func TestTroubleThatMayPassEndsNothing(t *testing.T) {
	for name, trouble := range map[string]error{
		"a busy node": &node.Conflict{Text: "Node is locked"}, "no answer": &node.Unreachable{What: "Ironic", Err: errors.New("connection refused")},
	} {
		for _, at := range []string{"show", "patch", "traits", "port", "patch-port"} {
			w := newWorld()
			e := found(w)
			w.refuse[at] = trouble
			if _, err := w.writing().Ending(t.Context(), e); !errors.Is(err, trouble) {
				t.Errorf("%s at %s: %v", name, at, err)
			}
		}
	}
}

func TestOnlySuccessIsWritten(t *testing.T) {
	for _, outcome := range []node.Outcome{node.Failed, node.Aborted, node.TimedOut} {
		w := newWorld()
		e := found(w)
		e.Outcome = outcome
		if got, err := w.writing().Ending(t.Context(), e); err != nil || got.Outcome != outcome || len(w.asked) != 0 {
			t.Errorf("%s: %v, written %v", outcome, err, w.asked)
		}
	}
	w := newWorld()
	m := found(w).Move
	m.AttemptState = node.RunWaiting
	if _, err := w.writing().Move(t.Context(), m); err != nil || len(w.asked) != 0 {
		t.Errorf("a start: %v, written %v", err, w.asked)
	}
}

func TestAReportThatIsAppliedOnceMoreIsWritten(t *testing.T) {
	w := newWorld()
	m := found(w).Move
	m.Event, m.AttemptState, m.AttemptNotes = "", node.RunFinished, []string{"a note"}
	got, err := w.writing().Move(t.Context(), m)
	if err != nil || !cmp.Equal(m, got) {
		t.Errorf("got %v %s", err, cmp.Diff(m, got))
	}
	if diff := cmp.Diff(written, w.asked); diff != "" {
		t.Errorf("written (-want +got):\n%s", diff)
	}
	w.refuse["patch"] = node.Invalidf("Couldn't apply patch")
	got, err = w.writing().Move(t.Context(), m)
	if err != nil || got.AttemptState != node.RunError || got.AttemptError != "Failed to finish inspection: Ironic refused what was found: Couldn't apply patch" || got.Properties != nil || got.Inventory != nil || got.Node != m.Node || !cmp.Equal(got.AttemptNotes, m.AttemptNotes) {
		t.Errorf("refused: %+v, %v", got, err)
	}
}
