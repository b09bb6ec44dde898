package ui_test

import (
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"errors"
	"fmt"
	"net/url"
	"regexp"
	"strings"
	"testing"
	"time"

	"cagenut/conductor"
	"cagenut/node"
)

// filled is the form as a person fills it in.
func filled(change ...string) url.Values {
	form := url.Values{
		"uuid": {node.NewUUID()}, "name": {"r07-u21"}, "driver": {"redfish"}, "address": {"192.0.2.21"}, "user": {"root"}, "password": {"planted-secret"},
		"rack": {"R07"}, "unit": {"21"}, "height": {"2"}, "macs": {"52-54-00-AA-BB-01 52:54:00:aa:bb:02"}, "interface": {"agent"}, "description": {"the one by the door"}, "check": {"true"},
	}
	for i := 0; i+1 < len(change); i += 2 {
		form.Set(change[i], change[i+1])
	}
	return form
}

func hiddenField(body, name string) string {
	if m := regexp.MustCompile(`<input type="hidden" name="` + name + `" value="([^"]*)"`).FindStringSubmatch(body); m != nil {
		return m[1]
	}
	return ""
}

// wrong tells whether something is said beside a field.
func wrong(a answer, field string) bool {
	return regexp.MustCompile(`id="problem-` + field + `" class="problem">[^<]`).MatchString(a.body)
}

func TestViewersSeeNothingOfEnrolling(t *testing.T) { // G56
	o := openOffice(t)
	id := node.NewUUID()
	for _, path := range []string{"/ui/enrol", "/ui/enrol/import", "/ui/enrol/import/template.csv", "/ui/enrol/import/" + id, "/ui/enrol/search", "/ui/enrol/search/" + id, "/ui/enrol/runs/" + id} {
		if a := o.get(path, header{"X-Test-Role": "viewer"}); a.status != 403 {
			t.Errorf("GET %s: %d", path, a.status)
		}
	}
	for _, path := range []string{"/ui/enrol", "/ui/enrol/test", "/ui/enrol/import", "/ui/enrol/import/" + id, "/ui/enrol/search", "/ui/enrol/search/" + id + "/cancel", "/ui/enrol/search/" + id + "/enrol"} {
		if a := o.do("POST", path, filled(), header{"X-Test-Role": "viewer"}); a.status != 403 {
			t.Errorf("POST %s: %d", path, a.status)
		}
	}
	if len(o.asked)+len(o.enrolled)+len(o.begun)+o.stopped != 0 {
		t.Error("a viewer has had something done")
	}
}

func TestTheFormMakesTheNodeThatItSays(t *testing.T) {
	o := openOffice(t)
	page := o.get("/ui/enrol?rack=R07&unit=21&password=planted-secret")
	page.has(t, `name="rack" value="R07"`, `name="unit" value="21"`, `type="password"`, `formaction="/ui/enrol/test"`)
	page.lacks(t, `value="planted-secret"`)
	form := filled("uuid", hiddenField(page.body, "uuid"))
	a := o.do("POST", "/ui/enrol", form)
	if a.status != 303 || a.location != "/ui/nodes/r07-u21?done=enrolled" {
		t.Fatalf("%d to %s\n%s", a.status, a.location, a.body)
	}
	_, enrolled, _ := o.said()
	x := enrolled[0]
	if x.Node.UUID != form.Get("uuid") || x.Node.Interfaces.Inspect != "agent" || x.Node.Description != "the one by the door" || !x.Check || len(x.MACs) != 2 {
		t.Errorf("the enrolment is %+v", x)
	}
	want := map[string]any{"redfish_address": "192.0.2.21", "redfish_username": "root", "redfish_password": "planted-secret"}
	if fmt.Sprint(x.Node.DriverInfo) != fmt.Sprint(want) || fmt.Sprint(x.Node.Extra) != "map[rack:R07 rack_unit:21 rack_units:2]" {
		t.Errorf("driver_info %v, extra %v", x.Node.DriverInfo, x.Node.Extra)
	}
	var actor node.Actor
	o.change(func() { actor = o.actors[0] })
	if actor.User != "jon" || actor.Source != node.SourceUI {
		t.Errorf("by %+v", actor)
	}
	t.Log("a second press finds the node made, and makes no other")
	if a := o.do("POST", "/ui/enrol", form); a.status != 303 {
		t.Errorf("the second press: %d", a.status)
	}
	if _, enrolled, _ := o.said(); len(enrolled) != 1 {
		t.Errorf("there are %d nodes", len(enrolled))
	}
}

func TestEveryKindOfBMCGetsItsOwnWords(t *testing.T) {
	for name, c := range map[string]struct {
		form url.Values
		want string
	}{
		"IPMI":          {filled("driver", "ipmi", "address", "192.0.2.21:6230", "fingerprint", "ab"), "map[ipmi_address:192.0.2.21:6230 ipmi_password:planted-secret ipmi_username:root]"},
		"fake-hardware": {filled("driver", "fake-hardware", "address", "", "interface", ""), "map[]"},
		"a certificate": {filled("fingerprint", "AB:CD", "system", "/redfish/v1/Systems/1", "old_tls", "true"), "map[redfish_address:192.0.2.21 redfish_certificate_sha256:AB:CD redfish_old_tls:true redfish_password:planted-secret redfish_system_id:/redfish/v1/Systems/1 redfish_username:root]"},
		"no verifying":  {filled("no_verify", "true"), "map[redfish_address:192.0.2.21 redfish_password:planted-secret redfish_username:root redfish_verify_ca:false]"},
		"a CA file":     {filled("ca", "/etc/ca.pem"), "map[redfish_address:192.0.2.21 redfish_password:planted-secret redfish_username:root redfish_verify_ca:/etc/ca.pem]"},
	} {
		t.Run(name, func(t *testing.T) {
			o := openOffice(t)
			if a := o.do("POST", "/ui/enrol", c.form); a.status != 303 {
				t.Fatalf("%d\n%s", a.status, excerpt(a.body))
			}
			if got := fmt.Sprint(o.enrolled[0].Node.DriverInfo); got != c.want {
				t.Errorf("driver_info is %s, want %s", got, c.want)
			}
		})
	}
}

func TestWhatIsWrongIsSaidBesideItsFieldAndNothingElseIsLost(t *testing.T) {
	for name, c := range map[string]struct {
		form   url.Values
		refuse error
		field  string
		status int
	}{
		"a name with blanks":      {form: filled("name", "a b"), field: "name", status: 400},
		"a name that is taken":    {form: filled(), refuse: &node.Exists{Text: "A node with name r07-u21 already exists.", Name: true}, field: "name", status: 409},
		"no address":              {form: filled("address", " "), field: "address", status: 400},
		"an address that is none": {form: filled(), refuse: node.Invalidf(`Invalid value "x" set in driver_info['redfish_address'] on node: it names no host.`), field: "address", status: 400},
		"a driver that is none":   {form: filled("driver", "idrac"), field: "driver", status: 400},
		"a unit that is none":     {form: filled("unit", "2x"), field: "unit", status: 400},
		"a unit without a rack":   {form: filled("rack", ""), field: "rack", status: 400},
		"a MAC that is none":      {form: filled("macs", "52:54"), field: "macs", status: 400},
		"a NUL":                   {form: filled("description", "a\x00b"), field: "description", status: 400},
		"10,000 characters":       {form: filled("name", strings.Repeat("x", 10000)), field: "name", status: 400},
		"a long password":         {form: filled("password", strings.Repeat("planted-secret", 100)), field: "password", status: 400},
	} {
		t.Run(name, func(t *testing.T) {
			o := openOffice(t)
			o.refuse = c.refuse
			a := o.do("POST", "/ui/enrol", c.form)
			if a.status != c.status || len(o.enrolled) != 0 {
				t.Fatalf("%d, %d nodes", a.status, len(o.enrolled))
			}
			a.has(t, `aria-invalid="true"`, `value="root"`, hiddenField(a.body, "uuid"))
			if !wrong(a, c.field) {
				t.Errorf("nothing is said beside the field %s:\n%s", c.field, excerpt(a.body))
			}
			a.lacks(t, "planted-secret")
			if hiddenField(a.body, "uuid") != c.form.Get("uuid") {
				t.Error("the form names another node than before: a second press could make a second one")
			}
		})
	}
}

func TestATestOfTheConnectionShowsWhatTheBMCSaysAndMakesNothing(t *testing.T) {
	o := openOffice(t)
	o.probed = conductor.Probed{
		Power: node.PowerOff, System: node.SystemIdentity{Manufacturer: "<script>Acme", Model: "\u202eX1", Serial: "CZ2<b>91"}, BMC: node.BMCIdentity{Firmware: "2.10", Protocol: "Redfish 1.17.0"},
		Twins: []conductor.Twin{{Kind: conductor.SameSerial, UUID: node.NewUUID(), Name: "r07-u22"}, {Kind: conductor.SameBMC, UUID: node.NewUUID(), Name: "<i>"}},
	}
	for name, headers := range map[string][]header{"with the script": {script}, "without it": nil} {
		t.Run(name, func(t *testing.T) {
			a := o.do("POST", "/ui/enrol/test", filled(), headers...)
			if a.status != 200 || len(o.enrolled) != 0 {
				t.Fatalf("%d, %d nodes", a.status, len(o.enrolled))
			}
			a.has(t, `id="enrol-result"`, "takes user and password", "&lt;script&gt;Acme", "CZ2&lt;b&gt;91", "Redfish 1.17.0", "2.10", "r07-u22", "&lt;i&gt;", "The same serial number has")
			a.lacks(t, "planted-secret", "<script>Acme")
			if len(headers) > 0 {
				a.lacks(t, "<html", `name="password"`)
			}
		})
	}
}

func TestWithoutAScriptThePasswordIsAskedForOnce(t *testing.T) { // WCAG 3.3.7
	o := openOffice(t)
	tested := o.do("POST", "/ui/enrol/test", filled())
	kept := hiddenField(tested.body, "kept")
	tested.has(t, "Kept for a quarter of an hour", `value="R07"`, `value="192.0.2.21"`)
	if kept == "" {
		t.Fatal("the password is not kept")
	}
	form := filled("kept", kept, "password", "")
	for name, who := range map[string]header{"another person": {"X-Test-User": "mara"}, "another person's test": {"X-Test-User": "mara", "X-Requested-With": "fetch"}} {
		_ = name
		o.do("POST", "/ui/enrol/test", form, who)
	}
	asked, _, _ := o.said()
	for i, x := range asked[1:] {
		if _, there := x.Node.DriverInfo["redfish_password"]; there {
			t.Errorf("request %d of another person used the password", i)
		}
	}
	if a := o.do("POST", "/ui/enrol", form); a.status != 303 {
		t.Errorf("%d", a.status)
	}
	if _, enrolled, _ := o.said(); enrolled[0].Node.DriverInfo["redfish_password"] != "planted-secret" {
		t.Errorf("the node has %v", enrolled[0].Node.DriverInfo)
	}
	t.Log("once the node has it, it is forgotten; and so it is after a while")
	o.do("POST", "/ui/enrol/test", form)
	again := o.do("POST", "/ui/enrol/test", filled())
	o.pass(16 * time.Minute)
	late := o.do("POST", "/ui/enrol/test", filled("kept", hiddenField(again.body, "kept"), "password", ""))
	late.lacks(t, "Kept for a quarter of an hour")
	for _, i := range []int{3, 5} {
		asked, _, _ := o.said()
		if _, there := asked[i].Node.DriverInfo["redfish_password"]; there {
			t.Errorf("request %d still had the password", i)
		}
	}
}

func untrusted() error {
	c := &x509.Certificate{Raw: []byte("a certificate"), Subject: pkix.Name{CommonName: "<b>bmc"}, NotAfter: noon}
	return &node.Unreachable{
		What: "BMC https://192.0.2.21", Trouble: node.TroubleCertificate,
		Err: fmt.Errorf("read the power: %w", &tls.CertificateVerificationError{UnverifiedCertificates: []*x509.Certificate{c}, Err: errors.New("signed by nobody")}),
	}
}

func TestACertificateThatNobodyTrustsCanBeTrustedWithAPress(t *testing.T) {
	o := openOffice(t)
	o.refuse = untrusted()
	a := o.do("POST", "/ui/enrol/test", filled(), script)
	a.has(t, "nobody vouches for its certificate", "No password was sent", "&lt;b", `name="trust"`, "Trust this one")
	print := regexp.MustCompile(`name="trust" value="([0-9A-F:]{95})"`).FindStringSubmatch(a.body)
	if print == nil {
		t.Fatalf("there is no fingerprint in\n%s", a.body)
	}
	o.change(func() { o.refuse = nil })
	pressed := filled("trust", print[1])
	for name, headers := range map[string][]header{"with the script the field is filled in": {script}, "without it the form is drawn with it": nil} {
		a := o.do("POST", "/ui/enrol/test", pressed, headers...)
		t.Log(name)
		a.has(t, `id="field-fingerprint"`, `value="`+print[1]+`"`, "takes user and password")
		asked, _, _ := o.said()
		if got := asked[len(asked)-1].Node.DriverInfo["redfish_certificate_sha256"]; got != print[1] {
			t.Errorf("asked with %v", got)
		}
	}
}

func TestWhyATestFailedIsSaidInWords(t *testing.T) { // G37
	unreachable := func(kind node.Trouble) error {
		return &node.Unreachable{What: "BMC 192.0.2.21", Trouble: kind, Timeout: kind == node.TroubleSilence, Hint: "check the cable", Err: errors.New("no luck")}
	}
	for name, c := range map[string]struct {
		err  error
		want []string
	}{
		"a wrong password": {fmt.Errorf("redfish: power at 192.0.2.21: %w", node.ErrCredentials), []string{"refuses user or password", `href="#field-password"`}},
		"silence":          {unreachable(node.TroubleSilence), []string{"No answer.", "check the cable"}},
		"nobody there":     {unreachable(node.TroubleRefused), []string{"Nothing listens there."}},
		"no BMC":           {unreachable(node.TroubleForeign), []string{"it is not a BMC of this kind"}},
		"another pin":      {unreachable(node.TroublePin), []string{"another certificate than the trusted one"}},
		"an unknown kind":  {unreachable("?"), []string{"did not answer usefully"}},
		"a bad setting":    {node.Invalidf("Invalid value set in driver_info['redfish_certificate_sha256'] on node (new)."), []string{`href="#field-fingerprint"`}},
	} {
		t.Run(name, func(t *testing.T) {
			o := openOffice(t)
			o.refuse = c.err
			a := o.do("POST", "/ui/enrol/test", filled(), script)
			if a.status != 200 {
				t.Errorf("status %d", a.status)
			}
			a.has(t, append(c.want, `role="alert"`)...)
			a.lacks(t, "planted-secret", "Trust this one")
		})
	}
}

func TestATestThatTheFormMakesImpossibleAsksNobody(t *testing.T) {
	o := openOffice(t)
	a := o.do("POST", "/ui/enrol/test", filled("address", ""), script)
	a.has(t, `href="#field-address"`)
	if !wrong(a, "address") || wrong(a, "name") {
		t.Errorf("beside the fields stands\n%s", a.body)
	}
	if len(o.asked) != 0 {
		t.Errorf("asked %+v", o.asked)
	}
}
