package e2e_test

import (
	"net/http"
	"os/exec"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"

	"cagenut/e2e/process"
)

// signIn fills in the form of the page that is open.
func (w *window) signIn(name, password string) {
	w.t.Helper()
	w.do(chromedp.WaitVisible("#signin"), chromedp.SetValue("#name", name), chromedp.SetValue("#password", password), chromedp.Click("#signin"))
}

func (w *window) at(path string) {
	w.t.Helper()
	w.holds(`location.pathname === '` + path + `'`)
}

// setPassword changes a password by the command, while the appliance runs.
func setPassword(t *testing.T, dir, name, password string) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), binary, "user", "passwd", name, "--data-dir", dir)
	cmd.Env, cmd.Stdin = process.Environment(t), strings.NewReader(password+"\n")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("cagenut user passwd: %v\n%s", err, out)
	}
}

// G56
func TestInABrowserPeopleSignInActAndAreSignedOut(t *testing.T) {
	peer(t, "chromium", "chromium-browser", "google-chrome")
	dir := withBootFiles(t)
	serve := func() *appliance { return serveOn(t, dir, "--auth", "basic") }
	a := serve()
	line, _ := a.out.Line("There was no user yet. Sign in as admin with the password ")
	a.password, _, _ = strings.Cut(line, " ")
	sim := simulate(t, "--redfish", "1", "--listen", "127.77.64.1")
	sim.enrol(a)
	const server = "r1-u01"
	uuid := a.waiting(server).UUID
	abort, page := "#abort-"+uuid, "/ui/nodes/"+server

	t.Log("a stranger is asked who they are, and a wrong password is a sentence")
	admin := newWindow(t)
	admin.do(chromedp.EmulateViewport(1280, 800), chromedp.Navigate(a.base+page))
	admin.at("/ui/signin")
	admin.holds(`document.activeElement.id === 'name'`)
	admin.signIn("admin", "not the password")
	admin.holds(`!!document.querySelector('[role=alert]')?.textContent.includes('There is no user with this name and password.')`)

	t.Log("the right one leads back to the page that was asked for")
	admin.signIn("admin", a.password)
	admin.at(page)
	admin.do(chromedp.WaitVisible(abort))
	admin.holds(`document.getElementById('live')?.dataset.state === 'live'`)

	t.Log("the admin adds a viewer, whose password is made up and shown once")
	admin.do(chromedp.Navigate(a.base+"/ui/users"), chromedp.SetValue("main [name=name]", "vera"), chromedp.SetValue("main [name=role]", "viewer"), chromedp.Click("main form button"))
	admin.do(chromedp.WaitVisible("#made"))
	password, err := chromedp.Run(admin.ctx, chromedp.Text("#made"))
	if err != nil || len(password) < 20 {
		t.Fatalf("the password is %q, %v", password, err)
	}

	t.Log("the viewer sees the node and no Abort; what they send to the API is refused")
	viewer := newWindow(t)
	viewer.do(chromedp.Navigate(a.base + page))
	viewer.signIn("vera", password)
	viewer.at(page)
	viewer.holds(`document.body.innerText.includes('inspect wait') && !document.getElementById('abort-` + uuid + `') && !document.querySelector('a[href="/ui/users"]')`)
	req, err := http.NewRequestWithContext(t.Context(), "PUT", a.base+"/v1/nodes/"+uuid+"/states/provision", strings.NewReader(`{"target":"abort"}`))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/json")
	req.SetBasicAuth("vera", password)
	resp, err := client.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	if err := resp.Body.Close(); err != nil || resp.StatusCode != http.StatusForbidden {
		t.Errorf("the viewer's abort over REST gets %s, %v", resp.Status, err)
	}

	t.Log("the session ends while the dialog is open: what is pressed is not done, then or after the next sign-in")
	admin.do(chromedp.Navigate(a.base+page), chromedp.WaitVisible(abort))
	admin.holds(`document.getElementById('live')?.dataset.state === 'live'`)
	admin.do(chromedp.Click(abort), chromedp.WaitVisible("dialog[open]"))
	a.password = "another-password"
	setPassword(t, dir, "admin", a.password)
	admin.do(chromedp.Click("dialog button.danger"))
	admin.holds(`!!document.querySelector('dialog')?.innerText.includes('You are signed out.')`)
	admin.do(chromedp.Navigate(a.base + page))
	admin.at("/ui/signin")
	admin.signIn("admin", a.password)
	admin.at(page)
	admin.do(chromedp.WaitVisible(abort))
	if n := a.node(server); n.ProvisionState != "inspect wait" {
		t.Errorf("the node is %s", n.ProvisionState)
	}

	t.Log("a restart signs nobody out")
	a.stop()
	again := serve()
	again.password = a.password
	viewer.do(chromedp.Navigate(again.base + page))
	viewer.at(page)
	admin.do(chromedp.Navigate(again.base+page), chromedp.WaitVisible(abort))

	t.Log("signing out ends the session, and Back shows nothing that can be used")
	admin.do(chromedp.Click(`form[action="/ui/signout"] button`))
	admin.at("/ui/signin")
	admin.holds(`!!document.getElementById('notice')?.textContent.includes('You are signed out.')`)
	admin.do(chromedp.Navigate(again.base + "/ui/users"))
	admin.at("/ui/signin")
	viewer.do(chromedp.Navigate(again.base + "/ui/account"))
	viewer.at("/ui/account")
}
