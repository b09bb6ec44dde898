package introspection

import (
	"context"
	"errors"

	"cagenut/node"
)

// Abort stops an introspection. When it returns nil, node and introspection have ended together. Unlike the original
// it checks first (G29): what has no record is a *node.NotFound, what is over a *node.Invalid and stays as it is, and
// what is being started or processed a *node.Conflict.
func (s *Service) Abort(ctx context.Context, actor node.Actor, ident string) error {
	n, a, err := s.latest(ctx, ident)
	if err != nil {
		return err
	}
	if err := refusal(a); err != nil {
		return err
	}
	err = s.Verbs.Abort(ctx, actor, n.UUID, a.ID)
	if overtaken(err) {
		return s.answerForNow(ctx, n.UUID)
	}
	return busy(err)
}

// overtaken tells whether a report, a time-out or another abort was first.
func overtaken(err error) bool {
	var stale *node.Stale
	var moved *node.InvalidTransition
	return errors.As(err, &stale) || errors.As(err, &moved) || errors.Is(err, node.ErrLost)
}

// answerForNow reads again and answers for what is there. A run that waits by now is another one than the caller saw.
func (s *Service) answerForNow(ctx context.Context, uuid string) error {
	_, a, err := s.latest(ctx, uuid)
	if err != nil {
		return err
	}
	if err := refusal(a); err != nil {
		return err
	}
	return errBusy
}

// refusal is why a run cannot be aborted in its state; nil if it can.
func refusal(a node.Attempt) error {
	switch a.State {
	case node.RunWaiting:
		return nil
	case node.RunFinished, node.RunError:
		return &node.Invalid{Text: over(a)}
	}
	return errBusy
}
