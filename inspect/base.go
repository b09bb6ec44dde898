package inspect

import (
	"context"

	"cagenut/node"
)

// Base is what every inspect interface embeds: it can do nothing, and says so in Ironic's words. An interface overrides
// what it can do.
type Base struct{}

// Inspect is unsupported.
func (Base) Inspect(_ context.Context, n node.Node, _ node.Attempt) (node.Progress, error) {
	return node.Progress{}, &node.Unsupported{Driver: n.Driver, Extension: "inspection"}
}

// Abort is unsupported: 400, and the node is left as it is (contract.md §2.4, §2.7).
func (Base) Abort(_ context.Context, n node.Node, _ node.Attempt) (node.Ending, error) {
	return node.Ending{}, &node.Unsupported{Driver: n.Driver, Extension: "abort"}
}

// CleanUp finds nothing to do: what was never started leaves nothing behind.
func (Base) CleanUp(context.Context, node.Node, node.Attempt, func(context.Context) error) (node.Progress, error) {
	return node.Progress{Ready: true}, nil
}

// The texts of an operator's abort: on the node (contract.md §2.7), and in the inspector's status (§5.4).
const (
	AbortedNode   = "Inspection was aborted by request."
	AbortedStatus = "Canceled by operator"
)

// Aborted is how an in-band attempt ends that an operator stopped: the server is still in the ramdisk or on its way
// there, so clean-up follows.
func Aborted() node.Ending {
	return node.Ending{Outcome: node.Aborted, LastError: AbortedNode, Error: AbortedStatus, CleanUp: true}
}
