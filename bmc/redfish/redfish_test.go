package redfish_test

import (
	"context"
	"errors"
	"net"
	"slices"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"cagenut/bmc"
	"cagenut/bmc/redfish"
	"cagenut/bmc/sim"
	"cagenut/node"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func quick() redfish.Options {
	return redfish.Options{
		Try: 300 * time.Millisecond, Operation: 5 * time.Second, Pause: time.Millisecond, BusyPause: time.Millisecond, Poll: time.Millisecond,
	}
}

func startServer(t *testing.T, o sim.Options) *sim.Server {
	t.Helper()
	o.Servers = 1
	r, err := sim.Start(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := r.Close(); err != nil {
			t.Error(err)
		}
	})
	return r.Servers()[0]
}

func newDriver(t *testing.T, o redfish.Options) *redfish.Driver {
	t.Helper()
	d := redfish.New(o)
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), time.Second)
		defer cancel()
		_ = d.Close(ctx) // BMCs that a test has broken take no logout
	})
	return d
}

func nodeOf(s *sim.Server) node.Node {
	return node.Node{UUID: node.NewUUID(), Driver: node.DriverRedfish, DriverInfo: s.DriverInfo()}
}

func open(t *testing.T, d *redfish.Driver, n node.Node) bmc.Client {
	t.Helper()
	c, err := d.Open(n)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func count(s *sim.Server, prefix string) int {
	n := 0
	for _, r := range s.Requests() {
		if strings.HasPrefix(r.String(), prefix) {
			n++
		}
	}
	return n
}

func TestPowerActionsReachTheirState(t *testing.T) {
	s := startServer(t, sim.Options{})
	c := open(t, newDriver(t, quick()), nodeOf(s))
	for _, step := range []struct {
		action node.PowerAction
		want   node.PowerState
		sent   string // the reset type; "" where none is needed
	}{
		{node.ActionOff, node.PowerOff, ""},
		{node.ActionReboot, node.PowerOn, "On"},
		{node.ActionOn, node.PowerOn, ""},
		{node.ActionReboot, node.PowerOn, "ForceRestart"},
		{node.ActionSoftReboot, node.PowerOn, "GracefulRestart"},
		{node.ActionSoftOff, node.PowerOff, "GracefulShutdown"},
		{node.ActionOn, node.PowerOn, "On"},
		{node.ActionOff, node.PowerOff, "ForceOff"},
	} {
		s.ForgetRequests()
		if err := c.SetPower(t.Context(), step.action); err != nil {
			t.Fatalf("%s: %v", step.action, err)
		}
		got, err := c.Power(t.Context())
		if err != nil || got != step.want || s.Power() != step.want {
			t.Errorf("after %s the BMC says %q (%v), the server is %q; want %q", step.action, got, err, s.Power(), step.want)
		}
		sent := ""
		for _, r := range s.Requests() {
			if r.Method == "POST" && strings.HasSuffix(r.Path, "ComputerSystem.Reset") {
				sent = r.Detail
			}
		}
		if sent != step.sent {
			t.Errorf("%s sent %q, want %q", step.action, sent, step.sent)
		}
	}
	if err := c.SetPower(t.Context(), "jump"); !errors.As(err, new(*node.Unsupported)) {
		t.Errorf("an unknown action gives %v, want *node.Unsupported", err)
	}
}

func TestBootOverrideIsSetReadAndRemoved(t *testing.T) {
	s := startServer(t, sim.Options{})
	c := open(t, newDriver(t, quick()), nodeOf(s))
	devices, err := c.SupportedBoot(t.Context())
	if err != nil || !slices.Equal(devices, []node.BootDevice{node.BootPXE, node.BootDisk, node.BootCDROM, node.BootBIOS}) {
		t.Fatalf("supported: %v, %v", devices, err)
	}
	for _, b := range []node.Boot{
		{Device: node.BootPXE}, {Device: node.BootPXE}, {Device: node.BootDisk, Persistent: true}, {Device: node.BootCDROM}, {Device: node.BootBIOS}, {}, {},
	} {
		if err := c.SetBoot(t.Context(), b); err != nil {
			t.Fatalf("%+v: %v", b, err)
		}
		if got, err := c.Boot(t.Context()); err != nil || got != b || s.Boot() != b {
			t.Errorf("after %+v the BMC says %+v (%v) and has %+v", b, got, err, s.Boot())
		}
	}
	var u *node.Unsupported
	if err := c.SetBoot(t.Context(), node.Boot{Device: node.BootSafe}); !errors.As(err, &u) || u.Driver != node.DriverRedfish {
		t.Errorf("safe gives %v, want *node.Unsupported of redfish", err)
	}
}

func TestOneSessionServesAllCallsAndEndsWithTheDriver(t *testing.T) {
	s := startServer(t, sim.Options{})
	d := redfish.New(quick())
	for range 20 {
		if _, err := open(t, d, nodeOf(s)).Power(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	if n := s.OpenSessions(); n != 1 {
		t.Errorf("%d sessions, want 1", n)
	}
	if err := d.Close(t.Context()); err != nil {
		t.Error(err)
	}
	if n := s.OpenSessions(); n != 0 {
		t.Errorf("%d sessions after Close, want none", n)
	}
}

func TestASessionThatTheBMCForgotIsRenewedWithinTheCall(t *testing.T) {
	s := startServer(t, sim.Options{})
	c := open(t, newDriver(t, quick()), nodeOf(s))
	for name, call := range map[string]func() error{
		"a read":  func() error { _, err := c.Power(t.Context()); return err },
		"a write": func() error { return c.SetPower(t.Context(), node.ActionReboot) },
		"a patch": func() error { return c.SetBoot(t.Context(), node.Boot{Device: node.BootPXE}) },
	} {
		if _, err := c.Power(t.Context()); err != nil {
			t.Fatal(err)
		}
		s.ExpireSessions()
		s.ForgetRequests()
		if err := call(); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if n := count(s, "POST /redfish/v1/SessionService/Sessions"); n != 1 {
			t.Errorf("%s: %d logins, want 1", name, n)
		}
	}
}

func TestWithoutAFreeSessionBasicAuthenticationServes(t *testing.T) { // quirk 38
	s := startServer(t, sim.Options{})
	var others []*redfish.Driver
	for range 8 {
		d := newDriver(t, quick())
		if _, err := open(t, d, nodeOf(s)).Power(t.Context()); err != nil {
			t.Fatal(err)
		}
		others = append(others, d)
	}
	if _, err := open(t, newDriver(t, quick()), nodeOf(s)).Power(t.Context()); err != nil {
		t.Errorf("the ninth, with %d sessions open: %v", len(others), err)
	}
}

func TestRefusedCredentialsNameTheAddressNeverThePassword(t *testing.T) { // G37
	s := startServer(t, sim.Options{})
	d := newDriver(t, quick())
	n := nodeOf(s)
	n.DriverInfo["redfish_password"] = "a-wrong-one"
	_, err := open(t, d, n).Power(t.Context())
	if !errors.Is(err, node.ErrCredentials) || !strings.Contains(err.Error(), s.Address) || strings.Contains(err.Error(), "a-wrong-one") {
		t.Errorf("%v", err)
	}
	if n := count(s, "POST"); n != 1 {
		t.Errorf("%d logins with a wrong password, want 1: BMCs lock accounts", n)
	}
	// A changed driver_info takes effect at once.
	if _, err := open(t, d, nodeOf(s)).Power(t.Context()); err != nil {
		t.Errorf("with the right one: %v", err)
	}
	if _, err := open(t, d, n).Power(t.Context()); !errors.Is(err, node.ErrCredentials) {
		t.Errorf("wrong again: %v", err)
	}
}

func TestAPasswordThatIsRefusedLaterIsARefusalOfCredentials(t *testing.T) {
	s := startServer(t, sim.Options{})
	c := open(t, newDriver(t, quick()), nodeOf(s))
	if _, err := c.Power(t.Context()); err != nil {
		t.Fatal(err)
	}
	s.SetFaults(sim.Faults{RefuseLogin: true})
	if _, err := c.Power(t.Context()); !errors.Is(err, node.ErrCredentials) {
		t.Errorf("%v", err)
	}
}

func TestAHungBMCIsATimeoutThatNamesTheAddress(t *testing.T) { // G05
	s := startServer(t, sim.Options{})
	s.SetFaults(sim.Faults{Hang: true})
	o := quick()
	o.Try, o.Reads = 50*time.Millisecond, 2
	c := open(t, newDriver(t, o), nodeOf(s))
	_, err := c.Power(t.Context())
	var u *node.Unreachable
	if !errors.As(err, &u) || !u.Timeout || u.Hint == "" || !strings.Contains(u.What, s.Address) {
		t.Errorf("%v", err)
	}
	s.SetFaults(sim.Faults{})
	if _, err := c.Power(t.Context()); err != nil {
		t.Errorf("after it came back: %v", err)
	}
}

func TestTheCallersContextEndsTheWaitAtOnce(t *testing.T) {
	s := startServer(t, sim.Options{})
	s.SetFaults(sim.Faults{Hang: true})
	c := open(t, newDriver(t, redfish.Options{}), nodeOf(s)) // the real time-outs
	ctx, cancel := context.WithCancel(t.Context())
	time.AfterFunc(50*time.Millisecond, cancel)
	start := time.Now()
	if _, err := c.Power(ctx); !errors.Is(err, context.Canceled) || time.Since(start) > time.Second {
		t.Errorf("cancelled: %v after %s", err, time.Since(start))
	}
	ctx, cancel = context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	var u *node.Unreachable
	if _, err := c.Power(ctx); !errors.As(err, &u) || !u.Timeout || time.Since(start) > 2*time.Second {
		t.Errorf("deadline: %v after %s", err, time.Since(start))
	}
}

func TestReadsAreRepeatedThroughAFewRefusals(t *testing.T) {
	s := startServer(t, sim.Options{})
	c := open(t, newDriver(t, quick()), nodeOf(s))
	if _, err := c.Power(t.Context()); err != nil {
		t.Fatal(err)
	}
	s.SetFaults(sim.Faults{Busy: 2})
	if _, err := c.Power(t.Context()); err != nil {
		t.Errorf("two 503s: %v", err)
	}
	s.SetFaults(sim.Faults{Busy: -1})
	var u *node.Unreachable
	if _, err := c.Power(t.Context()); !errors.As(err, &u) || u.Timeout || !strings.Contains(err.Error(), "503") {
		t.Errorf("nothing but 503s: %v", err)
	}
}

func TestAConflictIsSuccessWhenTheGoalIsReachedElseRepeated(t *testing.T) { // G34
	s := startServer(t, sim.Options{})
	c := open(t, newDriver(t, quick()), nodeOf(s))
	s.SetFaults(sim.Faults{ResetConflicts: 3})
	if err := c.SetPower(t.Context(), node.ActionOn); err != nil || s.Power() != node.PowerOn {
		t.Errorf("409 three times: %v, server is %s", err, s.Power())
	}
	s.SetFaults(sim.Faults{ResetConflicts: -1})
	if err := c.SetPower(t.Context(), node.ActionOff); err == nil || !strings.Contains(err.Error(), "not ready") {
		t.Errorf("409 for ever gives %v, want the BMC's own words", err)
	}
	patient := quick()
	patient.BusyTries = 1000
	c = open(t, newDriver(t, patient), nodeOf(s))
	done := make(chan error, 1)
	go func() { done <- c.SetPower(t.Context(), node.ActionOff) }()
	s.SetPower(node.PowerOff) // somebody presses the button while the BMC refuses
	if err := <-done; err != nil {
		t.Errorf("409 although off: %v", err)
	}
}

func TestABootOverrideThatIsRefusedOrIgnoredIsAnError(t *testing.T) {
	s := startServer(t, sim.Options{})
	c := open(t, newDriver(t, quick()), nodeOf(s))
	for name, f := range map[string]sim.Faults{"refused": {RefuseBoot: true}, "ignored": {IgnoreBoot: true}} {
		s.SetFaults(f)
		err := c.SetBoot(t.Context(), node.Boot{Device: node.BootPXE})
		if !errors.As(err, new(*node.Unreachable)) || s.Boot().Device != node.BootNone {
			t.Errorf("%s: %v, override %+v", name, err, s.Boot())
		}
	}
}

func TestAClosedPortFailsWithAHint(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	address := l.Addr().String()
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	n := node.Node{Driver: node.DriverRedfish, DriverInfo: map[string]any{"redfish_address": "http://" + address}}
	_, err = open(t, newDriver(t, quick()), n).Power(t.Context())
	var u *node.Unreachable
	if !errors.As(err, &u) || u.Timeout || !strings.Contains(u.Hint, "port") {
		t.Errorf("%v", err)
	}
}

func TestDriverInfoIsCheckedWithoutTheNetwork(t *testing.T) { // G38, G66
	d := newDriver(t, quick())
	const bare = "https://192.0.2.10"
	for spelling, want := range map[string]string{
		"192.0.2.10": bare, "192.0.2.10:443": bare, "https://192.0.2.10": bare, "https://192.0.2.10/": bare,
		"https://192.0.2.10/redfish/v1": bare, "HTTPS://192.0.2.10/redfish/v1/": bare, " 192.0.2.10/ ": bare,
		"192.0.2.10:8443": "https://192.0.2.10:8443", "http://192.0.2.10": "http://192.0.2.10", "http://192.0.2.10:80": "http://192.0.2.10",
		"BMC-1.Example": "https://bmc-1.example", "[2001:db8::1]": "https://[2001:db8::1]", "2001:db8::1": "https://[2001:db8::1]",
		"[2001:db8::1]:8443": "https://[2001:db8::1]:8443", "2001:DB8:0:0::1": "https://[2001:db8::1]", "[::ffff:192.0.2.10]": bare,
		"http://[fe80::1%25eth0]": "http://[fe80::1%25eth0]",
		"":                        "", "ftp://192.0.2.10": "", "https://user:secret@192.0.2.10": "", "https://192.0.2.10/other": "", "192.0.2.10:99999": "", "https://": "",
		"192.0.2.10?x=1": "",
	} {
		n := node.Node{UUID: "u", Driver: node.DriverRedfish, DriverInfo: map[string]any{"redfish_address": spelling, "redfish_password": 123456}}
		a, err := d.Address(n)
		switch {
		case want != "" && (err != nil || a.Queue != want || d.Validate(n) != nil):
			t.Errorf("%q: %+v, %v; want %s", spelling, a, err, want)
		case want == "" && !errors.As(err, new(*node.Invalid)):
			t.Errorf("%q: %+v, %v; want *node.Invalid", spelling, a, err)
		}
	}
	for key, bad := range map[string]any{
		"redfish_verify_ca": "/no/such/file", "redfish_system_id": "Systems", "redfish_password": []any{}, "redfish_username": map[string]any{},
	} {
		n := node.Node{Driver: node.DriverRedfish, DriverInfo: map[string]any{"redfish_address": "192.0.2.10", key: bad}}
		if err := d.Validate(n); !errors.As(err, new(*node.Invalid)) || !strings.Contains(err.Error(), key) {
			t.Errorf("%s %v: %v", key, bad, err)
		}
	}
}
