package node

import (
	"cmp"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"
	"unicode/utf8"
)

// RulePhaseMain is the one phase in which inspection rules run: after the hooks, before anything is stored.
const RulePhaseMain = "main"

// InspectionRule is one rule of contract.md §4.4: where all conditions hold for what an inspection found, the actions are
// carried out. Rules of a higher priority come first, among equals the older ones.
type InspectionRule struct {
	ID          int64
	UUID        string
	Description string
	Priority    int
	Phase       string
	Sensitive   bool // conditions and actions are not shown any more, and the flag stays
	Conditions  []RuleCondition
	Actions     []RuleAction
	CreatedAt   time.Time
	UpdatedAt   time.Time
	Version     int64 // guards PATCH
}

// RuleCondition is one question of a rule. Documents keep numbers as json.Number.
type RuleCondition struct {
	Op       string `json:"op"`                 // as written, with its "!" if any
	Args     any    `json:"args"`               // map[string]any by name, or []any by position
	Loop     any    `json:"loop,omitempty"`     // items, or a text that names what was found
	Multiple string `json:"multiple,omitempty"` // how the answers of a loop count together; "" is "any"
}

// RuleAction is one thing that a rule does.
type RuleAction struct {
	Op   string `json:"op"`
	Args any    `json:"args"`
	Loop any    `json:"loop,omitempty"`
}

// RuleFilter chooses and orders inspection rules.
type RuleFilter struct {
	Phase string
	Page
}

// What a rule may measure. Everything else about its cost is bounded where it runs.
const (
	maxRulePriority    = 9999
	maxRuleDescription = 255
	maxRulePhase       = 16
	maxRuleParts       = 100 // conditions, and actions
	maxRuleLoop        = 256
	maxRuleDepth       = 20
)

// Label is what people call the rule: its description, else its UUID.
func (r InspectionRule) Label() string { return cmp.Or(r.Description, r.UUID) }

// Validate checks everything that can be said of a rule before it runs; the error is an *[Invalid] with Ironic's words
// (contract.md §4.4). Several mistakes of the second kind are told together.
func (r InspectionRule) Validate() error {
	if err := r.checkSchema(); err != nil {
		return ruleSchema(err)
	}
	var wrong []string
	if r.Phase != RulePhaseMain {
		wrong = append(wrong, fmt.Sprintf("Invalid phase: %s. Valid phases are: %s", r.Phase, RulePhaseMain))
	}
	if r.Priority > maxRulePriority {
		wrong = append(wrong, fmt.Sprintf("Priority must be between 0 and %d for user-defined rules.", maxRulePriority))
	}
	for _, c := range r.Conditions {
		op, _, _ := c.Operator()
		if err := checkRuleArguments(ruleOperators[op], c.Args, c.Loop); err != nil {
			wrong = append(wrong, fmt.Sprintf("Invalid parameters for condition operator %s: %s", op, err))
		}
	}
	for _, a := range r.Actions {
		if err := checkRuleArguments(ruleActions[a.Op], a.Args, a.Loop); err != nil {
			wrong = append(wrong, fmt.Sprintf("Invalid parameters for action operator %s: %s", a.Op, err))
		}
	}
	switch len(wrong) {
	case 0:
		return nil
	case 1:
		return &Invalid{Text: wrong[0]}
	}
	return Invalidf("Multiple validation errors occurred: %s", strings.Join(wrong, "; "))
}

func ruleSchema(err error) error { return Invalidf("Schema error for inspection rule: %s", err) }

// checkSchema finds what Ironic's schema of the body refuses.
func (r InspectionRule) checkSchema() error {
	switch {
	case r.UUID != "" && !IsUUID(r.UUID):
		return fmt.Errorf("'%s' is not a 'uuid'", short(r.UUID))
	case r.Priority < 0:
		return fmt.Errorf("%d is less than the minimum of 0", r.Priority)
	case utf8.RuneCountInString(r.Description) > maxRuleDescription:
		return fmt.Errorf("'%s' is too long", short(r.Description))
	case utf8.RuneCountInString(r.Phase) > maxRulePhase:
		return fmt.Errorf("'%s' is too long", short(r.Phase))
	case len(r.Actions) == 0:
		return errors.New("[] is too short")
	case len(r.Actions) > maxRuleParts:
		return fmt.Errorf("more than %d actions are too many", maxRuleParts)
	case len(r.Conditions) > maxRuleParts:
		return fmt.Errorf("more than %d conditions are too many", maxRuleParts)
	}
	for _, c := range r.Conditions {
		if err := c.checkSchema(); err != nil {
			return err
		}
	}
	for _, a := range r.Actions {
		if _, known := ruleActions[a.Op]; !known {
			return notOneOf(a.Op, actionOrder)
		}
		if err := checkShapes(a.Args, a.Loop); err != nil {
			return err
		}
	}
	return nil
}

func (c RuleCondition) checkSchema() error {
	op, _, err := c.Operator()
	if err != nil {
		return err
	}
	if _, known := ruleOperators[op]; !known {
		all := slices.Clone(operatorOrder)
		for _, o := range operatorOrder {
			all = append(all, "!"+o)
		}
		return notOneOf(c.Op, all)
	}
	if multiples := []string{"any", "all", "first", "last"}; c.Multiple != "" && !slices.Contains(multiples, c.Multiple) {
		return notOneOf(c.Multiple, multiples)
	}
	return checkShapes(c.Args, c.Loop)
}

// Operator is the operator without its "!", and whether it had one.
func (c RuleCondition) Operator() (op string, inverted bool, err error) {
	op = strings.TrimSpace(c.Op)
	if strings.Count(op, "!") > 1 {
		return "", false, fmt.Errorf("'%s': at most one exclamation mark inverts an operator", short(c.Op))
	}
	op, inverted = strings.CutPrefix(op, "!")
	return strings.TrimSpace(op), inverted, nil
}

// Arguments are the arguments by name, whichever way they were written.
func (c RuleCondition) Arguments() (map[string]any, error) {
	op, _, err := c.Operator()
	if err != nil {
		return nil, err
	}
	s, known := ruleOperators[op]
	if !known {
		return nil, notOneOf(c.Op, operatorOrder)
	}
	return s.named(c.Args)
}

// Arguments are the arguments by name, whichever way they were written.
func (a RuleAction) Arguments() (map[string]any, error) {
	s, known := ruleActions[a.Op]
	if !known {
		return nil, notOneOf(a.Op, actionOrder)
	}
	return s.named(a.Args)
}

// checkShapes checks what all arguments and loops have in common: containers, of a bearable size.
func checkShapes(args, loop any) error {
	switch args.(type) {
	case map[string]any, []any:
	default:
		return fmt.Errorf("%s is not of type 'array', 'object'", shortValue(args))
	}
	switch l := loop.(type) {
	case nil, map[string]any:
	case []any:
		if len(l) > maxRuleLoop {
			return fmt.Errorf("a loop over more than %d items is too long", maxRuleLoop)
		}
	case string:
		if !ruleLoopField.MatchString(l) {
			return fmt.Errorf("%s is not of type 'array', 'object'", shortValue(loop))
		}
	default:
		return fmt.Errorf("%s is not of type 'array', 'object'", shortValue(loop))
	}
	if deeperThan(args, maxRuleDepth) || deeperThan(loop, maxRuleDepth) {
		return fmt.Errorf("arguments nest deeper than %d levels", maxRuleDepth)
	}
	return nil
}

// RuleEach is what stands in brackets for every element, in a loop over what an inspection found.
const RuleEach = "*"

// ruleLoopField is a loop over what an inspection found, an addition of ours to Ironic's rules: {inventory[interfaces]},
// {inventory[interfaces][*][mac_address]}.
var ruleLoopField = regexp.MustCompile(`^\{(inventory|plugin_data|node\.\w+)(\[[^\]{}]+\])*\}$`)

func deeperThan(v any, levels int) bool {
	if levels < 0 {
		return true
	}
	switch v := v.(type) {
	case map[string]any:
		for _, e := range v {
			if deeperThan(e, levels-1) {
				return true
			}
		}
	case []any:
		for _, e := range v {
			if deeperThan(e, levels-1) {
				return true
			}
		}
	}
	return false
}

func notOneOf(what string, all []string) error {
	return fmt.Errorf("'%s' is not one of ['%s']", short(what), strings.Join(all, "', '"))
}
