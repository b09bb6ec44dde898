package main

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"cagenut/node"
)

// crowded is an appliance with more of everything than fits on a page.
func crowded(t *testing.T) (a *testAppliance, first node.Node, chassis string) {
	t.Helper()
	a = serveForTest(t, false, func(s *settings) { s.TrustedProxies = []string{"127.0.0.0/8"} })
	chassis = a.make("/v1/chassis", map[string]any{"description": "the one with the nodes"})
	for i := range 12 {
		body := map[string]any{"driver": "fake-hardware", "name": fmt.Sprintf("n%02d", i), "chassis_uuid": chassis, "resource_class": "edge", "extra": map[string]any{"rack": "R1"}}
		a.make("/v1/nodes", body)
		a.make("/v1/chassis", map[string]any{"description": fmt.Sprintf("chassis %d", i)})
		a.make("/v1/ports", map[string]any{"address": fmt.Sprintf("52:54:00:00:00:%02x", i), "node_ident": "n00"})
		a.make("/v1/inspection_rules", map[string]any{"description": fmt.Sprintf("rule %d", i), "actions": []any{map[string]any{"op": "log", "args": map[string]any{"msg": "seen"}}}})
	}
	first, err := a.store.Node(t.Context(), "n00")
	if err != nil {
		t.Fatal(err)
	}
	for i := range 12 {
		if err := a.store.Note(t.Context(), &node.History{NodeUUID: first.UUID, At: first.CreatedAt, Severity: node.SeverityInfo, Type: node.TypeNode, Event: fmt.Sprintf("event %d", i)}, nil); err != nil {
			t.Fatal(err)
		}
	}
	return a, first, chassis
}

// make posts something and gives its UUID.
func (a *testAppliance) make(path string, body any) string {
	a.t.Helper()
	status, _, out := a.send("POST", path, "latest", body)
	var made struct{ UUID string }
	if err := json.Unmarshal(out, &made); err != nil || status != http.StatusCreated {
		a.t.Fatalf("POST %s: %d %s", path, status, out)
	}
	return made.UUID
}

// G57: every list of the API, followed to its end by `next`, shows each thing once, and loses nothing on the way.
func TestEveryListIsWholeWhenItsPagesAreFollowed(t *testing.T) {
	a, first, chassis := crowded(t)
	for _, tc := range []struct {
		path, key string
		want      int
		keeps     string // a parameter that every page must still have
	}{
		{"/v1/nodes?limit=5", "nodes", 12, ""},
		{"/v1/nodes?limit=5&resource_class=edge&provision_state=enroll&fields=uuid,name", "nodes", 12, "resource_class=edge"},
		{"/v1/nodes?limit=4&sort_key=name&sort_dir=desc", "nodes", 12, "sort_dir=desc"},
		{"/v1/nodes?limit=5&detail=True", "nodes", 12, "detail=True"},
		{"/v1/nodes/detail?limit=5&driver=fake-hardware", "nodes", 12, "driver=fake-hardware"},
		{"/v1/chassis/" + chassis + "/nodes?limit=5", "nodes", 12, ""},
		{"/v1/ports?limit=5&node=n00", "ports", 12, "node=n00"},
		{"/v1/ports/detail?limit=5&sort_key=address&sort_dir=desc", "ports", 12, "sort_key=address"},
		{"/v1/nodes/n00/ports?limit=5&fields=uuid", "ports", 12, "fields=uuid"},
		{"/v1/nodes/" + first.UUID + "/ports/detail?limit=5", "ports", 12, ""},
		{"/v1/chassis?limit=5", "chassis", 13, ""},
		{"/v1/chassis/detail?limit=5&sort_dir=desc", "chassis", 13, "sort_dir=desc"},
		{"/v1/inspection_rules?limit=5&phase=main", "inspection_rules", 12, "phase=main"},
		{"/v1/inspection_rules?limit=5&detail=true&sort_key=description", "inspection_rules", 12, "detail=true"},
		{"/v1/nodes/n00/history?limit=5", "history", 12, ""},
		{"/v1/nodes/n00/history?limit=5&detail=true&sort_dir=desc", "history", 12, "detail=true"},
	} {
		t.Run(tc.path, func(t *testing.T) {
			seen, next := map[string]bool{}, tc.path
			for pages := 0; next != ""; pages++ {
				if pages > 6 {
					t.Fatal("the pages do not end")
				}
				page := a.get(next)
				items := page[tc.key].([]any)
				for _, item := range items {
					uuid := item.(map[string]any)["uuid"].(string)
					if seen[uuid] {
						t.Fatalf("%s is there twice", uuid)
					}
					seen[uuid] = true
				}
				href, _ := page["next"].(string)
				if links, ok := page[tc.key+"_links"].([]any); (href != "") != ok || (ok && links[0].(map[string]any)["href"] != href) {
					t.Errorf("next is %q, the links beside it %v", href, page[tc.key+"_links"])
				}
				if next = strings.TrimPrefix(href, a.base); next != "" && (next == href || !strings.Contains(next, tc.keeps) || strings.Contains(next, "None")) {
					t.Errorf("the address of the next page is %q", href)
				}
			}
			if len(seen) != tc.want {
				t.Errorf("saw %d, want %d", len(seen), tc.want)
			}
		})
	}
}

// G57: behind a proxy that is trusted, links lead back through it; without trust, or from a stranger, they do not.
func TestLinksLeadThroughTheProxy(t *testing.T) {
	a, _, _ := crowded(t)
	req, err := http.NewRequestWithContext(t.Context(), "GET", a.base+"/v1/nodes?limit=1", nil)
	if err != nil {
		t.Fatal(err)
	}
	for k, v := range map[string]string{"X-Forwarded-Proto": "https", "X-Forwarded-Host": "rack.example.org", "X-Forwarded-Prefix": "/baremetal", "X-OpenStack-Ironic-API-Version": "1.96"} {
		req.Header.Set(k, v)
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = resp.Body.Close() }()
	var page struct{ Next string }
	if err := json.NewDecoder(resp.Body).Decode(&page); err != nil {
		t.Fatal(err)
	}
	if !strings.HasPrefix(page.Next, "https://rack.example.org/baremetal/v1/nodes?") {
		t.Errorf("next is %q", page.Next)
	}
}

// G58: nonsense in the parameters of a list is 400 everywhere, a marker of nothing 404, too large a limit the largest.
func TestNoListTakesNonsense(t *testing.T) {
	a, _, chassis := crowded(t)
	lists := []string{"/v1/nodes", "/v1/nodes/detail", "/v1/ports", "/v1/ports/detail", "/v1/nodes/n00/ports", "/v1/chassis", "/v1/chassis/detail", "/v1/chassis/" + chassis + "/nodes", "/v1/inspection_rules", "/v1/nodes/n00/history"}
	const stranger = "6a6d0a7e-9999-4a51-9a3c-0c1f2d3e4f50"
	for _, list := range lists {
		for query, want := range map[string]int{
			"limit=0": 400, "limit=-1": 400, "limit=abc": 400, "limit=": 400, "limit=1.5": 400, "limit=99999999999999999999": 400, "limit=100000": 200,
			"marker=zzz": 400, "marker=" + stranger: 404, "marker=None": 400,
			"sort_key=bogus": 400, "sort_key=extra": 400, "sort_key=uuid;drop": 400, "sort_dir=up": 400, "sort_dir=": 400, "bogus=1": 400, "fields=bogus": 400,
		} {
			status, _, body := a.send("GET", list+"?"+query, "latest", nil)
			if status != want && !(strings.HasSuffix(list, "detail") && query == "fields=bogus") {
				t.Errorf("%s?%s: %d %.200s", list, query, status, body)
			}
			if want == 400 && (!bytes.Contains(body, []byte("faultstring")) || status != 400) {
				t.Errorf("%s?%s: %d %.200s", list, query, status, body)
			}
		}
	}
	for query, want := range map[string]int{"sort_key=owner": 406, "sort_key=name": 200, "fields=owner": 406} {
		if status, _, body := a.send("GET", "/v1/nodes?"+query, "1.49", nil); status != want {
			t.Errorf("at 1.49 %s: %d %s", query, status, body)
		}
	}
}

// G59: every name that can be given can be asked for afterwards, and what could not be is refused.
func TestNamesCanBeAddressedOrAreRefused(t *testing.T) {
	a := serveForTest(t, false)
	for _, name := range []string{"test", "test.json", "ports", "nodes", "v1", "None", "r7-u21", "metal3~host-0", "a.b_c~d-e", "1", strings.Repeat("x", 255)} {
		uuid := a.make("/v1/nodes", map[string]any{"driver": "fake-hardware", "name": name})
		for _, version := range []string{"1.50", "1.90", "1.91", "1.96"} {
			status, _, body := a.send("GET", "/v1/nodes/"+name, version, nil)
			if status != 200 || !bytes.Contains(body, []byte(uuid)) {
				t.Errorf("%q at %s: %d %.200s", name, version, status, body)
			}
		}
	}
	if status, _, body := a.send("GET", "/v1/nodes/r7-u21.json", "1.90", nil); status != 200 {
		t.Errorf("below 1.91 the suffix counted: %d %s", status, body)
	}
	if status, _, _ := a.send("GET", "/v1/nodes/r7-u21.json", "1.91", nil); status != 404 {
		t.Errorf("from 1.91 the suffix is part of the name, but got %d", status)
	}
	status, _, _ := a.send("POST", "/v1/nodes", "1.96", map[string]any{"driver": "fake-hardware", "name": "test"})
	if status != 409 {
		t.Errorf("a name that is taken: %d", status)
	}
	for _, name := range []string{"", " ", "bad name!", "détail", "a/b", "a%2Fb", "..%2f", "detail", "validate", "states", "maintenance", "management", "vendor_passthru", "6a6d0a7e-1111-4a51-9a3c-0c1f2d3e4f50", strings.Repeat("x", 256), "a\x00b", "a\nb"} {
		create, _, body := a.send("POST", "/v1/nodes", "1.96", map[string]any{"driver": "fake-hardware", "name": name})
		if create != 400 {
			t.Errorf("POST of %q: %d %.200s", name, create, body)
		}
		patch, _, body := a.send("PATCH", "/v1/nodes/test", "1.96", []any{map[string]any{"op": "replace", "path": "/name", "value": name}})
		if patch != 400 {
			t.Errorf("PATCH to %q: %d %.200s", name, patch, body)
		}
		if status, _, body := a.send("GET", "/v1/nodes/"+url.PathEscape(name), "1.96", nil); name != "" && (status < 400 || status > 404) && name != "detail" && name != "validate" {
			t.Errorf("GET of %q: %d %.200s", name, status, body)
		}
	}
	if status, _, body := a.send("PATCH", "/v1/nodes/test", "1.96", []any{map[string]any{"op": "replace", "path": "/name", "value": nil}}); status != 200 || !bytes.Contains(body, []byte(`"name":null`)) {
		t.Errorf("null does not clear a name: %d %.200s", status, body)
	}
}

// G61: the version headers are on every answer of a call that is served, and on no other.
func TestVersionsAreNegotiatedEverywhere(t *testing.T) {
	a := serveForTest(t, false, func(s *settings) { s.APIMaxVersion = "1.60" })
	a.make("/v1/nodes", map[string]any{"driver": "fake-hardware", "name": "n"})
	for _, path := range []string{"/", "/v1", "/v1/", "/v1/nodes", "/nodes", "/v1/nodes/n", "/v1/nodes/nobody", "/v1/nodes?bogus=1", "/v1/ports", "/v1/chassis", "/v1/drivers", "/v1/conductors", "/v1/nodes/n/states", "/v1/portgroups"} {
		for _, tc := range []struct {
			asked, used string
			status      int // 0: whatever the call answers
			bounds      bool
		}{
			{"", "1.1", 0, true}, {"1.1", "1.1", 0, true}, {"1.60", "1.60", 0, true}, {"latest", "1.60", 0, true}, {"LATEST", "1.60", 0, true}, {"1.50 ", "1.50", 0, true},
			{"1.999", "", 406, true}, {"1.61", "", 406, true}, {"1.0", "", 406, true}, {"2.0", "", 406, true}, {"0.9", "", 406, true},
			{"abc", "", 406, false}, {"1", "", 406, false}, {"1.", "", 406, false}, {"1.1.1", "", 406, false}, {"-1.5", "", 406, false}, {"1.-5", "", 406, false},
		} {
			status, header, body := a.send("GET", path, tc.asked, nil)
			if tc.status != 0 && status != tc.status {
				t.Errorf("%s at %q: %d %s", path, tc.asked, status, body)
			}
			if tc.status == 406 && tc.bounds && !bytes.Contains(body, []byte("[1.1, 1.60]")) {
				t.Errorf("%s at %q does not name the range: %s", path, tc.asked, body)
			}
			if got := header.Get("X-OpenStack-Ironic-API-Version"); got != tc.used {
				t.Errorf("%s at %q was answered with %q", path, tc.asked, got)
			}
			if got := header.Get("X-OpenStack-Ironic-API-Minimum-Version") == "1.1" && header.Get("X-OpenStack-Ironic-API-Maximum-Version") == "1.60"; got != tc.bounds {
				t.Errorf("%s at %q: the bounds are %v", path, tc.asked, header)
			}
		}
	}
}

// G62: whatever goes wrong is told in the shape that clients of Ironic read, with the status of its kind, and without
// anything of the inside.
func TestErrorsHaveOneShape(t *testing.T) {
	a := serveForTest(t, false)
	a.make("/v1/nodes", map[string]any{"driver": "fake-hardware", "name": "n"})
	var zipped bytes.Buffer
	z := gzip.NewWriter(&zipped)
	_, _ = z.Write(bytes.Repeat([]byte(" "), 2<<20))
	_ = z.Close()
	deep := []byte(strings.Repeat(`{"a":`, 26) + "1" + strings.Repeat("}", 26))
	for _, tc := range []struct {
		name, method, path string
		body               []byte
		encoding           string
		status             int
		flat               bool
	}{
		{"a bad value", "GET", "/v1/nodes?limit=0", nil, "", 400, false},
		{"an unknown thing", "GET", "/v1/nodes/nobody", nil, "", 404, false},
		{"an unknown address", "GET", "/v1/bogus", nil, "", 404, false},
		{"an unknown address below a node", "GET", "/v1/nodes/n/bogus", nil, "", 404, false},
		{"a wrong method", "PUT", "/v1/nodes", nil, "", 405, false},
		{"a wrong method on one", "POST", "/v1/nodes/n", nil, "", 405, false},
		{"too old a version", "GET", "/v1/nodes?owner=x", nil, "", 406, false},
		{"a name that is taken", "POST", "/v1/nodes", []byte(`{"driver":"fake-hardware","name":"n"}`), "", 409, false},
		{"no JSON", "POST", "/v1/nodes", []byte(`{"driver"`), "", 400, false},
		{"no UTF-8", "POST", "/v1/nodes", []byte("{\"driver\":\"fake-hardware\",\"name\":\"\xff\"}"), "", 400, true},
		{"too deep a body", "POST", "/v1/nodes", deep, "", 400, true},
		{"too large a body", "POST", "/v1/nodes", bytes.Repeat([]byte(" "), 1<<20+1), "", 413, true},
		{"a body that unfolds", "POST", "/v1/nodes", zipped.Bytes(), "gzip", 413, true},
		{"a strange encoding", "POST", "/v1/nodes", []byte("x"), "br", 415, true},
	} {
		t.Run(tc.name, func(t *testing.T) {
			req, err := http.NewRequestWithContext(t.Context(), tc.method, a.base+tc.path, bytes.NewReader(tc.body))
			if err != nil {
				t.Fatal(err)
			}
			req.Header.Set("X-OpenStack-Ironic-API-Version", "1.40")
			if tc.encoding != "" {
				req.Header.Set("Content-Encoding", tc.encoding)
			}
			resp, err := http.DefaultClient.Do(req)
			if err != nil {
				t.Fatal(err)
			}
			defer func() { _ = resp.Body.Close() }()
			doc := map[string]any{}
			if err := json.NewDecoder(resp.Body).Decode(&doc); err != nil || resp.StatusCode != tc.status || resp.Header.Get("Content-Type") != "application/json" {
				t.Fatalf("got %d %v (%v)", resp.StatusCode, doc, err)
			}
			if tc.flat {
				if doc["faultcode"] != "Client" || doc["faultstring"] == "" {
					t.Errorf("got %v", doc)
				}
				return
			}
			inner := map[string]any{}
			text, _ := doc["error_message"].(string)
			if err := json.Unmarshal([]byte(text), &inner); err != nil {
				t.Fatalf("error_message is no JSON in a string: %v", doc)
			}
			_, handler := inner["faultstring"]
			_, routing := inner["title"]
			if handler == routing {
				t.Errorf("it is of no family: %s", text)
			}
		})
	}
}
