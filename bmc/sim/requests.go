package sim

import (
	"sync"
	"time"
)

// Request is one thing that a BMC was asked.
type Request struct {
	At time.Time
	// Method and Path are those of HTTP; for IPMI the method is "IPMI" and the path the command's name.
	Method, Path string
	// Detail is the body where it matters: the reset type, the boot override. Never a secret.
	Detail string
}

// String is the request on one line, without its time: "POST /redfish/v1/…/ComputerSystem.Reset ForceOff".
func (r Request) String() string {
	s := r.Method + " " + r.Path
	if r.Detail != "" {
		s += " " + r.Detail
	}
	return s
}

// Requests lists what the BMC was asked so far, oldest first.
func (s *Server) Requests() []Request { return s.requests.all() }

// ForgetRequests empties the list.
func (s *Server) ForgetRequests() { s.requests.clear() }

// note keeps a request in the list and wakes who waits for it.
func (s *Server) note(method, path, detail string) {
	s.requests.add(Request{At: time.Now(), Method: method, Path: path, Detail: detail})
	s.news.tell()
}

type requestLog struct {
	mu   sync.Mutex
	list []Request
}

// mostRequests bounds the log of a BMC that runs for days; the oldest half goes.
const mostRequests = 4096

func (l *requestLog) add(r Request) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.list) >= mostRequests {
		l.list = append([]Request(nil), l.list[mostRequests/2:]...)
	}
	l.list = append(l.list, r)
}

func (l *requestLog) all() []Request {
	l.mu.Lock()
	defer l.mu.Unlock()
	return append([]Request(nil), l.list...)
}

func (l *requestLog) clear() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.list = nil
}
