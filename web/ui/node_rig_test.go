package ui_test

import (
	"context"
	"slices"

	"cagenut/node"
	"cagenut/templates"
)

// english is a text of the dashboard in English.
func english(key string, args ...any) string { return templates.T(context.Background(), key, args...) }

// upkeep is what was done to the records of a rack's nodes.
type upkeep struct {
	actor  node.Actor
	what   string
	reason string
}

func (r *rack) SetMaintenance(_ context.Context, actor node.Actor, ident string, on bool, reason string) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.refuse != nil {
		return r.refuse
	}
	n, err := r.find(ident)
	if err != nil {
		return err
	}
	what := "maintenance off"
	if on {
		what = "maintenance on"
	}
	r.kept.upkeep = append(r.kept.upkeep, upkeep{actor, what, reason})
	i := slices.IndexFunc(r.nodes, func(o node.Node) bool { return o.UUID == n.UUID })
	r.nodes[i].Maintenance, r.nodes[i].MaintenanceReason = on, reason
	return nil
}

func (r *rack) DeleteNode(_ context.Context, actor node.Actor, ident string) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.refuse != nil {
		return r.refuse
	}
	n, err := r.find(ident)
	if err != nil {
		return err
	}
	r.kept.upkeep = append(r.kept.upkeep, upkeep{actor, "delete", ""})
	r.nodes = slices.DeleteFunc(r.nodes, func(o node.Node) bool { return o.UUID == n.UUID })
	return nil
}
