package ui

import (
	"context"
	"strings"
	"time"

	"github.com/gofiber/fiber/v2"

	"cagenut/conductor"
	"cagenut/node"
	"cagenut/templates"
	"cagenut/web"
	"cagenut/web/live"
)

// Conductor carries out what the buttons ask for.
type Conductor interface {
	SetProvisionState(ctx context.Context, actor node.Actor, ident string, req conductor.ProvisionRequest) error
	SetPower(ctx context.Context, actor node.Actor, ident string, req conductor.PowerRequest) error
	SetIndicator(ctx context.Context, actor node.Actor, ident string, to node.Indicator) error
	ClearEventLog(ctx context.Context, actor node.Actor, ident string) error
	DetachVirtualMedia(ctx context.Context, actor node.Actor, ident string, kinds []node.MediumKind) error
	InjectNMI(ctx context.Context, actor node.Actor, ident string) error
	Teller
	Inspections
	Keeper
	Placer
	Bulk
}

// Teller asks the BMC of a node, at most 20 s. *node.Unsupported is what a BMC cannot tell.
type Teller interface {
	Health(ctx context.Context, ident string) (node.HealthReport, error)
	Sensors(ctx context.Context, ident string) ([]node.Sensor, error)
	EventLog(ctx context.Context, ident string, entries int) ([]node.LogEntry, error)
	Indicator(ctx context.Context, ident string) (node.Indicator, error)
	BootDevice(ctx context.Context, ident string) (node.Boot, error)
	VirtualMedia(ctx context.Context, ident string) ([]node.VirtualDrive, error)
	Identity(ctx context.Context, ident string) (node.BMCIdentity, error)
	Firmware(ctx context.Context, ident string) ([]node.Firmware, error)
	BIOS(ctx context.Context, ident string) (map[string]any, error)
}

// Store is what the pages read. Reads never wait for a BMC.
type Store interface {
	Node(ctx context.Context, ident string) (node.Node, error)
	Lists
	Ports(ctx context.Context, f node.PortFilter) ([]node.Port, error)
	History(ctx context.Context, nodeUUID string, p node.Page) ([]node.History, error)
	Inventory(ctx context.Context, nodeUUID string) (node.Inventory, error)
	Attempt(ctx context.Context, id string) (node.Attempt, error)
	Attempts(ctx context.Context, f node.RunFilter) ([]node.Attempt, error)
	// Logged lists the attempts of a node whose logs are kept.
	Logged(ctx context.Context, nodeUUID string) ([]string, error)
	Racks
	BulkRuns
	AuditTrail
}

// Options are what the pages need.
type Options struct {
	Conductor Conductor
	Store     Store
	// Discovery is the waiting room; nil: there is none. Discovering says that machines come into it.
	Discovery   Discovery
	Discovering bool
	// Self is the appliance; nil: it does not tell of itself.
	Self Self
	// Enrolling makes nodes of servers that nobody knows yet; nil: the pages for it are not there.
	Enrolling      Enrolling
	SearchDefaults SearchDefaults
	Now            func() time.Time // the appliance's clock; time.Now if nil
	// Speak chooses the language for an Accept-Language header; templates.Speak if nil.
	Speak func(ctx context.Context, accept string) context.Context
	// SignIn lets people in, People are who they are; nil where nobody signs in.
	SignIn SignIn
	People People
	// PublicURL is the base of the API in the examples; "" to take it from the request.
	PublicURL string
	// Neighbours reads which switch port an interface is at; nil: nobody can.
	Neighbours Neighbours
	// NoRamdisk says that no inspection can work, because nobody has said where servers reach the appliance.
	NoRamdisk bool
	// InspectTimeout tells when a wait ends by itself; 0: never.
	InspectTimeout time.Duration
}

// Pages are the dashboard's handlers. They also draw the fragments of the event streams (live.Pages).
type Pages struct {
	o     Options
	hub   *live.Hub
	trail trail // of the nodes, for the page of racks
}

var _ live.Pages = (*Pages)(nil)

// New makes the pages; the hub that they stream from is made with them and given to Register. Their errors are drawn by
// [Pages.ErrorShape], which the server is made with.
func New(o Options) *Pages {
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Speak == nil {
		o.Speak = templates.Speak
	}
	return &Pages{o: o}
}

// Register puts the pages on a router whose root is the server's root.
func (p *Pages) Register(r fiber.Router, hub *live.Hub) {
	p.hub = hub
	r.Use("/ui", p.speaking)
	r.Get("/ui", p.list)
	r.Get("/ui/events", p.events)
	r.Get("/ui/nodes/:ident", p.node)
	r.Get("/ui/nodes/:ident/abort", p.confirmAbort)
	r.Get("/ui/nodes/:ident/power", p.confirmPower)
	r.Post("/ui/nodes/:ident/provision", p.provision)
	r.Post("/ui/nodes/:ident/power", p.power)
	p.registerParts(r)
	p.registerInspections(r)
	p.registerRacks(r)
	p.registerBulk(r)
	p.registerDiscovered(r)
	p.registerEnrol(r)
	p.registerChoices(r)
	p.registerHelp(r)
	p.registerSignIn(r)
	p.registerAudit(r)
	p.registerAppliance(r)
}

// RegisterStatic serves style sheet, script and icon. They hold nothing secret and are wanted by the sign-in page too, so
// they may be registered before authentication.
func RegisterStatic(r fiber.Router) {
	r.Get(templates.StaticPath+":name", func(c *fiber.Ctx) error {
		body, contentType, ok := templates.Asset(c.Params("name"))
		if !ok {
			return fiber.ErrNotFound
		}
		c.Set(fiber.HeaderContentType, contentType)
		c.Set(fiber.HeaderCacheControl, "public, max-age=31536000, immutable")
		return c.Send(body)
	})
}

// mayAct tells whether the person may press buttons (G56).
func mayAct(c *fiber.Ctx) bool {
	_, role := web.User(c)
	return role == web.RoleOperator || role == web.RoleAdmin
}

// scripted tells whether the page's script asks, which wants fragments.
func scripted(c *fiber.Ctx) bool { return c.Get("X-Requested-With") == "fetch" }

// apiURL is the base of the API in the examples.
func (p *Pages) apiURL(c *fiber.Ctx) string {
	if p.o.PublicURL != "" {
		return strings.TrimSuffix(p.o.PublicURL, "/")
	}
	return c.BaseURL()
}
