package ironic_test

import (
	"net/http"
	"strings"
	"testing"

	"cagenut/node"
)

// The table of contract.md §1.4 stands in cmd/cagenut, because the verbs in it are the conductor's. Here is what §1.3,
// §1.5 and §1.6 say of all operations alike.

// exchange is a request with headers of its own.
func exchange(t *testing.T, method, url, body string, headers map[string]string) answer {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), method, url, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	for name, value := range headers {
		req.Header.Set(name, value)
	}
	return send(t, req)
}

const (
	askVersion  = "X-OpenStack-Ironic-API-Version"
	askGeneric  = "OpenStack-API-Version"
	shownLowest = "X-OpenStack-Ironic-API-Minimum-Version"
	shownMost   = "X-OpenStack-Ironic-API-Maximum-Version"
)

func TestWhichHeaderSaysTheVersion(t *testing.T) {
	base := serve(t, waiting())
	for _, tc := range []struct {
		name, own, generic string
		used               string // "" is a refusal
	}{
		{"neither is the oldest", "", "", "1.1"},
		{"the own one", "1.50", "", "1.50"},
		{"the generic one", "", "baremetal 1.40", "1.40"},
		{"of both the generic one", "1.50", "baremetal 1.40", "1.40"},
		{"a generic latest", "1.50", "baremetal latest", "1.96"},
		{"one of another service does not count", "1.50", "compute 2.1", "1.50"},
		{"ours among others", "1.50", "compute 2.1, baremetal 1.40", "1.40"},
		{"latest in any case", "LaTeSt", "", "1.96"},
		{"blanks around", " 1.50 ", "", "1.50"},
		{"a refused generic one is not saved by the own", "1.50", "baremetal 1.97", ""},
	} {
		t.Run(tc.name, func(t *testing.T) {
			headers := map[string]string{}
			for name, value := range map[string]string{askVersion: tc.own, askGeneric: tc.generic} {
				if value != "" {
					headers[name] = value
				}
			}
			a := exchange(t, "GET", base+"/v1/nodes", "", headers)
			status := 200
			if tc.used == "" {
				status = 406
			}
			if a.status != status || a.header.Get(askVersion) != tc.used || a.header.Get(shownLowest) != "1.1" || a.header.Get(shownMost) != "1.96" {
				t.Errorf("got %d %v", a.status, a.header)
			}
		})
	}
}

func TestVersionsThatAreNone(t *testing.T) {
	base := serve(t, waiting())
	for _, said := range []string{"foo", "1", "1.", ".5", "1.x", "1.1.1", "v1.5", "-1.5", "1.-5", "1,5", "baremetal 1.5", "newest"} {
		a := exchange(t, "GET", base+"/v1/nodes", "", map[string]string{askVersion: said})
		if a.status != 406 || a.fault(t) != "Invalid value for X-OpenStack-Ironic-API-Version header" || a.header.Get(shownMost) != "" {
			t.Errorf("%q: %d %s %v", said, a.status, a.text, a.header)
		}
	}
	for said, text := range map[string]string{
		"1.97": "Version 1.97 was requested but the minor version is not supported by this service. The supported version range is: [1.1, 1.96].",
		"1.0":  "Version 1.0 was requested but the minor version is not supported by this service. The supported version range is: [1.1, 1.96].",
		"2.1":  "Mutually exclusive versions requested. Version 2.1 requested but not supported by this service. The supported version range is: [1.1, 1.96].",
		"0.9":  "Mutually exclusive versions requested. Version 0.9 requested but not supported by this service. The supported version range is: [1.1, 1.96].",
	} {
		for _, path := range []string{"/", "/v1", "/v1/nodes", "/nodes/n1", "/v1/lookup"} {
			a := exchange(t, "GET", base+path, "", map[string]string{askVersion: said})
			if a.status != 406 || a.fault(t) != text || a.header.Get(shownLowest) != "1.1" || a.header.Get(shownMost) != "1.96" || a.header.Get(askVersion) != "" {
				t.Errorf("%s at %s: %d %s %v", path, said, a.status, a.text, a.header)
			}
		}
	}
}

// Contract.md §1.3: who gets the version headers, and who only the request's id.
func TestWhichAnswersNameTheVersion(t *testing.T) {
	base := serve(t, waiting())
	for _, tc := range []struct {
		name, method, path, body string
		status                   int
		versioned                bool
		kind                     string
	}{
		{"the versions", "GET", "/", "", 200, true, "application/json"},
		{"the root", "GET", "/v1", "", 200, true, "application/json"},
		{"a list", "GET", "/v1/nodes", "", 200, true, "application/json"},
		{"a bookmark", "GET", "/nodes/" + one, "", 200, true, "application/json"},
		{"an accepted verb", "PUT", "/v1/nodes/n1/states/provision", `{"target":"abort"}`, 202, true, ""},
		{"an answer without a body", "PUT", "/v1/nodes/n1/management/boot_device", `{"boot_device":"pxe"}`, 204, true, ""},
		{"a fault of a handler", "GET", "/v1/nodes/nobody", "", 404, true, "application/json"},
		{"a fault of the arguments", "GET", "/v1/nodes?bogus=1", "", 400, true, "application/json"},
		{"an unknown path", "GET", "/v1/nonsense", "", 404, false, "application/json"},
		{"an unknown path below a node", "GET", "/v1/nodes/n1/nonsense", "", 404, false, "application/json"},
		{"a method that the path has not", "DELETE", "/v1/nodes", "", 405, false, "application/json"},
		{"a path in capitals", "GET", "/V1/nodes", "", 404, false, "application/json"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			a := exchange(t, tc.method, base+tc.path, tc.body, map[string]string{askVersion: "1.50"})
			if a.status != tc.status {
				t.Fatalf("got %d %s", a.status, a.text)
			}
			for name, want := range map[string]string{shownLowest: "1.1", shownMost: "1.96", askVersion: "1.50"} {
				if !tc.versioned {
					want = ""
				}
				if got := a.header.Get(name); got != want {
					t.Errorf("%s is %q, want %q", name, got, want)
				}
			}
			ids := a.header["X-Openstack-Request-Id"]
			if len(ids) != 1 || !strings.HasPrefix(ids[0], "req-") || a.header.Get("Openstack-Request-Id") != ids[0] {
				t.Errorf("the request ids are %v", a.header)
			}
			if got := a.header.Get("Content-Type"); got != tc.kind {
				t.Errorf("Content-Type %q", got)
			}
			if tc.status == 202 && a.header.Get("Content-Length") != "0" {
				t.Errorf("Content-Length %q", a.header.Get("Content-Length"))
			}
			if tc.status == 405 && a.header.Get("Allow") != "GET, POST" {
				t.Errorf("Allow %q", a.header.Get("Allow"))
			}
		})
	}
}

// Contract.md §1.6: `.json` at the end counts for nothing below 1.91, and is part of a name from there on.
func TestTheJSONSuffix(t *testing.T) {
	r := waiting()
	r.nodes = append(r.nodes, node.Node{UUID: "6a6d0a7e-1111-4a51-9a3c-0c1f2d3e4f51", Name: "n2.json", Driver: "redfish", ProvisionState: node.Enroll})
	r.ports = []node.Port{{UUID: "6a6d0a7e-3333-4a51-9a3c-0c1f2d3e4f50", NodeUUID: one, Address: "52:54:00:00:00:01"}}
	base := serve(t, r)
	for _, tc := range []struct {
		path, version string
		status        int
	}{
		{"/v1/nodes/n1.json", "1.90", 200}, {"/v1/nodes/n1.json", "1.91", 404},
		{"/v1/nodes/" + one + ".json", "1.90", 200}, {"/v1/nodes/" + one + ".json", "1.91", 404}, {"/v1/nodes/" + one + ".json", "1.1", 200},
		{"/v1/nodes/n2.json", "1.90", 200}, {"/v1/nodes/n2.json", "1.91", 200}, {"/v1/nodes/n2", "1.91", 404},
		{"/v1/nodes/" + one + ".json/states", "1.90", 200}, {"/v1/nodes/" + one + ".json/states", "1.91", 404},
		{"/v1/nodes.json", "1.90", 200}, {"/v1/nodes.json", "1.91", 404},
		{"/v1/ports/6a6d0a7e-3333-4a51-9a3c-0c1f2d3e4f50.json", "1.90", 200}, {"/v1/ports/6a6d0a7e-3333-4a51-9a3c-0c1f2d3e4f50.json", "1.91", 404},
		{"/v1/drivers/redfish.json", "1.90", 200}, {"/v1/drivers/redfish.json", "1.91", 404},
		{"/v1.json", "1.90", 200}, {"/v1.json", "1.91", 404},
	} {
		if a := call(t, "GET", base+tc.path, tc.version, ""); a.status != tc.status {
			t.Errorf("%s at %s: %d %s", tc.path, tc.version, a.status, a.text)
		}
	}
}

// Contract.md §1.2 and §1.6: every address is there with a slash at its end, with doubled ones, and without the prefix.
func TestAddressesMayBeWrittenInSeveralWays(t *testing.T) {
	r := waiting()
	r.ports = []node.Port{{UUID: "6a6d0a7e-3333-4a51-9a3c-0c1f2d3e4f50", NodeUUID: one, Address: "52:54:00:00:00:01"}}
	base := serve(t, r)
	for _, path := range []string{
		"nodes", "nodes/detail", "nodes/" + one, "nodes/n1", "nodes/n1/states", "nodes/n1/ports", "nodes/n1/ports/detail", "nodes/n1/traits", "ports", "ports/detail",
		"ports/6a6d0a7e-3333-4a51-9a3c-0c1f2d3e4f50", "drivers", "drivers/redfish", "drivers/redfish/properties", "conductors", "conductors/rack1", "shards", "inspection_rules", "portgroups", "volume", "allocations",
	} {
		want := call(t, "GET", base+"/v1/"+path, "1.96", "")
		if want.status != 200 {
			t.Fatalf("%s: %d %s", path, want.status, want.text)
		}
		for _, way := range []string{"/v1/" + path + "/", "//v1//" + path, "/v1/" + strings.ReplaceAll(path, "/", "//") + "//", "/" + path, "/" + path + "/"} {
			if a := call(t, "GET", base+way, "1.96", ""); a.status != 200 || a.text != want.text {
				t.Errorf("%s: %d %s", way, a.status, a.text)
			}
		}
	}
	for _, way := range []string{"/v1/nodes/n1/states/provision/", "/nodes/n1/states/provision", "/v1//nodes/n1//states/provision"} {
		if a := call(t, "PUT", base+way, "1.96", `{"target":"abort"}`); a.status != 202 || a.header.Get("Location") != base+"/v1/nodes/n1/states" {
			t.Errorf("%s: %d %s, to %q", way, a.status, a.text, a.header.Get("Location"))
		}
	}
}

// Contract.md §1.5, the sentences about arguments.
func TestWhatIsSaidOfArguments(t *testing.T) {
	base := serve(t, waiting())
	const flags = ", acceptable values are: '0', '1', 'f', 'false', 'n', 'no', 'off', 'on', 't', 'true', 'y', 'yes'"
	for _, tc := range []struct {
		name, method, path, body, text string
	}{
		{"an unknown parameter", "GET", "/v1/nodes?bogus=1", "", "Unexpected arguments: bogus"},
		{"several of them, sorted", "GET", "/v1/nodes?zz=1&bogus=1", "", "Unexpected arguments: bogus, zz"},
		{"an unknown parameter of one thing", "GET", "/v1/nodes/n1?detail=true", "", "Unexpected arguments: detail"},
		{"an unknown key", "PUT", "/v1/nodes/n1/states/provision", `{"target":"abort","bogus":1}`, "Unexpected arguments: bogus"},
		{"no target", "PUT", "/v1/nodes/n1/states/power", `{}`, "Missing mandatory parameter: target"},
		{"a body that is no JSON", "PUT", "/v1/nodes/n1/states/power", `{"target"`, "Missing mandatory parameter: target"},
		{"no body", "PUT", "/v1/nodes/n1/states/power", ``, "Missing mandatory parameter: target"},
		{"a number for a target", "PUT", "/v1/nodes/n1/states/power", `{"target":5}`, "Expected string for target: 5"},
		{"no node to validate", "GET", "/v1/nodes/validate", "", "Missing mandatory parameter: node"},
		{"a MAC for a port", "GET", "/v1/ports/52:54:00:00:00:01", "", "Expected UUID or name for port_ident: 52:54:00:00:00:01"},
		{"a MAC for a node", "GET", "/v1/nodes/52:54:00:00:00:01", "", "Expected UUID or name for node_ident: 52:54:00:00:00:01"},
		{"a word that is no boolean", "GET", "/v1/nodes?maintenance=banana", "", "Invalid maintenance: Unrecognized value 'banana'" + flags},
		{"a word that is no boolean in a body", "POST", "/v1/nodes", `{"driver":"redfish","maintenance":"banana"}`, "Invalid maintenance: Unrecognized value 'banana'" + flags},
		{"a timeout of nothing", "PUT", "/v1/nodes/n1/states/power", `{"target":"power on","timeout":0}`, "timeout has to be positive integer"},
		{"a timeout that is a word", "PUT", "/v1/nodes/n1/states/power", `{"target":"power on","timeout":"x"}`, "timeout has to be positive integer"},
		{"an unknown key of a new node", "POST", "/v1/nodes", `{"driver":"redfish","bogus":1}`, "Schema error for node: Additional properties are not allowed ('bogus' was unexpected)"},
		{"an unknown key of a new port", "POST", "/v1/ports", `{"address":"52:54:00:00:00:01","node_uuid":"` + one + `","bogus":1}`, "Schema error for port: Additional properties are not allowed ('bogus' was unexpected)"},
		{"an unknown key of a new chassis", "POST", "/v1/chassis", `{"bogus":1}`, "Schema error for chassis: Additional properties are not allowed ('bogus' was unexpected)"},
		{"fields and detail", "GET", "/v1/nodes?detail=True&fields=uuid", "", "Can not specify ?detail=True and fields in the same request."},
		{"a fault that is none", "GET", "/v1/nodes?fault=x", "", "Unrecognized fault value: x"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			if a := call(t, tc.method, base+tc.path, "1.96", tc.body); a.status != 400 || a.fault(t) != tc.text || !strings.Contains(a.text, `\"faultcode\":\"Client\"`) {
				t.Errorf("got %d %s", a.status, a.text)
			}
		})
	}
}

// Contract.md §1.5(b): the one shape that is not encoded twice.
func TestBodiesThatNobodyReads(t *testing.T) {
	base := serve(t, waiting())
	for _, tc := range []struct {
		name, path, body string
		status           int
	}{
		{"too deep", "/v1/nodes", `{"driver":"redfish","extra":` + strings.Repeat(`{"a":`, 25) + "1" + strings.Repeat("}", 26), 400},
		{"too large", "/v1/nodes", `{"driver":"redfish","description":"` + strings.Repeat("x", 1<<20) + `"}`, 413},
		{"too large for a report", "/v1/continue_inspection", `{"inventory":"` + strings.Repeat("x", 16<<20) + `"}`, 413},
	} {
		t.Run(tc.name, func(t *testing.T) {
			a := call(t, "POST", base+tc.path, "", tc.body)
			if a.status != tc.status || a.body["faultcode"] != "Client" || a.body["faultstring"] == "" || len(a.body) != 2 {
				t.Errorf("got %d %s", a.status, a.text)
			}
		})
	}
}
