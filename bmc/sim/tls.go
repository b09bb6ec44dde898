package sim

import (
	"context"
	"crypto/rand"
	"crypto/tls"
	"net"
	"sync"
	"time"
)

// hangTime bounds how long a TLS handshake is left without an answer: nothing tells that the client has gone.
const hangTime = time.Minute

// secureDoor is the listener of a BMC that speaks TLS.
type secureDoor struct {
	net.Listener
	s *Server
}

// Accept gives connections that speak TLS, or plain HTTP where a fault has it so.
func (d secureDoor) Accept() (net.Conn, error) {
	c, err := d.Listener.Accept()
	if err != nil {
		return nil, err
	}
	kept := d.s.tls.keep(c)
	if d.s.has(FaultPlainHTTP) {
		return kept, nil
	}
	return tls.Server(kept, &tls.Config{GetConfigForClient: d.s.greetTLS}), nil
}

// greetTLS chooses how to do TLS when a client begins. A BMC that hangs says nothing.
func (s *Server) greetTLS(hello *tls.ClientHelloInfo) (*tls.Config, error) {
	if !s.rack.enter() {
		return nil, net.ErrClosed
	}
	defer s.rack.leave()
	if lifted, hangs := s.hangs(); hangs {
		s.note("TLS", "unanswered", "", "")
		ctx, cancel := context.WithTimeout(hello.Context(), hangTime)
		defer cancel()
		if !s.waitUntilLifted(ctx, lifted) {
			return nil, net.ErrClosed
		}
	}
	return s.tls.config(s)
}

// tlsSide is what a BMC keeps for TLS.
type tlsSide struct {
	mu      sync.Mutex
	way     tlsWay
	plain   bool
	configs map[tlsWay]*tls.Config
	open    map[*keptConn]struct{}
}

// config is how the BMC does TLS now. The certificate of each way stays the same.
func (t *tlsSide) config(s *Server) (*tls.Config, error) {
	way := s.tlsWay()
	t.mu.Lock()
	defer t.mu.Unlock()
	if c := t.configs[way]; c != nil {
		return c, nil
	}
	certificate, err := s.rack.authority.issue(s.host, way)
	if err != nil {
		return nil, err
	}
	c := &tls.Config{Certificates: []tls.Certificate{certificate}, MinVersion: tls.VersionTLS12, NextProtos: []string{"http/1.1"}}
	switch {
	case way.rsaKeyExchange:
		c.MaxVersion = tls.VersionTLS12
		c.CipherSuites = []uint16{tls.TLS_RSA_WITH_AES_128_GCM_SHA256, tls.TLS_RSA_WITH_AES_128_CBC_SHA}
	case way.old:
		c.MaxVersion = tls.VersionTLS11
	}
	if way.old {
		c.MinVersion = tls.VersionTLS10
	}
	// A session of one certificate must not be resumed under another.
	var ticket [32]byte
	_, _ = rand.Read(ticket[:]) // it never fails
	c.SetSessionTicketKeys([][32]byte{ticket})
	if t.configs == nil {
		t.configs = map[tlsWay]*tls.Config{}
	}
	t.configs[way] = c
	return c, nil
}

// follow cuts all connections when the faults change how the BMC does TLS: a real one restarts its web server then.
func (t *tlsSide) follow(way tlsWay, plain bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.way == way && t.plain == plain {
		return
	}
	t.way, t.plain = way, plain
	for c := range t.open {
		_ = c.Conn.Close() // its end is all that is wanted
	}
}

// keep remembers a connection until it is closed.
func (t *tlsSide) keep(c net.Conn) *keptConn {
	k := &keptConn{Conn: c, side: t}
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.open == nil {
		t.open = map[*keptConn]struct{}{}
	}
	t.open[k] = struct{}{}
	return k
}

type keptConn struct {
	net.Conn
	side *tlsSide
}

// Close is net.Conn's.
func (k *keptConn) Close() error {
	k.side.mu.Lock()
	delete(k.side.open, k)
	k.side.mu.Unlock()
	return k.Conn.Close()
}

// Certificate is the one that the BMC shows at the moment, in PEM; nil where it does not speak TLS.
func (s *Server) Certificate() []byte {
	if !s.speaksTLS() {
		return nil
	}
	c, err := s.tls.config(s)
	if err != nil {
		return nil
	}
	return encodePEM(c.Certificates[0].Certificate[0])
}
