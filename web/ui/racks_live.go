package ui

import (
	"context"
	"errors"

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
	r, err := p.rackNode(ctx, n, elevationOf(in), v.Act)
	if err != nil {
		return nil, err
	}
	// Where it stands otherwise than the page shows, others may too.
	parts := []templ.Component{templates.RefetchUnless(r.At), fragment(templates.RackRowOf(r))}
	if r.Drawn != nil {
		parts = append(parts, fragment(templates.RackServerOf(r)))
	}
	return parts, nil
}

// changedAmongRacks is what news of a node mean for who looks at all racks.
func (p *Pages) changedAmongRacks(ctx context.Context, uuid string) ([]templ.Component, error) {
	n, err := p.o.Store.Node(ctx, uuid)
	var gone *node.NotFound
	if errors.As(err, &gone) {
		return []templ.Component{templates.RefetchIf("free-" + uuid)}, nil
	}
	if err != nil {
		return nil, err
	}
	rack := n.Location().Rack
	if rack == "" {
		return nil, nil
	}
	in, err := p.o.Store.PlacedIn(ctx, rack)
	if err != nil || len(in) == 0 {
		return nil, err
	}
	return []templ.Component{templates.RefetchIf("free-" + uuid), fragment(templates.RackCardOf(card(in)))}, nil
}
