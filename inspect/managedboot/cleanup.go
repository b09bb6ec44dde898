package managedboot

import (
	"context"
	"fmt"
	"strings"

	"cagenut/node"
)

// The steps of a clean-up that waits, each with the number of looks it has taken.
const (
	stepOffAgain = "clean-up: waiting for power off, look "
	stepSettling = "clean-up: off, as long as no power on is still on its way, look "
	stepLate     = "clean-up: the BMC may still insert the ISO, look "
	stepLeft     = "clean-up: the ISO stays in until the server is off, look "
	stepRebooted = "clean-up: rebooted, the ISO is still in"
)

// CleanUp does the next piece of what follows an end: the server is powered off and, once that is confirmed, its boot
// override removed and what the start has put into its virtual drive ejected; in this order, because nothing may be taken
// from under a running ramdisk (G35). What somebody else has put in is theirs.
//
// With [node.Attempt.KeepPowerOn] the override goes, and the medium only when the server is off; with
// [node.Attempt.KeepBoot] the override stays. A node that must never be powered off loses its override first and is then
// rebooted: the other way round the reboot could lead into the ramdisk again. Its medium goes after that.
//
// Where only the override or the medium cannot be removed, the error comes with the power as confirmed; it is
// node.ErrMediumLeft where the medium is still in.
//
// still is asked before each command, inside the BMC's queue; its error stops the piece and is returned.
func (b *Boot) CleanUp(ctx context.Context, n node.Node, a node.Attempt, still func(context.Context) error) (node.Progress, error) {
	ctx, cancel := context.WithTimeout(ctx, pieceLimit)
	defer cancel()
	e := exit{node: n, step: a.Step, unstarted: a.WaitingAt.IsZero()}
	ask := asks(b.bmcs.Do)
	if a.CleanUpTries >= insists {
		ask = b.bmcs.Look
	}
	return run(ctx, ask, n, func(ctx context.Context, c BMC) (node.Progress, error) {
		c = guarded{BMC: c, still: still, keepBoot: a.KeepBoot}
		switch {
		case a.KeepPowerOn:
			return e.leaveOn(ctx, c)
		case n.DisablePowerOff:
			return e.rebootOut(ctx, c)
		}
		return e.powerOff(ctx, c)
	})
}

// exit is one piece of a clean-up.
type exit struct {
	node node.Node
	step string
	// unstarted tells that the attempt ended within its start: a power on may be on its way that the BMC does not show yet.
	unstarted bool
}

// leaveOn leaves a server on that somebody wants to look at. Our medium stays in for as long as it runs.
func (e exit) leaveOn(ctx context.Context, c BMC) (node.Progress, error) {
	looks := looksTaken(e.step, stepLeft)
	if looks == 0 {
		if err := removeOverride(ctx, c); err != nil {
			return node.Progress{}, err
		}
	}
	now, err := power(ctx, c)
	if err != nil {
		return node.Progress{}, err
	}
	switch {
	case e.node.BootMedium().URL == "":
		return node.Progress{Ready: true, Step: "clean-up: done, power left on", Power: now}, nil
	case now == node.PowerOff:
		return e.empty(ctx, c, node.Progress{Ready: true, Step: "clean-up: done, somebody has powered off", Power: now}, nil)
	case looks >= leftPatience:
		return node.Progress{Power: now}, fmt.Errorf("%w: the server was left on, and is still on", node.ErrMediumLeft)
	}
	return node.Progress{Step: fmt.Sprint(stepLeft, looks+1), After: pollLeft, Power: now}, nil
}

func (e exit) rebootOut(ctx context.Context, c BMC) (node.Progress, error) {
	out := node.Progress{Ready: true, Step: "clean-up: done, rebooted"}
	if e.step == stepRebooted || looksTaken(e.step, stepLate) > 0 {
		return e.empty(ctx, c, out, nil)
	}
	if err := removeOverride(ctx, c); err != nil {
		return node.Progress{}, err
	}
	now, err := power(ctx, c)
	if err != nil {
		return node.Progress{}, err
	}
	out.Power = now
	if now != node.PowerOn {
		return e.empty(ctx, c, out, nil)
	}
	if err := setPower(ctx, c, node.ActionReboot); err != nil {
		return node.Progress{}, err
	}
	if e.node.BootMedium().URL != "" {
		return node.Progress{Step: stepRebooted, After: afterReset, Power: now}, nil
	}
	return out, nil
}

// powerOff asks for power off at the first look. Once its patience is over it asks again at every look and says that the
// server does not obey: from then on each look is one of the caller's tries, with its own pauses.
func (e exit) powerOff(ctx context.Context, c BMC) (node.Progress, error) {
	now, err := power(ctx, c)
	if err != nil {
		return node.Progress{}, err
	}
	if now == node.PowerOff {
		return e.off(ctx, c, now)
	}
	looks := looksTaken(e.step, stepOffAgain)
	if looks == 0 || looks >= patience {
		if err := setPower(ctx, c, node.ActionOff); err != nil {
			return node.Progress{}, err
		}
	}
	if looks >= patience {
		return node.Progress{}, fmt.Errorf("the power state is still %q after power off was asked for", now)
	}
	return node.Progress{Step: fmt.Sprint(stepOffAgain, looks+1), After: pollOff, Power: now}, nil
}

// off is what follows once the server is off. Where it was found so although its start may have just switched it on, it is
// looked at some more before anything is taken from it.
func (e exit) off(ctx context.Context, c BMC, now node.PowerState) (node.Progress, error) {
	sent := looksTaken(e.step, stepOffAgain) > 0 || looksTaken(e.step, stepLate) > 0
	if looks := looksTaken(e.step, stepSettling); e.unstarted && !sent && looks < settling {
		return node.Progress{Step: fmt.Sprint(stepSettling, looks+1), After: pollOff, Power: now}, nil
	}
	// Both are tried: that one thing cannot be removed is no reason to leave the other.
	done := node.Progress{Ready: true, Step: "clean-up: done, powered off", Power: now}
	return e.empty(ctx, c, done, removeOverride(ctx, c))
}

// empty takes our medium out and is out's progress then. One that the BMC has been asked for and does not show may still be
// on its way in, and is waited for.
func (e exit) empty(ctx context.Context, c BMC, out node.Progress, before error) (node.Progress, error) {
	r := e.node.BootMedium()
	found, err := takeOut(ctx, c, r)
	switch {
	case before != nil && err != nil:
		return node.Progress{Power: out.Power}, fmt.Errorf("%w; %w", before, err)
	case before != nil || err != nil:
		if before == nil {
			before = err
		}
		return node.Progress{Power: out.Power}, before
	case r.URL == "":
		return out, nil
	}
	if looks := looksTaken(e.step, stepLate); found == 0 && !r.In && looks < latePatience {
		return node.Progress{Step: fmt.Sprint(stepLate, looks+1), After: pollOff, Power: out.Power}, nil
	}
	out.BootMedium = forgotten(e.node)
	return out, nil
}

func looksTaken(step, waiting string) int {
	var n int
	count, found := strings.CutPrefix(step, waiting)
	if _, err := fmt.Sscan(count, &n); !found || err != nil {
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

// EjectIf is Media's, for a clean-up.
func (g guarded) EjectIf(ctx context.Context, chosen func(node.VirtualDrive) bool) (int, error) {
	m, err := media(g.BMC, node.Node{})
	if err != nil {
		return 0, err
	}
	if err := g.still(ctx); err != nil {
		return 0, err
	}
	return m.EjectIf(ctx, chosen)
}

// BeginInsert is never wanted of a clean-up.
func (guarded) BeginInsert(context.Context, node.Medium) (string, error) {
	return "", &node.Unsupported{Extension: "attach_virtual_media"}
}

// Inserted likewise.
func (guarded) Inserted(context.Context, node.Medium, string) (bool, error) {
	return false, &node.Unsupported{Extension: "attach_virtual_media"}
}
