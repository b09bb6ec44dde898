package sim

import (
	"net"
	"slices"
	"strconv"
	"sync"
	"time"
)

// socket is an IPMI BMC's door. What is wrong with datagrams is wrong here.
type socket struct {
	s      *Server
	mu     sync.Mutex
	conn   *net.UDPConn // nil while the BMC refuses
	closed bool
}

// Kinds of RMCP+ payload.
const (
	payloadRAKP1 = 0x12
	payloadRAKP2 = 0x13
	payloadRAKP4 = 0x15
)

// payload is the kind of an RMCP+ packet; 0xff for others.
func payload(packet []byte) byte {
	if len(packet) < 16 || packet[4] != 0x06 {
		return 0xff
	}
	return packet[5] & 0x3f
}

// ReadFrom is the next datagram that the BMC takes note of.
func (d *socket) ReadFrom(buf []byte) (int, net.Addr, error) {
	for {
		conn, err := d.open()
		if err != nil {
			return 0, nil, err
		}
		n, from, err := conn.ReadFromUDP(buf)
		if err != nil {
			if d.shutAndNotClosed() {
				continue
			}
			return n, from, err
		}
		if !d.s.deaf(buf[:n]) {
			return n, from, nil
		}
		d.s.note("IPMI", "unanswered", "", "")
	}
}

// deaf tells whether a fault swallows a datagram.
func (s *Server) deaf(packet []byte) bool {
	switch {
	case s.strikes(FaultHang), s.strikes(FaultLoss):
		return true
	case payload(packet) == payloadRAKP1 && s.has(FaultNoRAKPAfterOn):
		return s.machine.within(true, s.delayOf(FaultNoRAKPAfterOn))
	}
	return isSuiteQuestion(packet) && s.strikes(FaultNoSuiteList)
}

// isSuiteQuestion recognises Get Channel Cipher Suites outside a session, in both formats of packets.
func isSuiteQuestion(packet []byte) bool {
	const (
		app   = 0x06 << 2
		suite = 0x54
	)
	for _, at := range []int{14, 16} { // where the message begins: 1.5 and 2.0
		if len(packet) > at+5 && packet[at+1] == app && packet[at+5] == suite {
			return true
		}
	}
	return false
}

// WriteTo sends an answer, late, changed, twice or not at all where the faults say so.
func (d *socket) WriteTo(data []byte, to net.Addr) (int, error) {
	s := d.s
	if !s.rack.enter() {
		return 0, net.ErrClosed
	}
	defer s.rack.leave()
	addr, ok := to.(*net.UDPAddr)
	if !ok || !s.stall(s.ctx) || s.strikes(FaultLoss) {
		return len(data), nil
	}
	wrong := (payload(data) == payloadRAKP2 && s.strikes(FaultWrongPassword)) || (payload(data) == payloadRAKP4 && s.strikes(FaultBadRAKP))
	if wrong {
		data = slices.Clone(data)
		data[len(data)-1] ^= 0xff
	}
	if !wrong && payload(data) == payloadRAKP4 && len(data) > 17 && data[17] == 0 {
		s.account.opened.Add(1)
		if s.account.bmc.Sessions.Count() > 1 {
			s.overlaps.Add(1)
		}
	}
	d.mu.Lock()
	conn := d.conn
	d.mu.Unlock()
	if conn == nil {
		return 0, net.ErrClosed
	}
	if s.strikes(FaultDuplicate) {
		_, _ = conn.WriteToUDP(data, addr) // the second one tells
	}
	return conn.WriteToUDP(data, addr)
}

// open is the socket to read from; it waits while the BMC refuses.
func (d *socket) open() (*net.UDPConn, error) {
	for {
		d.mu.Lock()
		conn, closed := d.conn, d.closed
		d.mu.Unlock()
		switch {
		case closed:
			return nil, net.ErrClosed
		case conn != nil:
			return conn, nil
		}
		d.s.opened(false)
		if !d.s.waitWhile(FaultRefuse) {
			return nil, net.ErrClosed
		}
		a, err := net.ResolveUDPAddr("udp", net.JoinHostPort(d.s.host, strconv.Itoa(d.s.Port)))
		if err != nil {
			return nil, err
		}
		again, err := net.ListenUDP("udp", a)
		if err != nil {
			if !pause(d.s.ctx, 10*time.Millisecond) { // somebody else has the port for the moment
				return nil, net.ErrClosed
			}
			continue
		}
		d.mu.Lock()
		if d.closed {
			_ = again.Close() // nothing was received on it
		} else {
			d.conn = again
		}
		d.mu.Unlock()
		d.s.opened(true)
	}
}

func (d *socket) shutAndNotClosed() bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.conn == nil && !d.closed
}

// shut stops listening until the fault is gone.
func (d *socket) shut() {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.conn != nil {
		_ = d.conn.Close() // what comes later is refused, whatever this says
		d.conn = nil
	}
}

// Close ends it.
func (d *socket) Close() error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.closed {
		return nil
	}
	d.closed = true
	if d.conn == nil {
		return nil
	}
	return d.conn.Close()
}
