package e2e_test

import (
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"testing"

	"github.com/chromedp/chromedp"
)

// G53: rows are chosen, one question is asked, and the page of the run says what came of each node and why.
func TestInABrowserManyNodesAreInspectedAndAbortedAtOnce(t *testing.T) {
	peer(t, "chromium", "chromium-browser", "google-chrome")
	a, silent := demo(t)
	uuid := a.node(silent).UUID
	other := a.otherThan(silent)
	w := browse(t, a.base+"/ui")

	t.Log("two rows are chosen and inspected")
	w.do(chromedp.Click("#pick-"+uuid), chromedp.Click("#pick-"+other.UUID), chromedp.Click(`#chosen button[value="inspect"]`))
	w.holds(`document.getElementById('question')?.innerText === 'Inspect 2 nodes?'`)
	w.do(chromedp.Click(`form[action="/ui/bulk"] button`))
	w.holds(`document.getElementById('run-sentence')?.innerText === '2 of 2 done, 0 refused.'`)
	w.holds(`document.querySelectorAll('#run-results tbody tr').length === 2`)

	t.Log("one of them never reports; the abort of both stops it, and says why it cannot stop the other")
	a.waitFor(silent, "inspect wait")
	a.waitFor(other.Name, "manageable")
	w.do(chromedp.Navigate(a.base+"/ui"), chromedp.Click("#pick-"+uuid), chromedp.Click("#pick-"+other.UUID), chromedp.Click(`#chosen button[value="abort"]`))
	w.holds(`document.getElementById('question')?.innerText === 'Abort the inspections of 2 nodes?'`)
	w.holds(`document.getElementById('bulk-cannot').innerText.includes('not possible in “manageable”')`)
	w.do(chromedp.SendKeys(`[name=reason]:not([type=hidden])`, "patched into the wrong switch"), chromedp.Click(`form[action="/ui/bulk"] button.danger`))
	w.holds(`document.getElementById('run-sentence')?.innerText === '1 of 2 done, 1 refused.'`)
	w.holds(`document.getElementById('run-results').innerText.includes('This inspection had finished before')`)
	w.holds(`document.getElementById('run-retry')?.innerText === 'Try the refused one again'`)
	a.waitFor(silent, "inspect failed")
	if attempts := a.attempts(silent); len(attempts) != 1 || attempts[0].Reason == nil || *attempts[0].Reason != "patched into the wrong switch" {
		t.Errorf("the attempts are %+v", attempts)
	}

	t.Log("the refused one is tried again, as soon as it can take it: here it cannot")
	w.do(chromedp.Click("#run-retry"))
	w.holds(`!!document.querySelector('.confirm .callout, dialog .callout')?.innerText.startsWith('None of the chosen nodes can take this now')`)
}

// otherThan is a node that reports when it is inspected.
func (a *appliance) otherThan(name string) nodeDoc {
	a.t.Helper()
	for _, n := range must[struct{ Nodes []nodeDoc }](a, "GET", "/v1/nodes/detail", nil).Nodes {
		if n.Name != name {
			return n
		}
	}
	a.t.Fatal("there is no other node")
	return nodeDoc{}
}

// The same without a script: checkboxes, buttons, a question, a page; and everything that the filter shows.
func TestWithoutAScriptManyNodesAreABarAndAForm(t *testing.T) {
	a, silent := demo(t)
	list := a.open("/ui?q=" + url.QueryEscape(silent))
	question := a.submit(list, `action="/ui/bulk/confirm"`, url.Values{"action": {"inspect"}, "all": {"filter"}})
	if !strings.Contains(question.text, "Inspect this node?") || !strings.Contains(question.text, silent) {
		t.Fatalf("the question is\n%s", question.text)
	}
	run := a.submit(question, `name="chosen"`, nil)
	if !strings.HasPrefix(run.address, a.base+"/ui/bulk/") || !strings.Contains(run.text, "Inspect: one node") {
		t.Fatalf("the form leads to %s:\n%s", run.address, run.text)
	}
	a.waitFor(silent, "inspect wait")
	address := strings.TrimPrefix(run.address, a.base)
	if again := a.open(address); !strings.Contains(again.text, "1 of 1 done, 0 refused.") || strings.Contains(again.text, "run-reload") {
		t.Errorf("the run's page is\n%s", again.text)
	}
	if runs := a.open("/ui/bulk"); !strings.Contains(runs.text, address) {
		t.Errorf("the list of runs lacks it:\n%s", runs.text)
	}
}

// Of many people who press the same button at once exactly one aborts; each of the others learns who was first. A page that is
// older than a later inspection aborts nothing.
func TestManyPeopleWhoAbortAtOnceAreOneAbortAndGetASentenceEach(t *testing.T) {
	a, silent := demo(t)
	uuid := a.node(silent).UUID
	a.waiting(silent)
	seen := a.attempts(silent)[0].ID
	press := url.Values{"verb": {"abort"}, "back": {"list"}, "attempt": {seen}}
	const people = 12
	texts, done := make([]string, people), make([]bool, people)
	var pressing sync.WaitGroup
	for i := range people {
		pressing.Go(func() {
			resp := a.post("/ui/nodes/"+uuid+"/provision", press)
			defer func() { _ = resp.Body.Close() }()
			text, _ := io.ReadAll(resp.Body)
			texts[i], done[i] = string(text), resp.StatusCode == http.StatusOK // after the redirect
		})
	}
	pressing.Wait()
	first := 0
	for i, text := range texts {
		if done[i] {
			first++
		} else if !strings.Contains(text, "somebody at the dashboard aborted this inspection at") {
			t.Errorf("somebody who came second reads\n%s", text)
		}
	}
	if first != 1 {
		t.Errorf("%d of %d are told that they aborted", first, people)
	}
	if attempts := a.attempts(silent); len(attempts) != 1 || *attempts[0].Outcome != "aborted" {
		t.Errorf("the attempts are %+v", attempts)
	}

	t.Log("the same page after the next inspection has begun")
	a.waiting(silent)
	resp := a.post("/ui/nodes/"+uuid+"/provision", press)
	defer func() { _ = resp.Body.Close() }()
	text, err := io.ReadAll(resp.Body)
	if err != nil || resp.StatusCode != http.StatusConflict || !strings.Contains(string(text), "This page showed an earlier inspection") {
		t.Errorf("%s, %v:\n%s", resp.Status, err, text)
	}
	if n := a.node(silent); n.ProvisionState != "inspect wait" {
		t.Errorf("the later inspection is %s", n.ProvisionState)
	}
}

// A run that was accepted goes on after a power cut, and does nothing twice: a second `provide` of a node would be refused.
func TestAfterAKillABulkRunGoesOn(t *testing.T) {
	dir := withBootFiles(t)
	a := serveOn(t, dir)
	const nodes = 10
	for i := range nodes {
		name := fmt.Sprintf("r1-u%02d", i+1)
		must[nodeDoc](a, "POST", "/v1/nodes", map[string]any{"name": name, "driver": "fake-hardware", "extra": map[string]any{"rack": "R1", "rack_unit": i + 1}})
	}
	must[any](a, "POST", "/cagenut/v1/bulk", map[string]any{"action": "manage", "rack": "R1"})
	until(t, "all nodes manageable", func() bool {
		return len(must[struct{ Nodes []nodeDoc }](a, "GET", "/v1/nodes?provision_state=manageable", nil).Nodes) == nodes
	})
	id := must[struct{ ID string }](a, "POST", "/cagenut/v1/bulk", map[string]any{"action": "provide", "rack": "R1"}).ID
	a.kill()

	a = serveOn(t, dir)
	type run struct {
		Run struct {
			Total, Pending, Done, Refused int
		}
	}
	var now run
	until(t, "the run through", func() bool {
		now = must[run](a, "GET", "/cagenut/v1/bulk/"+id, nil)
		return now.Run.Pending == 0
	})
	if now.Run.Done != nodes || now.Run.Refused != 0 {
		t.Errorf("the run ended with %+v", now.Run)
	}
	if available := len(must[struct{ Nodes []nodeDoc }](a, "GET", "/v1/nodes?provision_state=available", nil).Nodes); available != nodes {
		t.Errorf("%d nodes are available", available)
	}
}
