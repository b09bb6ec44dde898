package bmc

import "cagenut/node"

// Warner is a [Driver] of which driver_info may be valid and unwise.
type Warner interface {
	// Warn is what should be known about driver_info; "" where there is nothing.
	Warn(n node.Node) string
}

// Warn is what should be known about the node's driver_info although it is valid; "" where there is nothing.
func (p *Pool) Warn(n node.Node) string {
	if w, ok := p.drivers[n.Driver].(Warner); ok {
		return w.Warn(n)
	}
	return ""
}
