package introspection_test

import (
	"context"
	"encoding/json"
	"log/slog"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"cagenut/inspect/introspection"
	"cagenut/inspect/rules"
	"cagenut/node"
)

// rulebook keeps rules in memory.
type rulebook struct{ kept []node.InspectionRule }

func (b *rulebook) InspectionRule(_ context.Context, uuid string) (node.InspectionRule, error) {
	for _, r := range b.kept {
		if r.UUID == uuid {
			return r, nil
		}
	}
	return node.InspectionRule{}, &node.NotFound{What: "Rule", Ident: uuid}
}

func (b *rulebook) InspectionRules(context.Context, node.RuleFilter) ([]node.InspectionRule, error) {
	return b.kept, nil
}

func (b *rulebook) CreateInspectionRule(_ context.Context, _ node.Actor, r node.InspectionRule) (node.InspectionRule, error) {
	if r.UUID == "" {
		r.UUID = node.NewUUID()
	}
	b.kept = append(b.kept, r)
	return r, r.Validate()
}

func (b *rulebook) DeleteInspectionRule(context.Context, node.Actor, string) error { return nil }
func (b *rulebook) DeleteInspectionRules(context.Context, node.Actor) error        { return nil }

func parts(t *testing.T, list string) (out []map[string]any) {
	t.Helper()
	d := json.NewDecoder(strings.NewReader(list))
	d.UseNumber()
	if err := d.Decode(&out); err != nil {
		t.Fatalf("%s: %v", list, err)
	}
	return out
}

// make makes a rule of the inspector's, and gives it as it is kept and as it is shown.
func makeRule(t *testing.T, r introspection.Rule) (kept node.InspectionRule, shown introspection.Rule, err error) {
	t.Helper()
	book := &rulebook{}
	shown, err = introspection.New(introspection.Needs{Rules: book}).CreateRule(t.Context(), node.Actor{}, r)
	if err == nil {
		kept = book.kept[0]
	}
	return kept, shown, err
}

func asJSON(t *testing.T, v any) string {
	t.Helper()
	b, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

const something = `[{"action":"set-attribute","path":"/extra/applied","value":"yes"}]`

func TestConditionsAreKeptAsIronics(t *testing.T) {
	for condition, want := range map[string]string{
		`{"op":"eq","field":"memory_mb","value":4096}`:                               `[{"op":"eq","args":{"values":["{inventory[memory][physical_mb]}",4096]}}]`,
		`{"op":"eq","field":"data://inventory.cpu.count","value":8}`:                 `[{"op":"eq","args":{"values":["{inventory[cpu][count]}",8]}}]`,
		`{"op":"eq","field":"$.inventory['cpu'].\"count\"","value":8}`:               `[{"op":"eq","args":{"values":["{inventory[cpu][count]}",8]}}]`,
		`{"op":"eq","field":"inventory.disks[0].name","value":"/dev/sda"}`:           `[{"op":"eq","args":{"values":["{inventory[disks][0][name]}","/dev/sda"]}}]`,
		`{"op":"eq","field":"node://driver_info.ipmi_address","value":"a"}`:          `[{"op":"eq","args":{"values":["{node.driver_info[ipmi_address]}","a"]}}]`,
		`{"op":"eq","field":"node://driver","value":"{x}"}`:                          `[{"op":"eq","args":{"values":["{node.driver}","{{x}}"]}}]`,
		`{"op":"eq","field":"root_disk.size","value":{"a":["{"]}}`:                   `[{"op":"eq","args":{"values":["{plugin_data[root_disk][size]}",{"a":["{{"]}]}}]`,
		`{"op":"ne","field":"cpus","value":8}`:                                       `[{"op":"!is-none","args":{"value":"{inventory[cpu][count]}"}},{"op":"!eq","args":{"values":["{inventory[cpu][count]}",8]}}]`,
		`{"op":"le","field":"cpus","value":8}`:                                       `[{"op":"!is-none","args":{"value":"{inventory[cpu][count]}"}},{"op":"!gt","args":{"values":["{inventory[cpu][count]}",8]}}]`,
		`{"op":"ge","field":"cpus","value":8,"invert":true}`:                         `[{"op":"!is-none","args":{"value":"{inventory[cpu][count]}"}},{"op":"lt","args":{"values":["{inventory[cpu][count]}",8]}}]`,
		`{"op":"in-net","field":"ipmi_address","value":"192.0.2.0/24"}`:              `[{"op":"in-net","args":{"address":"{inventory[bmc_address]}","subnet":"192.0.2.0/24"}}]`,
		`{"op":"matches","field":"inventory.hostname","value":"r[0-9]{2}"}`:          `[{"op":"!is-none","args":{"value":"{inventory[hostname]}"}},{"op":"matches","args":{"regex":"r[0-9]{2}","value":"{inventory[hostname]}"}}]`,
		`{"op":"is-empty","field":"inventory.hostname"}`:                             `[{"op":"is-empty","args":{"value":"{inventory[hostname]}"}}]`,
		`{"op":"is-empty","field":"inventory.hostname","invert":true}`:               `[{"op":"!is-empty","args":{"value":"{inventory[hostname]}"}}]`,
		`{"op":"lt","field":"inventory.disks[*].size","value":5,"multiple":"all"}`:   `[{"op":"lt","args":{"values":["{item}",5]},"loop":"{inventory[disks][*][size]}","multiple":"all"}]`,
		`{"op":"contains","field":"interfaces.*.mac","value":"^02{1}"}`:              `[{"op":"contains","args":{"regex":"^02{{1}}","value":"{item}"},"loop":"{plugin_data[valid_interfaces][*][mac]}","multiple":"any"}]`,
		`{"op":"ne","field":"inventory.interfaces[*]","value":1,"multiple":"first"}`: `[{"op":"!eq","args":{"values":["{item}",1]},"loop":"{inventory[interfaces][*]}","multiple":"first"}]`,
	} {
		kept, shown, err := makeRule(t, introspection.Rule{Conditions: parts(t, "["+condition+"]"), Actions: parts(t, something)})
		if err != nil {
			t.Errorf("%s: %v", condition, err)
			continue
		}
		if got := asJSON(t, kept.Conditions); got != want {
			t.Errorf("%s: kept as\n%s, not\n%s", condition, got, want)
		}
		// What is shown says the same once more.
		again, _, err := makeRule(t, shown)
		if err != nil || !cmp.Equal(kept.Conditions, again.Conditions) {
			t.Errorf("%s: shown as %s: %v %s", condition, asJSON(t, shown.Conditions), err, cmp.Diff(kept.Conditions, again.Conditions))
		}
		if len(shown.Conditions) != 1 {
			t.Errorf("%s: shown are %s", condition, asJSON(t, shown.Conditions))
		}
	}
}

func TestActionsAreKeptAsIronics(t *testing.T) {
	for action, want := range map[string]string{
		`{"action":"fail","message":"no {data[x]}"}`:                                                             `{"op":"fail","args":{"msg":"no {data[x]}"}}`,
		`{"action":"set-attribute","path":"/driver_info/ipmi_address","value":"{data[inventory][bmc_address]}"}`: `{"op":"set-attribute","args":{"path":"/driver_info/ipmi_address","value":"{inventory[bmc_address]}"}}`,
		`{"action":"set-attribute","path":"/extra/x","value":{"{data[a]}":["{{{data[memory_mb]}}}",1]}}`:         `{"op":"set-attribute","args":{"path":"/extra/x","value":{"{plugin_data[a]}":["{{{inventory[memory][physical_mb]}}}",1]}}}`,
		`{"action":"set-attribute","path":"/driver","value":"redfish","reset_interfaces":true}`:                  `{"op":"set-attribute","args":{"path":"/driver","value":"redfish"}}`,
		`{"action":"set-attribute","path":"/name","value":null}`:                                                 `{"op":"set-attribute","args":{"path":"/name","value":null}}`,
		`{"action":"set-capability","name":"boot_mode","value":"uefi"}`:                                          `{"op":"set-capability","args":{"name":"boot_mode","value":"uefi"}}`,
		`{"action":"set-capability","name":"boot_mode"}`:                                                         `{"op":"unset-capability","args":{"name":"boot_mode"}}`,
		`{"action":"extend-attribute","path":"/extra/list","value":"x","unique":true}`:                           `{"op":"extend-attribute","args":{"path":"/extra/list","unique":true,"value":"x"}}`,
		`{"action":"add-trait","name":"CUSTOM_X"}`:                                                               `{"op":"add-trait","args":{"name":"CUSTOM_X"}}`,
		`{"action":"remove-trait","name":"CUSTOM_X"}`:                                                            `{"op":"remove-trait","args":{"name":"CUSTOM_X"}}`,
	} {
		kept, shown, err := makeRule(t, introspection.Rule{Actions: parts(t, "["+action+"]")})
		if err != nil {
			t.Errorf("%s: %v", action, err)
			continue
		}
		if got := asJSON(t, kept.Actions[0]); got != want {
			t.Errorf("%s: kept as\n%s, not\n%s", action, got, want)
		}
		again, _, err := makeRule(t, shown)
		if err != nil || !cmp.Equal(kept.Actions, again.Actions) {
			t.Errorf("%s: shown as %s: %v", action, asJSON(t, shown.Actions), err)
		}
	}
}

// G33: what is wrong is refused when the rule is made, and said.
func TestWrongRulesOfTheInspector(t *testing.T) {
	const conditions, actions = "Validation failed for conditions: ", "Validation failed for actions: "
	for part, want := range map[string]string{
		`{"field":"x","value":1}`:                                                             conditions + "'op' is a required property",
		`{"op":"eq","value":1}`:                                                               conditions + "'field' is a required property",
		`{"op":"eq","field":5,"value":1}`:                                                     conditions + "the value of 'field' is not of type 'string'",
		`{"op":"is","field":"x","value":1}`:                                                   conditions + "'is' is not one of ['contains', 'eq', 'ge', 'gt', 'in-net', 'is-empty', 'le', 'lt', 'matches', 'ne']",
		`{"op":"eq","field":"x","value":1,"multiple":"last"}`:                                 conditions + "'last' is not one of ['all', 'any', 'first']",
		`{"op":"eq","field":"x","value":1,"invert":"yes"}`:                                    conditions + "the value of 'invert' is not of type 'boolean'",
		`{"op":"eq","field":"http://x","value":1}`:                                            "Unsupported scheme for field: http, valid values are node:// or data://",
		`{"op":"eq","field":"","value":1}`:                                                    "Unable to parse field JSON path : it leads nowhere",
		`{"op":"eq","field":"a..b","value":1}`:                                                "Unable to parse field JSON path a..b: only names, indices and [*] are known here, such as inventory.disks[*].size",
		`{"op":"eq","field":"a[?(@.b)]","value":1}`:                                           "Unable to parse field JSON path a[?(@.b)]: only names, indices and [*] are known here, such as inventory.disks[*].size",
		`{"op":"eq","field":"*.b","value":1}`:                                                 "Unable to parse field JSON path *.b: it must begin with a name",
		`{"op":"eq","field":"node://[0]","value":1}`:                                          "Unable to parse field JSON path node://[0]: a node has named attributes",
		`{"op":"eq","field":"x"}`:                                                             "Invalid parameters for operator eq: missing required parameter(s): value",
		`{"op":"is-empty","field":"x","value":1}`:                                             "Invalid parameters for operator is-empty: unexpected parameter(s): value",
		`{"op":"eq","field":"x","y":1}`:                                                       "Invalid parameters for operator eq: missing required parameter(s): value; unexpected parameter(s): y",
		`{"op":"in-net","field":"x","value":"net"}`:                                           "Invalid parameters for operator in-net: subnet: 'net' is no subnet",
		`{"op":"matches","field":"x","value":"("}`:                                            "Invalid parameters for operator matches: regex: invalid regular expression",
		`{"action":"run"}`:                                                                    actions + "'run' is not one of ['add-trait', 'extend-attribute', 'fail', 'remove-trait', 'set-attribute', 'set-capability']",
		`{"action":5}`:                                                                        actions + "the value of 'action' is not of type 'string'",
		`{"action":"fail"}`:                                                                   "Invalid parameters for action fail: missing required parameter(s): message",
		`{"action":"set-attribute","path":"/extra/x"}`:                                        "Invalid parameters for action set-attribute: missing required parameter(s): value",
		`{"action":"set-attribute","path":"/uuid","value":1}`:                                 "Invalid parameters for action set-attribute: path: 'uuid' is no attribute of a node that a rule may change",
		`{"action":"set-attribute","path":"/extra/x","value":"{a}"}`:                          "Invalid parameters for action set-attribute: only fields such as {data[inventory][cpu][count]} are filled in, without format or conversion, not {a}",
		`{"action":"set-attribute","path":"/extra/x","value":"a}"}`:                           "Invalid parameters for action set-attribute: Single '}' encountered in format string",
		`{"action":"set-attribute","path":"/extra/x","value":"{data[a]:>5}"}`:                 "Invalid parameters for action set-attribute: only fields such as",
		`{"action":"set-attribute","path":"/driver","value":"ipmi","reset_interfaces":false}`: "Invalid parameters for action set-attribute: reset_interfaces cannot be anything but true",
		`{"action":"add-trait","name":"slow"}`:                                                "Invalid parameters for action add-trait: name: Schema error for trait: 'slow' is not valid",
	} {
		r := introspection.Rule{Actions: parts(t, something)}
		if strings.Contains(part, `"action"`) {
			r.Actions = parts(t, "["+part+"]")
		} else {
			r.Conditions = parts(t, "["+part+"]")
		}
		if _, _, err := makeRule(t, r); !strings.HasPrefix(kind(err), "*node.Invalid "+want) {
			t.Errorf("%s: got %s", part, kind(err))
		}
	}
}

// The one engine does with them what the inspector would (contract.md §5.2).
func TestTheEngineDecidesTheInspectorsConditions(t *testing.T) {
	const inventory = `{"cpu":{"count":8},"memory":{"physical_mb":4096},"hostname":"r1-u01","bmc_address":"192.0.2.10","empty":[],
		"disks":[{"name":"/dev/sda","size":10},{"name":"/dev/sdb","size":20},{"name":"/dev/sdc"}]}`
	for condition, want := range map[string]bool{
		`{"op":"eq","field":"memory_mb","value":4096}`:                  true,
		`{"op":"eq","field":"memory_mb","value":"4096"}`:                true,
		`{"op":"eq","field":"memory_mb","value":1,"invert":true}`:       true,
		`{"op":"ne","field":"cpus","value":8}`:                          false,
		`{"op":"le","field":"cpus","value":8}`:                          true,
		`{"op":"ge","field":"cpus","value":9}`:                          false,
		`{"op":"lt","field":"cpus","value":8,"invert":true}`:            true,
		`{"op":"in-net","field":"ipmi_address","value":"192.0.2.0/24"}`: true,
		`{"op":"matches","field":"inventory.hostname","value":"r1"}`:    false,
		`{"op":"matches","field":"inventory.hostname","value":"r1.*"}`:  true,
		`{"op":"contains","field":"inventory.hostname","value":"u0"}`:   true,
		`{"op":"eq","field":"node://driver_info.address","value":"a"}`:  true,

		// What is not there never holds, but for is-empty.
		`{"op":"ne","field":"nothing","value":8}`:                             false,
		`{"op":"eq","field":"nothing","value":8,"invert":true}`:               false,
		`{"op":"matches","field":"nothing","value":".*"}`:                     false,
		`{"op":"contains","field":"inventory.x.y","value":"z","invert":true}`: false,
		`{"op":"lt","field":"inventory.x","value":"zzz"}`:                     false,
		`{"op":"is-empty","field":"nothing"}`:                                 true,
		`{"op":"is-empty","field":"nothing[*].x"}`:                            true,
		`{"op":"is-empty","field":"inventory.empty"}`:                         true,
		`{"op":"is-empty","field":"cpus"}`:                                    false,

		// Several values; a disk without a size is none of them.
		`{"op":"gt","field":"inventory.disks[*].size","value":15}`:                                      true,
		`{"op":"gt","field":"inventory.disks[*].size","value":15,"multiple":"all"}`:                     false,
		`{"op":"gt","field":"inventory.disks[*].size","value":15,"multiple":"first"}`:                   false,
		`{"op":"gt","field":"inventory.disks[*].size","value":5,"multiple":"all"}`:                      true,
		`{"op":"ne","field":"inventory.disks[*].size","value":10,"multiple":"all"}`:                     false,
		`{"op":"ne","field":"inventory.disks[*].size","value":30,"multiple":"all"}`:                     true,
		`{"op":"ne","field":"inventory.disks[*].nothing","value":30,"multiple":"all"}`:                  false,
		`{"op":"eq","field":"inventory.empty[*]","value":1,"invert":true}`:                              false,
		`{"op":"matches","field":"inventory.disks[*].name","value":"/dev/sd[a-c]{1}","multiple":"all"}`: true,
	} {
		kept, _, err := makeRule(t, introspection.Rule{Conditions: parts(t, "["+condition+"]"), Actions: parts(t, something)})
		if err != nil {
			t.Errorf("%s: %v", condition, err)
			continue
		}
		if got := appliesTo(t, kept, inventory, nil); got != want {
			t.Errorf("%s: %v, not %v", condition, got, want)
		}
	}
}

func appliesTo(t *testing.T, r node.InspectionRule, inventory string, properties map[string]any) bool {
	t.Helper()
	res, err := rules.New(rules.Options{Log: slog.New(slog.DiscardHandler)}).Apply(t.Context(), rules.Input{
		Rules: []node.InspectionRule{r}, Inventory: []byte(inventory), PluginData: []byte(`{}`),
		Node: node.Node{UUID: uuid(1), DriverInfo: map[string]any{"address": "a"}, Properties: properties, Extra: map[string]any{}},
	})
	if err != nil {
		t.Fatal(err)
	}
	return res.Node.Extra["applied"] == "yes"
}

func TestTheScopeOfARule(t *testing.T) {
	kept, shown, err := makeRule(t, introspection.Rule{Scope: "hall {1}", Description: "d", Actions: parts(t, something)})
	if err != nil || shown.Scope != "hall {1}" || len(shown.Conditions) != 0 || shown.Description != "d" {
		t.Fatalf("shown as %+v, %v", shown, err)
	}
	for _, c := range []struct {
		properties map[string]any
		want       bool
	}{{nil, false}, {map[string]any{"inspection_scope": "hall 2"}, false}, {map[string]any{"inspection_scope": "hall {1}"}, true}} {
		if got := appliesTo(t, kept, `{}`, c.properties); got != c.want {
			t.Errorf("%v: %v", c.properties, got)
		}
	}
}

// Rules that were made through Ironic's API are shown too: in the inspector's words where it has some, and without secrets.
func TestIronicsRulesAreShown(t *testing.T) {
	for name, c := range map[string]struct{ conditions, actions, wantConditions, wantActions string }{
		"arguments by position": {`[{"op":"eq","args":[["{inventory[cpu][count]}",8]]}]`, `[{"op":"fail","args":["no"]}]`,
			`[{"field":"data://inventory.cpu.count","invert":false,"multiple":"any","op":"eq","value":8}]`, `[{"action":"fail","message":"no"}]`},
		"more than the inspector knows": {`[{"op":"one-of","args":{"value":"{node.driver}","values":["ipmi"]}},{"op":"eq","args":{"values":[1,2,3]}}]`, `[{"op":"log","args":{"msg":"x"}}]`,
			`[{"field":"","invert":false,"multiple":"any","op":"one-of","value":"{node.driver}","values":["ipmi"]},{"field":"","invert":false,"multiple":"any","op":"eq","values":[1,2,3]}]`,
			`[{"action":"log","msg":"x"}]`},
		"a loop that is written out": {`[{"op":"!eq","args":{"values":["{node.driver}","{item}"]},"loop":["a"],"multiple":"last"}]`, `[{"op":"add-trait","args":["{item}"],"loop":["CUSTOM_A"]}]`,
			`[{"field":"","invert":true,"loop":["a"],"multiple":"last","op":"eq","values":["{node.driver}","{item}"]}]`, `[{"action":"add-trait","loop":["CUSTOM_A"],"name":"{item}"}]`},
		"a condition that looks like a guard": {`[{"op":"!is-none","args":["{inventory[a]}"]},{"op":"eq","args":[["{inventory[a]}",1]]}]`, `[{"op":"fail","args":["x"]}]`,
			`[{"field":"","invert":true,"multiple":"any","op":"is-none","value":"{inventory[a]}"},{"field":"data://inventory.a","invert":false,"multiple":"any","op":"eq","value":1}]`,
			`[{"action":"fail","message":"x"}]`},
		"odd names": {`[{"op":"is-empty","args":["{plugin_data[a b][7][x-y]}"]}]`, `[{"op":"fail","args":["x"]}]`,
			`[{"field":"data://'a b'[7].x-y","invert":false,"multiple":"any","op":"is-empty"}]`, `[{"action":"fail","message":"x"}]`},
		"secrets": {`[]`, `[{"op":"set-attribute","args":["driver_info/ipmi_password","not-a-real-one"]},{"op":"api-call","args":{"url":"https://example.org","headers":{"auth_token":"not-a-real-one"}}}]`,
			`[]`, `[{"action":"set-attribute","path":"driver_info/ipmi_password","value":"******"},{"action":"api-call","headers":{"auth_token":"******"},"url":"https://example.org"}]`},
	} {
		var r node.InspectionRule
		if err := json.Unmarshal([]byte(`{"Conditions":`+c.conditions+`,"Actions":`+c.actions+`}`), &r); err != nil {
			t.Fatal(err)
		}
		r.UUID = uuid(1)
		shown, err := introspection.New(introspection.Needs{Rules: &rulebook{kept: []node.InspectionRule{r}}}).ShowRule(t.Context(), uuid(1))
		if err != nil {
			t.Fatal(err)
		}
		if got := asJSON(t, shown.Conditions); got != c.wantConditions {
			t.Errorf("%s: conditions %s", name, got)
		}
		if got := asJSON(t, shown.Actions); got != c.wantActions {
			t.Errorf("%s: actions %s", name, got)
		}
		r.Sensitive = true
		shown, err = introspection.New(introspection.Needs{Rules: &rulebook{kept: []node.InspectionRule{r}}}).ShowRule(t.Context(), uuid(1))
		if err != nil || len(shown.Conditions)+len(shown.Actions) != 0 {
			t.Errorf("%s: sensitive, it shows %+v, %v", name, shown, err)
		}
	}
}

func TestRulesAreListedInTheOrderInWhichTheyWereMade(t *testing.T) {
	book := &rulebook{kept: []node.InspectionRule{{UUID: uuid(2), CreatedAt: ended}, {UUID: uuid(1), CreatedAt: began}}}
	all, err := introspection.New(introspection.Needs{Rules: book}).ListRules(t.Context())
	got := []string{}
	for _, r := range all {
		got = append(got, r.UUID)
	}
	if err != nil || !slices.Equal(got, []string{uuid(1), uuid(2)}) {
		t.Errorf("got %v, %v", got, err)
	}
}
