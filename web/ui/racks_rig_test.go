package ui_test

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"cagenut/node"
)

// in puts a node into a place.
func in(rack string, unit, units int) func(*node.Node) {
	return func(n *node.Node) {
		n.Extra = map[string]any{"rack": rack, "rack_unit": unit, "rack_units": units, "asset": "kept"}
	}
}

func placed(n node.Node) node.Placed {
	return node.Placed{UUID: n.UUID, Name: n.Name, Location: n.Location(), State: n.ProvisionState}
}

func (r *rack) Placed(context.Context) ([]node.Placed, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	var out []node.Placed
	for _, n := range r.nodes {
		p := placed(n)
		p.Name = ""
		out = append(out, p)
	}
	slices.SortFunc(out, func(a, b node.Placed) int { return cmp.Or(cmp.Compare(a.Rack, b.Rack), cmp.Compare(a.Unit, b.Unit)) })
	return out, r.broken
}

func (r *rack) PlacedIn(_ context.Context, name string) ([]node.Placed, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	var out []node.Placed
	for _, n := range r.nodes {
		if n.Location().Rack == name {
			out = append(out, placed(n))
		}
	}
	return out, r.broken
}

func (r *rack) InRack(_ context.Context, name, search string, limit int) ([]node.Node, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	var out []node.Node
	for _, n := range r.nodes {
		if n.Location().Rack == name && strings.Contains(n.Name, search) {
			out = append(out, n)
		}
	}
	slices.SortStableFunc(out, func(a, b node.Node) int { return cmp.Compare(b.Location().Unit, a.Location().Unit) })
	return out[:min(limit, len(out))], r.broken
}

func (r *rack) InNoRack(_ context.Context, search string, limit int) ([]node.Node, int, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	var out []node.Node
	for _, n := range r.nodes {
		if n.Location().Rack == "" && strings.Contains(n.Name, search) {
			out = append(out, n)
		}
	}
	return out[:min(limit, len(out))], len(out), r.broken
}

func (r *rack) PatchNode(_ context.Context, actor node.Actor, ident string, _ int, change func(node.Node) (node.Node, error)) (node.Node, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.actors = append(r.actors, actor)
	n, err := r.find(ident)
	if err == nil {
		err = r.refuse
	}
	if err == nil {
		n, err = change(n)
	}
	if err != nil {
		return node.Node{}, err
	}
	for i := range r.nodes {
		if r.nodes[i].UUID == n.UUID {
			r.nodes[i] = n
		}
	}
	return n, nil
}
