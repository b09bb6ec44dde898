package ui

import (
	"time"

	"github.com/gofiber/fiber/v2"

	"cagenut/templates"
	"cagenut/web"
)

// frame is what stands around a page. Call it before reading what the page shows: it holds the place in the event stream.
func (p *Pages) frame(c *fiber.Ctx, title, events string) templates.Frame {
	f := p.bareFrame(c, title)
	f.Events, f.After, f.Now = events, p.hub.Position(), p.o.Now().UTC().Format(time.RFC3339)
	f.Notice, f.Discovered = templates.Done(c.UserContext(), c.Query("done")), p.newMachines(c.UserContext())
	return f
}

// bareFrame asks nobody for anything: it stands around pages that say what is broken, too.
func (p *Pages) bareFrame(c *fiber.Ctx, title string) templates.Frame {
	user, role := web.User(c)
	f := templates.Frame{
		Title: title, User: user, Role: role, SignOut: web.Session(c) != "", Path: c.Path(), Here: "/ui",
		Theme: theme(c), KeysOff: c.Cookies(keysCookie) == "off",
	}
	if c.Method() == fiber.MethodGet {
		f.Here = c.OriginalURL()
	}
	return f
}

// speak chooses the language of what a request is answered with, unless that has been done.
func (p *Pages) speak(c *fiber.Ctx) {
	ctx := c.UserContext()
	if !templates.Speaks(ctx) {
		c.SetUserContext(p.o.Speak(ctx, c.Get(fiber.HeaderAcceptLanguage)))
	}
}

func (p *Pages) speaking(c *fiber.Ctx) error {
	p.speak(c)
	return c.Next()
}
