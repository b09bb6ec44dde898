package bmc

import (
	"cmp"
	"container/heap"
	"slices"
)

// places are the pool's places: who has one, and who waits for one. Guarded by the pool's lock.
type places struct {
	limit, looks, failing, failingLooks, lent int // bounds
	taken                                     struct{ all, looks, failing, failingLooks, lent int }
	queues                                    [4]queue
	held                                      []*turn // who has a place, in the order in which they got it
	owing                                     []*turn // they would give their places back, but too many go on without one
}

// place is what a call has while it runs.
type place struct {
	look, failing bool // as what it counts
	held          bool // it has a place
	ripe          bool // it lasts long enough to give it to a command
	lent          bool // it goes on without
}

// hurried is the part of the lending time after which a place goes to a command that waits for one.
const hurried = 8

// queue is who waits for places of one kind: lines, the one whose first caller came first at the front.
type queue struct {
	look, failing bool
	lines         []*line
}

func newPlaces(limit, lent int) places {
	failing := max(1, limit/4)
	return places{
		limit: limit, looks: max(1, limit/2), failing: failing, failingLooks: max(1, failing*3/4), lent: lent,
		queues: [4]queue{{}, {look: true}, {failing: true}, {look: true, failing: true}},
	}
}

// file puts a line into the queue in which it has to wait, or in none.
func (p *places) file(l *line) {
	if l.queue != nil {
		heap.Remove(l.queue, l.index)
	}
	if l.serving != nil || len(l.waiting) == 0 {
		return
	}
	look, failing := l.looksOnly(), l.circuit.failures > 0
	i := slices.IndexFunc(p.queues[:], func(q queue) bool { return q.look == look && q.failing == failing })
	heap.Push(&p.queues[i], l)
}

// next is the line that is served next, nil where nobody waits for whom there is room.
func (p *places) next() *line {
	var first *line
	for i := range p.queues {
		q := &p.queues[i]
		if len(q.lines) == 0 || !p.room(q) {
			continue
		}
		if l := q.lines[0]; first == nil || l.waiting[0].ticket < first.waiting[0].ticket {
			first = l
		}
	}
	return first
}

func (p *places) room(q *queue) bool {
	switch t := &p.taken; {
	case t.all >= p.limit:
		return false
	case q.look && t.looks >= p.looks:
		return false
	case q.failing && t.failing >= p.failing:
		return false
	case q.failing && q.look && t.failingLooks >= p.failingLooks:
		return false
	}
	return true
}

// hurry frees the place that has been held for longest, if it is ripe, for a command that waits for nothing else.
func (p *places) hurry() bool {
	if p.taken.all < p.limit || p.taken.lent >= p.lent || !p.held[0].place.ripe {
		return false
	}
	for i := range p.queues {
		if q := &p.queues[i]; len(q.lines) > 0 && !q.look && (!q.failing || p.taken.failing < p.failing) {
			p.lend(p.held[0])
			return true
		}
	}
	return false
}

// take gives the line's first caller a place of the kind for which the line waited.
func (p *places) take(l *line, t *turn) {
	t.place = place{look: l.queue.look, failing: l.queue.failing}
	p.hold(t)
	if t.place.failing {
		p.taken.failing++
		if t.place.look {
			p.taken.failingLooks++
		}
	}
}

func (p *places) hold(t *turn) {
	t.place.held = true
	p.held = append(p.held, t)
	p.taken.all++
	if t.place.look {
		p.taken.looks++
	}
}

func (p *places) letGo(t *turn) {
	t.place.held = false
	one := func(o *turn) bool { return o == t }
	p.held, p.owing = slices.DeleteFunc(p.held, one), slices.DeleteFunc(p.owing, one)
	p.taken.all--
	if t.place.look {
		p.taken.looks--
	}
}

// lend lets a call go on without its place, when that many may.
func (p *places) lend(t *turn) {
	if p.taken.lent >= p.lent {
		p.owing = append(p.owing, t)
		return
	}
	p.letGo(t)
	p.taken.lent++
	t.place.lent = true
}

// give is the end of a call: everything that it has is free.
func (p *places) give(t *turn) {
	if t.place.failing {
		p.taken.failing--
		if t.place.look {
			p.taken.failingLooks--
		}
	}
	if t.place.held {
		p.letGo(t)
		return
	}
	p.taken.lent--
	if len(p.owing) > 0 {
		p.lend(p.owing[0])
	}
}

// The rest is heap.Interface.

func (q *queue) Len() int { return len(q.lines) }

func (q *queue) Less(i, j int) bool {
	return cmp.Less(q.lines[i].waiting[0].ticket, q.lines[j].waiting[0].ticket)
}

func (q *queue) Swap(i, j int) {
	q.lines[i], q.lines[j] = q.lines[j], q.lines[i]
	q.lines[i].index, q.lines[j].index = i, j
}

// Push takes a *line.
func (q *queue) Push(x any) {
	l := x.(*line)
	l.queue, l.index = q, len(q.lines)
	q.lines = append(q.lines, l)
}

// Pop gives the last line.
func (q *queue) Pop() any {
	last := len(q.lines) - 1
	l := q.lines[last]
	l.queue = nil
	q.lines[last] = nil
	q.lines = q.lines[:last]
	return l
}
