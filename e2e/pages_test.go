package e2e_test

import (
	"net/http"
	"net/url"
	"path/filepath"
	"strings"
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
	o.visit("maintenance-question", node(well)+"/maintenance")
	o.visit("delete-question", node(well)+"/delete")
	o.visit("edit", node(well)+"/edit")
	o.visit("place", node(well)+"/place")
	o.visit("history", node(well)+"/history")
	o.visit("attempts", node(well)+"/attempts")
	o.visit("no-such-page", node("nobody-is-called-this"))

	o.visit("racks", "/ui/racks")
	o.visit("rack", "/ui/racks/R1")
	o.visit("help", "/ui/help")
	o.visit("audit", "/ui/audit")
	o.visit("audit-none", "/ui/audit?user=nobody-is-called-this")
	o.visit("appliance", "/ui/appliance")

	o.visit("bulk-none", "/ui/bulk")
	o.do(chromedp.Navigate(a.base+"/ui"), chromedp.Click("#pick-"+uuid(well)), chromedp.Click("#pick-"+uuid(silent)))
	o.lookAround("nodes-chosen")
	o.do(chromedp.Click("#chosen button[value=inspect]"), chromedp.WaitVisible("dialog[open]"))
	o.lookAround("bulk-dialog")
	o.do(chromedp.Click("dialog button:not([data-close])"))
	o.holds(`/^\/ui\/bulk\/./.test(location.pathname) && document.readyState === 'complete'`)
	o.lookAround("bulk-run")
	o.visit("bulk", "/ui/bulk")

	o.visit("enrol", "/ui/enrol")
	o.do(chromedp.SendKeys("#field-address", "127.0.0.1:1"), chromedp.Click("#test"))
	o.holds(`!!document.querySelector('#enrol-result .callout')`)
	o.lookAround("enrol-tested")
	o.visit("import", "/ui/enrol/import")
	o.do(chromedp.SendKeys("textarea", "name,driver,address\nfirst,fake-hardware,\nsecond,no-such-driver,192.0.2.1\n"), chromedp.Click("main form button"))
	o.holds(`document.readyState === 'complete' && document.querySelector('main').innerText.includes('no-such-driver')`)
	o.lookAround("import-preview")
	o.visit("search", "/ui/enrol/search")

	o.leadsNowhereElse()
}

// Where people sign in: the form, its refusals, the pages of people, an appliance without nodes, and one with strangers.
func TestEveryPageOfPeopleIsForEverybody(t *testing.T) {
	peer(t, "chromium", "chromium-browser", "google-chrome")
	a := start(t, "serve", "--data-dir", filepath.Join(t.TempDir(), "data"), "--listen", "127.0.0.1:0", "--inspector-listen", "127.0.0.1:0", "--discovery")
	first, _ := a.out.Line("There was no user yet. Sign in as admin with the password ")
	password, _, ok := strings.Cut(first, " ")
	if !ok {
		t.Fatalf("no password was printed:\n%s", &a.out)
	}
	o := newTour(t, a.base)
	o.visit("signin", "/ui/signin")
	signIn := func(word string) {
		o.do(chromedp.Navigate(a.base+"/ui/signin"), chromedp.SendKeys("#name", "admin"), chromedp.SendKeys("#password", word), chromedp.Click("#signin"))
	}
	signIn("not the password")
	o.holds(`!!document.getElementById('problem')`)
	o.lookAround("signin-wrong")
	signIn(password)
	o.holds(`location.pathname === '/ui'`)
	o.lookAround("nodes-first-run")
	o.visit("racks-none", "/ui/racks")
	o.visit("account", "/ui/account")
	o.visit("users", "/ui/users")
	o.visit("user", "/ui/users/admin")
	o.visit("user-remove-question", "/ui/users/admin/remove")
	o.visit("discovered-none", "/ui/discovered")
	if status, answer := a.ask("POST", "/v1/continue_inspection", reportOf("52:54:00:77:00:01")); status != http.StatusAccepted {
		t.Fatalf("a stranger's report: %d %s", status, answer)
	}
	o.visit("discovered", "/ui/discovered")
	o.do(chromedp.Click("main tbody a"))
	o.holds(`location.pathname.startsWith('/ui/discovered/') && document.readyState === 'complete'`)
	o.lookAround("discovered-machine")
	o.leadsNowhereElse("/ui/enrol", "/ui/audit", "/ui/appliance", "/ui/help", "/ui/bulk")
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
