package bmc

import "cagenut/node"

// Endpoint says which BMC the node's is, and its host name or address alone: nodes with the same endpoint have the same
// BMC. "" for a driver without BMCs. No network.
func (p *Pool) Endpoint(n node.Node) (endpoint, host string, err error) {
	_, a, err := p.address(n)
	return a.Queue, a.Host, err
}
