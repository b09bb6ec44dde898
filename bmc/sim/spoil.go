package sim

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
)

// spoil lets those faults strike that need no login; true means that the request is answered.
func (s *Server) spoil(w http.ResponseWriter, r *http.Request) bool {
	c, _ := r.Context().Value(connectionKey{}).(*connection)
	if c != nil {
		c.requests++ // the server handles one request at a time on a connection
	}
	switch {
	case s.has(FaultRefuse):
		hangUp()
	case c != nil && c.requests > 1 && s.strikes(FaultNoKeepAlive):
		hangUp()
	case s.strikes(FaultDrop):
		hangUp()
	case s.inFlight.Load() > 1 && s.strikes(FaultNoParallel):
		refuse(w, http.StatusInternalServerError, "InternalError", "The request failed due to an internal service error. The service is still operational.")
	case s.strikes(FaultBusy):
		refuse(w, http.StatusServiceUnavailable, "ServiceTemporarilyUnavailable", "The service is temporarily unavailable.")
	case r.Method == http.MethodGet && s.strikes(FaultHTML):
		w.Header().Set("Content-Type", "text/html")
		w.WriteHeader(http.StatusOK)
		_, _ = w.Write([]byte("<!DOCTYPE html><html><title>BMC</title><p>Please wait while the web server starts.</html>\n")) // the other side may be gone
	default:
		return false
	}
	return true
}

// refuseAction lets those faults strike that an action meets; true means that the request is answered.
func (s *Server) refuseAction(w http.ResponseWriter, r *http.Request) bool {
	if r.Method == http.MethodPost && strings.Contains(r.URL.Path, "/Actions/") && r.Header.Get("If-Match") != "" && s.has(FaultETagOnAction) {
		refuse(w, http.StatusPreconditionFailed, "PreconditionFailed", "The ETag does not match.")
		return true
	}
	return false
}

// precondition checks If-Match against a resource's ETag; false when it has answered with a refusal.
func (s *Server) precondition(w http.ResponseWriter, r *http.Request, tag string) bool {
	given := r.Header.Get("If-Match")
	switch {
	case given == "" && s.has(FaultETagRequired):
		refuse(w, http.StatusPreconditionRequired, "PreconditionRequired", "A precondition header or annotation is required to change this resource.")
		return false
	case given == "":
		return true
	case given == "*" && !s.has(FaultETagRequired):
		return true
	case given == tag && !s.strikes(FaultETagStale):
		return true
	}
	refuse(w, http.StatusPreconditionFailed, "PreconditionFailed", "The ETag does not match.")
	return false
}

// shownTag is the ETag of a document as the header has it.
func (s *Server) shownTag(r *http.Request, doc map[string]any) string {
	tag, ok := doc["@odata.etag"].(string)
	if !ok {
		tag = tagOf(doc)
	}
	switch {
	case s.has(FaultETagWeak):
		if ok {
			doc["@odata.etag"] = "W/" + tag
		}
		return "W/" + tag
	case s.has(FaultETagSuffix) && strings.Contains(r.Header.Get("Accept-Encoding"), "gzip"):
		return strings.TrimSuffix(tag, `"`) + `-gzip"`
	}
	return tag
}

// hidden tells of resources that a list names and that are not there.
func (s *Server) hidden(path string) bool {
	above, name := path[:strings.LastIndex(path, "/")+1], path[strings.LastIndex(path, "/")+1:]
	above = strings.TrimSuffix(above, "/")
	if name == "" || above == "" {
		return false
	}
	if above == systemPath+"/BootOptions" && s.has(FaultParentFirst) && !s.listRead.Load() {
		return true
	}
	if !s.has(FaultMissingMembers) || strings.Count(above, "/") < 4 { // systems, chassis and managers stay
		return false
	}
	list, _ := s.document(above)["Members"].([]any)
	return len(list) > 1 && list[len(list)-1].(map[string]any)["@odata.id"] == path
}

// noticeReading remembers that the list was read which some resources wait for.
func (s *Server) noticeReading(path string) {
	if path == systemPath+"/BootOptions" {
		s.listRead.Store(true)
	}
}

// refuseReading is why a resource is not shown; status 0 when it is.
func (s *Server) refuseReading(r *http.Request, doc map[string]any) (status int, id, message string) {
	path := r.URL.Path
	switch {
	case doc[unavailable] != nil:
		return http.StatusServiceUnavailable, "ServiceTemporarilyUnavailable", "The system is switched off."
	case s.has(FaultNoIdentity) && strings.HasPrefix(path, rootPath+"/Registries") && r.Header.Get("Accept-Encoding") == "identity":
		return http.StatusNotAcceptable, "HeaderInvalid", "Registries are sent compressed."
	case s.has(FaultLicence) && slices.Contains([]string{systemPath + "/Bios", systemPath + "/SecureBoot"}, path):
		return http.StatusForbidden, "OemLicenseNotPassed", "Not licensed to perform this request. The following licenses DCMS were needed."
	}
	return 0, "", ""
}

// send writes a document, spoiled where a fault says so.
func (s *Server) send(w http.ResponseWriter, doc map[string]any, expanded bool) {
	body, err := json.Marshal(doc)
	if err != nil {
		panic(fmt.Sprintf("sim: a document of plain values does not marshal: %s", err))
	}
	body = append(body, '\n')
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("OData-Version", "4.0")
	switch {
	case expanded && s.strikes(FaultTwoDocuments):
		body = append([]byte(`{"error":{"code":"Base.1.8.GeneralError","message":"A licence is missing."}}`+"\n"), body...)
	case s.strikes(FaultTruncated):
		body = body[:len(body)/2]
	case s.strikes(FaultDropBody):
		w.Header().Set("Content-Length", fmt.Sprint(len(body)))
		w.WriteHeader(http.StatusOK)
		_, _ = w.Write(body[:len(body)/2])
		_ = http.NewResponseController(w).Flush()
		hangUp()
	}
	w.WriteHeader(http.StatusOK)
	_, _ = w.Write(body) // the other side may be gone
}
