package ironic

import (
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"cagenut/node"
	"cagenut/web/openapi"
)

func (a *api) nodeOperations() []operation {
	lists := append(filterParameters(), a.nodes.paging()...)
	detail := openapi.Parameter{Name: "detail", Does: "Show all fields.", Since: 43, Older: olderDetail, Kind: openapi.Flag()}
	page := []openapi.Answer{{Status: 200, Shows: list("nodes", openapi.Ref("Node"))}}
	one := []openapi.Answer{{Status: 200, Shows: a.nodes.fullRef()}}
	op := func(method, path, does string, answers []openapi.Answer, do func(*request) error) operation {
		return operation{Operation: openapi.Operation{Method: method, Path: "/v1/nodes" + path, Does: does, Tag: "nodes", Answers: answers}, do: do}
	}
	index := op("GET", "", "List nodes.", page, a.listNodes)
	index.Query = append(lists, a.nodes.fieldsParameter(), detail)
	index.May = []int{404}
	inDetail := op("GET", "/detail", "List nodes with all fields.", page, a.listNodesInDetail)
	inDetail.Query, inDetail.May = lists, []int{404}
	create := op("POST", "", "Enrol a node.", []openapi.Answer{{Status: 201, Shows: a.nodes.fullRef(), Location: true}}, a.createNode)
	create.Body, create.May = creation[node.Node]{a.nodes}, []int{409}
	show := op("GET", "/:node", "Show a node.", []openapi.Answer{{Status: 200, Shows: a.nodes.ref()}}, a.showNode)
	show.Query = []openapi.Parameter{a.nodes.fieldsParameter()}
	patch := op("PATCH", "/:node", "Change a node by a JSON patch.", one, a.patchNode)
	patch.Body, patch.May = patching[node.Node]{a.nodes}, []int{403, 409}
	patch.Query = []openapi.Parameter{{Name: "reset_interfaces", Does: "Give all interfaces the defaults of the new driver.", Since: 45, Older: olderFields, Kind: openapi.Flag()}}
	remove := op("DELETE", "/:node", "Remove a node.", []openapi.Answer{{Status: 204}}, a.deleteNode)
	remove.May = []int{403, 409}
	return []operation{index, create, inDetail, a.validateOperation("/v1/nodes/validate"), show, patch, remove}
}

func olderDetail(said string) error {
	return node.Invalidf("Invalid query parameter ?detail=%s received.", said)
}

// nodeView is a node as the caller's version shows it.
func (a *api) nodeView(r *request, n node.Node, names []string) map[string]any {
	out := a.nodes.show(n, r.minor, names)
	path := "nodes/" + n.UUID
	out["links"] = a.links(r, path)
	if names != nil {
		return out
	}
	for key, since := range a.nodes.linked {
		if r.minor >= since {
			out[key] = a.links(r, path+"/"+key)
		}
	}
	return out
}

func (a *api) showNode(r *request) error {
	n, err := a.node(r)
	if err != nil {
		return err
	}
	return r.JSON(a.nodeView(r, n, a.nodes.chosen(r, false, nil)))
}

func (a *api) createNode(r *request) error {
	n := node.Node{ProvisionState: node.Enroll}
	if err := a.nodes.create(&n, r.Body(), r.minor); err != nil {
		return err
	}
	if r.minor < 11 {
		n.ProvisionState = node.Available
	}
	if n.UUID == "" {
		n.UUID = node.NewUUID()
	}
	if err := a.checkChassis(r, n.ChassisUUID); err != nil {
		return err
	}
	n, err := a.Conductor.CreateNode(r.UserContext(), r.actor(), n)
	if err != nil {
		return err
	}
	return a.created(r, "nodes/"+n.UUID, a.nodeView(r, n, nil))
}

// checkChassis turns a chassis that is not there into a fault of the value.
func (a *api) checkChassis(r *request, uuid string) error {
	if uuid == "" {
		return nil
	}
	_, err := a.Store.Chassis(r.UserContext(), uuid)
	return asValue(err)
}

// asValue makes of a thing that is not there a value that cannot be taken (contract.md §3.7).
func asValue(err error) error {
	var missing *node.NotFound
	if errors.As(err, &missing) {
		return node.Invalidf("%s", missing.Error())
	}
	return err
}

func (a *api) patchNode(r *request) error {
	ident, err := a.nodeIdent(r)
	if err != nil {
		return err
	}
	ops, err := a.nodes.edits(r.Body(), r.minor)
	if err != nil {
		return err
	}
	n, err := a.Conductor.PatchNode(r.UserContext(), r.actor(), ident, r.minor, func(n node.Node) (node.Node, error) {
		return a.changed(r, n, ops, r.flag("reset_interfaces"))
	})
	if err != nil {
		return err
	}
	return r.JSON(a.nodeView(r, n, nil))
}

// changed is the node after the patch, its unset interfaces filled with the driver's defaults.
func (a *api) changed(r *request, n node.Node, ops []edit, reset bool) (node.Node, error) {
	if reset && !slices.ContainsFunc(ops, func(e edit) bool { return e.Path == "/driver" }) {
		return n, node.Invalidf("The reset_interfaces parameter can only be used when changing the node's driver.")
	}
	if reset {
		n.Interfaces = node.Interfaces{}
	}
	for _, e := range ops {
		// A node that has a name is told of a bad one in other words than one that is made.
		if name := readText(e.Value); e.Path == "/name" && name != "" {
			if err := node.ValidateRename(n.UUID, name); err != nil {
				return n, err
			}
		}
	}
	n, err := a.nodes.edited(n, ops, r.minor)
	if err != nil {
		return n, err
	}
	if err := a.checkChassis(r, n.ChassisUUID); err != nil {
		return n, err
	}
	d, err := node.DriverNamed(n.Driver)
	if err != nil {
		return n, err
	}
	return n, d.FillInterfaces(&n.Interfaces)
}

func (a *api) deleteNode(r *request) error {
	ident, err := a.nodeIdent(r)
	if err != nil {
		return err
	}
	if err := a.Conductor.DeleteNode(r.UserContext(), r.actor(), ident); err != nil {
		return err
	}
	return r.empty(204)
}

var errDetailAndFields = node.Invalidf("Can not specify ?detail=True and fields in the same request.")

func (a *api) listNodes(r *request) error {
	detail := r.flag("detail")
	if detail && r.query.Has("fields") {
		return errDetailAndFields
	}
	return a.sendNodes(r, "nodes", nodeFilter(r.query), a.nodes.chosen(r, detail, a.nodes.short))
}

func (a *api) listNodesInDetail(r *request) error {
	return a.sendNodes(r, "nodes/detail", nodeFilter(r.query), nil)
}

func (a *api) sendNodes(r *request, path string, f node.Filter, names []string) error {
	f.Page = r.page()
	found, err := a.Store.Nodes(r.UserContext(), f)
	if err != nil {
		return err
	}
	return sendList(a, r, "nodes", path, found, func(n node.Node) (map[string]any, string) { return a.nodeView(r, n, names), n.UUID })
}

// sendList writes a page. The address of the next keeps every parameter of this one (G57); it is there twice, because
// some clients look for `<key>_links`.
func sendList[T any](a *api, r *request, key, path string, found []T, view func(T) (item map[string]any, uuid string)) error {
	items, last := make([]any, len(found)), ""
	for i, t := range found {
		items[i], last = view(t)
	}
	out := map[string]any{key: items}
	if limit := r.page().Limit; len(found) == limit {
		next := url.Values{}
		for k, v := range r.query {
			next[k] = v
		}
		next.Set("limit", strconv.Itoa(limit))
		next.Set("marker", last)
		href := fmt.Sprintf("%s/v1/%s?%s", a.base(r.Ctx), path, strings.ReplaceAll(next.Encode(), "%2C", ","))
		out["next"] = href
		out[key+"_links"] = []link{{Href: href, Rel: "next"}}
	}
	return r.JSON(out)
}
