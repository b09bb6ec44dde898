package web

import (
	"context"
	"net/netip"
	"strings"

	"github.com/gofiber/fiber/v2"

	"cagenut/node"
)

type local int

// Keys of what a request carries along.
const (
	localID local = iota
	localAddress
	localUser
	localRole
	localSession
	localStillIn
)

// The roles. A viewer may only read.
const (
	RoleViewer   = "viewer"
	RoleOperator = "operator"
	RoleAdmin    = "admin"
)

// RequestID is the id that the request's answer carries in its headers: "req-" and a UUID.
func RequestID(c *fiber.Ctx) string {
	id, _ := c.Locals(localID).(string)
	return id
}

// User is who signed in, as web/auth left it: role is "viewer", "operator" or "admin". Where nobody has to sign in, name
// is "" and role "admin"; on public paths of a guarded server both are "".
func User(c *fiber.Ctx) (name, role string) {
	name, _ = c.Locals(localUser).(string)
	role, _ = c.Locals(localRole).(string)
	return name, role
}

// SetUser is for web/auth.
func SetUser(c *fiber.Ctx, name, role string) {
	c.Locals(localUser, name)
	c.Locals(localRole, role)
}

// Session is the id of the dashboard's session that the request belongs to; "" for who signed in otherwise, or not at all.
func Session(c *fiber.Ctx) string {
	id, _ := c.Locals(localSession).(string)
	return id
}

// SetSession is for web/auth.
func SetSession(c *fiber.Ctx, id string) { c.Locals(localSession, id) }

// StillIn tells, as long as an answer streams, whether who asked for it would still be let in; nil where nobody signs in.
func StillIn(c *fiber.Ctx) func(context.Context) bool {
	f, _ := c.Locals(localStillIn).(func(context.Context) bool)
	return f
}

// SetStillIn is for web/auth.
func SetStillIn(c *fiber.Ctx, f func(context.Context) bool) { c.Locals(localStillIn, f) }

// Actor is who asks through which door, for the conductor.
func Actor(c *fiber.Ctx, source node.Source) node.Actor {
	name, _ := User(c)
	return node.Actor{User: name, Source: source, Address: RemoteAddress(c), RequestID: RequestID(c)}
}

// RemoteAddress is the client's IP address; X-Forwarded-For counts only as far as trusted proxies wrote it.
func RemoteAddress(c *fiber.Ctx) string {
	if a, ok := c.Locals(localAddress).(string); ok {
		return a
	}
	return c.Context().RemoteIP().String()
}

// remoteAddress walks the chain of proxies back: what stands left of the first untrusted address may be invented.
func (s *server) remoteAddress(c *fiber.Ctx) string {
	peer := c.Context().RemoteIP().String()
	if !s.trusted(peer) {
		return peer
	}
	hops := strings.Split(c.Get(fiber.HeaderXForwardedFor), ",")
	for i := len(hops) - 1; i >= 0; i-- {
		hop, err := netip.ParseAddr(strings.TrimSpace(hops[i]))
		if err != nil {
			break
		}
		peer = hop.Unmap().String()
		if !s.trusted(peer) {
			break
		}
	}
	return peer
}

func (s *server) trusted(address string) bool {
	a, err := netip.ParseAddr(address)
	if err != nil {
		return false
	}
	for _, p := range s.proxies {
		if p.Contains(a.Unmap()) {
			return true
		}
	}
	return false
}
