package bmc

import (
	"context"
	"errors"
	"fmt"
	"hash/maphash"
	"sync"
	"time"

	"cagenut/node"
)

// Defaults of [PoolOptions].
const (
	DefaultLimit = 64
	DefaultLend  = 2 * time.Second
	DefaultLent  = 256
)

// ErrClosed says that the pool takes no more work: the appliance is shutting down.
var ErrClosed = errors.New("the BMC pool is closed")

// PoolOptions bound a [Pool]. Zero values are the defaults.
type PoolOptions struct {
	// Limit is how many places there are: how many calls to BMCs begin and work at once. A quarter of them is for BMCs whose
	// last call failed, and half of them for looks.
	Limit int
	// Lend is how long a call counts against Limit. One that lasts longer waits for a slow or dead BMC more than it works: it
	// gives its place back, so that a rack of dead BMCs cannot starve the living ones (G36). While a command waits for a
	// place, an eighth of it is enough.
	Lend time.Duration
	// Lent is how many calls may go on without a place; a further one keeps its own until another of them ends.
	Lent int
	// Now is the time; time.Now if nil.
	Now func() time.Time
}

// Pool hands BMCs to callers, one at a time per BMC, and leaves those alone that do not answer. Use NewPool.
//
// Turns. Who waits longest is served first, at each BMC and for the places; only looks wait while half of the places are taken
// by looks, so that [Pool.Do] finds room in a round of any length. A look with a Do behind it in the same line counts as one.
//
// Failures. A BMC fails that is silent (*node.Unreachable without Answered) or refuses the credentials (node.ErrCredentials).
// No other error says anything bad of it, nor does a caller that gave up: one that cancelled, one whose deadline passed in our
// own queue, or left the BMC less than Lend to answer. After two failures in a row the circuit is open: [Pool.Look] fails
// without asking, but for one call each time that the back-off ends, which grows from 10 s to 5 min. Do always asks. Whoever
// was in the line when a call failed gets its error and does not try once more. An answer of any kind closes the circuit, and
// so do Forget and another driver_info, for which earlier failures mean nothing.
//
// Bounds, with the defaults. At most 64 calls have a place. At most 16 calls at once are on BMCs whose last call failed, 12
// of them looks. A call that lasts longer than 2 s goes on without a place, and one that lasts longer than 250 ms while a
// command waits for a place: such are those of the 16, long work at a BMC that answers, and the first failure of each BMC
// that has just died. When two hundred die under commands at once, the next command waits for 750 ms, once; after that they
// have 16 calls together. There are never more than 64+256 calls; a call for which there is no room among the 256 keeps its
// place. What the pool remembers of a failing BMC goes half an hour after anybody wanted something of it; of others it
// remembers nothing.
type Pool struct {
	drivers map[string]Driver
	lend    time.Duration
	now     func() time.Time
	seed    maphash.Seed

	mu      sync.Mutex
	lines   map[string]*line
	places  places
	tickets uint64
	swept   time.Time
	closed  bool
	running sync.WaitGroup
}

// NewPool makes a pool over drivers, keyed by the node's driver name. The pool owns them: Close closes them.
func NewPool(drivers map[string]Driver, o PoolOptions) *Pool {
	if o.Limit <= 0 {
		o.Limit = DefaultLimit
	}
	if o.Lend <= 0 {
		o.Lend = DefaultLend
	}
	if o.Lent <= 0 {
		o.Lent = DefaultLent
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	return &Pool{
		drivers: drivers, lend: o.Lend, now: o.Now, seed: maphash.MakeSeed(),
		lines: map[string]*line{}, places: newPlaces(o.Limit, o.Lent), swept: o.Now(),
	}
}

// Validate checks the node's driver_info without touching the network. The error is *node.Invalid and names what is missing.
func (p *Pool) Validate(n node.Node) error {
	d, err := p.driver(n)
	if err != nil {
		return err
	}
	return d.Validate(n)
}

// Host is the host name or IP address of the node's BMC, as its driver_info says; "" where the driver has none.
func (p *Pool) Host(n node.Node) (string, error) {
	_, a, err := p.address(n)
	return a.Host, err
}

// Do waits for the BMC's turn and runs fn with a client of it, for something that somebody asked for: also while the BMC is
// failing. fn uses the client in its own goroutine and not after it has returned. driver_info is read when the turn comes, so n
// is what the caller knew when it asked. The context bounds the waiting; where it ends there, the error is *node.Unreachable
// with Unasked (deadline) or wraps context.Canceled.
func (p *Pool) Do(ctx context.Context, n node.Node, fn func(Client) error) error {
	return p.call(ctx, n, false, fn)
}

// Look is Do for rounds, and for tries that repeat themselves: for whatever comes again when the BMC is better left alone.
// Where it is, the error is *node.Unreachable with Unasked, at once.
func (p *Pool) Look(ctx context.Context, n node.Node, fn func(Client) error) error {
	return p.call(ctx, n, true, fn)
}

func (p *Pool) call(ctx context.Context, n node.Node, look bool, fn func(Client) error) error {
	d, addr, err := p.address(n)
	if err != nil {
		return err
	}
	if ctx.Err() != nil {
		return waited(ctx, addr.Host, "not asked")
	}
	t, err := p.enter(n, addr, look)
	if err != nil {
		return err
	}
	if err := p.await(ctx, t, addr.Host); err != nil {
		return err
	}
	said := verdict{}
	defer func() { p.leave(t, said) }()
	c, err := d.Open(n)
	if err != nil {
		return err
	}
	err = fn(c)
	said = judge(ctx, err, p.now().Sub(t.began) >= p.lend)
	return err
}

// forgetTime bounds what Forget does behind its caller's back.
const forgetTime = 30 * time.Second

// Forget drops what is known of the node's BMC and ends the login session kept for it, if any; call it when a node is deleted,
// and with the node as it was when its driver or driver_info has changed. It returns at once: the BMC is spoken to when its
// turn comes, and Close waits for that.
func (p *Pool) Forget(n node.Node) {
	d, addr, err := p.address(n)
	if err != nil {
		return
	}
	t, err := p.enterToForget(n, addr)
	if err != nil {
		return
	}
	p.running.Go(func() { // it is above zero: the turn counts
		ctx, cancel := context.WithTimeout(context.Background(), forgetTime)
		defer cancel()
		if p.await(ctx, t, addr.Host) == nil {
			defer p.leave(t, verdict{})
		}
		d.Forget(ctx, n) // without a turn its time is over: nothing is asked of the BMC, but nothing is kept of it either
	})
}

// Close takes no more work, waits for what runs until the context ends, and ends the sessions at all BMCs.
func (p *Pool) Close(ctx context.Context) error {
	p.mu.Lock()
	p.closed = true
	p.mu.Unlock()
	done := make(chan struct{})
	go func() {
		p.running.Wait()
		close(done)
	}()
	select {
	case <-done:
	case <-ctx.Done():
		return fmt.Errorf("bmc: calls still running: %w", ctx.Err())
	}
	var errs []error
	for _, d := range p.drivers {
		errs = append(errs, d.Close(ctx))
	}
	return errors.Join(errs...)
}

func (p *Pool) driver(n node.Node) (Driver, error) {
	if d, ok := p.drivers[n.Driver]; ok {
		return d, nil
	}
	if _, err := node.DriverNamed(n.Driver); err != nil {
		return nil, err
	}
	return nil, &node.Unsupported{Driver: n.Driver, Extension: "power and management"}
}

func (p *Pool) address(n node.Node) (Driver, Address, error) {
	d, err := p.driver(n)
	if err != nil {
		return nil, Address{}, err
	}
	a, err := d.Address(n)
	return d, a, err
}
