package ui

import (
	"cmp"
	"context"
	"maps"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"cagenut/node"
	"cagenut/templates"
)

// mostRacks is how many racks a select offers; more are a field with suggestions.
const mostRacks = 40

// counts are how many nodes there are of each thing that the list can be filtered by, each under all other conditions of the
// filter.
type counts struct {
	shown      int // by the whole filter
	everything int // without any condition but search and rack
	states     map[node.State]int
	groups     map[string]int // "all" is the sum
	drivers    map[string]int
	healths    map[string]int
	inService  map[string]int // by the words of the filter by maintenance
	racks      map[string]int
}

// The conditions of a filter that tallies are counted under.
const (
	byState = 1 << iota
	byDriver
	byHealth
	byMaintenance
	byAll = byState | byDriver | byHealth | byMaintenance
)

func (p *Pages) countsOf(ctx context.Context, q query) (counts, error) {
	c := counts{states: map[node.State]int{}, groups: map[string]int{}, drivers: map[string]int{}, healths: map[string]int{}, inService: map[string]int{}}
	tallies, err := p.o.Store.Tallies(ctx, query{search: q.search, rack: q.rack}.filter())
	if err != nil {
		return c, err
	}
	for _, t := range tallies {
		c.add(q, t)
	}
	others := q
	others.rack = ""
	c.racks, err = p.o.Store.RackTallies(ctx, others.filter())
	return c, err
}

func (c *counts) add(q query, t node.Tally) {
	c.everything += t.N
	c.shown += q.passing(t, byAll)
	n := q.passing(t, byAll&^byState)
	c.states[t.State] += n
	c.groups[templates.Group(t.State)] += n
	c.groups["all"] += n
	c.drivers[t.Driver] += q.passing(t, byAll&^byDriver)
	c.inService[strconv.FormatBool(t.Maintenance)] += q.passing(t, byAll&^byMaintenance)
	if q.passing(t, byAll&^byHealth) > 0 {
		c.healths[healthKey(t.Health)] += t.N
		c.healths[silent] += t.Silent
	}
}

// passing is how many of nodes that are alike some of the query's conditions let through.
func (q query) passing(t node.Tally, conditions int) int {
	switch {
	case conditions&byState != 0 && q.group != "" && q.group != templates.Group(t.State),
		conditions&byState != 0 && len(q.states) > 0 && !slices.Contains(q.states, t.State),
		conditions&byDriver != 0 && q.driver != "" && q.driver != t.Driver,
		conditions&byMaintenance != 0 && q.maintenance != "" && q.maintenance != strconv.FormatBool(t.Maintenance),
		conditions&byHealth != 0 && q.health != "" && q.health != silent && q.health != healthKey(t.Health):
		return 0
	case conditions&byHealth != 0 && q.health == silent:
		return t.Silent
	}
	return t.N
}

// healthKey is a health as the filter names it.
func healthKey(h node.Health) string { return cmp.Or(string(h), unknown) }

// title begins with what needs a person.
func (c counts) title(ctx context.Context) string {
	if n := c.groups[templates.GroupFailed]; n > 0 {
		return templates.N(ctx, "list.title.failed", n)
	}
	return templates.T(ctx, "list.title")
}

func tabs(ctx context.Context, q query, c counts) []templates.Tab {
	tab := func(group, label string) templates.Tab {
		to := q.first()
		to.group, to.states = group, nil
		return templates.Tab{Group: cmp.Or(group, "all"), Label: label, Count: strconv.Itoa(c.groups[cmp.Or(group, "all")]), Href: to.address(), Current: len(q.states) == 0 && group == q.group}
	}
	all := []templates.Tab{tab("", templates.T(ctx, "list.groups.all"))}
	for _, group := range templates.Groups() {
		all = append(all, tab(group, templates.GroupLabel(ctx, group)))
	}
	return all
}

// stateCounts are the states that nodes are in, and those of the filter, by group.
func stateCounts(q query, c counts) []templates.StateCount {
	var out []templates.StateCount
	for _, group := range templates.Groups() {
		for _, s := range templates.GroupStates(group) {
			at := slices.Index(q.states, s)
			if c.states[s] == 0 && at < 0 {
				continue
			}
			to := q.first()
			if to.group = ""; at >= 0 {
				to.states = slices.Delete(slices.Clone(q.states), at, at+1)
			} else {
				to.states = append(slices.Clone(q.states), s)
			}
			look := templates.Look(s)
			out = append(out, templates.StateCount{
				State: templates.State{Name: string(s), Group: group, Look: look, Icon: templates.Icon(look)},
				ID:    "state-" + strings.ReplaceAll(string(s), " ", "-"), Count: strconv.Itoa(c.states[s]), Href: to.address(), Chosen: at >= 0,
			})
		}
	}
	return out
}

// option is a choice with how many nodes it shows.
func option(ctx context.Context, value, label string, n int, chosen string) templates.Option {
	return templates.Option{Value: value, Label: templates.T(ctx, "list.option", label, n), Selected: value == chosen}
}

func everyOption(ctx context.Context, chosen string) templates.Option {
	return templates.Option{Label: templates.T(ctx, "list.filter.all"), Selected: chosen == ""}
}

// rackOptions are the racks that there are; many tells that they are too many to choose from by looking.
func rackOptions(ctx context.Context, q query, c counts) (out []templates.Option, many bool) {
	racks := slices.Sorted(maps.Keys(c.racks))
	if q.rack != "" && c.racks[q.rack] == 0 {
		racks = append(racks, q.rack)
	}
	if many = len(racks) > mostRacks; !many {
		out = append(out, everyOption(ctx, q.rack))
	}
	for _, rack := range racks {
		switch {
		case rack == "":
		case many:
			out = append(out, templates.Option{Value: rack, Label: strconv.Itoa(c.racks[rack])})
		default:
			out = append(out, option(ctx, rack, rack, c.racks[rack], q.rack))
		}
	}
	return out, many
}

// choices are the filter's other selects.
func choices(ctx context.Context, q query, c counts) []templates.Choice {
	health := templates.Choice{Name: "health", Options: []templates.Option{everyOption(ctx, q.health)}}
	for _, h := range healths {
		health.Options = append(health.Options, option(ctx, h, templates.T(ctx, "list.health."+strings.ToLower(h)), c.healths[h], q.health))
	}
	driver := templates.Choice{Name: "driver", Options: []templates.Option{everyOption(ctx, q.driver)}}
	drivers := slices.Sorted(maps.Keys(c.drivers))
	if q.driver != "" && !slices.Contains(drivers, q.driver) {
		drivers = append(drivers, q.driver)
	}
	for _, d := range drivers {
		driver.Options = append(driver.Options, option(ctx, d, d, c.drivers[d], q.driver))
	}
	maintenance := templates.Choice{Name: "maintenance", Options: []templates.Option{everyOption(ctx, q.maintenance)}}
	for _, word := range []string{"true", "false"} {
		maintenance.Options = append(maintenance.Options, option(ctx, word, templates.T(ctx, "list.maintenance."+word), c.inService[word], q.maintenance))
	}
	order := templates.Choice{Name: "sort"}
	for _, o := range []node.ListOrder{node.ByAttention, node.ByName, node.ByPlace, node.ByState, node.BySince, node.ByPower, node.ByHealth, node.ByDriver} {
		order.Options = append(order.Options, templates.Option{Value: string(o), Label: templates.T(ctx, "list.sort."+cmp.Or(string(o), "attention")), Selected: o == q.order})
	}
	return []templates.Choice{health, driver, maintenance, order}
}

// conditions are the filter in words, each with the address of the list without it.
func (q query) conditions(ctx context.Context) (out []templates.Chosen) {
	add := func(text string, without query) {
		out = append(out, templates.Chosen{Text: text, Href: without.first().address()})
	}
	if to := q; q.search != "" {
		to.search = ""
		add(templates.T(ctx, "list.condition.q", q.search), to)
	}
	if to := q; q.group != "" {
		to.group = ""
		add(templates.GroupLabel(ctx, q.group), to)
	}
	for i, state := range q.states {
		to := q
		to.states = slices.Delete(slices.Clone(q.states), i, i+1)
		add(templates.T(ctx, "list.condition.state", string(state)), to)
	}
	if to := q; q.rack != "" {
		to.rack = ""
		add(templates.T(ctx, "list.condition.rack", q.rack), to)
	}
	if to := q; q.health != "" {
		to.health = ""
		add(templates.T(ctx, "list.condition.health", templates.T(ctx, "list.health."+strings.ToLower(q.health))), to)
	}
	if to := q; q.driver != "" {
		to.driver = ""
		add(templates.T(ctx, "list.condition.driver", q.driver), to)
	}
	if to := q; q.maintenance != "" {
		to.maintenance = ""
		add(templates.T(ctx, "list.maintenance."+q.maintenance), to)
	}
	return out
}

// kept is what the form of the filter carries along, because it has no field for it.
func (q query) kept() (out []templates.Hidden) {
	v := q.first().values()
	for _, name := range []string{"group", "state", "dir", "size"} {
		for _, value := range v[name] {
			out = append(out, templates.Hidden{Name: name, Value: value})
		}
	}
	return out
}

// shown is what the filter lets through of what changes by itself.
func (q query) shown() (s templates.Shown) {
	for _, state := range q.filter().ProvisionStates {
		s.States = append(s.States, string(state))
	}
	if q.health != "" {
		s.Health = []string{q.health}
	}
	if q.maintenance != "" {
		s.Maintenance = []string{q.maintenance}
	}
	return s
}

// streamValues are what the list's event stream is told of the query: what its counts depend on, and where they lead.
func (q query) streamValues() url.Values {
	v := url.Values{"view": {"list"}}
	if filter := q.first().values().Encode(); filter != "" {
		v.Set("filter", filter)
	}
	return v
}
