package ui_test

import (
	"fmt"
	"html"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"cagenut/node"
	"cagenut/templates"
)

// rows are the names in the list, in their order.
func (a answer) rows() (names []string) {
	for _, m := range regexp.MustCompile(`(?s)<th role="rowheader">(?:<input[^>]*>)?\s*<a href="[^"]*">([^<]*)</a>`).FindAllStringSubmatch(a.body, -1) {
		names = append(names, m[1])
	}
	return names
}

// link is the address of a link with an attribute.
func (a answer) link(t *testing.T, attribute string) string {
	t.Helper()
	for _, tag := range regexp.MustCompile(`<a [^>]*>`).FindAllString(a.body, -1) {
		if href := regexp.MustCompile(`href="([^"]*)"`).FindStringSubmatch(tag); href != nil && strings.Contains(tag, attribute) {
			return html.UnescapeString(href[1])
		}
	}
	t.Fatalf("there is no link with %s:\n%s", attribute, excerpt(a.body))
	return ""
}

// hall is a rack with some of everything that a list is filtered by.
func hall() *rack {
	r := newRack()
	r.serials = map[string]string{}
	for i := range 60 {
		r.add(fmt.Sprintf("z-%03d", i), node.Available)
	}
	r.add("z-failed", node.InspectFailed, func(n *node.Node) { n.Health = node.HealthCritical })
	r.add("m-waiting", node.InspectWait, func(n *node.Node) {
		n.Extra["rack"], n.Driver, n.Maintenance = "R08", node.DriverIPMI, true
	})
	r.add("o-silent", node.Active, func(n *node.Node) {
		n.BMCUnreachableSince, n.Health, n.ProvisionUpdatedAt = noon.Add(-time.Hour), node.HealthOK, noon.Add(-48*time.Hour)
	})
	return r
}

func TestTheListShowsFirstWhatNeedsAPerson(t *testing.T) {
	s := serve(t, hall(), 0)
	first := s.get("/ui")
	if got := first.rows(); len(got) != 50 || got[0] != "z-failed" || got[1] != "m-waiting" || got[2] != "z-000" {
		t.Errorf("the first page holds %v", got)
	}
	first.has(t, "<title>1 failed – Nodes", `id="count-ready">60<`, `id="count-all">63<`, `<strong id="total">63 nodes</strong>`)
	first.lacks(t, `rel="prev"`, "aria-sort")
}

// G57
func TestPagesFollowEachOtherBothWaysAndKeepTheWholeView(t *testing.T) {
	s := serve(t, hall(), 0)
	for _, view := range []string{"", "sort=name", "sort=name&dir=desc", "sort=since", "sort=place", "sort=state&dir=desc", "sort=power", "sort=health", "sort=driver", "q=z-&group=ready&sort=name", "size=100"} {
		var forth, back []string
		page := s.get("/ui?" + view)
		whole := strings.Contains(view, "size=100")
		forth = page.rows()
		if whole != !strings.Contains(page.body, `rel="next"`) {
			t.Fatalf("%q: the first page holds %d rows", view, len(forth))
		}
		if whole {
			continue
		}
		next := page.link(t, `rel="next"`)
		was, _ := url.ParseQuery(view)
		now, _ := url.Parse(next)
		for key := range was {
			if now.Query().Get(key) != was.Get(key) {
				t.Errorf("%q: the next page forgets %s: %s", view, key, next)
			}
		}
		second := s.get(next)
		second.lacks(t, `rel="next"`)
		forth = append(forth, second.rows()...)
		seen := slices.Clone(forth)
		slices.Sort(seen)
		if n := len(slices.Compact(seen)); n != len(forth) || n < 60 {
			t.Errorf("%q: %d rows, %d of them different", view, len(forth), n)
		}
		back = append(s.get(second.link(t, `rel="prev"`)).rows(), second.rows()...)
		if !slices.Equal(forth, back) {
			t.Errorf("%q: back it is another page\n%v\n%v", view, forth, back)
		}
	}
}

func TestTheAddressHoldsTheFilter(t *testing.T) {
	s := serve(t, hall(), 0)
	for query, want := range map[string][]string{
		"?rack=R08": {"m-waiting"}, "?group=failed": {"z-failed"}, "?state=inspect+wait&group=failed": {"m-waiting"}, "?state=inspect+wait&state=inspect+failed": {"z-failed", "m-waiting"},
		"?driver=ipmi": {"m-waiting"}, "?health=Critical": {"z-failed"}, "?health=silent": {"o-silent"}, "?health=OK": {"o-silent"}, "?maintenance=true": {"m-waiting"},
		"?maintenance=false&q=-wait": nil, "?q=192.0.2.10&state=active": {"o-silent"}, "?q=R08": {"m-waiting"},
		"?group=nonsense&state=nonsense&after=nonsense&health=x&maintenance=x&sort=x&size=7&q=z-f": {"z-failed"}, "?q=%zz&rack=R08": {"m-waiting"},
	} {
		if got := s.get("/ui" + query).rows(); !slices.Equal(got, want) {
			t.Errorf("%s holds %v, want %v", query, got, want)
		}
	}
	none := s.get("/ui?q=nothing-like-it&maintenance=true")
	none.has(t, "No node matches", "search “nothing-like-it”", "in maintenance", "Clear the filter", "0 nodes")
	none.lacks(t, "<table")
}

func TestEachConditionOfAFilterCanBeTakenOut(t *testing.T) {
	s := serve(t, hall(), 0)
	page := s.get("/ui?q=a&state=active&state=available&rack=R07&driver=redfish&health=OK&maintenance=false&sort=name&size=100")
	var without []string
	for _, m := range regexp.MustCompile(`<a class="condition" href="([^"]*)"><bdi>([^<]*)</bdi>`).FindAllStringSubmatch(page.body, -1) {
		u, err := url.Parse(html.UnescapeString(m[1]))
		if err != nil {
			t.Fatal(err)
		}
		if v := u.Query(); v.Get("sort") != "name" || v.Get("size") != "100" || len(u.Query()) < 7 {
			t.Errorf("without %s it is %s", m[2], u)
		}
		without = append(without, m[2])
	}
	if want := []string{"search “a”", "state “active”", "state “available”", "rack “R07”", "health “OK”", "driver “redfish”", "not in maintenance"}; !slices.Equal(without, want) {
		t.Errorf("the conditions are %q", without)
	}
	if clear := page.link(t, `href="/ui?size=100&amp;sort=name"`); clear == "" {
		t.Error("the filter cannot be cleared")
	}
}

func TestEachStateHasACountThatFilters(t *testing.T) {
	s := serve(t, hall(), 0)
	chips := func(a answer) (all []string) {
		for _, m := range regexp.MustCompile(`<a id="state-[^>]*><span[^>]*>[^<]*</span> ([^<]*) <b>(\d+)</b>`).FindAllStringSubmatch(a.body, -1) {
			all = append(all, strings.TrimSpace(m[1])+" "+m[2])
		}
		return all
	}
	page := s.get("/ui")
	if got, want := chips(page), []string{"inspect failed 1", "inspect wait 1", "available 60", "active 1"}; !slices.Equal(got, want) {
		t.Errorf("the counts are %q", got)
	}
	one := s.get(page.link(t, `id="state-active"`))
	if got := one.rows(); !slices.Equal(got, []string{"o-silent"}) {
		t.Errorf("pressed, it shows %v", got)
	}
	two := s.get(one.link(t, `id="state-inspect-wait"`))
	if got := two.rows(); !slices.Equal(got, []string{"m-waiting", "o-silent"}) {
		t.Errorf("with a second one it shows %v", got)
	}
	if got := s.get(two.link(t, `id="state-active"`)).rows(); !slices.Equal(got, []string{"m-waiting"}) {
		t.Errorf("pressed again, it shows %v", got)
	}
	t.Log("counts respect the other conditions")
	if got, want := chips(s.get("/ui?rack=R08&state=active")), []string{"inspect wait 1", "active 0"}; !slices.Equal(got, want) {
		t.Errorf("in the other rack the counts are %q", got)
	}
	s.get("/ui?maintenance=true").has(t, `id="count-all">1<`, `id="count-failed">0<`, "R08 (1)", "ipmi (1)", "redfish (0)", "in maintenance (1)", "not in maintenance (62)", "1 node<")
	s.get("/ui?health=silent").has(t, `id="count-used">1<`, "BMC unreachable (1)", "Critical (1)", "OK (1)", "1 node<")
}

func TestAHeadingSortsAndThenTurnsRound(t *testing.T) {
	s := serve(t, hall(), 0)
	page := s.get("/ui?q=z")
	byName := s.get(page.link(t, `id="sort-name"`))
	byName.has(t, `aria-sort="ascending"><input type="checkbox" data-select-all`)
	down := s.get(byName.link(t, `id="sort-name"`))
	down.has(t, `aria-sort="descending"><input type="checkbox" data-select-all`)
	if up, down := byName.rows(), down.rows(); up[0] != "z-000" || down[0] != "z-failed" {
		t.Errorf("it begins with %s and with %s", up[0], down[0])
	}
	if got := s.get(page.link(t, `id="sort-health"`)).rows(); got[0] != "z-failed" {
		t.Errorf("by health it begins with %s", got[0])
	}
	if got := s.get("/ui?sort=since").rows(); got[0] != "o-silent" {
		t.Errorf("by time it begins with %s", got[0])
	}
}

func TestManyRacksAreSuggestedInsteadOfOffered(t *testing.T) {
	r := newRack()
	for i := range 41 {
		r.add(fmt.Sprintf("n%02d", i), node.Available, func(n *node.Node) { n.Extra["rack"] = fmt.Sprintf("R%02d", i) })
	}
	s := serve(t, r, 0)
	s.get("/ui?rack=R40").has(t, `name="rack" value="R40"`, `list="racks"`, `<option value="R07">1</option>`)
	s.get("/ui?rack=R40").lacks(t, `<select name="rack">`)
}

func TestARowTellsWhatAPersonAtTheRackNeeds(t *testing.T) {
	r := newRack()
	n := r.add("r07-u21", node.InspectWait, func(n *node.Node) {
		n.Health, n.LastError, n.Maintenance = node.HealthWarning, "Power off\nnot   confirmed", true
	})
	r.serials = map[string]string{n.UUID: "CZ2D91"}
	r.kept.signs = map[string][]node.Sign{n.AttemptID: {{AttemptID: n.AttemptID, Kind: node.SignBootScript, FirstAt: noon.Add(-time.Minute), LastAt: noon.Add(-time.Minute), Times: 1}}}
	s := serve(t, r, 0)
	s.get("/ui").has(t, "r07-u21</a>", "CZ2D91", "R07 · U21", "inspect wait", "4 m 12 s", "Boot script fetched", "1 m 00 s", "ends by itself", "25 m 48 s",
		"maintenance", `class="on">on<`, `class="waiting">Warning<`, "192.0.2.10", "redfish", "Power off not confirmed", `id="abort-`+n.UUID,
		`<input type="checkbox" id="pick-`+n.UUID+`" name="node" value="`+n.UUID+`" form="chosen" aria-label="Choose r07-u21"`, `<form id="chosen"`)
	s.get("/ui", header{"X-Test-Role": "viewer"}).lacks(t, `type="checkbox"`, `id="chosen"`)
}

// G52
func TestDoubledSerialsAndPlacesAreSaidAndBlockNothing(t *testing.T) {
	r := newRack()
	a, b := r.add("a", node.Manageable), r.add("b", node.Manageable)
	c := r.add("c", node.Manageable, func(n *node.Node) { n.Extra["rack_unit"] = 22 })
	d := r.add("d", node.Manageable, func(n *node.Node) { n.Extra["rack_unit"] = 23 })
	r.serials = map[string]string{a.UUID: "CZ1", c.UUID: "CZ1", b.UUID: "Not Specified", d.UUID: "Not Specified"}
	s := serve(t, r, 0)
	row := func(page answer, n node.Node) string {
		_, after, _ := strings.Cut(page.body, `id="row-`+n.UUID)
		row, _, _ := strings.Cut(after, "</tr>")
		return row
	}
	page := s.get("/ui")
	for name, c := range map[string]struct {
		n             node.Node
		serial, place bool
	}{"a": {a, true, true}, "b": {b, false, true}, "c": {c, true, false}, "d": {d, false, false}} {
		got := row(page, c.n)
		if strings.Contains(got, "1 other node has this serial number") != c.serial || strings.Contains(got, "1 other node claims this place") != c.place {
			t.Errorf("%s: %s", name, got)
		}
		if !strings.Contains(got, `id="inspect-`+c.n.UUID) {
			t.Errorf("%s cannot be inspected", name)
		}
	}
	if got := s.get("/ui?q=not+specified").rows(); !slices.Equal(got, []string{"b", "d"}) {
		t.Errorf("a search for the placeholder shows %v", got)
	}
}

func TestAnEmptyApplianceShowsHowToBegin(t *testing.T) {
	s := serve(t, newRack(), 0)
	page := s.get("/ui")
	page.has(t, "No nodes yet", `href="/ui/enrol"`, `href="/ui/enrol/import"`, `href="/ui/enrol/search"`, "curl -X POST http://127.0.0.1:", "cagenut demo", "data-whole")
	page.lacks(t, `role="search"`, `id="chosen"`)
	viewer := s.get("/ui", header{"X-Test-Role": "viewer"})
	viewer.has(t, "Ask an operator")
	viewer.lacks(t, `class="button" href="/ui/enrol"`)
}

// Without a script an action leads back to the very list that it was begun on.
func TestAnActionLeadsBackToTheListAsItWas(t *testing.T) {
	r := newRack()
	waits, idle := r.add("waits", node.InspectWait), r.add("idle", node.Manageable)
	s := serve(t, r, 0)
	from := func(list string) header { return header{"Referer": s.base + list} }
	question := s.get("/ui/nodes/"+waits.UUID+"/abort?back=list&attempt="+waits.AttemptID, from("/ui?group=waiting&after=a&after=b&nonsense=1"))
	question.has(t, `href="/ui?after=a&amp;after=b&amp;group=waiting"`)
	confirmed := question.fields()
	confirmed.Set("back", "list") // the frame has a form of its own
	confirmed.Set("list", html.UnescapeString(confirmed.Get("list")))
	for what, c := range map[string]struct {
		path string
		form url.Values
		from header
		want string
	}{
		"an abort, from its question": {"/ui/nodes/" + waits.UUID + "/provision", confirmed, from("/ui/nodes/x/abort"), "/ui?after=a&after=b&group=waiting&done=abort"},
		"an inspection, from its row": {"/ui/nodes/" + idle.UUID + "/provision?verb=inspect&back=list", url.Values{}, from("/ui?rack=R07"), "/ui?rack=R07&done=inspect"},
		"a browser that says nothing": {"/ui/nodes/" + idle.UUID + "/provision?verb=inspect&back=list", url.Values{}, nil, "/ui?done=inspect"},
		"one that comes from afar":    {"/ui/nodes/" + idle.UUID + "/provision?verb=inspect&back=list", url.Values{}, header{"Referer": "https://example.com/?rack=R07"}, "/ui?done=inspect"},
	} {
		r.edit(func() { r.nodes[1].ProvisionState = node.Manageable })
		if got := s.post(c.path, c.form, c.from); got.location != c.want {
			t.Errorf("%s: %d to %q, want %q", what, got.status, got.location, c.want)
		}
	}
}

// G18
func TestOpenListsFollowTheCountsOfTheirFilter(t *testing.T) {
	r := hall()
	s := serve(t, r, 0)
	n := r.nodes[0]
	page := s.get("/ui?rack=R07&state=available")
	stream := html.UnescapeString(regexp.MustCompile(`data-events="([^"]*)"`).FindStringSubmatch(page.body)[1])
	_, filtered := s.stream(stream + "&after=" + s.hub.Position())
	_, other := s.stream("/ui/events?view=list&filter=" + url.QueryEscape("rack=R08") + "&after=" + s.hub.Position())
	r.edit(func() { r.nodes[0].ProvisionState = node.InspectFailed })
	r.tell(n.UUID)
	until(t, filtered, `id="row-`+n.UUID)
	until(t, filtered, `<strong id="total">59 nodes</strong>`)
	until(t, other, `id="row-`+n.UUID)
	until(t, other, `<strong id="total">1 node</strong>`)
	page.has(t, `data-shown-state="available"`)
	s.get("/ui?group=failed&maintenance=false&health=Critical").has(t, `data-shown-state="adopt failed,`, `data-shown-maintenance="false"`, `data-shown-health="Critical"`)
}

func TestALeanPage(t *testing.T) {
	r := newRack()
	r.serials = map[string]string{}
	states := slices.Concat(slices.Repeat([]node.State{node.InspectFailed}, 5), slices.Repeat([]node.State{node.InspectWait}, 20), slices.Repeat([]node.State{node.Manageable}, 25),
		slices.Repeat([]node.State{node.Available}, 25), slices.Repeat([]node.State{node.Active}, 25))
	for i, state := range states {
		n := r.add(fmt.Sprintf("r%02d-u%02d", i/40, i%40), state, func(n *node.Node) {
			n.Extra, n.Health = map[string]any{"rack": fmt.Sprintf("R%02d", i/40), "rack_unit": i%40 + 1}, node.HealthOK
			if n.ProvisionState == node.InspectFailed {
				n.LastError = "Timeout reached while inspecting the node. No boot file was fetched: check the cabling of the boot NIC, its network, and that the server boots from it."
			}
		})
		r.serials[n.UUID] = fmt.Sprintf("CZ2D%04d", i)
	}
	s := serve(t, r, 0)
	page := s.get("/ui?size=100")
	if got := len(page.rows()); got != 100 {
		t.Fatalf("the page has %d rows", got)
	}
	weight, requests := len(page.body), 1
	for _, m := range regexp.MustCompile(`(?:src|href)="(/ui/static/[^"]*)"`).FindAllStringSubmatch(page.body, -1) {
		a := s.get(m[1])
		if a.status != http.StatusOK {
			t.Errorf("%s: %d", m[1], a.status)
		}
		weight, requests = weight+len(a.body), requests+1
		t.Logf("%s: %d bytes", m[1], len(a.body))
	}
	requests++ // the event stream
	for _, other := range []string{"<img", "<iframe", "<object", "<video", "@import", "url("} {
		page.lacks(t, other)
		s.get(templates.AssetURL("cagenut.css")).lacks(t, other)
	}
	t.Logf("page %d bytes, all %d bytes, %d requests", len(page.body), weight, requests)
	if weight >= 150_000 {
		t.Errorf("the list of 100 nodes weighs %d bytes", weight)
	}
	if requests > 6 {
		t.Errorf("it needs %d requests", requests)
	}
}
