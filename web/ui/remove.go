package ui

import (
	"context"
	"strconv"

	"github.com/gofiber/fiber/v2"

	"cagenut/node"
	"cagenut/templates"
	"cagenut/web"
)

// whyNotRemove is why a node cannot be deleted now; "" if it can.
func whyNotRemove(ctx context.Context, n node.Node) string {
	switch {
	case n.InstanceUUID != "" && !n.Maintenance:
		return templates.T(ctx, "remove.why.instance")
	case n.Protected:
		return templates.T(ctx, "remove.why.protected")
	case !n.Maintenance && !n.ProvisionState.Deletable():
		return templates.T(ctx, "remove.why.state")
	}
	return ""
}

// removeAction deletes the node.
func removeAction(ctx context.Context, n node.Node) templates.Action {
	return templates.Action{ID: "delete-" + n.UUID, Label: templates.T(ctx, "remove.label"), Names: n.Label(), Danger: true, Confirm: nodeURL(n.UUID) + "/delete"}
}

// confirmNodeRemoval names the node, its place, and what is lost with it.
func (p *Pages) confirmNodeRemoval(c *fiber.Ctx) error {
	if !mayAct(c) {
		return p.notAllowed(c)
	}
	n, err := p.named(c)
	if err != nil {
		return err
	}
	ctx := c.UserContext()
	ports, err := p.o.Store.Ports(ctx, node.PortFilter{NodeUUID: n.UUID})
	if err != nil {
		return err
	}
	attempts, err := p.o.Store.Attempts(ctx, node.RunFilter{NodeUUID: n.UUID, Limit: attemptsCounted + 1})
	if err != nil {
		return err
	}
	box := templates.Confirm{
		Question: templates.RemoveQuestion(ctx, n.Label(), placeWords(ctx, n)), Consequence: templates.T(ctx, "remove.effect", len(ports), counted(len(attempts))),
		Post: nodeURL(n.UUID) + "/delete", Yes: templates.T(ctx, "remove.label"), No: templates.T(ctx, "remove.no"), Refused: whyNotRemove(ctx, n),
	}
	if n.ProvisionState == node.InspectWait || n.ProvisionState == node.Inspecting {
		box.Consequence += " " + templates.T(ctx, "remove.running")
	}
	return p.asksBack(c, box, nodeURL(n.Label()))
}

func (p *Pages) removeNode(c *fiber.Ctx) error {
	if !mayAct(c) {
		return p.notAllowed(c)
	}
	n, err := p.named(c)
	if err != nil {
		return err
	}
	ctx := c.UserContext()
	if err := p.o.Conductor.DeleteNode(ctx, web.Actor(c, node.SourceUI), n.UUID); err != nil {
		return p.refused(c, n, templates.T(ctx, "remove.label"), "", "", err)
	}
	if !scripted(c) {
		return c.Redirect("/ui?done=deleted", fiber.StatusSeeOther)
	}
	return render(c, fiber.StatusOK, fragment(templates.NodeGone()), fragment(templates.MoreGone()), templates.Said(n.Label()+": "+templates.Done(ctx, "deleted")))
}

// attemptsCounted is how many inspections are counted before it is only said that there are more.
const attemptsCounted = 100

func counted(n int) string {
	if n > attemptsCounted {
		return strconv.Itoa(attemptsCounted) + "+"
	}
	return strconv.Itoa(n)
}
