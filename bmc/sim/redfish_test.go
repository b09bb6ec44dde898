package sim_test

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"cagenut/bmc/sim"
	"cagenut/node"
)

const sessionsAt = "/redfish/v1/SessionService/Sessions"

func anonymous(*http.Request) {}

func withToken(token string) func(*http.Request) {
	return func(r *http.Request) { r.Header.Set("X-Auth-Token", token) }
}

func credentials(s *sim.Server, password string) string {
	return `{"UserName":"` + s.User + `","Password":"` + password + `"}`
}

func TestRedfishAsksWhoCalls(t *testing.T) { // G37
	s := startRack(t, sim.Options{Servers: 1}).Servers()[0]
	for _, c := range []struct {
		name, path string
		who        func(*http.Request)
		want       int
	}{
		{"the root is open", "/redfish/v1/", anonymous, 200},
		{"the versions are open", "/redfish", anonymous, 200},
		{"systems are not", system, anonymous, 401},
		{"a wrong password", system, func(r *http.Request) { r.SetBasicAuth(s.User, "wrong") }, 401},
		{"a wrong user", system, func(r *http.Request) { r.SetBasicAuth("root", string(s.Password)) }, 401},
		{"an invented token", system, withToken("abc"), 401},
		{"user and password", system, func(r *http.Request) { r.SetBasicAuth(s.User, string(s.Password)) }, 200},
	} {
		t.Run(c.name, func(t *testing.T) {
			res, doc := send(t, s, http.MethodGet, c.path, "", c.who)
			if res.StatusCode != c.want {
				t.Errorf("%s, want %d", res.Status, c.want)
			}
			if c.want == 401 && (doc["error"] == nil || res.Header.Get("WWW-Authenticate") == "") {
				t.Errorf("a refusal without reason or challenge: %v", doc)
			}
		})
	}
}

func TestSessionLivesFromLoginToLogout(t *testing.T) {
	s := startRack(t, sim.Options{Servers: 1}).Servers()[0]
	res, _ := send(t, s, http.MethodPost, sessionsAt, credentials(s, string(s.Password)), anonymous)
	token, at := res.Header.Get("X-Auth-Token"), res.Header.Get("Location")
	if res.StatusCode != http.StatusCreated || token == "" || !strings.HasPrefix(at, sessionsAt+"/") {
		t.Fatalf("login: %s, location %q", res.Status, at)
	}
	for _, path := range []string{system, at} {
		if res, _ := send(t, s, http.MethodGet, path, "", withToken(token)); res.StatusCode != http.StatusOK {
			t.Errorf("%s with the token: %s", path, res.Status)
		}
	}
	if _, list := send(t, s, http.MethodGet, sessionsAt, "", withToken(token)); list["Members@odata.count"] != 1.0 {
		t.Errorf("sessions %v", list)
	}
	if res, _ := send(t, s, http.MethodDelete, at, "", withToken(token)); res.StatusCode != http.StatusNoContent {
		t.Errorf("logout: %s", res.Status)
	}
	if res, _ := send(t, s, http.MethodGet, system, "", withToken(token)); res.StatusCode != http.StatusUnauthorized {
		t.Errorf("the token after logout: %s", res.Status)
	}
	if res, _ := call(t, s, http.MethodDelete, at, ""); res.StatusCode != http.StatusNotFound {
		t.Errorf("logout again: %s", res.Status)
	}
}

func TestSessionsAreFew(t *testing.T) {
	s := startRack(t, sim.Options{Servers: 1}).Servers()[0]
	login := func() *http.Response {
		res, _ := send(t, s, http.MethodPost, sessionsAt, credentials(s, string(s.Password)), anonymous)
		return res
	}
	for login().StatusCode == http.StatusCreated {
		if s.OpenSessions() > 100 {
			t.Fatal("there is no limit")
		}
	}
	if res := login(); res.StatusCode != http.StatusServiceUnavailable || s.OpenSessions() != 8 {
		t.Errorf("over the limit: %s, %d sessions", res.Status, s.OpenSessions())
	}
	s.ExpireSessions()
	if res := login(); res.StatusCode != http.StatusCreated || s.OpenSessions() != 1 {
		t.Errorf("after the BMC forgot them: %s, %d sessions", res.Status, s.OpenSessions())
	}
	if res, _ := send(t, s, http.MethodPost, sessionsAt, credentials(s, "wrong"), anonymous); res.StatusCode != http.StatusUnauthorized {
		t.Errorf("a wrong password: %s", res.Status)
	}
}

func TestEveryLinkOfTheServiceLeadsSomewhere(t *testing.T) {
	s := startRack(t, sim.Options{Servers: 1}).Servers()[0]
	seen := map[string]bool{}
	var follow func(v any)
	follow = func(v any) {
		switch v := v.(type) {
		case []any:
			for _, e := range v {
				follow(e)
			}
		case map[string]any:
			if path, ok := v["@odata.id"].(string); ok && !seen[path] {
				seen[path] = true
				res, doc := call(t, s, http.MethodGet, path, "")
				if res.StatusCode != http.StatusOK || doc["@odata.type"] == nil {
					t.Errorf("%s: %s, type %v", path, res.Status, doc["@odata.type"])
				}
				follow(doc)
			}
			for _, e := range v {
				follow(e)
			}
		}
	}
	follow(map[string]any{"@odata.id": "/redfish/v1/"})
	for _, path := range []string{system, system + "/Processors/1", "/redfish/v1/Managers/1", "/redfish/v1/Chassis/1", sessionsAt} {
		if !seen[path] {
			t.Errorf("no link leads to %s", path)
		}
	}
	if res, _ := call(t, s, http.MethodGet, "/redfish/v1/Nothing", ""); res.StatusCode != http.StatusNotFound {
		t.Errorf("what is not there: %s", res.Status)
	}
}

func TestResetDoesWhatItsTypeSays(t *testing.T) { // G34
	for _, c := range []struct {
		name  string
		from  node.PowerState
		kind  string
		want  int
		power node.PowerState
	}{
		{"on", node.PowerOff, "On", 204, node.PowerOn},
		{"on when on", node.PowerOn, "On", 409, node.PowerOn},
		{"off", node.PowerOn, "ForceOff", 204, node.PowerOff},
		{"off when off", node.PowerOff, "ForceOff", 409, node.PowerOff},
		{"soft off", node.PowerOn, "GracefulShutdown", 204, node.PowerOff},
		{"restart", node.PowerOn, "ForceRestart", 204, node.PowerOn},
		{"soft restart", node.PowerOn, "GracefulRestart", 204, node.PowerOn},
		{"cycle when off", node.PowerOff, "PowerCycle", 409, node.PowerOff},
		{"an unknown type", node.PowerOn, "Explode", 400, node.PowerOn},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := startRack(t, sim.Options{Servers: 1}).Servers()[0]
			s.SetPower(c.from)
			resetTo(t, s, c.kind, c.want)
			shown := map[node.PowerState]string{node.PowerOn: "On", node.PowerOff: "Off"}[c.power]
			if _, doc := call(t, s, http.MethodGet, system, ""); s.Power() != c.power || doc["PowerState"] != shown {
				t.Errorf("%s, Redfish shows %v", s.Power(), doc["PowerState"])
			}
		})
	}
}

func TestPowerChangesAfterItsDelay(t *testing.T) {
	s := startRack(t, sim.Options{Servers: 1, PowerDelay: 150 * time.Millisecond}).Servers()[0]
	begin := time.Now()
	resetTo(t, s, "On", http.StatusNoContent)
	if s.Power() != node.PowerOff {
		t.Error("it is on at once")
	}
	wait(t, s, "on", func(s *sim.Server) bool { return s.Power() == node.PowerOn })
	if d := time.Since(begin); d < 150*time.Millisecond {
		t.Errorf("it was on after %s", d)
	}
}

func TestLaterPowerCommandReplacesOneOnItsWay(t *testing.T) {
	r := startRack(t, sim.Options{Servers: 1, PowerDelay: time.Hour})
	s := r.Servers()[0]
	resetTo(t, s, "On", http.StatusNoContent)
	resetTo(t, s, "ForceOff", http.StatusNoContent)
	closeRack(t, r) // does not wait an hour
	if s.Power() != node.PowerOff {
		t.Errorf("%s", s.Power())
	}
}

func TestBootOverrideIsChecked(t *testing.T) {
	pxe := node.Boot{Device: node.BootPXE}
	for _, c := range []struct {
		name, patch string
		want        int
		boot        node.Boot // from pxe once
	}{
		{"disk for good", `{"Boot":{"BootSourceOverrideTarget":"Hdd","BootSourceOverrideEnabled":"Continuous"}}`, 204, node.Boot{Device: node.BootDisk, Persistent: true}},
		{"CD, legacy", `{"Boot":{"BootSourceOverrideTarget":"Cd","BootSourceOverrideMode":"Legacy"}}`, 204, node.Boot{Device: node.BootCDROM}},
		{"disabled", `{"Boot":{"BootSourceOverrideEnabled":"Disabled"}}`, 204, node.Boot{}},
		{"an unknown target", `{"Boot":{"BootSourceOverrideTarget":"Tape"}}`, 400, pxe},
		{"an unknown duration", `{"Boot":{"BootSourceOverrideEnabled":"Twice"}}`, 400, pxe},
		{"an unknown mode", `{"Boot":{"BootSourceOverrideMode":"CoreBoot"}}`, 400, pxe},
		{"another property", `{"SerialNumber":"mine"}`, 400, pxe},
		{"no JSON", `Boot=Pxe`, 400, pxe},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := startRack(t, sim.Options{Servers: 1}).Servers()[0]
			setBoot(t, s, "Once")
			if res, doc := call(t, s, http.MethodPatch, system, c.patch); res.StatusCode != c.want || s.Boot() != c.boot {
				t.Errorf("%s %v: %+v, want %d and %+v", res.Status, doc, s.Boot(), c.want, c.boot)
			}
		})
	}
}

func TestETagGuardsTheBootOverride(t *testing.T) {
	s := startRack(t, sim.Options{Servers: 1}).Servers()[0]
	res, doc := call(t, s, http.MethodGet, system, "")
	tag := res.Header.Get("ETag")
	if tag == "" || doc["@odata.etag"] != tag {
		t.Fatalf("ETag %q in the header, %v in the body", tag, doc["@odata.etag"])
	}
	const patch = `{"Boot":{"BootSourceOverrideTarget":"Pxe","BootSourceOverrideEnabled":"Once"}}`
	if res, _ := call(t, s, http.MethodPatch, system, patch, "If-Match", tag); res.StatusCode != http.StatusNoContent {
		t.Errorf("with the current tag: %s", res.Status)
	}
	if res, _ := call(t, s, http.MethodPatch, system, patch, "If-Match", tag); res.StatusCode != http.StatusPreconditionFailed {
		t.Errorf("with a stale tag: %s", res.Status)
	}
	_, doc = call(t, s, http.MethodGet, system, "")
	boot := doc["Boot"].(map[string]any)
	if boot["BootSourceOverrideTarget"] != "Pxe" || boot["BootSourceOverrideEnabled"] != "Once" || boot["BootSourceOverrideMode"] != "UEFI" {
		t.Errorf("Redfish shows %v", boot)
	}
}
