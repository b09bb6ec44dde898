package main

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"cagenut/node"
)

// versionRow is a row of contract.md §1.4: what is answered one version below an introduction, and from it on.
type versionRow struct {
	what         string
	method, path string // {node} is one that is manageable, {name} its name, {wait} one in `inspect wait`
	body         string
	since        int
	// below it: status, family ("routing", "handlers") and exact text.
	status int
	family string
	text   string
	allow  string // of a 405
	from   int    // the status from the version on
}

const (
	notAcceptable   = "Request not acceptable."
	notForVersion   = "The API is not supported for this version"
	handlers        = "handlers"
	routing         = "routing"
	noNode          = "6a6d0a7e-dead-4a51-9a3c-0c1f2d3e4f50"
	bootModeIsNewer = "This endpoint is supported starting with the API version 1.76"
)

func minimal(n int) string {
	return fmt.Sprintf("%s The minimal required API version should be 1.%d", notAcceptable, n)
}

func versionRows() []versionRow {
	rows := []versionRow{
		{"fields of a list", "GET", "/v1/nodes?fields=uuid", "", 8, 406, handlers, notAcceptable, "", 200},
		{"fields of a node", "GET", "/v1/nodes/{node}?fields=uuid", "", 8, 406, handlers, notAcceptable, "", 200},
		{"fields of ports", "GET", "/v1/ports?fields=uuid", "", 8, 406, handlers, notAcceptable, "", 200},
		{"fields of chassis", "GET", "/v1/chassis?fields=uuid", "", 8, 406, handlers, notAcceptable, "", 200},
		{"detail of nodes", "GET", "/v1/nodes?detail=True", "", 43, 400, handlers, "Invalid query parameter ?detail=True received.", "", 200},
		{"detail of ports", "GET", "/v1/ports?detail=True", "", 43, 400, handlers, "Invalid query parameter ?detail=True received.", "", 200},
		{"detail of drivers", "GET", "/v1/drivers?detail=true", "", 30, 406, handlers, minimal(30), "", 200},
		{"type of drivers", "GET", "/v1/drivers?type=dynamic", "", 30, 406, handlers, minimal(30), "", 200},
		{"fields of drivers", "GET", "/v1/drivers?fields=name", "", 77, 406, handlers, notAcceptable, "", 200},
		{"a soft power action", "PUT", "/v1/nodes/{node}/states/power", `{"target":"soft power off"}`, 27, 406, handlers, notAcceptable, "", 202},
		{"a timeout of a power action", "PUT", "/v1/nodes/{node}/states/power", `{"target":"power off","timeout":30}`, 27, 406, handlers, notAcceptable, "", 202},
		{"the RAID configuration", "PUT", "/v1/nodes/{node}/states/raid", `{"logical_disks":[{"size_gb":100,"raid_level":"1"}]}`, 12, 406, handlers, notAcceptable, "", 204},
		{"the boot mode", "PUT", "/v1/nodes/{node}/states/boot_mode", `{"target":"uefi"}`, 76, 404, handlers, bootModeIsNewer, "", 400},
		{"secure boot", "PUT", "/v1/nodes/{node}/states/secure_boot", `{"target":true}`, 76, 404, handlers, bootModeIsNewer, "", 400},
		{"an NMI", "PUT", "/v1/nodes/{node}/management/inject_nmi", `{}`, 29, 404, handlers, "Resource could not be found.", "", 400},
		{"the list of traits", "GET", "/v1/nodes/{node}/traits", "", 37, 406, handlers, notAcceptable, "", 200},
		{"setting traits", "PUT", "/v1/nodes/{node}/traits", `{"traits":["CUSTOM_A"]}`, 37, 405, routing, "", "GET", 204},
		{"adding a trait", "PUT", "/v1/nodes/{node}/traits/CUSTOM_A", "", 37, 405, routing, "", "GET", 204},
		{"removing a trait", "DELETE", "/v1/nodes/{node}/traits/CUSTOM_A", "", 37, 404, "", "", "", 204},
		{"removing all traits", "DELETE", "/v1/nodes/{node}/traits", "", 37, 404, "", "", "", 204},
		{"vifs", "GET", "/v1/nodes/{node}/vifs", "", 28, 404, routing, "", "", 200},
		{"BIOS settings", "GET", "/v1/nodes/{node}/bios", "", 40, 404, routing, "", "", 200},
		{"history", "GET", "/v1/nodes/{node}/history", "", 78, 404, routing, "", "", 200},
		{"inventory", "GET", "/v1/nodes/{node}/inventory", "", 81, 404, routing, "", "", 404},
		{"firmware", "GET", "/v1/nodes/{node}/firmware", "", 86, 404, routing, "", "", 200},
		{"attaching media", "POST", "/v1/nodes/{node}/vmedia", `{"device_type":"cdrom","image_url":"http://192.0.2.1/x"}`, 89, 404, routing, "", "", 400},
		{"detaching media", "DELETE", "/v1/nodes/{node}/vmedia", "", 89, 404, routing, "", "", 400},
		{"the node's portgroups", "GET", "/v1/nodes/{node}/portgroups", "", 24, 404, routing, "", "", 200},
		{"the node's allocation", "GET", "/v1/nodes/{node}/allocation", "", 52, 404, routing, "", "", 404},
		{"media", "GET", "/v1/nodes/{node}/vmedia", "", 93, 404, handlers, "The resource could not be found.", "", 400},
		{"children", "GET", "/v1/nodes/{node}/children", "", 83, 404, handlers, "Resource could not be found.", "", 200}, // 500 upstream
		{"portgroups", "GET", "/v1/portgroups", "", 23, 404, handlers, notForVersion, "", 200},
		{"volumes", "GET", "/v1/volume", "", 32, 404, handlers, notForVersion, "", 200},
		{"volume connectors", "GET", "/v1/volume/connectors", "", 32, 404, handlers, notForVersion, "", 200},
		{"conductors", "GET", "/v1/conductors", "", 49, 404, handlers, notForVersion, "", 200},
		{"events", "POST", "/v1/events", `{"events":[]}`, 54, 404, handlers, notForVersion, "", 404},
		{"lookup", "GET", "/v1/lookup?addresses=02:00:5e:00:00:01", "", 22, 404, handlers, "Resource could not be found.", "", 404},
		{"heartbeat", "POST", "/v1/heartbeat/{node}", `{"callback_url":"https://192.0.2.9:9999"}`, 22, 404, handlers, "Resource could not be found.", "", 400},
		{"shards", "GET", "/v1/shards", "", 82, 404, handlers, "The API version does not allow shards", "", 200},
		{"a report", "POST", "/v1/continue_inspection", `{}`, 84, 404, handlers, "API version 1.84 or newer is required", "", 400},
		{"node_ident of a port", "POST", "/v1/ports", `{"address":"{mac}","node_ident":"{node}"}`, 94, 406, handlers, notAcceptable, "", 201},
		{"reset_interfaces", "PATCH", "/v1/nodes/{node}?reset_interfaces=true", `[{"op":"replace","path":"/driver","value":"redfish"}]`, 45, 406, handlers, notAcceptable, "", 200},
		{"a name", "GET", "/v1/nodes/{name}", "", 5, 404, handlers, "Node {name} could not be found.", "", 200},
	}
	for _, verb := range []struct {
		name  string
		since int
		from  int
	}{{"manage", 4, 400}, {"provide", 4, 202}, {"inspect", 6, 202}, {"abort", 13, 400}, {"clean", 15, 400}, {"adopt", 17, 400}, {"rescue", 38, 400}, {"unrescue", 38, 400}, {"deploy", 73, 400}, {"undeploy", 73, 400}} {
		rows = append(rows, versionRow{"the verb " + verb.name, "PUT", "/v1/nodes/{node}/states/provision", `{"target":"` + verb.name + `"}`, verb.since, 406, handlers, notAcceptable, "", verb.from})
	}
	rows = append(rows, versionRow{"an abort of a node that waits", "PUT", "/v1/nodes/{wait}/states/provision", `{"target":"abort"}`, 41, 406, handlers, notAcceptable, "", 202})
	rows = append(rows, thingRows()...)
	rows = append(rows, filterRows()...)
	return append(rows, fieldRows()...)
}

// thingRows are the parts that refuse older callers by name.
func thingRows() []versionRow {
	var rows []versionRow
	for _, thing := range []struct {
		path, name string
		since      int
		from       map[string]int
	}{
		{"allocations", "allocations", 52, nil}, {"deploy_templates", "deploy templates", 55, nil}, {"runbooks", "runbooks", 92, nil},
		{"inspection_rules", "inspection rules", 96, map[string]int{"POST": 400, "PATCH": 400, "DELETE": 404}},
	} {
		for _, method := range []string{"GET", "POST", "PATCH", "DELETE"} {
			row := versionRow{method + " of " + thing.path, method, "/v1/" + thing.path, "", thing.since, 405, "", "The API version does not allow " + thing.name, "GET", 404}
			switch method {
			case "GET":
				row.status, row.allow, row.from = 404, "", 200
			case "PATCH", "DELETE":
				row.path += "/" + noNode
			}
			if s := thing.from[method]; s != 0 {
				row.from = s
			}
			if method == "PATCH" {
				row.body = `{}`
			}
			rows = append(rows, row)
		}
	}
	return rows
}

// filterRows are the filters of lists of nodes (contract.md §3.2).
func filterRows() []versionRow {
	rows := []versionRow{
		{"the filter provision_state", "GET", "/v1/nodes?provision_state=manageable", "", 9, 406, handlers, notAcceptable, "", 200},
		{"ports of a node by name", "GET", "/v1/ports?node={name}", "", 5, 406, handlers, notAcceptable, "", 200},
		{"ports of a portgroup", "GET", "/v1/ports?portgroup=x", "", 24, 406, handlers, notAcceptable, "", 200},
	}
	for filter, since := range map[string]int{
		"driver=redfish": 16, "resource_class=x": 21, "fault=power%20failure": 42, "conductor_group=g": 46, "conductor=c": 49, "owner=o": 50, "description_contains=x": 51,
		"retired=true": 61, "lessee=l": 65, "project=p": 65, "shard=s": 82, "sharded=true": 82, "parent_node=p": 83, "include_children=true": 83,
	} {
		rows = append(rows, versionRow{"the filter " + filter, "GET", "/v1/nodes?" + filter, "", since, 406, handlers, minimal(since), "", 200})
	}
	return rows
}

// fieldRows say a newer field in each of the places where one can be said (contract.md §3.3).
func fieldRows() []versionRow {
	var rows []versionRow
	for field, at := range map[string]struct {
		since int
		value string
	}{
		"resource_class": {21, `"x"`}, "inspect_interface": {31, `"no-inspect"`}, "network_interface": {20, `"noop"`}, "conductor_group": {46, `"g"`}, "automated_clean": {47, `true`}, "owner": {50, `"o"`},
		"description": {51, `"d"`}, "retired": {61, `true`}, "lessee": {65, `"l"`}, "network_data": {66, `{}`}, "shard": {82, `"s"`}, "disable_power_off": {95, `true`},
	} {
		rows = append(rows,
			versionRow{"creating a node with " + field, "POST", "/v1/nodes", fmt.Sprintf(`{"driver":"fake-hardware",%q:%s}`, field, at.value), at.since, 406, handlers, notAcceptable, "", 201},
			versionRow{"patching " + field, "PATCH", "/v1/nodes/{node}", fmt.Sprintf(`[{"op":"add","path":"/%s","value":%s}]`, field, at.value), at.since, 406, handlers, notAcceptable, "", 200},
			versionRow{"choosing " + field, "GET", "/v1/nodes?fields=" + field, "", at.since, 406, handlers, notAcceptable, "", 200},
			versionRow{"choosing " + field + " of one", "GET", "/v1/nodes/{node}?fields=" + field, "", at.since, 406, handlers, notAcceptable, "", 200},
		)
	}
	return rows
}

// Contract.md §1.4, row for row, on the real thing.
func TestEveryRowOfTheVersionTable(t *testing.T) {
	a := serveForTest(t, false)
	rows := versionRows()
	slices.SortStableFunc(rows, func(x, y versionRow) int { return strings.Compare(x.what, y.what) })
	for _, row := range rows {
		t.Run(row.what, func(t *testing.T) {
			below, text := a.versioned(t, row, row.since-1)
			if below.status != row.status {
				t.Fatalf("below 1.%d: %d %s", row.since, below.status, below.body)
			}
			if got := family(below); row.family != "" && got != row.family {
				t.Errorf("below 1.%d in the family of %s: %s", row.since, got, below.body)
			}
			if got := sentence(t, below); got != text {
				t.Errorf("below 1.%d: %q, want %q", row.since, got, text)
			}
			if got := below.header.Get("Allow"); got != row.allow {
				t.Errorf("below 1.%d: Allow %q, want %q", row.since, got, row.allow)
			}
			at, _ := a.versioned(t, row, row.since)
			if at.status != row.from {
				t.Errorf("from 1.%d on: %d %s", row.since, at.status, at.body)
			}
			for minor, got := range map[int]answered{row.since - 1: below, row.since: at} {
				versionHeaders(t.Errorf, got, fmt.Sprint(minor))
			}
		})
	}
}

// versioned sends the request of a row to nodes of its own, and gives the text that is expected.
func (a *testAppliance) versioned(t *testing.T, row versionRow, minor int) (answered, string) {
	t.Helper()
	n, err := a.conductor.CreateNode(t.Context(), node.System(), node.Node{Driver: node.DriverFake, Name: "n" + node.NewUUID()[:8], ProvisionState: node.Manageable, PowerState: node.PowerOn, Traits: []string{"CUSTOM_A"}})
	if err != nil {
		t.Fatal(err)
	}
	wait := ""
	if strings.Contains(row.path, "{wait}") {
		w, _ := a.nodeIn(node.InspectWait, "agent")
		wait = w.UUID
	}
	fill := strings.NewReplacer("{node}", n.UUID, "{name}", n.Name, "{wait}", wait, "{mac}", randomMAC())
	r := sentRequest{method: row.method, version: fmt.Sprintf("1.%d", minor), body: []byte(fill.Replace(row.body))}
	r.path, r.query, _ = strings.Cut(fill.Replace(row.path), "?")
	return a.exchange(r), fill.Replace(row.text)
}

// randomMAC is one that nothing has.
func randomMAC() string {
	u := node.NewUUID()
	return fmt.Sprintf("02:%s:%s:%s:%s:%s", u[0:2], u[2:4], u[4:6], u[6:8], u[9:11])
}

// sentence is the text of an error of either family.
func sentence(t *testing.T, a answered) string {
	t.Helper()
	var outer struct {
		Message string `json:"error_message"`
	}
	var inner struct {
		Fault       *string `json:"faultstring"`
		Description string
	}
	if err := json.Unmarshal(a.body, &outer); err != nil {
		t.Fatalf("%v: %s", err, a.body)
	}
	if err := json.Unmarshal([]byte(outer.Message), &inner); err != nil {
		t.Fatalf("%v: %s", err, a.body)
	}
	if inner.Fault != nil {
		return *inner.Fault
	}
	return inner.Description
}

// What the table says without an introduction: indicators have no check, the range of versions is told, and the report
// may come without any version.
func TestWhatTheVersionTableSaysOfAllVersions(t *testing.T) {
	a := serveForTest(t, false)
	n, _ := a.nodeIn(node.Manageable, "fake")
	w, at := a.nodeIn(node.InspectWait, "agent")
	report := []byte(`{"inventory":{"interfaces":[{"name":"eno1","mac_address":"02:00:5e:00:00:01"}]}}`)
	for _, tc := range []struct {
		name, method, path, query, version string
		body                               []byte
		status                             int
		text                               string
	}{
		{"indicators at 1.1", "GET", "/v1/nodes/" + n.UUID + "/management/indicators", "", "1.1", nil, 200, ""},
		{"nodes at 1.0", "GET", "/v1/nodes", "", "1.0", nil, 406, "Version 1.0 was requested but the minor version is not supported by this service. The supported version range is: [1.1, 1.96]."},
		{"ports at 1.0", "GET", "/v1/ports", "", "1.0", nil, 406, "Version 1.0 was requested but the minor version is not supported by this service. The supported version range is: [1.1, 1.96]."},
		{"drivers at 1.0", "GET", "/v1/drivers", "", "1.0", nil, 406, "Version 1.0 was requested but the minor version is not supported by this service. The supported version range is: [1.1, 1.96]."},
		{"chassis at 1.0", "GET", "/v1/chassis", "", "1.0", nil, 406, "Version 1.0 was requested but the minor version is not supported by this service. The supported version range is: [1.1, 1.96]."},
		{"an abort of 1.40 in a state that has none is told of the state first", "PUT", "/v1/nodes/" + n.UUID + "/states/provision", "", "1.40", []byte(`{"target":"abort"}`), 400,
			`The requested action "abort" can not be performed on node "` + n.UUID + `" while it is in state "manageable".`},
		{"a report at 1.2", "POST", "/v1/continue_inspection", "attempt=" + string(at.Token), "1.2", report, 404, "API version 1.84 or newer is required"},
		{"a report without a version", "POST", "/v1/continue_inspection", "attempt=" + string(at.Token), "", report, 202, ""},
	} {
		t.Run(tc.name, func(t *testing.T) {
			got := a.exchange(sentRequest{method: tc.method, path: tc.path, query: tc.query, version: tc.version, body: tc.body})
			if got.status != tc.status || (tc.status >= 400 && sentence(t, got) != tc.text) {
				t.Errorf("got %d %s", got.status, got.body)
			}
		})
	}
	if now := a.get("/v1/nodes/" + w.UUID)["provision_state"]; now != string(node.Inspecting) {
		t.Errorf("after the report the node is %v", now)
	}
	if _, header, _ := a.send(http.MethodGet, "/v1/nodes", "1.0", nil); header.Get("X-OpenStack-Ironic-API-Version") != "" {
		t.Error("a refused version is echoed")
	}
}
