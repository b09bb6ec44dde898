package main

import (
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"testing"

	"golang.org/x/crypto/bcrypt"

	"cagenut/node"
	"cagenut/store"
	"cagenut/web"
	"cagenut/web/auth"
)

// staffed is an appliance with somebody of each role: vera the viewer, otto the operator, ada the admin.
type staffed struct{ *testAppliance }

func serveStaffed(t *testing.T, change ...func(*settings)) *staffed {
	t.Helper()
	a := &staffed{serveForTest(t, false, append(change, func(s *settings) { s.Auth = auth.Basic })...)}
	for name, role := range map[string]string{"vera": web.RoleViewer, "otto": web.RoleOperator, "ada": web.RoleAdmin} {
		hash, err := bcrypt.GenerateFromPassword([]byte(name+"'s password"), bcrypt.MinCost) // the doors are judged, not the hash
		if err != nil {
			t.Fatal(err)
		}
		if err := a.store.AddUser(t.Context(), store.User{Name: name, PasswordHash: string(hash), Role: role}, byCommand("user add", name)); err != nil {
			t.Fatal(err)
		}
	}
	return a
}

// as makes a request the way a browser does from a page of the appliance; cookie "" is nobody's. Headers are pairs, "" takes
// one away.
func (a *staffed) as(cookie, method, path string, form url.Values, headers ...string) *http.Response {
	a.t.Helper()
	req, err := http.NewRequestWithContext(a.t.Context(), method, a.base+path, strings.NewReader(form.Encode()))
	if err != nil {
		a.t.Fatal(err)
	}
	if method == http.MethodPost {
		req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		req.Header.Set("Sec-Fetch-Site", "same-origin")
	}
	if cookie != "" {
		req.Header.Set("Cookie", "cagenut_session="+cookie)
	}
	for i := 0; i < len(headers); i += 2 {
		if req.Header.Del(headers[i]); headers[i+1] != "" {
			req.Header.Set(headers[i], headers[i+1])
		}
	}
	client := &http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	resp, err := client.Do(req)
	if err != nil {
		a.t.Fatal(err)
	}
	_ = resp.Body.Close() // streams have no end
	return resp
}

// signIn is a new session's cookie.
func (a *staffed) signIn(name string) string {
	a.t.Helper()
	resp := a.as("", "POST", "/ui/signin", url.Values{"name": {name}, "password": {name + "'s password"}})
	for _, c := range resp.Cookies() {
		if c.Name == "cagenut_session" && c.Value != "" {
			return c.Value
		}
	}
	a.t.Fatalf("%s cannot sign in: %s", name, resp.Status)
	return ""
}

func asksToSignIn(r *http.Response) bool {
	return r.StatusCode == http.StatusSeeOther && strings.HasPrefix(r.Header.Get("Location"), "/ui/signin?to=")
}

// Who may what, of all addresses below /ui. What stands in no row is for everybody who has signed in where it shows something,
// and for operators and admins where it does something.
var (
	forEverybody = []string{"GET /ui/signin", "POST /ui/signin", "POST /ui/signout"}
	// forViewers are those that do something, but only about the person who looks.
	forViewers = []string{"POST /ui/account/password", "POST /ui/account/signout", "POST /ui/theme", "POST /ui/keys"}
	// forOperators are those that show something: what leads to doing it, and the audit.
	forOperators = regexp.MustCompile(`^GET /ui/(audit(\.csv)?|enrol(/.*)?|nodes/:ident/(abort|power|delete|edit|log/clear|maintenance|media/eject|nmi|place|reapply))$`)
	forAdmins    = regexp.MustCompile(`^(GET|POST) /ui/users(/.*)?$`)
)

var anyParameter = regexp.MustCompile(`:[a-z]+`)

// dashboardRoutes are all addresses of the dashboard but the static files.
func (a *staffed) dashboardRoutes() []string {
	var all []string
	for _, r := range a.app.GetRoutes(true) {
		if (r.Method == "GET" || r.Method == "POST" || r.Method == "PUT" || r.Method == "PATCH" || r.Method == "DELETE") &&
			(r.Path == "/ui" || strings.HasPrefix(r.Path, "/ui/")) && !strings.HasPrefix(r.Path, "/ui/static/") {
			all = append(all, r.Method+" "+r.Path)
		}
	}
	slices.Sort(all)
	return slices.Compact(all)
}

func TestEveryAddressOfTheDashboardKnowsWhoMayUseIt(t *testing.T) {
	a := serveStaffed(t)
	n, _ := a.nodeIn(node.InspectWait, "agent")
	routes := a.dashboardRoutes()
	if len(routes) < 30 {
		t.Fatalf("only %d addresses were found: %q", len(routes), routes)
	}
	for _, route := range routes {
		t.Run(route, func(t *testing.T) {
			method, path, _ := strings.Cut(route, " ")
			path = anyParameter.ReplaceAllString(strings.Replace(path, ":ident", n.UUID, 1), "x")
			if method == "POST" && !slices.Contains(forEverybody, route) {
				if r := a.as("", method, path, nil, "X-Requested-With", "fetch"); r.StatusCode != http.StatusUnauthorized || r.Header.Get("WWW-Authenticate") != "" {
					t.Errorf("a script without a session gets %s", r.Status)
				}
			}
			for who, may := range mayUse(route) {
				cookie := ""
				if who != "nobody" {
					cookie = a.signIn(who) // some addresses end the session
				}
				r := a.as(cookie, method, path, nil)
				refused := r.StatusCode == http.StatusForbidden || r.StatusCode == http.StatusUnauthorized || asksToSignIn(r)
				switch {
				case route == "POST /ui/signin" && r.StatusCode == http.StatusUnauthorized: // without a password
				case refused == may:
					t.Errorf("%s: may %v, gets %s to %q", who, may, r.Status, r.Header.Get("Location"))
				case !may && who == "nobody" && r.StatusCode == http.StatusForbidden:
					t.Errorf("nobody is refused, not asked to sign in")
				}
			}
		})
	}
}

func mayUse(route string) map[string]bool {
	acts := !strings.HasPrefix(route, "GET ")
	everybody := slices.Contains(forEverybody, route)
	operators := everybody || !forAdmins.MatchString(route)
	viewers := operators && !forOperators.MatchString(route) && (!acts || everybody || slices.Contains(forViewers, route))
	return map[string]bool{"nobody": everybody, "vera": viewers, "otto": operators, "ada": true}
}

// A page of another site can make a browser send a form with its cookie. It is refused wherever it goes.
func TestNoFormOfAnotherSiteIsTaken(t *testing.T) {
	a := serveStaffed(t)
	n, _ := a.nodeIn(node.InspectWait, "agent")
	cookie := a.signIn("ada")
	forms := 0
	for _, route := range a.dashboardRoutes() {
		method, path, _ := strings.Cut(route, " ")
		if method == "GET" {
			continue
		}
		forms++
		path = anyParameter.ReplaceAllString(strings.Replace(path, ":ident", n.UUID, 1), "x")
		for name, headers := range map[string][]string{
			"a browser of today":        {"Sec-Fetch-Site", "cross-site", "Origin", "https://evil.example"},
			"an old browser":            {"Sec-Fetch-Site", "", "Origin", "https://evil.example"},
			"a neighbour in the domain": {"Sec-Fetch-Site", "same-site", "Origin", "https://evil.example"},
		} {
			for whose, c := range map[string]string{"with a session": cookie, "without one": ""} {
				if r := a.as(c, method, path, nil, headers...); r.StatusCode != http.StatusForbidden {
					t.Errorf("%s: %s %s gets %s", route, name, whose, r.Status)
				}
			}
		}
		if r := a.as(cookie, method, path, nil, "Sec-Fetch-Site", ""); r.StatusCode != http.StatusForbidden {
			t.Errorf("%s: a very old browser that says nothing gets %s", route, r.Status)
		}
		if r := a.as(cookie, method, path, nil, "Sec-Fetch-Site", "", "Referer", "https://evil.example/ui"); r.StatusCode != http.StatusForbidden {
			t.Errorf("%s: a very old browser on another site gets %s", route, r.Status)
		}
	}
	if forms < 10 {
		t.Fatalf("only %d forms were found", forms)
	}
	if r := a.as(cookie, "GET", "/ui", nil); r.StatusCode != http.StatusOK {
		t.Errorf("the session has ended: %s", r.Status)
	}
}

// G56: an abort that is pressed after the session has ended leads to the sign-in and back, and aborts nothing.
func TestAnAbortWithoutASessionIsNotCarriedOutThenNorLater(t *testing.T) {
	a := serveStaffed(t)
	n, at := a.nodeIn(node.InspectWait, "agent")
	cookie := a.signIn("otto")
	if err := a.store.EndUISessions(t.Context(), "otto", byCommand("sign out everywhere", "otto")); err != nil {
		t.Fatal(err)
	}
	page := "/ui/nodes/" + n.UUID + "/abort?attempt=" + at.ID
	form := url.Values{"verb": {"abort"}, "attempt": {at.ID}}
	r := a.as(cookie, "POST", "/ui/nodes/"+n.UUID+"/provision", form, "Referer", a.base+page)
	if want := "/ui/signin?to=" + url.QueryEscape(page) + "&lost=1"; r.StatusCode != http.StatusSeeOther || r.Header.Get("Location") != want {
		t.Fatalf("%s to %q, want %q", r.Status, r.Header.Get("Location"), want)
	}
	r = a.as("", "POST", "/ui/signin", url.Values{"name": {"otto"}, "password": {"otto's password"}, "to": {page}})
	if r.StatusCode != http.StatusSeeOther || r.Header.Get("Location") != page {
		t.Errorf("after the sign-in: %s to %q", r.Status, r.Header.Get("Location"))
	}
	if got, err := a.store.Node(t.Context(), n.UUID); err != nil || got.ProvisionState != node.InspectWait {
		t.Errorf("the node is %s, %v", got.ProvisionState, err)
	}
}

func TestWhereNobodySignsInThereAreNoUsers(t *testing.T) {
	a := &staffed{serveForTest(t, false)}
	for _, path := range []string{"/ui/signin", "/ui/users", "/ui/users/ada", "/ui/account"} {
		if r := a.as("", "GET", path, nil); r.StatusCode != http.StatusNotFound {
			t.Errorf("%s: %s", path, r.Status)
		}
	}
}
