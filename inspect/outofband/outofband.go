package outofband

import (
	"context"

	"cagenut/inspect"
	"cagenut/node"
)

// NoInspect is the inspect interface of nodes that must not be inspected.
type NoInspect struct{ inspect.Base }

// Validate is *node.Unsupported.
func (NoInspect) Validate(_ context.Context, n node.Node) error {
	return &node.Unsupported{Driver: n.Driver, Extension: "inspection"}
}

// Fake is the inspect interface of nodes without hardware: it succeeds at once and stores no inventory.
type Fake struct{ inspect.Base }

// Validate finds nothing to object to.
func (Fake) Validate(context.Context, node.Node) error { return nil }

// Inspect is finished as soon as it begins.
func (Fake) Inspect(context.Context, node.Node, node.Attempt) (node.Progress, error) {
	return node.Progress{Finished: true, Step: "finished"}, nil
}
