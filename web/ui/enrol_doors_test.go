package ui_test

import (
	"net/url"
	"regexp"
	"strings"
	"testing"

	"cagenut/conductor"
	"cagenut/node"
)

// G56: what a viewer may not see on a page comes to them by no stream either.
func TestViewersHearNothingOfSearchesAndEnrolments(t *testing.T) {
	o := openOffice(t)
	ended(o, found("192.0.2.1"))
	run := node.NewUUID()
	o.change(func() {
		o.run = conductor.EnrolRun{ID: run, Total: 2, StartedAt: noon, Results: []conductor.EnrolResult{{Label: "2: 192.0.2.2", Refused: "It is there."}}}
	})
	for id, secret := range map[string]string{o.search.ID: "192.0.2.1", run: "192.0.2.2"} {
		at := "/ui/events?view=run&run=" + id + "&after=" + o.hub.Position()
		_, acts := o.stream(at)
		_, looks := o.stream(at, header{"X-Test-Role": "viewer"})
		o.rack.notices <- node.Notice{NodeUUID: id, Run: true}
		until(t, acts, secret)
		o.rack.notices <- node.Notice{} // something was dropped: every page is told to begin anew
		for looks.Scan() {
			if strings.Contains(looks.Text(), secret) {
				t.Errorf("a viewer hears %q", looks.Text())
			}
			if strings.Contains(looks.Text(), "event: ") && !strings.Contains(looks.Text(), "event: fragment") {
				break
			}
		}
	}
}

func TestWhoComesBackToAnAddressOfTheEnrolmentFindsItsPage(t *testing.T) {
	o := openOffice(t)
	id := node.NewUUID()
	for from, to := range map[string]string{
		"/ui/enrol/test": "/ui/enrol", "/ui/enrol/search/" + id + "/cancel": "/ui/enrol/search/" + id, "/ui/enrol/search/" + id + "/enrol": "/ui/enrol/search/" + id,
	} {
		if a := o.get(from); a.status != 303 || a.location != to {
			t.Errorf("%s: %d to %q", from, a.status, a.location)
		}
		if a := o.get(from, header{"X-Test-Role": "viewer"}); a.status != 403 {
			t.Errorf("%s: a viewer gets %d", from, a.status)
		}
	}
}

func TestOfTwoPressesAtOnceBothLeadToTheNode(t *testing.T) {
	o := openOffice(t)
	form := filled()
	o.change(func() {
		o.meanwhile = func() {
			o.rack.edit(func() {
				o.rack.nodes = append(o.rack.nodes, node.Node{UUID: form.Get("uuid"), Name: "r07-u21", Driver: node.DriverRedfish})
			})
		}
		o.refuse = &node.Exists{Text: "A node with name r07-u21 already exists.", Name: true}
	})
	if a := o.do("POST", "/ui/enrol", form); a.status != 303 || a.location != "/ui/nodes/"+form.Get("uuid")+"?done=enrolled" {
		t.Errorf("%d to %q", a.status, a.location)
	}
}

func TestFormsOfTheEnrolmentAreSentOnceHoweverOftenOnePresses(t *testing.T) {
	o := openOffice(t)
	list := o.upload("/ui/enrol/import", "name,bmc_address\nr07-u01,192.0.2.1\n", nil)
	forms := regexp.MustCompile(`<form [^>]*method="post" action="(/ui/enrol[^"]*)"[^>]*>`)
	for path, most := range map[string]int{"/ui/enrol": 1, "/ui/enrol/import": 1, list.location: 1, ended(o, found("192.0.2.1")): 2} {
		all := forms.FindAllStringSubmatch(o.get(path).body, -1)
		if len(all) != most {
			t.Errorf("%s has %d forms, want %d", path, len(all), most)
		}
		for _, form := range all {
			if !strings.Contains(form[0], " data-once") {
				t.Errorf("%s: %s", path, form[0])
			}
		}
	}
}

func TestUnitsThatCountUpStayInTheRack(t *testing.T) {
	o := openOffice(t)
	at := ended(o, found("192.0.2.1"), found("192.0.2.2"))
	form := url.Values{"find": {"https://192.0.2.1", "https://192.0.2.2"}, "rack": {"R7"}, "unit": {"100"}}
	if a := o.do("POST", at+"/enrol", form); a.status != 400 || !wrong(a, "unit") || len(o.lines) != 0 {
		t.Errorf("two servers from the highest unit on: %d, %d lines", a.status, len(o.lines))
	}
	form.Set("unit", "99")
	o.change(func() { o.lines = nil })
	if a := o.do("POST", at+"/enrol", form); a.status != 303 || len(o.lines) != 2 {
		t.Errorf("the two highest units: %d, %d lines", a.status, len(o.lines))
	}
}
