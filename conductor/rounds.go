package conductor

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"cagenut/node"
)

const (
	sweepInterval = time.Second
	// syncWorkers bounds how many BMCs are asked for their power at the same time.
	syncWorkers  = 16
	syncDeadline = 15 * time.Second
)

// Run does the rounds until ctx ends: time-outs, the external inspector, power. A round that fails is logged and comes
// again (G45).
func (c *Conductor) Run(ctx context.Context) error {
	var rounds sync.WaitGroup
	every := func(d time.Duration, what string, round func(context.Context) error) {
		rounds.Go(func() {
			for {
				select {
				case <-ctx.Done():
					return
				case <-c.Clock.After(d):
				}
				if err := round(ctx); err != nil && ctx.Err() == nil {
					c.Log.Error("a round failed, it comes again", "round", what, "err", err)
				}
			}
		})
	}
	if c.InspectTimeout > 0 {
		every(sweepInterval, "time-outs", c.endWaits)
	}
	every(c.InspectorSyncInterval, "external inspector", c.poll)
	if c.PowerSyncInterval > 0 {
		s := &powerSync{c: c, next: map[string]time.Time{}}
		every(sweepInterval, "power sync", s.round)
	}
	rounds.Wait()
	return nil
}

// endWaits ends the attempts whose ramdisk has not reported in time, each in its own transaction.
func (c *Conductor) endWaits(ctx context.Context) error {
	late, err := c.Watched.WaitingSince(ctx, c.Clock.Now().Add(-c.InspectTimeout))
	if err != nil {
		return err
	}
	var errs []error
	for _, n := range late {
		err := c.timeOut(ctx, n)
		// Whoever was first has ended it, or works on it: the next round looks again.
		if err != nil && !errors.Is(err, node.ErrLost) {
			errs = append(errs, fmt.Errorf("node %s: %w", n.UUID, err))
		}
	}
	return errors.Join(errs...)
}

// powerSync reads the power of idle nodes, spread over the interval. It takes no reservation and never touches
// last_error (G03).
type powerSync struct {
	c    *Conductor
	next map[string]time.Time // when to ask again those that did not answer; used by one goroutine
}

func (s *powerSync) round(ctx context.Context) error {
	now := s.c.Clock.Now()
	stale, err := s.c.Watched.PowerUnchecked(ctx, now.Add(-s.c.PowerSyncInterval), 1000)
	if err != nil {
		return err
	}
	var (
		asked  sync.WaitGroup
		places = make(chan struct{}, syncWorkers)
	)
	for _, n := range stale {
		if now.Before(s.next[n.UUID]) || n.TargetPowerState != "" {
			continue
		}
		s.next[n.UUID] = now.Add(s.c.PowerSyncInterval)
		places <- struct{}{}
		asked.Go(func() {
			defer func() { <-places }()
			s.ask(ctx, n)
		})
	}
	asked.Wait()
	for uuid, at := range s.next {
		if now.Sub(at) > s.c.PowerSyncInterval {
			delete(s.next, uuid)
		}
	}
	return nil
}

func (s *powerSync) ask(ctx context.Context, n node.Node) {
	ctx, cancel := context.WithTimeout(ctx, syncDeadline)
	defer cancel()
	power, err := s.c.readPower(ctx, n)
	if err == nil && power != "" {
		err = s.c.Moves.SetPowerState(ctx, n.UUID, power, s.c.Clock.Now())
	}
	if err != nil {
		s.c.Log.Info("power is not known", "node", n.UUID, "err", err)
	}
}

// Recover puts in order what the last run of the appliance left in the middle (design.md §5, rule 2). It must return
// before jobs are worked.
func (c *Conductor) Recover(ctx context.Context) error {
	held, err := c.Watched.Interrupted(ctx)
	if err != nil {
		return fmt.Errorf("find what was interrupted: %w", err)
	}
	for _, n := range held {
		if err := c.recover(ctx, n); err != nil && !errors.Is(err, node.ErrLost) {
			return fmt.Errorf("recover node %s: %w", n.UUID, err)
		}
	}
	return nil
}

func (c *Conductor) recover(ctx context.Context, n node.Node) error {
	const why = "The appliance was restarted in the middle of it."
	switch n.ProvisionState {
	case node.Verifying:
		return c.verifyFailed(ctx, n, "Verification did not finish. "+why)
	case node.Inspecting:
		a, err := c.Attempts.Attempt(ctx, n.AttemptID)
		if err != nil {
			return err
		}
		if _, err := c.Attempts.Report(ctx, a.ID); err == nil {
			return nil // its job finishes it
		} else if !missing(err) {
			return err
		}
		return c.failAttempt(ctx, n, a, n.ReservationID, "unable to start inspection: "+why)
	}
	if n.AttemptID != "" {
		if a, err := c.Attempts.Attempt(ctx, n.AttemptID); err == nil && a.State == node.RunReapplying {
			return nil // its job finishes it
		} else if err != nil && !missing(err) {
			return err
		}
	}
	return c.powerEnded(ctx, n, node.Job{Hold: n.ReservationID, Actor: node.System()}, "", "Pending power operation was given up. "+why)
}
