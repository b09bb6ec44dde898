package ui

import (
	"context"

	"github.com/gofiber/fiber/v2"

	"cagenut/node"
	"cagenut/templates"
)

// reapplyAction is the button that applies a node's last report once more; the zero value where no report of the attempt
// is there, or the conductor would refuse.
func reapplyAction(n node.Node, a node.Attempt, back string) templates.Action {
	if a.ID != n.AttemptID || !a.State.Ended() || a.Outcome == node.Aborted || a.ReportAt.IsZero() {
		return templates.Action{}
	}
	return templates.Action{
		ID: "reapply-" + n.UUID, Label: templates.TextReapply, Names: n.Label(), Confirm: nodeURL(n.UUID) + "/reapply?back=" + back + "&attempt=" + a.ID,
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
	return p.asksBack(c, templates.Confirm{
		Question: templates.ReapplyQuestion(n.Label(), placeWords(n)), Consequence: templates.ReapplyEffect(n.ProvisionState),
		Post: nodeURL(n.UUID) + "/reapply", Attempt: attempt, Yes: templates.TextReapply, No: templates.TextReapplyNot,
	}, away(back(c.Query("back")), n, attempt))
}

func (p *Pages) reapply(c *fiber.Ctx) error {
	return p.order(c, templates.TextReapply, "reapply", part{}, func(ctx context.Context, actor node.Actor, n node.Node) error {
		return p.o.Conductor.Reapply(ctx, actor, n.UUID, nil)
	})
}
