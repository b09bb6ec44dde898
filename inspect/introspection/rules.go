package introspection

import (
	"context"
	"errors"
	"fmt"

	"cagenut/node"
)

// Rule is an introspection rule as the inspector's clients write it (contract.md §5.2). It is kept as an inspection rule of
// Ironic's, and so is every rule that those clients see: there is one set of rules, and one engine that carries them out.
type Rule struct {
	UUID        string // "" is a new one
	Description string
	Scope       string           // of the nodes that it is for; "" for all
	Conditions  []map[string]any // numbers are json.Number
	Actions     []map[string]any
}

// Rules keeps inspection rules, as the conductor does.
type Rules interface {
	// InspectionRule finds a rule by UUID; *node.NotFound otherwise.
	InspectionRule(ctx context.Context, uuid string) (node.InspectionRule, error)
	InspectionRules(ctx context.Context, f node.RuleFilter) ([]node.InspectionRule, error)
	// CreateInspectionRule stores a rule; *node.Exists when its UUID is taken.
	CreateInspectionRule(ctx context.Context, actor node.Actor, r node.InspectionRule) (node.InspectionRule, error)
	// DeleteInspectionRule removes a rule; *node.NotFound without one.
	DeleteInspectionRule(ctx context.Context, actor node.Actor, uuid string) error
	DeleteInspectionRules(ctx context.Context, actor node.Actor) error
}

// ListRules lists all rules, the oldest first.
func (s *Service) ListRules(ctx context.Context) ([]Rule, error) {
	kept, err := s.Rules.InspectionRules(ctx, node.RuleFilter{})
	if err != nil {
		return nil, err
	}
	out := make([]Rule, len(kept))
	for i, r := range sortedByAge(kept) {
		out[i] = ofIronic(r)
	}
	return out, nil
}

// ShowRule finds a rule; *node.NotFound otherwise.
func (s *Service) ShowRule(ctx context.Context, uuid string) (Rule, error) {
	r, err := s.Rules.InspectionRule(ctx, uuid)
	if err != nil {
		return Rule{}, ruleMissing(err, uuid)
	}
	return ofIronic(r), nil
}

// CreateRule makes a rule. *node.Invalid for one that is wrong, or that says what this engine does not know; *node.Exists when its
// UUID is taken.
func (s *Service) CreateRule(ctx context.Context, actor node.Actor, r Rule) (Rule, error) {
	rule, err := r.asIronic()
	if err != nil {
		return Rule{}, err
	}
	kept, err := s.Rules.CreateInspectionRule(ctx, actor, rule)
	if taken := (*node.Exists)(nil); errors.As(err, &taken) {
		return Rule{}, &node.Exists{Text: fmt.Sprintf("Rule with UUID %s already exists", rule.UUID)}
	}
	if err != nil {
		return Rule{}, err
	}
	return ofIronic(kept), nil
}

// DeleteRule removes a rule; *node.NotFound without one.
func (s *Service) DeleteRule(ctx context.Context, actor node.Actor, uuid string) error {
	return ruleMissing(s.Rules.DeleteInspectionRule(ctx, actor, uuid), uuid)
}

// DeleteRules removes all rules, also those that were made through Ironic's API: they are the same.
func (s *Service) DeleteRules(ctx context.Context, actor node.Actor) error {
	return s.Rules.DeleteInspectionRules(ctx, actor)
}

// ruleMissing says in the inspector's words that there is no such rule.
func ruleMissing(err error, uuid string) error {
	if missing(err) {
		return &node.NotFound{Text: fmt.Sprintf("Rule %s was not found", uuid)}
	}
	return err
}
