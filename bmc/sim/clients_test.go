package sim_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"cagenut/bmc"
	"cagenut/bmc/ipmi"
	"cagenut/bmc/redfish"
	"cagenut/bmc/sim"
	"cagenut/node"
)

// able is a client with all abilities, whether the BMC has them or not.
type able interface {
	bmc.Client
	bmc.Abilities
}

// client opens the appliance's own client for a server; it waits for nothing longer than a simulation makes it.
func client(t *testing.T, s *sim.Server) able {
	t.Helper()
	var d bmc.Driver = redfish.New(redfish.Options{
		Try: 2 * time.Second, Operation: 10 * time.Second, Pause: 5 * time.Millisecond, BusyPause: 10 * time.Millisecond, Poll: 5 * time.Millisecond, Media: 5 * time.Second,
	})
	if s.Driver == node.DriverIPMI {
		d = ipmi.New(ipmi.Options{Poll: 5 * time.Millisecond})
	}
	t.Cleanup(func() {
		if err := d.Close(context.Background()); err != nil {
			t.Errorf("close: %v", err)
		}
	})
	c, err := d.Open(node.Node{Driver: s.Driver, DriverInfo: s.DriverInfo()})
	if err != nil {
		t.Fatal(err)
	}
	a, ok := c.(able)
	if !ok {
		t.Fatalf("%T lacks abilities", c)
	}
	return a
}

// operations are what the appliance asks of a BMC, each on a server as the one before left it.
var operations = []struct {
	name string
	do   func(context.Context, *sim.Server, able) error
}{
	{"power", func(ctx context.Context, _ *sim.Server, c able) error { _, err := c.Power(ctx); return err }},
	{"boot", func(ctx context.Context, _ *sim.Server, c able) error {
		return c.SetBoot(ctx, node.Boot{Device: node.BootPXE})
	}},
	{"on", func(ctx context.Context, s *sim.Server, c able) error {
		if err := c.SetPower(ctx, node.ActionOn); err != nil {
			return err
		}
		return s.Wait(ctx, func(s *sim.Server) bool { return s.Power() == node.PowerOn })
	}},
	{"insert", func(ctx context.Context, s *sim.Server, c able) error { return insertByClient(ctx, s, c, "a.iso") }},
	{"insert another", func(ctx context.Context, s *sim.Server, c able) error { return insertByClient(ctx, s, c, "b.iso") }},
	{"eject", func(ctx context.Context, s *sim.Server, c able) error {
		err := c.Eject(ctx, node.MediumCD)
		if err == nil && len(s.Media()) != 0 {
			err = errors.New("something is still inserted")
		}
		return err
	}},
	{"light", func(ctx context.Context, s *sim.Server, c able) error {
		err := c.SetIndicator(ctx, node.IndicatorOn)
		if err == nil && s.Indicator() == node.IndicatorOff {
			err = errors.New("it is dark")
		}
		return err
	}},
	{"NMI", func(ctx context.Context, _ *sim.Server, c able) error { return c.InjectNMI(ctx) }},
	{"health", func(ctx context.Context, _ *sim.Server, c able) error { _, err := c.Health(ctx); return err }},
	{"sensors", func(ctx context.Context, _ *sim.Server, c able) error {
		list, err := c.Sensors(ctx)
		if err == nil && len(list) < 5 {
			err = errors.New("hardly any sensors")
		}
		return err
	}},
	{"log", func(ctx context.Context, _ *sim.Server, c able) error {
		list, err := c.Events(ctx, 0)
		if err == nil && len(list) == 0 {
			err = errors.New("an empty log")
		}
		return err
	}},
	{"identity", func(ctx context.Context, _ *sim.Server, c able) error { _, err := c.Identity(ctx); return err }},
	{"off", func(ctx context.Context, s *sim.Server, c able) error {
		if err := c.SetPower(ctx, node.ActionOff); err != nil {
			return err
		}
		return s.Wait(ctx, func(s *sim.Server) bool { return s.Power() == node.PowerOff })
	}},
	{"firmware", func(ctx context.Context, _ *sim.Server, c able) error { _, err := c.Firmware(ctx); return err }},
	{"BIOS", func(ctx context.Context, _ *sim.Server, c able) error { _, err := c.BIOS(ctx); return err }},
	{"hardware", func(ctx context.Context, s *sim.Server, c able) error {
		h, err := c.Hardware(ctx)
		if err == nil && h.System.Serial == "" {
			err = errors.New("no serial number")
		}
		return err
	}},
}

func insertByClient(ctx context.Context, s *sim.Server, c able, name string) error {
	m := node.Medium{Kind: node.MediumCD, URL: "http://127.0.0.1:1/" + name}
	task, err := c.BeginInsert(ctx, m)
	for in, end := false, time.Now().Add(5*time.Second); err == nil && !in && time.Now().Before(end); {
		in, err = c.Inserted(ctx, m, task)
	}
	for _, address := range s.Media() {
		if strings.HasSuffix(address, name) {
			return err
		}
	}
	return errors.Join(err, errors.New("it is not in"))
}

// defeats are the operations that fail under a fault, with words of what the caller is told. All others succeed under it.
var defeats = map[sim.Fault]map[string]string{
	sim.FaultHang:          everything("deadline"),
	sim.FaultRefuse:        everything("refused"),
	sim.FaultWrongPassword: everything("credentials"),
	sim.FaultStuckPower:    {"on": "still in", "NMI": "off"},
	sim.FaultRefuseBoot:    {"boot": "cannot be changed"},
	sim.FaultIgnoreBoot:    {"boot": "not what the BMC shows"},
	// Drives and log are the manager's, to which no link leads.
	sim.FaultMissingLinks:  {"insert": "does not support", "insert another": "does not support", "eject": "does not support", "log": "does not support"},
	sim.FaultFewResetTypes: {"NMI": "does not support"},
	sim.FaultNoMedia:       {"insert": "does not support", "insert another": "does not support", "eject": "does not support"},
	sim.FaultMediaRefused:  {"insert": "cannot be read", "insert another": "cannot be read"}, sim.FaultMediaTaskFails: {"insert": "cannot be read", "insert another": "cannot be read"},
	sim.FaultLicence: {"insert": "licence", "insert another": "licence", "BIOS": "licence"},
}

// everything fails.
func everything(with string) map[string]string {
	all := map[string]string{}
	for _, o := range operations {
		all[o.name] = with
	}
	return all
}

// TestRedfishClientUnderEveryFault holds the appliance's client to what it promises of odd and failing BMCs. Faults that end are
// met twice.
func TestRedfishClientUnderEveryFault(t *testing.T) { // G34, G35, G36, G37, G64
	for _, f := range sim.AllFaults() {
		if f.TLS || !slices.Contains(f.Drivers, node.DriverRedfish) { // those of TLS: tls_test.go
			continue
		}
		t.Run(string(f.Fault), func(t *testing.T) {
			s := startRack(t, sim.Options{Servers: 1, Seed: 1}).Servers()[0]
			strength, lasts := sim.Strength{}, defeats[f.Fault] != nil
			if !f.Steady && !lasts {
				strength.Count = 2
			}
			if f.Delay > 0 {
				strength.Delay = 30 * time.Millisecond
			}
			switchOn(t, s, f.Fault, strength)
			c := client(t, s)
			for _, o := range operations {
				wanted, fails := defeats[f.Fault][o.name]
				limit := 15 * time.Second
				if fails {
					limit = 200 * time.Millisecond
				}
				ctx, cancel := context.WithTimeout(t.Context(), limit)
				err := o.do(ctx, s, c)
				cancel()
				if (err != nil) != fails || (fails && !strings.Contains(err.Error(), wanted)) {
					t.Errorf("%s: %v, want %q", o.name, err, wanted)
				}
			}
		})
	}
}

// TestOwnClientsReadWhatTheSimulationIs compares what both clients read with the ramdisk's report of the same machine.
func TestOwnClientsReadWhatTheSimulationIs(t *testing.T) {
	for _, s := range startRack(t, sim.Options{Servers: 2, IPMI: 1}).Servers() {
		c, report := client(t, s), reportOf(t, s).Inventory
		h, err := c.Hardware(t.Context())
		if err != nil {
			t.Fatalf("%s: %v", s.Driver, err)
		}
		if h.System.Serial != report.SystemVendor.SerialNumber || h.System.Manufacturer != report.SystemVendor.Manufacturer || h.System.Model != report.SystemVendor.ProductName {
			t.Errorf("%s: %+v, want %+v", s.Driver, h.System, report.SystemVendor)
		}
		if s.Driver == node.DriverIPMI {
			continue // IPMI knows no more than that
		}
		if h.MemoryMiB != int64(report.Memory.PhysicalMB) || len(h.Processors) != report.CPU.SocketCount || len(h.NICs) != len(report.Interfaces) {
			t.Errorf("%d MiB, %d processors, %d NICs; want %+v", h.MemoryMiB, len(h.Processors), len(h.NICs), report)
		}
		for i, n := range h.NICs {
			if n.MAC != report.Interfaces[i].MAC || (i == 0 && (n.Neighbour == nil || n.Neighbour.PortID != "Ethernet1/1")) {
				t.Errorf("%+v, want %+v", n, report.Interfaces[i])
			}
		}
		var serials []string
		for _, d := range h.Drives {
			if !d.Volume {
				serials = append(serials, d.Serial)
			}
		}
		for _, d := range report.Disks {
			if !slices.Contains(serials, d.Serial) {
				t.Errorf("%s is not among %v", d.Serial, serials)
			}
		}
		if len(serials) != len(report.Disks) || h.SecureBoot == nil || len(h.PCIe) == 0 || len(h.Memory) == 0 {
			t.Errorf("%+v", h)
		}
	}
}

func TestOwnClientsNameTheFailingPart(t *testing.T) {
	for _, s := range startRack(t, sim.Options{Servers: 2, IPMI: 1}).Servers() {
		switchOn(t, s, sim.FaultFailedPSU, sim.Strength{})
		report, err := client(t, s).Health(t.Context())
		if err != nil || report.Overall != node.HealthCritical || len(report.Parts) == 0 || !strings.Contains(report.Parts[0].Part, "2") {
			t.Errorf("%s: %v, %+v", s.Driver, err, report)
		}
	}
}

func TestOwnClientsLeaveNoSession(t *testing.T) {
	for _, s := range startRack(t, sim.Options{Servers: 2, IPMI: 1}).Servers() {
		t.Run(s.Driver, func(t *testing.T) {
			t.Cleanup(func() { // after the driver's own
				if c := s.Sessions(); c.Opened == 0 || c.Open != 0 || c.Leaked != 0 {
					t.Errorf("%+v", c)
				}
			})
			c := client(t, s)
			for range 3 {
				if _, err := c.Power(t.Context()); err != nil {
					t.Fatal(err)
				}
			}
		})
	}
}
