package ui_test

import (
	"context"
	"errors"
	"slices"
	"time"

	"cagenut/node"
)

// kept is what is left of a rack's inspections.
type kept struct {
	inventories []node.Inventory // the newest first, without documents
	// differs is what changed between two attempts.
	differs  map[[2]string]node.Difference
	spoilt   error // comes instead of every difference
	signs    map[string][]node.Sign
	advice   map[string]string
	files    map[string]map[string]string // of an attempt's logs
	broken   *node.Invalid                // what is wrong with the archive
	reapplys []node.Actor
	upkeep   []upkeep
}

func (r *rack) Kept(_ context.Context, ident, marker string, limit int) ([]node.Inventory, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if limit == 0 {
		return nil, errors.New("the list must be bounded")
	}
	all := slices.DeleteFunc(slices.Clone(r.kept.inventories), func(i node.Inventory) bool { return i.NodeUUID != ident })
	if marker != "" {
		at := slices.IndexFunc(all, func(i node.Inventory) bool { return i.AttemptID == marker })
		if at < 0 {
			return nil, &node.NotFound{Text: "Nothing is kept of an inspection " + marker + "."}
		}
		all = all[at+1:]
	}
	return all[:min(limit, len(all))], nil
}

func (r *rack) Difference(_ context.Context, ident, from, to string) (node.Difference, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.kept.spoilt != nil {
		return node.Difference{}, r.kept.spoilt
	}
	all := slices.DeleteFunc(slices.Clone(r.kept.inventories), func(i node.Inventory) bool { return i.NodeUUID != ident })
	if to == "" && from == "" && len(all) > 1 {
		from, to = all[1].AttemptID, all[0].AttemptID
	}
	d := r.kept.differs[[2]string{from, to}]
	for _, side := range []struct {
		attempt string
		into    *node.Inspected
	}{{from, &d.From}, {to, &d.To}} {
		i := slices.IndexFunc(all, func(i node.Inventory) bool { return i.AttemptID == side.attempt })
		if i < 0 {
			return node.Difference{}, &node.NotFound{Text: "Nothing is kept of an inspection " + node.Shorten(side.attempt, 80) + "."}
		}
		*side.into = node.Inspected{AttemptID: side.attempt, At: all[i].CreatedAt}
	}
	return d, nil
}

func (r *rack) HowFar(_ context.Context, a node.Attempt) ([]node.Sign, string, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(r.kept.signs[a.ID]), r.kept.advice[a.ID], nil
}

func (r *rack) Reapply(_ context.Context, actor node.Actor, ident string, data []byte) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.refuse != nil {
		return r.refuse
	}
	n, err := r.find(ident)
	if err != nil {
		return err
	}
	if data != nil {
		return errors.New("the dashboard has no report of its own")
	}
	r.kept.reapplys = append(r.kept.reapplys, actor)
	a := r.attempts[n.AttemptID]
	a.State = node.RunReapplying
	r.attempts[a.ID] = a
	return nil
}

func (r *rack) Logged(context.Context, string) ([]string, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	var out []string
	for id := range r.kept.files {
		out = append(out, id)
	}
	return out, nil
}

func (r *rack) RamdiskLogs(_ context.Context, ident, attempt string) (node.RamdiskLogs, error) {
	return node.RamdiskLogs{AttemptID: attempt, NodeUUID: ident, Archive: []byte("archive of " + attempt)}, nil
}

func (r *rack) RamdiskLogFiles(_ context.Context, _, attempt string) ([]node.LogFile, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	files, ok := r.kept.files[attempt]
	if !ok {
		return nil, &node.NotFound{Text: "There are no logs of attempt " + attempt + "."}
	}
	var out []node.LogFile
	for name, content := range files {
		out = append(out, node.LogFile{Name: name, Size: int64(len(content))})
	}
	if r.kept.broken != nil {
		return out, r.kept.broken
	}
	return out, nil
}

func (r *rack) RamdiskLogFile(_ context.Context, _, attempt, name string) ([]byte, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	content, ok := r.kept.files[attempt][name]
	switch {
	case r.kept.broken != nil:
		return nil, r.kept.broken
	case !ok:
		return nil, &node.NotFound{Text: "There is no such file in the logs."}
	}
	return []byte(content), nil
}

const (
	newest = "11111111-1111-4111-8111-111111111111"
	second = "22222222-2222-4222-8222-222222222222"
	oldest = "33333333-3333-4333-8333-333333333333"
)

// inspectedRack has one server that was inspected three times.
func inspectedRack(change ...func(*node.Node)) (*rack, node.Node) {
	r := newRack()
	n := r.add("r07-u21", node.Manageable, append([]func(*node.Node){func(n *node.Node) { n.AttemptID = newest }}, change...)...)
	for i, id := range []string{newest, second, oldest} {
		at := noon.Add(-time.Duration(i+1) * time.Hour)
		r.attempts[id] = node.Attempt{
			ID: id, NodeUUID: n.UUID, Interface: "agent", State: node.RunFinished, Outcome: node.Succeeded, Proof: node.Proven,
			Started: node.Actor{User: "mara", Source: node.SourceAPI, Address: "192.0.2.77"}, StartedAt: at.Add(-4 * time.Minute), WaitingAt: at.Add(-3 * time.Minute),
			ReportAt: at.Add(-time.Second), EndedAt: at, Ended: node.Actor{Source: node.SourceRamdisk},
		}
		r.kept.inventories = append(r.kept.inventories, node.Inventory{NodeUUID: n.UUID, AttemptID: id, CreatedAt: at})
	}
	return r, n
}
