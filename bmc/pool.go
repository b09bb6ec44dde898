package bmc

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"cagenut/node"
)

// Defaults of [PoolOptions].
const (
	DefaultLimit = 64
	DefaultLend  = 2 * time.Second
)

// ErrClosed says that the pool takes no more work: the appliance is shutting down.
var ErrClosed = errors.New("the BMC pool is closed")

// PoolOptions bound a [Pool]. Zero values are the defaults.
type PoolOptions struct {
	// Limit is how many BMCs are at work at once.
	Limit int
	// Lend is how long one of them counts against Limit. A call that lasts longer is waiting for a slow or dead BMC, not
	// working: it gives its place back, so that a rack of dead BMCs cannot starve the living ones (G36).
	Lend time.Duration
}

// Pool hands BMCs to callers: one caller at a time per BMC, first come first served. Use NewPool.
type Pool struct {
	drivers map[string]Driver
	lend    time.Duration
	places  chan struct{}

	mu      sync.Mutex
	queues  map[string]*queue
	closed  bool
	running sync.WaitGroup
}

// queue is the line in front of one BMC. It exists while somebody has the BMC.
type queue struct{ waiting []*turn }

// turn is one caller's place in a queue; ready and left change under the pool's lock.
type turn struct {
	ready chan struct{}
	left  bool
}

// NewPool makes a pool over drivers, keyed by the node's driver name. The pool owns them: Close closes them.
func NewPool(drivers map[string]Driver, o PoolOptions) *Pool {
	if o.Limit <= 0 {
		o.Limit = DefaultLimit
	}
	if o.Lend <= 0 {
		o.Lend = DefaultLend
	}
	return &Pool{drivers: drivers, lend: o.Lend, places: make(chan struct{}, o.Limit), queues: map[string]*queue{}}
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
	d, err := p.driver(n)
	if err != nil {
		return "", err
	}
	a, err := d.Address(n)
	return a.Host, err
}

// Do waits for the BMC's turn and runs fn with a client of it. fn uses the client in its own goroutine and not after it has
// returned. driver_info is read when the turn comes, so n is what the caller knew when it asked. The context bounds the
// waiting; where it ends there, the error is *node.Unreachable (deadline) or wraps context.Canceled.
func (p *Pool) Do(ctx context.Context, n node.Node, fn func(Client) error) error {
	d, err := p.driver(n)
	if err != nil {
		return err
	}
	addr, err := d.Address(n)
	if err != nil {
		return err
	}
	if ctx.Err() != nil {
		return waited(ctx, addr.Host, "not asked")
	}
	leave, err := p.enter(ctx, n.Driver+" "+addr.Queue, addr.Host)
	if err != nil {
		return err
	}
	defer leave()
	back, err := p.place(ctx, addr.Host)
	if err != nil {
		return err
	}
	defer back()
	c, err := d.Open(n)
	if err != nil {
		return err
	}
	return fn(c)
}

// Look is Do for rounds, which look at every BMC without anybody asking for it.
func (p *Pool) Look(ctx context.Context, n node.Node, fn func(Client) error) error {
	return p.Do(ctx, n, fn)
}

// Waiting counts the callers that wait for the node's BMC.
func (p *Pool) Waiting(n node.Node) int {
	d, err := p.driver(n)
	if err != nil {
		return 0
	}
	addr, err := d.Address(n)
	if err != nil {
		return 0
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	waiting := 0
	if q, ok := p.queues[n.Driver+" "+addr.Queue]; ok {
		for _, t := range q.waiting {
			if !t.left {
				waiting++
			}
		}
	}
	return waiting
}

// forgetTime bounds what Forget does behind its caller's back.
const forgetTime = 30 * time.Second

// Forget ends the login session kept for the node's BMC, if any; call it when a node is deleted. It returns at once: the
// BMC is spoken to when its turn comes, and Close waits for that.
func (p *Pool) Forget(n node.Node) {
	d, err := p.driver(n)
	if err != nil {
		return
	}
	addr, err := d.Address(n)
	if err != nil {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed {
		return
	}
	p.running.Go(func() {
		ctx, cancel := context.WithTimeout(context.Background(), forgetTime)
		defer cancel()
		leave, err := p.enter(ctx, n.Driver+" "+addr.Queue, addr.Host)
		if err != nil {
			return
		}
		defer leave()
		d.Forget(ctx, n)
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

// enter waits in the line of one BMC. The caller must call leave.
func (p *Pool) enter(ctx context.Context, key, host string) (leave func(), err error) {
	p.mu.Lock()
	if p.closed {
		p.mu.Unlock()
		return nil, ErrClosed
	}
	p.running.Add(1)
	leave = func() {
		p.next(key)
		p.running.Done()
	}
	q, busy := p.queues[key]
	if !busy {
		p.queues[key] = &queue{}
		p.mu.Unlock()
		return leave, nil
	}
	t := &turn{ready: make(chan struct{})}
	q.waiting = append(q.waiting, t)
	p.mu.Unlock()

	select {
	case <-t.ready:
		return leave, nil
	case <-ctx.Done():
	}
	p.mu.Lock()
	t.left = true
	select {
	case <-t.ready: // the turn came in the same moment: pass it on
		p.mu.Unlock()
		p.next(key)
	default:
		p.mu.Unlock()
	}
	p.running.Done()
	return nil, waited(ctx, host, "another command still has the BMC")
}

// next gives the BMC to whoever waits longest, or removes the line.
func (p *Pool) next(key string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	q := p.queues[key]
	for len(q.waiting) > 0 {
		t := q.waiting[0]
		q.waiting = q.waiting[1:]
		if !t.left {
			close(t.ready)
			return
		}
	}
	delete(p.queues, key)
}

// place takes one of the pool's places and gives it back when back is called or the lending time is over.
func (p *Pool) place(ctx context.Context, host string) (back func(), err error) {
	select {
	case p.places <- struct{}{}:
	case <-ctx.Done():
		return nil, waited(ctx, host, "too many BMCs are busy")
	}
	var once sync.Once
	release := func() { once.Do(func() { <-p.places }) }
	timer := time.AfterFunc(p.lend, release)
	return func() {
		timer.Stop()
		release()
	}, nil
}

func waited(ctx context.Context, host, why string) error {
	err := fmt.Errorf("%s: %w", why, ctx.Err())
	if errors.Is(ctx.Err(), context.DeadlineExceeded) {
		return &node.Unreachable{What: "BMC " + host, Timeout: true, Err: err}
	}
	return fmt.Errorf("bmc: %s: %w", host, err)
}
