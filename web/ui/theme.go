package ui

import (
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/gofiber/fiber/v2"

	"cagenut/templates"
)

// What a person has chosen for their browser is kept in cookies, so that a page is drawn as they want it from the start. They
// hold nothing secret, and are no reason to believe anybody.
const (
	themeCookie = "cagenut_theme"
	keysCookie  = "cagenut_keys"
	choiceLife  = 400 * 24 * time.Hour // browsers keep none for longer
)

func (p *Pages) registerChoices(r fiber.Router) {
	r.Post("/ui/theme", p.chooseTheme)
	r.Post("/ui/keys", p.chooseKeys)
}

// theme is the colour scheme that was chosen; "" for the system's.
func theme(c *fiber.Ctx) string {
	if chosen := c.Cookies(themeCookie); slices.Contains(templates.Themes(), chosen) {
		return chosen
	}
	return ""
}

func (p *Pages) chooseTheme(c *fiber.Ctx) error {
	chosen := c.FormValue("theme")
	if !slices.Contains(templates.Themes(), chosen) {
		return fiber.NewError(fiber.StatusBadRequest, templates.T(c.UserContext(), "help.theme.unknown"))
	}
	return choose(c, themeCookie, chosen)
}

func (p *Pages) chooseKeys(c *fiber.Ctx) error {
	chosen := ""
	if c.FormValue("keys") == "off" {
		chosen = "off"
	}
	return choose(c, keysCookie, chosen)
}

// choose keeps a choice, "" for none, and leads back to where it was made.
func choose(c *fiber.Ctx, cookie, value string) error {
	kept := &fiber.Cookie{Name: cookie, Value: value, Path: "/ui", HTTPOnly: true, SameSite: fiber.CookieSameSiteLaxMode, Secure: c.Protocol() == "https", MaxAge: int(choiceLife / time.Second)}
	if value == "" {
		kept.MaxAge, kept.Expires = 0, time.Unix(1, 0)
	}
	c.Cookie(kept)
	return c.Redirect(backTo(c.FormValue("back")), fiber.StatusSeeOther)
}

// backTo is the address of a page of ours; whatever else a form may say leads to the list.
func backTo(address string) string {
	u, err := url.Parse(address)
	if err != nil || u.Host != "" || u.Scheme != "" || (u.Path != "/ui" && !strings.HasPrefix(u.Path, "/ui/")) || strings.Contains(address, `\`) {
		return "/ui"
	}
	return address
}
