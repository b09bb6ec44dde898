package redfish

import (
	"context"
	"sync"
	"time"

	"cagenut/node"
)

const (
	// strayLife is how long a stray is tried to be ended: no BMC keeps a session longer that nobody uses (a SessionTimeout is at
	// most a day).
	strayLife = 24 * time.Hour
	// strayWorkers bounds how many are ended at the same time.
	strayWorkers = 8
)

// EndStrays ends sessions that nobody will use, until ctx ends: those of an earlier run that none of the nodes belongs to, because
// its node was deleted or has another BMC since, and those that could not be ended when that was asked for. While a BMC does
// not answer it is tried again, with growing pauses. Sessions of an earlier run that belong to a node are left for it.
func (d *Driver) EndStrays(ctx context.Context, nodes []node.Node) {
	wanted := map[login]bool{}
	for _, n := range nodes {
		if s, err := readSettings(n); n.Driver == node.DriverRedfish && err == nil {
			wanted[s.login()] = true
		}
	}
	d.keeper.abandon(d.keeper.take(func(s session) bool { return !wanted[login{s.base, s.user}] })...)
	pause := d.options.StrayPause
	for ctx.Err() == nil {
		rest := d.endAll(ctx, d.keeper.take(session.isStray))
		d.keeper.giveBack(rest...)
		again := time.NewTimer(pause)
		if len(rest) == 0 {
			again.Stop() // there is nothing to be tried again
		}
		select {
		case <-ctx.Done():
		case <-again.C:
			pause = min(2*pause, time.Hour)
		case <-d.keeper.strays:
			pause = d.options.StrayPause
		}
		again.Stop()
	}
}

// endAll ends what can be ended, and is the rest. What its BMC has ended by itself meanwhile is forgotten.
func (d *Driver) endAll(ctx context.Context, strays []session) (rest []session) {
	var wg sync.WaitGroup
	var mu sync.Mutex
	var ended []string
	places := make(chan struct{}, strayWorkers)
	for _, s := range strays {
		places <- struct{}{}
		wg.Go(func() {
			defer func() { <-places }()
			err := d.endStray(ctx, s)
			mu.Lock()
			defer mu.Unlock()
			if err != nil && time.Since(s.stray) < strayLife {
				rest = append(rest, s)
				return
			}
			ended = append(ended, s.id)
		})
	}
	wg.Wait()
	d.keeper.drop(ctx, ended...)
	return rest
}

func (d *Driver) endStray(ctx context.Context, s session) error {
	c, err := d.alone(s)
	if err != nil {
		return err
	}
	defer c.drop()
	return end(ctx, c.rt, s)
}
