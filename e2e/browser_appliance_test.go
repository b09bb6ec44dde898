package e2e_test

import (
	"testing"

	"github.com/chromedp/chromedp"
)

// Issue 6, point 9: the pages of the appliance's own state and of who did what; and point 1: health is in the list.
func TestInABrowserTheApplianceItsAuditAndTheHealthOfItsServersAreFollowed(t *testing.T) {
	peer(t, "chromium", "chromium-browser", "google-chrome")
	a := start(t, "demo", "--servers", "2", "--ipmi", "0", "--silent", "1", "--virtual-media", "0", "--control", "127.0.0.1:0", "--listen", "127.0.0.1:0", "--inspector-listen", "127.0.0.1:0")
	control, ok := a.out.Line("Control: ")
	if !ok {
		t.Fatalf("the demo does not say where its control API is:\n%s", &a.out)
	}
	sim := &simulator{t: t, control: control}

	t.Log("the appliance's page follows by itself, without an event stream and without loading anew")
	w := newWindow(t)
	w.do(chromedp.Navigate(a.base + "/ui/appliance"))
	w.holds(`document.getElementById('defects')?.innerText.includes('Nothing is wrong') === true && (window.neverReloaded = true)`)
	w.holds(`!!(window.before = document.getElementById('self-database').innerText)`)
	status, _ := a.ask("PUT", "/v1/nodes/r1-u01/states/provision", map[string]string{"target": "abort"})
	if status != 400 && status != 409 {
		t.Fatalf("an abort of nothing: %d", status)
	}
	w.holds(`document.getElementById('self-database').innerText !== window.before && window.neverReloaded === true`)

	t.Log("the audit shows the refusal, and is filtered by what is typed")
	w.do(chromedp.Navigate(a.base + "/ui/audit"))
	w.holds(`document.querySelectorAll('.trail tbody tr').length > 1 && document.querySelector('.trail tbody tr').innerText.includes('refused')`)
	w.do(chromedp.Click("#audit-filters summary"), chromedp.SendKeys("[name=action]", "abort"), chromedp.Click(".trailfilter button"))
	w.holds(`location.search.includes('action=abort') && document.querySelectorAll('.trail tbody tr').length === 1 && document.querySelector('[name=action]').value === 'abort'`)
	w.holds(`document.querySelector('.trail tbody').innerText.includes('can not be performed') && document.getElementById('audit-filters').open`)
	w.holds(`fetch(document.querySelector('a[download]').href).then(r => r.text()).then(t => { window.csv = t }) && (window.csv ?? '').split('\n').filter(l => l).length === 2 && window.csv.includes('abort')`)

	t.Log("what a BMC said of the health is in the list of everybody who looks")
	uuid := a.node("r1-u01").UUID
	list := browse(t, a.base+"/ui")
	list.holds(`document.getElementById('row-` + uuid + `').dataset.health !== 'Critical'`)
	sim.sicken("r1-u01", "failed-psu")
	if status, _ := a.ask("GET", "/cagenut/v1/nodes/r1-u01/health", nil); status != 200 {
		t.Fatalf("the health of a server with a failed power supply: %d", status)
	}
	list.holds(`document.getElementById('row-` + uuid + `').dataset.health === 'Critical' && window.neverReloaded === true`)
	list.holds(`document.getElementById('row-` + uuid + `').innerText.includes('Critical')`)
}
