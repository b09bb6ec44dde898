package sim_test

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"cagenut/bmc/sim"
	"cagenut/node"
)

// control is a rack with its control API.
type control struct {
	*httptest.Server
	rack *sim.Rack
}

func startControl(t *testing.T, o sim.Options) control {
	t.Helper()
	r := startRack(t, o)
	c := control{httptest.NewServer(r.Control()), r}
	t.Cleanup(c.Close)
	return c
}

// do is one call; into may be nil.
func (c control) do(t *testing.T, method, path, body string, into any) int {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), method, c.URL+path, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	res, err := web.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = res.Body.Close() }()
	if into == nil {
		into = &map[string]any{}
	}
	if err := json.NewDecoder(res.Body).Decode(into); err != nil || res.Header.Get("Content-Type") != "application/json" {
		t.Fatalf("%s %s: %v, %s", method, path, err, res.Header.Get("Content-Type"))
	}
	return res.StatusCode
}

func TestControlShowsEveryServer(t *testing.T) {
	c := startControl(t, sim.Options{Servers: 3, IPMI: 1})
	var list []map[string]any
	if got := c.do(t, "GET", "/servers", "", &list); got != 200 || len(list) != 3 {
		t.Fatalf("%d, %v", got, list)
	}
	for i, s := range c.rack.Servers() {
		v := list[i]
		if v["name"] != s.Name || v["driver"] != s.Driver || v["address"] != s.Address || v["port"] != float64(s.Port) || v["power"] != "power off" || v["state"] != "off" || v["mac"] != s.BootMAC {
			t.Errorf("%v", v)
		}
		if info := v["driver_info"].(map[string]any); info[s.Driver+"_username"] != s.User {
			t.Errorf("%v", info)
		}
	}
	s := c.rack.Servers()[0]
	netbootOnce(t, s)
	login(t, s)
	insertInto(t, s, cdSlot, `{"Image":"http://127.0.0.1:1/tools.iso?token=s3cret"}`)
	var one struct {
		Power, State string
		Boot         struct{ Device string }
		Media        map[string]string
		Sessions     sim.SessionCounts
	}
	if got := c.do(t, "GET", "/servers/"+s.Name, "", &one); got != 200 || one.Power != "power on" || one.Media["1"] != "http://127.0.0.1:1/tools.iso" || one.Sessions.Open != 1 {
		t.Errorf("%d, %+v", got, one)
	}
}

func TestControlSwitchesFaults(t *testing.T) {
	c := startControl(t, sim.Options{Servers: 3, IPMI: 1})
	s := c.rack.Servers()[0]
	path := "/servers/" + s.Name + "/faults"
	if got := c.do(t, "PUT", path+"/busy", `{"count":2}`, nil); got != 200 {
		t.Fatal(got)
	}
	get := func() int { return status(t, s, http.MethodGet, system, "") }
	var shown struct {
		Faults map[string]struct{ Count int }
	}
	one := get()
	c.do(t, "GET", "/servers/"+s.Name, "", &shown)
	expect(t, "busy twice", []int{one, shown.Faults["busy"].Count, get(), get()}, []int{503, 1, 503, 200})

	var names struct{ Servers []string }
	c.do(t, "PUT", "/servers/*/faults/no-media", "", &names)
	if len(names.Servers) != 2 {
		t.Errorf("those that speak Redfish: %v", names)
	}
	c.do(t, "PUT", "/servers/*/faults/slow", `{"delay":"1ms"}`, &names)
	if len(names.Servers) != 3 {
		t.Errorf("all: %v", names)
	}
	c.do(t, "DELETE", path+"/slow", "", nil)
	if f := s.ActiveFaults(); len(f) != 1 {
		t.Errorf("one healed: %v", f)
	}
	c.do(t, "DELETE", "/servers/*/faults", "", nil)
	for _, s := range c.rack.Servers() {
		if f := s.ActiveFaults(); len(f) != 0 {
			t.Errorf("all healed: %v", f)
		}
	}
}

func TestControlRefusesWhatItDoesNotKnow(t *testing.T) {
	c := startControl(t, sim.Options{Servers: 2})
	fault := "/servers/r1-u01/faults/busy"
	for _, r := range []struct {
		method, path, body string
		want               int
	}{
		{"PUT", "/servers/r9-u01/faults/busy", "", 404},
		{"PUT", "/servers/r1-u01/faults/bad-mood", "", 404},
		{"DELETE", "/servers/r1-u01/faults/bad-mood", "", 404},
		{"PUT", "/servers/*/faults/suite-3-only", "", 400},
		{"PUT", "/servers/r1-u01/faults/suite-3-only", "", 400},
		{"PUT", fault, `{"count":-1}`, 400},
		{"PUT", fault, `{"count":"2"}`, 400},
		{"PUT", fault, `{"times":2}`, 400},
		{"PUT", fault, `{"count":2}{}`, 400},
		{"PUT", fault, `{"count":2} }`, 400},
		{"PUT", fault, `[]`, 400},
		{"PUT", fault, `{"delay":"soon"}`, 400},
		{"PUT", fault, `{"delay":"-1s"}`, 400},
		{"PUT", fault, `{"percent":101}`, 400},
		{"PUT", "/servers/r1-u01/faults/no-media", `{"count":1}`, 400},
		{"PUT", fault, `{"delay":"` + strings.Repeat("1", 100<<10) + `s"}`, 400},
		{"POST", fault, "", 404},
		{"GET", "/", "", 404},
		{"PUT", "/servers/r1-u01/power", `{"power":"reboot"}`, 400},
		{"PUT", "/servers/r1-u01/power", "", 400},
		{"POST", "/servers/r1-u01/report", `{"to":"file:///tmp/x"}`, 400},
		{"POST", "/servers/r1-u01/report", `{"to":"http://127.0.0.1:1/x?attempt=s3cret"}`, 502},
	} {
		var said map[string]string
		if got := c.do(t, r.method, r.path, r.body, &said); got != r.want || said["error"] == "" || strings.Contains(said["error"], "s3cret") {
			t.Errorf("%s %s %.40s: %d %v, want %d", r.method, r.path, r.body, got, said, r.want)
		}
	}
	if f := c.rack.Servers()[0].ActiveFaults(); len(f) != 0 {
		t.Errorf("something was switched on: %v", f)
	}
}

func TestControlAnswersItsOwnMachineAlone(t *testing.T) {
	c := startControl(t, sim.Options{Servers: 1})
	for host, want := range map[string]int{"127.0.0.1:7700": 200, "localhost": 200, "[::1]:7700": 200, "rebound.example": 403, "192.0.2.1": 403} {
		req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, c.URL+"/servers", nil)
		if err != nil {
			t.Fatal(err)
		}
		req.Host = host
		res, err := web.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		_ = res.Body.Close()
		if res.StatusCode != want {
			t.Errorf("%s: %d, want %d", host, res.StatusCode, want)
		}
	}
}

func TestControlShowsAndForgetsTheRequestLog(t *testing.T) {
	c := startControl(t, sim.Options{Servers: 2, IPMI: 1})
	var redfish, ipmi *sim.Server
	for _, s := range c.rack.Servers() {
		if s.Driver == node.DriverIPMI {
			ipmi = s
		} else {
			redfish = s
		}
	}
	token, _ := login(t, redfish)
	send(t, redfish, http.MethodGet, "/redfish/v1/Nothing", "", withToken(token))
	resetTo(t, redfish, "On", 204)
	if err := pxe(t, ipmi); err != nil {
		t.Fatal(err)
	}
	type entry struct {
		At, Method, Path, Detail, By string
		Status                       *int
	}
	var log map[string][]entry
	c.do(t, "GET", "/servers/*/requests", "", &log)
	want := [][4]any{{"POST", "", "", 201}, {"GET", "", "session 1", 404}, {"POST", "On", redfish.User, 204}}
	for i, e := range log[redfish.Name] {
		if got := [4]any{e.Method, e.Detail, e.By, *e.Status}; got != want[i] || e.At == "" {
			t.Errorf("%v, want %v", got, want[i])
		}
	}
	if !slices.ContainsFunc(log[ipmi.Name], func(e entry) bool {
		return e.Method == "IPMI" && e.Path == "Set System Boot Options" && e.Detail == "Boot Flags device=pxe" && e.By == ipmi.User && *e.Status == 0
	}) {
		t.Errorf("%+v", log[ipmi.Name])
	}
	c.do(t, "DELETE", "/servers/"+redfish.Name+"/requests", "", nil)
	log = nil
	if c.do(t, "GET", "/servers/"+redfish.Name+"/requests", "", &log); len(log) != 1 || len(log[redfish.Name]) != 0 {
		t.Errorf("after forgetting: %v", log)
	}
}

func TestControlPlaysTheMachine(t *testing.T) {
	a := newAppliance(t)
	c := startControl(t, sim.Options{Servers: 1, BootURL: a.URL})
	s := c.rack.Servers()[0]
	c.do(t, "PUT", "/servers/*/hold", "", nil)
	netbootOnce(t, s)
	waitPhase(t, s, sim.PhaseRamdisk)
	var statuses map[string]int
	if c.do(t, "POST", "/servers/"+s.Name+"/report", `{"to":"`+a.URL+`/late"}`, &statuses); statuses[s.Name] != 202 {
		t.Errorf("%v", statuses)
	}
	c.do(t, "POST", "/servers/"+s.Name+"/report", "", nil)
	waitPhase(t, s, sim.PhaseDone)
	if got := len(a.received()); got != 2 {
		t.Errorf("%d reports", got)
	}
	c.do(t, "PUT", "/servers/"+s.Name+"/power", `{"power":"off"}`, nil)
	if s.Power() != node.PowerOff {
		t.Error(s.Power())
	}
	login(t, s)
	if c.do(t, "DELETE", "/servers/*/sessions", "", nil); s.OpenSessions() != 0 {
		t.Errorf("%d sessions", s.OpenSessions())
	}
}

func TestControlListsTheFaults(t *testing.T) {
	c := startControl(t, sim.Options{Servers: 1})
	var list []struct {
		Fault, What string
		Drivers     []string
	}
	if c.do(t, "GET", "/faults", "", &list); len(list) != len(sim.AllFaults()) || list[0].Fault != "slow" || list[0].What == "" || len(list[0].Drivers) != 2 {
		t.Errorf("%d: %+v", len(list), list[0])
	}
}

func TestIPMISessionsAreCounted(t *testing.T) {
	s := startIPMI(t, sim.Options{})
	mustDial(t, s)
	if got := s.Sessions(); got != (sim.SessionCounts{Open: 1, Opened: 1}) {
		t.Errorf("%+v", got)
	}
}

func TestLogOfABusyBMCKeepsTheNewest(t *testing.T) {
	s := startRack(t, sim.Options{Servers: 1, KeepRequests: 10}).Servers()[0]
	for range 25 {
		shown(t, s, system)
	}
	resetTo(t, s, "On", 204)
	log := s.Requests()
	if len(log) > 10 || log[len(log)-1].Detail != "On" || log[len(log)-1].Status != 204 {
		t.Errorf("%d: %v", len(log), log)
	}
}

func TestAllBMCsMayShareAnAddress(t *testing.T) {
	servers := startRack(t, sim.Options{Servers: 3, IPMI: 1, FirstAddress: "127.77.9.9", FirstPort: 21700}).Servers()
	for i, s := range servers {
		if !strings.Contains(s.Address, "127.77.9.9") || s.Port != 21700+i {
			t.Errorf("%s: %s, port %d", s.Name, s.Address, s.Port)
		}
	}
}
