package ui_test

import (
	"context"
	"encoding/csv"
	"fmt"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"cagenut/node"
)

// trail is an audit in memory. It answers every filter with the same lines, and keeps what was asked for.
type trail struct {
	lines  []node.AuditLine // the newest first
	wanted node.AuditFilter
}

func (r *rack) AuditTrail(_ context.Context, f node.AuditFilter) (found []node.AuditLine, err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.trail.wanted = f
	for _, l := range r.trail.lines {
		if (f.Before == 0 || l.ID < f.Before) && len(found) < f.Limit {
			found = append(found, l)
		}
	}
	return found, r.broken
}

// wantedOfTheAudit is what was asked for last.
func (r *rack) wantedOfTheAudit() node.AuditFilter {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.trail.wanted
}

func TestTheAuditShowsWhoAskedForWhatAndWhatCameOfIt(t *testing.T) {
	r := newRack()
	n := r.add("r07-u21", node.Manageable)
	attempt, gone := node.NewUUID(), node.NewUUID()
	r.trail.lines = []node.AuditLine{
		{Audit: node.Audit{ID: 3, At: noon.Add(-time.Minute), Actor: node.Actor{User: "mara", Source: node.SourceUI, Address: "192.0.2.7", RequestID: "req-1"}, Action: "abort", NodeUUID: n.UUID, AttemptID: attempt,
			Result: node.AuditAccepted, Reason: "wrong cable"}, NodeName: n.Name, NodeKnown: true},
		{Audit: node.Audit{ID: 2, At: noon.Add(-time.Hour), Actor: node.Actor{Source: node.SourceAPI}, Action: "<script>alert(1)</script>", NodeUUID: gone, Result: "Node is locked by host rack-7."}},
		{Audit: node.Audit{ID: 1, At: noon.Add(-48 * time.Hour), Actor: node.System(), Action: "user add", Result: node.AuditAccepted}},
	}
	page := serve(t, r, 0).get("/ui/audit")
	page.has(t, `<a href="/ui/nodes/`+n.UUID+`"><bdi>r07-u21</bdi></a>`, `/ui/nodes/`+n.UUID+`/attempts/`+attempt, "wrong cable", "192.0.2.7", "req-1", "mara", "dashboard",
		"2026-11-30 14:01:11 UTC", "1 m 00 s ago", gone, "not here any more", "Node is locked by host rack-7.", "an API client", "refused", "&lt;script&gt;", "the appliance")
	page.lacks(t, "<script>alert", `href="/ui/nodes/`+gone, "Older")
}

func TestTheFilterOfTheAuditStandsInTheAddressAndInTheForm(t *testing.T) {
	r := newRack()
	s := serve(t, r, 0)
	page := s.get("/ui/audit?q=a%26b&user=mara&action=power&node=r07-u21&source=ui&result=refused&from=2026-11-30T12:00&to=2026-11-30T14:02:11&before=900")
	refused := true
	want := node.AuditFilter{User: "mara", Source: "ui", Action: "power", Node: "r07-u21", Refused: &refused, Search: "a&b", Before: 900, Limit: 101,
		From: time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC), To: noon}
	if d := cmp.Diff(want, r.wantedOfTheAudit()); d != "" {
		t.Errorf("filter (-want +got):\n%s", d)
	}
	page.has(t, `name="q" value="a&amp;b"`, `name="user" value="mara"`, `value="2026-11-30T12:00"`, `<option value="refused" selected>`, `<option value="ui" selected>`,
		"Nothing that was asked for fits the filter.", "Newest", `/ui/audit.csv?action=power&amp;from=2026-11-30T12%3A00&amp;`)
	for query, wrong := range map[string]string{"from=yesterday": "“yesterday” is no time", "to=%3Cb%3E": "“&lt;b&gt;” is no time"} {
		s.get("/ui/audit?"+query).has(t, wrong, `role="alert"`)
	}
	s.get("/ui/audit?source=window&result=perhaps&before=first")
	if d := cmp.Diff(node.AuditFilter{Limit: 101}, r.wantedOfTheAudit()); d != "" {
		t.Errorf("of what is no filter (-want +got):\n%s", d)
	}
}

func TestTheAuditIsReadPageByPageAndDownloadedWhole(t *testing.T) {
	r := newRack()
	for id := int64(2500); id > 0; id-- {
		r.trail.lines = append(r.trail.lines, node.AuditLine{Audit: node.Audit{ID: id, At: noon, Actor: node.Actor{User: "mara", Source: node.SourceAPI}, Action: fmt.Sprint("line ", id), Result: node.AuditAccepted}})
	}
	r.trail.lines[0].Reason = `=HYPERLINK("http://192.0.2.66")`
	s := serve(t, r, 0)
	s.get("/ui/audit").has(t, "line 2500", "line 2401", `href="/ui/audit?before=2401"`)
	s.get("/ui/audit?before=2401").has(t, "line 2400", `href="/ui/audit"`)
	file := s.get("/ui/audit.csv")
	if file.header.Get("Content-Type") != "text/csv; charset=utf-8" || !strings.Contains(file.header.Get("Content-Disposition"), "audit.csv") {
		t.Errorf("headers %v", file.header)
	}
	rows, err := csv.NewReader(strings.NewReader(file.body)).ReadAll()
	if err != nil || len(rows) != 2501 || rows[2500][5] != "line 1" || rows[0][1] != "time" {
		t.Fatalf("%d rows, %v", len(rows), err)
	}
	if rows[1][10] != `'=HYPERLINK("http://192.0.2.66")` {
		t.Errorf("a formula is written as %q", rows[1][10])
	}
}

// G56: whoever may only look sees nothing of what others did.
func TestTheAuditIsNotForViewers(t *testing.T) {
	r := newRack()
	r.trail.lines = []node.AuditLine{{Audit: node.Audit{ID: 1, Action: "abort"}}}
	s := serve(t, r, 0)
	for _, path := range []string{"/ui/audit", "/ui/audit.csv", "/ui/audit?" + url.Values{"q": {"x"}}.Encode()} {
		for role, want := range map[string]int{"viewer": 403, "operator": 200, "admin": 200} {
			if a := s.get(path, header{"X-Test-Role": role}); a.status != want {
				t.Errorf("%s as %s: %d", path, role, a.status)
			}
		}
	}
	s.get("/ui/appliance", header{"X-Test-Role": "viewer"}).lacks(t, `href="/ui/audit"`)
	r.edit(func() { r.broken = fmt.Errorf("the disk is full") })
	if a := s.get("/ui/audit.csv"); a.status != 500 {
		t.Errorf("a file that cannot be read: %d", a.status)
	}
}
