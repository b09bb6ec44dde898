package ironic

import (
	"encoding/json"

	"cagenut/node"
	"cagenut/web/openapi"
)

func (a *api) chassisOperations() []operation {
	op := func(method, path, does string, answers []openapi.Answer, do func(*request) error) operation {
		return operation{Operation: openapi.Operation{Method: method, Path: "/v1/chassis" + path, Does: does, Tag: "chassis", Answers: answers}, do: do}
	}
	page := []openapi.Answer{{Status: 200, Shows: list("chassis", openapi.Ref("Chassis"))}}
	detail := openapi.Parameter{Name: "detail", Does: "Show all fields.", Since: 43, Older: olderDetail, Kind: openapi.Flag()}
	index := op("GET", "", "List chassis.", page, func(r *request) error { return a.sendChassis(r, "chassis", false) })
	index.Query, index.May = append(a.chassis.paging(), a.chassis.fieldsParameter(), detail), []int{404}
	inDetail := op("GET", "/detail", "List chassis with all fields.", page, func(r *request) error { return a.sendChassis(r, "chassis/detail", true) })
	inDetail.Query, inDetail.May = a.chassis.paging(), []int{404}
	create := op("POST", "", "Make a chassis.", []openapi.Answer{{Status: 201, Shows: a.chassis.fullRef(), Location: true}}, a.createChassis)
	create.Body, create.May = creation[node.Chassis]{a.chassis}, []int{409}
	show := op("GET", "/:chassis", "Show a chassis.", []openapi.Answer{{Status: 200, Shows: a.chassis.ref()}}, a.showChassis)
	show.Query = []openapi.Parameter{a.chassis.fieldsParameter()}
	patch := op("PATCH", "/:chassis", "Change a chassis by a JSON patch.", []openapi.Answer{{Status: 200, Shows: a.chassis.fullRef()}}, a.patchChassis)
	patch.Body = patching[node.Chassis]{a.chassis}
	remove := op("DELETE", "/:chassis", "Remove a chassis without nodes.", []openapi.Answer{{Status: 204}}, a.deleteChassis)
	nodes := op("GET", "/:chassis/nodes", "List the nodes of a chassis.", []openapi.Answer{{Status: 200, Shows: list("nodes", openapi.Ref("Node"))}}, a.listChassisNodes)
	nodes.Query = append(a.nodes.paging(), a.nodes.fieldsParameter(), detail)
	return []operation{index, create, inDetail, show, patch, remove, nodes}
}

type chassisField = field[node.Chassis]

// chassisResource is a chassis on the wire (contract.md §3.8).
func chassisResource() *resource[node.Chassis] {
	read := func(name string, kind openapi.Kind, get func(node.Chassis) any) chassisField {
		return chassisField{name: name, since: 1, kind: kind, sortable: true, get: func(ch node.Chassis, _ int) any { return get(ch) }}
	}
	uuid := read("uuid", openapi.UUID(), func(ch node.Chassis) any { return ch.UUID })
	uuid.creatable, uuid.set = true, func(ch *node.Chassis, raw json.RawMessage) { ch.UUID = readText(raw) }
	description := read("description", openapi.Text(255), func(ch node.Chassis) any { return textOrNull(ch.Description) })
	description.creatable, description.patchable = true, true
	description.set = func(ch *node.Chassis, raw json.RawMessage) { ch.Description = readText(raw) }
	extra := read("extra", openapi.Object(), func(ch node.Chassis) any { return document(ch.Extra) })
	extra.creatable, extra.patchable, extra.sortable = true, true, false
	extra.set = func(ch *node.Chassis, raw json.RawMessage) { ch.Extra = readDocument(raw) }
	return &resource[node.Chassis]{
		what: "chassis", title: "Chassis", short: []string{"uuid", "description"}, linked: map[string]int{"nodes": 1},
		unknown: unknownField,
		fields: []chassisField{uuid, description, extra,
			read("created_at", timeKind(), func(ch node.Chassis) any { return timeOrNull(ch.CreatedAt) }),
			read("updated_at", timeKind(), func(ch node.Chassis) any { return timeOrNull(ch.UpdatedAt) }),
		},
	}
}

func (a *api) chassisView(r *request, ch node.Chassis, names []string) map[string]any {
	out := a.chassis.show(ch, r.minor, names)
	out["links"] = a.links(r, "chassis/"+ch.UUID)
	if names == nil {
		out["nodes"] = a.links(r, "chassis/"+ch.UUID+"/nodes")
	}
	return out
}

// uuidIn is the UUID that an element of the path is.
func (r *request) uuidIn(element, called string) (string, error) {
	s := r.named(element)
	if !node.IsUUID(s) {
		return "", node.Invalidf("Expected UUID for %s: %s", called, s)
	}
	return s, nil
}

func (a *api) namedChassis(r *request) (node.Chassis, error) {
	uuid, err := r.uuidIn("chassis", "chassis_uuid")
	if err != nil {
		return node.Chassis{}, err
	}
	return a.Store.Chassis(r.UserContext(), uuid)
}

func (a *api) showChassis(r *request) error {
	ch, err := a.namedChassis(r)
	if err != nil {
		return err
	}
	return r.JSON(a.chassisView(r, ch, a.chassis.chosen(r, false, nil)))
}

func (a *api) createChassis(r *request) error {
	var ch node.Chassis
	if err := a.chassis.create(&ch, r.Body(), r.minor); err != nil {
		return err
	}
	if ch.UUID == "" {
		ch.UUID = node.NewUUID()
	}
	ch, err := a.Store.CreateChassis(r.UserContext(), ch)
	if err != nil {
		return err
	}
	return a.created(r, "chassis/"+ch.UUID, a.chassisView(r, ch, nil))
}

func (a *api) patchChassis(r *request) error {
	ops, err := a.chassis.edits(r.Body(), r.minor)
	if err != nil {
		return err
	}
	uuid, err := r.uuidIn("chassis", "chassis_uuid")
	if err != nil {
		return err
	}
	ch, err := a.Store.ChangeChassis(r.UserContext(), uuid, func(ch node.Chassis) (node.Chassis, error) {
		return a.chassis.edited(ch, ops, r.minor)
	})
	if err != nil {
		return err
	}
	return r.JSON(a.chassisView(r, ch, nil))
}

func (a *api) deleteChassis(r *request) error {
	uuid, err := r.uuidIn("chassis", "chassis_uuid")
	if err != nil {
		return err
	}
	if err := a.Store.DeleteChassis(r.UserContext(), uuid); err != nil {
		return err
	}
	return r.empty(204)
}

func (a *api) sendChassis(r *request, path string, detail bool) error {
	detail = detail || r.flag("detail")
	if detail && r.query.Has("fields") {
		return errDetailAndFields
	}
	names := a.chassis.chosen(r, detail, a.chassis.short)
	found, err := a.Store.ChassisList(r.UserContext(), r.page())
	if err != nil {
		return err
	}
	return sendList(a, r, "chassis", path, found, func(ch node.Chassis) (map[string]any, string) { return a.chassisView(r, ch, names), ch.UUID })
}

func (a *api) listChassisNodes(r *request) error {
	ch, err := a.namedChassis(r)
	if err != nil {
		return err
	}
	detail := r.flag("detail")
	if detail && r.query.Has("fields") {
		return errDetailAndFields
	}
	return a.sendNodes(r, "chassis/"+ch.UUID+"/nodes", node.Filter{ChassisUUID: ch.UUID}, a.nodes.chosen(r, detail, a.nodes.short))
}
