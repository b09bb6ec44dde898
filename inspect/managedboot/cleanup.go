package managedboot

import (
	"context"
	"fmt"

	"cagenut/node"
)

// stepOffAgain is the step of a clean-up that waits, with the number of looks it has taken.
const stepOffAgain = "clean-up: waiting for power off, look %d"

// CleanUp does the next piece of what follows an end: the server is powered off and, once that is confirmed, its boot
// override removed; in this order, because nothing may be taken from under a running ramdisk (G35). With
// [node.Attempt.KeepPowerOn] only the override goes, with [node.Attempt.KeepBoot] it stays. A node that must never be powered off loses its override first and
// is then rebooted: the other way round the reboot could lead into the ramdisk again.
//
// Where only the override cannot be removed, the error comes with the power as confirmed.
//
// still is asked before each command, inside the BMC's queue; its error stops the piece and is returned.
func (b *Boot) CleanUp(ctx context.Context, n node.Node, a node.Attempt, still func(context.Context) error) (node.Progress, error) {
	ctx, cancel := context.WithTimeout(ctx, pieceLimit)
	defer cancel()
	return b.do(ctx, n, func(ctx context.Context, c BMC) (node.Progress, error) {
		c = guarded{BMC: c, still: still, keepBoot: a.KeepBoot}
		switch {
		case a.KeepPowerOn:
			return leaveOn(ctx, c)
		case n.DisablePowerOff:
			return rebootOut(ctx, c)
		}
		return powerOff(ctx, c, a.Step)
	})
}

func leaveOn(ctx context.Context, c BMC) (node.Progress, error) {
	if err := removeOverride(ctx, c); err != nil {
		return node.Progress{}, err
	}
	now, err := power(ctx, c)
	if err != nil {
		return node.Progress{}, err
	}
	return node.Progress{Ready: true, Step: "clean-up: done, power left on", Power: now}, nil
}

func rebootOut(ctx context.Context, c BMC) (node.Progress, error) {
	if err := removeOverride(ctx, c); err != nil {
		return node.Progress{}, err
	}
	now, err := power(ctx, c)
	if err != nil {
		return node.Progress{}, err
	}
	if now == node.PowerOn {
		if err := setPower(ctx, c, node.ActionReboot); err != nil {
			return node.Progress{}, err
		}
	}
	return node.Progress{Ready: true, Step: "clean-up: done, rebooted", Power: now}, nil
}

// powerOff asks for power off at the first look. Once its patience is over it asks again at every look and says that the
// server does not obey: from then on each look is one of the caller's tries, with its own pauses.
func powerOff(ctx context.Context, c BMC, step string) (node.Progress, error) {
	now, err := power(ctx, c)
	if err != nil {
		return node.Progress{}, err
	}
	if now == node.PowerOff {
		if err := removeOverride(ctx, c); err != nil {
			return node.Progress{Power: now}, err
		}
		return node.Progress{Ready: true, Step: "clean-up: done, powered off", Power: now}, nil
	}
	looks := looksTaken(step)
	if looks == 0 || looks >= patience {
		if err := setPower(ctx, c, node.ActionOff); err != nil {
			return node.Progress{}, err
		}
	}
	if looks >= patience {
		return node.Progress{}, fmt.Errorf("the power state is still %q after power off was asked for", now)
	}
	return node.Progress{Step: fmt.Sprintf(stepOffAgain, looks+1), After: pollOff, Power: now}, nil
}

func looksTaken(step string) int {
	var n int
	if _, err := fmt.Sscanf(step, stepOffAgain, &n); err != nil {
		return 0
	}
	return n
}

// guarded asks whether its command is still wanted before it gives it.
type guarded struct {
	BMC
	still    func(context.Context) error
	keepBoot bool
}

func (g guarded) SetPower(ctx context.Context, a node.PowerAction) error {
	if err := g.still(ctx); err != nil {
		return err
	}
	return g.BMC.SetPower(ctx, a)
}

func (g guarded) SetBoot(ctx context.Context, b node.Boot) error {
	if g.keepBoot {
		return nil
	}
	if err := g.still(ctx); err != nil {
		return err
	}
	return g.BMC.SetBoot(ctx, b)
}
