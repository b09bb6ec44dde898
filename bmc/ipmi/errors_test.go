package ipmi_test

import (
	"errors"
	"maps"
	"net"
	"strings"
	"syscall"
	"testing"
	"time"

	"cagenut/bmc"
	"cagenut/bmc/ipmi"
	"cagenut/bmc/sim"
	"cagenut/node"
)

const secret = "never-seen-4711"

// bmcAt is the driver_info of a BMC at an address.
func bmcAt(host string, port int) func(*testing.T) map[string]any {
	return func(*testing.T) map[string]any {
		return map[string]any{"ipmi_address": host, "ipmi_port": port, "ipmi_username": "admin", "ipmi_password": secret}
	}
}

// datagrams is that of something which listens, and says the same to everything; "" is nothing.
func datagrams(says string) func(*testing.T) map[string]any {
	return func(t *testing.T) map[string]any {
		socket, err := net.ListenUDP("udp", &net.UDPAddr{IP: net.IPv4(127, 0, 0, 1)})
		if err != nil {
			t.Fatal(err)
		}
		done := make(chan struct{})
		go func() {
			defer close(done)
			for b := make([]byte, 2048); ; {
				_, from, err := socket.ReadFrom(b)
				if err != nil {
					return
				}
				if says != "" {
					_, _ = socket.WriteTo([]byte(says), from)
				}
			}
		}()
		t.Cleanup(func() { _ = socket.Close(); <-done })
		return bmcAt("127.0.0.1", socket.LocalAddr().(*net.UDPAddr).Port)(t)
	}
}

func closedPort(t *testing.T) map[string]any {
	socket, err := net.ListenUDP("udp", &net.UDPAddr{IP: net.IPv4(127, 0, 0, 1)})
	if err != nil {
		t.Fatal(err)
	}
	_ = socket.Close()
	return bmcAt("127.0.0.1", socket.LocalAddr().(*net.UDPAddr).Port)(t)
}

// simulated is that of a simulated BMC, which has a fault and another driver_info than it gives.
func simulated(f sim.Fault, change map[string]any) func(*testing.T) map[string]any {
	return func(t *testing.T) map[string]any {
		s := startServer(t, sim.Options{})
		if f != "" {
			if err := s.SwitchOn(f, sim.Strength{}); err != nil {
				t.Fatal(err)
			}
		}
		info := s.DriverInfo()
		maps.Copy(info, change)
		return info
	}
}

// noWay is the trouble with an address that is meant for books: many machines know no way there, others send into the void.
func noWay() node.Trouble {
	conn, err := net.DialTimeout("udp", "[2001:db8::1]:623", time.Second)
	if errors.Is(err, syscall.ENETUNREACH) || errors.Is(err, syscall.EHOSTUNREACH) {
		return node.TroubleRoute
	}
	if err == nil {
		_ = conn.Close()
	}
	return node.TroubleSilence
}

func unreachable(kind node.Trouble) error { return &node.Unreachable{Trouble: kind} }

// Issue 4, "what bad input gets", for IPMI.
func TestEachFaultHasAKindAndASentenceOfItsOwn(t *testing.T) { // G34, G37, G64
	switchOn := func(t *testing.T, c bmc.Client) error { return c.SetPower(t.Context(), node.ActionOn) }
	for _, f := range []struct {
		name string
		info func(t *testing.T) map[string]any
		do   func(t *testing.T, c bmc.Client) error // nil: the power is read
		want error                                  // the kind
		says string                                 // beside the address
	}{
		{"an address to which nothing leads", bmcAt("2001:db8::1", 623), nil, unreachable(noWay()), "check"},
		{"an address that is silent", datagrams(""), nil, unreachable(node.TroubleSilence), "check the BMC's address, its network cable"},
		{"a BMC that hangs", simulated(sim.FaultHang, nil), nil, unreachable(node.TroubleSilence), "network cable"},
		{"a name that does not resolve", bmcAt("bmc..example", 623), nil, unreachable(node.TroubleName), "cannot be resolved"},
		{"a port at which nothing listens", closedPort, nil, unreachable(node.TroubleRefused), "nothing listens there"},
		{"a service that is not IPMI", datagrams("HTTP/1.1 400 Bad Request\r\n"), nil, unreachable(node.TroubleForeign), "does not speak IPMI"},
		{"a password that is wrong", simulated("", map[string]any{"ipmi_password": secret}), nil, node.ErrCredentials, "wrong password"},
		{"a user that there is not", simulated("", map[string]any{"ipmi_username": "nobody"}), nil, node.ErrCredentials, "refused the credentials"},
		{"an operation that it does not have", simulated("", nil), func(t *testing.T, c bmc.Client) error {
			return c.SetBoot(t.Context(), node.Boot{Device: "floppy"})
		}, &node.Unsupported{}, "does not support"},
		{"busy until patience ends", simulated(sim.FaultBusy, nil), nil, unreachable(node.TroubleBusy), "stayed busy"},
		{"refused in the state that the server is in", simulated(sim.FaultPowerConflict, nil), switchOn, unreachable(node.TroubleBusy), "in the state that the server is in now"},
		{"a boot device refused while the server is in POST", func(t *testing.T) map[string]any { // G64
			s := startServer(t, sim.Options{})
			if err := s.SwitchOn(sim.FaultPOSTBusy, sim.Strength{Delay: time.Hour}); err != nil {
				t.Fatal(err)
			}
			return s.DriverInfo()
		}, func(t *testing.T, c bmc.Client) error {
			if err := switchOn(t, c); err != nil {
				t.Fatal(err)
			}
			return c.SetBoot(t.Context(), node.Boot{Device: node.BootPXE})
		}, unreachable(node.TroubleBusy), "in the state that the server is in now"},
	} {
		t.Run(f.name, func(t *testing.T) {
			n := node.Node{UUID: node.NewUUID(), Driver: node.DriverIPMI, DriverInfo: f.info(t)}
			do := f.do
			if do == nil {
				do = func(t *testing.T, c bmc.Client) error { _, err := c.Power(t.Context()); return err }
			}
			err := do(t, open(t, ipmi.New(quick()), n))
			var u, want *node.Unreachable
			switch {
			case err == nil:
				t.Fatal("no error")
			case errors.As(f.want, &want):
				if !errors.As(err, &u) || u.Trouble != want.Trouble || u.Timeout != (want.Trouble == node.TroubleSilence) {
					t.Errorf("%v: want trouble %q", err, want.Trouble)
				}
			case errors.Is(f.want, node.ErrCredentials) != errors.Is(err, node.ErrCredentials), errors.As(f.want, new(*node.Unsupported)) != errors.As(err, new(*node.Unsupported)):
				t.Errorf("%v: want %v", err, f.want)
			}
			said := err.Error()
			if address := n.DriverInfo["ipmi_address"].(string); !errors.As(err, new(*node.Unsupported)) && !strings.Contains(said, address) {
				t.Errorf("%s\ndoes not name %s", said, address)
			}
			if !strings.Contains(said, f.says) || strings.Contains(said, secret) || strings.ContainsAny(said, "\r\n") {
				t.Errorf("%q: want %q in one line, without the password", said, f.says)
			}
		})
	}
}

func TestAnAddressInAnySpellingIsTheSameBMC(t *testing.T) { // G66
	d := ipmi.New(ipmi.Options{})
	for queue, spellings := range map[string][]map[string]any{
		"bmc-1.example:623":  {{"ipmi_address": "bmc-1.example"}, {"ipmi_address": " BMC-1.Example\n"}, {"ipmi_address": "bmc-1.example:623"}, {"ipmi_address": "bmc-1.example", "ipmi_port": "623"}},
		"192.0.2.10:6230":    {{"ipmi_address": "192.0.2.10:6230"}, {"ipmi_address": "192.0.2.10", "ipmi_port": 6230}, {"ipmi_address": "::ffff:192.0.2.10", "ipmi_port": 6230}},
		"[2001:db8::1]:6230": {{"ipmi_address": "[2001:db8::1]:6230"}, {"ipmi_address": "[2001:DB8:0::1]", "ipmi_port": 6230}, {"ipmi_address": "2001:db8:0:0::1", "ipmi_port": 6230.0}},
	} {
		for _, info := range spellings {
			if a, err := d.Address(node.Node{Driver: node.DriverIPMI, DriverInfo: info}); err != nil || a.Queue != queue {
				t.Errorf("%v: %q, %v; want %q", info, a.Queue, err, queue)
			}
		}
	}
}
