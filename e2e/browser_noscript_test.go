package e2e_test

import (
	"context"
	"testing"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"
)

// withoutScript opens a page in a browser whose pages run no script.
func withoutScript(t *testing.T, address string) *window {
	t.Helper()
	w := newWindow(t)
	w.do(func(ctx context.Context, t *chromedp.Target) (chromedp.Void, error) {
		return chromedp.Void{}, errorOf(cdp.Call(ctx, t, emulation.SetScriptExecutionDisabled, emulation.SetScriptExecutionDisabledParams{Value: true}))
	}, chromedp.Navigate(address))
	w.holds(`document.readyState === 'complete' && document.getElementById('live')?.dataset.state !== 'live'`)
	return w
}

// Issue 6, point 7: with JavaScript off everything still works by forms and reload.
func TestInABrowserWithoutScriptAnInspectionIsStartedAndAborted(t *testing.T) {
	peer(t, "chromium", "chromium-browser", "google-chrome")
	a, silent := demo(t)
	uuid := a.node(silent).UUID
	row := `document.getElementById('row-` + uuid + `').innerText`
	w := withoutScript(t, a.base+"/ui")

	t.Log("a form's button starts it, and the list says so")
	w.do(chromedp.Click("#inspect-" + uuid))
	w.holds(`document.getElementById('notice')?.innerText.includes('Accepted') === true`)
	a.waitFor(silent, "inspect wait")

	t.Log("Abort is a link to a page that asks")
	w.do(chromedp.Navigate(a.base+"/ui"), chromedp.Click("#abort-"+uuid), chromedp.WaitVisible("form.confirm, .confirm form"))
	w.holds(`document.querySelector('main').innerText.includes('` + silent + `')`)
	w.do(chromedp.SendKeys("main [name=reason]", "patched into the wrong switch"), chromedp.Click("main button.danger"))
	w.holds(`document.getElementById('notice')?.innerText.includes('aborted') === true && ` + row + `.includes('inspect failed')`)
	if n := a.node(silent); n.ProvisionState != "inspect failed" {
		t.Errorf("the page says aborted, the node is %s", n.ProvisionState)
	}
	if all := a.attempts(silent); all[0].Reason == nil || *all[0].Reason != "patched into the wrong switch" {
		t.Errorf("the reason is not kept: %+v", all[0])
	}
}
