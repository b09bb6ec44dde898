package web

import (
	"bytes"
	"compress/gzip"
	"compress/zlib"
	"errors"
	"fmt"
	"io"
	"path"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/gofiber/fiber/v2"
)

// maxDepth is how deep a JSON body may be nested (contract.md §1.5).
const maxDepth = 25

// refusedBody is a body that no handler gets to see.
type refusedBody struct {
	status int
	text   string
}

func (e *refusedBody) Error() string { return e.text }

// answer is the flat shape of contract.md §1.5(b).
func (e *refusedBody) answer(c *fiber.Ctx) error {
	return c.Status(e.status).JSON(struct {
		Code string `json:"faultcode"`
		Text string `json:"faultstring"`
	}{"Client", e.text})
}

func tooLarge(limit int) error {
	return &refusedBody{fiber.StatusRequestEntityTooLarge, fmt.Sprintf("The request body is larger than %d bytes.", limit)}
}

// isDoor tells whether the bodies of a path may have the size of a ramdisk's report.
func (s *server) isDoor(p string) bool {
	return s.doors[p] || slices.ContainsFunc(s.wideDoors, func(door string) bool {
		fits, _ := path.Match(door, p)
		return fits
	})
}

// guardBody bounds what handlers read: its size after decompression, and its depth (G26). The body is left
// uncompressed, because fiber's own decompression has no bound.
func (s *server) guardBody(c *fiber.Ctx) error {
	limit := smallBody
	door := s.isDoor(c.Path())
	if door {
		limit = reportBody
	}
	raw := c.Request().Body()
	if len(raw) > limit {
		return tooLarge(limit)
	}
	if encoding := c.Get(fiber.HeaderContentEncoding); encoding != "" && len(raw) > 0 {
		plain, err := decompress(raw, encoding, limit)
		if err != nil {
			return err
		}
		c.Request().SetBody(plain)
		c.Request().Header.Del(fiber.HeaderContentEncoding)
		raw = plain
	}
	if looksLikeJSON(raw) && !door && !utf8.Valid(raw) { // reports see to it themselves: one odd field must not lose all
		return &refusedBody{fiber.StatusBadRequest, "The JSON body is not UTF-8."}
	}
	if tooDeep(raw) {
		return &refusedBody{fiber.StatusBadRequest, fmt.Sprintf("The JSON body is nested deeper than %d levels.", maxDepth)}
	}
	return c.Next()
}

func decompress(raw []byte, encoding string, limit int) ([]byte, error) {
	var r io.Reader
	var err error
	switch strings.ToLower(strings.TrimSpace(encoding)) {
	case "identity":
		return raw, nil
	case "gzip", "x-gzip":
		r, err = gzip.NewReader(bytes.NewReader(raw))
	case "deflate":
		r, err = zlib.NewReader(bytes.NewReader(raw))
	default:
		return nil, &refusedBody{fiber.StatusUnsupportedMediaType, "The request body is compressed in a way that is not supported; use gzip or deflate."}
	}
	broken := &refusedBody{fiber.StatusBadRequest, "The request body could not be decompressed."}
	if err != nil {
		return nil, broken
	}
	plain, err := io.ReadAll(io.LimitReader(r, int64(limit)+1))
	if len(plain) > limit {
		return nil, tooLarge(limit)
	}
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, broken
	}
	return plain, nil
}

func looksLikeJSON(body []byte) bool {
	body = bytes.TrimLeft(body, " \t\r\n")
	return len(body) > 0 && (body[0] == '{' || body[0] == '[')
}

// tooDeep scans a body that looks like JSON without decoding it: decoders recurse.
func tooDeep(body []byte) bool {
	if !looksLikeJSON(body) {
		return false
	}
	depth, quoted := 0, false
	for i := 0; i < len(body); i++ {
		switch b := body[i]; {
		case quoted && b == '\\':
			i++
		case b == '"':
			quoted = !quoted
		case quoted:
		case b == '{' || b == '[':
			if depth++; depth > maxDepth {
				return true
			}
		case b == '}' || b == ']':
			depth--
		}
	}
	return false
}
