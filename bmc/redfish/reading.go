package redfish

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/stmcginnis/gofish"

	"cagenut/node"
)

// mostKept bounds what is kept of one BMC between two calls, in bytes. The largest machine that we have answers of has 1.5 MB.
const mostKept = 8 << 20

// reading is what an unfinished walk has read. A BMC that is slow and has much to tell takes longer than one step of a job may:
// the next step goes on from there.
type reading struct {
	of       string // which walk of which system, for which attempt
	seen     map[string]resource
	size     int // bytes
	requests int
	gained   int       // how much this call has added
	last     time.Time // when it was added to
}

func (r *reading) add(path string, what resource) {
	r.seen[path] = what
	r.gained++
	r.last = time.Now()
	for key, value := range what {
		r.size += len(key) + len(value)
	}
}

// longWalk is a walk that is gone in several calls where one has too little time. An error of time that ran out says how much is
// read, if this call has read any of it.
func (c *client) longWalk(ctx context.Context, doing string, do func(*walk, system) error) error {
	return c.withinTime(ctx, c.options.Walk, doing, func(ctx context.Context, g *gofish.APIClient) error {
		s, err := c.fetch(g)
		if err != nil {
			return err
		}
		w := c.newWalk(ctx, g, s)
		w.reading = c.resume(doing + " " + s.path + " " + c.node.AttemptID)
		for path, r := range w.reading.seen {
			w.seen[path] = r
		}
		w.requests = w.reading.requests
		err = w.through(do, s)
		if w.fatal == nil || !errors.Is(ctx.Err(), context.DeadlineExceeded) || w.reading.gained == 0 || w.reading.size > mostKept {
			return err
		}
		w.reading.requests = w.requests
		c.interrupt(w.reading)
		return &node.Unreachable{
			What: "BMC " + c.base, Timeout: true, Answered: true, Trouble: node.TroubleSlow, Read: len(w.reading.seen),
			Hint: "the BMC answers, but slowly", Err: fmt.Errorf("%s: %d parts are read so far: %w", doing, len(w.reading.seen), context.DeadlineExceeded),
		}
	})
}

// resume takes what an earlier call has read for the same purpose, if that is not too old, else a fresh start.
func (c *connection) resume(of string) *reading {
	c.mu.Lock()
	defer c.mu.Unlock()
	r := c.unfinished
	c.unfinished = nil
	if r == nil || r.of != of || c.stale(r) {
		return &reading{of: of, seen: map[string]resource{}}
	}
	r.gained = 0
	return r
}

// interrupt keeps what was read for the next call.
func (c *connection) interrupt(r *reading) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.unfinished = r
}

func (c *connection) stale(r *reading) bool { return time.Since(r.last) > c.rt.options.KeepReading }

// forgetStale lets go of what nobody has come back for; the caller holds the lock.
func (c *connection) forgetStale() {
	if c.unfinished != nil && c.stale(c.unfinished) {
		c.unfinished = nil
	}
}
