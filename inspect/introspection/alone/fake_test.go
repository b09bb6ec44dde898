package alone_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net"
	"slices"

	"cagenut/inspect/introspection"
	"cagenut/inspect/introspection/alone"
	"cagenut/inspect/introspection/ironic"
	"cagenut/node"
)

func uuid(n int) string { return fmt.Sprintf("6a6d0a7e-0000-4a51-9a3c-%012d", n) }

// world is an Ironic and the copies of its nodes, in memory.
type world struct {
	remote      map[string]node.Node // by UUID
	remotePorts []node.Port
	copies      map[string]node.Node
	ports       []node.Port
	asked       []string
	refuse      map[string]error // by the first word of what is asked
}

func newWorld() *world {
	return &world{remote: map[string]node.Node{}, copies: map[string]node.Node{}, refuse: map[string]error{}}
}

func (w *world) ask(what string, args ...any) error {
	line := what
	for _, a := range args {
		if s, ok := a.(string); ok {
			line += " " + s
			continue
		}
		b, _ := json.Marshal(a)
		line += " " + string(b)
	}
	w.asked = append(w.asked, line)
	return w.refuse[what]
}

func (w *world) inspector() *alone.Inspector {
	return alone.New(alone.Needs{
		Service: introspection.New(introspection.Needs{Verbs: verbs{w}}), Ironic: theirs{w}, Copies: ours{w}, DNS: net.DefaultResolver, Log: slog.New(slog.NewTextHandler(io.Discard, nil)),
	})
}

func (w *world) writing() alone.Writing { return alone.Writing{Ironic: theirs{w}, Copies: ours{w}} }

func find(nodes map[string]node.Node, ident string) (node.Node, error) {
	for _, n := range nodes {
		if n.UUID == ident || n.Name == ident {
			return n, nil
		}
	}
	return node.Node{}, &node.NotFound{What: "Node", Ident: ident}
}

// theirs is the Ironic.
type theirs struct{ *world }

func (t theirs) Node(_ context.Context, ident string) (node.Node, []node.Port, error) {
	n, err := find(t.remote, ident)
	if err == nil {
		err = t.refuse["show"]
	}
	return n, slices.DeleteFunc(slices.Clone(t.remotePorts), func(p node.Port) bool { return p.NodeUUID != n.UUID }), err
}

func (t theirs) NodeUUIDs(context.Context) (all []string, err error) {
	for id := range t.remote {
		all = append(all, id)
	}
	return all, nil
}

func (t theirs) Inspect(_ context.Context, uuid string) error { return t.ask("inspect", uuid) }

func (t theirs) PatchNode(_ context.Context, _ string, ops []ironic.Operation) error {
	if len(ops) == 0 {
		return nil
	}
	return t.ask("patch", ops)
}

func (t theirs) PatchPort(_ context.Context, _ string, ops []ironic.Operation) error {
	return t.ask("patch-port", ops)
}

func (t theirs) SetTraits(_ context.Context, _ string, traits []string) error {
	return t.ask("traits", traits)
}

func (t theirs) CreatePort(_ context.Context, p node.Port) error { return t.ask("port", p.Address) }

// ours are the copies.
type ours struct{ *world }

func (o ours) Node(_ context.Context, ident string) (node.Node, error) { return find(o.copies, ident) }

func (o ours) Nodes(context.Context, node.Filter) (all []node.Node, err error) {
	for _, n := range o.copies {
		all = append(all, n)
	}
	return all, nil
}

func (o ours) CreateNode(_ context.Context, n node.Node, _ node.Audit) (node.Node, error) {
	return o.put(n)
}

// put keeps a copy, unless another has its name.
func (o ours) put(n node.Node) (node.Node, error) {
	if other, err := find(o.copies, n.Name); err == nil && other.UUID != n.UUID && n.Name != "" {
		return n, &node.Exists{Text: "A node with name " + n.Name + " already exists.", Name: true}
	}
	o.copies[n.UUID] = n
	return n, nil
}

func (o ours) UpdateNode(_ context.Context, n node.Node, _ node.Audit) (node.Node, error) {
	return o.put(n)
}

func (o ours) DeleteNode(_ context.Context, n node.Node, _ node.Audit) error {
	delete(o.copies, n.UUID)
	return nil
}

func (o ours) Ports(_ context.Context, f node.PortFilter) (out []node.Port, err error) {
	for _, p := range o.ports {
		if f.NodeUUID == p.NodeUUID || slices.Contains(f.Addresses, p.Address) {
			out = append(out, p)
		}
	}
	return out, nil
}

func (o ours) CreatePort(_ context.Context, p node.Port, _ node.Audit) (node.Port, error) {
	o.world.ports = append(o.ports, p)
	return p, nil
}

func (o ours) DeletePort(_ context.Context, uuid string, _ node.Audit) error {
	o.world.ports = slices.DeleteFunc(o.ports, func(p node.Port) bool { return p.UUID == uuid })
	return nil
}

// verbs move copies.
type verbs struct{ *world }

func (v verbs) Inspect(_ context.Context, _ node.Actor, ident string) error {
	n := v.copies[ident]
	n.ProvisionState, n.AttemptID = node.InspectWait, "attempt"
	v.copies[ident] = n
	return v.ask("copy-inspect", ident)
}

func (v verbs) Abort(_ context.Context, _ node.Actor, ident, attempt string) error {
	n := v.copies[ident]
	n.ProvisionState = node.InspectFailed
	v.copies[ident] = n
	return v.ask("copy-abort", ident, attempt)
}
