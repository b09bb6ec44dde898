package node_test

import (
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"

	"cagenut/node"
)

var update = flag.Bool("update", false, "rewrite ../docs/states.md from the table")

const statesDocument = "../docs/states.md"

func TestStatesDocument(t *testing.T) {
	want := renderStates()
	if !strings.Contains(want, "inspect_wait --> inspect_failed: abort") {
		t.Error("the diagram does not show how abort leads from inspect wait to inspect failed")
	}
	if *update {
		if err := os.WriteFile(statesDocument, []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	got, err := os.ReadFile(statesDocument)
	if err != nil {
		t.Fatal(err)
	}
	if string(got) != want {
		t.Error("docs/states.md is stale; rewrite it with: go test ./node -run TestStatesDocument -update")
	}
}

func renderStates() string {
	var b strings.Builder
	b.WriteString(`# Provision states

<!-- Made from the table in node/state.go by: go test ./node -run TestStatesDocument -update -->

The names of states and verbs are those of OpenStack Ironic. What people and programs may ask for is a verb; the other
events are the appliance's own. Events between the same two states share an arrow. An inspection is aborted on the arrow
` + "`inspect wait` —abort→ `inspect failed`" + `.

` + "```mermaid\nstateDiagram-v2\n")
	for _, s := range node.States() {
		fmt.Fprintf(&b, "    state %q as %s\n", string(s), diagramID(s))
	}
	b.WriteString("    [*] --> enroll\n")
	for _, s := range node.States() {
		byNext := map[node.State][]string{}
		for _, e := range s.Events() {
			to, _ := s.Next(e) // an event of the state has a next state
			byNext[to] = append(byNext[to], string(e))
		}
		for _, to := range node.States() {
			if labels := byNext[to]; labels != nil {
				fmt.Fprintf(&b, "    %s --> %s: %s\n", diagramID(s), diagramID(to), strings.Join(labels, ", "))
			}
		}
	}
	b.WriteString("```\n\n| state | target | verbs | other events |\n|---|---|---|---|\n")
	for _, s := range node.States() {
		target := "none (stable)"
		if !s.Stable() {
			target = "`" + string(s.Target()) + "`"
		}
		var verbs, others []string
		for _, e := range s.Events() {
			to, _ := s.Next(e)
			step := fmt.Sprintf("%s → `%s`", e, to)
			if e.IsVerb() {
				verbs = append(verbs, "**"+string(e)+"**"+strings.TrimPrefix(step, string(e)))
			} else {
				others = append(others, step)
			}
		}
		fmt.Fprintf(&b, "| `%s` | %s | %s | %s |\n", s, target, strings.Join(verbs, ", "), strings.Join(others, ", "))
	}
	return b.String()
}

func diagramID(s node.State) string {
	return strings.NewReplacer(" ", "_", "-", "_").Replace(string(s))
}
