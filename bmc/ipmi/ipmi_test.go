package ipmi_test

import (
	"context"
	"errors"
	"net"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/bougou/go-ipmi/pkg/types"
	"go.uber.org/goleak"

	"cagenut/bmc"
	"cagenut/bmc/ipmi"
	"cagenut/bmc/sim"
	"cagenut/node"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// quick are options with which a dead BMC is known to be dead in a blink.
func quick() ipmi.Options {
	return ipmi.Options{
		Ladder: []ipmi.Rung{{Timeout: 200 * time.Millisecond, Retries: 1}, {Timeout: 400 * time.Millisecond}}, Operation: 5 * time.Second,
		BusyPause: 10 * time.Millisecond, Poll: 10 * time.Millisecond,
	}
}

func startServer(t *testing.T, o sim.Options) *sim.Server {
	t.Helper()
	o.Servers, o.IPMI = 1, 1
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

func nodeOf(s *sim.Server) node.Node {
	return node.Node{UUID: node.NewUUID(), Driver: node.DriverIPMI, DriverInfo: s.DriverInfo()}
}

func open(t *testing.T, d *ipmi.Driver, n node.Node) bmc.Client {
	t.Helper()
	c, err := d.Open(n)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func TestPowerActionsReachTheirState(t *testing.T) {
	s := startServer(t, sim.Options{})
	c := open(t, ipmi.New(quick()), nodeOf(s))
	ctx := t.Context()
	for _, step := range []struct {
		action node.PowerAction
		want   node.PowerState
		sent   string // the last chassis control; "" where none is needed
	}{
		{node.ActionOff, node.PowerOff, ""},
		{node.ActionReboot, node.PowerOn, "Power Up"},
		{node.ActionOn, node.PowerOn, ""},
		{node.ActionReboot, node.PowerOn, "Hard Reset"},
		{node.ActionSoftReboot, node.PowerOn, "Power Up"},
		{node.ActionSoftOff, node.PowerOff, "Soft Shutdown"},
		{node.ActionOn, node.PowerOn, "Power Up"},
		{node.ActionOff, node.PowerOff, "Power Down"},
	} {
		s.ForgetRequests()
		if err := c.SetPower(ctx, step.action); err != nil {
			t.Fatalf("%s: %v", step.action, err)
		}
		got, err := c.Power(ctx)
		if err != nil || got != step.want || s.Power() != step.want {
			t.Errorf("after %s the BMC says %q (%v), the server is %q; want %q", step.action, got, err, s.Power(), step.want)
		}
		if sent := lastControl(s); sent != step.sent {
			t.Errorf("%s sent %q, want %q", step.action, sent, step.sent)
		}
	}
	if err := c.SetPower(ctx, "jump"); !errors.As(err, new(*node.Unsupported)) {
		t.Errorf("an unknown action gives %v, want *node.Unsupported", err)
	}
}

func lastControl(s *sim.Server) string {
	last := ""
	for _, r := range s.Requests() {
		if r.Path == "Chassis Control" && r.Detail != "" {
			last = r.Detail
		}
	}
	return last
}

func TestBootOverrideIsSetReadAndRemoved(t *testing.T) {
	s := startServer(t, sim.Options{})
	c := open(t, ipmi.New(quick()), nodeOf(s))
	devices, err := c.SupportedBoot(t.Context())
	if err != nil || len(devices) != 5 {
		t.Fatalf("supported: %v, %v", devices, err)
	}
	var wanted []node.Boot
	for _, d := range devices {
		wanted = append(wanted, node.Boot{Device: d}, node.Boot{Device: d, Persistent: true})
	}
	for _, b := range append(wanted, node.Boot{}, node.Boot{}) {
		if err := c.SetBoot(t.Context(), b); err != nil {
			t.Fatalf("%+v: %v", b, err)
		}
		if got, err := c.Boot(t.Context()); err != nil || got != b || s.Boot() != b {
			t.Errorf("after %+v the BMC says %+v (%v) and has %+v", b, got, err, s.Boot())
		}
	}
	if err := c.SetBoot(t.Context(), node.Boot{Device: "floppy"}); !errors.As(err, new(*node.Unsupported)) {
		t.Errorf("floppy gives %v, want *node.Unsupported", err)
	}
}

func TestTheSixtySecondTimerIsDisabledBeforeTheFlagsAreSet(t *testing.T) {
	s := startServer(t, sim.Options{})
	c := open(t, ipmi.New(quick()), nodeOf(s))
	if err := c.SetBoot(t.Context(), node.Boot{Device: node.BootPXE}); err != nil {
		t.Fatal(err)
	}
	commands := 0
	for _, r := range s.Requests() {
		if r.Detail == "device=pxe" {
			break
		}
		if strings.Contains(r.Path, "Set System Boot Options") {
			commands++
		}
	}
	if commands != 2 { // parameter 3, and parameter 5 whose handler logs the device
		t.Errorf("%d boot option commands up to the flags, want 2:\n%v", commands, s.Requests())
	}
}

func TestRefusedCredentialsNameTheAddressNeverThePassword(t *testing.T) { // G37
	s := startServer(t, sim.Options{})
	for name, change := range map[string]func(map[string]any){
		"wrong password": func(d map[string]any) { d["ipmi_password"] = "a-wrong-one" },
		"unknown user":   func(d map[string]any) { d["ipmi_username"] = "nobody" },
	} {
		t.Run(name, func(t *testing.T) {
			n := nodeOf(s)
			change(n.DriverInfo)
			s.ForgetRequests()
			_, err := open(t, ipmi.New(quick()), n).Power(t.Context())
			if !errors.Is(err, node.ErrCredentials) || !strings.Contains(err.Error(), s.Address) || strings.Contains(err.Error(), "a-wrong-one") {
				t.Errorf("%v", err)
			}
		})
	}
}

func TestADeadBMCIsUnreachableWithinTheLadder(t *testing.T) { // G05, G39
	s := startServer(t, sim.Options{})
	s.SetFaults(sim.Faults{Hang: true})
	d := ipmi.New(quick())
	start := time.Now()
	_, err := open(t, d, nodeOf(s)).Power(t.Context())
	var u *node.Unreachable
	if !errors.As(err, &u) || !u.Timeout || !strings.Contains(u.What, s.Address) {
		t.Fatalf("%v, want a timeout that names the address", err)
	}
	if took := time.Since(start); took > 2*time.Second {
		t.Errorf("took %s, the ladder is 0.8 s", took)
	}
	s.SetFaults(sim.Faults{})
	if _, err := open(t, d, nodeOf(s)).Power(t.Context()); err != nil {
		t.Errorf("after it came back: %v", err)
	}
}

func TestTheCallersContextEndsTheWaitAtOnce(t *testing.T) {
	s := startServer(t, sim.Options{})
	s.SetFaults(sim.Faults{Hang: true})
	c := open(t, ipmi.New(ipmi.Options{}), nodeOf(s)) // the real ladder, 24 s
	for name, make := range map[string]func(context.Context) (context.Context, context.CancelFunc){
		"deadline": func(ctx context.Context) (context.Context, context.CancelFunc) {
			return context.WithTimeout(ctx, 100*time.Millisecond)
		},
		"cancel": func(ctx context.Context) (context.Context, context.CancelFunc) {
			ctx, cancel := context.WithCancel(ctx)
			time.AfterFunc(100*time.Millisecond, cancel)
			return ctx, cancel
		},
	} {
		t.Run(name, func(t *testing.T) {
			ctx, cancel := make(t.Context())
			defer cancel()
			start := time.Now()
			_, err := c.Power(ctx)
			if took := time.Since(start); err == nil || took > time.Second {
				t.Errorf("%v after %s", err, took)
			}
			if name == "cancel" && !errors.Is(err, context.Canceled) {
				t.Errorf("%v, want context.Canceled in it", err)
			}
		})
	}
}

func TestAClosedPortFailsAtOnceWithAHint(t *testing.T) {
	socket, err := net.ListenUDP("udp", &net.UDPAddr{IP: net.IPv4(127, 0, 0, 1)})
	if err != nil {
		t.Fatal(err)
	}
	port := socket.LocalAddr().(*net.UDPAddr).Port
	if err := socket.Close(); err != nil {
		t.Fatal(err)
	}
	n := node.Node{Driver: node.DriverIPMI, DriverInfo: map[string]any{"ipmi_address": "127.0.0.1", "ipmi_port": port}}
	_, err = open(t, ipmi.New(ipmi.Options{}), n).Power(t.Context())
	var u *node.Unreachable
	if !errors.As(err, &u) || u.Timeout || !strings.Contains(u.Hint, "ipmi_port") {
		t.Errorf("%v", err)
	}
}

func TestABusyBMCIsAskedAgain(t *testing.T) {
	s := startServer(t, sim.Options{})
	c := open(t, ipmi.New(quick()), nodeOf(s))
	s.SetFaults(sim.Faults{Busy: 1})
	if _, err := c.Power(t.Context()); err != nil {
		t.Errorf("node busy once: %v", err)
	}
}

func TestAPowerCommandRefusedInBetweenStatesIsRepeated(t *testing.T) { // G34
	s := startServer(t, sim.Options{})
	c := open(t, ipmi.New(quick()), nodeOf(s))
	s.SetFaults(sim.Faults{ResetConflicts: 3})
	if err := c.SetPower(t.Context(), node.ActionOn); err != nil || s.Power() != node.PowerOn {
		t.Errorf("%v, server is %s", err, s.Power())
	}
	s.SetFaults(sim.Faults{ResetConflicts: -1})
	if err := c.SetPower(t.Context(), node.ActionOff); err == nil {
		t.Error("a BMC that never powers off gave no error")
	}
}

func TestARebootIsAPowerCycleWhereThereIsNoReset(t *testing.T) {
	b := (&standIn{answers: map[types.Command]answer{
		types.CommandGetChassisStatus: say(1, 0, 0),
		types.CommandChassisControl: func(q []byte) ([]byte, types.CompletionCode) {
			if q[0] == 3 {
				return nil, types.CodeRequestDataFieldInvalid
			}
			return nil, types.CodeOK
		},
	}}).start(t)
	if err := open(t, ipmi.New(quick()), b.node()).SetPower(t.Context(), node.ActionReboot); err != nil {
		t.Error(err)
	}
	if got := b.sent(types.CommandChassisControl); !slices.Equal(got, []string{"03", "02"}) {
		t.Errorf("sent %q, want a hard reset and then a power cycle", got)
	}
}

func TestThousandsOfCallsLeaveNothingOpen(t *testing.T) { // G65
	s := startServer(t, sim.Options{})
	d := ipmi.New(quick())
	for range 200 {
		if _, err := open(t, d, nodeOf(s)).Power(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	// goleak, at the end of all tests, sees what would be left: a keep-alive goroutine for each session.
}

func TestDriverInfoIsCheckedWithoutTheNetwork(t *testing.T) { // G38, G66
	d := ipmi.New(ipmi.Options{})
	for name, c := range map[string]struct {
		info map[string]any
		want string // part of the message; "" for a good one
	}{
		"nothing":                      {map[string]any{}, "ipmi_address"},
		"host alone":                   {map[string]any{"ipmi_address": "bmc-1.example"}, ""},
		"IPv6":                         {map[string]any{"ipmi_address": "2001:db8::1"}, ""},
		"IPv6 in brackets with a port": {map[string]any{"ipmi_address": "[2001:db8::1]:6230"}, ""},
		"URL":                          {map[string]any{"ipmi_address": "http://192.0.2.1/"}, "ipmi_address"},
		"port as text":                 {map[string]any{"ipmi_address": "192.0.2.1", "ipmi_port": "623"}, ""},
		"port out of range":            {map[string]any{"ipmi_address": "192.0.2.1", "ipmi_port": 70000}, "ipmi_port"},
		"numeric password":             {map[string]any{"ipmi_address": "192.0.2.1", "ipmi_password": 123456}, ""},
		"password of 20 bytes":         {map[string]any{"ipmi_address": "192.0.2.1", "ipmi_password": strings.Repeat("x", 20)}, ""},
		"password of 21 bytes":         {map[string]any{"ipmi_address": "192.0.2.1", "ipmi_password": strings.Repeat("x", 21)}, "21 bytes"},
		"user of 17 bytes":             {map[string]any{"ipmi_address": "192.0.2.1", "ipmi_username": strings.Repeat("u", 17)}, "17 bytes"},
		"password that is a list":      {map[string]any{"ipmi_address": "192.0.2.1", "ipmi_password": []any{}}, "ipmi_password"},
		"password of odd bytes":        {map[string]any{"ipmi_address": "192.0.2.1", "ipmi_password": "p@ss:/?#%$\"' "}, ""},
	} {
		err := d.Validate(node.Node{UUID: "u", Driver: node.DriverIPMI, DriverInfo: c.info})
		switch {
		case c.want == "" && err != nil:
			t.Errorf("%s: %v", name, err)
		case c.want != "" && (!errors.As(err, new(*node.Invalid)) || !strings.Contains(err.Error(), c.want)):
			t.Errorf("%s: %v, want *node.Invalid with %q", name, err, c.want)
		case err != nil && strings.Contains(err.Error(), "xxxx"):
			t.Errorf("%s: the password is in the message", name)
		}
	}
}
