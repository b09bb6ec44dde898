package ui_test

import (
	"errors"
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

var viewer = header{"X-Test-Role": "viewer"}

// Reads never wait (design.md §5): the page of a node asks nobody, however often it is drawn.
func TestTheNodePageAsksNoBMC(t *testing.T) {
	r, n := sickRack()
	s := serve(t, r, 0)
	page := s.get("/ui/nodes/r07-u21")
	s.get("/ui")
	s.get("/ui/nodes/r07-u21/power?target=power+off")
	s.get("/ui/nodes/r07-u21/log/clear")
	s.get("/ui/nodes/r07-u21/media/eject")
	s.get("/ui/nodes/r07-u21/nmi")
	if asked := r.bmc.questions(); asked != 0 {
		t.Errorf("the BMC was asked %d times", asked)
	}
	for _, key := range templates.PartKeys() {
		page.has(t, `id="part-`+key+`" href="/ui/nodes/`+n.Name+"/"+key+`" data-part>`)
	}
	page.has(t, "It is asked at that moment, and not before.")
}

// What each part says of a server whose BMC tells everything.
func TestEveryPartTellsWhatTheBMCSays(t *testing.T) {
	for key, says := range map[string][]string{
		"health": {"Critical", "2 parts are not well, the worst first:", "PSU 2", "No input voltage.", "Fan 3", "Warning"},
		"sensors": {
			"3 of 7 out of limits", "47\u00a0°C", "Critical: above 42\u00a0°C", "critical above 42\u00a0°C", "11.25\u00a0V", "Warning: below 11.4\u00a0V", "Failure detected",
			"warning below 5\u00a0°C, above 38\u00a0°C", "8000\u00a0RPM", "54.5\u00a0°C", "no reading", "Closed",
		},
		"log":      {"Power supply 2 failed.", "2026-11-30 14:01:11", "no time: the BMC&#39;s clock was not set", "entry 30", "Show up to 100 entries", "Clear the log"},
		"light":    {"The light of this server is off.", `value="blinking"`, `aria-pressed="true"`},
		"boot":     {"Boots from the network (pxe) at the next start, and then as before."},
		"media":    {"CD, disk", "http://192.0.2.1/a.iso", "read-only", "floppy", "empty", "Eject"},
		"bmc":      {"Example Corp", "BMC 4", "4.11", "Redfish 1.17.0", "https://192.0.2.10", "2026-11-30 13:50:11 UTC, 12 m 00 s behind the appliance"},
		"firmware": {"BIOS", "2.19.1", "2026-03-01", "yes", "nic-1", "22.5"},
		"bios":     {"3 settings", "NumLock", "On", "Cores", "16", "SecureBoot", "false"},
	} {
		t.Run(key, func(t *testing.T) {
			r, n := sickRack()
			s := serve(t, r, 0)
			page, piece := s.get("/ui/nodes/r07-u21/"+key), s.get("/ui/nodes/r07-u21/"+key, script)
			for _, a := range []answer{page, piece} {
				if a.status != http.StatusOK {
					t.Errorf("got %d", a.status)
				}
				a.has(t, append(says, `aria-current="page"`, "as the BMC said", "0 s ago")...)
			}
			page.has(t, "<html", "<h1>"+templates.PartLabel(t.Context(), key)+"</h1>", `<a href="/ui/nodes/r07-u21">r07-u21</a>`, "<title>"+templates.PartLabel(t.Context(), key)+" – r07-u21")
			page.lacks(t, "data-part")
			piece.has(t, `<template><div id="part">`, `data-part`)
			piece.lacks(t, "<html")
			if asked := r.bmc.questions(); asked != 2 {
				t.Errorf("two looks asked the BMC %d times", asked)
			}
			if page = s.get("/ui/nodes/"+n.UUID+"/"+key, viewer); page.status != http.StatusOK {
				t.Errorf("a viewer got %d", page.status)
			}
			page.lacks(t, "data-action", "data-dialog")
		})
	}
}

func TestWhatIsOutOfLimitsComesFirst(t *testing.T) {
	r, _ := sickRack()
	body, _, _ := strings.Cut(serve(t, r, 0).get("/ui/nodes/r07-u21/sensors").body, "</main>")
	order := regexp.MustCompile(`(?:aria-label="([A-Z][a-z]+)">|<span>([A-Z][^<]*)</span>)`).FindAllStringSubmatch(body[strings.Index(body, "groups"):], -1)
	var got []string
	for _, m := range order {
		got = append(got, m[1]+m[2])
	}
	want := []string{"Temperature", "Inlet", "CPU 1", "Exhaust", "Power", "PSU 2", "Voltage", "P12V", "Fans", "Fan 1", "Other", "Lid"}
	if !slices.Equal(got, want) {
		t.Errorf("the order is %v\nwant         %v", got, want)
	}
	if marked := strings.Count(body, `<li class="out `); marked != 3 {
		t.Errorf("%d lines are marked, want 3", marked)
	}
}

func TestAPartThatABMCLacksIsSaidInWords(t *testing.T) {
	for _, key := range templates.PartKeys() {
		r, _ := sickRack()
		r.bmc.lacks = true
		s := serve(t, r, 0)
		for _, a := range []answer{s.get("/ui/nodes/r07-u21/" + key), s.get("/ui/nodes/r07-u21/"+key, script)} {
			if a.status != http.StatusOK || templates.Lacking(t.Context(), key) == "" {
				t.Errorf("%s: got %d", key, a.status)
			}
			a.has(t, templates.Lacking(t.Context(), key))
			a.lacks(t, `role="alert"`, "does not support", "data-action")
		}
	}
}

func TestABMCThatHasNothingToTellSaysSo(t *testing.T) {
	r := newRack()
	r.add("r07-u21", node.Manageable, func(n *node.Node) {
		n.Driver, n.Interfaces.Firmware, n.Interfaces.BIOS = node.DriverIPMI, "no-firmware", "no-bios"
	})
	s := serve(t, r, 0)
	for key, says := range map[string]string{
		"health": "does not sum up", "sensors": templates.T(t.Context(), "sensors.none"), "log": templates.T(t.Context(), "log.empty"), "light": "does not say how the light is",
		"boot": "Nothing is set", "media": templates.T(t.Context(), "media.none"),
		"firmware": "Firmware versions are not read from this node: its firmware interface is “no-firmware”.", "bios": "its bios interface is “no-bios”.",
	} {
		s.get("/ui/nodes/r07-u21/"+key).has(t, says)
	}
	s.get("/ui/nodes/r07-u21/log").lacks(t, templates.T(t.Context(), "log.clear"))
	s.get("/ui/nodes/r07-u21/media").lacks(t, templates.T(t.Context(), "media.eject"))
	s.get("/ui/nodes/r07-u21/light").lacks(t, "blinking") // IPMI has none
}

func TestABMCThatDoesNotAnswerIsASentenceAndAButton(t *testing.T) {
	for name, tc := range map[string]struct {
		silent error
		status int
		says   []string
	}{
		"silence": {&node.Unreachable{What: "BMC 192.0.2.10", Timeout: true, Err: errors.New("no answer within 10s")}, 504,
			[]string{"The BMC did not answer in time. BMC 192.0.2.10: no answer within 10s."}},
		"a bad answer": {&node.Unreachable{What: "BMC 192.0.2.10", Err: errors.New("503 busy"), Hint: "it may be starting"}, 502,
			[]string{"The BMC did not tell. BMC 192.0.2.10: 503 busy (it may be starting)."}},
		"a wrong password":     {errors.Join(errors.New("redfish at 192.0.2.10"), node.ErrCredentials), 502, []string{"Correct them in the node"}},
		"wrong settings":       {node.Invalidf("redfish_address is missing"), 400, []string{"redfish_address is missing."}},
		"something of its own": {errors.New("nil pointer at /secret"), 500, []string{"Something went wrong", "req-"}},
	} {
		t.Run(name, func(t *testing.T) {
			r, _ := sickRack()
			r.bmc.silent = tc.silent
			s := serve(t, r, 0)
			for _, a := range []answer{s.get("/ui/nodes/r07-u21/sensors"), s.get("/ui/nodes/r07-u21/sensors", script)} {
				if a.status != tc.status {
					t.Errorf("got %d, want %d", a.status, tc.status)
				}
				a.has(t, tc.says...)
				a.lacks(t, "/secret")
				if tc.status != 500 {
					a.has(t, `role="alert"`, `href="/ui/nodes/r07-u21/sensors"`, templates.T(t.Context(), "script.tryAgain"))
				}
			}
		})
	}
	if a := serve(t, newRack(), 0).get("/ui/nodes/nobody/health", script); a.status != http.StatusNotFound {
		t.Errorf("a node that is not there: %d", a.status)
	}
}

func TestTheLogIsReadInSteps(t *testing.T) {
	r, _ := sickRack()
	for range 1200 {
		r.bmc.log = append(r.bmc.log, node.LogEntry{Message: "older", At: noon.Add(-time.Hour)})
	}
	s := serve(t, r, 0)
	lines := func(a answer) int { return strings.Count(a.body, `<span class="when">`) }
	next := "/ui/nodes/r07-u21/log"
	for _, want := range []int{20, 100, 500, 1000} {
		a := s.get(next)
		if lines(a) != want {
			t.Fatalf("%s shows %d entries, want %d", next, lines(a), want)
		}
		more := regexp.MustCompile(`id="part-more" class="button" href="([^"]*)"`).FindStringSubmatch(a.body)
		if (more == nil) != (want == 1000) {
			t.Fatalf("%d entries: the link to more is %v", want, more)
		}
		if more != nil {
			next = more[1]
		}
	}
	s.get("/ui/nodes/r07-u21/log?entries=1000").has(t, "These are the newest 1000 entries. The BMC has more.", `href="/ui/nodes/r07-u21/log?entries=1000"`)
	for _, odd := range []string{"0", "-1", "all", ""} {
		if got := lines(s.get("/ui/nodes/r07-u21/log?entries=" + odd)); got != 20 {
			t.Errorf("?entries=%s shows %d", odd, got)
		}
	}
	if got := lines(s.get("/ui/nodes/r07-u21/log?entries=999999")); got != 1000 {
		t.Errorf("more than there may be: %d", got)
	}
}

// What can be told to a BMC: with and without a script, what follows, and who may.
func TestOrdersToABMC(t *testing.T) {
	for name, tc := range map[string]struct {
		path     string
		form     url.Values
		asks     []string // the page that asks back; nil for an order that is harmless
		done     string
		location string
		then     []string // what the script gets
	}{
		"the light": {"/light", url.Values{"state": {"blinking"}}, nil, "light blinking", "/ui/nodes/r07-u21/light?done=light-blinking",
			[]string{`<div id="part">`, "is blinking", `data-said="r07-u21: The light is blinking.`}},
		"the log": {"/log/clear", url.Values{}, []string{"Clear the event log of r07-u21 (rack R07, U21)?", "cannot be brought back", "Keep it</a>"}, "clear log", "/ui/nodes/r07-u21/log?done=log-cleared",
			[]string{`<div id="part">`, "The log is empty.", `data-said="r07-u21: The event log is cleared.`}},
		"the media": {"/media/eject", url.Values{}, []string{"Eject the virtual media of r07-u21 (rack R07, U21)?", "stops doing so", "Leave it in</a>"}, "eject", "/ui/nodes/r07-u21/media?done=ejected",
			[]string{`<div id="part">`, "empty", `data-said="r07-u21: The virtual drives are emptied.`}},
		"an interrupt": {"/nmi", url.Values{}, []string{"Inject an NMI into r07-u21 (rack R07, U21)?", "what runs on it is lost", "Leave it as it is</a>"}, "nmi", "/ui/nodes/r07-u21?done=nmi",
			[]string{`<div id="node"`, `<div id="more"`, `data-said="r07-u21: The NMI is injected.`}},
	} {
		t.Run(name, func(t *testing.T) {
			r, _ := sickRack()
			s := serve(t, r, 0)
			path := "/ui/nodes/r07-u21" + tc.path
			for _, a := range []answer{s.get(path, viewer), s.do("POST", path, tc.form, viewer), s.do("POST", path, tc.form, viewer, script)} {
				if tc.asks == nil && a.status == http.StatusOK {
					continue // a viewer may look at the light
				}
				if a.status != http.StatusForbidden {
					t.Errorf("a viewer got %d", a.status)
				}
				a.has(t, templates.T(t.Context(), "failure.viewer"))
			}
			if tc.asks != nil {
				s.get(path).has(t, append(tc.asks, "<html")...)
				s.get(path, script).has(t, tc.asks...)
				s.get(path, script).lacks(t, "<html")
			}
			if done := r.bmc.told(); len(done) != 0 {
				t.Fatalf("before anybody asked for it: %v", done)
			}
			if a := s.do("POST", path, tc.form); a.status != http.StatusSeeOther || a.location != tc.location {
				t.Errorf("without a script: %d to %q", a.status, a.location)
			}
			s.get(tc.location).has(t, `id="notice"`)
			a := s.do("POST", path, tc.form, script)
			if a.status != http.StatusOK {
				t.Errorf("with a script: %d", a.status)
			}
			a.has(t, tc.then...)
			if done := r.bmc.told(); !slices.Equal(done, []string{tc.done, tc.done}) {
				t.Errorf("the BMC was told %v", done)
			}
			r.edit(func() {
				if by := r.actors[0]; by.User != "jon" || by.Source != node.SourceUI || by.RequestID == "" {
					t.Errorf("the actor is %+v", by)
				}
			})
		})
	}
}

func TestARefusedOrderSaysWhatIsTrueNow(t *testing.T) {
	for name, tc := range map[string]struct {
		refuse error
		status int
		says   string
	}{
		"a worker holds the node": {&node.Locked{Holder: "appliance-1"}, 409, "held by appliance-1"},
		"the BMC cannot":          {&node.Unsupported{Driver: "ipmi", Extension: "clear event log"}, 400, "cannot do this"},
		"the BMC is silent":       {&node.Unreachable{What: "BMC 192.0.2.10", Timeout: true, Err: errors.New("no answer")}, 504, "It is not known whether it took the request"},
		"a wrong password":        {node.ErrCredentials, 502, "refuses the user name or the password"},
	} {
		t.Run(name, func(t *testing.T) {
			r, _ := sickRack()
			r.refuse = tc.refuse
			s := serve(t, r, 0)
			for _, h := range []header{{}, script} {
				a := s.do("POST", "/ui/nodes/r07-u21/log/clear", url.Values{}, h)
				if a.status != tc.status {
					t.Errorf("got %d, want %d", a.status, tc.status)
				}
				a.has(t, tc.says, "Clear the log: not done")
			}
		})
	}
	r, _ := sickRack()
	s := serve(t, r, 0)
	if a := s.do("POST", "/ui/nodes/r07-u21/light", url.Values{"state": {"disco"}}); a.status != http.StatusBadRequest {
		t.Errorf("a state that no light has: %d", a.status)
	}
	t.Log("an order that was carried out is no failure, although the BMC falls silent afterwards")
	r.bmc.silent = &node.Unreachable{What: "BMC 192.0.2.10", Timeout: true, Err: errors.New("no answer")}
	a := s.do("POST", "/ui/nodes/r07-u21/light", url.Values{"state": {"on"}}, script)
	if a.status != http.StatusOK {
		t.Errorf("got %d", a.status)
	}
	a.has(t, "The light is switched on.", "The BMC did not answer in time.")
}

// G54
func TestPowerButtonsAreThoseThatMakeSense(t *testing.T) {
	all := []string{"power-on-", "power-off-", "rebooting-", "soft-power-off-", "soft-rebooting-", "nmi-"}
	for name, tc := range map[string]struct {
		change func(*node.Node)
		offers []string
		says   string
	}{
		"on":                    {func(*node.Node) {}, all[1:], "The server is on."},
		"off":                   {func(n *node.Node) { n.PowerState = node.PowerOff }, all[:1], "The server is off."},
		"not known":             {func(n *node.Node) { n.PowerState = "" }, all, "unknown"},
		"on its way":            {func(n *node.Node) { n.TargetPowerState = node.PowerOff }, all[5:], "powering off…"},
		"must stay on":          {func(n *node.Node) { n.DisablePowerOff = true }, []string{"rebooting-", "soft-rebooting-", "nmi-"}, "disable_power_off"},
		"while it is cleaned":   {func(n *node.Node) { n.ProvisionState = node.Cleaning }, all[5:], "The node is being cleaned."},
		"off, and on the way":   {func(n *node.Node) { n.PowerState, n.TargetPowerState = node.PowerOff, node.PowerOn }, nil, "powering on…"},
		"an error of its own":   {func(n *node.Node) { n.PowerState = node.PowerError }, all, "error"},
		"on, of a viewer's eye": {func(n *node.Node) {}, nil, "may look"},
	} {
		t.Run(name, func(t *testing.T) {
			r, n := sickRack(tc.change)
			role := header{}
			if tc.says == "may look" {
				role = viewer
			}
			a := serve(t, r, 0).get("/ui/nodes/r07-u21", role)
			a.has(t, tc.says)
			for _, id := range all {
				if got := strings.Contains(a.body, `id="`+id+n.UUID); got != slices.Contains(tc.offers, id) {
					t.Errorf("offers %s%v", id, got)
				}
			}
		})
	}
	r, _ := sickRack()
	s := serve(t, r, 0)
	for action, says := range map[string]string{
		"power off": "as if it were unplugged", "rebooting": "off and on again at once", "soft power off": "asked to shut down, and may refuse", "soft rebooting": "asked to restart, and may refuse",
	} {
		s.get("/ui/nodes/r07-u21/power?target="+url.QueryEscape(action)).has(t, says, `value="`+action+`"`, "Leave it as it is</a>")
	}
	if a := s.do("POST", "/ui/nodes/r07-u21/power", url.Values{"target": {"soft rebooting"}}, script); a.status != http.StatusOK {
		t.Errorf("soft reboot: %d", a.status)
	}
	r.edit(func() {
		if len(r.powers) != 1 || r.powers[0].Target != "soft rebooting" {
			t.Errorf("the conductor was asked %+v", r.powers)
		}
	})
}

// G54
func TestASilentBMCIsSeenInTheListAndOnThePage(t *testing.T) {
	r, n := sickRack(func(n *node.Node) {
		n.BMCUnreachableSince, n.BMCError = noon.Add(-4*time.Minute), "BMC 192.0.2.10: <b>no answer</b> within 10s"
	})
	s := serve(t, r, 0)
	row := `<small class="problem">BMC unreachable for <time datetime="2026-11-30T13:58:11Z"`
	s.get("/ui").has(t, row, "4 m 00 s")
	page := s.get("/ui/nodes/r07-u21")
	page.has(t, "BMC unreachable since 13:58:11 UTC, for", "4 m 00 s", "&lt;b&gt;no answer&lt;/b&gt; within 10s", templates.T(t.Context(), "node.silent.then"))
	page.lacks(t, "<b>")
	r.edit(func() { r.nodes[0].BMCUnreachableSince = noon.Add(-26 * time.Hour) })
	s.get("/ui/nodes/r07-u21").has(t, "BMC unreachable since 2026-11-29 12:02 UTC, for", "1 d 2 h")

	t.Log("an open page and an open list see the end of it")
	_, one := s.stream("/ui/events?view=node&node=" + n.UUID + "&after=" + s.hub.Position())
	_, list := s.stream("/ui/events?view=list&after=" + s.hub.Position())
	r.edit(func() { r.nodes[0].BMCUnreachableSince, r.nodes[0].BMCError = time.Time{}, "" })
	r.tell(n.UUID)
	for view, got := range map[string]string{"page": until(t, one, `id="node"`), "list": until(t, list, `id="row-`)} {
		if strings.Contains(got, "BMC unreachable") {
			t.Errorf("the %s still says so: %s", view, got)
		}
	}
}

func TestHostileWordsOfABMCAreText(t *testing.T) {
	const bad = "<script>alert(1)</script>\x00\u202e🙂"
	r, _ := sickRack()
	long := strings.Repeat("W", 5000)
	r.bmc.health.Parts = []node.PartHealth{{Part: bad, Message: bad + long}}
	r.bmc.sensors = []node.Sensor{{Name: bad, Kind: bad, Unit: bad, Reading: number(1e300), State: bad, Health: bad}, {Kind: "ä", Reading: number(-0.0001)}}
	r.bmc.log = []node.LogEntry{{ID: bad, Message: bad, Sensor: bad, Severity: bad, At: time.Unix(1<<40, 0)}}
	r.bmc.light, r.bmc.boot = bad, node.Boot{Device: bad, Persistent: true}
	r.bmc.drives = []node.VirtualDrive{{ID: bad, Kinds: []node.MediumKind{bad}, URL: bad, Inserted: true}}
	r.bmc.identity = node.BMCIdentity{Manufacturer: bad, Model: bad, Firmware: bad, Time: time.Unix(-1<<40, 0)}
	r.bmc.firmware = []node.Firmware{{Component: bad, Version: bad, Released: bad}}
	r.bmc.bios = map[string]any{bad: []any{bad, nil}, "deep": map[string]any{"a": bad}, "none": nil}
	s := serve(t, r, 0)
	for _, key := range templates.PartKeys() {
		for _, h := range []header{{}, script} {
			a := s.get("/ui/nodes/r07-u21/"+key, h)
			if a.status != http.StatusOK {
				t.Errorf("%s: %d", key, a.status)
			}
			a.lacks(t, "<script>alert")
		}
	}
}
