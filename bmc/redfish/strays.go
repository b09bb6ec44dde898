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
	// strayPause is the first pause between tries, doubled each time up to an hour.
	strayPause = time.Minute
	// strayWorkers bounds how many are ended at the same time.
	strayWorkers = 8
)

// EndStrays ends the sessions of an earlier run that none of the nodes will use: their node was deleted, or moved to another
// BMC. Sessions of the nodes are used or ended when the BMC is next asked for something. It tries again while a BMC does not
// answer, until ctx ends or the BMC has ended them itself.
func (d *Driver) EndStrays(ctx context.Context, nodes []node.Node) {
	wanted := map[login]bool{}
	for _, n := range nodes {
		if s, err := readSettings(n); n.Driver == node.DriverRedfish && err == nil {
			wanted[s.login()] = true
		}
	}
	strays := d.keeper.take(func(s session) bool { return !wanted[login{s.base, s.user}] })
	began := time.Now()
	for pause := strayPause; len(strays) > 0; pause = min(2*pause, time.Hour) {
		strays = d.endAll(ctx, strays)
		if len(strays) == 0 || sleep(ctx, pause) != nil {
			break
		}
		if time.Since(began) > strayLife {
			strays = d.giveUp(ctx, strays)
		}
	}
	d.keeper.giveBack(strays...)
}

// endAll ends what can be ended, and is the rest.
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
			if err != nil {
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

// giveUp forgets sessions that their BMCs have ended by themselves meanwhile.
func (d *Driver) giveUp(ctx context.Context, strays []session) []session {
	ids := make([]string, len(strays))
	for i, s := range strays {
		ids[i] = s.id
	}
	d.keeper.drop(ctx, ids...)
	return nil
}
