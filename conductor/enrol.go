package conductor

import (
	"context"
	"fmt"
	"strings"

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
	if err := checkNode(&n); err != nil {
		return node.Node{}, err
	}
	return c.Nodes.CreateNode(ctx, n, c.about(actor, "create", n.UUID))
}

func checkNode(n *node.Node) error {
	if n.Name != "" {
		if err := node.ValidateName(n.Name); err != nil {
			return err
		}
	}
	d, err := node.DriverNamed(n.Driver)
	if err != nil {
		return err
	}
	return d.FillInterfaces(&n.Interfaces)
}

// PatchNode changes what PATCH may change (contract.md §3.5): change is given the node and returns it as it shall be; it
// may be called again when somebody else was first.
func (c *Conductor) PatchNode(ctx context.Context, actor node.Actor, ident string, minor int, change func(node.Node) (node.Node, error)) (node.Node, error) {
	n, err := c.Nodes.Node(ctx, ident)
	if err != nil {
		return node.Node{}, err
	}
	var after node.Node
	err = c.whenFree(ctx, n, func(n node.Node) error {
		if !n.ProvisionState.PatchAllowed() && (n.ProvisionState != node.Inspecting || !tooOld(minor, 39)) {
			return &node.Conflict{Text: fmt.Sprintf("Cannot update node %q while it is in state %q.", n.UUID, n.ProvisionState)}
		}
		next, err := change(n)
		if err != nil {
			return err
		}
		if err := checkNode(&next); err != nil {
			return err
		}
		if err := interfacesMayChange(n, next); err != nil {
			return err
		}
		after, err = c.Nodes.UpdateNode(ctx, next, c.about(actor, "update", n.UUID))
		return err
	})
	return after, err
}

func interfacesMayChange(was, next node.Node) error {
	if was.Interfaces == next.Interfaces || was.Maintenance || was.ProvisionState.InterfaceChangeAllowed() {
		return nil
	}
	return &node.Conflict{Text: fmt.Sprintf(
		"Node %s can not have %s updated unless it is in one of allowed (enroll, manageable, inspect wait, available) states or in maintenance mode. Current state is '%s'.",
		was.UUID, changedInterface(was, next), was.ProvisionState)}
}

func changedInterface(was, next node.Node) string {
	for _, kind := range node.InterfaceTypes() {
		if was.Interfaces.Get(kind) != next.Interfaces.Get(kind) {
			return kind + "_interface"
		}
	}
	return "driver"
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
	}
	return err
}

func deletable(n node.Node) error {
	switch {
	case n.Protected:
		return &node.Conflict{Text: fmt.Sprintf("Node %s is protected and cannot be undeployed, rebuilt or deleted.", n.UUID)}
	case n.Maintenance:
		return nil
	case n.InstanceUUID != "":
		return &node.Conflict{Text: fmt.Sprintf("Node %s is associated with instance %s.", n.UUID, n.InstanceUUID)}
	case n.ProvisionState.Deletable():
		return nil
	}
	names := make([]string, 0, 4)
	for _, s := range node.DeletableStates() {
		names = append(names, "'"+string(s)+"'")
	}
	return &node.Conflict{Text: fmt.Sprintf(
		"Can not delete node %q while it is in provision state %q. Valid provision states to perform deletion are: \"(%s)\", or set the node into maintenance mode",
		n.UUID, n.ProvisionState, strings.Join(names, ", "))}
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

// CreatePort adds a port to a free node.
func (c *Conductor) CreatePort(ctx context.Context, actor node.Actor, p node.Port) (node.Port, error) {
	if p.UUID == "" {
		p.UUID = node.NewUUID()
	}
	return c.Ports.CreatePort(ctx, p, c.about(actor, "create port", p.NodeUUID))
}

// PatchPort changes a port of a free node.
func (c *Conductor) PatchPort(ctx context.Context, actor node.Actor, uuid string, change func(node.Port) (node.Port, error)) (node.Port, error) {
	p, err := c.Ports.Port(ctx, uuid)
	if err != nil {
		return node.Port{}, err
	}
	next, err := change(p)
	if err != nil {
		return node.Port{}, err
	}
	return c.Ports.UpdatePort(ctx, next, c.about(actor, "update port", p.NodeUUID))
}

// DeletePort removes a port of a free node.
func (c *Conductor) DeletePort(ctx context.Context, actor node.Actor, uuid string) error {
	p, err := c.Ports.Port(ctx, uuid)
	if err != nil {
		return err
	}
	return c.Ports.DeletePort(ctx, uuid, c.about(actor, "delete port", p.NodeUUID))
}
