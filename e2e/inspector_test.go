package e2e_test

import (
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"
)

const abortedHere = "Inspection was aborted by request."

// The other side is Debian's ironic-inspector, with the appliance as its Ironic (design.md §4, contract.md §5).
func TestDelegationToDebiansInspector(t *testing.T) {
	t.Parallel()
	d := delegate(t, 8, false, debians)
	for i, c := range []struct {
		name string
		test func(t *testing.T, d *delegation, name string)
	}{
		{"a report to the service makes the node manageable within the interval", delegatedReport},
		{"an abort is true here at once and there a moment later", delegatedAbort},
		{"a new inspection right after an abort is a new run there", delegatedAgain},
		{"a run that fails at the service fails the inspection with its words", delegatedFailure},
		{"a service that stores no data finishes the inspection without an inventory", delegatedWithoutData},
		{"a service that answers an abort with an error keeps the node waiting", delegatedErrors},
		{"a service that lies with 202 is asked again until its run is over", delegatedLie},
		{"a run that was over there already is aborted here all the same", delegatedTooLate},
	} {
		t.Run(c.name, func(t *testing.T) {
			whole := d.t
			d.t = t
			defer func() { d.t = whole }()
			c.test(t, d, d.names[i])
		})
	}
}

func delegatedReport(t *testing.T, d *delegation, name string) {
	n := d.waiting(name)
	if r := d.run(n.UUID); r.State != "waiting" || r.Finished {
		t.Errorf("the service says %+v", r)
	}
	d.report(name)
	until(t, "the service has finished", func() bool { return d.run(n.UUID).State == "finished" })
	finished := time.Now()
	n = d.waitFor(name, "manageable")
	// Ironic asks every minute (contract.md §9, 24).
	if took := time.Since(finished); took > syncInterval+10*time.Second {
		t.Errorf("the node was manageable %s after the service had finished", took)
	} else {
		t.Logf("result: manageable %s after a foreign inspector had finished, asked every %s", took.Round(10*time.Millisecond), syncInterval)
	}
	type inventory struct {
		Inventory struct {
			CPU struct {
				Count int `json:"count"`
			} `json:"cpu"`
			Interfaces []struct {
				MAC string `json:"mac_address"`
			} `json:"interfaces"`
		} `json:"inventory"`
		PluginData map[string]any `json:"plugin_data"`
	}
	stored := must[inventory](d.appliance, "GET", "/v1/nodes/"+name+"/inventory", nil)
	if stored.Inventory.CPU.Count == 0 || len(stored.Inventory.Interfaces) == 0 || stored.PluginData["all_interfaces"] == nil {
		t.Errorf("the inventory is %+v", stored)
	}
	properties := must[struct{ Properties map[string]any }](d.appliance, "GET", "/v1/nodes/"+name, nil).Properties
	for _, key := range []string{"cpus", "cpu_arch", "memory_mb", "local_gb", "capabilities"} {
		if properties[key] == nil || properties[key] == "" {
			t.Errorf("the property %s is %v", key, properties[key])
		}
	}
	if ports := must[struct{ Ports []struct{ Address string } }](d.appliance, "GET", "/v1/ports?node="+n.UUID, nil).Ports; len(ports) < 2 {
		t.Errorf("the ports are %v", ports)
	}
	until(t, "off after clean-up", func() bool { return d.server(name).Power == "power off" && d.node(name).TargetPower == "" })
	if a := d.attempt(name); text(a.Outcome) != "succeeded" || a.Divergence != nil {
		t.Errorf("the attempt is %+v", a)
	}
}

func delegatedAbort(t *testing.T, d *delegation, name string) {
	n := d.waiting(name)
	until(t, "the ramdisk runs", func() bool { return d.server(name).State == "ramdisk" })
	d.verb(name, "abort")
	if now := d.node(name); now.ProvisionState != "inspect failed" || !strings.HasPrefix(now.LastError, abortedHere) {
		t.Errorf("right after the answer the node is %q: %q", now.ProvisionState, now.LastError)
	}
	d.cancelledThere(n.UUID)
	if status, body := send(t, "POST", d.front.base+"/v1/continue", reportOf(d.server(name).MAC)); status < 400 {
		t.Errorf("a late report was taken by the service: %d %s", status, body)
	}
	until(t, "off after clean-up", func() bool { return d.server(name).Power == "power off" && d.node(name).TargetPower == "" })
	d.abortedForGood(name)
}

func delegatedAgain(t *testing.T, d *delegation, name string) {
	n := d.waiting(name)
	d.verb(name, "abort")
	d.verb(name, "inspect")
	d.waitFor(name, "inspect wait")
	if r := d.run(n.UUID); r.State != "waiting" || r.Finished || r.Error != nil {
		t.Errorf("the new run is %+v", r)
	}
	d.report(name)
	d.waitFor(name, "manageable")
	if r := d.run(n.UUID); r.State != "finished" {
		t.Errorf("the new run is %+v", r)
	}
	outcomes := []string{}
	for _, a := range d.attempts(name) {
		outcomes = append(outcomes, text(a.Outcome))
	}
	if !slices.Equal(outcomes, []string{"succeeded", "aborted"}) {
		t.Errorf("the outcomes are %q, newest first", outcomes)
	}
}

// The service fails a run by a rule of its own. (An error that its ramdisk reports it loses: it has no such event while it
// waits.)
func delegatedFailure(t *testing.T, d *delegation, name string) {
	rule := map[string]any{
		"conditions": []map[string]any{{"op": "eq", "field": "data://inventory.hostname", "value": "wrong-rack"}},
		"actions":    []map[string]any{{"action": "fail", "message": "this server belongs to another rack"}},
	}
	if status, body := send(t, "POST", d.service.base+"/v1/rules", rule); status != http.StatusCreated {
		t.Fatalf("make a rule: %d %s", status, body)
	}
	d.waiting(name)
	report := reportOf(d.server(name).MAC)
	report["inventory"].(map[string]any)["hostname"] = "wrong-rack"
	if status, body := send(t, "POST", d.front.base+"/v1/continue", report); status != http.StatusBadRequest {
		t.Errorf("the service took it: %d %s", status, body)
	}
	now := d.waitFor(name, "inspect failed")
	if now.LastError != "ironic-inspector inspection failed: this server belongs to another rack" {
		t.Errorf("last_error is %q", now.LastError)
	}
	if a := d.attempt(name); text(a.Outcome) != "failed" {
		t.Errorf("the attempt is %+v", a)
	}
}

func delegatedWithoutData(t *testing.T, d *delegation, name string) {
	d.waiting(name)
	// What it says with store_data=none.
	defer d.front.answerAt("/data", http.StatusNotFound, `{"error":{"message":"Inspector is not configured to store data. Set the [processing]store_data configuration option to change this."}}`)()
	d.report(name)
	d.waitFor(name, "manageable")
	if status, body := d.ask("GET", "/v1/nodes/"+name+"/inventory", nil); status != http.StatusNotFound {
		t.Errorf("the inventory is %d %s", status, body)
	}
	if a := d.attempt(name); text(a.Outcome) != "succeeded" || !strings.Contains(strings.Join(a.Notes, " "), "stores no inspection data") {
		t.Errorf("the attempt is %+v", a)
	}
}

// Whatever is not its acceptance leaves the node waiting, tells on it why, and is the caller's answer.
func delegatedErrors(t *testing.T, d *delegation, name string) {
	n := d.waiting(name)
	for _, c := range []struct {
		status, want int
		body, words  string
	}{
		{500, 502, `{"error":{"message":"Internal server error"}}`, "Failed to abort inspection: inspector service at " + d.front.base + ": 500 Internal Server Error: Internal server error"},
		{409, 409, `{"error":{"message":"Node is locked, please, retry later"}}`, "Failed to abort inspection: Node is locked, please, retry later"},
		{404, 502, `{"error":{"message":"Could not find node in cache"}}`, "Could not find node in cache"},
		{200, 502, `<html>Please sign in`, "200 OK: <html>Please sign in"},
		{503, 502, ``, "503 Service Unavailable: it gave no reason"},
	} {
		restore := d.front.answerAt("/abort", c.status, c.body)
		status, body := d.ask("PUT", "/v1/nodes/"+name+"/states/provision", map[string]string{"target": "abort"})
		restore()
		if status != c.want {
			t.Errorf("the service answers %d, and the appliance %d %s, want %d", c.status, status, body, c.want)
		}
		if now := d.node(name); now.ProvisionState != "inspect wait" || !strings.Contains(now.LastError, c.words) || !strings.HasPrefix(now.LastError, "Failed to abort inspection: ") {
			t.Errorf("after %d the node is %q: %q", c.status, now.ProvisionState, now.LastError)
		}
		if events := d.events(name); !slices.ContainsFunc(events, func(e string) bool { return strings.Contains(e, c.words) }) {
			t.Errorf("after %d the history is %q", c.status, events)
		}
	}
	if r := d.run(n.UUID); r.State != "waiting" {
		t.Errorf("the run is %+v", r)
	}
	d.verb(name, "abort")
	d.cancelledThere(n.UUID)
	d.abortedForGood(name)
}

// contract.md §9, 25: the abort comes to nothing at the service. The node is aborted, the difference is shown, and the
// service is asked again until its run is over; nothing that it does meanwhile undoes the abort.
func delegatedLie(t *testing.T, d *delegation, name string) {
	n := d.waiting(name)
	restore := d.front.answerAt("/abort", http.StatusAccepted, `{}`)
	d.verb(name, "abort")
	if now := d.node(name); now.ProvisionState != "inspect failed" || !strings.HasPrefix(now.LastError, abortedHere) {
		t.Errorf("right after the answer the node is %q: %q", now.ProvisionState, now.LastError)
	}
	until(t, "the difference is shown", func() bool {
		return strings.Contains(text(d.attempt(name).Divergence), `accepted the abort but its run is still "waiting"`)
	})
	restore()
	d.cancelledThere(n.UUID)
	until(t, "the difference is gone", func() bool { return d.attempt(name).Divergence == nil })
	d.abortedForGood(name)
}

// The service has taken the report, and takes an abort too: it says 202 and does nothing.
func delegatedTooLate(t *testing.T, d *delegation, name string) {
	n := d.waiting(name)
	restore := d.front.answerAt("/v1/introspection/"+n.UUID, http.StatusServiceUnavailable, ``)
	d.report(name)
	until(t, "the service has finished", func() bool { return d.run(n.UUID).State == "finished" })
	until(t, "that the service does not answer is shown", func() bool { return strings.Contains(text(d.attempt(name).Divergence), "503 Service Unavailable") })
	d.verb(name, "abort")
	restore()
	until(t, "the difference is gone", func() bool { return d.attempt(name).Divergence == nil })
	if r := d.run(n.UUID); r.State != "finished" {
		t.Errorf("the run is %+v", r)
	}
	d.abortedForGood(name)
}

// A service that hangs or is gone: nothing stands between it and the appliance.
func TestDelegationToAnInspectorThatHangsAndStops(t *testing.T) {
	t.Parallel()
	d := delegate(t, 3, true, debians)
	abort := func(name string) (int, string, time.Duration) {
		began := time.Now()
		status, body := d.ask("PUT", "/v1/nodes/"+name+"/states/provision", map[string]string{"target": "abort"})
		return status, string(body), time.Since(began)
	}

	t.Log("an abort that it does not answer: 504 in bounded time, and the node waits on")
	hung := d.waiting(d.names[0])
	other := d.waiting(d.names[1])
	resume := d.service.hang(t)
	defer resume()
	status, body, took := abort(hung.Name)
	if status != http.StatusGatewayTimeout || took > 30*time.Second {
		t.Errorf("after %s: %d %s", took, status, body)
	}
	if now := d.node(hung.Name); now.ProvisionState != "inspect wait" || !strings.HasPrefix(now.LastError, "Failed to abort inspection: ") || !strings.Contains(now.LastError, "no answer within 5s") {
		t.Errorf("the node is %q: %q", now.ProvisionState, now.LastError)
	}

	t.Log("it comes to itself and finds the request: the abort ends here too, in the name of who asked")
	resume()
	d.cancelledThere(hung.UUID)
	now := d.waitFor(hung.Name, "inspect failed")
	if !strings.HasPrefix(now.LastError, abortedHere) {
		t.Errorf("last_error is %q", now.LastError)
	}
	d.abortedForGood(hung.Name)

	t.Log("it is gone: an abort is refused with the reason, and so is a start, which switches nothing on")
	d.service.kill()
	if status, body, _ := abort(other.Name); status != http.StatusBadGateway || !strings.Contains(body, "connection refused") {
		t.Errorf("%d %s", status, body)
	}
	if now := d.node(other.Name); now.ProvisionState != "inspect wait" || !strings.Contains(now.LastError, "connection refused") {
		t.Errorf("the node is %q: %q", now.ProvisionState, now.LastError)
	}
	last := d.names[2]
	d.verb(last, "inspect")
	if now := d.waitFor(last, "inspect failed"); !strings.Contains(now.LastError, "Failed to start inspection: inspector service at "+d.service.base) || !strings.Contains(now.LastError, "connection refused") {
		t.Errorf("last_error is %q", now.LastError)
	}
	if s := d.server(last); s.Power != "power off" {
		t.Errorf("the server is %q", s.Power)
	}
}

// cancelledThere waits until the service has aborted a run.
func (d *delegation) cancelledThere(uuid string) {
	d.t.Helper()
	until(d.t, "the service has cancelled the run", func() bool {
		r := d.run(uuid)
		return r.State == "error" && r.Finished && text(r.Error) == "Canceled by operator"
	})
}

// abortedForGood checks that both the node and its attempt are aborted, and stay so for longer than a round takes.
func (d *delegation) abortedForGood(name string) {
	d.t.Helper()
	time.Sleep(2 * syncInterval) // nothing shall happen: there is nothing to wait for
	if now := d.node(name); now.ProvisionState != "inspect failed" || !strings.HasPrefix(now.LastError, abortedHere) {
		d.t.Errorf("the node is %q: %q", now.ProvisionState, now.LastError)
	}
	if a := d.attempt(name); text(a.Outcome) != "aborted" || text(a.Error) != "Canceled by operator" || a.Divergence != nil {
		d.t.Errorf("the attempt is %+v", a)
	}
}

func text(s *string) string {
	if s == nil {
		return ""
	}
	return *s
}
