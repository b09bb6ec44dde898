package ui_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"testing"
	"time"

	"cagenut/node"
	"cagenut/templates"
)

func abortForm(attempt string) url.Values {
	return url.Values{"verb": {"abort"}, "attempt": {attempt}, "reason": {"wrong switch"}, "back": {"list"}}
}

// G17
func TestTheAbortButtonStandsExactlyWhereTheTableAllowsIt(t *testing.T) {
	r := newRack()
	nodes := map[node.State]node.Node{}
	for i, s := range node.States() {
		nodes[s] = r.add(fmt.Sprintf("n%02d", i), s)
	}
	s := serve(t, r, 0)
	list := s.get("/ui")
	for state, n := range nodes {
		_, err := state.Next(node.Abort)
		button := `id="abort-` + n.UUID + `"`
		if got := strings.Contains(list.body, button); got != (err == nil) {
			t.Errorf("list: %q has the button: %v", state, got)
		}
		page := s.get("/ui/nodes/" + n.Name)
		if got := strings.Contains(page.body, button); got != (err == nil) {
			t.Errorf("page: %q has the button: %v", state, got)
		}
		for _, v := range templates.Verbs(state) {
			page.has(t, `id="`+string(v)+"-"+n.UUID)
		}
	}
	s.get("/ui/nodes/"+nodes[node.Inspecting].Name).has(t, "Not possible now", "Possible once the agent has been started")
}

// G56
func TestAViewerSeesNoButtonAndMayNotPost(t *testing.T) {
	r := newRack()
	n := r.add("r07-u21", node.InspectWait)
	s := serve(t, r, 0)
	viewer := header{"X-Test-Role": "viewer"}
	s.get("/ui", viewer).lacks(t, "data-action", "data-dialog", "Abort inspection<")
	s.get("/ui/nodes/r07-u21", viewer).lacks(t, "data-action", "data-dialog")
	for _, a := range []answer{
		s.get("/ui/nodes/r07-u21/abort", viewer),
		s.do("POST", "/ui/nodes/r07-u21/provision", abortForm(n.AttemptID), viewer),
		s.do("POST", "/ui/nodes/r07-u21/power", url.Values{"target": {"power off"}}, viewer),
		s.do("POST", "/ui/nodes/r07-u21/provision", abortForm(n.AttemptID), viewer, script),
	} {
		if a.status != http.StatusForbidden {
			t.Errorf("got %d, want 403", a.status)
		}
		a.has(t, templates.T(t.Context(), "failure.viewer"))
	}
	if len(r.asked)+len(r.powers) != 0 {
		t.Error("the conductor was asked")
	}
}

// G55
func TestTheAbortPageSaysWhatWillHappenAndIsSafe(t *testing.T) {
	r := newRack()
	n := r.add("r07-u21", node.InspectWait)
	s := serve(t, r, 0)
	for name, a := range map[string]answer{"page": s.get("/ui/nodes/r07-u21/abort"), "dialog": s.get("/ui/nodes/r07-u21/abort", script)} {
		a.has(t, "Abort inspection of r07-u21 (rack R07, U21)?", "its data are discarded", "is powered off", "cannot be undone",
			`name="attempt" value="`+n.AttemptID+`"`, `name="reason"`, `name="keep_power_on"`, "data-close autofocus>Keep running</a>", "Abort inspection</button>")
		if strings.Contains(a.body, "<html") != (name == "page") {
			t.Errorf("%s: whole page is wrong", name)
		}
		if strings.Index(a.body, "Keep running") > strings.Index(a.body, "Abort inspection</button>") {
			t.Errorf("%s: the dangerous button comes first", name)
		}
	}
}

func TestTheConsequenceNamesARebootWhereTheServerMustStayOn(t *testing.T) {
	r := newRack()
	r.add("r07-u21", node.InspectWait, func(n *node.Node) { n.DisablePowerOff = true })
	serve(t, r, 0).get("/ui/nodes/r07-u21/abort").has(t, "rebooted out of the ramdisk")
}

func TestAnAbortWithoutScriptRedirectsBackAndSaysSo(t *testing.T) {
	r := newRack()
	n := r.add("r07-u21", node.InspectWait)
	s := serve(t, r, 0)
	form := abortForm(n.AttemptID)
	form.Set("keep_power_on", "true")
	a := s.do("POST", "/ui/nodes/"+n.UUID+"/provision", form)
	if a.status != http.StatusSeeOther || a.location != "/ui?done=abort-keep" {
		t.Fatalf("got %d to %q", a.status, a.location)
	}
	s.get(a.location).has(t, "The inspection is aborted. The server stays powered on.", "aborted by jon", "inspect failed")
	got := r.asked[0]
	if got.Target != "abort" || got.Attempt != n.AttemptID || got.Reason != "wrong switch" || !got.KeepPowerOn || got.Minor != 0 {
		t.Errorf("the conductor was asked %+v", got)
	}
	if by := r.actors[0]; by.User != "jon" || by.Source != node.SourceUI || by.RequestID == "" || by.Address == "" {
		t.Errorf("the actor is %+v", by)
	}
	s.get("/ui?done=<b>").lacks(t, `id="notice"`)
}

func TestAnAbortByScriptAnswersWithTheRowAsItIsNow(t *testing.T) {
	r := newRack()
	n := r.add("r07-u21", node.InspectWait)
	s := serve(t, r, 0)
	a := s.do("POST", "/ui/nodes/"+n.UUID+"/provision", abortForm(n.AttemptID), script)
	if a.status != http.StatusOK {
		t.Fatalf("got %d", a.status)
	}
	a.has(t, `<tr role="row" id="row-`+n.UUID, "inspect failed", "aborted by jon", "powering off…", `data-said="r07-u21: The inspection is aborted`)
	a.lacks(t, "<html")
}

func TestOtherVerbsAndPowerGoToTheConductor(t *testing.T) {
	r := newRack()
	n := r.add("r07-u21", node.Manageable)
	s := serve(t, r, 0)
	if a := s.do("POST", "/ui/nodes/r07-u21/provision", url.Values{"verb": {"inspect"}}, script); a.status != http.StatusOK {
		t.Errorf("inspect: %d", a.status)
	} else {
		a.has(t, `id="node"`, "inspecting")
	}
	s.get("/ui/nodes/r07-u21/power?target=power+off").has(t, "Power off r07-u21 (rack R07, U21)?", "as if it were unplugged", `value="power off"`)
	if a := s.do("POST", "/ui/nodes/"+n.UUID+"/power", url.Values{"target": {"power off"}}); a.status != http.StatusSeeOther || a.location != "/ui/nodes/r07-u21?done=power+off" {
		t.Errorf("power off: %d to %q", a.status, a.location)
	}
	if r.asked[0].Target != "inspect" || r.powers[0].Target != "power off" {
		t.Errorf("asked %+v %+v", r.asked, r.powers)
	}
	for path, form := range map[string]url.Values{"/provision": {"verb": {"rebuild"}}, "/power": {"target": {"explode"}}} {
		if a := s.do("POST", "/ui/nodes/r07-u21"+path, form); a.status != http.StatusBadRequest {
			t.Errorf("%v: %d", form, a.status)
		}
	}
}

func TestARefusedAbortSaysWhatIsTrueNow(t *testing.T) {
	mara := node.Actor{User: "mara", Source: node.SourceAPI}
	cases := map[string]struct {
		before func(r *rack, n node.Node)
		status int
		says   []string
	}{
		"somebody else aborted it": {func(r *rack, n node.Node) {
			r.end(n.UUID, node.InspectFailed, node.Aborted, mara, noon.Add(-5*time.Second))
		}, 400, []string{"mara aborted this inspection at 14:02:06 UTC"}},
		"it had finished": {func(r *rack, n node.Node) {
			r.end(n.UUID, node.Manageable, node.Succeeded, node.System(), noon.Add(-3*time.Second))
		}, 400, []string{"The inspection finished 3 s ago; the node is “manageable”. Nothing was aborted."}},
		"it had timed out": {func(r *rack, n node.Node) {
			r.end(n.UUID, node.InspectFailed, node.TimedOut, node.System(), noon)
		}, 400, []string{"timed out at 14:02:11 UTC"}},
		"another inspection runs by now": {func(r *rack, n node.Node) {
			r.end(n.UUID, node.InspectFailed, node.Aborted, mara, noon)
			r.edit(func() { r.nodes[0].ProvisionState, r.nodes[0].AttemptID = node.InspectWait, "another" })
		}, 409, []string{"mara aborted this inspection", templates.T(t.Context(), "outcome.newer")}},
		"a worker holds the node": {func(r *rack, _ node.Node) {
			r.edit(func() { r.refuse = &node.Locked{Holder: "appliance-1"} })
		}, 409, []string{"held by appliance-1", "try again"}},
		"the interface cannot": {func(r *rack, _ node.Node) {
			r.edit(func() { r.refuse = &node.Unsupported{Driver: "redfish", Extension: "abort"} })
		}, 400, []string{"Driver redfish does not support abort"}},
		"the external inspector refuses": {func(r *rack, _ node.Node) {
			r.edit(func() {
				r.refuse = fmt.Errorf("inspector: %w", &node.Unreachable{What: "inspector at http://192.0.2.9", Err: errors.New("500 broken")})
			})
		}, 502, []string{"inspector at http://192.0.2.9: 500 broken", "still “inspect wait”"}},
		"the external inspector is silent": {func(r *rack, _ node.Node) {
			r.edit(func() {
				r.refuse = &node.Unreachable{What: "inspector", Timeout: true, Err: errors.New("no answer within 5 s")}
			})
		}, 504, []string{"not known whether"}},
		"something breaks": {func(r *rack, _ node.Node) {
			r.edit(func() { r.refuse = errors.New("disk of the database at /secret is full") })
		}, 500, []string{"Something went wrong", "req-"}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			r := newRack()
			n := r.add("r07-u21", node.InspectWait)
			s := serve(t, r, 0)
			tc.before(r, n)
			for _, headers := range []header{{}, script} {
				a := s.do("POST", "/ui/nodes/"+n.UUID+"/provision", abortForm(n.AttemptID), headers)
				if a.status != tc.status {
					t.Errorf("got %d, want %d", a.status, tc.status)
				}
				a.has(t, tc.says...)
				a.lacks(t, "/secret")
				if whole := strings.Contains(a.body, "<html"); whole == (len(headers) > 0) {
					t.Errorf("whole page: %v", whole)
				}
				if len(headers) > 0 {
					a.has(t, `role="alert"`)
				}
			}
		})
	}
}

func TestALinkThatWasDrawnForAnEarlierInspectionOffersNothing(t *testing.T) {
	r := newRack()
	n := r.add("r07-u21", node.InspectWait)
	s := serve(t, r, 0)
	old := n.AttemptID
	r.edit(func() { r.nodes[0].AttemptID = "another" })
	s.get("/ui/nodes/r07-u21/abort?attempt="+old).lacks(t, `action="/ui/nodes`, "data-action")
	s.get("/ui/nodes/r07-u21/abort?attempt="+old).has(t, templates.T(t.Context(), "outcome.newer"))
	r.edit(func() { r.nodes[0].AttemptID = old })
	r.end(n.UUID, node.InspectFailed, node.Aborted, node.Actor{User: "mara"}, noon)
	s.get("/ui/nodes/r07-u21/abort?attempt="+old).has(t, "mara aborted this inspection")
}

func TestHostileTextsAreText(t *testing.T) {
	const bad = `<script>alert("x")</script>`
	r := newRack()
	n := r.add("r07-u21", node.InspectFailed, func(n *node.Node) {
		n.LastError, n.Description = bad, bad
		n.Extra = map[string]any{"rack": bad}
		n.Properties = map[string]any{"capabilities": bad}
		n.DriverInfo = map[string]any{"redfish_address": "https://root:hunter2@192.0.2.10/" + bad}
	})
	r.inventory[n.UUID] = []byte(`{"cpu":{"model_name":"<script>alert(1)</script>"},"disks":[{"name":"<script>"},7],"interfaces":"<script>"}`)
	r.history = []node.History{{NodeUUID: n.UUID, At: noon, Event: bad, Reason: bad}}
	s := serve(t, r, 0)
	for _, path := range []string{"/ui", "/ui/nodes/r07-u21", "/ui?q=" + url.QueryEscape(bad), "/ui/nodes/" + url.PathEscape(bad), "/ui/nodes/r07-u21/abort"} {
		a := s.get(path)
		a.lacks(t, "<script>", "hunter2")
		if got := a.header.Get("Content-Security-Policy"); !strings.Contains(got, "script-src 'self'") {
			t.Errorf("%s: policy %q", path, got)
		}
	}
}

// G54
func TestPowerIsPendingUntilTheBMCConfirms(t *testing.T) {
	r := newRack()
	r.add("r07-u21", node.InspectFailed, func(n *node.Node) { n.TargetPowerState = node.PowerOff })
	s := serve(t, r, 0)
	s.get("/ui/nodes/r07-u21").has(t, "powering off…", "A power action is running.", "20 s ago")
	r.edit(func() { r.nodes[0].PowerState, r.nodes[0].TargetPowerState = node.PowerOff, "" })
	page := s.get("/ui/nodes/r07-u21")
	page.lacks(t, "powering off…")
	page.has(t, "The server is off.", "Power on")
}

func TestTheNodePageTellsWhatHappened(t *testing.T) {
	r := newRack()
	n := r.add("r07-u21", node.InspectWait)
	r.ports = []node.Port{{NodeUUID: n.UUID, Address: "52:54:00:aa:00:01", PXEEnabled: true}}
	r.inventory[n.UUID] = []byte(`{"cpu":{"count":24,"model_name":"Example Edge CPU 4310","architecture":"x86_64","socket_count":1},
		"memory":{"total":134917259264,"physical_mb":131072},"disks":[{"name":"/dev/nvme0n1","size":960197124096,"rotational":false,"tran":"nvme","serial":"S0EXAMPLE1"},null],
		"interfaces":[{"name":"eno1","mac_address":"52:54:00:aa:00:01","has_carrier":true,"speed_mbps":10000,"ipv4_address":"192.0.2.101"}],
		"system_vendor":{"manufacturer":"Example Corp","product_name":"EdgeBox 100","serial_number":"EB100-0001"},"bmc_address":"192.0.2.10","bmc_v6address":"::/0","hostname":17}`)
	old := node.Attempt{ID: "old", NodeUUID: n.UUID, Interface: "agent", Outcome: node.Aborted, Started: node.Actor{User: "jon"}, Ended: node.Actor{User: "mara"},
		StartedAt: noon.Add(-time.Hour), EndedAt: noon.Add(-59 * time.Minute), Reason: "wrong switch", CleanUp: node.CleanUpGivenUp, CleanUpTries: 7, CleanUpError: "BMC did not answer"}
	r.attempts["old"] = old
	r.history = []node.History{{NodeUUID: n.UUID, At: noon.Add(-time.Minute), Event: "Late report refused.", Count: 3, Actor: node.Actor{Source: node.SourceRamdisk}}}
	a := serve(t, r, 0).get("/ui/nodes/" + n.UUID)
	a.has(t, "<title>r07-u21 – inspect wait", "4 m 12 s", "in 25 m 48 s", "waiting for its report",
		"24 × Example Edge CPU 4310 (x86_64, 1 socket)", "128 GiB", "960 GB", "SSD nvme", "10 Gbit/s", "Example Corp EdgeBox 100", "EB100-0001",
		"by mara, after 1 m 00 s", "wrong switch", "given up after 7 tries: BMC did not answer", "Late report refused.", "3 times", "the ramdisk",
		"-d &#39;{&#34;target&#34;:&#34;abort&#34;}&#39;", "52:54:00:aa:00:01", `datetime="2026-11-30T14:01:11Z"`)
	a.lacks(t, "::/0")
}

func TestErrorsArePages(t *testing.T) {
	r := newRack()
	s := serve(t, r, 0)
	for path, want := range map[string]int{"/ui/nodes/nobody": 404, "/ui/nowhere": 404, "/ui/events": 400, "/ui/events?view=node&node=x": 400, "/ui/nodes/x/power?target=x": 400} {
		a := s.get(path)
		if a.status != want {
			t.Errorf("%s: %d, want %d", path, a.status, want)
		}
		a.has(t, "<html", "All nodes")
	}
	r.edit(func() { r.broken = errors.New("table nodes is gone") })
	a := s.get("/ui/nodes/x")
	if a.status != 500 {
		t.Errorf("got %d", a.status)
	}
	a.lacks(t, "table nodes")
	a.has(t, "req-")
}

func TestStaticFilesAreServed(t *testing.T) {
	s := serve(t, newRack(), 0)
	a := s.get(templates.AssetURL("live.js"))
	if a.status != 200 || !strings.Contains(a.header.Get("Cache-Control"), "immutable") || !strings.HasPrefix(a.header.Get("Content-Type"), "text/javascript") {
		t.Errorf("got %d, %v", a.status, a.header)
	}
	s.get("/ui").has(t, `<script type="module" src="`+templates.AssetURL("live.js"))
	if a := s.get("/ui/static/live.js"); a.status != 404 {
		t.Errorf("without hash: %d", a.status)
	}
}

// stream opens a page's event stream and gives its lines.
func (s *site) stream(path string, headers ...header) (*http.Response, *bufio.Scanner) {
	s.t.Helper()
	ctx, cancel := context.WithTimeout(s.t.Context(), 10*time.Second)
	s.t.Cleanup(cancel)
	req, _ := http.NewRequestWithContext(ctx, http.MethodGet, s.base+path, nil)
	for _, h := range headers {
		for k, v := range h {
			req.Header.Set(k, v)
		}
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		s.t.Fatal(err)
	}
	s.t.Cleanup(func() { _ = resp.Body.Close() })
	lines := bufio.NewScanner(resp.Body)
	lines.Buffer(nil, 1<<20)
	return resp, lines
}

// until reads lines up to one with part in it.
func until(t *testing.T, lines *bufio.Scanner, part string) string {
	t.Helper()
	for lines.Scan() {
		if strings.Contains(lines.Text(), part) {
			return lines.Text()
		}
	}
	t.Fatalf("the stream ended before %q: %v", part, lines.Err())
	return ""
}

// G17, G18
func TestOpenPagesFollowTheServer(t *testing.T) {
	r := newRack()
	n := r.add("r07-u21", node.InspectWait)
	s := serve(t, r, 0)
	page := s.get("/ui")
	after := regexp.MustCompile(`data-after="([^"]+)"`).FindStringSubmatch(page.body)[1]
	_, list := s.stream("/ui/events?view=list&after=" + after)
	_, reader := s.stream("/ui/events?view=list&after="+after, header{"X-Test-Role": "viewer"})
	_, one := s.stream("/ui/events?view=node&node=" + n.UUID + "&after=" + after)

	r.end(n.UUID, node.InspectFailed, node.Aborted, node.Actor{User: "mara"}, noon)
	r.tell(n.UUID)
	row := until(t, list, `id="row-`+n.UUID)
	if !strings.Contains(row, "inspect failed") || strings.Contains(row, "abort-") || !strings.Contains(row, "inspect-"+n.UUID) {
		t.Errorf("the row is %s", row)
	}
	until(t, list, `id="count-failed">1<`)
	if row := until(t, reader, `id="row-`+n.UUID); strings.Contains(row, "data-action") {
		t.Errorf("a viewer's row has buttons: %s", row)
	}
	if html := until(t, one, `id="node"`); !strings.Contains(html, "aborted") {
		t.Errorf("the page is %s", html)
	}

	r.edit(func() { r.nodes = nil })
	r.tell(n.UUID)
	until(t, list, "This node was deleted.")
	until(t, one, "This node was deleted")
}

func TestAStreamTooManyIsAReadable503(t *testing.T) {
	s := serve(t, newRack(), 1)
	s.stream("/ui/events?view=list&after=" + s.hub.Position())
	resp, _ := s.stream("/ui/events?view=list&after=" + s.hub.Position())
	if resp.StatusCode != http.StatusServiceUnavailable || resp.Header.Get("Retry-After") == "" {
		t.Errorf("got %d, %v", resp.StatusCode, resp.Header)
	}
}
