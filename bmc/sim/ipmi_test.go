package sim_test

import (
	"context"
	"net"
	"testing"
	"time"

	goipmi "github.com/bougou/go-ipmi/pkg/client"
	ipmichassis "github.com/bougou/go-ipmi/pkg/command/chassis"
	"github.com/bougou/go-ipmi/pkg/types"

	"cagenut/bmc/sim"
	"cagenut/node"
)

func startIPMI(t *testing.T, o sim.Options) *sim.Server {
	t.Helper()
	o.Servers, o.IPMI = 1, 1
	s := startRack(t, o).Servers()[0]
	if s.Driver != node.DriverIPMI || net.ParseIP(s.Address) == nil || s.Port == 0 {
		t.Fatalf("%s at %s port %d", s.Driver, s.Address, s.Port)
	}
	return s
}

// dial logs in with one cipher suite; the session ends with the test.
func dial(t *testing.T, s *sim.Server, user, password string, suite types.CipherSuiteID) (*goipmi.Client, error) {
	t.Helper()
	c, err := goipmi.NewClient(s.Address, s.Port, user, password)
	if err != nil {
		t.Fatal(err)
	}
	c.WithTimeout(700 * time.Millisecond).WithRetry(0).WithCipherSuiteID(suite)
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	if err := c.Connect(ctx); err != nil {
		gone, cancel := context.WithCancel(context.Background())
		cancel()
		_ = c.Close(gone) // frees the socket without asking the BMC
		return nil, err
	}
	t.Cleanup(func() { _ = c.Close(context.Background()) }) // the BMC may be made dead by the test
	return c, nil
}

func mustDial(t *testing.T, s *sim.Server) *goipmi.Client {
	t.Helper()
	c, err := dial(t, s, s.User, string(s.Password), types.CipherSuiteID17)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func TestIPMITakesTheRightCredentialsAlone(t *testing.T) { // G37, G39
	s := startIPMI(t, sim.Options{})
	for _, c := range []struct {
		name, user, password string
		suite                types.CipherSuiteID
		ok                   bool
	}{
		{"suite 17", s.User, string(s.Password), types.CipherSuiteID17, true},
		{"suite 3", s.User, string(s.Password), types.CipherSuiteID3, true},
		{"a wrong password", s.User, "wrong", types.CipherSuiteID17, false},
		{"an unknown user", "nobody", string(s.Password), types.CipherSuiteID17, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			if _, err := dial(t, s, c.user, c.password, c.suite); (err == nil) != c.ok {
				t.Errorf("login: %v", err)
			}
		})
	}
}

func TestChassisControlSwitchesTheMachine(t *testing.T) {
	s := startIPMI(t, sim.Options{})
	c, ctx := mustDial(t, s), context.Background()
	for _, step := range []struct {
		name    string
		control ipmichassis.ChassisControl
		refused bool
		want    node.PowerState
	}{
		{"a cycle of what is off is refused", ipmichassis.ChassisControlPowerCycle, true, node.PowerOff},
		{"up", ipmichassis.ChassisControlPowerUp, false, node.PowerOn},
		{"up again", ipmichassis.ChassisControlPowerUp, false, node.PowerOn},
		{"cycle", ipmichassis.ChassisControlPowerCycle, false, node.PowerOn},
		{"reset", ipmichassis.ChassisControlHardReset, false, node.PowerOn},
		{"soft shutdown", ipmichassis.ChassisControlSoftShutdown, false, node.PowerOff},
		{"up once more", ipmichassis.ChassisControlPowerUp, false, node.PowerOn},
		{"down", ipmichassis.ChassisControlPowerDown, false, node.PowerOff},
	} {
		if _, err := c.ChassisControl(ctx, step.control); (err != nil) != step.refused {
			t.Fatalf("%s: %v", step.name, err)
		}
		st, err := c.GetChassisStatus(ctx)
		if err != nil {
			t.Fatalf("%s: %v", step.name, err)
		}
		if s.Power() != step.want || st.PowerIsOn != (step.want == node.PowerOn) {
			t.Errorf("%s: the machine is %s, IPMI shows on=%t, want %s", step.name, s.Power(), st.PowerIsOn, step.want)
		}
	}
}

func TestIPMIServerBootsOverTheNetworkOnceAndReports(t *testing.T) {
	a := newAppliance(t)
	s := startIPMI(t, sim.Options{BootURL: a.URL})
	c, ctx := mustDial(t, s), context.Background()
	if err := c.SetBootDevice(ctx, types.BootDeviceSelectorForcePXE, types.BIOSBootTypeEFI, false); err != nil {
		t.Fatal(err)
	}
	flags := &types.BootOptionParam_BootFlags{}
	if err := c.GetSystemBootOptionsParamFor(ctx, flags); err != nil {
		t.Fatal(err)
	}
	if !flags.BootFlagsValid || flags.Persist || flags.BootDeviceSelector != types.BootDeviceSelectorForcePXE || s.Boot() != (node.Boot{Device: node.BootPXE}) {
		t.Fatalf("flags %+v, override %+v", flags, s.Boot())
	}
	if _, err := c.ChassisControl(ctx, ipmichassis.ChassisControlPowerUp); err != nil {
		t.Fatal(err)
	}
	waitPhase(t, s, sim.PhaseDone)
	if got := a.received(); len(got) != 1 || string(got[0].body) != string(s.Report()) {
		t.Errorf("%d reports", len(got))
	}
	if err := c.GetSystemBootOptionsParamFor(ctx, flags); err != nil || flags.BootFlagsValid {
		t.Errorf("the boot did not use up the flags: %+v, %v", flags, err)
	}
	if _, err := c.ChassisControl(ctx, ipmichassis.ChassisControlHardReset); err != nil {
		t.Fatal(err)
	}
	waitPhase(t, s, sim.PhaseDisk)
}

func TestIPMIPersistentFlagsStay(t *testing.T) {
	a := newAppliance(t)
	s := startIPMI(t, sim.Options{BootURL: a.URL})
	c, ctx := mustDial(t, s), context.Background()
	if err := c.SetBootDevice(ctx, types.BootDeviceSelectorForcePXE, types.BIOSBootTypeLegacy, true); err != nil {
		t.Fatal(err)
	}
	for _, control := range []ipmichassis.ChassisControl{ipmichassis.ChassisControlPowerUp, ipmichassis.ChassisControlPowerDown, ipmichassis.ChassisControlPowerUp} {
		if _, err := c.ChassisControl(ctx, control); err != nil {
			t.Fatal(err)
		}
		if control == ipmichassis.ChassisControlPowerUp {
			waitPhase(t, s, sim.PhaseDone)
		}
	}
	if len(a.received()) != 2 || s.Boot() != (node.Boot{Device: node.BootPXE, Persistent: true}) {
		t.Errorf("%d reports, override %+v", len(a.received()), s.Boot())
	}
}

func TestIPMIFaults(t *testing.T) { // G36, G39
	t.Run("a BMC that hangs drops every datagram until it is healed", func(t *testing.T) {
		s := startIPMI(t, sim.Options{})
		s.SetFaults(sim.Faults{Hang: true})
		if _, err := dial(t, s, s.User, string(s.Password), types.CipherSuiteID17); err == nil {
			t.Error("it answered")
		}
		s.SetFaults(sim.Faults{})
		mustDial(t, s)
	})
	t.Run("refused credentials", func(t *testing.T) {
		s := startIPMI(t, sim.Options{})
		s.SetFaults(sim.Faults{RefuseLogin: true})
		if _, err := dial(t, s, s.User, string(s.Password), types.CipherSuiteID17); err == nil {
			t.Error("it took the password")
		}
		s.SetFaults(sim.Faults{})
		mustDial(t, s)
	})
	t.Run("power that is stuck", func(t *testing.T) {
		s := startIPMI(t, sim.Options{})
		s.SetFaults(sim.Faults{StuckPower: true})
		if _, err := mustDial(t, s).ChassisControl(context.Background(), ipmichassis.ChassisControlPowerUp); err != nil || s.Power() != node.PowerOff {
			t.Errorf("%v, %s", err, s.Power())
		}
	})
	t.Run("power commands that are refused a number of times", func(t *testing.T) {
		s := startIPMI(t, sim.Options{})
		c := mustDial(t, s)
		s.SetFaults(sim.Faults{ResetConflicts: 1})
		if _, err := c.ChassisControl(context.Background(), ipmichassis.ChassisControlPowerUp); err == nil || s.Power() != node.PowerOff {
			t.Errorf("the first: %v, %s", err, s.Power())
		}
		if _, err := c.ChassisControl(context.Background(), ipmichassis.ChassisControlPowerUp); err != nil || s.Power() != node.PowerOn {
			t.Errorf("the second: %v, %s", err, s.Power())
		}
	})
	t.Run("boot flags that are refused or forgotten", func(t *testing.T) {
		s := startIPMI(t, sim.Options{})
		c := mustDial(t, s)
		s.SetFaults(sim.Faults{RefuseBoot: true})
		if err := c.SetBootDevice(context.Background(), types.BootDeviceSelectorForcePXE, types.BIOSBootTypeEFI, false); err == nil || s.Boot().Device != node.BootNone {
			t.Errorf("refused: %v, %+v", err, s.Boot())
		}
		s.SetFaults(sim.Faults{IgnoreBoot: true})
		if err := c.SetBootDevice(context.Background(), types.BootDeviceSelectorForcePXE, types.BIOSBootTypeEFI, false); err != nil || s.Boot().Device != node.BootNone {
			t.Errorf("forgotten: %v, %+v", err, s.Boot())
		}
	})
	t.Run("a busy BMC", func(t *testing.T) {
		s := startIPMI(t, sim.Options{})
		c := mustDial(t, s)
		s.SetFaults(sim.Faults{Busy: 1})
		if _, err := c.GetChassisStatus(context.Background()); err == nil {
			t.Error("the first command was answered")
		}
		if _, err := c.GetChassisStatus(context.Background()); err != nil {
			t.Errorf("the second: %v", err)
		}
	})
}
