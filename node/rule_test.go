package node_test

import (
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"testing"

	"cagenut/node"
)

// ruleFrom reads a rule as the API and the database do: numbers keep their spelling.
func ruleFrom(doc string) (node.InspectionRule, error) {
	var body struct {
		UUID, Description, Phase string
		Priority                 int
		Conditions               []node.RuleCondition
		Actions                  []node.RuleAction
	}
	body.Phase = node.RulePhaseMain
	d := json.NewDecoder(strings.NewReader(doc))
	d.UseNumber()
	err := d.Decode(&body)
	return node.InspectionRule{UUID: body.UUID, Description: body.Description, Phase: body.Phase, Priority: body.Priority, Conditions: body.Conditions, Actions: body.Actions}, err
}

const failing = `"actions":[{"op":"fail","args":{"msg":"no"}}]`

func condition(c string) string { return `{"conditions":[` + c + `],` + failing + `}` }
func anAction(a string) string  { return `{"actions":[` + a + `]}` }

func TestRuleThatIsRight(t *testing.T) {
	for name, doc := range map[string]string{
		"the least": `{` + failing + `}`,
		"all of its own fields": `{"uuid":"9a3c6d9e-4f0c-4a37-8f42-5b3c1f2f3a10","description":"` + strings.Repeat("ö", 255) +
			`","priority":9999,"phase":"main",` + failing + `}`,
		"an inverted operator":                      condition(`{"op":"!eq","args":{"values":[1,2]}}`),
		"an inverted operator with a space":         condition(`{"op":" ! eq ","args":{"values":[1,2]}}`),
		"positional arguments":                      condition(`{"op":"eq","args":[[1,2]]}`),
		"positional arguments with an optional one": condition(`{"op":"lt","args":[["a","b"],true]}`),
		"a loop":                                condition(`{"op":"eq","args":{"values":["{item}",1]},"loop":[1,2],"multiple":"last"}`),
		"a loop over one object":                anAction(`{"op":"set-attribute","args":{"path":"{item[path]}","value":"x"},"loop":{"path":"extra/a"}}`),
		"a loop over what is found":             condition(`{"op":"eq","args":{"values":["{item}",1]},"loop":"{inventory[interfaces][*][mac_address]}","multiple":"all"}`),
		"a loop over a part of the node":        anAction(`{"op":"log","args":["{item}"],"loop":"{node.traits}"}`),
		"a regex with a quantifier":             condition(`{"op":"matches","args":{"value":"x","regex":"^[0-9]{3}$"}}`),
		"an unknown path inside a loop":         anAction(`{"op":"del-attribute","args":{"path":"{item}"},"loop":["extra/x"]}`),
		"a subnet of a lone address":            condition(`{"op":"in-net","args":{"address":"{inventory[bmc_address]}","subnet":"192.0.2.1"}}`),
		"a subnet that is found out later":      condition(`{"op":"in-net","args":{"address":"192.0.2.1","subnet":"{plugin_data[net]}"}}`),
		"one-of without values":                 condition(`{"op":"one-of","args":{"value":1}}`),
		"a path with a leading slash (G33)":     anAction(`{"op":"set-attribute","args":{"path":"/driver_info/x","value":null}}`),
		"a path without a leading slash (G33)":  anAction(`{"op":"set-attribute","args":{"path":"driver_info/x","value":5}}`),
		"a path with dots, a value of any kind": anAction(`{"op":"set-attribute","args":{"path":"driver_info.x","value":{"a":[1]}}}`),
		"positional arguments of plugin data":   anAction(`{"op":"extend-plugin-data","args":["a.b",1,true]}`),
		"a call with everything": anAction(`{"op":"api-call","args":{"url":"https://cmdb.example.org/{node.uuid}","headers":{"X-Auth":"x"},"proxies":null,
			"timeout":2.5,"retries":"0","backoff_factor":0}}`),
	} {
		r, err := ruleFrom(doc)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if err := r.Validate(); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// G33: creation checks everything.
func TestRuleThatIsWrongIsRefusedWithASentence(t *testing.T) {
	const schema = "Schema error for inspection rule: "
	for name, c := range map[string]struct{ doc, want string }{
		"priority over the top":     {`{"priority":10000,` + failing + `}`, "Priority must be between 0 and 9999 for user-defined rules."},
		"negative priority":         {`{"priority":-1,` + failing + `}`, schema + "-1 is less than the minimum of 0"},
		"another phase":             {`{"phase":"early",` + failing + `}`, "Invalid phase: early. Valid phases are: main"},
		"a long phase":              {`{"phase":"earlier than any other",` + failing + `}`, schema + "'earlier than any other' is too long"},
		"a long description":        {`{"description":"` + strings.Repeat("x", 256) + `",` + failing + `}`, schema + "'" + strings.Repeat("x", 80) + "…' is too long"},
		"no UUID":                   {`{"uuid":"rule-1",` + failing + `}`, schema + "'rule-1' is not a 'uuid'"},
		"no actions":                {`{}`, schema + "[] is too short"},
		"empty actions":             {`{"actions":[]}`, schema + "[] is too short"},
		"too many actions":          {`{"actions":[` + strings.Repeat(`{"op":"fail","args":["x"]},`, 100) + `{"op":"fail","args":["x"]}]}`, schema + "more than 100 actions are too many"},
		"unknown action":            {anAction(`{"op":"reboot","args":{}}`), schema + "'reboot' is not one of ['fail', 'log', 'set-attribute', "},
		"an action is not inverted": {anAction(`{"op":"!fail","args":["x"]}`), schema + "'!fail' is not one of ['fail', "},
		"unknown operator":          {condition(`{"op":"ge","args":{}}`), schema + "'ge' is not one of ['eq', 'lt', 'gt', 'is-empty', 'in-net', 'matches', 'contains', 'one-of', 'is-none', 'is-true', 'is-false', '!eq', "},
		"operator twice inverted":   {condition(`{"op":"!!eq","args":[[]]}`), schema + "'!!eq': at most one exclamation mark inverts an operator"},
		"wrong multiple":            {condition(`{"op":"is-true","args":[1],"loop":[1],"multiple":"some"}`), schema + "'some' is not one of ['any', 'all', 'first', 'last']"},
		"arguments are a text":      {condition(`{"op":"is-true","args":"x"}`), schema + "'x' is not of type 'array', 'object'"},
		"arguments are missing":     {anAction(`{"op":"fail"}`), schema + "null is not of type 'array', 'object'"},
		"a loop over two fields":    {anAction(`{"op":"fail","args":["x"],"loop":"{inventory[a]}{inventory[b]}"}`), schema + "'{inventory[a]}{inventory[b]}' is not of type 'array', 'object'"},
		"a loop over a text":        {anAction(`{"op":"fail","args":["x"],"loop":"x"}`), schema + "'x' is not of type 'array', 'object'"},
		"a loop that is too long":   {anAction(`{"op":"fail","args":["x"],"loop":[` + strings.Repeat("1,", 256) + `1]}`), schema + "a loop over more than 256 items is too long"},
		"arguments nest too deep":   {anAction(`{"op":"fail","args":[` + strings.Repeat("[", 21) + strings.Repeat("]", 21) + `]}`), schema + "arguments nest deeper than 20 levels"},
		"a missing argument":        {anAction(`{"op":"set-attribute","args":{"path":"extra/x"}}`), "Invalid parameters for action operator set-attribute: missing required argument(s): value"},
		"an argument with another name": {condition(`{"op":"eq","args":{"value":[1]}}`),
			"Invalid parameters for condition operator eq: missing required argument(s): values; unexpected argument(s): value"},
		"too many positional arguments": {condition(`{"op":"is-true","args":[1,2]}`), "Invalid parameters for condition operator is-true: 2 arguments in a list, at most 1 are taken: value"},
		"too few positional arguments":  {condition(`{"op":"in-net","args":["192.0.2.1"]}`), "Invalid parameters for condition operator in-net: missing required argument(s): subnet"},
		"the operator is told without its mark": {condition(`{"op":"! matches","args":{"value":"x","regex":"("}}`),
			"Invalid parameters for condition operator matches: regex: invalid regular expression: error parsing regexp: missing closing ): `(`"},
		"a regex that repeats too much": {condition(`{"op":"matches","args":{"value":"x","regex":"` + strings.Repeat("x{1000}", 6) + `"}}`),
			"Invalid parameters for condition operator matches: regex: the regular expression repeats too much"},
		"a subnet that is none":   {condition(`{"op":"in-net","args":{"address":"x","subnet":"192.0.2.0/33"}}`), "Invalid parameters for condition operator in-net: subnet: '192.0.2.0/33' is no subnet"},
		"values that are no list": {condition(`{"op":"gt","args":{"values":"{inventory[x]}, 2"}}`), "Invalid parameters for condition operator gt: values: '{inventory[x]}, 2' is not of type 'array'"},
		"an attribute that is not to be changed": {anAction(`{"op":"set-attribute","args":{"path":"provision_state","value":"active"}}`),
			"Invalid parameters for action operator set-attribute: path: 'provision_state' is no attribute of a node that a rule may change; those are: automated_clean, "},
		"a part of what has none":          {anAction(`{"op":"set-attribute","args":{"path":"name/x","value":"y"}}`), "Invalid parameters for action operator set-attribute: path: the attribute 'name' has no parts"},
		"a path with nothing between dots": {anAction(`{"op":"unset-plugin-data","args":{"path":"a..b"}}`), "Invalid parameters for action operator unset-plugin-data: path: 'a..b' is no path"},
		"a path without an end":            {anAction(`{"op":"del-attribute","args":{"path":"extra` + strings.Repeat("/x", 16) + `"}}`), "Invalid parameters for action operator del-attribute: path: a path has at most 16 elements"},
		"a port's address": {anAction(`{"op":"set-port-attribute","args":["u","address","x"]}`),
			"Invalid parameters for action operator set-port-attribute: path: 'address' is no attribute of a port that a rule may change; those are: extra, "},
		"a trait that is none": {anAction(`{"op":"add-trait","args":["fast"]}`), "Invalid parameters for action operator add-trait: name: Schema error for trait: 'fast' is not valid under any of the given schemas"},
		"a level that is none": {anAction(`{"op":"log","args":{"msg":"x","level":"loud"}}`),
			"Invalid parameters for action operator log: level: Invalid log level: 'loud'. Choose from debug, info, warning, error, critical"},
		"a URL of another kind":       {anAction(`{"op":"api-call","args":{"url":"file:///etc/passwd"}}`), "Invalid parameters for action operator api-call: url: a URL that begins with http:// or https:// is needed"},
		"a timeout that ends nothing": {anAction(`{"op":"api-call","args":{"url":"http://x","timeout":"inf"}}`), "Invalid parameters for action operator api-call: timeout: 'inf' is no number greater than zero"},
		"several mistakes": {`{"priority":10000,"actions":[{"op":"fail","args":[]},{"op":"log","args":{}}]}`,
			"Multiple validation errors occurred: Priority must be between 0 and 9999 for user-defined rules.; Invalid parameters for action operator fail: missing required argument(s): msg; " +
				"Invalid parameters for action operator log: missing required argument(s): msg"},
	} {
		r, err := ruleFrom(c.doc)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		err = r.Validate()
		var invalid *node.Invalid
		if !errors.As(err, &invalid) || !strings.HasPrefix(invalid.Text, c.want) {
			t.Errorf("%s:\n %v\nnot %s", name, err, c.want)
		}
	}
}

func TestEveryOperatorAndActionIsListedOnce(t *testing.T) {
	for _, list := range [][]string{node.RuleOperators(), node.RuleActions()} {
		if !slices.IsSorted(list) || len(slices.Compact(slices.Clone(list))) != len(list) {
			t.Errorf("not sorted, or not unique: %v", list)
		}
	}
	if o, a := len(node.RuleOperators()), len(node.RuleActions()); o != 11 || a != 16 {
		t.Errorf("%d operators and %d actions; contract.md §4.4 has 11 and 16", o, a)
	}
	// Each has a signature: the only complaint about empty arguments is about what is missing.
	for _, op := range node.RuleActions() {
		if _, err := (node.RuleAction{Op: op, Args: map[string]any{}}).Arguments(); err == nil || !strings.HasPrefix(err.Error(), "missing required") {
			t.Errorf("%s without arguments: %v", op, err)
		}
	}
	for _, op := range node.RuleOperators() {
		if _, err := (node.RuleCondition{Op: "!" + op, Args: map[string]any{}}).Arguments(); err == nil || !strings.HasPrefix(err.Error(), "missing required") {
			t.Errorf("%s without arguments: %v", op, err)
		}
	}
}

// G33: whatever is posted, it is taken or refused as the client's mistake.
func FuzzRuleValidation(f *testing.F) {
	for _, seed := range []string{
		condition(`{"op":"! eq","args":[[1,{"a":null}]],"loop":{"x":[]},"multiple":"first"}`),
		condition(`{"op":"in-net","args":{"address":1,"subnet":"::/0"}}`),
		condition(`{"op":"contains","args":{"value":"{inventory[a","regex":"(?i)(x{3,}"}}`),
		anAction(`{"op":"api-call","args":["http://[::1","","x",1e999,-0,"1e5"]}`),
		anAction(`{"op":"set-attribute","args":{"path":"//","value":{}}}`),
		anAction(`{"op":"log","args":[[],{}],"loop":[[[[]]]]}`),
		`{"uuid":"\u0000","description":"\ud800","phase":"","priority":99999}`,
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, doc string) {
		r, err := ruleFrom(doc)
		if err != nil {
			return
		}
		err = r.Validate()
		var invalid *node.Invalid
		if err != nil && !errors.As(err, &invalid) {
			t.Fatalf("refused with %T: %v", err, err)
		}
		if err == nil && (len(r.Actions) == 0 || r.Priority < 0 || r.Priority > 9999) {
			t.Errorf("taken: %s", doc)
		}
	})
}
