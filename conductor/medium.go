package conductor

import (
	"context"
	"errors"
	"time"

	"cagenut/node"
)

// mediumTime is what a start may take longer whose BMC has to fetch an image first: BMCs take minutes.
const mediumTime = 3 * time.Minute

// learned are the keys of driver_internal_info that a piece of work has something to say of; nil where there is none.
func learned(p node.Progress) map[string]any {
	keys := map[string]any{}
	if p.LookupAddresses != nil {
		keys[lookupKey] = p.LookupAddresses
	}
	switch {
	case p.BootMedium == nil:
	case *p.BootMedium == "":
		keys[node.BootMediumKey] = nil
	default:
		keys[node.BootMediumKey] = *p.BootMedium
	}
	if len(keys) == 0 {
		return nil
	}
	return keys
}

// failStart ends an attempt that could not be started, with what the last piece has learned all the same.
func (c *Conductor) failStart(ctx context.Context, n node.Node, a node.Attempt, held string, p node.Progress, cause error) error {
	text := "unable to start inspection: " + cause.Error()
	return c.end(ctx, node.System(), n, a, held, node.Fail, node.Ending{
		Outcome: node.Failed, LastError: text, Error: text, CleanUp: true, Notes: a.Notes, Move: node.Move{Internal: learned(p)},
	})
}

// keepLearned writes down what a piece of a clean-up has learned. kept is false where somebody holds the node or has changed
// it: the piece is repeated then.
func (c *Conductor) keepLearned(ctx context.Context, n node.Node, a node.Attempt, p node.Progress) (kept bool, err error) {
	keys := learned(p)
	if keys == nil {
		return true, nil
	}
	_, err = c.Moves.Move(ctx, node.Move{Node: n.UUID, From: n.ProvisionState, Attempt: a.ID, Actor: node.System(), At: c.Clock.Now(), Internal: keys})
	if errors.Is(err, node.ErrLost) {
		return false, nil
	}
	return err == nil, err
}
