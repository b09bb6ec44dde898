package conductor

import (
	"context"
	"errors"
	"time"

	"cagenut/node"
)

// abort stops an inspection that waits for its ramdisk. When it returns nil, the node is `inspect failed` and no later
// report can change that; no BMC has been spoken to (design.md §4).
func (c *Conductor) abort(ctx context.Context, actor node.Actor, n node.Node, req ProvisionRequest) error {
	a, err := c.Attempts.Attempt(ctx, n.AttemptID)
	if err != nil {
		return err
	}
	i, err := c.inspectInterface(n.Interfaces.Inspect)
	if err != nil {
		return err
	}
	before := a
	if external(i) {
		// From here on the caller may go away and the appliance may die: who asked for what is kept until the answer is known.
		ctx = context.WithoutCancel(ctx)
		a.AbortAsked, a.AbortAskedAt, a.Reason, a.KeepPowerOn = actor, c.Clock.Now(), req.Reason, req.KeepPowerOn
		if err := c.Attempts.UpdateAttempt(ctx, a, nil); err != nil {
			return err
		}
	}
	e, err := i.Abort(ctx, n, a)
	if unsupported := (*node.Unsupported)(nil); errors.As(err, &unsupported) {
		return &node.Unsupported{Driver: n.Driver, Extension: "abort"}
	}
	if err != nil {
		return c.abortFailed(ctx, actor, n, before, a, err)
	}
	e.Reason, e.KeepPowerOn, e.Notes = req.Reason, req.KeepPowerOn, a.Notes
	e.Move.Audit = c.accepted(actor, "abort", n, a.ID, req.Reason)
	err = c.end(ctx, actor, n, a, "", node.Abort, e)
	if errors.Is(err, node.ErrLost) && c.polledFirst(ctx, a) {
		return nil
	}
	return err
}

// polledFirst tells whether the poll saw what an abort has done at a foreign inspector before the abort itself came back, and
// ended the attempt for it.
func (c *Conductor) polledFirst(ctx context.Context, asked node.Attempt) bool {
	now, err := c.Attempts.Attempt(ctx, asked.ID)
	return err == nil && now.Outcome == node.Aborted && !asked.AbortAskedAt.IsZero() && sameAsking(now, asked)
}

// sameAsking tells whether the abort that is on record is this one: times are kept to the microsecond.
func sameAsking(kept, asked node.Attempt) bool {
	return kept.AbortAskedAt.Equal(asked.AbortAskedAt.Truncate(time.Microsecond))
}

// abortFailed tells on the node that a foreign inspector did not accept an abort, before which the attempt is put back unless
// somebody else has asked since. Where the answer is not known, who asked is kept: the poll ends the attempt in that name
// when it finds the run cancelled.
func (c *Conductor) abortFailed(ctx context.Context, actor node.Actor, n node.Node, before, asked node.Attempt, cause error) error {
	text := "Failed to abort inspection: " + cause.Error()
	if conflict := (*node.Conflict)(nil); errors.As(cause, &conflict) {
		text = conflict.Text
	}
	now := c.Clock.Now()
	_, err := c.Moves.Move(ctx, node.Move{
		Node: n.UUID, From: n.ProvisionState, Attempt: before.ID, Actor: actor, At: now, LastError: &text,
		History: []node.History{{
			NodeUUID: n.UUID, AttemptID: before.ID, At: now, Severity: node.SeverityError, Type: node.TypeInspection, Event: text, Actor: actor,
			State: n.ProvisionState, TargetState: n.TargetProvisionState(),
		}},
	})
	if err != nil {
		return err
	}
	if dead := (*node.Unreachable)(nil); errors.As(cause, &dead) && dead.Timeout {
		return cause
	}
	kept, err := c.Attempts.Attempt(ctx, before.ID)
	if err == nil && sameAsking(kept, asked) {
		err = c.Attempts.UpdateAttempt(ctx, before, nil)
	}
	if err != nil {
		return err
	}
	return cause
}

func (c *Conductor) inspectInterface(name string) (InspectInterface, error) {
	if i, ok := c.Inspect[name]; ok {
		return i, nil
	}
	return nil, node.Invalidf("The inspect interface %q is not enabled.", name)
}

func external(i InspectInterface) bool {
	d, ok := i.(Delegate)
	return ok && d.External()
}
