package rules_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"cagenut/inspect/rules"
	"cagenut/node"
)

const (
	nodeUUID = "5f6e3c1a-92d4-4a77-8f0b-2d4b7c9e1a10"
	portUUID = "0b9d8e7f-6c5b-4a39-8271-605f4e3d2c1b"
	ruleUUID = "11111111-2222-4333-8444-555555555555"
)

const inventory = `{"cpu":{"count":8,"architecture":"x86_64","flags":["vmx","aes"]},"memory":{"physical_mb":16384},"bmc_address":"192.0.2.10",
	"system_vendor":{"product_name":"PowerEdge R640","manufacturer":"Dell Inc.","serial_number":null},"hostname":"","disks":[],"boot":{},
	"secure":true,"root":{"name":"/dev/sda","password":"not-a-real-one"},"half":0.5,"zero":0,"odd":["it's","a\"b'","\n\t\r\u0001\\é\ufeff\ud83d\ude00",null,false],"big":18446744073709551615,"name":"it's {node.uuid}"}`

const pluginData = `{"root_disk":{"size":1099511627776,"name":"/dev/nvme0n1"},"list":["a"],"auth_token":"not-a-real-one","a":"<b>"}`

func input() rules.Input {
	return rules.Input{
		Node: node.Node{
			UUID: nodeUUID, Name: "r1-u01", Driver: node.DriverRedfish, Interfaces: interfaces(), ProvisionState: node.Inspecting, Traits: []string{"HW_CPU_X86_VMX"},
			Properties: map[string]any{"capabilities": "boot_mode:uefi,cpu_vt:true", "local_gb": int64(930)},
			DriverInfo: map[string]any{"redfish_address": "https://192.0.2.10", "redfish_password": "not-a-real-one"},
			Extra:      map[string]any{"tags": []any{"a"}, "deep": map[string]any{"x": json.Number("1")}, "token": "of a door"},
		},
		Ports:     []node.Port{{UUID: portUUID, NodeUUID: nodeUUID, Address: "52:54:00:aa:bb:cc", PXEEnabled: true, Extra: map[string]any{"list": []any{}}}},
		Inventory: []byte(inventory), PluginData: []byte(pluginData),
	}
}

func interfaces() node.Interfaces {
	var i node.Interfaces
	d, err := node.DriverNamed(node.DriverRedfish)
	if err == nil {
		err = d.FillInterfaces(&i)
	}
	if err != nil {
		panic(err)
	}
	return i
}

// aRule reads a rule from the JSON of its conditions and actions.
func aRule(t *testing.T, conditions, actions string) node.InspectionRule {
	t.Helper()
	r := node.InspectionRule{ID: 1, UUID: ruleUUID, Phase: node.RulePhaseMain}
	for text, to := range map[string]any{conditions: &r.Conditions, actions: &r.Actions} {
		d := json.NewDecoder(strings.NewReader(text))
		d.UseNumber()
		if err := d.Decode(to); err != nil {
			t.Fatalf("%s: %v", text, err)
		}
	}
	return r
}

func engine() *rules.Engine {
	return rules.New(rules.Options{Caller: rules.HTTP{}, Log: slog.New(slog.DiscardHandler)})
}

// apply carries out rules on the input that all these tests share.
func apply(t *testing.T, all ...node.InspectionRule) (rules.Result, error) {
	t.Helper()
	in := input()
	in.Rules = all
	return engine().Apply(t.Context(), in)
}

func TestRulesOfHigherPriorityComeFirstAndOlderBeforeYounger(t *testing.T) {
	var all []node.InspectionRule
	for i, priority := range []int{0, 5, 9999, 5} {
		r := aRule(t, `[]`, `[{"op":"extend-plugin-data","args":{"path":"order","value":`+string(rune('0'+i))+`}}]`)
		r.ID, r.Priority = int64(i), priority
		all = append(all, r)
	}
	slices.Reverse(all)
	res, err := apply(t, all...)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Contains(res.PluginData, []byte(`"order":[2,1,3,0]`)) {
		t.Errorf("plugin data: %s", res.PluginData)
	}
}

func TestWithoutRulesEverythingStaysAsItIs(t *testing.T) {
	res, err := apply(t)
	if err != nil {
		t.Fatal(err)
	}
	in := input()
	in.Node.InstanceInfo, in.Node.NetworkData = map[string]any{}, map[string]any{} // absent documents are empty ones
	want := rules.Result{Node: in.Node, PluginData: in.PluginData}
	if diff := cmp.Diff(want, res); diff != "" {
		t.Errorf("changed (-in +out):\n%s", diff)
	}
}

func TestARuleSeesWhatTheRulesBeforeItDid(t *testing.T) {
	first := aRule(t, `[]`, `[{"op":"set-attribute","args":{"path":"resource_class","value":"big"}},{"op":"set-plugin-data","args":{"path":"mark.x","value":"1"}}]`)
	second := aRule(t, `[{"op":"eq","args":{"values":["{node.resource_class}","big"]}},{"op":"eq","args":{"values":["{plugin_data[mark][x]}",1]}}]`,
		`[{"op":"set-attribute","args":{"path":"extra/seen","value":true}}]`)
	second.ID = 2
	res, err := apply(t, second, first)
	if err != nil || res.Node.Extra["seen"] != true {
		t.Errorf("%v, %v", res.Node.Extra, err)
	}
}

func TestAnActionThatCannotBeDoneFailsTheInspectionAndNothingIsKept(t *testing.T) {
	in := input()
	in.Rules = []node.InspectionRule{aRule(t, `[]`, `[{"op":"set-attribute","args":{"path":"extra/x","value":"y"}},{"op":"log","args":{"msg":"before"}},
		{"op":"set-attribute","args":{"path":"properties/capabilities/x","value":"not-a-real-one"}}]`)}
	in.Rules[0].Description = "wrong"
	res, err := engine().Apply(t.Context(), in)
	const want = `inspection rule "wrong": action set-attribute: properties/capabilities/x: what stands above it is no object`
	if err == nil || err.Error() != want {
		t.Errorf("%v\nnot %s", err, want)
	}
	if diff := cmp.Diff(rules.Result{Notes: []string{`inspection rule "wrong": info: before`}}, res); diff != "" {
		t.Errorf("the result (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(input().Node, in.Node); diff != "" {
		t.Errorf("the input was changed (-before +after):\n%s", diff)
	}
}

func TestTheInputIsNeverChanged(t *testing.T) {
	in := input()
	in.Rules = []node.InspectionRule{aRule(t, `[]`, `[{"op":"extend-attribute","args":{"path":"extra/tags","value":"b"}},{"op":"set-attribute","args":{"path":"extra/deep/x","value":2}},
		{"op":"remove-trait","args":{"name":"HW_CPU_X86_VMX"}},{"op":"extend-port-attribute","args":{"port_id":"`+portUUID+`","path":"extra/list","value":1}},
		{"op":"set-attribute","args":{"path":"extra/doc","value":{"a":{}}}},{"op":"set-attribute","args":{"path":"extra/doc/a/b","value":1}}]`)}
	before, err := json.Marshal(in)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := engine().Apply(t.Context(), in); err != nil {
		t.Fatal(err)
	}
	after, err := json.Marshal(in)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(before), string(after)); diff != "" {
		t.Errorf("(-before +after):\n%s", diff)
	}
}

func TestTheWorkOfRulesIsBounded(t *testing.T) {
	loop := `[` + strings.TrimSuffix(strings.Repeat("0,", 256), ",") + `]`
	for name, c := range map[string]struct{ actions, want string }{
		"steps": {`[` + strings.TrimSuffix(strings.Repeat(`{"op":"del-attribute","args":["extra/x"],"loop":`+loop+`},`, 100), ",") + `]`, "take more than 10000 steps"},
		"bytes": {`[` + strings.TrimSuffix(strings.Repeat(`{"op":"log","args":["`+strings.Repeat("x", 3000)+`"],"loop":`+loop+`},`, 100), ",") + `]`,
			"work on more than 16 MiB of text"},
		"bytes of fields": {`[` + strings.TrimSuffix(strings.Repeat(`{"op":"set-attribute","args":["extra/x","{plugin_data[much]}"],"loop":`+loop+`},`, 20), ",") + `]`,
			"work on more than 16 MiB of text"},
	} {
		in := input()
		in.PluginData = []byte(`{"much":"` + strings.Repeat("y", 60_000) + `"}`)
		in.Rules = []node.InspectionRule{aRule(t, `[]`, c.actions)}
		if _, err := engine().Apply(t.Context(), in); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v", name, err)
		}
	}
	in := input()
	in.PluginData = []byte(`{"much":"` + strings.Repeat("y", 60_000) + `"}`)
	in.Rules = []node.InspectionRule{aRule(t, `[{"op":"!contains","args":{"value":"{plugin_data[much]}","regex":"`+strings.Repeat("y?", 1000)+`x"},"loop":`+loop+`,"multiple":"all"}]`, `[]`)}
	if _, err := engine().Apply(t.Context(), in); err == nil || !strings.Contains(err.Error(), "regular expressions of the inspection rules take too long") {
		t.Errorf("regular expressions: %v", err)
	}
}

// A report of 16 MiB may be millions of values: no rule has them decoded.
func TestADocumentOfTooManyValuesIsNotRead(t *testing.T) {
	const want = "cannot be read: the plugin data holds more than 200000 values"
	in := input()
	in.PluginData = []byte(`{"junk":[` + strings.Repeat("1,", 1<<20) + `1]}`)
	in.Rules = []node.InspectionRule{aRule(t, `[{"op":"eq","args":{"values":["{plugin_data[junk][0]}",1]}}]`, `[{"op":"set-attribute","args":{"path":"extra/seen","value":true}}]`)}
	allocated := testing.AllocsPerRun(1, func() {
		res, err := engine().Apply(t.Context(), in)
		if err != nil || res.Node.Extra["seen"] != nil || !bytes.Equal(res.PluginData, in.PluginData) || !strings.Contains(strings.Join(res.Notes, " "), want) {
			t.Errorf("%v, %v, %q", err, res.Node.Extra, res.Notes)
		}
	})
	if allocated > 20_000 {
		t.Errorf("%.0f allocations", allocated)
	}
	in.Rules = []node.InspectionRule{aRule(t, `[]`, `[{"op":"set-plugin-data","args":{"path":"a","value":1}}]`)}
	if _, err := engine().Apply(t.Context(), in); err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("to change it: %v", err)
	}
	if trial := engine().Try(t.Context(), in); !strings.Contains(trial.Failure, want) {
		t.Errorf("to try it: %+v", trial)
	}
}

func TestNotesAreBounded(t *testing.T) {
	res, err := apply(t, aRule(t, `[]`, `[{"op":"log","args":{"msg":"{item}`+strings.Repeat("x", 1000)+`"},"loop":[`+numbers(120)+`]}]`))
	if err != nil {
		t.Fatal(err)
	}
	if len(res.Notes) != 101 || res.Notes[100] != "and 20 more notes of inspection rules" || len(res.Notes[0]) > 510 {
		t.Errorf("%d notes, the first of %d bytes, the last %q", len(res.Notes), len(res.Notes[0]), res.Notes[len(res.Notes)-1])
	}
}

func TestAnEndedContextEndsTheWork(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	in := input()
	in.Rules = []node.InspectionRule{aRule(t, `[]`, `[{"op":"log","args":["x"]}]`)}
	if _, err := engine().Apply(ctx, in); !errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
	}
}

// What an older appliance stored, or a foreign tool, need not be valid.
func TestARuleThatNobodyCheckedFailsTheInspectionByName(t *testing.T) {
	for name, r := range map[string]node.InspectionRule{
		"an unknown operator":  {UUID: ruleUUID, Conditions: []node.RuleCondition{{Op: "ge", Args: []any{}}}},
		"a doubled mark":       {UUID: ruleUUID, Conditions: []node.RuleCondition{{Op: "!!eq", Args: []any{}}}},
		"no arguments":         {UUID: ruleUUID, Conditions: []node.RuleCondition{{Op: "eq"}}},
		"an unknown action":    {UUID: ruleUUID, Actions: []node.RuleAction{{Op: "reboot", Args: []any{}}}},
		"an attribute of ours": {UUID: ruleUUID, Actions: []node.RuleAction{{Op: "set-attribute", Args: []any{"provision_state", "active"}}}},
		"a path of a number":   {UUID: ruleUUID, Actions: []node.RuleAction{{Op: "del-attribute", Args: []any{1}}}},
	} {
		if _, err := apply(t, r); err == nil || !strings.HasPrefix(err.Error(), `inspection rule "`+ruleUUID+`": `) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
