package redfish

import (
	"context"

	"cagenut/node"
)

// Identity is what the BMC says of itself: the manager's words, and where it has none the service root's and the system's
// (quirks 53, 54).
func (c *client) Identity(ctx context.Context) (id node.BMCIdentity, err error) {
	err = c.walk(ctx, "read the BMC's identity", func(w *walk, s system) error {
		id.Protocol = "Redfish"
		if v := c.redfishVersion(); v != "" {
			id.Protocol += " " + v
		}
		id.Manufacturer = c.vendor()
		if managers := w.managers(s); len(managers) > 0 {
			m := managers[0]
			if own := m.word("Manufacturer"); own != "" {
				id.Manufacturer = own
			}
			id.Model, id.Firmware = m.word("Model"), m.word("FirmwareVersion")
			id.UUID, id.Serial, id.Time = m.word("UUID"), m.word("SerialNumber"), moment(m.resource["DateTime"])
		}
		if id.Manufacturer == "" {
			id.Manufacturer = s.all.word("Manufacturer")
		}
		return nil
	})
	return id, err
}

func (c *connection) redfishVersion() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.root.word("RedfishVersion")
}
