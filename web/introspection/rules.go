package introspection

import (
	"bytes"
	"encoding/json"
	"slices"

	"github.com/gofiber/fiber/v2"

	"cagenut/inspect/introspection"
	"cagenut/node"
)

// rules are the addresses of introspection rules (contract.md §5.2). They are the inspection rules of Ironic's API in another
// form: what is made here is seen there and the other way round.
func (a *api) rules(app *fiber.App) {
	app.Get("/v1/rules", a.listRules)
	app.Post("/v1/rules", a.createRule)
	app.Delete("/v1/rules", a.deleteRules)
	app.Get("/v1/rules/:rule", a.showRule)
	app.Delete("/v1/rules/:rule", a.deleteRule)
}

// ruleDocument is a rule on the wire; in lists without what it does.
type ruleDocument struct {
	UUID        string            `json:"uuid"`
	Description *string           `json:"description"`
	Scope       *string           `json:"scope"`
	Conditions  *[]map[string]any `json:"conditions,omitempty"`
	Actions     *[]map[string]any `json:"actions,omitempty"`
	Links       []link            `json:"links"`
}

func (a *api) ruleDocument(c *fiber.Ctx, r introspection.Rule, whole bool) ruleDocument {
	d := ruleDocument{UUID: r.UUID, Description: orNull(r.Description), Scope: orNull(r.Scope), Links: a.self(c, "/v1/rules/"+r.UUID)}
	if whole {
		d.Conditions, d.Actions = &r.Conditions, &r.Actions
	}
	return d
}

func orNull(s string) *string {
	if s == "" {
		return nil
	}
	return &s
}

func (a *api) listRules(c *fiber.Ctx) error {
	all, err := a.Service.ListRules(c.UserContext())
	if err != nil {
		return err
	}
	out := make([]ruleDocument, len(all))
	for i, r := range all {
		out[i] = a.ruleDocument(c, r, false)
	}
	return c.JSON(map[string][]ruleDocument{"rules": out})
}

func (a *api) showRule(c *fiber.Ctx) error {
	r, err := a.Service.ShowRule(c.UserContext(), unescaped(c.Params("rule")))
	if err != nil {
		return err
	}
	return c.JSON(a.ruleDocument(c, r, true))
}

// createRule answers 201, and 200 to those who ask for a version before 1.6.
func (a *api) createRule(c *fiber.Ctx) error {
	r, err := readRule(c.Body())
	if err != nil {
		return err
	}
	if r, err = a.Service.CreateRule(c.UserContext(), actor(c), r); err != nil {
		return err
	}
	if askedMinor(c) >= ruleCreatedSince {
		c.Status(fiber.StatusCreated)
	}
	return c.JSON(a.ruleDocument(c, r, true))
}

// ruleCreatedSince is the first version in which a new rule is answered with 201.
const ruleCreatedSince = 6

// readRule reads a rule from a body. What it leaves out, and null, is nothing; names that nobody knows are passed over, as the
// original does.
func readRule(body []byte) (introspection.Rule, error) {
	doc, err := object(body)
	if err != nil {
		return introspection.Rule{}, err
	}
	var r introspection.Rule
	for name, into := range map[string]*string{"uuid": &r.UUID, "description": &r.Description, "scope": &r.Scope} {
		if !decoded(doc[name], into) {
			return introspection.Rule{}, node.Invalidf("Invalid data: the value of '%s' is not of type 'string'", name)
		}
	}
	for name, into := range map[string]*[]map[string]any{"conditions": &r.Conditions, "actions": &r.Actions} {
		if !decoded(doc[name], into) {
			return introspection.Rule{}, node.Invalidf("Validation failed for %s: it is not an array of objects", name)
		}
		if slices.ContainsFunc(*into, func(part map[string]any) bool { return part == nil }) {
			return introspection.Rule{}, node.Invalidf("Validation failed for %s: it is not an array of objects", name)
		}
		if bytes.Contains(doc[name], []byte(`"`+node.Mask+`"`)) {
			return introspection.Rule{}, node.Invalidf("The value of '%s' has a secret that reads as %s; give the secret itself.", name, node.Mask)
		}
	}
	return r, nil
}

// object reads a body that must be a JSON object.
func object(body []byte) (map[string]json.RawMessage, error) {
	var doc map[string]json.RawMessage
	if err := json.Unmarshal(body, &doc); err != nil || doc == nil {
		return nil, node.Invalidf("Invalid data: expected a JSON object, got %s", kindOf(body))
	}
	return doc, nil
}

// kindOf names what a body is instead of an object.
func kindOf(body []byte) string {
	if !json.Valid(body) {
		return "no JSON"
	}
	switch bytes.TrimSpace(body)[0] {
	case '[':
		return "list"
	case '"':
		return "str"
	case 't', 'f':
		return "bool"
	case 'n':
		return "NoneType"
	}
	return "number"
}

// decoded reads a value, with numbers as they are spelt; one that is not there leaves into as it is.
func decoded(raw json.RawMessage, into any) bool {
	if len(raw) == 0 {
		return true
	}
	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber()
	return d.Decode(into) == nil
}

func (a *api) deleteRule(c *fiber.Ctx) error {
	if err := a.Service.DeleteRule(c.UserContext(), actor(c), unescaped(c.Params("rule"))); err != nil {
		return err
	}
	return nothing(c)
}

func (a *api) deleteRules(c *fiber.Ctx) error {
	if err := a.Service.DeleteRules(c.UserContext(), actor(c)); err != nil {
		return err
	}
	return nothing(c)
}

// nothing is the answer to what was asked for and leaves nothing to tell.
func nothing(c *fiber.Ctx) error {
	c.Status(fiber.StatusNoContent).Type("txt")
	return nil
}
