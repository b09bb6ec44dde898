package conductor

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"cagenut/node"
)

const (
	// attachWait is how long a request for a medium waits for it: most BMCs are done by then.
	attachWait = 5 * time.Second
	// attachPoll is the pause between looks.
	attachPoll = time.Second
	// attachPatience is how long a job follows an insertion that takes longer.
	attachPatience = 5 * time.Minute
)

// AttachVirtualMedia puts an image into a virtual drive of its kind. A user and a password in the address are handed to
// the BMC apart from it. nil is that the BMC has accepted it: where it takes its time to fetch the image, a job follows it,
// and what goes wrong then stands in last_error and the history. *node.Locked while a worker holds the node, *node.Invalid
// for an address that is none.
func (c *Conductor) AttachVirtualMedia(ctx context.Context, actor node.Actor, ident string, kind node.MediumKind, image string) error {
	m, err := node.ParseMedium(kind, image)
	if err != nil {
		return node.Invalidf("image_url has to be an address with http or https.")
	}
	action := fmt.Sprintf("attach virtual media %s %s", kind, node.PublicAddress(m.URL))
	var in bool
	var task string
	err = c.orders(ctx, actor, ident, "attach_virtual_media", action, func(ctx context.Context, a Abilities) (err error) {
		task, in, err = c.attach(ctx, a, m)
		return without(err, queryOf(m.URL))
	})
	if err != nil || in {
		return err
	}
	return c.follow(ctx, actor, ident, m, task)
}

// attach asks the BMC and waits a little. A look that fails once it has accepted leaves the rest to the job, unless it says
// that the insertion has failed.
func (c *Conductor) attach(ctx context.Context, a Abilities, m node.Medium) (task string, in bool, err error) {
	if task, err = a.BeginInsert(ctx, m); err != nil {
		return "", false, err
	}
	for end := c.Clock.Now().Add(attachWait); ; {
		in, err = a.Inserted(ctx, m, task)
		if in || err != nil && !lateAnswer(err) {
			return task, in, err
		}
		if !c.Clock.Now().Before(end) {
			return task, false, nil
		}
		select {
		case <-c.Clock.After(attachPoll):
		case <-ctx.Done():
			return task, false, nil
		}
	}
}

// follow leaves an insertion that goes on to a job. The job keeps no more of the address than everybody may see.
func (c *Conductor) follow(ctx context.Context, actor node.Actor, ident string, m node.Medium, task string) error {
	return c.instead(ctx, actor, ident, node.Job{
		Kind: node.JobMedium, Actor: actor, Deadline: c.Clock.Now().Add(attachPatience), Medium: node.PublicAddress(m.URL), MediumKind: m.Kind, Task: task,
	})
}

// unfollow gives up a job that follows a medium: somebody has taken it out.
func (c *Conductor) unfollow(ctx context.Context, actor node.Actor, ident string) error {
	return c.instead(ctx, actor, ident)
}

// instead puts jobs in the place of the one that follows a medium of the node, whoever holds that.
func (c *Conductor) instead(ctx context.Context, actor node.Actor, ident string, jobs ...node.Job) error {
	ctx = context.WithoutCancel(ctx) // the BMC is at it, whether or not somebody still listens
	for {
		n, err := c.Nodes.Node(ctx, ident)
		if err != nil {
			return err
		}
		for i := range jobs {
			jobs[i].Node = n.UUID
		}
		_, err = c.Moves.Move(ctx, node.Move{
			Node: n.UUID, From: n.ProvisionState, Held: n.ReservationID, Hold: n.ReservationID, Host: n.Reservation, Actor: actor, At: c.Clock.Now(),
			CancelJobs: []node.JobKind{node.JobMedium}, Jobs: jobs,
		})
		if !errors.Is(err, node.ErrLost) {
			return err
		}
	}
}

// workMedium looks whether a medium is in by now that the BMC has accepted.
func (c *Conductor) workMedium(ctx context.Context, j node.Job) (time.Duration, error) {
	n, err := c.Nodes.Node(ctx, j.Node)
	if missing(err) {
		return done, nil
	}
	if err != nil {
		return done, err
	}
	step, cancel := context.WithTimeout(ctx, stepTime)
	defer cancel()
	in := false
	err = c.BMCs.Do(step, n, func(b BMC) error {
		a, ok := b.(Abilities)
		if !ok {
			return &node.Unsupported{Driver: n.Driver, Extension: "attach_virtual_media"}
		}
		if in, err = a.Inserted(step, node.Medium{Kind: j.MediumKind, URL: j.Medium}, j.Task); err != nil || in {
			return err
		}
		drives, err := a.Drives(step)
		for _, d := range drives {
			in = in || d.Inserted && node.PublicAddress(d.URL) == j.Medium
		}
		return err
	})
	late := !c.Clock.Now().Before(j.Deadline)
	switch {
	case ctx.Err() != nil:
		return done, ctx.Err()
	case in:
		return done, nil
	case err == nil && late:
		err = fmt.Errorf("the BMC accepted it, but does not show it as inserted after %s", attachPatience)
	case err == nil || lateAnswer(err) && !late:
		return 2 * attachPoll, nil
	}
	if err := c.mediumFailed(ctx, n, j, fmt.Sprintf("Failed to attach virtual media %s: %s", j.Medium, unquoted(err, j.Medium))); errors.Is(err, node.ErrLost) {
		return time.Second, nil // somebody holds the node: it is told when they are done
	} else if err != nil {
		return done, err
	}
	return done, nil
}

// unquoted is the text of an error without the query that a BMC quotes behind an image's address, which may be secret.
func unquoted(err error, address string) string {
	before, after, found := strings.Cut(err.Error(), address+"?")
	if !found {
		return before
	}
	_, rest, _ := strings.Cut(after, " ")
	return before + address + " " + rest
}

// mediumFailed tells on the node that a medium which was accepted did not come in. Why an inspection ended is worth more in
// last_error.
func (c *Conductor) mediumFailed(ctx context.Context, n node.Node, j node.Job, failure string) error {
	now := c.Clock.Now()
	m := node.Move{Node: n.UUID, From: n.ProvisionState, Actor: j.Actor, At: now, History: []node.History{{
		NodeUUID: n.UUID, At: now, Severity: node.SeverityError, Type: node.TypeNode, Event: failure, Actor: j.Actor, State: n.ProvisionState, TargetState: n.TargetProvisionState(),
	}}}
	if n.ProvisionState != node.InspectFailed {
		m.LastError = &failure
	}
	_, err := c.Moves.Move(ctx, m)
	return err
}

// lateAnswer tells of an answer that did not come in time: it says nothing of what the BMC does.
func lateAnswer(err error) bool {
	silent := (*node.Unreachable)(nil)
	return errors.As(err, &silent) && (silent.Timeout || !silent.Answered) || errors.Is(err, context.DeadlineExceeded)
}
