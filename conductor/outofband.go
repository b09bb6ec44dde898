package conductor

import (
	"context"
	"errors"
	"fmt"
	"time"

	"cagenut/node"
)

// OutOfBand is an InspectInterface that has the BMC tell everything (contract.md §4.5): nothing is booted, no report is
// waited for, and nothing is to be cleaned up. Its Inspect is never called.
type OutOfBand interface {
	InspectInterface
	// Discover reads the hardware from the BMC, at most for as long as ctx lasts. It changes nothing there, so it may be
	// repeated. Where the time is too short, *node.Unreachable says how much is Read: the next call goes on from there.
	Discover(ctx context.Context, n node.Node) (node.Hardware, error)
	// Process runs the hooks on it. owners names the node of every MAC that has a port already. An error fails the
	// inspection with its text.
	Process(n node.Node, ports []node.Port, owners map[string]string, h node.Hardware) (Findings, error)
}

// readingBMC is the one step of an out-of-band start.
const readingBMC = "reading the hardware from the BMC"

const (
	// readingTimes is how many start time-outs the reading of a BMC may take while it gets on: some take a second for each
	// of hundreds of requests, and reading keeps no server from anything.
	readingTimes = 5
	// readingPause lets others have the BMC between two steps of reading.
	readingPause = 200 * time.Millisecond
)

// startLimit bounds the way from `inspecting` on: into the ramdisk, or through all that the BMC has to tell.
func (c *Conductor) startLimit(n node.Node) time.Duration {
	switch {
	case c.outOfBand(n.Interfaces.Inspect):
		return readingTimes * c.StartTimeout
	case n.Interfaces.Boot == node.BootVirtualMedia:
		return c.StartTimeout + mediumTime
	}
	return c.StartTimeout
}

// late is why a start ended that took too long.
func (c *Conductor) late(n node.Node, a node.Attempt) string {
	limit := c.startLimit(n)
	if c.outOfBand(a.Interface) {
		return fmt.Sprintf("unable to start inspection: the BMC did not tell everything within %s (%s)", limit, orNothing(a.Step))
	}
	return fmt.Sprintf("unable to start inspection: the server was not ready within %s (%s)", limit, orNothing(a.Step))
}

// workOutOfBand does an out-of-band inspection: what the BMC tells goes through hooks and rules, and ends the attempt in one
// transaction. A BMC that needs longer than a step is read on in the next one, as long as each step reads more. An appliance
// that dies on the way leaves nothing behind at the BMC.
func (c *Conductor) workOutOfBand(ctx context.Context, left time.Duration, i OutOfBand, n node.Node, a node.Attempt, j node.Job) (time.Duration, error) {
	if a.Step == "" {
		a.Step = readingBMC
		if err := c.Attempts.UpdateAttempt(ctx, a, nil); err != nil {
			return done, err
		}
	}
	reading, cancel := context.WithTimeout(ctx, min(left, c.StartTimeout, stepTime))
	defer cancel()
	h, err := i.Discover(reading, n)
	if ctx.Err() != nil {
		return done, ctx.Err() // the appliance stops: recovery decides
	}
	if slow := (*node.Unreachable)(nil); errors.As(err, &slow) && slow.Read > 0 {
		a.Step = fmt.Sprintf("%s, %d parts so far", readingBMC, slow.Read)
		return readingPause, c.Attempts.UpdateAttempt(ctx, a, nil)
	}
	if err != nil {
		return done, c.failAttempt(ctx, n, a, j.Hold, "unable to start inspection: "+err.Error())
	}
	macs := make([]string, 0, len(h.NICs))
	for _, nic := range h.NICs {
		macs = append(macs, nic.MAC)
	}
	ports, owners, err := c.portsAndOwners(ctx, n, macs)
	if err != nil {
		return done, err
	}
	f, err := i.Process(n, ports, owners, h)
	a.Notes = append(a.Notes, f.Notes...)
	if err != nil {
		return done, c.failAttempt(ctx, n, a, j.Hold, err.Error())
	}
	j.Actor = node.System()
	return done, c.finish(ctx, j, n, a, ports, f)
}

// outOfBand tells whether an inspect interface leaves the server alone.
func (c *Conductor) outOfBand(name string) bool {
	_, ok := c.Inspect[name].(OutOfBand)
	return ok
}

// cleanedUp refuses an out-of-band start while the clean-up after an in-band attempt goes on: a new attempt takes over from
// the clean-up of the one before, and this one would leave the server as that found it.
func (c *Conductor) cleanedUp(ctx context.Context, n node.Node) error {
	if n.AttemptID == "" {
		return nil
	}
	a, err := c.Attempts.Attempt(ctx, n.AttemptID)
	if err != nil && !missing(err) {
		return err
	}
	if err == nil && a.CleanUp == node.CleanUpPending {
		return &node.Conflict{Text: "The server of node " + n.UUID + " is still being cleaned up after its last inspection, please retry after that."}
	}
	return nil
}
