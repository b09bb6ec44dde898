package main

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"cagenut/bmc/sim"
	"cagenut/node"
)

// foreignInspector is an inspector service of somebody else, as far as the appliance talks to it.
type foreignInspector struct {
	mu     sync.Mutex
	state  string
	calls  []string
	refuse int // status that an abort gets instead of 202
}

func (f *foreignInspector) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.calls = append(f.calls, r.Method+" "+r.URL.Path)
	w.Header().Set("Content-Type", "application/json")
	switch {
	case strings.HasSuffix(r.URL.Path, "/abort") && f.refuse != 0:
		w.WriteHeader(f.refuse)
		_, _ = w.Write([]byte(`{"error":{"message":"Node is locked, please, retry later"}}`))
	case strings.HasSuffix(r.URL.Path, "/abort"):
		f.state = `{"state":"error","finished":true,"error":"Canceled by operator"}`
		w.WriteHeader(http.StatusAccepted)
		_, _ = w.Write([]byte("{}"))
	case r.Method == http.MethodPost:
		f.state = `{"state":"waiting","finished":false,"error":null}`
		w.WriteHeader(http.StatusAccepted)
		_, _ = w.Write([]byte("{}"))
	default:
		_, _ = w.Write([]byte(f.state))
	}
}

func (f *foreignInspector) set(refuse int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.refuse = refuse
}

func (f *foreignInspector) called(path string) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, c := range f.calls {
		if strings.HasSuffix(c, path) {
			return true
		}
	}
	return false
}

// With --inspector-url the node's `inspector` interface hands start and abort to that service; what it refuses leaves the
// node waiting and is told on it (design.md §4, point 2).
func TestTheInspectorInterfaceDelegatesToAForeignService(t *testing.T) {
	t.Parallel()
	foreign := &foreignInspector{}
	service := httptest.NewServer(foreign)
	defer service.Close()
	a := serveForTest(t, true, func(s *settings) { s.InspectorURL, s.InspectorSyncInterval = service.URL, 200*time.Millisecond })
	if a.inspectorListener != nil {
		t.Error("the embedded inspector is served beside the foreign one")
	}
	s := a.rack(sim.Options{Servers: 1, Silent: 1})[0]
	patch := []map[string]any{{"op": "replace", "path": "/inspect_interface", "value": "inspector"}}
	if status, _, body := a.send("PATCH", "/v1/nodes/"+s.Name, "latest", patch); status != http.StatusOK {
		t.Fatalf("%d %s", status, body)
	}
	a.provision(s.Name, "inspect")
	n := a.untilState(s.Name, node.InspectWait)
	if !foreign.called("/v1/introspection/" + n.UUID) {
		t.Errorf("the service was not asked to start: %v", foreign.calls)
	}

	foreign.set(http.StatusConflict)
	status, _, body := a.send("PUT", "/v1/nodes/"+s.Name+"/states/provision", "latest", map[string]string{"target": "abort"})
	if now := a.get("/v1/nodes/" + s.Name); status != http.StatusConflict || now["provision_state"] != "inspect wait" || !strings.Contains(now["last_error"].(string), "Failed to abort inspection") {
		t.Errorf("refused abort: %d %s; node %v, %v", status, body, now["provision_state"], now["last_error"])
	}

	foreign.set(0)
	a.provision(s.Name, "abort")
	if now := a.get("/v1/nodes/" + s.Name); now["provision_state"] != "inspect failed" || !strings.HasPrefix(now["last_error"].(string), "Inspection was aborted by request.") {
		t.Errorf("node %v, %v", now["provision_state"], now["last_error"])
	}
	a.until(s.Name, "off after clean-up", offAndFree)
	if s.Power() != node.PowerOff {
		t.Error("the server still runs")
	}
}
