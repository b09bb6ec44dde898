package redfish

import (
	"context"

	"cagenut/node"
)

// System says which server the BMC's is, without the inventory of its parts.
func (c *client) System(ctx context.Context) (id node.SystemIdentity, err error) {
	err = c.walk(ctx, "read which server it is", func(w *walk, s system) error {
		id = systemIdentity(w, s)
		return nil
	})
	return id, err
}
