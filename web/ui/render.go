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

	"cagenut/node"
	"cagenut/templates"
	"cagenut/web"
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

// ErrorShape draws the errors of everything below /ui, also those of addresses that are none and of requests that never
// reached a page: as a page, or as the inside of a dialog for the script. The cause of an internal error is in the log
// alone.
func (p *Pages) ErrorShape() web.ErrorShape {
	return web.ErrorShape{Prefix: "/ui", Answer: p.answerError, Bodies: true}
}

func (p *Pages) answerError(c *fiber.Ctx, err error) error {
	p.speak(c) // a request that was refused early has no language yet
	status, text := web.Explain(c, err)
	f := templates.Failure{Headline: headline(c.UserContext(), status), Text: text}
	var missing *node.NotFound
	switch {
	case status == fiber.StatusInternalServerError:
		f.Text, f.Request = templates.T(c.UserContext(), "failure.internal"), web.RequestID(c)
	case status == fiber.StatusNotFound && !errors.As(err, &missing):
		f.Headline, f.Text = templates.T(c.UserContext(), "failure.nopage"), templates.T(c.UserContext(), "failure.nopage.text")
	case status == fiber.StatusNotFound && missing.What == "Node" && missing.Text == "":
		f.Text = templates.T(c.UserContext(), "failure.nonode", missing.Ident)
	}
	return p.fail(c, status, f)
}

func headline(ctx context.Context, status int) string {
	switch status {
	case fiber.StatusNotFound:
		return templates.T(ctx, "failure.notfound")
	case fiber.StatusForbidden:
		return templates.T(ctx, "failure.notallowed")
	case fiber.StatusInternalServerError:
		return templates.T(ctx, "failure.internalerror")
	}
	return http.StatusText(status)
}

// fail answers with a page, or with the inside of a dialog.
func (p *Pages) fail(c *fiber.Ctx, status int, f templates.Failure) error {
	if f.Away == "" {
		f.Away, f.AwayText = "/ui", templates.T(c.UserContext(), "failure.away")
	}
	if scripted(c) {
		return render(c, status, templates.FailureDialog(f))
	}
	f.Frame = p.bareFrame(c, f.Headline)
	return render(c, status, templates.FailurePage(f))
}

// ident is the node that the address names, by UUID or name.
func ident(c *fiber.Ctx) (string, error) {
	id, err := url.PathUnescape(c.Params("ident"))
	if err != nil || id == "" {
		return "", fiber.NewError(fiber.StatusNotFound, templates.T(c.UserContext(), "address.node"))
	}
	return id, nil
}

// nodeURL is the address of a node's page.
func nodeURL(label string) string { return "/ui/nodes/" + url.PathEscape(label) }
