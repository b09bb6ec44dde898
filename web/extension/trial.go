package extension

import (
	"bytes"
	"encoding/json"

	"github.com/gofiber/fiber/v2"

	"cagenut/node"
	"cagenut/web/openapi"
)

// RulesTrial is what inspection rules would do.
type RulesTrial struct {
	Attempt string      `json:"attempt"`
	Rules   []TriedRule `json:"rules"` // in the order in which they are carried out
	// Failure is the text with which they would fail the inspection; null where they would not.
	Failure *string  `json:"failure"`
	Notes   []string `json:"notes"`
}

// TriedRule is one of them.
type TriedRule struct {
	UUID    *string      `json:"uuid"` // null for a rule that is only proposed
	Rule    string       `json:"rule"` // what people call it
	Applied bool         `json:"applied"`
	Changes []RuleChange `json:"changes"`
}

// RuleChange is a value that the rule would change; null is one that is not there. Secrets are masked.
type RuleChange struct {
	Of     string `json:"of"`
	Path   string `json:"path"`
	Before any    `json:"before"`
	After  any    `json:"after"`
}

func trialSchema() *openapi.Schema {
	text, anything := openapi.Typed("string"), &openapi.Schema{}
	return openapi.Record(map[string]*openapi.Schema{
		"attempt": text, "failure": openapi.Typed("string", "null"), "notes": openapi.ListOf(text),
		"rules": openapi.ListOf(openapi.Record(map[string]*openapi.Schema{
			"uuid": openapi.Typed("string", "null"), "rule": text, "applied": openapi.Typed("boolean"),
			"changes": openapi.ListOf(openapi.Record(map[string]*openapi.Schema{"of": text, "path": text, "before": anything, "after": anything})),
		})),
	})
}

// maxTriedRules is how many rules one trial may propose.
const maxTriedRules = 100

func trialArguments() openapi.Arguments {
	most := maxTriedRules
	rules := &openapi.Schema{Type: "array", Items: openapi.Typed("object"), MaxItems: &most}
	return openapi.Arguments{
		{Name: "attempt", Does: "The inspection; the newest that is kept without it.", Kind: openapi.UUID()},
		{Name: "rules", Does: "Rules as /v1/inspection_rules takes them, in place of those that are stored.", Kind: openapi.Custom(rules, rules, func(name string, raw json.RawMessage) error {
			_, err := proposed(raw)
			return err
		})},
	}
}

// proposedRule is a rule as it is made (contract.md §4.4).
type proposedRule struct {
	UUID        string               `json:"uuid"`
	Description string               `json:"description"`
	Priority    int                  `json:"priority"`
	Phase       string               `json:"phase"`
	Sensitive   bool                 `json:"sensitive"`
	Conditions  []node.RuleCondition `json:"conditions"`
	Actions     []node.RuleAction    `json:"actions"`
}

func proposed(raw json.RawMessage) (out []node.InspectionRule, err error) {
	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber()
	d.DisallowUnknownFields()
	var rules []proposedRule
	if err := d.Decode(&rules); err != nil {
		return nil, node.Invalidf("The value of rules must be a list of inspection rules: objects with actions, and with conditions, description and priority if need be.")
	}
	if len(rules) > maxTriedRules {
		return nil, node.Invalidf("At most %d rules can be tried at once.", maxTriedRules)
	}
	for i, r := range rules {
		rule := node.InspectionRule{ID: int64(i), UUID: r.UUID, Description: r.Description, Priority: r.Priority, Phase: r.Phase, Sensitive: r.Sensitive, Conditions: r.Conditions, Actions: r.Actions}
		if rule.Phase == "" {
			rule.Phase = node.RulePhaseMain
		}
		if err := rule.Validate(); err != nil {
			return nil, err
		}
		out = append(out, rule)
	}
	return out, nil
}

// tryRules answers what rules would do with a kept inspection.
func (a *api) tryRules(c *fiber.Ctx) error {
	id, _, err := asked(c, "trial")
	if err != nil {
		return err
	}
	args := openapi.Values{}
	if len(c.Body()) > 0 {
		if args, err = trialArguments().Read(c.Body(), 0, nil); err != nil {
			return err
		}
	}
	var rules []node.InspectionRule
	if raw, ok := args["rules"]; ok {
		if rules, err = proposed(raw); err != nil {
			return err
		}
	}
	t, err := a.o.Inspections.TryRules(c.UserContext(), id, args.Text("attempt"), rules)
	if err != nil {
		return err
	}
	return c.JSON(RulesTrial{Attempt: t.AttemptID, Failure: orNull(t.Failure), Notes: t.Notes, Rules: shown(t.Rules, func(r node.TriedRule) TriedRule {
		return TriedRule{UUID: orNull(r.UUID), Rule: r.Label, Applied: r.Applied, Changes: shown(r.Changes, func(ch node.RuleChange) RuleChange { return RuleChange(ch) })}
	})})
}
