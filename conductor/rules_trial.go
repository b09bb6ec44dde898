package conductor

import (
	"cmp"
	"context"
	"time"

	"cagenut/node"
)

// TryRules tells what inspection rules would do with what an inspection of a node stored. attempt names the inspection, ""
// is the newest that is kept; rules are tried in place of those that are stored, where there are any. Nothing is changed,
// and nobody is called. *node.Invalid for a rule that cannot be, *node.NotFound without such an inspection.
func (c *Conductor) TryRules(ctx context.Context, ident, attempt string, rules []node.InspectionRule) (node.RulesTrial, error) {
	n, err := c.Nodes.Node(ctx, ident)
	if err != nil {
		return node.RulesTrial{}, err
	}
	if len(rules) == 0 {
		if rules, err = c.Rules.InspectionRules(ctx, node.RuleFilter{Phase: node.RulePhaseMain}); err != nil {
			return node.RulesTrial{}, err
		}
	}
	for i := range rules {
		rules[i].Phase = cmp.Or(rules[i].Phase, node.RulePhaseMain)
		if err := rules[i].Validate(); err != nil {
			return node.RulesTrial{}, err
		}
	}
	stored, err := c.chosen(ctx, n, attempt, time.Time{})
	if err != nil {
		return node.RulesTrial{}, err
	}
	ports, err := c.Ports.Ports(ctx, node.PortFilter{NodeUUID: n.UUID})
	if err != nil {
		return node.RulesTrial{}, err
	}
	out := c.RuleEngine.Try(ctx, RuleInput{Rules: rules, Node: n, Ports: ports, Inventory: stored.Inventory, PluginData: stored.PluginData})
	out.AttemptID = stored.AttemptID
	return out, ctx.Err()
}
