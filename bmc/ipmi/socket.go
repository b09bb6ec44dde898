package ipmi

import (
	"net"
	"sync"
	"sync/atomic"
)

// socket is a client's door to its BMC. The library takes whatever comes first for the answer to a step of a login; of an
// answer that comes twice, or late after a repetition, the second would be taken for that to the next step, and no login would
// ever succeed. So answers to other steps than the last are dropped here.
type socket struct {
	net.Conn
	step     atomic.Uint32 // of the login that was sent last; 0 outside of it
	repeated atomic.Bool   // the message with the user was sent again

	once sync.Once
	err  error
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
)

// Write sends a datagram.
func (s *socket) Write(b []byte) (int, error) {
	step := uint32(payload(b))
	if step != openRequest && step != rakpRequest1 && step != rakpRequest3 {
		step = 0
	}
	if s.step.Swap(step) == rakpRequest1 && step == rakpRequest1 {
		s.repeated.Store(true)
	}
	return s.Conn.Write(b)
}

// Read is the next datagram that may be an answer.
func (s *socket) Read(b []byte) (int, error) {
	for {
		n, err := s.Conn.Read(b)
		if err != nil {
			return n, err
		}
		if step := s.step.Load(); step == 0 || uint32(payload(b[:n])) == step+1 {
			return n, nil
		}
	}
}

// doubtful tells that a refusal need not mean a wrong password. A BMC that gets the message with the user twice draws a new number
// for the second one, and then finds the proof wrong that we made for its answer to the first.
func (s *socket) doubtful() bool { return s.repeated.Load() && s.step.Load() == rakpRequest3 }

// payload is the type of an RMCP+ datagram's payload; 0 for other datagrams.
func payload(b []byte) byte {
	if len(b) <= payloadAt || b[formatAt] != formatRMCP {
		return 0
	}
	return b[payloadAt] & payloadBits
}

// Close closes the socket the first time: both the context and the library do.
func (s *socket) Close() error {
	s.once.Do(func() { s.err = s.Conn.Close() })
	return s.err
}
