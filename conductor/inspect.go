package conductor

import (
	"context"
	"crypto/rand"
	"encoding/base64"
	"errors"
	"time"

	"cagenut/node"
)

// startInspection begins an attempt: the node is `inspecting`, held by the start job, when it returns.
func (c *Conductor) startInspection(ctx context.Context, actor node.Actor, n node.Node, req ProvisionRequest) error {
	i, err := c.inspectInterface(n.Interfaces.Inspect)
	if err != nil {
		return err
	}
	if err := c.BMCs.Validate(n); err != nil {
		return err
	}
	if err := i.Validate(ctx, n); err != nil {
		return err
	}
	if c.outOfBand(n.Interfaces.Inspect) {
		if err := c.cleanedUp(ctx, n); err != nil {
			return err
		}
	}
	now, cancelled, internal := c.Clock.Now(), []node.JobKind{node.JobCleanUp, node.JobSettle}, map[string]any(nil)
	if !c.outOfBand(n.Interfaces.Inspect) && n.Interfaces.Boot == node.BootVirtualMedia { // whose image takes the place of any other
		cancelled, internal = append(cancelled, node.JobMedium), unfollowed("")
	}
	a := node.Attempt{
		ID: node.NewUUID(), NodeUUID: n.UUID, Interface: n.Interfaces.Inspect, Token: newToken(), State: node.RunStarting, Started: actor, StartedAt: now,
	}
	none, noTarget, hold := "", node.PowerState(""), node.NewUUID()
	_, err = c.Moves.Move(ctx, node.Move{
		Node: n.UUID, From: n.ProvisionState, Event: node.Inspect, Hold: hold, Host: c.Host, Actor: actor, At: now,
		LastError: &none, TargetPowerState: &noTarget, PowerAsked: c.startAsks(n), StartedAt: &now, FinishedAt: &time.Time{}, ForgetAgent: true, NewAttempt: &a,
		CancelJobs: cancelled, Internal: internal,
		Jobs:  []node.Job{{Kind: node.JobStart, Node: n.UUID, Attempt: a.ID, Hold: hold, Deadline: now.Add(c.startLimit(n))}},
		Audit: c.accepted(actor, "inspect", n, a.ID, req.Reason),
	})
	return err
}

// startAsks is the power action by which a start brings a server into its ramdisk; nil where none is booted.
func (c *Conductor) startAsks(n node.Node) *node.PowerAction {
	if c.outOfBand(n.Interfaces.Inspect) {
		return nil
	}
	action := node.ActionOn
	if n.DisablePowerOff {
		action = node.ActionReboot
	}
	return &action
}

// newToken is the secret of one attempt's callback URL: 256 random bits.
func newToken() node.Secret {
	b := make([]byte, 32)
	rand.Read(b) // never fails
	return node.Secret(base64.RawURLEncoding.EncodeToString(b))
}

// workStart does the next piece of a start, until the node waits for its ramdisk, or, out of band, until all is read.
func (c *Conductor) workStart(ctx context.Context, j node.Job) (time.Duration, error) {
	n, a, wanted, err := c.heldAttempt(ctx, j)
	if err != nil || !wanted {
		return done, err
	}
	left := j.Deadline.Sub(c.Clock.Now())
	if left <= 0 {
		return done, c.failAttempt(ctx, n, a, j.Hold, c.late(n, a))
	}
	i, err := c.inspectInterface(a.Interface)
	if err != nil {
		return done, c.failAttempt(ctx, n, a, j.Hold, "unable to start inspection: "+err.Error())
	}
	if o, ok := i.(OutOfBand); ok {
		return c.workOutOfBand(ctx, left, o, n, a, j)
	}
	step, cancel := context.WithTimeout(ctx, min(left, stepTime))
	defer cancel()
	p, err := i.Inspect(step, n, a)
	if ctx.Err() != nil {
		return done, ctx.Err() // the appliance stops: recovery decides
	}
	if err != nil {
		return done, c.failStart(ctx, n, a, j.Hold, p, err)
	}
	return c.started(ctx, n, a, j, p)
}

// started writes down what a piece of the start has reached.
func (c *Conductor) started(ctx context.Context, n node.Node, a node.Attempt, j node.Job, p node.Progress) (time.Duration, error) {
	if p.Power != "" {
		if err := c.Moves.SetPowerState(ctx, n.UUID, p.Power, c.Clock.Now()); err != nil {
			return done, err
		}
	}
	for _, kind := range p.Signs {
		c.Sign(ctx, n.UUID, a.ID, kind, "")
	}
	a.Step, a.Notes = p.Step, append(a.Notes, p.Notes...)
	if err := c.Attempts.UpdateAttempt(ctx, a, nil); err != nil {
		return done, err
	}
	m := node.Move{Node: n.UUID, From: n.ProvisionState, Held: j.Hold, Hold: j.Hold, Host: n.Reservation, Attempt: a.ID, Actor: node.System(), At: c.Clock.Now()}
	m.Internal = learned(p)
	switch {
	case p.Finished:
		return done, c.end(ctx, node.System(), n, a, j.Hold, node.Done, node.Ending{Outcome: node.Succeeded, Notes: a.Notes, Move: node.Move{FinishedAt: &m.At}})
	case p.Ready:
		m.Event, m.Hold, m.Host, m.AttemptState = node.Wait, "", "", node.RunWaiting
	case m.Internal == nil:
		return p.After, nil
	}
	if _, err := c.Moves.Move(ctx, m); err != nil {
		return done, err
	}
	if p.Ready {
		return done, nil
	}
	return p.After, nil
}

// lookupKey of driver_internal_info holds the BMC addresses by which a report may find its node (contract.md §4.1).
const lookupKey = "lookup_bmc_addresses"

// heldAttempt reads what a job works on. wanted is false when the node has gone another way since.
func (c *Conductor) heldAttempt(ctx context.Context, j node.Job) (n node.Node, a node.Attempt, wanted bool, err error) {
	n, err = c.Nodes.Node(ctx, j.Node)
	if missing(err) {
		return n, a, false, nil
	}
	if err != nil || n.ReservationID != j.Hold || n.AttemptID != j.Attempt || n.ProvisionState != node.Inspecting {
		return n, a, false, err
	}
	a, err = c.Attempts.Attempt(ctx, j.Attempt)
	return n, a, err == nil, err
}

func missing(err error) bool {
	var gone *node.NotFound
	return errors.As(err, &gone)
}

func orNothing(step string) string {
	if step == "" {
		return "nothing was reached"
	}
	return step
}
