package ui

import (
	"errors"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/gofiber/fiber/v2"

	"cagenut/node"
	"cagenut/templates"
	"cagenut/web"
	"cagenut/web/auth"
)

// SignIn lets people in and out.
type SignIn interface {
	// Asks tells whether anybody has to sign in.
	Asks() bool
	// SignIn gives the browser a new session; *auth.Wrong and *auth.TooMany are refusals.
	SignIn(c *fiber.Ctx, name, password string) error
	// SignOut ends the browser's session.
	SignOut(c *fiber.Ctx) error
}

func (p *Pages) registerSignIn(r fiber.Router) {
	r.Get("/ui/signin", p.signInPage)
	r.Post("/ui/signin", p.signIn)
	r.Post("/ui/signout", p.signOut)
	p.registerUsers(r)
	p.registerAccount(r)
}

// signs refuses pages about signing in where nobody does.
func (p *Pages) signs(c *fiber.Ctx) error {
	if p.o.SignIn == nil || !p.o.SignIn.Asks() {
		return &node.NotFound{Text: templates.T(c.UserContext(), "signin.none")}
	}
	return nil
}

// signInPage asks who is there; ?to= is the page that it leads back to. Who is signed in already goes on at once.
func (p *Pages) signInPage(c *fiber.Ctx) error {
	if err := p.signs(c); err != nil {
		return err
	}
	to := auth.LocalPath(c.Query("to"))
	if _, role := web.User(c); role != "" {
		return c.Redirect(to, fiber.StatusSeeOther)
	}
	s := templates.SignIn{Frame: p.signInFrame(c), To: to, Lost: c.Query("lost") != ""}
	switch c.Query("done") {
	case "out":
		s.Notice = templates.T(c.UserContext(), "signin.done.out")
	case "everywhere":
		s.Notice = templates.T(c.UserContext(), "signin.done.everywhere")
	}
	return render(c, fiber.StatusOK, templates.SignInPage(s))
}

// signInFrame tells a stranger nothing about the rack.
func (p *Pages) signInFrame(c *fiber.Ctx) templates.Frame {
	f := p.frame(c, templates.T(c.UserContext(), "signin.title"), "")
	f.Discovered, f.After = "", ""
	return f
}

func (p *Pages) signIn(c *fiber.Ctx) error {
	if err := p.signs(c); err != nil {
		return err
	}
	// Keyboards of phones put a blank behind a word that they complete; no name has one.
	ctx, name, to := c.UserContext(), strings.TrimSpace(c.FormValue("name")), auth.LocalPath(c.FormValue("to"))
	err := p.o.SignIn.SignIn(c, name, c.FormValue("password"))
	if err == nil {
		return c.Redirect(to, fiber.StatusSeeOther)
	}
	s := templates.SignIn{Frame: p.signInFrame(c), To: to, Name: node.Shorten(name, 64)}
	var wrong *auth.Wrong
	if errors.As(err, &wrong) {
		s.Problem = templates.T(ctx, "signin.wrong")
		return render(c, fiber.StatusUnauthorized, templates.SignInPage(s))
	}
	if text := tooMany(c, err); text != "" {
		s.Problem = text
		return render(c, fiber.StatusTooManyRequests, templates.SignInPage(s))
	}
	return err
}

// tooMany is the sentence for passwords that were wrong too often, "" for another error; it sets the header that says when to
// try again.
func tooMany(c *fiber.Ctx, err error) string {
	var many *auth.TooMany
	if !errors.As(err, &many) {
		return ""
	}
	c.Set(fiber.HeaderRetryAfter, strconv.Itoa(many.Seconds()))
	return templates.T(c.UserContext(), "signin.toomany", words(time.Duration(many.Seconds())*time.Second))
}

func (p *Pages) signOut(c *fiber.Ctx) error {
	if err := p.signs(c); err != nil {
		return err
	}
	if err := p.o.SignIn.SignOut(c); err != nil {
		return err
	}
	return c.Redirect("/ui/signin?done=out", fiber.StatusSeeOther)
}

// sessionRows are the browsers in which somebody is signed in.
func (p *Pages) sessionRows(c *fiber.Ctx, all []auth.Session) []templates.SessionRow {
	rows := make([]templates.SessionRow, len(all))
	for i, s := range all {
		rows[i] = templates.SessionRow{Agent: browser(c, s.Agent), Address: s.Address, Began: p.past(s.Created), Used: p.past(s.Used), This: s.ID == web.Session(c)}
	}
	return rows
}

// What a browser calls itself, the more special names first: most claim to be others too.
var (
	browserNames = [][2]string{{"Edg", "Edge"}, {"OPR/", "Opera"}, {"Firefox/", "Firefox"}, {"Chrome/", "Chrome"}, {"Safari/", "Safari"}}
	systemNames  = [][2]string{{"Android", "Android"}, {"iPhone", "iPhone"}, {"iPad", "iPad"}, {"Windows", "Windows"}, {"Mac OS X", "macOS"}, {"CrOS", "ChromeOS"}, {"Linux", "Linux"}}
)

// browser is a User-Agent as people say it; as it is, shortened, where nobody knows.
func browser(c *fiber.Ctx, agent string) string {
	find := func(names [][2]string) string {
		for _, n := range names {
			if strings.Contains(agent, n[0]) {
				return n[1]
			}
		}
		return ""
	}
	name, system := find(browserNames), find(systemNames)
	if name == "" || system == "" {
		return node.Shorten(agent, 60)
	}
	return templates.T(c.UserContext(), "account.on", name, system)
}

// personURL is the address of a user's page.
func personURL(name string) string { return "/ui/users/" + url.PathEscape(name) }
