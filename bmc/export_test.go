package bmc

import (
	"time"

	"cagenut/node"
)

// Lines counts the BMCs of which the pool remembers something.
func (p *Pool) Lines() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return len(p.lines)
}

// Standing is what is known of a BMC that fails.
type Standing struct {
	Failures int       // in a row
	Since    time.Time // when the first of them was known
	NextLook time.Time // until when looks leave it alone; zero while they do not
	Err      error     // the latest
}

// Standing is what is known of the node's BMC; the zero value of one that answers, or that nobody has asked.
func (p *Pool) Standing(n node.Node) Standing {
	_, addr, err := p.address(n)
	if err != nil {
		return Standing{}
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	l, ok := p.lines[lineKey(n, addr)]
	if !ok || l.changed(n.UUID, p.print(n)) {
		return Standing{}
	}
	return Standing{Failures: l.circuit.failures, Since: l.circuit.since, NextLook: l.circuit.next, Err: l.circuit.err}
}

// Waiting counts the callers that wait for the node's BMC.
func (p *Pool) Waiting(n node.Node) int {
	_, addr, err := p.address(n)
	if err != nil {
		return 0
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if l, ok := p.lines[lineKey(n, addr)]; ok {
		return len(l.waiting)
	}
	return 0
}
