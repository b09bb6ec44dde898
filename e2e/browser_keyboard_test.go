package e2e_test

import (
	"fmt"
	"testing"

	"github.com/chromedp/chromedp"
)

// Everything can be done without a mouse: found, chosen, opened and aborted.
func TestInABrowserTheKeysDoEverything(t *testing.T) {
	peer(t, "chromium", "chromium-browser", "google-chrome")
	a, silent := demo(t)
	uuid := a.node(silent).UUID
	a.verb(silent, "inspect")
	a.waitFor(silent, "inspect wait")
	w := browse(t, a.base+"/ui")
	w.holds(`!!document.getElementById('abort-` + uuid + `')`)
	press := func(keys ...string) {
		t.Helper()
		for _, k := range keys {
			w.do(chromedp.KeyEvent(k))
		}
	}
	in := func(id string) string { return `document.activeElement.closest('tr')?.id === '` + id + `'` }

	t.Log("the first row is the one that waits; j and k move, and so do the arrows once a row has the focus")
	press("j")
	w.holds(in("row-" + uuid))
	press("j")
	w.holds(`!(` + in("row-"+uuid) + `)`)
	press("k")
	w.holds(in("row-" + uuid))
	press("\uE015", "\uE013")
	w.holds(in("row-" + uuid))

	t.Log("x chooses the row, and leaves it out again")
	press("x")
	w.holds(`document.getElementById('pick-` + uuid + `').checked && document.querySelector('[data-chosen-count]').textContent === '1 chosen'`)
	press("x")
	w.holds(`!document.getElementById('pick-` + uuid + `').checked`)

	t.Log("/ goes to the search; there the keys are letters")
	press("/", "a", "x", "j")
	w.holds(`document.activeElement.type === 'search' && document.activeElement.value.endsWith('axj') && !document.querySelector('dialog').open`)
	w.holds(`document.activeElement.value = ''; document.activeElement.blur(); true`)

	t.Log("a asks, and does nothing by itself")
	press("j", "a")
	w.holds(`document.querySelector('dialog').open && document.activeElement.textContent === 'Keep running'`)
	press("\x1b")
	w.holds(`!document.querySelector('dialog').open`)
	if n := a.node(silent); n.ProvisionState != "inspect wait" {
		t.Fatalf("the node is %s", n.ProvisionState)
	}
	press("a")
	w.holds(`document.querySelector('dialog').open`)
	w.do(chromedp.Focus("dialog button.danger"), chromedp.KeyEvent("\r"))
	w.holds(`!document.querySelector('dialog').open && document.getElementById('row-` + uuid + `').innerText.includes('inspect failed')`)

	t.Log("g r leads to the racks, g n back, ? to the help, Enter opens a node")
	press("g", "r")
	w.holds(`location.pathname === '/ui/racks' && document.readyState === 'complete'`)
	press("g", "n")
	w.holds(`location.pathname === '/ui' && document.getElementById('live')?.dataset.state === 'live'`)
	press("j", "\r")
	w.holds(`location.pathname.startsWith('/ui/nodes/') && document.getElementById('live')?.dataset.state === 'live'`)
	press("?")
	w.holds(`location.pathname === '/ui/help' && document.readyState === 'complete'`)

	t.Log("switched off, they are letters everywhere")
	w.do(chromedp.Click("[name=keys][value=off]"))
	w.holds(`document.body.dataset.keys === 'off' && document.readyState === 'complete'`)
	w.do(chromedp.Navigate(a.base + "/ui"))
	w.holds(`document.getElementById('live')?.dataset.state === 'live'`)
	press("j", "/", "g", "r")
	w.holds(`location.pathname === '/ui' && document.activeElement === document.body`)
}

// WCAG 2.4.7, 2.4.11, 2.5.8: what has the focus can be seen, beneath no bar, and a thumb hits what it aims at.
func TestInABrowserTheFocusIsSeenAndTargetsAreLargeEnough(t *testing.T) {
	peer(t, "chromium", "chromium-browser", "google-chrome")
	a, silent := demo(t)
	for _, path := range []string{"/ui", "/ui/nodes/" + silent, "/ui/help"} {
		w := newWindow(t)
		w.do(chromedp.Navigate(a.base + path))
		for _, size := range []struct{ wide, high, least int64 }{{1280, 500, 24}, {390, 700, 44}} {
			// After a key the browser marks the focus, as it does for people without a mouse.
			w.do(chromedp.EmulateViewport(size.wide, size.high), chromedp.KeyEvent("\t"))
			w.holds(`(() => {
				window.hidden = []
				document.activeElement.blur()
				for (const e of document.querySelectorAll('main a, main button, main input:not([type=hidden]), main select, main summary')) {
					if (!e.checkVisibility() || e.closest('details:not([open]) > :not(summary)')) continue
					e.focus()
					if (document.activeElement !== e) continue
					const r = e.getBoundingClientRect(), top = document.querySelector('.top').getBoundingClientRect().bottom
					const bar = document.querySelector('.selection')?.getBoundingClientRect()
					const beneath = bar && r.top >= bar.top && r.bottom <= bar.bottom && !e.closest('.selection')
					if (r.top < top - 1 || r.bottom > innerHeight + 1 || beneath) hidden.push(e.id || e.textContent)
					if (getComputedStyle(e).outlineStyle === 'none') hidden.push('no outline: ' + (e.id || e.textContent))
				}
				return true
			})()`)
			if hidden := w.text(`hidden.join(', ')`); hidden != "" {
				t.Errorf("%s at %d: hidden or not marked when focused: %s", path, size.wide, hidden)
			}
			// A lone checkbox has room around it instead (2.5.8, spacing).
			small := w.text(`[...document.querySelectorAll('a.button, button, label input[type=checkbox], summary, .tabs a, #ways a')].filter(e => e.checkVisibility()).filter(e => { const r = (e.closest('label') ?? e).getBoundingClientRect(); return r.height < ` + fmt.Sprint(size.least) + ` - .5 && r.width > 0 }).map(e => e.id || e.textContent.trim()).join(', ')`)
			if small != "" {
				t.Errorf("%s at %d: lower than %d: %s", path, size.wide, size.least, small)
			}
			if wide := w.text(`document.documentElement.scrollWidth > innerWidth ? 'wider than the window' : ''`); wide != "" {
				t.Errorf("%s at %d is %s", path, size.wide, wide)
			}
		}
	}
}

// On a phone the pages are behind one button, which needs no script.
func TestInABrowserTheMenuOfAPhoneNeedsNoScript(t *testing.T) {
	peer(t, "chromium", "chromium-browser", "google-chrome")
	a, _ := demo(t)
	w := newWindow(t)
	w.do(chromedp.Navigate(a.base + "/ui/help"))
	w.do(chromedp.EmulateViewport(390, 800))
	w.holds(`!document.getElementById('ways').checkVisibility()`)
	w.do(chromedp.Click(".button.ways"))
	w.holds(`document.getElementById('ways').matches(':popover-open') && [...document.querySelectorAll('#ways a')].every(a => a.getBoundingClientRect().height >= 44)`)
	w.do(chromedp.KeyEvent("\x1b"))
	w.holds(`!document.getElementById('ways').checkVisibility()`)
	w.do(chromedp.EmulateViewport(1280, 800))
	w.holds(`document.getElementById('ways').checkVisibility()`)
}
