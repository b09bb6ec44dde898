package managedboot

import (
	"context"
	"fmt"

	"cagenut/inspect/inventory"
	"cagenut/node"
)

// The steps of a start, in their order; "" comes before the first. A step says what has been done.
const (
	stepOffAsked  = "waiting for power off"
	stepBootSet   = "boot device set to PXE"
	stepOnAsked   = "waiting for power on"
	stepInRamdisk = "server started, waiting for its report"
)

// Start does the next piece of the way into the ramdisk: what an earlier attempt may have left is cleared (power off,
// no override), then one-time PXE and power on, whatever the power was before (G42). A node that must never be powered
// off is rebooted instead. The first piece, step "", also finds the addresses by which the report may be recognised.
// Any failure is the BMC's own words; clean-up is the caller's (G41).
func (b *Boot) Start(ctx context.Context, n node.Node, step string) (node.Progress, error) {
	ctx, cancel := context.WithTimeout(ctx, pieceLimit)
	defer cancel()
	switch step {
	case stepOffAsked:
		return b.do(ctx, n, afterOff)
	case stepBootSet:
		return b.do(ctx, n, powerUp)
	case stepOnAsked:
		return b.do(ctx, n, afterOn)
	case stepInRamdisk:
		return node.Progress{Ready: true, Step: stepInRamdisk}, nil
	}
	piece := powerDown
	if n.DisablePowerOff {
		piece = rebootIn
	}
	p, err := b.do(ctx, n, piece)
	if err != nil {
		return node.Progress{}, err
	}
	addresses, notes := inventory.BMCAddresses(ctx, b.dns, n.DriverInfo)
	p.LookupAddresses, p.Notes = append([]string{}, addresses...), notes
	return p, nil
}

func powerDown(ctx context.Context, c BMC) (node.Progress, error) {
	now, err := power(ctx, c)
	if err != nil {
		return node.Progress{}, err
	}
	if now == node.PowerOff {
		return bootSet(ctx, c, now)
	}
	if err := setPower(ctx, c, node.ActionOff); err != nil {
		return node.Progress{}, err
	}
	return node.Progress{Step: stepOffAsked, After: pollOn, Power: now}, nil
}

func afterOff(ctx context.Context, c BMC) (node.Progress, error) {
	now, err := power(ctx, c)
	if err != nil {
		return node.Progress{}, err
	}
	if now != node.PowerOff {
		return node.Progress{Step: stepOffAsked, After: pollOn, Power: now}, nil
	}
	return bootSet(ctx, c, now)
}

func bootSet(ctx context.Context, c BMC, now node.PowerState) (node.Progress, error) {
	if err := setPXE(ctx, c); err != nil {
		return node.Progress{}, err
	}
	return node.Progress{Step: stepBootSet, Power: now}, nil
}

func powerUp(ctx context.Context, c BMC) (node.Progress, error) {
	if err := setPower(ctx, c, node.ActionOn); err != nil {
		return node.Progress{}, err
	}
	return node.Progress{Step: stepOnAsked, After: pollOn}, nil
}

// rebootIn sets the boot device and reboots in one piece: repeated after a crash, the reboot finds a fresh override.
func rebootIn(ctx context.Context, c BMC) (node.Progress, error) {
	if err := setPXE(ctx, c); err != nil {
		return node.Progress{}, err
	}
	now, err := power(ctx, c)
	if err != nil {
		return node.Progress{}, err
	}
	action := node.ActionOn
	if now == node.PowerOn {
		action = node.ActionReboot
	}
	if err := setPower(ctx, c, action); err != nil {
		return node.Progress{}, err
	}
	return node.Progress{Step: stepOnAsked, After: pollOn, Power: now}, nil
}

func afterOn(ctx context.Context, c BMC) (node.Progress, error) {
	now, err := power(ctx, c)
	if err != nil {
		return node.Progress{}, err
	}
	if now != node.PowerOn {
		return node.Progress{Step: stepOnAsked, After: pollOn, Power: now}, nil
	}
	return node.Progress{Ready: true, Step: stepInRamdisk, Power: now}, nil
}

func setPXE(ctx context.Context, c BMC) error {
	if err := removeOverride(ctx, c); err != nil {
		return err
	}
	if err := c.SetBoot(ctx, node.Boot{Device: node.BootPXE}); err != nil {
		return fmt.Errorf("set the boot device to PXE: %w", err)
	}
	return nil
}
