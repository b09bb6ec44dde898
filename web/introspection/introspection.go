// Package introspection serves the embedded inspector's API (contract.md §5) on an address of its own.
package introspection

import (
	"context"
	"fmt"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/gofiber/fiber/v2"

	"cagenut/inspect/introspection"
	"cagenut/node"
	"cagenut/web"
)

// Service is the inspector; *introspection.Service is one.
type Service interface {
	Start(ctx context.Context, actor node.Actor, ident string, manageBoot *bool) error
	Status(ctx context.Context, ident string) (introspection.Run, error)
	List(ctx context.Context, marker string, limit int, states []node.RunState) ([]introspection.Run, error)
	Abort(ctx context.Context, actor node.Actor, ident string) error
	Data(ctx context.Context, ident string) ([]byte, error)
	Report(ctx context.Context, actor node.Actor, body []byte, token node.Secret) (string, error)
}

// Options are what the API is served with.
type Options struct {
	Service Service
	// Guard asks who is there before everything but the public addresses.
	Guard fiber.Handler
	// PublicURL is the base of links; "" takes it from each request.
	PublicURL string
}

const (
	headerVersion = "X-OpenStack-Ironic-Inspector-API-Version"
	headerMin     = "X-OpenStack-Ironic-Inspector-API-Minimum-Version"
	headerMax     = "X-OpenStack-Ironic-Inspector-API-Maximum-Version"
	newest        = 18
	pageLimit     = 1000
)

type api struct{ Options }

// Register adds the routes. The application should answer errors with [ErrorShape].
func Register(r fiber.Router, o Options) {
	a := &api{o}
	r.Use(versions)
	r.Get("/", a.root)
	r.Get("/v1", a.resources)
	r.Post("/v1/continue", a.report)
	r.Use(o.Guard)
	r.Get("/v1/introspection", a.list)
	r.Post("/v1/introspection/:node", a.start)
	r.Get("/v1/introspection/:node", a.status)
	r.Post("/v1/introspection/:node/abort", a.abort)
	r.Get("/v1/introspection/:node/data", a.data)
}

// ErrorShape is how this API tells errors: single-encoded, in one key (contract.md §5.1).
func ErrorShape() web.ErrorShape {
	return web.ErrorShape{Prefix: "", Bodies: true, Answer: func(c *fiber.Ctx, err error) error {
		status, text := web.Explain(c, err)
		setVersions(c)
		return c.Status(status).JSON(fiber.Map{"error": fiber.Map{"message": text}})
	}}
}

func setVersions(c *fiber.Ctx) {
	c.Set(headerMin, "1.0")
	c.Set(headerMax, fmt.Sprintf("1.%d", newest))
}

var versionShape = regexp.MustCompile(`^\d+\.\d+$`)

// versions checks the version header; without one the newest is meant, the opposite of Ironic.
func versions(c *fiber.Ctx) error {
	setVersions(c)
	v := strings.TrimSpace(c.Get(headerVersion))
	switch {
	case v == "" || strings.EqualFold(v, "latest"):
		return c.Next()
	case !versionShape.MatchString(v):
		return fiber.NewError(fiber.StatusBadRequest, "Malformed API version: expected string in form of X.Y or latest")
	}
	major, minor, _ := strings.Cut(v, ".")
	if n, err := strconv.Atoi(minor); major != "1" || err != nil || n > newest {
		return fiber.NewError(fiber.StatusNotAcceptable, fmt.Sprintf("Unsupported API version %s, supported range is 1.0 to 1.%d", v, newest))
	}
	return c.Next()
}

func (a *api) base(c *fiber.Ctx) string {
	if a.PublicURL != "" {
		return strings.TrimSuffix(a.PublicURL, "/")
	}
	return c.BaseURL()
}

func (a *api) root(c *fiber.Ctx) error {
	return c.JSON(fiber.Map{"versions": []fiber.Map{{
		"status": "CURRENT", "id": fmt.Sprintf("1.%d", newest), "links": []fiber.Map{{"rel": "self", "href": a.base(c) + "/v1"}},
	}}})
}

func (a *api) resources(c *fiber.Ctx) error {
	resource := func(name string) fiber.Map {
		return fiber.Map{"name": name, "links": []fiber.Map{{"rel": "self", "href": a.base(c) + "/v1/" + name}}}
	}
	return c.JSON(fiber.Map{"resources": []fiber.Map{resource("introspection"), resource("continue")}})
}

// status is a run as the API shows it. Times carry no zone (contract.md §5.2).
type status struct {
	UUID       string        `json:"uuid"`
	Finished   bool          `json:"finished"`
	State      node.RunState `json:"state"`
	StartedAt  string        `json:"started_at"`
	FinishedAt *string       `json:"finished_at"`
	Error      *string       `json:"error"`
	Links      []link        `json:"links"`
}

type link struct {
	Rel  string `json:"rel"`
	Href string `json:"href"`
}

const naive = "2006-01-02T15:04:05"

func (a *api) shown(c *fiber.Ctx, r introspection.Run) status {
	s := status{
		UUID: r.UUID, Finished: r.Finished, State: r.State, StartedAt: r.StartedAt.UTC().Format(naive),
		Links: []link{{"self", a.base(c) + "/v1/introspection/" + r.UUID}},
	}
	if !r.FinishedAt.IsZero() {
		at := r.FinishedAt.UTC().Format(naive)
		s.FinishedAt = &at
	}
	if r.Error != "" {
		s.Error = &r.Error
	}
	return s
}

func ident(c *fiber.Ctx) (string, error) {
	id, err := url.PathUnescape(c.Params("node"))
	if err != nil {
		return "", fiber.NewError(fiber.StatusBadRequest, "Bad request: the node's name is not properly escaped")
	}
	return id, nil
}

func accepted(c *fiber.Ctx, err error) error {
	if err != nil {
		return err
	}
	return c.Status(fiber.StatusAccepted).JSON(struct{}{})
}

func (a *api) start(c *fiber.Ctx) error {
	id, err := ident(c)
	if err != nil {
		return err
	}
	var manage *bool
	if q := c.Query("manage_boot"); q != "" {
		b, err := strconv.ParseBool(q)
		if err != nil {
			return fiber.NewError(fiber.StatusBadRequest, fmt.Sprintf("Invalid boolean value for manage_boot: %s", q))
		}
		manage = &b
	}
	return accepted(c, a.Service.Start(c.UserContext(), web.Actor(c, node.SourceAPI), id, manage))
}

func (a *api) status(c *fiber.Ctx) error {
	id, err := ident(c)
	if err != nil {
		return err
	}
	r, err := a.Service.Status(c.UserContext(), id)
	if err != nil {
		return err
	}
	return c.JSON(a.shown(c, r))
}

func (a *api) list(c *fiber.Ctx) error {
	marker, limit, states, err := page(c)
	if err != nil {
		return fiber.NewError(fiber.StatusBadRequest, "Bad request: "+err.Error())
	}
	runs, err := a.Service.List(c.UserContext(), marker, limit, states)
	if err != nil {
		return err
	}
	out := make([]status, len(runs))
	for i, r := range runs {
		out[i] = a.shown(c, r)
	}
	return c.JSON(fiber.Map{"introspection": out})
}

func page(c *fiber.Ctx) (marker string, limit int, states []node.RunState, err error) {
	if marker = c.Query("marker"); marker != "" && !node.IsUUID(marker) {
		return "", 0, nil, fmt.Errorf("Expected UUID for marker: %s", marker)
	}
	limit = pageLimit
	if q := c.Query("limit"); q != "" {
		if limit, err = strconv.Atoi(q); err != nil || limit < 0 || limit > pageLimit {
			return "", 0, nil, fmt.Errorf("Limit must be a number between 0 and %d: %s", pageLimit, q)
		}
		if limit == 0 {
			limit = pageLimit
		}
	}
	if q := c.Query("state"); q != "" {
		var bad []string
		for _, word := range strings.Split(q, ",") {
			if s := node.RunState(word); slices.Contains(node.RunStates(), s) {
				states = append(states, s)
			} else {
				bad = append(bad, strconv.Quote(word))
			}
		}
		if bad != nil {
			return "", 0, nil, fmt.Errorf("State(s) %s are not valid", strings.Join(bad, ", "))
		}
	}
	return marker, limit, states, nil
}

func (a *api) abort(c *fiber.Ctx) error {
	id, err := ident(c)
	if err != nil {
		return err
	}
	return accepted(c, a.Service.Abort(c.UserContext(), web.Actor(c, node.SourceAPI), id))
}

func (a *api) data(c *fiber.Ctx) error {
	id, err := ident(c)
	if err != nil {
		return err
	}
	doc, err := a.Service.Data(c.UserContext(), id)
	if err != nil {
		return err
	}
	c.Set(fiber.HeaderContentType, fiber.MIMEApplicationJSON)
	return c.Send(doc)
}

// report is the second door for ramdisks; it is public (contract.md §5.1).
func (a *api) report(c *fiber.Ctx) error {
	uuid, err := a.Service.Report(c.UserContext(), web.Actor(c, node.SourceRamdisk), c.Body(), node.Secret(c.Query("attempt")))
	if err != nil {
		return err
	}
	return c.JSON(fiber.Map{"uuid": uuid})
}
