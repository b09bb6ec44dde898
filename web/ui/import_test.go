package ui_test

import (
	"net/url"
	"strings"
	"testing"
	"time"

	"cagenut/conductor"
	"cagenut/node"
)

const threeServers = "name;bmc_address;bmc_user;bmc_password;rack;rack_unit;macs\r\n" +
	"r07-u01;192.0.2.1;root;planted-secret;R07;1;52:54:00:aa:bb:01\r\n" +
	"r07-u02;192.0.2.2;root;planted-secret;R07;x;\r\n" +
	"<script>;192.0.2.3;;;R07;3;\r\n"

// given uploads a list and returns where its preview is.
func (o *office) given(t *testing.T, list string, fields map[string]string) string {
	t.Helper()
	a := o.upload("/ui/enrol/import", list, fields)
	if a.status != 303 || !strings.HasPrefix(a.location, "/ui/enrol/import/") {
		t.Fatalf("%d to %q\n%s", a.status, a.location, excerpt(a.body))
	}
	return a.location
}

func TestAListIsShownBeforeAnythingIsEnrolled(t *testing.T) {
	o := openOffice(t)
	o.verdict = func(x conductor.Enrolment) conductor.EnrolVerdict {
		if x.Node.Name == "<script>" {
			return conductor.EnrolVerdict{Refused: "Cannot create node with invalid name '<script>'"}
		}
		return conductor.EnrolVerdict{Warnings: []string{"Its place is that of r07-u09."}}
	}
	at := o.given(t, threeServers, map[string]string{"driver": "ipmi", "user": "admin", "password": "planted-secret-2"})
	page := o.get(at)
	page.has(t, "One can be enrolled", "2 cannot", "rack_unit is no number", "invalid name &#39;&lt;script&gt;&#39;", "Its place is that of r07-u09.", "r07-u01", "192.0.2.1", "Enrol the good one")
	page.lacks(t, "planted-secret", "<script>;", "<script>&#39;")
	if _, _, lines := o.said(); len(lines) != 0 {
		t.Fatal("looking has enrolled somebody")
	}

	t.Log("a press enrols the good one, with the password that was kept; a second press finds the same run")
	a := o.do("POST", at, url.Values{"check": {"true"}})
	second := o.do("POST", at, url.Values{"check": {"true"}})
	if a.status != 303 || a.location != second.location || a.location != "/ui/enrol/runs/"+o.run.ID || len(o.lines) != 1 {
		t.Fatalf("%d to %s, then to %s: %+v", a.status, a.location, second.location, o.lines)
	}
	l := o.lines[0]
	if l.Node.Driver != node.DriverIPMI || l.Node.DriverInfo["ipmi_password"] != "planted-secret" || l.Node.DriverInfo["ipmi_username"] != "root" || !l.Check || l.MACs[0] != "52:54:00:aa:bb:01" || l.Label != "2: r07-u01" {
		t.Errorf("the line is %+v %v", l, l.Node.DriverInfo)
	}
	o.get(at).has(t, o.run.ID)
}

func TestLinesThatSayNothingTakeWhatTheFormSays(t *testing.T) {
	o := openOffice(t)
	at := o.given(t, "address,verify_ca\n192.0.2.1,\n192.0.2.2,true\n", map[string]string{"driver": "redfish", "user": "admin", "password": "planted-secret", "no_verify": "true"})
	o.do("POST", at, url.Values{})
	if len(o.lines) != 2 || o.lines[0].Node.DriverInfo["redfish_password"] != "planted-secret" || o.lines[0].Node.DriverInfo["redfish_verify_ca"] != false || o.lines[1].Node.DriverInfo["redfish_verify_ca"] != "true" {
		t.Errorf("the lines are %+v", o.lines)
	}
	if o.lines[0].Check {
		t.Error("a check was not asked for")
	}
}

// With Redfish the port stands in the address: one that is left out would have another BMC asked, or none.
func TestAPortThatRedfishHasNoUseForMarksItsLine(t *testing.T) {
	o := openOffice(t)
	at := o.given(t, "driver,bmc_address,bmc_port\nredfish,192.0.2.1,8443\nredfish,192.0.2.2,443\nipmi,192.0.2.3,6230\nredfish,192.0.2.4,\n", nil)
	o.get(at).has(t, "3 can be enrolled", "One cannot", "bmc_port is for IPMI")
	o.do("POST", at, url.Values{})
	if _, _, lines := o.said(); len(lines) != 3 || lines[1].Node.DriverInfo["ipmi_port"] != "6230" {
		t.Errorf("the lines are %+v", lines)
	}
}

func TestAListIsOfWhoGaveItAndIsForgotten(t *testing.T) {
	o := openOffice(t)
	at := o.given(t, threeServers, nil)
	if a := o.get(at, header{"X-Test-User": "mara"}); a.status != 410 {
		t.Errorf("another person's look: %d", a.status)
	}
	if a := o.do("POST", at, url.Values{}, header{"X-Test-User": "mara"}); a.status != 410 || o.begunLines() != 0 {
		t.Errorf("another person's press: %d", a.status)
	}
	o.pass(16 * time.Minute)
	a := o.do("POST", at, url.Values{})
	if a.status != 410 || o.begunLines() != 0 {
		t.Errorf("a late press: %d", a.status)
	}
	a.has(t, "This list is not kept any more", "15 minutes", `href="/ui/enrol/import"`)
	t.Log("only so many are kept: the oldest gives way")
	first := o.given(t, threeServers, nil)
	for range 8 {
		o.given(t, threeServers, nil)
	}
	if a := o.get(first); a.status != 410 {
		t.Errorf("the ninth last list: %d", a.status)
	}
}

func TestAListMayBePastedAndABadOneIsRefusedInWords(t *testing.T) {
	o := openOffice(t)
	if a := o.do("POST", "/ui/enrol/import", url.Values{"text": {"name,address\na,192.0.2.1"}}); a.status != 303 {
		t.Errorf("pasted: %d\n%s", a.status, excerpt(a.body))
	}
	for name, c := range map[string]struct{ list, want string }{
		"nothing":          {"", "Choose a file, or paste a list."},
		"an unknown name":  {"name,<b>\n", "&lt;b&gt;"},
		"far too much":     {"address\n" + strings.Repeat("192.0.2.1,\n", 300000), "larger than 2 MiB"},
		"no text":          {"\x00\xff", "UTF-8"},
		"a list of no BMC": {"name\nplanted-secret\n", "bmc_address"},
	} {
		t.Run(name, func(t *testing.T) {
			a := o.upload("/ui/enrol/import", c.list, map[string]string{"password": "planted-secret"})
			if a.status != 400 {
				t.Errorf("status %d", a.status)
			}
			a.has(t, c.want, `role="alert"`)
			a.lacks(t, "planted-secret")
		})
	}
}

func TestTheTemplateIsAListThatCanBeRead(t *testing.T) {
	o := openOffice(t)
	a := o.get("/ui/enrol/import/template.csv")
	if a.status != 200 || !strings.Contains(a.header.Get("Content-Disposition"), "attachment") {
		t.Fatalf("%d %v", a.status, a.header)
	}
	columns := strings.Split(strings.TrimSpace(a.body), ",")
	line := make([]string, len(columns))
	line[0], line[2] = "r07-u01", "192.0.2.1"
	o.given(t, a.body+strings.Join(line, ",")+"\n", nil)
}

func TestARunSaysWhatCameOfEachServer(t *testing.T) {
	o := openOffice(t)
	o.run = conductor.EnrolRun{ID: node.NewUUID(), Total: 4, StartedAt: noon, Results: []conductor.EnrolResult{
		{Label: "2: r07-u01", UUID: node.NewUUID(), Name: "r07-u01"},
		{Label: "3: <script>", Refused: "Cannot create node with invalid name '<script>'"},
		{Label: "4: r07-u03", UUID: node.NewUUID(), Name: "r07-u03", Exists: true, Refused: "There is a node r07-u03 already."},
	}}
	page := o.get("/ui/enrol/runs/" + o.run.ID)
	page.has(t, "3 of 4 done", "one enrolled", "one was there already", "one refused", "invalid name &#39;&lt;script&gt;&#39;", "/ui/events?view=run&amp;run="+o.run.ID)
	page.lacks(t, "3: <script>")
	o.change(func() { o.run.EndedAt = noon })
	o.get("/ui/enrol/runs/"+o.run.ID).has(t, "Done: 3 of 4", "It ended before all were done")
	if a := o.get("/ui/enrol/runs/" + node.NewUUID()); a.status != 404 {
		t.Errorf("an unknown run: %d", a.status)
	}
}
