package conductor

import (
	"context"
	"reflect"

	"cagenut/node"
)

func (c *Conductor) about(actor node.Actor, action, uuid string) node.Audit {
	return node.Audit{At: c.Clock.Now(), Actor: actor, Action: action, NodeUUID: uuid, Result: "accepted"}
}

// CreateNode enrols a node (contract.md §3.4). The caller chooses UUID ("" for a new one) and the first state.
func (c *Conductor) CreateNode(ctx context.Context, actor node.Actor, n node.Node) (node.Node, error) {
	if n.UUID == "" {
		n.UUID = node.NewUUID()
	}
	if n.ProvisionState == "" {
		n.ProvisionState = node.Enroll
	}
	n.Conductor = c.Host
	if err := c.checkNode(ctx, &n); err != nil {
		return node.Node{}, err
	}
	return c.Nodes.CreateNode(ctx, n, c.about(actor, "create", n.UUID))
}

// PatchNode changes what PATCH may change (contract.md §3.5): change is given the node and returns it as it shall be; it
// may be called again when somebody else was first.
func (c *Conductor) PatchNode(ctx context.Context, actor node.Actor, ident string, minor int, change func(node.Node) (node.Node, error)) (node.Node, error) {
	n, err := c.Nodes.Node(ctx, ident)
	if err != nil {
		return node.Node{}, err
	}
	if err := stateRefuses(n, minor); err != nil && !n.Maintenance {
		return node.Node{}, err // without waiting for the lock that such a state mostly comes with
	}
	var before, after node.Node
	err = c.whenFree(ctx, n, func(n node.Node) error {
		before = n
		next, err := change(n)
		if err != nil {
			return err
		}
		if err := c.checkChange(ctx, ident, n, &next, minor); err != nil {
			return err
		}
		after, err = c.Nodes.UpdateNode(ctx, next, c.about(actor, "update", n.UUID))
		return err
	})
	if err == nil && (before.Driver != after.Driver || !reflect.DeepEqual(before.DriverInfo, after.DriverInfo)) {
		c.BMCs.Forget(before) // nobody would come back to log out there
	}
	return after, err
}

// DeleteNode removes a node that is in a state for it, or in maintenance (contract.md §2.1).
func (c *Conductor) DeleteNode(ctx context.Context, actor node.Actor, ident string) error {
	n, err := c.Nodes.Node(ctx, ident)
	if err != nil {
		return err
	}
	err = c.whenFree(ctx, n, func(n node.Node) error {
		if err := deletable(n); err != nil {
			return err
		}
		return c.Nodes.DeleteNode(ctx, n, c.about(actor, "delete", n.UUID))
	})
	if err != nil {
		c.auditRefusal(ctx, actor, "delete", n, "", err)
		return err
	}
	c.BMCs.Forget(n)
	return nil
}

// SetMaintenance puts a node into maintenance, or takes it out, at any time (G40).
func (c *Conductor) SetMaintenance(ctx context.Context, actor node.Actor, ident string, on bool, reason string) error {
	n, err := c.Nodes.Node(ctx, ident)
	if err != nil {
		return err
	}
	action := "maintenance on"
	if !on {
		action = "maintenance off"
	}
	a := c.about(actor, action, n.UUID)
	a.Reason = reason
	return c.Nodes.SetMaintenance(ctx, n.UUID, on, reason, a)
}
