package ironic

import (
	"fmt"

	"cagenut/node"
	"cagenut/web/openapi"
)

// tooOldForIt is what several parts of the API say to older callers.
var tooOldForIt = &fault{404, "The API is not supported for this version"}

// unserved are the parts of Ironic's API that this appliance has nothing to put in: their lists are empty, each version
// is told what Ironic tells it (contract.md §1.4), and what would change them is not there (§3.1, "leave out"). The root
// document does not name them.
func (a *api) unserved() []operation {
	var all []operation
	add := func(method, path, thing string, since int, older error, key string) {
		o := openapi.Operation{Method: method, Path: "/v1/" + path, Tag: "not served", Since: since}
		if key != "" {
			o.Does, o.Answers = "Show that there are none.", []openapi.Answer{{Status: 200, Shows: emptyListSchema(key)}}
			all = append(all, operation{o, older, func(r *request) error { return r.JSON(map[string]any{key: []any{}}) }})
			return
		}
		o.Does, o.May = "Refused: this appliance keeps none.", []int{404}
		all = append(all, operation{o, older, func(*request) error { return &routed{status: 404, text: "This appliance keeps no " + thing + "."} }})
	}
	for _, part := range []struct {
		path, thing string
		since       int
	}{{"allocations", "allocations", 52}, {"deploy_templates", "deploy templates", 55}, {"runbooks", "runbooks", 92}} {
		refusal := "The API version does not allow " + part.thing
		missing, noMethod := &routed{status: 404, text: refusal}, &routed{status: 405, text: refusal, allow: "GET"}
		add("GET", part.path, part.thing, part.since, missing, part.path)
		add("POST", part.path, part.thing, part.since, noMethod, "")
		add("GET", part.path+"/:ident", part.thing, part.since, missing, "")
		add("PATCH", part.path+"/:ident", part.thing, part.since, noMethod, "")
		add("DELETE", part.path+"/:ident", part.thing, part.since, noMethod, "")
	}
	for _, part := range []struct {
		path, key, thing string
		since            int
	}{{"portgroups", "portgroups", "portgroups", 23}, {"volume/connectors", "connectors", "volume connectors", 32}, {"volume/targets", "targets", "volume targets", 32}} {
		add("GET", part.path, part.thing, part.since, tooOldForIt, part.key)
		if part.key == "portgroups" {
			add("GET", part.path+"/detail", part.thing, part.since, tooOldForIt, part.key)
		}
		for _, method := range []string{"POST", "GET", "PATCH", "DELETE"} {
			path := part.path + "/:ident"
			if method == "POST" {
				path = part.path
			}
			add(method, path, part.thing, part.since, tooOldForIt, "")
		}
	}
	add("POST", "events", "events", 54, tooOldForIt, "")
	volume := openapi.Operation{Method: "GET", Path: "/v1/volume", Does: "Say where the lists of volumes are.", Tag: "not served", Since: 32, Answers: []openapi.Answer{{Status: 200, Shows: openapi.Shows(volumeSchema())}}}
	return append(all, operation{volume, tooOldForIt, func(r *request) error { return a.sendVolumeLinks(r, "") }})
}

func emptyListSchema(key string) func(int) *openapi.Schema {
	none := 0
	return openapi.Shows(openapi.Record(map[string]*openapi.Schema{key: {Type: "array", MaxItems: &none}}))
}

func volumeSchema() *openapi.Schema {
	return openapi.Record(map[string]*openapi.Schema{"links": openapi.Ref("Links"), "connectors": openapi.Ref("Links"), "targets": openapi.Ref("Links")})
}

// unservedOfNode are those below a node or a driver. What a node would need an interface for is refused in that
// interface's name.
func (a *api) unservedOfNode() []operation {
	op := func(method, path string, since int, older error, o openapi.Operation, do func(*request) error) operation {
		o.Method, o.Path, o.Since = method, "/v1/nodes/:node"+path, since
		if o.Tag = "nodes"; o.Answers == nil && o.Does == "" {
			o.Does = "Refused: no interface of this appliance can do it."
		}
		return operation{o, older, do}
	}
	none := func(path, key string, since int, query ...openapi.Parameter) operation {
		return op("GET", path, since, nil, openapi.Operation{Does: "Show that there are none.", Query: query, Answers: []openapi.Answer{{Status: 200, Shows: emptyListSchema(key)}}}, a.emptyOfNode(key))
	}
	nothing := openapi.Answer{Status: 200, Shows: openapi.Shows(openapi.MapOf(openapi.Nothing()))}
	detail := openapi.Parameter{Name: "detail", Kind: openapi.Flag()}
	fields := openapi.Parameter{Name: "fields", Kind: openapi.Text(4096)}
	drivers := openapi.Operation{Method: "GET", Path: "/v1/drivers/:driver/vendor_passthru/methods", Does: "Show that there are none.", Tag: "drivers", Answers: []openapi.Answer{nothing}}
	all := []operation{
		none("/vifs", "vifs", 28),
		op("POST", "/vifs", 28, nil, openapi.Operation{}, a.unsupported("vifs")),
		op("DELETE", "/vifs/:vif", 28, nil, openapi.Operation{}, a.unsupported("vifs")),
		none("/portgroups", "portgroups", 24, append(paging(), detail, fields)...),
		op("GET", "/volume", 32, nil, openapi.Operation{Does: "Say where the lists of volumes are.", Answers: []openapi.Answer{{Status: 200, Shows: openapi.Shows(volumeSchema())}}}, a.nodeVolume),
		none("/volume/connectors", "connectors", 32, append(paging(), detail, fields)...),
		none("/volume/targets", "targets", 32, append(paging(), detail, fields)...),
		op("GET", "/allocation", 52, nil, openapi.Operation{Does: "Refused: there are no allocations."}, a.noAllocation),
		op("GET", "/vendor_passthru/methods", 1, nil, openapi.Operation{Does: "Show that there are none.", Answers: []openapi.Answer{nothing}}, a.noMethods),
		{drivers, nil, a.noDriverMethods},
	}
	for _, method := range []string{"GET", "POST", "PUT", "PATCH", "DELETE"} {
		query := []openapi.Parameter{{Name: "method", Kind: openapi.Text(255)}}
		call := openapi.Operation{Method: method, Path: "/v1/drivers/:driver/vendor_passthru", Does: "Refused: no driver of this appliance has vendor methods.", Tag: "drivers", Query: query}
		all = append(all, op(method, "/vendor_passthru", 1, nil, openapi.Operation{Query: query}, a.unsupported("vendor_passthru")), operation{call, nil, a.noDriverMethod})
	}
	return all
}

func (a *api) noDriverMethod(r *request) error {
	d, err := namedDriver(r)
	if err != nil {
		return err
	}
	return &node.Unsupported{Driver: d.Name, Extension: "vendor_passthru"}
}

// emptyOfNode is a list of a node that nothing fills: no interface of its kind reads anything.
func (a *api) emptyOfNode(key string) func(*request) error {
	return func(r *request) error {
		if _, err := a.node(r); err != nil {
			return err
		}
		return r.JSON(map[string]any{key: []any{}})
	}
}

// unsupported refuses what no interface of the node can do.
func (a *api) unsupported(what string) func(*request) error {
	return func(r *request) error {
		n, err := a.node(r)
		if err != nil {
			return err
		}
		return &node.Unsupported{Driver: n.Driver, Extension: what}
	}
}

// sendVolumeLinks says where the two lists are; below is the path of the node that they are of, or "".
func (a *api) sendVolumeLinks(r *request, below string) error {
	path := below + "volume/"
	return r.JSON(map[string]any{"links": a.links(r, path), "connectors": a.links(r, path+"connectors"), "targets": a.links(r, path+"targets")})
}

func (a *api) nodeVolume(r *request) error {
	n, err := a.node(r)
	if err != nil {
		return err
	}
	return a.sendVolumeLinks(r, "nodes/"+n.UUID+"/")
}

func (a *api) noAllocation(r *request) error {
	n, err := a.node(r)
	if err != nil {
		return err
	}
	return &node.NotFound{Text: fmt.Sprintf("Allocation for node %s was not found", n.UUID)}
}

func (a *api) noMethods(r *request) error {
	if _, err := a.node(r); err != nil {
		return err
	}
	return r.JSON(map[string]any{})
}

func (a *api) noDriverMethods(r *request) error {
	if _, err := namedDriver(r); err != nil {
		return err
	}
	return r.JSON(map[string]any{})
}
