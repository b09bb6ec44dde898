package ironic_test

import (
	"fmt"
	"strings"
	"testing"

	"cagenut/node"
)

const one = "6a6d0a7e-1111-4a51-9a3c-0c1f2d3e4f50"

func waiting() *rack {
	return &rack{nodes: []node.Node{{UUID: one, Name: "n1", Driver: "redfish", ProvisionState: node.InspectWait,
		DriverInfo: map[string]any{"redfish_address": "https://192.0.2.10", "redfish_password": "not-shown"}}}}
}

// G61 and contract.md §1.3, §1.4.
func TestVersionNegotiation(t *testing.T) {
	base := serve(t, waiting())
	for _, tc := range []struct {
		name, asked string
		status      int
		used, max   string
		text        string
	}{
		{"no header is 1.1", "", 200, "1.1", "1.96", ""},
		{"latest is answered with the number", "LATEST", 200, "1.96", "1.96", ""},
		{"blanks at the end do not matter", "1.50 ", 200, "1.50", "1.96", ""},
		{"a newer minor is refused with the range", "1.97", 406, "", "1.96", "Version 1.97 was requested but the minor version is not supported by this service. The supported version range is: [1.1, 1.96]."},
		{"1.0 is refused", "1.0", 406, "", "1.96", "Version 1.0 was requested but the minor version is not supported by this service. The supported version range is: [1.1, 1.96]."},
		{"another major is refused", "2.1", 406, "", "1.96", "Mutually exclusive versions requested. Version 2.1 requested but not supported by this service. The supported version range is: [1.1, 1.96]."},
		{"nonsense is refused without the range", "foo", 406, "", "", "Invalid value for X-OpenStack-Ironic-API-Version header"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			a := call(t, "GET", base+"/v1/nodes", tc.asked, "")
			if a.status != tc.status || a.header.Get("X-OpenStack-Ironic-API-Version") != tc.used || a.header.Get("X-OpenStack-Ironic-API-Maximum-Version") != tc.max {
				t.Fatalf("got %d %v", a.status, a.header)
			}
			if tc.text != "" && a.fault(t) != tc.text {
				t.Errorf("got %q", a.fault(t))
			}
		})
	}
}

func TestErrorsHaveTheirFamily(t *testing.T) {
	base := serve(t, waiting())
	for _, tc := range []struct {
		name, method, path, version string
		status                      int
		text                        string
		versioned                   bool
	}{
		{"an unknown path is of the routing layer", "GET", "/v1/nonsense", "1.50", 404, "", false},
		{"a wrong method is too", "PUT", "/v1/nodes", "1.50", 405, "", false},
		{"an unknown node is of the handlers", "GET", "/v1/nodes/nobody", "1.50", 404, "Node nobody could not be found.", true},
		{"names are unknown below 1.5", "GET", "/v1/nodes/n1", "1.4", 404, "Node n1 could not be found.", true},
		{"an unknown parameter is named", "GET", "/v1/nodes?bogus=1", "1.50", 400, "Unexpected arguments: bogus", true},
		{"G58: a limit of 0", "GET", "/v1/nodes?limit=0", "1.50", 400, "Limit must be positive", true},
		{"G58: a marker that is no UUID", "GET", "/v1/nodes?marker=zzz", "1.50", 400, "Expected UUID for marker: zzz", true},
		{"G58: an unknown sort key", "GET", "/v1/nodes?sort_key=bogus", "1.50", 400, `The sort_key value "bogus" is an invalid field for sorting`, true},
		{"G58: a document as sort key", "GET", "/v1/nodes?sort_key=extra", "1.50", 400, `The sort_key value "extra" is an invalid field for sorting`, true},
		{"G58: an unknown direction", "GET", "/v1/nodes?sort_dir=up", "1.50", 400, "Invalid sort direction: up. Acceptable values are 'asc' or 'desc'", true},
		{"an unknown state", "GET", "/v1/nodes?provision_state=bogus", "1.50", 400, `Provision state "bogus" is not valid`, true},
		{"an unknown field", "GET", "/v1/nodes?fields=bogus", "1.50", 400, "Field bogus is not a valid field.", true},
		{"fields before 1.8", "GET", "/v1/nodes?fields=uuid", "1.7", 406, "Request not acceptable.", true},
		{"a filter before its version", "GET", "/v1/nodes?owner=x", "1.49", 406, "Request not acceptable. The minimal required API version should be 1.50", true},
		{"detail before 1.43", "GET", "/v1/nodes?detail=True", "1.42", 400, "Invalid query parameter ?detail=True received.", true},
		{"inventory before 1.81", "GET", "/v1/nodes/" + one + "/inventory", "1.80", 404, "", true},
		{"conductors before 1.49", "GET", "/v1/conductors", "1.48", 404, "The API is not supported for this version", true},
		{"an unknown driver", "GET", "/v1/drivers/nosuch", "1.50", 404, "Could not find the following driver(s) or hardware type(s): nosuch.", true},
		{"a MAC is no port", "GET", "/v1/ports/52:54:00:00:00:01", "1.50", 400, "Expected UUID or name for port_ident: 52:54:00:00:00:01", true},
	} {
		t.Run(tc.name, func(t *testing.T) {
			a := call(t, tc.method, base+tc.path, tc.version, "")
			if a.status != tc.status || a.fault(t) != tc.text {
				t.Errorf("got %d %q", a.status, a.fault(t))
			}
			if got := a.header.Get("X-OpenStack-Ironic-API-Version") != ""; got != tc.versioned {
				t.Errorf("version header there: %v", got)
			}
			if !strings.HasPrefix(a.header.Get("Openstack-Request-Id"), "req-") {
				t.Error("no request id")
			}
		})
	}
}

func TestOldVersionsSeeOldWords(t *testing.T) {
	base := serve(t, waiting())
	if s := call(t, "GET", base+"/v1/nodes/"+one, "1.38", "").body["provision_state"]; s != "inspecting" {
		t.Errorf("1.38 reads %v", s)
	}
	if s := call(t, "GET", base+"/v1/nodes/"+one, "1.39", "").body["provision_state"]; s != "inspect wait" {
		t.Errorf("1.39 reads %v", s)
	}
	free := serve(t, &rack{nodes: []node.Node{{UUID: one, ProvisionState: node.Available}}})
	if s := call(t, "GET", free+"/v1/nodes/"+one, "1.1", "").body["provision_state"]; s != nil {
		t.Errorf("1.1 reads %v for available", s)
	}
}

// Contract.md §3.4, row by row; G59.
func TestCreateFaults(t *testing.T) {
	base := serve(t, &rack{})
	for _, tc := range []struct {
		name, version, body string
		status              int
		text                string
	}{
		{"no driver", "1.50", `{}`, 400, "Schema error for node: 'driver' is a required property"},
		{"an unknown key", "1.50", `{"driver":"redfish","bogus":1}`, 400, "Schema error for node: Additional properties are not allowed ('bogus' was unexpected)"},
		{"a driver that is not enabled", "1.50", `{"driver":"nosuch"}`, 400, `No valid host was found. Reason: No conductor service registered which supports driver nosuch for conductor group "". Ensure the driver is valid and enabled.`},
		{"a bad name", "1.50", `{"driver":"redfish","name":"bad name!"}`, 400, "Cannot create node with invalid name 'bad name!'"},
		{"an empty name", "1.50", `{"driver":"redfish","name":""}`, 400, "Cannot create node with invalid name ''"},
		{"a reserved name", "1.50", `{"driver":"redfish","name":"detail"}`, 400, `The word "detail" is reserved and can not be used as a node name. Reserved words are: maintenance, management, states, vendor_passthru, detail, validate.`},
		{"a bad UUID", "1.50", `{"driver":"redfish","uuid":"notauuid"}`, 400, "Expected UUID for uuid: notauuid"},
		{"a key of a newer version", "1.49", `{"driver":"redfish","owner":"x"}`, 406, "Request not acceptable."},
	} {
		t.Run(tc.name, func(t *testing.T) {
			if a := call(t, "POST", base+"/v1/nodes", tc.version, tc.body); a.status != tc.status || a.fault(t) != tc.text {
				t.Errorf("got %d %q", a.status, a.fault(t))
			}
		})
	}
	a := call(t, "POST", base+"/v1/nodes", "1.10", `{"driver":"redfish"}`)
	if a.status != 201 || a.body["provision_state"] != "available" || !strings.HasSuffix(a.header.Get("Location"), "/v1/nodes/"+a.body["uuid"].(string)) {
		t.Errorf("below 1.11: %d %s", a.status, a.text)
	}
}

func TestPatch(t *testing.T) {
	for _, tc := range []struct {
		name, body string
		status     int
		text       string
	}{
		{"a field that cannot change", `[{"op":"replace","path":"/uuid","value":"x"}]`, 400, "Cannot patch /uuid. Only the following can be updated: "},
		{"a key that is not there", `[{"op":"remove","path":"/extra/nope"}]`, 400, "Couldn't apply patch '{'op': 'remove', 'path': '/extra/nope'}'. Reason: can't remove a non-existent object 'nope'"},
		{"what a node must have", `[{"op":"remove","path":"/driver"}]`, 400, "Schema error for patch: 'driver' is a required property"},
		{"no array", `{}`, 400, "Schema error for patch: "},
		{"an operation that is none", `[{"op":"test","path":"/extra/a","value":1}]`, 400, "Schema error for patch: "},
		{"an add without a value", `[{"op":"add","path":"/extra/a"}]`, 400, "Schema error for patch: "},
		{"a word that is no boolean", `[{"op":"replace","path":"/maintenance","value":"banana"}]`, 400, "Invalid maintenance: Unrecognized value 'banana'"},
		{"nothing", `[]`, 200, ""},
	} {
		t.Run(tc.name, func(t *testing.T) {
			base := serve(t, waiting())
			a := call(t, "PATCH", base+"/v1/nodes/n1", "1.50", tc.body)
			if a.status != tc.status || (tc.text != "" && !strings.HasPrefix(a.fault(t), tc.text)) {
				t.Errorf("got %d %s", a.status, a.text)
			}
		})
	}
}

func TestAMaskThatComesBackKeepsTheSecret(t *testing.T) {
	r := waiting()
	base := serve(t, r)
	for _, body := range []string{
		`[{"op":"replace","path":"/driver_info","value":{"redfish_address":"https://192.0.2.11","redfish_password":"******"}}]`,
		`[{"op":"replace","path":"/driver_info/redfish_password","value":"******"}]`,
		`[{"op":"add","path":"/driver_info/redfish_username","value":"root"}]`,
	} {
		if a := call(t, "PATCH", base+"/v1/nodes/n1", "1.50", body); a.status != 200 || strings.Contains(a.text, "not-shown") {
			t.Fatalf("got %d %s", a.status, a.text)
		}
	}
	if got := r.nodes[0].DriverInfo; got["redfish_password"] != "not-shown" || got["redfish_address"] != "https://192.0.2.11" {
		t.Errorf("stored %v", got)
	}
}

// G57.
func TestPagesFollowEachOther(t *testing.T) {
	r := &rack{}
	for i := range 25 {
		r.nodes = append(r.nodes, node.Node{UUID: fmt.Sprintf("6a6d0a7e-1111-4a51-9a3c-0000000000%02d", i), Name: fmt.Sprintf("n%d", i), ProvisionState: node.Enroll})
	}
	next := serve(t, r) + "/v1/nodes?fields=name&limit=10&provision_state=enroll"
	seen := map[any]bool{}
	for pages := 0; next != "" && pages < 5; pages++ {
		a := call(t, "GET", next, "1.50", "")
		if a.status != 200 {
			t.Fatalf("%s: %d %s", next, a.status, a.text)
		}
		for _, n := range a.body["nodes"].([]any) {
			seen[n.(map[string]any)["name"]] = true
		}
		next, _ = a.body["next"].(string)
		if next != "" && (!strings.Contains(next, "provision_state=enroll") || !strings.Contains(next, "fields=name")) {
			t.Errorf("next lost something: %s", next)
		}
	}
	if len(seen) != 25 || next != "" {
		t.Errorf("saw %d nodes, then %q", len(seen), next)
	}
}

// G06, G07: the conductor decides; its errors become the answer.
func TestProvision(t *testing.T) {
	for _, tc := range []struct {
		name, body string
		fails      error
		status     int
		text       string
	}{
		{"is accepted", `{"target":"abort"}`, nil, 202, ""},
		{"without a target", `{}`, nil, 400, "Missing mandatory parameter: target"},
		{"with a body that is no JSON", `{`, nil, 400, "Missing mandatory parameter: target"},
		{"with a number", `{"target":5}`, nil, 400, "Expected string for target: 5"},
		{"with an unknown key", `{"target":"abort","bogus":1}`, nil, 400, "Unexpected arguments: bogus"},
		{"too old", `{"target":"abort"}`, node.ErrNotAcceptable, 406, "Request not acceptable."},
		{"locked", `{"target":"abort"}`, &node.Locked{Node: one, Holder: "rack1"}, 409, "Node " + one + " is locked by host rack1, please retry after the current operation is completed."},
		{"not possible", `{"target":"abort"}`, &node.Unsupported{Driver: "redfish", Extension: "abort"}, 400, "Driver redfish does not support abort (disabled or not implemented)."},
	} {
		t.Run(tc.name, func(t *testing.T) {
			r := waiting()
			r.verbFail = tc.fails
			base := serve(t, r)
			a := call(t, "PUT", base+"/v1/nodes/n1/states/provision", "1.41", tc.body)
			if a.status != tc.status {
				t.Fatalf("got %d %s", a.status, a.text)
			}
			if tc.status != 202 {
				if a.fault(t) != tc.text {
					t.Errorf("got %q", a.fault(t))
				}
				return
			}
			if a.text != "" || a.header.Get("Location") != base+"/v1/nodes/n1/states" || a.header.Get("Content-Type") != "" {
				t.Errorf("got %q %v", a.text, a.header)
			}
			if r.verbs[0].Target != "abort" || r.verbs[0].Minor != 41 || r.idents[0] != "n1" {
				t.Errorf("asked %+v of %v", r.verbs, r.idents)
			}
		})
	}
}

func TestReports(t *testing.T) {
	r := waiting()
	base := serve(t, r)
	if a := call(t, "POST", base+"/v1/continue_inspection?attempt=t0", "", `{"inventory":{}}`); a.status != 202 || a.body["uuid"] != one || string(r.reports[0].Token) != "t0" {
		t.Errorf("got %d %s", a.status, a.text)
	}
	if a := call(t, "POST", base+"/v1/continue_inspection", "", `{}`); a.status != 404 || a.fault(t) != "Resource could not be found." {
		t.Errorf("got %d %s", a.status, a.text)
	}
	if a := call(t, "POST", base+"/v1/continue_inspection", "1.83", `{}`); a.status != 404 || a.fault(t) != "API version 1.84 or newer is required" {
		t.Errorf("got %d %s", a.status, a.text)
	}
	if a := call(t, "POST", base+"/v1/continue_inspection?attempt=t0", "", `{"logs":"`+strings.Repeat("x", 10<<20)+`"}`); a.status != 202 {
		t.Errorf("G26: 10 MiB got %d", a.status)
	}
}
