package ui

import (
	"context"
	"errors"
	"net/url"
	"strconv"

	"github.com/a-h/templ"
	"github.com/gofiber/fiber/v2"

	"cagenut/node"
	"cagenut/templates"
	"cagenut/web/live"
)

// events is the page's stream: view=list, view=discovered, view=node&node=UUID, or view=attempt with both; after is where the page was drawn. A browser that
// connects again sends the last event's id instead.
func (p *Pages) events(c *fiber.Ctx) error {
	v := live.View{Act: mayAct(c)}
	switch c.Query("view") {
	case "list":
		filter, _ := url.ParseQuery(c.Query("filter")) // what can be read of it counts
		v.Filter = queryOf(filter).first().values().Encode()
	case "discovered":
		v = live.View{Discovered: p.o.Discovery != nil} // everybody sees the same
	case "rack":
		if v.Rack = c.Query("rack"); v.Rack == "" {
			return fiber.NewError(fiber.StatusBadRequest, templates.T(c.UserContext(), "address.rack"))
		}
	case "racks":
		v = live.View{Racks: true, Rack: c.Query("rack")}
	case "run":
		if v.Run = c.Query("run"); !node.IsUUID(v.Run) {
			return fiber.NewError(fiber.StatusBadRequest, templates.T(c.UserContext(), "address.run"))
		}
	case "node":
		if v.Node = c.Query("node"); !node.IsUUID(v.Node) {
			return fiber.NewError(fiber.StatusBadRequest, templates.T(c.UserContext(), "address.node"))
		}
	case "attempt":
		v.Node, v.Attempt = c.Query("node"), c.Query("attempt")
		if !node.IsUUID(v.Node) || !node.IsUUID(v.Attempt) {
			return fiber.NewError(fiber.StatusBadRequest, templates.T(c.UserContext(), "address.inspection"))
		}
	default:
		return fiber.NewError(fiber.StatusBadRequest, templates.T(c.UserContext(), "address.view"))
	}
	v.Language = templates.Language(c.UserContext())
	err := p.hub.Fragments(c, v, c.Get("Last-Event-ID", c.Query("after")))
	if errors.Is(err, live.ErrFull) {
		return fiber.NewError(fiber.StatusServiceUnavailable, err.Error())
	}
	return err
}

// Draw is a node's row, or the content of its page or of one of its attempts', as fragments.
func (p *Pages) Draw(ctx context.Context, v live.View, uuid string) ([]byte, error) {
	ctx = p.o.Speak(ctx, v.Language)
	changed, err := p.changed(ctx, v, uuid)
	if err != nil {
		return nil, err
	}
	return draw(ctx, changed...)
}

func (p *Pages) changed(ctx context.Context, v live.View, uuid string) ([]templ.Component, error) {
	if own, ok := p.changedEnrolment(ctx, v); ok {
		return own, nil
	}
	if v.Run != "" {
		return p.changedRun(ctx, v)
	}
	if v.Discovered {
		return p.changedMachine(ctx, uuid)
	}
	if v.Racks {
		return p.changedAmongRacks(ctx, v, uuid)
	}
	if v.Rack != "" {
		return p.changedInRack(ctx, v, uuid)
	}
	n, err := p.o.Store.Node(ctx, uuid)
	var gone *node.NotFound
	if errors.As(err, &gone) {
		if v.Attempt != "" {
			return []templ.Component{fragment(templates.AttemptGone())}, nil
		}
		if v.Node != "" {
			return []templ.Component{fragment(templates.NodeGone()), fragment(templates.MoreGone())}, nil
		}
		if p.isMachine(ctx, uuid) {
			return nil, nil
		}
		return []templ.Component{fragment(templates.RowGone(uuid))}, nil
	}
	if err != nil {
		return nil, err
	}
	if v.Attempt != "" {
		view, err := p.attemptView(ctx, n, v.Attempt, v.Act)
		return []templ.Component{fragment(templates.AttemptOf(view))}, err
	}
	if v.Node != "" {
		view, err := p.nodeView(ctx, n, v.Act)
		return nodeFragments(view), err
	}
	row, err := p.row(ctx, n, v.Act)
	return []templ.Component{fragment(templates.RowOf(row))}, err
}

// nodeFragments are the parts of a node's page that change.
func nodeFragments(view templates.Node) []templ.Component {
	return []templ.Component{fragment(templates.NodeOf(view)), fragment(templates.NodeMore(view))}
}

// DrawCounts is the numbers on the tabs, and the title that names what needs a person.
func (p *Pages) DrawCounts(ctx context.Context, v live.View) ([]byte, error) {
	ctx = p.o.Speak(ctx, v.Language)
	filter, err := url.ParseQuery(v.Filter)
	if err != nil {
		return nil, err
	}
	q := queryOf(filter)
	counts, err := p.countsOf(ctx, q)
	if err != nil {
		return nil, err
	}
	parts := []templ.Component{
		fragment(templates.ListStates(stateCounts(q, counts))),
		fragment(templates.Total(templates.N(ctx, "list.total", counts.shown))),
		fragment(templates.Count("all", strconv.Itoa(counts.groups["all"]))),
	}
	for _, group := range templates.Groups() {
		parts = append(parts, fragment(templates.Count(group, strconv.Itoa(counts.groups[group]))))
	}
	if machines := p.newMachines(ctx); machines != "" {
		parts = append(parts, fragment(templates.Count("discovered", machines)))
	}
	return draw(ctx, append(parts, templates.Title(counts.title(ctx)+" · Cagenut"))...)
}
