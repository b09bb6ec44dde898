package templates

import (
	"context"
	"slices"

	"cagenut/node"
)

// offered are the verbs that have a button, the likeliest first. Other verbs are for programs.
var offered = []node.Event{node.Abort, node.Inspect, node.Provide, node.Manage}

// Verbs lists the buttons of a state: what [node.State.Verbs] allows and the dashboard offers, the likeliest first.
func Verbs(s node.State) []node.Event {
	allowed := s.Verbs()
	return slices.DeleteFunc(slices.Clone(offered), func(e node.Event) bool { return !slices.Contains(allowed, e) })
}

// RowVerbs lists the buttons of a state in the list: Abort and Inspect, the two that are worth a click without looking.
func RowVerbs(s node.State) []node.Event {
	return slices.DeleteFunc(Verbs(s), func(e node.Event) bool { return e != node.Abort && e != node.Inspect })
}

// MissingVerbs lists the offered verbs that a state does not allow.
func MissingVerbs(s node.State) []node.Event {
	allowed := Verbs(s)
	return slices.DeleteFunc(slices.Clone(offered), func(e node.Event) bool { return slices.Contains(allowed, e) })
}

// IsOffered tells whether the dashboard has a button for the verb at all.
func IsOffered(e node.Event) bool { return slices.Contains(offered, e) }

// VerbLabel is the word on a verb's button.
func VerbLabel(ctx context.Context, s node.State, e node.Event) string {
	switch e {
	case node.Abort:
		if _, err := s.Next(node.Abort); err == nil && s != node.InspectWait {
			return T(ctx, "abort.else.label")
		}
		return T(ctx, "abort.label")
	case node.Inspect:
		if s == node.InspectFailed {
			return T(ctx, "verb.inspect.again")
		}
		return T(ctx, "verb.inspect")
	case node.Provide:
		return T(ctx, "verb.provide")
	case node.Manage:
		return T(ctx, "verb.manage")
	}
	return string(e)
}
