package conductor

import (
	"context"
	"errors"

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
		// From here on the caller may go away and the appliance may die: who asked is kept until the answer is known.
		ctx = context.WithoutCancel(ctx)
		a.AbortAsked, a.AbortAskedAt = actor, c.Clock.Now()
		if err := c.Attempts.UpdateAttempt(ctx, a, nil); err != nil {
			return err
		}
	}
	e, err := i.Abort(ctx, n, a)
	if unsupported := (*node.Unsupported)(nil); errors.As(err, &unsupported) {
		return &node.Unsupported{Driver: n.Driver, Extension: "abort"}
	}
	if err != nil {
		return c.abortFailed(ctx, actor, n, before, err)
	}
	e.Reason, e.KeepPowerOn, e.Notes = req.Reason, req.KeepPowerOn, a.Notes
	e.Move.Audit = c.accepted(actor, "abort", n, a.ID, req.Reason)
	return c.end(ctx, actor, n, a, "", node.Abort, e)
}

// abortFailed tells on the node that a foreign inspector did not accept an abort; a is the attempt as it was before. Where
// the answer is not known, who asked is kept: the poll ends the attempt in that name when it finds the run cancelled.
func (c *Conductor) abortFailed(ctx context.Context, actor node.Actor, n node.Node, a node.Attempt, cause error) error {
	text := "Failed to abort inspection: " + cause.Error()
	if conflict := (*node.Conflict)(nil); errors.As(cause, &conflict) {
		text = conflict.Text
	}
	now := c.Clock.Now()
	_, err := c.Moves.Move(ctx, node.Move{
		Node: n.UUID, From: n.ProvisionState, Attempt: a.ID, Actor: actor, At: now, LastError: &text,
		History: []node.History{{
			NodeUUID: n.UUID, AttemptID: a.ID, At: now, Severity: node.SeverityError, Type: node.TypeInspection, Event: text, Actor: actor,
			State: n.ProvisionState, TargetState: n.TargetProvisionState(),
		}},
	})
	if err != nil {
		return err
	}
	if dead := (*node.Unreachable)(nil); errors.As(cause, &dead) && dead.Timeout {
		return cause
	}
	if err := c.Attempts.UpdateAttempt(ctx, a, nil); err != nil {
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
