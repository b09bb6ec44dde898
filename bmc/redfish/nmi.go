package redfish

import (
	"context"
	"slices"

	"github.com/stmcginnis/gofish"

	"cagenut/node"
)

// InjectNMI asks for the reset of the kind Nmi, once. A BMC that does not list it lacks it; one that lists nothing is asked.
func (c *client) InjectNMI(ctx context.Context) error {
	var s system
	err := c.within(ctx, "inject an NMI", func(_ context.Context, g *gofish.APIClient) (err error) {
		s, err = c.fetch(g)
		return err
	})
	if err != nil {
		return err
	}
	if s.reset.target == "" || (len(s.reset.types) > 0 && !slices.Contains(s.reset.types, "Nmi")) {
		return c.unsupported("inject_nmi")
	}
	if s.powerState() == node.PowerOff {
		return &node.Conflict{Text: "The server is off: there is nothing to interrupt."}
	}
	return c.changing(ctx, "inject an NMI", func(ch *change) error {
		ch.once = true
		err := ch.post(s.reset.target, map[string]any{"ResetType": "Nmi"}, "")
		if len(s.reset.types) == 0 && refusedBody(err) {
			return c.unsupported("inject_nmi")
		}
		return err
	})
}
