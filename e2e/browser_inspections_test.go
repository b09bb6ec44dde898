package e2e_test

import (
	"html"
	"regexp"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
)

// inspectionDemo is a small rack whose ramdisks look around quickly, with the names of a server that is cabled wrongly and of
// one that is not.
func inspectionDemo(t *testing.T) (a *appliance, silent, well string) {
	t.Helper()
	a = start(t, "demo", "--servers", "3", "--silent", "1", "--ipmi", "1", "--virtual-media", "0", "--report-delay", "500ms", "--power-delay", "200ms", "--listen", "127.0.0.1:0", "--inspector-listen", "127.0.0.1:0")
	until(t, "the name of the wrongly cabled server", func() (ok bool) {
		silent, ok = a.out.Line("Wrongly cabled: ")
		return ok
	})
	for _, name := range []string{"r1-u01", "r1-u02", "r1-u03"} {
		if name != silent {
			return a, silent, name
		}
	}
	return a, silent, ""
}

// Issue 5, point 8: an operator who is about to abort sees how far the server got, and what to look at.
func TestInABrowserTheTimelineOfAnInspectionLeadsToItsAbort(t *testing.T) {
	peer(t, "chromium", "chromium-browser", "google-chrome")
	a, silent, _ := inspectionDemo(t)
	w := browse(t, a.base+"/ui/nodes/"+silent)
	uuid := a.node(silent).UUID
	w.do(chromedp.Click("#inspect-" + uuid))

	t.Log("the node's page tells how far it got, and leads to the inspection's own")
	w.holds(`document.getElementById('how-far')?.innerText.includes('check the cabling of the boot NIC') === true`)
	w.holds(`document.getElementById('how-far').innerText.includes('Power on confirmed')`)
	w.holds(`window.neverReloaded === true`)
	w.do(chromedp.Click("#how-far-all"))
	w.holds(`location.pathname.includes('/attempts/') && document.getElementById('live')?.dataset.state === 'live'`)
	w.holds(`window.neverReloaded = true`)
	w.holds(`document.getElementById('how-far').innerText.includes('No boot file was fetched') && document.querySelector('.timeline').innerText.includes('Waits for the ramdisk')`)

	t.Log("it is aborted from there, in view of what it got to")
	w.do(chromedp.Click("#abort-"+uuid), chromedp.WaitVisible("dialog[open]"))
	w.holds(`document.querySelector('dialog').innerText.includes('check the cabling of the boot NIC')`)
	w.do(chromedp.SendKeys("dialog [name=reason]", "patched into the wrong switch"), chromedp.Click("dialog button.danger"))
	w.holds(`!document.querySelector('dialog').open && document.querySelector('#attempt .now').innerText.includes('aborted')`)
	if n := a.node(silent); n.ProvisionState != "inspect failed" {
		t.Errorf("the page says aborted, the node is %s", n.ProvisionState)
	}
	w.holds(`document.getElementById('attempt').innerText.includes('patched into the wrong switch') && !document.getElementById('abort-` + uuid + `')`)

	t.Log("the clean-up is followed to its end")
	w.holds(`document.getElementById('attempt').innerText.includes('Clean-up is done.') && window.neverReloaded === true`)
}

// Issue 5, points 2 and 7: what an inspection found, what changed, and the logs that came with it.
func TestInABrowserInspectionsAreComparedReadAndAppliedOnceMore(t *testing.T) {
	peer(t, "chromium", "chromium-browser", "google-chrome")
	a, _, well := inspectionDemo(t)
	uuid := a.node(well).UUID
	w := browse(t, a.base+"/ui/nodes/"+well)
	for range 2 {
		before := len(a.attempts(well))
		w.do(chromedp.WaitVisible("#inspect-"+uuid), chromedp.Click("#inspect-"+uuid))
		until(t, "another inspection that succeeded", func() bool {
			all := a.attempts(well)
			return len(all) == before+1 && all[0].Outcome != nil && *all[0].Outcome == "succeeded"
		})
		w.holds(`!!document.getElementById('inspect-` + uuid + `')`)
	}
	newest := a.attempts(well)[0].ID
	w.holds(`document.querySelector('#more .glance')?.innerText.includes('No difference') === true && !document.getElementById('other-machine')`)
	w.do(chromedp.Click("#compare"))
	w.holds(`document.getElementById('difference')?.innerText.includes('No difference') === true && document.querySelectorAll('select[name=from] option').length === 2`)

	t.Log("the ramdisk's logs are read as text")
	w.do(chromedp.Navigate(a.base+"/ui/nodes/"+well), chromedp.WaitVisible("#attempt-"+newest), chromedp.Click("#attempt-"+newest), chromedp.WaitVisible("#logs"))
	w.holds(`document.querySelector('.timeline').innerText.includes('Kernel or ramdisk fetched')`)
	w.do(chromedp.Click("#logs"), chromedp.WaitVisible(".files a"), chromedp.Click(".files a"), chromedp.WaitVisible(".logtext"))
	w.holds(`document.querySelector('.logtext').innerText.length > 10`)

	t.Log("the report is applied once more, and the page says what came of it")
	w.do(chromedp.Navigate(a.base + "/ui/nodes/" + well + "/attempts/" + newest))
	w.holds(`document.getElementById('live').dataset.state === 'live'`)
	w.holds(`window.neverReloaded = true`)
	w.do(chromedp.Click("#reapply-"+uuid), chromedp.WaitVisible("dialog[open]"), chromedp.Click("dialog button.danger"))
	w.holds(`!document.querySelector('dialog').open && document.getElementById('attempt').innerText.includes('was applied once more') && window.neverReloaded === true`)
	if n := a.node(well); n.ProvisionState != "manageable" {
		t.Errorf("the node is %s", n.ProvisionState)
	}
}

// The same by links and forms alone.
func TestWithoutAScriptInspectionsAreLinksAndForms(t *testing.T) {
	a, silent, well := inspectionDemo(t)
	follow := func(p page, id string) page {
		t.Helper()
		link := regexp.MustCompile(`<a[^>]*id="` + id + `[^"]*"[^>]*href="([^"]*)"`).FindStringSubmatch(p.text)
		if link == nil {
			t.Fatalf("%s has no link %s:\n%s", p.address, id, p.text)
		}
		return a.open(html.UnescapeString(link[1]))
	}
	says := func(p page, texts ...string) {
		t.Helper()
		for _, text := range texts {
			if !strings.Contains(p.text, text) {
				t.Errorf("%s does not say %q:\n%s", p.address, text, p.text)
			}
		}
	}
	a.waiting(silent)
	attempt := follow(a.open("/ui/nodes/"+silent), "how-far-all")
	says(attempt, "check the cabling of the boot NIC", "Power on sent to the BMC")
	question := follow(attempt, "abort-")
	says(question, "check the cabling of the boot NIC")
	aborted := a.submit(question, `name="reason"`, nil)
	says(aborted, "The inspection is aborted.", "It was aborted by request.", "No logs of the ramdisk came")
	if !strings.HasPrefix(aborted.address, attempt.address) {
		t.Errorf("after the abort the browser is at %s, want %s", aborted.address, attempt.address)
	}

	for range 2 {
		a.verb(well, "inspect")
		until(t, "the inspection's end", func() bool {
			all := a.attempts(well)
			return len(all) > 0 && all[0].Outcome != nil && *all[0].Outcome == "succeeded" && a.node(well).ProvisionState == "manageable"
		})
	}
	node := a.open("/ui/nodes/" + well)
	says(node, "No difference: the same parts as before.")
	kept := follow(node, "compare")
	says(kept, "No difference", `<select name="from">`)
	oldest := a.attempts(well)[1].ID
	says(a.open("/ui/nodes/"+well+"/inspections?to="+oldest), "There is no earlier inspection to compare it with.")
	done := a.submit(follow(follow(node, "attempt-"), "reapply-"), "Apply the report once more", nil)
	says(done, "Accepted. The report is being applied once more")
	until(t, "what came of it", func() bool {
		return strings.Contains(a.open("/ui/nodes/"+well+"/attempts/"+a.attempts(well)[0].ID).text, "was applied once more")
	})
}
