package e2e_test

import (
	"html"
	"net/url"
	"regexp"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
)

// Issue 6, points 3 and 4, and G17, G54, G55: everything that the page of a node is for, at a server that is cabled wrongly.
func TestInABrowserANodesPageTellsWhatHappensAndWhatToDo(t *testing.T) {
	peer(t, "chromium", "chromium-browser", "google-chrome")
	a, silent, _ := inspectionDemo(t)
	uuid := a.node(silent).UUID
	w := browse(t, a.base+"/ui/nodes/"+silent)
	page := `document.getElementById('node').innerText`

	t.Log("the timeline comes in as it happens")
	w.do(chromedp.Click("#inspect-" + uuid))
	w.holds(`document.querySelector('#progress[open] .timeline')?.innerText.includes('Power on sent to the BMC') === true`)
	w.holds(`document.querySelector('#progress .timeline').innerText.includes('Time-out, if no report comes before') && ` + page + `.includes('inspect wait')`)

	t.Log("it is aborted, with the reason kept, and the page says what may be done now")
	w.do(chromedp.Click("#abort-"+uuid), chromedp.WaitVisible("dialog[open]"))
	w.holds(`document.activeElement.textContent === 'Keep running' && document.querySelector('dialog').innerText.includes('powered off')`)
	w.do(chromedp.SendKeys("dialog [name=reason]", "patched into the wrong switch"), chromedp.Click("dialog button.danger"))
	w.holds(`!document.querySelector('dialog').open && ` + page + `.includes('inspect failed') && !document.getElementById('abort-` + uuid + `')`)
	w.holds(`!!document.getElementById('hint-aborted') && document.querySelector('#more .attempts').innerText.includes('patched into the wrong switch')`)
	w.holds(`document.getElementById('last-error').textContent.startsWith('Inspection was aborted by request.') && !document.getElementById('copy-last-error').hidden`)
	w.holds(page + `.includes('off') && !` + page + `.includes('powering off')`)

	t.Log("the hint's own button starts it again")
	w.do(chromedp.WaitVisible("#hint-aborted-again"), chromedp.Click("#hint-aborted-again"))
	w.holds(page + `.includes('inspect wait') && !document.getElementById('hint-aborted')`)
	w.holds(`window.neverReloaded === true`)
	if all := a.attempts(silent); len(all) != 2 {
		t.Errorf("there are %d inspections, want 2", len(all))
	}
}

// Issue 6, point 3: parts and cables, and the record that people keep.
func TestInABrowserARecordIsKept(t *testing.T) {
	peer(t, "chromium", "chromium-browser", "google-chrome")
	a, _, well := inspectionDemo(t)
	uuid := a.node(well).UUID
	w := browse(t, a.base+"/ui/nodes/"+well)
	w.holds(`document.getElementById('more').innerText.includes('Nothing is known of its parts')`)
	w.press("inspect-" + uuid)
	w.holds(`document.getElementById('nics')?.innerText.includes('port Ethernet') === true && document.getElementById('disks').innerText.includes('GB')`)
	w.holds(`document.getElementById('nics').innerText.includes('not reported') && document.getElementById('place').pathname === '/ui/racks/R1'`)

	t.Log("maintenance with a reason, which everybody sees")
	w.press("maintenance-" + uuid)
	w.do(chromedp.WaitVisible("dialog[open]"), chromedp.SendKeys("dialog [name=reason]", "new fans"), chromedp.Click("dialog button.danger"))
	w.holds(`!document.querySelector('dialog').open && document.getElementById('maintenance').innerText.includes('new fans')`)
	w.press("maintenance-" + uuid)
	w.do(chromedp.WaitVisible("dialog[open]"), chromedp.Click("dialog button.danger"))
	w.holds(`!document.getElementById('maintenance')`)
	w.holds(`window.neverReloaded === true`)

	t.Log("it gets another name, at which it is found from now on")
	w.press("edit")
	w.do(chromedp.WaitVisible("#edit-form"))
	w.holds(`(fields => { fields.name.value = 'renamed'; fields.description.value = 'second hand'; return fields.password.value === '' })(document.getElementById('edit-form').elements)`)
	w.do(chromedp.Click("#edit-form button"))
	w.holds(`location.pathname === '/ui/nodes/renamed' && document.getElementById('more')?.innerText.includes('second hand') === true`)

	t.Log("it is deleted after its name was told, and the page says so")
	w.holds(`document.getElementById('live')?.dataset.state === 'live'`)
	w.press("delete-" + uuid)
	w.do(chromedp.WaitVisible("dialog[open]"))
	w.holds(`document.querySelector('dialog').innerText.includes('Delete renamed') && document.activeElement.textContent === 'Keep it'`)
	w.do(chromedp.Click("dialog button.danger"))
	w.holds(`document.getElementById('node').innerText.includes('This node was deleted')`)
	resp := a.get("/v1/nodes/" + uuid)
	defer func() { _ = resp.Body.Close() }()
	if resp.StatusCode != 404 {
		t.Errorf("the API still answers %s", resp.Status)
	}
}

// press presses a button of a page that is drawn anew all the time: at once, before the button is another one.
func (w *window) press(id string) {
	w.t.Helper()
	w.holds(`(button => (button?.click(), !!button))(document.getElementById('` + id + `'))`)
}

// The same without a script: links, forms, and a page that is drawn anew.
func TestWithoutAScriptARecordIsKept(t *testing.T) {
	a, _, well := inspectionDemo(t)
	uuid := a.node(well).UUID
	question := a.open("/ui/nodes/" + well + "/maintenance?to=on")
	after := a.submit(question, `name="reason"`, url.Values{"reason": {"new fans"}})
	if p := a.open("/ui/nodes/" + well); after.address != a.base+"/ui/nodes/"+well+"?done=maintenance-on" || !strings.Contains(p.text, "new fans") {
		t.Errorf("the browser is at %s", after.address)
	}
	form := a.open("/ui/nodes/" + well + "/edit")
	fields := url.Values{"description": {"second hand"}}
	for _, m := range regexp.MustCompile(`<input type="text" name="([^"]*)" value="([^"]*)"`).FindAllStringSubmatch(form.text, -1) {
		fields.Set(m[1], html.UnescapeString(m[2]))
	}
	after = a.submit(form, `name="version"`, fields)
	if !strings.Contains(after.text, "Saved.") || !strings.Contains(after.text, "second hand") {
		t.Errorf("it was not saved: %s", after.text)
	}
	after = a.submit(a.open("/ui/nodes/"+uuid+"/delete"), `/delete"`, nil)
	if !strings.Contains(after.text, "The node was deleted.") {
		t.Errorf("the browser is at %s", after.address)
	}
}
