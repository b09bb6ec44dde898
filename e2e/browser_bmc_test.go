package e2e_test

import (
	"html"
	"io"
	"net/http"
	"net/url"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
)

// sickRoom is an appliance with a server of each kind of BMC, whose power supply has failed and whose air is too hot.
func sickRoom(t *testing.T, listen string) (*simulator, *appliance, map[string]string) {
	t.Helper()
	sim := simulate(t, "--redfish", "1", "--ipmi", "1", "--listen", listen, "--power-delay", "2s")
	a := serveOn(t, filepath.Join(t.TempDir(), "data"), "--power-sync-interval", "1s")
	named := sim.enrol(a)
	for _, name := range named {
		sim.button(name, "on")
		sim.sicken(name, "failed-psu")
		sim.sicken(name, "hot-inlet")
		until(t, "the power button is noticed", func() bool { return a.node(name).PowerState == "power on" })
	}
	return sim, a, named
}

// Issue 4, point 2: power, health, sensors, log and firmware on the node's page; G54.
func TestInABrowserASickServerIsLookedAtAndTended(t *testing.T) {
	peer(t, "chromium", "chromium-browser", "google-chrome")
	sim, a, named := sickRoom(t, "127.77.62.1")
	for driver, name := range named {
		t.Run(driver, func(t *testing.T) {
			sim := &simulator{t: t, control: sim.control}
			w := browse(t, a.base+"/ui/nodes/"+name)
			panel := `document.getElementById('panel').innerText`
			opens := func(key string, says ...string) {
				t.Helper()
				w.do(chromedp.Click("#part-" + key))
				for _, text := range says {
					w.holds(panel + ".includes(" + quoted(text) + ")")
				}
			}

			t.Log("what ails it")
			opens("health", "Critical", "Inlet Temp")
			opens("sensors", "out of limits")
			w.holds(`document.querySelector('#panel .sensors li').className.includes('out') && document.querySelectorAll('#panel .sensors li').length > 8`)
			opens("sensors", "Warning: above 42")
			opens("log", "PSU2 Status")
			opens("bmc", "Firmware", "Clock")

			t.Log("what it is made of, or that its BMC does not tell")
			if driver == "redfish" {
				opens("firmware", "BIOS", "Network adapter 1")
				opens("bios", "settings", "BootMode")
				opens("media", "empty")
			} else {
				opens("firmware", "its firmware interface is “no-firmware”")
				opens("bios", "its bios interface is “no-bios”")
				opens("media", "This BMC has no virtual media.")
			}
			opens("boot", "Nothing is set")

			t.Log("its light, by which somebody finds it")
			opens("light", "is off")
			w.do(chromedp.Click("#light-on"))
			w.holds(panel + `.includes('is on') && document.activeElement.id === 'light-on'`)
			if got := sim.server(name).Indicator; got != "on" {
				t.Errorf("the page says that the light is on, the server has it %s", got)
			}

			t.Log("its log, emptied after a question")
			opens("log", "PSU2 Status")
			w.do(chromedp.Click("#clear-log"), chromedp.WaitVisible("dialog[open]"), chromedp.Click("dialog button.danger"))
			w.holds(`!document.querySelector('dialog').open && !` + panel + `.includes('PSU2 Status')`)

			t.Log("an interrupt")
			w.do(chromedp.Click("a[id^=nmi-]"), chromedp.WaitVisible("dialog[open]"), chromedp.Click("dialog button.danger"))
			w.holds(`!document.querySelector('dialog').open && document.getElementById('status').textContent.includes('NMI is injected')`)
			if got := sim.server(name).NMIs; got != 1 {
				t.Errorf("it was interrupted %d times", got)
			}

			t.Log("its power: on its way until the BMC says so, and what was opened stays")
			w.do(chromedp.Click("a[id^=soft-power-off-]"), chromedp.WaitVisible("dialog[open]"), chromedp.Click("dialog button.danger"))
			power := `document.querySelector('#node .power').innerText`
			w.holds(power + `.includes('powering off…') && !document.querySelector('a[id^=rebooting-]')`)
			if got := sim.server(name).Power; got != "power on" {
				t.Errorf("as soon as it was asked for, the server is %s", got)
			}
			w.holds(power + `.trim() === 'off' && !!document.querySelector('button[id^=power-on-]')`)
			if got := sim.server(name).Power; got != "power off" {
				t.Errorf("the page says off, the server is %s", got)
			}
			w.holds(`document.getElementById('part-log').ariaCurrent === 'page' && window.neverReloaded === true`)
		})
	}
}

// text is what an expression is.
func (w *window) text(script string) string {
	w.t.Helper()
	v, err := chromedp.Run(w.ctx, chromedp.Evaluate[string](script))
	if err != nil {
		w.t.Fatalf("%s: %v", script, err)
	}
	return v
}

// quoted is a text in the script's own quotes.
func quoted(s string) string { return "`" + s + "`" }

// A BMC that falls silent is seen without anybody asking, in the list and on the page, and so is its return; G54.
func TestInABrowserASilentBMCIsSeenAndItsReturn(t *testing.T) {
	peer(t, "chromium", "chromium-browser", "google-chrome")
	sim := simulate(t, "--redfish", "1", "--listen", "127.77.63.1")
	a := serveOn(t, filepath.Join(t.TempDir(), "data"), "--power-sync-interval", "1s")
	name := sim.enrol(a)["redfish"]
	list, page := browse(t, a.base+"/ui"), browse(t, a.base+"/ui/nodes/"+name)
	sim.sicken(name, "refuse")
	list.holds(`document.querySelector('tr .problem')?.innerText.includes('BMC unreachable') === true`)
	page.holds(`document.getElementById('silent')?.innerText.includes('BMC unreachable since') === true`)
	if why := page.text(`document.getElementById('silent').innerText`); !strings.Contains(why, "127.77.63.1") {
		t.Errorf("why: %s", why)
	}

	t.Log("who asks gets a sentence, and tries again when it is back")
	page.do(chromedp.Click("#part-health"))
	page.holds(`document.querySelector('#panel [role=alert]')?.innerText.includes('127.77.63.1') === true`)
	sim.heal(name, "refuse")
	page.do(chromedp.Click("#part-again"))
	page.holds(`document.getElementById('panel').innerText.includes('The BMC has no complaint')`)
	list.holds(`!document.querySelector('tr .problem')`)
	page.holds(`!document.getElementById('silent') && window.neverReloaded === true`)
}

// The same by links and forms alone.
func TestWithoutAScriptABMCIsAskedAndToldByLinksAndForms(t *testing.T) {
	sim, a, named := sickRoom(t, "127.77.64.1")
	for driver, name := range named {
		t.Run(driver, func(t *testing.T) {
			a, sim := &appliance{t: t, base: a.base}, &simulator{t: t, control: sim.control}
			at := "/ui/nodes/" + name
			follow := func(p page, id string) page {
				t.Helper()
				link := regexp.MustCompile(`<a[^>]*id="` + id + `[^"]*"[^>]*href="([^"]*)"`).FindStringSubmatch(p.text)
				if link == nil {
					t.Fatalf("%s has no link %s:\n%s", p.address, id, p.text)
				}
				return a.open(html.UnescapeString(link[1]))
			}
			says := func(p page, texts ...string) {
				t.Helper()
				for _, text := range texts {
					if !strings.Contains(p.text, text) {
						t.Errorf("%s does not say %q:\n%s", p.address, text, p.text)
					}
				}
			}
			says(follow(a.open(at), "part-health"), "Critical", "Inlet Temp", "parts are not well")
			sensors := follow(a.open(at+"/health"), "part-sensors")
			says(sensors, "Warning: above 42", "out of limits")

			light := a.submit(follow(sensors, "part-light"), `id="light-on"`, nil)
			says(light, "The light is switched on.", "The light of this server is on.")
			if got := sim.server(name).Indicator; got != "on" || !strings.HasPrefix(light.address, a.base+at+"/light") {
				t.Errorf("the light is %s, the browser at %s", got, light.address)
			}

			log := follow(light, "part-log")
			says(log, "PSU2 Status")
			cleared := a.submit(follow(log, "clear-log"), "Clear the log", nil)
			says(cleared, "The event log is cleared.")
			if strings.Contains(cleared.text, "PSU2 Status") {
				t.Errorf("the log still has:\n%s", cleared.text)
			}

			says(a.submit(follow(a.open(at), "nmi-"), "Inject NMI", nil), "The NMI is injected.")
			if got := sim.server(name).NMIs; got != 1 {
				t.Errorf("it was interrupted %d times", got)
			}

			t.Log("G54: on its way until the BMC says so")
			says(a.submit(follow(a.open(at), "soft-power-off-"), "Soft power off", nil), "asked to shut down", "powering off…")
			until(t, "the page says off", func() bool {
				p := a.open(at)
				return !strings.Contains(p.text, "powering off…") && strings.Contains(p.text, `id="power-on-`)
			})
			if got := sim.server(name).Power; got != "power off" {
				t.Errorf("the page says off, the server is %s", got)
			}

			t.Log("a BMC that refuses says so, in a page with a way to try again")
			sim.sicken(name, "wrong-password")
			resp := a.get(at + "/sensors")
			text, err := io.ReadAll(resp.Body)
			if err != nil {
				t.Fatal(err)
			}
			_ = resp.Body.Close()
			if resp.StatusCode != http.StatusBadGateway || !strings.Contains(string(text), "Try again") || !strings.Contains(string(text), "user name or the password") {
				t.Errorf("got %s:\n%s", resp.Status, text)
			}
			refused := a.post(at+"/light", url.Values{"state": {"off"}})
			_ = refused.Body.Close()
			if refused.StatusCode != http.StatusBadGateway {
				t.Errorf("the light: %s", refused.Status)
			}
		})
	}
}

// get is a plain look at a page.
func (a *appliance) get(path string) *http.Response {
	a.t.Helper()
	req, err := http.NewRequestWithContext(a.t.Context(), "GET", a.base+path, nil)
	if err != nil {
		a.t.Fatal(err)
	}
	req.Header.Set("Accept", "text/html")
	resp, err := client.Do(req)
	if err != nil {
		a.t.Fatal(err)
	}
	return resp
}

// The demo alone is enough to see it.
func TestADemosBMCCanBeMadeSick(t *testing.T) {
	a := start(t, "demo", "--servers", "1", "--ipmi", "0", "--silent", "0", "--control", "127.0.0.1:0", "--listen", "127.0.0.1:0", "--inspector-listen", "127.0.0.1:0")
	control, ok := a.out.Line("Control: ")
	if !ok {
		t.Fatalf("the demo does not say where its control API is:\n%s", &a.out)
	}
	sim := &simulator{t: t, control: control}
	sim.sicken("r1-u01", "failed-psu")
	if p := a.open("/ui/nodes/r1-u01/health"); !strings.Contains(p.text, "Critical") || !strings.Contains(p.text, "PSU 2") {
		t.Errorf("the page is\n%s", p.text)
	}
}
