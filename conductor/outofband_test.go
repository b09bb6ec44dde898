package conductor_test

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"cagenut/conductor"
	"cagenut/inspect/outofband"
	"cagenut/node"
)

// outOfBand is the real interface, joined as cmd joins it.
type outOfBand struct{ outofband.Redfish }

func (o outOfBand) Process(n node.Node, ports []node.Port, owners map[string]string, h node.Hardware) (conductor.Findings, error) {
	f, err := o.Redfish.Process(n, ports, owners, h)
	return conductor.Findings(f), err
}

// knowing is a rack whose BMCs know one server.
type knowing struct {
	*rack
	hardware node.Hardware
	slow     func() error // what comes instead, while it is not nil
}

func (k *knowing) Do(ctx context.Context, n node.Node, fn func(outofband.BMC) error) error {
	return k.rack.Do(ctx, n, func(conductor.BMC) error { return fn(k) })
}

func (k *knowing) Hardware(context.Context) (node.Hardware, error) {
	if k.slow != nil {
		if err := k.slow(); err != nil {
			return node.Hardware{}, err
		}
	}
	return k.hardware, nil
}

// outOfBandWorld is a world with a node whose BMC knows its server, which runs.
func outOfBandWorld(t *testing.T, s conductor.Settings) (*world, node.Node, *knowing) {
	t.Helper()
	w := newWorld(t, s)
	k := &knowing{rack: w.rack, hardware: node.Hardware{
		Processors: []node.Processor{{Architecture: "x86_64", Threads: 8, MHz: 2400}}, MemoryMiB: 16384, BootMode: "uefi",
		NICs: []node.NIC{{Name: "1", MAC: mac}}, Drives: []node.Drive{{Name: "Disk 0", Bytes: 64 << 30}},
	}}
	w.Inspect["redfish"] = outOfBand{outofband.NewRedfish(k)}
	n := w.enrolled(node.Manageable, "redfish")
	w.must(w.store.SetPowerState(t.Context(), n.UUID, node.PowerOn, w.clock.Now()))
	w.rack.of(n.UUID).set(func(b *testBMC) { b.power, b.boot = node.PowerOn, node.Boot{Device: node.BootDisk} })
	return w, w.node(n), k
}

func TestOutOfBandInspectionLeavesTheServerAlone(t *testing.T) {
	w, n, _ := outOfBandWorld(t, conductor.Settings{})
	w.rule(setting("/extra/seen", "{inventory[cpu][frequency]}"))
	w.must(w.ask(n, node.Inspect))
	w.is(n, node.Inspecting, "")
	same(t, "steps", w.step(n.UUID, node.JobStart) < 0, true)

	w.is(n, node.Manageable, "")
	now := w.node(n)
	same(t, "reserved", now.Reserved(), false)
	same(t, "power", now.PowerState, node.PowerOn)
	same(t, "target power", now.TargetPowerState, node.PowerState(""))
	same(t, "inspection_finished_at", now.InspectionFinishedAt.Equal(w.clock.Now()), true)
	same(t, "inspection_started_at", now.InspectionStartedAt.IsZero(), true)
	same(t, "clean-up jobs", len(w.queue.of(n.UUID, node.JobCleanUp)), 0)
	same(t, "what the rule set", now.Extra["seen"], any("2400"))
	if _, log := w.rack.of(n.UUID).seen(); len(log) != 0 {
		t.Errorf("the BMC was told %q", log)
	}
	var invalid *node.Invalid
	if err := w.Reapply(t.Context(), operator, n.UUID, nil); !errors.As(err, &invalid) {
		t.Errorf("there is no report to apply once more: %v", err)
	}
	for key, want := range map[string]string{"cpu_arch": "x86_64", "memory_mb": "16384", "local_gb": "63", "capabilities": "boot_mode:uefi"} {
		if got, _ := node.Text(now.Properties[key]); got != want {
			t.Errorf("properties.%s is %v, want %s", key, now.Properties[key], want)
		}
	}
	ports, err := w.store.Ports(t.Context(), node.PortFilter{NodeUUID: n.UUID})
	if err != nil || len(ports) != 1 || ports[0].Address != mac {
		t.Errorf("ports %v, %v", ports, err)
	}
	inventory, err := w.store.Inventory(t.Context(), n.UUID)
	w.must(err)
	if !json.Valid(inventory.Inventory) || !strings.Contains(string(inventory.Inventory), `"frequency":"2400"`) {
		t.Errorf("inventory %s", inventory.Inventory)
	}
	a := w.attempt(now)
	same(t, "outcome", a.Outcome, node.Succeeded)
	same(t, "clean-up", a.CleanUp, node.CleanUpState(""))
	same(t, "final entries", len(finals(w.history(n))), 1)
}

func TestAnOutOfBandInspectionThatFailsStoresNothing(t *testing.T) {
	for _, c := range []struct {
		name  string
		setUp func(*world, *knowing, *testBMC)
		want  string
	}{
		{"a BMC that cannot be reached", func(_ *world, _ *knowing, b *testBMC) {
			b.fail = &node.Unreachable{What: "BMC 192.0.2.10", Err: errors.New("connection refused")}
		}, "unable to start inspection: BMC 192.0.2.10: connection refused"},
		{"a BMC that hangs", func(_ *world, _ *knowing, b *testBMC) { b.silent = true }, "unable to start inspection: BMC 192.0.2.10: context deadline exceeded"},
		{"a BMC that knows too little", func(_ *world, k *knowing, _ *testBMC) { k.hardware.MemoryMiB, k.hardware.Processors = 0, nil },
			"Failed to discover the following properties: cpu_arch, memory_mb on node "},
		{"a rule that says no", func(w *world, _ *knowing, _ *testBMC) { w.rule(failing("not in this rack")) },
			"Failed to finish inspection: Failed to inspect hardware. Reason: not in this rack"},
	} {
		t.Run(c.name, func(t *testing.T) {
			w, n, k := outOfBandWorld(t, conductor.Settings{StartTimeout: 50 * time.Millisecond})
			b := w.rack.of(n.UUID)
			b.set(func(b *testBMC) { c.setUp(w, k, b) })
			w.must(w.ask(n, node.Inspect))
			w.work(n.UUID, node.JobStart)
			now := w.node(n)
			if now.ProvisionState != node.InspectFailed || !strings.HasPrefix(now.LastError, c.want) {
				t.Errorf("the node is %q with %q, want %q", now.ProvisionState, now.LastError, c.want)
			}
			same(t, "reserved", now.Reserved(), false)
			same(t, "power", now.PowerState, node.PowerOn)
			same(t, "target power", now.TargetPowerState, node.PowerState(""))
			same(t, "clean-up jobs", len(w.queue.of(n.UUID, node.JobCleanUp)), 0)
			if diff := cmp.Diff(n.Properties, now.Properties); diff != "" {
				t.Errorf("properties changed (-before +after):\n%s", diff)
			}
			if _, err := w.store.Inventory(t.Context(), n.UUID); err == nil {
				t.Error("an inventory was stored")
			}
			if ports, err := w.store.Ports(t.Context(), node.PortFilter{NodeUUID: n.UUID}); err != nil || len(ports) != 0 {
				t.Errorf("ports %v, %v", ports, err)
			}
		})
	}
}

// design.md §4, point 7: a new attempt takes over from the clean-up of the one before. This one must not, for it would leave
// the server as it is.
func TestOutOfBandInspectionWaitsForTheCleanUpOfTheAttemptBefore(t *testing.T) {
	w, _, _ := outOfBandWorld(t, conductor.Settings{})
	n, _ := w.aborted()
	w.must(w.ask(n, node.Manage))
	n, err := w.change(w.node(n), func(n *node.Node) { n.Interfaces.Inspect = "redfish" })
	w.must(err)
	var conflict *node.Conflict
	if err := w.ask(n, node.Inspect); !errors.As(err, &conflict) || !strings.Contains(err.Error(), n.UUID) {
		t.Errorf("got %v, want *node.Conflict with the node", err)
	}
	same(t, "clean-up jobs", len(w.queue.of(n.UUID, node.JobCleanUp)), 1)
	w.work(n.UUID, node.JobCleanUp)
	w.must(w.ask(n, node.Inspect))
	w.work(n.UUID, node.JobStart)
	w.is(n, node.Manageable, "")
}

func TestAnOutOfBandStartThatIsRepeatedReadsAgain(t *testing.T) {
	w, n, _ := outOfBandWorld(t, conductor.Settings{})
	w.must(w.ask(n, node.Inspect))
	job := w.queue.of(n.UUID, node.JobStart)[0]
	ctx, stop := context.WithCancel(t.Context())
	w.rack.first = stop // the appliance stops while the BMC answers
	if _, err := w.Work(ctx, job.Job, 0); !errors.Is(err, context.Canceled) {
		t.Errorf("the interrupted step: %v", err)
	}
	w.is(n, node.Inspecting, "")
	w.work(n.UUID, node.JobStart)
	w.is(n, node.Manageable, "")
	// And once more is too late: it finds nothing to do.
	if again, err := w.Work(t.Context(), job.Job, 1); err != nil || again >= 0 {
		t.Errorf("after its end: %v, %v", again, err)
	}
}

// outOfTime is the error of a reading that goes on next time.
func outOfTime(read int) error {
	return &node.Unreachable{What: "BMC 192.0.2.10", Timeout: true, Read: read, Err: context.DeadlineExceeded}
}

// A step of a job ends after 30 s, and some BMCs take minutes.
func TestASlowBMCIsReadOnAsLongAsItGetsOn(t *testing.T) {
	for _, c := range []struct {
		name  string
		steps []int // what each step has read in all; 0: nothing more
		state node.State
		error string
	}{
		{"until all is read", []int{40, 80, 120, 160, 200, 240, 250}, node.Manageable, ""},
		{"until it says nothing more", []int{40, 80, 0}, node.InspectFailed, "unable to start inspection: BMC 192.0.2.10: context deadline exceeded"},
		{"until its time is over", []int{20, 40, 60, 80, 100, 120, 140, 160, 180, 200, 220, 240, 260, 280, 300, 320}, node.InspectFailed,
			"unable to start inspection: the BMC did not tell everything within 5m0s (reading the hardware from the BMC, 240 parts so far)"},
	} {
		t.Run(c.name, func(t *testing.T) {
			w, n, k := outOfBandWorld(t, conductor.Settings{StartTimeout: time.Minute})
			step := 0
			k.slow = func() error {
				if step == len(c.steps) {
					return nil
				}
				w.clock.advance(25 * time.Second)
				step++
				return outOfTime(c.steps[step-1])
			}
			w.must(w.ask(n, node.Inspect))
			w.work(n.UUID, node.JobStart)
			w.is(n, c.state, c.error)
			same(t, "reserved", w.node(n).Reserved(), false)
		})
	}
	t.Run("and says how far it is", func(t *testing.T) {
		w, n, k := outOfBandWorld(t, conductor.Settings{})
		k.slow = func() error { return outOfTime(40) }
		w.must(w.ask(n, node.Inspect))
		if again := w.step(n.UUID, node.JobStart); again <= 0 || again > time.Second {
			t.Errorf("it goes on after %s", again)
		}
		now := w.node(n)
		same(t, "state", now.ProvisionState, node.Inspecting)
		same(t, "step", w.attempt(now).Step, "reading the hardware from the BMC, 40 parts so far")
	})
}

func TestAServerThatReadsOutOfBandIsNotBooted(t *testing.T) {
	w, n, _ := outOfBandWorld(t, conductor.Settings{})
	_, err := w.CreatePort(t.Context(), operator, node.Port{NodeUUID: n.UUID, Address: mac})
	w.must(err)
	w.must(w.ask(n, node.Inspect))
	var unknown *node.NotFound
	if _, _, err := w.Booting(t.Context(), mac); !errors.As(err, &unknown) {
		t.Errorf("a server that happens to boot from the network got %v", err)
	}
}
