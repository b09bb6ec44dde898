package ui

import (
	"context"
	"strings"

	"github.com/gofiber/fiber/v2"

	"cagenut/node"
	"cagenut/templates"
)

// Keeper changes what the appliance knows of a node: the same calls as the REST API's.
type Keeper interface {
	SetMaintenance(ctx context.Context, actor node.Actor, ident string, on bool, reason string) error
	PatchNode(ctx context.Context, actor node.Actor, ident string, minor int, change func(node.Node) (node.Node, error)) (node.Node, error)
	DeleteNode(ctx context.Context, actor node.Actor, ident string) error
}

// registerKeeping puts the pages on a router that change the record of a node.
func (p *Pages) registerKeeping(r fiber.Router) {
	r.Get("/ui/nodes/:ident/maintenance", p.confirmMaintenance)
	r.Post("/ui/nodes/:ident/maintenance", p.maintenance)
	r.Get("/ui/nodes/:ident/delete", p.confirmNodeRemoval)
	r.Post("/ui/nodes/:ident/delete", p.removeNode)
	r.Get("/ui/nodes/:ident/edit", p.editForm)
	r.Post("/ui/nodes/:ident/edit", p.edit)
}

// maintenanceAction puts the node into maintenance, or takes it out.
func maintenanceAction(ctx context.Context, n node.Node) templates.Action {
	label, to := templates.T(ctx, "maintenance.on"), "on"
	if n.Maintenance {
		label, to = templates.T(ctx, "maintenance.off"), "off"
	}
	return templates.Action{ID: "maintenance-" + n.UUID, Label: label, Names: n.Label(), Confirm: nodeURL(n.UUID) + "/maintenance?to=" + to}
}

func (p *Pages) confirmMaintenance(c *fiber.Ctx) error {
	if !mayAct(c) {
		return p.notAllowed(c)
	}
	n, err := p.named(c)
	if err != nil {
		return err
	}
	ctx, on := c.UserContext(), c.Query("to") != "off"
	box := templates.Confirm{
		Question: templates.MaintenanceQuestion(ctx, on, n.Label(), placeWords(ctx, n)), Consequence: templates.T(ctx, "maintenance.effect.off"),
		Post: nodeURL(n.UUID) + "/maintenance", Field: "to", Value: "off", Yes: templates.T(ctx, "maintenance.off"), No: templates.T(ctx, "maintenance.no"),
	}
	if on {
		box.Value, box.Yes, box.Consequence = "on", templates.T(ctx, "maintenance.on"), templates.T(ctx, "maintenance.effect.on")
		box.WithReason, box.ReasonAlone = true, true
	}
	return p.asksBack(c, box, nodeURL(n.Label()))
}

func (p *Pages) maintenance(c *fiber.Ctx) error {
	if !mayAct(c) {
		return p.notAllowed(c)
	}
	ctx, on, reason := c.UserContext(), c.FormValue("to") == "on", strings.TrimSpace(c.FormValue("reason"))
	if !on && c.FormValue("to") != "off" {
		return fiber.NewError(fiber.StatusBadRequest, templates.T(ctx, "maintenance.neither"))
	}
	if len([]rune(reason)) > reasonLimit {
		return fiber.NewError(fiber.StatusBadRequest, templates.T(ctx, "maintenance.toolong"))
	}
	what, key := templates.T(ctx, "maintenance.on"), "maintenance-on"
	if !on {
		what, key, reason = templates.T(ctx, "maintenance.off"), "maintenance-off", ""
	}
	return p.order(c, what, key, part{}, func(ctx context.Context, actor node.Actor, n node.Node) error {
		return p.o.Conductor.SetMaintenance(ctx, actor, n.UUID, on, reason)
	})
}
