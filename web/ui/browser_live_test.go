package ui_test

import (
	"net/http"
	"testing"
	"time"

	"github.com/chromedp/chromedp"

	"cagenut/node"
)

// hide lets the page believe that nobody sees it, or that somebody does again.
func hide(is string) string {
	return `Object.defineProperty(document, 'hidden', { configurable: true, get: () => ` + is + ` }); document.dispatchEvent(new Event('visibilitychange')); true`
}

// Whatever a person is at stays the very element: what changes around it does not take it away.
func TestInABrowserNothingIsTakenAwayThatAPersonIsAt(t *testing.T) {
	r := newRack()
	one, two := r.add("r07-u21", node.InspectWait), r.add("r07-u22", node.Manageable)
	three := r.add("r07-u23", node.Manageable)
	s := serve(t, r, 0)
	ctx := browser(t, s.base+"/ui")
	do(t, ctx, chromedp.Click("#pick-"+one.UUID), chromedp.Click("#pick-"+two.UUID), chromedp.SendKeys("input[type=search]", "r07-u9"))
	holds(t, ctx, `document.querySelector('[data-chosen-count]').textContent === '2 chosen'`)
	eval[bool](t, ctx, `window.field = document.querySelector('input[type=search]'); field.setSelectionRange(2, 4); window.box = document.getElementById('pick-`+one.UUID+`'); true`)
	same := func(when string) {
		t.Helper()
		holds(t, ctx, `document.querySelector('input[type=search]') === field && document.activeElement === field && field.value === 'r07-u9' && field.selectionStart === 2 && field.selectionEnd === 4`)
		holds(t, ctx, `document.getElementById('pick-`+one.UUID+`') === box && box.checked && document.getElementById('pick-`+two.UUID+`').checked && !document.getElementById('pick-`+three.UUID+`').checked`)
		holds(t, ctx, `document.querySelector('[data-chosen-count]').textContent === '2 chosen'`)
		t.Log("kept", when)
	}

	r.end(one.UUID, node.InspectFailed, node.Aborted, node.Actor{User: "mara"}, noon)
	r.tell(one.UUID)
	holds(t, ctx, `document.getElementById('row-`+one.UUID+`').innerText.includes('inspect failed')`)
	same("while the row changed")

	four := r.add("r07-u20", node.InspectWait)
	r.tell(four.UUID)
	holds(t, ctx, `!!document.getElementById('row-`+four.UUID+`')`)
	same("while a node came")

	r.edit(func() { r.nodes[2].ProvisionState = node.CleanFailed })
	r.notices <- node.Notice{}
	holds(t, ctx, `document.getElementById('row-`+three.UUID+`').innerText.includes('clean failed')`)
	same("while the page was fetched again, and rows changed their order")

	t.Log("the box in the heading chooses all, and no row that is gone")
	r.edit(func() { r.nodes = r.nodes[:3] })
	r.tell(four.UUID)
	holds(t, ctx, `document.getElementById('row-`+four.UUID+`').matches('.gone')`)
	do(t, ctx, chromedp.Click("[data-select-all]"))
	holds(t, ctx, `document.querySelectorAll('[name=node]:checked').length === 3 && document.querySelector('[data-chosen-count]').textContent === '3 chosen'`)
	do(t, ctx, chromedp.Click("#pick-"+two.UUID))
	holds(t, ctx, `document.querySelector('[data-select-all]').indeterminate`)
	if thrown := eval[[]string](t, ctx, `thrown`); len(thrown) > 0 {
		t.Errorf("the script threw %v", thrown)
	}
}

// A server whose BMC does not answer keeps the health that it had: the filter by either shows it. Small windows say it too.
func TestInABrowserASickServerThatFallsSilentStaysInItsFilter(t *testing.T) {
	r := newRack()
	n := r.add("r07-u21", node.Manageable, func(n *node.Node) { n.Health = node.HealthCritical })
	s := serve(t, r, 0)
	ctx := browser(t, s.base+"/ui?health=Critical")
	row := `document.getElementById('row-` + n.UUID + `')`
	r.edit(func() { r.nodes[0].BMCUnreachableSince = noon })
	r.tell(n.UUID)
	holds(t, ctx, row+`.innerText.includes('BMC unreachable')`)
	holds(t, ctx, `!`+row+`.classList.contains('left')`)
	r.edit(func() { r.nodes[0].Health = node.HealthWarning })
	r.tell(n.UUID)
	holds(t, ctx, row+`.classList.contains('left')`)
}

// A page for which there is no stream left is told apart from one whose connection is lost, and is right all the same.
func TestInABrowserAPageBeyondTheLimitSaysSoAndIsFetchedAnew(t *testing.T) {
	r := newRack()
	n := r.add("r07-u21", node.InspectWait)
	s := serve(t, r, 1)
	ctx := browser(t, s.base+"/ui")
	eval[bool](t, ctx, hide("true"))
	// That its client has left, the appliance finds out at the next beat.
	taken := false
	for deadline := time.Now().Add(30 * time.Second); !taken && time.Now().Before(deadline); time.Sleep(50 * time.Millisecond) {
		resp, _ := s.stream("/ui/events?view=list&after=" + s.hub.Position())
		if taken = resp.StatusCode == http.StatusOK; !taken {
			_ = resp.Body.Close()
		}
	}
	if !taken {
		t.Fatal("the hidden page still holds the only stream")
	}
	r.end(n.UUID, node.InspectFailed, node.Aborted, node.Actor{User: "mara"}, noon)
	eval[bool](t, ctx, hide("false"))
	holds(t, ctx, `document.getElementById('live').dataset.state === 'full' && document.getElementById('live').textContent.includes('Too many pages are open')`)
	holds(t, ctx, `document.getElementById('row-`+n.UUID+`').innerText.includes('inspect failed')`)
}

// WCAG and G55: the way without a mouse.
func TestInABrowserTheKeysChooseAndAskButNeverAct(t *testing.T) {
	r := newRack()
	one := r.add("r07-u21", node.InspectWait)
	r.add("r07-u22", node.Manageable)
	s := serve(t, r, 0)
	ctx := browser(t, s.base+"/ui")
	do(t, ctx, chromedp.KeyEvent("j"), chromedp.KeyEvent("x"))
	holds(t, ctx, `document.activeElement.closest('tr').id === 'row-`+one.UUID+`' && document.getElementById('pick-`+one.UUID+`').checked`)
	do(t, ctx, chromedp.KeyEvent("a"))
	holds(t, ctx, `document.querySelector('dialog').open && document.activeElement.textContent === 'Keep running'`)
	do(t, ctx, chromedp.KeyEvent("\r"))
	holds(t, ctx, `!document.querySelector('dialog').open`)
	eval[bool](t, ctx, `document.dispatchEvent(new KeyboardEvent('keydown', { key: 'a', ctrlKey: true, bubbles: true })); true`)
	// The tool that presses the keys sends the character apart from the key, so that it may arrive although the key was taken.
	do(t, ctx, chromedp.KeyEvent("/"), chromedp.KeyEvent("a"))
	holds(t, ctx, `document.activeElement.type === 'search' && document.activeElement.value.endsWith('a') && !document.querySelector('dialog').open`)
	if len(r.asked) != 0 {
		t.Errorf("the conductor was asked %+v", r.asked)
	}
}
