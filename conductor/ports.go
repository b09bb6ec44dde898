package conductor

import (
	"context"
	"fmt"
	"reflect"
	"slices"

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
	if p.IsSmartNIC && (p.LocalLinkConnection["port_id"] == nil || p.LocalLinkConnection["hostname"] == nil) {
		return node.Port{}, node.Invalidf("Smart NIC port must have port_id and hostname in local_link_connection")
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
		next, err := change(p)
		if err != nil {
			return err
		}
		if err := checkPort(next); err != nil {
			return err
		}
		if err := c.nodesAllow(ctx, p, next); err != nil {
			return err
		}
		after, err = c.Ports.UpdatePort(ctx, next, c.about(actor, "update port", p.NodeUUID))
		return err
	})
	return after, err
}

// nodesAllow tells whether the node that has a port, and the one that gets it, let it be changed so.
func (c *Conductor) nodesAllow(ctx context.Context, was, next node.Port) error {
	concerned := []string{was.NodeUUID}
	if next.NodeUUID != was.NodeUUID {
		concerned = append(concerned, next.NodeUUID)
	}
	for _, uuid := range concerned {
		n, err := c.portNode(ctx, uuid)
		if err != nil {
			return err
		}
		if n.ProvisionState == node.Inspecting { // without waiting for the lock that comes with it
			return &node.Conflict{Text: fmt.Sprintf("Cannot update port %q on %q while it is in state %q.", was.UUID, n.UUID, n.ProvisionState)}
		}
		if n.Reserved() {
			return &node.Locked{Node: n.UUID, Holder: n.Reservation}
		}
		if err := portMayChange(n, was, next); err != nil {
			return err
		}
	}
	return nil
}

// connectable are the states in which the connection of a port may be changed, besides maintenance.
var connectable = []node.State{node.Enroll, node.Inspecting, node.InspectWait, node.Manageable}

// portMayChange is the refusal of a change by the node's state, or nil: a server that is in use keeps the MACs and
// connections that its networks were made for.
func portMayChange(n node.Node, was, next node.Port) error {
	if n.Maintenance {
		return nil
	}
	if next.Address != was.Address && (n.ProvisionState == node.Active || n.InstanceUUID != "") {
		return &node.Conflict{Text: fmt.Sprintf("Cannot update hardware address for port %s as node %s is active or has instance UUID assigned", was.UUID, n.UUID)}
	}
	sameLink := len(was.LocalLinkConnection)+len(next.LocalLinkConnection) == 0 || reflect.DeepEqual(was.LocalLinkConnection, next.LocalLinkConnection)
	same := sameLink && was.PXEEnabled == next.PXEEnabled && was.PhysicalNetwork == next.PhysicalNetwork
	if same || slices.Contains(connectable, n.ProvisionState) {
		return nil
	}
	return &node.Conflict{Text: fmt.Sprintf(
		"Port %s can not have any connectivity attributes (portgroup_id, pxe_enabled, local_link_connection, physical_network) updated unless node %s is in a "+
			"enroll, inspecting, inspect wait, manageable state or in maintenance mode. The current state is %s.", was.UUID, n.UUID, n.ProvisionState)}
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

// freeNode is the node that a port is of, or shall be of; *node.Locked if it is held. Asked here, a held node costs those
// who wait for it no turn to write.
func (c *Conductor) freeNode(ctx context.Context, uuid string) (node.Node, error) {
	n, err := c.portNode(ctx, uuid)
	if err == nil && n.Reserved() {
		err = &node.Locked{Node: n.UUID, Holder: n.Reservation}
	}
	return n, err
}

// portNode is a node that a port names: where there is none, that is the caller's mistake (contract.md §3.7).
func (c *Conductor) portNode(ctx context.Context, uuid string) (node.Node, error) {
	n, err := c.Nodes.Node(ctx, uuid)
	if missing(err) {
		return node.Node{}, node.Invalidf("%s", err)
	}
	return n, err
}
