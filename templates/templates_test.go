package templates_test

import (
	"bytes"
	"context"
	"fmt"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/a-h/templ"

	"cagenut/node"
	"cagenut/templates"
)

func TestEveryStateHasASentenceAGroupAndALook(t *testing.T) {
	var grouped []node.State
	for _, g := range templates.Groups() {
		if templates.GroupLabel(t.Context(), g) == "" {
			t.Errorf("group %s has no label", g)
		}
		grouped = append(grouped, templates.GroupStates(g)...)
	}
	slices.Sort(grouped)
	if !slices.Equal(grouped, node.States()) {
		t.Errorf("the groups hold %v, want every state once", grouped)
	}
	for _, s := range node.States() {
		if templates.StateSentence(t.Context(), s) == "state."+strings.ReplaceAll(string(s), " ", "-") {
			t.Errorf("%q has no sentence", s)
		}
		if strings.HasSuffix(string(s), "failed") && templates.Look(s) != "failed" {
			t.Errorf("%q looks %s", s, templates.Look(s))
		}
	}
}

// G17: the button stands exactly where the table allows it, otherwise its reason does.
func TestButtonsAreThoseOfTheTable(t *testing.T) {
	for _, s := range node.States() {
		offered := append(templates.Verbs(s), templates.MissingVerbs(s)...)
		if len(offered) != 4 {
			t.Errorf("%q: %v, want four verbs", s, offered)
		}
		for _, v := range templates.Verbs(s) {
			if !slices.Contains(s.Verbs(), v) {
				t.Errorf("%q offers %s, which the table does not allow", s, v)
			}
		}
		for _, v := range templates.MissingVerbs(s) {
			if slices.Contains(s.Verbs(), v) {
				t.Errorf("%q lacks %s, which the table allows", s, v)
			}
			if templates.WhyNot(t.Context(), s, v) == "" {
				t.Errorf("%q gives no reason against %s", s, v)
			}
		}
	}
	if got := templates.WhyNot(t.Context(), node.Inspecting, node.Abort); !strings.Contains(got, "once the agent has been started") {
		t.Errorf("inspecting: %q does not say when Abort becomes possible", got)
	}
}

func TestEveryPartHasItsWords(t *testing.T) {
	for _, key := range templates.PartKeys() {
		if templates.PartLabel(t.Context(), key) == "" || templates.Lacking(t.Context(), key) == "" {
			t.Errorf("%s: %q, %q", key, templates.PartLabel(t.Context(), key), templates.Lacking(t.Context(), key))
		}
	}
	for _, h := range []node.Health{"", node.HealthOK, node.HealthWarning, node.HealthCritical, "Odd"} {
		if look, icon := templates.HealthLook(h); look == "" || icon == "" || templates.HealthWord(t.Context(), h) == "" || templates.HealthSentence(t.Context(), h, 0) == "" {
			t.Errorf("%q: %q, %q, %q, %q", h, look, icon, templates.HealthWord(t.Context(), h), templates.HealthSentence(t.Context(), h, 0))
		}
	}
}

func TestEveryPowerActionSaysWhatItDoes(t *testing.T) {
	said := map[string]bool{}
	for _, a := range []node.PowerAction{node.ActionOn, node.ActionOff, node.ActionReboot, node.ActionSoftOff, node.ActionSoftReboot} {
		label, effect := templates.PowerLabel(t.Context(), a), templates.PowerConsequence(t.Context(), a)
		if label == string(a) || said[label] || said[effect] || templates.Done(t.Context(), string(a)) == "" {
			t.Errorf("%s: %q, %q, %q", a, label, effect, templates.Done(t.Context(), string(a)))
		}
		said[label], said[effect] = true, true
	}
}

func TestEverySignOfLifeHasItsWords(t *testing.T) {
	said := map[string]bool{}
	for _, k := range []node.SignKind{
		node.SignPowerSent, node.SignPoweredOn, node.SignBootScript, node.SignBootFile, node.SignBootImage, node.SignLookup, node.SignHeartbeat, node.SignReport, node.SignHooks, node.SignDone,
	} {
		words := templates.SignWords(t.Context(), k)
		if strings.HasPrefix(words, "sign.") || said[words] {
			t.Errorf("%s is %q", k, words)
		}
		said[words] = true
	}
}

func TestEveryAttemptHasASentence(t *testing.T) {
	for _, a := range []node.Attempt{
		{State: node.RunStarting}, {State: node.RunWaiting}, {State: node.RunProcessing}, {State: node.RunReapplying, Outcome: node.Succeeded},
		{State: node.RunFinished, Outcome: node.Succeeded}, {State: node.RunError, Outcome: node.Failed}, {State: node.RunError, Outcome: node.Aborted}, {State: node.RunError, Outcome: node.TimedOut},
	} {
		if strings.HasPrefix(templates.RunSentence(t.Context(), a), "run.") {
			t.Errorf("%s, %s: no sentence", a.State, a.Outcome)
		}
	}
}

func TestStaticFilesMayBeCachedForEver(t *testing.T) {
	for _, name := range []string{"live.js", "cagenut.css", "icon.svg"} {
		url := templates.AssetURL(name)
		if !regexp.MustCompile(`^/ui/static/[a-z]+\.[0-9a-f]{12}\.[a-z]+$`).MatchString(url) {
			t.Errorf("%s is at %s, which names no content", name, url)
		}
		body, contentType, ok := templates.Asset(strings.TrimPrefix(url, templates.StaticPath))
		if !ok || len(body) == 0 || contentType == "" {
			t.Errorf("%s: found %v, %d bytes, type %q", url, ok, len(body), contentType)
		}
	}
	if _, _, ok := templates.Asset("live.js"); ok {
		t.Error("a name without hash must not be served as immutable")
	}
}

func TestAHostileNameIsNeverMarkup(t *testing.T) {
	const bad = `"><script>alert(1)</script><img src=x onerror=alert(1)>`
	n := templates.Node{Name: bad, Place: bad, Error: bad, Divergence: bad, Step: bad, Maintenance: bad, InMaintenance: true, Held: bad, CanAct: true}
	n.Facts = []templates.Fact{{Name: bad, Value: bad}}
	n.Ports = []templates.PortLine{{Address: bad, Network: bad}}
	n.Inventory = &templates.Inventory{System: n.Facts, Disks: []templates.DiskLine{{Name: bad, Model: bad}}, NICs: []templates.NICLine{{Name: bad, MAC: bad}}}
	n.Attempts = []templates.AttemptLine{{Reason: bad, Error: bad, CleanUp: bad, Notes: []string{bad}, StartedBy: bad}}
	n.History = []templates.HistoryLine{{Event: bad, Actor: bad, Reason: bad}}
	n.Curl = []string{bad}
	n.Frame = templates.Frame{Title: bad, User: bad, Notice: bad, Events: bad}
	row := templates.Row{UUID: "u", Name: bad, Href: "javascript:alert(1)", Place: bad, Detail: bad, Error: bad, Held: bad, Driver: bad}
	row.Actions = []templates.Action{{Label: bad, Names: bad, Post: "javascript:alert(1)", Value: bad}}
	row.Serial, row.SerialTwins, row.PlaceTwins, row.BMC, row.HealthKey, row.Health = bad, bad, bad, bad, bad, templates.State{Name: bad, Look: bad, Icon: bad}
	list := templates.List{Frame: n.Frame, Rows: []templates.Row{row}, Search: bad, Rack: bad, Racks: []templates.Option{{Value: bad, Label: bad}}, Total: bad, Clear: "javascript:alert(1)",
		Shown: templates.Shown{States: []string{bad}}, Chosen: []templates.Chosen{{Text: bad, Href: "javascript:alert(1)"}}, Keep: []templates.Hidden{{Name: bad, Value: bad}},
		States: []templates.StateCount{{State: row.Health, ID: bad, Count: bad, Href: "javascript:alert(1)"}}, Bar: templates.Selection{CanAct: true, Filter: bad, Count: 2}}
	confirm := templates.Confirm{Frame: n.Frame, Question: bad, Consequence: bad, Value: bad, Attempt: bad, Yes: bad}
	part := templates.Part{Frame: n.Frame, Name: bad, Place: bad, Key: bad, Label: bad, Href: "javascript:alert(1)", Lacks: bad, Again: "javascript:alert(1)"}
	part.Tabs, part.Actions = []templates.PartTab{{Key: bad, Label: bad, Href: "javascript:alert(1)"}}, row.Actions
	silent := templates.Part{Frame: n.Frame, Key: bad, Failed: bad}
	chip := templates.State{Name: bad, Look: bad, Icon: bad}
	parts := []templ.Component{
		templates.HealthOf(templates.Health{Overall: chip, Sentence: bad, Parts: []templates.PartHealth{{State: chip, Part: bad, Message: bad}}}),
		templates.SensorsOf(templates.Sensors{Summary: chip, Groups: []templates.SensorGroup{{Label: bad, Lines: []templates.SensorLine{{State: chip, Sensor: bad, Reading: bad, Limits: bad, OutOfLimits: true}}}}}),
		templates.EventLogOf(templates.EventLog{Lines: []templates.LogLine{{State: chip, Stamp: bad, Message: bad, Sensor: bad}}, More: "javascript:alert(1)", MoreText: bad, Cut: bad}, false),
		templates.FirmwareOf([]templates.FirmwareLine{{Component: bad, Version: bad, Released: bad}}), templates.SettingsOf(bad, n.Facts), templates.FactsOf(n.Facts),
		templates.MediaOf([]templates.DriveLine{{Kinds: bad, Content: bad, Note: bad, Mono: true}}), templates.LightOf(templates.Light{State: chip, Sentence: bad}), templates.SentenceOf(bad),
	}
	failure := templates.Failure{Frame: n.Frame, Headline: bad, Text: bad}
	const evil = "javascript:alert(1)"
	side := templates.InspectedAt{Stamp: bad, Href: evil, Attempt: bad}
	changed := templates.Difference{From: side, To: side, Identity: []string{bad}, Summary: bad, Href: evil, Groups: []templates.PartGroup{{Label: bad, More: bad, Parts: []templates.PartLine{
		{State: chip, Part: bad, Stayed: true, Fields: []templates.FieldLine{{Label: bad, Before: bad, After: bad}}}, {State: chip, Part: bad, Fields: []templates.FieldLine{{Label: bad, After: bad}}},
	}}}}
	far := templates.HowFar{Last: bad, Detail: bad, Advice: bad, Look: bad, Href: evil}
	n.Compared, n.HowFar, n.Inspections, n.Reapply, confirm.HowFar = &changed, far, evil, templates.Action{Label: bad, Confirm: evil}, far
	attempt := templates.Attempt{
		Frame: n.Frame, Name: bad, Href: evil, Place: bad, Line: n.Attempts[0], Sentence: bad, Step: bad, HowFar: far, Ended: true, Error: bad, Divergence: bad, Actions: row.Actions,
		Facts: n.Facts, Notes: []string{bad}, Signs: []templates.SignLine{{Words: bad, Look: bad, Icon: bad, Stamp: bad, After: bad, Detail: bad, Times: bad}}, Compared: &changed, Logs: evil, History: n.History,
	}
	kept := templates.Inspections{Frame: n.Frame, Name: bad, Href: evil, Self: evil, From: []templates.Option{{Value: bad, Label: bad}, {}}, Compared: &changed, Kept: []templates.KeptLine{{InspectedAt: side, Compare: evil}}, First: evil, Next: evil}
	logs := templates.Logs{Frame: n.Frame, Name: bad, Href: evil, Attempt: evil, Files: []templates.LogFile{{File: bad, Size: bad, Href: evil}}, Problem: bad, Archive: evil}
	logText := templates.LogText{Frame: n.Frame, Name: bad, File: bad, Text: bad, Cut: bad, Whole: evil, Archive: evil, Logs: evil}
	var b bytes.Buffer
	ctx := context.Background()
	for _, told := range parts {
		if err := templates.PartPage(templates.Part{Key: "health"}, told).Render(ctx, &b); err != nil {
			t.Fatal(err)
		}
	}
	for _, err := range []error{
		templates.PartPage(part, nil).Render(ctx, &b), templates.PartOf(silent, nil).Render(ctx, &b),
		templates.NodePage(n).Render(ctx, &b), templates.ListPage(list).Render(ctx, &b), templates.ConfirmPage(confirm).Render(ctx, &b),
		templates.AttemptPage(attempt).Render(ctx, &b), templates.InspectionsPage(kept).Render(ctx, &b), templates.LogsPage(logs).Render(ctx, &b), templates.LogTextPage(logText).Render(ctx, &b),
		templates.LogTextPage(templates.LogText{Frame: n.Frame, Problem: bad}).Render(ctx, &b), templates.FailurePage(failure).Render(ctx, &b), templates.FailureDialog(failure).Render(ctx, &b), templates.Said(bad).Render(ctx, &b),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	if strings.Contains(b.String(), "<script>") || strings.Contains(b.String(), "<img") {
		t.Error("markup of a name reached the page")
	}
	if strings.Contains(b.String(), "javascript:") {
		t.Error("an address that is a script reached the page")
	}
}

var colour = regexp.MustCompile(`--([a-z-]+): ?light-dark\((#[0-9a-f]{6}), ?(#[0-9a-f]{6})\)`)

// WCAG 2.2 AA: text 4.5, what is not text 3; our own bar for a chip's text is 7.
func TestColoursHaveContrast(t *testing.T) {
	css, _, _ := templates.Asset(strings.TrimPrefix(templates.AssetURL("cagenut.css"), templates.StaticPath))
	pairs := colour.FindAllStringSubmatch(string(css), -1)
	for i, scheme := range []string{"light", "dark"} {
		c := map[string]string{}
		for _, m := range pairs {
			c[m[1]] = m[2+i]
		}
		check := func(front, back string, least float64) {
			t.Helper()
			if r := contrast(t, c[front], c[back]); r < least {
				t.Errorf("%s: %s on %s is %.1f, want %.1f", scheme, front, back, r, least)
			}
		}
		for _, look := range []string{"idle", "working", "waiting", "good", "failed", "held"} {
			check(look, look+"-bg", 7)
		}
		for _, back := range []string{"page", "panel"} {
			for _, front := range []string{"text", "quiet", "link", "failed", "waiting"} {
				check(front, back, 4.5)
			}
			check("control", back, 3)
			check("focus", back, 3)
		}
		check("danger", "page", 4.5)
		check("on-danger", "danger", 4.5)
	}
}

func contrast(t *testing.T, a, b string) float64 {
	t.Helper()
	x, y := luminance(t, a), luminance(t, b)
	return (max(x, y) + 0.05) / (min(x, y) + 0.05)
}

func luminance(t *testing.T, hex string) float64 {
	t.Helper()
	if len(hex) != 7 {
		t.Fatalf("no such colour: %q", hex)
	}
	var sum float64
	for i, weight := range []float64{0.2126, 0.7152, 0.0722} {
		v, err := strconv.ParseUint(hex[1+2*i:3+2*i], 16, 8)
		if err != nil {
			t.Fatal(fmt.Errorf("colour %s: %w", hex, err))
		}
		f := float64(v) / 255
		if f <= 0.04045 {
			f /= 12.92
		} else {
			f = math.Pow((f+0.055)/1.055, 2.4)
		}
		sum += weight * f
	}
	return sum
}
