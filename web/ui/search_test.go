package ui_test

import (
	"net/netip"
	"net/url"
	"strings"
	"testing"

	"cagenut/conductor"
	"cagenut/node"
)

func found(address string, change ...func(*conductor.Find)) conductor.Find {
	f := conductor.Find{FoundBMC: node.FoundBMC{Address: netip.MustParseAddr(address), Redfish: &node.FoundRedfish{URL: "https://" + address, Version: "1.17.0", Vendor: "Acme"}}}
	for _, c := range change {
		c(&f)
	}
	return f
}

func ended(o *office, finds ...conductor.Find) string {
	o.search = conductor.Search{ID: node.NewUUID(), Where: "192.0.2.0/24", StartedAt: noon, EndedAt: noon, Total: 254, Asked: 254, Found: finds, Ports: node.SearchPorts{Redfish: []node.RedfishPort{{Port: 443}}, IPMI: []int{623}}}
	return "/ui/enrol/search/" + o.search.ID
}

func TestASearchBeginsWithWhatThePageSays(t *testing.T) {
	o := openOffice(t)
	o.get("/ui/enrol/search").has(t, `name="redfish" value="443"`, `name="ipmi" value="623"`, "No user or password is sent")
	a := o.do("POST", "/ui/enrol/search", url.Values{"where": {"192.0.2.10-12"}, "redfish": {"443, 8000/http"}, "ipmi": {""}})
	if a.status != 303 || len(o.begun) != 1 || len(o.begun[0].Addresses) != 3 || len(o.begun[0].Ports.Redfish) != 2 || len(o.begun[0].Ports.IPMI) != 0 {
		t.Fatalf("%d: %+v", a.status, o.begun)
	}
	page := o.get(a.location)
	page.has(t, "0 of 3 addresses asked", "Stop searching", "/ui/events?view=run&amp;run="+o.search.ID, `value="192.0.2.10-12"`)
	if a := o.do("POST", a.location+"/cancel", url.Values{}); a.status != 303 || o.stopped != 1 {
		t.Errorf("stop: %d, %d times", a.status, o.stopped)
	}
	o.get(a.location).has(t, "Stopped: 0 of 3")
}

func TestASearchThatCannotBeginSaysWhyAndKeepsWhatWasTyped(t *testing.T) {
	for name, c := range map[string]struct {
		form   url.Values
		refuse error
		want   string
		status int
	}{
		"no address":         {form: url.Values{"where": {"<b>"}, "redfish": {"443"}}, want: "&lt;b&gt;", status: 400},
		"too many":           {form: url.Values{"where": {"10.0.0.0/8"}, "redfish": {"443"}}, want: "more than 4096", status: 400},
		"where secrets are":  {form: url.Values{"where": {"169.254.169.254"}, "redfish": {"443"}}, want: "never asked", status: 400},
		"this machine":       {form: url.Values{"where": {"127.0.0.1"}, "redfish": {"443"}}, want: "this machine itself", status: 400},
		"no port":            {form: url.Values{"where": {"192.0.2.1"}, "redfish": {"x"}}, want: "no port for Redfish", status: 400},
		"no port of IPMI":    {form: url.Values{"where": {"192.0.2.1"}, "ipmi": {"70000"}}, want: "no port for IPMI", status: 400},
		"another one runs":   {form: url.Values{"where": {"192.0.2.1"}, "redfish": {"443"}}, refuse: &node.Conflict{Text: "A search of 192.0.2.0/24 is running."}, want: "is running", status: 409},
		"ten thousand words": {form: url.Values{"where": {strings.Repeat("192.0.2.1 ", 1000)}, "redfish": {"443"}}, want: "too many words", status: 400},
	} {
		t.Run(name, func(t *testing.T) {
			o := openOffice(t)
			o.refuse = c.refuse
			a := o.do("POST", "/ui/enrol/search", c.form)
			if a.status != c.status || len(o.begun) != 0 {
				t.Errorf("status %d, begun %+v", a.status, o.begun)
			}
			a.has(t, c.want, `role="alert"`)
		})
	}
}

func TestFindsAreChosenAndEnrolledTogether(t *testing.T) {
	o := openOffice(t)
	untrusted := func(f *conductor.Find) { f.Redfish.Fingerprint = strings.Repeat("ab", 32) }
	at := ended(o,
		found("192.0.2.1", untrusted, func(f *conductor.Find) { f.IPMI = &node.FoundIPMI{Port: 623, Version: "2.0"} }),
		found("192.0.2.2", func(f *conductor.Find) { f.KnownAs = &conductor.Twin{UUID: node.NewUUID(), Name: "r07-u21"} }),
		found("192.0.2.3", func(f *conductor.Find) { f.Redfish.Product, f.Redfish.Trusted = "<script>alert(1)", true }),
		found("192.0.2.4", func(f *conductor.Find) { f.Redfish, f.IPMI = nil, &node.FoundIPMI{Port: 6230, Version: "2.0"} }),
	)
	page := o.get(at)
	page.has(t, "4 BMCs found", "Redfish 1.17.0, IPMI 2.0", "known", "r07-u21", "&lt;script&gt;alert(1)", "AB:AB", "192.0.2.4:6230")
	page.lacks(t, "<script>alert(1)", `value="https://192.0.2.2"`)
	form := url.Values{
		"find": {"https://192.0.2.1", "https://192.0.2.2", "ipmi://192.0.2.4:6230"}, "names": {"{rack}-u{unit}-{nn}"}, "first": {"7"}, "rack": {"R07"}, "unit": {"20"},
		"user": {"root"}, "password": {"planted-secret"}, "trust": {"pin"}, "prefer": {"redfish"}, "check": {"true"},
	}
	a := o.do("POST", at+"/enrol", form)
	if a.status != 303 || a.location != "/ui/enrol/runs/"+o.run.ID || len(o.lines) != 2 || o.run.Search != o.search.ID {
		t.Fatalf("%d to %s: %+v", a.status, a.location, o.lines)
	}
	first, second := o.lines[0], o.lines[1]
	if first.Node.Name != "r07-u20-07" || first.Node.Driver != node.DriverRedfish || first.Node.DriverInfo["redfish_certificate_sha256"] != strings.Repeat("ab", 32) || first.Node.DriverInfo["redfish_password"] != "planted-secret" || first.Find != "https://192.0.2.1" || !first.Check {
		t.Errorf("the first is %+v %v", first, first.Node.DriverInfo)
	}
	if second.Node.Name != "r07-u21-08" || second.Node.Driver != node.DriverIPMI || second.Node.DriverInfo["ipmi_port"] != 6230 || second.Node.Location() != (node.Location{Rack: "R07", Unit: 21, Units: 1}) {
		t.Errorf("the second is %+v %v", second, second.Node.DriverInfo)
	}
	o.get(a.location).has(t, `href="`+at+`"`)
}

func TestFindsThatCannotBeEnrolledSoAreShownWithTheReason(t *testing.T) {
	for name, c := range map[string]struct {
		form url.Values
		want string
	}{
		"nothing chosen":        {url.Values{"names": {"bmc-{n}"}}, "Choose at least one"},
		"a name that is none":   {url.Values{"find": {"https://192.0.2.1"}, "names": {"a b"}}, `id="problem-names" class="problem">`},
		"a unit without a rack": {url.Values{"find": {"https://192.0.2.1"}, "unit": {"3"}}, `id="problem-rack" class="problem">`},
		"a unit that is none":   {url.Values{"find": {"https://192.0.2.1"}, "unit": {"x"}, "rack": {"R1"}}, `id="problem-unit" class="problem">`},
		"a number that is none": {url.Values{"find": {"https://192.0.2.1"}, "first": {"x"}}, `id="problem-first" class="problem">`},
		"an unknown find":       {url.Values{"find": {"https://192.0.2.99"}}, "Choose at least one"},
	} {
		t.Run(name, func(t *testing.T) {
			o := openOffice(t)
			at := ended(o, found("192.0.2.1"), found("192.0.2.2"))
			c.form.Set("password", "planted-secret")
			c.form.Set("user", "root")
			a := o.do("POST", at+"/enrol", c.form)
			if _, _, lines := o.said(); a.status != 400 || len(lines) != 0 {
				t.Errorf("status %d, lines %+v", a.status, lines)
			}
			if field := strings.TrimSuffix(strings.TrimPrefix(c.want, `id="problem-`), `" class="problem">`); field != c.want && !wrong(a, field) {
				t.Errorf("nothing is said beside the field %s", field)
			}
			a.has(t, c.want, `value="root"`, "Kept for a quarter of an hour")
			a.lacks(t, "planted-secret")
			t.Log("what was typed is not asked for again")
			c.form = url.Values{"find": {"https://192.0.2.1"}, "kept": {hiddenField(a.body[strings.Index(a.body, "search-finds"):], "kept")}}
			if a := o.do("POST", at+"/enrol", c.form); a.status != 303 || o.lines[0].Node.DriverInfo["redfish_password"] != "planted-secret" {
				t.Errorf("%d, %+v", a.status, o.lines)
			}
		})
	}
}

func TestASearchThatIsForgottenLeadsToTheNewest(t *testing.T) {
	o := openOffice(t)
	for _, path := range []string{"", "/cancel", "/enrol"} {
		method := "POST"
		if path == "" {
			method = "GET"
		}
		if path == "/cancel" {
			continue // the conductor says so, which the desk does not
		}
		if a := o.do(method, "/ui/enrol/search/"+node.NewUUID()+path, nil); a.status != 303 || a.location != "/ui/enrol/search" {
			t.Errorf("%s %s: %d to %s", method, path, a.status, a.location)
		}
	}
}
