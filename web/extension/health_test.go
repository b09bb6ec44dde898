package extension_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"testing"

	"cagenut/conductor"
	"cagenut/node"
)

// Condition is what the test has put there.
func (h *hall) Condition(_ context.Context, ident string, entries int) (conductor.Condition, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.broken != nil {
		return conductor.Condition{}, h.broken
	}
	if h.index(ident) < 0 || entries < 1 {
		return conductor.Condition{}, fmt.Errorf("asked for %d entries of %s", entries, ident)
	}
	return h.condition, nil
}

func TestHealthTellsWhatTheBMCSays(t *testing.T) {
	h := newHall()
	n := h.add("r07-u21", node.Manageable)
	warm, hot := 41.5, 85.0
	for name, tc := range map[string]struct {
		condition conductor.Condition
		want      string
	}{
		"everything": {conductor.Condition{
			Health:  node.HealthReport{Overall: node.HealthCritical, Parts: []node.PartHealth{{Part: "PSU 2", Health: node.HealthCritical, Message: "no input"}}},
			Sensors: []node.Sensor{{Name: "Inlet", Kind: node.SensorTemperature, Unit: "Cel", Reading: &warm, Health: node.HealthOK, UpperCritical: &hot}, {Name: "PSU 2", Kind: node.SensorOther, State: "Failed"}},
			Log:     []node.LogEntry{{ID: "2", At: noon, Severity: node.HealthCritical, Message: "Power supply 2 failed", Sensor: "PSU 2"}, {ID: "1", Message: "Log cleared"}},
		}, `"overall":"Critical","overall_since":null,"parts":[{"part":"PSU 2","health":"Critical","message":"no input"}],"sensors":[` +
			`{"name":"Inlet","kind":"temperature","unit":"Cel","reading":41.5,"state":null,"health":"OK","lower_critical":null,"lower_warning":null,"upper_warning":null,"upper_critical":85},` +
			`{"name":"PSU 2","kind":"other","unit":null,"reading":null,"state":"Failed","health":null,"lower_critical":null,"lower_warning":null,"upper_warning":null,"upper_critical":null}],"log":[` +
			`{"id":"2","at":"2026-11-30T14:02:11.000Z","severity":"Critical","message":"Power supply 2 failed","sensor":"PSU 2"},{"id":"1","at":null,"severity":null,"message":"Log cleared","sensor":null}],"unsupported":[]}`},
		"nothing to complain of":       {conductor.Condition{Health: node.HealthReport{Overall: node.HealthOK}}, `"overall":"OK","overall_since":null,"parts":[],"sensors":[],"log":[],"unsupported":[]}`},
		"a BMC that knows only health": {conductor.Condition{Unsupported: []string{"sensors", "log"}}, `"overall":null,"overall_since":null,"parts":[],"sensors":null,"log":null,"unsupported":["sensors","log"]}`},
		"a BMC that knows nothing":     {conductor.Condition{Unsupported: []string{"health", "sensors", "log"}}, `"overall":null,"overall_since":null,"parts":null,"sensors":null,"log":null,"unsupported":["health","sensors","log"]}`},
	} {
		t.Run(name, func(t *testing.T) {
			h.condition = tc.condition
			var got json.RawMessage
			if status := call(t, "GET", serve(t, h, 0)+"/nodes/r07-u21/health", "", &got); status != 200 {
				t.Fatalf("got %d %s", status, got)
			}
			if want := `{"node":"` + n.UUID + `","bmc":{"reachable":true,"since":null,"error":null},` + tc.want; string(got) != want {
				t.Errorf("got  %s\nwant %s", got, want)
			}
		})
	}
}

func TestHealthWithoutAskingIsWhatIsKnownOfTheBMC(t *testing.T) {
	for name, tc := range map[string]struct {
		set  func(*node.Node)
		want string
	}{
		"nobody has asked it yet": {func(*node.Node) {}, `{"reachable":null,"since":null,"error":null},"overall":null,"overall_since":null`},
		"it answers": {func(n *node.Node) { n.PowerCheckedAt = noon },
			`{"reachable":true,"since":null,"error":null},"overall":null,"overall_since":null`},
		"it told the health, by the way": {func(n *node.Node) { n.PowerCheckedAt, n.Health, n.HealthAt = noon, node.HealthWarning, noon },
			`{"reachable":true,"since":null,"error":null},"overall":"Warning","overall_since":"2026-11-30T14:02:11.000Z"`},
		"it is silent": {func(n *node.Node) { n.BMCUnreachableSince, n.BMCError = noon, "BMC 192.0.2.10: no answer" },
			`{"reachable":false,"since":"2026-11-30T14:02:11.000Z","error":"BMC 192.0.2.10: no answer"},"overall":null,"overall_since":null`},
	} {
		t.Run(name, func(t *testing.T) {
			h := newHall()
			n := h.add("r07-u21", node.Manageable)
			h.broken = errors.New("the BMC was asked")
			tc.set(&h.nodes[h.index(n.UUID)])
			var got json.RawMessage
			if status := call(t, "GET", serve(t, h, 0)+"/nodes/r07-u21/health?ask=false", "", &got); status != 200 {
				t.Fatalf("got %d %s", status, got)
			}
			want := `{"node":"` + n.UUID + `","bmc":` + tc.want + `,"parts":null,"sensors":null,"log":null,"unsupported":[]}`
			if string(got) != want {
				t.Errorf("got  %s\nwant %s", got, want)
			}
		})
	}
}

func TestHealthOfABMCThatDoesNotAnswer(t *testing.T) {
	h := newHall()
	h.add("a", node.Manageable)
	base := serve(t, h, 0)
	for _, tc := range []struct {
		path   string
		broken error
		want   int
	}{
		{"/nodes/nobody/health", nil, 404},
		{"/nodes/a/health?entries=7", nil, 400},
		{"/nodes/a/health?ask=perhaps", nil, 400},
		{"/nodes/nobody/health?ask=false", nil, 404},
		{"/nodes/a/health?ask=yes", node.ErrCredentials, 502},
		{"/nodes/a/health", &node.Unreachable{What: "BMC 192.0.2.10", Timeout: true, Err: context.DeadlineExceeded}, 504},
		{"/nodes/a/health", &node.Unreachable{What: "BMC 192.0.2.10", Err: errors.New("connection refused")}, 502},
		{"/nodes/a/health", node.ErrCredentials, 502},
		{"/nodes/a/health", node.Invalidf("redfish_address is missing"), 400},
	} {
		h.broken = tc.broken
		var f failure
		if status := call(t, "GET", base+tc.path, "", &f); status != tc.want || f.Error.Code != tc.want || f.Error.Message == "" {
			t.Errorf("%s, %v: %d %+v", tc.path, tc.broken, status, f)
		}
	}
}
