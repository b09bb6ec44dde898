package extension_test

import (
	"context"
	"encoding/json"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"cagenut/node"
)

func (h *hall) AuditTrail(_ context.Context, f node.AuditFilter) ([]node.AuditLine, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.wanted = f
	return h.trail[:min(len(h.trail), f.Limit)], nil
}

func TestTheAuditShowsWhoAskedForWhatAndWhatCameOfIt(t *testing.T) {
	h := newHall()
	uuid, attempt := node.NewUUID(), node.NewUUID()
	h.trail = []node.AuditLine{
		{Audit: node.Audit{ID: 9, At: noon, Actor: node.Actor{User: "ada", Source: node.SourceUI, Address: "192.0.2.7", RequestID: "req-1"}, Action: "abort",
			NodeUUID: uuid, AttemptID: attempt, Result: node.AuditAccepted, Reason: "wrong cable"}, NodeName: "r07-u21", NodeKnown: true},
		{Audit: node.Audit{ID: 4, At: noon, Actor: node.System(), Action: "sign in", Result: "no such user"}},
	}
	var got json.RawMessage
	if status := call(t, "GET", serve(t, h, 0)+"/audit", "", &got); status != 200 {
		t.Fatalf("got %d %s", status, got)
	}
	const at = `"at":"2026-11-30T14:02:11.000Z"`
	want := `{"audit":[{"id":9,` + at + `,"actor":{"user":"ada","source":"ui","address":"192.0.2.7"},"action":"abort","node":"` + uuid + `","node_name":"r07-u21","attempt":"` + attempt +
		`","accepted":true,"result":"accepted","reason":"wrong cable","request":"req-1"},` +
		`{"id":4,` + at + `,"actor":{"user":"","source":"system"},"action":"sign in","node":null,"node_name":null,"attempt":null,"accepted":false,"result":"no such user","reason":null,"request":null}]}`
	if string(got) != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

func TestTheAuditIsFilteredAndReadPageByPage(t *testing.T) {
	h := newHall()
	h.trail = []node.AuditLine{{Audit: node.Audit{ID: 9}}, {Audit: node.Audit{ID: 7}}, {Audit: node.Audit{ID: 5}}}
	base := serve(t, h, 0)
	refused := true
	var page struct{ Next string }
	path := "/audit?user=ada&source=api&action=power&node=r07-u21&result=refused&from=2026-11-30T14:02:11Z&to=2026-11-30T16:02:11%2B01:00&search=a%26b&limit=2&marker=12"
	if status := call(t, "GET", base+path, "", &page); status != 200 {
		t.Fatalf("got %d", status)
	}
	want := node.AuditFilter{User: "ada", Source: "api", Action: "power", Node: "r07-u21", Refused: &refused, From: noon, To: noon.Add(time.Hour), Search: "a&b", Before: 12, Limit: 3}
	if d := cmp.Diff(want, h.wanted); d != "" {
		t.Errorf("filter (-want +got):\n%s", d)
	}
	if status := call(t, "GET", page.Next, "", &page); status != 200 {
		t.Fatalf("the next page: got %d", status)
	}
	want.Before = 7
	if d := cmp.Diff(want, h.wanted); d != "" {
		t.Errorf("filter of the next page (-want +got):\n%s", d)
	}
}

func TestTheAuditIsNotForViewersNorForQuestionsItDoesNotKnow(t *testing.T) {
	base := serve(t, newHall(), 0)
	for _, tc := range []struct {
		path, role string
		want       int
	}{
		{"/audit", "admin", 200}, {"/audit", "operator", 200}, {"/audit", "viewer", 403},
		{"/audit?source=window", "admin", 400}, {"/audit?result=perhaps", "admin", 400}, {"/audit?from=yesterday", "admin", 400},
		{"/audit?marker=first", "admin", 400}, {"/audit?limit=0", "admin", 400}, {"/audit?colour=red", "admin", 400},
	} {
		var got json.RawMessage
		if status := call(t, "GET", base+tc.path, "", &got, "X-Test-Role", tc.role); status != tc.want {
			t.Errorf("%s as %q: %d %s", tc.path, tc.role, status, got)
		}
	}
}
