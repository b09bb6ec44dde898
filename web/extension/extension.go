package extension

import (
	"context"
	"log/slog"
	"net/url"
	"sync"
	"time"

	"github.com/gofiber/fiber/v2"

	"cagenut/conductor"
	"cagenut/node"
	"cagenut/web/live"
	"cagenut/web/openapi"
)

// Conductor carries out aborts, by the same method as behind the REST API and the dashboard, and asks BMCs.
type Conductor interface {
	SetProvisionState(ctx context.Context, actor node.Actor, ident string, req conductor.ProvisionRequest) error
	// Condition asks a node's BMC how its server is, with so many entries of its log.
	Condition(ctx context.Context, ident string, entries int) (conductor.Condition, error)
	Bulk
}

// Store is what is read.
type Store interface {
	Node(ctx context.Context, ident string) (node.Node, error)
	Nodes(ctx context.Context, f node.Filter) ([]node.Node, error)
	Attempt(ctx context.Context, id string) (node.Attempt, error)
	Attempts(ctx context.Context, f node.RunFilter) ([]node.Attempt, error)
	Trail
	BulkRuns
}

// Options are what the extension needs.
type Options struct {
	Conductor   Conductor
	Inspections Inspections
	// Discovery is the waiting room; nil: there is none.
	Discovery Discovery
	Store     Store
	// Self is the appliance; nil: it does not tell of itself.
	Self Self
	Hub  *live.Hub
	Log  *slog.Logger
	// PublicURL is the base of links, without a slash at its end; "" takes it from each request.
	PublicURL string
	// API is the description of Ironic's API, whose document is served here too, up to the microversion 1.MaxMinor.
	API      openapi.Part
	MaxMinor int
	// SignIn says that callers have to sign in.
	SignIn bool
}

type api struct {
	o      Options
	newest func() ([]byte, error) // the document of the newest microversion, which takes a while to write
}

// Register puts /cagenut/v1 on a router whose root is the server's root. Errors have the server's default shape.
func Register(r fiber.Router, o Options) {
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	a := &api{o: o}
	a.newest = sync.OnceValues(func() ([]byte, error) { return a.written(o.MaxMinor) })
	r.Get("/cagenut/v1/events", a.events)
	r.Post("/cagenut/v1/aborts", a.aborts)
	r.Get("/cagenut/v1/nodes/:ident/attempts", a.attempts)
	r.Get("/cagenut/v1/nodes/:ident/health", a.health)
	a.registerBulk(r)
	a.registerInspections(r)
	a.registerDiscovered(r)
	r.Get("/cagenut/v1/audit", a.audit)
	if o.Self != nil {
		r.Get("/cagenut/v1/appliance", a.appliance)
	}
	r.Get("/cagenut/v1/openapi.json", a.document)
}

func bad(text string) error { return fiber.NewError(fiber.StatusBadRequest, text) }

// ident is the node that the address names, by UUID or name.
func ident(c *fiber.Ctx) (string, error) {
	id, err := url.PathUnescape(c.Params("ident"))
	if err != nil || id == "" {
		return "", fiber.NewError(fiber.StatusNotFound, "The address names no node.")
	}
	return id, nil
}

// Actor is who did something.
type Actor struct {
	User    string      `json:"user"`
	Source  node.Source `json:"source"`
	Address string      `json:"address,omitempty"`
}

func actorOf(a node.Actor) Actor { return Actor{User: a.User, Source: a.Source, Address: a.Address} }

// instant is a time on the wire: RFC 3339 in UTC with milliseconds; nil for none.
func instant(t time.Time) *string {
	if t.IsZero() {
		return nil
	}
	s := t.UTC().Format("2006-01-02T15:04:05.000Z07:00")
	return &s
}

// orNull is nil for "".
func orNull[T ~string](s T) *T {
	if s == "" {
		return nil
	}
	return &s
}
