package alone

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"time"

	"cagenut/inspect/introspection/ironic"
	"cagenut/node"
)

// Writing writes to Ironic what an inspection found, before it becomes true of the copy. It may be repeated.
type Writing struct {
	Ironic Ironic
	Copies Copies
}

// Ending gives the ending of an attempt as it is to be kept: one that succeeded has been written to Ironic, and has failed where
// Ironic refused it. An error is trouble that may pass.
func (w Writing) Ending(ctx context.Context, e node.Ending) (node.Ending, error) {
	if e.Outcome != node.Succeeded {
		return e, nil
	}
	refused, err := w.write(ctx, e.Move)
	if err != nil || refused == "" {
		return e, err
	}
	text := "Failed to finish inspection: " + refused
	failed := e
	failed.Outcome, failed.LastError, failed.Error = node.Failed, text, text
	m := &failed.Move
	m.Event, m.LastError, m.FinishedAt = node.Fail, &text, &time.Time{}
	m.Properties, m.As, m.Changed, m.NewPorts, m.PortUpdates, m.Inventory, m.History = nil, nil, nil, nil, nil, nil, nil
	for _, h := range e.Move.History {
		if h.Final {
			h.Severity, h.Event = node.SeverityError, text
		}
		m.History = append(m.History, h)
	}
	return failed, nil
}

// Move gives a move as it is to be kept: where a report was applied once more, what came of it has been written to Ironic.
func (w Writing) Move(ctx context.Context, m node.Move) (node.Move, error) {
	if m.AttemptState != node.RunFinished {
		return m, nil
	}
	refused, err := w.write(ctx, m)
	if err != nil || refused == "" {
		return m, err
	}
	text := "Failed to finish inspection: " + refused
	return node.Move{
		Node: m.Node, From: m.From, Held: m.Held, Attempt: m.Attempt, Actor: m.Actor, At: m.At, AttemptState: node.RunError, AttemptError: text,
		AttemptNotes: m.AttemptNotes, Audit: m.Audit,
		History: []node.History{{NodeUUID: m.Node, AttemptID: m.Attempt, At: m.At, Severity: node.SeverityError, Type: node.TypeInspection, Event: text, Actor: m.Actor}},
	}, nil
}

// write writes what a move changes of its node. refused is why Ironic did not take it.
func (w Writing) write(ctx context.Context, m node.Move) (refused string, err error) {
	before, err := w.Copies.Node(ctx, m.Node)
	if err != nil {
		return "", err
	}
	now, ports, err := w.Ironic.Node(ctx, m.Node)
	if err == nil {
		err = errors.Join(w.writePorts(ctx, ports, m), w.writeNode(ctx, before, now, m))
	}
	var invalid *node.Invalid
	var gone *node.NotFound
	var taken *node.Exists
	switch {
	case err == nil:
		return "", nil
	case errors.As(err, &invalid), errors.As(err, &gone), errors.As(err, &taken):
		return "Ironic refused what was found: " + err.Error(), nil
	}
	return "", fmt.Errorf("write to Ironic what was found of node %s: %w", m.Node, err)
}

// writeNode writes what differs from before, the copy; now is what Ironic has.
func (w Writing) writeNode(ctx context.Context, before, now node.Node, m node.Move) error {
	var ops []ironic.Operation
	if m.Properties != nil {
		ops = append(ops, ironic.Difference("/properties", before.Properties, m.Properties, same)...)
	}
	traits := false
	for _, name := range m.Changed {
		if name == "traits" {
			traits = true
			continue
		}
		ops = append(ops, changeOf(name, before, *m.As)...)
	}
	ops = withoutVain(ops, func(path string) bool {
		document, key, nested := strings.Cut(path, "/")
		if !nested {
			return attribute(path, now) != nil
		}
		_, there := documentOf(document, now)[key]
		return there
	})
	if err := w.Ironic.PatchNode(ctx, m.Node, ops); err != nil {
		return err
	}
	if !traits {
		return nil
	}
	return w.Ironic.SetTraits(ctx, m.Node, m.As.Traits)
}

// withoutVain leaves out the removal of what is not there any more, which would be refused: a part of an earlier try may have
// got through. there is asked for paths without their leading slash.
func withoutVain(ops []ironic.Operation, there func(path string) bool) []ironic.Operation {
	return slices.DeleteFunc(ops, func(o ironic.Operation) bool {
		return o.Op == "remove" && !there(strings.NewReplacer("~1", "/", "~0", "~").Replace(o.Path[1:]))
	})
}

// documentOf is a document by its name on the wire; nil for other attributes.
func documentOf(name string, n node.Node) map[string]any {
	return map[string]map[string]any{
		"properties": n.Properties, "extra": n.Extra, "driver_info": n.DriverInfo, "instance_info": n.InstanceInfo, "network_data": n.NetworkData,
	}[name]
}

// changeOf is the patch for one attribute, by its name on the wire.
func changeOf(name string, before, after node.Node) []ironic.Operation {
	switch name {
	case "properties": // written anyway
		return nil
	case "extra", "driver_info", "instance_info", "network_data":
		return ironic.Difference("/"+name, documentOf(name, before), documentOf(name, after), same)
	}
	was, now := attribute(name, before), attribute(name, after)
	switch {
	case same(was, now):
		return nil
	case now == nil:
		return []ironic.Operation{{Op: "remove", Path: "/" + name}}
	}
	return []ironic.Operation{{Op: "add", Path: "/" + name, Value: now}}
}

// attribute is a plain attribute; nil is none. Of the interfaces a copy knows only those that a rule has set.
func attribute(name string, n node.Node) any {
	if kind, ok := strings.CutSuffix(name, "_interface"); ok {
		if s := n.Interfaces.Get(kind); s != "" {
			return s
		}
		return nil
	}
	texts := map[string]string{
		"name": n.Name, "driver": n.Driver, "maintenance_reason": n.MaintenanceReason, "protected_reason": n.ProtectedReason, "retired_reason": n.RetiredReason,
		"resource_class": n.ResourceClass, "conductor_group": n.ConductorGroup, "description": n.Description, "owner": n.Owner, "lessee": n.Lessee, "shard": n.Shard,
	}
	flags := map[string]bool{"maintenance": n.Maintenance, "protected": n.Protected, "retired": n.Retired, "disable_power_off": n.DisablePowerOff}
	if b, ok := flags[name]; ok {
		return b
	}
	if name == "automated_clean" && n.AutomatedClean != nil {
		return *n.AutomatedClean
	}
	if s := texts[name]; s != "" {
		return s
	}
	return nil
}

// writePorts makes the new ports and changes the others; now are those that Ironic has.
func (w Writing) writePorts(ctx context.Context, now []node.Port, m node.Move) error {
	var errs []error
	for _, p := range m.NewPorts {
		p.NodeUUID = m.Node
		var taken *node.Exists
		// Whoever has the MAC by now keeps it.
		if err := w.Ironic.CreatePort(ctx, p); err != nil && !errors.As(err, &taken) {
			errs = append(errs, err)
		}
	}
	if len(m.PortUpdates) == 0 {
		return errors.Join(errs...)
	}
	ports, err := w.Copies.Ports(ctx, node.PortFilter{NodeUUID: m.Node})
	if err != nil {
		return err
	}
	before := map[string]node.Port{}
	for _, p := range ports {
		before[p.UUID] = p
	}
	for _, p := range m.PortUpdates {
		i := slices.IndexFunc(now, func(known node.Port) bool { return known.UUID == p.UUID })
		if i < 0 {
			continue // somebody has removed it
		}
		errs = append(errs, w.Ironic.PatchPort(ctx, p.UUID, withoutVain(portChanges(before[p.UUID], p), func(path string) bool { return portHas(now[i], path) })))
	}
	return errors.Join(errs...)
}

// portHas tells whether there is something at a path of a port that may be removed.
func portHas(p node.Port, path string) bool {
	document, key, _ := strings.Cut(path, "/")
	switch document {
	case "extra":
		_, there := p.Extra[key]
		return there
	case "local_link_connection":
		_, there := p.LocalLinkConnection[key]
		return there
	case "physical_network":
		return p.PhysicalNetwork != ""
	}
	return p.Name != ""
}

func portChanges(before, after node.Port) []ironic.Operation {
	ops := ironic.Difference("/extra", before.Extra, after.Extra, same)
	ops = append(ops, ironic.Difference("/local_link_connection", before.LocalLinkConnection, after.LocalLinkConnection, same)...)
	for _, v := range []struct {
		path        string
		before, now any
	}{
		{"/is_smartnic", before.IsSmartNIC, after.IsSmartNIC}, {"/name", before.Name, after.Name},
		{"/physical_network", before.PhysicalNetwork, after.PhysicalNetwork}, {"/pxe_enabled", before.PXEEnabled, after.PXEEnabled},
	} {
		switch {
		case v.before == v.now:
		case v.now == "":
			ops = append(ops, ironic.Operation{Op: "remove", Path: v.path})
		default:
			ops = append(ops, ironic.Operation{Op: "add", Path: v.path, Value: v.now})
		}
	}
	return ops
}

// same compares two values as JSON, because numbers have several types here.
func same(a, b any) bool {
	x, err := json.Marshal(a)
	y, err2 := json.Marshal(b)
	return err == nil && err2 == nil && string(x) == string(y) || reflect.DeepEqual(a, b)
}
