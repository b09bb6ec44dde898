package ironic_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

const (
	ruleOne  = "6a6d0a7e-4444-4a51-9a3c-0c1f2d3e4f50"
	noRule   = "6a6d0a7e-dead-4a51-9a3c-0c1f2d3e4f50"
	anAction = `{"op":"set-attribute","args":{"path":"/driver_info/x","value":"{inventory[system_vendor][product_name]}"}}`
)

// shelved makes a rule of its own for each description, with growing priorities.
func shelved(t *testing.T, base string, descriptions ...string) {
	t.Helper()
	for i, d := range descriptions {
		body := fmt.Sprintf(`{"uuid":"6a6d0a7e-4444-4a51-9a3c-00000000000%d","description":%q,"priority":%d,"actions":[%s]}`, i, d, i, anAction)
		if a := call(t, "POST", base+"/v1/inspection_rules", "1.96", body); a.status != 201 {
			t.Fatalf("%s: %d %s", d, a.status, a.text)
		}
	}
}

// Contract.md §4.4: a new rule comes back whole, with the address of its own.
func TestARuleIsMadeAndReadBack(t *testing.T) {
	base := serve(t, &rack{})
	body := `{"uuid":"` + ruleOne + `","description":"größe","priority":9999,"phase":"main","sensitive":false,
		"conditions":[{"op":"! eq","args":{"values":["{node.driver}","redfish"]},"loop":["a"],"multiple":"all"},{"op":"is-true","args":["yes"]}],
		"actions":[` + anAction + `,{"op":"log","args":{"msg":"n","level":"info"},"loop":{"a":1}}]}`
	a := call(t, "POST", base+"/v1/inspection_rules", "1.96", body)
	if a.status != 201 || a.header.Get("Location") != base+"/v1/inspection_rules/"+ruleOne {
		t.Fatalf("got %d %v %s", a.status, a.header, a.text)
	}
	want := map[string]any{}
	if err := json.Unmarshal([]byte(body), &want); err != nil {
		t.Fatal(err)
	}
	want["created_at"], want["updated_at"] = "2026-11-30T02:05:27.000000+00:00", nil
	want["links"] = []any{
		map[string]any{"href": base + "/v1/inspection_rules/" + ruleOne, "rel": "self"}, map[string]any{"href": base + "/inspection_rules/" + ruleOne, "rel": "bookmark"},
	}
	if diff := cmp.Diff(want, a.body); diff != "" {
		t.Errorf("the answer (-want +got):\n%s", diff)
	}
	for _, path := range []string{"/v1/inspection_rules/", "/inspection_rules/"} {
		if got := call(t, "GET", base+path+ruleOne, "1.96", ""); got.status != 200 || !cmp.Equal(want, got.body) {
			t.Errorf("read: %d %s", got.status, got.text)
		}
	}
}

// What is left out has its default; Ironic stores a rule without conditions and answers 500 (contract.md §9).
func TestARuleNeedsNothingButActions(t *testing.T) {
	a := call(t, "POST", serve(t, &rack{})+"/v1/inspection_rules", "1.96", `{"actions":[`+anAction+`]}`)
	if a.status != 201 {
		t.Fatalf("got %d %s", a.status, a.text)
	}
	for key, want := range map[string]any{"description": nil, "priority": 0.0, "phase": "main", "sensitive": false, "conditions": []any{}} {
		if !cmp.Equal(a.body[key], want) {
			t.Errorf("%s is %v", key, a.body[key])
		}
	}
}

func TestWhatNoRuleMayBe(t *testing.T) {
	const in = "Schema error for inspection rule: "
	with := func(more string) string { return `{"actions":[` + anAction + `],` + more + `}` }
	for _, tc := range []struct {
		name, body string
		status     int
		text       string // its beginning
	}{
		{"no action", `{"actions":[]}`, 400, in + "[] is too short"},
		{"no actions", `{}`, 400, in + "'actions' is a required property"},
		{"null actions", `{"actions":null}`, 400, in + "'actions' is a required property"},
		{"actions that are no list", `{"actions":{}}`, 400, in + "the value of 'actions' is not an array of objects"},
		{"an unknown action", `{"actions":[{"op":"reboot","args":{}}]}`, 400, in + "'reboot' is not one of ['fail', 'log', 'set-attribute', 'extend-attribute', "},
		{"an action without arguments", `{"actions":[{"op":"log"}]}`, 400, in + "null is not of type 'array', 'object'"},
		{"a key that no action has", `{"actions":[{"op":"log","args":{"msg":"x"},"multiple":"any"}]}`, 400, in + "Additional properties are not allowed ('multiple' was unexpected)"},
		{"a wrong argument name", `{"actions":[{"op":"log","args":{"message":"x"}}]}`, 400, "Invalid parameters for action operator log: missing required argument(s): msg; unexpected argument(s): message"},
		{"an argument too few", `{"actions":[{"op":"set-attribute","args":{"path":"/x"}}]}`, 400, "Invalid parameters for action operator set-attribute: missing required argument(s): value"},
		{"positional arguments too many", `{"actions":[{"op":"fail","args":["a","b"]}]}`, 400, "Invalid parameters for action operator fail: "},
		{"an unknown operator", with(`"conditions":[{"op":"like","args":{}}]`), 400, in + "'like' is not one of ['eq', 'lt', 'gt', 'is-empty', 'in-net', 'matches', 'contains', 'one-of', 'is-none', 'is-true', 'is-false', '!eq', "},
		{"an operator that is inverted twice", with(`"conditions":[{"op":"!!eq","args":{}}]`), 400, in + "'!!eq'"},
		{"an operator that is no text", with(`"conditions":[{"op":5,"args":{}}]`), 400, in + "the value of 'op' is not of type 'string'"},
		{"an unknown way to count", with(`"conditions":[{"op":"is-true","args":{"value":"x"},"multiple":"some"}]`), 400, in + "'some' is not one of ['any', 'all', 'first', 'last']"},
		{"a wrong argument name of a condition", with(`"conditions":[{"op":"eq","args":{"value":1}}]`), 400, "Invalid parameters for condition operator eq: missing required argument(s): values; unexpected argument(s): value"},
		{"a subnet that is none", with(`"conditions":[{"op":"in-net","args":{"address":"192.0.2.1","subnet":"x"}}]`), 400, "Invalid parameters for condition operator in-net: subnet: "},
		{"a regular expression that is none", with(`"conditions":[{"op":"matches","args":{"value":"x","regex":"("}}]`), 400, "Invalid parameters for condition operator matches: regex: "},
		{"a priority above 9999", with(`"priority":10000`), 400, "Priority must be between 0 and 9999 for user-defined rules."},
		{"a negative priority", with(`"priority":-1`), 400, in + "-1 is less than the minimum of 0"},
		{"a priority that is no number", with(`"priority":"high"`), 400, in + `"high" is not of type 'integer'`},
		{"a fraction", with(`"priority":1.5`), 400, in + "1.5 is not of type 'integer'"},
		{"an unknown phase", with(`"phase":"early"`), 400, "Invalid phase: early. Valid phases are: main"},
		{"an unknown phase and a priority", with(`"phase":"early","priority":10000`), 400, "Multiple validation errors occurred: Invalid phase: early. Valid phases are: main; Priority must be between 0 and 9999 for user-defined rules."},
		{"a long description", with(`"description":"` + strings.Repeat("x", 256) + `"`), 400, "Schema error for description: "},
		{"a bad UUID", with(`"uuid":"x"`), 400, "Expected UUID for uuid: x"},
		{"a flag that is none", with(`"sensitive":"banana"`), 400, "Invalid sensitive: Unrecognized value 'banana'"},
		{"a scope, which only the inspector's rules had", with(`"scope":"x"`), 400, in + "Additional properties are not allowed ('scope' was unexpected)"},
		{"no object", `[]`, 400, in + "the body is not of type 'object'"},
		{"a UUID that is taken", with(`"uuid":"6a6d0a7e-4444-4a51-9a3c-000000000000"`), 409, "A rule with UUID 6a6d0a7e-4444-4a51-9a3c-000000000000 already exists."},
	} {
		t.Run(tc.name, func(t *testing.T) {
			r := &rack{}
			base := serve(t, r)
			shelved(t, base, "there")
			a := call(t, "POST", base+"/v1/inspection_rules", "1.96", tc.body)
			if a.status != tc.status || !strings.HasPrefix(a.fault(t), tc.text) {
				t.Errorf("got %d %s", a.status, a.text)
			}
			if len(r.rules.rules) != 1 {
				t.Errorf("%d rules are kept", len(r.rules.rules))
			}
		})
	}
}

func names(a answer) []string {
	var out []string
	list, _ := a.body["inspection_rules"].([]any)
	for _, rule := range list {
		name, _ := rule.(map[string]any)["description"].(string)
		out = append(out, name)
	}
	return out
}

func TestRulesAreListed(t *testing.T) {
	base := serve(t, &rack{}) + "/v1/inspection_rules"
	shelved(t, strings.TrimSuffix(base, "/v1/inspection_rules"), "b", "a", "c")
	for _, tc := range []struct {
		name, query string
		want, keys  []string
	}{
		{"in the order of creation", "", []string{"b", "a", "c"}, []string{"description", "links", "phase", "priority", "uuid"}},
		{"with all fields", "?detail=true", []string{"b", "a", "c"}, []string{"actions", "conditions", "created_at", "description", "links", "phase", "priority", "sensitive", "updated_at", "uuid"}},
		{"with some fields", "?fields=description,Actions", []string{"b", "a", "c"}, []string{"actions", "description", "links"}},
		{"by priority, downwards", "?sort_key=priority&sort_dir=desc", []string{"c", "a", "b"}, nil},
		{"by description", "?sort_key=description", []string{"a", "b", "c"}, nil},
		{"of the one phase", "?phase=main", []string{"b", "a", "c"}, nil},
		{"of a phase that none has", "?phase=early", nil, nil},
		{"after the first", "?marker=6a6d0a7e-4444-4a51-9a3c-000000000000", []string{"a", "c"}, nil},
	} {
		t.Run(tc.name, func(t *testing.T) {
			a := call(t, "GET", base+tc.query, "1.96", "")
			if got := names(a); a.status != 200 || !slices.Equal(got, tc.want) {
				t.Fatalf("got %d %v: %s", a.status, got, a.text)
			}
			if tc.keys != nil {
				first := a.body["inspection_rules"].([]any)[0].(map[string]any)
				if got := slices.Sorted(maps.Keys(first)); !slices.Equal(got, tc.keys) {
					t.Errorf("the keys are %v", got)
				}
			}
		})
	}
}

// G57.
func TestPagesOfRulesFollowEachOther(t *testing.T) {
	base := serve(t, &rack{})
	shelved(t, base, "a", "b", "c", "d", "e")
	var seen []string
	next := base + "/v1/inspection_rules?limit=2&sort_key=priority&phase=main&fields=description"
	for pages := 0; next != "" && pages < 5; pages++ {
		a := call(t, "GET", next, "1.96", "")
		seen = append(seen, names(a)...)
		next, _ = a.body["next"].(string)
		if next == "" {
			break
		}
		for _, part := range []string{"/v1/inspection_rules?", "sort_key=priority", "phase=main", "fields=description", "limit=2"} {
			if !strings.Contains(next, part) {
				t.Errorf("next has lost %s: %s", part, next)
			}
		}
		if links := a.body["inspection_rules_links"].([]any); links[0].(map[string]any)["href"] != next {
			t.Errorf("the second next is %v", links)
		}
	}
	if !slices.Equal(seen, []string{"a", "b", "c", "d", "e"}) {
		t.Errorf("saw %v", seen)
	}
}

func TestWhatListsOfRulesRefuse(t *testing.T) {
	base := serve(t, &rack{}) + "/v1/inspection_rules"
	for query, want := range map[string]struct {
		status int
		text   string
	}{
		"?limit=0":                  {400, "Limit must be positive"},
		"?marker=zzz":               {400, "Expected UUID for marker: zzz"},
		"?marker=" + noRule:         {404, "Rule " + noRule + " could not be found."},
		"?sort_key=actions":         {400, `The sort_key value "actions" is an invalid field for sorting`},
		"?sort_dir=up":              {400, "Invalid sort direction: up. Acceptable values are 'asc' or 'desc'"},
		"?fields=bogus":             {400, `Field(s) "bogus" are not valid`},
		"?fields=uuid&detail=true":  {400, "Can not specify ?detail=True and fields in the same request."},
		"?detail=banana":            {400, "Invalid detail: Unrecognized value 'banana', acceptable values are: '0', '1', 'f', 'false', 'n', 'no', 'off', 'on', 't', 'true', 'y', 'yes'"},
		"?scope=x":                  {400, "Unexpected arguments: scope"},
		"/" + noRule:                {404, "Rule " + noRule + " could not be found."},
		"/" + noRule + "?fields=no": {400, `Field(s) "no" are not valid`},
	} {
		if a := call(t, "GET", base+query, "1.96", ""); a.status != want.status || a.fault(t) != want.text {
			t.Errorf("%s: %d %s", query, a.status, a.text)
		}
	}
}

func TestARuleIsPatched(t *testing.T) {
	const in = "Schema error for inspection rule: "
	for _, tc := range []struct {
		name, body string
		status     int
		text       string
		want       map[string]any
	}{
		{"its priority and description", `[{"op":"replace","path":"/priority","value":7},{"op":"add","path":"/description","value":"new"}]`, 200, "", map[string]any{"priority": 7.0, "description": "new"}},
		{"its conditions", `[{"op":"add","path":"/conditions","value":[{"op":"is-true","args":{"value":"x"}}]}]`, 200, "", map[string]any{"conditions": []any{map[string]any{"op": "is-true", "args": map[string]any{"value": "x"}}}}},
		{"one argument of an action", `[{"op":"replace","path":"/actions/0/args/value","value":"y"}]`, 200, "", map[string]any{"actions": []any{map[string]any{"op": "set-attribute", "args": map[string]any{"path": "/driver_info/x", "value": "y"}}}}},
		{"a default comes back", `[{"op":"remove","path":"/description"},{"op":"remove","path":"/priority"}]`, 200, "", map[string]any{"description": nil, "priority": 0.0}},
		{"to a sensitive one", `[{"op":"replace","path":"/sensitive","value":true}]`, 200, "", map[string]any{"sensitive": true, "actions": nil, "conditions": nil}},
		{"nothing", `[]`, 200, "", map[string]any{"description": "old"}},
		{"its UUID", `[{"op":"replace","path":"/uuid","value":"x"}]`, 400, "Cannot patch /uuid. Only the following can be updated: actions, conditions, description, phase, priority, sensitive", nil},
		{"its actions away", `[{"op":"remove","path":"/actions"}]`, 400, "Schema error for patch: 'actions' is a required property", nil},
		{"its last action away", `[{"op":"remove","path":"/actions/0"}]`, 400, in + "[] is too short", nil},
		{"to a priority that is too high", `[{"op":"replace","path":"/priority","value":10000}]`, 400, "Priority must be between 0 and 9999 for user-defined rules.", nil},
		{"to an unknown phase", `[{"op":"replace","path":"/phase","value":"early"}]`, 400, "Invalid phase: early. Valid phases are: main", nil},
		{"with what is no patch", `{}`, 400, "Schema error for patch: the body is not of type 'array'", nil},
	} {
		t.Run(tc.name, func(t *testing.T) {
			base := serve(t, &rack{})
			shelved(t, base, "old")
			path := base + "/v1/inspection_rules/6a6d0a7e-4444-4a51-9a3c-000000000000"
			a := call(t, "PATCH", path, "1.96", tc.body)
			if a.status != tc.status {
				t.Fatalf("got %d %s", a.status, a.text)
			}
			if tc.status != 200 {
				if a.fault(t) != tc.text {
					t.Errorf("got %q", a.fault(t))
				}
				tc.want = map[string]any{"description": "old", "priority": 0.0}
			}
			now := call(t, "GET", path, "1.96", "").body
			for key, want := range tc.want {
				if !cmp.Equal(now[key], want) || (tc.status == 200 && !cmp.Equal(a.body[key], want)) {
					t.Errorf("%s is %v, answered %v", key, now[key], a.body[key])
				}
			}
		})
	}
	if a := call(t, "PATCH", serve(t, &rack{})+"/v1/inspection_rules/"+noRule, "1.96", `[]`); a.status != 404 || a.fault(t) != "Rule "+noRule+" could not be found." {
		t.Errorf("an unknown rule: %d %s", a.status, a.text)
	}
}

// Contract.md §4.4: what a sensitive rule does is shown to nobody, in no form, and it stays sensitive. Its other fields
// can be changed without losing what is hidden.
func TestASensitiveRuleKeepsItsSecrets(t *testing.T) {
	r := &rack{}
	base := serve(t, r)
	path := base + "/v1/inspection_rules"
	made := call(t, "POST", path, "1.96", `{"uuid":"`+ruleOne+`","sensitive":true,"conditions":[{"op":"is-true","args":{"value":"not-shown"}}],"actions":[{"op":"log","args":{"msg":"not-shown"}}]}`)
	if made.status != 201 {
		t.Fatalf("got %d %s", made.status, made.text)
	}
	unset := call(t, "PATCH", path+"/"+ruleOne, "1.96", `[{"op":"replace","path":"/sensitive","value":false}]`)
	if unset.status != 400 || !strings.HasSuffix(unset.fault(t), "Inspection rules cannot have the sensitive flag unset.") {
		t.Errorf("the flag: %d %s", unset.status, unset.text)
	}
	patched := call(t, "PATCH", path+"/"+ruleOne, "1.96", `[{"op":"replace","path":"/priority","value":5}]`)
	if patched.status != 200 {
		t.Errorf("patched: %d %s", patched.status, patched.text)
	}
	for name, a := range map[string]answer{
		"made": made, "flag": unset, "patched": patched, "shown": call(t, "GET", path+"/"+ruleOne, "1.96", ""), "chosen": call(t, "GET", path+"/"+ruleOne+"?fields=actions,conditions", "1.96", ""),
		"listed": call(t, "GET", path+"?detail=true", "1.96", ""), "a part of it copied": call(t, "PATCH", path+"/"+ruleOne, "1.96", `[{"op":"replace","path":"/actions/5","value":1}]`),
	} {
		if strings.Contains(a.text, "not-shown") {
			t.Errorf("%s shows the secret: %s", name, a.text)
		}
	}
	kept := r.rules.rules[0]
	if kept.Priority != 5 || !kept.Sensitive || len(kept.Conditions) != 1 || len(kept.Actions) != 1 {
		t.Errorf("kept %+v", kept)
	}
}

// What a sensitive rule hides cannot be read off what becomes of a part of it either.
func TestASensitiveRuleIsOnlyReplacedAsAWhole(t *testing.T) {
	r := &rack{}
	path := serve(t, r) + "/v1/inspection_rules"
	made := call(t, "POST", path, "1.96", `{"uuid":"`+ruleOne+`","sensitive":true,"conditions":[{"op":"is-true","args":["not-shown"]}],"actions":[{"op":"set-attribute","args":["driver_info/redfish_password","not-shown"]}]}`)
	if made.status != 201 {
		t.Fatalf("got %d %s", made.status, made.text)
	}
	for _, edit := range []string{
		`{"op":"replace","path":"/actions/0/op","value":"log"}`, `{"op":"replace","path":"/actions/0/args/0","value":"extra/stolen"}`, `{"op":"add","path":"/actions/1","value":{"op":"log","args":{"msg":"x"}}}`,
		`{"op":"remove","path":"/conditions/0"}`, `{"op":"replace","path":"/conditions/0/op","value":"eq"}`,
	} {
		a := call(t, "PATCH", path+"/"+ruleOne, "1.96", "["+edit+"]")
		if a.status != 400 || !strings.HasSuffix(a.fault(t), "of a sensitive rule can only be replaced as a whole.") || strings.Contains(a.text, "not-shown") {
			t.Errorf("%s: %d %s", edit, a.status, a.text)
		}
	}
	if a := call(t, "PATCH", path+"/"+ruleOne, "1.96", `[{"op":"replace","path":"/actions","value":[{"op":"fail","args":{"msg":"no"}}]}]`); a.status != 200 || r.rules.rules[0].Actions[0].Op != "fail" {
		t.Errorf("as a whole: %d %s", a.status, a.text)
	}
}

// The secrets of other rules read masked, are kept when something else changes, and the mask is never taken for one.
func TestSecretsInRulesReadMasked(t *testing.T) {
	r := &rack{}
	path := serve(t, r) + "/v1/inspection_rules"
	const actions = `[{"op":"set-attribute","args":{"path":"/driver_info/redfish_password","value":"not-shown"}},{"op":"set-attribute","args":["driver_info.ipmi_password","not-shown"]},` +
		`{"op":"api-call","args":{"url":"http://192.0.2.9/hook","headers":{"X-Auth-Token":"not-shown","X-Rack":"R7"}}},{"op":"set-attribute","args":{"path":"/extra/rack","value":"R7"}}]`
	made := call(t, "POST", path, "1.96", `{"uuid":"`+ruleOne+`","actions":`+actions+`}`)
	if made.status != 201 || !strings.Contains(made.text, `"X-Rack":"R7"`) || !strings.Contains(made.text, `"value":"R7"`) {
		t.Fatalf("got %d %s", made.status, made.text)
	}
	patched := call(t, "PATCH", path+"/"+ruleOne, "1.96", `[{"op":"replace","path":"/actions/3/args/value","value":"R8"}]`)
	for name, a := range map[string]answer{"made": made, "patched": patched, "shown": call(t, "GET", path+"/"+ruleOne, "1.96", ""), "listed": call(t, "GET", path+"?detail=true", "1.96", "")} {
		if a.status >= 300 || strings.Contains(a.text, "not-shown") || strings.Count(a.text, `"******"`) != 3 {
			t.Errorf("%s: %d %s", name, a.status, a.text)
		}
	}
	kept, err := json.Marshal(r.rules.rules[0].Actions)
	if want := strings.Replace(actions, `"value":"R7"`, `"value":"R8"`, 1); err != nil || strings.Count(string(kept), "not-shown") != strings.Count(want, "not-shown") || !strings.Contains(string(kept), `"R8"`) {
		t.Errorf("kept %s", kept)
	}
	if a := call(t, "POST", path, "1.96", `{"actions":[{"op":"set-attribute","args":{"path":"/driver_info/redfish_password","value":"******"}}]}`); a.status != 400 || !strings.Contains(a.fault(t), "give the secret itself") {
		t.Errorf("the mask: %d %s", a.status, a.text)
	}
}

func TestRulesAreRemoved(t *testing.T) {
	r := &rack{}
	base := serve(t, r)
	shelved(t, base, "a", "b", "c")
	path := base + "/v1/inspection_rules"
	for _, tc := range []struct {
		name, path string
		status     int
		left       int
	}{
		{"one", path + "/6a6d0a7e-4444-4a51-9a3c-000000000000", 204, 2},
		{"the same again", path + "/6a6d0a7e-4444-4a51-9a3c-000000000000", 404, 2},
		{"all", path, 204, 0},
		{"all when there are none", path, 204, 0},
	} {
		a := call(t, "DELETE", tc.path, "1.96", "")
		if a.status != tc.status || len(r.rules.rules) != tc.left {
			t.Errorf("%s: %d %s, %d are left", tc.name, a.status, a.text, len(r.rules.rules))
		}
		if a.status == 404 && a.fault(t) != "Rule 6a6d0a7e-4444-4a51-9a3c-000000000000 could not be found." {
			t.Errorf("%s: %s", tc.name, a.text)
		}
	}
}
