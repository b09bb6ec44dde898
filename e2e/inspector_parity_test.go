package e2e_test

import (
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// A question to an inspector. Where other is set, what is said may differ, and the status may not.
type question struct {
	method, path, body, version string
	other                       bool
}

// The embedded inspector and Debian's, in front of the same nodes, are asked the same (contract.md §5.1, §5.2). Left out is what
// Debian's answers with 500.
func TestTheInspectorAnswersAsDebiansDoes(t *testing.T) {
	t.Parallel()
	listen := freeAddress(t)
	a := serveOn(t, withBootFiles(t), "--inspector-listen", listen)
	theirs := debians(t, freeAddress(t), a.base).base
	ours := "http://" + listen
	n := must[nodeDoc](a, "POST", "/v1/nodes", map[string]any{"name": "n1", "driver": "fake-hardware", "inspect_interface": "agent"})

	const (
		nowhere  = "6a6d0a7e-0000-4a51-9a3c-000000000099"
		ruleUUID = "9a3c6d9e-4f0c-4a37-8f42-5b3c1f2f3a10"
		runs     = "/v1/introspection"
		fail     = `"actions":[{"action":"fail","message":"x"}]`
		rule     = `{"uuid":"` + ruleUUID + `","description":"d","scope":"s","conditions":[{"op":"ne","field":"data://inventory.disks[0].name","value":"/dev/sda"},
			{"op":"matches","field":"node://driver_info.ipmi_address","value":"10[.].*","invert":true},{"op":"gt","field":"data://inventory.disks[*].size","value":5,"multiple":"all"},
			{"op":"is-empty","field":"data://root_disk"}],
			"actions":[{"action":"set-attribute","path":"/extra/x","value":{"y":["{data[inventory][hostname]}",1]}},{"action":"set-capability","name":"c","value":"v"},
			{"action":"extend-attribute","path":"/extra/list","value":"x","unique":true},{"action":"add-trait","name":"CUSTOM_X"},{"action":"fail","message":"x"}]}`
	)
	one := runs + "/" + n.UUID
	for _, q := range []question{
		{method: "GET", path: "/"}, {method: "GET", path: "/v1"}, {method: "GET", path: "/v1/"}, {method: "GET", path: "/v2"},
		{method: "GET", path: "/v1/nothing", other: true},
		{method: "GET", path: runs, version: "1.99"}, {method: "GET", path: runs, version: "0.9"}, {method: "GET", path: runs, version: "2.0"},
		{method: "GET", path: runs, version: "latest"}, {method: "GET", path: runs, version: "1.0"},
		{method: "GET", path: runs + "/" + nowhere}, {method: "GET", path: runs + "/nobody"}, {method: "GET", path: runs + "/n1"}, {method: "GET", path: one},
		{method: "GET", path: runs + "?limit=-1"}, {method: "GET", path: runs + "?limit=1001"}, {method: "GET", path: runs + "?limit=ten", other: true},
		{method: "GET", path: runs + "?limit=0"}, {method: "GET", path: runs + "?marker=x"}, {method: "GET", path: runs + "?marker=" + nowhere, other: true},
		{method: "GET", path: runs + "?state=x"}, {method: "GET", path: runs + "?state=waiting,y,z"}, {method: "GET", path: runs + "?state=waiting,aborting,reapplying"},
		{method: "POST", path: runs + "/nobody"}, {method: "POST", path: runs + "/" + nowhere}, {method: "POST", path: one + "?manage_boot=maybe"}, {method: "POST", path: one + "?manage_boot="},
		{method: "POST", path: runs + "/" + nowhere + "/abort"}, {method: "POST", path: runs + "/nobody/abort"}, {method: "POST", path: one + "/abort"},
		{method: "GET", path: runs + "/" + nowhere + "/data"}, {method: "GET", path: runs + "/nobody/data"}, {method: "GET", path: runs + "/n1/data"},
		{method: "GET", path: runs + "/" + nowhere + "/data/unprocessed"}, {method: "GET", path: one + "/data/unprocessed"},
		{method: "POST", path: runs + "/" + nowhere + "/data/unprocessed"}, {method: "POST", path: one + "/data/unprocessed"},
		{method: "POST", path: one + "/data/unprocessed", body: `[1]`}, {method: "POST", path: one + "/data/unprocessed", body: `"x"`}, {method: "POST", path: one + "/data/unprocessed", body: `{`, other: true},
		{method: "POST", path: "/v1/continue", body: `[]`}, {method: "POST", path: "/v1/continue", body: `{}`, other: true},

		{method: "GET", path: "/v1/rules"}, {method: "GET", path: "/v1/rules/" + ruleUUID}, {method: "DELETE", path: "/v1/rules/" + ruleUUID}, {method: "GET", path: "/v1/rules/zz"},
		{method: "POST", path: "/v1/rules", body: `{}`, other: true}, {method: "POST", path: "/v1/rules", body: `{"actions":[]}`, other: true},
		{method: "POST", path: "/v1/rules", body: `{"uuid":"x",` + fail + `}`},
		{method: "POST", path: "/v1/rules", body: `{"scope":"` + strings.Repeat("s", 256) + `",` + fail + `}`},
		{method: "POST", path: "/v1/rules", body: `{"conditions":[{"op":"zz","field":"x","value":1}],` + fail + `}`, other: true},
		{method: "POST", path: "/v1/rules", body: `{"conditions":[{"op":"eq","value":1}],` + fail + `}`, other: true},
		{method: "POST", path: "/v1/rules", body: `{"conditions":[{"op":"eq","field":"http://x","value":1}],` + fail + `}`},
		{method: "POST", path: "/v1/rules", body: `{"conditions":[{"op":"eq","field":"x"}],` + fail + `}`},
		{method: "POST", path: "/v1/rules", body: `{"conditions":[{"op":"eq","field":"a[","value":1}],` + fail + `}`, other: true},
		{method: "POST", path: "/v1/rules", body: `{"conditions":[{"op":"in-net","field":"x","value":"zz"}],` + fail + `}`, other: true},
		{method: "POST", path: "/v1/rules", body: `{"conditions":[{"op":"matches","field":"x","value":"("}],` + fail + `}`, other: true},
		{method: "POST", path: "/v1/rules", body: `{"actions":[{"action":"fail"}]}`}, {method: "POST", path: "/v1/rules", body: `{"actions":[{"action":"set-attribute","path":"/x"}]}`, other: true},
		{method: "POST", path: "/v1/rules", body: `{"actions":[{"action":"zz"}]}`, other: true},
		{method: "POST", path: "/v1/rules", body: rule}, {method: "POST", path: "/v1/rules", body: rule}, {method: "GET", path: "/v1/rules"}, {method: "GET", path: "/v1/rules/" + ruleUUID},
		{method: "DELETE", path: "/v1/rules/" + ruleUUID}, {method: "DELETE", path: "/v1/rules/" + ruleUUID},
		{method: "POST", path: "/v1/rules", body: rule, version: "1.5"}, {method: "DELETE", path: "/v1/rules"}, {method: "GET", path: "/v1/rules"},
	} {
		want, got := q.ask(t, theirs), q.ask(t, ours)
		if q.other {
			want, got = map[string]any{"status": want["status"]}, map[string]any{"status": got["status"]}
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s %s %.80s %s (-Debian's +ours):\n%s", q.method, q.path, q.body, q.version, diff)
		}
	}
}

// ask gives status, kind and content of an answer, without the address of who answers.
func (q question) ask(t *testing.T, base string) map[string]any {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), q.method, base+q.path, strings.NewReader(q.body))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/json")
	if q.version != "" {
		req.Header.Set("X-OpenStack-Ironic-Inspector-API-Version", q.version)
	}
	resp, err := client.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = resp.Body.Close() }()
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	kind, _, _ := strings.Cut(resp.Header.Get("Content-Type"), ";")
	out := map[string]any{
		"status": resp.StatusCode, "kind": kind,
		"from": resp.Header.Get("X-OpenStack-Ironic-Inspector-API-Minimum-Version"), "to": resp.Header.Get("X-OpenStack-Ironic-Inspector-API-Maximum-Version"),
	}
	if len(body) == 0 {
		return out
	}
	var doc any
	if err := json.Unmarshal([]byte(strings.ReplaceAll(string(body), base, "")), &doc); err != nil {
		doc = string(body)
	}
	out["body"] = doc
	return out
}
