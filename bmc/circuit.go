package bmc

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"time"

	"cagenut/node"
)

const (
	opensAfter   = 2 // failures in a row
	firstPause   = 10 * time.Second
	longestPause = 5 * time.Minute
	// remembered is how long a failing BMC is remembered of which nobody wants anything.
	remembered    = 30 * time.Minute
	sweepInterval = time.Minute
)

// circuit counts the failures of one BMC.
type circuit struct {
	failures    int
	since, next time.Time
	pause       time.Duration
	err         error
}

func (c *circuit) open() bool { return c.failures >= opensAfter }

// failed counts one more failure. Those that come during the back-off, because somebody insisted, do not lengthen it.
func (c *circuit) failed(err error, now time.Time) {
	if c.failures == 0 {
		c.since = now
	}
	c.failures++
	c.err = err
	if !c.open() || now.Before(c.next) {
		return
	}
	c.pause = min(max(2*c.pause, firstPause), longestPause)
	c.next = now.Add(c.pause - rand.N(c.pause/4)) // BMCs that died together are not asked together
}

// refusal is the error of a look while the circuit is open.
func (c *circuit) refusal(host string) error {
	u := &node.Unreachable{What: "BMC " + host}
	cause := c.err
	if was := (*node.Unreachable)(nil); errors.As(c.err, &was) {
		*u, cause = *was, was.Err
	}
	u.Unasked, u.Err = true, fmt.Errorf("left alone for a while after %d failures: %w", c.failures, cause)
	return u
}

// verdict is what a call tells of the BMC; the zero value is nothing.
type verdict struct {
	failure error
	alive   bool
}

// judge reads a call's error. patient says that the BMC had time enough, whatever the caller's deadline.
func judge(ctx context.Context, err error, patient bool) verdict {
	var u *node.Unreachable
	switch {
	case err == nil:
		return verdict{alive: true}
	case errors.Is(ctx.Err(), context.Canceled), errors.Is(err, context.Canceled):
		return verdict{}
	case errors.As(err, &u) && u.Unasked:
		return verdict{}
	case u != nil && u.Answered:
		return verdict{alive: true}
	case u != nil && u.Timeout && ctx.Err() != nil && !patient:
		return verdict{}
	case u != nil, errors.Is(err, node.ErrCredentials):
		return verdict{failure: err}
	}
	return verdict{}
}
