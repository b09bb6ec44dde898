package e2e_test

import (
	"net/url"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
)

// rackDemo is a rack with two servers that are cabled wrongly, and a node in no rack.
func rackDemo(t *testing.T) (a *appliance, wrong []string, free nodeDoc) {
	t.Helper()
	a = start(t, "demo", "--servers", "4", "--silent", "2", "--ipmi", "1", "--virtual-media", "0", "--report-delay", "500ms", "--power-delay", "200ms", "--listen", "127.0.0.1:0", "--inspector-listen", "127.0.0.1:0")
	until(t, "the names of the wrongly cabled servers", func() bool {
		line, ok := a.out.Line("Wrongly cabled: ")
		wrong = strings.Fields(line)
		return ok
	})
	if len(wrong) != 2 {
		t.Fatalf("wrongly cabled are %v", wrong)
	}
	return a, wrong, must[nodeDoc](a, "POST", "/v1/nodes", map[string]any{"name": "free", "driver": "fake-hardware", "extra": map[string]any{"asset": "4711"}})
}

// Issue 6, point 2: an elevation that follows the servers, in which a press chooses and nodes are placed.
func TestInABrowserServersAreChosenAndPlacedInTheirRack(t *testing.T) {
	peer(t, "chromium", "chromium-browser", "google-chrome")
	a, wrong, free := rackDemo(t)
	one, two := a.node(wrong[0]).UUID, a.node(wrong[1]).UUID
	w, other := browse(t, a.base+"/ui/racks"), browse(t, a.base+"/ui/racks/R1")

	t.Log("a rack among all leads to its elevation")
	w.holds(`document.querySelector('.rackcard').innerText.includes('4 of 42 units taken')`)
	w.do(chromedp.Click(".rackcard h2 a"))
	w.holds(`location.pathname === '/ui/racks/R1' && document.getElementById('live')?.dataset.state === 'live'`)
	w.holds(`window.neverReloaded = true`)

	t.Log("a press on a server chooses it, a second one lets it go, and its name opens it")
	press := func(uuid string) string {
		return `{ const e = document.querySelector('#u-` + uuid + ` .face'); e.dispatchEvent(new MouseEvent('click', {bubbles: true, cancelable: true})); } true`
	}
	chosen := func(uuid string) string {
		return `document.getElementById('pick-` + uuid + `').checked && document.getElementById('u-` + uuid + `').hasAttribute('data-picked')`
	}
	w.holds(press(one))
	w.holds(chosen(one))
	w.holds(press(two))
	w.holds(chosen(two))
	w.holds(press(two))
	w.holds(`!(` + chosen(two) + `)`)
	w.holds(press(two))
	w.holds(`document.querySelector('#u-` + one + ` a').getAttribute('href') === '/ui/nodes/` + wrong[0] + `'`)

	t.Log("both come to wait for a ramdisk: picture and row turn, and what is chosen stays chosen")
	for _, name := range wrong {
		a.waiting(name)
	}
	for _, uuid := range []string{one, two} {
		w.holds(`document.getElementById('u-` + uuid + `').classList.contains('waiting') && document.getElementById('row-` + uuid + `').innerText.includes('inspect wait')`)
		w.holds(chosen(uuid))
	}
	w.holds(`window.neverReloaded === true`)

	t.Log("the chosen are aborted in one go, and the other browser sees it")
	w.do(chromedp.Click("#chosen button[value=abort]"), chromedp.WaitVisible("dialog[open]"))
	w.holds(`['` + wrong[0] + `', '` + wrong[1] + `'].every(n => document.querySelector('dialog').innerText.includes(n))`)
	w.do(chromedp.Click("dialog button.danger"))
	for _, uuid := range []string{one, two} {
		other.holds(`document.getElementById('u-` + uuid + `').classList.contains('failed') && document.getElementById('row-` + uuid + `').innerText.includes('inspect failed')`)
	}

	t.Log("a node in no rack is placed, in the rack that the page shows")
	w.do(chromedp.Navigate(a.base + "/ui/racks/R1"))
	w.holds(`document.getElementById('live')?.dataset.state === 'live'`)
	w.holds(`window.neverReloaded = true`)
	w.do(chromedp.Click("#place-"+free.UUID), chromedp.WaitVisible("dialog[open]"))
	w.holds(`document.querySelector('dialog [name=rack]').value === 'R1' && document.activeElement.name === 'unit'`)
	w.do(chromedp.SendKeys("dialog [name=unit]", "101"), chromedp.Click("dialog form button"))
	w.holds(`document.querySelector('dialog [name=unit]').validity.rangeOverflow`)
	w.holds(`document.querySelector('dialog [name=unit]').value = '10', document.querySelector('dialog [name=units]').value = '2', true`)
	w.do(chromedp.Click("dialog form button"))
	for _, b := range []*window{w, other} {
		b.holds(`document.getElementById('u-` + free.UUID + `')?.getAttribute('height') === '48' && !document.getElementById('free-` + free.UUID + `')`)
		b.holds(`document.getElementById('row-` + free.UUID + `').innerText.includes('U10–11')`)
		b.holds(`window.neverReloaded === true`)
	}
	if extra := a.node("free").Extra; extra["rack"] != "R1" || extra["rack_unit"] != 10.0 || extra["rack_units"] != 2.0 || extra["asset"] != "4711" {
		t.Errorf("its extra is %v", extra)
	}

	t.Log("moved by the API into units that are taken, both nodes are seen; gone from the rack, it is gone from the page")
	patch := func(op, path string, value any) {
		must[any](a, "PATCH", "/v1/nodes/free", []map[string]any{{"op": op, "path": path, "value": value}})
	}
	patch("replace", "/extra/rack_unit", 1)
	w.holds(`[...document.querySelectorAll('.server.shares')].length >= 2 && document.getElementById('row-` + free.UUID + `').innerText.includes('shares units with')`)
	patch("replace", "/extra/rack", "R2")
	w.holds(`!document.getElementById('u-` + free.UUID + `') && !document.querySelector('.server.shares')`)
	w.holds(`window.neverReloaded === true`)
}

func TestWithoutAScriptANodeIsPlacedByLinksAndForms(t *testing.T) {
	a, _, free := rackDemo(t)
	rack := a.open("/ui/racks/R1")
	if !strings.Contains(rack.text, "/place?back=rack&amp;from=R1") {
		t.Fatalf("nothing leads to the form:\n%s", rack.text)
	}
	form := a.open("/ui/nodes/" + free.UUID + "/place?back=rack&from=R1")
	done := a.submit(form, `name="unit"`, url.Values{"rack": {"R1"}, "unit": {"20"}, "units": {"1"}})
	if !strings.Contains(done.address, "/ui/racks/R1?done=placed") || !strings.Contains(done.text, "It stands there from now on.") || !strings.Contains(done.text, `id="u-`+free.UUID) {
		t.Errorf("%s:\n%s", done.address, done.text)
	}
	form = a.open("/ui/nodes/" + free.UUID + "/place?back=rack&from=R1")
	done = a.submit(form, `value="remove"`, nil)
	if extra := a.node("free").Extra; extra["rack"] != nil || extra["asset"] != "4711" || !strings.Contains(done.text, `id="free-`+free.UUID) {
		t.Errorf("taken out, its extra is %v", extra)
	}
}
