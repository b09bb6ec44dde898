package ironic

import (
	"encoding/json"
	"net/url"
	"strconv"
	"strings"

	"github.com/gofiber/fiber/v2"

	"cagenut/node"
)

type portField = field[node.Port]

// portFields is the representation of a port (contract.md §3.7).
func portFields() []portField {
	read := func(name string, since int, get func(node.Port) any) portField {
		return portField{name: name, since: since, get: func(p node.Port, _ int) any { return get(p) }}
	}
	write := func(f portField, set func(*node.Port, json.RawMessage) error) portField {
		f.set, f.creatable, f.patchable, f.sortable = set, true, true, true
		return f
	}
	text := func(name string, since int, at func(*node.Port) *string) portField {
		return write(read(name, since, func(p node.Port) any { return textOrNull(*at(&p)) }), func(p *node.Port, raw json.RawMessage) (err error) {
			*at(p), err = readText(name, raw, 255)
			return err
		})
	}
	boolean := func(name string, since int, def bool, at func(*node.Port) *bool) portField {
		return write(read(name, since, func(p node.Port) any { return *at(&p) }), func(p *node.Port, raw json.RawMessage) (err error) {
			if *at(p) = def; isNull(raw) {
				return nil
			}
			*at(p), err = flag(name, raw)
			return err
		})
	}
	doc := func(name string, since int, at func(*node.Port) *map[string]any) portField {
		f := write(read(name, since, func(p node.Port) any { return document(*at(&p)) }), func(p *node.Port, raw json.RawMessage) (err error) {
			*at(p), err = readDocument(name, raw)
			return err
		})
		f.sortable = false
		return f
	}
	uuid := text("uuid", 1, func(p *node.Port) *string { return &p.UUID })
	uuid.patchable = false
	uuid.set = uuidSetter("uuid", uuid.set, func(p *node.Port) string { return p.UUID })
	owner := text("node_uuid", 1, func(p *node.Port) *string { return &p.NodeUUID })
	owner.set = uuidSetter("node_uuid", owner.set, func(p *node.Port) string { return p.NodeUUID })
	address := text("address", 1, func(p *node.Port) *string { return &p.Address })
	address.set = func(p *node.Port, raw json.RawMessage) error {
		s, err := readText("address", raw, 255)
		if err != nil {
			return err
		}
		p.Address, err = mac("address", s)
		return err
	}
	return []portField{
		uuid, owner, address,
		read("created_at", 1, func(p node.Port) any { return timeOrNull(p.CreatedAt) }),
		read("updated_at", 1, func(p node.Port) any { return timeOrNull(p.UpdatedAt) }),
		doc("extra", 1, func(p *node.Port) *map[string]any { return &p.Extra }),
		read("internal_info", 18, func(p node.Port) any { return document(p.InternalInfo) }),
		doc("local_link_connection", 19, func(p *node.Port) *map[string]any { return &p.LocalLinkConnection }),
		boolean("pxe_enabled", 19, true, func(p *node.Port) *bool { return &p.PXEEnabled }),
		read("portgroup_uuid", 24, func(node.Port) any { return nil }),
		text("physical_network", 34, func(p *node.Port) *string { return &p.PhysicalNetwork }),
		boolean("is_smartnic", 53, false, func(p *node.Port) *bool { return &p.IsSmartNIC }),
		text("name", 88, func(p *node.Port) *string { return &p.Name }),
	}
}

func uuidSetter(name string, inner func(*node.Port, json.RawMessage) error, value func(*node.Port) string) func(*node.Port, json.RawMessage) error {
	return func(p *node.Port, raw json.RawMessage) error {
		if err := inner(p, raw); err != nil {
			return err
		}
		if v := value(p); v != "" && !node.IsUUID(v) {
			return node.Invalidf("Expected UUID for %s: %s", name, v)
		}
		return nil
	}
}

func mac(name, s string) (string, error) {
	m, ok := node.ParseMAC(s)
	if !ok {
		return "", node.Invalidf("Expected valid MAC address for %s: %s", name, s)
	}
	return m, nil
}

func unknownPortField(name string) error { return node.Invalidf("Field(s) %q are not valid", name) }

func (a *api) portView(c *fiber.Ctx, p node.Port, names []string) map[string]any {
	out := show(a.ports, p, minor(c), names)
	out["links"] = a.links(c, "ports/"+p.UUID)
	return out
}

// portIdent is the UUID in the path; a MAC or a name finds nothing here.
func portIdent(c *fiber.Ctx) (string, error) {
	s, err := url.PathUnescape(c.Params("port"))
	if short, ok := strings.CutSuffix(s, ".json"); ok && minor(c) < 91 {
		s = short
	}
	if err == nil && node.IsUUID(s) {
		return s, nil
	}
	if err == nil && logicalName.MatchString(s) {
		return "", &node.NotFound{What: "Port", Ident: s}
	}
	return "", node.Invalidf("Expected UUID or name for port_ident: %s", s)
}

func (a *api) showPort(c *fiber.Ctx) error {
	q := query(c)
	if err := only(q, "fields"); err != nil {
		return err
	}
	ident, err := portIdent(c)
	if err != nil {
		return err
	}
	names, err := chosen(a.ports, q.Get("fields"), minor(c), unknownPortField)
	if err != nil {
		return err
	}
	p, err := a.Store.Port(c.UserContext(), ident)
	if err != nil {
		return err
	}
	return c.JSON(a.portView(c, p, names))
}

func (a *api) createPort(c *fiber.Ctx) error {
	p := node.Port{PXEEnabled: true}
	raw, err := a.withNodeUUID(c)
	if err != nil {
		return err
	}
	if err := create(a.ports, "port", &p, raw, minor(c), "address", "node_uuid"); err != nil {
		return err
	}
	if p.UUID == "" {
		p.UUID = node.NewUUID()
	}
	p, err = a.Conductor.CreatePort(c.UserContext(), actor(c), p)
	if err != nil {
		return asValue(err)
	}
	c.Location(a.base(c) + "/v1/ports/" + p.UUID)
	return c.Status(fiber.StatusCreated).JSON(a.portView(c, p, nil))
}

// withNodeUUID is the body of a creation whose node is named by UUID: from 1.94 it may say `node_ident` instead.
func (a *api) withNodeUUID(c *fiber.Ctx) ([]byte, error) {
	args := arguments{}
	if json.Unmarshal(c.Body(), &args) != nil || args["node_ident"] == nil {
		return c.Body(), nil
	}
	if minor(c) < 94 {
		return nil, node.ErrNotAcceptable
	}
	ident, err := args.text("node_ident")
	if err != nil {
		return nil, err
	}
	if _, both := args["node_uuid"]; both {
		return nil, node.Invalidf("node_ident and node_uuid are mutually exclusive")
	}
	n, err := a.Store.Node(c.UserContext(), ident)
	if err != nil {
		return nil, asValue(err)
	}
	delete(args, "node_ident")
	args["node_uuid"] = json.RawMessage(strconv.Quote(n.UUID))
	return json.Marshal(args)
}

func (a *api) patchPort(c *fiber.Ctx) error {
	ident, err := portIdent(c)
	if err != nil {
		return err
	}
	ops, err := operations(a.ports, c.Body(), minor(c))
	if err != nil {
		return err
	}
	p, err := a.Conductor.PatchPort(c.UserContext(), actor(c), ident, func(p node.Port) (node.Port, error) {
		owner := p.NodeUUID
		p, err := applied(a.ports, p, ops, "address", "node_uuid")
		if err != nil || p.NodeUUID == owner {
			return p, err
		}
		_, err = a.Store.Node(c.UserContext(), p.NodeUUID)
		return p, asValue(err)
	})
	if err != nil {
		return err
	}
	return c.JSON(a.portView(c, p, nil))
}

func (a *api) deletePort(c *fiber.Ctx) error {
	ident, err := portIdent(c)
	if err != nil {
		return err
	}
	if err := a.Conductor.DeletePort(c.UserContext(), actor(c), ident); err != nil {
		return err
	}
	return empty(c, fiber.StatusNoContent)
}

func (a *api) listPorts(c *fiber.Ctx) error { return a.sendPorts(c, "ports", "") }

func (a *api) listPortsInDetail(c *fiber.Ctx) error { return a.sendPorts(c, "ports/detail", "") }

func (a *api) listNodePorts(c *fiber.Ctx) error {
	n, err := a.node(c)
	if err != nil {
		return err
	}
	return a.sendPorts(c, "nodes/"+n.UUID+"/ports", n.UUID)
}

func (a *api) listNodePortsInDetail(c *fiber.Ctx) error {
	n, err := a.node(c)
	if err != nil {
		return err
	}
	return a.sendPorts(c, "nodes/"+n.UUID+"/ports/detail", n.UUID)
}

// sendPorts lists the ports of one node, or of all with the filters of contract.md §3.7.
func (a *api) sendPorts(c *fiber.Ctx, path, nodeUUID string) error {
	q := query(c)
	known := append([]string{"fields", "detail"}, paging...)
	if nodeUUID == "" {
		known = append(known, "node", "node_uuid", "address", "shard")
	}
	if err := only(q, known...); err != nil {
		return err
	}
	names, err := a.portColumns(q, minor(c), strings.HasSuffix(path, "/detail"))
	if err != nil {
		return err
	}
	f, err := a.portFilter(c, q, nodeUUID)
	if err != nil {
		return err
	}
	if f.Page, err = page(q, minor(c), sortableSince(a.ports)); err != nil {
		return err
	}
	list, err := a.Store.Ports(c.UserContext(), f)
	if err != nil {
		return err
	}
	items := make([]any, len(list))
	for i, p := range list {
		items[i] = a.portView(c, p, names)
	}
	last := ""
	if len(list) == f.Limit {
		last = list[len(list)-1].UUID
	}
	return a.sendList(c, "ports", path, items, q, f.Page, last)
}

func (a *api) portColumns(q url.Values, minor int, detail bool) ([]string, error) {
	if q.Has("detail") {
		if minor < 43 {
			return nil, node.Invalidf("Invalid query parameter ?detail=%s received.", q.Get("detail"))
		}
		asked, err := flagWord("detail", q.Get("detail"))
		if err != nil {
			return nil, err
		}
		detail = detail || asked
	}
	switch {
	case detail && q.Has("fields"):
		return nil, node.Invalidf("Can not specify ?detail=True and fields in the same request.")
	case detail:
		return nil, nil
	case q.Has("fields"):
		return chosen(a.ports, q.Get("fields"), minor, unknownPortField)
	}
	return []string{"uuid", "address"}, nil
}

func (a *api) portFilter(c *fiber.Ctx, q url.Values, nodeUUID string) (node.PortFilter, error) {
	f := node.PortFilter{NodeUUID: nodeUUID}
	for _, key := range []string{"node_uuid", "node"} {
		ident := q.Get(key)
		if ident == "" {
			continue
		}
		if !node.IsUUID(ident) && (minor(c) < 5 || key == "node_uuid") {
			return f, node.ErrNotAcceptable
		}
		n, err := a.Store.Node(c.UserContext(), ident)
		if err != nil {
			return f, err
		}
		f.NodeUUID = n.UUID
	}
	if s := q.Get("address"); s != "" {
		m, err := mac("address", s)
		if err != nil {
			return f, err
		}
		f.Addresses = []string{m}
	}
	if q.Has("shard") {
		if minor(c) < 82 {
			return f, notAcceptable(82)
		}
		f.Shards = strings.Split(q.Get("shard"), ",")
	}
	return f, nil
}
