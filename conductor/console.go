package conductor

import (
	"context"
	"strings"

	"cagenut/node"
)

// SetConsole switches a node's console on or off (contract.md §3.6); *node.Unsupported where its interface has none. The
// node keeps its last_error: why an inspection ended is worth more than that a console is open.
func (c *Conductor) SetConsole(ctx context.Context, actor node.Actor, ident string, on bool) error {
	action := "console on"
	if !on {
		action = "console off"
	}
	return c.setOwn(ctx, actor, ident, action, "console", func(n *node.Node) (changed bool, err error) {
		changed = n.ConsoleEnabled != on
		n.ConsoleEnabled = on
		return changed, nil
	})
}

// Console tells whether a node's console is on, and how to reach it: nil when it is off. The pretended console has
// nothing to reach.
func (c *Conductor) Console(ctx context.Context, ident string) (on bool, info map[string]any, err error) {
	n, err := c.Nodes.Node(ctx, ident)
	if err != nil || !n.ConsoleEnabled || lacks(n, "console") {
		return false, nil, err
	}
	return true, map[string]any{}, nil
}

// SetRAIDConfig keeps the RAID configuration that a node shall get (contract.md §3.6); an empty one asks for none.
// *node.Unsupported where its interface has no RAID, *node.Invalid for what is no RAID configuration.
func (c *Conductor) SetRAIDConfig(ctx context.Context, actor node.Actor, ident string, config map[string]any) error {
	return c.setOwn(ctx, actor, ident, "raid", "raid", func(n *node.Node) (changed bool, err error) {
		n.TargetRAIDConfig = config
		return true, node.ValidateRAIDConfig(config)
	})
}

func lacks(n node.Node, kind string) bool { return strings.HasPrefix(n.Interfaces.Get(kind), "no-") }

// setOwn changes what an interface of a free node keeps on it, if the node has such an interface.
func (c *Conductor) setOwn(ctx context.Context, actor node.Actor, ident, action, kind string, change func(*node.Node) (changed bool, err error)) error {
	n, err := c.Nodes.Node(ctx, ident)
	if err != nil {
		return err
	}
	err = c.setOwnOf(ctx, actor, n, action, kind, change)
	if err != nil {
		c.auditRefusal(ctx, actor, action, n, "", err)
	}
	return err
}

func (c *Conductor) setOwnOf(ctx context.Context, actor node.Actor, n node.Node, action, kind string, change func(*node.Node) (changed bool, err error)) error {
	if lacks(n, kind) {
		return &node.Unsupported{Driver: n.Driver, Extension: kind}
	}
	probe := n
	if changed, err := change(&probe); err != nil || !changed {
		return err // nothing to do needs no lock
	}
	return c.whenFree(ctx, n, func(n node.Node) error {
		if _, err := change(&n); err != nil {
			return err
		}
		_, err := c.Nodes.UpdateNode(ctx, n, c.about(actor, action, n.UUID))
		return err
	})
}
