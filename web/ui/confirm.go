package ui

import (
	"net/url"

	"github.com/gofiber/fiber/v2"

	"cagenut/node"
	"cagenut/templates"
)

// back is where an action was started: "list", "rack", "node", or "attempt" for an attempt's page.
func back(s string) string {
	if s == "list" || s == "rack" || s == "attempt" {
		return s
	}
	return "node"
}

// listSeen is the list that a person came from, as the part of its address behind the question mark: a form's field says it,
// or else the browser.
func listSeen(c *fiber.Ctx) string {
	said := c.FormValue("list")
	if u, err := url.Parse(c.Get(fiber.HeaderReferer)); said == "" && err == nil && u.Path == "/ui" {
		said = u.RawQuery
	}
	values, _ := url.ParseQuery(said) // what can be read of it counts
	return queryOf(values).values().Encode()
}

// away is the address that leads back there; list is what is said of the list.
func away(from string, n node.Node, attempt, list string) string {
	switch {
	case from == "list" && list != "":
		return "/ui?" + list
	case from == "list":
		return "/ui"
	case from == "rack" && rackURL(n.Location().Rack) != "" && n.Location().Rack != "":
		return rackURL(n.Location().Rack)
	case from == "attempt" && node.IsUUID(attempt):
		return attemptURL(n, attempt)
	}
	return nodeURL(n.Label())
}

// confirmAbort asks back before an abort: a page, or the inside of a dialog. The form carries the attempt that the person
// saw when the link was drawn, so that what they decide on is what is aborted.
func (p *Pages) confirmAbort(c *fiber.Ctx) error {
	if !mayAct(c) {
		return p.notAllowed(c)
	}
	id, err := ident(c)
	if err != nil {
		return err
	}
	frame := p.frame(c, templates.T(c.UserContext(), "abort.title"), "")
	n, err := p.o.Store.Node(c.UserContext(), id)
	if err != nil {
		return err
	}
	from, list := back(c.Query("back")), listSeen(c)
	box := templates.Confirm{
		Frame: frame, Question: templates.AbortQuestion(c.UserContext(), n.Label(), placeWords(c.UserContext(), n)), Consequence: templates.T(c.UserContext(), "abort.consequence"),
		Post: nodeURL(n.UUID) + "/provision", Field: "verb", Value: string(node.Abort), Back: from, Away: away(from, n, c.Query("attempt", n.AttemptID), list),
		Attempt: n.AttemptID, Yes: templates.VerbLabel(c.UserContext(), n.ProvisionState, node.Abort), No: templates.T(c.UserContext(), "abort.no"), WithReason: true,
	}
	if from == "list" {
		box.List = list
	}
	if n.DisablePowerOff {
		box.Consequence = templates.T(c.UserContext(), "abort.consequence.reboot")
	}
	_, err = n.ProvisionState.Next(node.Abort)
	if err == nil && n.ProvisionState != node.InspectWait {
		box.Question, box.Consequence, box.WithReason = templates.AbortElseQuestion(c.UserContext(), n.Label(), n.ProvisionState), templates.T(c.UserContext(), "abort.else.consequence"), false
	}
	box.Title = box.Question
	if err != nil {
		text, err := p.lateAbort(c.UserContext(), n, c.Query("attempt"))
		if err != nil {
			return err
		}
		box.Refused = text
	} else if seen := c.Query("attempt"); seen != "" && seen != n.AttemptID {
		box.Refused = templates.T(c.UserContext(), "outcome.newer")
	}
	if box.HowFar, err = p.howFar(c.UserContext(), n); err != nil {
		return err
	}
	if scripted(c) {
		return render(c, fiber.StatusOK, templates.ConfirmDialog(box))
	}
	return render(c, fiber.StatusOK, templates.ConfirmPage(box))
}

// confirmPower asks back before a server is switched off or reset.
func (p *Pages) confirmPower(c *fiber.Ctx) error {
	if !mayAct(c) {
		return p.notAllowed(c)
	}
	id, err := ident(c)
	if err != nil {
		return err
	}
	action := node.PowerAction(c.Query("target"))
	if action.Result() == "" {
		return fiber.NewError(fiber.StatusBadRequest, templates.T(c.UserContext(), "address.power"))
	}
	frame := p.frame(c, templates.T(c.UserContext(), "power.title"), "")
	n, err := p.o.Store.Node(c.UserContext(), id)
	if err != nil {
		return err
	}
	label := templates.PowerLabel(c.UserContext(), action)
	box := templates.Confirm{
		Frame: frame, Question: templates.PowerQuestion(c.UserContext(), label, n.Label(), placeWords(c.UserContext(), n)), Consequence: templates.PowerConsequence(c.UserContext(), action),
		Post: nodeURL(n.UUID) + "/power", Field: "target", Value: string(action), Back: "node", Away: nodeURL(n.Label()),
		Yes: label, No: templates.T(c.UserContext(), "confirm.no"),
	}
	box.Title = box.Question
	if scripted(c) {
		return render(c, fiber.StatusOK, templates.ConfirmDialog(box))
	}
	return render(c, fiber.StatusOK, templates.ConfirmPage(box))
}
