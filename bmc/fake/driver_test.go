package fake_test

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"cagenut/bmc"
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
	want := node.Boot{Device: node.BootPXE, Persistent: true}
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

func TestAFakeServerBootsFromTheNetworkAlone(t *testing.T) {
	c, err := fake.New().Open(node.Node{UUID: node.NewUUID()})
	if err != nil {
		t.Fatal(err)
	}
	for _, d := range []node.BootDevice{node.BootDisk, node.BootWANBoot, "floppy"} {
		var invalid *node.Invalid
		if err := c.SetBoot(t.Context(), node.Boot{Device: d}); !errors.As(err, &invalid) || invalid.Text != "Invalid boot device "+string(d)+" specified." {
			t.Errorf("%s: %v", d, err)
		}
	}
	if all, err := c.SupportedBoot(t.Context()); err != nil || len(all) != 1 || all[0] != node.BootPXE {
		t.Errorf("%v, %v", all, err)
	}
	if err := c.SetBoot(t.Context(), node.Boot{}); err != nil {
		t.Errorf("without an override: %v", err)
	}
}

func TestAnAnswerDelayIsANumberOfSeconds(t *testing.T) {
	for v, ok := range map[any]bool{nil: true, "0.5": true, json.Number("3"): true, 0: true, 300.0: true, "": false, "soon": false, -1: false, "NaN": false, 301: false, true: false} {
		n := node.Node{UUID: node.NewUUID(), DriverInfo: map[string]any{"fake_answer_delay": v}}
		err := fake.New().Validate(n)
		if _, open := fake.New().Open(n); (open == nil) != (err == nil) {
			t.Errorf("%v: validated %v, opened %v", v, err, open)
		}
		var invalid *node.Invalid
		if (err == nil) != ok || err != nil && (!errors.As(err, &invalid) || !strings.Contains(invalid.Text, "fake_answer_delay")) {
			t.Errorf("%v: %v", v, err)
		}
	}
}

func TestASlowFakeServerAnswersWhenItsTimeHasCome(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, err := fake.New().Open(node.Node{UUID: node.NewUUID(), DriverInfo: map[string]any{"fake_answer_delay": json.Number("5")}})
		if err != nil {
			t.Fatal(err)
		}
		begin := time.Now()
		if p, err := c.Power(t.Context()); err != nil || p != node.PowerOff || time.Since(begin) != 5*time.Second {
			t.Errorf("%q, %v after %s", p, err, time.Since(begin))
		}

		short, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		var dead *node.Unreachable
		if err := c.SetPower(short, node.ActionOn); !errors.As(err, &dead) || !dead.Timeout {
			t.Errorf("at the deadline: %v", err)
		}
		if p, _ := c.Power(t.Context()); p != node.PowerOff {
			t.Errorf("it is %q although it never answered", p)
		}

		gone, cancelled := context.WithCancel(t.Context())
		cancelled()
		if _, err := c.Boot(gone); !errors.Is(err, context.Canceled) {
			t.Errorf("of a caller that went away: %v", err)
		}
	})
}

func TestOfAllAbilitiesAFakeServerHasTheLight(t *testing.T) {
	n := node.Node{UUID: node.NewUUID(), Driver: node.DriverFake}
	d := fake.New()
	for _, want := range []node.Indicator{node.IndicatorOff, node.IndicatorBlinking} {
		c, err := d.Open(n)
		if err != nil {
			t.Fatal(err)
		}
		able, ok := c.(bmc.Abilities)
		if !ok {
			t.Fatal("it says that it has none")
		}
		if got, err := able.Indicator(t.Context()); err != nil || got != want {
			t.Errorf("the light is %q, %v, want %q", got, err, want)
		}
		if err := able.SetIndicator(t.Context(), node.IndicatorBlinking); err != nil {
			t.Error(err)
		}
		var lacks *node.Unsupported
		if err := able.InjectNMI(t.Context()); !errors.As(err, &lacks) || lacks.Driver != node.DriverFake {
			t.Errorf("an interrupt: %v", err)
		}
	}
}
