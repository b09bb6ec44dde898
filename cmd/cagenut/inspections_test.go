package main

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"encoding/base64"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"cagenut/node"
)

// reportWith is a report of a server with one card, and logs of one file.
func reportWith(t *testing.T, mac, serial, journal string) []byte {
	t.Helper()
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	a := tar.NewWriter(z)
	err := a.WriteHeader(&tar.Header{Name: "journal", Typeflag: tar.TypeReg, Size: int64(len(journal))})
	if err == nil {
		_, err = io.WriteString(a, journal)
	}
	if err := errors.Join(err, a.Close(), z.Close()); err != nil {
		t.Fatal(err)
	}
	doc, err := json.Marshal(map[string]any{
		"inventory": map[string]any{
			"interfaces":    []map[string]any{{"name": "eno1", "mac_address": mac, "has_carrier": true}},
			"cpu":           map[string]any{"architecture": "x86_64", "count": 24},
			"memory":        map[string]any{"physical_mb": 131072},
			"disks":         []map[string]any{{"name": "/dev/sda", "size": 960197124096, "serial": "S0EXAMPLE1"}},
			"system_vendor": map[string]any{"product_name": "EdgeBox 100", "serial_number": serial},
		},
		"logs": base64.StdEncoding.EncodeToString(b.Bytes()),
	})
	if err != nil {
		t.Fatal(err)
	}
	return doc
}

// inspectedWith takes a node through an inspection whose ramdisk posts a report.
func (a *testAppliance) inspectedWith(n node.Node, body []byte) node.Attempt {
	a.t.Helper()
	_, at := a.waiting(n)
	if status, _, answer := a.send("POST", "/v1/continue_inspection?attempt="+url.QueryEscape(string(at.Token)), "", body); status != http.StatusAccepted {
		a.t.Fatalf("report: %d %s", status, answer)
	}
	a.until(n.UUID, "an end", func(n node.Node) bool { return n.ProvisionState == node.Manageable && !n.Reserved() })
	return at
}

// What inspections leave can be seen over REST: kept, compared, their logs, and how far each came.
func TestWhatInspectionsLeaveBehind(t *testing.T) {
	a := serveForTest(t, true)
	n, _ := a.nodeIn(node.Manageable, "agent")
	const mac = "52:54:00:aa:00:01"
	first := a.inspectedWith(n, reportWith(t, mac, "EB-1", "<script>alert(1)</script>"))
	second := a.inspectedWith(n, reportWith(t, mac, "EB-2", "second"))
	base := "/cagenut/v1/nodes/" + n.UUID

	t.Run("the inspections that are kept", func(t *testing.T) {
		var seen []any
		path := base + "/inspections?limit=1"
		for path != "" {
			page := a.get(path)
			for _, i := range page["inspections"].([]any) {
				seen = append(seen, i.(map[string]any)["attempt"])
			}
			next, _ := page["next"].(string)
			path = strings.TrimPrefix(next, a.base)
		}
		if diff := cmp.Diff([]any{second.ID, first.ID}, seen); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
		doc := a.get(base + "/inspections/" + first.ID)
		if vendor := doc["inventory"].(map[string]any)["system_vendor"].(map[string]any); vendor["serial_number"] != "EB-1" {
			t.Errorf("the first inspection found %v", vendor)
		}
	})
	t.Run("their difference", func(t *testing.T) {
		d := a.get(base + "/difference")
		want := map[string]any{
			"node": n.UUID, "identity": []any{`The serial number was "EB-1" and is "EB-2" now.`},
			"parts": []any{map[string]any{"kind": "system", "name": nil, "change": "changed", "fields": []any{map[string]any{"name": "serial number", "before": "EB-1", "after": "EB-2"}}}},
		}
		delete(d, "from")
		delete(d, "to")
		if diff := cmp.Diff(want, d); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
	})
	t.Run("the logs of each", func(t *testing.T) {
		logs := base + "/attempts/" + first.ID + "/logs"
		files := a.get(logs)
		if diff := cmp.Diff([]any{map[string]any{"name": "journal", "size": 25.0}}, files["files"]); diff != "" || files["problem"] != nil {
			t.Errorf("files: %v", files)
		}
		status, header, content := a.send("GET", logs+"/file?name=journal", "", nil)
		if status != http.StatusOK || string(content) != "<script>alert(1)</script>" || header.Get("Content-Type") != "text/plain; charset=utf-8" || header.Get("X-Content-Type-Options") != "nosniff" {
			t.Errorf("%d %v %q", status, header, content)
		}
		status, header, archive := a.send("GET", logs+"/archive", "", nil)
		if _, err := gzip.NewReader(bytes.NewReader(archive)); status != http.StatusOK || err != nil || !strings.HasPrefix(header.Get("Content-Disposition"), "attachment") {
			t.Errorf("%d %v, %v", status, header, err)
		}
		for path, want := range map[string]int{
			logs + "/file?name=other": 404, base + "/attempts/" + node.NewUUID() + "/logs": 404, base + "/attempts/x/logs": 404, logs + "/file": 404, logs + "?x=1": 400,
		} {
			if status, _, body := a.send("GET", path, "", nil); status != want {
				t.Errorf("%s: %d %s, want %d", path, status, body, want)
			}
		}
	})
	t.Run("how far it came", func(t *testing.T) {
		at := a.get(base + "/attempts/" + second.ID)
		var kinds []any
		for _, s := range at["signs"].([]any) {
			kinds = append(kinds, s.(map[string]any)["kind"])
		}
		if diff := cmp.Diff([]any{"report received", "hooks begun", "done"}, kinds); diff != "" || at["advice"] != nil {
			t.Errorf("signs %v, advice %v", kinds, at["advice"])
		}
		if notes := at["notes"].([]any); len(notes) == 0 || !strings.Contains(notes[len(notes)-1].(string), "another machine") {
			t.Errorf("notes: %v", notes)
		}
	})
	t.Run("what rules would make of it", func(t *testing.T) {
		status, _, body := a.send("POST", base+"/rules/trial", "", map[string]any{"attempt": first.ID, "rules": []any{
			map[string]any{"description": "class", "actions": []any{map[string]any{"op": "set-attribute", "args": map[string]any{"path": "resource_class", "value": "{inventory[system_vendor][serial_number]}"}}}},
		}})
		want := `{"attempt":"` + first.ID + `","rules":[{"uuid":null,"rule":"class","applied":true,"changes":[{"of":"node","path":"resource_class","before":null,"after":"EB-1"}]}],"failure":null,"notes":[]}`
		if status != http.StatusOK || string(body) != want {
			t.Errorf("%d\ngot  %s\nwant %s", status, body, want)
		}
		if a.get("/v1/nodes/" + n.UUID)["resource_class"] != nil {
			t.Error("the trial changed the node")
		}
		for body, want := range map[string]int{
			`{"rules":[{"actions":[]}]}`: 400, `{"rules":[{"actions":[{"op":"bogus","args":{}}]}]}`: 400, `{"rules":5}`: 400, `{"bogus":1}`: 400, `[`: 400,
			`{"attempt":"` + node.NewUUID() + `"}`: 404, ``: 200, `{"rules":[]}`: 200,
		} {
			if status, _, answer := a.send("POST", base+"/rules/trial", "", []byte(body)); status != want {
				t.Errorf("%s: %d %s, want %d", body, status, answer, want)
			}
		}
	})
	t.Run("and the stored report can be applied once more", func(t *testing.T) {
		if status, _, body := a.send("POST", base+"/reapply", "", nil); status != http.StatusAccepted {
			t.Fatalf("%d %s", status, body)
		}
		a.until(n.UUID, "free", func(n node.Node) bool { return !n.Reserved() })
		if at := a.get(base + "/attempts/" + second.ID); at["state"] != "finished" {
			t.Errorf("the run is %v: %v", at["state"], at["error"])
		}
	})
}
