package introspection

import (
	"context"
	"log/slog"
	"strings"

	"github.com/gofiber/fiber/v2"

	"cagenut/inspect/introspection"
	"cagenut/node"
	"cagenut/web"
)

// Service is the inspector; *introspection.Service is one, and says what each method promises.
type Service interface {
	Start(ctx context.Context, actor node.Actor, ident string, manageBoot *bool) error
	Status(ctx context.Context, ident string) (introspection.Run, error)
	List(ctx context.Context, marker string, limit int, states []node.RunState) ([]introspection.Run, error)
	Abort(ctx context.Context, actor node.Actor, ident string) error
	Data(ctx context.Context, ident string) ([]byte, error)
	Unprocessed(ctx context.Context, ident string) ([]byte, error)
	Reapply(ctx context.Context, actor node.Actor, ident string, data []byte) error
	Report(ctx context.Context, actor node.Actor, body []byte, token node.Secret) (nodeUUID string, err error)

	ListRules(ctx context.Context) ([]introspection.Rule, error)
	ShowRule(ctx context.Context, uuid string) (introspection.Rule, error)
	CreateRule(ctx context.Context, actor node.Actor, r introspection.Rule) (introspection.Rule, error)
	DeleteRule(ctx context.Context, actor node.Actor, uuid string) error
	DeleteRules(ctx context.Context, actor node.Actor) error
}

// Options are what the API is served with.
type Options struct {
	Service Service
	// Guard asks who is there before everything but the public addresses (contract.md §5.1); nil where nobody signs in.
	Guard fiber.Handler
	// PublicURL is the base of links, without a slash at its end; "" takes it from each request.
	PublicURL string
	// Log is told of refused reports, which leave no other trace where their node is unknown; nil: nobody is.
	Log *slog.Logger
}

// LargeBodies are the paths whose bodies are as large as a ramdisk's report, for web.AppOptions.
func LargeBodies() []string { return []string{"/v1/continue", "/v1/introspection/*/data/unprocessed"} }

type api struct {
	Options
	public string
}

// Register adds the routes to app, which belongs to this API alone and answers errors with [ErrorShape].
func Register(app *fiber.App, o Options) {
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	a := &api{Options: o, public: strings.TrimSuffix(o.PublicURL, "/")}
	app.Use(negotiate)

	app.Get("/", a.versions)
	app.Get("/v1", a.resources)
	app.Get("/:version", func(c *fiber.Ctx) error {
		return &fault{fiber.StatusNotFound, "Version " + unescaped(c.Params("version")) + " not found."}
	})
	app.Post("/v1/continue", a.report)

	// Everything above is public.
	if o.Guard != nil {
		app.Use(o.Guard)
	}
	app.Get("/v1/introspection", a.list)
	app.Get("/v1/introspection/:node", a.status)
	app.Post("/v1/introspection/:node", a.start)
	app.Post("/v1/introspection/:node/abort", a.abort)
	app.Get("/v1/introspection/:node/data", a.data)
	app.Get("/v1/introspection/:node/data/unprocessed", a.unprocessed)
	app.Post("/v1/introspection/:node/data/unprocessed", a.reapply)
	a.rules(app)
}

func actor(c *fiber.Ctx) node.Actor { return web.Actor(c, node.SourceAPI) }

// base is the address that links in an answer begin with.
func (a *api) base(c *fiber.Ctx) string { return web.BaseURL(c, a.public) }

type link struct {
	Rel  string `json:"rel"`
	Href string `json:"href"`
}

func (a *api) self(c *fiber.Ctx, path string) []link {
	return []link{{Rel: "self", Href: a.base(c) + path}}
}

type versionDocument struct {
	Status string `json:"status"`
	ID     string `json:"id"`
	Links  []link `json:"links"`
}

func (a *api) versions(c *fiber.Ctx) error {
	return c.JSON(map[string][]versionDocument{"versions": {{"CURRENT", newestVersion, a.self(c, "/v1")}}})
}

type resource struct {
	Name  string `json:"name"`
	Links []link `json:"links"`
}

// resources lists what is served, and nothing else.
func (a *api) resources(c *fiber.Ctx) error {
	return c.JSON(map[string][]resource{"resources": {
		{"continue", a.self(c, "/v1/continue")},
		{"introspection", a.self(c, "/v1/introspection")},
		{"rules", a.self(c, "/v1/rules")},
	}})
}

// accepted is the answer to what was asked for and is done: an empty object.
func accepted(c *fiber.Ctx) error {
	return c.Status(fiber.StatusAccepted).JSON(struct{}{})
}
