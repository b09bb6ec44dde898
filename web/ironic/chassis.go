package ironic

import (
	"encoding/json"

	"github.com/gofiber/fiber/v2"

	"cagenut/node"
)

type chassisField = field[node.Chassis]

// chassisFields is the representation of a chassis (contract.md §3.8).
func chassisFields() []chassisField {
	read := func(name string, get func(node.Chassis) any) chassisField {
		return chassisField{name: name, since: 1, sortable: true, get: func(ch node.Chassis, _ int) any { return get(ch) }}
	}
	uuid := read("uuid", func(ch node.Chassis) any { return ch.UUID })
	uuid.creatable = true
	uuid.set = func(ch *node.Chassis, raw json.RawMessage) (err error) {
		if ch.UUID, err = readText("uuid", raw, 255); err == nil && ch.UUID != "" && !node.IsUUID(ch.UUID) {
			return node.Invalidf("Expected UUID for uuid: %s", ch.UUID)
		}
		return err
	}
	description := read("description", func(ch node.Chassis) any { return textOrNull(ch.Description) })
	description.creatable, description.patchable = true, true
	description.set = func(ch *node.Chassis, raw json.RawMessage) (err error) {
		ch.Description, err = readText("description", raw, 255)
		return err
	}
	extra := read("extra", func(ch node.Chassis) any { return document(ch.Extra) })
	extra.creatable, extra.patchable, extra.sortable = true, true, false
	extra.set = func(ch *node.Chassis, raw json.RawMessage) (err error) {
		ch.Extra, err = readDocument("extra", raw)
		return err
	}
	return []chassisField{uuid, description, extra,
		read("created_at", func(ch node.Chassis) any { return timeOrNull(ch.CreatedAt) }),
		read("updated_at", func(ch node.Chassis) any { return timeOrNull(ch.UpdatedAt) }),
	}
}

func (a *api) chassisView(c *fiber.Ctx, ch node.Chassis, names []string) map[string]any {
	out := show(a.chassis, ch, minor(c), names)
	out["links"] = a.links(c, "chassis/"+ch.UUID)
	if names == nil {
		out["nodes"] = a.links(c, "chassis/"+ch.UUID+"/nodes")
	}
	return out
}

func chassisIdent(c *fiber.Ctx) (string, error) {
	if s := c.Params("chassis"); !node.IsUUID(s) {
		return "", node.Invalidf("Expected UUID for chassis_uuid: %s", s)
	}
	return c.Params("chassis"), nil
}

func (a *api) namedChassis(c *fiber.Ctx) (node.Chassis, error) {
	uuid, err := chassisIdent(c)
	if err != nil {
		return node.Chassis{}, err
	}
	return a.Store.Chassis(c.UserContext(), uuid)
}

func (a *api) showChassis(c *fiber.Ctx) error {
	names, err := chosen(a.chassis, c.Query("fields"), minor(c), unknownPortField)
	if err != nil {
		return err
	}
	ch, err := a.namedChassis(c)
	if err != nil {
		return err
	}
	return c.JSON(a.chassisView(c, ch, names))
}

func (a *api) createChassis(c *fiber.Ctx) error {
	var ch node.Chassis
	if err := create(a.chassis, "chassis", &ch, c.Body(), minor(c)); err != nil {
		return err
	}
	if ch.UUID == "" {
		ch.UUID = node.NewUUID()
	}
	ch, err := a.Store.CreateChassis(c.UserContext(), ch)
	if err != nil {
		return err
	}
	c.Location(a.base(c) + "/v1/chassis/" + ch.UUID)
	return c.Status(fiber.StatusCreated).JSON(a.chassisView(c, ch, nil))
}

func (a *api) patchChassis(c *fiber.Ctx) error {
	ops, err := operations(a.chassis, c.Body(), minor(c))
	if err != nil {
		return err
	}
	ch, err := a.namedChassis(c)
	if err != nil {
		return err
	}
	if ch, err = applied(a.chassis, ch, ops); err != nil {
		return err
	}
	if ch, err = a.Store.UpdateChassis(c.UserContext(), ch); err != nil {
		return err
	}
	return c.JSON(a.chassisView(c, ch, nil))
}

func (a *api) deleteChassis(c *fiber.Ctx) error {
	uuid, err := chassisIdent(c)
	if err != nil {
		return err
	}
	if err := a.Store.DeleteChassis(c.UserContext(), uuid); err != nil {
		return err
	}
	return empty(c, fiber.StatusNoContent)
}

func (a *api) listChassis(c *fiber.Ctx) error { return a.sendChassis(c, "chassis") }

func (a *api) listChassisInDetail(c *fiber.Ctx) error { return a.sendChassis(c, "chassis/detail") }

func (a *api) sendChassis(c *fiber.Ctx, path string) error {
	q := query(c)
	if err := only(q, append([]string{"fields"}, paging...)...); err != nil {
		return err
	}
	names := []string{"uuid", "description"}
	if path == "chassis/detail" {
		names = nil
	} else if q.Has("fields") {
		var err error
		if names, err = chosen(a.chassis, q.Get("fields"), minor(c), unknownPortField); err != nil {
			return err
		}
	}
	p, err := page(q, minor(c), sortableSince(a.chassis))
	if err != nil {
		return err
	}
	list, err := a.Store.ChassisList(c.UserContext(), p)
	if err != nil {
		return err
	}
	items := make([]any, len(list))
	for i, ch := range list {
		items[i] = a.chassisView(c, ch, names)
	}
	last := ""
	if len(list) == p.Limit {
		last = list[len(list)-1].UUID
	}
	return a.sendList(c, "chassis", path, items, q, p, last)
}

func (a *api) listChassisNodes(c *fiber.Ctx) error {
	ch, err := a.namedChassis(c)
	if err != nil {
		return err
	}
	q := query(c)
	q.Set("chassis_uuid", ch.UUID)
	return a.sendNodes(c, q, "nodes", []string{"uuid", "instance_uuid", "maintenance", "power_state", "provision_state", "name"})
}
