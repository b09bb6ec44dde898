package ironic

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/gofiber/fiber/v2"

	"cagenut/node"
)

type versionDocument struct {
	ID         string `json:"id"`
	Links      []link `json:"links"`
	Status     string `json:"status"`
	MinVersion string `json:"min_version"`
	Version    string `json:"version"`
}

func (a *api) current(c *fiber.Ctx) versionDocument {
	return versionDocument{"v1", []link{{Href: a.base(c) + "/v1/", Rel: "self"}}, "CURRENT", "1.1", fmt.Sprintf("1.%d", a.MaxMinor)}
}

// versions is the document of contract.md §1.1; a browser is sent to the dashboard.
func (a *api) versions(c *fiber.Ctx) error {
	if strings.Contains(c.Get(fiber.HeaderAccept), "text/html") {
		return c.Redirect("/ui", fiber.StatusFound)
	}
	c.Vary(fiber.HeaderAccept)
	v := a.current(c)
	return c.JSON(struct {
		Name        string            `json:"name"`
		Description string            `json:"description"`
		Default     versionDocument   `json:"default_version"`
		Versions    []versionDocument `json:"versions"`
	}{"Cagenut Bare Metal API", "OpenStack Ironic's Bare Metal API, served by a Cagenut appliance.", v, []versionDocument{v}})
}

// root is the document of contract.md §1.2. What is not served is not named.
func (a *api) root(c *fiber.Ctx) error {
	out := map[string]any{
		"id":          "v1",
		"links":       []link{{Href: a.base(c) + "/v1/", Rel: "self"}, {Href: "https://docs.openstack.org/api-ref/baremetal/", Rel: "describedby", Type: "text/html"}},
		"media_types": map[string]string{"base": "application/json", "type": "application/vnd.openstack.ironic.v1+json"},
		"version":     a.current(c),
	}
	for name, from := range map[string]int{"chassis": 1, "nodes": 1, "ports": 1, "drivers": 1, "conductors": 49, "shards": 82, "continue_inspection": 84} {
		if minor(c) >= from {
			out[name] = a.links(c, name+"/")
		}
	}
	return c.JSON(out)
}

type driverDocument map[string]any

func (a *api) driver(c *fiber.Ctx, d node.Driver, detail bool) driverDocument {
	out := driverDocument{"name": d.Name, "hosts": []string{a.Host}, "links": a.links(c, "drivers/"+d.Name)}
	if minor(c) >= 14 {
		out["properties"] = a.links(c, "drivers/"+d.Name+"/properties")
	}
	if minor(c) < 30 {
		return out
	}
	out["type"] = "dynamic"
	if detail {
		for kind, names := range d.Enabled {
			out["default_"+kind+"_interface"] = names[0]
			out["enabled_"+kind+"_interfaces"] = names
		}
	}
	return out
}

func (a *api) listDrivers(c *fiber.Ctx) error {
	q := query(c)
	if err := only(q, "type", "detail", "fields"); err != nil {
		return err
	}
	if minor(c) < 30 && (q.Has("type") || q.Has("detail")) {
		return notAcceptable(30)
	}
	if minor(c) < 77 && q.Has("fields") {
		return node.ErrNotAcceptable
	}
	detail := false
	if q.Has("detail") {
		var err error
		if detail, err = flagWord("detail", q.Get("detail")); err != nil {
			return err
		}
	}
	kind := q.Get("type")
	if kind != "" && kind != "dynamic" && kind != "classic" {
		return node.Invalidf("Driver type must be one of \"classic\" or \"dynamic\".")
	}
	out := []driverDocument{}
	for _, d := range node.Drivers() {
		if kind != "classic" {
			out = append(out, pick(a.driver(c, d, detail || q.Has("fields")), q.Get("fields")))
		}
	}
	return c.JSON(map[string]any{"drivers": out})
}

// pick of a driver or conductor keeps the fields of a comma list, and the links.
func pick(d driverDocument, list string) driverDocument {
	if list == "" {
		return d
	}
	out := driverDocument{"links": d["links"]}
	for _, f := range strings.Split(list, ",") {
		if v, ok := d[f]; ok {
			out[f] = v
		}
	}
	return out
}

func (a *api) namedDriver(c *fiber.Ctx) (node.Driver, error) {
	name := c.Params("driver")
	d, err := node.DriverNamed(name)
	if err != nil {
		return d, &node.NotFound{Text: fmt.Sprintf("Could not find the following driver(s) or hardware type(s): %s.", name)}
	}
	return d, nil
}

func (a *api) showDriver(c *fiber.Ctx) error {
	d, err := a.namedDriver(c)
	if err != nil {
		return err
	}
	return c.JSON(a.driver(c, d, true))
}

func (a *api) driverProperties(c *fiber.Ctx) error {
	d, err := a.namedDriver(c)
	if err != nil {
		return err
	}
	return c.JSON(d.Properties)
}

func (a *api) conductor(c *fiber.Ctx, detail bool) map[string]any {
	out := map[string]any{"hostname": a.Host, "conductor_group": "", "alive": true, "links": a.links(c, "conductors/"+a.Host)}
	if detail {
		names := []string{}
		for _, d := range node.Drivers() {
			names = append(names, d.Name)
		}
		out["drivers"] = names
	}
	return out
}

func (a *api) listConductors(c *fiber.Ctx) error {
	q := query(c)
	if err := only(q, append([]string{"detail", "fields"}, paging...)...); err != nil {
		return err
	}
	detail := q.Has("fields")
	if q.Has("detail") {
		var err error
		if detail, err = flagWord("detail", q.Get("detail")); err != nil {
			return err
		}
	}
	return c.JSON(map[string]any{"conductors": []any{pick(a.conductor(c, detail), q.Get("fields"))}})
}

func (a *api) showConductor(c *fiber.Ctx) error {
	if c.Params("host") != a.Host {
		return &node.NotFound{What: "Conductor", Ident: c.Params("host")}
	}
	return c.JSON(a.conductor(c, true))
}

func (a *api) listShards(c *fiber.Ctx) error {
	if minor(c) < 82 {
		return &fault{fiber.StatusNotFound, "The API version does not allow shards"}
	}
	counts, err := a.Store.ShardCounts(c.UserContext())
	if err != nil {
		return err
	}
	out := []map[string]any{}
	for _, shard := range slices.Sorted(maps.Keys(counts)) {
		name := shard
		if name == "" {
			name = "None"
		}
		out = append(out, map[string]any{"name": name, "count": counts[shard]})
	}
	return c.JSON(map[string]any{"shards": out})
}
