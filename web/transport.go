package web

import (
	"net/http"
	"strings"

	"github.com/gofiber/fiber/v2"
)

// contentPolicy allows what the dashboard needs: its own script, style sheet and images.
const contentPolicy = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"

func setSecurityHeaders(c *fiber.Ctx) {
	c.Set(fiber.HeaderContentSecurityPolicy, contentPolicy)
	c.Set(fiber.HeaderXContentTypeOptions, "nosniff")
	c.Set(fiber.HeaderXFrameOptions, "DENY")
	c.Set(fiber.HeaderReferrerPolicy, "same-origin")
	c.Set("Cross-Origin-Opener-Policy", "same-origin")
	c.Set("Cross-Origin-Resource-Policy", "same-origin")
}

// normalisePath makes paths with doubled or trailing slashes those without, for every route and method, without a
// redirect (G30, contract.md §1.6). Slashes inside an element travel as %2F and stay.
func normalisePath(c *fiber.Ctx) {
	path := string(c.Context().URI().PathOriginal())
	for strings.Contains(path, "//") {
		path = strings.ReplaceAll(path, "//", "/")
	}
	if len(path) > 1 {
		path = strings.TrimSuffix(path, "/")
	}
	if path == "" {
		path = "/"
	}
	c.Path(path)
}

// refuseCrossOrigin turns away what a browser sends from another site: it may carry the user's password along. Programs
// other than browsers send neither of the headers and pass.
func refuseCrossOrigin() fiber.Handler {
	protection := http.NewCrossOriginProtection()
	return func(c *fiber.Ctx) error {
		r := &http.Request{Method: c.Method(), Host: c.Hostname(), Header: http.Header{}}
		for _, name := range []string{"Sec-Fetch-Site", "Origin"} {
			if value := c.Get(name); value != "" {
				r.Header.Set(name, value)
			}
		}
		if err := protection.Check(r); err != nil {
			return fiber.NewError(fiber.StatusForbidden, "The request comes from another site and was refused.")
		}
		return c.Next()
	}
}
