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
	owing                                     []*turn // they would give their places back, but too many go on without one
}

// place is what a call has while it runs.
type place struct {
	look, failing bool // as what it counts
	held          bool // it has a place
	lent          bool // it goes on without
}

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

// take gives the line's first caller a place of the kind for which the line waited.
func (p *places) take(l *line, t *turn) {
	t.place = place{look: l.queue.look, failing: l.queue.failing, held: true}
	p.count(t.place, 1)
	if t.place.failing {
		p.taken.failing++
		if t.place.look {
			p.taken.failingLooks++
		}
	}
}

// count adds to the places that are held.
func (p *places) count(one place, by int) {
	p.taken.all += by
	if one.look {
		p.taken.looks += by
	}
}

// lend lets a call go on without its place, when that many may.
func (p *places) lend(t *turn) {
	if p.taken.lent >= p.lent {
		p.owing = append(p.owing, t)
		return
	}
	p.count(t.place, -1)
	p.taken.lent++
	t.place.held, t.place.lent = false, true
}

// give is the end of a call: everything that it has is free.
func (p *places) give(t *turn) {
	had := t.place
	t.place = place{}
	if had.failing {
		p.taken.failing--
		if had.look {
			p.taken.failingLooks--
		}
	}
	if had.held {
		p.count(had, -1)
		p.owing = slices.DeleteFunc(p.owing, func(o *turn) bool { return o == t })
	}
	if !had.lent {
		return
	}
	p.taken.lent--
	if len(p.owing) > 0 {
		o := p.owing[0]
		p.owing = p.owing[1:]
		p.lend(o)
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
