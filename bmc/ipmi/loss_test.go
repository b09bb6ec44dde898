package ipmi_test

import (
	"errors"
	"math/rand/v2"
	"net"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/bougou/go-ipmi/pkg/types"

	"cagenut/bmc/ipmi"
	"cagenut/bmc/sim"
	"cagenut/node"
)

// wire is a bad network in front of a BMC: it loses some datagrams each way, and delays the answers.
type wire struct {
	loss  float64
	delay time.Duration
	saw   func(datagram []byte) // of what goes to the BMC, before it may get lost
}

// connect relays to the BMC of n, and is the node as seen through the wire. Loss follows a fixed seed.
func (w wire) connect(t *testing.T, n node.Node) node.Node {
	t.Helper()
	listen := func() *net.UDPConn {
		c, err := net.ListenUDP("udp", &net.UDPAddr{IP: net.IPv4(127, 0, 0, 1)})
		if err != nil {
			t.Fatal(err)
		}
		return c
	}
	host, _ := node.Text(n.DriverInfo["ipmi_address"])
	port, _ := node.Text(n.DriverInfo["ipmi_port"])
	far, err := net.ResolveUDPAddr("udp", net.JoinHostPort(host, port))
	if err != nil {
		t.Fatal(err)
	}
	front := listen()
	var mu sync.Mutex
	random := rand.New(rand.NewPCG(1, 2))
	lost := func() bool {
		mu.Lock()
		defer mu.Unlock()
		return random.Float64() < w.loss
	}
	var wg sync.WaitGroup
	backs := map[string]*net.UDPConn{} // by client, as the BMC tells clients apart by port
	answers := func(back *net.UDPConn, client *net.UDPAddr) {
		buf := make([]byte, 2048)
		for {
			k, err := back.Read(buf)
			if errors.Is(err, net.ErrClosed) {
				return
			}
			if err != nil || lost() {
				continue
			}
			answer := append([]byte(nil), buf[:k]...)
			wg.Go(func() {
				<-time.After(w.delay)
				_, _ = front.WriteToUDP(answer, client) // the client may be gone
			})
		}
	}
	wg.Go(func() {
		buf := make([]byte, 2048)
		for {
			k, client, err := front.ReadFromUDP(buf)
			if err != nil {
				break
			}
			back := backs[client.String()]
			if back == nil {
				if back, err = net.DialUDP("udp", nil, far); err != nil {
					t.Error(err)
					break
				}
				backs[client.String()] = back
				wg.Go(func() { answers(back, client) })
			}
			if w.saw != nil {
				w.saw(buf[:k])
			}
			if !lost() {
				_, _ = back.Write(buf[:k])
			}
		}
		for _, back := range backs {
			_ = back.Close()
		}
	})
	t.Cleanup(func() {
		_ = front.Close()
		wg.Wait()
	})
	address, frontPort, err := net.SplitHostPort(front.LocalAddr().String())
	if err != nil {
		t.Fatal(err)
	}
	number, err := strconv.Atoi(frontPort)
	if err != nil {
		t.Fatal(err)
	}
	n.DriverInfo["ipmi_address"], n.DriverInfo["ipmi_port"] = address, number
	return n
}

func TestLostDatagramsAreRepeated(t *testing.T) { // G39
	o := ipmi.Options{Ladder: []ipmi.Rung{{Timeout: 60 * time.Millisecond, Retries: 5}, {Timeout: 120 * time.Millisecond, Retries: 5}, {Timeout: 240 * time.Millisecond, Retries: 5}}}
	for name, loss := range map[string]float64{"one in ten": 0.1, "three in ten": 0.3} {
		t.Run(name, func(t *testing.T) {
			n := wire{loss: loss}.connect(t, nodeOf(startServer(t, sim.Options{})))
			c := open(t, ipmi.New(o), n)
			for range 5 {
				if _, err := c.Power(t.Context()); err != nil {
					t.Error(err)
				}
			}
		})
	}
}

func TestABMCSlowerThanTheFirstRungIsReachedByALaterOneWhichIsRemembered(t *testing.T) { // G39
	n := wire{delay: 80 * time.Millisecond}.connect(t, nodeOf(startServer(t, sim.Options{})))
	c := open(t, ipmi.New(ipmi.Options{Ladder: []ipmi.Rung{{Timeout: 30 * time.Millisecond}, {Timeout: time.Second}}}), n)
	if _, err := c.Power(t.Context()); err != nil {
		t.Fatal(err)
	}
	start := time.Now()
	if _, err := c.Power(t.Context()); err != nil {
		t.Errorf("the second time: %v", err)
	}
	if took := time.Since(start); took > 2*time.Second {
		t.Errorf("the second time took %s", took)
	}
}

func TestALateAnswerToALoginIsNoRefusal(t *testing.T) { // G39, G37
	late := func(t *testing.T, n node.Node) node.Node { return wire{delay: 80 * time.Millisecond}.connect(t, n) }
	impatient := ipmi.Rung{Timeout: 50 * time.Millisecond, Retries: 5} // repeats before any answer can be there
	patientRung := ipmi.Rung{Timeout: 5 * time.Second}
	t.Run("the next rung waits longer", func(t *testing.T) {
		n := late(t, nodeOf(startServer(t, sim.Options{})))
		if _, err := open(t, ipmi.New(ipmi.Options{Ladder: []ipmi.Rung{impatient, patientRung}}), n).Power(t.Context()); err != nil {
			t.Error(err)
		}
	})
	t.Run("so does OpenIPMI's", func(t *testing.T) {
		n := late(t, startSimulator(t).node())
		if _, err := open(t, ipmi.New(ipmi.Options{Ladder: []ipmi.Rung{impatient, patientRung}}), n).Power(t.Context()); err != nil {
			t.Error(err)
		}
	})
	t.Run("without one the BMC is slow, not its password wrong", func(t *testing.T) {
		n := late(t, nodeOf(startServer(t, sim.Options{})))
		_, err := open(t, ipmi.New(ipmi.Options{Ladder: []ipmi.Rung{impatient}}), n).Power(t.Context())
		var u *node.Unreachable
		if errors.Is(err, node.ErrCredentials) || !errors.As(err, &u) || !u.Timeout {
			t.Errorf("%v, want *node.Unreachable", err)
		}
	})
	t.Run("a wrong password is still one", func(t *testing.T) {
		n := late(t, nodeOf(startServer(t, sim.Options{})))
		n.DriverInfo["ipmi_password"] = "a-wrong-one"
		if _, err := open(t, ipmi.New(ipmi.Options{Ladder: []ipmi.Rung{impatient, patientRung}}), n).Power(t.Context()); !errors.Is(err, node.ErrCredentials) {
			t.Errorf("%v, want node.ErrCredentials", err)
		}
	})
}

func TestABMCThatIsSlowAtOneThingIsGivenTheTimeForIt(t *testing.T) {
	b := (&standIn{answers: map[types.Command]answer{types.CommandGetChassisStatus: func([]byte) ([]byte, types.CompletionCode) {
		<-time.After(300 * time.Millisecond)
		return []byte{1, 0, 0}, types.CodeOK
	}}}).start(t)
	d := ipmi.New(ipmi.Options{Ladder: []ipmi.Rung{{Timeout: 60 * time.Millisecond, Retries: 1}, {Timeout: 5 * time.Second}}})
	for range 2 {
		if p, err := open(t, d, b.node()).Power(t.Context()); err != nil || p != node.PowerOn {
			t.Errorf("%q, %v", p, err)
		}
	}
}

func TestPowerIsNotAskedForAgainWhereNothingWasSent(t *testing.T) { // G36: a dead BMC costs one ladder, whatever is wanted of it
	count := func(call func(node.Node)) int32 {
		socket, err := net.ListenUDP("udp", &net.UDPAddr{IP: net.IPv4(127, 0, 0, 1)}) // hears all, says nothing
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = socket.Close() }()
		var heard atomic.Int32
		n := node.Node{Driver: node.DriverIPMI, DriverInfo: map[string]any{"ipmi_address": "127.0.0.1", "ipmi_port": socket.LocalAddr().(*net.UDPAddr).Port}}
		call(wire{saw: func([]byte) { heard.Add(1) }}.connect(t, n))
		return heard.Load()
	}
	d := ipmi.New(quick())
	reading := count(func(n node.Node) {
		if _, err := open(t, d, n).Power(t.Context()); err == nil {
			t.Error("a silent BMC tells its power state")
		}
	})
	switching := count(func(n node.Node) {
		if err := open(t, d, n).SetPower(t.Context(), node.ActionOn); err == nil {
			t.Error("a silent BMC switches")
		}
	})
	if reading == 0 || switching != reading {
		t.Errorf("%d datagrams for reading the power state, %d for switching", reading, switching)
	}
}
