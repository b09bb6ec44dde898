package ui

import (
	"context"

	"github.com/gofiber/fiber/v2"

	"cagenut/templates"
)

func (p *Pages) registerHelp(r fiber.Router) { r.Get("/ui/help", p.help) }

// keysOfPages are the keyboard shortcuts that the script knows, and the ways of the frame that have one.
var keysOfPages = []templates.KeyHelp{
	{Keys: []string{"/"}, Does: "search"},
	{Keys: []string{"j", "k"}, Does: "rows"},
	{Keys: []string{"↓", "↑"}, Does: "arrows"},
	{Keys: []string{"Enter"}, Does: "open"},
	{Keys: []string{"x"}, Does: "choose"},
	{Keys: []string{"a"}, Does: "abort"},
	{Keys: []string{"g n"}, Does: "nodes"},
	{Keys: []string{"g r"}, Does: "racks"},
	{Keys: []string{"g d"}, Does: "discovered"},
	{Keys: []string{"g e"}, Does: "enrol"},
	{Keys: []string{"g u"}, Does: "audit"},
	{Keys: []string{"g a"}, Does: "appliance"},
	{Keys: []string{"?"}, Does: "help"},
	{Keys: []string{"Esc"}, Does: "close"},
}

// help explains the dashboard.
func (p *Pages) help(c *fiber.Ctx) error {
	ctx := c.UserContext()
	return render(c, fiber.StatusOK, templates.HelpPage(templates.Help{
		Frame: p.frame(c, templates.T(ctx, "help.title"), ""), Keys: keysOfPages, Groups: meanings(ctx),
	}))
}

// meanings says what each state means.
func meanings(ctx context.Context) (all []templates.StateHelp) {
	for _, group := range templates.Groups() {
		h := templates.StateHelp{Label: templates.GroupLabel(ctx, group)}
		for _, s := range templates.GroupStates(group) {
			look := templates.Look(s)
			h.States = append(h.States, templates.State{Name: string(s), Group: group, Look: look, Icon: templates.Icon(look)})
			h.Means = append(h.Means, templates.StateSentence(ctx, s))
		}
		all = append(all, h)
	}
	return all
}
