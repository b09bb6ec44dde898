package bmc

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"hash/maphash"
	"slices"
	"time"

	"cagenut/node"
)

// line is the line in front of one BMC, and what is known of the BMC. It exists while somebody is in it and while the BMC is
// failing. Everything in it is guarded by the pool's lock.
type line struct {
	key     string
	serving *turn   // who has the BMC
	waiting []*turn // the first of them waits for a place, if nobody has the BMC
	used    time.Time

	circuit circuit
	// settings counts how often the settings changed by which the BMC is spoken to: what is learned with old ones says nothing.
	settings int
	prints   map[string]uint64 // digests of driver_info, by node

	queue *queue // where the line waits for a place, nil if it does not
	index int    // in queue
}

// turn is one caller's way through a line.
type turn struct {
	line     *line
	ticket   uint64 // the order in which callers came
	look     bool
	settings int
	ready    chan struct{} // closed when the turn has come, or err is the answer
	err      error

	began time.Time
	place place
	timer *time.Timer // ends the time for which a place is lent
}

func lineKey(n node.Node, a Address) string { return n.Driver + " " + a.Queue }

// print is a digest of what the node's BMC is spoken to by. Nobody outside this process can tell a password from it.
func (p *Pool) print(n node.Node) uint64 {
	b, err := json.Marshal(n.DriverInfo)
	if err != nil {
		b = fmt.Append(nil, n.DriverInfo) // a map, which fmt prints sorted
	}
	return maphash.Bytes(p.seed, b)
}

// changed tells whether the node was known with other settings.
func (l *line) changed(uuid string, print uint64) bool {
	before, known := l.prints[uuid]
	return known && before != print
}

// forget drops what was learned of the BMC.
func (l *line) forget() {
	l.circuit = circuit{}
	l.settings++
}

func (l *line) busy() bool { return l.serving != nil || len(l.waiting) > 0 }

// resting tells whether looks leave the BMC alone: during the back-off, and while one of them, or a Do, tries it out.
func (l *line) resting(now time.Time) bool {
	return l.circuit.open() && (l.busy() || now.Before(l.circuit.next))
}

// looksOnly tells whether nobody waits who was asked for something.
func (l *line) looksOnly() bool {
	return !slices.ContainsFunc(l.waiting, func(t *turn) bool { return !t.look })
}

// enter puts a caller into the line of its BMC. It must await its turn.
func (p *Pool) enter(n node.Node, a Address, look bool) (*turn, error) {
	print := p.print(n)
	p.mu.Lock()
	defer p.mu.Unlock()
	l, err := p.line(lineKey(n, a))
	if err != nil {
		return nil, err
	}
	if l.changed(n.UUID, print) {
		l.forget()
	}
	l.prints[n.UUID] = print
	if look && l.resting(p.now()) {
		return nil, l.circuit.refusal(a.Host)
	}
	return p.join(l, look), nil
}

// enterToForget is enter for the end of what is known.
func (p *Pool) enterToForget(n node.Node, a Address) (*turn, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	l, err := p.line(lineKey(n, a))
	if err != nil {
		return nil, err
	}
	l.forget()
	delete(l.prints, n.UUID)
	return p.join(l, true), nil
}

// line finds the line of a BMC, or makes it.
func (p *Pool) line(key string) (*line, error) {
	if p.closed {
		return nil, ErrClosed
	}
	now := p.now()
	p.sweep(now)
	l, ok := p.lines[key]
	if !ok {
		l = &line{key: key, prints: map[string]uint64{}}
		p.lines[key] = l
	}
	l.used = now
	return l, nil
}

// sweep drops the lines of failing BMCs that nobody has wanted anything of for long.
func (p *Pool) sweep(now time.Time) {
	if now.Sub(p.swept) < sweepInterval {
		return
	}
	p.swept = now
	for key, l := range p.lines {
		if !l.busy() && now.Sub(l.used) >= remembered {
			delete(p.lines, key)
		}
	}
}

func (p *Pool) join(l *line, look bool) *turn {
	p.tickets++
	t := &turn{line: l, ticket: p.tickets, look: look, settings: l.settings, ready: make(chan struct{})}
	l.waiting = append(l.waiting, t)
	p.running.Add(1)
	p.settle(l)
	return t
}

// await waits for the turn. Without an error the caller has the BMC and must leave.
func (p *Pool) await(ctx context.Context, t *turn, host string) error {
	select {
	case <-t.ready:
	case <-ctx.Done():
		return p.giveUp(ctx, t, host)
	}
	if t.err != nil {
		p.running.Done()
	}
	return t.err
}

// giveUp takes a caller out of the line whose context has ended.
func (p *Pool) giveUp(ctx context.Context, t *turn, host string) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	defer p.running.Done()
	if t.err != nil { // answered in the same moment: the line may be gone by now, and another in its place
		return t.err
	}
	l := t.line
	why := "another command still has the BMC"
	if l.serving == nil && len(l.waiting) > 0 && l.waiting[0] == t {
		why = "too many BMCs are busy"
	}
	if l.serving == t { // the turn came in the same moment
		p.end(t, verdict{})
	} else {
		l.waiting = slices.DeleteFunc(l.waiting, func(w *turn) bool { return w == t })
		p.settle(l)
	}
	return waited(ctx, host, why)
}

// leave gives the BMC and the place on.
func (p *Pool) leave(t *turn, said verdict) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.end(t, said)
	p.running.Done()
}

func (p *Pool) end(t *turn, said verdict) {
	l := t.line
	t.timer.Stop()
	p.places.give(t)
	l.serving = nil
	switch {
	case t.settings != l.settings: // it has been told something else since
	case said.failure != nil:
		l.circuit.failed(said.failure, p.now())
		l.answer(said.failure)
	case said.alive:
		l.circuit = circuit{}
	}
	p.settle(l)
}

// answer ends the waiting of all: they would only find out the same.
func (l *line) answer(err error) {
	for _, t := range l.waiting {
		t.err = err
		close(t.ready)
	}
	l.waiting = nil
}

// settle brings a line to where it belongs after any change: into the queue for a place, or out of the world. Then whoever has
// room is served.
func (p *Pool) settle(l *line) {
	p.places.file(l)
	if !l.busy() && l.circuit.failures == 0 {
		delete(p.lines, l.key)
	}
	for {
		switch l := p.places.next(); {
		case l != nil:
			p.serve(l)
		case !p.places.hurry():
			return
		}
	}
}

func (p *Pool) serve(l *line) {
	t := l.waiting[0]
	p.places.take(l, t)
	l.waiting = slices.Delete(l.waiting, 0, 1)
	l.serving = t
	p.places.file(l)
	t.began = p.now()
	t.timer = time.AfterFunc(p.lend/hurried, func() { p.lasts(t) })
	close(t.ready)
}

// lasts lets a call that lasts long go on without its place: at first if a command waits for it, then in any case.
func (p *Pool) lasts(t *turn) {
	p.mu.Lock()
	defer p.mu.Unlock()
	switch {
	case t.line.serving != t: // it has just ended
		return
	case !t.place.ripe:
		t.place.ripe = true
		t.timer.Reset(p.lend - p.lend/hurried)
	case t.place.held:
		p.places.lend(t)
	}
	p.settle(t.line)
}

func waited(ctx context.Context, host, why string) error {
	err := fmt.Errorf("%s: %w", why, ctx.Err())
	if errors.Is(ctx.Err(), context.DeadlineExceeded) {
		return &node.Unreachable{What: "BMC " + host, Timeout: true, Unasked: true, Err: err}
	}
	return fmt.Errorf("bmc: %s: %w", host, err)
}
