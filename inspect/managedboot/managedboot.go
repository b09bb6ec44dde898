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

// Media are the virtual drives; a [BMC] that has some says so by its type.
type Media interface {
	// BeginInsert asks for an image to be inserted and does not wait until it is: it returns what the BMC calls the work,
	// or "". Repeating it is harmless.
	BeginInsert(ctx context.Context, m node.Medium) (task string, err error)
	// Inserted takes one look: whether the image is in. An error with node.TroubleTask says that the work has failed; any other
	// says nothing of it.
	Inserted(ctx context.Context, m node.Medium, task string) (bool, error)
	// EjectIf empties the drives that chosen picks among those in which something is, and says how many these were.
	EjectIf(ctx context.Context, chosen func(node.VirtualDrive) bool) (int, error)
}

// BMCs reaches the BMCs of nodes.
type BMCs interface {
	// Do runs fn while nobody else talks to the node's BMC.
	Do(ctx context.Context, n node.Node, fn func(BMC) error) error
	// Look is Do for tries that repeat themselves: a BMC that keeps failing is left alone for a while, and the error comes at
	// once.
	Look(ctx context.Context, n node.Node, fn func(BMC) error) error
}

// ISOs are the images that servers boot from a virtual drive.
type ISOs interface {
	// Validate tells without reading an image whether there is one for the node: *node.Invalid says what is missing.
	Validate(n node.Node) error
	// ISO is the address at which the BMC finds the image of an attempt, the same one each time, with what there is to know
	// about it. It may have to read a whole image first: an error that is context.DeadlineExceeded asks for another call,
	// which goes on where this one ended. Any other is why the attempt cannot start.
	ISO(ctx context.Context, n node.Node, a node.Attempt) (address string, notes []string, err error)
}

// Settings say what an inspected server boots. An empty one is missing.
type Settings struct {
	RamdiskURL string // base of the callback and of the boot files, as the server reaches it
	Kernel     string // URL of the ramdisk's kernel, or path of the file that is served as such
	Initrd     string // likewise for the ramdisk itself
	ISOs       ISOs
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
	pieceLimit  = 25 * time.Second
	insertLimit = 20 * time.Second // of a piece, for asking the BMC to insert an image
	readLimit   = 20 * time.Second // of a piece, for reading an image
	pollOn      = 2 * time.Second  // between looks at a server that is going on or off during a start
	pollOff     = 3 * time.Second  // likewise during a clean-up, where nobody waits for the answer
	pollLeft    = 30 * time.Second // between looks at a server that was left on with our medium in it
	// afterReset is how long a server that was rebooted has to leave the ramdisk before anything is taken out of its drive.
	afterReset = 5 * time.Second
	// insists is how many tries of a clean-up are made whatever is known of the BMC. The later ones leave a BMC alone that keeps
	// failing: a rack of them must not hold up the clean-up of others.
	insists = 2
	// patience is how many looks a clean-up takes before it says that power off did not work.
	patience = 10
	// settling is how many looks a clean-up takes at a server that is off although its start may have just switched it on.
	settling = 2
	// latePatience is how many looks a clean-up takes for a medium that the BMC may still be inserting: BMCs take minutes.
	latePatience = 40
	// leftPatience is how many looks a clean-up takes at a server that was left on.
	leftPatience = 120
	// askAgain is after how many looks without a task to follow the BMC is asked once more to insert.
	askAgain = 10
)

// Validate tells whether the settings say enough to boot a node's server into the ramdisk: *node.Invalid otherwise.
func (b *Boot) Validate(n node.Node) error {
	switch {
	case fromISO(n):
		return b.settings.ISOs.Validate(n)
	case b.settings.RamdiskURL == "":
		return node.Invalidf("Inspected servers cannot reach this appliance: set --ramdisk-url to the address under which they do.")
	case b.settings.Kernel == "":
		return node.Invalidf("There is no kernel for inspected servers to boot: set --kernel-url, or put the file into the boot folder of the data directory.")
	case b.settings.Initrd == "":
		return node.Invalidf("There is no ramdisk for inspected servers to boot: set --initrd-url, or put the file into the boot folder of the data directory.")
	}
	return nil
}

func fromISO(n node.Node) bool { return n.Interfaces.Boot == node.BootVirtualMedia }

// asks is one of the ways to a BMC: Do or Look of [BMCs].
type asks func(ctx context.Context, n node.Node, fn func(BMC) error) error

// do runs a piece with the node's BMC.
func (b *Boot) do(ctx context.Context, n node.Node, piece func(context.Context, BMC) (node.Progress, error)) (node.Progress, error) {
	return run(ctx, b.bmcs.Do, n, piece)
}

// run does so in one of the ways. A piece that fails has reached nothing, but may have confirmed the power or what is in the
// virtual drive.
func run(ctx context.Context, ask asks, n node.Node, piece func(context.Context, BMC) (node.Progress, error)) (p node.Progress, err error) {
	err = ask(ctx, n, func(c BMC) (err error) {
		p, err = piece(ctx, c)
		return err
	})
	if err != nil {
		return node.Progress{Power: p.Power, BootMedium: p.BootMedium}, err
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
