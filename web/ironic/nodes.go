package ironic

import (
	"errors"
	"fmt"
	"net/url"
	"strconv"
	"strings"

	"github.com/gofiber/fiber/v2"

	"cagenut/node"
)

// nodeView is a node as the caller's version shows it.
func (a *api) nodeView(c *fiber.Ctx, n node.Node, names []string) map[string]any {
	out := show(a.nodes, n, minor(c), names)
	path := "nodes/" + n.UUID
	out["links"] = a.links(c, path)
	if names != nil {
		return out
	}
	out["ports"] = a.links(c, path+"/ports")
	if minor(c) >= 14 {
		out["states"] = a.links(c, path+"/states")
	}
	if minor(c) >= 24 {
		out["portgroups"] = a.links(c, path+"/portgroups")
	}
	if minor(c) >= 32 {
		out["volume"] = a.links(c, path+"/volume")
	}
	return out
}

func unknownNodeField(name string) error {
	return node.Invalidf("Field %s is not a valid field.", name)
}

func (a *api) showNode(c *fiber.Ctx) error {
	q := query(c)
	if err := only(q, "fields"); err != nil {
		return err
	}
	n, err := a.node(c)
	if err != nil {
		return err
	}
	names, err := chosen(a.nodes, q.Get("fields"), minor(c), unknownNodeField)
	if err != nil {
		return err
	}
	return c.JSON(a.nodeView(c, n, names))
}

func (a *api) createNode(c *fiber.Ctx) error {
	n := node.Node{ProvisionState: node.Enroll}
	if err := create(a.nodes, "node", &n, c.Body(), minor(c), "driver"); err != nil {
		return err
	}
	if minor(c) < 11 {
		n.ProvisionState = node.Available
	}
	if n.UUID == "" {
		n.UUID = node.NewUUID()
	}
	if err := a.checkChassis(c, n.ChassisUUID); err != nil {
		return err
	}
	n, err := a.Conductor.CreateNode(c.UserContext(), actor(c), n)
	if err != nil {
		return err
	}
	c.Location(a.base(c) + "/v1/nodes/" + n.UUID)
	return c.Status(fiber.StatusCreated).JSON(a.nodeView(c, n, nil))
}

// checkChassis turns a chassis that is not there into a fault of the value.
func (a *api) checkChassis(c *fiber.Ctx, uuid string) error {
	if uuid == "" {
		return nil
	}
	_, err := a.Store.Chassis(c.UserContext(), uuid)
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

func (a *api) patchNode(c *fiber.Ctx) error {
	ident, err := a.ident(c)
	if err != nil {
		return err
	}
	q := query(c)
	if err := only(q, "reset_interfaces"); err != nil {
		return err
	}
	reset := false
	if q.Has("reset_interfaces") {
		if minor(c) < 45 {
			return node.ErrNotAcceptable
		}
		if reset, err = flagWord("reset_interfaces", q.Get("reset_interfaces")); err != nil {
			return err
		}
	}
	ops, err := operations(a.nodes, c.Body(), minor(c))
	if err != nil {
		return err
	}
	n, err := a.Conductor.PatchNode(c.UserContext(), actor(c), ident, minor(c), func(n node.Node) (node.Node, error) {
		return a.changed(c, n, ops, reset)
	})
	if err != nil {
		return err
	}
	return c.JSON(a.nodeView(c, n, nil))
}

// changed is the node after the patch, its unset interfaces filled with the driver's defaults.
func (a *api) changed(c *fiber.Ctx, n node.Node, ops []operation, reset bool) (node.Node, error) {
	driver := n.Driver
	if reset {
		n.Interfaces = node.Interfaces{}
	}
	n, err := applied(a.nodes, n, ops, "driver")
	if err != nil {
		return n, err
	}
	if reset && n.Driver == driver {
		return n, node.Invalidf("The reset_interfaces parameter can only be used when changing the node's driver.")
	}
	if err := a.checkChassis(c, n.ChassisUUID); err != nil {
		return n, err
	}
	d, err := node.DriverNamed(n.Driver)
	if err != nil {
		return n, err
	}
	return n, d.FillInterfaces(&n.Interfaces)
}

func (a *api) deleteNode(c *fiber.Ctx) error {
	ident, err := a.ident(c)
	if err != nil {
		return err
	}
	if err := a.Conductor.DeleteNode(c.UserContext(), actor(c), ident); err != nil {
		return err
	}
	return empty(c, fiber.StatusNoContent)
}

func (a *api) listNodes(c *fiber.Ctx) error {
	q := query(c)
	detail := false
	if q.Has("detail") {
		if minor(c) < 43 {
			return node.Invalidf("Invalid query parameter ?detail=%s received.", q.Get("detail"))
		}
		var err error
		if detail, err = flagWord("detail", q.Get("detail")); err != nil {
			return err
		}
		if detail && q.Has("fields") {
			return node.Invalidf("Can not specify ?detail=True and fields in the same request.")
		}
	}
	names := []string{"uuid", "instance_uuid", "maintenance", "power_state", "provision_state", "name"}
	if detail {
		names = nil
	} else if q.Has("fields") {
		var err error
		if names, err = chosen(a.nodes, q.Get("fields"), minor(c), unknownNodeField); err != nil {
			return err
		}
	}
	return a.sendNodes(c, q, "nodes", names)
}

func (a *api) listNodesInDetail(c *fiber.Ctx) error {
	q := query(c)
	if q.Has("fields") || q.Has("detail") {
		return only(q, append(filterNames(), paging...)...)
	}
	return a.sendNodes(c, q, "nodes/detail", nil)
}

func (a *api) sendNodes(c *fiber.Ctx, q url.Values, path string, names []string) error {
	if err := only(q, append(append(filterNames(), paging...), "fields", "detail")...); err != nil {
		return err
	}
	f, err := nodeFilter(q, minor(c))
	if err != nil {
		return err
	}
	if f.Page, err = page(q, minor(c), sortableSince(a.nodes)); err != nil {
		return err
	}
	list, err := a.Store.Nodes(c.UserContext(), f)
	if err != nil {
		return err
	}
	items := make([]any, len(list))
	for i, n := range list {
		items[i] = a.nodeView(c, n, names)
	}
	last := ""
	if len(list) == f.Limit {
		last = list[len(list)-1].UUID
	}
	return a.sendList(c, "nodes", path, items, q, f.Page, last)
}

// sendList writes a page. The address of the next keeps every parameter of this one (G57); it is there twice, because
// some clients look for `<key>_links`.
func (a *api) sendList(c *fiber.Ctx, key, path string, items []any, q url.Values, p node.Page, last string) error {
	out := map[string]any{key: items}
	if last != "" {
		next := url.Values{}
		for k, v := range q {
			next[k] = v
		}
		next.Set("limit", strconv.Itoa(p.Limit))
		next.Set("marker", last)
		href := fmt.Sprintf("%s/v1/%s?%s", a.base(c), path, strings.ReplaceAll(next.Encode(), "%2C", ","))
		out["next"] = href
		out[key+"_links"] = []link{{Href: href, Rel: "next"}}
	}
	return c.JSON(out)
}
