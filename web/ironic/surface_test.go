package ironic_test

import (
	"net/http"
	"strings"
	"testing"

	"cagenut/node"
)

// Contract.md §1.1 and §1.2.
func TestDiscovery(t *testing.T) {
	base := serve(t, waiting())
	a := call(t, "GET", base+"/", "", "")
	v := a.body["default_version"].(map[string]any)
	if v["id"] != "v1" || v["min_version"] != "1.1" || v["version"] != "1.96" || a.header.Get("X-OpenStack-Ironic-API-Maximum-Version") != "1.96" {
		t.Errorf("got %s %v", a.text, a.header)
	}
	for version, want := range map[string][]string{
		"1.1":  {"chassis", "drivers", "nodes", "ports"},
		"1.22": {"chassis", "drivers", "nodes", "ports", "lookup", "heartbeat"},
		"1.96": {"chassis", "drivers", "nodes", "ports", "lookup", "heartbeat", "conductors", "shards", "continue_inspection", "inspection_rules"},
	} {
		body := call(t, "GET", base+"/v1/", version, "").body
		for _, key := range want {
			if _, ok := body[key]; !ok {
				t.Errorf("%s lacks %s", version, key)
			}
		}
		if got := len(body) - len(want); got != 4 {
			t.Errorf("%s names %d more than id, links, media_types and version: %v", version, got-4, body)
		}
	}
}

func TestABrowserIsSentToTheDashboard(t *testing.T) {
	req, err := http.NewRequestWithContext(t.Context(), "GET", serve(t, waiting())+"/", nil)
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Accept", "text/html,application/xhtml+xml")
	resp, err := http.DefaultTransport.RoundTrip(req)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = resp.Body.Close() }()
	if resp.StatusCode != 302 || resp.Header.Get("Location") != "/ui" {
		t.Errorf("got %d to %q", resp.StatusCode, resp.Header.Get("Location"))
	}
}

// Contract.md §1.4 and the "leave out" recipe of §3.1.
func TestWhatThisApplianceHasNothingFor(t *testing.T) {
	base := serve(t, waiting())
	for _, tc := range []struct {
		method, path, version string
		status                int
		text                  string // of an error
		key                   string // of an empty list
	}{
		{"GET", "/v1/allocations", "1.51", 404, "The API version does not allow allocations", ""},
		{"POST", "/v1/allocations", "1.51", 405, "The API version does not allow allocations", ""},
		{"DELETE", "/v1/allocations/x", "1.51", 405, "The API version does not allow allocations", ""},
		{"GET", "/v1/allocations", "1.52", 200, "", "allocations"},
		{"POST", "/v1/allocations", "1.52", 404, "This appliance keeps no allocations.", ""},
		{"GET", "/v1/deploy_templates", "1.54", 404, "The API version does not allow deploy templates", ""},
		{"GET", "/v1/deploy_templates", "1.55", 200, "", "deploy_templates"},
		{"PATCH", "/v1/runbooks/x", "1.91", 405, "The API version does not allow runbooks", ""},
		{"GET", "/v1/runbooks", "1.92", 200, "", "runbooks"},
		{"GET", "/v1/portgroups", "1.22", 404, "The API is not supported for this version", ""},
		{"GET", "/v1/portgroups", "1.23", 200, "", "portgroups"},
		{"POST", "/v1/portgroups", "1.23", 404, "This appliance keeps no portgroups.", ""},
		{"GET", "/v1/volume", "1.31", 404, "The API is not supported for this version", ""},
		{"GET", "/v1/volume/connectors", "1.32", 200, "", "connectors"},
		{"GET", "/v1/volume/targets", "1.32", 200, "", "targets"},
		{"POST", "/v1/events", "1.53", 404, "The API is not supported for this version", ""},
		{"POST", "/events", "1.54", 404, "This appliance keeps no events.", ""},
		{"GET", "/v1/shards", "1.81", 404, "The API version does not allow shards", ""},
		{"GET", "/v1/nodes/n1/vifs", "1.27", 404, "", ""},
		{"GET", "/v1/nodes/n1/vifs", "1.28", 200, "", "vifs"},
		{"GET", "/v1/nodes/n1/bios", "1.39", 404, "", ""},
		{"GET", "/v1/nodes/n1/bios", "1.40", 200, "", "bios"},
		{"GET", "/v1/nodes/n1/firmware", "1.86", 200, "", "firmware"},
		{"GET", "/v1/nodes/n1/portgroups", "1.23", 404, "", ""},
		{"GET", "/v1/nodes/n1/portgroups", "1.24", 200, "", "portgroups"},
		{"GET", "/v1/nodes/n1/allocation", "1.51", 404, "", ""},
		{"GET", "/v1/nodes/n1/allocation", "1.52", 404, "Allocation for node " + one + " was not found", ""},
		{"GET", "/v1/nodes/n1/children", "1.82", 404, "Resource could not be found.", ""},
		{"GET", "/v1/nodes/n1/vmedia", "1.92", 404, "The resource could not be found.", ""},
		{"POST", "/v1/nodes/n1/vmedia", "1.88", 404, "", ""},
		{"DELETE", "/v1/nodes/n1/vmedia", "1.88", 404, "", ""},
		{"GET", "/v1/nodes/n1/firmware", "1.85", 404, "", ""},
		{"PUT", "/v1/nodes/n1/states/boot_mode", "1.75", 404, "This endpoint is supported starting with the API version 1.76", ""},
		{"PUT", "/v1/nodes/n1/states/raid", "1.11", 406, "Request not acceptable.", ""},
		{"PUT", "/v1/nodes/n1/management/inject_nmi", "1.28", 404, "Resource could not be found.", ""},
		{"GET", "/v1/lookup", "1.21", 404, "Resource could not be found.", ""},
	} {
		t.Run(tc.method+" "+tc.path+" at "+tc.version, func(t *testing.T) {
			a := call(t, tc.method, base+tc.path, tc.version, "")
			if a.status != tc.status {
				t.Fatalf("got %d %s", a.status, a.text)
			}
			if tc.status >= 400 && a.fault(t) != tc.text {
				t.Errorf("got %q", a.fault(t))
			}
			if list, ok := a.body[tc.key].([]any); tc.key != "" && (!ok || len(list) != 0) {
				t.Errorf("got %s", a.text)
			}
			if tc.status == 405 && a.header.Get("Allow") == "" {
				t.Error("no Allow header")
			}
		})
	}
}

func TestShardsAreSorted(t *testing.T) {
	got := strings.TrimSpace(call(t, "GET", serve(t, waiting())+"/v1/shards", "1.82", "").text)
	if want := `{"shards":[{"count":4,"name":"None"},{"count":2,"name":"s1"},{"count":1,"name":"s2"}]}`; got != want {
		t.Errorf("got %s", got)
	}
}

func TestBootDevices(t *testing.T) {
	r := waiting()
	base := serve(t, r) + "/v1/nodes/n1/management/boot_device"
	if a := call(t, "PUT", base, "1.50", `{"boot_device":"floppy"}`); a.status != 400 || a.fault(t) != "Invalid boot device floppy specified." {
		t.Errorf("got %d %s", a.status, a.text)
	}
	if a := call(t, "PUT", base, "1.50", `{"boot_device":"pxe","persistent":true}`); a.status != 204 || len(r.boots) != 1 || r.boots[0] != (node.Boot{Device: node.BootPXE, Persistent: true}) {
		t.Errorf("got %d %s, set %v", a.status, a.text, r.boots)
	}
}

// Contract.md §3.7.
func TestPorts(t *testing.T) {
	const port = "6a6d0a7e-3333-4a51-9a3c-0c1f2d3e4f50"
	r := waiting()
	base := serve(t, r)
	for _, tc := range []struct {
		name, method, path, version, body string
		status                            int
		text                              string
	}{
		{"a bad MAC", "POST", "/v1/ports", "1.50", `{"address":"zz","node_uuid":"` + one + `"}`, 400, "Expected valid MAC address for address: zz"},
		{"no MAC", "POST", "/v1/ports", "1.50", `{"node_uuid":"` + one + `"}`, 400, "Schema error for port: 'address' is a required property"},
		{"no node", "POST", "/v1/ports", "1.50", `{"address":"52:54:00:00:00:01"}`, 400, "Schema error for port: 'node_uuid' is a required property"},
		{"an unknown node is a bad value", "POST", "/v1/ports", "1.50", `{"address":"52:54:00:00:00:01","node_uuid":"` + port + `"}`, 400, "Node " + port + " could not be found."},
		{"node_ident before 1.94", "POST", "/v1/ports", "1.93", `{"address":"52:54:00:00:00:01","node_ident":"n1"}`, 406, "Request not acceptable."},
		{"physical_network before 1.34", "POST", "/v1/ports", "1.33", `{"address":"52:54:00:00:00:01","node_uuid":"` + one + `","physical_network":"p"}`, 406, "Request not acceptable."},
		{"node_ident from 1.94, MAC in capitals", "POST", "/v1/ports", "1.94", `{"uuid":"` + port + `","address":"52:54:00:00:00:AA","node_ident":"n1"}`, 201, ""},
		{"the same MAC again", "POST", "/v1/ports", "1.50", `{"address":"52:54:00:00:00:aa","node_uuid":"` + one + `"}`, 409, "A port with MAC address 52:54:00:00:00:aa already exists."},
		{"by MAC", "GET", "/v1/ports/52:54:00:00:00:aa", "1.50", "", 400, "Expected UUID or name for port_ident: 52:54:00:00:00:aa"},
		{"by UUID", "GET", "/v1/ports/" + port, "1.50", "", 200, ""},
		{"of a node, by name", "GET", "/v1/nodes/n1/ports", "1.50", "", 200, ""},
		{"of a node that is not there", "GET", "/v1/ports?node=nobody", "1.50", "", 404, "Node nobody could not be found."},
		{"of a node by name before 1.5", "GET", "/v1/ports?node=n1", "1.4", "", 406, "Request not acceptable."},
		{"what cannot change", "PATCH", "/v1/ports/" + port, "1.50", `[{"op":"replace","path":"/uuid","value":"x"}]`, 400,
			"Cannot patch /uuid. Only the following can be updated: address, extra, is_smartnic, local_link_connection, name, node_ident, node_uuid, physical_network, portgroup_uuid, pxe_enabled"},
		{"what a port must have", "PATCH", "/v1/ports/" + port, "1.50", `[{"op":"remove","path":"/address"}]`, 400, "Schema error for patch: 'address' is a required property"},
		{"a default comes back", "PATCH", "/v1/ports/" + port, "1.50", `[{"op":"remove","path":"/pxe_enabled"}]`, 200, ""},
	} {
		t.Run(tc.name, func(t *testing.T) {
			a := call(t, tc.method, base+tc.path, tc.version, tc.body)
			if a.status != tc.status {
				t.Fatalf("got %d %s", a.status, a.text)
			}
			if tc.status >= 400 && a.fault(t) != tc.text {
				t.Errorf("got %q", a.fault(t))
			}
		})
	}
	if len(r.ports) != 1 || r.ports[0].Address != "52:54:00:00:00:aa" || r.ports[0].NodeUUID != one || !r.ports[0].PXEEnabled {
		t.Errorf("stored %+v", r.ports)
	}
}
