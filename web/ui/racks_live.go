package ui

import (
	"context"
	"errors"
	"slices"
	"sync"

	"github.com/a-h/templ"

	"cagenut/node"
	"cagenut/templates"
	"cagenut/web/live"
)

// changedInRack is what news of a node mean for who looks at a rack.
func (p *Pages) changedInRack(ctx context.Context, v live.View, uuid string) ([]templ.Component, error) {
	n, err := p.o.Store.Node(ctx, uuid)
	var gone *node.NotFound
	if errors.As(err, &gone) {
		return []templ.Component{templates.RefetchIf("row-" + uuid), templates.RefetchIf("free-" + uuid)}, nil
	}
	if err != nil {
		return nil, err
	}
	switch n.Location().Rack {
	case v.Rack:
	case "":
		return []templ.Component{templates.RefetchIf("row-" + uuid)}, nil
	default:
		return []templ.Component{templates.RefetchIf("row-" + uuid), templates.RefetchIf("free-" + uuid)}, nil
	}
	in, err := p.o.Store.PlacedIn(ctx, v.Rack)
	if err != nil {
		return nil, err
	}
	row, err := p.rowNow(ctx, uuid, false)
	if err != nil {
		return nil, err
	}
	r := rackNode(ctx, n, row, elevationOf(in), v.Act)
	// Where it stands otherwise than the page shows, others may too.
	parts := []templ.Component{templates.RefetchUnless(r.At), fragment(templates.RackRowOf(r))}
	if r.Drawn != nil {
		parts = append(parts, fragment(templates.RackServerOf(r)))
	}
	return parts, nil
}

// changedAmongRacks is what news of a node mean for who looks at all racks, or at those that a search finds: the card of its
// rack, and of those that it was in before.
func (p *Pages) changedAmongRacks(ctx context.Context, v live.View, uuid string) ([]templ.Component, error) {
	n, err := p.o.Store.Node(ctx, uuid)
	var gone *node.NotFound
	if err != nil && !errors.As(err, &gone) {
		return nil, err
	}
	rack := n.Location().Rack
	if err == nil {
		p.trail.see(node.Placed{UUID: uuid, Location: n.Location()})
	}
	var parts []templ.Component
	if rack != "" || err != nil {
		parts = append(parts, templates.RefetchIf("free-"+uuid))
	}
	for _, name := range p.trail.of(uuid) {
		if name == "" || !rackHas(name, v.Rack) {
			continue
		}
		in, err := p.o.Store.PlacedIn(ctx, name)
		switch {
		case err != nil:
			return nil, err
		case len(in) == 0:
			parts = append(parts, templates.RefetchIf(rackID(name)))
		default:
			parts = append(parts, templates.RefetchUnless(rackID(name)), fragment(templates.RackCardOf(card(in))))
		}
	}
	return parts, nil
}

// trailLength is how many racks of one node are remembered, the latest.
const trailLength = 4

// trail remembers in which racks each node has been seen: news of a node do not say where it was before, and whoever catches up
// may have missed more than one move.
type trail struct {
	mu   sync.Mutex
	seen map[string][]string // racks by UUID, the latest last
}

func (t *trail) see(nodes ...node.Placed) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.seen == nil {
		t.seen = map[string][]string{}
	}
	for _, n := range nodes {
		racks := t.seen[n.UUID]
		if len(racks) > 0 && racks[len(racks)-1] == n.Rack {
			continue
		}
		racks = append(slices.DeleteFunc(slices.Clone(racks), func(r string) bool { return r == n.Rack }), n.Rack)
		t.seen[n.UUID] = racks[max(0, len(racks)-trailLength):]
	}
}

func (t *trail) of(uuid string) []string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return slices.Clone(t.seen[uuid])
}
