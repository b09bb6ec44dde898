package e2e_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os/exec"
	"strings"
	"sync"
	"testing"

	"cagenut/e2e/process"
)

// loginRack is simulated BMCs, each behind a proxy that overhears the tokens of its sessions.
type loginRack struct {
	t       *testing.T
	control string
	names   []string

	mu     sync.Mutex
	tokens []string
}

// startLoginRack runs the simulator until the test ends. It must outlive the appliances that are asked about.
func startLoginRack(t *testing.T, servers int) *loginRack {
	t.Helper()
	var out process.Output
	cmd := exec.Command(binary, "sim", "--servers", fmt.Sprint(servers), "--redfish", "--control", "127.0.0.1:0", "--listen", "127.77.61.1")
	cmd.Env, cmd.Stdout, cmd.Stderr = process.Environment(t), &out, &out
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Kill() // nothing of it is kept
		_ = cmd.Wait()
	})
	r := &loginRack{t: t}
	until(t, "the address of the simulator", func() (ok bool) {
		r.control, ok = out.Line("Control: ")
		return ok
	})
	return r
}

type bmcDoc struct {
	Name       string         `json:"name"`
	Address    string         `json:"address"`
	DriverInfo map[string]any `json:"driver_info"`
	Sessions   struct{ Open, Opened, Leaked int }
}

// call uses the simulator's control API.
func (r *loginRack) call(method, path string, into any) {
	r.t.Helper()
	req, err := http.NewRequestWithContext(r.t.Context(), method, r.control+path, strings.NewReader("{}"))
	if err != nil {
		r.t.Fatal(err)
	}
	res, err := client.Do(req)
	if err != nil {
		r.t.Fatal(err)
	}
	defer func() { _ = res.Body.Close() }()
	if res.StatusCode >= 300 {
		r.t.Fatalf("%s %s: %s", method, path, res.Status)
	}
	if into == nil {
		return
	}
	if err := json.NewDecoder(res.Body).Decode(into); err != nil {
		r.t.Fatal(err)
	}
}

func (r *loginRack) bmc(name string) (b bmcDoc) {
	r.t.Helper()
	r.call("GET", "/servers/"+name, &b)
	return b
}

// enrol makes the rack's nodes and waits until they are manageable.
func (r *loginRack) enrol(a *appliance) {
	r.t.Helper()
	var all []bmcDoc
	r.call("GET", "/servers", &all)
	for _, b := range all {
		b.DriverInfo["redfish_address"] = r.overhear(b.Address)
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
	rack := startLoginRack(t, 3)
	a := serveOn(t, dir)
	rack.enrol(a)
	stays, leaves, hangs := rack.names[0], rack.names[1], rack.names[2]
	for _, name := range rack.names {
		if s := rack.bmc(name).Sessions; s.Open != 1 || s.Opened != 1 {
			t.Fatalf("%s has %+v, want one session", name, s)
		}
	}
	// One node is deleted while its BMC hangs, so that nobody can log out there before the kill.
	rack.call("PUT", "/servers/"+hangs+"/faults/hang", nil)
	must[any](a, "DELETE", "/v1/nodes/"+hangs, nil)
	a.kill()
	rack.noToken(dir, a)
	rack.call("DELETE", "/servers/"+hangs+"/faults", nil)

	a = serveOn(t, dir, "--power-sync-interval", "0")
	until(t, "the session of the node that was deleted before the kill is ended", func() bool { return rack.bmc(hangs).Sessions.Open == 0 })
	must[any](a, "DELETE", "/v1/nodes/"+leaves, nil)
	until(t, "the session of a node that is deleted after it is ended", func() bool { return rack.bmc(leaves).Sessions.Open == 0 })
	must[any](a, "GET", "/v1/nodes/"+stays+"/management/boot_device", nil)
	if s := rack.bmc(stays).Sessions; s.Open != 1 || s.Opened != 1 {
		t.Errorf("%s has %+v, want the session of before the kill", stays, s)
	}
	a.stop()
	rack.noToken(dir, a)
	for _, name := range rack.names {
		if s := rack.bmc(name).Sessions; s.Open != 0 || s.Leaked != 0 {
			t.Errorf("%s has %+v after the end, want no session", name, s)
		}
	}
}
