package alone

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"time"

	"cagenut/inspect/introspection"
	"cagenut/inspect/introspection/ironic"
	"cagenut/inspect/inventory"
	"cagenut/node"
)

// Interface is the inspect interface of all copies, and that by which nodes of Ironic lead here.
const Interface = "inspector"

// Ironic is where the nodes are; *ironic.Client is one, and says which errors there are.
type Ironic interface {
	Node(ctx context.Context, ident string) (node.Node, []node.Port, error)
	NodeUUIDs(ctx context.Context) ([]string, error)
	Inspect(ctx context.Context, uuid string) error
	PatchNode(ctx context.Context, uuid string, ops []ironic.Operation) error
	PatchPort(ctx context.Context, uuid string, ops []ironic.Operation) error
	SetTraits(ctx context.Context, uuid string, traits []string) error
	CreatePort(ctx context.Context, p node.Port) error
}

// Copies keeps the copies of nodes.
type Copies interface {
	Node(ctx context.Context, ident string) (node.Node, error)
	Nodes(ctx context.Context, f node.Filter) ([]node.Node, error)
	CreateNode(ctx context.Context, n node.Node, a node.Audit) (node.Node, error)
	UpdateNode(ctx context.Context, n node.Node, a node.Audit) (node.Node, error)
	DeleteNode(ctx context.Context, n node.Node, a node.Audit) error
	Ports(ctx context.Context, f node.PortFilter) ([]node.Port, error)
	CreatePort(ctx context.Context, p node.Port, a node.Audit) (node.Port, error)
	DeletePort(ctx context.Context, uuid string, a node.Audit) error
}

// Needs is what an [Inspector] works with.
type Needs struct {
	*introspection.Service // of the copies
	Ironic                 Ironic
	Copies                 Copies
	DNS                    inventory.Resolver // of BMC addresses
	Log                    *slog.Logger
}

// Inspector is the service: that of the copies, but for the start.
type Inspector struct{ Needs }

// New makes the service.
func New(n Needs) *Inspector { return &Inspector{n} }

// inspectable are the provision states in which a node may be inspected, as the inspector has them.
var inspectable = []node.State{node.Enroll, node.Manageable, node.Inspecting, node.InspectWait, node.InspectFailed}

// Start begins an introspection. With manageBoot false Ironic boots the server, and the run waits for its report; else, and without
// a value, Ironic is asked to inspect, and begins the run itself.
func (i *Inspector) Start(ctx context.Context, actor node.Actor, ident string, manageBoot *bool) error {
	n, ports, err := i.Ironic.Node(ctx, ident)
	if missing(err) {
		return &node.NotFound{Text: fmt.Sprintf("Node %s was not found in Ironic", ident)}
	}
	if err != nil {
		return err
	}
	if manageBoot == nil || *manageBoot {
		if n.Interfaces.Inspect != Interface {
			return node.Invalidf("Node %s has the inspect interface %s; only where it is %s does its inspection lead here.", n.UUID, n.Interfaces.Inspect, Interface)
		}
		return i.Ironic.Inspect(ctx, n.UUID)
	}
	if !slices.Contains(inspectable, n.ProvisionState) {
		return node.Invalidf(`Invalid provision state for introspection: "%s", valid states are %q`, n.ProvisionState, inspectable)
	}
	if addresses, _ := inventory.BMCAddresses(ctx, i.DNS, n.DriverInfo); len(addresses) == 0 && len(ports) == 0 {
		return node.Invalidf("No lookup attributes were found, inspector won't be able to find it after introspection, consider creating ironic ports or providing an IPMI address")
	}
	if err := i.endEarlier(ctx, n.UUID); err != nil {
		return err
	}
	if err := i.copy(ctx, actor, n, ports); err != nil {
		return err
	}
	return i.Verbs.Inspect(ctx, actor, n.UUID)
}

// endEarlier ends a run that waits: Ironic has begun anew, and knows nothing of it any more (contract.md §5.3).
func (i *Inspector) endEarlier(ctx context.Context, uuid string) error {
	old, err := i.Copies.Node(ctx, uuid)
	if missing(err) {
		return nil
	}
	if err == nil && old.ProvisionState == node.InspectWait {
		err = i.Verbs.Abort(ctx, node.System(), uuid, old.AttemptID)
	}
	return err
}

// copy makes the copy of a node what the node is.
func (i *Inspector) copy(ctx context.Context, actor node.Actor, n node.Node, ports []node.Port) error {
	audit := node.Audit{Actor: actor, Action: "copy", NodeUUID: n.UUID, Result: "accepted"}
	n.Interfaces = node.Interfaces{Inspect: Interface}
	err := i.put(ctx, n, audit)
	if taken := (*node.Exists)(nil); errors.As(err, &taken) && taken.Name {
		if err = i.freeName(ctx, n.Name, audit); err == nil {
			err = i.put(ctx, n, audit)
		}
	}
	if err != nil {
		return fmt.Errorf("keep a copy of node %s: %w", n.UUID, err)
	}
	return i.copyPorts(ctx, n.UUID, ports, audit)
}

// freeName takes a name from the copy that has it: it is another node's in Ironic by now, where names are moved on and exchanged.
func (i *Inspector) freeName(ctx context.Context, name string, audit node.Audit) error {
	old, err := i.Copies.Node(ctx, name)
	if missing(err) {
		return nil
	}
	if err != nil {
		return err
	}
	if old.Reserved() {
		return &node.Locked{Node: old.UUID, Holder: old.Reservation}
	}
	old.Name, audit.NodeUUID = "", old.UUID
	_, err = i.Copies.UpdateNode(ctx, old, audit)
	return err
}

func (i *Inspector) put(ctx context.Context, n node.Node, audit node.Audit) error {
	old, err := i.Copies.Node(ctx, n.UUID)
	if missing(err) {
		n.ProvisionState = node.Manageable
		_, err = i.Copies.CreateNode(ctx, n, audit)
		return err
	}
	if err != nil {
		return err
	}
	if old.Reserved() {
		return &node.Locked{Node: n.UUID, Holder: old.Reservation}
	}
	n.ProvisionState, n.Version = old.ProvisionState, old.Version
	_, err = i.Copies.UpdateNode(ctx, n, audit)
	return err
}

// copyPorts replaces the ports of a copy. A MAC that was another node's is this one's now.
func (i *Inspector) copyPorts(ctx context.Context, uuid string, ports []node.Port, audit node.Audit) error {
	old, err := i.Copies.Ports(ctx, node.PortFilter{NodeUUID: uuid})
	if err != nil {
		return err
	}
	addresses := []string{}
	for _, p := range ports {
		addresses = append(addresses, strings.ToLower(p.Address))
	}
	elsewhere, err := i.Copies.Ports(ctx, node.PortFilter{Addresses: addresses})
	if err != nil {
		return err
	}
	for _, p := range append(old, elsewhere...) {
		if err := i.Copies.DeletePort(ctx, p.UUID, audit); err != nil && !missing(err) {
			return err
		}
	}
	for _, p := range ports {
		p.ID, p.Version, p.NodeUUID, p.Address, p.Name = 0, 0, uuid, strings.ToLower(p.Address), ""
		if _, err := i.Copies.CreatePort(ctx, p, audit); err != nil {
			return err
		}
	}
	return nil
}

// Forget drops the copies of nodes that Ironic no longer has (contract.md §5.5).
func (i *Inspector) Forget(ctx context.Context) error {
	there, err := i.Ironic.NodeUUIDs(ctx)
	if err != nil {
		return err
	}
	known := make(map[string]bool, len(there))
	for _, uuid := range there {
		known[uuid] = true
	}
	copies, err := i.Copies.Nodes(ctx, node.Filter{})
	if err != nil {
		return err
	}
	for _, n := range copies {
		if known[n.UUID] || n.Reserved() {
			continue
		}
		err := i.Copies.DeleteNode(ctx, n, node.Audit{Actor: node.System(), Action: "forget", NodeUUID: n.UUID, Result: "accepted"})
		if err != nil && !errors.Is(err, node.ErrLost) {
			return err
		}
	}
	return nil
}

// forgetEvery is how often that is done.
const forgetEvery = time.Minute

// Run forgets nodes that are gone until ctx ends. A round that fails is logged and comes again.
func (i *Inspector) Run(ctx context.Context) error {
	tick := time.NewTicker(forgetEvery)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
		}
		if err := i.Forget(ctx); err != nil && ctx.Err() == nil {
			i.Log.Warn("cannot ask Ironic which nodes there are", "err", err)
		}
	}
}

func missing(err error) bool {
	var gone *node.NotFound
	return errors.As(err, &gone)
}
