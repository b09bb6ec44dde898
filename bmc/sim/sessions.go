package sim

import (
	"crypto/rand"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"sync"
)

// mostSessions is how many logins a BMC keeps: real ones have a handful.
const mostSessions = 8

// sessions are the logins of a Redfish BMC: id by token.
type sessions struct {
	mu     sync.Mutex
	tokens map[string]string
	last   int
}

// open makes a session; ok is false when the BMC has no more.
func (s *sessions) open() (token, id string, ok bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.tokens) >= mostSessions {
		return "", "", false
	}
	if s.tokens == nil {
		s.tokens = map[string]string{}
	}
	s.last++
	token, id = rand.Text(), fmt.Sprint(s.last)
	s.tokens[token] = id
	return token, id, true
}

func (s *sessions) knows(token string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.tokens[token] != ""
}

func (s *sessions) end(id string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	for token, known := range s.tokens {
		if known == id {
			delete(s.tokens, token)
			return true
		}
	}
	return false
}

func (s *sessions) clear() {
	s.mu.Lock()
	defer s.mu.Unlock()
	clear(s.tokens)
}

// ids lists the sessions, sorted as text.
func (s *sessions) ids() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	var ids []string
	for _, id := range s.tokens {
		ids = append(ids, id)
	}
	slices.Sort(ids)
	return ids
}

func (s *Server) login(w http.ResponseWriter, r *http.Request) {
	var who struct{ UserName, Password string }
	if json.NewDecoder(r.Body).Decode(&who) != nil || !s.admits(who.UserName, who.Password) {
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
	answerJSON(w, http.StatusCreated, s.sessionResource(id))
}

func (s *Server) logout(w http.ResponseWriter, r *http.Request) {
	if !s.sessions.end(r.PathValue("id")) {
		refuse(w, http.StatusNotFound, "ResourceMissingAtURI", "There is no such session.")
		return
	}
	w.WriteHeader(http.StatusNoContent)
}

func (s *Server) showSession(w http.ResponseWriter, r *http.Request) {
	id := r.PathValue("id")
	if !slices.Contains(s.sessions.ids(), id) {
		refuse(w, http.StatusNotFound, "ResourceMissingAtURI", "There is no such session.")
		return
	}
	answerJSON(w, http.StatusOK, s.sessionResource(id))
}

// sessionList is the collection: every login that the BMC remembers.
func (s *Server) sessionList() map[string]any {
	var paths []string
	for _, id := range s.sessions.ids() {
		paths = append(paths, sessionsPath+"/"+id)
	}
	return members("SessionCollection", sessionsPath, paths...)()
}

func (s *Server) sessionResource(id string) map[string]any {
	return resource("Session.v1_7_0.Session", sessionsPath+"/"+id, map[string]any{"Id": id, "Name": "Session " + id, "UserName": s.User})
}
