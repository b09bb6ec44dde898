package ui_test

import (
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"cagenut/node"
)

const noBoot = "No boot file was fetched: check the cabling of the boot NIC, its network, and that the server boots from it."

// waitingRack has one server that waits for its ramdisk and was switched on.
func waitingRack() (*rack, node.Node) {
	r := newRack()
	n := r.add("r07-u21", node.InspectWait)
	a := r.attempts[n.AttemptID]
	a.WaitingAt = noon.Add(-252 * time.Second)
	r.attempts[a.ID] = a
	r.kept.signs = map[string][]node.Sign{a.ID: {
		{Kind: node.SignPowerSent, FirstAt: noon.Add(-280 * time.Second), LastAt: noon.Add(-280 * time.Second), Times: 1},
		{Kind: node.SignPoweredOn, FirstAt: noon.Add(-270 * time.Second), LastAt: noon.Add(-270 * time.Second), Times: 1},
	}}
	r.kept.advice = map[string]string{a.ID: noBoot}
	return r, n
}

func (r *rack) sign(attempt string, s node.Sign) {
	r.edit(func() { r.kept.signs[attempt] = append(r.kept.signs[attempt], s) })
}

// Issue 5, point 8: an operator who is about to abort sees how far it got.
func TestWhoIsAboutToAbortSeesHowFarItGot(t *testing.T) {
	r, n := waitingRack()
	s := serve(t, r, 0)
	at := "/ui/nodes/r07-u21/attempts/" + n.AttemptID
	for name, a := range map[string]answer{
		"the node's page": s.get("/ui/nodes/r07-u21"), "the attempt's page": s.get(at), "a viewer's": s.get(at, viewer),
		"the question": s.get("/ui/nodes/r07-u21/abort"), "the question in a dialog": s.get("/ui/nodes/r07-u21/abort", script),
	} {
		t.Run(name, func(t *testing.T) {
			a.has(t, "How far it got: Power on confirmed by the BMC", `title="2026-11-30 13:57:41 UTC"`, "4 m 30 s ago", noBoot)
		})
	}
	s.get("/ui/nodes/r07-u21").has(t, `href="`+at+`">The whole timeline`)
	s.get("/ui/nodes/r07-u21/abort").has(t, `href="`+at+`">The whole timeline`)

	t.Log("before any sign it says that there is none")
	r.edit(func() { r.kept.signs = nil })
	s.get("/ui/nodes/r07-u21/abort").has(t, "How far it got: No sign of life yet.", noBoot)

	t.Log("where nothing runs there is nothing to tell")
	r.end(n.UUID, node.Manageable, node.Succeeded, node.System(), noon)
	s.get("/ui/nodes/r07-u21").lacks(t, "How far it got")
}

func TestAnAttemptsPageTellsHowItWent(t *testing.T) {
	r, n := inspectedRack()
	r.edit(func() {
		a := r.attempts[newest]
		a.Proof, a.Notes, a.CleanUp, a.Reason = node.NotProven, []string{"The disk /dev/sdq has no size."}, node.CleanUpDone, "new rack"
		r.attempts[newest] = a
		sign := func(k node.SignKind, before time.Duration, times int, detail string) node.Sign {
			at := noon.Add(-time.Hour - before)
			return node.Sign{Kind: k, FirstAt: at, LastAt: at.Add(time.Duration(times-1) * 10 * time.Second), Times: times, Detail: detail}
		}
		r.kept.signs = map[string][]node.Sign{newest: {
			sign(node.SignPowerSent, 220*time.Second, 1, ""), sign(node.SignBootScript, 160*time.Second, 1, "52:54:00:aa:00:01"), sign(node.SignBootFile, 150*time.Second, 2, "192.0.2.101"),
			sign(node.SignLookup, 40*time.Second, 1, "192.0.2.101"), sign(node.SignHeartbeat, 38*time.Second, 57, "192.0.2.101"),
			sign(node.SignReport, time.Second, 1, ""), sign(node.SignHooks, time.Second, 1, ""), sign(node.SignDone, 0, 1, "succeeded"),
		}}
		r.history = []node.History{{NodeUUID: n.UUID, AttemptID: newest, At: noon, Event: "It went well."}, {NodeUUID: n.UUID, AttemptID: second, At: noon, Event: "Another story."}}
	})
	a := serve(t, r, 0).get("/ui/nodes/r07-u21/attempts/" + newest)
	a.has(t, "<title>Inspection of r07-u21 – succeeded", `<a href="/ui/nodes/r07-u21">r07-u21</a>`, "R07 · U21", "The server reported, and what it found is stored.",
		"by mara (api, 192.0.2.77)", "by the ramdisk", "4 m 00 s", "new rack", "agent", "not proven: the report came without", "Clean-up is done.", "The disk /dev/sdq has no size.",
		">12:59:31 ", "52:54:00:aa:00:01", "57 times, the last", "It went well.", "No logs of the ramdisk came", "No difference: the same parts as before.")
	a.lacks(t, "Another story.", "How far it got", "The wait ends by itself")
	var order []string
	for _, m := range regexp.MustCompile(`</span> ?<span>([A-Z][^<]*?) (?:<|$)`).FindAllStringSubmatch(a.body, -1) {
		order = append(order, strings.TrimSpace(m[1]))
	}
	want := []string{
		english("sign.asked"), "Power on sent to the BMC", english("sign.waits"), "Boot script fetched", "Kernel or ramdisk fetched", "Lookup by the ramdisk", "Heartbeat of the ramdisk",
		"Report received", "Hooks begun", "Ended",
	}
	if !slices.Equal(order, want) {
		t.Errorf("the timeline is %q\nwant            %q", order, want)
	}
}

func TestAnAttemptThatFailedSaysWhyAndWhatToLookAt(t *testing.T) {
	r, n := waitingRack()
	r.end(n.UUID, node.InspectFailed, node.TimedOut, node.System(), noon)
	r.edit(func() {
		a := r.attempts[n.AttemptID]
		a.Error, a.Divergence = "Introspection timeout", "It still runs there."
		r.attempts[a.ID] = a
	})
	s := serve(t, r, 0)
	a := s.get("/ui/nodes/r07-u21/attempts/" + n.AttemptID)
	a.has(t, "No report came in time.", `class="callout failed"><strong>How far it got: Power on confirmed`, noBoot, "Introspection timeout", "It still runs there.", english("difference.noresults"))
	s.get("/ui/nodes/r07-u21").has(t, `href="/ui/nodes/r07-u21/attempts/`+n.AttemptID+`">Details`)
}

func TestAttemptsThatAreNotThere(t *testing.T) {
	r, _ := inspectedRack()
	other := r.add("r07-u22", node.InspectWait)
	s := serve(t, r, 0)
	for _, path := range []string{
		"/ui/nodes/r07-u21/attempts/" + other.AttemptID, "/ui/nodes/r07-u21/attempts/" + node.NewUUID(), "/ui/nodes/r07-u21/attempts/x", "/ui/nodes/nobody/attempts/" + newest,
		"/ui/nodes/r07-u21/attempts/" + newest + "/logs", "/ui/nodes/r07-u21/attempts/x/logs", "/ui/nodes/r07-u21/attempts/" + newest + "/logs/file?name=x",
	} {
		if a := s.get(path); a.status != http.StatusNotFound {
			t.Errorf("%s: %d", path, a.status)
		}
	}
	for _, query := range []string{"", "&node=" + other.UUID, "&attempt=" + newest, "&node=x&attempt=" + newest} {
		if a := s.get("/ui/events?view=attempt" + query); a.status != http.StatusBadRequest {
			t.Errorf("a stream of %q: %d", query, a.status)
		}
	}
}

// G18
func TestAnOpenAttemptFollowsTheServer(t *testing.T) {
	r, n := waitingRack()
	s := serve(t, r, 0)
	page := s.get("/ui/nodes/r07-u21/attempts/" + n.AttemptID)
	events := regexp.MustCompile(`data-events="([^"]+)"`).FindStringSubmatch(page.body)[1]
	after := regexp.MustCompile(`data-after="([^"]+)"`).FindStringSubmatch(page.body)[1]
	stream := strings.ReplaceAll(events, "&amp;", "&") + "&after=" + after
	_, one := s.stream(stream)
	_, reader := s.stream(stream, viewer)
	r.sign(n.AttemptID, node.Sign{Kind: node.SignBootScript, FirstAt: noon, LastAt: noon, Times: 1, Detail: "52:54:00:aa:00:01"})
	r.tell(n.UUID)
	html := until(t, one, `id="attempt"`)
	if !strings.Contains(html, "How far it got: Boot script fetched") || !strings.Contains(html, "abort-"+n.UUID) {
		t.Errorf("the page is %s", html)
	}
	if html := until(t, reader, `id="attempt"`); strings.Contains(html, "abort-") {
		t.Errorf("a viewer's page has buttons: %s", html)
	}
	r.end(n.UUID, node.InspectFailed, node.Aborted, node.Actor{User: "mara"}, noon)
	r.tell(n.UUID)
	if html := until(t, one, `id="attempt"`); !strings.Contains(html, "by mara") || strings.Contains(html, "abort-"+n.UUID) {
		t.Errorf("the page is %s", html)
	}
	r.edit(func() { r.nodes = nil })
	r.tell(n.UUID)
	until(t, one, "This node was deleted")
}

// G17, G56
func TestAnAttemptIsAbortedFromItsPage(t *testing.T) {
	r, n := waitingRack()
	s := serve(t, r, 0)
	at := "/ui/nodes/r07-u21/attempts/" + n.AttemptID
	s.get(at, viewer).lacks(t, "data-action", "data-dialog")
	link := regexp.MustCompile(`id="abort-[^"]*" class="button danger" href="([^"]*)"`).FindStringSubmatch(s.get(at).body)
	if link == nil {
		t.Fatal("there is no Abort")
	}
	question := s.get(strings.ReplaceAll(link[1], "&amp;", "&"))
	question.has(t, `name="back" value="attempt"`, `name="attempt" value="`+n.AttemptID, `href="`+at+`" data-close`)
	form := url.Values{"verb": {"abort"}, "attempt": {n.AttemptID}, "back": {"attempt"}}
	if a := s.do("POST", "/ui/nodes/"+n.UUID+"/provision", form); a.status != http.StatusSeeOther || a.location != at+"?done=abort" {
		t.Fatalf("without a script: %d to %q", a.status, a.location)
	}
	page := s.get(at + "?done=abort")
	page.has(t, "The inspection is aborted. The server is being powered off.", "It was aborted by request.")
	page.lacks(t, "abort-"+n.UUID)
	r, n = waitingRack()
	form.Set("attempt", n.AttemptID)
	a := serve(t, r, 0).do("POST", "/ui/nodes/"+n.UUID+"/provision", form, script)
	a.has(t, `<template><div id="attempt"`, "aborted", `data-said="r07-u21: The inspection is aborted`)
	a.lacks(t, "<html", `id="node"`)
}

func TestTheReportIsAppliedOnceMore(t *testing.T) {
	r, n := inspectedRack()
	s := serve(t, r, 0)
	for path, from := range map[string]string{"/ui/nodes/r07-u21": "node", "/ui/nodes/r07-u21/attempts/" + newest: "attempt"} {
		s.get(path).has(t, `href="/ui/nodes/`+n.UUID+`/reapply?back=`+from+`&amp;attempt=`+newest)
		s.get(path, viewer).lacks(t, "/reapply")
	}
	s.get("/ui/nodes/r07-u21/attempts/"+second).lacks(t, "/reapply")
	path := "/ui/nodes/" + n.UUID + "/reapply"
	question := s.get(path + "?back=attempt&attempt=" + newest)
	question.has(t, "Apply the last report once more to r07-u21 (rack R07, U21)?", "The server is not touched, and the node stays “manageable”.", `name="back" value="attempt"`, `href="/ui/nodes/r07-u21/attempts/`+newest+`" data-close`)
	s.get(path, script).lacks(t, "<html")
	form := url.Values{"back": {"attempt"}, "attempt": {newest}}
	for _, a := range []answer{s.get(path, viewer), s.do("POST", path, form, viewer), s.do("POST", path, form, viewer, script)} {
		if a.status != http.StatusForbidden {
			t.Errorf("a viewer got %d", a.status)
		}
	}
	if len(r.kept.reapplys) != 0 {
		t.Fatal("something was applied before anybody who may asked for it")
	}
	if a := s.do("POST", path, form); a.status != http.StatusSeeOther || a.location != "/ui/nodes/r07-u21/attempts/"+newest+"?done=reapply" {
		t.Errorf("without a script: %d to %q", a.status, a.location)
	}
	s.get("/ui/nodes/r07-u21/attempts/"+newest+"?done=reapply").has(t, "Accepted. The report is being applied once more", "Its report is being applied once more.")
	a := s.do("POST", path, form, script)
	a.has(t, `<template><div id="attempt"`, "Its report is being applied once more.", `data-said="r07-u21: Accepted.`)
	a.lacks(t, "/reapply")
	if len(r.kept.reapplys) != 2 || r.kept.reapplys[0].User != "jon" || r.kept.reapplys[0].Source != node.SourceUI {
		t.Errorf("applied by %+v", r.kept.reapplys)
	}

	t.Log("what came of it is an error of the attempt, and in its history")
	r.edit(func() {
		at := r.attempts[newest]
		at.State, at.Error = node.RunError, "Failed to finish: the hook said no"
		r.attempts[newest] = at
		r.history = []node.History{{NodeUUID: n.UUID, AttemptID: newest, At: noon, Event: "The report could not be applied once more.", Severity: node.SeverityError}}
	})
	s.get("/ui/nodes/r07-u21/attempts/"+newest).has(t, "Failed to finish: the hook said no", "The report could not be applied once more.", "/reapply")
}

func TestAReportThatCannotBeAppliedOnceMoreSaysWhy(t *testing.T) {
	for name, tc := range map[string]struct {
		refuse error
		status int
		says   string
	}{
		"no report is kept":      {&node.NotFound{What: "Report of node", Ident: "r07-u21"}, 404, "Report of node r07-u21 could not be found. Nothing was done."},
		"the last one aborted":   {node.Invalidf("The last inspection was aborted."), 400, "The last inspection was aborted. Nothing was done."},
		"a worker holds it":      {&node.Locked{Holder: "appliance-1"}, 409, "held by appliance-1"},
		"somebody else is first": {&node.Conflict{Text: "It changed."}, 409, "It changed. Nothing was done."},
	} {
		t.Run(name, func(t *testing.T) {
			r, n := inspectedRack()
			r.refuse = tc.refuse
			s := serve(t, r, 0)
			for _, h := range []header{{}, script} {
				a := s.do("POST", "/ui/nodes/"+n.UUID+"/reapply", url.Values{}, h)
				if a.status != tc.status {
					t.Errorf("got %d, want %d", a.status, tc.status)
				}
				a.has(t, tc.says, "Apply the report once more: not done")
			}
		})
	}
	for name, change := range map[string]func(*node.Attempt){
		"aborted": func(a *node.Attempt) { a.Outcome = node.Aborted }, "without a report": func(a *node.Attempt) { a.ReportAt = time.Time{} },
		"at work": func(a *node.Attempt) { a.State = node.RunProcessing },
	} {
		r, _ := inspectedRack()
		a := r.attempts[newest]
		change(&a)
		r.attempts[newest] = a
		if page := serve(t, r, 0).get("/ui/nodes/r07-u21"); strings.Contains(page.body, "/reapply") {
			t.Errorf("%s: the button is there", name)
		}
	}
}
