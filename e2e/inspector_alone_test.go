package e2e_test

import (
	"net/http"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// The inspector as a process of its own: another appliance's, or a real Ironic's. Here it is both sides of ours.
func TestTheInspectorAlone(t *testing.T) {
	t.Parallel()
	data := filepath.Join(t.TempDir(), "data")
	ours := func(t *testing.T, listen, ironic string) *program {
		p := run(t, binary, "inspector", "--ironic-url", ironic, "--listen", listen, "--data-dir", data, "--auth", "none", "--add-ports", "all")
		p.answersAt(t, listen)
		return p
	}
	d := delegate(t, 6, true, ours)
	post := func(t *testing.T, path string, body any, want int) {
		t.Helper()
		if status, answer := send(t, "POST", d.service.base+path, body); status != want {
			t.Errorf("POST %s: %d %s, want %d", path, status, answer, want)
		}
	}
	step := func(name string, test func(t *testing.T, name string)) {
		server := d.names[0]
		d.names = d.names[1:]
		t.Run(name, func(t *testing.T) {
			whole := d.t
			d.t = t
			defer func() { d.t = whole }()
			test(t, server)
		})
	}

	step("a report to it makes the node manageable", func(t *testing.T, name string) { delegatedReport(t, d, name) })

	step("an abort is true at both sides", func(t *testing.T, name string) {
		n := d.waiting(name)
		d.verb(name, "abort")
		if now := d.node(name); now.ProvisionState != "inspect failed" {
			t.Errorf("right after the answer the node is %q", now.ProvisionState)
		}
		d.cancelledThere(n.UUID)
		d.abortedForGood(name)
	})

	step("a run that is started and aborted there is one here", func(t *testing.T, name string) {
		post(t, "/v1/introspection/"+name, nil, http.StatusAccepted)
		n := d.waitFor(name, "inspect wait")
		post(t, "/v1/introspection/"+n.UUID+"/abort", nil, http.StatusAccepted)
		d.cancelledThere(n.UUID)
		if now := d.waitFor(name, "inspect failed"); now.LastError != "ironic-inspector inspection failed: Canceled by operator" {
			t.Errorf("last_error is %q", now.LastError)
		}
		post(t, "/v1/introspection/nobody", nil, http.StatusNotFound)
	})

	step("what its rules change is written here before the run is over", func(t *testing.T, name string) {
		post(t, "/v1/rules", map[string]any{
			"conditions": []map[string]any{{"op": "gt", "field": "cpus", "value": 0}, {"op": "eq", "field": "node://name", "value": name}},
			"actions": []map[string]any{
				{"action": "set-attribute", "path": "/extra/found", "value": "{data[inventory][cpu][count]}"},
				{"action": "set-capability", "name": "inspected", "value": "true"},
				{"action": "add-trait", "name": "CUSTOM_INSPECTED"},
				{"action": "set-attribute", "path": "/description", "value": "by the inspector"},
			},
		}, http.StatusCreated)
		n := d.waiting(name)
		d.report(name)
		d.waitFor(name, "manageable")
		type written struct {
			Extra       map[string]any
			Properties  map[string]any
			Traits      []string
			Description string
		}
		now := must[written](d.appliance, "GET", "/v1/nodes/"+name, nil)
		capabilities, _ := now.Properties["capabilities"].(string)
		if now.Extra["found"] == nil || now.Description != "by the inspector" || len(now.Traits) != 1 || !slices.Contains(strings.Split(capabilities, ","), "inspected:true") {
			t.Errorf("the node is %+v", now)
		}

		// Applied once more there, with another rule.
		post(t, "/v1/rules", map[string]any{"actions": []map[string]any{{"action": "set-attribute", "path": "/extra/again", "value": "yes"}}}, http.StatusCreated)
		post(t, "/v1/introspection/"+n.UUID+"/data/unprocessed", nil, http.StatusAccepted)
		until(t, "what the second rule changes", func() bool { return d.node(name).Extra["again"] == "yes" })
		until(t, "applied once more", func() bool { return d.run(n.UUID).State == "finished" })
		if now := d.node(name); now.ProvisionState != "manageable" {
			t.Errorf("applied once more, the node is %q", now.ProvisionState)
		}
		if status, body := send(t, "DELETE", d.service.base+"/v1/rules", nil); status != http.StatusNoContent {
			t.Errorf("%d %s", status, body)
		}
	})

	step("what Ironic refuses of it fails the run", func(t *testing.T, name string) {
		post(t, "/v1/rules", map[string]any{"actions": []map[string]any{{"action": "set-attribute", "path": "/name", "value": d.names[0]}}}, http.StatusCreated)
		d.waiting(name)
		d.report(name)
		now := d.waitFor(name, "inspect failed")
		if !strings.HasPrefix(now.LastError, "ironic-inspector inspection failed: Failed to finish inspection: Ironic refused what was found: ") || !strings.Contains(now.LastError, "already exists") {
			t.Errorf("last_error is %q", now.LastError)
		}
		if status, body := send(t, "DELETE", d.service.base+"/v1/rules", nil); status != http.StatusNoContent {
			t.Errorf("%d %s", status, body)
		}
	})

	step("a run outlives it", func(t *testing.T, name string) {
		n := d.waiting(name)
		d.service.kill()
		listen := d.service.base[len("http://"):]
		d.service = ours(t, listen, d.base)
		if r := d.run(n.UUID); r.State != "waiting" {
			t.Errorf("started again, it says %+v", r)
		}
		d.report(name)
		d.waitFor(name, "manageable")
	})
}
