package ironic

import (
	"fmt"

	"github.com/gofiber/fiber/v2"

	"cagenut/node"
)

// unserved are the parts of Ironic's API that this appliance has nothing to put in: their lists are empty, each version
// is told what Ironic tells it (contract.md §1.4), and what would change them is not there (§3.1, "leave out"). The root
// document does not name them.
func (a *api) unserved(on func(method, path string, h fiber.Handler)) {
	for _, word := range []struct {
		path, key, thing string
		since            int
	}{
		{"allocations", "allocations", "allocations", 52},
		{"deploy_templates", "deploy_templates", "deploy templates", 55},
		{"runbooks", "runbooks", "runbooks", 92},
	} {
		refusal := "The API version does not allow " + word.thing
		on("GET", "/"+word.path, gated(word.since, &routed{fiber.StatusNotFound, refusal}, emptyList(word.key)))
		write := func(c *fiber.Ctx) error {
			if minor(c) < word.since {
				return methodNotAllowed(c, "GET", refusal)
			}
			return unrouted()
		}
		on("POST", "/"+word.path, write)
		on("GET", "/"+word.path+"/:ident", gated(word.since, &routed{fiber.StatusNotFound, refusal}, nowhere))
		on("PATCH", "/"+word.path+"/:ident", write)
		on("DELETE", "/"+word.path+"/:ident", write)
	}
	for _, word := range []struct {
		method, path, key string
		since             int
	}{
		{"GET", "/portgroups", "portgroups", 23},
		{"GET", "/portgroups/detail", "portgroups", 25},
		{"POST", "/portgroups", "", 23},
		{"GET", "/volume/connectors", "connectors", 32},
		{"POST", "/volume/connectors", "", 32},
		{"GET", "/volume/targets", "targets", 32},
		{"POST", "/volume/targets", "", 32},
		{"POST", "/events", "", 54},
	} {
		h := nowhere
		if word.key != "" {
			h = emptyList(word.key)
		}
		on(word.method, word.path, gated(word.since, tooOldForIt, h))
	}
	for _, path := range []string{"/portgroups/:ident", "/volume/connectors/:ident", "/volume/targets/:ident"} {
		for _, method := range []string{"GET", "PATCH", "DELETE"} {
			on(method, path, gated(23, tooOldForIt, nowhere))
		}
	}
	on("GET", "/volume", gated(32, tooOldForIt, a.volumeLinks("")))
}

// unservedOfNode are those below a node. What a node would need an interface for is refused in that interface's name.
func (a *api) unservedOfNode(on func(method, path string, h fiber.Handler)) {
	on("GET", "/nodes/:node/bios", since(40, a.emptyOfNode("bios")))
	on("GET", "/nodes/:node/firmware", since(86, a.emptyOfNode("firmware")))
	on("GET", "/nodes/:node/vifs", since(28, a.emptyOfNode("vifs")))
	on("POST", "/nodes/:node/vifs", since(28, a.unsupported("vifs")))
	on("DELETE", "/nodes/:node/vifs/:vif", since(28, a.unsupported("vifs")))
	on("GET", "/nodes/:node/portgroups", since(24, a.emptyOfNode("portgroups")))
	on("GET", "/nodes/:node/volume", since(32, a.nodeVolume))
	on("GET", "/nodes/:node/volume/connectors", since(32, a.emptyOfNode("connectors")))
	on("GET", "/nodes/:node/volume/targets", since(32, a.emptyOfNode("targets")))
	on("GET", "/nodes/:node/allocation", since(52, a.noAllocation))
	on("GET", "/nodes/:node/management/indicators", a.emptyOfNode("indicators"))
	on("GET", "/nodes/:node/vendor_passthru/methods", a.noMethods)
	on("GET", "/drivers/:driver/vendor_passthru/methods", a.noDriverMethods)
	on("GET", "/drivers/:driver/raid/logical_disk_properties", gated(12, node.ErrNotAcceptable, a.noDriverMethods))

	modes := &fault{fiber.StatusNotFound, "This endpoint is supported starting with the API version 1.76"}
	on("PUT", "/nodes/:node/states/boot_mode", gated(76, modes, a.unsupported("set_boot_mode")))
	on("PUT", "/nodes/:node/states/secure_boot", gated(76, modes, a.unsupported("set_secure_boot")))
	on("PUT", "/nodes/:node/states/raid", gated(12, node.ErrNotAcceptable, a.unsupported("raid")))
	on("PUT", "/nodes/:node/states/console", a.unsupported("console"))
	on("PUT", "/nodes/:node/management/inject_nmi", gated(29, &node.NotFound{Text: "Resource could not be found."}, a.unsupported("inject_nmi")))
	on("GET", "/nodes/:node/vmedia", gated(93, &node.NotFound{Text: "The resource could not be found."}, a.unsupported("virtual media")))
	on("POST", "/nodes/:node/vmedia", since(89, a.unsupported("attach_virtual_media")))
	on("DELETE", "/nodes/:node/vmedia", since(89, a.unsupported("detach_virtual_media")))
}

// tooOldForIt is what several parts of the API say to older callers.
var tooOldForIt = &fault{fiber.StatusNotFound, "The API is not supported for this version"}

// gated answers older callers with an error.
func gated(n int, tooOld error, h fiber.Handler) fiber.Handler {
	return func(c *fiber.Ctx) error {
		if minor(c) < n {
			return tooOld
		}
		return h(c)
	}
}

func nowhere(*fiber.Ctx) error { return unrouted() }

func emptyList(key string) fiber.Handler {
	return func(c *fiber.Ctx) error { return c.JSON(map[string]any{key: []any{}}) }
}

// emptyOfNode is a list of a node that nothing fills: no interface of its kind reads anything.
func (a *api) emptyOfNode(key string) fiber.Handler {
	return func(c *fiber.Ctx) error {
		if _, err := a.node(c); err != nil {
			return err
		}
		return c.JSON(map[string]any{key: []any{}})
	}
}

// unsupported refuses what no interface of the node can do.
func (a *api) unsupported(what string) fiber.Handler {
	return func(c *fiber.Ctx) error {
		n, err := a.node(c)
		if err != nil {
			return err
		}
		return &node.Unsupported{Driver: n.Driver, Extension: what}
	}
}

// volumeLinks says where the two lists are; below is the path of the node that they are of, or "".
func (a *api) volumeLinks(below string) fiber.Handler {
	return func(c *fiber.Ctx) error {
		path := below + "volume/"
		return c.JSON(map[string]any{"links": a.links(c, path), "connectors": a.links(c, path+"connectors"), "targets": a.links(c, path+"targets")})
	}
}

func (a *api) nodeVolume(c *fiber.Ctx) error {
	n, err := a.node(c)
	if err != nil {
		return err
	}
	return a.volumeLinks("nodes/" + n.UUID + "/")(c)
}

func (a *api) noAllocation(c *fiber.Ctx) error {
	n, err := a.node(c)
	if err != nil {
		return err
	}
	return &node.NotFound{Text: fmt.Sprintf("Allocation for node %s was not found", n.UUID)}
}

func (a *api) noMethods(c *fiber.Ctx) error {
	if _, err := a.node(c); err != nil {
		return err
	}
	return c.JSON(map[string]any{})
}

func (a *api) noDriverMethods(c *fiber.Ctx) error {
	if _, err := a.namedDriver(c); err != nil {
		return err
	}
	return c.JSON(map[string]any{})
}
