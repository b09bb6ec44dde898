package templates

import (
	"context"

	"cagenut/node"
	"cagenut/templates/texts"
)

// Done is the sentence for an accepted action's key; "" for a key that is none. The keys travel in the address, the texts
// never do.
func Done(ctx context.Context, key string) string {
	name := dashed(key)
	if texts.Of(texts.Original)["done."+name] == "" {
		return ""
	}
	return T(ctx, "done."+name)
}

// WhyNot is the reason why a verb is not possible in a state.
func WhyNot(ctx context.Context, s node.State, e node.Event) string {
	if e == node.Abort {
		switch s {
		case node.Inspecting:
			return T(ctx, "whynot.starting")
		case node.InspectFailed:
			return T(ctx, "whynot.ended")
		case node.Manageable, node.Available, node.Enroll, node.Active:
			return T(ctx, "whynot.none")
		}
	}
	if s == node.Inspecting || s == node.InspectWait {
		return T(ctx, "whynot.running")
	}
	return T(ctx, "whynot.verb."+string(e))
}
