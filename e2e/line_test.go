package e2e_test

import (
	"io"
	"net"
	"strings"
	"sync"
	"testing"
)

// line is a cable between a browser and the appliance: it can be cut, so that connections break; pulled, so that they fall
// silent; and put in again, into the same or another appliance. The browser's address stays.
type line struct {
	ln   net.Listener
	base string

	mu      sync.Mutex
	to      string // the appliance's address; "" while it is cut
	silent  chan struct{}
	open    map[net.Conn]struct{}
	running sync.WaitGroup
}

func layLine(t *testing.T, a *appliance) *line {
	t.Helper()
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	l := &line{ln: ln, base: "http://" + ln.Addr().String(), open: map[net.Conn]struct{}{}}
	l.putInto(a)
	l.running.Go(l.accept)
	t.Cleanup(func() {
		_ = ln.Close()
		l.cut()
		l.running.Wait()
	})
	return l
}

func (l *line) accept() {
	for {
		from, err := l.ln.Accept()
		if err != nil {
			return
		}
		l.running.Go(func() { l.carry(from) })
	}
}

// carry copies both ways until one side ends, or the line is cut.
func (l *line) carry(from net.Conn) {
	defer func() { _ = from.Close() }()
	l.mu.Lock()
	to, silent := l.to, l.silent
	l.mu.Unlock()
	if to == "" {
		return
	}
	there, err := net.Dial("tcp", to)
	if err != nil {
		return
	}
	defer func() { _ = there.Close() }()
	if !l.keep(from, there) {
		return
	}
	defer l.forget(from, there)
	var both sync.WaitGroup
	pump := func(to, from net.Conn) {
		defer func() { _, _ = to.Close(), from.Close() }()
		buffer := make([]byte, 4096)
		for {
			n, err := from.Read(buffer)
			if err != nil {
				return
			}
			select {
			case <-silent: // pulled: nothing arrives, and nobody is told
				_, _ = io.Copy(io.Discard, from)
				return
			default:
			}
			if _, err := to.Write(buffer[:n]); err != nil {
				return
			}
		}
	}
	both.Go(func() { pump(there, from) })
	both.Go(func() { pump(from, there) })
	both.Wait()
}

func (l *line) keep(conns ...net.Conn) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.to == "" {
		return false
	}
	for _, c := range conns {
		l.open[c] = struct{}{}
	}
	return true
}

func (l *line) forget(conns ...net.Conn) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, c := range conns {
		delete(l.open, c)
	}
}

// putInto connects the line to an appliance.
func (l *line) putInto(a *appliance) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.to, l.silent = strings.TrimPrefix(a.base, "http://"), make(chan struct{})
}

// cut breaks all connections, and refuses others.
func (l *line) cut() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.to = ""
	for c := range l.open {
		_ = c.Close()
	}
}

// pull lets all connections fall silent. New ones wait for an answer in vain.
func (l *line) pull() {
	l.mu.Lock()
	defer l.mu.Unlock()
	close(l.silent)
}
