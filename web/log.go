package web

import (
	"errors"
	"log/slog"
	"net/url"
	"strings"
	"time"

	"github.com/gofiber/fiber/v2"

	"cagenut/node"
)

// log tells of a finished request: errors of ours at error level, with their cause; what changes something and what is
// refused at info; successful reads at debug.
func (s *server) log(c *fiber.Ctx, began time.Time, err error) {
	status := c.Response().StatusCode()
	user, _ := User(c)
	attrs := []slog.Attr{
		slog.String("method", c.Method()), slog.String("path", node.HideMediumKey(c.Path())), slog.Int("status", status),
		slog.Duration("took", time.Since(began)), slog.String("from", RemoteAddress(c)), slog.String("req", RequestID(c)),
	}
	if query := maskQuery(string(c.Context().URI().QueryString())); query != "" {
		attrs = append(attrs, slog.String("query", query))
	}
	if user != "" {
		attrs = append(attrs, slog.String("user", user))
	}
	level := slog.LevelInfo
	switch {
	case status >= fiber.StatusInternalServerError && err != nil:
		attrs = append(attrs, slog.Any("err", err))
		level = slog.LevelError
	case status < fiber.StatusBadRequest && (c.Method() == fiber.MethodGet || c.Method() == fiber.MethodHead):
		level = slog.LevelDebug
	}
	var p *panicked
	if errors.As(err, &p) {
		attrs = append(attrs, slog.String("stack", string(p.stack)))
	}
	s.Log.LogAttrs(c.UserContext(), level, "request", attrs...)
}

// maskQuery hides what proves that a ramdisk belongs to its attempt, however the parameter's name is spelt.
func maskQuery(query string) string {
	if query == "" {
		return ""
	}
	pairs := strings.Split(query, "&")
	for i, pair := range pairs {
		key, _, found := strings.Cut(pair, "=")
		name, err := url.QueryUnescape(key)
		if err != nil {
			name = key
		}
		if found && (strings.EqualFold(name, "attempt") || node.IsSecretKey(name)) {
			pairs[i] = key + "=" + node.Mask
		}
	}
	return strings.Join(pairs, "&")
}
