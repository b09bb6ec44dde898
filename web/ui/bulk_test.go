package ui_test

import (
	"fmt"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"testing"
	"time"

	"cagenut/node"
)

var hidden = regexp.MustCompile(`<input type="hidden" name="(\w+)" value="([^"]*)"`)

// fields are the hidden fields of a question.
func (a answer) fields() url.Values {
	form := url.Values{}
	for _, m := range hidden.FindAllStringSubmatch(a.body, -1) {
		form.Set(m[1], m[2])
	}
	return form
}

func (s *site) post(path string, form url.Values, headers ...header) answer {
	s.t.Helper()
	return s.do(http.MethodPost, path, form, headers...)
}

func chosen(action node.BulkAction, nodes ...node.Node) url.Values {
	form := url.Values{"action": {string(action)}}
	for _, n := range nodes {
		form.Add("node", n.UUID)
	}
	return form
}

// G53, G55: the question says what happens to how many, who can take it now, and who cannot and why.
func TestABulkQuestionNamesWhoCanAndWhoCannot(t *testing.T) {
	r := newRack()
	waits, idle := r.add("r07-u21", node.InspectWait), r.add("r07-u22", node.Manageable)
	held := r.add("r07-u23", node.InspectWait, func(n *node.Node) { n.Reservation, n.ReservationID = "rack-7", "x" })
	s := serve(t, r, 0)
	for how, headers := range map[string][]header{"as a page": nil, "as a dialog": {script}} {
		got := s.post("/ui/bulk/confirm", chosen(node.BulkAbort, waits, idle, held), headers...)
		if got.status != http.StatusOK {
			t.Fatalf("%s: %d\n%s", how, got.status, got.body)
		}
		got.has(t, "Abort the inspections of 3 nodes?", "One can take it now", "2 cannot, and will be refused", "r07-u21", "not possible in “manageable”", "held by rack-7 at this moment",
			"The servers are powered off, unless you keep them on below", `name="keep_power_on"`, `name="reason"`, "Leave them as they are", `autofocus`, "Abort inspection")
	}
	if len(r.asked) != 0 {
		t.Error("a question has done something")
	}
}

// G53: a run does what it can; its page says what came of each node, and lets the refused ones be tried again.
func TestABulkAbortEndsWithAResultForEachNode(t *testing.T) {
	r := newRack()
	var all []node.Node
	for i := range 6 {
		all = append(all, r.add(fmt.Sprint("waits-", i), node.InspectWait))
	}
	for i := range 3 {
		all = append(all, r.add(fmt.Sprint("idle-", i), node.Manageable))
	}
	all = append(all, r.add("held", node.InspectWait, func(n *node.Node) { n.Reservation, n.ReservationID = "rack-7", "x" }))
	s := serve(t, r, 0)
	form := s.post("/ui/bulk/confirm", chosen(node.BulkAbort, all...)).fields()
	form.Set("reason", " wrong cable ")
	form.Set("keep_power_on", "true")
	got := s.post("/ui/bulk", form)
	if want := "/ui/bulk/" + form.Get("run"); got.status != http.StatusSeeOther || got.location != want {
		t.Fatalf("%d to %q, want %q: %s", got.status, got.location, want, got.body)
	}
	for _, req := range r.asked {
		if req.Reason != "wrong cable" || !req.KeepPowerOn || req.Attempt == "" {
			t.Errorf("asked for %+v", req)
		}
	}
	if len(r.asked) != 6 || r.actors[0].User != "jon" || r.actors[0].Source != node.SourceUI {
		t.Errorf("%d aborts, by %+v", len(r.asked), r.actors)
	}
	page := s.get(got.location)
	page.has(t, "4 refused – Abort inspection: 10 nodes", "6 of 10 done, 4 refused.", "<progress", "held", "Another operation held the node", "Not possible in the state that it was in",
		"Try the 4 refused ones again", "wrong cable", "The servers are kept powered on", "By jon,")
	page.lacks(t, "waits-1", "run-reload")
	s.get(got.location+"?show=done").has(t, "waits-1", "waits-5")
	s.get("/ui/bulk").has(t, "Abort inspection: 10 nodes", "some refused", "6 of 10 done, 4 refused.", "jon")

	again := s.post("/ui/bulk/confirm", url.Values{"retry": {form.Get("run")}})
	again.has(t, "None of the chosen nodes can take this now", "4 cannot")
	r.edit(func() {
		for i := range r.nodes {
			r.nodes[i].ReservationID = ""
		}
	})
	again = s.post("/ui/bulk/confirm", url.Values{"retry": {form.Get("run")}})
	again.has(t, "Abort the inspections of 4 nodes?", "One can take it now", "wrong cable", "checked")
	second := s.post("/ui/bulk", again.fields())
	s.get(second.location).has(t, "1 of 4 done, 3 refused.", "Tries the refused ones of an earlier run again", got.location)
}

func TestTheBarChoosesWhatItSays(t *testing.T) {
	r := newRack()
	one := r.add("one", node.Manageable)
	r.add("two", node.Available)
	r.add("three", node.Manageable, func(n *node.Node) { n.Extra = map[string]any{"rack": "R08"} })
	s := serve(t, r, 0)
	for why, c := range map[string]struct {
		form url.Values
		want []string
		away string
	}{
		"the checkboxes":                            {chosen(node.BulkMaintenanceOn, one), []string{"one"}, "/ui"},
		"everything that the filter shows":          {url.Values{"action": {"maintenance on"}, "all": {"filter"}, "filter": {"state=manageable&sort=name"}}, []string{"one", "three"}, "/ui?sort=name&amp;state=manageable"},
		"the whole rack":                            {url.Values{"action": {"maintenance on"}, "all": {"rack"}, "rack": {"R08"}}, []string{"three"}, "/ui/racks/R08"},
		"the checkboxes, though there was a filter": {url.Values{"action": {"maintenance on"}, "filter": {"state=available"}, "node": {one.UUID}}, []string{"one"}, "/ui?state=available"},
	} {
		got := s.post("/ui/bulk/confirm", c.form)
		if got.status != http.StatusOK {
			t.Errorf("%s: %d", why, got.status)
			continue
		}
		form := got.fields()
		asked := s.post("/ui/bulk", form)
		var names []string
		r.edit(func() {
			for _, b := range r.bulks.results[form.Get("run")] {
				names = append(names, b.Name)
			}
		})
		if asked.status != http.StatusSeeOther || fmt.Sprint(names) != fmt.Sprint(c.want) {
			t.Errorf("%s: %d, %v, want %v", why, asked.status, names, c.want)
		}
		if !strings.Contains(got.body, `href="`+c.away+`"`) {
			t.Errorf("%s does not lead back to %s:\n%s", why, c.away, excerpt(got.body))
		}
	}
}

func TestABulkFormThatSaysNothingUsefulIsAnsweredInASentence(t *testing.T) {
	r := newRack()
	n := r.add("one", node.Manageable)
	s := serve(t, r, 0)
	run := url.Values{"run": {node.NewUUID()}, "action": {"inspect"}}
	for why, c := range map[string]struct {
		path string
		form url.Values
		want string
	}{
		"nothing is chosen":                  {"/ui/bulk/confirm", url.Values{"action": {"inspect"}, "filter": {"q=x"}}, "No node is chosen."},
		"a rack without a name":              {"/ui/bulk/confirm", url.Values{"action": {"inspect"}, "all": {"rack"}}, "No node is chosen."},
		"no action":                          {"/ui/bulk/confirm", chosen("", n), "The action is none."},
		"a run of nothing":                   {"/ui/bulk", run, "No node is chosen."},
		"a choice that cannot be read":       {"/ui/bulk", url.Values{"run": run["run"], "action": {"inspect"}, "chosen": {"%%%"}}, "The form cannot be read"},
		"a choice that ends in the middle":   {"/ui/bulk", url.Values{"run": run["run"], "action": {"inspect"}, "chosen": {"AAAA"}}, "The form cannot be read"},
		"a run without an id":                {"/ui/bulk", url.Values{"action": {"inspect"}}, "The form cannot be read"},
		"nothing is chosen, by the script":   {"/ui/bulk/confirm", url.Values{"action": {"inspect"}}, "No node is chosen."},
		"a node that was deleted meanwhile":  {"/ui/bulk/confirm", url.Values{"action": {"inspect"}, "node": {node.NewUUID()}}, "there is no such node any more"},
		"a run that is tried again is gone":  {"/ui/bulk/confirm", url.Values{"retry": {node.NewUUID()}}, "Nothing was done"},
		"an address of a question, reloaded": {"/ui/bulk/confirm", url.Values{}, "Nothing was done"},
	} {
		var headers []header
		if strings.Contains(why, "script") {
			headers = append(headers, script)
		}
		got := s.post(c.path, c.form, headers...)
		if got.status >= 500 || got.status < 400 && !strings.Contains(why, "deleted") {
			t.Errorf("%s: %d", why, got.status)
		}
		got.has(t, c.want)
	}
	if got := s.get("/ui/bulk/confirm"); got.status != http.StatusSeeOther || got.location != "/ui" {
		t.Errorf("the question's address, opened: %d, %q", got.status, got.location)
	}
	if got := s.get("/ui/bulk/" + node.NewUUID()); got.status != http.StatusNotFound {
		t.Errorf("a run that is not there: %d", got.status)
	}
	if len(r.asked) != 0 {
		t.Errorf("done: %+v", r.asked)
	}
}

// The same form sent twice, as by a double press, is one run.
func TestADoublePressIsOneRun(t *testing.T) {
	r := newRack()
	n := r.add("one", node.InspectWait)
	s := serve(t, r, 0)
	form := s.post("/ui/bulk/confirm", chosen(node.BulkAbort, n)).fields()
	first, second := s.post("/ui/bulk", form), s.post("/ui/bulk", form)
	if first.location != second.location || first.status != second.status || len(r.asked) != 1 {
		t.Errorf("%d %s, %d %s; %d aborts", first.status, first.location, second.status, second.location, len(r.asked))
	}
}

// A page that is as old as an earlier attempt cannot abort a later one, also not among many.
func TestAStaleQuestionAbortsNoLaterAttempt(t *testing.T) {
	r := newRack()
	n, fresh := r.add("r07-u21", node.InspectWait), r.add("r07-u22", node.InspectWait)
	s := serve(t, r, 0)
	form := s.post("/ui/bulk/confirm", chosen(node.BulkAbort, n, fresh)).fields()
	old := n.AttemptID
	r.end(n.UUID, node.InspectFailed, node.Aborted, node.Actor{User: "mara", Source: node.SourceUI}, noon.Add(-time.Minute))
	r.edit(func() {
		for i := range r.nodes {
			if r.nodes[i].UUID == n.UUID {
				r.nodes[i].AttemptID, r.nodes[i].ProvisionState = node.NewUUID(), node.InspectWait
				r.attempts[r.nodes[i].AttemptID] = node.Attempt{ID: r.nodes[i].AttemptID, NodeUUID: n.UUID}
			}
		}
	})
	run := s.post("/ui/bulk", form)
	s.get(run.location).has(t, "1 of 2 done, 1 refused.", "mara had aborted this inspection before")
	for _, req := range r.asked {
		if req.Attempt == old {
			t.Errorf("asked for %+v", req)
		}
	}
	if now, _ := r.Node(t.Context(), n.UUID); now.ProvisionState != node.InspectWait {
		t.Errorf("the later attempt is over: %s", now.ProvisionState)
	}
}

// G56: who may only look has no bar, and is refused.
func TestViewersLookAtRunsAndStartNone(t *testing.T) {
	r := newRack()
	n := r.add("one", node.InspectWait)
	s := serve(t, r, 0)
	viewer := header{"X-Test-Role": "viewer"}
	form := s.post("/ui/bulk/confirm", chosen(node.BulkAbort, n, r.add("two", node.Manageable))).fields()
	for _, path := range []string{"/ui/bulk/confirm", "/ui/bulk"} {
		if got := s.post(path, form, viewer); got.status != http.StatusForbidden {
			t.Errorf("%s: %d", path, got.status)
		}
	}
	if len(r.asked) != 0 {
		t.Fatalf("done: %+v", r.asked)
	}
	run := s.post("/ui/bulk", form)
	s.get(run.location, viewer).lacks(t, "Try the refused one again")
	s.get(run.location).has(t, "Try the refused one again")
	s.get("/ui/bulk", viewer).has(t, "Abort inspection: 2 nodes")
	s.get("/ui", viewer).lacks(t, `id="chosen"`)
}

func TestARunShowsHowFarItHasComeAndTellsItsPageAlone(t *testing.T) {
	r := newRack()
	r.bulks.waits = true
	n := r.add("one", node.InspectWait)
	s := serve(t, r, 0)
	run := s.post("/ui/bulk", s.post("/ui/bulk/confirm", chosen(node.BulkAbort, n)).fields())
	page := s.get(run.location)
	page.has(t, "0 of 1 are through", "run-reload", `data-events="/ui/events?view=run&amp;run=`, `max="1" value="0"`, "To do")
	id := strings.TrimPrefix(run.location, "/ui/bulk/")
	after := s.hub.Position()
	_, own := s.stream("/ui/events?view=run&run=" + id + "&after=" + after)
	_, list := s.stream("/ui/events?view=list&after=" + after)
	r.edit(func() {
		r.bulks.runs[0].EndedAt, r.bulks.runs[0].Counts = noon, node.BulkCounts{Refused: 1}
		r.bulks.results[id][0] = node.BulkResult{Position: 1, Node: n.UUID, Name: "one", State: node.BulkRefused, Refusal: node.RefusedLocked, Why: "Node is locked.", At: noon}
	})
	r.notices <- node.Notice{NodeUUID: id, Run: true}
	got := until(t, own, "Another operation held the node")
	for _, want := range []string{`id="run"`, `id="run-results"`, "0 of 1 done, 1 refused.", "data-said"} {
		if !strings.Contains(got, want) {
			t.Errorf("the fragment lacks %q:\n%s", want, got)
		}
	}
	r.tell(n.UUID)
	for list.Scan() {
		if strings.Contains(list.Text(), id) {
			t.Errorf("the list hears of the run:\n%s", list.Text())
		}
		if strings.Contains(list.Text(), `id="row-`+n.UUID) {
			break
		}
	}
	if got := s.get("/ui/events?view=run&run=x"); got.status != http.StatusBadRequest {
		t.Errorf("a stream of no run: %d", got.status)
	}
}

func TestARunOfThousandsIsShownPageByPage(t *testing.T) {
	r := newRack()
	run := node.BulkRun{ID: node.NewUUID(), Action: node.BulkPowerOff, StartedAt: noon.Add(-90 * time.Second), EndedAt: noon, Counts: node.BulkCounts{Done: 250}}
	results := make([]node.BulkResult, 250)
	for i := range results {
		results[i] = node.BulkResult{Position: i + 1, Node: node.NewUUID(), Name: fmt.Sprintf("n%03d", i+1), State: node.BulkDone, At: noon}
	}
	r.keepRun(run, results)
	s := serve(t, r, 0)
	page := s.get("/ui/bulk/" + run.ID)
	page.has(t, "n001", "n100", "took 1 m 30 s", "?after=100&amp;show=done")
	page.lacks(t, "n101")
	second := s.get("/ui/bulk/" + run.ID + "?after=100&show=done")
	second.has(t, "n101", "n200", "?after=200&amp;show=done", "First page", `id="run-results-of-one-kind"`)
	second.lacks(t, "n100", "n201")
}

func TestHostileNamesAndReasonsStayText(t *testing.T) {
	r := newRack()
	const evil = `<script>alert(1)</script>`
	n := r.add(evil, node.Manageable)
	s := serve(t, r, 0)
	r.keepRun(node.BulkRun{ID: node.NewUUID(), Action: node.BulkAbort, Reason: evil, Actor: node.Actor{User: evil}, StartedAt: noon, EndedAt: noon, Counts: node.BulkCounts{Refused: 1}},
		[]node.BulkResult{{Position: 1, Name: evil, Place: evil, State: node.BulkRefused, Refusal: node.RefusedInvalid, Why: evil + strings.Repeat("x", 10_000)}})
	for _, got := range []answer{s.post("/ui/bulk/confirm", chosen(node.BulkAbort, n)), s.get("/ui/bulk"), s.get("/ui/bulk/" + r.bulks.runs[0].ID)} {
		got.has(t, "&lt;script&gt;")
		got.lacks(t, evil)
	}
}
