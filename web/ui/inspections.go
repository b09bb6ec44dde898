package ui

import (
	"context"
	"errors"
	"net/url"
	"slices"
	"time"

	"github.com/gofiber/fiber/v2"

	"cagenut/node"
	"cagenut/templates"
	"cagenut/web"
)

// Inspections is what is left of inspections. What is not kept, or is another node's, is *node.NotFound.
type Inspections interface {
	// Kept lists a node's inspections without their documents, the newest first, from after marker on.
	Kept(ctx context.Context, ident, marker string, limit int) ([]node.Inventory, error)
	// Difference compares two inspections; "" is the newest for to, and the one before to for from.
	Difference(ctx context.Context, ident, from, to string) (node.Difference, error)
	// HowFar are an attempt's signs of life, and what to look at where it does not report.
	HowFar(ctx context.Context, a node.Attempt) ([]node.Sign, string, error)
	// Reapply works up a node's report once more; data nil takes the newest that is kept.
	Reapply(ctx context.Context, actor node.Actor, ident string, data []byte) error
	// RamdiskLogs are an attempt's logs as they came.
	RamdiskLogs(ctx context.Context, ident, attempt string) (node.RamdiskLogs, error)
	// RamdiskLogFiles lists the files; what could be read of a broken archive comes with a *node.Invalid.
	RamdiskLogFiles(ctx context.Context, ident, attempt string) ([]node.LogFile, error)
	RamdiskLogFile(ctx context.Context, ident, attempt, name string) ([]byte, error)
}

const (
	keptShown   = 20  // inspections on a page of the list
	keptOffered = 100 // inspections that the form offers to compare
)

func (p *Pages) registerInspections(r fiber.Router) {
	r.Get("/ui/nodes/:ident/inspections", p.inspections)
	p.registerHistory(r)
	p.registerKeeping(r)
	r.Get("/ui/nodes/:ident/attempts/:attempt", p.attemptPage)
	r.Get("/ui/nodes/:ident/attempts/:attempt/logs", p.logs)
	r.Get("/ui/nodes/:ident/attempts/:attempt/logs/file", p.logFile)
	r.Get("/ui/nodes/:ident/attempts/:attempt/logs/file/whole", p.wholeLogFile)
	r.Get("/ui/nodes/:ident/attempts/:attempt/logs/archive", p.logArchive)
	r.Get("/ui/nodes/:ident/reapply", p.confirmReapply)
	r.Post("/ui/nodes/:ident/reapply", p.reapply)
}

// inspectionsURL is the address of what is kept of a node's inspections.
func inspectionsURL(n node.Node) string { return nodeURL(n.Label()) + "/inspections" }

// differenceURL is the same with two of them compared; from "" is the one before to.
func differenceURL(n node.Node, from, to string) string {
	q := url.Values{"to": {to}}
	if from != "" {
		q.Set("from", from)
	}
	return inspectionsURL(n) + "?" + q.Encode()
}

// inspections is the page of what is kept: ?from= and ?to= are two attempts to compare, the last two without them.
func (p *Pages) inspections(c *fiber.Ctx) error {
	n, err := p.named(c)
	if err != nil {
		return err
	}
	ctx := c.UserContext()
	v := templates.Inspections{
		Frame: p.frame(c, templates.T(ctx, "kept.of", n.Label()), ""), Name: n.Label(), Href: nodeURL(n.Label()), Place: place(n), Self: inspectionsURL(n),
	}
	newest, err := p.o.Conductor.Kept(ctx, n.UUID, "", keptOffered)
	if err != nil {
		return err
	}
	if err := p.listKept(ctx, n, newest, c.Query("marker"), &v); err != nil {
		return err
	}
	from, to := c.Query("from"), c.Query("to")
	if v.Compared, v.Uncompared, err = p.chosen(ctx, n, newest, from, to); err != nil {
		return err
	}
	if d := v.Compared; d != nil {
		from, to, d.Href = d.From.Attempt, d.To.Attempt, ""
	}
	v.From, v.To = offered(ctx, newest, from), offered(ctx, newest, to)
	return render(c, fiber.StatusOK, templates.InspectionsPage(v))
}

// chosen is the difference that the address asks for, or why there is none.
func (p *Pages) chosen(ctx context.Context, n node.Node, newest []node.Inventory, from, to string) (*templates.Difference, string, error) {
	switch {
	case len(newest) == 0:
		return nil, templates.T(ctx, "kept.none"), nil
	case len(newest) == 1 && from == "" && to == "":
		return nil, templates.T(ctx, "kept.one"), nil
	case to == "":
		to = newest[0].AttemptID
	}
	switch from {
	case "":
		return p.changesIn(ctx, n, to)
	case to:
		return nil, templates.T(ctx, "difference.twice"), nil
	}
	return p.compare(ctx, n, from, to)
}

// listKept fills one page of the list.
func (p *Pages) listKept(ctx context.Context, n node.Node, newest []node.Inventory, marker string, v *templates.Inspections) (err error) {
	kept := newest
	if marker != "" {
		v.First = v.Self
		if kept, err = p.o.Conductor.Kept(ctx, n.UUID, marker, keptShown+1); err != nil {
			return err
		}
	}
	for i, k := range kept[:min(len(kept), keptShown)] {
		l := templates.KeptLine{InspectedAt: p.inspectedAt(n, node.Inspected{AttemptID: k.AttemptID, At: k.CreatedAt}), Newest: marker == "" && i == 0}
		if i+1 < len(kept) {
			l.Compare = differenceURL(n, kept[i+1].AttemptID, k.AttemptID)
		}
		v.Kept = append(v.Kept, l)
	}
	if len(kept) > keptShown {
		v.Next = v.Self + "?marker=" + url.QueryEscape(kept[keptShown-1].AttemptID)
	}
	return nil
}

// offered are the inspections that can be chosen.
func offered(ctx context.Context, newest []node.Inventory, chosen string) []templates.Option {
	var out []templates.Option
	for i, k := range newest {
		label := stamp(k.CreatedAt)
		if i == 0 {
			label = templates.T(ctx, "kept.isnewest", label)
		}
		out = append(out, templates.Option{Value: k.AttemptID, Label: label, Selected: k.AttemptID == chosen})
	}
	if chosen != "" && !slices.ContainsFunc(out, func(o templates.Option) bool { return o.Selected }) {
		out = append(out, templates.Option{Value: chosen, Label: chosen, Selected: true})
	}
	return out
}

// stamp is a time that stands alone.
func stamp(t time.Time) string { return t.UTC().Format("2006-01-02 15:04:05 UTC") }

func (p *Pages) inspectedAt(n node.Node, i node.Inspected) templates.InspectedAt {
	return templates.InspectedAt{Attempt: i.AttemptID, Stamp: stamp(i.At), At: p.past(i.At), Href: attemptURL(n, i.AttemptID)}
}

// lastTwo is what changed at the newest inspection that is kept, and the address that tells it in full; nil and "" where there
// are not two.
func (p *Pages) lastTwo(ctx context.Context, n node.Node) (d *templates.Difference, address string, err error) {
	d, _, err = p.compare(ctx, n, "", "")
	if missing := (*node.NotFound)(nil); errors.As(err, &missing) {
		return nil, "", nil
	}
	return d, inspectionsURL(n), err
}

// changesIn is what changed at an inspection since the one before it, or why that is not known.
func (p *Pages) changesIn(ctx context.Context, n node.Node, attempt string) (*templates.Difference, string, error) {
	before, err := p.o.Conductor.Kept(ctx, n.UUID, attempt, 1)
	if missing := (*node.NotFound)(nil); errors.As(err, &missing) {
		return nil, templates.T(ctx, "difference.noresults"), nil
	}
	if err != nil {
		return nil, "", err
	}
	if len(before) == 0 {
		return nil, templates.T(ctx, "difference.first"), nil
	}
	return p.compare(ctx, n, before[0].AttemptID, attempt)
}

// compare compares two inspections, the earlier first. What cannot be compared is a sentence: nothing else on the page
// depends on it.
func (p *Pages) compare(ctx context.Context, n node.Node, from, to string) (*templates.Difference, string, error) {
	d, err := p.o.Conductor.Difference(ctx, n.UUID, from, to)
	if err == nil && d.From.At.After(d.To.At) {
		d, err = p.o.Conductor.Difference(ctx, n.UUID, to, from)
	}
	if err != nil {
		if status, _ := web.Status(err); status == fiber.StatusInternalServerError {
			return nil, templates.T(ctx, "difference.failed"), nil
		}
		return nil, "", err
	}
	v := differenceView(ctx, d)
	v.From, v.To, v.Href = p.inspectedAt(n, d.From), p.inspectedAt(n, d.To), differenceURL(n, d.From.AttemptID, d.To.AttemptID)
	return &v, "", nil
}
