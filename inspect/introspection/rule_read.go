package introspection

import (
	"errors"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"cagenut/node"
)

// asIronic is a rule of the inspector as one of Ironic's, which is how it is kept and carried out. Its error is a *node.Invalid.
func (r Rule) asIronic() (node.InspectionRule, error) {
	switch {
	case r.UUID != "" && !node.IsUUID(r.UUID):
		return node.InspectionRule{}, node.Invalidf("Invalid UUID value")
	case len([]rune(r.Scope)) > 255:
		return node.InspectionRule{}, node.Invalidf("Invalid scope: the length of the scope should be within 255 characters")
	case len(r.Actions) == 0:
		return node.InspectionRule{}, node.Invalidf("Validation failed for actions: [] is too short")
	}
	out := node.InspectionRule{UUID: strings.ToLower(r.UUID), Description: r.Description, Phase: node.RulePhaseMain}
	if r.Scope != "" {
		out.Conditions = append(out.Conditions, ofScope(r.Scope))
	}
	for _, c := range r.Conditions {
		some, err := readCondition(c)
		if err != nil {
			return node.InspectionRule{}, &node.Invalid{Text: err.Error()}
		}
		out.Conditions = append(out.Conditions, some...)
	}
	for _, a := range r.Actions {
		action, err := readAction(a)
		if err != nil {
			return node.InspectionRule{}, &node.Invalid{Text: err.Error()}
		}
		out.Actions = append(out.Actions, action)
	}
	return out, nil
}

// scopeField is the property of nodes that a rule's scope is compared with.
const scopeField = "{node.properties[inspection_scope]}"

func ofScope(scope string) node.RuleCondition {
	return node.RuleCondition{Op: "eq", Args: map[string]any{"values": []any{scopeField, literal(scope)}}}
}

// operators are the inspector's with Ironic's names for them; those that Ironic lacks are the reverse of others.
var operators = map[string]string{
	"eq": "eq", "ne": "!eq", "lt": "lt", "ge": "!lt", "gt": "gt", "le": "!gt", "in-net": "in-net", "matches": "matches", "contains": "contains", "is-empty": "is-empty",
}

// readCondition is a condition as one of Ironic's, behind a guard where one is needed.
func readCondition(c map[string]any) ([]node.RuleCondition, error) {
	op, field, multiple, invert, err := conditionParts(c)
	if err != nil {
		return nil, fmt.Errorf("Validation failed for conditions: %w", err) //nolint:staticcheck // the wire's text
	}
	at, err := readPath(field)
	if err != nil {
		return nil, err
	}
	takes := []string{"value"}
	if op == "is-empty" {
		takes = nil
	}
	if err := checkParameters(c, []string{"op", "field", "multiple", "invert"}, takes, nil); err != nil {
		return nil, fmt.Errorf("Invalid parameters for operator %s: %w", op, err) //nolint:staticcheck // the wire's text
	}
	out := node.RuleCondition{Op: operators[op]}
	if invert {
		out.Op = reverse(out.Op)
	}
	subject := at.field()
	if at.many() {
		out.Loop, out.Multiple, subject = subject, multiple, "{item}"
	}
	out.Args = arguments(op, subject, c["value"], at.many())
	all := []node.RuleCondition{out}
	if err := (node.InspectionRule{Phase: node.RulePhaseMain, Conditions: all, Actions: harmless}).Validate(); err != nil {
		return nil, fmt.Errorf("Invalid parameters for operator %s: %s", op, reasonOf(err)) //nolint:staticcheck // the wire's text
	}
	if needsGuard(out) {
		all = []node.RuleCondition{guardOf(subject), out}
	}
	return all, nil
}

var ironicsPrefix = regexp.MustCompile(`^(Invalid parameters for (condition|action) operator \S+|Schema error for inspection rule): `)

// reasonOf is what Ironic has against a part, without Ironic's words around it.
func reasonOf(err error) string { return ironicsPrefix.ReplaceAllString(err.Error(), "") }

// harmless stands for the actions while a condition is checked alone.
var harmless = []node.RuleAction{{Op: "log", Args: []any{""}}}

func conditionParts(c map[string]any) (op, field, multiple string, invert bool, err error) {
	if op, err = wordIn(c, "op", ""); err == nil && operators[op] == "" {
		err = fmt.Errorf("'%s' is not one of ['%s']", shorten(op), strings.Join(slices.Sorted(maps.Keys(operators)), "', '"))
	}
	if err == nil {
		field, err = wordIn(c, "field", "")
	}
	if err == nil {
		multiple, err = wordIn(c, "multiple", "any")
	}
	if err == nil && !slices.Contains([]string{"all", "any", "first"}, multiple) {
		err = fmt.Errorf("'%s' is not one of ['all', 'any', 'first']", shorten(multiple))
	}
	if v, given := c["invert"]; err == nil && given {
		var ok bool
		if invert, ok = v.(bool); !ok {
			err = errors.New("the value of 'invert' is not of type 'boolean'")
		}
	}
	return op, field, multiple, invert, err
}

// wordIn is a text of a part; def is what it is when it is not given, "" when it has to be.
func wordIn(part map[string]any, name, def string) (string, error) {
	v, given := part[name]
	if !given && def == "" {
		return "", fmt.Errorf("'%s' is a required property", name)
	}
	if !given {
		return def, nil
	}
	s, ok := v.(string)
	if !ok {
		return "", fmt.Errorf("the value of '%s' is not of type 'string'", name)
	}
	return s, nil
}

// checkParameters tells which parameters are missing and which nobody knows.
func checkParameters(part map[string]any, besides, required, optional []string) error {
	var missing, unexpected, wrong []string
	for _, name := range required {
		if _, given := part[name]; !given {
			missing = append(missing, name)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(part)) {
		if !slices.Contains(besides, name) && !slices.Contains(required, name) && !slices.Contains(optional, name) {
			unexpected = append(unexpected, shorten(name))
		}
	}
	if missing != nil {
		wrong = append(wrong, "missing required parameter(s): "+strings.Join(missing, ", "))
	}
	if unexpected != nil {
		wrong = append(wrong, "unexpected parameter(s): "+strings.Join(unexpected, ", "))
	}
	if wrong != nil {
		return errors.New(strings.Join(wrong, "; "))
	}
	return nil
}

func reverse(op string) string {
	if rest, inverted := strings.CutPrefix(op, "!"); inverted {
		return rest
	}
	return "!" + op
}

// arguments are those of Ironic's operator. In a loop every text is looked through for fields, else only some.
func arguments(op, subject string, value any, looped bool) map[string]any {
	switch op {
	case "is-empty":
		return map[string]any{"value": subject}
	case "in-net":
		return map[string]any{"address": subject, "subnet": literal(value)}
	case "matches", "contains":
		if looped {
			value = literal(value)
		}
		return map[string]any{"value": subject, "regex": value}
	}
	return map[string]any{"values": []any{subject, literal(value)}}
}

// needsGuard tells whether a condition could hold for what was not found, of which the inspector says that it never does. Ironic
// compares the text of the field then.
func needsGuard(c node.RuleCondition) bool {
	return c.Loop == nil && !slices.Contains([]string{"eq", "in-net", "!in-net", "is-empty", "!is-empty"}, c.Op)
}

// guardOf is a condition that holds for what was found.
func guardOf(field string) node.RuleCondition {
	return node.RuleCondition{Op: "!is-none", Args: map[string]any{"value": field}}
}

// actionParts are what an action takes.
var actionParts = map[string]struct{ required, optional []string }{
	"fail":             {required: []string{"message"}},
	"set-attribute":    {required: []string{"path", "value"}, optional: []string{"reset_interfaces"}},
	"set-capability":   {required: []string{"name"}, optional: []string{"value"}},
	"extend-attribute": {required: []string{"path", "value"}, optional: []string{"unique"}},
	"add-trait":        {required: []string{"name"}},
	"remove-trait":     {required: []string{"name"}},
}

// readAction is an action as one of Ironic's.
func readAction(a map[string]any) (node.RuleAction, error) {
	name, err := wordIn(a, "action", "")
	parts, known := actionParts[name]
	if err == nil && !known {
		err = fmt.Errorf("'%s' is not one of ['%s']", shorten(name), strings.Join(slices.Sorted(maps.Keys(actionParts)), "', '"))
	}
	if err != nil {
		return node.RuleAction{}, fmt.Errorf("Validation failed for actions: %w", err) //nolint:staticcheck // the wire's text
	}
	if err = checkParameters(a, []string{"action"}, parts.required, parts.optional); err == nil {
		var out node.RuleAction
		if out, err = ironicAction(name, a); err == nil {
			if err = (node.InspectionRule{Phase: node.RulePhaseMain, Actions: []node.RuleAction{out}}).Validate(); err == nil {
				return out, nil
			}
		}
	}
	return node.RuleAction{}, fmt.Errorf("Invalid parameters for action %s: %s", name, reasonOf(err)) //nolint:staticcheck // the wire's text
}

func ironicAction(name string, a map[string]any) (node.RuleAction, error) {
	if name == "fail" {
		return node.RuleAction{Op: name, Args: map[string]any{"msg": a["message"]}}, nil
	}
	if name == "set-capability" && a["value"] == nil {
		return node.RuleAction{Op: "unset-capability", Args: map[string]any{"name": a["name"]}}, nil
	}
	args := map[string]any{}
	for k, v := range a {
		switch k {
		case "action":
		case "value":
			v, err := formatted(v)
			if err != nil {
				return node.RuleAction{}, err
			}
			args[k] = v
		case "reset_interfaces":
			// Whoever sets a driver here gets interfaces that go with it.
			if reset, ok := v.(bool); !ok || !reset {
				return node.RuleAction{}, errors.New("reset_interfaces cannot be anything but true")
			}
		default:
			args[k] = v
		}
	}
	return node.RuleAction{Op: name, Args: args}, nil
}
