package conductor

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"cagenut/node"
)

// Reapply works up a node's report once more, with the hooks and rules of now and without a reboot (contract.md §5.2). data
// is a report to take in place of the stored one; nil takes the newest that is kept. The node is held by the job when it
// returns, and its provision state stays what it is: an attempt that failed has failed, whatever its report is good for
// now. Where the latest attempt was aborted nothing is worked up: whoever aborted did not want its results.
//
// *node.NotFound without a report, *node.Invalid for a node that is being inspected or was never.
func (c *Conductor) Reapply(ctx context.Context, actor node.Actor, ident string, data []byte) error {
	n, err := c.Nodes.Node(ctx, ident)
	if err != nil {
		return err
	}
	if data != nil {
		if _, err := c.Reports.Keys(data); err != nil {
			return err
		}
	}
	err = c.whenFree(ctx, n, func(n node.Node) error { return c.reapply(ctx, actor, n, data) })
	if err != nil {
		c.auditRefusal(ctx, actor, "reapply", n, "", err)
	}
	return err
}

func (c *Conductor) reapply(ctx context.Context, actor node.Actor, n node.Node, data []byte) error {
	if n.AttemptID == "" {
		return &node.NotFound{Text: fmt.Sprintf("Node %s has never been inspected.", n.UUID)}
	}
	a, err := c.Attempts.Attempt(ctx, n.AttemptID)
	if err != nil {
		return err
	}
	switch {
	case a.Outcome == node.Aborted:
		return node.Invalidf("The last inspection of node %s was aborted; its results are not applied. Inspect it again.", n.UUID)
	case c.outOfBand(a.Interface):
		return node.Invalidf("The last inspection of node %s asked the BMC: there is no report to apply once more. Inspect it again.", n.UUID)
	case !a.State.Ended():
		return node.Invalidf("Node %s is being inspected: there is nothing to apply once more yet.", n.UUID)
	}
	now, hold := c.Clock.Now(), node.NewUUID()
	m := node.Move{
		Node: n.UUID, From: n.ProvisionState, Attempt: a.ID, Hold: hold, Host: c.Host, Actor: actor, At: now, AttemptState: node.RunReapplying,
		Jobs:  []node.Job{{Kind: node.JobReapply, Node: n.UUID, Attempt: a.ID, Hold: hold, Actor: actor, Deadline: now.Add(finishPatience)}},
		Audit: c.accepted(actor, "reapply", n, a.ID, ""),
	}
	if data != nil {
		m.Report = &node.Report{AttemptID: a.ID, Body: data, At: now}
	} else if _, err := c.Inspections.LastReport(ctx, n.UUID); err != nil {
		return err
	}
	_, err = c.Moves.Move(ctx, m)
	return err
}

// workReapply does all of it: what hooks and rules make of the report is stored in one transaction.
func (c *Conductor) workReapply(ctx context.Context, j node.Job) (time.Duration, error) {
	n, err := c.Nodes.Node(ctx, j.Node)
	if missing(err) || (err == nil && (n.ReservationID != j.Hold || n.AttemptID != j.Attempt)) {
		return done, nil
	}
	if err != nil {
		return done, err
	}
	a, err := c.Attempts.Attempt(ctx, j.Attempt)
	if err != nil {
		return done, err
	}
	if c.Clock.Now().After(j.Deadline) {
		return done, c.reapplied(ctx, n, a, j, workedUp{}, fmt.Errorf("it could not be worked up within %s", finishPatience))
	}
	r, err := c.Inspections.LastReport(ctx, n.UUID)
	if missing(err) {
		return done, c.reapplied(ctx, n, a, j, workedUp{}, errors.New("the report is no longer kept"))
	}
	if err != nil {
		return done, err
	}
	w, err := c.workUpReport(ctx, n, &a, r)
	if ctx.Err() != nil {
		return done, ctx.Err()
	}
	return done, c.reapplied(ctx, n, a, j, w, err)
}

// workUpReport runs the hooks and then the rules on a report. What they note takes the place of what was noted before.
func (c *Conductor) workUpReport(ctx context.Context, n node.Node, a *node.Attempt, r node.Report) (workedUp, error) {
	a.Notes = nil
	r = c.keepLogs(ctx, n.UUID, r)
	ports, owners, err := c.portsFor(ctx, n, r.Body)
	if err != nil {
		return workedUp{}, err
	}
	f, err := c.Reports.Process(ctx, n, ports, owners, r.Body)
	a.Notes = append(a.Notes, f.Notes...)
	if err != nil {
		return workedUp{}, err
	}
	w, err := c.workUp(ctx, n, a, ports, f)
	if err == nil {
		w.move.Inventory.AttemptID = r.AttemptID
	}
	return w, err
}

// reapplied frees the node with what came of it.
func (c *Conductor) reapplied(ctx context.Context, n node.Node, a node.Attempt, j node.Job, w workedUp, failure error) error {
	m := w.move
	h := node.History{Severity: node.SeverityInfo, Event: "The report of the last inspection was applied once more."}
	m.AttemptState = node.RunFinished
	if failure != nil {
		h = node.History{Severity: node.SeverityError, Event: "The report of the last inspection could not be applied once more: " + failure.Error()}
		m = node.Move{AttemptState: node.RunError, AttemptError: failedToFinish + failure.Error()}
	}
	m.Node, m.From, m.Held, m.Attempt, m.Actor, m.At, m.AttemptNotes = n.UUID, n.ProvisionState, j.Hold, a.ID, j.Actor, c.Clock.Now(), once(a.Notes)
	h.NodeUUID, h.AttemptID, h.At, h.Type, h.Actor, h.State = n.UUID, a.ID, m.At, node.TypeInspection, j.Actor, n.ProvisionState
	m.History = append(m.History, h)
	_, err := c.Moves.Move(ctx, m)
	if taken, by := w.nameTaken(err); by {
		return c.reapplied(ctx, n, a, j, workedUp{}, errors.New(taken))
	}
	return err
}

// once leaves of notes that are the same the first.
func once(notes []string) []string {
	out := make([]string, 0, len(notes))
	for _, n := range notes {
		if !slices.Contains(out, n) {
			out = append(out, n)
		}
	}
	return out
}
