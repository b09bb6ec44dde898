package ipmi

import (
	"net"
	"sync/atomic"
	"time"
)

// socket is a client's door to its BMC. The library takes whatever comes first for the answer to a step of a login; of an
// answer that comes twice, or late after a repetition, the second would be taken for that to the next step, and no login would
// ever succeed. So answers to other steps than the last are dropped here.
type socket struct {
	net.Conn
	step     atomic.Uint32 // of the login that was sent last; 0 outside of it
	repeated atomic.Bool   // the message with the user was sent again
	inside   atomic.Bool   // something was sent after the login
	nonsense atomic.Bool   // a datagram came that is none of IPMI's
	deaf     atomic.Bool   // the caller has gone: nobody waits for answers any more
}

// Formats of datagrams, §13.6 and §13.27.3.
const (
	formatAt     = 4
	payloadAt    = 5
	formatRMCP   = 0x06 // RMCP+, which has a type of payload
	payloadBits  = 0x3f
	openRequest  = 0x10 // each answer is one more than its request
	rakpRequest1 = 0x12
	rakpRequest3 = 0x14
	rmcpVersion  = 0x06
	rmcpClass    = 0x1f
	rmcpIPMI     = 0x07
)

// Write sends a datagram.
func (s *socket) Write(b []byte) (int, error) {
	step := uint32(payload(b))
	if step != openRequest && step != rakpRequest1 && step != rakpRequest3 {
		step = 0
	}
	switch before := s.step.Swap(step); {
	case before == rakpRequest1 && step == rakpRequest1:
		s.repeated.Store(true)
	case before == rakpRequest3 && step == 0:
		s.inside.Store(true)
	}
	return s.Conn.Write(b)
}

// Read is the next datagram that may be an answer.
func (s *socket) Read(b []byte) (int, error) {
	for {
		n, err := s.Conn.Read(b)
		if s.deaf.Load() {
			return 0, net.ErrClosed
		}
		if err != nil {
			return n, err
		}
		if !ofIPMI(b[:n]) {
			s.nonsense.Store(true)
		}
		if step := s.step.Load(); step == 0 || uint32(payload(b[:n])) == step+1 {
			return n, nil
		}
	}
}

// interrupt ends the reading for good. What is written still goes out.
func (s *socket) interrupt() {
	s.deaf.Store(true)
	_ = s.Conn.SetReadDeadline(past) // it fails on a closed socket alone
}

var past = time.Unix(1, 0)

// SetReadDeadline keeps an interrupted socket from waiting again.
func (s *socket) SetReadDeadline(t time.Time) error {
	err := s.Conn.SetReadDeadline(t)
	if s.deaf.Load() {
		err = s.Conn.SetReadDeadline(past)
	}
	return err
}

// doubtful tells that a refusal need not mean a wrong password. A BMC that gets the message with the user twice draws a new number
// for the second one, and then finds the proof wrong that we made for its answer to the first.
func (s *socket) doubtful() bool { return s.repeated.Load() && s.step.Load() == rakpRequest3 }

// ofIPMI tells by the header of RMCP, §13.1.3.
func ofIPMI(b []byte) bool { return len(b) > 3 && b[0] == rmcpVersion && b[3]&rmcpClass == rmcpIPMI }

// payload is the type of an RMCP+ datagram's payload; 0 for other datagrams.
func payload(b []byte) byte {
	if len(b) <= payloadAt || b[formatAt] != formatRMCP {
		return 0
	}
	return b[payloadAt] & payloadBits
}
