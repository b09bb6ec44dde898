package redfish

import (
	"context"
	"errors"
	"sync"
	"time"

	"cagenut/bmc"
	"cagenut/node"
)

// Options bound what the driver does. Zero values are the defaults.
type Options struct {
	// Try bounds one HTTP request with its body; 15 s.
	Try time.Duration
	// Operation bounds a whole method of a client; 60 s.
	Operation time.Duration
	// Walk bounds a method that reads many resources, such as the inventory; 3 min.
	Walk time.Duration
	// Media bounds putting a medium in or taking it out, with the waits, and other commands that may become tasks; 2 min.
	Media time.Duration
	// Reads is how often a GET is tried; 3.
	Reads int
	// Pause is the first pause between tries of a read, doubled each time; 500 ms.
	Pause time.Duration
	// BusyPause is the pause before a command is repeated that the BMC refused because it is busy (G34, G64); 5 s.
	BusyPause time.Duration
	// BusyTries is how often such a command is tried; 6.
	BusyTries int
	// Poll is the pause between looks at what the BMC is doing: off before on, tasks, drives; 1 s.
	Poll time.Duration
}

func (o Options) withDefaults() Options {
	d := func(v *time.Duration, def time.Duration) {
		if *v <= 0 {
			*v = def
		}
	}
	d(&o.Try, 15*time.Second)
	d(&o.Operation, time.Minute)
	d(&o.Walk, 3*time.Minute)
	d(&o.Media, 2*time.Minute)
	d(&o.Pause, 500*time.Millisecond)
	d(&o.BusyPause, 5*time.Second)
	d(&o.Poll, time.Second)
	if o.Reads <= 0 {
		o.Reads = 3
	}
	if o.BusyTries <= 0 {
		o.BusyTries = 6
	}
	return o
}

// Driver talks Redfish. It keeps one connection, with its login session, per BMC and user.
type Driver struct {
	options Options

	mu          sync.Mutex
	connections map[string]*connection // by base URL and user
}

var _ bmc.Driver = (*Driver)(nil)

// New makes a driver without connections.
func New(o Options) *Driver {
	return &Driver{options: o.withDefaults(), connections: map[string]*connection{}}
}

// Validate checks driver_info without the network.
func (d *Driver) Validate(n node.Node) error {
	s, err := readSettings(n)
	if err != nil {
		return err
	}
	_, err = s.tlsConfig()
	return err
}

// Address is the BMC's: nodes behind one BMC take turns, whichever of its systems is theirs.
func (d *Driver) Address(n node.Node) (bmc.Address, error) {
	s, err := readSettings(n)
	if err != nil {
		return bmc.Address{}, err
	}
	return bmc.Address{Queue: s.base, Host: s.host}, nil
}

// Open makes a client on the BMC's connection. Where driver_info has changed, the old connection is dropped at once.
func (d *Driver) Open(n node.Node) (bmc.Client, error) {
	s, err := readSettings(n)
	if err != nil {
		return nil, err
	}
	c, err := d.connection(s)
	if err != nil {
		return nil, err
	}
	return &client{connection: c, node: n, system: s.system, options: d.options}, nil
}

func (d *Driver) connection(s settings) (*connection, error) {
	key := s.base + " " + s.user
	d.mu.Lock()
	defer d.mu.Unlock()
	old, ok := d.connections[key]
	if ok && old.print == s.print() {
		return old, nil
	}
	c, err := newConnection(s, d.options)
	if err != nil {
		return nil, err
	}
	if ok {
		// Its session ends by itself at the BMC: the password or the trust that made it is no longer ours to use.
		old.drop()
	}
	d.connections[key] = c
	return c, nil
}

// Forget logs out of the node's BMC.
func (d *Driver) Forget(ctx context.Context, n node.Node) {
	s, err := readSettings(n)
	if err != nil {
		return
	}
	key := s.base + " " + s.user
	d.mu.Lock()
	c := d.connections[key]
	delete(d.connections, key)
	d.mu.Unlock()
	if c != nil {
		_ = c.close(ctx) // a BMC that does not take the logout ends the session by itself
	}
}

// Close logs out of all BMCs, at once of all, until the context ends.
func (d *Driver) Close(ctx context.Context) error {
	d.mu.Lock()
	connections := d.connections
	d.connections = map[string]*connection{}
	d.mu.Unlock()
	var wg sync.WaitGroup
	var mu sync.Mutex
	var errs []error
	for _, c := range connections {
		wg.Go(func() {
			if err := c.close(ctx); err != nil {
				mu.Lock()
				errs = append(errs, err)
				mu.Unlock()
			}
		})
	}
	wg.Wait()
	return errors.Join(errs...)
}
