package ui

import (
	"context"
	"errors"
	"strconv"

	"github.com/gofiber/fiber/v2"

	"cagenut/node"
	"cagenut/templates"
)

// Lists are the lists of nodes for people, and how many nodes there are of what they can be filtered by.
type Lists interface {
	Summaries(ctx context.Context, l node.List) (node.Summaries, error)
	Tallies(ctx context.Context, f node.Filter) ([]node.Tally, error)
	RackTallies(ctx context.Context, f node.Filter) (map[string]int, error)
}

// find lists the page that a query asks for. A place that is none of its list is the beginning.
func (p *Pages) find(ctx context.Context, q query) (node.Summaries, error) {
	l := node.List{Filter: q.filter(), Order: q.order, Descending: q.descending, At: q.at, Before: q.before, Limit: q.size}
	for _, group := range templates.Groups() {
		l.Ranks = append(l.Ranks, templates.GroupStates(group))
	}
	found, err := p.o.Store.Summaries(ctx, l)
	var invalid *node.Invalid
	if errors.As(err, &invalid) && l.At != nil {
		return p.find(ctx, q.first())
	}
	if err != nil || !q.before || len(found.All) > 0 {
		return found, err
	}
	return p.find(ctx, q.first()) // what stood before has gone
}

func (p *Pages) list(c *fiber.Ctx) error {
	q, act, ctx := parseQuery(c), mayAct(c), c.UserContext()
	l := templates.List{Frame: p.frame(c, "", "/ui/events?"+q.streamValues().Encode()), CanAct: act, NoRamdisk: p.o.NoRamdisk, APIURL: p.apiURL(c)}
	found, err := p.find(ctx, q)
	if err != nil {
		return err
	}
	counts, err := p.countsOf(ctx, q)
	if err != nil {
		return err
	}
	for _, n := range found.All {
		l.Rows = append(l.Rows, p.rowOf(ctx, n, found, act))
	}
	l.Empty = counts.everything == 0 && !q.filtered()
	l.Whole = !q.filtered() && q.at == nil && !found.Later
	l.Title, l.Total = counts.title(ctx), templates.N(ctx, "list.total", counts.shown)
	l.Bar = templates.Selection{CanAct: act, Filter: q.first().values().Encode(), Count: counts.shown}
	p.offer(ctx, &l, q, counts)
	turn(&l, q, found)
	return render(c, fiber.StatusOK, templates.ListPage(l))
}

// offer adds what the list can be filtered and sorted by.
func (p *Pages) offer(ctx context.Context, l *templates.List, q query, counts counts) {
	l.Search, l.Rack = q.search, q.rack
	l.Tabs, l.States = tabs(ctx, q, counts), stateCounts(q, counts)
	l.Racks, l.Many = rackOptions(ctx, q, counts)
	l.Choices = choices(ctx, q, counts)
	l.Chosen, l.Clear = q.conditions(ctx), q.unfiltered().address()
	l.Keep, l.Narrowed = q.kept(), q.rack+q.health+q.driver+q.maintenance != ""
	l.Shown = q.shown()
	l.Columns = templates.Columns{
		Name: column(q, node.ByName), Place: column(q, node.ByPlace), State: column(q, node.ByState), Since: column(q, node.BySince),
		Power: column(q, node.ByPower), Health: column(q, node.ByHealth), Driver: column(q, node.ByDriver),
	}
	for _, size := range pageSizes {
		to := q.first()
		to.size = size
		l.Sizes = append(l.Sizes, templates.Size{Count: strconv.Itoa(size), Href: to.address(), Current: size == q.size})
	}
}

// column is a heading that sorts the list, or turns it round when it is sorted so already.
func column(q query, order node.ListOrder) templates.Column {
	to := q.first()
	to.order, to.descending = order, q.order == order && !q.descending
	c := templates.Column{Key: string(order), Href: to.address()}
	switch {
	case q.order != order:
	case q.descending:
		c.Sort = "descending"
	default:
		c.Sort = "ascending"
	}
	return c
}

// turn adds the links to the other pages.
func turn(l *templates.List, q query, found node.Summaries) {
	if len(found.All) == 0 {
		return
	}
	to := q.first()
	if found.Earlier {
		l.First = to.address()
		to.at, to.before = found.All[0].Cursor, true
		l.Prev = to.address()
	}
	if found.Later {
		to.at, to.before = found.All[len(found.All)-1].Cursor, false
		l.Next = to.address()
	}
}
