package extension_test

import (
	"context"
	"encoding/json"
	"testing"
	"time"

	"cagenut/node"
)

func (h *hall) Appliance(context.Context) (node.Appliance, error) { return h.self, h.broken }

func TestTheApplianceTellsHowItIs(t *testing.T) {
	h := newHall()
	h.self = node.Appliance{
		At: noon, StartedAt: noon.Add(-time.Hour), Host: "rack-7",
		Build:    node.Build{Version: "(devel)", Commit: "c0ffee", Modified: true, Go: "go1.26.0"},
		Settings: []node.Setting{{Name: "listen", Value: "127.0.0.1:6385"}},
		Database: node.DatabaseLoad{Kind: "SQLite", Path: "/var/lib/cagenut.db", Size: 4096, WAL: 512, Schema: 17, DiskFree: 1 << 20, DiskSize: 1 << 34, Kept: []node.Kept{{What: "nodes", Count: 12}}},
		Jobs:     node.JobLoad{Counts: []node.JobCount{{Kind: node.JobPower, State: "running", Count: 3}}, Late: node.JobPower, LateFrom: noon.Add(-time.Second)},
		BMCs: node.BMCLoad{Answering: 11, Silent: 1, Unasked: 2, Calls: node.CallLoad{Running: 4, Waiting: 5, Limit: 64, LeftAlone: 1},
			Worst: []node.SilentBMC{{Node: "u1", Place: node.Location{Rack: "R07", Unit: 21, Units: 1}, Address: "192.0.2.10", Since: noon, Error: "no answer"}, {Node: "u2", Name: "r07-u22", Error: "refused"}}},
		Inspector: node.InspectorContact{External: true, Address: "http://192.0.2.9:5050", Failed: noon, Error: "no answer within 5s"},
		Streams:   node.StreamLoad{Open: 2, Limit: 512},
	}
	for _, role := range []string{"viewer", "operator", "admin"} {
		var got json.RawMessage
		if status := call(t, "GET", serve(t, h, 0)+"/appliance", "", &got, "X-Test-Role", role); status != 200 {
			t.Fatalf("as %s: got %d %s", role, status, got)
		}
		want := `{"at":"2026-11-30T14:02:11.000Z","started":"2026-11-30T13:02:11.000Z","host":"rack-7",` +
			`"build":{"version":"(devel)","commit":"c0ffee","time":null,"modified":true,"go":"go1.26.0"},"settings":{"listen":"127.0.0.1:6385"},` +
			`"defects":[{"kind":"disk","grave":true,"detail":null},{"kind":"inspector","grave":true,"detail":"no answer within 5s"}],` +
			`"database":{"kind":"SQLite","path":"/var/lib/cagenut.db","size":4096,"wal":512,"schema":17,"disk_free":1048576,"disk_size":17179869184,"writable":true,"rows":{"nodes":12}},` +
			`"jobs":{"counts":[{"kind":"power","state":"running","count":3}],"late":"power","late_since":"2026-11-30T14:02:10.000Z"},` +
			`"bmcs":{"answering":11,"silent":1,"unasked":2,"left_alone":1,"calls_running":4,"calls_waiting":5,"calls_limit":64,"worst":[` +
			`{"node":"u1","name":null,"rack":"R07","unit":21,"address":"192.0.2.10","since":"2026-11-30T14:02:11.000Z","error":"no answer"},` +
			`{"node":"u2","name":"r07-u22","rack":null,"unit":null,"address":null,"since":null,"error":"refused"}]},` +
			`"inspector":{"external":true,"address":"http://192.0.2.9:5050","answered":null,"failed":"2026-11-30T14:02:11.000Z","error":"no answer within 5s"},` +
			`"streams":{"open":2,"limit":512}}`
		if string(got) != want {
			t.Errorf("got  %s\nwant %s", got, want)
		}
	}
	var f failure
	if status := call(t, "GET", serve(t, h, 0)+"/appliance?colour=red", "", &f); status != 400 {
		t.Errorf("of a question that it does not know: %d", status)
	}
}
