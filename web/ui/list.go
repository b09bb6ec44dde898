package ui

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/gofiber/fiber/v2"

	"cagenut/node"
	"cagenut/templates"
)

// states are what the filter lets through, of one group.
func (q query) statesOf(group string) []node.State {
	return slices.DeleteFunc(templates.GroupStates(group), func(s node.State) bool {
		return (q.group != "" && q.group != group) || (len(q.states) > 0 && !slices.Contains(q.states, s))
	})
}

// sentence says the filter in words; "" when it lets everything through.
func (q query) sentence() string {
	var parts []string
	if q.search != "" {
		parts = append(parts, fmt.Sprintf("search “%s”", q.search))
	}
	if q.group != "" {
		parts = append(parts, templates.GroupLabel(q.group))
	}
	for _, state := range q.states {
		parts = append(parts, fmt.Sprintf("state “%s”", state))
	}
	if q.rack != "" {
		parts = append(parts, fmt.Sprintf("rack “%s”", q.rack))
	}
	return strings.Join(parts, ", ")
}

// find lists one page: group after group, what needs a person first, by name within a group. more tells of a next page.
func (p *Pages) find(ctx context.Context, q query) (found []node.Node, more bool, err error) {
	groups := templates.Groups()
	if len(q.at) == 2 && slices.Contains(groups, q.at[0]) {
		groups = groups[slices.Index(groups, q.at[0]):]
	}
	for _, group := range groups {
		states := q.statesOf(group)
		if len(states) == 0 {
			continue
		}
		f := q.filter()
		f.ProvisionStates = states
		f.SortKey, f.Limit = "name", q.size+1-len(found)
		if len(q.at) == 2 && group == q.at[0] {
			f.Marker = q.at[1]
		}
		nodes, err := p.o.Store.Nodes(ctx, f)
		if err != nil {
			return nil, false, err
		}
		found = append(found, nodes...)
		if len(found) > q.size {
			return found[:q.size], true, nil
		}
	}
	return found, false, nil
}

func (p *Pages) list(c *fiber.Ctx) error {
	q, act := parseQuery(c), mayAct(c)
	l := templates.List{Frame: p.frame(c, "", "/ui/events?view=list"), Search: q.search, Rack: q.rack, Group: q.group, Filter: q.sentence(), APIURL: p.apiURL(c)}
	ctx := c.UserContext()
	counts, err := p.o.Store.CountByState(ctx)
	if err != nil {
		return err
	}
	nodes, more, err := p.find(ctx, q)
	if err != nil {
		return err
	}
	for _, n := range nodes {
		r, err := p.row(ctx, n, act)
		if err != nil {
			return err
		}
		l.Rows = append(l.Rows, r)
	}
	l.Title = listTitle(counts)
	l.Tabs = tabs(q, counts)
	l.States = stateOptions(q, counts)
	l.Empty = l.Filter == "" && q.at == nil && len(nodes) == 0
	l.Whole = l.Filter == "" && q.at == nil && !more
	if q.group != "" || len(q.states) > 0 {
		for _, group := range templates.Groups() {
			for _, s := range q.statesOf(group) {
				l.Shown = append(l.Shown, string(s))
			}
		}
	}
	next := q
	if q.at != nil {
		l.First = q.first().address()
	}
	if more {
		last := nodes[len(nodes)-1]
		next.at = node.Cursor{templates.Group(last.ProvisionState), last.UUID}
		l.Next = next.address()
	}
	return render(c, fiber.StatusOK, templates.ListPage(l))
}

// groupCounts counts nodes by group; "all" is the sum.
func groupCounts(counts map[node.State]int) map[string]int {
	out := map[string]int{}
	for s, n := range counts {
		out[templates.Group(s)] += n
		out["all"] += n
	}
	return out
}

// listTitle begins with what needs a person.
func listTitle(counts map[node.State]int) string {
	if n := groupCounts(counts)[templates.GroupFailed]; n > 0 {
		return fmt.Sprintf("%d failed – Nodes", n)
	}
	return "Nodes"
}

func tabs(q query, counts map[node.State]int) []templates.Tab {
	by := groupCounts(counts)
	tab := func(group, label string) templates.Tab {
		t := templates.Tab{Group: group, Label: label, Count: strconv.Itoa(by[group])}
		to := q.first()
		to.group, to.states = "", nil
		if group != "all" {
			to.group = group
		}
		t.Href, t.Current = to.address(), len(q.states) == 0 && to.group == q.group
		return t
	}
	all := []templates.Tab{tab("all", "All")}
	for _, group := range templates.Groups() {
		all = append(all, tab(group, templates.GroupLabel(group)))
	}
	return all
}

// stateOptions offers the states that nodes are in, and the chosen one.
func stateOptions(q query, counts map[node.State]int) []templates.Option {
	var out []templates.Option
	for _, s := range node.States() {
		if counts[s] > 0 || slices.Contains(q.states, s) {
			out = append(out, templates.Option{Value: string(s), Label: string(s), Selected: slices.Contains(q.states, s)})
		}
	}
	return out
}
