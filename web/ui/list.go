package ui

import (
	"context"
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/gofiber/fiber/v2"

	"cagenut/node"
	"cagenut/templates"
)

// pageSize is how many nodes a page of the list holds.
const pageSize = 50

// query is the list's filter as the address holds it.
type query struct {
	search, group, rack string
	state               node.State
	// after is the last node of the page before, and the group that it stood in.
	afterGroup, after string
}

func parseQuery(c *fiber.Ctx) query {
	q := query{search: cut(c.Query("q"), 200), group: c.Query("group"), rack: cut(c.Query("rack"), 100), state: node.State(c.Query("state"))}
	if templates.GroupLabel(q.group) == "" {
		q.group = ""
	}
	if !q.state.Valid() {
		q.state = ""
	}
	if q.state != "" { // says more than the tab that was open
		q.group = ""
	}
	if group, uuid, ok := strings.Cut(c.Query("after"), ":"); ok && templates.GroupLabel(group) != "" {
		q.afterGroup, q.after = group, uuid
	}
	return q
}

func cut(s string, n int) string {
	if r := []rune(strings.TrimSpace(s)); len(r) > n {
		return string(r[:n])
	}
	return strings.TrimSpace(s)
}

// address is the list's address with this filter.
func (q query) address() string {
	v := url.Values{}
	set := func(key, value string) {
		if value != "" {
			v.Set(key, value)
		}
	}
	set("q", q.search)
	set("group", q.group)
	set("state", string(q.state))
	set("rack", q.rack)
	if q.after != "" {
		v.Set("after", q.afterGroup+":"+q.after)
	}
	if len(v) == 0 {
		return "/ui"
	}
	return "/ui?" + v.Encode()
}

// states are what the filter lets through, of one group.
func (q query) states(group string) []node.State {
	return slices.DeleteFunc(templates.GroupStates(group), func(s node.State) bool {
		return (q.group != "" && q.group != group) || (q.state != "" && q.state != s)
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
	if q.state != "" {
		parts = append(parts, fmt.Sprintf("state “%s”", q.state))
	}
	if q.rack != "" {
		parts = append(parts, fmt.Sprintf("rack “%s”", q.rack))
	}
	return strings.Join(parts, ", ")
}

// find lists one page: group after group, what needs a person first, by name within a group. more tells of a next page.
func (p *Pages) find(ctx context.Context, q query) (found []node.Node, more bool, err error) {
	groups := templates.Groups()
	if q.afterGroup != "" {
		groups = groups[slices.Index(groups, q.afterGroup):]
	}
	for _, group := range groups {
		states := q.states(group)
		if len(states) == 0 {
			continue
		}
		f := node.Filter{ProvisionStates: states, Rack: q.rack, Search: q.search, IncludeChildren: true}
		f.SortKey, f.Limit = "name", pageSize+1-len(found)
		if group == q.afterGroup {
			f.Marker = q.after
		}
		nodes, err := p.o.Store.Nodes(ctx, f)
		if err != nil {
			return nil, false, err
		}
		found = append(found, nodes...)
		if len(found) > pageSize {
			return found[:pageSize], true, nil
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
	l.Empty = l.Filter == "" && q.after == "" && len(nodes) == 0
	l.Whole = l.Filter == "" && q.after == "" && !more
	if q.group != "" || q.state != "" {
		for _, group := range templates.Groups() {
			for _, s := range q.states(group) {
				l.Shown = append(l.Shown, string(s))
			}
		}
	}
	first, next := q, q
	if q.after != "" {
		first.after, first.afterGroup = "", ""
		l.First = first.address()
	}
	if more {
		last := nodes[len(nodes)-1]
		next.after, next.afterGroup = last.UUID, templates.Group(last.ProvisionState)
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
		to := query{search: q.search, rack: q.rack}
		if group != "all" {
			to.group = group
		}
		t.Href, t.Current = to.address(), q.state == "" && to.group == q.group
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
		if counts[s] > 0 || s == q.state {
			out = append(out, templates.Option{Value: string(s), Label: string(s), Selected: s == q.state})
		}
	}
	return out
}
