package conductor

import (
	"context"
	"errors"

	"cagenut/node"
)

// CreatePort adds a port to a node, which it waits for if the node is held.
func (c *Conductor) CreatePort(ctx context.Context, actor node.Actor, p node.Port) (node.Port, error) {
	if p.UUID == "" {
		p.UUID = node.NewUUID()
	}
	if err := checkPort(p); err != nil {
		return node.Port{}, err
	}
	var made node.Port
	err := c.inPatience(ctx, func() error {
		_, err := c.freeNode(ctx, p.NodeUUID)
		if err != nil {
			return err
		}
		made, err = c.Ports.CreatePort(ctx, p, c.about(actor, "create port", p.NodeUUID))
		return err
	})
	return made, err
}

// PatchPort changes a port; ident is its UUID or name. It waits for the node that has the port, and for the one that gets
// it. change is given the port and returns it as it shall be; it may be called again when somebody else was first.
func (c *Conductor) PatchPort(ctx context.Context, actor node.Actor, ident string, change func(node.Port) (node.Port, error)) (node.Port, error) {
	p, err := c.Ports.Port(ctx, ident)
	if err != nil {
		return node.Port{}, err
	}
	var after node.Port
	err = c.inPatience(ctx, func() error {
		p, err := c.Ports.Port(ctx, p.UUID) // its name may be what changes
		if err != nil {
			return err
		}
		if _, err := c.freeNode(ctx, p.NodeUUID); err != nil {
			return err
		}
		next, err := change(p)
		if err != nil {
			return err
		}
		if err := checkPort(next); err != nil {
			return err
		}
		after, err = c.Ports.UpdatePort(ctx, next, c.about(actor, "update port", p.NodeUUID))
		return err
	})
	return after, err
}

func checkPort(p node.Port) error {
	if p.Name == "" {
		return nil
	}
	return node.ValidatePortName(p.Name)
}

// DeletePort removes a port, and waits for its node; ident is the port's UUID or name.
func (c *Conductor) DeletePort(ctx context.Context, actor node.Actor, ident string) error {
	p, err := c.Ports.Port(ctx, ident)
	if err != nil {
		return err
	}
	return c.inPatience(ctx, func() error {
		if _, err := c.freeNode(ctx, p.NodeUUID); err != nil {
			return err
		}
		return c.Ports.DeletePort(ctx, p.UUID, c.about(actor, "delete port", p.NodeUUID))
	})
}

// freeNode is the node that a port is of, or shall be of: *node.Locked if it is held, *node.Invalid if there is none
// (contract.md §3.7). Asked here, a held node costs those who wait for it no turn to write.
func (c *Conductor) freeNode(ctx context.Context, uuid string) (node.Node, error) {
	n, err := c.Nodes.Node(ctx, uuid)
	if missing := (*node.NotFound)(nil); errors.As(err, &missing) {
		return node.Node{}, node.Invalidf("%s", missing.Error())
	}
	if err != nil {
		return node.Node{}, err
	}
	if n.Reserved() {
		return node.Node{}, &node.Locked{Node: n.UUID, Holder: n.Reservation}
	}
	return n, nil
}
