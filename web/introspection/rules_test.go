package introspection_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"cagenut/node"
)

const ruleUUID = "9a3c6d9e-4f0c-4a37-8f42-5b3c1f2f3a10"

// contract.md §5.2: made, listed in short, shown in full, deleted.
func TestTheLifeOfARule(t *testing.T) {
	r := newRack()
	base := serve(t, r, nil)
	if a := call(t, "GET", base+"/v1/rules", "", ""); a.status != 200 || a.text != `{"rules":[]}` {
		t.Errorf("before: %d %s", a.status, a.text)
	}
	const rule = `{"uuid":"` + ruleUUID + `","description":"large","scope":"hall-1",
		"conditions":[{"op":"ge","field":"memory_mb","value":131072},{"op":"eq","field":"data://inventory.disks[*].rotational","value":false,"multiple":"all"}],
		"actions":[{"action":"set-attribute","path":"/extra/memory","value":"{data[inventory][memory][physical_mb]}"},{"action":"set-capability","name":"large","value":"true"}]}`
	const shown = `{"uuid":"` + ruleUUID + `","description":"large","scope":"hall-1",
		"conditions":[{"op":"ge","field":"data://inventory.memory.physical_mb","value":131072,"multiple":"any","invert":false},
			{"op":"eq","field":"data://inventory.disks[*].rotational","value":false,"multiple":"all","invert":false}],
		"actions":[{"action":"set-attribute","path":"/extra/memory","value":"{data[inventory][memory][physical_mb]}"},{"action":"set-capability","name":"large","value":"true"}],
		"links":[{"rel":"self","href":"BASE/v1/rules/` + ruleUUID + `"}]}`
	a := call(t, "POST", base+"/v1/rules", "", rule)
	if a.status != 201 {
		t.Fatalf("made: %d %s", a.status, a.text)
	}
	var want map[string]any
	if err := json.Unmarshal([]byte(strings.ReplaceAll(shown, "BASE", base)), &want); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, a.body); diff != "" {
		t.Errorf("made (-want +got):\n%s", diff)
	}
	if a := call(t, "GET", base+"/v1/rules/"+ruleUUID, "1.18", ""); a.status != 200 || !cmp.Equal(want, a.body) {
		t.Errorf("shown: %d %s", a.status, cmp.Diff(want, a.body))
	}
	const short = `{"rules":[{"uuid":"` + ruleUUID + `","description":"large","scope":"hall-1","links":[{"rel":"self","href":"BASE/v1/rules/` + ruleUUID + `"}]}]}`
	if a := call(t, "GET", base+"/v1/rules", "", ""); a.text != strings.ReplaceAll(short, "BASE", base) {
		t.Errorf("listed: %s", a.text)
	}
	if a := call(t, "POST", base+"/v1/rules", "", rule); a.status != 409 || a.message() != "Rule with UUID "+ruleUUID+" already exists" {
		t.Errorf("made twice: %d %s", a.status, a.text)
	}
	if a := call(t, "DELETE", base+"/v1/rules/"+ruleUUID, "", ""); a.status != 204 || a.text != "" || a.header.Get("Content-Length") == "2" || !strings.HasPrefix(a.header.Get("Content-Type"), "text/plain") {
		t.Errorf("deleted: %d %q %v", a.status, a.text, a.header)
	}
	if a := call(t, "GET", base+"/v1/rules/"+ruleUUID, "", ""); a.status != 404 {
		t.Errorf("shown once deleted: %d %s", a.status, a.text)
	}
}

// contract.md §5.2: a new rule is answered with 201, and with 200 below 1.6.
func TestANewRuleInOldVersions(t *testing.T) {
	base := serve(t, newRack(), nil)
	for version, status := range map[string]int{"1.0": 200, "1.5": 200, "1.6": 201, "1.18": 201, "latest": 201, "": 201} {
		if a := call(t, "POST", base+"/v1/rules", version, `{"actions":[{"action":"add-trait","name":"CUSTOM_X"}]}`); a.status != status || !node.IsUUID(a.body["uuid"].(string)) || a.body["scope"] != nil || a.body["description"] != nil {
			t.Errorf("%q: %d %s", version, a.status, a.text)
		}
	}
	// Clients empty the list before they inspect, and stop when that is refused.
	if a := call(t, "DELETE", base+"/v1/rules", "", ""); a.status != 204 || a.text != "" {
		t.Errorf("emptied: %d %q", a.status, a.text)
	}
	if a := call(t, "GET", base+"/v1/rules", "", ""); a.text != `{"rules":[]}` {
		t.Errorf("emptied, there is %s", a.text)
	}
}

func TestRulesThatAreRefused(t *testing.T) {
	r := newRack()
	base := serve(t, r, nil)
	const action = `"actions":[{"action":"fail","message":"x"}]`
	for body, text := range map[string]string{
		``:                            "Invalid data: expected a JSON object, got no JSON",
		`[]`:                          "Invalid data: expected a JSON object, got list",
		`null`:                        "Invalid data: expected a JSON object, got NoneType",
		`{"uuid":5,` + action + `}`:   "Invalid data: the value of 'uuid' is not of type 'string'",
		`{"uuid":"x",` + action + `}`: "Invalid UUID value",
		`{"scope":"` + strings.Repeat("x", 256) + `",` + action + `}`: "Invalid scope: the length of the scope should be within 255 characters",
		`{"conditions":{},` + action + `}`:                            "Validation failed for conditions: it is not an array of objects",
		`{"conditions":["x"],` + action + `}`:                         "Validation failed for conditions: it is not an array of objects",
		`{"conditions":[null],` + action + `}`:                        "Validation failed for conditions: it is not an array of objects",
		`{}`:                                                          "Validation failed for actions: [] is too short",
		`{"actions":[]}`:                                              "Validation failed for actions: [] is too short",
		`{"actions":null}`:                                            "Validation failed for actions: [] is too short",
		`{"actions":[{"action":"set-attribute","path":"/driver_info/ipmi_password","value":"******"}]}`: "The value of 'actions' has a secret that reads as ******; give the secret itself.",
	} {
		if a := call(t, "POST", base+"/v1/rules", "", body); a.status != 400 || a.message() != text {
			t.Errorf("%s: %d %s", body, a.status, a.text)
		}
	}
	if len(r.rules) != 0 {
		t.Errorf("made were %v", r.rules)
	}
}
