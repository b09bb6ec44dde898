package alone

import (
	"context"

	"cagenut/inspect"
	"cagenut/inspect/inventory"
	"cagenut/node"
)

// Ramdisk is the inspect interface of the copies: their servers are booted by somebody else, so that a run only waits.
type Ramdisk struct {
	inspect.Base
	DNS inventory.Resolver
}

// Validate finds nothing to check.
func (Ramdisk) Validate(context.Context, node.Node) error { return nil }

// Inspect finds the addresses by which the report may be recognised, and waits from then on.
func (r Ramdisk) Inspect(ctx context.Context, n node.Node, _ node.Attempt) (node.Progress, error) {
	addresses, notes := inventory.BMCAddresses(ctx, r.DNS, n.DriverInfo)
	return node.Progress{Ready: true, Step: "waiting for the ramdisk's report", LookupAddresses: append([]string{}, addresses...), Notes: notes}, nil
}

// Abort ends the run; nobody outside has to be told.
func (Ramdisk) Abort(context.Context, node.Node, node.Attempt) (node.Ending, error) {
	return inspect.Aborted(), nil
}
