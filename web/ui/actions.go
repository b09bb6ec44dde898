package ui

import (
	"net/url"
	"strings"

	"github.com/gofiber/fiber/v2"

	"cagenut/conductor"
	"cagenut/node"
	"cagenut/templates"
	"cagenut/web"
	"cagenut/web/live"
)

// reasonLimit is how long the reason of an abort may be, in characters.
const reasonLimit = 500

// provision carries out a verb's button: the same call as the REST API's PUT.
func (p *Pages) provision(c *fiber.Ctx) error {
	if !mayAct(c) {
		return p.notAllowed(c)
	}
	id, err := ident(c)
	if err != nil {
		return err
	}
	verb, ok := node.ParseVerb(c.FormValue("verb"))
	if !ok || !templates.IsOffered(verb) {
		return fiber.NewError(fiber.StatusBadRequest, templates.T(c.UserContext(), "form.unknown"))
	}
	before, err := p.o.Store.Node(c.UserContext(), id)
	if err != nil {
		return err
	}
	req := conductor.ProvisionRequest{
		Target: string(verb), Attempt: c.FormValue("attempt"), Reason: strings.TrimSpace(c.FormValue("reason")), KeepPowerOn: c.FormValue("keep_power_on") == "true",
	}
	if len([]rune(req.Reason)) > reasonLimit {
		return fiber.NewError(fiber.StatusBadRequest, templates.T(c.UserContext(), "form.reason"))
	}
	if err := p.o.Conductor.SetProvisionState(c.UserContext(), web.Actor(c, node.SourceUI), before.UUID, req); err != nil {
		return p.refused(c, before, templates.VerbLabel(c.UserContext(), before.ProvisionState, verb), verb, req.Attempt, err)
	}
	return p.done(c, before.UUID, doneKey(before, verb, req.KeepPowerOn))
}

// doneKey chooses the sentence for an accepted verb.
func doneKey(before node.Node, verb node.Event, keepOn bool) string {
	switch {
	case verb == node.Abort && before.ProvisionState != node.InspectWait:
		return "abort-elsewise"
	case verb == node.Abort && keepOn:
		return "abort-keep"
	case verb == node.Abort && before.DisablePowerOff:
		return "abort-reboot"
	case verb == node.Manage && before.ProvisionState != node.Enroll:
		return "manage-directly"
	}
	return string(verb)
}

// power carries out a power button: the same call as the REST API's PUT.
func (p *Pages) power(c *fiber.Ctx) error {
	if !mayAct(c) {
		return p.notAllowed(c)
	}
	id, err := ident(c)
	if err != nil {
		return err
	}
	action := node.PowerAction(c.FormValue("target"))
	if action.Result() == "" {
		return fiber.NewError(fiber.StatusBadRequest, templates.T(c.UserContext(), "form.power"))
	}
	before, err := p.o.Store.Node(c.UserContext(), id)
	if err != nil {
		return err
	}
	if err := p.o.Conductor.SetPower(c.UserContext(), web.Actor(c, node.SourceUI), before.UUID, conductor.PowerRequest{Target: string(action)}); err != nil {
		return p.refused(c, before, templates.PowerLabel(c.UserContext(), action), "", "", err)
	}
	key := string(action)
	if templates.Done(c.UserContext(), key) == "" {
		key = "accepted-generic"
	}
	return p.done(c, before.UUID, key)
}

// done answers an accepted action with what is true now: the script gets the row or the page's content, a browser without
// it is sent back to where it came from.
func (p *Pages) done(c *fiber.Ctx, uuid, key string) error {
	n, err := p.o.Store.Node(c.UserContext(), uuid)
	if err != nil {
		return err
	}
	from, attempt := back(c.FormValue("back")), c.FormValue("attempt")
	if !scripted(c) {
		return c.Redirect(with(away(from, n, attempt, listSeen(c)), url.Values{"done": {key}}), fiber.StatusSeeOther)
	}
	said := templates.Said(n.Label() + ": " + templates.Done(c.UserContext(), key))
	if from == "list" {
		row, err := p.row(c.UserContext(), n, true)
		if err != nil {
			return err
		}
		return render(c, fiber.StatusOK, fragment(templates.RowOf(row)), said)
	}
	v := live.View{Node: n.UUID, Act: true}
	if from == "attempt" && node.IsUUID(attempt) {
		v.Attempt = attempt
	}
	if rack := n.Location().Rack; from == "rack" && rack != "" {
		v = live.View{Rack: rack, Act: true}
	}
	changed, err := p.changed(c.UserContext(), v, n.UUID)
	if err != nil {
		return err
	}
	return render(c, fiber.StatusOK, append(changed, said)...)
}
