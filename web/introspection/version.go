package introspection

import (
	"errors"
	"fmt"
	"net/http"
	"regexp"
	"strconv"
	"strings"

	"github.com/gofiber/fiber/v2"

	"cagenut/web"
)

const (
	headerVersion = "X-OpenStack-Ironic-Inspector-API-Version"
	headerMin     = "X-OpenStack-Ironic-Inspector-API-Minimum-Version"
	headerMax     = "X-OpenStack-Ironic-Inspector-API-Maximum-Version"

	oldestVersion = "1.0"
	newestVersion = "1.18"
	newestMinor   = 18
)

// fault is an error of this API's own.
type fault struct {
	status int
	text   string
}

func (f *fault) Error() string { return f.text }

var version = regexp.MustCompile(`^([0-9]+)\.([0-9]+)$`)

// minorKey is where a request keeps the version 1.N that it asks for.
type minorKey struct{}

// askedMinor is the version 1.N that a request asks for; the newest where it says nothing.
func askedMinor(c *fiber.Ctx) int {
	if n, ok := c.Locals(minorKey{}).(int); ok {
		return n
	}
	return newestMinor
}

// negotiate refuses versions that are not served (contract.md §5.1, G31). Within the range all are served alike, but for the
// answer to a new rule.
func negotiate(c *fiber.Ctx) error {
	setVersions(c)
	asked := strings.TrimSpace(c.Get(headerVersion))
	if asked == "" || strings.EqualFold(asked, "latest") {
		return c.Next()
	}
	parts := version.FindStringSubmatch(asked)
	if parts == nil {
		return &fault{fiber.StatusBadRequest, "Malformed API version: expected string in form of X.Y or latest"}
	}
	// Numbers that are too large to read are out of range as well.
	major, tooLong := strconv.Atoi(parts[1])
	minor, tooLongToo := strconv.Atoi(parts[2])
	if errors.Join(tooLong, tooLongToo) != nil || major != 1 || minor > newestMinor {
		return &fault{fiber.StatusNotAcceptable, fmt.Sprintf("Unsupported API version %s, supported range is %s to %s", asked, oldestVersion, newestVersion)}
	}
	c.Locals(minorKey{}, minor)
	return c.Next()
}

func setVersions(c *fiber.Ctx) {
	c.Set(headerMin, oldestVersion)
	c.Set(headerMax, newestVersion)
}

// ErrorShape is the shape of all errors on this API's port, for web.AppOptions.
func ErrorShape() web.ErrorShape {
	return web.ErrorShape{Answer: answerError, Bodies: true}
}

// answerError writes `{"error":{"message":"…"}}`. The cause of an internal error is in the log, under the id that the
// answer's headers carry.
func answerError(c *fiber.Ctx, err error) error {
	setVersions(c)
	status, text := explain(err)
	return c.Status(status).JSON(map[string]map[string]string{"error": {"message": text}})
}

// explain is web.Status with what this family says differently.
func explain(err error) (status int, text string) {
	var own *fault
	var routed *fiber.Error
	if errors.As(err, &own) {
		return own.status, own.text
	}
	if errors.As(err, &routed) && (routed.Code == fiber.StatusNotFound || routed.Code == fiber.StatusMethodNotAllowed) {
		return routed.Code, http.StatusText(routed.Code)
	}
	if status, text = web.Status(err); status == fiber.StatusInternalServerError {
		text = "Internal server error"
	}
	return status, text
}
