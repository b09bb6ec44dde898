package conductor

import (
	"context"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"cagenut/node"
)

// checkNode is what holds for every node, new or changed.
func (c *Conductor) checkNode(ctx context.Context, n *node.Node) error {
	if n.Name != "" {
		if err := node.ValidateName(n.Name); err != nil {
			return err
		}
	}
	d, err := node.DriverNamed(n.Driver)
	if err != nil {
		return err
	}
	if err := d.FillInterfaces(&n.Interfaces); err != nil {
		return err
	}
	return c.checkParent(ctx, n)
}

// checkParent makes a UUID of the parent's name or UUID. Whatever is wrong with it has the same text, so that nobody
// learns of nodes by guessing; cycles are the store's to find.
func (c *Conductor) checkParent(ctx context.Context, n *node.Node) error {
	if n.ParentNode == "" {
		return nil
	}
	wrong := node.Invalidf("Unable to apply the requested parent_node '%s'. Requested value was invalid.", n.ParentNode)
	parent, err := c.Nodes.Node(ctx, n.ParentNode)
	switch {
	case missing(err):
		return wrong
	case err != nil:
		return err
	case parent.UUID == n.UUID || parent.Owner != n.Owner:
		return wrong
	}
	n.ParentNode = parent.UUID
	return nil
}

// checkChange is what a change of a node must keep to, in Ironic's order; it also clears what goes together with a flag.
// ident is what the caller knows the node by.
func (c *Conductor) checkChange(ctx context.Context, ident string, was node.Node, next *node.Node, minor int) error {
	if err := patchable(was, *next, minor); err != nil {
		return err
	}
	if next.Name != "" && next.Name != was.Name {
		if err := node.ValidateRename(ident, next.Name); err != nil {
			return err
		}
	}
	parent := next.ParentNode
	if parent == was.ParentNode {
		next.ParentNode = "" // somebody checked it when it was set
	}
	err := c.checkNode(ctx, next)
	if parent == was.ParentNode {
		next.ParentNode = parent
	}
	if err != nil {
		return err
	}
	if was.Driver != next.Driver && was.ConsoleEnabled {
		return &node.Conflict{Text: fmt.Sprintf("Node %s can not update the driver while the console is enabled. Please stop the console first.", was.UUID)}
	}
	if !slices.Equal(was.Traits, next.Traits) {
		if err := node.ValidateTraits(was.UUID, next.Traits); err != nil {
			return err
		}
	}
	if was.Maintenance && !next.Maintenance {
		next.MaintenanceReason, next.Fault = "", ""
	}
	for _, check := range []func(node.Node, *node.Node) error{protectionMayChange, retirementMayChange, interfacesMayChange, ownershipMayChange} {
		if err := check(was, next); err != nil {
			return err
		}
	}
	return nil
}

// patchable tells whether the node can be changed in its state. A node in maintenance can always be separated from its
// instance.
func patchable(was, next node.Node, minor int) error {
	if was.Maintenance && next.InstanceUUID == "" {
		next.InstanceUUID = was.InstanceUUID
		if reflect.DeepEqual(was, next) {
			return nil
		}
	}
	return stateRefuses(was, minor)
}

// stateRefuses is the refusal of a change by the node's state alone (contract.md §2.1), or nil.
func stateRefuses(n node.Node, minor int) error {
	if n.ProvisionState.PatchAllowed() || n.ProvisionState == node.Inspecting && tooOld(minor, 39) {
		return nil
	}
	return &node.Conflict{Text: fmt.Sprintf("Cannot update node %q while it is in state %q.", n.UUID, n.ProvisionState)}
}

func protectionMayChange(was node.Node, next *node.Node) error {
	if was.Protected && !next.Protected {
		next.ProtectedReason = ""
	}
	if !was.Protected && next.Protected && next.ProvisionState != node.Active && next.ProvisionState != node.Rescue {
		return &node.Conflict{Text: fmt.Sprintf(
			"Node %s can only be made protected in provision states 'active' or 'rescue', the current state is '%s'", next.UUID, next.ProvisionState)}
	}
	if was.ProtectedReason != next.ProtectedReason && next.ProtectedReason != "" && !next.Protected {
		return node.Invalidf("The protected_reason field can only be set when protected is True")
	}
	return nil
}

func retirementMayChange(was node.Node, next *node.Node) error {
	if was.Retired && !next.Retired {
		next.RetiredReason = ""
	}
	if !was.Retired && next.Retired && next.ProvisionState == node.Available {
		return &node.Conflict{Text: fmt.Sprintf(
			"Node %s can not have 'retired' set in provision state 'available', the current state is '%s'", next.UUID, next.ProvisionState)}
	}
	if was.RetiredReason != next.RetiredReason && next.RetiredReason != "" && !next.Retired {
		return node.Invalidf("The retired_reason field can only be set when retired is True")
	}
	return nil
}

func interfacesMayChange(was node.Node, next *node.Node) error {
	if was.Interfaces == next.Interfaces || was.Maintenance || was.ProvisionState.InterfaceChangeAllowed() {
		return nil
	}
	return &node.Conflict{Text: fmt.Sprintf(
		"Node %s can not have %s updated unless it is in one of allowed (enroll, manageable, inspect wait, available) states or in maintenance mode. Current state is '%s'.",
		was.UUID, changedInterface(was, *next), was.ProvisionState)}
}

func changedInterface(was, next node.Node) string {
	for _, kind := range node.InterfaceTypes() {
		if was.Interfaces.Get(kind) != next.Interfaces.Get(kind) {
			return kind + "_interface"
		}
	}
	return "driver"
}

// ownershipMayChange keeps an instance and its resource class where they are.
func ownershipMayChange(was node.Node, next *node.Node) error {
	if was.InstanceUUID != "" && next.InstanceUUID != "" && was.InstanceUUID != next.InstanceUUID {
		return &node.Conflict{Text: fmt.Sprintf("Node %s is associated with instance %s.", was.UUID, was.InstanceUUID)}
	}
	if was.ResourceClass != "" && was.ResourceClass != next.ResourceClass && !was.ProvisionState.InterfaceChangeAllowed() {
		return &node.Conflict{Text: fmt.Sprintf(
			"Node %s can not have resource_class updated unless it is in one of allowed (enroll, manageable, inspect wait, available) states. Current state is '%s'.",
			was.UUID, was.ProvisionState)}
	}
	return nil
}

// protectedAgainst is the refusal of what would take a protected node from its user, or nil.
func protectedAgainst(n node.Node, verb node.Event) error {
	if n.Protected && slices.Contains([]node.Event{node.Delete, node.Rebuild}, verb) {
		return &node.Forbidden{Text: fmt.Sprintf("Node %s is protected and cannot be undeployed, rebuilt or deleted", n.UUID)}
	}
	return nil
}

// deletable tells whether a node can be removed (contract.md §2.1).
func deletable(n node.Node) error {
	if n.InstanceUUID != "" && !n.Maintenance {
		return &node.Conflict{Text: fmt.Sprintf("Node %s is associated with instance %s.", n.UUID, n.InstanceUUID)}
	}
	if err := protectedAgainst(n, node.Delete); err != nil {
		return err
	}
	if n.Maintenance || n.ProvisionState.Deletable() {
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
