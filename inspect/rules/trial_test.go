package rules_test

import (
	"context"
	"log/slog"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"cagenut/inspect/rules"
	"cagenut/node"
)

func TestATrialTellsWhatRulesWouldDo(t *testing.T) {
	action := func(op string, args map[string]any) node.RuleAction { return node.RuleAction{Op: op, Args: args} }
	set := func(path string, v any) node.RuleAction {
		return action("set-attribute", map[string]any{"path": path, "value": v})
	}
	in := rules.Input{
		Node: node.Node{
			UUID: "u", Driver: node.DriverFake, Properties: map[string]any{"cpus": 4}, Extra: map[string]any{"rack": "R7"}, DriverInfo: map[string]any{"redfish_password": "not-a-real-one"},
		},
		Ports:     []node.Port{{UUID: "p", Address: "52:54:00:aa:00:01", PXEEnabled: true}},
		Inventory: []byte(`{"cpu":{"count":4}}`), PluginData: []byte(`{"a":{"b":1}}`),
		Rules: []node.InspectionRule{
			{UUID: "r-low", Priority: 1, Description: "last", Actions: []node.RuleAction{set("extra/rack", "R8")}},
			{UUID: "r-high", Priority: 9, Description: "first", Actions: []node.RuleAction{
				set("extra/rack", "R9"), set("driver_info/redfish_password", "another-one"), set("name", "n-1"), action("add-trait", map[string]any{"name": "CUSTOM_A"}),
				action("set-port-attribute", map[string]any{"port_id": "p", "path": "pxe_enabled", "value": false}),
				action("set-plugin-data", map[string]any{"path": "a.b", "value": 2}),
				action("api-call", map[string]any{"url": "http://192.0.2.1/secret-path"}),
			}},
			{UUID: "r-no", Priority: 5, Description: "does not hold", Conditions: []node.RuleCondition{{Op: "gt", Args: map[string]any{"values": []any{"{inventory[cpu][count]}", 64}}}}, Actions: []node.RuleAction{set("extra/big", true)}},
		},
	}
	engine := rules.New(rules.Options{Caller: nobody{t}, Log: slog.New(slog.DiscardHandler)})
	got := engine.Try(t.Context(), in)
	want := []node.TriedRule{
		{UUID: "r-high", Label: "first", Applied: true, Changes: []node.RuleChange{
			{Of: "node", Path: "driver_info/redfish_password", Before: node.Mask, After: node.Mask},
			{Of: "node", Path: "extra/rack", Before: "R7", After: "R9"}, {Of: "node", Path: "name", After: "n-1"}, {Of: "node", Path: "traits", After: []any{"CUSTOM_A"}},
			{Of: "plugin data", Path: "a/b", Before: 1.0, After: 2.0}, {Of: "port 52:54:00:aa:00:01", Path: "pxe_enabled", Before: true, After: false},
		}},
		{UUID: "r-no", Label: "does not hold", Changes: []node.RuleChange{}},
		{UUID: "r-low", Label: "last", Applied: true, Changes: []node.RuleChange{{Of: "node", Path: "extra/rack", Before: "R9", After: "R8"}}},
	}
	if diff := cmp.Diff(want, got.Rules); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if len(got.Notes) != 1 || !strings.Contains(got.Notes[0], "a call to http://192.0.2.1 would be made") || got.Failure != "" {
		t.Errorf("notes %q, failure %q", got.Notes, got.Failure)
	}
	if in.Node.Extra["rack"] != "R7" || in.Node.Name != "" || !in.Ports[0].PXEEnabled || string(in.PluginData) != `{"a":{"b":1}}` {
		t.Errorf("the trial changed what it was given: %+v", in)
	}

	t.Run("what a sensitive rule sets is not shown", func(t *testing.T) {
		quiet := in
		quiet.Rules = []node.InspectionRule{{UUID: "r", Description: "quiet", Sensitive: true, Actions: []node.RuleAction{set("extra/rack", "R9")}}}
		want := []node.RuleChange{{Of: "node", Path: "extra/rack", Before: node.Mask, After: node.Mask}}
		if diff := cmp.Diff(want, engine.Try(t.Context(), quiet).Rules[0].Changes); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
	})
	t.Run("a rule that fails ends it", func(t *testing.T) {
		in.Rules = append(in.Rules, node.InspectionRule{UUID: "r-fail", Priority: 7, Actions: []node.RuleAction{set("extra/x", 1), action("fail", map[string]any{"msg": "no"})}})
		got := engine.Try(t.Context(), in)
		if got.Failure != "Failed to inspect hardware. Reason: no" || len(got.Rules) != 2 || !got.Rules[1].Applied || len(got.Rules[1].Changes) != 1 {
			t.Errorf("%+v", got)
		}
	})
}

// nobody is a caller that must not be called.
type nobody struct{ t *testing.T }

func (n nobody) Get(ctx context.Context, c rules.Call) (int, error) {
	n.t.Errorf("a trial called %s", c.URL)
	return 0, ctx.Err()
}
