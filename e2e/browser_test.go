package e2e_test

import (
	"context"
	"html"
	"io"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
)

// window is a browser of its own, with a page in it.
type window struct {
	t   *testing.T
	ctx context.Context
}

// browse opens a page in a browser of its own.
func browse(t *testing.T, address string) *window {
	t.Helper()
	w := newWindow(t)
	w.do(chromedp.Navigate(address))
	w.holds(`document.getElementById('live').dataset.state === 'live'`)
	w.holds(`window.neverReloaded = true`)
	return w
}

// newWindow is a browser in which nothing is open yet.
func newWindow(t *testing.T) *window { return windowFor(t, 3*patience) }

// windowFor is newWindow for a test that looks at much.
func windowFor(t *testing.T, atMost time.Duration) *window {
	t.Helper()
	path := peer(t, "chromium", "chromium-browser", "google-chrome")
	ctx, cancel := context.WithTimeout(t.Context(), atMost)
	t.Cleanup(cancel)
	ctx, cancel = chromedp.NewExecAllocator(ctx, append(chromedp.DefaultExecAllocatorOptions[:], chromedp.ExecPath(path), chromedp.NoSandbox,
		chromedp.Flag("disable-quic", true), chromedp.Flag("disable-component-update", true),
		chromedp.Flag("disable-background-networking", true), chromedp.Flag("disable-sync", true))...)
	t.Cleanup(cancel)
	ctx, cancel = chromedp.NewContext(ctx)
	t.Cleanup(cancel)
	return &window{t: t, ctx: ctx}
}

func (w *window) do(steps ...chromedp.Action[chromedp.Void]) {
	w.t.Helper()
	if err := chromedp.Do(w.ctx, steps...); err != nil {
		w.t.Fatal(err)
	}
}

// holds waits until an expression is true.
func (w *window) holds(script string) {
	w.t.Helper()
	until(w.t, script, func() bool {
		v, err := chromedp.Run(w.ctx, chromedp.Evaluate[bool](script))
		if err != nil {
			w.t.Fatalf("%s: %v", script, err)
		}
		return v
	})
}

func TestInTwoBrowsersAnAbortInOneIsSeenInTheOther(t *testing.T) {
	peer(t, "chromium", "chromium-browser", "google-chrome")
	a, silent := demo(t)
	uuid := a.node(silent).UUID
	row := `document.getElementById('row-` + uuid + `').innerText`
	first, second := browse(t, a.base+"/ui"), browse(t, a.base+"/ui")

	t.Log("an inspection is started in the first browser, and both come to wait for the ramdisk")
	first.do(chromedp.Click("#inspect-" + uuid))
	for _, w := range []*window{first, second} {
		w.holds(row + `.includes('inspect wait')`)
		w.holds(`!!document.getElementById('abort-` + uuid + `')`)
	}

	t.Log("Abort asks, takes a reason, and is done when the dialog closes")
	first.do(chromedp.Click("#abort-"+uuid), chromedp.WaitVisible("dialog[open]"), chromedp.SendKeys("dialog [name=reason]", "patched into the wrong switch"))
	if n := a.node(silent); n.ProvisionState != "inspect wait" {
		t.Fatalf("before it was confirmed, the node is %s", n.ProvisionState)
	}
	first.do(chromedp.Click("dialog button.danger"))
	first.holds(`!document.querySelector('dialog').open && ` + row + `.includes('inspect failed')`)
	if n := a.node(silent); n.ProvisionState != "inspect failed" {
		t.Errorf("the row says inspect failed, the node is %s", n.ProvisionState)
	}

	t.Log("the second browser's row changes by itself")
	second.holds(row + `.includes('inspect failed') && !document.getElementById('abort-` + uuid + `')`)
	second.holds(`window.neverReloaded === true`)
	first.holds(`window.neverReloaded === true`)

	if attempts := a.attempts(silent); len(attempts) != 1 || attempts[0].Reason == nil || *attempts[0].Reason != "patched into the wrong switch" {
		t.Errorf("the attempts are %+v", attempts)
	}
	t.Log("the server ends up off, and the row says so")
	second.holds(row + `.includes('off') && !` + row + `.includes('powering')`)
}

// page is what a browser without a script works with: HTML, links, forms.
type page struct {
	address string
	text    string
}

func (a *appliance) page(resp *http.Response, err error) page {
	a.t.Helper()
	if err != nil {
		a.t.Fatal(err)
	}
	defer func() { _ = resp.Body.Close() }()
	text, err := io.ReadAll(resp.Body)
	if err != nil || resp.StatusCode != http.StatusOK {
		a.t.Fatalf("%s: %s %v\n%s", resp.Request.URL, resp.Status, err, text)
	}
	return page{address: resp.Request.URL.String(), text: string(text)}
}

func (a *appliance) open(path string) page {
	a.t.Helper()
	return a.page(a.get(path), nil)
}

// submit sends the form of a page that contains a text, with its hidden fields and what was typed.
func (a *appliance) submit(p page, holding string, typed url.Values) page {
	a.t.Helper()
	for _, form := range regexp.MustCompile(`(?s)<form[^>]*method="post"[^>]*>.*?</form>`).FindAllString(p.text, -1) {
		if !strings.Contains(form, holding) {
			continue
		}
		fields := url.Values{}
		for _, m := range regexp.MustCompile(`<input type="hidden" name="([^"]*)" value="([^"]*)"`).FindAllStringSubmatch(form, -1) {
			fields.Set(m[1], html.UnescapeString(m[2]))
		}
		for name, values := range typed {
			fields[name] = values
		}
		action := regexp.MustCompile(`action="([^"]*)"`).FindStringSubmatch(form)[1]
		return a.page(a.post(html.UnescapeString(action), fields), nil)
	}
	a.t.Fatalf("%s has no form with %s:\n%s", p.address, holding, p.text)
	return page{}
}

// post sends a form as a browser does from a page of the appliance.
func (a *appliance) post(path string, fields url.Values) *http.Response {
	a.t.Helper()
	req, err := http.NewRequestWithContext(a.t.Context(), "POST", a.base+path, strings.NewReader(fields.Encode()))
	if err != nil {
		a.t.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	req.Header.Set("Origin", a.base)
	req.Header.Set("Accept", "text/html")
	resp, err := client.Do(req)
	if err != nil {
		a.t.Fatal(err)
	}
	return resp
}

// row is a node's row of the list.
func (p page) row(uuid string) string {
	_, after, _ := strings.Cut(p.text, `id="row-`+uuid+`"`)
	row, _, _ := strings.Cut(after, "</tr>")
	return row
}

func TestWithoutAScriptAnAbortIsALinkAndAForm(t *testing.T) {
	a, silent := demo(t)
	uuid := a.node(silent).UUID

	p := a.submit(a.open("/ui"), `id="inspect-`+uuid+`"`, nil)
	if !strings.HasPrefix(p.address, a.base+"/ui?") || !strings.Contains(p.text, "The inspection is starting.") {
		t.Errorf("after Inspect the browser is at %s, and does not say that it starts", p.address)
	}
	a.waitFor(silent, "inspect wait")

	list := a.open("/ui")
	link := regexp.MustCompile(`<a id="abort-` + uuid + `"[^>]*href="([^"]*)"`).FindStringSubmatch(list.text)
	if link == nil {
		t.Fatalf("the row has no link to the abort: %s", list.row(uuid))
	}
	question := a.open(html.UnescapeString(link[1]))
	if !strings.Contains(question.text, "Keep running") {
		t.Errorf("the page does not ask back:\n%s", question.text)
	}
	after := a.submit(question, `name="reason"`, url.Values{"reason": {"patched into the wrong switch"}})
	if !strings.HasPrefix(after.address, a.base+"/ui?") {
		t.Errorf("the form leads to %s, want back to the list", after.address)
	}
	if row := after.row(uuid); !strings.Contains(row, "inspect failed") {
		t.Errorf("the row is %s", row)
	}
	if !strings.Contains(after.text, "The inspection is aborted.") {
		t.Error("the page does not say that the inspection is aborted")
	}
	if attempts := a.attempts(silent); len(attempts) != 1 || attempts[0].Reason == nil || *attempts[0].Reason != "patched into the wrong switch" {
		t.Errorf("the attempts are %+v", attempts)
	}

	t.Log("the same form sent again changes nothing and says what is")
	said := a.post("/ui/nodes/"+uuid+"/provision", url.Values{"verb": {"abort"}, "back": {"list"}, "attempt": {a.attempts(silent)[0].ID}})
	defer func() { _ = said.Body.Close() }()
	text, err := io.ReadAll(said.Body)
	if err != nil {
		t.Fatal(err)
	}
	if said.StatusCode < 400 || said.StatusCode >= 500 || !strings.Contains(string(text), "aborted this inspection") {
		t.Errorf("the second form gets %s:\n%s", said.Status, text)
	}

	until(t, "the server off after the clean-up", func() bool {
		n := a.node(silent)
		return n.PowerState == "power off" && n.TargetPower == ""
	})
}
