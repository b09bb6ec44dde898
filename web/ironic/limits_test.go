package ironic_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"cagenut/node"
)

func patch(edits ...map[string]any) string {
	b, _ := json.Marshal(edits) // maps of plain values
	return string(b)
}

// A patch costs what its document costs, not that times its operations: a thousand of them on a large node are one piece
// of work, also when the last cannot be made.
func TestAPatchIsOnePieceOfWork(t *testing.T) {
	r := waiting()
	large := make([]any, 20_000)
	for i := range large {
		large[i] = fmt.Sprintf("%040d", i)
	}
	r.nodes[0].Extra = map[string]any{"large": large}
	base := serve(t, r) + "/v1/nodes/n1"
	var edits []map[string]any
	for i := range 999 {
		edits = append(edits, map[string]any{"op": "add", "path": fmt.Sprintf("/extra/k%d", i), "value": i})
	}
	bad := append(edits[:len(edits):len(edits)], map[string]any{"op": "remove", "path": "/extra/nope"})
	if a := call(t, "PATCH", base, "1.50", patch(bad...)); a.status != 400 || !strings.Contains(a.fault(t), "can't remove a non-existent object 'nope'") {
		t.Errorf("got %d %.300s", a.status, a.text)
	}
	if len(r.nodes[0].Extra) != 1 {
		t.Error("a part of a refused patch was kept")
	}
	if a := call(t, "PATCH", base, "1.50", patch(edits...)); a.status != 200 || len(r.nodes[0].Extra) != 1000 {
		t.Errorf("got %d, %d keys", a.status, len(r.nodes[0].Extra))
	}
	if a := call(t, "PATCH", base, "1.50", patch(append(bad, edits[0])...)); a.status != 400 || a.fault(t) != "Schema error for patch: it has more than 1000 operations" {
		t.Errorf("got %d %.300s", a.status, a.text)
	}
}

// What a client reads masked and sends back in another order keeps its own secret.
func TestSecretsInListsStayWithTheirOwner(t *testing.T) {
	r := waiting()
	accounts := func(names ...string) []any {
		var out []any
		for _, name := range names {
			out = append(out, map[string]any{"user": name, "password": "not-shown-" + name})
		}
		return out
	}
	masked := func(names ...string) []any {
		var out []any
		for _, name := range names {
			out = append(out, map[string]any{"user": name, "password": node.Mask})
		}
		return out
	}
	base := serve(t, r) + "/v1/nodes/n1"
	for _, tc := range []struct {
		name string
		edit map[string]any
		want []any
	}{
		{"one is taken out", map[string]any{"op": "remove", "path": "/driver_info/accounts/0"}, accounts("b", "c")},
		{"they are sorted", map[string]any{"op": "replace", "path": "/driver_info/accounts", "value": masked("c", "a", "b")}, accounts("c", "a", "b")},
		{"one is new", map[string]any{"op": "add", "path": "/driver_info/accounts/0", "value": map[string]any{"user": "d", "password": "not-shown-d"}}, accounts("d", "a", "b", "c")},
		{"another key changes", map[string]any{"op": "add", "path": "/driver_info/redfish_address", "value": "https://192.0.2.11"}, accounts("a", "b", "c")},
	} {
		t.Run(tc.name, func(t *testing.T) {
			r.nodes[0].DriverInfo = map[string]any{"accounts": accounts("a", "b", "c")}
			a := call(t, "PATCH", base, "1.50", patch(tc.edit))
			got, _ := json.Marshal(r.nodes[0].DriverInfo["accounts"])
			want, _ := json.Marshal(tc.want)
			if a.status != 200 || string(got) != string(want) || strings.Contains(a.text, "not-shown") {
				t.Errorf("got %d, stored %s", a.status, got)
			}
		})
	}
}

func TestErrorsQuoteLittleAndNoSecret(t *testing.T) {
	base := serve(t, waiting())
	long := strings.Repeat("x", 300_000)
	for _, tc := range []struct{ method, path, version, body string }{
		{"PUT", "/v1/nodes/n1/states/provision", "1.50", `{"target":["` + long + `"]}`},
		{"PUT", "/v1/nodes/n1/states/provision", "1.50", `{"target":"` + long + `"}`},
		{"PUT", "/v1/nodes/n1/states/console", "1.50", `{"enabled":"` + long + `"}`},
		{"PUT", "/v1/nodes/n1/traits", "1.50", `{"traits":["` + long + `"]}`},
		{"POST", "/v1/ports", "1.50", `{"address":"` + long + `","node_uuid":"` + one + `"}`},
		{"POST", "/v1/chassis", "1.50", `{"description":{"a":"` + long + `"}}`},
		{"POST", "/v1/heartbeat/" + one, "1.68", `{"callback_url":"https://192.0.2.9","agent_token":["a-secret-of-the-ramdisk"]}`},
	} {
		a := call(t, tc.method, base+tc.path, tc.version, tc.body)
		if a.status != 400 || len(a.text) > 1000 || strings.Contains(a.text, "a-secret") {
			t.Errorf("%s %s: %d with %d bytes: %.200s", tc.method, tc.path, a.status, len(a.text), a.text)
		}
	}
}

// Contract.md §1.6, behind every kind of name.
func TestTheSuffixCountsForNothingBelow191(t *testing.T) {
	base := serve(t, waiting())
	for path, was := range map[string]int{
		"/v1/nodes/n1": 200, "/v1/nodes/" + one: 200, "/v1/drivers/redfish": 200, "/v1/conductors/rack1": 200, "/v1/nodes": 200, "/nodes/n1/states": 200, "/v1/shards": 200,
		"/v1/nodes/detail": 200, "/v1/nodes/n1/traits": 200, "/v1/drivers/redfish/properties": 200,
	} {
		for version, want := range map[string]int{"1.90": was, "1.91": 404} {
			if a := call(t, "GET", base+path+".json", version, ""); a.status != want {
				t.Errorf("%s.json at %s: %d %.200s", path, version, a.status, a.text)
			}
		}
	}
}
