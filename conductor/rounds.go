package conductor

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"cagenut/node"
)

const sweepInterval = time.Second

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
		s := newPowerSync(c)
		every(min(sweepInterval, c.PowerSyncInterval), "power sync", s.round)
		defer s.looks.Wait()
	}
	if c.AuditKept > 0 {
		every(forgetInterval, "old lines of the audit", c.forgetAudit)
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
		if a.Step == "" {
			a.Step = "interrupted" // nobody knows whether a foreign inspector has been told: it is made sure that it ends
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
