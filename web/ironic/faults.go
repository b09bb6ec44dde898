package ironic

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"

	"github.com/gofiber/fiber/v2"

	"cagenut/web"
)

// fault is an error of this API's own, with the text that clients match on.
type fault struct {
	status int
	text   string
}

func (f *fault) Error() string { return f.text }

func notAcceptable(minor int) error {
	return &fault{fiber.StatusNotAcceptable, fmt.Sprintf("Request not acceptable. The minimal required API version should be 1.%d", minor)}
}

// routed is an error of the routing and version layer (contract.md §1.5); the description may be empty.
type routed struct {
	status int
	text   string
	allow  string // the methods that the path has, for 405
}

func (r *routed) Error() string { return r.text }

// unrouted is the answer of an address that the caller's version does not have.
func unrouted() error { return &routed{status: fiber.StatusNotFound} }

// ErrorShape is the shape of errors at all addresses that no other part of the server has claimed, for web.AppOptions:
// this API is served from the root.
func ErrorShape() web.ErrorShape { return web.ErrorShape{Answer: AnswerError} }

// AnswerError writes an error as Ironic does: JSON within a JSON string, in the shape of the family that it is of.
func AnswerError(c *fiber.Ctx, err error) error {
	var r *routed
	if errors.As(err, &r) {
		if r.allow != "" {
			c.Set(fiber.HeaderAllow, r.allow)
		}
		return answerRouted(c, r.status, r.text)
	}
	var f *fault
	if errors.As(err, &f) {
		return answerFault(c, f.status, f.text)
	}
	status, text := web.Explain(c, err)
	var e *fiber.Error
	if errors.As(err, &e) && (status == fiber.StatusNotFound || status == fiber.StatusMethodNotAllowed) {
		return answerRouted(c, status, "")
	}
	return answerFault(c, status, text)
}

func answerFault(c *fiber.Ctx, status int, text string) error {
	code := "Client"
	if status >= fiber.StatusInternalServerError {
		code = "Server"
	}
	return wrapped(c, status, struct {
		Code  string  `json:"faultcode"`
		Text  string  `json:"faultstring"`
		Debug *string `json:"debuginfo"`
	}{code, text, nil})
}

func answerRouted(c *fiber.Ctx, status int, text string) error {
	return wrapped(c, status, struct {
		Code        int    `json:"code"`
		Title       string `json:"title"`
		Description string `json:"description"`
	}{status, http.StatusText(status), text})
}

func wrapped(c *fiber.Ctx, status int, inner any) error {
	b, err := json.Marshal(inner)
	if err != nil {
		return fmt.Errorf("encode an error: %w", err)
	}
	return c.Status(status).JSON(struct {
		Message string `json:"error_message"`
	}{string(b)})
}
