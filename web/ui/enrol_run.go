package ui

import (
	"context"
	"errors"

	"github.com/gofiber/fiber/v2"

	"cagenut/conductor"
	"cagenut/node"
	"cagenut/templates"
)

// run is the page of the enrolment of many.
func (e *enrolPages) run(c *fiber.Ctx) error {
	ctx, id := c.UserContext(), c.Params("run")
	frame := e.frame(c, templates.T(ctx, "enrol.run.title"), "/ui/events?view=run&run="+id)
	r, err := e.o.Enrolling.EnrolRun(id)
	if missing := (*node.NotFound)(nil); errors.As(err, &missing) {
		return e.fail(c, fiber.StatusNotFound, templates.Failure{
			Headline: templates.T(ctx, "enrol.run.gone"), Text: templates.T(ctx, "enrol.run.gone.why"), Away: "/ui", AwayText: templates.T(ctx, "enrol.run.nodes"),
		})
	}
	if err != nil {
		return err
	}
	v := e.runView(ctx, r)
	v.Frame = frame
	return render(c, fiber.StatusOK, templates.EnrolRunPage(v))
}

// runView is a run as it is drawn: who was refused first, then who was there, then who was made. While it runs, the newest
// results are enough.
func (e *enrolPages) runView(ctx context.Context, r conductor.EnrolRun) templates.EnrolRunView {
	v := templates.EnrolRunView{Total: r.Total, Done: len(r.Results), Ended: !r.EndedAt.IsZero(), Again: importURL, AgainText: templates.T(ctx, "enrol.run.another")}
	if r.Search != "" {
		v.Again, v.AgainText = searchURL+"/"+r.Search, templates.T(ctx, "enrol.run.finds")
	}
	v.Cut = v.Ended && v.Done < v.Total
	var refused, there, made []templates.EnrolRunLine
	for _, one := range r.Results {
		l := templates.EnrolRunLine{Label: one.Label, Why: one.Refused, Notes: one.Notes}
		if one.UUID != "" {
			l.Node = templates.Link{Href: nodeURL(one.UUID), Text: one.Name}
		}
		switch {
		case one.Exists:
			l.State = resultChip(ctx, "there", "idle")
			there = append(there, l)
		case one.Refused != "":
			l.State = resultChip(ctx, "refused", "failed")
			refused = append(refused, l)
		default:
			l.State = resultChip(ctx, "made", "good")
			made = append(made, l)
		}
	}
	v.Refused, v.There, v.Made = len(refused), len(there), len(made)
	v.Lines = append(append(refused, there...), made...)
	if !v.Ended && len(v.Lines) > findsShown {
		v.Lines = v.Lines[:findsShown]
	}
	return v
}

func resultChip(ctx context.Context, key, look string) templates.State {
	return templates.State{Name: templates.T(ctx, "enrol.result."+key), Look: look, Icon: templates.Icon(look)}
}
