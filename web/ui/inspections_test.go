package ui_test

import (
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"testing"
	"time"

	"cagenut/node"
)

func came(kind, name string, fields ...node.FieldChange) node.PartChange {
	return node.PartChange{Kind: kind, Name: name, Change: node.PartAdded, Fields: fields}
}

func went(kind, name string, fields ...node.FieldChange) node.PartChange {
	return node.PartChange{Kind: kind, Name: name, Change: node.PartRemoved, Fields: fields}
}

func turned(kind, name string, fields ...node.FieldChange) node.PartChange {
	return node.PartChange{Kind: kind, Name: name, Change: node.PartChanged, Fields: fields}
}

func field(name, before, after string) node.FieldChange {
	return node.FieldChange{Name: name, Before: before, After: after}
}

// differ says what changed between the last two inspections of a rack's server.
func (r *rack) differ(parts []node.PartChange, identity ...string) {
	r.edit(func() {
		r.kept.differs = map[[2]string]node.Difference{{second, newest}: {Parts: parts, Identity: identity}}
	})
}

// Issue 5, point 7: what changed, at a glance.
func TestADifferenceInOneLine(t *testing.T) {
	const nic = "network interface"
	for says, parts := range map[string][]node.PartChange{
		"2 disks replaced, ":                        {went("disk", "S1"), came("disk", "S2"), went("disk", "S3"), came("disk", "S4"), turned(nic, "a", field("link", "yes", "no"))},
		"1 disk replaced, 1 disk removed":           {went("disk", "S1"), came("disk", "S2"), went("disk", "S3")},
		"1 link lost":                               {turned(nic, "a", field("link", "yes", "no"), field("Mbit/s", "10000", ""), field("switch", "sw01", ""), field("switch port", "7", ""))},
		"2 links came up":                           {turned(nic, "a", field("link", "no", "yes")), turned(nic, "b", field("link", "no", "yes"))},
		"1 cable moved to another switch port":      {turned(nic, "a", field("switch port", "7", "8"))},
		"1 network interface changed, 1 link lost":  {turned(nic, "a", field("link", "yes", "no"), field("name", "eno1", "eth0"))},
		"1 network interface changed":               {turned(nic, "a", field("switch port", "", "7"))},
		"memory changed (size)":                     {turned("memory", "", field("size in MiB", "131072", "65536"))},
		"system changed (a, b, c, …)":               {turned("system", "", field("a", "", "1"), field("b", "", "1"), field("c", "", "1"), field("d", "", "1"))},
		"BMC added, 1 PCI device added":             {came("BMC", ""), came("PCI device", "0000:ca:00.0")},
		"3 flux capacitors added":                   {came("flux capacitor", "1"), came("flux capacitor", "2"), came("flux capacitor", "3")},
		"No difference: the same parts as before.":  nil,
		"1 memory module changed, 2 disks added":    {turned("memory module", "bank:0", field("serial", "a", "b")), came("disk", "S1"), came("disk", "S2")},
		"processors removed, 1 memory module added": {went("processors", ""), came("memory module", "bank:1")},
	} {
		t.Run(says, func(t *testing.T) {
			r, _ := inspectedRack()
			r.differ(parts)
			s := serve(t, r, 0)
			for _, path := range []string{"/ui/nodes/r07-u21", "/ui/nodes/r07-u21/inspections", "/ui/nodes/r07-u21/attempts/" + newest} {
				s.get(path).has(t, says)
			}
		})
	}
}

func TestADifferenceInFull(t *testing.T) {
	r, _ := inspectedRack()
	r.differ([]node.PartChange{
		turned("memory", "", field("size in MiB", "131072", "65536")),
		went("disk", "S0EXAMPLE2", field("bytes", "960197124096", ""), field("rotating", "no", "")),
		turned("disk", "S0EXAMPLE3", field("bytes", "960197124096", "960197124097"), field("model", "", "EXAMPLE 960")),
		turned("network interface", "52:54:00:aa:00:01", field("link", "yes", "no")),
	})
	s := serve(t, r, 0)
	a := s.get("/ui/nodes/r07-u21/inspections")
	text := regexp.MustCompile(`<[^>]*>|\s+`).ReplaceAllString(a.body, " ")
	text = regexp.MustCompile(` +`).ReplaceAllString(text, " ")
	for _, says := range []string{
		"From 2026-11-30 12:02:11 UTC to 2026-11-30 13:02:11 UTC", "Memory ≠ changed size before: 128 GiB → , after: 64 GiB", "Disks − removed S0EXAMPLE2 size 960 GB rotating no",
		"S0EXAMPLE3 bytes before: 960197124096 → , after: 960197124097", "model before: not told → , after: EXAMPLE 960", "Network interface ≠ changed 52:54:00:aa:00:01 link before: up → , after: down",
	} {
		if !strings.Contains(text, says) {
			t.Errorf("the page lacks %q:\n%s", says, text)
		}
	}
	for _, id := range []string{newest, second, oldest} {
		a.has(t, `href="/ui/nodes/r07-u21/attempts/`+id)
	}
	a.has(t, `<option value="`+newest+`" selected>2026-11-30 13:02:11 UTC, the newest`, `<option value="`+second+`" selected>`, `method="get"`)

	t.Log("thousands of parts of a hostile report are counted, and not drawn")
	var many []node.PartChange
	for i := range 1024 {
		many = append(many, came("PCI device", fmt.Sprint(i)))
	}
	r.differ(many)
	a = s.get("/ui/nodes/r07-u21/inspections")
	a.has(t, "1024 PCI devices added", "and 924 more, which the API tells")
	if n := strings.Count(a.body, "<strong><code>"); n != 100 {
		t.Errorf("%d parts are drawn", n)
	}
}

func TestAnyTwoInspectionsAreCompared(t *testing.T) {
	r, n := inspectedRack()
	r.edit(func() {
		r.kept.differs = map[[2]string]node.Difference{
			{oldest, newest}: {Parts: []node.PartChange{came("disk", "S9")}}, {oldest, second}: {Parts: []node.PartChange{came("disk", "S8")}},
		}
	})
	s := serve(t, r, 0)
	page := "/ui/nodes/r07-u21/inspections"
	for query, says := range map[string]string{
		"?from=" + oldest + "&to=" + newest: "S9",
		"?from=" + newest + "&to=" + oldest: "S9", // the earlier first, whatever was chosen
		"?to=" + second:                     "S8",
		"?from=" + oldest:                   "S9",
		"?from=" + oldest + "&to=":          "S9",
		"":                                  english("difference.same"),
		"?from=" + newest:                   english("difference.twice"),
		"?from=" + second + "&to=" + second: english("difference.twice"),
		"?to=" + oldest:                     english("difference.first"),
		"?to=" + node.NewUUID():             english("difference.noresults"),
		"?to=" + url.QueryEscape("<script>alert(1)</script>"): english("difference.noresults"),
	} {
		a := s.get(page + query)
		if a.status != http.StatusOK {
			t.Errorf("%s: %d", query, a.status)
		}
		a.has(t, says)
		a.lacks(t, "<script>alert")
	}
	if a := s.get(page + "?from=" + node.NewUUID()); a.status != http.StatusNotFound {
		t.Errorf("an inspection that is not kept: %d", a.status)
	}
	r.edit(func() { r.kept.spoilt = errors.New("the inventory of attempt /secret is no JSON") })
	for _, path := range []string{page, "/ui/nodes/r07-u21", "/ui/nodes/r07-u21/attempts/" + newest} {
		a := s.get(path)
		if a.status != http.StatusOK {
			t.Errorf("%s: %d", path, a.status)
		}
		a.lacks(t, "/secret")
	}
	s.get(page).has(t, english("difference.failed"))

	r.edit(func() { r.kept.spoilt, r.kept.inventories = nil, r.kept.inventories[:1] })
	s.get(page).has(t, english("kept.one"))
	s.get(page).lacks(t, `<form class="search"`)
	r.edit(func() { r.kept.inventories = nil })
	s.get(page).has(t, english("kept.none"))
	s.get("/ui/nodes/"+n.UUID).lacks(t, "other-machine", english("difference.since"))
}

func TestTheListOfInspectionsIsPaged(t *testing.T) {
	r, n := inspectedRack()
	r.edit(func() {
		r.kept.inventories = nil
		for i := range 145 {
			r.kept.inventories = append(r.kept.inventories, node.Inventory{NodeUUID: n.UUID, AttemptID: fmt.Sprintf("%08d-0000-4000-8000-000000000000", i), CreatedAt: noon.Add(-time.Duration(i) * time.Hour)})
		}
	})
	s := serve(t, r, 0)
	seen, next := 0, "/ui/nodes/r07-u21/inspections"
	for next != "" {
		a := s.get(next)
		seen += strings.Count(a.body, ">The inspection<")
		if options := strings.Count(a.body, "<option"); options > 2*keptOffered {
			t.Errorf("%d options", options)
		}
		link := regexp.MustCompile(`href="([^"]*)" rel="next"`).FindStringSubmatch(a.body)
		if next = ""; link != nil {
			next = link[1]
		}
	}
	if seen != 145 {
		t.Errorf("%d inspections were seen, want 145", seen)
	}
	old := r.kept.inventories[140].AttemptID
	s.get("/ui/nodes/r07-u21/inspections?to="+old).has(t, `<option value="`+old+`" selected>`)
}

const keptOffered = 100

// Issue 5, point 7; G52: an alert where it is another machine, in words.
func TestAnotherMachineIsAnAlert(t *testing.T) {
	r, _ := inspectedRack()
	r.differ([]node.PartChange{turned("system", "", field("serial number", "EB-1", "EB-2"))}, `The serial number was "EB-1" and is "EB-2" now.`)
	s := serve(t, r, 0)
	difference := `/ui/nodes/r07-u21/inspections?from=` + second + `&amp;to=` + newest
	for _, path := range []string{"/ui/nodes/r07-u21", "/ui/nodes/r07-u21/inspections", "/ui/nodes/r07-u21/attempts/" + newest} {
		a := s.get(path, viewer)
		a.has(t, english("difference.othermachine"), `The serial number was &#34;EB-1&#34; and is &#34;EB-2&#34; now.`)
		if !strings.HasSuffix(path, "inspections") {
			a.has(t, `href="`+difference)
		}
	}
	s.get("/ui/nodes/r07-u21/attempts/"+second).lacks(t, english("difference.othermachine"))
	r.differ(nil)
	s.get("/ui/nodes/r07-u21").lacks(t, english("difference.othermachine"))
}

func TestHostileReportsAreText(t *testing.T) {
	const bad = "<script>alert(1)</script>\x00\u202e🙂"
	r, n := inspectedRack()
	long := strings.Repeat("W", 5000)
	r.differ([]node.PartChange{
		{Kind: bad, Name: bad + long, Change: bad, Fields: []node.FieldChange{field(bad, bad, long)}}, came("disk", bad, field("bytes", "", "99999999999999999999")), turned("memory", "", field("size in MiB", "-1", "9223372036854775807")),
	}, bad)
	r.edit(func() {
		a := r.attempts[newest]
		a.Notes, a.Error, a.Reason, a.Divergence, a.Step, a.CleanUpError, a.Interface, a.Proof = []string{bad, long}, bad, bad, bad, bad, bad, bad, bad
		a.Started.User, a.Ended.Address, a.CleanUp = bad, bad, node.CleanUpGivenUp
		r.attempts[newest] = a
		r.kept.signs = map[string][]node.Sign{newest: {{Kind: bad, Detail: bad + long, Times: 1 << 30, FirstAt: noon, LastAt: time.Unix(1<<40, 0)}, {Kind: node.SignLookup, Detail: bad}}}
		r.kept.advice = map[string]string{newest: bad}
		r.kept.files = map[string]map[string]string{newest: {bad: bad}}
		r.history = []node.History{{NodeUUID: n.UUID, AttemptID: newest, Event: bad, At: noon}}
	})
	s := serve(t, r, 0)
	for _, path := range []string{"", "/inspections", "/attempts/" + newest, "/attempts/" + newest + "/logs", "/attempts/" + newest + "/logs/file?name=" + url.QueryEscape(bad), "/reapply"} {
		a := s.get("/ui/nodes/r07-u21" + path)
		if a.status != http.StatusOK {
			t.Errorf("%s: %d", path, a.status)
		}
		a.lacks(t, "<script>alert")
	}
}
