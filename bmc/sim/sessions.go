package sim

import (
	"crypto/rand"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"sync"
	"time"
)

const (
	// mostSessions is how many logins a BMC keeps: real ones have a handful.
	mostSessions = 8
	// sessionTimeout is how long a session lives that nobody uses.
	sessionTimeout = 30 * time.Minute
)

// sessions are the logins of a Redfish BMC.
type sessions struct {
	mu      sync.Mutex
	byToken map[string]*session
	last    int
	timeout time.Duration // 0: sessionTimeout
	counts  SessionCounts
}

type session struct {
	id   string
	used time.Time
}

// SessionCounts are a BMC's logins since its start.
type SessionCounts struct {
	Open   int `json:"open"`   // at the moment
	Opened int `json:"opened"` // in all
	Closed int `json:"closed"` // by their owners
	Leaked int `json:"leaked"` // that nobody closed: they ended because nobody used them any more
}

// open makes a session; ok is false when the BMC has no more.
func (s *sessions) open() (token, id string, ok bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.expire()
	if len(s.byToken) >= mostSessions {
		return "", "", false
	}
	if s.byToken == nil {
		s.byToken = map[string]*session{}
	}
	s.last++
	s.counts.Opened++
	token, id = rand.Text(), fmt.Sprint(s.last)
	s.byToken[token] = &session{id: id, used: time.Now()}
	return token, id, true
}

// expire drops what nobody has used for too long; the caller holds the lock.
func (s *sessions) expire() {
	timeout := s.timeout
	if timeout == 0 {
		timeout = sessionTimeout
	}
	for token, one := range s.byToken {
		if time.Since(one.used) > timeout {
			delete(s.byToken, token)
			s.counts.Leaked++
		}
	}
}

// knows tells of a token, and counts it as used.
func (s *sessions) knows(token string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.expire()
	one := s.byToken[token]
	if one == nil {
		return false
	}
	if s.timeout == 0 { // an early end comes whether the session is used or not
		one.used = time.Now()
	}
	return true
}

// idOf is the session of a token; "" for none.
func (s *sessions) idOf(token string) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	if one := s.byToken[token]; one != nil {
		return one.id
	}
	return ""
}

func (s *sessions) end(id string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	for token, one := range s.byToken {
		if one.id == id {
			delete(s.byToken, token)
			s.counts.Closed++
			return true
		}
	}
	return false
}

func (s *sessions) clear() {
	s.mu.Lock()
	defer s.mu.Unlock()
	clear(s.byToken)
}

// setTimeout shortens the life of sessions; 0 is the usual one.
func (s *sessions) setTimeout(d time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.timeout = d
}

func (s *sessions) count() SessionCounts {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.expire()
	c := s.counts
	c.Open = len(s.byToken)
	return c
}

// ids lists the sessions, sorted as text.
func (s *sessions) ids() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.expire()
	var ids []string
	for _, one := range s.byToken {
		ids = append(ids, one.id)
	}
	slices.Sort(ids)
	return ids
}

func (s *Server) login(w http.ResponseWriter, r *http.Request) {
	var who struct{ UserName, Password string }
	switch {
	case s.has(FaultNoSessions):
		refuseMissing(w, r)
		return
	case s.strikes(FaultSessionLimit):
		refuse(w, http.StatusServiceUnavailable, "SessionLimitExceeded", "RAC0218: The maximum number of user sessions is reached.")
		return
	case json.NewDecoder(r.Body).Decode(&who) != nil || !s.admits(who.UserName, who.Password) || s.strikes(FaultWrongPassword):
		refuse(w, http.StatusUnauthorized, "ResourceAtUriUnauthorized", "The user name or password is wrong.")
		return
	}
	token, id, ok := s.sessions.open()
	if !ok {
		refuse(w, http.StatusServiceUnavailable, "SessionLimitExceeded", "The session establishment failed because the number of simultaneous sessions exceeds the limit.")
		return
	}
	w.Header().Set("X-Auth-Token", token)
	w.Header().Set("Location", sessionsPath+"/"+id)
	answerJSON(w, http.StatusCreated, s.sessionDocument(id))
}

func (s *Server) logout(w http.ResponseWriter, r *http.Request) {
	if s.has(FaultNoSessions) || !s.sessions.end(r.PathValue("id")) {
		refuse(w, http.StatusNotFound, "ResourceMissingAtURI", "There is no such session.")
		return
	}
	w.WriteHeader(http.StatusNoContent)
}

func (s *Server) sessionDocument(id string) map[string]any {
	return resource("Session.v1_7_0.Session", sessionsPath+"/"+id, map[string]any{"Id": id, "Name": "Session " + id, "UserName": s.User})
}

func (s *Server) sessionServiceDocument(rest []string) map[string]any {
	switch {
	case s.has(FaultNoSessions):
		return nil
	case len(rest) == 0:
		return resource("SessionService.v1_1_8.SessionService", rootPath+"/SessionService", map[string]any{
			"Name": "Sessions", "ServiceEnabled": true, "SessionTimeout": int(sessionTimeout.Seconds()), "Sessions": ref(sessionsPath),
		})
	case rest[0] != "Sessions":
		return nil
	}
	var docs []map[string]any
	for _, id := range s.sessions.ids() {
		docs = append(docs, s.sessionDocument(id))
	}
	return pick("SessionCollection", sessionsPath, docs, rest[1:])
}
