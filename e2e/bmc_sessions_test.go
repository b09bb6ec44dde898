package e2e_test

import (
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"strings"
	"sync"
	"testing"
)

// loginRack is simulated BMCs, each behind a proxy that overhears the tokens of its sessions.
type loginRack struct {
	*simulator
	names []string

	mu     sync.Mutex
	tokens []string
}

// sessionsDoc is how often somebody has logged in to a BMC.
type sessionsDoc struct{ Open, Opened, Leaked int }

func (r *loginRack) sessions(name string) sessionsDoc {
	r.t.Helper()
	var d struct{ Sessions sessionsDoc }
	r.call("GET", "/servers/"+name, "", &d)
	return d.Sessions
}

// enrol makes the rack's nodes and waits until they are manageable.
func (r *loginRack) enrol(a *appliance) {
	r.t.Helper()
	var all []serverDoc
	r.call("GET", "/servers", "", &all)
	for _, b := range all {
		b.DriverInfo["redfish_address"] = r.overhear(b.DriverInfo["redfish_address"].(string))
		must[any](a, "POST", "/v1/nodes", map[string]any{"name": b.Name, "driver": "redfish", "driver_info": b.DriverInfo})
		a.verb(b.Name, "manage")
		r.names = append(r.names, b.Name)
	}
	for _, name := range r.names {
		a.waitFor(name, "manageable")
	}
}

// overhear is the address of a proxy in front of a BMC.
func (r *loginRack) overhear(bmc string) string {
	r.t.Helper()
	target, err := url.Parse(bmc)
	if err != nil {
		r.t.Fatal(err)
	}
	proxy := httputil.NewSingleHostReverseProxy(target)
	proxy.ModifyResponse = func(res *http.Response) error {
		if token := res.Header.Get("X-Auth-Token"); token != "" {
			r.mu.Lock()
			defer r.mu.Unlock()
			r.tokens = append(r.tokens, token)
		}
		return nil
	}
	proxy.ErrorHandler = func(http.ResponseWriter, *http.Request, error) { panic(http.ErrAbortHandler) } // the appliance was killed
	server := httptest.NewServer(proxy)
	r.t.Cleanup(server.Close)
	return server.URL
}

// noToken looks for the tokens in all files of a folder, and in what an appliance has said.
func (r *loginRack) noToken(dir string, a *appliance) {
	r.t.Helper()
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.tokens) < len(r.names) {
		r.t.Fatalf("only %d tokens were overheard", len(r.tokens))
	}
	for _, token := range r.tokens {
		noTrace(r.t, dir, token)
		if strings.Contains(a.errs.String()+a.out.String(), token) {
			r.t.Error("a token is in the log")
		}
	}
}

// A BMC has a handful of sessions: none may stay behind, however the appliance ends (issue 4, point 5).
func TestAfterAKillNoSessionStaysAtABMC(t *testing.T) {
	dir := withBootFiles(t)
	rack := &loginRack{simulator: simulate(t, "--servers", "3", "--redfish", "--listen", "127.77.61.1")}
	a := serveOn(t, dir)
	rack.enrol(a)
	stays, leaves, hangs := rack.names[0], rack.names[1], rack.names[2]
	for _, name := range rack.names {
		if s := rack.sessions(name); s.Open != 1 || s.Opened != 1 {
			t.Fatalf("%s has %+v, want one session", name, s)
		}
	}
	// One node is deleted while its BMC hangs, so that nobody can log out there before the kill.
	rack.sicken(hangs, "hang")
	must[any](a, "DELETE", "/v1/nodes/"+hangs, nil)
	a.kill()
	rack.noToken(dir, a)
	rack.heal(hangs, "hang")

	a = serveOn(t, dir, "--power-sync-interval", "0")
	until(t, "the session of the node that was deleted before the kill is ended", func() bool { return rack.sessions(hangs).Open == 0 })
	must[any](a, "DELETE", "/v1/nodes/"+leaves, nil)
	until(t, "the session of a node that is deleted after it is ended", func() bool { return rack.sessions(leaves).Open == 0 })
	must[any](a, "GET", "/v1/nodes/"+stays+"/management/boot_device", nil)
	if s := rack.sessions(stays); s.Open != 1 || s.Opened != 1 {
		t.Errorf("%s has %+v, want the session of before the kill", stays, s)
	}
	a.stop()
	rack.noToken(dir, a)
	for _, name := range rack.names {
		if s := rack.sessions(name); s.Open != 0 || s.Leaked != 0 {
			t.Errorf("%s has %+v after the end, want no session", name, s)
		}
	}
}
