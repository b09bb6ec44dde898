package conductor

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"cagenut/node"
)

// lockPoll is how often a request that waits for a reservation looks again.
const lockPoll = 50 * time.Millisecond

// verbSince are the microversions that brought the verbs (contract.md §2.3, step 2), by the caller's spelling.
var verbSince = map[string]int{
	"manage": 4, "provide": 4, "inspect": 6, "abort": 13, "clean": 15, "adopt": 17, "rescue": 38, "unrescue": 38,
	"deploy": 73, "undeploy": 73,
}

// lateVerbSince are those of the verbs that are asked for only once the state allows them (contract.md §2.3, step 6).
var lateVerbSince = map[string]int{"unhold": 85, "service": 87}

// abortSince are the microversions that brought the abort of a state which had none before (contract.md §2.3, step 6).
var abortSince = map[node.State]int{node.InspectWait: 41, node.WaitCallback: 110}

// argumentsOf are the further keys of a provision request, and the verbs that take them.
var argumentsOf = map[string][]node.Event{
	"configdrive": {node.Deploy, node.Rebuild}, "deploy_steps": {node.Deploy, node.Rebuild}, "clean_steps": {node.Clean},
	"service_steps": {node.Service}, "rescue_password": {node.RescueIt}, "disable_ramdisk": {node.Clean, node.Service},
	"runbook": {node.Clean, node.Service},
}

// SetProvisionState carries out a verb. The checks come in the order of contract.md §2.3; whatever is refused changes
// nothing but the audit.
func (c *Conductor) SetProvisionState(ctx context.Context, actor node.Actor, ident string, req ProvisionRequest) error {
	n, err := c.Nodes.Node(ctx, ident)
	if err != nil {
		return err
	}
	if err = c.provision(ctx, actor, n, req); err != nil {
		c.auditRefusal(ctx, actor, req.Target, n, req.Reason, err)
	}
	return err
}

func (c *Conductor) provision(ctx context.Context, actor node.Actor, n node.Node, req ProvisionRequest) error {
	if tooOld(req.Minor, verbSince[req.Target]) {
		return node.ErrNotAcceptable
	}
	verb, _ := node.ParseVerb(req.Target)
	if n.Maintenance && (verb == node.Deploy || verb == node.Rebuild) {
		return node.Invalidf("The provisioning operation can't be performed on node %s because it's in maintenance mode.", n.UUID)
	}
	if err := allowed(n, verb, req); err != nil {
		return err
	}
	for _, key := range req.Arguments {
		if !slices.Contains(argumentsOf[key], verb) {
			return node.Invalidf("The argument %q can not be used with the provision state %q.", key, req.Target)
		}
	}
	if verb == node.Abort && tooOld(req.Minor, abortSince[n.ProvisionState]) || tooOld(req.Minor, lateVerbSince[req.Target]) {
		return node.ErrNotAcceptable
	}
	return c.whenFree(ctx, n, func(n node.Node) error {
		if err := allowed(n, verb, req); err != nil {
			return err
		}
		return c.carryOut(ctx, actor, n, verb, req)
	})
}

// tooOld tells whether a caller's microversion is below the one that brought something. 0 is a caller without one.
func tooOld(minor, since int) bool { return minor != 0 && minor < since }

// allowed is step 4 of contract.md §2.3, after the check that the caller speaks of the attempt that is there.
func allowed(n node.Node, verb node.Event, req ProvisionRequest) error {
	if req.Attempt != n.AttemptID && (req.Attempt != "" || req.Unattempted) {
		return &node.Stale{Node: n.UUID, Seen: req.Attempt, Now: n.ProvisionState}
	}
	_, err := n.ProvisionState.Next(verb)
	switch {
	case err == nil && verb.IsVerb():
		return nil
	case err == nil:
		return node.Invalidf("The requested action %q could not be understood.", req.Target)
	case n.Reserved():
		return &node.Locked{Node: n.UUID, Holder: n.Reservation}
	}
	return &node.InvalidTransition{Node: n.UUID, From: n.ProvisionState, Event: verb, Asked: req.Target}
}

// whenFree runs act on the node as it is, and again on the node as it has become when somebody else was first, until it
// answers for what it finds. A node that is held is waited for, for as long as the settings' LockPatience.
func (c *Conductor) whenFree(ctx context.Context, n node.Node, act func(node.Node) error) error {
	known := true
	return c.inPatience(ctx, func() (err error) {
		if !known {
			if n, err = c.Nodes.Node(ctx, n.UUID); err != nil {
				return err
			}
		}
		known = false
		if n.Reserved() {
			return &node.Locked{Node: n.UUID, Holder: n.Reservation}
		}
		return act(n)
	})
}

// inPatience runs try, which reads all that it decides by, until it answers for what it found: at once again when
// somebody else was first (node.ErrLost), and a little later while a node is held, for as long as LockPatience.
func (c *Conductor) inPatience(ctx context.Context, try func() error) error {
	patience := c.Clock.Now().Add(c.LockPatience)
	// Whoever loses is not held up but outrun: each time somebody else has got through, and its own turn comes.
	outrun := c.Clock.Now().Add(4 * c.LockPatience)
	for {
		err := try()
		locked := (*node.Locked)(nil)
		switch {
		case errors.Is(err, node.ErrLost) && c.Clock.Now().Before(outrun):
			continue
		case errors.Is(err, node.ErrLost):
			return &node.Conflict{Text: "Others were faster again and again, please retry later."}
		case !errors.As(err, &locked) || !c.Clock.Now().Before(patience):
			return err
		}
		select {
		case <-c.Clock.After(lockPoll):
		case <-ctx.Done():
			return fmt.Errorf("wait for node %s: %w", locked.Node, context.Cause(ctx))
		}
	}
}

func (c *Conductor) carryOut(ctx context.Context, actor node.Actor, n node.Node, verb node.Event, req ProvisionRequest) error {
	if err := protectedAgainst(n, verb); err != nil {
		return err
	}
	switch verb {
	case node.Manage:
		if n.ProvisionState == node.Enroll {
			return c.startVerify(ctx, actor, n)
		}
		return c.goThrough(ctx, actor, n, req, node.Manage)
	case node.Provide:
		if n.Retired {
			return node.Invalidf("The providing operation can't be performed on node %s because it is retired.", n.UUID)
		}
		// There is nothing to clean yet: the node passes through `cleaning` within the transaction.
		return c.goThrough(ctx, actor, n, req, node.Provide, node.Done)
	case node.Inspect:
		return c.startInspection(ctx, actor, n, req)
	case node.Abort:
		if n.ProvisionState == node.InspectWait {
			return c.abort(ctx, actor, n, req)
		}
	case node.Deploy, node.Rebuild:
		if n.Driver == node.DriverFake {
			return c.goThrough(ctx, actor, n, req, verb, node.Done)
		}
	case node.Delete:
		if n.Driver == node.DriverFake {
			return c.goThrough(ctx, actor, n, req, node.Delete, node.Clean, node.Done)
		}
	}
	return node.Invalidf("The requested action %q is not carried out by this appliance yet: it enrols and inspects servers, and does not deploy, clean, rescue, adopt or service them.", req.Target)
}

// goThrough moves a node through events that need no work, in one transaction. last_error stays: contract.md §2.5.
func (c *Conductor) goThrough(ctx context.Context, actor node.Actor, n node.Node, req ProvisionRequest, first node.Event, then ...node.Event) error {
	_, err := c.Moves.Move(ctx, node.Move{
		Node: n.UUID, From: n.ProvisionState, Event: first, Then: then, Actor: actor, At: c.Clock.Now(),
		Audit: c.accepted(actor, req.Target, n, "", req.Reason),
	})
	return err
}

func (c *Conductor) accepted(actor node.Actor, action string, n node.Node, attempt, reason string) *node.Audit {
	return &node.Audit{At: c.Clock.Now(), Actor: actor, Action: action, NodeUUID: n.UUID, AttemptID: attempt, Result: "accepted", Reason: reason}
}

// auditLimit is how many characters of a refused request, and of the refusal, the audit keeps: clients choose both.
const auditLimit = 1000

// auditRefusal keeps what was refused, to whom and why (G43). The caller's answer does not depend on it.
func (c *Conductor) auditRefusal(ctx context.Context, actor node.Actor, action string, n node.Node, reason string, why error) {
	a := node.Audit{
		At: c.Clock.Now(), Actor: actor, Action: node.Shorten(action, auditLimit), NodeUUID: n.UUID, AttemptID: n.AttemptID,
		Result: node.Shorten(why.Error(), auditLimit), Reason: node.Shorten(reason, auditLimit),
	}
	if err := c.Moves.Note(context.WithoutCancel(ctx), nil, &a); err != nil {
		c.Log.Error("audit of a refused request failed", "node", n.UUID, "action", action, "err", err)
	}
}
