package ui

import (
	"context"
	"net/url"
	"strings"

	"github.com/gofiber/fiber/v2"

	"cagenut/node"
	"cagenut/templates"
)

const (
	attemptsShown = 10 // of a node, on its page
	historyShown  = 50
)

// registerHistory puts the pages on a router that hold what does not fit on a node's own.
func (p *Pages) registerHistory(r fiber.Router) {
	r.Get("/ui/nodes/:ident/history", p.historyPage)
	r.Get("/ui/nodes/:ident/attempts", p.attemptsPage)
}

func historyURL(n node.Node) string { return nodeURL(n.Label()) + "/history" }

func attemptsURL(n node.Node) string { return nodeURL(n.Label()) + "/attempts" }

// page cuts a list, of which one more was read than is shown, and tells the addresses around it. last names a line.
func page[L any](all []L, shown int, self, marker string, last func(L) string) ([]L, templates.Older) {
	var o templates.Older
	if marker != "" {
		o.First = self
	}
	if len(all) > shown {
		all = all[:shown]
		o.Next = self + "?marker=" + url.QueryEscape(last(all[shown-1]))
	}
	return all, o
}

func (p *Pages) historyAfter(ctx context.Context, n node.Node, marker string) ([]templates.HistoryLine, templates.Older, error) {
	all, err := p.o.Store.History(ctx, n.UUID, node.Page{Descending: true, Marker: marker, Limit: historyShown + 1})
	if err != nil {
		return nil, templates.Older{}, err
	}
	all, o := page(all, historyShown, historyURL(n), marker, func(h node.History) string { return h.UUID })
	var out []templates.HistoryLine
	for _, h := range all {
		out = append(out, p.historyLine(ctx, h))
	}
	return out, o, nil
}

func (p *Pages) fillHistory(ctx context.Context, n node.Node, v *templates.Node) error {
	lines, o, err := p.historyAfter(ctx, n, "")
	v.History, v.OlderHistory, v.Request = lines, o.Next, requestOf(lines, n.LastError)
	return err
}

// requestOf is the id of the request that led to an error, as the history knows; "" where no request did.
func requestOf(history []templates.HistoryLine, failure string) string {
	for _, h := range history {
		if h.Event != "" && strings.HasPrefix(failure, h.Event) {
			return h.Request
		}
	}
	return ""
}

func (p *Pages) historyPage(c *fiber.Ctx) error {
	n, err := p.named(c)
	if err != nil {
		return err
	}
	ctx := c.UserContext()
	v := templates.NodeHistory{Frame: p.frame(c, templates.T(ctx, "node.historyof", n.Label()), ""), Name: n.Label(), Href: nodeURL(n.Label()), Place: place(n)}
	if v.Lines, v.Older, err = p.historyAfter(ctx, n, c.Query("marker")); err != nil {
		return err
	}
	return render(c, fiber.StatusOK, templates.NodeHistoryPage(v))
}

func (p *Pages) attemptsAfter(ctx context.Context, n node.Node, marker string, shown int) ([]templates.AttemptLine, templates.Older, error) {
	all, err := p.o.Store.Attempts(ctx, node.RunFilter{NodeUUID: n.UUID, Marker: marker, Limit: shown + 1})
	if err != nil {
		return nil, templates.Older{}, err
	}
	all, o := page(all, shown, attemptsURL(n), marker, func(a node.Attempt) string { return a.ID })
	var out []templates.AttemptLine
	for _, a := range all {
		out = append(out, p.attemptLine(ctx, n, a))
	}
	return out, o, nil
}

func (p *Pages) fillAttempts(ctx context.Context, n node.Node, v *templates.Node) error {
	lines, o, err := p.attemptsAfter(ctx, n, "", attemptsShown)
	v.Attempts, v.OlderAttempts = lines, o.Next
	return err
}

func (p *Pages) attemptsPage(c *fiber.Ctx) error {
	n, err := p.named(c)
	if err != nil {
		return err
	}
	ctx := c.UserContext()
	v := templates.NodeAttempts{Frame: p.frame(c, templates.T(ctx, "node.attemptsof", n.Label()), ""), Name: n.Label(), Href: nodeURL(n.Label()), Place: place(n)}
	if v.Lines, v.Older, err = p.attemptsAfter(ctx, n, c.Query("marker"), historyShown); err != nil {
		return err
	}
	return render(c, fiber.StatusOK, templates.NodeAttemptsPage(v))
}

// historyLine is one entry, with who did it, through which door and from where.
func (p *Pages) historyLine(ctx context.Context, h node.History) templates.HistoryLine {
	l := templates.HistoryLine{
		At: p.past(h.At), Event: h.Event, Actor: whoFrom(h.Actor), Reason: h.Reason, Type: h.Type, Bad: h.Severity == node.SeverityError, Request: h.Actor.RequestID,
	}
	if h.Count > 1 {
		l.Times = templates.N(ctx, "history.times", h.Count)
	}
	return l
}
