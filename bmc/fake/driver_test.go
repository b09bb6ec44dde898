package fake_test

import (
	"errors"
	"testing"

	"cagenut/bmc/fake"
	"cagenut/node"
)

func TestAFakeServerDoesEverythingAtOnceAndRemembers(t *testing.T) {
	d := fake.New()
	n := node.Node{UUID: node.NewUUID(), Driver: node.DriverFake}
	for _, step := range []struct {
		action node.PowerAction
		want   node.PowerState
	}{{"", node.PowerOff}, {node.ActionOn, node.PowerOn}, {node.ActionSoftReboot, node.PowerOn}, {node.ActionSoftOff, node.PowerOff}, {node.ActionReboot, node.PowerOn}} {
		c, err := d.Open(n) // anew: what was set stays
		if err != nil {
			t.Fatal(err)
		}
		if step.action != "" {
			if err := c.SetPower(t.Context(), step.action); err != nil {
				t.Errorf("%s: %v", step.action, err)
			}
		}
		if p, err := c.Power(t.Context()); err != nil || p != step.want {
			t.Errorf("after %q: %q, %v; want %q", step.action, p, err, step.want)
		}
	}
	c, _ := d.Open(n)
	if err := c.SetPower(t.Context(), "jump"); !errors.As(err, new(*node.Unsupported)) {
		t.Errorf("an unknown action: %v", err)
	}
	if b, err := c.Boot(t.Context()); err != nil || b.Device != node.BootPXE {
		t.Errorf("boots from %+v at first, %v", b, err)
	}
	want := node.Boot{Device: node.BootDisk, Persistent: true}
	if err := c.SetBoot(t.Context(), want); err != nil {
		t.Error(err)
	}
	if b, _ := c.Boot(t.Context()); b != want {
		t.Errorf("boots from %+v, want %+v", b, want)
	}
}

func TestAFakeServerStartsAsTheNodeSays(t *testing.T) {
	c, err := fake.New().Open(node.Node{UUID: node.NewUUID(), PowerState: node.PowerOn})
	if err != nil {
		t.Fatal(err)
	}
	if p, _ := c.Power(t.Context()); p != node.PowerOn {
		t.Errorf("%q", p)
	}
}
