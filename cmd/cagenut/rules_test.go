package main

import (
	"encoding/json"
	"errors"
	"net/http"
	"testing"

	"github.com/google/go-cmp/cmp"

	"cagenut/bmc/sim"
	"cagenut/node"
)

// G33: a rule comes in over REST, is shown as it was posted, and does to the next inspections what it says.
func TestRulesDecideAboutInspectionsOverTheWire(t *testing.T) {
	a := serveForTest(t, true)
	s := a.rack(sim.Options{Servers: 1})[0]
	rule := func(doc string) string {
		t.Helper()
		status, _, body := a.send("POST", "/v1/inspection_rules", "1.96", []byte(doc))
		var shown struct{ UUID string }
		if err := json.Unmarshal(body, &shown); err != nil || status != http.StatusCreated {
			t.Fatalf("POST: %d %s", status, body)
		}
		return shown.UUID
	}
	const posted = `{"description":"count","conditions":[{"op":"!is-empty","args":{"value":"{inventory[cpu][count]}"}},{"op":"is-empty","args":["{plugin_data[nothing]}"]}],
		"actions":[{"op":"set-attribute","args":{"path":"/properties/cores","value":"{inventory[cpu][count]}"}}]}`
	first := rule(posted)
	a.provision(s.Name, "inspect")
	a.untilState(s.Name, node.Manageable)
	n := a.until(s.Name, "off after clean-up", offAndFree)
	cores, _ := n.Properties["cores"].(string)
	if cpus, _ := node.Text(n.Properties["cpus"]); cores == "" || cores != cpus {
		t.Errorf("properties: %v", n.Properties)
	}

	rule(`{"priority":1,"sensitive":true,"actions":[{"op":"fail","args":{"msg":"not in this rack"}}]}`)
	a.provision(s.Name, "inspect")
	n = a.untilState(s.Name, node.InspectFailed)
	if n.LastError != "Failed to finish inspection: Failed to inspect hardware. Reason: not in this rack" {
		t.Errorf("last error %q", n.LastError)
	}
	status, _, body := a.send("GET", "/v1/inspection_rules/"+first, "1.96", nil)
	var want, got struct {
		Description         string
		Conditions, Actions any
	}
	if err := errors.Join(json.Unmarshal([]byte(posted), &want), json.Unmarshal(body, &got)); err != nil || status != http.StatusOK {
		t.Fatalf("GET: %d %s", status, body)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("GET (-posted +shown):\n%s", diff)
	}
}
