package ui

import (
	"context"
	"errors"

	"github.com/a-h/templ"
	"github.com/gofiber/fiber/v2"

	"cagenut/node"
	"cagenut/templates"
	"cagenut/web"
)

// A part is one of the things that a BMC tells when somebody opens it: at an address of its own below the node's, which
// answers with a page or, for the script, with what goes into the node's page. No other GET asks a BMC.
type part struct {
	key string
	// ask asks the BMC and draws what it told; *node.Unsupported where it cannot tell.
	ask func(p *Pages, ctx context.Context, a asked) (told, error)
}

// asked is who is asked for a part, and how the answer is drawn.
type asked struct {
	node    node.Node
	act     bool // the person may press buttons
	alone   bool // on a page of its own
	entries int  // of the log
}

// back is what the answer to a button of the part draws.
func (a asked) back() string {
	if a.alone {
		return "part"
	}
	return "node"
}

// told is what a BMC told.
type told struct {
	body    templ.Component
	actions []templates.Action
	// none is the sentence for a BMC that told nothing although it could; "" if it told something.
	none string
	// again is the query that asks the same again.
	again string
}

func parts() []part {
	return []part{
		{"health", (*Pages).health}, {"sensors", (*Pages).sensors}, {"log", (*Pages).eventLog},
		{"light", (*Pages).light}, {"boot", (*Pages).boot}, {"media", (*Pages).media},
		{"bmc", (*Pages).identity}, {"firmware", (*Pages).firmware}, {"bios", (*Pages).settings},
	}
}

func partNamed(key string) part {
	for _, pt := range parts() {
		if pt.key == key {
			return pt
		}
	}
	return part{}
}

func (p *Pages) registerParts(r fiber.Router) {
	for _, pt := range parts() {
		r.Get("/ui/nodes/:ident/"+pt.key, func(c *fiber.Ctx) error { return p.part(c, pt) })
	}
	r.Post("/ui/nodes/:ident/light", p.setLight)
	r.Get("/ui/nodes/:ident/log/clear", p.confirmClear)
	r.Post("/ui/nodes/:ident/log/clear", p.clear)
	r.Get("/ui/nodes/:ident/media/eject", p.confirmEject)
	r.Post("/ui/nodes/:ident/media/eject", p.eject)
	r.Get("/ui/nodes/:ident/nmi", p.confirmNMI)
	r.Post("/ui/nodes/:ident/nmi", p.interrupt)
}

// part answers the GET of a part.
func (p *Pages) part(c *fiber.Ctx, pt part) error {
	n, err := p.named(c)
	if err != nil {
		return err
	}
	return p.tell(c, pt, n, !scripted(c))
}

// tell asks the BMC and draws its answer: in a page of its own, or as a fragment for the script. parts lead the fragment.
func (p *Pages) tell(c *fiber.Ctx, pt part, n node.Node, alone bool, lead ...templ.Component) error {
	a := asked{node: n, act: mayAct(c), alone: alone, entries: entries(c)}
	said, err := pt.ask(p, c.UserContext(), a)
	view, status := partOf(c.UserContext(), n, pt, alone), fiber.StatusOK
	view.Again += said.again
	switch text, lacks, known := noAnswer(c.UserContext(), err); {
	case err == nil:
		view.Asked, view.Actions, view.Lacks = p.past(p.o.Now()), said.actions, said.none
	case lacks:
		view.Lacks = templates.Lacking(c.UserContext(), pt.key)
	case !known:
		return err
	case len(lead) > 0: // what was asked for has been done
		view.Failed = text
	default:
		status, _ = web.Status(err)
		view.Failed = text
	}
	if scripted(c) {
		return render(c, status, append(lead, fragment(templates.PartOf(view, said.body)))...)
	}
	view.Frame = p.frame(c, view.Label+" – "+n.Label(), "")
	return render(c, status, templates.PartPage(view, said.body))
}

// partOf is the frame of a part, before anything was asked; the part with no key is none.
func partOf(ctx context.Context, n node.Node, pt part, alone bool) templates.Part {
	v := templates.Part{Name: n.Label(), Href: nodeURL(n.Label()), Place: place(n), Key: pt.key, Label: templates.PartLabel(ctx, pt.key), Alone: alone, Again: partURL(n, pt.key)}
	for _, key := range templates.PartKeys() {
		v.Tabs = append(v.Tabs, templates.PartTab{Key: key, Label: templates.PartLabel(ctx, key), Href: partURL(n, key), Current: key == pt.key})
	}
	return v
}

// partURL is the address of a part.
func partURL(n node.Node, key string) string { return nodeURL(n.Label()) + "/" + key }

// noAnswer says why a BMC told nothing. lacks: it cannot tell. known is false for errors that are not for readers.
func noAnswer(ctx context.Context, err error) (text string, lacks, known bool) {
	var (
		unsupported *node.Unsupported
		unreachable *node.Unreachable
		missing     *node.NotFound
	)
	status, said := fiber.StatusOK, ""
	if err != nil {
		status, said = web.Status(err)
	}
	switch {
	case errors.As(err, &unsupported):
		return "", true, true
	case errors.Is(err, node.ErrCredentials):
		return templates.T(ctx, "part.credentials"), false, true
	case errors.As(err, &unreachable):
		return templates.NotTold(ctx, ended(unreachable.Error()), unreachable.Timeout), false, true
	case errors.As(err, &missing), status == fiber.StatusInternalServerError:
		return "", false, false
	}
	return templates.NotTold(ctx, ended(said), status == fiber.StatusGatewayTimeout), false, true
}

// named is the node that the address names.
func (p *Pages) named(c *fiber.Ctx) (node.Node, error) {
	id, err := ident(c)
	if err != nil {
		return node.Node{}, err
	}
	return p.o.Store.Node(c.UserContext(), id)
}

// order lets the BMC of the named node do something for a person who may ask for it. what is the word on the button; key
// chooses the sentence for the page. Where it was done, the part is asked again.
func (p *Pages) order(c *fiber.Ctx, what, key string, pt part, do func(context.Context, node.Actor, node.Node) error) error {
	if !mayAct(c) {
		return p.notAllowed(c)
	}
	n, err := p.named(c)
	if err != nil {
		return err
	}
	if err := do(c.UserContext(), web.Actor(c, node.SourceUI), n); err != nil {
		return p.refused(c, n, what, "", "", err)
	}
	if pt.key == "" {
		return p.done(c, n.UUID, key)
	}
	if !scripted(c) {
		return c.Redirect(partURL(n, pt.key)+"?done="+key, fiber.StatusSeeOther)
	}
	return p.tell(c, pt, n, c.FormValue("back") == "part", templates.Said(n.Label()+": "+templates.Done(c.UserContext(), key)))
}

// asksBack draws the question before an order.
func (p *Pages) asksBack(c *fiber.Ctx, box templates.Confirm, away string) error {
	box.Frame = p.frame(c, box.Question, "")
	box.Back, box.Away = "node", away
	if from := c.Query("back"); from == "part" || from == "attempt" {
		box.Back = from
	}
	if scripted(c) {
		return render(c, fiber.StatusOK, templates.ConfirmDialog(box))
	}
	return render(c, fiber.StatusOK, templates.ConfirmPage(box))
}
