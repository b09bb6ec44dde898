package agent

import (
	"context"

	"cagenut/inspect"
	"cagenut/inspect/managedboot"
	"cagenut/node"
)

// Interface is the inspect interface `agent`. It is safe for concurrent use.
type Interface struct {
	inspect.Base
	boot *managedboot.Boot
}

// New makes the interface.
func New(boot *managedboot.Boot) *Interface { return &Interface{boot: boot} }

// Validate tells whether a server could be booted into the ramdisk: *node.Invalid names the setting that is missing.
func (i *Interface) Validate(_ context.Context, n node.Node) error { return i.boot.Validate(n) }

// Inspect does the next piece of the way into the ramdisk.
func (i *Interface) Inspect(ctx context.Context, n node.Node, a node.Attempt) (node.Progress, error) {
	return i.boot.Start(ctx, n, a)
}

// Abort ends the attempt; nobody outside has to be told.
func (i *Interface) Abort(context.Context, node.Node, node.Attempt) (node.Ending, error) {
	return inspect.Aborted(), nil
}

// CleanUp does the next piece of getting the server out of the ramdisk.
func (i *Interface) CleanUp(ctx context.Context, n node.Node, a node.Attempt, still func(context.Context) error) (node.Progress, error) {
	return i.boot.CleanUp(ctx, n, a, still)
}
