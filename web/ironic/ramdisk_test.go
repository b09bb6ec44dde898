package ironic_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"cagenut/conductor"
	"cagenut/node"
)

func (r *rack) Lookup(_ context.Context, who node.Actor, req conductor.LookupRequest) (node.Node, node.Secret, error) {
	r.lookups = append(r.lookups, req)
	return r.spokenTo(who)
}

func (r *rack) Heartbeat(_ context.Context, who node.Actor, req conductor.HeartbeatRequest) error {
	r.heartbeats = append(r.heartbeats, req)
	_, _, err := r.spokenTo(who)
	return err
}

func (r *rack) ReportAndLookup(_ context.Context, who node.Actor, req conductor.ReportRequest) (node.Node, node.Secret, error) {
	r.reports = append(r.reports, req)
	return r.spokenTo(who)
}

// spokenTo is the one node, if it is a ramdisk that asks.
func (r *rack) spokenTo(who node.Actor) (node.Node, node.Secret, error) {
	if who.Source != node.SourceRamdisk {
		return node.Node{}, "", fmt.Errorf("asked as %s", who.Source)
	}
	if r.refusal != nil {
		return node.Node{}, "", r.refusal
	}
	return r.nodes[0], r.token, nil
}

// lookupWant is the document of contract.md §3.9, key by key. What this appliance has no use for says no.
func lookupWant(base, token string, skipBMC bool) map[string]any {
	return map[string]any{
		"node": map[string]any{
			"uuid": one, "properties": map[string]any{"cpus": 8.0}, "instance_info": map[string]any{}, "driver_internal_info": map[string]any{"agent_url": "https://192.0.2.9:9999", "agent_secret_token": node.Mask},
			"links": []any{map[string]any{"href": base + "/v1/nodes/" + one, "rel": "self"}, map[string]any{"href": base + "/nodes/" + one, "rel": "bookmark"}},
		},
		"config": map[string]any{
			"metrics":           map[string]any{"backend": "noop", "prepend_host": false, "prepend_uuid": false, "prepend_host_reverse": true, "global_prefix": nil},
			"metrics_statsd":    map[string]any{"statsd_host": "localhost", "statsd_port": 8125.0},
			"heartbeat_timeout": 300.0,
			"agent_containers":  map[string]any{"allow_arbitrary_containers": false, "allowed_containers": []any{}, "container_steps_file": "", "runner": "podman", "pull_options": []any{}, "run_options": []any{}},
			"agent_token":       token, "agent_token_required": true, "agent_md5_checksum_enable": false, "disable_deep_image_inspection": false,
			"permitted_image_formats": []any{"raw", "gpt", "qcow2", "iso"}, "agent_skip_bmc_detect": skipBMC,
			"enable_bios_bootloader_install": false, "tls_min_version": "1.3", "tls_cipher_suites": nil,
		},
	}
}

// booted is a rack whose server runs a ramdisk.
func booted(management string) *rack {
	r := waiting()
	n := &r.nodes[0]
	n.Properties, n.Interfaces.Management = map[string]any{"cpus": 8}, management
	n.DriverInternalInfo = map[string]any{"agent_url": "https://192.0.2.9:9999", "agent_secret_token": "not-shown"}
	r.token = "told-once"
	return r
}

func TestALookupTellsARamdiskAllThatItNeeds(t *testing.T) {
	for management, skip := range map[string]bool{"redfish": true, "ipmitool": false, "fake": false} {
		t.Run(management, func(t *testing.T) {
			r := booted(management)
			base := serve(t, r)
			for _, path := range []string{"/v1/lookup?addresses=52:54:00:00:00:01", "/lookup?node_uuid=" + one} {
				a := call(t, "GET", base+path, "1.62", "")
				if a.status != 200 {
					t.Fatalf("got %d %s", a.status, a.text)
				}
				if diff := cmp.Diff(lookupWant(base, "told-once", skip), a.body); diff != "" {
					t.Errorf("%s (-want +got):\n%s", path, diff)
				}
			}
		})
	}
}

// Without a token there is null: older ramdisks know none. One that was told before is a mask.
func TestALookupTellsTheTokenThatThereIs(t *testing.T) {
	for token, want := range map[node.Secret]any{"": nil, node.Mask: node.Mask} {
		r := booted("redfish")
		r.token = token
		a := call(t, "GET", serve(t, r)+"/v1/lookup?node_uuid="+one, "1.61", "")
		if got := a.body["config"].(map[string]any)["agent_token"]; got != want {
			t.Errorf("%q reads %v", token, got)
		}
		if r.lookups[0].Minor != 61 {
			t.Errorf("asked as 1.%d", r.lookups[0].Minor)
		}
	}
}

func TestWhatALookupAsks(t *testing.T) {
	for _, tc := range []struct {
		query string
		want  conductor.LookupRequest
	}{
		{"addresses=52:54:00:00:00:01,52:54:00:00:00:02", conductor.LookupRequest{MACs: []string{"52:54:00:00:00:01", "52:54:00:00:00:02"}, Minor: 22}},
		{"addresses=80:00:02:08:fe:80:00:00:00:00:00:00:7c:fe:90:03:00:29:24:4f,", conductor.LookupRequest{MACs: []string{"80:00:02:08:fe:80:00:00:00:00:00:00:7c:fe:90:03:00:29:24:4f", ""}, Minor: 22}},
		{"node_uuid=" + one, conductor.LookupRequest{NodeUUID: one, Minor: 22}},
		{"node_uuid=&addresses=", conductor.LookupRequest{Minor: 22}},
		{"", conductor.LookupRequest{Minor: 22}},
	} {
		r := booted("redfish")
		if a := call(t, "GET", serve(t, r)+"/v1/lookup?"+tc.query, "1.22", ""); a.status != 200 {
			t.Errorf("%s: %d %s", tc.query, a.status, a.text)
			continue
		}
		if diff := cmp.Diff(tc.want, r.lookups[0]); diff != "" {
			t.Errorf("%s (-want +got):\n%s", tc.query, diff)
		}
	}
}

// Contract.md §3.9 and §4.1: which refusals a ramdisk sees. Ramdisks try again on 409, and learn nothing from a 404.
func TestWhatARamdiskIsRefused(t *testing.T) {
	held := &node.Locked{Node: one, Holder: "rack1"}
	const isHeld = "Node " + one + " is locked by host rack1, please retry after the current operation is completed."
	const beat = `{"callback_url":"https://192.0.2.9:9999","agent_version":"9.1","agent_token":"t"}`
	for _, tc := range []struct {
		name, method, path, version, body string
		refusal                           error
		status                            int
		text                              string
	}{
		{"a lookup of nobody", "GET", "/v1/lookup?node_uuid=" + one, "1.62", "", fmt.Errorf("a reason: %w", node.ErrNotReported), 404, "Resource could not be found."},
		{"a lookup while the node is held", "GET", "/v1/lookup?node_uuid=" + one, "1.62", "", held, 409, isHeld},
		{"a lookup without anything", "GET", "/v1/lookup", "1.22", "", node.Invalidf("At least one of 'addresses' and 'node_uuid' parameters is required"), 400, "At least one of 'addresses' and 'node_uuid' parameters is required"},
		{"a lookup of no UUID", "GET", "/v1/lookup?node_uuid=n1", "1.62", "", nil, 400, "Expected UUID for node_uuid: n1"},
		{"a lookup with more", "GET", "/v1/lookup?mac=x", "1.62", "", nil, 400, "Unexpected arguments: mac"},
		{"a heartbeat without an address", "POST", "/v1/heartbeat/" + one, "1.68", `{}`, nil, 400, "Missing mandatory parameter: callback_url"},
		{"a heartbeat of a number", "POST", "/v1/heartbeat/" + one, "1.68", `{"callback_url":5}`, nil, 400, "Expected string for callback_url: 5"},
		{"a heartbeat with more", "POST", "/v1/heartbeat/" + one, "1.68", `{"callback_url":"https://192.0.2.9","bogus":1}`, nil, 400, "Unexpected arguments: bogus"},
		{"a heartbeat of an unknown node", "POST", "/v1/heartbeat/" + noRule, "1.68", beat, nil, 404, "Node " + noRule + " could not be found."},
		{"a heartbeat of a held node", "POST", "/v1/heartbeat/" + one, "1.68", beat, held, 409, isHeld},
		{"a heartbeat with a wrong token", "POST", "/v1/heartbeat/" + one, "1.68", beat, node.Invalidf("Invalid or missing agent token received."), 400, "Invalid or missing agent token received."},
		{"a report of nobody", "POST", "/v1/continue_inspection", "", `{"inventory":{}}`, fmt.Errorf("a reason: %w", node.ErrNotReported), 404, "Resource could not be found."},
		{"a newer report of nobody", "POST", "/v1/continue_inspection", "1.84", `{"inventory":{}}`, fmt.Errorf("a reason: %w", node.ErrNotReported), 404, "Resource could not be found."},
		{"a newer report for a held node", "POST", "/v1/continue_inspection?node_uuid=" + one, "1.84", `{"inventory":{}}`, held, 409, isHeld},
		{"a newer report without keys", "POST", "/v1/continue_inspection", "1.84", `{"inventory":{}}`, node.Invalidf("No lookup information provided"), 400, "No lookup information provided"},
		{"a newer report of no UUID", "POST", "/v1/continue_inspection?node_uuid=n1", "1.84", `{}`, nil, 400, "Expected UUID for node_uuid: n1"},
		{"a report with more", "POST", "/v1/continue_inspection?token=x", "", `{}`, nil, 400, "Unexpected arguments: token"},
		{"a report at 1.2", "POST", "/v1/continue_inspection", "1.2", `{}`, nil, 404, "API version 1.84 or newer is required"},
		{"a report at 1.83", "POST", "/v1/continue_inspection?node_uuid=" + one, "1.83", `{}`, nil, 404, "API version 1.84 or newer is required"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			r := booted("redfish")
			r.refusal = tc.refusal
			a := call(t, tc.method, serve(t, r)+tc.path, tc.version, tc.body)
			if a.status != tc.status || a.fault(t) != tc.text {
				t.Errorf("got %d %s", a.status, a.text)
			}
			if asked := len(r.lookups) + len(r.heartbeats) + len(r.reports); tc.refusal == nil && asked != 0 {
				t.Errorf("the conductor was asked %d times", asked)
			}
		})
	}
}

func TestWhatAHeartbeatTells(t *testing.T) {
	r := booted("redfish")
	base := serve(t, r)
	a := call(t, "POST", base+"/v1/heartbeat/"+one, "1.72",
		`{"callback_url":"https://192.0.2.9:9999","agent_version":"9.1","agent_token":"t","agent_verify_ca":"PEM","agent_status":"start","agent_status_message":"begun"}`)
	if a.status != 202 || a.text != "" || a.header.Get("Content-Type") != "" || a.header.Get("Content-Length") != "0" {
		t.Fatalf("got %d %q %v", a.status, a.text, a.header)
	}
	want := conductor.HeartbeatRequest{NodeUUID: one, CallbackURL: "https://192.0.2.9:9999", AgentVersion: "9.1", Token: "t", VerifyCA: "PEM", Status: "start", StatusMessage: "begun", Minor: 72}
	if diff := cmp.Diff(want, r.heartbeats[0]); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	if a := call(t, "POST", base+"/v1/heartbeat/n1", "1.22", `{"callback_url":"https://192.0.2.9:9999","agent_version":null}`); a.status != 202 || r.heartbeats[1].NodeUUID != one {
		t.Errorf("by name: %d %s", a.status, a.text)
	}
}

// Contract.md §4.1: what comes back for a report depends on the version; what was sent arrives as it was.
func TestAReportIsPassedOnAsItCame(t *testing.T) {
	const body = `{"inventory":{"interfaces":[{"mac_address":"52:54:00:00:00:01"}]}, "big":18446744073709551615}`
	r := booted("redfish")
	base := serve(t, r)
	for i, tc := range []struct {
		path, version string
		want          any
		asked         conductor.ReportRequest
	}{
		{"/v1/continue_inspection?attempt=t0", "", map[string]any{"uuid": one}, conductor.ReportRequest{Token: "t0"}},
		{"/v1/continue_inspection?attempt=t0", "1.1", map[string]any{"uuid": one}, conductor.ReportRequest{Token: "t0"}},
		{"/continue_inspection?node_uuid=" + one, "1.84", lookupWant(base, "told-once", true), conductor.ReportRequest{NodeUUID: one}},
		{"/v1/continue_inspection?node_uuid=" + one + "&attempt=t0", "1.96", lookupWant(base, "told-once", true), conductor.ReportRequest{NodeUUID: one, Token: "t0"}},
	} {
		a := call(t, "POST", base+tc.path, tc.version, body)
		if a.status != 202 {
			t.Fatalf("%s at %q: %d %s", tc.path, tc.version, a.status, a.text)
		}
		if diff := cmp.Diff(tc.want, any(a.body)); diff != "" {
			t.Errorf("%s at %q (-want +got):\n%s", tc.path, tc.version, diff)
		}
		tc.asked.Body = []byte(body)
		if diff := cmp.Diff(tc.asked, r.reports[i]); diff != "" {
			t.Errorf("%s at %q (-want +got):\n%s", tc.path, tc.version, diff)
		}
		if strings.Contains(a.text, "not-shown") {
			t.Error("the token that is kept is shown")
		}
	}
	if a := call(t, "POST", base+"/v1/continue_inspection?node_uuid="+one, "", body); a.status != 400 && a.status != 404 {
		t.Errorf("node_uuid without a version: %d %s", a.status, a.text)
	}
}
