package ipmi_test

import (
	"errors"
	"math/rand/v2"
	"net"
	"strconv"
	"sync"
	"testing"
	"time"

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
