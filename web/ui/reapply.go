package ui

import (
	"context"

	"github.com/gofiber/fiber/v2"

	"cagenut/node"
	"cagenut/templates"
)

// reapplyAction is the button that applies a node's last report once more; the zero value where no report of the attempt
// is there, or the conductor would refuse.
func reapplyAction(ctx context.Context, n node.Node, a node.Attempt, back string) templates.Action {
	if a.ID != n.AttemptID || !a.State.Ended() || a.Outcome == node.Aborted || a.ReportAt.IsZero() {
		return templates.Action{}
	}
	return templates.Action{
		ID: "reapply-" + n.UUID, Label: templates.T(ctx, "reapply.label"), Names: n.Label(), Confirm: nodeURL(n.UUID) + "/reapply?back=" + back + "&attempt=" + a.ID,
	}
}

func (p *Pages) confirmReapply(c *fiber.Ctx) error {
	if !mayAct(c) {
		return p.notAllowed(c)
	}
	n, err := p.named(c)
	if err != nil {
		return err
	}
	attempt := c.Query("attempt")
	if !node.IsUUID(attempt) {
		attempt = ""
	}
	ctx := c.UserContext()
	return p.asksBack(c, templates.Confirm{
		Question: templates.ReapplyQuestion(ctx, n.Label(), placeWords(ctx, n)), Consequence: templates.ReapplyEffect(ctx, n.ProvisionState),
		Post: nodeURL(n.UUID) + "/reapply", Attempt: attempt, Yes: templates.T(ctx, "reapply.label"), No: templates.T(ctx, "reapply.no"),
	}, away(back(c.Query("back")), n, attempt, ""))
}

func (p *Pages) reapply(c *fiber.Ctx) error {
	return p.order(c, templates.T(c.UserContext(), "reapply.label"), "reapply", part{}, func(ctx context.Context, actor node.Actor, n node.Node) error {
		return p.o.Conductor.Reapply(ctx, actor, n.UUID, nil)
	})
}
