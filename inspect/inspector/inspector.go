package inspector

import (
	"context"
	"fmt"
	"time"

	"cagenut/inspect"
	"cagenut/inspect/managedboot"
	"cagenut/node"
)

// Interface is the inspect interface `inspector`. It is safe for concurrent use.
type Interface struct {
	inspect.Base
	boot    *managedboot.Boot
	service *service // nil: the embedded one
}

// NewEmbedded makes the interface for the embedded service.
func NewEmbedded(boot *managedboot.Boot) *Interface { return &Interface{boot: boot} }

// NewExternal makes the interface for an external service; *node.Invalid for a URL that is none.
func NewExternal(boot *managedboot.Boot, s Settings) (*Interface, error) {
	service, err := newService(s)
	if err != nil {
		return nil, err
	}
	return &Interface{boot: boot, service: service}, nil
}

// External tells whether the run lives in an external service; Run and Data may be called only then.
func (i *Interface) External() bool { return i.service != nil }

// CallbackURL is where the ramdisk must report to: the external service's address, or "" for the appliance's own.
func (i *Interface) CallbackURL() string {
	if i.service == nil {
		return ""
	}
	return i.service.base + "/v1/continue"
}

// Validate tells whether a server could be booted into the ramdisk: *node.Invalid names the setting that is missing.
func (i *Interface) Validate(_ context.Context, n node.Node) error { return i.boot.Validate(n) }

// stepToldService is the step before those of managedboot.
const stepToldService = "the inspector service has been told"

// Inspect does the next piece of the start. An external service is told first; after a crash it is told again, which it
// allows.
func (i *Interface) Inspect(ctx context.Context, n node.Node, a node.Attempt) (node.Progress, error) {
	if i.service == nil {
		return i.boot.Start(ctx, n, a)
	}
	switch a.Step {
	case "":
		return i.tell(ctx, n, a)
	case stepToldService:
		a.Step = ""
	}
	return i.boot.Start(ctx, n, a)
}

// tell tells the external service of the start. It refuses while an earlier run of the node is on its way to its end, as
// that of an abort just now (contract.md §9, 27): that passes, and is waited for.
func (i *Interface) tell(ctx context.Context, n node.Node, a node.Attempt) (node.Progress, error) {
	err := i.service.start(ctx, n.UUID)
	if err == nil {
		return node.Progress{Step: stepToldService}, nil
	}
	if time.Since(a.StartedAt) < endOfEarlierRun {
		if state, _, unknown := i.service.status(ctx, n.UUID); unknown == nil && ending(state) {
			return node.Progress{After: time.Second}, nil
		}
	}
	return node.Progress{}, fmt.Errorf("Failed to start inspection: %w", err) //nolint:staticcheck // the wire's text, contract.md §5.7
}

// endOfEarlierRun is how long a start waits for it.
const endOfEarlierRun = 30 * time.Second

// ending tells whether a run in a state comes to an end without anybody's doing.
func ending(s node.RunState) bool {
	return s == "aborting" || s == node.RunProcessing || s == "reapplying"
}

// Abort ends the attempt. An external service must accept that: *node.Conflict when it is busy with the node,
// *node.Unreachable with Timeout when it did not answer in time, so that nobody knows what it did, and *node.Unreachable
// for any other answer.
func (i *Interface) Abort(ctx context.Context, n node.Node, _ node.Attempt) (node.Ending, error) {
	if i.service != nil {
		if err := i.service.abort(ctx, n.UUID); err != nil {
			return node.Ending{}, err
		}
	}
	return inspect.Aborted(), nil
}

// CleanUp does the next piece of getting the server out of the ramdisk.
func (i *Interface) CleanUp(ctx context.Context, n node.Node, a node.Attempt, still func(context.Context) error) (node.Progress, error) {
	return i.boot.CleanUp(ctx, n, a, still)
}

// Run is what the external service says of the node's run: its state, and its error once it ended badly. *node.NotFound
// when the service does not know the node, *node.Unreachable when it does not say.
func (i *Interface) Run(ctx context.Context, n node.Node) (node.RunState, string, error) {
	return i.service.status(ctx, n.UUID)
}

// Data is the report that the external service stored for a finished run: one JSON document of at most 16 MiB,
// `inventory` beside the plugin data. *node.NotFound when it stored none.
func (i *Interface) Data(ctx context.Context, n node.Node) ([]byte, error) {
	return i.service.data(ctx, n.UUID)
}
