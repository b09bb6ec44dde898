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
	// By is who asked: a user's name, or "session 3"; "" where nobody said.
	By string
	// Status is how it was answered: that of HTTP, or IPMI's completion code; -1 where it was not, or not yet.
	Status int
}

// unanswered is the status of a request without an answer.
const unanswered = -1

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

// note keeps a request in the list and wakes who waits for it. The result names it to requestLog.answered.
func (s *Server) note(method, path, detail, by string) int {
	n := s.requests.add(Request{At: time.Now(), Method: method, Path: path, Detail: detail, By: by, Status: unanswered})
	s.news.tell()
	return n
}

type requestLog struct {
	mu   sync.Mutex
	list []Request
	gone int // how many were there before the first of the list
	most int // 0: mostRequests
}

// mostRequests bounds the log of a BMC that runs for days; the oldest half goes.
const mostRequests = 4096

func (l *requestLog) add(r Request) int {
	l.mu.Lock()
	defer l.mu.Unlock()
	most := l.most
	if most == 0 {
		most = mostRequests
	}
	if len(l.list) >= most {
		half := max(most/2, 1)
		l.list = append([]Request(nil), l.list[half:]...)
		l.gone += half
	}
	l.list = append(l.list, r)
	return l.gone + len(l.list) - 1
}

// answered completes an entry, if it is still there.
func (l *requestLog) answered(n, status int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if at := n - l.gone; at >= 0 && at < len(l.list) {
		l.list[at].Status = status
	}
}

func (l *requestLog) all() []Request {
	l.mu.Lock()
	defer l.mu.Unlock()
	return append([]Request(nil), l.list...)
}

func (l *requestLog) clear() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.gone += len(l.list)
	l.list = nil
}

func (l *requestLog) count() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return len(l.list)
}
