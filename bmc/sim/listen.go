package sim

import (
	"context"
	"errors"
	"log/slog"
	"net"
	"net/http"
	"net/netip"
	"strconv"
	"time"
)

func (s *Server) listenRedfish(addr netip.Addr, port int) error {
	return firstThatWorks(addr, port, redfishPort, func(hostport string) error {
		l, err := net.Listen("tcp", hostport)
		if err != nil {
			return err
		}
		tcp := l.Addr().(*net.TCPAddr)
		s.host, s.Port, s.Address = tcp.IP.String(), tcp.Port, "http://"+tcp.String()
		if s.speaksTLS() {
			s.Address = "https://" + tcp.String()
		}
		s.http = &http.Server{
			Handler: s, ReadHeaderTimeout: 10 * time.Second,
			ErrorLog: slog.NewLogLogger(s.rack.options.Log.Handler(), slog.LevelDebug), // clients that do not trust it, mostly
			ConnContext: func(ctx context.Context, c net.Conn) context.Context {
				return context.WithValue(ctx, connectionKey{}, &connection{Conn: c})
			},
		}
		s.opened(true)
		s.rack.start(func() { s.serveRedfish(l) })
		return nil
	})
}

// connection counts the requests on a connection, for BMCs that do not like more than one.
type connection struct {
	net.Conn
	requests int
}

// serveRedfish serves until the rack closes. While the BMC refuses connections, nothing listens.
func (s *Server) serveRedfish(l net.Listener) {
	for l != nil {
		s.mu.Lock()
		s.listener = l
		s.mu.Unlock()
		s.shutDoor()
		err := s.http.Serve(s.door(l))
		s.opened(false)
		if errors.Is(err, http.ErrServerClosed) {
			return
		}
		l = s.listenAgain()
	}
}

// door is the listener with what the BMC speaks there.
func (s *Server) door(l net.Listener) net.Listener {
	if s.speaksTLS() {
		return secureDoor{l, s}
	}
	return l
}

// opened notes whether the BMC listens.
func (s *Server) opened(yes bool) {
	s.listening.Store(yes)
	s.news.tell()
}

// shutDoor stops listening where the BMC refuses connections.
func (s *Server) shutDoor() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.faults[FaultRefuse] != nil && s.listener != nil {
		_ = s.listener.Close() // it may be closed already
	}
}

// listenAgain waits until the BMC takes connections again; nil when the rack closes before.
func (s *Server) listenAgain() net.Listener {
	for s.waitWhile(FaultRefuse) {
		l, err := net.Listen("tcp", net.JoinHostPort(s.host, strconv.Itoa(s.Port)))
		if err == nil {
			s.opened(true)
			return l
		}
		if !pause(s.ctx, 10*time.Millisecond) { // somebody else has the port for the moment
			return nil
		}
	}
	return nil
}
