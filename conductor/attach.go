package conductor

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"slices"
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
	return c.ordersMedia(ctx, actor, ident, "attach_virtual_media", action, func(ctx context.Context, n node.Node, a Abilities) error {
		task, in, err := c.attach(ctx, a, m)
		if err != nil {
			return node.HideSecret(err, node.Secret(queryOf(m.URL)))
		}
		if in {
			return c.unfollow(ctx, actor, n, kind)
		}
		return c.follow(ctx, actor, n, m, task)
	})
}

// ordersMedia is orders for what is in the virtual drives. An inspection that has begun while the BMC's turn was waited for
// may have its own image there.
func (c *Conductor) ordersMedia(ctx context.Context, actor node.Actor, ident, what, action string, fn func(context.Context, node.Node, Abilities) error) error {
	n, err := c.Nodes.Node(ctx, ident)
	if err != nil {
		return err
	}
	return c.orders(ctx, actor, n.UUID, what, action, func(ctx context.Context, a Abilities) error {
		now, err := c.Nodes.Node(ctx, n.UUID)
		if err == nil && now.AttemptID != n.AttemptID {
			err = &node.Conflict{Text: "An inspection of node " + n.UUID + " has begun meanwhile, please retry after it."}
		}
		if err != nil {
			return err
		}
		return fn(ctx, now, a)
	})
}

// attach asks the BMC and waits a little. A look that fails once it has accepted leaves the rest to the job, unless the
// insertion has failed, or no later look can find out more.
func (c *Conductor) attach(ctx context.Context, a Abilities, m node.Medium) (task string, in bool, err error) {
	if task, err = a.BeginInsert(ctx, m); err != nil {
		return "", false, err
	}
	for end := c.Clock.Now().Add(attachWait); ; {
		in, err = a.Inserted(ctx, m, task)
		if in || err != nil && !unsure(err) {
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

// followedKey of driver_internal_info names the job that follows a medium of a kind: no other one, which may be running or
// waiting for the BMC at this moment, has still something to say of what is in the drives of that kind.
func followedKey(k node.MediumKind) string { return "followed_medium_" + string(k) }

// unfollowed removes the names of the jobs that follow media of some kinds; "" is every kind.
func unfollowed(kinds ...node.MediumKind) map[string]any {
	if slices.Contains(kinds, "") {
		kinds = []node.MediumKind{node.MediumCD, node.MediumDisk, node.MediumFloppy}
	}
	none := map[string]any{}
	for _, k := range kinds {
		none[followedKey(k)] = nil
	}
	return none
}

// follow leaves an insertion that goes on to a job. The job keeps no more of the address than everybody may see.
func (c *Conductor) follow(ctx context.Context, actor node.Actor, n node.Node, m node.Medium, task string) error {
	id := node.NewUUID()
	return c.instead(ctx, actor, n, map[string]any{followedKey(m.Kind): id}, node.Job{
		Kind: node.JobMedium, Node: n.UUID, Actor: actor, Deadline: c.Clock.Now().Add(attachPatience),
		Medium: node.PublicAddress(m.URL), MediumKind: m.Kind, Task: task, Follows: id,
	})
}

// unfollow gives up the jobs that follow media of some kinds: they are in, or out, or others have taken their place.
func (c *Conductor) unfollow(ctx context.Context, actor node.Actor, n node.Node, kinds ...node.MediumKind) error {
	none := unfollowed(kinds...)
	for key := range none {
		if n.DriverInternalInfo[key] != nil {
			return c.instead(ctx, actor, n, none)
		}
	}
	return nil
}

// instead puts jobs in the place of those that follow media of the node, whoever holds that. Where media of other kinds are
// followed, whose jobs go on, one that is not wanted any more finds that out by itself.
func (c *Conductor) instead(ctx context.Context, actor node.Actor, n node.Node, internal map[string]any, jobs ...node.Job) error {
	ctx = context.WithoutCancel(ctx) // the BMC is at it, whether or not somebody still listens
	for {
		var cancelled []node.JobKind
		if !followsOthers(n, internal) {
			cancelled = []node.JobKind{node.JobMedium}
		}
		_, err := c.Moves.Move(ctx, node.Move{
			Node: n.UUID, From: n.ProvisionState, Held: n.ReservationID, Hold: n.ReservationID, Host: n.Reservation, Actor: actor, At: c.Clock.Now(),
			CancelJobs: cancelled, Jobs: jobs, Internal: internal,
		})
		if !errors.Is(err, node.ErrLost) {
			return err
		}
		if n, err = c.Nodes.Node(ctx, n.UUID); err != nil {
			return err
		}
	}
}

// followsOthers tells whether media are followed of other kinds than those that change.
func followsOthers(n node.Node, change map[string]any) bool {
	for key := range unfollowed("") {
		if _, changes := change[key]; !changes && n.DriverInternalInfo[key] != nil {
			return true
		}
	}
	return false
}

// workMedium looks whether a medium is in by now that the BMC has accepted.
func (c *Conductor) workMedium(ctx context.Context, j node.Job) (time.Duration, error) {
	step, cancel := context.WithTimeout(ctx, stepTime)
	defer cancel()
	n, err := c.Nodes.Node(ctx, j.Node)
	if missing(err) {
		return done, nil
	}
	if err != nil {
		return done, err
	}
	in, wanted := false, true
	err = c.BMCs.Do(step, n, func(b BMC) error {
		// Whoever had the BMC before may have taken the medium out.
		if n, err = c.Nodes.Node(step, j.Node); missing(err) || err == nil && n.DriverInternalInfo[followedKey(j.MediumKind)] != j.Follows {
			wanted = false
			return nil
		}
		if err != nil {
			return err
		}
		in, err = c.isIn(step, n, b, j)
		return err
	})
	late := !c.Clock.Now().Before(j.Deadline)
	switch {
	case ctx.Err() != nil:
		return done, ctx.Err()
	case !wanted:
		return done, nil
	case in:
		return done, c.unfollow(ctx, j.Actor, n, j.MediumKind)
	case err == nil && late:
		err = fmt.Errorf("the BMC accepted it, but does not show it as inserted after %s", attachPatience)
	case err == nil || unsure(err) && !late:
		return 2 * attachPoll, nil
	}
	if err := c.mediumFailed(ctx, n, j, fmt.Sprintf("Failed to attach virtual media %s: %s", j.Medium, unquoted(err, j.Medium))); errors.Is(err, node.ErrLost) {
		return time.Second, nil // somebody holds the node: it is told when they are done
	} else if err != nil {
		return done, err
	}
	return done, nil
}

// isIn asks the BMC. The job does not know the whole address of its medium, which a drive may show.
func (c *Conductor) isIn(ctx context.Context, n node.Node, b BMC, j node.Job) (bool, error) {
	a, ok := b.(Abilities)
	if !ok {
		return false, &node.Unsupported{Driver: n.Driver, Extension: "attach_virtual_media"}
	}
	in, err := a.Inserted(ctx, node.Medium{Kind: j.MediumKind, URL: j.Medium}, j.Task)
	if err != nil || in {
		return in, err
	}
	drives, err := a.Drives(ctx)
	for _, d := range drives {
		in = in || d.Inserted && node.PublicAddress(d.URL) == j.Medium
	}
	return in, err
}

// unquoted is the text of an error without the query that a BMC quotes behind an image's address, which may be secret.
func unquoted(err error, address string) string {
	return regexp.MustCompile(regexp.QuoteMeta(address)+`\?\S*`).ReplaceAllLiteralString(err.Error(), address)
}

// mediumFailed tells on the node that a medium which was accepted did not come in. Why an inspection ended is worth more in
// last_error.
func (c *Conductor) mediumFailed(ctx context.Context, n node.Node, j node.Job, failure string) error {
	now := c.Clock.Now()
	m := node.Move{Node: n.UUID, From: n.ProvisionState, Actor: j.Actor, At: now, Internal: unfollowed(j.MediumKind), History: []node.History{{
		NodeUUID: n.UUID, At: now, Severity: node.SeverityError, Type: node.TypeNode, Event: failure, Actor: j.Actor, State: n.ProvisionState, TargetState: n.TargetProvisionState(),
	}}}
	if n.ProvisionState != node.InspectFailed {
		m.LastError = &failure
	}
	_, err := c.Moves.Move(ctx, m)
	return err
}

// unsure tells of an error that says nothing of what the BMC does about a medium that it has accepted: it was not asked, does
// not answer as it should, or not in time.
func unsure(err error) bool {
	u := (*node.Unreachable)(nil)
	return errors.As(err, &u) && u.Trouble != node.TroubleTask || errors.Is(err, context.DeadlineExceeded)
}
