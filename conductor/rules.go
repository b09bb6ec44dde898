package conductor

import (
	"cmp"
	"context"
	"errors"

	"cagenut/node"
)

// Rules is what is kept of inspection rules.
type Rules interface {
	// InspectionRule finds a rule by UUID; *node.NotFound otherwise.
	InspectionRule(ctx context.Context, uuid string) (node.InspectionRule, error)
	// InspectionRules lists rules.
	InspectionRules(ctx context.Context, f node.RuleFilter) ([]node.InspectionRule, error)
	// CreateInspectionRule stores a rule; *node.Exists when its UUID is taken.
	CreateInspectionRule(ctx context.Context, r node.InspectionRule, a node.Audit) (node.InspectionRule, error)
	// UpdateInspectionRule stores a rule if it is still in the version that r was read in; node.ErrLost otherwise.
	UpdateInspectionRule(ctx context.Context, r node.InspectionRule, a node.Audit) (node.InspectionRule, error)
	// DeleteInspectionRule removes a rule; *node.NotFound without one.
	DeleteInspectionRule(ctx context.Context, uuid string, a node.Audit) error
	// DeleteInspectionRules removes all rules.
	DeleteInspectionRules(ctx context.Context, a node.Audit) error
}

func (c *Conductor) aboutRule(actor node.Actor, action, uuid string) node.Audit {
	a := c.about(actor, action, "")
	if uuid != "" {
		a.Reason = "rule " + uuid
	}
	return a
}

// CreateInspectionRule stores a rule (contract.md §4.4). UUID "" is a new one, phase "" the main one.
func (c *Conductor) CreateInspectionRule(ctx context.Context, actor node.Actor, r node.InspectionRule) (node.InspectionRule, error) {
	r.UUID = cmp.Or(r.UUID, node.NewUUID())
	r.Phase = cmp.Or(r.Phase, node.RulePhaseMain)
	if err := r.Validate(); err != nil {
		return node.InspectionRule{}, err
	}
	return c.Rules.CreateInspectionRule(ctx, r, c.aboutRule(actor, "create inspection rule", r.UUID))
}

// PatchInspectionRule changes a rule: change is given the rule and returns it as it shall be; it is called again when
// somebody else was first. A sensitive rule stays one, and the UUID stays what it is.
func (c *Conductor) PatchInspectionRule(ctx context.Context, actor node.Actor, uuid string, change func(node.InspectionRule) (node.InspectionRule, error)) (node.InspectionRule, error) {
	for {
		r, err := c.Rules.InspectionRule(ctx, uuid)
		if err != nil {
			return node.InspectionRule{}, err
		}
		next, err := change(r)
		if err != nil {
			return node.InspectionRule{}, err
		}
		next.ID, next.CreatedAt, next.Version = r.ID, r.CreatedAt, r.Version
		next.Phase = cmp.Or(next.Phase, node.RulePhaseMain)
		switch {
		case next.UUID != r.UUID:
			return node.InspectionRule{}, node.Invalidf("Couldn't apply patch to rule %s. Reason: the UUID of an inspection rule cannot be changed.", uuid)
		case r.Sensitive && !next.Sensitive:
			return node.InspectionRule{}, node.Invalidf("Couldn't apply patch to rule %s. Reason: Inspection rules cannot have the sensitive flag unset.", uuid)
		}
		if err := next.Validate(); err != nil {
			return node.InspectionRule{}, err
		}
		after, err := c.Rules.UpdateInspectionRule(ctx, next, c.aboutRule(actor, "update inspection rule", uuid))
		if !errors.Is(err, node.ErrLost) {
			return after, err
		}
	}
}

// DeleteInspectionRule removes a rule.
func (c *Conductor) DeleteInspectionRule(ctx context.Context, actor node.Actor, uuid string) error {
	return c.Rules.DeleteInspectionRule(ctx, uuid, c.aboutRule(actor, "delete inspection rule", uuid))
}

// DeleteInspectionRules removes all rules.
func (c *Conductor) DeleteInspectionRules(ctx context.Context, actor node.Actor) error {
	return c.Rules.DeleteInspectionRules(ctx, c.aboutRule(actor, "delete all inspection rules", ""))
}
