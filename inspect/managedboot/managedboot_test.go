package managedboot_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"cagenut/inspect/managedboot"
	"cagenut/node"
)

func TestValidateNamesTheSettingThatIsMissing(t *testing.T) {
	whole := managedboot.Settings{RamdiskURL: "http://192.0.2.1:6385", Kernel: "k", Initrd: "i"}
	for _, c := range []struct {
		name   string
		change func(*managedboot.Settings)
		want   string // "" for valid
	}{
		{"everything is there", func(*managedboot.Settings) {}, ""},
		{"no ramdisk URL", func(s *managedboot.Settings) { s.RamdiskURL = "" }, "--ramdisk-url"},
		{"no kernel", func(s *managedboot.Settings) { s.Kernel = "" }, "--kernel-url"},
		{"no ramdisk", func(s *managedboot.Settings) { s.Initrd = "" }, "--initrd-url"},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := whole
			c.change(&s)
			err := managedboot.New(&server{}, noNames{}, s).Validate(node.Node{})
			if c.want == "" {
				if err != nil {
					t.Fatalf("got %v", err)
				}
				return
			}
			var invalid *node.Invalid
			if !errors.As(err, &invalid) || !strings.Contains(err.Error(), c.want) {
				t.Errorf("got %v, want *node.Invalid that names %s", err, c.want)
			}
		})
	}
}

// G42: a start does the same whatever the power is.
func TestStart(t *testing.T) {
	for _, c := range []struct {
		name   string
		server server
		node   node.Node
		want   []string
	}{
		{"of a server that is on", server{power: node.PowerOn}, node.Node{},
			[]string{"power off", "override removed", "override pxe", "power on"}},
		{"of a server that is on and slow", server{power: node.PowerOn, lag: 4}, node.Node{},
			[]string{"power off", "override removed", "override pxe", "power on"}},
		{"of a server that is off", server{power: node.PowerOff}, node.Node{},
			[]string{"override removed", "override pxe", "power on"}},
		{"clears what an earlier attempt left", server{power: node.PowerOff, boot: node.Boot{Device: node.BootCDROM, Persistent: true}}, node.Node{},
			[]string{"override removed", "override pxe", "power on"}},
		{"of a server whose power nobody knows", server{power: node.PowerError}, node.Node{},
			[]string{"power off", "override removed", "override pxe", "power on"}},
		{"never powers off what must stay on", server{power: node.PowerOn}, node.Node{DisablePowerOff: true},
			[]string{"override removed", "override pxe", "rebooting"}},
		{"powers on what must stay on and is off", server{power: node.PowerOff}, node.Node{DisablePowerOff: true},
			[]string{"override removed", "override pxe", "power on"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			b := managedboot.New(&c.server, noNames{}, managedboot.Settings{})
			var signs []node.SignKind
			p, err := run(t, func(step string) (node.Progress, error) {
				p, err := b.Start(t.Context(), c.node, node.Attempt{Step: step})
				signs = append(signs, p.Signs...)
				return p, err
			})
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff([]node.SignKind{node.SignPowerSent, node.SignPoweredOn}, signs); diff != "" {
				t.Errorf("signs of life (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(c.want, c.server.log); diff != "" {
				t.Errorf("commands (-want +got):\n%s", diff)
			}
			if p.Power != node.PowerOn || c.server.power != node.PowerOn {
				t.Errorf("ready with power %q, server is %q; want power on", p.Power, c.server.power)
			}
			if c.server.boot != (node.Boot{Device: node.BootPXE}) {
				t.Errorf("override is %+v, want PXE once", c.server.boot)
			}
		})
	}
}

// G41: nothing is switched on after a failure, and the BMC's words come through.
func TestAFailedPieceStopsTheStart(t *testing.T) {
	for _, failing := range []string{"read", "power off", "override removed", "override pxe", "power on"} {
		t.Run(failing, func(t *testing.T) {
			s := server{power: node.PowerOn, failing: map[string]error{failing: errBMC}}
			b := managedboot.New(&s, noNames{}, managedboot.Settings{})
			p, err := run(t, func(step string) (node.Progress, error) {
				return b.Start(t.Context(), node.Node{}, node.Attempt{Step: step})
			})
			if !errors.Is(err, errBMC) || !strings.Contains(err.Error(), "flash busy") {
				t.Fatalf("got %v, want the BMC's error", err)
			}
			if p.Ready || p.Step != "" {
				t.Errorf("a failed piece reached nothing, got %+v", p)
			}
			if failing != "power on" && strings.Contains(strings.Join(s.log, ","), "power on") {
				t.Errorf("switched on after a failure: %v", s.log)
			}
		})
	}
}

func TestARestartGoesOnFromTheStepAlone(t *testing.T) {
	for name, n := range map[string]node.Node{"": {}, " of a node that must stay on": {DisablePowerOff: true}} {
		t.Run("every piece may be repeated"+name, func(t *testing.T) {
			s := server{power: node.PowerOn}
			step := ""
			for {
				// The first call is the one whose step was lost in the crash; a new Boot stands for the new process.
				_, err := managedboot.New(&s, noNames{}, managedboot.Settings{}).Start(t.Context(), n, node.Attempt{Step: step})
				if err != nil {
					t.Fatal(err)
				}
				p, err := managedboot.New(&s, noNames{}, managedboot.Settings{}).Start(t.Context(), n, node.Attempt{Step: step})
				if err != nil {
					t.Fatal(err)
				}
				if p.Ready {
					break
				}
				step = p.Step
			}
			if s.power != node.PowerOn || s.boot.Device != node.BootPXE {
				t.Errorf("server is %q with override %+v, want on with PXE", s.power, s.boot)
			}
			if last := s.log[len(s.log)-1]; n.DisablePowerOff && last != "rebooting" || !n.DisablePowerOff && last != "power on" {
				t.Errorf("commands: %v", s.log)
			}
		})
	}
}

func TestTheFirstPieceTellsByWhichAddressesTheReportMayBeRecognised(t *testing.T) {
	for _, c := range []struct {
		name  string
		info  map[string]any
		want  []string
		notes int
	}{
		{"an address", map[string]any{"redfish_address": "https://192.0.2.1"}, []string{"192.0.2.1"}, 0},
		{"none, so that those of an earlier attempt go", map[string]any{}, []string{}, 0},
		{"a name that cannot be resolved fails nothing", map[string]any{"ipmi_address": "bmc.rack.example"}, []string{}, 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			b := managedboot.New(&server{power: node.PowerOff}, noNames{}, managedboot.Settings{})
			first, err := b.Start(t.Context(), node.Node{DriverInfo: c.info}, node.Attempt{})
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(c.want, first.LookupAddresses); diff != "" || len(first.Notes) != c.notes {
				t.Errorf("notes %v, addresses (-want +got):\n%s", first.Notes, diff)
			}
			second, err := b.Start(t.Context(), node.Node{DriverInfo: c.info}, node.Attempt{Step: first.Step})
			if err != nil || second.LookupAddresses != nil {
				t.Errorf("later pieces leave them alone: got %v, %v", second.LookupAddresses, err)
			}
		})
	}
}

func TestCleanUp(t *testing.T) {
	for _, c := range []struct {
		name    string
		server  server
		node    node.Node
		attempt node.Attempt
		want    []string
		power   node.PowerState
	}{
		{"powers off before it takes the override away (G35)", server{power: node.PowerOn}, node.Node{}, node.Attempt{},
			[]string{"power off", "override removed"}, node.PowerOff},
		{"waits for a slow server", server{power: node.PowerOn, lag: 5}, node.Node{}, node.Attempt{},
			[]string{"power off", "override removed"}, node.PowerOff},
		{"begins anew whatever step the start had reached", server{power: node.PowerOn}, node.Node{}, node.Attempt{Step: "waiting for power off"},
			[]string{"power off", "override removed"}, node.PowerOff},
		{"of a server that is off", server{power: node.PowerOff}, node.Node{}, node.Attempt{},
			[]string{"override removed"}, node.PowerOff},
		{"leaves the power on for debugging", server{power: node.PowerOn}, node.Node{}, node.Attempt{KeepPowerOn: true},
			[]string{"override removed"}, node.PowerOn},
		{"leaves alone what somebody has set to boot from", server{power: node.PowerOn}, node.Node{}, node.Attempt{KeepBoot: true},
			[]string{"power off"}, node.PowerOff},
		{"reboots what must stay on, out of the ramdisk", server{power: node.PowerOn}, node.Node{DisablePowerOff: true}, node.Attempt{},
			[]string{"override removed", "rebooting"}, node.PowerOn},
		{"does not wake what must stay on and is off", server{power: node.PowerOff}, node.Node{DisablePowerOff: true}, node.Attempt{},
			[]string{"override removed"}, node.PowerOff},
	} {
		t.Run(c.name, func(t *testing.T) {
			c.server.boot = node.Boot{Device: node.BootPXE}
			b := managedboot.New(&c.server, noNames{}, managedboot.Settings{})
			p, err := run(t, func(step string) (node.Progress, error) {
				if step != "" {
					c.attempt.Step = step
				}
				return b.CleanUp(t.Context(), c.node, c.attempt, always)
			})
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(c.want, c.server.log); diff != "" {
				t.Errorf("commands (-want +got):\n%s", diff)
			}
			if p.Power != c.power {
				t.Errorf("power: got %q, want %q", p.Power, c.power)
			}
			if kept := c.server.boot.Device != node.BootNone; kept != c.attempt.KeepBoot {
				t.Errorf("the override is %+v", c.server.boot)
			}
		})
	}
}

func TestCleanUpSaysWhenAServerDoesNotObeyAndKeepsAsking(t *testing.T) {
	s := server{power: node.PowerOn, stuck: true}
	b := managedboot.New(&s, noNames{}, managedboot.Settings{})
	var a node.Attempt
	tries := 0
	for range 30 {
		p, err := b.CleanUp(t.Context(), node.Node{}, a, always)
		if err == nil {
			a.Step = p.Step
			continue
		}
		if !strings.Contains(err.Error(), `still "power on"`) {
			t.Fatalf("got %v, want the power state", err)
		}
		if tries++; tries == 2 {
			break
		}
	}
	if diff := cmp.Diff([]string{"power off", "power off", "power off"}, s.log); diff != "" {
		t.Fatalf("commands (-want +got):\n%s", diff)
	}
	s.stuck = false
	p, err := b.CleanUp(t.Context(), node.Node{}, a, always)
	if err != nil || !p.Ready || p.Power != node.PowerOff {
		t.Errorf("once it obeys: got %+v, %v; want ready and off", p, err)
	}
}

// A newer attempt owns the server: not one further command may reach the BMC.
func TestCleanUpAsksBeforeEachCommandWhetherItIsStillWanted(t *testing.T) {
	errNewer := errors.New("a newer attempt exists")
	for _, c := range []struct {
		name    string
		allowed int
		node    node.Node
		want    []string
	}{
		{"before power off", 0, node.Node{}, nil},
		{"before the override is removed", 1, node.Node{}, []string{"power off"}},
		{"before a reboot", 1, node.Node{DisablePowerOff: true}, []string{"override removed"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := server{power: node.PowerOn}
			b := managedboot.New(&s, noNames{}, managedboot.Settings{})
			asked := 0
			still := func(context.Context) error {
				if asked++; asked > c.allowed {
					return errNewer
				}
				return nil
			}
			_, err := run(t, func(step string) (node.Progress, error) {
				return b.CleanUp(t.Context(), c.node, node.Attempt{Step: step}, still)
			})
			if !errors.Is(err, errNewer) {
				t.Errorf("got %v, want the error of still", err)
			}
			if diff := cmp.Diff(c.want, s.log); diff != "" {
				t.Errorf("commands (-want +got):\n%s", diff)
			}
		})
	}
}

// G36: two hundred dead BMCs must not hold up the clean-up of a healthy one.
func TestCleanUpLeavesABMCAloneThatKeepsFailingAfterItHasInsistedTwice(t *testing.T) {
	rests := &node.Unreachable{What: "BMC 192.0.2.7", Unasked: true, Err: errors.New("left alone for a while")}
	for tries := range 5 {
		s := server{power: node.PowerOn, rests: rests}
		b := managedboot.New(&s, noNames{}, managedboot.Settings{})
		_, err := b.CleanUp(t.Context(), node.Node{}, node.Attempt{CleanUpTries: tries}, always)
		if insists := tries < 2; insists != (len(s.log) == 1) || insists != (err == nil) || !insists && !errors.Is(err, rests) {
			t.Errorf("after %d tries: told %v, %v", tries, s.log, err)
		}
		s.rests = nil // the back-off is over, or somebody has had an answer
		if _, err := b.CleanUp(t.Context(), node.Node{}, node.Attempt{CleanUpTries: tries}, always); err != nil {
			t.Errorf("after %d tries, when it answers: %v", tries, err)
		}
	}
}
