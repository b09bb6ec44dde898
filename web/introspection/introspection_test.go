package introspection_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/gofiber/fiber/v2"
	"github.com/google/go-cmp/cmp"

	"cagenut/node"
)

// G31; that min and max are on every answer is checked by call.
func TestVersions(t *testing.T) {
	base := serve(t, newRack(), nil)
	const malformed = "Malformed API version: expected string in form of X.Y or latest"
	outside := func(v string) string { return "Unsupported API version " + v + ", supported range is 1.0 to 1.18" }
	for _, tc := range []struct {
		asked  string
		status int
		text   string
	}{
		{"", 200, ""}, {"latest", 200, ""}, {"LATEST", 200, ""}, {"1.0", 200, ""}, {"1.18", 200, ""},
		{"abc", 400, malformed}, {"1", 400, malformed}, {"1.2.3", 400, malformed}, {"-1.2", 400, malformed}, {"1.x", 400, malformed},
		{"1.99", 406, outside("1.99")}, {"2.0", 406, outside("2.0")}, {"0.9", 406, outside("0.9")},
		{"1.99999999999999999999", 406, outside("1.99999999999999999999")},
	} {
		t.Run("version "+tc.asked, func(t *testing.T) {
			if a := call(t, "GET", base+"/v1/introspection", tc.asked, ""); a.status != tc.status || a.message() != tc.text {
				t.Errorf("got %d %s", a.status, a.text)
			}
		})
	}
}

func TestDiscovery(t *testing.T) {
	base := serve(t, newRack(), nil)
	for path, want := range map[string]string{
		"/":   `{"versions":[{"status":"CURRENT","id":"1.18","links":[{"rel":"self","href":"` + base + `/v1"}]}]}`,
		"/v1": `{"resources":[{"name":"continue","links":[{"rel":"self","href":"` + base + `/v1/continue"}]},{"name":"introspection","links":[{"rel":"self","href":"` + base + `/v1/introspection"}]},{"name":"rules","links":[{"rel":"self","href":"` + base + `/v1/rules"}]}]}`,
	} {
		if a := call(t, "GET", base+path, "", ""); a.status != 200 || a.text != want {
			t.Errorf("%s: got %d %s", path, a.status, a.text)
		}
	}
}

func TestErrors(t *testing.T) {
	base := serve(t, newRack(), nil)
	for _, tc := range []struct {
		name, method, path string
		status             int
		text               string
	}{
		{"an unknown version of the API", "GET", "/v2", 404, "Version v2 not found."},
		{"a rule without a body", "POST", "/v1/rules", 400, "Invalid data: expected a JSON object, got no JSON"},
		{"a rule that is not there", "GET", "/v1/rules/" + one, 404, "Rule " + one + " was not found"},
		{"nor can be deleted", "DELETE", "/v1/rules/" + one, 404, "Rule " + one + " was not found"},
		{"a rule that has no UUID", "GET", "/v1/rules/x%20y", 404, "Rule x y was not found"},
		{"no raw data", "GET", "/v1/introspection/n2/data/unprocessed", 404, "Introspection data not found for node " + two + ", processed=False"},
		{"raw data of a stranger", "GET", "/v1/introspection/nobody/data/unprocessed", 404, "Node nobody was not found in Ironic"},
		{"a reapply for a stranger", "POST", "/v1/introspection/" + nowhere + "/data/unprocessed", 404, "Introspection data not found for node " + nowhere + ", processed=False"},
		{"a reapply while it runs", "POST", "/v1/introspection/n1/data/unprocessed", 409, "Node locked, please, try again later"},
		{"a wrong method", "DELETE", "/v1/introspection/" + one, 405, "Method Not Allowed"},
		{"G29: status of a stranger", "GET", "/v1/introspection/" + nowhere, 404, "Could not find node " + nowhere + " in cache"},
		{"G29: abort of a stranger", "POST", "/v1/introspection/" + nowhere + "/abort", 404, "Could not find node " + nowhere + " in cache"},
		{"data of a stranger", "GET", "/v1/introspection/" + nowhere + "/data", 404, "Introspection data not found for node " + nowhere + ", processed=True"},
		{"no data", "GET", "/v1/introspection/n2/data", 404, "Introspection data not found for node " + two + ", processed=True"},
		{"start of a stranger", "POST", "/v1/introspection/nobody", 404, "Node nobody was not found in Ironic"},
		{"a name with an escaped sign", "GET", "/v1/introspection/%25zz", 404, "Node %zz was not found in Ironic"},
		{"a bad boolean", "POST", "/v1/introspection/n1?manage_boot=maybe", 400, "Invalid boolean value for manage_boot: maybe"},
		{"an empty boolean", "POST", "/v1/introspection/n1?manage_boot=", 400, "Invalid boolean value for manage_boot: "},
		{"unmanaged boot", "POST", "/v1/introspection/n1?manage_boot=False", 400, "manage_boot=false is not possible: this inspector always manages the boot of the nodes that it inspects."},
		{"a limit below 0", "GET", "/v1/introspection?limit=-1", 400, "Bad request: Limit cannot be negative"},
		{"a limit above 1000", "GET", "/v1/introspection?limit=1001", 400, "Bad request: Limit over 1000"},
		{"a limit in words", "GET", "/v1/introspection?limit=ten", 400, "Bad request: Limit is not an integer: ten"},
		{"a marker that is no UUID", "GET", "/v1/introspection?marker=n1", 400, "Bad request: Marker not UUID-like"},
		{"a marker of a stranger", "GET", "/v1/introspection?marker=" + nowhere, 404, "Could not find node " + nowhere + " in cache"},
		{"an unknown state", "GET", "/v1/introspection?state=waiting,x", 400, `Bad request: State(s) "x" are not valid`},
	} {
		t.Run(tc.name, func(t *testing.T) {
			a := call(t, tc.method, base+tc.path, "", "")
			if a.status != tc.status || a.message() != tc.text {
				t.Errorf("got %d %s", a.status, a.text)
			}
			if diff := cmp.Diff(map[string]any{"error": map[string]any{"message": tc.text}}, a.body); diff != "" {
				t.Errorf("the shape: %s", diff)
			}
		})
	}
}

func TestAnInternalErrorTellsNothing(t *testing.T) {
	r := newRack()
	r.broken = errors.New("disk on fire")
	a := call(t, "GET", serve(t, r, nil)+"/v1/introspection/n1", "", "")
	if a.status != 500 || a.text != `{"error":{"message":"Internal server error"}}` || !strings.HasPrefix(a.header.Get("X-Openstack-Request-Id"), "req-") {
		t.Errorf("got %d %s %v", a.status, a.text, a.header)
	}
}

// G08 and G29: the answer to an abort is true at once, and a second one is refused and changes nothing.
func TestAbort(t *testing.T) {
	r := newRack()
	base := serve(t, r, nil)
	if a := call(t, "POST", base+"/v1/introspection/n1/abort", "", ""); a.status != 202 || a.text != `{}` || a.header.Get("Content-Type") != "application/json" {
		t.Fatalf("got %d %q %v", a.status, a.text, a.header)
	}
	want := `{"uuid":"` + one + `","finished":true,"state":"error","started_at":"2026-11-30T02:05:27","finished_at":"2026-11-30T02:06:27","error":"Canceled by operator","links":[{"rel":"self","href":"` + base + `/v1/introspection/` + one + `"}]}`
	if a := call(t, "GET", base+"/v1/introspection/"+one, "", ""); a.text != want {
		t.Errorf("got %s", a.text)
	}
	if a := call(t, "POST", base+"/v1/introspection/n1/abort", "", ""); a.status != 400 || a.message() != "Introspection for node "+one+" already finished on 2026-11-30 02:06:27" {
		t.Errorf("got %d %s", a.status, a.text)
	}
	if a := call(t, "GET", base+"/v1/introspection/n1", "", ""); a.text != want {
		t.Errorf("the second abort left %s", a.text)
	}
	if len(r.actors) != 1 || r.actors[0].Source != node.SourceAPI || r.actors[0].Address != "127.0.0.1" {
		t.Errorf("asked by %+v", r.actors)
	}
}

func TestAbortOfWhatHasSucceeded(t *testing.T) {
	r := newRack()
	r.end(0, node.RunFinished, "")
	base := serve(t, r, nil)
	if a := call(t, "POST", base+"/v1/introspection/n1/abort", "", ""); a.status != 400 || a.message() == "" {
		t.Errorf("got %d %s", a.status, a.text)
	}
	if a := call(t, "GET", base+"/v1/introspection/n1", "", ""); a.body["state"] != "finished" || a.body["finished"] != true || a.body["error"] != nil {
		t.Errorf("got %s", a.text)
	}
}

func TestStartAndAbortTooEarly(t *testing.T) {
	base := serve(t, newRack(), nil)
	if a := call(t, "POST", base+"/v1/introspection/n1?manage_boot=True", "", ""); a.status != 202 || a.text != `{}` {
		t.Fatalf("got %d %s", a.status, a.text)
	}
	a := call(t, "GET", base+"/v1/introspection/n1", "", "")
	if a.body["state"] != "starting" || a.body["finished"] != false || a.body["finished_at"] != nil || a.body["error"] != nil {
		t.Errorf("got %s", a.text)
	}
	if a := call(t, "POST", base+"/v1/introspection/n1/abort", "", ""); a.status != 409 || a.message() != "Node is locked, please, retry later" {
		t.Errorf("got %d %s", a.status, a.text)
	}
}

func TestListPages(t *testing.T) {
	r := newRack()
	r.end(0, node.RunFinished, "")
	base := serve(t, r, nil)
	for query, want := range map[string][]string{
		"": {two, one}, "?limit=0": {two, one}, "?limit=1": {two}, "?limit=1&marker=" + two: {one}, "?marker=" + one: nil,
		"?state=waiting": {two}, "?state=finished,error": {one}, "?state=reapplying": nil, "?state=&limit=&marker=": {two, one},
	} {
		a := call(t, "GET", base+"/v1/introspection"+query, "", "")
		list, ok := a.body["introspection"].([]any)
		if a.status != 200 || !ok {
			t.Errorf("%q: got %d %s", query, a.status, a.text)
		}
		var uuids []string
		for _, item := range list {
			uuids = append(uuids, item.(map[string]any)["uuid"].(string))
		}
		if diff := cmp.Diff(want, uuids); diff != "" {
			t.Errorf("%q: %s", query, diff)
		}
	}
}

// G30: a slash at the end changes nothing and redirects nobody.
func TestTrailingSlashes(t *testing.T) {
	for _, tc := range []struct {
		method, path string
		status       int
	}{
		{"GET", "/v1", 200}, {"GET", "/v1/introspection", 200}, {"GET", "/v1/introspection/n1", 200}, {"GET", "/v1/introspection/n1/data", 200},
		{"POST", "/v1/continue?attempt=token-1", 200}, {"POST", "/v1/introspection/n1", 202}, {"POST", "/v1/introspection/n1/abort", 202},
		{"GET", "/v1/rules", 200}, {"DELETE", "/v1/rules", 204}, {"GET", "/v1/nothing", 404},
	} {
		t.Run(tc.method+" "+tc.path, func(t *testing.T) {
			path, query, _ := strings.Cut(tc.path, "?")
			for _, variant := range []string{path, path + "/", strings.Replace(path, "/v1", "//v1", 1) + "//"} {
				if a := call(t, tc.method, serve(t, newRack(), nil)+variant+"?"+query, "", `{}`); a.status != tc.status {
					t.Errorf("%s: got %d %s", variant, a.status, a.text)
				}
			}
		})
	}
}

// G01 and G19 at this door; the size is that of design.md §7.
func TestReport(t *testing.T) {
	r := newRack()
	base := serve(t, r, nil)
	large := `{"logs":"` + strings.Repeat("A", 15<<20) + `"}`
	if a := call(t, "POST", base+"/v1/continue?attempt=token-1", "", large); a.status != 200 || a.text != `{"uuid":"`+one+`"}` {
		t.Fatalf("got %d %s", a.status, a.text)
	}
	if r.bodies[0] != len(large) || r.actors[0].Source != node.SourceRamdisk {
		t.Errorf("got %v of %+v", r.bodies, r.actors)
	}
	r.end(0, node.RunError, "Canceled by operator")
	for query, want := range map[string]struct {
		status int
		text   string
	}{
		"?attempt=token-1":  {400, "Look up error: Introspection for node " + one + " already finished on 2026-11-30 02:06:27"},
		"?attempt=invented": {404, "Look up error: no introspection waits for this report; if there was one, it is already over."},
		"":                  {404, "Look up error: no introspection waits for this report; if there was one, it is already over."},
	} {
		if a := call(t, "POST", base+"/v1/continue"+query, "", `{"inventory":{}}`); a.status != want.status || a.message() != want.text {
			t.Errorf("%q: got %d %s", query, a.status, a.text)
		}
	}
	if a := call(t, "POST", base+"/v1/continue?attempt=token-2", "", `{"logs":"`+strings.Repeat("A", 16<<20)+`"}`); a.status != 413 || a.message() == "" {
		t.Errorf("got %d %s", a.status, a.text)
	}
	if a := call(t, "GET", base+"/v1/introspection/n1", "", ""); a.body["error"] != "Canceled by operator" {
		t.Errorf("a late report left %s", a.text)
	}
}

func TestWhatIsPublic(t *testing.T) {
	base := serve(t, newRack(), func(*fiber.Ctx) error { return fiber.NewError(401, "Authorization required") })
	for request, status := range map[string]int{
		"GET /": 200, "GET /v1": 200, "GET /v1/": 200, "POST /v1/continue?attempt=token-1": 200,
		"GET /v1/introspection": 401, "GET /v1/introspection/n1": 401, "GET /v1/introspection/n1/data": 401,
		"GET /v1/rules": 401, "DELETE /v1/rules": 401, "POST /v1/rules": 401, "GET /v1/introspection/n1/data/unprocessed": 401, "POST /v1/introspection/n1/data/unprocessed": 401, "POST /v1/introspection/n1": 401, "POST /v1/introspection/n1/abort": 401, "POST /v1/continue/../introspection/n1/abort": 401,
	} {
		method, path, _ := strings.Cut(request, " ")
		if a := call(t, method, base+path, "", `{}`); a.status != status {
			t.Errorf("%s: got %d %s", request, a.status, a.text)
		}
	}
}

func TestUnprocessedDataAndReapply(t *testing.T) {
	r := newRack()
	r.end(0, node.RunFinished, "")
	base := serve(t, r, nil)
	if a := call(t, "GET", base+"/v1/introspection/n1/data/unprocessed", "", ""); a.status != 200 || a.text != `{"inventory":{"hostname":"ramdisk"},"spelt":1.50}` || a.header.Get("Content-Type") != "application/json" {
		t.Errorf("got %d %s %v", a.status, a.text, a.header)
	}
	large := `{"inventory":{},"x":"` + strings.Repeat("y", 2<<20) + `"}`
	for _, body := range []string{"", `{"inventory":{}}`, large} {
		if a := call(t, "POST", base+"/v1/introspection/n1/data/unprocessed", "", body); a.status != 202 || a.text != `{}` {
			t.Errorf("%.20s: got %d %s", body, a.status, a.text)
		}
	}
	if diff := cmp.Diff([]string{one + " ", one + ` {"inventory":{}}`, one + " " + large}, r.applied); diff != "" {
		t.Errorf("applied (-want +got):\n%s", diff)
	}
	for body, text := range map[string]string{
		`[1]`: "Invalid data: expected a JSON object, got list", `"x"`: "Invalid data: expected a JSON object, got str", `5`: "Invalid data: expected a JSON object, got number",
		`true`: "Invalid data: expected a JSON object, got bool", `null`: "Invalid data: expected a JSON object, got NoneType", `{`: "Invalid data: expected a JSON object, got no JSON",
	} {
		if a := call(t, "POST", base+"/v1/introspection/n1/data/unprocessed", "", body); a.status != 400 || a.message() != text {
			t.Errorf("%s: got %d %s", body, a.status, a.text)
		}
	}
}
