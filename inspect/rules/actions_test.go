package rules_test

import (
	"encoding/json"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"cagenut/inspect/rules"
	"cagenut/node"
)

// done carries out actions that must succeed.
func done(t *testing.T, actions string) rules.Result {
	t.Helper()
	res, err := apply(t, aRule(t, `[]`, `[`+actions+`]`))
	if err != nil {
		t.Fatalf("%s: %v", actions, err)
	}
	return res
}

func TestAttributesAreSet(t *testing.T) {
	for name, c := range map[string]struct {
		actions string
		changed []string
		want    func(*node.Node)
	}{
		"a value in a document, with a leading slash (G33)": {`{"op":"set-attribute","args":{"path":"/driver_info/x","value":"{inventory[bmc_address]}"}}`,
			[]string{"driver_info"}, func(n *node.Node) { n.DriverInfo["x"] = "192.0.2.10" }},
		"null (G33)":           {`{"op":"set-attribute","args":{"path":"driver_info/x","value":null}}`, []string{"driver_info"}, func(n *node.Node) { n.DriverInfo["x"] = nil }},
		"a number (G33)":       {`{"op":"set-attribute","args":{"path":"driver_info.x","value":5}}`, []string{"driver_info"}, func(n *node.Node) { n.DriverInfo["x"] = json.Number("5") }},
		"an object (G33)":      {`{"op":"set-attribute","args":{"path":"driver_info/x","value":{"a":[1]}}}`, []string{"driver_info"}, func(n *node.Node) { n.DriverInfo["x"] = map[string]any{"a": []any{json.Number("1")}} }},
		"what a field becomes": {`{"op":"set-attribute","args":{"path":"properties/cores","value":"{inventory[cpu][count]}"}}`, []string{"properties"}, func(n *node.Node) { n.Properties["cores"] = "8" }},
		"objects on the way":   {`{"op":"set-attribute","args":["extra/a/b/c","x"]}`, []string{"extra"}, func(n *node.Node) { n.Extra["a"] = map[string]any{"b": map[string]any{"c": "x"}} }},
		"fields in names, lists and objects": {`{"op":"set-attribute","args":["extra/a",{"{node.driver}":["{node.name}",{"x":"{inventory[zero]}"}]}]}`, []string{"extra"},
			func(n *node.Node) {
				n.Extra["a"] = map[string]any{"redfish": []any{"r1-u01", map[string]any{"x": "0"}}}
			}},
		"a whole document":         {`{"op":"set-attribute","args":["instance_info",{"a":"b"}]}`, []string{"instance_info"}, func(n *node.Node) { n.InstanceInfo = map[string]any{"a": "b"} }},
		"a document is emptied":    {`{"op":"del-attribute","args":["extra"]}`, []string{"extra"}, func(n *node.Node) { n.Extra = map[string]any{} }},
		"a value is removed":       {`{"op":"del-attribute","args":["/extra/deep/x"]}`, []string{"extra"}, func(n *node.Node) { n.Extra["deep"] = map[string]any{} }},
		"what is not there":        {`{"op":"del-attribute","args":["extra/nothing/x"]}`, []string{"extra"}, func(*node.Node) {}},
		"a list grows":             {`{"op":"extend-attribute","args":["extra/tags","b"]}`, []string{"extra"}, func(n *node.Node) { n.Extra["tags"] = []any{"a", "b"} }},
		"a list begins":            {`{"op":"extend-attribute","args":["extra/new/list","{node.driver}"]}`, []string{"extra"}, func(n *node.Node) { n.Extra["new"] = map[string]any{"list": []any{"redfish"}} }},
		"once is enough":           {`{"op":"extend-attribute","args":{"path":"extra/tags","value":"a","unique":true}}`, []string{"extra"}, func(*node.Node) {}},
		"twice where nobody minds": {`{"op":"extend-attribute","args":{"path":"extra/tags","value":"a","unique":false}}`, []string{"extra"}, func(n *node.Node) { n.Extra["tags"] = []any{"a", "a"} }},
		"a text":                   {`{"op":"set-attribute","args":["resource_class","{inventory[cpu][architecture]}"]}`, []string{"resource_class"}, func(n *node.Node) { n.ResourceClass = "x86_64" }},
		"a name":                   {`{"op":"set-attribute","args":["/name","{node.name}-b"]}`, []string{"name"}, func(n *node.Node) { n.Name = "r1-u01-b" }},
		"no name":                  {`{"op":"del-attribute","args":["name"]}`, []string{"name"}, func(n *node.Node) { n.Name = "" }},
		"a flag":                   {`{"op":"set-attribute","args":["disable_power_off",true]}`, []string{"disable_power_off"}, func(n *node.Node) { n.DisablePowerOff = true }},
		"a flag from a field":      {`{"op":"set-attribute","args":["retired","{inventory[secure]}"]}`, []string{"retired"}, func(n *node.Node) { n.Retired = true }},
		"a flag that may be unset": {`{"op":"set-attribute","args":["automated_clean",false]},{"op":"del-attribute","args":["automated_clean"]}`, []string{"automated_clean"}, func(*node.Node) {}},
		"maintenance takes its reason along": {`{"op":"set-attribute","args":["maintenance_reason","x"]},{"op":"set-attribute","args":["maintenance",false]}`,
			[]string{"fault", "maintenance", "maintenance_reason"}, func(*node.Node) {}},
		"an interface": {`{"op":"set-attribute","args":["inspect_interface","no-inspect"]}`, []string{"inspect_interface"}, func(n *node.Node) { n.Interfaces.Inspect = "no-inspect" }},
		"the default of an interface": {`{"op":"set-attribute","args":["inspect_interface","no-inspect"]},{"op":"del-attribute","args":["inspect_interface"]}`,
			[]string{"inspect_interface"}, func(*node.Node) {}},
		"another driver brings its own interfaces": {`{"op":"set-attribute","args":["driver","ipmi"]}`, []string{"bios_interface", "driver", "firmware_interface", "management_interface", "power_interface"},
			func(n *node.Node) {
				n.Driver, n.Interfaces.Management, n.Interfaces.Power, n.Interfaces.BIOS, n.Interfaces.Firmware = "ipmi", "ipmitool", "ipmitool", "no-bios", "no-firmware"
			}},
		"a capability": {`{"op":"set-capability","args":["cpu_aes","{inventory[secure]}"]}`, []string{"properties"},
			func(n *node.Node) { n.Properties["capabilities"] = "boot_mode:uefi,cpu_vt:true,cpu_aes:True" }},
		"a capability that is there": {`{"op":"set-capability","args":["boot_mode","bios"]}`, []string{"properties"}, func(n *node.Node) { n.Properties["capabilities"] = "boot_mode:bios,cpu_vt:true" }},
		"a capability goes":          {`{"op":"unset-capability","args":["boot_mode"]}`, []string{"properties"}, func(n *node.Node) { n.Properties["capabilities"] = "cpu_vt:true" }},
		"the last capability goes": {`{"op":"unset-capability","args":{"name":"{item}"},"loop":["boot_mode","cpu_vt","nothing"]}`, []string{"properties"},
			func(n *node.Node) { delete(n.Properties, "capabilities") }},
		"a trait":               {`{"op":"add-trait","args":["CUSTOM_RACK_7"]},{"op":"add-trait","args":["CUSTOM_RACK_7"]}`, []string{"traits"}, func(n *node.Node) { n.Traits = []string{"CUSTOM_RACK_7", "HW_CPU_X86_VMX"} }},
		"a trait goes":          {`{"op":"remove-trait","args":["HW_CPU_X86_VMX"]}`, []string{"traits"}, func(n *node.Node) { n.Traits = []string{} }},
		"a trait that is there": {`{"op":"add-trait","args":["HW_CPU_X86_VMX"]}`, nil, func(*node.Node) {}},
		"a loop over a list, fields in its items": {
			`{"op":"set-attribute","args":{"path":"{item[path]}","value":"{item[value]}"},"loop":[{"path":"extra/a","value":"{inventory[bmc_address]}"},{"path":"extra/b","value":"x"}]}`,
			[]string{"extra"}, func(n *node.Node) { n.Extra["a"], n.Extra["b"] = "192.0.2.10", "x" }},
		"a loop over an object is one round": {`{"op":"set-attribute","args":{"path":"{item[path]}","value":"{item[value]}"},"loop":{"path":"extra/a","value":"x"}}`,
			[]string{"extra"}, func(n *node.Node) { n.Extra["a"] = "x" }},
		"a loop over what was found": {`{"op":"extend-attribute","args":{"path":"extra/flags","value":"{item}"},"loop":"{inventory[cpu][flags]}"}`,
			[]string{"extra"}, func(n *node.Node) { n.Extra["flags"] = []any{"vmx", "aes"} }},
		"a loop over what was not found does nothing": {`{"op":"set-attribute","args":{"path":"extra/a","value":"{item}"},"loop":"{inventory[nothing]}"}`, nil, func(*node.Node) {}},
		"what a ramdisk reports is never a field": {`{"op":"set-attribute","args":{"path":"extra/a","value":"{item}"},"loop":["{inventory[name]}"]}`,
			[]string{"extra"}, func(n *node.Node) { n.Extra["a"] = "it's {node.uuid}" }},
	} {
		t.Run(name, func(t *testing.T) {
			want := input().Node
			want.InstanceInfo, want.NetworkData = map[string]any{}, map[string]any{}
			c.want(&want)
			res := done(t, c.actions)
			if diff := cmp.Diff(want, res.Node); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(c.changed, res.Changed); diff != "" {
				t.Errorf("said to be changed (-want +got):\n%s", diff)
			}
		})
	}
}

func TestWhatCannotBeSetFailsTheInspection(t *testing.T) {
	for actions, why := range map[string]string{
		`{"op":"set-attribute","args":{"path":"{item}","value":"x"},"loop":["uuid"]}`:                         "'uuid' is no attribute of a node that a rule may change; those are: ",
		`{"op":"set-attribute","args":{"path":"{item}","value":"x"},"loop":["a//b"]}`:                         "'a//b' is no path",
		`{"op":"set-attribute","args":["extra/tags/x","y"]}`:                                                  "extra/tags/x: what stands above it is no object",
		`{"op":"set-attribute","args":["extra","text"]}`:                                                      "extra: the value is no object",
		`{"op":"set-attribute","args":["owner",["a"]]}`:                                                       "owner: the value is no text",
		`{"op":"set-attribute","args":["resource_class","` + strings.Repeat("x", 81) + `"]}`:                  "resource_class: the value has more than 80 characters",
		`{"op":"set-attribute","args":["name","two words"]}`:                                                  "name: Cannot create node with invalid name 'two words'",
		`{"op":"set-attribute","args":["retired","perhaps"]}`:                                                 "retired: the value is neither true nor false",
		`{"op":"set-attribute","args":["driver","idrac"]}`:                                                    "driver: No valid host was found.",
		`{"op":"del-attribute","args":["driver"]}`:                                                            "driver: No valid host was found.",
		`{"op":"set-attribute","args":["power_interface","ipmitool"]}`:                                        "interfaces: Could not find the following interface in the 'ironic.hardware.interfaces.power' entrypoint: ipmitool.",
		`{"op":"extend-attribute","args":["extra/deep","x"]}`:                                                 "extra/deep: it is no list",
		`{"op":"extend-attribute","args":["owner","x"]}`:                                                      "owner: it is no list",
		`{"op":"extend-attribute","args":["extra","x"]}`:                                                      "extra: it is no list",
		`{"op":"set-capability","args":["a:b","x"]}`:                                                          "a capability's name has neither colon nor comma",
		`{"op":"set-capability","args":["a","x,y"]}`:                                                          "its value no comma",
		`{"op":"set-attribute","args":["properties/capabilities",{}]},{"op":"unset-capability","args":["a"]}`: "properties/capabilities is no text",
		`{"op":"add-trait","args":{"name":"{item}"},"loop":["slow"]}`:                                         "'slow' is not valid",
		`{"op":"add-trait","args":{"name":"CUSTOM_{item}"},"loop":[` + numbers(50) + `]}`:                     "the node has 50 traits already",
		`{"op":"log","args":{"msg":"x","level":"{item}"},"loop":["loud"]}`:                                    "Invalid log level: loud. Choose from debug, info, warning, error, critical",
		`{"op":"set-plugin-data","args":["list.x","y"]}`:                                                      "list.x: what stands above it is no object",
		`{"op":"extend-plugin-data","args":["root_disk","y"]}`:                                                "root_disk: it is no list",
		`{"op":"set-port-attribute","args":["52:54:00:00:00:00","extra/x","y"]}`:                              "Port 52:54:00:00:00:00 could not be found.",
		`{"op":"set-port-attribute","args":["` + portUUID + `","pxe_enabled","perhaps"]}`:                     "pxe_enabled: the value is neither true nor false",
		`{"op":"extend-port-attribute","args":["` + portUUID + `","name","x"]}`:                               "name: it is no list",
		`{"op":"api-call","args":["{inventory[hostname]}"]}`:                                                  "url is no text",
		`{"op":"api-call","args":["{inventory[bmc_address]}"]}`:                                               "url: a URL that begins with http:// or https:// is needed",
	} {
		if _, err := apply(t, aRule(t, `[]`, `[`+actions+`]`)); err == nil || !strings.HasPrefix(err.Error(), `inspection rule "`) || !strings.Contains(err.Error(), why) {
			t.Errorf("%s: %v", actions, err)
		}
	}
}

// numbers are so many different ones, as items of a list.
func numbers(n int) string {
	all := make([]string, n)
	for i := range all {
		all[i] = strconv.Itoa(i)
	}
	return strings.Join(all, ",")
}

func TestFailFailsTheInspectionWithItsMessage(t *testing.T) {
	for actions, want := range map[string]string{
		`{"op":"fail","args":{"msg":"too little memory"}}`:                          "Failed to inspect hardware. Reason: too little memory",
		`{"op":"fail","args":{"msg":"as it is: {node.name}"}}`:                      "Failed to inspect hardware. Reason: as it is: {node.name}",
		`{"op":"fail","args":{"msg":"{node.name} is {item}"},"loop":["bad","x"]}`:   "Failed to inspect hardware. Reason: r1-u01 is bad",
		`{"op":"fail","args":{"msg":null}},{"op":"set-attribute","args":["x","y"]}`: "Failed to inspect hardware. Reason: None",
	} {
		res, err := apply(t, aRule(t, `[]`, `[`+actions+`]`))
		if err == nil || err.Error() != want {
			t.Errorf("%s: %v", actions, err)
		}
		if diff := cmp.Diff([]string{`inspection rule "` + ruleUUID + `": the rule failed the inspection`}, res.Notes); diff != "" {
			t.Errorf("%s: notes (-want +got):\n%s", actions, diff)
		}
	}
}

func TestLogGoesToTheNotesOfTheAttempt(t *testing.T) {
	res := done(t, `{"op":"log","args":{"msg":"seen {node.name}"}},{"op":"log","args":{"msg":5,"level":"WARNING"}},{"op":"remove-trait","args":["CUSTOM_NONE"]}`)
	at := `inspection rule "` + ruleUUID + `": `
	if diff := cmp.Diff([]string{at + "info: seen r1-u01", at + "warning: 5", at + "the node has no trait CUSTOM_NONE to remove"}, res.Notes); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestPluginData(t *testing.T) {
	res := done(t, `{"op":"set-plugin-data","args":{"path":"mine.a.b","value":"<{node.name}>"}},{"op":"extend-plugin-data","args":["list","a",true]},
		{"op":"extend-plugin-data","args":["list","b",true]},{"op":"extend-plugin-data","args":["new.list",7]},{"op":"unset-plugin-data","args":["root_disk.name"]},
		{"op":"unset-plugin-data","args":["nothing.at.all"]}`)
	const want = `{"a":"<b>","auth_token":"not-a-real-one","list":["a","b"],"mine":{"a":{"b":"<r1-u01>"}},"new":{"list":[7]},"root_disk":{"size":1099511627776}}`
	if string(res.PluginData) != want {
		t.Errorf("plugin data:\n%s\nnot\n%s", res.PluginData, want)
	}
	if diff := cmp.Diff([]string{`inspection rule "` + ruleUUID + `": there is no plugin data at nothing.at.all to unset`}, res.Notes); diff != "" {
		t.Errorf("notes (-want +got):\n%s", diff)
	}
}

func TestPortsAreFoundByUUIDAndMAC(t *testing.T) {
	for _, id := range []string{portUUID, "52:54:00:AA:BB:CC"} {
		res := done(t, `{"op":"set-port-attribute","args":["`+id+`","physical_network","rack-{inventory[zero]}"]},{"op":"set-port-attribute","args":["`+id+`","/pxe_enabled",false]},
			{"op":"set-port-attribute","args":["`+id+`","local_link_connection.switch_id","aa"]},{"op":"extend-port-attribute","args":["`+id+`","extra/list","x",true]},
			{"op":"set-port-attribute","args":["`+id+`","name","nic0"]},{"op":"set-port-attribute","args":["`+id+`","is_smartnic","True"]},
			{"op":"del-port-attribute","args":["`+id+`","is_smartnic"]},{"op":"del-port-attribute","args":["`+id+`","extra/none"]}`)
		want := input().Ports
		want[0].PhysicalNetwork, want[0].PXEEnabled, want[0].Name = "rack-0", false, "nic0"
		want[0].LocalLinkConnection, want[0].Extra = map[string]any{"switch_id": "aa"}, map[string]any{"list": []any{"x"}}
		if diff := cmp.Diff(want, res.Ports); diff != "" {
			t.Errorf("by %s (-want +got):\n%s", id, diff)
		}
		if len(res.Changed) > 0 {
			t.Errorf("the node is said to have changed: %v", res.Changed)
		}
	}
}

// Every operator and action that node lets people use is carried out here, and no other is.
func TestTheEngineKnowsWhatMayBeUsed(t *testing.T) {
	known := rules.Known()
	if diff := cmp.Diff(slices.Concat(node.RuleOperators(), node.RuleActions()), known); diff != "" {
		t.Errorf("(-node +rules):\n%s", diff)
	}
	for _, name := range node.RuleAttributes() {
		value := map[string]string{"driver": `"ipmi"`, "name": `"x"`}[name]
		if value == "" {
			value = "null"
		}
		if res := done(t, `{"op":"set-attribute","args":["`+name+`",`+value+`]}`); !slices.Contains(res.Changed, name) {
			t.Errorf("%s is not said to be changed: %v", name, res.Changed)
		}
	}
	for _, name := range slices.Concat(node.RuleAttributes(), node.RuleDocuments(), []string{"id", "uuid", "provision_state", "power_state", "traits", "created_at"}) {
		// A field that cannot be filled in would bring a second note.
		if res := done(t, `{"op":"log","args":["{node.`+name+`}"]}`); len(res.Notes) != 1 {
			t.Errorf("{node.%s}: %q", name, res.Notes)
		}
	}
}
