package ui

import (
	"context"
	"errors"
	"strings"

	"github.com/gofiber/fiber/v2"

	"cagenut/node"
	"cagenut/templates"
	"cagenut/web"
)

// notAllowed answers people who may look but not act.
func (p *Pages) notAllowed(c *fiber.Ctx) error {
	return p.fail(c, fiber.StatusForbidden, templates.Failure{Headline: headline(c.UserContext(), fiber.StatusForbidden), Text: templates.T(c.UserContext(), "failure.viewer")})
}

// refused answers an action that did not happen: what is true now, in words, with the status of the error's kind. what is
// the word on the action's button; verb is "" for what is no verb. An error of no known kind goes on to guard.
func (p *Pages) refused(c *fiber.Ctx, before node.Node, what string, verb node.Event, attempt string, err error) error {
	text, known := p.sentence(c.UserContext(), before, verb, attempt, err)
	if !known {
		return err
	}
	status, _ := web.Status(err)
	return p.fail(c, status, templates.Failure{
		Headline: templates.T(c.UserContext(), "outcome.headline", what), Text: text,
		Away: nodeURL(before.Label()), AwayText: templates.T(c.UserContext(), "outcome.away", before.Label()),
	})
}

// sentence says why an action did not happen. known is false for errors that are not for readers.
func (p *Pages) sentence(ctx context.Context, before node.Node, verb node.Event, attempt string, err error) (text string, known bool) {
	now, readErr := p.o.Store.Node(ctx, before.UUID)
	if readErr != nil {
		now = before // deleted in the meantime, or unreadable: what we knew is the best there is
	}
	var (
		stale       *node.Stale
		transition  *node.InvalidTransition
		locked      *node.Locked
		unsupported *node.Unsupported
		unreachable *node.Unreachable
		invalid     *node.Invalid
		conflict    *node.Conflict
		missing     *node.NotFound
	)
	switch {
	case errors.As(err, &stale), errors.As(err, &transition) && verb == node.Abort:
		late, lateErr := p.lateAbort(ctx, now, attempt)
		return late, lateErr == nil
	case errors.As(err, &transition):
		return templates.NotPossible(ctx, templates.VerbLabel(ctx, now.ProvisionState, verb), now.ProvisionState), true
	case errors.As(err, &locked):
		return templates.LockedBy(ctx, locked.Holder), true
	case errors.As(err, &unsupported):
		return templates.Unsupported(ctx, unsupported.Error()), true
	case errors.Is(err, node.ErrCredentials):
		return templates.T(ctx, "outcome.nothing", templates.T(ctx, "part.credentials")), true
	case errors.As(err, &unreachable):
		if unreachable.Timeout {
			return templates.NoAnswerFrom(ctx, unreachable.Error(), now.ProvisionState), true
		}
		return templates.NotAccepted(ctx, unreachable.Error(), now.ProvisionState), true
	case errors.As(err, &invalid):
		return templates.T(ctx, "outcome.nothing", ended(invalid.Error())), true
	case errors.As(err, &conflict):
		return templates.T(ctx, "outcome.nothing", ended(conflict.Error())), true
	case errors.As(err, &missing) && readErr == nil: // the node is there, what it was to be done with is not
		return templates.T(ctx, "outcome.nothing", ended(missing.Error())), true
	}
	return "", false
}

func ended(s string) string { return strings.TrimRight(s, ". ") + "." }

// lateAbort says what became of the attempt that somebody saw and wanted to abort: who was first, or how it ended. seen
// is "" for a form that carried none.
func (p *Pages) lateAbort(ctx context.Context, now node.Node, seen string) (string, error) {
	if seen == "" {
		seen = now.AttemptID
	}
	if seen == "" {
		return templates.NotAbortable(ctx, now.ProvisionState), nil
	}
	a, err := p.attempt(ctx, seen)
	if err != nil {
		return "", err
	}
	if a == nil || a.NodeUUID != now.UUID {
		return templates.NotAbortable(ctx, now.ProvisionState), nil
	}
	var text string
	switch a.Outcome {
	case node.Succeeded:
		text = templates.Finished(ctx, words(p.o.Now().Sub(a.EndedAt)), now.ProvisionState)
	case node.Aborted:
		text = templates.AlreadyAborted(ctx, a.Ended.Name(), clock(a.EndedAt))
	case node.TimedOut:
		text = templates.AlreadyTimedOut(ctx, clock(a.EndedAt), now.ProvisionState)
	case node.Failed:
		text = templates.AlreadyFailed(ctx, clock(a.EndedAt), now.ProvisionState)
	default:
		return templates.NotAbortable(ctx, now.ProvisionState), nil
	}
	if now.AttemptID != seen {
		text += " " + templates.T(ctx, "outcome.newer")
	}
	return text, nil
}
