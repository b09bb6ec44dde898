package sim_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"cagenut/bmc/sim"
	"cagenut/node"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// startRack is a rack that closes with the test. Its ramdisks repeat refused reports in a blink.
func startRack(t *testing.T, o sim.Options) *sim.Rack {
	t.Helper()
	if o.RetryDelay == 0 {
		o.RetryDelay = time.Millisecond
	}
	r, err := sim.Start(context.Background(), o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { closeRack(t, r) })
	return r
}

func closeRack(t *testing.T, r *sim.Rack) {
	t.Helper()
	if err := r.Close(); err != nil {
		t.Errorf("close: %v", err)
	}
}

// wait fails the test when the condition does not come true within a generous time.
func wait(t *testing.T, s *sim.Server, what string, until func(*sim.Server) bool) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	if err := s.Wait(ctx, until); err != nil {
		t.Fatalf("waiting until %s: %v", what, err)
	}
}

func waitPhase(t *testing.T, s *sim.Server, p sim.Phase) {
	t.Helper()
	wait(t, s, string(p), func(s *sim.Server) bool { return s.Phase() == p })
}

// appliance is what a server finds on the network: boot files and the door for reports.
type appliance struct {
	*httptest.Server
	mu      sync.Mutex
	script  string
	answers []int // of the report door; the last one counts for all that follow
	seen    []string
	reports []report
	// before, when set, handles a request first; true means that it is done with.
	before func(http.ResponseWriter, *http.Request) bool
}

type report struct {
	header http.Header
	query  string
	body   []byte
}

const bootScript = `#!ipxe
kernel /boot/kernel ipa-inspection-callback-url=BASE/v1/continue_inspection?attempt=t0k3n ipa-inspection-collectors=default,logs nofb
initrd /boot/initrd
boot
`

func newAppliance(t *testing.T) *appliance {
	t.Helper()
	a := &appliance{script: bootScript, answers: []int{http.StatusAccepted}}
	a.Server = httptest.NewServer(http.HandlerFunc(a.serve))
	t.Cleanup(a.Close)
	return a
}

func (a *appliance) serve(w http.ResponseWriter, r *http.Request) {
	a.mu.Lock()
	a.seen = append(a.seen, r.Method+" "+r.URL.RequestURI())
	before := a.before
	a.mu.Unlock()
	if before != nil && before(w, r) {
		return
	}
	switch {
	case r.URL.Path == "/boot.ipxe":
		a.mu.Lock()
		defer a.mu.Unlock()
		_, _ = io.WriteString(w, strings.ReplaceAll(a.script, "BASE", a.URL))
	case r.Method == http.MethodPost:
		a.takeReport(w, r)
	case strings.HasPrefix(r.URL.Path, "/boot/"):
		_, _ = w.Write(make([]byte, 4096))
	default:
		http.NotFound(w, r)
	}
}

func (a *appliance) takeReport(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	a.reports = append(a.reports, report{r.Header.Clone(), r.URL.RawQuery, body})
	status := a.answers[0]
	if len(a.answers) > 1 {
		a.answers = a.answers[1:]
	}
	w.WriteHeader(status)
	_, _ = fmt.Fprintf(w, `{"uuid":%q}`, node.NewUUID())
}

func (a *appliance) requests() []string {
	a.mu.Lock()
	defer a.mu.Unlock()
	return append([]string(nil), a.seen...)
}

func (a *appliance) received() []report {
	a.mu.Lock()
	defer a.mu.Unlock()
	return append([]report(nil), a.reports...)
}

// call is one request to a Redfish BMC as the rack's user; the answer's body is decoded where there is one.
func call(t *testing.T, s *sim.Server, method, path, body string, header ...string) (*http.Response, map[string]any) {
	t.Helper()
	return send(t, s, method, path, body, func(r *http.Request) {
		r.SetBasicAuth(s.User, string(s.Password))
		for i := 0; i+1 < len(header); i += 2 {
			r.Header.Set(header[i], header[i+1])
		}
	})
}

func send(t *testing.T, s *sim.Server, method, path, body string, prepare func(*http.Request)) (*http.Response, map[string]any) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, method, s.Address+path, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	prepare(req)
	res, err := web.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = res.Body.Close() }()
	raw, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	if len(raw) == 0 {
		return res, nil
	}
	var doc map[string]any
	if err := json.Unmarshal(raw, &doc); err != nil {
		t.Fatalf("%s %s: %v in %q", method, path, err, raw)
	}
	return res, doc
}

// web keeps no connections, so that none is left when the tests end.
var web = &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}

const (
	system = "/redfish/v1/Systems/1"
	reset  = system + "/Actions/ComputerSystem.Reset"
)

func setBoot(t *testing.T, s *sim.Server, enabled string) {
	t.Helper()
	res, doc := call(t, s, http.MethodPatch, system, `{"Boot":{"BootSourceOverrideTarget":"Pxe","BootSourceOverrideEnabled":"`+enabled+`"}}`)
	if res.StatusCode != http.StatusNoContent {
		t.Fatalf("boot override: %s %v", res.Status, doc)
	}
}

func resetTo(t *testing.T, s *sim.Server, kind string, want int) {
	t.Helper()
	if res, doc := call(t, s, http.MethodPost, reset, `{"ResetType":"`+kind+`"}`); res.StatusCode != want {
		t.Fatalf("reset %s: %s %v, want %d", kind, res.Status, doc, want)
	}
}

// netbootOnce boots a Redfish server over the network as an inspection does.
func netbootOnce(t *testing.T, s *sim.Server) {
	t.Helper()
	setBoot(t, s, "Once")
	resetTo(t, s, "On", http.StatusNoContent)
}
