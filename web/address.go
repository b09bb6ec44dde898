package web

import (
	"net/url"
	"strings"

	"github.com/gofiber/fiber/v2"
)

// BaseURL is what links in an answer begin with, without a slash at its end: the public address where one is set, else
// what the request came by, with the prefix that a trusted proxy has cut off.
func BaseURL(c *fiber.Ctx, public string) string {
	if public != "" {
		return public
	}
	base := c.BaseURL()
	if c.IsProxyTrusted() {
		if p := strings.Trim(c.Get("X-Forwarded-Prefix"), "/ "); p != "" {
			base += "/" + p
		}
	}
	return base
}

// Query is what the address of a request says; of a repeated parameter the last counts.
func Query(c *fiber.Ctx) url.Values {
	out := url.Values{}
	for k, v := range c.Context().QueryArgs().All() {
		out.Set(string(k), string(v))
	}
	return out
}
