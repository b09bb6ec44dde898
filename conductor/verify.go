package conductor

import (
	"context"
	"fmt"
	"time"

	"cagenut/node"
)

// startVerify moves a node from `enroll` to `verifying` and lets a job ask its BMC (contract.md §2.5).
func (c *Conductor) startVerify(ctx context.Context, actor node.Actor, n node.Node) error {
	none, hold := "", node.NewUUID()
	_, err := c.Moves.Move(ctx, node.Move{
		Node: n.UUID, From: n.ProvisionState, Event: node.Manage, Hold: hold, Host: c.Host, Actor: actor, At: c.Clock.Now(), LastError: &none,
		Jobs:  []node.Job{{Kind: node.JobVerify, Node: n.UUID, Hold: hold, Actor: actor}},
		Audit: c.accepted(actor, "manage", n, "", ""),
	})
	return err
}

func (c *Conductor) workVerify(ctx context.Context, j node.Job) (time.Duration, error) {
	n, err := c.Nodes.Node(ctx, j.Node)
	if missing(err) {
		return done, nil
	}
	if err != nil || n.ReservationID != j.Hold || n.ProvisionState != node.Verifying {
		return done, err
	}
	if err := c.BMCs.Validate(n); err != nil {
		return done, c.verifyFailed(ctx, n, fmt.Sprintf("Failed to validate power driver interface for node %s. Error: %s", n.UUID, err))
	}
	step, cancel := context.WithTimeout(ctx, stepTime)
	defer cancel()
	power, err := c.readPower(step, n)
	if ctx.Err() != nil {
		return done, ctx.Err()
	}
	if err != nil {
		return done, c.verifyFailed(ctx, n, fmt.Sprintf("Failed to get power state for node %s. Error: %s", n.UUID, err))
	}
	_, err = c.Moves.Move(ctx, node.Move{
		Node: n.UUID, From: node.Verifying, Held: j.Hold, Event: node.Done, Actor: j.Actor, At: c.Clock.Now(), PowerState: &power,
	})
	return done, err
}

func (c *Conductor) verifyFailed(ctx context.Context, n node.Node, text string) error {
	now := c.Clock.Now()
	_, err := c.Moves.Move(ctx, node.Move{
		Node: n.UUID, From: node.Verifying, Held: n.ReservationID, Event: node.Fail, Actor: node.System(), At: now, LastError: &text,
		History: []node.History{{
			NodeUUID: n.UUID, At: now, Severity: node.SeverityError, Type: node.TypeVerify, Event: text, Actor: node.System(),
			State: n.ProvisionState, TargetState: n.TargetProvisionState(),
		}},
	})
	return err
}

func (c *Conductor) readPower(ctx context.Context, n node.Node) (p node.PowerState, err error) {
	err = c.BMCs.Do(ctx, n, func(b BMC) error {
		p, err = b.Power(ctx)
		return err
	})
	return p, err
}
