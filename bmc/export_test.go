package bmc

// Lines counts the BMCs of which the pool remembers something.
func (p *Pool) Lines() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return len(p.lines)
}
