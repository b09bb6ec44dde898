package e2e_test

import (
	"testing"

	"github.com/chromedp/chromedp"
)

// later lets the page's clock run ahead, so that no test waits for what takes half a minute.
const later = `Date.now = (now => () => now() + 35000)(Date.now); true`

// waitingNodes are nodes that wait for their ramdisks, which never come.
func waitingNodes(a *appliance, names ...string) (uuids []string) {
	a.t.Helper()
	for i, name := range names {
		made := must[nodeDoc](a, "POST", "/v1/nodes", map[string]any{
			"name": name, "driver": "fake-hardware", "inspect_interface": "agent", "extra": map[string]any{"rack": "R1", "rack_unit": i + 1},
		})
		must[any](a, "POST", "/v1/ports", map[string]any{"node_uuid": made.UUID, "address": "52:54:00:00:00:0" + name[len(name)-1:]})
		a.verb(name, "manage")
		a.waitFor(name, "manageable")
		a.waiting(name)
		uuids = append(uuids, made.UUID)
	}
	return uuids
}

// G18: the appliance is away, and comes back as another process in which nodes have changed. Whoever types, or has chosen
// something, meanwhile loses none of it.
func TestInABrowserThePageOutlivesTheAppliance(t *testing.T) {
	peer(t, "chromium", "chromium-browser", "google-chrome")
	dir := withBootFiles(t)
	a := serveOn(t, dir)
	uuids := waitingNodes(a, "r1-u01", "r1-u02", "r1-u03")
	cable := layLine(t, a)
	w := browse(t, cable.base+"/ui")
	row := func(uuid string) string { return `document.getElementById('row-` + uuid + `').innerText` }

	t.Log("a node is chosen, and something is typed")
	w.do(chromedp.Click("#pick-"+uuids[1]), chromedp.SendKeys("input[type=search]", "r1-u"))
	w.holds(`(() => { const i = document.querySelector('input[type=search]'); i.setSelectionRange(1, 3); return document.activeElement === i })()`)

	t.Log("the appliance ends as in a power cut: the page says so at once, and since when")
	cable.cut()
	a.kill()
	w.holds(`/Not connected since \d\d:\d\d:\d\d UTC/.test(document.getElementById('live').textContent)`)
	w.holds(`document.getElementById('status').textContent.includes('The connection to the appliance is lost.')`)
	w.holds(`!document.getElementById('content').classList.contains('stale')`)
	w.holds(later)
	w.holds(`document.getElementById('content').classList.contains('stale')`)

	t.Log("it is back, and while the page cannot see it two inspections are aborted and a node is deleted")
	a = serveOn(t, dir)
	a.verb("r1-u01", "abort")
	a.verb("r1-u02", "abort")
	a.verb("r1-u03", "abort")
	a.verb("r1-u03", "manage")
	must[any](a, "DELETE", "/v1/nodes/r1-u03", nil)
	cable.putInto(a)
	w.holds(row(uuids[0]) + `.includes('inspect failed') && ` + row(uuids[1]) + `.includes('inspect failed')`)
	w.holds(`!document.getElementById('row-` + uuids[2] + `') && document.getElementById('count-failed').textContent === '2'`)
	w.holds(`document.getElementById('live').dataset.state === 'live' && !document.getElementById('content').classList.contains('stale')`)
	w.holds(`document.getElementById('status').textContent.includes('The connection is back')`)

	t.Log("what was chosen is chosen, what was typed is there, and the caret stands where it stood")
	w.holds(`document.getElementById('pick-` + uuids[1] + `').checked && document.querySelectorAll('[name=node]:checked').length === 1`)
	w.holds(`document.querySelector('[data-chosen-count]').textContent === '1 chosen'`)
	w.holds(`(() => { const i = document.querySelector('input[type=search]'); return document.activeElement === i && i.value === 'r1-u' && i.selectionStart === 1 && i.selectionEnd === 3 })()`)
	w.holds(`window.neverReloaded === true`)

	t.Log("and the page follows again")
	a.verb("r1-u01", "manage")
	w.holds(row(uuids[0]) + `.includes('manageable')`)
}

// A cable that is pulled breaks no connection. The silence tells.
func TestInABrowserASilentLineIsNoticed(t *testing.T) {
	peer(t, "chromium", "chromium-browser", "google-chrome")
	a := serveOn(t, withBootFiles(t))
	uuid := waitingNodes(a, "r1-u01")[0]
	cable := layLine(t, a)
	w := browse(t, cable.base+"/ui/nodes/r1-u01")
	cable.pull()
	w.holds(later)
	w.holds(`/Not connected since/.test(document.getElementById('live').textContent)`)
	a.verb("r1-u01", "abort")
	cable.cut()
	cable.putInto(a)
	w.holds(`document.getElementById('live').dataset.state === 'live' && document.getElementById('node').innerText.includes('inspect failed')`)
	w.holds(`!document.getElementById('abort-` + uuid + `') && window.neverReloaded === true`)
}

// A tab that nobody sees holds no stream; once it is seen it is right.
func TestInABrowserAHiddenPageCatchesUp(t *testing.T) {
	peer(t, "chromium", "chromium-browser", "google-chrome")
	a := serveOn(t, withBootFiles(t))
	uuid := waitingNodes(a, "r1-u01")[0]
	w := browse(t, a.base+"/ui")
	hide := func(is string) {
		w.holds(`Object.defineProperty(document, 'hidden', { configurable: true, get: () => ` + is + ` }); document.dispatchEvent(new Event('visibilitychange')); true`)
	}
	hide("true")
	a.verb("r1-u01", "abort")
	w.holds(`document.getElementById('row-` + uuid + `').innerText.includes('inspect wait')`)
	hide("false")
	w.holds(`document.getElementById('row-` + uuid + `').innerText.includes('inspect failed') && window.neverReloaded === true`)
}
