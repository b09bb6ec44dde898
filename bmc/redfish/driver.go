package redfish

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"strings"
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
	// KeepReading is how long what an unfinished walk has read is kept for the call that goes on with it; 2 min.
	KeepReading time.Duration
	// StrayPause is the first pause before a session is tried to be ended again that nobody will use, doubled each time; 1 min.
	StrayPause time.Duration
	// Sessions keeps login sessions for the next run; nil: they end with the process, or are lost with it.
	Sessions Sessions
	// Log hears of sessions that cannot be kept; nil: nobody does.
	Log *slog.Logger
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
	d(&o.KeepReading, 2*time.Minute)
	d(&o.StrayPause, time.Minute)
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
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
	keeper  *keeper

	mu          sync.Mutex
	connections map[login]*connection
}

var _ bmc.Driver = (*Driver)(nil)

// New makes a driver without connections.
func New(o Options) *Driver {
	o = o.withDefaults()
	return &Driver{options: o, keeper: newKeeper(o.Sessions, o.Log), connections: map[login]*connection{}}
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

// Warn is what should be known about driver_info that is valid: "" where there is nothing.
func (d *Driver) Warn(n node.Node) string {
	s, err := readSettings(n)
	switch {
	case err != nil || strings.HasPrefix(s.base, "http://"):
		return ""
	case s.oldTLS && s.pin == "" && s.verify == "false":
		return "redfish_old_tls allows TLS 1.0 and weak ciphers, and nothing verifies the BMC's certificate: whoever is in between reads the password."
	case s.oldTLS:
		return "redfish_old_tls allows TLS 1.0 and weak ciphers."
	}
	return ""
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
	d.mu.Lock()
	defer d.mu.Unlock()
	old, ok := d.connections[s.login()]
	if ok && old.rt.auth.print == s.print() {
		return old, nil
	}
	left := d.keeper.take(of(s.login()))
	if ok {
		// The password or the trust that made its session is no longer ours to use: the new connection ends it.
		left = append(left, old.rt.auth.release()...)
		old.drop()
		delete(d.connections, s.login())
	}
	c, err := newConnection(s, d.options, d.keeper, left)
	if err != nil {
		return nil, err
	}
	d.connections[s.login()] = c
	return c, nil
}

// Resume takes over the sessions that an earlier run has left. Call it before the first client is opened.
func (d *Driver) Resume(ctx context.Context) error {
	if err := d.keeper.load(ctx); err != nil {
		return fmt.Errorf("redfish: sessions of an earlier run: %w", err)
	}
	return nil
}

// Forget logs out of the node's BMC, also of sessions that an earlier run has left there.
func (d *Driver) Forget(ctx context.Context, n node.Node) {
	s, err := readSettings(n)
	if err != nil {
		return
	}
	d.mu.Lock()
	open := d.connections[s.login()]
	delete(d.connections, s.login())
	d.mu.Unlock()
	var all []*connection
	if open != nil {
		all = append(all, open)
	}
	if left := d.keeper.take(of(s.login())); len(left) > 0 {
		if c, err := newConnection(s, d.options, d.keeper, left); err == nil {
			all = append(all, c)
		}
	}
	for _, c := range all {
		ended, err := c.close(ctx)
		d.keeper.drop(ctx, ended...)
		if err != nil {
			d.options.Log.Info("a session at a BMC could not be ended", "bmc", s.base, "err", err)
		}
	}
}

// Close logs out of all BMCs, at once of all, until the context ends. What is not ended stays kept for the next run.
func (d *Driver) Close(ctx context.Context) error {
	d.mu.Lock()
	connections := slices.Collect(maps.Values(d.connections))
	d.connections = map[login]*connection{}
	d.mu.Unlock()
	var errs []error
	for _, s := range d.keeper.take(func(session) bool { return true }) {
		c, err := d.alone(s)
		if err != nil {
			errs = append(errs, err)
			continue
		}
		connections = append(connections, c)
	}
	var wg sync.WaitGroup
	var mu sync.Mutex
	var all []string
	for _, c := range connections {
		wg.Go(func() {
			ended, err := c.close(ctx)
			mu.Lock()
			defer mu.Unlock()
			all, errs = append(all, ended...), append(errs, err)
		})
	}
	wg.Wait()
	d.keeper.drop(ctx, all...)
	return errors.Join(errs...)
}

// alone is a connection to end a session of which nothing else is known any more.
func (d *Driver) alone(s session) (*connection, error) {
	c, err := newConnection(settings{endpoint: endpoint{base: s.base}, user: s.user, trust: s.trust}, d.options, d.keeper, []session{s})
	if err != nil {
		return nil, fmt.Errorf("redfish: log out of %s: %w", s.base, err)
	}
	return c, nil
}
