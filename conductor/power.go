package conductor

import (
	"context"
	"fmt"
	"slices"
	"time"

	"cagenut/node"
)

const (
	powerTimeout = time.Minute
	softTimeout  = 10 * time.Minute // an operating system takes its time to shut down
	powerPoll    = time.Second
)

// SetPower asks for a power action (contract.md §3.6): the node is held by the power job when it returns.
func (c *Conductor) SetPower(ctx context.Context, actor node.Actor, ident string, req PowerRequest) error {
	n, err := c.Nodes.Node(ctx, ident)
	if err != nil {
		return err
	}
	if err = c.setPower(ctx, actor, n, req); err != nil {
		c.auditRefusal(ctx, actor, req.Target, n, "", err)
	}
	return err
}

func (c *Conductor) setPower(ctx context.Context, actor node.Actor, n node.Node, req PowerRequest) error {
	action := node.PowerAction(req.Target)
	soft := action == node.ActionSoftOff || action == node.ActionSoftReboot
	if tooOld(req.Minor, 27) && (soft || req.Timeout != 0) {
		return node.ErrNotAcceptable
	}
	if err := refusesPower(n, action); err != nil {
		return err
	}
	if err := c.BMCs.Validate(n); err != nil {
		return err
	}
	return c.whenFree(ctx, n, func(n node.Node) error {
		now, none, target, hold := c.Clock.Now(), "", action.Result(), node.NewUUID()
		wait := req.Timeout
		if wait == 0 {
			wait = powerPatience(soft, n.ProvisionState)
		}
		last := &none
		if n.ProvisionState == node.InspectFailed {
			last = nil // why an inspection ended is worth more than that a power action began
		}
		_, err := c.Moves.Move(ctx, node.Move{
			Node: n.UUID, From: n.ProvisionState, Hold: hold, Host: c.Host, Actor: actor, At: now, LastError: last, TargetPowerState: &target, PowerAsked: &action,
			// Somebody takes over the power: clean-up of an earlier attempt must not switch off what they switch on.
			KeepPowerOn: action.Result() == node.PowerOn,
			Jobs:        []node.Job{{Kind: node.JobPower, Node: n.UUID, Hold: hold, Action: action, Actor: actor, Deadline: now.Add(wait)}},
			Audit:       c.accepted(actor, req.Target, n, "", ""),
		})
		return err
	})
}

// refusesPower is why a node cannot take a power action in its state; nil if it can.
func refusesPower(n node.Node, a node.PowerAction) error {
	if a.Result() == "" || slices.Contains([]node.State{node.Cleaning, node.CleanWait}, n.ProvisionState) {
		return &node.InvalidTransition{Node: n.UUID, From: n.ProvisionState, Asked: string(a)}
	}
	return nil
}

// powerPatience is how long is waited for a request that names no timeout. While a power action goes on an inspection can be
// neither aborted nor timed out: there it is short whatever the action.
func powerPatience(soft bool, s node.State) time.Duration {
	if soft && s != node.InspectWait {
		return softTimeout
	}
	return powerTimeout
}

// workPower sends a power action once and then looks until the BMC says that it has come about. A look that fails is no
// failure of the action.
func (c *Conductor) workPower(ctx context.Context, j node.Job, round int) (time.Duration, error) {
	n, err := c.Nodes.Node(ctx, j.Node)
	if missing(err) {
		return done, nil
	}
	if err != nil || n.ReservationID != j.Hold {
		return done, err
	}
	step, cancel := context.WithTimeout(ctx, stepTime)
	defer cancel()
	var power node.PowerState
	sent := round > 0
	err = c.BMCs.Do(step, n, func(b BMC) (err error) {
		if !sent {
			if err := b.SetPower(step, j.Action); err != nil {
				return err
			}
			sent = true
		}
		power, err = b.Power(step)
		return err
	})
	if ctx.Err() != nil {
		return done, ctx.Err()
	}
	late := !c.Clock.Now().Before(j.Deadline)
	switch {
	case err == nil && power == j.Action.Result():
		return done, c.powerEnded(ctx, n, j, power, "")
	case err != nil && (!sent || late):
		if failure := c.powerEnded(ctx, n, j, power, fmt.Sprintf("Failed to change power state to '%s'. Error: %s", j.Action.Result(), err)); failure != nil {
			return done, failure
		}
		return done, c.noteSilence(ctx, n.UUID, err)
	case late:
		return done, c.powerEnded(ctx, n, j, power, fmt.Sprintf("Failed to change power state to '%s'. Error: the BMC accepted, but still says '%s'", j.Action.Result(), power))
	}
	return powerPoll, nil
}

// noteSilence tells on a free node that its BMC was silent to a command.
func (c *Conductor) noteSilence(ctx context.Context, uuid string, cause error) error {
	n, err := c.Nodes.Node(ctx, uuid)
	if missing(err) {
		return nil
	}
	if err != nil {
		return err
	}
	return c.silentTo(ctx, n, cause)
}

// powerEnded frees the node after a power action; failure is what went wrong, or "".
func (c *Conductor) powerEnded(ctx context.Context, n node.Node, j node.Job, power node.PowerState, failure string) error {
	now, noTarget := c.Clock.Now(), node.PowerState("")
	m := node.Move{Node: n.UUID, From: n.ProvisionState, Held: j.Hold, Actor: j.Actor, At: now, TargetPowerState: &noTarget}
	if power != "" {
		m.PowerState = &power
	}
	if failure != "" {
		if n.ProvisionState != node.InspectFailed {
			m.LastError = &failure // else why the inspection ended stays: programs look for "aborted" there
		}
		m.History = []node.History{{NodeUUID: n.UUID, At: now, Severity: node.SeverityError, Type: node.TypePower, Event: failure, Actor: j.Actor, State: n.ProvisionState, TargetState: n.TargetProvisionState()}}
	}
	_, err := c.Moves.Move(ctx, m)
	return err
}
