package introspection

import (
	"github.com/gofiber/fiber/v2"
)

// rules are the addresses of introspection rules (contract.md §5.2). This service keeps none: the rules of an appliance
// are Ironic's inspection rules, in another form, and no client of this port may delete those. So the list is empty,
// emptying it succeeds, which clients do before they inspect, and what would add a rule says where rules belong.
func (a *api) rules(app *fiber.App) {
	app.Get("/v1/rules", func(c *fiber.Ctx) error { return c.JSON(map[string][]struct{}{"rules": {}}) })
	app.Delete("/v1/rules", nothing)
	app.Post("/v1/rules", func(*fiber.Ctx) error {
		return &fault{fiber.StatusNotFound, "This inspector keeps no introspection rules. Rules belong to the Bare Metal API, at /v1/inspection_rules."}
	})
	unknown := func(c *fiber.Ctx) error {
		return &fault{fiber.StatusNotFound, "Rule " + unescaped(c.Params("rule")) + " was not found"}
	}
	app.Get("/v1/rules/:rule", unknown)
	app.Delete("/v1/rules/:rule", unknown)
}

// nothing is the answer to what was asked for and leaves nothing to tell.
func nothing(c *fiber.Ctx) error {
	c.Status(fiber.StatusNoContent).Type("txt")
	return nil
}
