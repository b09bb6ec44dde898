package rules_test

import (
	"encoding/json"
	"strings"
	"testing"

	"cagenut/inspect/rules"
	"cagenut/node"
)

// filled is what a text becomes in an action, and what was noted beside it.
func filled(t *testing.T, text string) (string, []string) {
	t.Helper()
	value, err := json.Marshal(text)
	if err != nil {
		t.Fatal(err)
	}
	res := done(t, `{"op":"set-attribute","args":{"path":"extra/out","value":`+string(value)+`}}`)
	out, ok := res.Node.Extra["out"].(string)
	if !ok {
		t.Fatalf("%s became %T", text, res.Node.Extra["out"])
	}
	return out, res.Notes
}

func TestFieldsAreFilledIn(t *testing.T) {
	for text, want := range map[string]string{
		"no field":                                  "no field",
		"{node.name}":                               "r1-u01",
		"a {node.name} of {node.driver}!":           "a r1-u01 of redfish!",
		"{node.driver_info[redfish_address]}":       "https://192.0.2.10",
		"{node.extra[tags][0]}":                     "a",
		"{node.properties[local_gb]}":               "930",
		"{node.traits}":                             "['HW_CPU_X86_VMX']",
		"{node.inspect_interface}":                  "agent",
		"{node.owner}":                              "None",
		"{node.maintenance}":                        "False",
		"{inventory[cpu][count]}":                   "8",
		"{inventory[cpu][flags]}":                   "['vmx', 'aes']",
		"{inventory[cpu][flags][1]}":                "aes",
		"{inventory[cpu]}":                          "{'architecture': 'x86_64', 'count': 8, 'flags': ['vmx', 'aes']}",
		"{inventory[secure]}":                       "True",
		"{inventory[half]}":                         "0.5",
		"{inventory[big]}":                          "18446744073709551615",
		"{inventory[hostname]}":                     "",
		"{inventory[disks]}":                        "[]",
		"{plugin_data[root_disk][name]}":            "/dev/nvme0n1",
		"{inventory[system_vendor][serial_number]}": "None",
		// What was reported stays what it is, whatever it looks like.
		"{inventory[name]}": "it's {node.uuid}",
		"{{node.name}}":     "{node.name}",
		"}}{{":              "}{",
		"{{{node.name}}}":   "{r1-u01}",
		// Secrets.
		"{node.driver_info[redfish_password]}": "***",
		"{plugin_data[auth_token]}":            "***",
		"{inventory[root][password]}":          "***",
		"{inventory[root]}":                    "{'name': '/dev/sda', 'password': '***'}",
		"{inventory[odd]}":                     `["it's", 'a"b\'', '\n\t\r\x01\\é\ufeff😀', None, False]`,
		"{node.extra[token]}":                  "of a door",
		"{node.driver_info}":                   "{'redfish_address': 'https://192.0.2.10', 'redfish_password': '***'}",
	} {
		if got, notes := filled(t, text); got != want || len(notes) > 0 {
			t.Errorf("%s: %q, not %q; %q", text, got, want, notes)
		}
	}
}

func TestWhatCannotBeFilledInIsLeftAsItIsAndNoted(t *testing.T) {
	for text, why := range map[string]string{
		"https://{inventory[bmc_v6address]}/x": "{inventory[bmc_v6address]} is not there",
		"{node.name} {inventory[a][b]}":        "{inventory[a][b]} is not there",
		"{inventory[cpu][flags][7]}":           "{inventory[cpu][flags][7]} is not there",
		"{inventory[cpu][flags][-1]}":          "is not there",
		"{node.nothing}":                       "{node.nothing} is not there",
		"{node.__class__}":                     "is not there",
		"{node[name]}":                         "is read with a dot",
		"{node}":                               "is read with a dot",
		"{inventory.cpu}":                      "is read with brackets",
		"{node.extra.tags}":                    "is read with brackets",
		"{item}":                               "stands outside of a loop",
		"{inventory[cpu][count]!r}":            "a format or conversion is not carried out",
		"{inventory[cpu][count]:>10}":          "a format or conversion is not carried out",
		"{node.name:{node.driver}}":            "its braces do not match",
		"{node.name!s}":                        "a format or conversion is not carried out",
		`{"a": 1}`:                             "what stands in braces is no field",
		"{conductor.password}":                 "what stands in braces is no field",
		"{node.}":                              "what stands in braces is no field",
		"{inventory[]}":                        "what stands in braces is no field",
		"{inventory[cpu]x}":                    "what stands in braces is no field",
		"{inventory[cpu}":                      "its braces do not match",
		"{node.name":                           "its braces do not match",
		"node.name}":                           "its braces do not match",
		"{":                                    "its braces do not match",
	} {
		got, notes := filled(t, text)
		if got != text || len(notes) != 1 || !strings.Contains(notes[0], "left as it is: ") || !strings.Contains(notes[0], why) {
			t.Errorf("%s: %q, %q", text, got, notes)
		}
	}
	for _, text := range []string{"{}", "{0}", "[0-9]{3,5}"} { // quantifiers and numbered fields: nothing to say
		if got, notes := filled(t, text); got != text || len(notes) > 0 {
			t.Errorf("%s: %q, %q", text, got, notes)
		}
	}
}

func TestATextThatWouldBeTooLongIsLeftAsItIs(t *testing.T) {
	in := input()
	in.PluginData = []byte(`{"text":"` + strings.Repeat("x", 70_000) + `","list":["` + strings.Repeat("y", 70_000) + `"],"a":"` + strings.Repeat("z", 40_000) + `"}`)
	for _, text := range []string{"{plugin_data[text]}", "{plugin_data[list]}", "{plugin_data}", "{plugin_data[a]}{plugin_data[a]}"} {
		in.Rules = []node.InspectionRule{aRule(t, `[{"op":"!is-empty","args":["`+text+`"]}]`, `[{"op":"set-attribute","args":["extra/out","`+text+`"]}]`)}
		res, err := engine().Apply(t.Context(), in)
		if err != nil || res.Node.Extra["out"] != text || len(res.Notes) != 1 || !strings.Contains(res.Notes[0], "more than 64 KiB") {
			t.Errorf("%s: %.80v, %q, %v", text, res.Node.Extra["out"], res.Notes, err)
		}
	}
}

// G33: whatever a rule and a report hold, the work ends, with a result or an error, and what is stored is JSON.
func FuzzInterpolation(f *testing.F) {
	for _, seed := range [][2]string{
		{"{node.name} {inventory[a][0]} {plugin_data[b]} {item[x]}", `{"a":[null,1e999],"b":{"password":{"x":[]}}}`},
		{"{{}}{", `{"":""}`},
		{"{node.driver_info[redfish_password]!r:>{x}}", `{"item":"{item}"}`},
		{"{inventory}", `{"a":"'\"\\\u0000\ud800\n","b":{"c":[true,false]}}`},
		{"{plugin_data[]]}", `[]`},
		{"{0}{node}}", `null`},
	} {
		f.Add(seed[0], seed[1])
	}
	f.Fuzz(func(t *testing.T, text, data string) {
		in := input()
		in.Inventory, in.PluginData = []byte(data), []byte(data)
		in.Rules = []node.InspectionRule{{
			UUID:       ruleUUID,
			Conditions: []node.RuleCondition{{Op: "!eq", Args: []any{[]any{text, []any{text}}}, Loop: []any{text, map[string]any{text: text}}}},
			Actions: []node.RuleAction{
				{Op: "set-attribute", Args: map[string]any{"path": "extra/out", "value": map[string]any{text: text}}},
				{Op: "set-plugin-data", Args: []any{text, text}, Loop: []any{text}},
			},
		}}
		res, err := engine().Apply(t.Context(), in)
		if err != nil {
			return
		}
		if string(res.PluginData) != data && !json.Valid(res.PluginData) {
			t.Errorf("plugin data is no JSON: %s", res.PluginData)
		}
		if _, err := json.Marshal(res.Node.Extra); err != nil {
			t.Error(err)
		}
		for _, n := range res.Notes {
			if strings.Contains(n, "not-a-real-one") {
				t.Errorf("a secret is in a note: %s", n)
			}
		}
	})
}

// The same for whole rules, as they come out of the database.
func FuzzRule(f *testing.F) {
	f.Add(`{"op":"matches","args":["{inventory[hostname]}",".*"],"loop":[[1]],"multiple":"all"}`, `{"op":"set-attribute","args":["extra/x/y",[{"a":"{item}"}]],"loop":{"a":null}}`)
	f.Add(`{"op":"lt","args":[[1,"2",{},[]]]}`, `{"op":"extend-port-attribute","args":["52:54:00:aa:bb:cc","extra/list","x",true]}`)
	f.Add(`{"op":"! in-net","args":{"address":"::1%eth0","subnet":"::/0"}}`, `{"op":"unset-plugin-data","args":["a.b.c"]}`)
	f.Add(`{"op":"one-of","args":[null,[null]]}`, `{"op":"set-capability","args":["a","{node.traits}"]}`)
	f.Fuzz(func(t *testing.T, condition, action string) {
		r := node.InspectionRule{UUID: ruleUUID, Conditions: make([]node.RuleCondition, 1), Actions: make([]node.RuleAction, 1)}
		if json.Unmarshal([]byte(condition), &r.Conditions[0]) != nil || json.Unmarshal([]byte(action), &r.Actions[0]) != nil || r.Actions[0].Op == "api-call" {
			return
		}
		in := input()
		in.Rules = []node.InspectionRule{r, {UUID: ruleUUID, Actions: r.Actions}}
		res, err := engine().Apply(t.Context(), in)
		if err != nil {
			res = rules.Result{}
		}
		if _, err := json.Marshal(res); err != nil {
			t.Error(err)
		}
	})
}
