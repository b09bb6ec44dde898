package managedboot

import (
	"context"
	"fmt"

	"cagenut/inspect/inventory"
	"cagenut/node"
)

// The steps of a start, in their order; "" comes before the first. A step says what has been done. Those of a boot from an
// ISO between power off and the boot device are in iso.go.
const (
	stepOffAsked  = "waiting for power off"
	stepBootSet   = "boot device set to PXE"
	stepOnAsked   = "waiting for power on"
	stepInRamdisk = "server started, waiting for its report"
)

// start is one piece of a start.
type start struct {
	node    node.Node
	attempt node.Attempt
}

// Start does the next piece of the way into the ramdisk, after the attempt's Step: what an earlier attempt may have left is
// cleared (power off, no override, no medium), then one-time PXE, or the ISO and a one-time boot from CD, and power on,
// whatever the power was before (G42). A node that must never be powered off is rebooted instead. The first piece also
// finds the addresses by which the report may be recognised. Any failure is the BMC's own words; clean-up is the caller's
// (G41).
func (b *Boot) Start(ctx context.Context, n node.Node, a node.Attempt) (node.Progress, error) {
	ctx, cancel := context.WithTimeout(ctx, pieceLimit)
	defer cancel()
	s := start{node: n, attempt: a}
	switch {
	case a.Step == stepOnAsked:
		return b.do(ctx, n, afterOn)
	case a.Step == stepInRamdisk:
		return node.Progress{Ready: true, Step: stepInRamdisk}, nil
	case fromISO(n):
		return b.startFromISO(ctx, s)
	case a.Step == stepOffAsked:
		return b.do(ctx, n, afterOff(s.pxeSet))
	case a.Step == stepBootSet:
		return b.do(ctx, n, powerUp)
	}
	piece := powerDown(s.pxeSet)
	if n.DisablePowerOff {
		piece = s.rebootIntoPXE
	}
	p, err := b.do(ctx, n, piece)
	if err != nil {
		return p, err
	}
	return b.recognisable(ctx, n, p), nil
}

// recognisable adds the addresses by which the report may be recognised.
func (b *Boot) recognisable(ctx context.Context, n node.Node, p node.Progress) node.Progress {
	addresses, notes := inventory.BMCAddresses(ctx, b.dns, n.DriverInfo)
	p.LookupAddresses, p.Notes = append([]string{}, addresses...), append(p.Notes, notes...)
	return p
}

// piece is a piece of work with a BMC.
type piece = func(context.Context, BMC) (node.Progress, error)

// offPiece goes on once the server is off.
type offPiece func(ctx context.Context, c BMC, now node.PowerState) (node.Progress, error)

func powerDown(next offPiece) piece {
	return func(ctx context.Context, c BMC) (node.Progress, error) {
		now, err := power(ctx, c)
		if err != nil {
			return node.Progress{}, err
		}
		if now == node.PowerOff {
			return next(ctx, c, now)
		}
		if err := setPower(ctx, c, node.ActionOff); err != nil {
			return node.Progress{}, err
		}
		return node.Progress{Step: stepOffAsked, After: pollOn, Power: now}, nil
	}
}

func afterOff(next offPiece) piece {
	return func(ctx context.Context, c BMC) (node.Progress, error) {
		now, err := power(ctx, c)
		if err != nil {
			return node.Progress{}, err
		}
		if now != node.PowerOff {
			return node.Progress{Step: stepOffAsked, After: pollOn, Power: now}, nil
		}
		return next(ctx, c, now)
	}
}

func (s start) pxeSet(ctx context.Context, c BMC, now node.PowerState) (node.Progress, error) {
	if err := s.setPXE(ctx, c); err != nil {
		return node.Progress{}, err
	}
	return node.Progress{Step: stepBootSet, Power: now, BootMedium: forgotten(s.node)}, nil
}

func powerUp(ctx context.Context, c BMC) (node.Progress, error) {
	if err := setPower(ctx, c, node.ActionOn); err != nil {
		return node.Progress{}, err
	}
	return node.Progress{Step: stepOnAsked, After: pollOn, Signs: []node.SignKind{node.SignPowerSent}}, nil
}

// rebootIntoPXE sets the boot device and reboots in one piece: repeated after a crash, the reboot finds a fresh override.
func (s start) rebootIntoPXE(ctx context.Context, c BMC) (node.Progress, error) {
	if err := s.setPXE(ctx, c); err != nil {
		return node.Progress{}, err
	}
	p, err := rebootIn(ctx, c)
	p.BootMedium = forgotten(s.node)
	return p, err
}

// rebootIn starts a server anew that must not be switched off.
func rebootIn(ctx context.Context, c BMC) (node.Progress, error) {
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
	return node.Progress{Step: stepOnAsked, After: pollOn, Power: now, Signs: []node.SignKind{node.SignPowerSent}}, nil
}

func afterOn(ctx context.Context, c BMC) (node.Progress, error) {
	now, err := power(ctx, c)
	if err != nil {
		return node.Progress{}, err
	}
	if now != node.PowerOn {
		return node.Progress{Step: stepOnAsked, After: pollOn, Power: now}, nil
	}
	return node.Progress{Ready: true, Step: stepInRamdisk, Power: now, Signs: []node.SignKind{node.SignPoweredOn}}, nil
}

// clear removes what an earlier attempt may have left.
func (s start) clear(ctx context.Context, c BMC) error {
	if err := removeOverride(ctx, c); err != nil {
		return err
	}
	_, err := takeOut(ctx, c, s.node.BootMedium())
	return err
}

func (s start) setPXE(ctx context.Context, c BMC) error {
	if err := s.clear(ctx, c); err != nil {
		return err
	}
	if err := c.SetBoot(ctx, node.Boot{Device: node.BootPXE}); err != nil {
		return fmt.Errorf("set the boot device to PXE: %w", err)
	}
	return nil
}
