package e2e_test

import (
	"maps"
	"net/url"
	"slices"
	"testing"

	"github.com/chromedp/chromedp"
)

// Every page of the dashboard is visited in both colour schemes, on a desk and on a phone: axe finds nothing, nothing
// scrolls sideways, and no page leads to one that was not looked at. With CAGENUT_SCREENSHOTS the pictures are kept.
func TestEveryPageIsForEverybody(t *testing.T) {
	peer(t, "chromium", "chromium-browser", "google-chrome")
	a, silent, well := inspectionDemo(t)
	o := newTour(t, a.base)
	node := func(name string) string { return "/ui/nodes/" + name }
	uuid := func(name string) string { return a.node(name).UUID }

	o.visit("nodes", "/ui")
	a.inspectAgain(well)
	a.inspectAgain(well)
	a.verb(silent, "inspect")
	a.waitFor(silent, "inspect wait")
	o.visit("nodes-waiting", "/ui")
	o.visit("nodes-filtered", "/ui?group=waiting")
	o.visit("nodes-none", "/ui?q=nothing+is+called+this")
	o.visit("node-waiting", node(silent))
	waits := a.attempts(silent)[0].ID
	o.visit("attempt-waiting", node(silent)+"/attempts/"+waits)
	o.visit("abort-question", node(silent)+"/abort?attempt="+waits)
	o.visit("abort-stale", node(silent)+"/abort?attempt="+a.attempts(well)[0].ID)
	o.visit("abort-too-late", node(well)+"/abort?attempt="+a.attempts(well)[0].ID)

	o.do(chromedp.Navigate(a.base+node(silent)), chromedp.Click("#abort-"+uuid(silent)), chromedp.WaitVisible("dialog[open]"))
	o.lookAround("abort-dialog")
	o.do(chromedp.SendKeys("dialog [name=reason]", "patched into the wrong switch"), chromedp.Click("dialog button.danger"))
	a.waitFor(silent, "inspect failed")
	o.visit("node-aborted", node(silent))
	o.visit("attempt-aborted", node(silent)+"/attempts/"+waits)

	o.visit("node", node(well))
	for _, part := range []string{"health", "sensors", "log", "light", "boot", "media", "bmc", "firmware", "bios"} {
		o.visit("part-"+part, node(well)+"/"+part)
	}
	newest := a.attempts(well)[0].ID
	o.visit("attempt", node(well)+"/attempts/"+newest)
	o.visit("ramdisk-logs", node(well)+"/attempts/"+newest+"/logs")
	o.do(chromedp.Click(".files a"), chromedp.WaitVisible(".logtext"))
	o.lookAround("ramdisk-log")
	o.visit("inspections", node(well)+"/inspections")
	o.visit("reapply-question", node(well)+"/reapply")
	o.visit("clear-log-question", node(well)+"/log/clear")
	o.visit("nmi-question", node(well)+"/nmi")
	o.visit("power-question", node(well)+"/power?target="+url.QueryEscape("power off"))
	o.visit("no-such-page", node("nobody-is-called-this"))

	for _, to := range slices.Sorted(maps.Keys(o.linked)) {
		if !o.seen[to] {
			t.Errorf("%s leads to %s, which this test does not look at", o.linked[to], to)
		}
	}
}

// inspectAgain inspects a node to a good end.
func (a *appliance) inspectAgain(name string) {
	a.t.Helper()
	before := len(a.attempts(name))
	a.verb(name, "inspect")
	until(a.t, "another inspection of "+name+" that succeeded", func() bool {
		all := a.attempts(name)
		return len(all) == before+1 && all[0].Outcome != nil && *all[0].Outcome == "succeeded"
	})
	a.waitFor(name, "manageable")
}
