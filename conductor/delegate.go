package conductor

import (
	"context"
	"errors"
	"fmt"
	"time"

	"golang.org/x/sync/errgroup"

	"cagenut/node"
)

// cancelledText is what an inspector says of a run that was aborted (contract.md §5.4).
const cancelledText = "Canceled by operator"

// pollWorkers bounds how many runs a foreign inspector is asked for at the same time: one that takes its time must not make
// a round as long as all waiting nodes together.
const pollWorkers = 8

// poll asks the foreign inspector how the runs of all waiting nodes are.
func (c *Conductor) poll(ctx context.Context) error {
	waiting, err := c.Watched.Waiting(ctx)
	if err != nil {
		return err
	}
	var asked errgroup.Group
	asked.SetLimit(pollWorkers)
	for _, n := range waiting {
		i, err := c.inspectInterface(n.Interfaces.Inspect)
		if err != nil || !external(i) {
			continue
		}
		asked.Go(func() error {
			err := c.pollNode(ctx, i.(Delegate), n)
			// Whoever was first has ended the attempt, or works on it: the next round looks again.
			if err != nil && ctx.Err() == nil && !errors.Is(err, node.ErrLost) && !errors.Is(err, node.ErrNotReported) {
				c.Log.Warn("cannot follow a run at the external inspector", "node", n.UUID, "err", err)
			}
			return nil
		})
	}
	_ = asked.Wait() // the errors are in the log
	return ctx.Err()
}

func (c *Conductor) pollNode(ctx context.Context, d Delegate, n node.Node) error {
	a, err := c.Attempts.Attempt(ctx, n.AttemptID)
	if err != nil {
		return err
	}
	state, failure, err := d.Run(ctx, n)
	switch {
	case missing(err):
		return c.failAttempt(ctx, n, a, "", "The inspector service does not know this node any more.")
	case err != nil:
		return c.diverge(ctx, a, err.Error())
	case state == node.RunError && failure == cancelledText && !a.AbortAskedAt.IsZero():
		return c.end(ctx, a.AbortAsked, n, a, "", node.Abort, node.Ending{
			Outcome: node.Aborted, LastError: "Inspection was aborted by request.", Error: cancelledText, CleanUp: true, Notes: a.Notes,
			Reason: a.Reason, KeepPowerOn: a.KeepPowerOn, Move: node.Move{Audit: c.accepted(a.AbortAsked, "abort", n, a.ID, a.Reason)},
		})
	case state == node.RunError:
		return c.failAttempt(ctx, n, a, "", "ironic-inspector inspection failed: "+failure)
	case state == node.RunFinished:
		body, err := d.Data(ctx, n)
		if missing(err) {
			return c.finishedWithoutData(ctx, n, a)
		}
		if err != nil {
			return c.diverge(ctx, a, err.Error())
		}
		_, err = c.accept(ctx, node.System(), n, node.NotProven, ReportRequest{Body: body})
		return err
	}
	return c.diverge(ctx, a, "")
}

// finishedWithoutData ends an attempt that succeeded at a service which stores no data: properties and ports are what the
// service itself has written here (contract.md §5.7).
func (c *Conductor) finishedWithoutData(ctx context.Context, n node.Node, a node.Attempt) error {
	now := c.Clock.Now()
	return c.end(ctx, node.System(), n, a, "", node.Done, node.Ending{
		Outcome: node.Succeeded, CleanUp: true, Notes: append(a.Notes, "The inspector service stores no inspection data, so there is no inventory."),
		Move: node.Move{FinishedAt: &now},
	})
}

// toldInspector tells whether a foreign inspector has been told of an attempt, so that it may still be at it.
func (c *Conductor) toldInspector(a node.Attempt) bool {
	i, err := c.inspectInterface(a.Interface)
	return err == nil && external(i) && (a.State != node.RunStarting || a.Step != "")
}

// diverge notes on the attempt in what the inspector differs from us; "" when it does not.
func (c *Conductor) diverge(ctx context.Context, a node.Attempt, what string) error {
	if a.Divergence == what {
		return nil
	}
	return c.Attempts.SetDivergence(ctx, a, what)
}

// workSettle makes sure that a foreign inspector really ends a run that is over here: one whose abort it accepted
// (contract.md §9, 25), or one that timed out, failed or got its report on our side alone.
func (c *Conductor) workSettle(ctx context.Context, j node.Job) (time.Duration, error) {
	n, latest, err := c.latest(ctx, j)
	if err != nil || !latest {
		return done, err
	}
	a, err := c.Attempts.Attempt(ctx, j.Attempt)
	if err != nil {
		return done, err
	}
	i, err := c.inspectInterface(a.Interface)
	if err != nil || !external(i) {
		return done, err
	}
	d := i.(Delegate)
	state, _, err := d.Run(ctx, n)
	if missing(err) || (err == nil && state.Ended()) {
		return done, c.diverge(ctx, a, "")
	}
	what := fmt.Sprintf("The inspection is over here, but the inspector service's run is still %q.", state)
	if a.Outcome == node.Aborted {
		what = fmt.Sprintf("The inspector service accepted the abort but its run is still %q.", state)
	}
	// The answer may have taken a while: what runs there by now may be the node's next attempt.
	if n, latest, e := c.latest(ctx, j); e != nil || !latest {
		return done, e
	} else if err != nil {
		what = "It is not known whether the inspector service has ended its run: " + err.Error()
	} else if _, err := d.Abort(ctx, n, a); err != nil {
		what += " Asked again: " + err.Error()
	}
	if c.Clock.Now().Sub(a.EndedAt) > c.CleanUpPatience {
		return done, c.diverge(ctx, a, what)
	}
	return 5 * time.Second, c.diverge(ctx, a, what)
}

// latest reads the node of a job, and tells whether the job's attempt is still its latest.
func (c *Conductor) latest(ctx context.Context, j node.Job) (n node.Node, latest bool, err error) {
	n, err = c.Nodes.Node(ctx, j.Node)
	if missing(err) {
		return n, false, nil
	}
	return n, err == nil && n.AttemptID == j.Attempt, err
}
