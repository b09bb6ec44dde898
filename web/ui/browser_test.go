package ui_test

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"

	"cagenut/node"
	"cagenut/templates"
)

// browser opens a page in Chromium. Without one on the machine the test is skipped: then nothing here has looked at the
// script.
func browser(t *testing.T, url string) context.Context {
	t.Helper()
	path := ""
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome"} {
		if p, err := exec.LookPath(name); err == nil {
			path = p
			break
		}
	}
	if path == "" {
		if os.Getenv("CAGENUT_REQUIRE_PEERS") == "1" {
			t.Fatal("no Chromium on this machine, and CAGENUT_REQUIRE_PEERS asks for it")
		}
		t.Skip("no Chromium on this machine: the dashboard's script is NOT tested")
	}
	options := append(chromedp.DefaultExecAllocatorOptions[:], chromedp.ExecPath(path), chromedp.NoSandbox,
		chromedp.Flag("disable-quic", true), chromedp.Flag("disable-component-update", true), chromedp.Flag("disable-background-networking", true), chromedp.Flag("disable-sync", true))
	ctx, cancel := context.WithTimeout(t.Context(), 90*time.Second)
	t.Cleanup(cancel)
	ctx, cancel = chromedp.NewExecAllocator(ctx, options...)
	t.Cleanup(cancel)
	ctx, cancel = chromedp.NewContext(ctx)
	t.Cleanup(cancel)
	do(t, ctx, chromedp.Navigate(url))
	holds(t, ctx, `document.getElementById('live').dataset.state === 'live'`)
	// Whatever the script throws is kept for the end.
	eval[bool](t, ctx, `window.thrown = []; addEventListener('error', e => thrown.push(e.message)); addEventListener('unhandledrejection', e => thrown.push(String(e.reason))); true`)
	return ctx
}

func do(t *testing.T, ctx context.Context, steps ...chromedp.Action[chromedp.Void]) {
	t.Helper()
	if err := chromedp.Do(ctx, steps...); err != nil {
		t.Fatal(err)
	}
}

func eval[T any](t *testing.T, ctx context.Context, script string) T {
	t.Helper()
	v, err := chromedp.Run(ctx, chromedp.Evaluate[T](script))
	if err != nil {
		t.Fatalf("%s: %v", script, err)
	}
	return v
}

// holds waits until an expression is true.
func holds(t *testing.T, ctx context.Context, script string) {
	t.Helper()
	for deadline := time.Now().Add(15 * time.Second); time.Now().Before(deadline); time.Sleep(20 * time.Millisecond) {
		if eval[bool](t, ctx, script) {
			return
		}
	}
	t.Fatalf("never true: %s\n%s", script, eval[string](t, ctx, `document.body.innerText`))
}

// G17, G18, G55, and style of the dialog: see the names of the steps.
func TestInABrowserAnAbortIsAskedOnceAndSeenAtOnce(t *testing.T) {
	r := newRack()
	one, two := r.add("r07-u21", node.InspectWait), r.add("r07-u22", node.InspectWait)
	three := r.add("r07-u23", node.Manageable)
	s := serve(t, r, 0)
	ctx := browser(t, s.base+"/ui")
	asked := func() int {
		r.mu.Lock()
		defer r.mu.Unlock()
		return len(r.asked)
	}

	t.Log("Enter on the focused button keeps the inspection running, and focus returns")
	do(t, ctx, chromedp.Focus("#abort-"+one.UUID), chromedp.KeyEvent("\r"), chromedp.WaitVisible("dialog[open]"))
	holds(t, ctx, `document.activeElement.textContent === 'Keep running'`)
	do(t, ctx, chromedp.KeyEvent("\r"))
	holds(t, ctx, `!document.querySelector('dialog').open && document.activeElement.id === 'abort-`+one.UUID+`'`)

	t.Log("Escape closes, a click outside does not")
	do(t, ctx, chromedp.Click("#abort-"+one.UUID), chromedp.WaitVisible("dialog[open]"))
	eval[bool](t, ctx, `document.querySelector('dialog').click(); document.body.click(); true`)
	if !eval[bool](t, ctx, `document.querySelector('dialog').open`) {
		t.Error("a click outside closed the dialog")
	}
	do(t, ctx, chromedp.KeyEvent("\x1b"))
	holds(t, ctx, `!document.querySelector('dialog').open`)
	if asked() != 0 {
		t.Fatal("something was asked")
	}

	t.Log("three fast clicks are one request, and the row is what the server says")
	do(t, ctx, chromedp.Click("#abort-"+one.UUID), chromedp.WaitVisible("dialog[open]"), chromedp.SendKeys("dialog [name=reason]", "wrong switch"))
	eval[bool](t, ctx, `{ const b = document.querySelector('dialog button.danger'); b.click(); b.click(); b.click(); } true`)
	holds(t, ctx, `!document.querySelector('dialog').open && document.getElementById('row-`+one.UUID+`').innerText.includes('inspect failed')`)
	if n := asked(); n != 1 {
		t.Errorf("asked %d times, want once", n)
	}
	if r.asked[0].Attempt != one.AttemptID || r.asked[0].Reason != "wrong switch" {
		t.Errorf("asked %+v", r.asked[0])
	}
	holds(t, ctx, `document.getElementById('status').textContent.includes('The inspection is aborted')`)
	if eval[bool](t, ctx, `!!document.getElementById('abort-`+one.UUID+`')`) {
		t.Error("the button is still there")
	}

	t.Log("who comes second reads who was first, and the dialog stays")
	do(t, ctx, chromedp.Click("#abort-"+two.UUID), chromedp.WaitVisible("dialog[open]"))
	r.end(two.UUID, node.InspectFailed, node.Aborted, node.Actor{User: "mara"}, noon)
	do(t, ctx, chromedp.Click("dialog button.danger"))
	holds(t, ctx, `document.querySelector('dialog[open] [role=alert]')?.textContent.includes('mara aborted this inspection')`)
	do(t, ctx, chromedp.KeyEvent("\x1b"))

	t.Log("a change elsewhere turns the row without reload, buttons included")
	r.edit(func() { r.nodes[2].ProvisionState = node.InspectWait })
	r.tell(three.UUID)
	holds(t, ctx, `!!document.getElementById('abort-`+three.UUID+`')`)
	r.edit(func() { r.nodes[2].ProvisionState = node.Manageable })
	r.tell(three.UUID)
	holds(t, ctx, `!document.getElementById('abort-`+three.UUID+`') && document.getElementById('count-ready').textContent === '1'`)

	t.Log("a node that is new appears on a page that shows all there are")
	four := r.add("r07-u24", node.Enroll)
	r.tell(four.UUID)
	holds(t, ctx, `!!document.getElementById('row-`+four.UUID+`')`)

	t.Log("a gap leads to one fresh page")
	r.end(three.UUID, node.CleanFailed, node.Failed, node.System(), noon)
	r.notices <- node.Notice{}
	holds(t, ctx, `document.getElementById('row-`+three.UUID+`').innerText.includes('clean failed') && document.title.startsWith('3 failed')`)

	if thrown := eval[[]string](t, ctx, `thrown`); len(thrown) > 0 {
		t.Errorf("the script threw %v", thrown)
	}
}

func TestInABrowserANodesPageFollowsAndKeepsWhatIsOpen(t *testing.T) {
	r := newRack()
	n := r.add("r07-u21", node.InspectWait)
	s := serve(t, r, 0)
	ctx := browser(t, s.base+"/ui/nodes/r07-u21")
	do(t, ctx, chromedp.Click("#not-now-summary"), chromedp.WaitVisible("#not-now[open] dl"))
	r.end(n.UUID, node.InspectFailed, node.Aborted, node.Actor{User: "mara"}, noon)
	r.tell(n.UUID)
	holds(t, ctx, `document.getElementById('node').innerText.includes('powering off…') && document.getElementById('not-now').open && document.activeElement.id === 'not-now-summary'`)

	do(t, ctx, chromedp.Click("#inspect-"+n.UUID))
	holds(t, ctx, `document.getElementById('node').innerText.includes('inspecting')`)

	r.edit(func() { r.nodes[0].ProvisionState, r.refuse = node.Manageable, &node.Locked{Holder: "appliance-1"} })
	r.tell(n.UUID)
	do(t, ctx, chromedp.WaitVisible("#provide-"+n.UUID), chromedp.Click("#provide-"+n.UUID), chromedp.WaitVisible("dialog[open]"))
	holds(t, ctx, `document.querySelector('dialog [role=alert]').textContent.includes('held by appliance-1')`)
	if thrown := eval[[]string](t, ctx, `thrown`); len(thrown) > 0 {
		t.Errorf("the script threw %v", thrown)
	}
}

// What a BMC tells comes into the page when somebody opens it, and stays there while the page goes on.
func TestInABrowserABMCIsAskedWhereOneStands(t *testing.T) {
	r, n := sickRack()
	s := serve(t, r, 0)
	ctx := browser(t, s.base+"/ui/nodes/r07-u21")
	if asked := r.bmc.questions(); asked != 0 {
		t.Fatalf("the BMC was asked %d times before anybody wanted to know", asked)
	}
	eval[bool](t, ctx, `window.neverReloaded = true`)

	t.Log("while the BMC thinks, the page says so, and can be used")
	hold := make(chan struct{})
	r.bmc.edit(func() { r.bmc.hold = hold })
	do(t, ctx, chromedp.Click("#part-sensors"))
	holds(t, ctx, `document.getElementById('panel').ariaBusy === 'true' && document.getElementById('panel').innerText.includes('Asking the BMC')`)
	holds(t, ctx, `document.getElementById('part-sensors').ariaCurrent === 'page' && document.getElementById('status').textContent.includes('Asking the BMC')`)

	t.Log("of two that were opened the second is shown, although the first comes later")
	r.bmc.edit(func() { r.bmc.hold = nil })
	do(t, ctx, chromedp.Click("#part-health"))
	holds(t, ctx, `document.getElementById('panel').innerText.includes('No input voltage.')`)
	close(hold)
	do(t, ctx, chromedp.Click("#part-sensors"))
	holds(t, ctx, `!!document.querySelector('#panel .out')?.innerText.includes('Critical: above 42') && document.activeElement.id === 'part-sensors'`)
	holds(t, ctx, `document.querySelectorAll('#part-sensors[aria-current]').length === 1 && document.querySelectorAll('#part [aria-current]').length === 1`)

	t.Log("the rest of the page follows the server, and what was opened stays")
	r.edit(func() { r.nodes[0].TargetPowerState = node.PowerOff })
	r.tell(n.UUID)
	holds(t, ctx, `document.getElementById('node').innerText.includes('powering off…') && !!document.querySelector('#panel .out')`)

	t.Log("the light is switched where it stands, and the focus stays on the button")
	do(t, ctx, chromedp.Click("#part-light"), chromedp.WaitVisible("#light-blinking"), chromedp.Click("#light-blinking"))
	holds(t, ctx, `document.getElementById('panel').innerText.includes('is blinking') && document.getElementById('light-blinking').ariaPressed === 'true' && document.activeElement.id === 'light-blinking'`)

	t.Log("more of the log, and an end of it")
	do(t, ctx, chromedp.Click("#part-log"), chromedp.WaitVisible("#part-more"), chromedp.Click("#part-more"))
	holds(t, ctx, `document.querySelectorAll('#panel .log li').length === 30`)
	do(t, ctx, chromedp.Click("#clear-log"), chromedp.WaitVisible("dialog[open]"))
	holds(t, ctx, `document.activeElement.textContent === 'Keep it'`)
	if done := r.bmc.told(); len(done) != 1 {
		t.Errorf("before it was confirmed: %v", done)
	}
	do(t, ctx, chromedp.Click("dialog button.danger"))
	holds(t, ctx, `!document.querySelector('dialog').open && document.getElementById('panel').innerText.includes('The log is empty.') && !!document.activeElement.closest('#part')`)
	holds(t, ctx, `document.getElementById('status').textContent.includes('The event log is cleared.')`)

	t.Log("a BMC that falls silent is a sentence with a button that tries again")
	r.bmc.edit(func() {
		r.bmc.silent = &node.Unreachable{What: "BMC 192.0.2.10", Timeout: true, Err: errors.New("no answer within 10s")}
	})
	do(t, ctx, chromedp.Click("#part-health"))
	holds(t, ctx, `!!document.querySelector('#panel [role=alert]')?.textContent.includes('did not answer in time')`)
	r.bmc.edit(func() { r.bmc.silent = nil })
	do(t, ctx, chromedp.Click("#part-again"))
	holds(t, ctx, `document.getElementById('panel').innerText.includes('No input voltage.') && document.activeElement.id === 'part-again'`)

	t.Log("a node that is gone says so, too")
	r.edit(func() { r.nodes = nil })
	do(t, ctx, chromedp.Click("#part-boot"))
	holds(t, ctx, `!!document.querySelector('#panel [role=alert]')?.textContent.includes('could not be found')`)
	if !eval[bool](t, ctx, `neverReloaded`) {
		t.Error("the page was loaded anew")
	}
	if thrown := eval[[]string](t, ctx, `thrown`); len(thrown) > 0 {
		t.Errorf("the script threw %v", thrown)
	}
}

// A part on its own page keeps to links; what changes something asks back in a dialog there, too.
func TestInABrowserAPartHasAPageOfItsOwn(t *testing.T) {
	r, _ := sickRack()
	s := serve(t, r, 0)
	ctx := browser(t, s.base+"/ui/nodes/r07-u21")
	do(t, ctx, chromedp.Navigate(s.base+"/ui/nodes/r07-u21/health"), chromedp.Click("#part-log"))
	holds(t, ctx, `location.pathname.endsWith('/log') && document.querySelectorAll('#panel .log li').length === 20`)
	do(t, ctx, chromedp.Click("#clear-log"), chromedp.WaitVisible("dialog[open]"), chromedp.Click("dialog button.danger"))
	holds(t, ctx, `!document.querySelector('dialog').open && document.getElementById('panel').innerText.includes('The log is empty.') && !document.querySelector('a[data-part]')`)
	do(t, ctx, chromedp.Click("#part-light"))
	do(t, ctx, chromedp.WaitVisible("#light-on"), chromedp.Click("#light-on"))
	holds(t, ctx, `location.pathname.endsWith('/light') && document.getElementById('panel').innerText.includes('is on')`)
	if done := r.bmc.told(); !slices.Equal(done, []string{"clear log", "light on"}) {
		t.Errorf("the BMC was told %v", done)
	}
}

// style.md §8.3: nothing is wider than a phone, and a thumb can hit it.
func TestInABrowserThePartsFitAPhone(t *testing.T) {
	r, _ := sickRack()
	r.bmc.health.Parts[0].Message = strings.Repeat("W", 400)
	r.bmc.bios[strings.Repeat("Attribute", 20)] = strings.Repeat("v", 300)
	s := serve(t, r, 0)
	ctx := browser(t, s.base+"/ui/nodes/r07-u21")
	do(t, ctx, chromedp.EmulateViewport(360, 740))
	for _, key := range templates.PartKeys() {
		do(t, ctx, chromedp.Click("#part-"+key))
		holds(t, ctx, `!!document.querySelector('#panel .below')`)
		if wide := eval[int](t, ctx, `document.documentElement.scrollWidth`); wide > 360 {
			t.Errorf("%s makes the page %d wide", key, wide)
		}
		if low := eval[string](t, ctx, `[...document.querySelectorAll('#part a, #part button')].filter(e => e.getBoundingClientRect().height < 44).map(e => e.id).join()`); low != "" {
			t.Errorf("%s: too low for a thumb: %s", key, low)
		}
	}
}
