package introspection

import (
	"bytes"
	"errors"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/gofiber/fiber/v2"

	"cagenut/inspect/introspection"
	"cagenut/node"
	"cagenut/web"
)

// statusDocument is an introspection on the wire.
type statusDocument struct {
	UUID       string  `json:"uuid"`
	Finished   bool    `json:"finished"`
	State      string  `json:"state"`
	StartedAt  *string `json:"started_at"`
	FinishedAt *string `json:"finished_at"`
	Error      *string `json:"error"`
	Links      []link  `json:"links"`
}

func (a *api) document(c *fiber.Ctx, r introspection.Run) statusDocument {
	d := statusDocument{
		UUID: r.UUID, Finished: r.Finished, State: string(r.State), StartedAt: naive(r.StartedAt), FinishedAt: naive(r.FinishedAt),
		Links: a.self(c, "/v1/introspection/"+r.UUID),
	}
	if r.Error != "" {
		d.Error = &r.Error
	}
	return d
}

// naive is a time in UTC as the inspector writes it, without an offset; nil for none.
func naive(t time.Time) *string {
	if t.IsZero() {
		return nil
	}
	s := t.UTC().Format("2006-01-02T15:04:05")
	return &s
}

// ident is the UUID or name in the path.
func ident(c *fiber.Ctx) string { return unescaped(c.Params("node")) }

// unescaped is a part of the path as it was meant. What cannot be unescaped names nothing.
func unescaped(raw string) string {
	if s, err := url.PathUnescape(raw); err == nil {
		return s
	}
	return raw
}

func (a *api) status(c *fiber.Ctx) error {
	r, err := a.Service.Status(c.UserContext(), ident(c))
	if err != nil {
		return err
	}
	return c.JSON(a.document(c, r))
}

func (a *api) start(c *fiber.Ctx) error {
	var manageBoot *bool
	if c.Context().QueryArgs().Has("manage_boot") {
		b, err := boolean("manage_boot", c.Query("manage_boot"))
		if err != nil {
			return err
		}
		manageBoot = &b
	}
	if err := a.Service.Start(c.UserContext(), actor(c), ident(c), manageBoot); err != nil {
		return err
	}
	return accepted(c)
}

// boolean reads one of the words that stand for true and false in OpenStack.
func boolean(name, word string) (bool, error) {
	lower := strings.ToLower(strings.TrimSpace(word))
	if slices.Contains([]string{"1", "t", "true", "on", "y", "yes"}, lower) {
		return true, nil
	}
	if slices.Contains([]string{"0", "f", "false", "off", "n", "no"}, lower) {
		return false, nil
	}
	return false, node.Invalidf("Invalid boolean value for %s: %s", name, word)
}

func (a *api) abort(c *fiber.Ctx) error {
	if err := a.Service.Abort(c.UserContext(), actor(c), ident(c)); err != nil {
		return err
	}
	return accepted(c)
}

func (a *api) list(c *fiber.Ctx) error {
	runs, err := a.page(c)
	if bad := (*node.Invalid)(nil); errors.As(err, &bad) {
		return node.Invalidf("Bad request: %s", bad.Text)
	}
	if err != nil {
		return err
	}
	out := make([]statusDocument, len(runs))
	for i, r := range runs {
		out[i] = a.document(c, r)
	}
	return c.JSON(map[string][]statusDocument{"introspection": out})
}

// page reads the parameters of the list; empty ones count as not given.
func (a *api) page(c *fiber.Ctx) ([]introspection.Run, error) {
	limit := 0
	if s := c.Query("limit"); s != "" {
		var err error
		if limit, err = strconv.Atoi(s); err != nil {
			return nil, node.Invalidf("Limit is not an integer: %s", s)
		}
	}
	var states []node.RunState
	if s := c.Query("state"); s != "" {
		for _, word := range strings.Split(s, ",") {
			states = append(states, node.RunState(strings.TrimSpace(word)))
		}
	}
	return a.Service.List(c.UserContext(), c.Query("marker"), limit, states)
}

func (a *api) data(c *fiber.Ctx) error {
	doc, err := a.Service.Data(c.UserContext(), ident(c))
	if err != nil {
		return err
	}
	c.Set(fiber.HeaderContentType, fiber.MIMEApplicationJSON)
	return c.Send(doc)
}

// unprocessed is what the ramdisk reported, without its logs.
func (a *api) unprocessed(c *fiber.Ctx) error {
	doc, err := a.Service.Unprocessed(c.UserContext(), ident(c))
	if err != nil {
		return err
	}
	c.Set(fiber.HeaderContentType, fiber.MIMEApplicationJSON)
	return c.Send(doc)
}

// reapply works up what is stored once more, or what the body brings instead.
func (a *api) reapply(c *fiber.Ctx) error {
	body := c.Body()
	if len(body) > 0 {
		if _, err := object(body); err != nil {
			return err
		}
	} else {
		body = nil
	}
	if err := a.Service.Reapply(c.UserContext(), actor(c), ident(c), body); err != nil {
		return err
	}
	return accepted(c)
}

// report is where ramdisks report; the answer comes once the report is stored (contract.md §6.5).
func (a *api) report(c *fiber.Ctx) error {
	who := web.Actor(c, node.SourceRamdisk)
	if body := bytes.TrimSpace(c.Body()); len(body) > 0 && body[0] != '{' {
		return node.Invalidf("Invalid data: expected a JSON object, got %s", kindOf(body))
	}
	uuid, err := a.Service.Report(c.UserContext(), who, c.Body(), node.Secret(c.Query("attempt")))
	if err != nil {
		a.Log.Info("introspection: a ramdisk's report was refused", "from", who.Address, "req", who.RequestID, "err", err)
		return err
	}
	return c.JSON(map[string]string{"uuid": uuid})
}
