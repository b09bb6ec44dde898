package ironic

import (
	"bytes"
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"cagenut/node"
	"cagenut/web/openapi"
)

const rulesSince = 96

func (a *api) ruleOperations() []operation {
	const refusal = "The API version does not allow inspection rules"
	op := func(method, path, does string, answer openapi.Answer, do func(*request) error) operation {
		o := openapi.Operation{Method: method, Path: "/v1/inspection_rules" + path, Does: does, Tag: "inspection rules", Since: rulesSince, Answers: []openapi.Answer{answer}}
		if method == "GET" {
			return operation{o, &routed{status: 404, text: refusal}, do}
		}
		o.May = []int{409}
		return operation{o, &routed{status: 405, text: refusal, allow: "GET"}, do}
	}
	one := openapi.Answer{Status: 200, Shows: a.rules.ref()}
	index := op("GET", "", "List the inspection rules.", openapi.Answer{Status: 200, Shows: list("inspection_rules", openapi.Ref("InspectionRule"))}, a.listRules)
	index.Query = append(a.rules.paging(), a.rules.fieldsParameter(), openapi.Parameter{Name: "detail", Does: "Show all fields.", Kind: openapi.Flag()},
		openapi.Parameter{Name: "phase", Kind: openapi.Text(16)})
	index.May = []int{404}
	create := op("POST", "", "Make an inspection rule.", openapi.Answer{Status: 201, Shows: a.rules.fullRef(), Location: true}, a.createRule)
	create.Body = creation[node.InspectionRule]{a.rules}
	show := op("GET", "/:rule", "Show an inspection rule.", one, a.showRule)
	show.Query = []openapi.Parameter{a.rules.fieldsParameter()}
	patch := op("PATCH", "/:rule", "Change an inspection rule by a JSON patch.", openapi.Answer{Status: 200, Shows: a.rules.fullRef()}, a.patchRule)
	patch.Body = patching[node.InspectionRule]{a.rules}
	return []operation{
		index, create, show, patch,
		op("DELETE", "/:rule", "Remove an inspection rule.", openapi.Answer{Status: 204}, a.deleteRule),
		op("DELETE", "", "Remove all inspection rules.", openapi.Answer{Status: 204}, a.deleteRules),
	}
}

type ruleField = field[node.InspectionRule]

// ruleResource is an inspection rule on the wire (contract.md §4.4). Its conditions and actions are checked as a whole by
// [node.InspectionRule.Validate].
func ruleResource() *resource[node.InspectionRule] {
	field := func(name string, kind openapi.Kind, get func(node.InspectionRule) any, set func(*node.InspectionRule, json.RawMessage)) ruleField {
		return ruleField{name: name, since: rulesSince, kind: kind, get: func(r node.InspectionRule, _ int) any { return get(r) }, set: set, creatable: true, patchable: true, sortable: true}
	}
	times := func(name string, get func(node.InspectionRule) any) ruleField {
		return ruleField{name: name, since: rulesSince, kind: timeKind(), get: func(r node.InspectionRule, _ int) any { return get(r) }, sortable: true}
	}
	parts := func(f ruleField) ruleField { f.sortable = false; return f }
	uuid := field("uuid", openapi.UUID(), func(r node.InspectionRule) any { return r.UUID }, func(r *node.InspectionRule, raw json.RawMessage) { r.UUID = readText(raw) })
	uuid.patchable = false
	return &resource[node.InspectionRule]{
		what: "inspection rule", title: "InspectionRule", required: []string{"actions"}, short: []string{"uuid", "priority", "phase", "description"}, unknown: unknownField,
		fields: []ruleField{
			uuid,
			field("description", openapi.Text(255), func(r node.InspectionRule) any { return textOrNull(r.Description) }, func(r *node.InspectionRule, raw json.RawMessage) { r.Description = readText(raw) }),
			field("priority", priority(), func(r node.InspectionRule) any { return r.Priority }, func(r *node.InspectionRule, raw json.RawMessage) {
				r.Priority = 0
				_ = json.Unmarshal(raw, &r.Priority) // its kind has been checked
			}),
			field("phase", openapi.Text(16), func(r node.InspectionRule) any { return textOrNull(r.Phase) }, func(r *node.InspectionRule, raw json.RawMessage) {
				if r.Phase = readText(raw); openapi.IsNull(raw) {
					r.Phase = node.RulePhaseMain
				}
			}),
			field("sensitive", openapi.Flag(), func(r node.InspectionRule) any { return r.Sensitive }, func(r *node.InspectionRule, raw json.RawMessage) { r.Sensitive = readFlag(raw, false) }),
			parts(field("conditions", ruleParts{operators: node.RuleOperators()}, func(r node.InspectionRule) any { return conditionsView(r) }, func(r *node.InspectionRule, raw json.RawMessage) {
				r.Conditions = nil
				_ = decodeNumbers(raw, &r.Conditions) // its kind has been checked
			})),
			parts(field("actions", ruleParts{operators: node.RuleActions(), least: 1}, func(r node.InspectionRule) any { return actionsView(r) }, func(r *node.InspectionRule, raw json.RawMessage) {
				r.Actions = nil
				_ = decodeNumbers(raw, &r.Actions) // its kind has been checked
			})),
			times("created_at", func(r node.InspectionRule) any { return timeOrNull(r.CreatedAt) }),
			times("updated_at", func(r node.InspectionRule) any { return timeOrNull(r.UpdatedAt) }),
		},
	}
}

// priority is the kind of a rule's priority.
func priority() openapi.Kind {
	low, high := 0.0, 9999.0
	s := &openapi.Schema{Types: []string{"integer", "null"}, Minimum: &low, Maximum: &high}
	return openapi.Custom(openapi.Typed("integer"), s, func(name string, raw json.RawMessage) error {
		n := 0
		switch {
		case openapi.IsNull(raw):
		case json.Unmarshal(raw, &n) != nil:
			return node.Invalidf("Schema error for inspection rule: %s is not of type 'integer'", openapi.Quoted(name, raw))
		case n < 0:
			return node.Invalidf("Schema error for inspection rule: %d is less than the minimum of 0", n)
		}
		return nil // too high is told by the rule itself, with Ironic's text
	})
}

// ruleParts is the kind of a rule's conditions and actions: their shape. What their arguments must be is told by the rule
// itself, because it depends on the operator.
type ruleParts struct {
	operators []string
	least     int
}

func (p ruleParts) Reads(int) *openapi.Schema {
	// A sensitive rule shows null.
	return &openapi.Schema{Types: []string{"array", "null"}, Items: openapi.Typed("object")}
}

func (p ruleParts) Takes(int) *openapi.Schema {
	part := &openapi.Schema{Type: "object", Required: []string{"op", "args"}, AdditionalProperties: openapi.Nothing(), Properties: map[string]*openapi.Schema{
		"op": openapi.Typed("string"), "args": openapi.Typed("object", "array"), "loop": openapi.Typed("object", "array", "string"),
	}}
	if p.least == 0 {
		part.Properties["multiple"] = openapi.OneOf("any", "all", "first", "last")
	}
	part.Properties["op"].Description = "One of " + strings.Join(p.operators, ", ")
	return &openapi.Schema{Type: "array", Items: part, MinItems: &p.least}
}

func (p ruleParts) Check(name string, raw json.RawMessage, _ int) error {
	if openapi.IsNull(raw) && p.least == 0 {
		return nil
	}
	var parts []map[string]json.RawMessage
	if json.Unmarshal(raw, &parts) != nil || parts == nil {
		return node.Invalidf("Schema error for inspection rule: the value of '%s' is not an array of objects", name)
	}
	if bytes.Contains(raw, []byte(`"`+node.Mask+`"`)) {
		return node.Invalidf("The value of '%s' has a secret that reads as %s; give the secret itself.", name, node.Mask)
	}
	for _, part := range parts {
		for _, key := range slices.Sorted(maps.Keys(part)) {
			var s string
			known := key == "args" || key == "loop" || key == "op" || (key == "multiple" && p.least == 0)
			switch {
			case !known:
				return node.Invalidf("Schema error for inspection rule: Additional properties are not allowed ('%s' was unexpected)", key)
			case (key == "op" || key == "multiple") && json.Unmarshal(part[key], &s) != nil:
				return node.Invalidf("Schema error for inspection rule: the value of '%s' is not of type 'string'", key)
			}
		}
	}
	return nil
}

func decodeNumbers(raw json.RawMessage, into any) error {
	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber()
	return d.Decode(into)
}

// conditionsView says how a loop counts also where nobody has said it.
func conditionsView(r node.InspectionRule) any {
	out := append([]node.RuleCondition{}, r.Conditions...)
	for i := range out {
		if out[i].Loop != nil && out[i].Multiple == "" {
			out[i].Multiple = "any"
		}
	}
	return out
}

func actionsView(r node.InspectionRule) any { return append([]node.RuleAction{}, r.Actions...) }

// ruleView is a rule as callers see it: a sensitive one keeps what it does to itself, and all keep their secrets.
func (a *api) ruleView(r *request, rule node.InspectionRule, names []string) map[string]any {
	rule.Conditions, rule.Actions = slices.Clone(rule.Conditions), slices.Clone(rule.Actions)
	for i := range rule.Conditions {
		rule.Conditions[i].Args = maskArguments(rule.Conditions[i].Args)
	}
	for i := range rule.Actions {
		rule.Actions[i].Args = maskArguments(rule.Actions[i].Args)
	}
	out := a.rules.show(rule, r.minor, names)
	out["links"] = a.links(r, "inspection_rules/"+rule.UUID)
	for _, part := range []string{"conditions", "actions"} {
		if _, shown := out[part]; shown && rule.Sensitive {
			out[part] = nil
		}
	}
	return out
}

// maskArguments hides what stands under a secret's name, such as a header, and what is set at a path that ends in one.
func maskArguments(args any) any {
	switch args := args.(type) {
	case map[string]any:
		masked := node.MaskSecrets(args)
		if _, ok := masked["value"]; ok && secretPath(args["path"]) {
			masked["value"] = node.Mask
		}
		return masked
	case []any: // positional: the path is the first, or the one behind a port
		masked := slices.Clone(args)
		for i := range masked {
			if i > 0 && secretPath(args[i-1]) {
				masked[i] = node.Mask
			} else if doc, ok := masked[i].(map[string]any); ok {
				masked[i] = node.MaskSecrets(doc)
			}
		}
		return masked
	}
	return args
}

// secretPath tells whether a path, with slashes or with dots, leads to a secret.
func secretPath(v any) bool {
	path, _ := v.(string)
	return strings.ContainsAny(path, "/.") && node.IsSecretKey(path)
}

// wholeOnly refuses to change a part of what a sensitive rule hides: what is left of it could be read off the outcome.
func wholeOnly(rule node.InspectionRule, all []edit) error {
	for _, e := range all {
		if root := e.root(); rule.Sensitive && (root == "conditions" || root == "actions") && e.Path != "/"+root {
			return node.Invalidf("The %s of a sensitive rule can only be replaced as a whole.", root)
		}
	}
	return nil
}

func (a *api) listRules(r *request) error {
	detail := r.flag("detail")
	if detail && r.query.Has("fields") {
		return errDetailAndFields
	}
	found, err := a.Store.InspectionRules(r.UserContext(), node.RuleFilter{Phase: r.query.Get("phase"), Page: r.page()})
	if err != nil {
		return err
	}
	names := a.rules.chosen(r, detail, a.rules.short)
	return sendList(a, r, "inspection_rules", "inspection_rules", found, func(rule node.InspectionRule) (map[string]any, string) {
		return a.ruleView(r, rule, names), rule.UUID
	})
}

func (a *api) createRule(r *request) error {
	rule := node.InspectionRule{Phase: node.RulePhaseMain}
	if err := a.rules.create(&rule, r.Body(), r.minor); err != nil {
		return err
	}
	rule, err := a.Conductor.CreateInspectionRule(r.UserContext(), r.actor(), rule)
	if err != nil {
		return err
	}
	return a.created(r, "inspection_rules/"+rule.UUID, a.ruleView(r, rule, nil))
}

func (a *api) showRule(r *request) error {
	uuid, err := r.uuidIn("rule", "inspection_rule_uuid")
	if err != nil {
		return err
	}
	rule, err := a.Store.InspectionRule(r.UserContext(), uuid)
	if err != nil {
		return err
	}
	return r.JSON(a.ruleView(r, rule, a.rules.chosen(r, false, nil)))
}

func (a *api) patchRule(r *request) error {
	uuid, err := r.uuidIn("rule", "inspection_rule_uuid")
	if err != nil {
		return err
	}
	ops, err := a.rules.edits(r.Body(), r.minor)
	if err != nil {
		return err
	}
	rule, err := a.Conductor.PatchInspectionRule(r.UserContext(), r.actor(), uuid, func(rule node.InspectionRule) (node.InspectionRule, error) {
		if err := wholeOnly(rule, ops); err != nil {
			return rule, err
		}
		return a.rules.edited(rule, ops, r.minor)
	})
	if err != nil {
		return err
	}
	return r.JSON(a.ruleView(r, rule, nil))
}

func (a *api) deleteRule(r *request) error {
	uuid, err := r.uuidIn("rule", "inspection_rule_uuid")
	if err != nil {
		return err
	}
	if err := a.Conductor.DeleteInspectionRule(r.UserContext(), r.actor(), uuid); err != nil {
		return err
	}
	return r.empty(204)
}

func (a *api) deleteRules(r *request) error {
	if err := a.Conductor.DeleteInspectionRules(r.UserContext(), r.actor()); err != nil {
		return err
	}
	return r.empty(204)
}
