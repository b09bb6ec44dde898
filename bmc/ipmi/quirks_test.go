package ipmi_test

import (
	"errors"
	"slices"
	"testing"
	"time"

	"cagenut/bmc"
	"cagenut/bmc/ipmi"
	"cagenut/bmc/sim"
	"cagenut/node"
)

// switchOn gives a simulated BMC a fault.
func switchOn(t *testing.T, s *sim.Server, f sim.Fault, strength sim.Strength) {
	t.Helper()
	if err := s.SwitchOn(f, strength); err != nil {
		t.Fatal(err)
	}
}

// TestAllIsReadAndSetInSpiteOf lets a simulated BMC have one quirk after the other, and expects that nothing is missing.
func TestAllIsReadAndSetInSpiteOf(t *testing.T) {
	for name, c := range map[string]struct {
		fault    sim.Fault
		strength sim.Strength
	}{
		"nothing":                             {},
		"answers that come twice (§4.3)":      {fault: sim.FaultDuplicate},
		"answers that come late":              {fault: sim.FaultSlow, strength: sim.Strength{Delay: 10 * time.Millisecond}},
		"lost datagrams (G39)":                {fault: sim.FaultLoss, strength: sim.Strength{Percent: 10}},
		"an unanswered suite list (59)":       {fault: sim.FaultNoSuiteList},
		"suite 3 alone (60)":                  {fault: sim.FaultSuite3Only},
		"suite 17 alone (60)":                 {fault: sim.FaultSuite17Only},
		"suite 17 offered and refused (60)":   {fault: sim.FaultSuite17Broken},
		"a reservation lost three times (64)": {fault: sim.FaultReservationLost, strength: sim.Strength{Count: 3}},
		"short reads (64)":                    {fault: sim.FaultShortReads},
		"a busy BMC":                          {fault: sim.FaultBusy, strength: sim.Strength{Count: 2}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := startServer(t, sim.Options{})
			if c.fault != "" {
				switchOn(t, s, c.fault, c.strength)
			}
			o := quick()
			o.Operation = 20 * time.Second
			o.Ladder = []ipmi.Rung{{Timeout: 100 * time.Millisecond, Retries: 5}, {Timeout: 200 * time.Millisecond, Retries: 5}, {Timeout: 400 * time.Millisecond, Retries: 5}}
			n, d := nodeOf(s), ipmi.New(o)
			p, a := open(t, d, n), able(t, d, n)
			if err := p.SetPower(t.Context(), node.ActionOn); err != nil || s.Power() != node.PowerOn {
				t.Errorf("power: %v, %s", err, s.Power())
			}
			want := node.Boot{Device: node.BootPXE, Persistent: true}
			if err := p.SetBoot(t.Context(), want); err != nil || s.Boot() != want {
				t.Errorf("boot: %v, %+v", err, s.Boot())
			}
			whole(t, a)
			if err := a.ClearLog(t.Context()); err != nil {
				t.Errorf("clear: %v", err)
			}
			if err := a.SetIndicator(t.Context(), node.IndicatorOn); err != nil || s.Indicator() != node.IndicatorOn {
				t.Errorf("indicator: %v, %s", err, s.Indicator())
			}
			if c.fault == sim.FaultLoss {
				return // an interrupt is not repeated, and may be lost
			}
			if err := a.InjectNMI(t.Context()); err != nil || s.Interrupts() != 1 {
				t.Errorf("NMI: %v, %d interrupts", err, s.Interrupts())
			}
		})
	}
}

// whole reads everything, and finds all of it.
func whole(t *testing.T, a bmc.Abilities) {
	t.Helper()
	sensors, err := a.Sensors(t.Context())
	measured := 0
	for _, s := range sensors {
		if s.Reading != nil || s.State != "" {
			measured++
		}
	}
	if err != nil || measured != len(sensors) || measured < 12 {
		t.Errorf("%d sensors, of which %d measure: %v", len(sensors), measured, err)
	}
	health, err := a.Health(t.Context())
	if err != nil || health.Overall != node.HealthOK || len(health.Parts) != 0 {
		t.Errorf("health: %+v, %v", health, err)
	}
	events, err := a.Events(t.Context(), 0)
	if err != nil || len(events) == 0 || events[0].At.IsZero() || events[0].Message == "" {
		t.Errorf("events: %+v, %v", events, err)
	}
	identity, err := a.Identity(t.Context())
	if err != nil || identity.Manufacturer == "" || identity.Model == "" || identity.Serial == "" || identity.Firmware == "" || identity.Time.IsZero() {
		t.Errorf("identity: %+v, %v", identity, err)
	}
	hardware, err := a.Hardware(t.Context())
	if err != nil || hardware.System.UUID == "" || hardware.System.SKU == "" || hardware.System.Manufacturer != identity.Manufacturer {
		t.Errorf("hardware: %+v, %v", hardware.System, err)
	}
}

func TestSimulatedMachinesAreShownAsTheyAre(t *testing.T) {
	s := startServer(t, sim.Options{})
	d := ipmi.New(quick())
	a := able(t, d, nodeOf(s))
	if err := open(t, d, nodeOf(s)).SetPower(t.Context(), node.ActionOn); err != nil {
		t.Fatal(err)
	}
	for fault, want := range map[sim.Fault]node.HealthReport{
		"":                 {Overall: node.HealthOK},
		sim.FaultHotInlet:  {Overall: node.HealthWarning, Parts: []node.PartHealth{{Part: "Inlet Temp", Health: node.HealthWarning, Message: "44 °C, upper warning threshold 42 °C"}}},
		sim.FaultFailedPSU: {Overall: node.HealthCritical, Parts: []node.PartHealth{{Part: "PSU2 Status", Health: node.HealthCritical, Message: "Presence detected, Power Supply Failure detected"}}},
	} {
		s.Heal()
		if fault != "" {
			switchOn(t, s, fault, sim.Strength{})
		}
		if got, err := a.Health(t.Context()); err != nil || got.Overall != want.Overall || !slices.Equal(got.Parts, want.Parts) {
			t.Errorf("%q: %+v, %v; want %+v", fault, got, err, want)
		}
	}
	s.Heal()
	switchOn(t, s, sim.FaultDeadSensor, sim.Strength{})
	sensors, err := a.Sensors(t.Context())
	if err != nil || len(sensors) == 0 || slices.ContainsFunc(sensors, func(s node.Sensor) bool { return s.Name == "Inlet Temp" }) {
		t.Errorf("a sensor that is not there (64): %+v, %v", sensors, err)
	}
	switchOn(t, s, sim.FaultClockUnset, sim.Strength{})
	events, err := a.Events(t.Context(), 0)
	if err != nil || len(events) == 0 || slices.ContainsFunc(events, func(e node.LogEntry) bool { return !e.At.IsZero() }) {
		t.Errorf("a log whose clock was never set: %+v, %v", events, err)
	}
}

func TestStaleBootFlagsAreNone(t *testing.T) { // quirk 63
	s := startServer(t, sim.Options{})
	switchOn(t, s, sim.FaultStaleFlags, sim.Strength{})
	if got, err := open(t, ipmi.New(quick()), nodeOf(s)).Boot(t.Context()); err != nil || got != (node.Boot{}) {
		t.Errorf("%+v, %v", got, err)
	}
}

func TestBootFlagsDoNotExpire(t *testing.T) { // quirk 62
	s := startServer(t, sim.Options{})
	switchOn(t, s, sim.FaultFlagsExpire, sim.Strength{Delay: time.Millisecond})
	c := open(t, ipmi.New(quick()), nodeOf(s))
	want := node.Boot{Device: node.BootPXE}
	if err := c.SetBoot(t.Context(), want); err != nil {
		t.Fatal(err)
	}
	for until := time.Now().Add(100 * time.Millisecond); time.Now().Before(until); {
		if got, err := c.Boot(t.Context()); err != nil || got != want {
			t.Fatalf("%+v, %v", got, err)
		}
	}
}

func TestARefusedProofIsAWrongPassword(t *testing.T) {
	for _, fault := range []sim.Fault{sim.FaultBadRAKP, sim.FaultWrongPassword} {
		s := startServer(t, sim.Options{})
		switchOn(t, s, fault, sim.Strength{})
		if _, err := able(t, ipmi.New(quick()), nodeOf(s)).Sensors(t.Context()); !errors.Is(err, node.ErrCredentials) {
			t.Errorf("%s: %v, want node.ErrCredentials", fault, err)
		}
	}
}

func TestNobodyListening(t *testing.T) {
	s := startServer(t, sim.Options{})
	switchOn(t, s, sim.FaultRefuse, sim.Strength{})
	var u *node.Unreachable
	if _, err := able(t, ipmi.New(quick()), nodeOf(s)).Identity(t.Context()); !errors.As(err, &u) || u.Timeout {
		t.Errorf("%v, want *node.Unreachable at once", err)
	}
}
