package ui_test

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strings"

	"cagenut/node"
)

// lets tells whether a filter chooses a node.
func (r *rack) lets(f node.Filter, n node.Node) bool {
	known := []string{n.Name, n.UUID, r.serials[n.UUID], n.Location().Rack, bmcHost(n)}
	for _, p := range r.ports {
		if p.NodeUUID == n.UUID {
			known = append(known, p.Address)
		}
	}
	switch {
	case f.UUIDs != nil && !slices.Contains(f.UUIDs, n.UUID),
		f.ProvisionStates != nil && !slices.Contains(f.ProvisionStates, n.ProvisionState),
		f.Rack != "" && f.Rack != n.Location().Rack,
		f.Driver != "" && f.Driver != n.Driver,
		f.Healths != nil && !slices.Contains(f.Healths, n.Health),
		f.Silent && n.BMCUnreachableSince.IsZero(),
		f.Maintenance != nil && *f.Maintenance != n.Maintenance:
		return false
	}
	return slices.ContainsFunc(known, func(s string) bool { return strings.Contains(strings.ToLower(s), strings.ToLower(f.Search)) })
}

// placeIn is a node's place in a list, as text that sorts.
func placeIn(l node.List, n node.Node) node.Cursor {
	at := n.Location()
	key := map[node.ListOrder]string{
		node.ByName: "", node.ByPlace: fmt.Sprintf("%s %03d", cmp.Or(at.Rack, "~"), at.Unit), node.ByState: string(n.ProvisionState),
		node.BySince: n.ProvisionUpdatedAt.Format("2006-01-02T15:04:05"), node.ByPower: string(n.PowerState), node.ByDriver: n.Driver,
		node.ByHealth: fmt.Sprint(slices.Index([]node.Health{node.HealthCritical, node.HealthWarning, "", node.HealthOK}, n.Health)),
		node.ByAttention: fmt.Sprint(slices.IndexFunc(l.Ranks, func(states []node.State) bool {
			return slices.Contains(states, n.ProvisionState)
		})),
	}[l.Order]
	return node.Cursor{key, n.Name, n.UUID}
}

func (r *rack) Summaries(_ context.Context, l node.List) (node.Summaries, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.broken != nil {
		return node.Summaries{}, r.broken
	}
	if l.At != nil && len(l.At) != 3 {
		return node.Summaries{}, node.Invalidf("The place in the list is none of this list.")
	}
	if l.Order == node.ByAttention && l.Ranks == nil {
		return node.Summaries{}, errors.New("nobody has said what needs attention")
	}
	var all []node.Summary
	for _, n := range r.nodes {
		if !r.lets(l.Filter, n) {
			continue
		}
		s := node.Summary{Node: n, BMCAddress: bmcHost(n), Serial: r.serials[n.UUID], Cursor: placeIn(l, n)}
		s.SerialTwins, s.PlaceTwins = r.twins(n)
		s.DriverInfo = nil
		all = append(all, s)
	}
	way := 1
	if l.Descending {
		way = -1
	}
	slices.SortFunc(all, func(a, b node.Summary) int { return way * slices.Compare(a.Cursor, b.Cursor) })
	return r.page(l, all, way), nil
}

// page cuts a page out of a whole list.
func (r *rack) page(l node.List, all []node.Summary, way int) node.Summaries {
	from, to := 0, len(all)
	if at := slices.IndexFunc(all, func(n node.Summary) bool { return way*slices.Compare(n.Cursor, l.At) > 0 }); l.At != nil && !l.Before {
		from = at
		if at < 0 {
			from = len(all)
		}
	}
	if at := slices.IndexFunc(all, func(n node.Summary) bool { return way*slices.Compare(n.Cursor, l.At) >= 0 }); l.Before && at >= 0 {
		to = at
	}
	switch {
	case l.Limit > 0 && l.Before:
		from = max(0, to-l.Limit)
	case l.Limit > 0:
		to = min(to, from+l.Limit)
	}
	out := node.Summaries{All: all[from:to], Earlier: from > 0, Later: to < len(all), Attempts: map[string]node.Attempt{}, Signs: map[string][]node.Sign{}}
	for _, n := range out.All {
		if a, ok := r.attempts[n.AttemptID]; ok {
			out.Attempts[a.ID] = a
			out.Signs[a.ID] = r.kept.signs[a.ID]
		}
	}
	return out
}

func (r *rack) twins(n node.Node) (serial, place int) {
	for _, other := range r.nodes {
		if other.UUID == n.UUID {
			continue
		}
		if s := node.Known(r.serials[n.UUID]); s != "" && s == r.serials[other.UUID] {
			serial++
		}
		if l := n.Location(); l.Rack != "" && l.Unit > 0 && l.Rack == other.Location().Rack && l.Unit == other.Location().Unit {
			place++
		}
	}
	return serial, place
}

func (r *rack) Tallies(_ context.Context, f node.Filter) ([]node.Tally, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.broken != nil {
		return nil, r.broken
	}
	var out []node.Tally
	for _, n := range r.nodes {
		if !r.lets(f, n) {
			continue
		}
		t := node.Tally{State: n.ProvisionState, Driver: n.Driver, Health: n.Health, Maintenance: n.Maintenance, N: 1}
		if !n.BMCUnreachableSince.IsZero() {
			t.Silent = 1
		}
		out = append(out, t)
	}
	return out, nil
}

func (r *rack) RackTallies(_ context.Context, f node.Filter) (map[string]int, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	out := map[string]int{}
	for _, n := range r.nodes {
		if r.lets(f, n) {
			out[n.Location().Rack]++
		}
	}
	return out, nil
}

func bmcHost(n node.Node) string {
	address, _ := n.DriverInfo["redfish_address"].(string)
	u, err := url.Parse(address)
	if err != nil {
		return ""
	}
	return u.Hostname()
}
