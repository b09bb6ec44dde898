package store_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"cagenut/node"
)

func aRule(t *testing.T, doc string) node.InspectionRule {
	t.Helper()
	r := node.InspectionRule{UUID: node.NewUUID(), Phase: node.RulePhaseMain}
	var body struct {
		Conditions []node.RuleCondition
		Actions    []node.RuleAction
	}
	d := json.NewDecoder(strings.NewReader(doc))
	d.UseNumber()
	if err := d.Decode(&body); err != nil {
		t.Fatal(err)
	}
	r.Conditions, r.Actions = body.Conditions, body.Actions
	return r
}

// G33: what was posted is what is there.
func TestARuleComesBackAsItWas(t *testing.T) {
	r := newRig(t)
	rule := aRule(t, `{"conditions":[{"op":"! eq","args":[["{node.name}",18446744073709551615,1.50,null,{"a":[]}]],"loop":{"x":1},"multiple":"last"},
		{"op":"is-true","args":{"value":true}}],"actions":[{"op":"set-attribute","args":{"path":"/driver_info/redfish_password","value":"not-a-real-one"},"loop":[1,"<b>"]}]}`)
	rule.Description, rule.Priority, rule.Sensitive = "it's a rule", 9999, true
	created := must(r.CreateInspectionRule(t.Context(), rule, node.Audit{Action: "create inspection rule"}))(t)
	want := rule
	want.ID, want.CreatedAt = created.ID, begin.Truncate(time.Microsecond)
	for name, got := range map[string]node.InspectionRule{
		"created": created,
		"read":    must(r.InspectionRule(t.Context(), rule.UUID))(t),
		"listed":  must(r.InspectionRules(t.Context(), node.RuleFilter{}))(t)[0],
	} {
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
	// A rule without conditions is one with none (contract.md §4.4).
	bare := must(r.CreateInspectionRule(t.Context(), aRule(t, `{"actions":[{"op":"fail","args":["x"]}]}`), node.Audit{}))(t)
	if bare.Conditions == nil || len(bare.Conditions) != 0 {
		t.Errorf("conditions: %#v", bare.Conditions)
	}
}

func TestNoRuleStandsReadableInTheFile(t *testing.T) {
	r := newRig(t)
	must(r.CreateInspectionRule(t.Context(), aRule(t, `{"actions":[{"op":"set-attribute","args":["driver_info/redfish_password","not-a-real-one"]}]}`), node.Audit{}))(t)
	if err := r.Close(); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"cagenut.db", "cagenut.db-wal"} {
		file, err := os.ReadFile(filepath.Join(r.folder, name))
		if err != nil && !errors.Is(err, os.ErrNotExist) {
			t.Fatal(err)
		}
		if bytes.Contains(file, []byte("not-a-real-one")) {
			t.Errorf("%s holds the secret", name)
		}
	}
}

func TestRulesAreChangedInTheirVersionOnly(t *testing.T) {
	r := newRig(t)
	rule := must(r.CreateInspectionRule(t.Context(), aRule(t, `{"actions":[{"op":"fail","args":["x"]}]}`), node.Audit{}))(t)
	next := rule
	next.Description, next.Priority, next.Sensitive = "new", 7, true
	next.Conditions = aRule(t, `{"conditions":[{"op":"is-none","args":[null]}]}`).Conditions
	after := must(r.UpdateInspectionRule(t.Context(), next, node.Audit{}))(t)
	want := next
	want.Version, want.UpdatedAt = 1, begin.Truncate(time.Microsecond)
	if diff := cmp.Diff(want, after); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if _, err := r.UpdateInspectionRule(t.Context(), next, node.Audit{}); !errors.Is(err, node.ErrLost) {
		t.Errorf("the version before: %v", err)
	}
	if err := r.DeleteInspectionRule(t.Context(), rule.UUID, node.Audit{}); err != nil {
		t.Fatal(err)
	}
	if _, err := r.UpdateInspectionRule(t.Context(), after, node.Audit{}); !errors.Is(err, node.ErrLost) {
		t.Errorf("a rule that is gone: %v", err)
	}
}

func TestWhatTheWireSaysOfRulesThatAreThereOrNot(t *testing.T) {
	r := newRig(t)
	rule := must(r.CreateInspectionRule(t.Context(), aRule(t, `{"actions":[{"op":"fail","args":["x"]}]}`), node.Audit{}))(t)
	var exists *node.Exists
	if _, err := r.CreateInspectionRule(t.Context(), rule, node.Audit{}); !errors.As(err, &exists) || exists.Text != fmt.Sprintf("A rule with UUID %s already exists.", rule.UUID) {
		t.Errorf("twice: %v", err)
	}
	if err := r.DeleteInspectionRule(t.Context(), rule.UUID, node.Audit{}); err != nil {
		t.Fatal(err)
	}
	_, err := r.InspectionRule(t.Context(), rule.UUID)
	_, marker := r.InspectionRules(t.Context(), node.RuleFilter{Page: node.Page{Marker: rule.UUID}})
	for name, err := range map[string]error{"read": err, "delete": r.DeleteInspectionRule(t.Context(), rule.UUID, node.Audit{}), "marker": marker} {
		var missing *node.NotFound
		if !errors.As(err, &missing) || missing.Error() != fmt.Sprintf("Rule %s could not be found.", rule.UUID) {
			t.Errorf("%s: %v", name, err)
		}
	}
	for range 2 { // none is fine
		must(r.CreateInspectionRule(t.Context(), aRule(t, `{"actions":[]}`), node.Audit{}))(t)
		if err := r.DeleteInspectionRules(t.Context(), node.Audit{}); err != nil {
			t.Fatal(err)
		}
		if err := r.DeleteInspectionRules(t.Context(), node.Audit{}); err != nil {
			t.Fatal(err)
		}
	}
	if left := must(r.InspectionRules(t.Context(), node.RuleFilter{}))(t); len(left) > 0 {
		t.Errorf("left: %+v", left)
	}
}

func TestPagesOfRulesBySortKeyAndPhase(t *testing.T) {
	r := newRig(t)
	for i := range 5 {
		rule := aRule(t, `{"actions":[{"op":"fail","args":["x"]}]}`)
		rule.Priority, rule.Description, rule.Sensitive = i/2, fmt.Sprint(9-i), i%2 == 0
		must(r.CreateInspectionRule(t.Context(), rule, node.Audit{}))(t)
	}
	for _, key := range []string{"", "id", "uuid", "priority", "phase", "description", "sensitive", "created_at", "updated_at"} {
		for _, descending := range []bool{false, true} {
			var all, paged []string
			for _, n := range must(r.InspectionRules(t.Context(), node.RuleFilter{Phase: "main", Page: node.Page{SortKey: key, Descending: descending}}))(t) {
				all = append(all, n.UUID)
			}
			for marker := ""; len(paged) <= 5; {
				page := must(r.InspectionRules(t.Context(), node.RuleFilter{Page: node.Page{SortKey: key, Descending: descending, Marker: marker, Limit: 2}}))(t)
				if len(page) == 0 {
					break
				}
				for _, n := range page {
					paged = append(paged, n.UUID)
				}
				marker = page[len(page)-1].UUID
			}
			if len(all) != 5 || !slices.Equal(all, paged) {
				t.Errorf("by %q, descending %v: %d in one list, %d in pages, or in another order", key, descending, len(all), len(paged))
			}
		}
	}
	if other := must(r.InspectionRules(t.Context(), node.RuleFilter{Phase: "early"}))(t); len(other) > 0 {
		t.Errorf("of another phase: %d", len(other))
	}
	for _, key := range []string{"actions", "conditions", "version; DROP TABLE inspection_rules"} {
		var invalid *node.Invalid
		if _, err := r.InspectionRules(t.Context(), node.RuleFilter{Page: node.Page{SortKey: key}}); !errors.As(err, &invalid) {
			t.Errorf("by %q: %v", key, err)
		}
	}
}

func TestAMoveStoresTheAttributesThatItNamesAndNoOthers(t *testing.T) {
	r := newRig(t)
	n := r.add(t, node.Manageable, func(n *node.Node) {
		n.Name, n.Owner, n.DriverInfo = "before", "ops", map[string]any{"redfish_password": "not-a-real-one"}
	})
	// Somebody sets maintenance while rules are at work on what they have read.
	if err := r.SetMaintenance(t.Context(), n.UUID, true, "fan", node.Audit{}); err != nil {
		t.Fatal(err)
	}
	as := n
	as.Name, as.Owner, as.Traits = "after", "not named", []string{"CUSTOM_X"}
	as.DriverInfo = map[string]any{"redfish_password": "another-unreal-one", "redfish_address": "https://192.0.2.10"}
	as.Extra = map[string]any{"rack": "R7", "rack_unit": json.Number("21")}
	as.NetworkData = map[string]any{"links": []any{}}
	as.Interfaces.Inspect = "fake"
	after := must(r.Move(t.Context(), node.Move{Node: n.UUID, From: node.Manageable, At: begin, As: &as,
		Changed: []string{"driver_info", "extra", "inspect_interface", "name", "network_data", "traits"}}))(t)
	want := as
	want.Owner, want.Maintenance, want.MaintenanceReason = "ops", true, "fan"
	want.Version, want.UpdatedAt, want.Moved = after.Version, after.UpdatedAt, n.Moved+1
	if diff := cmp.Diff(want, after); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if after.Version < n.Version+2 {
		t.Errorf("a PATCH of what was read before would not notice: version %d", after.Version)
	}
	for _, f := range []node.Filter{{Rack: "R7"}, {Search: "192.0.2.10"}} {
		if got := must(r.Nodes(t.Context(), f))(t); len(got) != 1 {
			t.Errorf("%+v finds %d nodes", f, len(got))
		}
	}
	r.add(t, node.Enroll, func(n *node.Node) { n.Name = "taken" })
	as.Name = "taken"
	var exists *node.Exists
	if _, err := r.Move(t.Context(), node.Move{Node: n.UUID, From: node.Manageable, At: begin, As: &as, Changed: []string{"name"}}); !errors.As(err, &exists) {
		t.Errorf("a name that is taken: %v", err)
	}
	if _, err := r.Move(t.Context(), node.Move{Node: n.UUID, From: node.Manageable, At: begin, As: &as, Changed: []string{"provision_state"}}); err == nil {
		t.Error("a provision state was stored")
	}
}
