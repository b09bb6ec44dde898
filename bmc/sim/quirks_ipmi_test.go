package sim_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	goipmi "github.com/bougou/go-ipmi/pkg/client"
	ipmichassis "github.com/bougou/go-ipmi/pkg/command/chassis"
	"github.com/bougou/go-ipmi/pkg/types"

	"cagenut/bmc/sim"
	"cagenut/node"
)

func TestIPMIQuirks(t *testing.T) {
	for i, q := range ipmiQuirks {
		t.Run(string(q.fault), func(t *testing.T) {
			t.Parallel() // some wait for datagrams that do not come
			s := startIPMI(t, sim.Options{Password: "demo-password-of-20b", FirstAddress: fmt.Sprintf("127.77.20.%d", i+1)})
			if err := s.SwitchOn(q.fault, q.strength); err != nil {
				t.Fatal(err)
			}
			q.check(t, s)
			s.Heal()
			mustDial(t, s)
		})
	}
}

// logsIn tells with which suites a client gets in.
func logsIn(t *testing.T, s *sim.Server) (suite3, suite17 bool) {
	t.Helper()
	_, err3 := dial(t, s, s.User, string(s.Password), types.CipherSuiteID3)
	_, err17 := dial(t, s, s.User, string(s.Password), types.CipherSuiteID17)
	return err3 == nil, err17 == nil
}

func noLogin(t *testing.T, s *sim.Server) {
	t.Helper()
	if three, seventeen := logsIn(t, s); three || seventeen {
		t.Errorf("somebody got in: suite 3 %t, suite 17 %t", three, seventeen)
	}
}

func code(err error) types.CompletionCode {
	var re *types.ResponseError
	if errors.As(err, &re) {
		return re.CompletionCode()
	}
	return 0
}

func flags(t *testing.T, c *goipmi.Client) *types.BootOptionParam_BootFlags {
	t.Helper()
	f := &types.BootOptionParam_BootFlags{}
	if err := c.GetSystemBootOptionsParamFor(context.Background(), f); err != nil {
		t.Fatal(err)
	}
	return f
}

var ipmiQuirks = []quirk{
	{fault: sim.FaultSlow, strength: sim.Strength{Delay: 40 * time.Millisecond}, check: func(t *testing.T, s *sim.Server) {
		begin := time.Now()
		if mustDial(t, s); time.Since(begin) < 120*time.Millisecond { // three answers and more
			t.Errorf("a login took %s", time.Since(begin))
		}
	}},
	{fault: sim.FaultHang, check: noLogin}, // G39
	{fault: sim.FaultRefuse, check: func(t *testing.T, s *sim.Server) {
		if _, err := dial(t, s, s.User, string(s.Password), types.CipherSuiteID17); err == nil || !strings.Contains(err.Error(), "refused") {
			t.Errorf("%v", err)
		}
	}},
	{fault: sim.FaultBusy, strength: sim.Strength{Count: 2}, check: func(t *testing.T, s *sim.Server) {
		// The first command of a session sets its privilege level.
		_, first := dial(t, s, s.User, string(s.Password), types.CipherSuiteID17)
		_, second := dial(t, s, s.User, string(s.Password), types.CipherSuiteID17)
		if mustDial(t, s); !strings.Contains(first.Error(), "0xc0") || second == nil {
			t.Errorf("%v, %v", first, second)
		}
	}},
	{fault: sim.FaultWrongPassword, check: noLogin}, // G37
	{fault: sim.FaultStuckPower, check: func(t *testing.T, s *sim.Server) {
		if _, err := mustDial(t, s).ChassisControl(context.Background(), ipmichassis.ChassisControlPowerUp); err != nil || s.Power() != node.PowerOff {
			t.Errorf("%v, %s", err, s.Power())
		}
	}},
	{fault: sim.FaultSlowOff, strength: sim.Strength{Delay: 20 * time.Millisecond}, check: func(t *testing.T, s *sim.Server) {
		s.SetPower(node.PowerOn)
		begin := time.Now()
		if _, err := mustDial(t, s).ChassisControl(context.Background(), ipmichassis.ChassisControlPowerDown); err != nil {
			t.Fatal(err)
		}
		if waitPower(t, s, node.PowerOff); time.Since(begin) < 20*time.Millisecond {
			t.Errorf("off after %s", time.Since(begin))
		}
	}},
	{fault: sim.FaultPowerConflict, strength: sim.Strength{Count: 1}, check: func(t *testing.T, s *sim.Server) {
		c := mustDial(t, s)
		_, first := c.ChassisControl(context.Background(), ipmichassis.ChassisControlPowerUp)
		_, second := c.ChassisControl(context.Background(), ipmichassis.ChassisControlPowerUp)
		if code(first) != types.CodeNotSupported || second != nil {
			t.Errorf("%v, %v", first, second)
		}
	}},
	{fault: sim.FaultRefuseBoot, check: func(t *testing.T, s *sim.Server) {
		if err := pxe(t, s); code(err) != types.CodeRequestDataFieldInvalid {
			t.Errorf("%v", err)
		}
	}},
	{fault: sim.FaultIgnoreBoot, check: func(t *testing.T, s *sim.Server) {
		if err := pxe(t, s); err != nil || s.Boot() != (node.Boot{}) {
			t.Errorf("%v, %+v", err, s.Boot())
		}
	}},
	{fault: sim.FaultBootsDisk, check: func(t *testing.T, s *sim.Server) {
		err := pxe(t, s)
		if s.SetPower(node.PowerOn); err != nil || s.Phase() != sim.PhaseDisk {
			t.Errorf("%v, %s", err, s.Phase())
		}
	}},
	{fault: sim.FaultPOSTBusy, check: func(t *testing.T, s *sim.Server) {
		s.SetPower(node.PowerOn)
		if err := pxe(t, s); code(err) != types.CodeNotSupported {
			t.Errorf("%v", err)
		}
	}},
	{fault: sim.FaultFailedPSU, check: func(t *testing.T, s *sim.Server) {
		c := mustDial(t, s)
		list, err := c.GetSELEntries(context.Background(), 0)
		if err != nil || len(list) != 2 || list[1].Standard.SensorType != 0x08 || list[1].Standard.EventData.EventData1 != 1 {
			t.Errorf("%v, %v", err, list)
		}
		if one := sensorNamed(t, c, "PSU2 Status"); !one.Discrete.ActiveStates.State_1 || !one.Discrete.ActiveStates.State_0 {
			t.Errorf("%+v", one.Discrete)
		}
	}},
	{fault: sim.FaultHotInlet, check: func(t *testing.T, s *sim.Server) {
		if one := sensorNamed(t, mustDial(t, s), "Inlet Temp"); one.Value < one.Threshold.UNC || one.Status() == "ok" {
			t.Errorf("%v over %v: %s", one.Value, one.Threshold.UNC, one.Status())
		}
	}},
	{fault: sim.FaultChassisFan, check: func(t *testing.T, s *sim.Server) {
		s.SetPower(node.PowerOn)
		if st, err := mustDial(t, s).GetChassisStatus(context.Background()); err != nil || !st.CollingFanFault || !st.PowerIsOn {
			t.Errorf("%v, %+v", err, st)
		}
	}},
	{fault: sim.FaultClockUnset, check: func(t *testing.T, s *sim.Server) {
		list, err := mustDial(t, s).GetSELEntries(context.Background(), 0)
		if err != nil || list[0].Standard.Timestamp.Year() != 1970 {
			t.Errorf("%v, %v", err, list)
		}
	}},
	{fault: sim.FaultLoss, strength: sim.Strength{Percent: 100}, check: noLogin}, // G39
	{fault: sim.FaultDuplicate, check: func(t *testing.T, s *sim.Server) {
		noLogin(t, s) // this client takes the first datagram that comes for its answer
	}},
	{fault: sim.FaultBadRAKP, check: noLogin},
	{fault: sim.FaultNoRAKPAfterOn, strength: sim.Strength{Delay: time.Hour}, rows: []int{65}, check: func(t *testing.T, s *sim.Server) {
		mustDial(t, s)
		s.SetPower(node.PowerOn)
		noLogin(t, s)
	}},
	{fault: sim.FaultNoSuiteList, rows: []int{59}, check: func(t *testing.T, s *sim.Server) { // G39
		mustDial(t, s) // says which suite it wants, and does not ask
		asking, err := goipmi.NewClient(s.Address, s.Port, s.User, string(s.Password))
		if err != nil {
			t.Fatal(err)
		}
		asking.WithTimeout(50 * time.Millisecond).WithRetry(0)
		before := len(s.Requests())
		_ = asking.Connect(context.Background()) // may find a suite without the answer
		_ = asking.Close(context.Background())
		for _, r := range s.Requests()[before:] {
			if r.Path == "unanswered" {
				return
			}
		}
		t.Errorf("every question was answered: %v", s.Requests()[before:])
	}},
	{fault: sim.FaultSuite3Only, rows: []int{60}, check: func(t *testing.T, s *sim.Server) { // G39
		if three, seventeen := logsIn(t, s); !three || seventeen {
			t.Errorf("suite 3 %t, suite 17 %t", three, seventeen)
		}
	}},
	{fault: sim.FaultSuite17Only, check: func(t *testing.T, s *sim.Server) { // G39
		if three, seventeen := logsIn(t, s); three || !seventeen {
			t.Errorf("suite 3 %t, suite 17 %t", three, seventeen)
		}
	}},
	{fault: sim.FaultSuite17Broken, check: func(t *testing.T, s *sim.Server) {
		if three, seventeen := logsIn(t, s); !three || seventeen {
			t.Errorf("suite 3 %t, suite 17 %t", three, seventeen)
		}
		res, err := mustDial3(t, s).GetChannelCipherSuites(context.Background(), 0x0e, 0)
		if err != nil || !strings.Contains(string(res.CipherSuiteRecords), string([]byte{0xc0, 17})) {
			t.Errorf("%v, %+v", err, res)
		}
	}},
	{fault: sim.FaultPasswordCut, rows: []int{61}, check: func(t *testing.T, s *sim.Server) { // G38
		noLogin(t, s)
		if _, err := dial(t, s, s.User, string(s.Password)[:16], types.CipherSuiteID17); err != nil {
			t.Errorf("with the first 16 bytes: %v", err)
		}
	}},
	{fault: sim.FaultFlagsExpire, strength: sim.Strength{Delay: time.Millisecond}, rows: []int{62}, check: func(t *testing.T, s *sim.Server) {
		if err := pxe(t, s); err != nil {
			t.Fatal(err)
		}
		wait(t, s, "the flags are gone", func(s *sim.Server) bool { return s.Boot() == (node.Boot{}) })
		c := mustDial(t, s)
		if err := c.SetSystemBootOptionsParamFor(context.Background(), &types.BootOptionParam_BMCBootFlagValidBitClear{DontClearOnCommandReceivedTimeout: true}); err != nil {
			t.Fatal(err)
		}
		if err := c.SetBootDevice(context.Background(), types.BootDeviceSelectorForceHardDrive, types.BIOSBootTypeEFI, false); err != nil {
			t.Fatal(err)
		}
		time.Sleep(20 * time.Millisecond) // nothing tells that something does not happen
		if f := flags(t, c); !f.BootFlagsValid {
			t.Errorf("%+v", f)
		}
	}},
	{fault: sim.FaultStaleFlags, rows: []int{63}, check: func(t *testing.T, s *sim.Server) {
		if f := flags(t, mustDial(t, s)); f.BootFlagsValid || f.BootDeviceSelector != types.BootDeviceSelectorForcePXE {
			t.Errorf("%+v", f)
		}
	}},
	{fault: sim.FaultReservationLost, strength: sim.Strength{Count: 2}, rows: []int{64}, check: func(t *testing.T, s *sim.Server) {
		c := mustDial(t, s)
		if _, err := c.GetSELEntry(context.Background(), 0, 0); code(err) != types.CodeReservationCanceled {
			t.Errorf("log: %v", err)
		}
		if _, err := c.GetSensors(context.Background()); code(err) != types.CodeReservationCanceled {
			t.Errorf("sensors: %v", err)
		}
	}},
	{fault: sim.FaultShortReads, check: func(t *testing.T, s *sim.Server) {
		c := mustDial(t, s)
		if _, err := c.GetSDR(context.Background(), 2); code(err) != types.CodeCannotReturnRequestedDataBytes && err != nil {
			t.Errorf("%v", err)
		}
		wanted := false
		for _, r := range s.Requests() {
			wanted = wanted || (r.Path == types.CommandGetSDR.Name && r.Status == int(types.CodeCannotReturnRequestedDataBytes))
		}
		if !wanted {
			t.Errorf("%v", s.Requests())
		}
	}},
	{fault: sim.FaultDeadSensor, check: func(t *testing.T, s *sim.Server) {
		if _, err := mustDial(t, s).GetSensorReading(context.Background(), 1); code(err) != types.CodeRequestedDataNotPresent {
			t.Errorf("%v", err)
		}
	}},
	{fault: sim.FaultLANInProgress, rows: []int{68}, check: func(t *testing.T, s *sim.Server) {
		p := &types.LanConfigParam_SetInProgress{}
		if err := mustDial(t, s).GetLanConfigParamFor(context.Background(), 1, p); err != nil || p.Value != types.SetInProgress_SetInProgress {
			t.Errorf("%v, %v", err, p.Value)
		}
	}},
}

func mustDial3(t *testing.T, s *sim.Server) *goipmi.Client {
	t.Helper()
	c, err := dial(t, s, s.User, string(s.Password), types.CipherSuiteID3)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func pxe(t *testing.T, s *sim.Server) error {
	t.Helper()
	return mustDial(t, s).SetBootDevice(context.Background(), types.BootDeviceSelectorForcePXE, types.BIOSBootTypeEFI, false)
}

func sensorNamed(t *testing.T, c *goipmi.Client, name string) *types.Sensor {
	t.Helper()
	all, err := c.GetSensors(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	for _, one := range all {
		if one.Name == name {
			return one
		}
	}
	t.Fatalf("there is no sensor %q among %d", name, len(all))
	return nil
}
