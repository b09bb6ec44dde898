package ironic

import (
	"encoding/json"

	"github.com/gofiber/fiber/v2"

	"cagenut/node"
)

// stateFields are the keys of GET states; each equals the node's own.
var stateFields = []string{"console_enabled", "last_error", "power_state", "provision_state", "target_power_state", "target_provision_state",
	"provision_updated_at", "raid_config", "target_raid_config", "boot_mode", "secure_boot"}

func (a *api) showStates(c *fiber.Ctx) error {
	n, err := a.node(c)
	if err != nil {
		return err
	}
	return c.JSON(show(a.nodes, n, minor(c), stateFields))
}

// showConsole: no console can be enabled yet.
func (a *api) showConsole(c *fiber.Ctx) error {
	n, err := a.node(c)
	if err != nil {
		return err
	}
	return c.JSON(map[string]any{"console_enabled": n.ConsoleEnabled, "console_info": nil})
}

type validation struct {
	Result *bool  `json:"result"`
	Reason string `json:"reason,omitempty"`
}

// validate also serves /v1/nodes/validate?node=.
func (a *api) validate(c *fiber.Ctx) error {
	ident := c.Query("node")
	if c.Params("node") != "" {
		var err error
		if ident, err = a.ident(c); err != nil {
			return err
		}
	}
	if ident == "" {
		return node.Invalidf("Missing mandatory parameter: node")
	}
	if minor(c) < namesSince && !node.IsUUID(ident) {
		return &node.NotFound{What: "Node", Ident: ident}
	}
	list, err := a.Conductor.Validate(c.UserContext(), ident)
	if err != nil {
		return err
	}
	out := map[string]validation{}
	for kind, v := range list {
		out[kind] = validation(v)
	}
	return c.JSON(out)
}

func (a *api) showInventory(c *fiber.Ctx) error {
	n, err := a.node(c)
	if err != nil {
		return err
	}
	i, err := a.Store.Inventory(c.UserContext(), n.UUID)
	if err != nil {
		return err
	}
	plugin := i.PluginData
	if len(plugin) == 0 {
		plugin = []byte("{}")
	}
	return c.JSON(map[string]json.RawMessage{"inventory": i.Inventory, "plugin_data": plugin})
}

// shortEvent is how much of an event the short form shows, in characters.
const shortEvent = 255

func (a *api) historyView(c *fiber.Ctx, n node.Node, h node.History, detail bool) map[string]any {
	out := map[string]any{"uuid": h.UUID, "created_at": timeOrNull(h.At), "severity": h.Severity, "event": h.Event,
		"links": a.links(c, "nodes/"+n.UUID+"/history/"+h.UUID)[:1]}
	if detail {
		out["event_type"], out["conductor"], out["user"] = h.Type, a.Host, textOrNull(h.Actor.User)
		return out
	}
	if r := []rune(h.Event); len(r) > shortEvent {
		out["event"] = string(r[:shortEvent])
	}
	return out
}

func (a *api) listHistory(c *fiber.Ctx) error {
	q := query(c)
	if err := only(q, "limit", "marker", "detail"); err != nil {
		return err
	}
	n, err := a.node(c)
	if err != nil {
		return err
	}
	p, err := page(q, minor(c), func(string) int { return 0 })
	if err != nil {
		return err
	}
	detail := false
	if q.Has("detail") {
		if detail, err = flagWord("detail", q.Get("detail")); err != nil {
			return err
		}
	}
	list, err := a.Store.History(c.UserContext(), n.UUID, p)
	if err != nil {
		return err
	}
	items := make([]any, len(list))
	for i, h := range list {
		items[i] = a.historyView(c, n, h, detail)
	}
	last := ""
	if len(list) == p.Limit {
		last = list[len(list)-1].UUID
	}
	return a.sendList(c, "history", "nodes/"+n.UUID+"/history", items, q, p, last)
}

func (a *api) showHistory(c *fiber.Ctx) error {
	n, err := a.node(c)
	if err != nil {
		return err
	}
	h, err := a.Store.HistoryEntry(c.UserContext(), n.UUID, c.Params("entry"))
	if err != nil {
		return err
	}
	return c.JSON(a.historyView(c, n, h, true))
}

// listChildren names the nodes that are parts of this one; `links` is a single object here.
func (a *api) listChildren(c *fiber.Ctx) error {
	if minor(c) < 83 {
		return &node.NotFound{Text: "Resource could not be found."}
	}
	n, err := a.node(c)
	if err != nil {
		return err
	}
	list, err := a.Store.Nodes(c.UserContext(), node.Filter{ParentNode: n.UUID})
	if err != nil {
		return err
	}
	children := make([]string, len(list))
	for i, child := range list {
		children[i] = child.UUID
	}
	return c.JSON(map[string]any{"children": children, "links": link{Href: a.base(c) + "/v1/nodes?parent_node=" + n.UUID, Rel: "children"}})
}
