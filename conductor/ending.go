package conductor

import (
	"context"
	"time"

	"cagenut/node"
)

// timedOut is Ironic's sentence (contract.md §2.9). It must not contain "aborted": clients look for that word.
const timedOut = "Timeout reached while inspecting the node. Please check if the ramdisk responsible for the inspection is running on the node."

// end completes an ending and hands it to the store: the only way in which an attempt ends. n is the node as it was read,
// held the worker's own reservation or "".
func (c *Conductor) end(ctx context.Context, actor node.Actor, n node.Node, a node.Attempt, held string, event node.Event, e node.Ending) error {
	now := c.Clock.Now()
	m := e.Move
	m.Node, m.From, m.Held, m.Attempt, m.Event, m.Actor, m.At = n.UUID, n.ProvisionState, held, a.ID, event, actor, now
	m.LastError = &e.LastError
	m.StartedAt = &time.Time{}
	if m.FinishedAt == nil {
		m.FinishedAt = &time.Time{}
	}
	m.ForgetAgent = true
	e.CleanUp = e.CleanUp && !c.outOfBand(a.Interface)
	if c.toldInspector(a) {
		m.Jobs = append(m.Jobs, node.Job{Kind: node.JobSettle, Node: n.UUID, Attempt: a.ID})
	}
	if e.CleanUp {
		m.Jobs = append(m.Jobs, node.Job{Kind: node.JobCleanUp, Node: n.UUID, Attempt: a.ID})
		off, action := node.PowerOff, node.ActionOff
		switch {
		case e.KeepPowerOn:
		case n.DisablePowerOff:
			action = node.ActionReboot
			m.PowerAsked = &action
		default:
			m.TargetPowerState, m.PowerAsked = &off, &action
		}
	}
	h := node.History{
		NodeUUID: n.UUID, AttemptID: a.ID, At: now, Severity: node.SeverityError, Type: node.TypeInspection, Event: e.LastError, Actor: actor, Reason: e.Reason,
		State: n.ProvisionState, TargetState: n.TargetProvisionState(), Duration: now.Sub(a.StartedAt), Final: true,
	}
	if e.Outcome == node.Succeeded {
		h.Severity, h.Event = node.SeverityInfo, "Inspection finished."
	}
	m.History = append(m.History, h)
	e.Move = m
	_, err := c.Moves.EndAttempt(ctx, e)
	return err
}

// failAttempt ends an attempt that cannot go on.
func (c *Conductor) failAttempt(ctx context.Context, n node.Node, a node.Attempt, held, text string) error {
	return c.end(ctx, node.System(), n, a, held, node.Fail, node.Ending{Outcome: node.Failed, LastError: text, Error: text, CleanUp: true, Notes: a.Notes})
}

// timeOut ends the attempt of a node, and says how far its server had come.
func (c *Conductor) timeOut(ctx context.Context, n node.Node) error {
	a, err := c.Attempts.Attempt(ctx, n.AttemptID)
	if err != nil {
		return err
	}
	text := timedOut
	if _, advice, err := c.HowFar(ctx, a); err == nil && advice != "" {
		text += " " + advice
	}
	return c.end(ctx, node.System(), n, a, "", node.Fail, node.Ending{Outcome: node.TimedOut, LastError: text, Error: "Introspection timeout", CleanUp: true, Notes: a.Notes})
}
