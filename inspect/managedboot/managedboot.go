package managedboot

import (
	"context"
	"fmt"
	"time"

	"cagenut/inspect/inventory"
	"cagenut/node"
)

// BMC is what this package needs of a server's controller, which it has to itself while it holds one.
type BMC interface {
	Power(ctx context.Context) (node.PowerState, error)
	// SetPower returns when the BMC has accepted the action; nil if the power is already so.
	SetPower(ctx context.Context, action node.PowerAction) error
	// SetBoot sets the boot override; node.BootNone removes it.
	SetBoot(ctx context.Context, b node.Boot) error
}

// BMCs reaches the BMCs of nodes.
type BMCs interface {
	// Do runs fn while nobody else talks to the node's BMC.
	Do(ctx context.Context, n node.Node, fn func(BMC) error) error
}

// Settings say what an inspected server boots. An empty one is missing.
type Settings struct {
	RamdiskURL string // base of the callback and of the boot files, as the server reaches it
	Kernel     string // URL of the ramdisk's kernel, or path of the file that is served as such
	Initrd     string // likewise for the ramdisk itself
}

// Boot brings servers into the ramdisk and out of it. It holds no state and may be used by many goroutines.
type Boot struct {
	bmcs     BMCs
	dns      inventory.Resolver
	settings Settings
}

// New makes a Boot. dns resolves the names of BMCs.
func New(bmcs BMCs, dns inventory.Resolver, s Settings) *Boot {
	return &Boot{bmcs: bmcs, dns: dns, settings: s}
}

// Limits of the work. A piece must be over within 30 s (design.md §5).
const (
	pieceLimit = 25 * time.Second
	pollOn     = 2 * time.Second // between looks at a server that is going on or off during a start
	pollOff    = 3 * time.Second // likewise during a clean-up, where nobody waits for the answer
	// patience is how many looks a clean-up takes before it says that power off did not work.
	patience = 10
)

// Validate tells whether the settings say enough to boot a server into the ramdisk: *node.Invalid otherwise.
func (b *Boot) Validate() error {
	switch {
	case b.settings.RamdiskURL == "":
		return node.Invalidf("Inspected servers cannot reach this appliance: set --ramdisk-url to the address under which they do.")
	case b.settings.Kernel == "":
		return node.Invalidf("There is no kernel for inspected servers to boot: set --kernel-url, or put the file into the boot folder of the data directory.")
	case b.settings.Initrd == "":
		return node.Invalidf("There is no ramdisk for inspected servers to boot: set --initrd-url, or put the file into the boot folder of the data directory.")
	}
	return nil
}

// do runs a piece with the node's BMC. A piece that fails has reached nothing, but may have confirmed the power.
func (b *Boot) do(ctx context.Context, n node.Node, piece func(context.Context, BMC) (node.Progress, error)) (p node.Progress, err error) {
	err = b.bmcs.Do(ctx, n, func(c BMC) (err error) {
		p, err = piece(ctx, c)
		return err
	})
	if err != nil {
		return node.Progress{Power: p.Power}, err
	}
	return p, nil
}

func power(ctx context.Context, c BMC) (node.PowerState, error) {
	p, err := c.Power(ctx)
	if err != nil {
		return "", fmt.Errorf("read the power state: %w", err)
	}
	return p, nil
}

func setPower(ctx context.Context, c BMC, a node.PowerAction) error {
	if err := c.SetPower(ctx, a); err != nil {
		return fmt.Errorf("%s: %w", a, err)
	}
	return nil
}

func removeOverride(ctx context.Context, c BMC) error {
	if err := c.SetBoot(ctx, node.Boot{Device: node.BootNone}); err != nil {
		return fmt.Errorf("remove the boot override: %w", err)
	}
	return nil
}
