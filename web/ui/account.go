package ui

import (
	"errors"

	"github.com/gofiber/fiber/v2"

	"cagenut/node"
	"cagenut/templates"
	"cagenut/web"
	"cagenut/web/auth"
)

func (p *Pages) registerAccount(r fiber.Router) {
	r.Get("/ui/account", p.account)
	r.Post("/ui/account/password", p.ownPassword)
	r.Post("/ui/account/signout", p.signOutEverywhere)
	// A form's answer may stand at these addresses: who comes back to one finds the account.
	for _, form := range []string{"password", "signout"} {
		r.Get("/ui/account/"+form, func(c *fiber.Ctx) error { return c.Redirect("/ui/account", fiber.StatusSeeOther) })
	}
}

// account is what somebody is and where they are signed in.
func (p *Pages) account(c *fiber.Ctx) error {
	if err := p.signs(c); err != nil {
		return err
	}
	return p.accountPage(c, fiber.StatusOK, "")
}

func (p *Pages) accountPage(c *fiber.Ctx, status int, problem string) error {
	ctx := c.UserContext()
	name, role := web.User(c)
	me, err := p.o.People.Find(ctx, name)
	if err != nil {
		return err
	}
	signed, err := p.o.People.Sessions(ctx, name)
	if err != nil {
		return err
	}
	v := templates.Account{Frame: p.frame(c, templates.T(ctx, "account.title"), ""), Name: name, Role: role, OfFile: me.OfFile, Signed: p.sessionRows(c, signed), Problem: problem}
	if c.Query("done") == "password" {
		v.Notice = templates.T(ctx, "account.done")
	}
	return render(c, status, templates.AccountPage(v))
}

func (p *Pages) ownPassword(c *fiber.Ctx) error {
	if err := p.signs(c); err != nil {
		return err
	}
	ctx, password := c.UserContext(), c.FormValue("password")
	if password != c.FormValue("again") {
		return p.accountPage(c, fiber.StatusBadRequest, templates.T(ctx, "account.problem.differ"))
	}
	err := p.o.People.ChangeOwn(c, c.FormValue("old"), password)
	if err == nil {
		return c.Redirect("/ui/account?done=password", fiber.StatusSeeOther)
	}
	var wrong *auth.Wrong
	if errors.As(err, &wrong) {
		return p.accountPage(c, fiber.StatusBadRequest, templates.T(ctx, "account.problem.wrong"))
	}
	if text := tooMany(c, err); text != "" {
		return p.accountPage(c, fiber.StatusTooManyRequests, text)
	}
	if status, text, ok := refusedText(err); ok {
		return p.accountPage(c, status, text)
	}
	return err
}

// signOutEverywhere ends all of one's sessions, this one too.
func (p *Pages) signOutEverywhere(c *fiber.Ctx) error {
	if err := p.signs(c); err != nil {
		return err
	}
	name, _ := web.User(c)
	if err := p.o.People.SignOutEverywhere(c.UserContext(), web.Actor(c, node.SourceUI), name); err != nil {
		return err
	}
	if err := p.o.SignIn.SignOut(c); err != nil {
		return err
	}
	return c.Redirect("/ui/signin?done=everywhere", fiber.StatusSeeOther)
}
