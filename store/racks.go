package store

import (
	"context"
	"fmt"

	"gorm.io/gorm"

	"cagenut/node"
)

// Placed lists where every node sits and how it does, by rack and unit; nodes in no rack come first. Names are
// left out, so that the index alone answers it.
func (s *Store) Placed(ctx context.Context) ([]node.Placed, error) {
	q := s.read.WithContext(ctx).Model(&nodeRow{}).Select("uuid, rack, rack_unit, rack_units, provision_state").Order("rack, rack_unit")
	return placed(q, false)
}

// PlacedIn lists the nodes of one rack, from the bottom.
func (s *Store) PlacedIn(ctx context.Context, rack string) ([]node.Placed, error) {
	q := s.read.WithContext(ctx).Model(&nodeRow{}).Select("uuid, rack, rack_unit, rack_units, provision_state, name").Where("rack = ?", rack).Order("rack_unit, id")
	return placed(q, true)
}

func placed(q *gorm.DB, named bool) ([]node.Placed, error) {
	rows, err := q.Rows()
	if err != nil {
		return nil, fmt.Errorf("read the places of nodes: %w", err)
	}
	defer rows.Close()
	var out []node.Placed
	for rows.Next() {
		var p node.Placed
		into := []any{&p.UUID, &p.Rack, &p.Unit, &p.Units, &p.State}
		if named {
			into = append(into, &p.Name)
		}
		if err := rows.Scan(into...); err != nil {
			return nil, fmt.Errorf("read the places of nodes: %w", err)
		}
		out = append(out, p)
	}
	if err := rows.Err(); err != nil {
		return nil, fmt.Errorf("read the places of nodes: %w", err)
	}
	return out, nil
}

// InRack lists the nodes of a rack that a search finds, from the top, at most limit.
func (s *Store) InRack(ctx context.Context, rack, search string, limit int) ([]node.Node, error) {
	q := chosen(s.read.WithContext(ctx), node.Filter{Search: search, IncludeChildren: true}).Where("rack = ?", rack)
	return s.nodes(q.Order("rack_unit DESC, id").Limit(limit))
}

// InNoRack lists the nodes of which nobody has said in which rack they are, by name, at most limit of those that a search
// finds; total is how many it finds.
func (s *Store) InNoRack(ctx context.Context, search string, limit int) (found []node.Node, total int, err error) {
	q := chosen(s.read.WithContext(ctx), node.Filter{Search: search, IncludeChildren: true}).Where("rack = ''").Session(&gorm.Session{})
	var n int64
	if err := q.Count(&n).Error; err != nil {
		return nil, 0, fmt.Errorf("count the nodes in no rack: %w", err)
	}
	found, err = s.nodes(q.Order("name, id").Limit(limit))
	return found, int(n), err
}
