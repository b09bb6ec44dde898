package bmc

import "cagenut/node"

// Load is how many calls run and wait just now.
func (p *Pool) Load() node.CallLoad {
	p.mu.Lock()
	defer p.mu.Unlock()
	l := node.CallLoad{Running: p.places.taken.all + p.places.taken.lent, Limit: p.places.limit}
	for _, line := range p.lines {
		l.Waiting += len(line.waiting)
		if line.circuit.open() {
			l.LeftAlone++
		}
	}
	return l
}
