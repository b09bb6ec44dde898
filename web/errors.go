package web

import (
	"context"
	"errors"
	"strings"

	"github.com/gofiber/fiber/v2"

	"cagenut/node"
)

// ErrorShape is how the errors of a family of paths look.
type ErrorShape struct {
	// Prefix is where the family begins, such as "/v1": that path and all below it. "" is every path.
	Prefix string
	// Answer writes the answer; [Explain] gives status and text.
	Answer func(c *fiber.Ctx, err error) error
	// Bodies says that bodies which are too large or too deep are answered in this shape too. Otherwise they get the flat
	// one of contract.md §1.5(b).
	Bodies bool
}

// Status maps an error to its status code and to the text that a client may see. It is the only such map. The text is
// that of the typed error inside, which clients match on, without what adapters wrapped around it. Anything unknown is
// 500, whose text names no cause: [Explain] adds the request's id.
func Status(err error) (status int, text string) {
	var (
		notFound    *node.NotFound
		exists      *node.Exists
		conflict    *node.Conflict
		forbidden   *node.Forbidden
		invalid     *node.Invalid
		transition  *node.InvalidTransition
		locked      *node.Locked
		unsupported *node.Unsupported
		unreachable *node.Unreachable
		stale       *node.Stale
		refused     *refusedBody
		routed      *fiber.Error
	)
	switch {
	case errors.As(err, &notFound):
		return fiber.StatusNotFound, notFound.Error()
	case errors.As(err, &exists):
		return fiber.StatusConflict, exists.Error()
	case errors.As(err, &conflict):
		return fiber.StatusConflict, conflict.Error()
	case errors.As(err, &locked):
		return fiber.StatusConflict, locked.Error()
	case errors.As(err, &stale):
		return fiber.StatusConflict, stale.Error()
	case errors.As(err, &forbidden):
		return fiber.StatusForbidden, forbidden.Error()
	case errors.As(err, &invalid):
		return fiber.StatusBadRequest, invalid.Error()
	case errors.As(err, &transition):
		return fiber.StatusBadRequest, transition.Error()
	case errors.As(err, &unsupported):
		return fiber.StatusBadRequest, unsupported.Error()
	case errors.As(err, &unreachable):
		if unreachable.Timeout {
			return fiber.StatusGatewayTimeout, unreachable.Error()
		}
		return fiber.StatusBadGateway, unreachable.Error()
	case errors.As(err, &refused):
		return refused.status, refused.text
	case errors.Is(err, node.ErrNotAcceptable):
		return fiber.StatusNotAcceptable, node.ErrNotAcceptable.Error()
	case errors.Is(err, node.ErrNotReported):
		return fiber.StatusNotFound, "Resource could not be found."
	case errors.Is(err, node.ErrLost):
		return fiber.StatusConflict, "The node changed in the meantime; please try again."
	case errors.Is(err, node.ErrCredentials):
		return fiber.StatusBadGateway, err.Error() // says which BMC, never the secret
	case errors.As(err, &routed):
		return routed.Code, routed.Message
	case errors.Is(err, context.DeadlineExceeded):
		return fiber.StatusGatewayTimeout, "The request took too long and was given up."
	case errors.Is(err, context.Canceled):
		return fiber.StatusServiceUnavailable, "The appliance is shutting down."
	}
	return fiber.StatusInternalServerError, "internal error"
}

// Explain is [Status] with the request's id in the text of an internal error. The cause is in the log under that id.
func Explain(c *fiber.Ctx, err error) (status int, text string) {
	status, text = Status(err)
	if status == fiber.StatusInternalServerError {
		text = "internal error, request " + RequestID(c)
	}
	return status, text
}

// errorBody is the shape of everything that is not Ironic's.
type errorBody struct {
	Error errorDetail `json:"error"`
}

type errorDetail struct {
	Code    int    `json:"code"`
	Message string `json:"message"`
}

// AnswerError writes `{"error":{"code","message"}}`, the shape of paths that have no other.
func AnswerError(c *fiber.Ctx, err error) error {
	status, text := Explain(c, err)
	return c.Status(status).JSON(errorBody{errorDetail{Code: status, Message: text}})
}

// answer writes an error in the shape of its path.
func (s *server) answer(c *fiber.Ctx, err error) {
	shape := s.shape(c.Path())
	var body *refusedBody
	var failed error
	switch {
	case errors.As(err, &body) && !shape.Bodies:
		failed = body.answer(c)
	default:
		failed = safely(func() error { return shape.Answer(c, err) })
	}
	if failed != nil {
		s.Log.Error("web: an error could not be answered", "req", RequestID(c), "err", failed)
		_ = AnswerError(c, errors.New("unanswerable"))
	}
}

func (s *server) shape(path string) ErrorShape {
	best := ErrorShape{Answer: AnswerError}
	found := false
	for _, e := range s.Errors {
		rest, ok := strings.CutPrefix(path, e.Prefix)
		if !ok || (e.Prefix != "" && rest != "" && rest[0] != '/') {
			continue
		}
		if !found || len(e.Prefix) > len(best.Prefix) {
			best, found = e, true
		}
	}
	return best
}
