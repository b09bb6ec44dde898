package e2e_test

import (
	"fmt"
	"net"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
)

// bmcDoc is where a node's BMC is.
type bmcDoc struct {
	Name       string `json:"name"`
	Driver     string `json:"driver"`
	State      string `json:"provision_state"`
	DriverInfo struct {
		Redfish  string `json:"redfish_address"`
		IPMI     string `json:"ipmi_address"`
		IPMIPort int    `json:"ipmi_port"`
	} `json:"driver_info"`
}

// address is what a person types.
func (b bmcDoc) address() string {
	if b.Driver == "ipmi" {
		return fmt.Sprintf("%s:%d", b.DriverInfo.IPMI, b.DriverInfo.IPMIPort)
	}
	return b.DriverInfo.Redfish
}

// freeServers is a demo none of whose servers is a node any more.
func freeServers(t *testing.T) (a *appliance, servers []bmcDoc) {
	t.Helper()
	a, _ = demo(t)
	for _, name := range []string{"r1-u01", "r1-u02", "r1-u03"} {
		servers = append(servers, must[bmcDoc](a, "GET", "/v1/nodes/"+name, nil))
		if status, body := a.ask("DELETE", "/v1/nodes/"+name, nil); status != 204 {
			t.Fatalf("delete %s: %d %s", name, status, body)
		}
	}
	return a, servers
}

// fill types into the fields of a page, in the place of what is there.
func (w *window) fill(values map[string]string) {
	w.t.Helper()
	for key, v := range values {
		w.do(chromedp.SetValue("#field-"+key, v))
	}
}

// Issue 6, point 6: a form for one server with "test the connection" before saving.
func TestInABrowserAServerIsTestedAndEnrolled(t *testing.T) {
	peer(t, "chromium", "chromium-browser", "google-chrome")
	a, servers := freeServers(t)
	w := newWindow(t)
	w.do(chromedp.Navigate(a.base + "/ui/enrol"))
	w.holds(`window.neverReloaded = true`)
	result := `document.getElementById('enrol-result').innerText`

	t.Log("nobody listens there: it is said, and nothing that was typed is lost")
	w.fill(map[string]string{"driver": servers[0].Driver, "address": "http://127.0.0.1:1", "user": "admin", "password": "not-this-one", "name": "first", "rack": "R9", "unit": "7"})
	w.do(chromedp.Click("#test"))
	w.holds(result + `.includes('Nothing listens there')`)

	t.Log("a wrong password is told from that")
	w.fill(map[string]string{"address": servers[0].address()})
	w.do(chromedp.Click("#test"))
	w.holds(result + `.includes('refuses user or password')`)
	w.holds(`document.getElementById('field-password').value === 'not-this-one' && document.getElementById('field-unit').value === '7'`)

	t.Log("the right one shows which server it is, and still makes no node")
	w.fill(map[string]string{"password": "demo-password"})
	w.do(chromedp.Click("#test"))
	w.holds(result + `.includes('takes user and password') && ` + result + `.includes('Serial') && ` + result + `.includes('BMC firmware')`)
	w.holds(`window.neverReloaded === true`)
	if status, _ := a.ask("GET", "/v1/nodes/first", nil); status != 404 {
		t.Fatalf("a test has made a node: %d", status)
	}

	t.Log("saved, it is a node whose BMC is checked")
	w.do(chromedp.Click("form#enrol button.primary"))
	w.holds(`location.pathname === '/ui/nodes/first' && (document.body?.innerText ?? '').includes('Enrolled.')`)
	a.waitFor("first", "manageable")
	made := must[struct {
		Extra map[string]any `json:"extra"`
	}](a, "GET", "/v1/nodes/first", nil)
	if made.Extra["rack"] != "R9" || made.Extra["rack_unit"] != 7.0 {
		t.Errorf("it stands at %v", made.Extra)
	}
}

// Issue 6, point 6: import of many from CSV, with a preview that marks the bad lines.
func TestInABrowserAListIsLookedAtAndEnrolled(t *testing.T) {
	peer(t, "chromium", "chromium-browser", "google-chrome")
	a, servers := freeServers(t)
	list := "name;driver;bmc_address;bmc_user;bmc_password\r\n"
	for i, s := range servers[:2] {
		list += fmt.Sprintf("listed-%d;%s;%s;admin;demo-password\r\n", i+1, s.Driver, s.address())
	}
	list += "listed 3;redfish;192.0.2.1;admin;demo-password\r\n"
	file := filepath.Join(t.TempDir(), "servers.csv")
	if err := os.WriteFile(file, []byte("\ufeff"+list), 0o600); err != nil {
		t.Fatal(err)
	}
	w := newWindow(t)
	w.do(chromedp.Navigate(a.base+"/ui/enrol/import"), chromedp.SetUploadFiles("#list", []string{file}), chromedp.Click("form.enrol button.primary"))
	w.holds(`(document.body?.innerText ?? '').includes('2 can be enrolled') && (document.body?.innerText ?? '').includes('One cannot') && (document.body?.innerText ?? '').includes("invalid name 'listed 3'")`)
	w.holds(`!document.documentElement.outerHTML.includes('demo-password')`)
	w.do(chromedp.Click("form button.primary"))
	w.holds(`(document.body?.innerText ?? '').includes('Done: 2 of 2') && (document.body?.innerText ?? '').includes('2 enrolled')`)
	for _, name := range []string{"listed-1", "listed-2"} {
		a.waitFor(name, "manageable")
	}

	t.Log("the same list once more finds them there, and makes no other")
	w.do(chromedp.Navigate(a.base+"/ui/enrol/import"), chromedp.SetUploadFiles("#list", []string{file}), chromedp.Click("form.enrol button.primary"))
	w.holds(`(document.body?.innerText ?? '').includes('0 can be enrolled') && (document.body?.innerText ?? '').includes('There is a node listed-1 already')`)
}

// Issue 6, point 6: a search of an address range for BMCs, whose finds are enrolled with a press.
func TestInABrowserBMCsAreSearchedAndEnrolled(t *testing.T) {
	peer(t, "chromium", "chromium-browser", "google-chrome")
	a, servers := freeServers(t)
	var where, redfish, ipmi []string
	for _, s := range servers {
		if s.Driver == "ipmi" {
			where, ipmi = append(where, s.DriverInfo.IPMI), append(ipmi, fmt.Sprint(s.DriverInfo.IPMIPort))
			continue
		}
		u, err := url.Parse(s.DriverInfo.Redfish)
		if err != nil {
			t.Fatal(err)
		}
		host, port, _ := net.SplitHostPort(u.Host)
		where, redfish = append(where, host), append(redfish, port+"/http")
	}
	w := newWindow(t)
	w.do(chromedp.Navigate(a.base + "/ui/enrol/search"))
	t.Log("the demo's own rack is what its form begins with")
	w.holds(`document.querySelector('[name=where]').value.startsWith('127.') && document.querySelector('[name=redfish]').value.includes('/http')`)
	w.do(chromedp.SetValue("[name=where]", strings.Join(where, " ")), chromedp.SetValue("[name=redfish]", strings.Join(redfish, ", ")), chromedp.SetValue("[name=ipmi]", strings.Join(ipmi, ", ")),
		chromedp.Click(".enrolsearch button"))
	w.holds(`(document.getElementById('search-progress')?.innerText ?? '').includes('3 addresses were asked') && !!document.getElementById('field-names')`)
	t.Log("every server of the rack is found; others that share this machine's addresses are left alone")
	for _, s := range servers {
		key := s.DriverInfo.Redfish
		if s.Driver == "ipmi" {
			key = s.DriverInfo.IPMI + ":" + fmt.Sprint(s.DriverInfo.IPMIPort)
		}
		w.holds(`(document.getElementById('search-finds')?.innerText ?? '').includes(` + quoted(key) + `)`)
	}
	keep := strings.Join([]string{servers[0].address(), servers[1].address(), servers[2].address()}, " ")
	w.holds(`{ for (const box of document.querySelectorAll('[name=find]')) box.checked = ` + quoted(keep) + `.split(' ').includes(box.value.replace('ipmi://', '')) } true`)
	w.fill(map[string]string{"user": "admin", "password": "demo-password", "names": "found-{nn}", "first": "1", "rack": "R8", "unit": "10"})
	w.do(chromedp.Click("#search-finds button.primary"))
	w.holds(`location.pathname.startsWith('/ui/enrol/runs/') && (document.body?.innerText ?? '').includes('Done: 3 of 3')`)
	w.holds(`(document.body?.innerText ?? '').includes('3 enrolled')`)
	for _, name := range []string{"found-01", "found-02", "found-03"} {
		a.waitFor(name, "manageable")
	}
	t.Log("they are known from then on")
	w.do(chromedp.Navigate(a.base + "/ui/enrol/search"))
	w.holds(`(document.getElementById('search-finds')?.innerText ?? '').includes('found-01') && (document.getElementById('search-finds')?.innerText ?? '').includes('known')`)
}

func TestWithoutAScriptAServerIsTestedAndEnrolledByForms(t *testing.T) {
	a, servers := freeServers(t)
	typed := url.Values{"driver": {servers[0].Driver}, "address": {servers[0].address()}, "user": {"admin"}, "password": {"demo-password"}, "name": {"plain"}, "check": {"true"}}
	form := a.open("/ui/enrol")
	form.text = strings.Replace(form.text, `action="/ui/enrol"`, `action="/ui/enrol/test"`, 1) // the button's formaction
	tested := a.submit(form, `name="uuid"`, typed)
	if !strings.Contains(tested.text, "takes user and password") || strings.Contains(tested.text, "demo-password") {
		t.Fatalf("the test says\n%s", tested.text)
	}
	t.Log("the password is not asked for twice")
	typed.Set("password", "")
	if saved := a.submit(tested, `name="uuid"`, typed); !strings.Contains(saved.address, "/ui/nodes/plain") {
		t.Errorf("saved, the browser is at %s", saved.address)
	}
	a.waitFor("plain", "manageable")
}
