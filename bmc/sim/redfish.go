package sim

import (
	"bytes"
	"encoding/json"
	"io"
	"net"
	"net/http"
	"net/netip"
	"slices"
	"strings"
	"time"

	"cagenut/node"
)

const (
	rootPath     = "/redfish/v1"
	systemPath   = "/redfish/v1/Systems/1"
	sessionsPath = "/redfish/v1/SessionService/Sessions"
	resetPath    = systemPath + "/Actions/ComputerSystem.Reset"
)

func (s *Server) listenRedfish(addr netip.Addr) error {
	return firstThatWorks(addr, redfishPort, func(hostport string) error {
		l, err := net.Listen("tcp", hostport)
		if err != nil {
			return err
		}
		tcp := l.Addr().(*net.TCPAddr)
		s.host, s.Port, s.Address = tcp.IP.String(), tcp.Port, "http://"+tcp.String()
		s.http = &http.Server{Handler: s.redfish(), ReadHeaderTimeout: 10 * time.Second}
		s.rack.start(func() { _ = s.http.Serve(l) }) // it always ends with "closed"
		return nil
	})
}

// redfish routes the BMC's service. Trailing slashes do not matter.
func (s *Server) redfish() http.Handler {
	mux := http.NewServeMux()
	for path, resource := range s.resources() {
		mux.HandleFunc("GET "+path, func(w http.ResponseWriter, _ *http.Request) { answerJSON(w, http.StatusOK, resource()) })
	}
	mux.HandleFunc("POST "+sessionsPath, s.login)
	mux.HandleFunc("GET "+sessionsPath+"/{id}", s.showSession)
	mux.HandleFunc("DELETE "+sessionsPath+"/{id}", s.logout)
	mux.HandleFunc("PATCH "+systemPath, s.patchSystem)
	mux.HandleFunc("POST "+resetPath, s.resetSystem)
	mux.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) {
		refuse(w, http.StatusNotFound, "ResourceMissingAtURI", "The resource at the URI "+r.URL.Path+" was not found.")
	})
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !s.rack.enter() {
			hangUp()
		}
		defer s.rack.leave()
		body, err := io.ReadAll(io.LimitReader(r.Body, 1<<20))
		if err != nil {
			hangUp()
		}
		r.Body = io.NopCloser(bytes.NewReader(body))
		if r.URL.Path != "/" {
			r.URL.Path = strings.TrimRight(r.URL.Path, "/")
		}
		s.note(r.Method, r.URL.Path, detail(r.URL.Path, body))
		if !s.waitWhileHanging(r.Context()) {
			hangUp()
		}
		if s.spend(func(f *Faults) *int { return &f.Busy }) {
			refuse(w, http.StatusServiceUnavailable, "ServiceTemporarilyUnavailable", "The service is temporarily unavailable.")
			return
		}
		if !s.open(r) && !s.authenticated(r) {
			w.Header().Set("WWW-Authenticate", `Basic realm="BMC"`)
			refuse(w, http.StatusUnauthorized, "NoValidSession", "There is no valid session established with the implementation.")
			return
		}
		mux.ServeHTTP(w, r)
	})
}

// hangUp closes the connection without an answer: returning would answer 200.
func hangUp() { panic(http.ErrAbortHandler) }

// detail is what of a body is kept in the request log: nothing of a login.
func detail(path string, body []byte) string {
	var b struct {
		ResetType string
		Boot      json.RawMessage
	}
	if path == sessionsPath || json.Unmarshal(body, &b) != nil {
		return ""
	}
	if b.ResetType != "" {
		return b.ResetType
	}
	return string(b.Boot)
}

// open tells of what the standard gives to anybody: the root, and the way to log in.
func (s *Server) open(r *http.Request) bool {
	return r.URL.Path == rootPath || r.URL.Path == "/redfish" || (r.Method == http.MethodPost && r.URL.Path == sessionsPath)
}

func (s *Server) authenticated(r *http.Request) bool {
	if s.currentFaults().RefuseLogin {
		return false
	}
	if token := r.Header.Get("X-Auth-Token"); token != "" {
		return s.sessions.knows(token)
	}
	user, password, ok := r.BasicAuth()
	return ok && s.admits(user, password)
}

func (s *Server) admits(user, password string) bool {
	return user == s.User && password == string(s.Password) && !s.currentFaults().RefuseLogin
}

// resetTypes are what the BMC allows.
func resetTypes() []string {
	return []string{"On", "ForceOff", "GracefulShutdown", "GracefulRestart", "ForceRestart", "PowerCycle"}
}

func (s *Server) resetSystem(w http.ResponseWriter, r *http.Request) {
	var body struct{ ResetType string }
	if json.NewDecoder(r.Body).Decode(&body) != nil || !slices.Contains(resetTypes(), body.ResetType) {
		refuse(w, http.StatusBadRequest, "ActionParameterNotSupported", "ResetType is not one of the allowable values.")
		return
	}
	if s.spend(func(f *Faults) *int { return &f.ResetConflicts }) {
		refuse(w, http.StatusConflict, "ActionParameterValueConflict", "The server is not ready for this power operation.")
		return
	}
	on, changing := s.machine.power()
	switch body.ResetType {
	case "On":
		if on && !changing {
			refuse(w, http.StatusConflict, "ActionParameterValueConflict", "The server is already on.")
			return
		}
		s.machine.command(true, false)
	case "ForceOff", "GracefulShutdown":
		if !on && !changing {
			refuse(w, http.StatusConflict, "ActionParameterValueConflict", "The server is already off.")
			return
		}
		s.machine.command(false, false)
	default:
		if !on {
			refuse(w, http.StatusConflict, "ActionParameterValueConflict", "The server is off.")
			return
		}
		s.machine.command(true, true)
	}
	w.WriteHeader(http.StatusNoContent)
}

// bootPatch is the part of a PATCH that the BMC knows.
type bootPatch struct {
	Boot struct {
		BootSourceOverrideEnabled, BootSourceOverrideTarget, BootSourceOverrideMode *string
	}
}

func (s *Server) patchSystem(w http.ResponseWriter, r *http.Request) {
	var p bootPatch
	d := json.NewDecoder(r.Body)
	d.DisallowUnknownFields()
	if d.Decode(&p) != nil {
		refuse(w, http.StatusBadRequest, "PropertyUnknown", "The request body holds properties that cannot be changed.")
		return
	}
	faults := s.currentFaults()
	if faults.RefuseBoot {
		refuse(w, http.StatusBadRequest, "PropertyNotWritable", "The boot override cannot be changed.")
		return
	}
	if tag := r.Header.Get("If-Match"); tag != "" && tag != "*" && tag != s.systemTag() {
		refuse(w, http.StatusPreconditionFailed, "PreconditionFailed", "The ETag does not match.")
		return
	}
	o, ok := p.apply(s.machine.override())
	if !ok {
		refuse(w, http.StatusBadRequest, "PropertyValueNotInList", "The boot override has a value that is not allowed.")
		return
	}
	if !faults.IgnoreBoot {
		s.machine.setOverride(o)
	}
	w.WriteHeader(http.StatusNoContent)
}

// apply is the override after the patch; a target without "enabled" counts once.
func (p bootPatch) apply(o override) (override, bool) {
	if m := p.Boot.BootSourceOverrideMode; m != nil {
		if *m != "UEFI" && *m != "Legacy" {
			return o, false
		}
		o.Legacy = *m == "Legacy"
	}
	if t := p.Boot.BootSourceOverrideTarget; t != nil {
		device, ok := targetDevices[*t]
		if !ok {
			return o, false
		}
		o.Device = device
	}
	if e := p.Boot.BootSourceOverrideEnabled; e != nil {
		switch *e {
		case "Disabled":
			o.Boot = node.Boot{}
		case "Once", "Continuous":
			o.Persistent = *e == "Continuous"
		default:
			return o, false
		}
	}
	return o, true
}

var targetDevices = map[string]node.BootDevice{
	"None": node.BootNone, "Pxe": node.BootPXE, "Hdd": node.BootDisk, "Cd": node.BootCDROM, "BiosSetup": node.BootBIOS,
}

func answerJSON(w http.ResponseWriter, status int, doc map[string]any) {
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("OData-Version", "4.0")
	if tag, ok := doc["@odata.etag"].(string); ok {
		w.Header().Set("ETag", tag)
	}
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(doc) // the other side may be gone
}

func refuse(w http.ResponseWriter, status int, id, message string) {
	answerJSON(w, status, map[string]any{"error": map[string]any{
		"code": "Base.1.18.GeneralError", "message": "A general error has occurred. See ExtendedInfo for more information.",
		"@Message.ExtendedInfo": []any{map[string]any{"MessageId": "Base.1.18." + id, "Message": message, "Severity": "Warning"}},
	}})
}
