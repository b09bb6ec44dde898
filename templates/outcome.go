package templates

import (
	"context"

	"cagenut/node"
)

// The sentences for an action that did not happen. Each says what is true now and, where it helps, what to do.

// Finished says that an abort came after the end of the inspection, how long ago.
func Finished(ctx context.Context, ago string, s node.State) string {
	return T(ctx, "outcome.finished", T(ctx, "time.ago", ago), s)
}

// AlreadyAborted says who was first.
func AlreadyAborted(ctx context.Context, who, at string) string {
	return T(ctx, "outcome.aborted", who, at)
}

// AlreadyTimedOut says that the wait had ended by itself.
func AlreadyTimedOut(ctx context.Context, at string, s node.State) string {
	return T(ctx, "outcome.timedout", at, s)
}

// AlreadyFailed says that the inspection had failed before.
func AlreadyFailed(ctx context.Context, at string, s node.State) string {
	return T(ctx, "outcome.failed", at, s)
}

// NotAbortable says that the node left the state in which abort is possible.
func NotAbortable(ctx context.Context, s node.State) string {
	return T(ctx, "outcome.notabortable", s)
}

// NotPossible says that the node is not in a state for the verb.
func NotPossible(ctx context.Context, label string, s node.State) string {
	return T(ctx, "outcome.notpossible", label, s)
}

// LockedBy says that a worker holds the node.
func LockedBy(ctx context.Context, holder string) string {
	if holder == "" {
		holder = T(ctx, "outcome.locked.somebody")
	}
	return T(ctx, "outcome.locked", holder)
}

// NotAccepted says that something outside refused; what it said, and where the node stands.
func NotAccepted(ctx context.Context, said string, s node.State) string {
	return T(ctx, "outcome.notaccepted", said, s)
}

// NoAnswerFrom says that something outside did not answer in time.
func NoAnswerFrom(ctx context.Context, said string, s node.State) string {
	return T(ctx, "outcome.noanswer", said, s)
}

// Unsupported says that the node's interface cannot do it at all.
func Unsupported(ctx context.Context, what string) string { return T(ctx, "outcome.unsupported", what) }

// AbortQuestion names the node and its place.
func AbortQuestion(ctx context.Context, name, place string) string {
	return question(ctx, T(ctx, "abort.question"), name, place)
}

// AbortElseQuestion is for the states in which something other than an inspection is aborted.
func AbortElseQuestion(ctx context.Context, name string, s node.State) string {
	return T(ctx, "abort.else.question", name, s)
}

// PowerQuestion names the node and its place.
func PowerQuestion(ctx context.Context, label, name, place string) string {
	return question(ctx, label, name, place)
}

// question is what a page asks before something is done to a node.
func question(ctx context.Context, what, name, place string) string {
	if place == "" {
		return T(ctx, "confirm.question", what, name)
	}
	return T(ctx, "confirm.question.place", what, name, place)
}

// PowerConsequence says what a power action does to whatever runs on the server.
func PowerConsequence(ctx context.Context, a node.PowerAction) string {
	return T(ctx, "power.effect."+dashed(string(a)))
}

// PowerLabel is the word on a power action's button.
func PowerLabel(ctx context.Context, a node.PowerAction) string {
	return T(ctx, "power.action."+dashed(string(a)))
}

// PowerText is a power state in one word.
func PowerText(ctx context.Context, p node.PowerState) string {
	switch p {
	case node.PowerOn:
		return T(ctx, "power.on")
	case node.PowerOff:
		return T(ctx, "power.off")
	case node.PowerError:
		return T(ctx, "power.error")
	}
	return T(ctx, "power.unknown")
}

// PowerPending is what is shown while a power action has not been confirmed; "" when none runs (G54).
func PowerPending(ctx context.Context, target node.PowerState) string {
	switch target {
	case node.PowerOn:
		return T(ctx, "power.pending.on")
	case node.PowerOff:
		return T(ctx, "power.pending.off")
	case "":
		return ""
	}
	return string(target) + "…"
}

// PowerUnconfirmed tells whether clean-up could not confirm, or not yet, that a server is off.
func PowerUnconfirmed(p node.PowerState, a node.Attempt) bool {
	if a.KeepPowerOn || p == node.PowerOff {
		return false
	}
	return a.CleanUp == node.CleanUpGivenUp || (a.CleanUp == node.CleanUpPending && a.CleanUpError != "")
}

// PowerProblem is what is shown beside the power of a node whose clean-up could not confirm that it is off (G54).
func PowerProblem(ctx context.Context, p node.PowerState, a node.Attempt) string {
	switch {
	case !PowerUnconfirmed(p, a):
		return ""
	case a.CleanUp == node.CleanUpGivenUp:
		return T(ctx, "power.unconfirmed")
	}
	return T(ctx, "power.unconfirmed.retrying")
}

// CleanUpText says how far the clean-up of an attempt has come.
func CleanUpText(ctx context.Context, s node.CleanUpState, tries int, problem string, keepOn bool) string {
	kept := ""
	if keepOn {
		kept = T(ctx, "cleanup.kept")
	}
	switch s {
	case node.CleanUpPending:
		if problem != "" {
			return T(ctx, "cleanup.retrying", problem, tries, kept)
		}
		return T(ctx, "cleanup.running", kept)
	case node.CleanUpDone:
		return T(ctx, "cleanup.done", kept)
	case node.CleanUpGivenUp:
		return T(ctx, "cleanup.givenup", tries, problem, kept)
	case node.CleanUpCancelled:
		return T(ctx, "cleanup.cancelled")
	}
	return ""
}
