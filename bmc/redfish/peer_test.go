package redfish_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"cagenut/bmc"
	"cagenut/bmc/redfish"
	"cagenut/node"
)

// peer is a BMC made by hand for one test: documents by path below /redfish/v1, and what it does beside showing them.
type peer struct {
	mu   sync.Mutex
	docs map[string]string
	// get answers a read by itself and says so.
	get func(w http.ResponseWriter, r *http.Request) bool
	// act carries out what is written to it.
	act   func(w http.ResponseWriter, r *http.Request, body map[string]any)
	sent  []string // "POST /path {body}"
	reads map[string]int
}

// newPeer has one system, one manager and one chassis, whose own words are given; further documents are added to docs.
func newPeer(system, manager, chassis string) *peer {
	member := func(path, more string) string {
		if more = strings.TrimSpace(more); more != "" {
			more = "," + more
		}
		return `{"@odata.id":"/redfish/v1` + path + `"` + more + `}`
	}
	return &peer{reads: map[string]int{}, docs: map[string]string{
		"": `{"RedfishVersion":"1.17.0","Systems":{"@odata.id":"/redfish/v1/Systems"},"Managers":{"@odata.id":"/redfish/v1/Managers"},` +
			`"Chassis":{"@odata.id":"/redfish/v1/Chassis"},"UpdateService":{"@odata.id":"/redfish/v1/UpdateService"}}`,
		"/Systems": links("/Systems/1"), "/Systems/1": member("/Systems/1", system),
		"/Managers": links("/Managers/1"), "/Managers/1": member("/Managers/1", manager),
		"/Chassis": links("/Chassis/1"), "/Chassis/1": member("/Chassis/1", chassis),
	}}
}

// expands makes the root offer members with their collections.
func (p *peer) expands() *peer {
	p.docs[""] = strings.Replace(p.docs[""], "{", `{"ProtocolFeaturesSupported":{"ExpandQuery":{"NoLinks":true,"Levels":true}},`, 1)
	return p
}

// links is a collection.
func links(paths ...string) string {
	var members []string
	for _, p := range paths {
		members = append(members, `{"@odata.id":"/redfish/v1`+p+`"}`)
	}
	return `{"Members":[` + strings.Join(members, ",") + `]}`
}

// to is a link as a property.
func to(key, path string) string { return fmt.Sprintf(`%q:{"@odata.id":"/redfish/v1%s"}`, key, path) }

func (p *peer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	path := strings.TrimPrefix(strings.TrimRight(r.URL.Path, "/"), "/redfish/v1")
	if r.Method != http.MethodGet {
		var body map[string]any
		_ = json.NewDecoder(r.Body).Decode(&body)
		b, _ := json.Marshal(body)
		p.mu.Lock()
		defer p.mu.Unlock()
		p.sent = append(p.sent, fmt.Sprintf("%s %s %s", r.Method, path, b))
		p.act(w, r, body)
		return
	}
	p.mu.Lock()
	p.reads[path]++
	get := p.get
	p.mu.Unlock()
	if get != nil && get(w, r) {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	doc, ok := p.docs[path]
	if !ok {
		w.WriteHeader(http.StatusNotFound)
		return
	}
	_, _ = w.Write([]byte(doc))
}

// patient is for BMCs that answer, however busy the machine is that the tests run on.
func patient() redfish.Options {
	o := quick()
	o.Try, o.Operation = 3*time.Second, 30*time.Second
	return o
}

// client starts the BMC.
func (p *peer) client(t *testing.T, o redfish.Options) bmc.Abilities {
	t.Helper()
	server := httptest.NewServer(p)
	t.Cleanup(server.Close)
	n := node.Node{UUID: node.NewUUID(), Driver: node.DriverRedfish, DriverInfo: map[string]any{"redfish_address": server.URL}}
	return abilities(t, open(t, newDriver(t, o), n))
}

// readsOf is how often a path was read.
func (p *peer) readsOf(path string) int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.reads[path]
}

// writes are what was written to it.
func (p *peer) writes() []string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return slices.Clone(p.sent)
}

// forget empties writes.
func (p *peer) forget() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.sent = nil
}
