package main

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"testing"

	"cagenut/bmc/sim"
	"cagenut/node"
)

// asked is what is answered to a request of the newest version.
func (a *testAppliance) asked(method, path string, body any, want int) string {
	a.t.Helper()
	status, _, got := a.send(method, path, "latest", body)
	if status != want {
		a.t.Fatalf("%s %s: got %d %s", method, path, status, got)
	}
	return string(got)
}

// switchedOn lets a server have a fault from now on.
func switchedOn(t *testing.T, s *sim.Server, f sim.Fault) {
	t.Helper()
	if err := s.SwitchOn(f, sim.Strength{}); err != nil {
		t.Fatal(err)
	}
}

// audited are what was done to a node, without whom.
func (a *testAppliance) audited(name string) string {
	a.t.Helper()
	n, err := a.store.Node(a.t.Context(), name)
	if err != nil {
		a.t.Fatal(err)
	}
	all, err := a.store.Audits(a.t.Context(), n.UUID)
	if err != nil {
		a.t.Fatal(err)
	}
	var lines []string
	for _, l := range all {
		lines = append(lines, l.Action+": "+l.Result)
	}
	return strings.Join(lines, "\n")
}

// What BMCs have beyond power and boot goes all the way from the API to the wire (contract.md §3.6).
func TestTheAbilitiesOfABMCAreReachedOverTheWire(t *testing.T) {
	a := serveForTest(t, true)
	for _, s := range a.rack(sim.Options{Servers: 2, IPMI: 1}) {
		t.Run(s.Driver, func(t *testing.T) {
			a := &testAppliance{appliance: a.appliance, t: t, base: a.base}
			a.lights(s)
			a.interrupts(s)
			a.tellsItsHealth(s)
			if s.Driver == node.DriverIPMI {
				a.lacksMediaAndSettings(s)
				return
			}
			a.changesMedia(s)
			a.readsSettings(s)
		})
	}
}

func (a *testAppliance) lights(s *sim.Server) {
	a.t.Helper()
	path := "/v1/nodes/" + s.Name + "/management/indicators"
	states := map[string]string{node.DriverRedfish: `["blinking","off","on"]`, node.DriverIPMI: `["off","on"]`}[s.Driver]
	if got := a.asked("GET", path, nil, 200); !strings.Contains(got, `"name":"led@system","readonly":false,"states":`+states) {
		a.t.Errorf("indicators: %s", got)
	}
	for _, state := range []node.Indicator{node.IndicatorOn, node.IndicatorOff} {
		a.asked("PUT", path+"/led@system", map[string]any{"state": state}, 204)
		if got := a.asked("GET", path+"/led@system", nil, 200); s.Indicator() != state || got != fmt.Sprintf(`{"state":%q}`, state) {
			a.t.Errorf("set to %s, the light is %s and the answer %s", state, s.Indicator(), got)
		}
	}
	if got := a.audited(s.Name); !strings.Contains(got, "indicator on: accepted") {
		a.t.Errorf("the audit is\n%s", got)
	}
}

func (a *testAppliance) interrupts(s *sim.Server) {
	a.t.Helper()
	s.SetPower(node.PowerOn)
	before := s.Interrupts()
	a.asked("PUT", "/v1/nodes/"+s.Name+"/management/inject_nmi", map[string]any{}, 204)
	if got := s.Interrupts() - before; got != 1 {
		a.t.Errorf("interrupted %d times", got)
	}
	if got := a.audited(s.Name); !strings.Contains(got, "inject NMI: accepted") {
		a.t.Errorf("the audit is\n%s", got)
	}
}

func (a *testAppliance) tellsItsHealth(s *sim.Server) {
	a.t.Helper()
	var well, ill struct {
		Overall     *string
		Parts       []struct{ Part, Health string }
		Sensors     []struct{ Name, Kind string }
		Log         []struct{ Message string }
		Unsupported []string
	}
	path := "/cagenut/v1/nodes/" + s.Name + "/health"
	if err := json.Unmarshal([]byte(a.asked("GET", path, nil, 200)), &well); err != nil {
		a.t.Fatal(err)
	}
	if len(well.Parts) != 0 || len(well.Sensors) < 5 || len(well.Log) == 0 || len(well.Unsupported) != 0 {
		a.t.Errorf("a server that is well: %+v", well)
	}
	switchedOn(a.t, s, sim.FaultFailedPSU)
	defer s.Heal()
	if err := json.Unmarshal([]byte(a.asked("GET", path, nil, 200)), &ill); err != nil {
		a.t.Fatal(err)
	}
	if ill.Overall == nil || *ill.Overall != "Critical" || len(ill.Parts) == 0 || len(ill.Log) != len(well.Log)+1 {
		a.t.Errorf("a server whose power supply has failed: %+v", ill)
	}
}

func (a *testAppliance) changesMedia(s *sim.Server) {
	a.t.Helper()
	path := "/v1/nodes/" + s.Name + "/vmedia"
	a.asked("POST", path, map[string]any{"device_type": "cdrom", "image_url": "http://me:not-a-real-one@192.0.2.1/a.iso?signed=by-nobody"}, 204)
	if in := s.Media(); len(in) != 1 || !slices.Contains(slices.Collect(maps.Values(in)), "http://192.0.2.1/a.iso?signed=by-nobody") {
		a.t.Errorf("inserted are %v", in)
	}
	if got := a.asked("GET", path, nil, 200); !strings.Contains(got, `{"image":"http://192.0.2.1/a.iso","inserted":true,"media_types":[`) {
		a.t.Errorf("shown is %s", got)
	}
	a.asked("DELETE", path+"?device_types=floppy", nil, 204)
	if len(s.Media()) != 1 {
		a.t.Error("another kind was ejected")
	}
	a.asked("DELETE", path+"?device_types=cdrom", nil, 204)
	if in := s.Media(); len(in) != 0 {
		a.t.Errorf("still inserted are %v", in)
	}
	switchedOn(a.t, s, sim.FaultLicence)
	defer s.Heal()
	refused := a.asked("POST", path, map[string]any{"device_type": "cdrom", "image_url": "http://me:not-a-real-one@192.0.2.1/b.iso?signed=by-nobody"}, 502)
	audit := a.audited(s.Name)
	for _, secret := range []string{"not-a-real-one", "by-nobody"} {
		if strings.Contains(refused, secret) || strings.Contains(audit, secret) {
			a.t.Errorf("%s stands in the answer %s or in the audit\n%s", secret, refused, audit)
		}
	}
	for _, line := range []string{"attach virtual media cdrom http://192.0.2.1/a.iso: accepted", "detach virtual media cdrom: accepted", "attach virtual media cdrom http://192.0.2.1/b.iso: "} {
		if !strings.Contains(audit, line) {
			a.t.Errorf("%q is not in the audit\n%s", line, audit)
		}
	}
}

func (a *testAppliance) readsSettings(s *sim.Server) {
	a.t.Helper()
	path := "/v1/nodes/" + s.Name
	for part, want := range map[string]string{
		"/bios": `"name":"PowerOnDelaySeconds","updated_at":null,"value":"0"}`, "/bios?detail=true": `"attribute_type":null`, "/bios/NumLock": `"value":"On"}}`,
		"/firmware": `{"component":"bios","created_at":"`,
	} {
		if got := a.asked("GET", path+part, nil, 200); !strings.Contains(got, want) {
			a.t.Errorf("%s: %s", part, got)
		}
	}
	a.asked("GET", path+"/bios/NoSuchThing", nil, 404)
	before := len(s.Requests())
	a.asked("PATCH", path, []map[string]any{{"op": "replace", "path": "/bios_interface", "value": "no-bios"}, {"op": "replace", "path": "/firmware_interface", "value": "no-firmware"}}, 200)
	if bios, firmware := a.asked("GET", path+"/bios", nil, 200), a.asked("GET", path+"/firmware", nil, 200); bios != `{"bios":[]}` || firmware != `{"firmware":[]}` || len(s.Requests()) != before {
		a.t.Errorf("interfaces that read nothing show %s and %s after %d requests", bios, firmware, len(s.Requests())-before)
	}
}

func (a *testAppliance) lacksMediaAndSettings(s *sim.Server) {
	a.t.Helper()
	path := "/v1/nodes/" + s.Name
	for _, r := range []struct {
		method, path string
		body         any
	}{{"GET", "/vmedia", nil}, {"DELETE", "/vmedia", nil}, {"POST", "/vmedia", map[string]any{"device_type": "cdrom", "image_url": "http://192.0.2.1/a.iso"}}, {"PUT", "/management/indicators/led@system", map[string]any{"state": "blinking"}}} {
		if got := a.asked(r.method, path+r.path, r.body, 400); !strings.Contains(got, "Driver ipmi does not support") {
			a.t.Errorf("%s %s: %s", r.method, r.path, got)
		}
	}
	if bios, firmware := a.asked("GET", path+"/bios", nil, 200), a.asked("GET", path+"/firmware", nil, 200); bios != `{"bios":[]}` || firmware != `{"firmware":[]}` {
		a.t.Errorf("got %s and %s", bios, firmware)
	}
}

// A node that a worker holds is told so, and what only reads needs no reservation.
func TestAHeldNodeIsReadAndNotChanged(t *testing.T) {
	a := serveForTest(t, false)
	a.conductor.LockPatience = 0
	n, _ := a.nodeIn(node.Manageable, "fake")
	if _, err := a.store.Move(t.Context(), node.Move{Node: n.UUID, From: node.Manageable, Hold: "test", Host: "test", Actor: node.System(), At: a.conductor.Clock.Now()}); err != nil {
		t.Fatal(err)
	}
	if now, err := a.store.Node(t.Context(), n.UUID); err != nil || !now.Reserved() {
		t.Fatalf("nobody holds the node: %+v, %v", now, err)
	}
	path := "/v1/nodes/" + n.UUID
	if got := a.asked(http.MethodGet, path+"/management/indicators/led@system", nil, 200); got != `{"state":"off"}` {
		t.Errorf("got %s", got)
	}
	for _, r := range [][3]string{{"PUT", "/management/indicators/led@system", `{"state":"on"}`}, {"PUT", "/management/inject_nmi", `{}`}, {"DELETE", "/vmedia", ""}, {"POST", "/vmedia", `{"device_type":"cdrom","image_url":"http://192.0.2.1/a"}`}} {
		if got := a.asked(r[0], path+r[1], []byte(r[2]), 409); !strings.Contains(got, "is locked by host") {
			t.Errorf("%s %s: %s", r[0], r[1], got)
		}
	}
}
