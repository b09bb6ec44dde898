package introspection_test

import (
	"testing"

	"cagenut/node"
)

// contract.md §5.3: only what is over can be applied again.
func TestReapplyInEveryState(t *testing.T) {
	const locked = "*node.Conflict Node locked, please, try again later"
	for state, want := range map[node.RunState]string{
		node.RunStarting: locked, node.RunWaiting: locked, node.RunProcessing: locked, "reapplying": locked, node.RunFinished: "", node.RunError: "",
	} {
		r := &rack{}
		r.add(state, "agent")
		if got := kind(service(r).Reapply(t.Context(), node.Actor{}, "n1", []byte("{}"))); got != want {
			t.Errorf("%s: got %q", state, got)
		}
		if asked := len(r.asked) == 1 && r.asked[0] == "reapply "+uuid(1)+" {}"; asked != (want == "") {
			t.Errorf("%s: asked %v", state, r.asked)
		}
	}
}

func TestReapplyTellsWhatStandsAgainstIt(t *testing.T) {
	for name, c := range map[string]struct {
		ident string
		fails error
		want  string
	}{
		"an unknown node":     {"nobody", nil, "*node.NotFound Node nobody was not found in Ironic"},
		"nothing stored":      {"n1", &node.NotFound{What: "Report", Ident: "x"}, "*node.NotFound Introspection data not found for node " + uuid(1) + ", processed=False"},
		"a node that is held": {"n1", &node.Locked{Node: uuid(1), Holder: "rack1"}, "*node.Conflict Node locked, please, try again later"},
		"somebody was first":  {"n1", node.ErrLost, "*node.Conflict Node locked, please, try again later"},
		"a bad report":        {"n1", node.Invalidf("no interfaces"), "*node.Invalid no interfaces"},
	} {
		r := &rack{reapply: c.fails}
		r.add(node.RunFinished, "agent")
		if got := kind(service(r).Reapply(t.Context(), node.Actor{}, c.ident, nil)); got != c.want {
			t.Errorf("%s: got %q", name, got)
		}
	}
}

func TestUnprocessedDataAreWhatWasReported(t *testing.T) {
	r := &rack{reports: map[string]string{uuid(1): `{"inventory":{},"x":1e3}`}}
	r.add(node.RunError, "agent")
	r.add(node.RunFinished, "agent")
	if got, err := service(r).Unprocessed(t.Context(), "n1"); err != nil || string(got) != `{"inventory":{},"x":1e3}` {
		t.Errorf("got %s, %v", got, err)
	}
	for ident, want := range map[string]string{"n2": "*node.NotFound Introspection data not found for node " + uuid(2) + ", processed=False", "nobody": "*node.NotFound Node nobody was not found in Ironic"} {
		if _, err := service(r).Unprocessed(t.Context(), ident); kind(err) != want {
			t.Errorf("%s: got %q", ident, kind(err))
		}
	}
}
