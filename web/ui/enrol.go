package ui

import (
	"context"
	"errors"
	"net/netip"
	"net/url"

	"github.com/a-h/templ"
	"github.com/gofiber/fiber/v2"

	"cagenut/conductor"
	"cagenut/node"
	"cagenut/templates"
	"cagenut/web"
	"cagenut/web/live"
)

// Enrolling makes nodes of servers that nobody knows yet. It is conductor.Enroller.
type Enrolling interface {
	Enrol(ctx context.Context, actor node.Actor, x conductor.Enrolment) (conductor.Enrolled, error)
	ProbeBMC(ctx context.Context, actor node.Actor, x conductor.Enrolment) (conductor.Probed, error)
	Twins(ctx context.Context, x conductor.Enrolment, serial string) ([]conductor.Twin, error)

	CheckMany(ctx context.Context, all []conductor.Enrolment) ([]conductor.EnrolVerdict, error)
	EnrolMany(actor node.Actor, search string, lines []conductor.EnrolLine) (string, error)
	EnrolRun(id string) (conductor.EnrolRun, error)

	Addresses(text string) ([]netip.Addr, error)
	StartSearch(ctx context.Context, actor node.Actor, req conductor.SearchRequest) (string, error)
	Search(id string) (conductor.Search, error)
	CancelSearch(ctx context.Context, actor node.Actor, id string) error
}

// SearchDefaults are what the form of a search begins with.
type SearchDefaults struct{ Where, Redfish, IPMI string }

const (
	enrolURL = "/ui/enrol"
	testURL  = enrolURL + "/test"
)

// enrolPages are the pages for servers that are no nodes yet, with what they keep between two of them.
type enrolPages struct {
	*Pages
	passwords *keeper[node.Secret]
	lists     *keeper[*importList]
}

const (
	mostPasswordsKept = 200
	mostListsKept     = 8 // of up to 2 MiB each
)

func (p *Pages) registerEnrol(r fiber.Router) {
	if p.o.Enrolling == nil {
		return
	}
	e := &enrolPages{Pages: p, passwords: newKeeper[node.Secret](mostPasswordsKept, p.o.Now), lists: newKeeper[*importList](mostListsKept, p.o.Now)}
	r.Get(enrolURL, operators(p, e.form))
	r.Post(enrolURL, operators(p, e.save))
	r.Post(testURL, operators(p, e.test))
	// A form's answer may stand at this address: who comes back to it finds the form.
	r.Get(testURL, operators(p, func(c *fiber.Ctx) error { return c.Redirect(enrolURL, fiber.StatusSeeOther) }))
	r.Get(runsURL+"/:run", operators(p, e.run))
	e.registerImport(r)
	e.registerSearch(r)
}

// operators lets only those to a page who may act: there is nothing to look at for others.
func operators(p *Pages, handle fiber.Handler) fiber.Handler {
	return func(c *fiber.Ctx) error {
		if !mayAct(c) {
			return p.notAllowed(c)
		}
		return handle(c)
	}
}

// form draws the empty form. The address may fill it in, all but the password: so an empty unit of a rack leads here.
func (e *enrolPages) form(c *fiber.Ctx) error {
	return e.show(c, fiber.StatusOK, e.fromQuery(c), templates.EnrolTest{})
}

// show draws the form with what was typed, and what came of a test or of saving.
func (e *enrolPages) show(c *fiber.Ctx, status int, f enrolForm, test templates.EnrolTest) error {
	ctx := c.UserContext()
	view := f.view(ctx)
	view.Frame = e.frame(c, templates.T(ctx, "enrol.title"), "")
	view.Test = test
	return render(c, status, templates.EnrolPage(view))
}

// save makes the node. The form names its UUID, so that a second press finds it made.
func (e *enrolPages) save(c *fiber.Ctx) error {
	f := e.typed(c)
	ctx, x := c.UserContext(), f.enrolment()
	if problems := f.check(ctx); len(problems) > 0 {
		f.problems = problems
		return e.show(c, fiber.StatusBadRequest, f, templates.EnrolTest{})
	}
	pressed := func() bool {
		_, err := e.o.Store.Node(ctx, x.Node.UUID)
		return err == nil
	}
	if pressed() {
		return c.Redirect(nodeURL(x.Node.UUID)+"?done=enrolled", fiber.StatusSeeOther)
	}
	twins, err := e.o.Enrolling.Twins(ctx, x, "")
	if err != nil {
		return err
	}
	made, err := e.o.Enrolling.Enrol(ctx, web.Actor(c, node.SourceUI), x)
	if err != nil {
		if pressed() { // of two presses at once, the other has made it
			return c.Redirect(nodeURL(x.Node.UUID)+"?done=enrolled", fiber.StatusSeeOther)
		}
		text, known := whyNotAccepted(err)
		if !known {
			return err
		}
		f.refused(err, text)
		status, _ := web.Status(err)
		return e.show(c, status, f, templates.EnrolTest{})
	}
	e.passwords.forget(f.kept)
	done := "enrolled"
	switch {
	case len(made.Notes) > 0:
		done = "enrolled-in-part"
	case len(twins) > 0:
		done = "enrolled-twin"
	}
	return c.Redirect(nodeURL(made.Node.Label())+"?done="+url.QueryEscape(done), fiber.StatusSeeOther)
}

// test asks the BMC with what the form holds, and makes nothing. The script gets the result alone, so that the form stays as
// it is, its password included; without it the form is drawn again and the password is kept here.
func (e *enrolPages) test(c *fiber.Ctx) error {
	f := e.typed(c)
	ctx := c.UserContext()
	trusts := c.FormValue("trust") != ""
	if trusts {
		f.set("fingerprint", c.FormValue("trust"))
	}
	if problems := f.check(ctx); len(problems) > 0 {
		f.problems = problems
		return e.tested(c, f, templates.EnrolTest{Headline: templates.T(ctx, "enrol.test.form"), Look: "failed"}, trusts)
	}
	probed, err := e.o.Enrolling.ProbeBMC(ctx, web.Actor(c, node.SourceUI), f.enrolment())
	if err != nil {
		result, known := failedTest(ctx, err)
		if !known {
			return err
		}
		if key := conductor.EnrolField(err); key != "" {
			f.problems[key] = result.Headline
			if invalid := (*node.Invalid)(nil); errors.As(err, &invalid) {
				f.problems[key] = ended(invalid.Text)
			}
		}
		return e.tested(c, f, result, trusts)
	}
	return e.tested(c, f, e.toldTest(ctx, probed), trusts)
}

func (e *enrolPages) tested(c *fiber.Ctx, f enrolForm, result templates.EnrolTest, trusts bool) error {
	ctx := c.UserContext()
	result.Problems = f.listProblems()
	if !scripted(c) {
		return e.show(c, fiber.StatusOK, f, result)
	}
	parts, fields := []templ.Component{fragment(templates.EnrolResult(result)), templates.Said(result.Headline)}, f.view(ctx)
	if trusts {
		parts = append(parts, fragment(templates.EnrolInput(fields.Field("fingerprint"))))
	}
	for _, field := range fields.Fields {
		parts = append(parts, fragment(templates.EnrolWrong(field)))
	}
	return render(c, fiber.StatusOK, parts...)
}

// changedEnrolment is what news of a search or a run mean for who looks at it; false for those of others. As the pages, it is
// for those who may act.
func (p *Pages) changedEnrolment(ctx context.Context, v live.View) ([]templ.Component, bool) {
	if p.o.Enrolling == nil || v.Run == "" || !v.Act {
		return nil, false
	}
	e := &enrolPages{Pages: p}
	if s, err := p.o.Enrolling.Search(v.Run); err == nil {
		view := e.searchView(ctx, s)
		return []templ.Component{fragment(templates.SearchProgress(view)), fragment(templates.SearchFinds(view))}, true
	}
	if r, err := p.o.Enrolling.EnrolRun(v.Run); err == nil {
		return []templ.Component{fragment(templates.EnrolRunOf(e.runView(ctx, r)))}, true
	}
	return nil, false
}
