package bmc_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"pgregory.net/rapid"

	"cagenut/bmc"
	"cagenut/node"
)

// crowd is many callers at few BMCs, and what a caller can see of the pool's promises.
type crowd struct {
	p           *bmc.Pool
	limit, lent int

	mu                sync.Mutex
	with              map[string]*visit   // who has which BMC
	line              map[string][]*visit // who is at which BMC, in the order in which they came
	last              map[string]int      // who had it last
	served, abandoned int
	wrong             []string
}

// visit is one call.
type visit struct {
	n       node.Node
	number  int // in the order of coming
	look    bool
	command bool // it or one behind it in the line was asked for, when the call began
	failing bool // the BMC was, then
	began   time.Time
}

func (c *crowd) come(ctx context.Context, v *visit, takes time.Duration, outcome error) {
	c.mu.Lock()
	c.line[v.n.UUID] = append(c.line[v.n.UUID], v)
	c.mu.Unlock()
	ask := asks(c.p.Do)
	if v.look {
		ask = c.p.Look
	}
	asked := false
	err := ask(ctx, v.n, func(bmc.Client) error {
		asked = true
		c.begin(v)
		defer c.end(v)
		select {
		case <-time.After(takes):
			return outcome
		case <-ctx.Done():
			return ctx.Err()
		}
	})
	if !asked {
		c.mu.Lock()
		defer c.mu.Unlock()
		c.abandoned++
		c.leave(v)
		if err == nil {
			c.wrong = append(c.wrong, "a call that was not made succeeded")
		}
	}
}

func (c *crowd) begin(v *visit) {
	v.failing = c.p.Standing(v.n).Failures > 0
	c.mu.Lock()
	defer c.mu.Unlock()
	c.served++
	v.began = time.Now()
	if c.with[v.n.UUID] != nil {
		c.wrong = append(c.wrong, "two calls have one BMC")
	}
	if v.number < c.last[v.n.UUID] {
		c.wrong = append(c.wrong, "a BMC was given to somebody who came later")
	}
	c.last[v.n.UUID] = v.number
	v.command = slices.ContainsFunc(c.line[v.n.UUID], func(o *visit) bool { return !o.look })
	c.with[v.n.UUID] = v
	all, young, looks, failing := 0, 0, 0, 0
	for _, o := range c.with {
		all++
		if o.failing {
			failing++
		}
		if time.Since(o.began) < bmc.DefaultLend/8 {
			young++
			if !o.command {
				looks++
			}
		}
	}
	switch {
	case all > c.limit+c.lent:
		c.wrong = append(c.wrong, "too many calls")
	case young > c.limit:
		c.wrong = append(c.wrong, "too many calls that have just begun")
	case looks > c.limit/2:
		c.wrong = append(c.wrong, "too many looks")
	case failing > c.limit/4:
		c.wrong = append(c.wrong, "too many calls on failing BMCs")
	}
}

func (c *crowd) end(v *visit) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.with, v.n.UUID)
	c.leave(v)
}

func (c *crowd) leave(v *visit) {
	c.line[v.n.UUID] = slices.DeleteFunc(c.line[v.n.UUID], func(o *visit) bool { return o == v })
}

// step is what comes next: a call, then a pause or a node that is forgotten.
type step struct {
	machine, forget int
	look            bool
	takes, patience time.Duration
	outcome         error
	pause           time.Duration
}

func steps(machines int) *rapid.Generator[step] {
	outcomes := []error{nil, silence(), node.ErrCredentials, node.ErrLost, &node.Unreachable{What: "BMC", Answered: true, Err: errors.New("HTTP status 500")}}
	ms := func(from, to int) *rapid.Generator[time.Duration] {
		return rapid.Map(rapid.IntRange(from, to), func(ms int) time.Duration { return time.Duration(ms) * time.Millisecond })
	}
	return rapid.Custom(func(t *rapid.T) step {
		s := step{
			machine: rapid.IntRange(0, machines-1).Draw(t, "machine"), forget: -1, look: rapid.Bool().Draw(t, "look"),
			takes: ms(0, 15_000).Draw(t, "takes"), patience: ms(1, 30_000).Draw(t, "patience"),
			outcome: rapid.SampledFrom(outcomes).Draw(t, "outcome"),
		}
		switch rapid.IntRange(0, 9).Draw(t, "then") {
		case 0:
			s.pause = ms(0, 20_000).Draw(t, "pause")
		case 1:
			s.forget = rapid.IntRange(0, machines-1).Draw(t, "forget")
		}
		return s
	})
}

func (c *crowd) play(machines []node.Node, script []step) {
	var all sync.WaitGroup
	for i, s := range script {
		all.Go(func() {
			// No two things happen in one moment, for then it would not be known which was first.
			ctx, cancel := context.WithTimeout(context.Background(), s.patience+time.Duration(i+1)*time.Microsecond)
			defer cancel()
			c.come(ctx, &visit{n: machines[s.machine], number: i, look: s.look}, s.takes, s.outcome)
		})
		synctest.Wait() // so that it is known who came first
		time.Sleep(s.pause)
		if s.forget >= 0 {
			c.p.Forget(machines[s.forget])
		}
	}
	all.Wait()
	synctest.Wait()
}

// settled tells what is left behind when everybody has gone.
func (c *crowd) settled(machines []node.Node, calls int) {
	if c.served+c.abandoned != calls {
		c.wrong = append(c.wrong, fmt.Sprintf("%d calls: %d served, %d not", calls, c.served, c.abandoned))
	}
	for _, n := range machines {
		c.p.Forget(n)
		start := time.Now()
		if err := c.p.Do(context.Background(), n, func(bmc.Client) error { return nil }); err != nil || time.Since(start) != 0 {
			c.wrong = append(c.wrong, fmt.Sprintf("a BMC is not free: %v, %s", err, time.Since(start)))
		}
	}
	if c.p.Lines() != 0 {
		c.wrong = append(c.wrong, fmt.Sprintf("%d BMCs are remembered", c.p.Lines()))
	}
}

func TestWhateverCallersDoThePoolKeepsItsPromises(t *testing.T) { // G36, G65
	rapid.Check(t, func(r *rapid.T) {
		c := &crowd{
			limit: 4 * rapid.IntRange(1, 3).Draw(r, "quarter of the places"), lent: rapid.IntRange(1, 4).Draw(r, "lent"),
			with: map[string]*visit{}, line: map[string][]*visit{}, last: map[string]int{},
		}
		machines := nodes(rapid.IntRange(1, 20).Draw(r, "BMCs"))
		script := rapid.SliceOfN(steps(len(machines)), 1, 100).Draw(r, "script")
		synctest.Test(t, func(t *testing.T) {
			c.p = newPool(t, bmc.PoolOptions{Limit: c.limit, Lent: c.lent})
			c.play(machines, script)
			c.settled(machines, len(script))
		})
		if len(c.wrong) > 0 {
			r.Fatalf("%q", c.wrong)
		}
	})
}
