package redfish

import (
	"context"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/stmcginnis/gofish"
	"github.com/stmcginnis/gofish/schemas"

	"cagenut/bmc"
	"cagenut/node"
)

// client is one node's view of a BMC.
type client struct {
	*connection
	node    node.Node
	system  string // path that driver_info names, or ""
	options Options
}

var (
	_ bmc.Client    = (*client)(nil)
	_ bmc.Abilities = (*client)(nil)
	_ bmc.Glancer   = (*client)(nil)
)

// within does something with a gofish client, in bounded time.
func (c *client) within(ctx context.Context, doing string, do func(context.Context, *gofish.APIClient) error) error {
	return c.withinTime(ctx, c.options.Operation, doing, do)
}

func (c *client) withinTime(ctx context.Context, limit time.Duration, doing string, do func(context.Context, *gofish.APIClient) error) error {
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	g, err := c.gofish(ctx)
	if err == nil {
		err = do(ctx, g)
	}
	return c.fail(ctx, doing, err)
}

// Power reads the system's power state.
func (c *client) Power(ctx context.Context) (node.PowerState, error) {
	seen, err := c.Glance(ctx)
	return seen.Power, err
}

// Glance reads the system's power state, and the health that the BMC rolls up for it.
func (c *client) Glance(ctx context.Context) (seen node.Glance, err error) {
	err = c.within(ctx, "read the power state", func(_ context.Context, g *gofish.APIClient) error {
		s, err := c.fetch(g)
		st := s.all.state()
		seen = node.Glance{Power: s.powerState(), Health: st.worst(), Why: strings.Join(st.why, " ")}
		return err
	})
	return seen, err
}

// SetPower asks for a reset of the kind that the BMC allows (quirk 35), unless the goal is reached already.
func (c *client) SetPower(ctx context.Context, action node.PowerAction) error {
	return c.within(ctx, string(action), func(ctx context.Context, g *gofish.APIClient) error {
		s, err := c.fetch(g)
		if err != nil {
			return err
		}
		if reached(s, action) && !(action == node.ActionOff && s.power == "PoweringOff") { // a shutdown that hangs must be cut short
			return nil
		}
		if s.powerState() == node.PowerOff && action.Result() == node.PowerOn {
			action = node.ActionOn // a server that is off cannot be rebooted, only started
		}
		kind, ok := s.reset.kind(action)
		if ok {
			return c.reset(ctx, g, s, kind, action)
		}
		off, ok := inSteps[action]
		if !ok {
			return c.unsupported(string(action))
		}
		return c.offAndOn(ctx, g, s, off)
	})
}

// reached tells whether the action has nothing left to do. A reboot always has; a server on its way counts.
func reached(s system, action node.PowerAction) bool {
	switch action {
	case node.ActionOn:
		return s.power == "On" || s.power == "PoweringOn"
	case node.ActionOff, node.ActionSoftOff:
		return s.power == "Off" || s.power == "PoweringOff"
	}
	return false
}

// kinds are the reset types of an action, the best first.
var kinds = map[node.PowerAction][]string{
	node.ActionOn:         {"On", "ForceOn"},
	node.ActionOff:        {"ForceOff", "Off"},
	node.ActionSoftOff:    {"GracefulShutdown"},
	node.ActionReboot:     {"ForceRestart", "PowerCycle"},
	node.ActionSoftReboot: {"GracefulRestart"},
}

// inSteps are the actions that can be made of an off and an on, with the off that begins them.
var inSteps = map[node.PowerAction]node.PowerAction{
	node.ActionReboot:     node.ActionOff,
	node.ActionSoftReboot: node.ActionSoftOff,
}

// kind is the reset type to send. A BMC that does not say what it allows gets the usual one.
func (r resetAction) kind(action node.PowerAction) (string, bool) {
	candidates := kinds[action]
	if r.target == "" || len(candidates) == 0 {
		return "", false
	}
	if len(r.types) == 0 {
		return candidates[0], true
	}
	for _, k := range candidates {
		if slices.Contains(r.types, k) {
			return k, true
		}
	}
	return "", false
}

// reset posts the action. It is never repeated blindly: after any failure the state is read again, and a goal that is reached is
// success (G34); only a refusal for being busy is followed by another try.
func (c *client) reset(ctx context.Context, g *gofish.APIClient, s system, kind string, action node.PowerAction) error {
	for try := 1; ; try++ {
		res, err := g.Post(s.reset.target, map[string]string{"ResetType": kind})
		schemas.DeferredCleanupHTTPResponse(res)
		if err == nil {
			return nil
		}
		if now, readErr := c.fetchAt(g, s.path); readErr == nil && reached(now, action) {
			return nil
		}
		if !busy(err) || try == c.options.BusyTries || sleep(ctx, c.options.BusyPause) != nil {
			return err
		}
	}
}

// offAndOn reboots a BMC that has no reboot of its own.
func (c *client) offAndOn(ctx context.Context, g *gofish.APIClient, s system, off node.PowerAction) error {
	kind, ok := s.reset.kind(off)
	if !ok {
		return c.unsupported(string(off))
	}
	if err := c.reset(ctx, g, s, kind, off); err != nil {
		return err
	}
	for {
		now, err := c.fetchAt(g, s.path)
		if err != nil {
			return err
		}
		if now.power == "Off" {
			break
		}
		if err := sleep(ctx, c.options.Poll); err != nil {
			return err
		}
	}
	kind, ok = s.reset.kind(node.ActionOn)
	if !ok {
		return c.unsupported(string(node.ActionOn))
	}
	return c.reset(ctx, g, s, kind, node.ActionOn)
}

func (c *client) unsupported(what string) error {
	return &node.Unsupported{Driver: c.node.Driver, Extension: what}
}

// refusedBody tells of a refusal of what was sent, which another spelling may cure.
func refusedBody(err error) bool {
	switch status(err) {
	case http.StatusBadRequest, http.StatusMethodNotAllowed, http.StatusNotImplemented, http.StatusUnprocessableEntity:
		return true
	}
	return false
}
