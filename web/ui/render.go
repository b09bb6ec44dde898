package ui

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"

	"github.com/a-h/templ"
	"github.com/gofiber/fiber/v2"
	"github.com/valyala/bytebufferpool"

	"cagenut/templates"
	"cagenut/web"
	"cagenut/web/live"
)

// render draws into a buffer first, so that a component that fails half-way sends nothing.
func render(c *fiber.Ctx, status int, parts ...templ.Component) error {
	buf := bytebufferpool.Get()
	defer bytebufferpool.Put(buf)
	for _, part := range parts {
		if err := part.Render(c.UserContext(), buf); err != nil {
			return fmt.Errorf("render %s: %w", c.Path(), err)
		}
	}
	c.Status(status).Set(fiber.HeaderContentType, fiber.MIMETextHTMLCharsetUTF8)
	c.Set(fiber.HeaderCacheControl, "no-store")
	// The same address answers a page or a fragment.
	c.Vary("X-Requested-With")
	c.Response().SetBody(buf.Bytes())
	return nil
}

// fragment wraps an element for the page's script.
func fragment(inner templ.Component) templ.Component {
	return templ.ComponentFunc(func(ctx context.Context, w io.Writer) error {
		return templates.Fragment().Render(templ.WithChildren(ctx, inner), w)
	})
}

// draw renders to bytes, for event streams.
func draw(ctx context.Context, parts ...templ.Component) ([]byte, error) {
	var buf bytes.Buffer
	for _, part := range parts {
		if err := part.Render(ctx, &buf); err != nil {
			return nil, err
		}
	}
	return buf.Bytes(), nil
}

// guard turns the errors of a handler into pages or fragments. An error that the domain does not know is logged under
// the request's id, and the reader gets that id alone.
func (p *Pages) guard(next fiber.Handler) fiber.Handler {
	return func(c *fiber.Ctx) error {
		err := next(c)
		if err == nil {
			return nil
		}
		var f *fiber.Error
		switch {
		case errors.Is(err, live.ErrFull):
			return c.Status(fiber.StatusServiceUnavailable).SendString(err.Error())
		case errors.As(err, &f):
			return p.fail(c, f.Code, templates.Failure{Headline: headline(f.Code), Text: f.Message})
		}
		status, text := web.Status(err)
		if status >= fiber.StatusInternalServerError && status != fiber.StatusBadGateway && status != fiber.StatusGatewayTimeout && status != fiber.StatusServiceUnavailable {
			p.o.Log.Error("dashboard", "path", c.Path(), "req", web.RequestID(c), "err", err)
			return p.fail(c, status, templates.Failure{Headline: headline(status), Text: "Something went wrong in the appliance. Its log tells more under this request:", Request: web.RequestID(c)})
		}
		return p.fail(c, status, templates.Failure{Headline: headline(status), Text: text})
	}
}

func headline(status int) string {
	switch status {
	case fiber.StatusNotFound:
		return "Not found"
	case fiber.StatusForbidden:
		return "Not allowed"
	case fiber.StatusInternalServerError:
		return "Internal error"
	}
	return http.StatusText(status)
}

// fail answers with a page, or with the inside of a dialog.
func (p *Pages) fail(c *fiber.Ctx, status int, f templates.Failure) error {
	if f.Away == "" {
		f.Away, f.AwayText = "/ui", "All nodes"
	}
	if scripted(c) {
		return render(c, status, templates.FailureDialog(f))
	}
	f.Frame = p.frame(c, f.Headline, "")
	return render(c, status, templates.FailurePage(f))
}

// ident is the node that the address names, by UUID or name.
func ident(c *fiber.Ctx) (string, error) {
	id, err := url.PathUnescape(c.Params("ident"))
	if err != nil || id == "" {
		return "", fiber.NewError(fiber.StatusNotFound, "The address names no node.")
	}
	return id, nil
}

// nodeURL is the address of a node's page.
func nodeURL(label string) string { return "/ui/nodes/" + url.PathEscape(label) }
