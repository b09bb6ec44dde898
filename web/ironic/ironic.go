package ironic

import (
	"strings"

	"github.com/gofiber/fiber/v2"

	"cagenut/node"
	"cagenut/web"
)

// Options are what the API is served with.
type Options struct {
	Conductor Conductor
	Store     Store
	// Host is this appliance's name: the one conductor, and the host of all drivers.
	Host string
	// MaxMinor is the ceiling 1.N; 96 if 0 or higher.
	MaxMinor int
	// PublicURL is the base of links, without a slash at its end; "" takes it from each request.
	PublicURL string
}

type api struct {
	Options
	nodes   []nodeField
	ports   []portField
	chassis []chassisField
	public  string
}

// Register adds the routes of the Bare Metal API to r. The application should answer errors below them with
// [ErrorShapes].
func Register(r fiber.Router, o Options) {
	if o.MaxMinor <= 0 || o.MaxMinor > newest {
		o.MaxMinor = newest
	}
	a := &api{Options: o, nodes: nodeFields(), ports: portFields(), chassis: chassisFields(), public: strings.TrimSuffix(o.PublicURL, "/")}
	r.Get("/", a.version(a.versions))
	r.Get("/v1", a.version(a.root))
	r.Get("/v1.json", a.version(a.root))
	for _, prefix := range []string{"/v1", ""} {
		a.routes(r, prefix)
	}
}

// routes is the list of everything that is served. Order matters where a fixed word stands beside a name.
func (a *api) routes(r fiber.Router, prefix string) {
	on := func(method, path string, h fiber.Handler) { r.Add(method, prefix+path, a.version(h)) }

	on("GET", "/nodes", a.listNodes)
	on("POST", "/nodes", a.createNode)
	on("GET", "/nodes/detail", a.listNodesInDetail)
	on("GET", "/nodes/validate", a.validate)
	on("GET", "/nodes/:node", a.showNode)
	on("PATCH", "/nodes/:node", a.patchNode)
	on("DELETE", "/nodes/:node", a.deleteNode)
	on("GET", "/nodes/:node/states", a.showStates)
	on("PUT", "/nodes/:node/states/provision", a.setProvision)
	on("PUT", "/nodes/:node/states/power", a.setPower)
	on("GET", "/nodes/:node/states/console", a.showConsole)
	on("PUT", "/nodes/:node/maintenance", a.setMaintenance)
	on("DELETE", "/nodes/:node/maintenance", a.endMaintenance)
	on("GET", "/nodes/:node/management/boot_device", a.showBootDevice)
	on("PUT", "/nodes/:node/management/boot_device", a.setBootDevice)
	on("GET", "/nodes/:node/management/boot_device/supported", a.listBootDevices)
	on("GET", "/nodes/:node/validate", a.validate)
	on("GET", "/nodes/:node/inventory", since(81, a.showInventory))
	on("GET", "/nodes/:node/history", since(78, a.listHistory))
	on("GET", "/nodes/:node/history/:entry", since(78, a.showHistory))
	on("GET", "/nodes/:node/traits", a.listTraits)
	on("PUT", "/nodes/:node/traits", a.setTraits)
	on("DELETE", "/nodes/:node/traits", since(traitsSince, a.deleteTraits))
	on("PUT", "/nodes/:node/traits/:trait", a.addTrait)
	on("DELETE", "/nodes/:node/traits/:trait", since(traitsSince, a.deleteTrait))
	on("GET", "/nodes/:node/children", a.listChildren)
	on("GET", "/nodes/:node/ports", a.listNodePorts)
	on("GET", "/nodes/:node/ports/detail", a.listNodePortsInDetail)

	on("GET", "/ports", a.listPorts)
	on("POST", "/ports", a.createPort)
	on("GET", "/ports/detail", a.listPortsInDetail)
	on("GET", "/ports/:port", a.showPort)
	on("PATCH", "/ports/:port", a.patchPort)
	on("DELETE", "/ports/:port", a.deletePort)

	on("GET", "/chassis", a.listChassis)
	on("POST", "/chassis", a.createChassis)
	on("GET", "/chassis/detail", a.listChassisInDetail)
	on("GET", "/chassis/:chassis", a.showChassis)
	on("PATCH", "/chassis/:chassis", a.patchChassis)
	on("DELETE", "/chassis/:chassis", a.deleteChassis)
	on("GET", "/chassis/:chassis/nodes", a.listChassisNodes)

	on("GET", "/drivers", a.listDrivers)
	on("GET", "/drivers/:driver", a.showDriver)
	on("GET", "/drivers/:driver/properties", a.driverProperties)
	on("GET", "/conductors", gated(49, tooOldForIt, a.listConductors))
	on("GET", "/conductors/:host", gated(49, tooOldForIt, a.showConductor))
	on("GET", "/shards", a.listShards)
	on("POST", "/continue_inspection", a.continueInspection)

	a.unservedOfNode(on)
	a.unserved(on)
}

// version serves a handler to callers whose version is in range; the version headers are on its errors too.
func (a *api) version(h fiber.Handler) fiber.Handler {
	return func(c *fiber.Ctx) error {
		if err := a.negotiate(c); err != nil {
			return AnswerError(c, err)
		}
		return h(c)
	}
}

// since hides a path from older callers.
func since(n int, h fiber.Handler) fiber.Handler {
	return func(c *fiber.Ctx) error {
		if minor(c) < n {
			return unrouted()
		}
		return h(c)
	}
}

func actor(c *fiber.Ctx) node.Actor { return web.Actor(c, node.SourceAPI) }

// base is the address that links in an answer begin with.
func (a *api) base(c *fiber.Ctx) string { return web.BaseURL(c, a.public) }

type link struct {
	Href string `json:"href"`
	Rel  string `json:"rel"`
	Type string `json:"type,omitempty"`
}

// links are the two addresses of a resource: below /v1 and the bookmark.
func (a *api) links(c *fiber.Ctx, path string) []link {
	base := a.base(c)
	return []link{{Href: base + "/v1/" + path, Rel: "self"}, {Href: base + "/" + path, Rel: "bookmark"}}
}

// accepted is the answer of a verb; the ident is as the caller gave it (contract.md §1.6).
func (a *api) accepted(c *fiber.Ctx) error {
	c.Location(a.base(c) + "/v1/nodes/" + c.Params("node") + "/states")
	return empty(c, fiber.StatusAccepted)
}

func empty(c *fiber.Ctx, status int) error {
	c.Status(status)
	return nil
}
