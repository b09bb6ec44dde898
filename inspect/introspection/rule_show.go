package introspection

import (
	"maps"
	"slices"
	"strings"

	"cagenut/node"
)

// ofIronic is a rule as the inspector shows it. What has no counterpart there is shown under Ironic's own names; what a sensitive
// rule does is not shown at all, and secrets never are.
func ofIronic(r node.InspectionRule) Rule {
	out := Rule{UUID: r.UUID, Description: r.Description, Conditions: []map[string]any{}, Actions: []map[string]any{}}
	conditions := r.Conditions
	if len(conditions) > 0 {
		if scope, ok := scopeOf(conditions[0]); ok {
			out.Scope, conditions = scope, conditions[1:]
		}
	}
	if r.Sensitive {
		return out
	}
	for i, c := range conditions {
		if i+1 < len(conditions) && isGuard(c, conditions[i+1]) {
			continue
		}
		out.Conditions = append(out.Conditions, showCondition(c))
	}
	for _, a := range r.Actions {
		out.Actions = append(out.Actions, showAction(a))
	}
	return out
}

func scopeOf(c node.RuleCondition) (string, bool) {
	args, err := c.Arguments()
	values, _ := args["values"].([]any)
	if err != nil || c.Op != "eq" || c.Loop != nil || len(values) != 2 || values[0] != scopeField {
		return "", false
	}
	v, ok := unliteral(values[1])
	s, isText := v.(string)
	return s, ok && isText && s != ""
}

// isGuard tells whether a condition only sees to it that what the next one looks at is there.
func isGuard(c, next node.RuleCondition) bool {
	at, found := subjectOf(c)
	of, foundNext := subjectOf(next)
	return c.Op == "!is-none" && c.Loop == nil && found && foundNext && at.field() == of.field() && needsGuard(next)
}

// subjectOf is what a condition looks at, if that is one field.
func subjectOf(c node.RuleCondition) (place, bool) {
	args, err := c.Arguments()
	if err != nil {
		return place{}, false
	}
	subject := args["value"]
	if address, ok := args["address"]; ok {
		subject = address
	}
	if values, ok := args["values"].([]any); ok && len(values) == 2 && args["value"] == nil {
		subject = values[0]
	}
	if loop, ok := c.Loop.(string); ok && subject == "{item}" {
		p, ok := readField(loop)
		return p, ok && p.many()
	}
	p, ok := readField(subject)
	return p, ok && c.Loop == nil && !p.many()
}

func showCondition(c node.RuleCondition) map[string]any {
	if out, ok := counterpart(c); ok {
		return out
	}
	op, invert, _ := c.Operator()
	out := map[string]any{"op": op, "field": "", "multiple": multipleOf(c), "invert": invert}
	args, _ := c.Arguments()
	for k, v := range node.MaskSecrets(args) {
		if _, taken := out[k]; !taken {
			out[k] = v
		}
	}
	if c.Loop != nil {
		out["loop"] = c.Loop
	}
	return out
}

func multipleOf(c node.RuleCondition) string {
	if c.Multiple == "" {
		return "any"
	}
	return c.Multiple
}

// counterpart is a condition in the inspector's words; ok is false where those have none.
func counterpart(c node.RuleCondition) (out map[string]any, ok bool) {
	at, found := subjectOf(c)
	op, invert, err := c.Operator()
	if !found || err != nil || c.Multiple == "last" {
		return nil, false
	}
	args, _ := c.Arguments()
	out = map[string]any{"field": at.path(), "multiple": multipleOf(c)}
	switch op {
	case "is-empty":
		ok = true
	case "in-net":
		out["value"], ok = unliteral(args["subnet"])
	case "matches", "contains":
		if out["value"], ok = args["regex"], true; c.Loop != nil {
			out["value"], ok = unliteral(args["regex"])
		}
	case "eq", "lt", "gt":
		if forced, given := args["force_strings"]; !given || forced == false || forced == nil {
			out["value"], ok = unliteral(args["values"].([]any)[1])
		}
	}
	switch {
	case !ok || !invert:
	case op == "eq":
		op, invert = "ne", false
	case op == "lt":
		op, invert = "ge", false
	case op == "gt":
		op, invert = "le", false
	}
	out["op"], out["invert"] = op, invert
	return out, ok
}

func showAction(a node.RuleAction) map[string]any {
	args, err := a.Arguments()
	if err != nil {
		args = nil
	}
	out := maps.Clone(node.MaskSecrets(args))
	if out == nil {
		out = map[string]any{}
	}
	if path, _ := args["path"].(string); strings.ContainsAny(path, "/.") && node.IsSecretKey(path) && out["value"] != nil {
		out["value"] = node.Mask
	}
	name := a.Op
	switch _, known := actionParts[name]; {
	case name == "fail":
		out["message"] = out["msg"]
		delete(out, "msg")
	case name == "unset-capability":
		name = "set-capability"
		out["value"] = nil
	case known && a.Loop == nil:
		if v, given := out["value"]; given {
			out["value"] = unformatted(v)
		}
	}
	if a.Loop != nil {
		out["loop"] = a.Loop
	}
	out["action"] = name
	return out
}

// sortedByAge puts rules in the order in which they were made, which is the inspector's.
func sortedByAge(rules []node.InspectionRule) []node.InspectionRule {
	return slices.SortedStableFunc(slices.Values(rules), func(a, b node.InspectionRule) int { return a.CreatedAt.Compare(b.CreatedAt) })
}
