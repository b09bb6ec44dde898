package ui_test

import (
	"strings"
	"testing"

	"github.com/chromedp/chromedp"

	"cagenut/node"
)

// Issue 5, point 8, and G17, G18: an attempt's page follows, and keeps the focus on the way.
func TestInABrowserAnAttemptIsFollowedAndAborted(t *testing.T) {
	r, n := waitingRack()
	s := serve(t, r, 0)
	ctx := browser(t, s.base+"/ui/nodes/r07-u21")
	holds(t, ctx, `document.getElementById('how-far').innerText.includes('check the cabling of the boot NIC')`)
	do(t, ctx, chromedp.Click("#how-far-all"))
	holds(t, ctx, `location.pathname.includes('/attempts/') && document.getElementById('live')?.dataset.state === 'live'`)
	eval[bool](t, ctx, `window.thrown = []; addEventListener('error', e => thrown.push(e.message)); window.neverReloaded = true`)

	t.Log("a sign of life is seen when it comes")
	do(t, ctx, chromedp.Focus("#abort-"+n.UUID))
	r.sign(n.AttemptID, node.Sign{Kind: node.SignBootScript, FirstAt: noon, LastAt: noon, Times: 1, Detail: "52:54:00:aa:00:01"})
	r.tell(n.UUID)
	holds(t, ctx, `document.querySelector('.timeline').innerText.includes('52:54:00:aa:00:01') && document.getElementById('how-far').innerText.includes('Boot script fetched')`)
	holds(t, ctx, `document.activeElement.id === 'abort-`+n.UUID+`'`)

	t.Log("the question tells it, too, and the page then says what became of it")
	do(t, ctx, chromedp.Click("#abort-"+n.UUID), chromedp.WaitVisible("dialog[open]"))
	holds(t, ctx, `document.querySelector('dialog').innerText.includes('check the cabling of the boot NIC') && document.activeElement.textContent === 'Keep running'`)
	do(t, ctx, chromedp.Click("dialog button.danger"))
	holds(t, ctx, `!document.querySelector('dialog').open && document.querySelector('#attempt .now').innerText.includes('aborted') && !document.getElementById('abort-`+n.UUID+`')`)
	if !eval[bool](t, ctx, `neverReloaded`) {
		t.Error("the page was loaded anew")
	}
	if thrown := eval[[]string](t, ctx, `thrown`); len(thrown) > 0 {
		t.Errorf("the script threw %v", thrown)
	}
}

// style.md §8.3: nothing is wider than a phone, and a thumb can hit it.
func TestInABrowserInspectionsFitAPhone(t *testing.T) {
	r, n := inspectedRack()
	long := strings.Repeat("W", 300)
	r.differ([]node.PartChange{
		turned("system", "", field("serial number", long, "EB-2")), came("disk", long, field(long, "", long)), went("disk", "S1", field("bytes", "960197124096", ""), field("model", "EXAMPLE 960", "")),
	}, "The serial number was "+long+" and is EB-2 now.")
	r.edit(func() {
		a := r.attempts[newest]
		a.Notes, a.Reason, a.Error = []string{long}, long, long
		r.attempts[newest] = a
		r.kept.signs = map[string][]node.Sign{newest: {{Kind: node.SignHeartbeat, FirstAt: noon, LastAt: noon, Times: 57, Detail: long}}}
		r.kept.files = map[string]map[string]string{newest: {"journal": long, long: "x"}}
	})
	waits := r.add("r07-u22", node.InspectWait)
	r.edit(func() { r.kept.advice = map[string]string{waits.AttemptID: noBoot} })
	s := serve(t, r, 0)
	ctx := browser(t, s.base+"/ui/nodes/r07-u21")
	do(t, ctx, chromedp.EmulateViewport(360, 740))
	at := "/ui/nodes/r07-u21/attempts/" + newest
	for _, path := range []string{
		"/ui/nodes/r07-u21", "/ui/nodes/r07-u22", at, "/ui/nodes/r07-u21/inspections", at + "/logs", at + "/logs/file?name=journal", "/ui/nodes/r07-u22/abort", "/ui/nodes/" + n.UUID + "/reapply",
	} {
		do(t, ctx, chromedp.Navigate(s.base+path))
		holds(t, ctx, `document.readyState === 'complete'`)
		if wide := eval[int](t, ctx, `document.documentElement.scrollWidth`); wide > 360 {
			t.Errorf("%s is %d wide", path, wide)
		}
		low := eval[string](t, ctx, `[...document.querySelectorAll('main a, main button, main select')].filter(e => e.getBoundingClientRect().height < 44).map(e => e.outerHTML.slice(0, 120)).join('\n')`)
		if low != "" {
			t.Errorf("%s: too low for a thumb:\n%s", path, low)
		}
	}
}
