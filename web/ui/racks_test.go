package ui_test

import (
	"encoding/json"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"testing"

	"cagenut/node"
)

// card is one rack on the page of all.
func (a answer) card(t *testing.T, rack string) string {
	t.Helper()
	for _, li := range strings.Split(a.body, `class="rackcard"`)[1:] {
		if strings.Contains(li, "<bdi>"+rack+"</bdi>") {
			return li
		}
	}
	t.Fatalf("no rack %s:\n%s", rack, excerpt(a.body))
	return ""
}

func TestRacksSayHowFullTheyAreAndWhatNeedsAPerson(t *testing.T) {
	r := newRack()
	r.add("a", node.InspectFailed, in("R2", 1, 2))
	r.add("b", node.Manageable, in("R2", 10, 1))
	r.add("c", node.InspectWait, in("R2", 11, 4))
	r.add("d", node.Manageable, in("R10", 42, 4)) // ends in U45
	r.add("e", node.Manageable, in("R9", 5, 2))
	r.add("f", node.Manageable, in("R9", 6, 1))
	r.add("g", node.Enroll, in("R9", 0, 1))
	for i := range 25 {
		r.add(fmt.Sprintf("free-%02d", i), node.Enroll, func(n *node.Node) { n.Extra = nil })
	}
	s := serve(t, r, 0)
	page := s.get("/ui/racks")
	var names []string
	for _, m := range regexp.MustCompile(`<bdi>(R\d+)</bdi>`).FindAllStringSubmatch(page.body, -1) {
		names = append(names, m[1])
	}
	if !slices.Equal(names, []string{"R2", "R9", "R10"}) {
		t.Errorf("the racks are %v", names)
	}
	for rack, want := range map[string][]string{
		"R2":  {"3 nodes · 7 of 42 units taken", "1 needs attention", "1 waiting", "1 ready", `href="/ui/racks/R2"`, `class="failed" d="M0 40h26v2h-26z"`},
		"R9":  {"3 nodes · 2 of 42 units taken", "1 node without a unit", "Two nodes are in one unit"},
		"R10": {"1 node · 4 of 45 units taken"},
	} {
		card := page.card(t, rack)
		for _, w := range want {
			if !strings.Contains(card, w) {
				t.Errorf("%s lacks %q: %s", rack, w, card)
			}
		}
	}
	if strings.Contains(page.card(t, "R2"), "⚠") {
		t.Errorf("R2 is warned of: %s", page.card(t, "R2"))
	}
	page.has(t, `Nodes in no rack <span class="count">25</span>`, ">free-00</a>", ">free-19</a>")
	page.lacks(t, ">free-20</a>") // without what is around it, ids of elements that hold a UUID would be taken for it
	s.get("/ui/racks?free=free-24").has(t, ">free-24</a>")
	found := s.get("/ui/racks?q=r1")
	found.card(t, "R10")
	found.lacks(t, "<bdi>R2</bdi>")
	s.get("/ui/racks?q=nowhere").has(t, "No rack has “nowhere” in its name.")
}

func TestWithoutRacksThePageSaysHowToMakeOne(t *testing.T) {
	r := newRack()
	r.add("a", node.Enroll, func(n *node.Node) { n.Extra = nil })
	s := serve(t, r, 0)
	s.get("/ui/racks").has(t, "No rack yet", "--extra rack_unit=21", "Or choose a place", "place?back=racks")
	r.edit(func() { r.nodes = nil })
	page := s.get("/ui/racks")
	page.has(t, "No rack yet", `href="/ui/enrol">Enrol a node first`)
	page.lacks(t, "Or choose a place", "Every node is in a rack")
}

// Values of extra that are no place, or one that nobody expects, must neither get lost nor upset the rack.
func TestOddPlacesAreShownWhereTheyCanBe(t *testing.T) {
	const drawn, loose, free = "drawn", "loose", "free"
	for name, c := range map[string]struct {
		extra map[string]any
		where string
		says  string
	}{
		"a number":                {map[string]any{"rack": "R1", "rack_unit": 21}, drawn, "U21"},
		"digits in quotes":        {map[string]any{"rack": "R1", "rack_unit": "21", "rack_units": "2"}, drawn, "U21–22"},
		"a whole fraction":        {map[string]any{"rack": "R1", "rack_unit": 21.0, "rack_units": json.Number("3")}, drawn, "U21–23"},
		"a rack that is a number": {map[string]any{"rack": json.Number("7"), "rack_unit": 1}, drawn, "U1"},
		"no unit":                 {map[string]any{"rack": "R1"}, loose, "no unit"},
		"null":                    {map[string]any{"rack": "R1", "rack_unit": nil}, loose, "no unit"},
		"an empty text":           {map[string]any{"rack": "R1", "rack_unit": ""}, loose, "no unit"},
		"zero":                    {map[string]any{"rack": "R1", "rack_unit": 0}, loose, "rack_unit is 0"},
		"less than nothing":       {map[string]any{"rack": "R1", "rack_unit": -3}, loose, "rack_unit is -3"},
		"a half":                  {map[string]any{"rack": "R1", "rack_unit": 1.5}, loose, "rack_unit is 1.5"},
		"a word":                  {map[string]any{"rack": "R1", "rack_unit": "<b>top</b>"}, loose, "rack_unit is &#34;&lt;b&gt;top"},
		"a list":                  {map[string]any{"rack": "R1", "rack_unit": []any{1, 2}}, loose, "rack_unit is [1,2]"},
		"a long text":             {map[string]any{"rack": "R1", "rack_unit": strings.Repeat("x", 10000)}, loose, "xxx…"},
		"above every rack":        {map[string]any{"rack": "R1", "rack_unit": 1e9}, loose, "no rack goes up to U1000000000"},
		"higher than every rack":  {map[string]any{"rack": "R1", "rack_unit": 3, "rack_units": 1000}, loose, "no rack goes up to U1002"},
		"odd heights":             {map[string]any{"rack": "R1", "rack_unit": 3, "rack_units": -2}, drawn, "U3"},
		"a unit without a rack":   {map[string]any{"rack_unit": 3}, free, ""},
		"a rack that is a list":   {map[string]any{"rack": []any{"R1"}, "rack_unit": 3}, free, ""},
		"an empty rack":           {map[string]any{"rack": "", "rack_unit": 3}, free, ""},
		"nothing":                 {nil, free, ""},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRack()
			n := r.add("odd", node.Manageable, func(n *node.Node) { n.Extra = c.extra })
			s := serve(t, r, 0)
			rack := n.Location().Rack
			if c.where == free {
				rack = "R1"
			}
			page := s.get("/ui/racks/" + rack)
			if page.status != http.StatusOK {
				t.Fatalf("got %d", page.status)
			}
			is := map[string]bool{drawn: strings.Contains(page.body, `id="u-`+n.UUID), free: strings.Contains(page.body, `id="free-`+n.UUID), loose: strings.Contains(page.body, "In this rack, but in no unit")}
			for where, there := range is {
				if there != (where == c.where) {
					t.Errorf("%s: %v", where, there)
				}
			}
			page.has(t, c.says)
			page.lacks(t, "<b>top")
		})
	}
}

// elevation is the picture of a rack's page, parsed as XML: every element by its id.
func (a answer) elevation(t *testing.T) map[string]map[string]string {
	t.Helper()
	_, rest, ok := strings.Cut(a.body, `<svg class="elevation"`)
	picture, _, end := strings.Cut(rest, "<figcaption>")
	if !ok || !end {
		t.Fatalf("no elevation (%d):\n%s", a.status, excerpt(a.body))
	}
	out := map[string]map[string]string{}
	d := xml.NewDecoder(strings.NewReader(`<svg class="elevation"` + picture))
	for {
		token, err := d.Token()
		if errors.Is(err, io.EOF) {
			return out
		}
		if err != nil {
			t.Fatalf("the picture is not well-formed: %v", err)
		}
		if start, ok := token.(xml.StartElement); ok {
			attributes := map[string]string{}
			for _, a := range start.Attr {
				attributes[a.Name.Local] = a.Value
			}
			if id := attributes["id"]; id != "" {
				out[id] = attributes
			}
		}
	}
}

func TestAnElevationHasEveryServerInItsPlace(t *testing.T) {
	r := newRack()
	low, high := r.add("low", node.Manageable, in("R1", 1, 1)), r.add("high", node.InspectFailed, in("R1", 41, 2))
	alone, a, b := r.add("alone", node.Manageable, in("R1", 20, 1)), r.add("a", node.Manageable, in("R1", 10, 4)), r.add("b", node.Manageable, in("R1", 12, 1))
	r.add("elsewhere", node.Manageable, in("R2", 5, 1))
	s := serve(t, r, 0)
	page := s.get("/ui/racks/R1")
	picture := page.elevation(t)
	for _, c := range []struct {
		n    node.Node
		want string // x, y, width, height
	}{{low, "30 988 300 24"}, {high, "30 4 300 48"}, {alone, "30 532 300 24"}, {a, "30 700 150 96"}, {b, "180 724 150 24"}} {
		is := picture["u-"+c.n.UUID]
		if got := strings.Join([]string{is["x"], is["y"], is["width"], is["height"]}, " "); got != c.want {
			t.Errorf("%s is at %q, want %q", c.n.Name, got, c.want)
		}
	}
	if len(picture) != 6 { // with the pattern of what is off
		t.Errorf("the picture holds %v", picture)
	}
	page.has(t, "shares units with b", "shares units with a", `<title>high · U41–42 · inspect failed · power on</title>`, "5 nodes · 8 of 42 units taken")
	if i, j := strings.Index(page.body, `id="row-`+high.UUID), strings.Index(page.body, `id="row-`+low.UUID); i > j {
		t.Error("the table does not begin at the top")
	}
}

// Colour is never alone: each server has the icon of its state, and signs for what else is to be known.
func TestAServerInAnElevationSaysHowItDoes(t *testing.T) {
	r := newRack()
	n := r.add("one", node.InspectFailed, in("R1", 1, 1), func(n *node.Node) {
		n.PowerState, n.BMCUnreachableSince, n.Maintenance, n.Health = node.PowerOff, noon, true, node.HealthCritical
	})
	r.add("two", node.Manageable, in("R1", 2, 1))
	page := serve(t, r, 0).get("/ui/racks/R1")
	_, server, _ := strings.Cut(page.body, `id="u-`+n.UUID)
	server, _, _ = strings.Cut(server, "</svg>")
	for _, want := range []string{`class="server failed`, ">✕</text>", `url(#hatch)`, ">⊘</text>", ">‖</text>", "power off", "BMC unreachable", "health: Critical", "maintenance"} {
		if !strings.Contains(server, want) {
			t.Errorf("it lacks %q: %s", want, server)
		}
	}
	if n := strings.Count(page.body, `class="off" x="1"`); n != 1 {
		t.Errorf("%d servers look off", n)
	}
}

var hostile = []string{
	`<script>alert(1)</script>`, `"><img src=x onerror=alert(1)>`, "مرحبا \u202e abc", "🦜🦜🦜", "nul\x00and\x1b[31m", strings.Repeat("long ", 200), "a/b", "..", ".", "%2f", "a b?c#d", "\xff\xfe", "]]>&amp;",
}

func TestHostileNamesDoNotUpsetRacks(t *testing.T) {
	r := newRack()
	for i, name := range hostile {
		r.add(name, node.InspectFailed, in(name, i+1, 1), func(n *node.Node) { n.LastError = name })
		r.add(name+"2", node.Manageable, in("all", i+1, 2))
	}
	s := serve(t, r, 0)
	all := s.get("/ui/racks")
	all.lacks(t, "<script>alert", "<img src=x")
	links := regexp.MustCompile(`id="rack-[0-9a-f]+-link" href="([^"]+)"`).FindAllStringSubmatch(all.body, -1)
	if len(links) != len(hostile) { // all but the long one, and "all"
		t.Errorf("%d racks have a page", len(links))
	}
	for _, m := range links {
		page := s.get(strings.ReplaceAll(m[1], "&amp;", "&"))
		if page.status != http.StatusOK {
			t.Fatalf("%s: %d", m[1], page.status)
		}
		if n := strings.Count(page.body, `id="u-`); n == 0 {
			t.Errorf("%s shows no server:\n%s", m[1], excerpt(page.body))
		}
		page.lacks(t, "<script>alert", "<img src=x")
		page.elevation(t)
	}
}

func TestASearchInARackShadesTheRest(t *testing.T) {
	r := newRack()
	hit, miss := r.add("web-1", node.Manageable, in("R1", 1, 1)), r.add("db-1", node.Manageable, in("R1", 2, 1))
	s := serve(t, r, 0)
	page := s.get("/ui/racks/R1?q=web")
	page.has(t, "1 node matches “web”", `value="web"`)
	picture := page.elevation(t)
	if strings.Contains(picture["u-"+hit.UUID]["class"], "shaded") || !strings.Contains(picture["u-"+miss.UUID]["class"], "shaded") {
		t.Errorf("found: %s, not found: %s", picture["u-"+hit.UUID]["class"], picture["u-"+miss.UUID]["class"])
	}
	s.get("/ui/racks/R1").lacks(t, "shaded", "matches")
}

// G56
func TestAViewerSeesRacksWithoutButtons(t *testing.T) {
	r := newRack()
	n := r.add("one", node.InspectWait, in("R1", 1, 1))
	r.add("two", node.Manageable, func(n *node.Node) { n.Extra = nil })
	s, viewer := serve(t, r, 0), header{"X-Test-Role": "viewer"}
	for _, path := range []string{"/ui/racks", "/ui/racks/R1"} {
		page := s.get(path, viewer)
		page.has(t, "two")
		page.lacks(t, "place?", `type="checkbox"`, "abort-", `id="chosen"`)
	}
	if a := s.get("/ui/nodes/"+n.UUID+"/place", viewer); a.status != http.StatusForbidden {
		t.Errorf("the form: %d", a.status)
	}
	if a := s.do("POST", "/ui/nodes/"+n.UUID+"/place", url.Values{"rack": {"R2"}, "units": {"1"}}, viewer); a.status != http.StatusForbidden || len(r.actors) != 0 {
		t.Errorf("the post: %d, %v", a.status, r.actors)
	}
}

// G17
func TestAnAbortFromARackLeadsBackToIt(t *testing.T) {
	r := newRack()
	n := r.add("one", node.InspectWait, in("Hall A", 1, 1))
	s := serve(t, r, 0)
	s.get("/ui/racks/Hall%20A").has(t, `id="abort-`+n.UUID, `/abort?back=rack&amp;attempt=`+n.AttemptID)
	s.get("/ui/nodes/one/abort?back=rack").has(t, `href="/ui/racks/Hall%20A"`)
	form := url.Values{"verb": {"abort"}, "attempt": {n.AttemptID}, "back": {"rack"}}
	if a := s.do("POST", "/ui/nodes/one/provision", form); a.location != "/ui/racks/Hall%20A?done=abort" {
		t.Errorf("it leads to %q", a.location)
	}
	r.edit(func() { r.nodes[0].ProvisionState = node.InspectWait })
	s.do("POST", "/ui/nodes/one/provision", form, script).has(t, `<svg id="u-`+n.UUID, `id="row-`+n.UUID, "inspect failed", `data-refetch-unless="at-`+n.UUID)
}

func TestARackOfAHallIsBounded(t *testing.T) {
	r := newRack()
	for i := range 250 {
		r.add(fmt.Sprintf("n%03d", i), node.Manageable, in("hall", i%42+1, 1))
	}
	page := serve(t, r, 0).get("/ui/racks/hall")
	page.has(t, "250 nodes", "50 more nodes of this rack are not shown here.", `href="/ui?rack=hall"`)
	if n := strings.Count(page.body, `<tr role="row" id="row-`); n != 200 {
		t.Errorf("%d rows", n)
	}
}

// G18
func TestOpenPagesOfRacksFollowTheServer(t *testing.T) {
	r := newRack()
	n, other := r.add("one", node.Manageable, in("R1", 1, 1)), r.add("other", node.Manageable, in("R2", 1, 1))
	s := serve(t, r, 0)
	s.get("/ui/racks").has(t, `data-events="/ui/events?view=racks`)
	page := s.get("/ui/racks/R1")
	page.has(t, `data-events="/ui/events?rack=R1&amp;view=rack"`, `id="at-`+n.UUID+`-1-1-0-1-42"`)
	after := s.hub.Position()
	_, one := s.stream("/ui/events?rack=R1&view=rack&after=" + after)
	_, viewer := s.stream("/ui/events?rack=R1&view=rack&after="+after, header{"X-Test-Role": "viewer"})
	_, all := s.stream("/ui/events?view=racks&after=" + after)

	r.edit(func() { r.nodes[0].ProvisionState = node.InspectWait })
	r.tell(n.UUID)
	news := until(t, one, `id="row-`+n.UUID)
	for _, want := range []string{`data-refetch-unless="at-` + n.UUID + `-1-1-0-1-42"`, `<svg id="u-` + n.UUID, `class="server waiting"`, `id="abort-` + n.UUID, "back=rack"} {
		if !strings.Contains(news, want) {
			t.Errorf("the news lack %q: %s", want, news)
		}
	}
	if news := until(t, viewer, `id="row-`+n.UUID); strings.Contains(news, "abort-") || strings.Contains(news, "checkbox") {
		t.Errorf("a viewer's row has buttons: %s", news)
	}
	if news := until(t, all, `class="rackcard"`); !strings.Contains(news, "1 waiting") {
		t.Errorf("the card is %s", news)
	}

	t.Log("who moves is drawn again where it was and where it is")
	r.edit(func() { r.nodes[0].Extra = map[string]any{"rack": "R2", "rack_unit": 1} })
	r.tell(n.UUID)
	until(t, one, `data-refetch-if="row-`+n.UUID)
	if news := until(t, all, "<bdi>R2</bdi>"); !strings.Contains(news, "2 nodes") || !strings.Contains(news, "data-refetch-if=\"rack-") {
		t.Errorf("the news are %s", news)
	}
	r.edit(func() { r.nodes[1].Extra = map[string]any{"rack": "R1", "rack_unit": 3} })
	r.tell(other.UUID)
	until(t, one, `data-refetch-unless="at-`+other.UUID+`-3-1-0-1-42"`)

	t.Log("who is deleted goes")
	r.edit(func() { r.nodes = r.nodes[:1] })
	r.tell(other.UUID)
	until(t, one, `data-refetch-if="row-`+other.UUID)
	if a := s.get("/ui/events?view=rack"); a.status != http.StatusBadRequest {
		t.Errorf("no rack: %d", a.status)
	}
}
