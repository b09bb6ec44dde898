package ironic

import (
	"encoding/json"
	"maps"
	"slices"
	"strconv"
	"strings"

	"cagenut/node"
	"cagenut/web/openapi"
)

func (a *api) portOperations() []operation {
	detail := openapi.Parameter{Name: "detail", Does: "Show all fields.", Since: 43, Older: olderDetail, Kind: openapi.Flag()}
	filters := []openapi.Parameter{
		{Name: "node", Does: "Ports of this node, by UUID or name.", Kind: openapi.Text(255)},
		{Name: "node_uuid", Does: "Ports of this node.", Kind: openapi.Text(255)},
		{Name: "address", Kind: openapi.MAC()},
		{Name: "portgroup", Does: "Ports of this portgroup; there are none.", Since: 24, Older: olderFields, Kind: openapi.Text(255)},
		{Name: "shard", Since: 82, Kind: openapi.Text(4096)},
	}
	lists := append(a.ports.paging(), a.ports.fieldsParameter(), detail)
	page := []openapi.Answer{{Status: 200, Shows: list("ports", openapi.Ref("Port"))}}
	op := func(method, path, does string, answers []openapi.Answer, do func(*request) error) operation {
		return operation{Operation: openapi.Operation{Method: method, Path: path, Does: does, Tag: "ports", Answers: answers}, do: do}
	}
	index := op("GET", "/v1/ports", "List ports.", page, func(r *request) error { return a.sendPorts(r, "ports", "", false) })
	index.Query, index.May = slices.Concat(lists, filters), []int{404}
	inDetail := op("GET", "/v1/ports/detail", "List ports with all fields.", page, func(r *request) error { return a.sendPorts(r, "ports/detail", "", true) })
	inDetail.Query, inDetail.May = index.Query, []int{404}
	create := op("POST", "/v1/ports", "Add a port to a node.", []openapi.Answer{{Status: 201, Shows: a.ports.fullRef(), Location: true}}, a.createPort)
	create.Body, create.May = portCreation{creation[node.Port]{a.ports}}, []int{409}
	show := op("GET", "/v1/ports/:port", "Show a port.", []openapi.Answer{{Status: 200, Shows: a.ports.ref()}}, a.showPort)
	show.Query = []openapi.Parameter{a.ports.fieldsParameter()}
	patch := op("PATCH", "/v1/ports/:port", "Change a port by a JSON patch.", []openapi.Answer{{Status: 200, Shows: a.ports.fullRef()}}, a.patchPort)
	patch.Body, patch.May = patching[node.Port]{a.ports}, []int{409}
	remove := op("DELETE", "/v1/ports/:port", "Remove a port.", []openapi.Answer{{Status: 204}}, a.deletePort)
	remove.May = []int{409}
	ofNode := op("GET", "/v1/nodes/:node/ports", "List the ports of a node.", page, func(r *request) error { return a.sendPortsOfNode(r, "/ports", false) })
	ofNode.Query = lists
	ofNodeInDetail := op("GET", "/v1/nodes/:node/ports/detail", "List the ports of a node with all fields.", page, func(r *request) error { return a.sendPortsOfNode(r, "/ports/detail", true) })
	ofNodeInDetail.Query = lists
	return []operation{index, create, inDetail, show, patch, remove, ofNode, ofNodeInDetail}
}

type portField = field[node.Port]

// portResource is a port on the wire (contract.md §3.7).
func portResource() *resource[node.Port] {
	return &resource[node.Port]{
		what: "port", title: "Port", fields: portFields(), required: []string{"address", "node_uuid"}, short: []string{"uuid", "address"},
		unknown: unknownField,
	}
}

func unknownField(name string) error { return node.Invalidf("Field(s) %q are not valid", name) }

func portFields() []portField {
	read := func(name string, since int, kind openapi.Kind, get func(node.Port) any) portField {
		return portField{name: name, since: since, kind: kind, get: func(p node.Port, _ int) any { return get(p) }}
	}
	write := func(f portField, set func(*node.Port, json.RawMessage)) portField {
		f.set, f.creatable, f.patchable, f.sortable = set, true, true, true
		return f
	}
	text := func(name string, since int, kind openapi.Kind, at func(*node.Port) *string) portField {
		return write(read(name, since, kind, func(p node.Port) any { return textOrNull(*at(&p)) }), func(p *node.Port, raw json.RawMessage) { *at(p) = readText(raw) })
	}
	boolean := func(name string, since int, otherwise bool, at func(*node.Port) *bool) portField {
		return write(read(name, since, openapi.Flag(), func(p node.Port) any { return *at(&p) }), func(p *node.Port, raw json.RawMessage) { *at(p) = readFlag(raw, otherwise) })
	}
	doc := func(name string, since int, kind openapi.Kind, at func(*node.Port) *map[string]any) portField {
		f := write(read(name, since, kind, func(p node.Port) any { return document(*at(&p)) }), func(p *node.Port, raw json.RawMessage) { *at(p) = readDocument(raw) })
		f.sortable = false
		return f
	}
	uuid := text("uuid", 1, openapi.UUID(), func(p *node.Port) *string { return &p.UUID })
	uuid.patchable = false
	address := text("address", 1, openapi.MAC(), func(p *node.Port) *string { return &p.Address })
	address.set = func(p *node.Port, raw json.RawMessage) { p.Address, _ = node.ParseMAC(readText(raw)) }
	ident := portField{name: "node_ident", since: 94, kind: openapi.Text(255), creatable: true, patchable: true, set: func(*node.Port, json.RawMessage) {}}
	group := read("portgroup_uuid", 24, noPortgroup(), func(node.Port) any { return nil })
	group.creatable, group.patchable, group.set = true, true, func(*node.Port, json.RawMessage) {}
	return []portField{
		uuid, address, ident, group,
		text("node_uuid", 1, openapi.UUID(), func(p *node.Port) *string { return &p.NodeUUID }),
		read("created_at", 1, timeKind(), func(p node.Port) any { return timeOrNull(p.CreatedAt) }),
		read("updated_at", 1, timeKind(), func(p node.Port) any { return timeOrNull(p.UpdatedAt) }),
		doc("extra", 1, openapi.Object(), func(p *node.Port) *map[string]any { return &p.Extra }),
		read("internal_info", 18, openapi.Object(), func(p node.Port) any { return document(p.InternalInfo) }),
		doc("local_link_connection", 19, localLink{}, func(p *node.Port) *map[string]any { return &p.LocalLinkConnection }),
		boolean("pxe_enabled", 19, true, func(p *node.Port) *bool { return &p.PXEEnabled }),
		text("physical_network", 34, physicalNetwork(), func(p *node.Port) *string { return &p.PhysicalNetwork }),
		boolean("is_smartnic", 53, false, func(p *node.Port) *bool { return &p.IsSmartNIC }),
		text("name", 88, openapi.Text(255), func(p *node.Port) *string { return &p.Name }),
	}
}

// physicalNetwork is the kind of a network's name, which cannot be empty.
func physicalNetwork() openapi.Kind {
	one, most := 1, 64
	s := &openapi.Schema{Types: []string{"string", "null"}, MinLength: &one, MaxLength: &most}
	return openapi.Custom(s, s, func(name string, raw json.RawMessage) error {
		if string(raw) == `""` {
			return node.Invalidf("A non-empty value is required when setting %s", name)
		}
		return openapi.Text(most).Check(name, raw, newest)
	})
}

// noPortgroup is the kind of a portgroup's UUID: this appliance keeps none, so only null can be said.
func noPortgroup() openapi.Kind {
	return openapi.Custom(openapi.Typed("null"), openapi.Typed("null"), func(name string, raw json.RawMessage) error {
		if openapi.IsNull(raw) {
			return nil
		}
		if err := openapi.UUID().Check(name, raw, newest); err != nil {
			return err
		}
		return node.Invalidf("Portgroup %s could not be found.", readText(raw))
	})
}

// localLink is the kind of `local_link_connection`: what is known of the switch at the other end.
type localLink struct{}

func (localLink) Reads(int) *openapi.Schema { return openapi.Typed("object") }

func (localLink) Takes(minor int) *openapi.Schema {
	keys := map[string]*openapi.Schema{}
	for _, key := range linkKeys(minor) {
		keys[key] = openapi.Typed("string")
	}
	if _, ok := keys["network_type"]; ok {
		keys["network_type"] = openapi.OneOf("managed", "unmanaged")
	}
	none := 0
	s := &openapi.Schema{Types: []string{"object", "null"}, Properties: keys, AdditionalProperties: openapi.Nothing(), AnyOf: []*openapi.Schema{openapi.Typed("null"), {MaxProperties: &none}}}
	for _, needed := range linkForms(minor) {
		form := &openapi.Schema{Type: "object", Required: needed}
		if len(needed) == 1 {
			form.Properties = map[string]*openapi.Schema{needed[0]: openapi.OneOf("unmanaged")}
		}
		s.AnyOf = append(s.AnyOf, form)
	}
	return s
}

// linkForms are the keys of which one set must be there, if any is: of a switch, of a smart NIC, of a port that nobody
// manages, of a virtual tunnel end point.
func linkForms(minor int) [][]string {
	forms := [][]string{{"port_id", "switch_id"}, {"port_id", "hostname"}}
	if minor >= 64 {
		forms = append(forms, []string{"network_type"})
	}
	if minor >= 90 {
		forms = append(forms, []string{"port_id", "vtep-logical-switch", "vtep-physical-switch"})
	}
	return forms
}

func linkKeys(minor int) []string {
	keys := []string{"hostname", "port_id", "switch_id", "switch_info"}
	if minor >= 64 {
		keys = append(keys, "network_type")
	}
	if minor >= 90 {
		keys = append(keys, "vtep-logical-switch", "vtep-physical-switch")
	}
	return keys
}

func (localLink) Check(name string, raw json.RawMessage, minor int) error {
	if err := openapi.Object().Check(name, raw, minor); err != nil {
		return err
	}
	doc := readDocument(raw)
	for _, key := range slices.Sorted(maps.Keys(doc)) {
		said, isText := doc[key].(string)
		switch {
		case slices.Contains(linkKeys(newest), key) && !slices.Contains(linkKeys(minor), key):
			return node.ErrNotAcceptable
		case !slices.Contains(linkKeys(newest), key):
			return node.Invalidf("Schema error for %s: Additional properties are not allowed ('%s' was unexpected)", name, key)
		case !isText:
			return node.Invalidf("Schema error for %s: the value of '%s' is not of type 'string'", name, key)
		case key == "network_type" && said != "managed" && said != "unmanaged":
			return node.Invalidf("Schema error for %s: '%s' is not one of ['managed', 'unmanaged']", name, said)
		}
	}
	for _, needed := range linkForms(minor) {
		if !slices.ContainsFunc(needed, func(key string) bool { return doc[key] == nil || key == "network_type" && doc[key] != "unmanaged" }) {
			return nil
		}
	}
	if len(doc) == 0 {
		return nil
	}
	return node.Invalidf("Schema error for %s: it has to name a port and its switch or host, or to be unmanaged", name)
}

// portCreation is the body of a POST, which names the node by UUID or, from 1.94, by `node_ident`.
type portCreation struct{ creation[node.Port] }

func (b portCreation) Takes(minor int) *openapi.Schema {
	s := b.creation.Takes(minor)
	if minor >= 94 {
		s.Required = []string{"address"}
		s.OneOf = []*openapi.Schema{{Required: []string{"node_uuid"}}, {Required: []string{"node_ident"}}}
	}
	return s
}

func (a *api) portView(r *request, p node.Port, names []string) map[string]any {
	out := a.ports.show(p, r.minor, names)
	out["links"] = a.links(r, "ports/"+p.UUID)
	return out
}

// portsNamedSince is the version from which ports have names.
const portsNamedSince = 88

// portIdent is the port that the path names, by UUID or (from 1.88) by name; a MAC is neither.
func (a *api) portIdent(r *request) (string, error) {
	s, err := r.ident("port", func(ident string) bool {
		_, err := a.Store.Port(r.UserContext(), ident)
		return err == nil
	})
	if err == nil && r.minor < portsNamedSince && !node.IsUUID(s) {
		return "", &node.NotFound{What: "Port", Ident: s}
	}
	return s, err
}

func (a *api) showPort(r *request) error {
	ident, err := a.portIdent(r)
	if err != nil {
		return err
	}
	p, err := a.Store.Port(r.UserContext(), ident)
	if err != nil {
		return err
	}
	return r.JSON(a.portView(r, p, a.ports.chosen(r, false, nil)))
}

func (a *api) createPort(r *request) error {
	p := node.Port{PXEEnabled: true}
	raw, err := a.withNodeUUID(r)
	if err != nil {
		return err
	}
	if err := a.ports.create(&p, raw, r.minor); err != nil {
		return err
	}
	if p.UUID == "" {
		p.UUID = node.NewUUID()
	}
	p, err = a.Conductor.CreatePort(r.UserContext(), r.actor(), p)
	if err != nil {
		return asValue(err)
	}
	return a.created(r, "ports/"+p.UUID, a.portView(r, p, nil))
}

// withNodeUUID is the body of a creation whose node is named by UUID, whatever it says itself.
func (a *api) withNodeUUID(r *request) ([]byte, error) {
	args := map[string]json.RawMessage{}
	if json.Unmarshal(r.Body(), &args) != nil || args["node_ident"] == nil {
		return r.Body(), nil
	}
	if args["node_uuid"] != nil {
		return nil, node.Invalidf("node_ident and node_uuid are mutually exclusive")
	}
	uuid, err := a.uuidOf(r, args["node_ident"])
	if err != nil {
		return nil, err
	}
	delete(args, "node_ident")
	args["node_uuid"] = uuid
	return json.Marshal(args)
}

// uuidOf is the UUID, as JSON, of the node that `node_ident` names.
func (a *api) uuidOf(r *request, ident json.RawMessage) (json.RawMessage, error) {
	if r.minor < 94 {
		return nil, node.ErrNotAcceptable
	}
	if err := openapi.Text(255).Check("node_ident", ident, r.minor); err != nil {
		return nil, err
	}
	n, err := a.Store.Node(r.UserContext(), readText(ident))
	return json.RawMessage(strconv.Quote(n.UUID)), asValue(err)
}

func (a *api) patchPort(r *request) error {
	ident, err := a.portIdent(r)
	if err != nil {
		return err
	}
	ops, err := a.ports.edits(r.Body(), r.minor)
	if err != nil {
		return err
	}
	for i, e := range ops {
		if e.Path == "/node_ident" && e.Op != "remove" {
			if ops[i].Value, err = a.uuidOf(r, e.Value); err != nil {
				return err
			}
			ops[i].Path = "/node_uuid"
		}
	}
	p, err := a.Conductor.PatchPort(r.UserContext(), r.actor(), ident, func(p node.Port) (node.Port, error) {
		owner := p.NodeUUID
		p, err := a.ports.edited(p, ops, r.minor)
		if err != nil || p.NodeUUID == owner {
			return p, err
		}
		_, err = a.Store.Node(r.UserContext(), p.NodeUUID)
		return p, asValue(err)
	})
	if err != nil {
		return err
	}
	return r.JSON(a.portView(r, p, nil))
}

func (a *api) deletePort(r *request) error {
	ident, err := a.portIdent(r)
	if err != nil {
		return err
	}
	if err := a.Conductor.DeletePort(r.UserContext(), r.actor(), ident); err != nil {
		return err
	}
	return r.empty(204)
}

func (a *api) sendPortsOfNode(r *request, path string, detail bool) error {
	n, err := a.node(r)
	if err != nil {
		return err
	}
	return a.sendPorts(r, "nodes/"+n.UUID+path, n.UUID, detail)
}

// sendPorts lists the ports of one node, or of all with the filters of contract.md §3.7.
func (a *api) sendPorts(r *request, path, nodeUUID string, detail bool) error {
	detail = detail || r.flag("detail")
	if detail && r.query.Has("fields") {
		return errDetailAndFields
	}
	f, err := a.portFilter(r, nodeUUID)
	if err != nil {
		return err
	}
	names := a.ports.chosen(r, detail, a.ports.short)
	var found []node.Port
	if !r.query.Has("portgroup") { // no port is in one
		if found, err = a.Store.Ports(r.UserContext(), f); err != nil {
			return err
		}
	}
	return sendList(a, r, "ports", path, found, func(p node.Port) (map[string]any, string) { return a.portView(r, p, names), p.UUID })
}

func (a *api) portFilter(r *request, nodeUUID string) (node.PortFilter, error) {
	f := node.PortFilter{NodeUUID: nodeUUID, Page: r.page()}
	for _, key := range []string{"node_uuid", "node"} {
		ident := r.query.Get(key)
		if ident == "" {
			continue
		}
		if !node.IsUUID(ident) && (r.minor < namesSince || key == "node_uuid") {
			return f, node.ErrNotAcceptable
		}
		n, err := a.Store.Node(r.UserContext(), ident)
		if err != nil {
			return f, err
		}
		f.NodeUUID = n.UUID
	}
	if s := r.query.Get("address"); s != "" {
		mac, _ := node.ParseMAC(s)
		f.Addresses = []string{mac}
	}
	if r.query.Has("shard") {
		f.Shards = strings.Split(r.query.Get("shard"), ",")
	}
	return f, nil
}
