package conductor

import (
	"context"
	"errors"
	"time"

	"cagenut/node"
)

// workCleanUp does the next piece of what follows the end of an attempt. It holds no reservation: before each command,
// inside the BMC's queue, it looks whether a newer attempt or a delete has taken over (design.md §4, point 7).
func (c *Conductor) workCleanUp(ctx context.Context, j node.Job) (time.Duration, error) {
	n, a, err := c.toCleanUp(ctx, j)
	if errors.Is(err, errSuperseded) {
		return done, nil
	}
	if err != nil {
		return done, err
	}
	i, err := c.inspectInterface(a.Interface)
	if err != nil {
		return done, err
	}
	still := func(ctx context.Context) error {
		_, now, err := c.toCleanUp(ctx, j)
		if err == nil && (now.KeepPowerOn != a.KeepPowerOn || now.KeepBoot != a.KeepBoot) {
			err = errTakenOver
		}
		return err
	}
	step, cancel := context.WithTimeout(ctx, stepTime)
	defer cancel()
	resumed := a
	resumed.Step = a.CleanUpStep
	p, err := i.CleanUp(step, n, resumed, still)
	switch {
	case errors.Is(err, errSuperseded):
		return done, nil
	case errors.Is(err, errTakenOver):
		return 0, nil
	case ctx.Err() != nil:
		return done, ctx.Err()
	}
	// Others may have written on the attempt while the BMC took its time.
	n, a, stillWanted := c.toCleanUp(ctx, j)
	switch {
	case errors.Is(stillWanted, errSuperseded):
		return done, nil
	case stillWanted != nil:
		return done, stillWanted
	}
	if p.Power != "" {
		if err := c.Moves.SetPowerState(ctx, n.UUID, p.Power, c.Clock.Now()); err != nil {
			return done, err
		}
	}
	if err != nil {
		return c.cleanUpFailed(ctx, n, a, p.Power, err)
	}
	if kept, err := c.keepLearned(ctx, n, a, p); !kept || err != nil {
		return time.Second, err
	}
	a.CleanUpStep = p.Step
	if !p.Ready {
		return p.After, c.Attempts.UpdateAttempt(ctx, a, nil)
	}
	a.CleanUp, a.CleanUpError = node.CleanUpDone, ""
	return done, c.Attempts.UpdateAttempt(ctx, a, &a.LastError)
}

var (
	errSuperseded = errors.New("a newer attempt has taken over")
	errTakenOver  = errors.New("somebody has taken over the power, or what the server boots from")
)

func (c *Conductor) toCleanUp(ctx context.Context, j node.Job) (node.Node, node.Attempt, error) {
	n, err := c.Nodes.Node(ctx, j.Node)
	if missing(err) {
		return n, node.Attempt{}, errSuperseded
	}
	if err != nil {
		return n, node.Attempt{}, err
	}
	a, err := c.Attempts.Attempt(ctx, j.Attempt)
	if missing(err) {
		return n, a, errSuperseded
	}
	if err == nil && (n.AttemptID != a.ID || a.CleanUp != node.CleanUpPending) {
		err = errSuperseded
	}
	return n, a, err
}

// cleanUpFailed tells on the node what could not be done, and says when to try again: with growing pauses, for as long
// as the settings' CleanUpPatience. power is what was confirmed all the same.
func (c *Conductor) cleanUpFailed(ctx context.Context, n node.Node, a node.Attempt, power node.PowerState, cause error) (time.Duration, error) {
	a.CleanUpTries++
	a.CleanUpError = cause.Error()
	what := " Power off not confirmed: "
	switch {
	case errors.Is(cause, node.ErrMediumLeft):
		what = " Virtual medium not ejected: "
	case a.KeepPowerOn || power == node.PowerOff:
		what = " Boot override not removed: "
	case n.DisablePowerOff:
		what = " Reboot not confirmed: "
	}
	text := a.LastError + what + a.CleanUpError
	now := c.Clock.Now()
	again := min(time.Second<<min(a.CleanUpTries, 6), time.Minute)
	if now.Sub(a.EndedAt) > c.CleanUpPatience {
		a.CleanUp, again = node.CleanUpGivenUp, done
	}
	if err := c.Attempts.UpdateAttempt(ctx, a, &text); err != nil {
		return done, err
	}
	h := node.History{
		NodeUUID: n.UUID, AttemptID: a.ID, At: now, LastAt: now, Severity: node.SeverityError, Type: node.TypeInspection,
		Event: "Inspection clean up failed: " + a.CleanUpError, Actor: node.System(), Key: "cleanup:" + a.ID, State: n.ProvisionState,
	}
	if err := c.Moves.Note(ctx, &h, nil); err != nil || a.CleanUpTries < 2 {
		return again, err
	}
	return again, c.silentTo(ctx, n, cause)
}
