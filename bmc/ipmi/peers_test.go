package ipmi_test

import (
	"errors"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/bougou/go-ipmi/pkg/types"

	"cagenut/bmc/ipmi"
	"cagenut/node"
)

func TestOpenIPMIsSimulatorIsSwitchedAsIpmitoolConfirms(t *testing.T) {
	s := startSimulator(t)
	c := open(t, ipmi.New(patient()), s.node())
	for _, step := range []struct {
		action node.PowerAction
		want   node.PowerState
	}{
		{node.ActionOff, node.PowerOff}, {node.ActionOn, node.PowerOn}, {node.ActionOn, node.PowerOn}, {node.ActionReboot, node.PowerOn},
		{node.ActionSoftReboot, node.PowerOn}, {node.ActionSoftOff, node.PowerOff}, {node.ActionReboot, node.PowerOn}, {node.ActionOff, node.PowerOff},
	} {
		if err := c.SetPower(t.Context(), step.action); err != nil {
			t.Fatalf("%s: %v", step.action, err)
		}
		reaches(t, step.want, func() (node.PowerState, error) { return c.Power(t.Context()) })
		if said := ipmitool(t, s.node(), "3", "chassis", "power", "status"); !strings.Contains(said, "Chassis Power is "+strings.TrimPrefix(string(step.want), "power ")) {
			t.Errorf("after %s ipmitool says %q, want %s", step.action, said, step.want)
		}
	}
	if sets := strings.Count(s.get("log"), "set reset"); sets != 1 {
		t.Errorf("%d resets, want the one of the machine that was on:\n%s", sets, s.get("log"))
	}
	ipmitool(t, s.node(), "3", "chassis", "power", "on")
	reaches(t, node.PowerOn, func() (node.PowerState, error) { return c.Power(t.Context()) })
}

// reaches waits for a power state: machines take a moment.
func reaches(t *testing.T, want node.PowerState, read func() (node.PowerState, error)) {
	t.Helper()
	var got node.PowerState
	var err error
	for deadline := time.Now().Add(20 * time.Second); time.Now().Before(deadline); <-time.After(50 * time.Millisecond) {
		if got, err = read(); err == nil && got == want {
			return
		}
	}
	t.Fatalf("the machine is %q (%v), want %q", got, err, want)
}

func TestOpenIPMIsSimulatorTakesTheBootDeviceAsIpmitoolConfirms(t *testing.T) {
	s := startSimulator(t)
	c := open(t, ipmi.New(patient()), s.node())
	for device, says := range map[node.BootDevice]string{
		node.BootPXE: "Force PXE", node.BootDisk: "Force Boot from default Hard-Drive", node.BootCDROM: "Force Boot from CD/DVD",
		node.BootBIOS: "Force Boot into BIOS Setup", node.BootNone: "No override",
	} {
		if err := c.SetBoot(t.Context(), node.Boot{Device: device}); err != nil {
			t.Errorf("%q: %v", device, err)
		}
		if said := ipmitool(t, s.node(), "3", "chassis", "bootparam", "get", "5"); !strings.Contains(said, says) {
			t.Errorf("after %q ipmitool says\n%s\nwant %q", device, said, says)
		}
	}
	var u *node.Unsupported
	if err := c.SetBoot(t.Context(), node.Boot{Device: node.BootSafe}); err == nil || errors.As(err, &u) && u.Driver != node.DriverIPMI {
		t.Errorf("a device that the simulator refuses gives %v", err)
	}
}

func TestBootFlagsAreWhatIpmitoolReads(t *testing.T) {
	for name, c := range map[string]struct {
		boot node.Boot
		mode string
		says []string
	}{
		"once by UEFI":        {node.Boot{Device: node.BootPXE}, "", []string{"Boot Flag Valid", "only next boot", "BIOS EFI boot", "Force PXE"}},
		"for ever by UEFI":    {node.Boot{Device: node.BootDisk, Persistent: true}, "uefi", []string{"Boot Flag Valid", "all future boots", "BIOS EFI boot", "Force Boot from default Hard-Drive"}},
		"once by legacy BIOS": {node.Boot{Device: node.BootCDROM}, "bios", []string{"only next boot", "BIOS PC Compatible (legacy) boot", "CD/DVD"}},
		"for ever by legacy":  {node.Boot{Device: node.BootSafe, Persistent: true}, "bios", []string{"all future boots", "legacy", "Safe-Mode"}},
	} {
		for suite, only := range map[string]types.CipherSuiteID{"3": types.CipherSuiteID3, "17": types.CipherSuiteID17} {
			t.Run(name+" with suite "+suite, func(t *testing.T) {
				b := (&standIn{suites: []types.CipherSuiteID{only}}).start(t)
				n := b.node()
				n.BootMode = c.mode
				if err := open(t, ipmi.New(quick()), n).SetBoot(t.Context(), c.boot); err != nil {
					t.Fatal(err)
				}
				said := ipmitool(t, n, suite, "chassis", "bootparam", "get", "5")
				for _, want := range c.says {
					if !strings.Contains(said, want) {
						t.Errorf("ipmitool says\n%s\nwant %q", said, want)
					}
				}
				if got, err := open(t, ipmi.New(quick()), n).Boot(t.Context()); err != nil || got != c.boot {
					t.Errorf("read back %+v, %v", got, err)
				}
			})
		}
	}
}

func TestBootFlagsOfIpmitoolAreReadBack(t *testing.T) {
	b := (&standIn{}).start(t)
	c := open(t, ipmi.New(quick()), b.node())
	ipmitool(t, b.node(), "17", "chassis", "bootdev", "pxe", "options=persistent,efiboot")
	if got, err := c.Boot(t.Context()); err != nil || got != (node.Boot{Device: node.BootPXE, Persistent: true}) {
		t.Errorf("%+v, %v", got, err)
	}
	ipmitool(t, b.node(), "17", "chassis", "bootdev", "none")
	if got, err := c.Boot(t.Context()); err != nil || got != (node.Boot{}) {
		t.Errorf("after none: %+v, %v", got, err)
	}
}

func TestOpenIPMIsSimulatorRefusesAWrongPassword(t *testing.T) { // G37, G38
	s := startSimulator(t)
	for name, change := range map[string]func(map[string]any){
		"wrong password": func(d map[string]any) { d["ipmi_password"] = "a-wrong-one" },
		"no password":    func(d map[string]any) { delete(d, "ipmi_password") },
		"unknown user":   func(d map[string]any) { d["ipmi_username"] = "nobody" },
	} {
		n := s.node()
		change(n.DriverInfo)
		_, err := open(t, ipmi.New(patient()), n).Power(t.Context())
		if !errors.Is(err, node.ErrCredentials) || !strings.Contains(err.Error(), "127.0.0.1") || strings.Contains(err.Error(), "a-wrong-one") {
			t.Errorf("%s: %v", name, err)
		}
	}
	oper := s.node()
	oper.DriverInfo["ipmi_username"], oper.DriverInfo["ipmi_password"] = "oper", "oper-pw"
	if err := open(t, ipmi.New(patient()), oper).SetPower(t.Context(), node.ActionOn); err != nil || s.get("power") != "1" {
		t.Errorf("an operator may switch, no administrator is needed: %v, power %s", err, s.get("power"))
	}
}

func TestOpenIPMIsSimulatorIsReachedThroughABadNetwork(t *testing.T) { // G39
	s := startSimulator(t)
	o := patient()
	o.Ladder = []ipmi.Rung{{Timeout: 150 * time.Millisecond, Retries: 5}, {Timeout: 300 * time.Millisecond, Retries: 5}, {Timeout: 600 * time.Millisecond, Retries: 5}}
	c := open(t, ipmi.New(o), wire{loss: 0.1}.connect(t, s.node()))
	for range 5 {
		if p, err := c.Power(t.Context()); err != nil || p != node.PowerOff {
			t.Errorf("%q, %v", p, err)
		}
	}
	if err := c.SetBoot(t.Context(), node.Boot{Device: node.BootPXE}); err != nil || s.get("boot") != "pxe" {
		t.Errorf("boot device: %v, %q", err, s.get("boot"))
	}
}

func TestOpenIPMIsSimulatorIsWaitedForWhenItIsSlow(t *testing.T) { // G39
	s := startSimulator(t)
	s.set(t, "power", "1")
	s.set(t, "delay", "0.4") // before every answer that its machine gives; logging in stays quick
	o := patient()
	o.Ladder = []ipmi.Rung{{Timeout: 100 * time.Millisecond, Retries: 1}, {Timeout: 10 * time.Second}}
	if p, err := open(t, ipmi.New(o), s.node()).Power(t.Context()); err != nil || p != node.PowerOn {
		t.Errorf("%q, %v", p, err)
	}
}

func TestOpenIPMIsSimulatorThatRefusesToSwitchIsNotBelieved(t *testing.T) { // G34
	s := startSimulator(t)
	s.set(t, "refuse", "power boot")
	c := open(t, ipmi.New(patient()), s.node())
	if err := c.SetPower(t.Context(), node.ActionOff); err != nil {
		t.Errorf("off, which it is: %v", err)
	}
	if err := c.SetPower(t.Context(), node.ActionOn); err == nil || errors.Is(err, node.ErrCredentials) || s.get("power") != "0" {
		t.Errorf("on: %v, power %s", err, s.get("power"))
	}
	if err := c.SetBoot(t.Context(), node.Boot{Device: node.BootPXE}); err == nil {
		t.Error("a boot device was set that the simulator refused")
	}
}

func TestASimulatorThatHasGoneIsUnreachable(t *testing.T) { // G36
	s := startSimulator(t)
	d := ipmi.New(patient())
	c, p := able(t, d, s.node()), open(t, d, s.node())
	if _, err := p.Power(t.Context()); err != nil {
		t.Fatal(err)
	}
	s.stop(t)
	for name, call := range map[string]func() error{
		"power":   func() error { _, err := p.Power(t.Context()); return err },
		"sensors": func() error { _, err := c.Sensors(t.Context()); return err },
		"log":     func() error { _, err := c.Events(t.Context(), 0); return err },
		"NMI":     func() error { return c.InjectNMI(t.Context()) },
	} {
		start := time.Now()
		err := call()
		var u *node.Unreachable
		if !errors.As(err, &u) || !strings.Contains(u.Hint, "ipmi_port") {
			t.Errorf("%s: %v, want *node.Unreachable with a hint", name, err)
		}
		if took := time.Since(start); took > 5*time.Second {
			t.Errorf("%s took %s to know that nobody listens", name, took)
		}
	}
}

func TestOpenIPMIsSimulatorShowsItsSensorsAsIpmitoolDoes(t *testing.T) {
	s := startSimulator(t)
	got, err := able(t, ipmi.New(patient()), s.node()).Sensors(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	n := func(v float64) *float64 { return &v }
	same(t, got, []node.Sensor{
		{Name: "CPU Temp", Kind: node.SensorTemperature, Unit: "Cel", Reading: n(42), Health: node.HealthOK, LowerCritical: n(3), LowerWarning: n(5), UpperWarning: n(85), UpperCritical: n(95)},
		{Name: "Fan 1", Kind: node.SensorFan, Unit: "RPM", Reading: n(4500), Health: node.HealthOK, LowerCritical: n(500), LowerWarning: n(1000)},
		{Name: "12V", Kind: node.SensorVoltage, Unit: "V", Reading: n(12.1), Health: node.HealthOK},
		{Name: "PSU1 Status", Kind: node.SensorOther, State: "Presence detected", Health: node.HealthOK},
	})
	said := ipmitool(t, s.node(), "3", "sensor")
	for _, line := range []string{
		`CPU Temp +\| 42\.000 .*\| ok +\| 1\.000 +\| 3\.000 +\| 5\.000 +\| 85\.000 +\| 95\.000 +\| 105\.000`,
		`Fan 1 +\| 4500\.000 .*\| ok +\| 300\.000 +\| 500\.000 +\| 1000\.000`, `12V +\| 12\.100 .*\| ok +\| na +\| na`,
	} {
		if !regexp.MustCompile(line).MatchString(said) {
			t.Errorf("ipmitool says\n%s\nwant %s", said, line)
		}
	}
}

func TestOpenIPMIsSimulatorTellsItsLogAndClearsIt(t *testing.T) {
	s := startSimulator(t)
	c := able(t, ipmi.New(patient()), s.node())
	want := []node.LogEntry{ // the simulator's clock was never set
		{ID: "2", Severity: node.HealthCritical, Message: "Power Supply input lost (AC/DC)", Sensor: "PSU1 Status"},
		{ID: "1", Severity: node.HealthCritical, Message: "Upper Critical - going high: reading 96 °C, threshold 95 °C", Sensor: "CPU Temp"},
	}
	for limit, want := range map[int][]node.LogEntry{0: want, 1: want[:1], 7: want} {
		if got, err := c.Events(t.Context(), limit); err != nil || !slices.Equal(got, want) {
			t.Errorf("limit %d: %+v, %v", limit, got, err)
		}
	}
	if said := ipmitool(t, s.node(), "3", "sel", "elist"); !strings.Contains(said, "CPU Temp | Upper Critical going high") || !strings.Contains(said, "Reading 96 > Threshold 95") {
		t.Errorf("ipmitool says\n%s", said)
	}
	if err := c.ClearLog(t.Context()); err != nil {
		t.Error(err)
	}
	if got, err := c.Events(t.Context(), 0); err != nil || len(got) != 0 {
		t.Errorf("after clearing: %+v, %v", got, err)
	}
	if said := ipmitool(t, s.node(), "3", "sel", "info"); !regexp.MustCompile(`Entries +: 0`).MatchString(said) {
		t.Errorf("ipmitool says\n%s", said)
	}
	if err := c.ClearLog(t.Context()); err != nil {
		t.Errorf("clearing an empty log: %v", err)
	}
}

func TestOpenIPMIsSimulatorTellsWhoItIs(t *testing.T) {
	s := startSimulator(t)
	c := able(t, ipmi.New(patient()), s.node())
	const uuid = "6a1f0e52-3c4d-4b7e-9f10-2233445566aa"
	identity, err := c.Identity(t.Context())
	if want := (node.BMCIdentity{Manufacturer: "Contoso", Model: "SimServer 1U", Firmware: "9.08", Serial: "PSN123456", Protocol: "IPMI 2.0"}); err != nil || identity != want {
		t.Errorf("identity %+v, %v; want %+v", identity, err, want)
	}
	hardware, err := c.Hardware(t.Context())
	if want := (node.SystemIdentity{Manufacturer: "Contoso", Model: "SimServer 1U", SKU: "PPN-7", Serial: "PSN123456", AssetTag: "asset-01", UUID: uuid}); err != nil || hardware.System != want {
		t.Errorf("hardware %+v, %v; want %+v", hardware.System, err, want)
	}
	if said := ipmitool(t, s.node(), "3", "mc", "guid", "smbios"); !strings.Contains(said, uuid) {
		t.Errorf("ipmitool says\n%s\nwant %s", said, uuid)
	}
	firmware, err := c.Firmware(t.Context())
	if want := []node.Firmware{{Component: "BMC", ID: "bmc", Version: "9.08"}}; err != nil || !slices.Equal(firmware, want) {
		t.Errorf("firmware %+v, %v", firmware, err)
	}
	if h, err := c.Health(t.Context()); err != nil || h.Overall != node.HealthOK || len(h.Parts) != 0 {
		t.Errorf("health %+v, %v", h, err)
	}
}

func TestOpenIPMIsSimulatorIdentifiesItsChassisAndHasNoNMI(t *testing.T) {
	s := startSimulator(t)
	c := able(t, ipmi.New(patient()), s.node())
	for to, want := range map[node.Indicator]string{node.IndicatorOn: "0 1", node.IndicatorOff: "0 0"} {
		if err := c.SetIndicator(t.Context(), to); err != nil || s.get("identify") != want {
			t.Errorf("%s: %v, identify %q, want %q", to, err, s.get("identify"), want)
		}
	}
	if got, err := c.Indicator(t.Context()); err != nil || got != node.IndicatorUnknown {
		t.Errorf("the simulator does not tell its indicator, but it is %q, %v", got, err)
	}
	if err := c.InjectNMI(t.Context()); !errors.As(err, new(*node.Unsupported)) {
		t.Errorf("NMI: %v, want *node.Unsupported", err)
	}
}
