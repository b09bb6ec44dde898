package ipmi

import (
	"context"

	"cagenut/node"
)

// System says which server the BMC's is.
func (c *client) System(ctx context.Context) (node.SystemIdentity, error) {
	h, err := c.Hardware(ctx)
	return h.System, err
}
