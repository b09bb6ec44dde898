package conductor_test

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"

	"cagenut/conductor"
	"cagenut/node"
)

func (w *world) fakeNode() node.Node {
	w.t.Helper()
	n, err := w.CreateNode(w.t.Context(), operator, node.Node{Driver: node.DriverFake, ProvisionState: node.Manageable, DriverInfo: map[string]any{"redfish_address": "https://192.0.2.10"}})
	w.must(err)
	return n
}

// held makes somebody hold the node.
func (w *world) held(n node.Node) {
	w.t.Helper()
	_, err := w.store.Move(w.t.Context(), node.Move{Node: n.UUID, From: n.ProvisionState, Hold: "somebody", Host: "rack-9", At: w.clock.Now()})
	w.must(err)
}

func TestAConsoleIsSwitchedOnAndOff(t *testing.T) {
	w := newWorld(t, conductor.Settings{})
	n := w.fakeNode()
	is := func(on bool, info map[string]any) {
		t.Helper()
		gotOn, gotInfo, err := w.Console(t.Context(), n.UUID)
		if d := cmp.Diff(info, gotInfo); err != nil || gotOn != on || d != "" {
			t.Errorf("%t, %v, %v", gotOn, gotInfo, err)
		}
	}
	is(false, nil)
	w.must(w.SetConsole(t.Context(), operator, n.UUID, true))
	is(true, map[string]any{})
	same(t, "audited", w.lastAudit(n).Action, "console on")
	same(t, "console_enabled", w.node(n).ConsoleEnabled, true)

	w.held(n)
	w.must(w.SetConsole(t.Context(), operator, n.UUID, true)) // is so already, needs no lock
	refusedAs[*node.Locked](t, "held", w.SetConsole(t.Context(), operator, n.UUID, false), "Node "+n.UUID+" is locked by host rack-9, please retry after the current operation is completed.")
	is(true, map[string]any{})
}

func TestWhatTheInterfaceDoesNotHaveIsRefused(t *testing.T) {
	w := newWorld(t, conductor.Settings{})
	n := w.enrolled(node.Manageable, "agent")
	refusedAs[*node.Unsupported](t, "console", w.SetConsole(t.Context(), operator, n.UUID, true), "Driver redfish does not support console (disabled or not implemented).")
	refusedAs[*node.Unsupported](t, "raid", w.SetRAIDConfig(t.Context(), operator, n.UUID, map[string]any{}), "Driver redfish does not support raid (disabled or not implemented).")
	same(t, "the refusal is audited", w.lastAudit(n).Result, "Driver redfish does not support raid (disabled or not implemented).")
	if on, info, err := w.Console(t.Context(), n.UUID); on || info != nil || err != nil {
		t.Errorf("%t, %v, %v", on, info, err)
	}
	refusedAs[*node.NotFound](t, "nobody", w.SetConsole(t.Context(), operator, "nobody", true), "Node nobody could not be found.")
}

func TestATargetRAIDConfigurationIsKept(t *testing.T) {
	w := newWorld(t, conductor.Settings{})
	n := w.fakeNode()
	config := map[string]any{"logical_disks": []any{map[string]any{"raid_level": "1", "size_gb": json.Number("100"), "is_root_volume": true}}}
	w.must(w.SetRAIDConfig(t.Context(), operator, n.UUID, config))
	if d := cmp.Diff(config, w.node(n).TargetRAIDConfig); d != "" {
		t.Error(d)
	}
	refusedAs[*node.Invalid](t, "no level", w.SetRAIDConfig(t.Context(), operator, n.UUID, map[string]any{"logical_disks": []any{map[string]any{"size_gb": "MAX"}}}),
		"RAID config validation error: logical disk 0: 'raid_level' is a required property")
	if d := cmp.Diff(config, w.node(n).TargetRAIDConfig); d != "" {
		t.Errorf("a refused one changed it: %s", d)
	}
	w.must(w.SetRAIDConfig(t.Context(), operator, n.UUID, map[string]any{}))
	same(t, "logical disks", len(w.node(n).TargetRAIDConfig), 0)
}

func TestABootDeviceThatTheServerDoesNotKnowIsRefusedInIronicsWords(t *testing.T) {
	w := newWorld(t, conductor.Settings{})
	n := w.enrolled(node.Manageable, "agent")
	w.rack.of(n.UUID).set(func(b *testBMC) {
		b.fail = &node.Unsupported{Driver: "redfish", Extension: "boot device wanboot"}
	})
	refusedAs[*node.Invalid](t, "wanboot", w.SetBootDevice(t.Context(), operator, n.UUID, node.Boot{Device: node.BootWANBoot}), "Invalid boot device wanboot specified.")
}

func TestABMCIsForgottenWithItsNode(t *testing.T) {
	w := newWorld(t, conductor.Settings{})
	n := w.enrolled(node.Enroll, "agent")
	w.rack.of(n.UUID).set(func(b *testBMC) { b.power = node.PowerOn })
	w.must(w.DeleteNode(t.Context(), operator, n.UUID))
	same(t, "power of a BMC met anew", w.rack.of(n.UUID).power, node.PowerOff)
}
