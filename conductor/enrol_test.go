package conductor_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"cagenut/conductor"
	"cagenut/node"
)

func TestManageVerifiesTheBMC(t *testing.T) {
	w := newWorld(t, conductor.Settings{})
	n := w.enrolled(node.Enroll, "agent")
	w.rack.of(n.UUID).set(func(b *testBMC) { b.power = node.PowerOn })
	w.must(w.ask(n, node.Manage))
	now := w.node(n)
	same(t, "state", now.ProvisionState, node.Verifying)
	same(t, "reserved", now.Reserved(), true)
	w.work(n.UUID, node.JobVerify)
	w.is(n, node.Manageable, "")
	same(t, "power_state", w.node(n).PowerState, node.PowerOn)
	same(t, "reserved", w.node(n).Reserved(), false)
}

// G37: the address and the refusal, never the password; and the node can be corrected and deleted.
func TestManageWithWrongCredentialsGoesBackToEnroll(t *testing.T) {
	w := newWorld(t, conductor.Settings{})
	n := w.enrolled(node.Enroll, "agent")
	w.rack.of(n.UUID).set(func(b *testBMC) { b.fail = fmt.Errorf("redfish: 192.0.2.10: %w", node.ErrCredentials) })
	w.must(w.ask(n, node.Manage))
	w.work(n.UUID, node.JobVerify)
	w.is(n, node.Enroll, "Failed to get power state for node "+n.UUID+". Error: redfish: 192.0.2.10: the BMC refused the credentials")
	h := w.history(n)
	if len(h) != 1 || h[0].Type != node.TypeVerify || h[0].Severity != node.SeverityError || h[0].Event != w.node(n).LastError {
		t.Errorf("history: %+v", h)
	}
	if text := fmt.Sprintf("%+v %+v", w.node(n).LastError, h); strings.Contains(text, "not-a-real-one") {
		t.Errorf("the password is in %s", text)
	}
	w.must(w.DeleteNode(t.Context(), operator, n.UUID))
}

func TestManageWithoutAnAddressGoesBackToEnroll(t *testing.T) {
	w := newWorld(t, conductor.Settings{})
	n, err := w.CreateNode(t.Context(), operator, node.Node{Driver: node.DriverRedfish})
	w.must(err)
	w.must(w.ask(n, node.Manage))
	w.work(n.UUID, node.JobVerify)
	now := w.node(n)
	if now.ProvisionState != node.Enroll || !strings.HasPrefix(now.LastError, "Failed to validate power driver interface for node "+n.UUID) {
		t.Errorf("the node is %q: %q", now.ProvisionState, now.LastError)
	}
}

func TestManageOfAnAbortedNodeKeepsItsText(t *testing.T) {
	w := newWorld(t, conductor.Settings{})
	n, _ := w.aborted()
	w.must(w.ask(n, node.Manage))
	w.is(n, node.Manageable, abortedText) // contract.md §2.5
}

func TestPowerActionHoldsTheNodeUntilTheBMCSaysSo(t *testing.T) {
	w := newWorld(t, conductor.Settings{})
	n := w.enrolled(node.Manageable, "agent")
	w.must(w.SetPower(t.Context(), operator, n.UUID, conductor.PowerRequest{Target: "power on", Timeout: 5 * time.Second}))
	now := w.node(n)
	same(t, "target_power_state", now.TargetPowerState, node.PowerOn)
	same(t, "reservation", now.Reservation, "rack-7")
	w.work(n.UUID, node.JobPower)
	now = w.node(n)
	same(t, "power_state", now.PowerState, node.PowerOn)
	same(t, "target_power_state", now.TargetPowerState, "")
	same(t, "reserved", now.Reserved(), false)
	w.is(n, node.Manageable, "")
}

func TestPowerActionThatFailsSaysWhyAndFreesTheNode(t *testing.T) {
	w := newWorld(t, conductor.Settings{})
	n := w.enrolled(node.Manageable, "agent")
	w.rack.of(n.UUID).set(func(b *testBMC) { b.fail = errors.New("redfish: no answer") })
	w.must(w.SetPower(t.Context(), operator, n.UUID, conductor.PowerRequest{Target: "power on"}))
	w.work(n.UUID, node.JobPower)
	w.is(n, node.Manageable, "Failed to change power state to 'power on'. Error: redfish: no answer")
	now := w.node(n)
	if now.Reserved() || now.TargetPowerState != "" {
		t.Errorf("reserved %q, target %q", now.Reservation, now.TargetPowerState)
	}
	if h := w.history(n); len(h) != 1 || h[0].Type != node.TypePower || h[0].Actor != operator {
		t.Errorf("history: %+v", h)
	}
}

// deafRack takes commands and answers the first looks at the power badly.
type deafRack struct {
	*rack
	looks int // that fail
}

type deafBMC struct {
	conductor.BMC
	rack *deafRack
}

func (b deafBMC) Power(ctx context.Context) (node.PowerState, error) {
	if b.rack.looks--; b.rack.looks >= 0 {
		return "", &node.Unreachable{What: "BMC 192.0.2.10", Answered: true, Err: errors.New("HTTP status 500")}
	}
	return b.BMC.Power(ctx)
}

func (r *deafRack) Do(ctx context.Context, n node.Node, fn func(conductor.BMC) error) error {
	return r.rack.Do(ctx, n, func(b conductor.BMC) error { return fn(deafBMC{b, r}) })
}

func TestPowerActionThatABMCHasAcceptedDoesNotFailWithALook(t *testing.T) {
	w := newWorld(t, conductor.Settings{})
	n := w.enrolled(node.Manageable, "agent")
	bmc := w.rack.of(n.UUID)
	bmc.set(func(*testBMC) {})
	w.BMCs = &deafRack{w.rack, 2}
	w.must(w.SetPower(t.Context(), operator, n.UUID, conductor.PowerRequest{Target: "power on"}))
	w.work(n.UUID, node.JobPower)
	w.is(n, node.Manageable, "")
	same(t, "power_state", w.node(n).PowerState, node.PowerOn)
	if _, log := bmc.seen(); !slices.Equal(log, []string{"power on"}) {
		t.Errorf("it sent %v", log)
	}
}

func TestPowerActionThatTheServerNeverObeysEndsAtItsDeadline(t *testing.T) {
	for name, tc := range map[string]struct {
		target  string
		timeout time.Duration
		want    time.Duration
	}{
		"a soft one, after the time that was named":                          {"soft power off", 5 * time.Second, 5 * time.Second},
		"a soft one, after the time that an operating system may need":       {"soft power off", 0, 10 * time.Minute},
		"a hard one, after the time that a server needs without being asked": {"power off", 0, time.Minute},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, conductor.Settings{})
			n := w.enrolled(node.Manageable, "agent")
			w.must(w.SetPower(t.Context(), operator, n.UUID, conductor.PowerRequest{Target: tc.target, Timeout: tc.timeout}))
			bmc := w.rack.of(n.UUID)
			// The server goes on by itself after each command: it never stays off.
			bmc.set(func(b *testBMC) { b.stuck = node.PowerOn })
			began := w.clock.Now()
			w.work(n.UUID, node.JobPower)
			same(t, "took", w.clock.Now().Sub(began), tc.want)
			w.is(n, node.Manageable, "Failed to change power state to 'power off'. Error: the BMC accepted, but still says 'power on'")
			_, log := bmc.seen()
			if diff := cmp.Diff([]string{tc.target}, log); diff != "" {
				t.Errorf("commands (-want +got):\n%s", diff)
			}
		})
	}
}

// The promise of the abort: no power action that nobody limited keeps an inspection from being stopped for long.
func TestPowerActionOfAServerThatIsInspectedIsSoonOver(t *testing.T) {
	w := newWorld(t, conductor.Settings{})
	n, _ := w.waiting("agent")
	w.rack.of(n.UUID).set(func(b *testBMC) { b.stuck = node.PowerOn })
	w.must(w.SetPower(t.Context(), operator, n.UUID, conductor.PowerRequest{Target: "soft power off"}))
	if err := w.ask(n, node.Abort); !errors.As(err, new(*node.Locked)) {
		t.Errorf("while it goes on: %v", err)
	}
	began := w.clock.Now()
	w.work(n.UUID, node.JobPower)
	if took := w.clock.Now().Sub(began); took > time.Minute {
		t.Errorf("it took %s", took)
	}
	w.must(w.ask(n, node.Abort))
}

func TestPatchAndDeleteWhileInspecting(t *testing.T) {
	rename := func(n node.Node) (node.Node, error) {
		n.Description = "left of the door"
		return n, nil
	}
	conflict := new(*node.Conflict)
	for _, c := range []struct {
		name          string
		state         func(w *world) node.Node
		patch, delete any // kind of error, nil: accepted
	}{
		{"inspecting", func(w *world) node.Node {
			n := w.enrolled(node.Manageable, "agent")
			w.must(w.ask(n, node.Inspect))
			return n
		}, conflict, new(*node.Locked)},
		{"inspect wait", func(w *world) node.Node {
			n, _ := w.waiting("agent")
			return n
		}, nil, conflict},
		{"inspect failed", func(w *world) node.Node {
			n, _ := w.aborted()
			return n
		}, nil, conflict},
		{"manageable", func(w *world) node.Node { return w.enrolled(node.Manageable, "agent") }, nil, nil},
	} {
		t.Run(c.name+" (G40)", func(t *testing.T) {
			w := newWorld(t, conductor.Settings{})
			n := c.state(w)
			w.must(w.SetMaintenance(t.Context(), operator, n.UUID, true, "at any time"))
			w.must(w.SetMaintenance(t.Context(), operator, n.UUID, false, ""))
			_, err := w.PatchNode(t.Context(), operator, n.UUID, 0, rename)
			answered(t, "patch", err, c.patch)
			err = w.DeleteNode(t.Context(), operator, n.UUID)
			answered(t, "delete", err, c.delete)
			if c.delete == conflict && !strings.Contains(err.Error(), "'manageable', 'enroll', 'adopt failed', 'available'") {
				t.Errorf("delete: %v", err)
			}
		})
	}
}

// A wait can be patched and the ramdisk still be heard; below 1.39 the two states look the same.
func TestReportAfterAPatchInTheWait(t *testing.T) {
	w := newWorld(t, conductor.Settings{})
	n, a := w.waiting("agent")
	_, err := w.PatchNode(t.Context(), operator, n.UUID, 0, func(n node.Node) (node.Node, error) {
		n.Extra = map[string]any{"rack": "r1"}
		return n, nil
	})
	w.must(err)
	w.must(w.SetMaintenance(t.Context(), operator, n.UUID, true, ""))
	w.must(w.post(a.Token, report("")))
	w.work(n.UUID, node.JobFinish)
	same(t, "state", w.node(n).ProvisionState, node.Manageable)
}

func answered(t *testing.T, what string, got error, want any) {
	t.Helper()
	if (want == nil) != (got == nil) || (want != nil && !errors.As(got, want)) {
		t.Errorf("%s: %v, want %T", what, got, want)
	}
}
