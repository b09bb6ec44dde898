package ui_test

import (
	"strings"
	"testing"

	"github.com/chromedp/chromedp"

	"cagenut/node"
)

// style.md §8.5: without an answer nothing is known of the result; the dialog says so and stays, and a second press asks again.
func TestInABrowserAnAbortWithoutAnAnswerSaysThatNothingIsKnown(t *testing.T) {
	r, n := waitingRack()
	s := serve(t, r, 0)
	ctx := browser(t, s.base+"/ui/nodes/r07-u21")
	do(t, ctx, chromedp.Click("#abort-"+n.UUID), chromedp.WaitVisible("dialog[open]"))
	eval[bool](t, ctx, `window.reached = fetch; window.fetch = () => Promise.reject(new TypeError('no network')); true`)
	do(t, ctx, chromedp.Click("dialog button.danger"))
	holds(t, ctx, `document.querySelector('dialog[open] [role=alert]').textContent.includes('Nothing is known about the result')`)
	holds(t, ctx, `!document.querySelector('dialog button.danger').disabled`)
	if len(r.asked) != 0 {
		t.Fatal("something was asked")
	}
	eval[bool](t, ctx, `window.fetch = reached; true`)
	do(t, ctx, chromedp.Click("dialog button.danger"))
	holds(t, ctx, `!document.querySelector('dialog').open && document.getElementById('node').innerText.includes('inspect failed')`)
}

// Point 3 on a phone held in one hand: Abort is seen without scrolling, nothing is wider than the window, and a thumb can hit it.
func TestInABrowserANodeInTroubleFitsAPhone(t *testing.T) {
	long := strings.Repeat("W", 700)
	r, n := troubled(node.InspectFailed, failedWith("Ramdisk reported error: "+long, true))
	r.edit(func() {
		r.nodes[0].BMCUnreachableSince, r.nodes[0].BMCError, r.nodes[0].Health, r.nodes[0].HealthAt = noon, long, node.HealthCritical, noon
		r.nodes[0].Maintenance, r.nodes[0].MaintenanceReason = true, long
		r.history = []node.History{{NodeUUID: n.UUID, At: noon, Event: long, Reason: long, Actor: node.Actor{User: long, RequestID: "req-" + long[:36]}}}
		r.inventory[n.UUID] = []byte(`{"disks":[{"name":"` + long + `"}],"interfaces":[{"name":"` + long + `","mac_address":"` + long + `"}],"hostname":"` + long + `"}`)
	})
	waits := r.add("r07-u22", node.InspectWait)
	s := serve(t, r, 0)
	ctx := browser(t, s.base+"/ui/nodes/r07-u21")
	do(t, ctx, chromedp.EmulateViewport(360, 740))
	for _, path := range []string{"/ui/nodes/r07-u21", "/ui/nodes/r07-u22", "/ui/nodes/r07-u21/history", "/ui/nodes/r07-u21/attempts", "/ui/nodes/r07-u21/edit", "/ui/nodes/r07-u21/delete", "/ui/nodes/r07-u21/maintenance?to=on"} {
		do(t, ctx, chromedp.Navigate(s.base+path))
		holds(t, ctx, `document.readyState === 'complete'`)
		if wide := eval[int](t, ctx, `document.documentElement.scrollWidth`); wide > 360 {
			t.Errorf("%s is %d wide", path, wide)
		}
		low := eval[string](t, ctx, `[...document.querySelectorAll('main a, main button, main summary, main input:not([type=hidden]):not([type=checkbox])')].filter(e => e.getClientRects().length && e.getBoundingClientRect().height < 44).map(e => e.outerHTML.slice(0, 120)).join('\n')`)
		if low != "" {
			t.Errorf("%s: too low for a thumb:\n%s", path, low)
		}
	}
	do(t, ctx, chromedp.Navigate(s.base+"/ui/nodes/r07-u22"))
	if below := eval[float64](t, ctx, `document.getElementById('abort-`+waits.UUID+`').getBoundingClientRect().bottom`); below > 740 {
		t.Errorf("Abort ends at %.0f, beneath the window", below)
	}
}
