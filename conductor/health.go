package conductor

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"cagenut/node"
)

// glance asks a BMC for the power, and takes the health that comes with the answer.
func glance(ctx context.Context, b BMC) (node.Glance, error) {
	if g, ok := b.(Glancer); ok {
		return g.Glance(ctx)
	}
	power, err := b.Power(ctx)
	return node.Glance{Power: power}, err
}

// seesHealth compares the health that a look found with the one that looks found before. As long as these are the same, the
// answer of somebody's question stands, which knows more: of sensors, of fans, of the BMC itself.
func seesHealth(n node.Node, seen node.Glance, l *node.Look) {
	if seen.Health == "" || seen.Health == n.HealthSeen {
		return
	}
	l.HealthSeen = seen.Health
	to := seen.Health
	if n.HealthSeen == "" { // the first look: of what was asked for before, it may take nothing back
		to = to.Worse(n.Health)
	}
	becomes(n, to, seen.Why, l)
}

// becomes makes of a look that the health is another one, and of that a line in the history. That a server is found well for
// the first time is worth no line.
func becomes(n node.Node, to node.Health, why string, l *node.Look) {
	if to == "" || to == n.Health {
		return
	}
	l.Health = to
	if n.Health == "" && to == node.HealthOK {
		return
	}
	event := fmt.Sprintf("Health changed from '%s' to '%s'", n.Health, to)
	switch {
	case to == node.HealthOK:
		event, why = fmt.Sprintf("Health is 'OK' again, after '%s'", n.Health), ""
	case n.Health == "":
		event = fmt.Sprintf("Health is '%s'", to)
	}
	if why != "" {
		event += ": " + node.Shorten(why, reasonLimit)
	}
	severity := node.SeverityInfo
	if to == node.HealthCritical {
		severity = node.SeverityError
	}
	h := noticed(n, l.At, severity, strings.TrimSuffix(event, ".")+".")
	h.Type = node.TypeHealth
	l.History = append(l.History, h)
}

// rememberHealth records what a BMC has answered to the question for the health, if the node is still the one that was asked.
func (c *Conductor) rememberHealth(ctx context.Context, ident string, r node.HealthReport) error {
	n, err := c.Nodes.Node(ctx, ident)
	if errors.As(err, new(*node.NotFound)) {
		return nil
	}
	if err != nil {
		return err
	}
	l := node.BeginLook(n)
	l.At = c.Clock.Now()
	var why []string
	for _, p := range r.Parts {
		text := p.Part
		if p.Message != "" {
			text += ": " + p.Message
		}
		why = append(why, text)
	}
	becomes(n, r.Overall, strings.Join(why, "; "), &l)
	if l.Health == "" {
		return nil
	}
	return c.Moves.RecordLooks(ctx, []node.Look{l})
}
