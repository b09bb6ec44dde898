package sim

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"hash/fnv"
	"io"
	"net/http"
	"strings"
)

const (
	rootPath     = "/redfish/v1"
	systemPath   = rootPath + "/Systems/1"
	chassisPath  = rootPath + "/Chassis/1"
	managerPath  = rootPath + "/Managers/1"
	settingsPath = systemPath + "/Settings"
	sessionsPath = rootPath + "/SessionService/Sessions"
	resetPath    = systemPath + "/Actions/ComputerSystem.Reset"
)

type (
	connectionKey struct{}
	serverKey     struct{}
)

// routes are a BMC's changes and actions; everything that is read comes from Server.document. One table serves all BMCs.
func routes() *http.ServeMux {
	mux := http.NewServeMux()
	handle := func(pattern string, h func(*Server, http.ResponseWriter, *http.Request)) {
		mux.HandleFunc(pattern, func(w http.ResponseWriter, r *http.Request) { h(r.Context().Value(serverKey{}).(*Server), w, r) })
	}
	handle("POST "+sessionsPath, (*Server).login)
	handle("POST "+sessionsPath+"/Members", (*Server).login)
	handle("DELETE "+sessionsPath+"/{id}", (*Server).logout)
	handle("GET "+tasksPath+"/{id}/Monitor", (*Server).monitorTask)
	handle("PATCH "+systemPath, (*Server).patchSystem)
	handle("PATCH "+settingsPath, (*Server).patchSettings)
	handle("PATCH "+chassisPath, (*Server).patchChassis)
	handle("POST "+resetPath, (*Server).resetSystem)
	handle("POST "+rootPath+"/{family}/1/VirtualMedia/{id}/Actions/VirtualMedia.InsertMedia", (*Server).insertMedium)
	handle("POST "+rootPath+"/{family}/1/VirtualMedia/{id}/Actions/VirtualMedia.EjectMedia", (*Server).ejectMedium)
	handle("PATCH "+rootPath+"/{family}/1/VirtualMedia/{id}", (*Server).patchMedium)
	handle("POST "+rootPath+"/{family}/1/LogServices/{id}/Actions/LogService.ClearLog", (*Server).clearLog)
	handle("GET /", (*Server).show)
	handle("/", func(_ *Server, w http.ResponseWriter, r *http.Request) { refuseMissing(w, r) })
	return mux
}

// ServeHTTP is the Redfish service. Trailing slashes do not matter.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if !s.rack.enter() {
		hangUp()
	}
	defer s.rack.leave()
	if s.inFlight.Add(1) > 1 {
		s.overlaps.Add(1)
	}
	defer s.inFlight.Add(-1)
	body, err := io.ReadAll(io.LimitReader(r.Body, 1<<20))
	if err != nil {
		hangUp()
	}
	r.Body, r.ContentLength = io.NopCloser(bytes.NewReader(body)), int64(len(body))
	if r.URL.Path != "/" {
		r.URL.Path = strings.TrimRight(r.URL.Path, "/")
	}
	noted := s.note(r.Method, r.URL.Path, detail(r.URL.Path, body), s.caller(r))
	answer := &notedAnswer{ResponseWriter: w, note: func(status int) { s.requests.answered(noted, status) }}
	defer s.news.tell()
	if !s.waitWhileHanging(r.Context()) || !s.stall(r.Context()) {
		hangUp()
	}
	if s.spoil(answer, r) {
		return
	}
	if !s.open(r) && !s.authenticated(r) {
		w.Header().Set("WWW-Authenticate", `Basic realm="BMC"`)
		refuse(answer, http.StatusUnauthorized, "NoValidSession", "There is no valid session established with the implementation.")
		return
	}
	if s.refuseAction(answer, r) {
		return
	}
	s.rack.routes.ServeHTTP(answer, r.WithContext(context.WithValue(r.Context(), serverKey{}, s)))
}

// notedAnswer tells the request log how a request was answered.
type notedAnswer struct {
	http.ResponseWriter
	note func(status int)
}

// Unwrap is for http.ResponseController.
func (a *notedAnswer) Unwrap() http.ResponseWriter { return a.ResponseWriter }

// WriteHeader is http.ResponseWriter's.
func (a *notedAnswer) WriteHeader(status int) {
	a.note(status)
	a.ResponseWriter.WriteHeader(status)
}

// hangUp closes the connection without an answer: returning would answer 200.
func hangUp() { panic(http.ErrAbortHandler) }

// detail is what of a body is kept in the request log: nothing of a login, and no address, whose query may hold a token.
func detail(path string, body []byte) string {
	var b struct {
		ResetType               string
		Boot                    json.RawMessage
		IndicatorLED            string
		LocationIndicatorActive *bool
		Image                   string
	}
	if path == sessionsPath || json.Unmarshal(body, &b) != nil {
		return ""
	}
	switch {
	case b.ResetType != "":
		return b.ResetType
	case b.IndicatorLED != "":
		return b.IndicatorLED
	case b.Image != "":
		return withoutQuery(b.Image)
	}
	return string(b.Boot)
}

// open tells of what the standard gives to anybody: the root, and the way to log in.
func (s *Server) open(r *http.Request) bool {
	return r.URL.Path == rootPath || r.URL.Path == "/redfish" || (r.Method == http.MethodPost && r.URL.Path == sessionsPath)
}

func (s *Server) authenticated(r *http.Request) bool {
	if s.strikes(FaultWrongPassword) {
		return false
	}
	if token := r.Header.Get("X-Auth-Token"); token != "" {
		return !s.has(FaultNoSessions) && s.sessions.knows(token)
	}
	user, password, ok := r.BasicAuth()
	return ok && !s.has(FaultNoBasic) && s.admits(user, password)
}

func (s *Server) admits(user, password string) bool {
	return user == s.User && password == string(s.Password)
}

// caller is who sends a request, for the log: a session's id or a user's name, whether they are let in or not.
func (s *Server) caller(r *http.Request) string {
	if token := r.Header.Get("X-Auth-Token"); token != "" {
		if id := s.sessions.idOf(token); id != "" {
			return "session " + id
		}
		return "unknown session"
	}
	if user, _, ok := r.BasicAuth(); ok {
		return user
	}
	return ""
}

// show answers a GET.
func (s *Server) show(w http.ResponseWriter, r *http.Request) {
	doc := s.document(r.URL.Path)
	if doc == nil || s.hidden(r.URL.Path) {
		refuseMissing(w, r)
		return
	}
	if status, id, message := s.refuseReading(r, doc); status != 0 {
		refuse(w, status, id, message)
		return
	}
	s.noticeReading(r.URL.Path)
	expanded := r.URL.Query().Has("$expand")
	w.Header().Set("ETag", s.shownTag(r, doc))
	if expanded {
		s.expand(doc)
	}
	s.distort(r.URL.Path, doc, expanded)
	s.send(w, doc, expanded)
}

// expand puts the members into a collection, one level deep.
func (s *Server) expand(doc map[string]any) {
	list, _ := doc["Members"].([]any)
	for i, m := range list {
		path, _ := m.(map[string]any)["@odata.id"].(string)
		if member := s.document(path); member != nil && !s.hidden(path) {
			s.distort(path, member, true)
			list[i] = member
		}
	}
}

// tagOf is a document's ETag: it changes with everything that is in it.
func tagOf(doc map[string]any) string {
	h := fnv.New64a()
	_ = json.NewEncoder(h).Encode(doc) // plain values, and a hash takes everything
	return fmt.Sprintf(`"%016x"`, h.Sum64())
}

// strictly decodes a body that may hold nothing else than what is known; an empty one is an empty object.
func strictly(r *http.Request, into any) bool {
	if r.ContentLength == 0 {
		return true
	}
	d := json.NewDecoder(r.Body)
	d.DisallowUnknownFields()
	if d.Decode(into) != nil {
		return false
	}
	_, err := d.Token()
	return errors.Is(err, io.EOF)
}

func answerJSON(w http.ResponseWriter, status int, doc map[string]any) {
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("OData-Version", "4.0")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(doc) // the other side may be gone
}

func refuse(w http.ResponseWriter, status int, id, message string) {
	registry := "Base.1.18."
	if strings.HasPrefix(id, "SYS") {
		registry = "IDRAC.2.8."
	}
	answerJSON(w, status, map[string]any{"error": map[string]any{
		"code": "Base.1.18.GeneralError", "message": "A general error has occurred. See ExtendedInfo for more information.",
		"@Message.ExtendedInfo": []any{map[string]any{"MessageId": registry + id, "Message": message, "Severity": "Warning"}},
	}})
}

func refuseMissing(w http.ResponseWriter, r *http.Request) {
	refuse(w, http.StatusNotFound, "ResourceMissingAtURI", "The resource at the URI "+r.URL.Path+" was not found.")
}
