package conductor_test

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"cagenut/conductor"
	"cagenut/node"
)

// rule stores a rule without conditions.
func (w *world) rule(actions ...node.RuleAction) node.InspectionRule {
	w.t.Helper()
	r, err := w.CreateInspectionRule(w.t.Context(), operator, node.InspectionRule{Actions: actions})
	w.must(err)
	return r
}

func setting(path string, value any) node.RuleAction {
	return node.RuleAction{Op: "set-attribute", Args: map[string]any{"path": path, "value": value}}
}

func failing(msg string) node.RuleAction {
	return node.RuleAction{Op: "fail", Args: map[string]any{"msg": msg}}
}

// finished posts a report of a node that waits for one, and works it up.
func (w *world) finished() (node.Node, node.Attempt) {
	w.t.Helper()
	n, a := w.waiting("agent")
	w.must(w.post(a.Token, report(`,"marker":{"x":1}`)))
	w.work(n.UUID, node.JobFinish)
	n = w.node(n)
	return n, w.attempt(n)
}

func TestRulesWorkOnWhatTheHooksFoundAndAreStoredWithIt(t *testing.T) {
	w := newWorld(t, conductor.Settings{})
	w.rule(setting("properties/cores", "{node.properties[cpus]}"), setting("driver_info/redfish_address", "https://192.0.2.11"), setting("name", "by-rule"),
		setting("extra/rack", "R7"), node.RuleAction{Op: "set-plugin-data", Args: []any{"mine.seen", "{inventory[memory][physical_mb]}"}},
		node.RuleAction{Op: "set-port-attribute", Args: []any{mac, "physical_network", "inspection"}}, node.RuleAction{Op: "log", Args: []any{"was here"}})
	n, a := w.finished()
	w.is(n, node.Manageable, "")
	if n.Properties["cores"] != "4" || n.Properties["cpu_arch"] != "x86_64" || n.Name != "by-rule" || n.Extra["rack"] != "R7" {
		t.Errorf("properties %v, name %q, extra %v", n.Properties, n.Name, n.Extra)
	}
	if n.DriverInfo["redfish_address"] != "https://192.0.2.11" || n.DriverInfo["redfish_password"] != "not-a-real-one" {
		t.Error("driver_info is not what it was with another address")
	}
	ports, err := w.store.Ports(t.Context(), node.PortFilter{NodeUUID: n.UUID})
	w.must(err)
	if len(ports) != 1 || ports[0].PhysicalNetwork != "inspection" {
		t.Errorf("ports: %+v", ports)
	}
	inv, err := w.store.Inventory(t.Context(), n.UUID)
	w.must(err)
	if s := string(inv.PluginData); !strings.Contains(s, `"mine":{"seen":"4096"}`) || !strings.Contains(s, `"marker":{"x":1}`) {
		t.Errorf("plugin data: %s", s)
	}
	if !slices.ContainsFunc(a.Notes, func(s string) bool { return strings.HasSuffix(s, ": info: was here") }) {
		t.Errorf("notes: %q", a.Notes)
	}
}

func TestARuleChangesAPortThatWasThereBefore(t *testing.T) {
	w := newWorld(t, conductor.Settings{})
	n := w.enrolled(node.Manageable, "agent")
	w.portOf(n)
	w.rule(node.RuleAction{Op: "set-port-attribute", Args: []any{mac, "extra/seen", true}})
	n, a := w.inspected(n)
	w.must(w.post(a.Token, report("")))
	w.work(n.UUID, node.JobFinish)
	w.is(n, node.Manageable, "")
	ports, err := w.store.Ports(t.Context(), node.PortFilter{NodeUUID: n.UUID})
	w.must(err)
	if len(ports) != 1 || ports[0].Extra["seen"] != true {
		t.Errorf("ports: %+v", ports)
	}
}

func TestARuleThatFailsAnInspectionLeavesNothingOfItBehind(t *testing.T) {
	for name, c := range map[string]struct {
		actions []node.RuleAction
		want    string
	}{
		"fail": {[]node.RuleAction{setting("extra/x", "y"), failing("too little memory")}, "Failed to finish inspection: Failed to inspect hardware. Reason: too little memory"},
		// G33: a rule that cannot be carried out fails the run and is named.
		"an action that cannot be done (G33)": {[]node.RuleAction{setting("extra/x", "y"), setting("extra/x/z", "y")},
			`Failed to finish inspection: inspection rule "RULE": action set-attribute: extra/x/z: what stands above it is no object`},
		"a name that is taken": {[]node.RuleAction{setting("name", "taken")},
			"Failed to finish inspection: a name that an inspection rule gives is taken: A node with name taken already exists."},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, conductor.Settings{})
			_, err := w.CreateNode(t.Context(), operator, node.Node{Name: "taken", Driver: node.DriverFake})
			w.must(err)
			r := w.rule(c.actions...)
			n, a := w.finished()
			w.is(n, node.InspectFailed, strings.ReplaceAll(c.want, "RULE", r.UUID))
			same(t, "outcome", a.Outcome, node.Failed)
			same(t, "clean-up jobs", len(w.queue.of(n.UUID, node.JobCleanUp)), 1)
			if len(n.Properties) > 0 || len(n.Extra) > 0 || n.Name != "" {
				t.Errorf("left behind: name %q, properties %v, extra %v", n.Name, n.Properties, n.Extra)
			}
			ports, err := w.store.Ports(t.Context(), node.PortFilter{NodeUUID: n.UUID})
			w.must(err)
			same(t, "ports", len(ports), 0)
			var missing *node.NotFound
			if _, err := w.store.Inventory(t.Context(), n.UUID); !errors.As(err, &missing) {
				t.Errorf("the inventory is there: %v", err)
			}
		})
	}
}

// While rules work, somebody may take what the hooks want. That is no rule's doing, and passes when the finish is repeated.
func TestOnlyANameThatARuleGaveFailsTheInspection(t *testing.T) {
	const named = "Failed to finish inspection: a name that an inspection rule gives is taken: A port with name left already exists."
	for what, c := range map[string]struct {
		attribute, value string // what a rule sets of the port that was there
		takes            node.Port
		fails            string
	}{
		"a MAC is taken, a rule touches a port that has a name": {"extra/seen", "yes", node.Port{Address: mac}, ""},
		"a MAC is taken, a rule gives a name":                   {"name", "right", node.Port{Address: mac}, ""},
		"the name is taken that a rule gives":                   {"name", "left", node.Port{Address: "02:00:5e:00:00:08", Name: "left"}, named},
	} {
		t.Run(what, func(t *testing.T) {
			w := newWorld(t, conductor.Settings{})
			n, other := w.enrolled(node.Manageable, "agent"), w.enrolled(node.Manageable, "agent")
			p, err := w.CreatePort(t.Context(), operator, node.Port{NodeUUID: n.UUID, Address: "02:00:5e:00:00:09", Name: "here"})
			w.must(err)
			w.rule(node.RuleAction{Op: "set-port-attribute", Args: []any{p.UUID, c.attribute, c.value}})
			w.RuleEngine = busy{w.RuleEngine, func() {
				c.takes.NodeUUID = other.UUID
				_, err := w.CreatePort(t.Context(), operator, c.takes)
				w.must(err)
			}}
			n, a := w.inspected(n)
			w.must(w.post(a.Token, report("")))
			_, err = w.Work(t.Context(), w.queue.of(n.UUID, node.JobFinish)[0].Job, 0)
			if c.fails != "" {
				w.must(err)
				w.is(n, node.InspectFailed, c.fails)
				return
			}
			var taken *node.Exists
			if !errors.As(err, &taken) {
				t.Errorf("the first time: %v", err)
			}
			w.RuleEngine = w.RuleEngine.(busy).RuleEngine
			w.work(n.UUID, node.JobFinish)
			w.is(n, node.Manageable, "")
		})
	}
}

// G33: what was not reported is no reason to fail.
func TestARuleThatCannotBeDecidedIsSkippedAndNoted(t *testing.T) {
	w := newWorld(t, conductor.Settings{})
	_, err := w.CreateInspectionRule(t.Context(), operator, node.InspectionRule{
		Conditions: []node.RuleCondition{{Op: "gt", Args: []any{[]any{"{inventory[gpu][count]}", 1}}}}, Actions: []node.RuleAction{failing("never")},
	})
	w.must(err)
	n, a := w.finished()
	w.is(n, node.Manageable, "")
	if !slices.ContainsFunc(a.Notes, func(s string) bool { return strings.Contains(s, "condition gt could not be decided") }) {
		t.Errorf("notes: %q", a.Notes)
	}
}

func TestRulesAreMadeWithDefaultsAndCheckedFirst(t *testing.T) {
	w := newWorld(t, conductor.Settings{})
	r := w.rule(failing("x"))
	if !node.IsUUID(r.UUID) || r.Phase != node.RulePhaseMain || r.Priority != 0 || r.Sensitive {
		t.Errorf("%+v", r)
	}
	var invalid *node.Invalid
	if _, err := w.CreateInspectionRule(t.Context(), operator, node.InspectionRule{Phase: "early", Actions: r.Actions}); !errors.As(err, &invalid) {
		t.Errorf("another phase: %v", err)
	}
	var exists *node.Exists
	if _, err := w.CreateInspectionRule(t.Context(), operator, node.InspectionRule{UUID: r.UUID, Actions: r.Actions}); !errors.As(err, &exists) {
		t.Errorf("a UUID that is taken: %v", err)
	}
	all, err := w.store.InspectionRules(t.Context(), node.RuleFilter{})
	w.must(err)
	same(t, "rules", len(all), 1)
	w.must(w.DeleteInspectionRule(t.Context(), operator, r.UUID))
	var missing *node.NotFound
	if err := w.DeleteInspectionRule(t.Context(), operator, r.UUID); !errors.As(err, &missing) {
		t.Errorf("deleted twice: %v", err)
	}
	w.must(w.DeleteInspectionRules(t.Context(), operator))
	audits, err := w.store.Audits(t.Context(), "")
	w.must(err)
	var actions []string
	for _, a := range audits {
		actions = append(actions, a.Action)
		same(t, "who", a.Actor.User, operator.User)
	}
	slices.Sort(actions)
	if want := []string{"create inspection rule", "delete all inspection rules", "delete inspection rule"}; !slices.Equal(actions, want) {
		t.Errorf("audit: %q", actions)
	}
}

func TestPatchOfARule(t *testing.T) {
	w := newWorld(t, conductor.Settings{})
	r := w.rule(failing("x"))
	prioritised := func(by int) func(node.InspectionRule) (node.InspectionRule, error) {
		return func(r node.InspectionRule) (node.InspectionRule, error) {
			r.Priority += by
			return r, nil
		}
	}
	// Somebody else is first: the change is made again, on what they left.
	rounds := 0
	after, err := w.PatchInspectionRule(t.Context(), operator, r.UUID, func(r node.InspectionRule) (node.InspectionRule, error) {
		if rounds++; rounds == 1 {
			_, err := w.PatchInspectionRule(t.Context(), operator, r.UUID, prioritised(10))
			w.must(err)
		}
		r.Priority, r.Sensitive, r.Phase = r.Priority+1, true, ""
		return r, nil
	})
	w.must(err)
	if rounds != 2 || after.Priority != 11 || !after.Sensitive || after.Phase != node.RulePhaseMain || after.UpdatedAt.IsZero() {
		t.Errorf("%d rounds, %+v", rounds, after)
	}
	for name, c := range map[string]struct {
		change func(node.InspectionRule) (node.InspectionRule, error)
		want   string
	}{
		"the flag is taken back": {func(r node.InspectionRule) (node.InspectionRule, error) { r.Sensitive = false; return r, nil },
			"Inspection rules cannot have the sensitive flag unset."},
		"another UUID":     {func(r node.InspectionRule) (node.InspectionRule, error) { r.UUID = node.NewUUID(); return r, nil }, "the UUID of an inspection rule cannot be changed."},
		"no actions":       {func(r node.InspectionRule) (node.InspectionRule, error) { r.Actions = nil; return r, nil }, "Schema error for inspection rule: [] is too short"},
		"too high":         {prioritised(9999), "Priority must be between 0 and 9999 for user-defined rules."},
		"the caller's own": {func(node.InspectionRule) (node.InspectionRule, error) { return r, node.Invalidf("not like that") }, "not like that"},
	} {
		var invalid *node.Invalid
		if _, err := w.PatchInspectionRule(t.Context(), operator, r.UUID, c.change); !errors.As(err, &invalid) || !strings.HasSuffix(invalid.Text, c.want) {
			t.Errorf("%s: %v", name, err)
		}
	}
	now, err := w.store.InspectionRule(t.Context(), r.UUID)
	w.must(err)
	same(t, "version", now.Version, after.Version)
	var missing *node.NotFound
	if _, err := w.PatchInspectionRule(t.Context(), operator, node.NewUUID(), prioritised(1)); !errors.As(err, &missing) {
		t.Errorf("a rule that is not there: %v", err)
	}
}
