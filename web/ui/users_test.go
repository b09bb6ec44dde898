package ui_test

import (
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode"

	"cagenut/node"
	"cagenut/web/auth"
)

var (
	admin  = header{"X-Test-Role": "admin"}
	nobody = header{"X-Test-Role": "nobody"}
)

func (s *site) did(t *testing.T, want ...string) {
	t.Helper()
	var done []string
	s.staff.edit(func() { done = slices.Clone(s.staff.done) })
	if !slices.Equal(done, want) {
		t.Errorf("was done: %q, want %q", done, want)
	}
}

func TestTheSignInPageIsForPasswordManagersAndTellsAStrangerNothing(t *testing.T) {
	r := newRack()
	r.add("r07-u21", node.InspectFailed)
	s := serve(t, r, 0)
	a := s.get("/ui/signin?to=%2Fui%2Fracks%2FR07", nobody)
	if a.status != http.StatusOK || a.header.Get("Cache-Control") != "no-store" {
		t.Errorf("%d %v", a.status, a.header)
	}
	a.has(t, `<form method="post" action="/ui/signin"`, `autocomplete="username"`, `autocomplete="current-password"`, `name="to" value="/ui/racks/R07"`, "<h1>Sign in</h1>")
	a.lacks(t, "r07-u21", `href="/ui/users"`, `action="/ui/signout"`, "data-events=\"/", "onpaste", "signed out in the meantime")
	s.get("/ui/signin?lost=1", nobody).has(t, "What you sent was not carried out")
	s.get("/ui/signin?done=out", nobody).has(t, "You are signed out.")
	s.get("/ui/signin?to=https%3A%2F%2Fevil.example", nobody).has(t, `name="to" value="/ui"`)
	if a := s.get("/ui/signin?to=%2Fui%2Fhelp"); a.status != http.StatusSeeOther || a.location != "/ui/help" {
		t.Errorf("who is signed in gets %d to %q", a.status, a.location)
	}
}

func TestSigningInLeadsBackAndARefusalSaysWhy(t *testing.T) {
	s := serve(t, newRack(), 0)
	form := url.Values{"name": {"jon"}, "password": {"p&<a>ss"}, "to": {"/ui/nodes/r07-u21"}}
	if a := s.do("POST", "/ui/signin", form, nobody); a.status != http.StatusSeeOther || a.location != "/ui/nodes/r07-u21" {
		t.Errorf("%d to %q", a.status, a.location)
	}
	s.did(t, "sign in jon with p&<a>ss")
	t.Log("the keyboard of a phone puts a blank behind a name that it completes")
	form.Set("name", "jon ")
	form.Set("password", " p&<a>ss ")
	s.do("POST", "/ui/signin", form, nobody)
	s.did(t, "sign in jon with p&<a>ss", "sign in jon with  p&<a>ss ")
	form = url.Values{"name": {"jon"}, "password": {"p&<a>ss"}, "to": {"//evil.example"}}
	if a := s.do("POST", "/ui/signin", form, nobody); a.location != "/ui" {
		t.Errorf("leads to %q", a.location)
	}
	form.Set("to", "/ui/help")
	s.staff.edit(func() { s.staff.refuse = &auth.Wrong{} })
	a := s.do("POST", "/ui/signin", form, nobody)
	if a.status != http.StatusUnauthorized || a.header.Get("WWW-Authenticate") != "" {
		t.Errorf("a wrong password: %d", a.status)
	}
	a.has(t, "There is no user with this name and password.", `role="alert"`, `value="jon"`, `name="to" value="/ui/help"`)
	a.lacks(t, "p&amp;", "p&<a>")
	s.staff.edit(func() { s.staff.refuse = &auth.TooMany{After: 63500 * time.Millisecond} })
	a = s.do("POST", "/ui/signin", form, nobody)
	if a.status != http.StatusTooManyRequests || a.header.Get("Retry-After") != "64" {
		t.Errorf("too many: %d, %q", a.status, a.header.Get("Retry-After"))
	}
	a.has(t, "The password was wrong too often. Try again in 1 m 04 s.")
}

func TestSigningOutLeadsToTheSignIn(t *testing.T) {
	s := serve(t, newRack(), 0)
	if a := s.do("POST", "/ui/signout", url.Values{}); a.status != http.StatusSeeOther || a.location != "/ui/signin?done=out" {
		t.Errorf("%d to %q", a.status, a.location)
	}
	s.did(t, "sign out")
}

func TestUsersAreForAdmins(t *testing.T) {
	s := serve(t, newRack(), 0)
	for _, role := range []string{"viewer", "operator"} {
		as := header{"X-Test-Role": role}
		s.get("/ui", as).lacks(t, `href="/ui/users"`)
		for _, path := range []string{"/ui/users", "/ui/users/ann", "/ui/users/ann/remove"} {
			if a := s.get(path, as); a.status != http.StatusForbidden {
				t.Errorf("%s reads %s: %d", role, path, a.status)
			}
		}
		for _, path := range []string{"/ui/users", "/ui/users/ann/role", "/ui/users/ann/password", "/ui/users/ann/signout", "/ui/users/ann/remove"} {
			a := s.do("POST", path, url.Values{"name": {"eve"}, "role": {"admin"}, "password": {"long enough"}}, as)
			if a.status != http.StatusForbidden {
				t.Errorf("%s sends to %s: %d", role, path, a.status)
			}
			a.has(t, "Only an admin may see and change users.")
		}
	}
	s.did(t)
	s.get("/ui", admin).has(t, `href="/ui/users"`)
}

func TestTheListOfUsersTellsWhoTheyAre(t *testing.T) {
	s := serve(t, newRack(), 0)
	a := s.get("/ui/users", admin)
	a.has(t, `href="/ui/users/ann"`, "never", "in 1 browser", "nowhere", "from the file", `<span class="tag">you</span>`, `autocomplete="new-password"`)
	s.staff.edit(func() { s.staff.ofFile = true })
	s.get("/ui/users", admin).has(t, "Users of the htpasswd file are admins.")
}

func TestAUserIsAdded(t *testing.T) {
	s := serve(t, newRack(), 0)
	form := url.Values{"name": {" nora "}, "role": {"viewer"}, "password": {"nora's password"}}
	if a := s.do("POST", "/ui/users", form, admin); a.status != http.StatusSeeOther || a.location != "/ui/users?done=added" {
		t.Errorf("%d to %q", a.status, a.location)
	}
	s.get("/ui/users?done=added", admin).has(t, "The user is added.")
	form.Set("password", "")
	form.Set("name", "olaf")
	a := s.do("POST", "/ui/users", form, admin)
	if a.status != http.StatusOK || a.header.Get("Cache-Control") != "no-store" {
		t.Errorf("%d %v", a.status, a.header)
	}
	a.has(t, "MADE-UP-JUST-NOW", "It is shown only now")
	s.get("/ui/users/olaf", admin).lacks(t, "MADE-UP-JUST-NOW")
	s.did(t, "jon adds nora as viewer with nora's password", "jon adds olaf as viewer with ")

	s.staff.edit(func() { s.staff.refuse = node.Invalidf("A password has at least 8 characters.") })
	form.Set("password", "hunter2")
	a = s.do("POST", "/ui/users", form, admin)
	if a.status != http.StatusBadRequest {
		t.Errorf("refused: %d", a.status)
	}
	a.has(t, "A password has at least 8 characters.", `value="olaf"`, `<option value="viewer" selected>`)
	a.lacks(t, "hunter2")
}

func TestAUserIsChangedAndRemovedAfterAsking(t *testing.T) {
	s := serve(t, newRack(), 0)
	for _, tc := range []struct {
		path string
		form url.Values
		to   string
	}{
		{"/ui/users/ann/role", url.Values{"role": {"operator"}}, "/ui/users/ann?done=role"},
		{"/ui/users/ann/password", url.Values{"password": {"ann's password"}}, "/ui/users/ann?done=password"},
		{"/ui/users/ann/signout", url.Values{}, "/ui/users/ann?done=signedout"},
		{"/ui/users/ann/remove", url.Values{}, "/ui/users?done=removed"},
	} {
		if a := s.do("POST", tc.path, tc.form, admin); a.status != http.StatusSeeOther || a.location != tc.to {
			t.Errorf("%s: %d to %q", tc.path, a.status, a.location)
		}
		s.get(tc.to, admin).has(t, `id="notice"`)
	}
	s.did(t, "jon makes ann a operator", "jon gives ann the password ann's password", "jon signs ann out", "jon removes ann")
	s.do("POST", "/ui/users/ann/password", url.Values{}, admin).has(t, "MADE-UP-JUST-NOW", "The password was changed.")
	question := s.get("/ui/users/ann/remove", admin)
	question.has(t, "Remove the user ann?", "They are signed out everywhere", `action="/ui/users/ann/remove"`)
	if strings.Index(question.body, "Keep the user") > strings.Index(question.body, "Remove user</button>") {
		t.Error("the dangerous button comes first")
	}
	if a := s.get("/ui/users/nobody", admin); a.status != http.StatusNotFound {
		t.Errorf("nobody: %d", a.status)
	}
}

func TestARefusedChangeOfAUserSaysWhy(t *testing.T) {
	s := serve(t, newRack(), 0)
	s.staff.edit(func() {
		s.staff.refuse = &node.Conflict{Text: "ann is the last admin: make somebody else an admin first."}
	})
	for _, path := range []string{"/ui/users/ann/role", "/ui/users/ann/password", "/ui/users/ann/remove"} {
		a := s.do("POST", path, url.Values{"role": {"viewer"}, "password": {"long enough"}}, admin)
		if a.status != http.StatusConflict {
			t.Errorf("%s: %d", path, a.status)
		}
		a.has(t, "ann is the last admin", `role="alert"`)
	}
	for _, method := range []string{"GET", "POST"} {
		a := s.do(method, "/ui/users/jon/remove", url.Values{}, admin)
		a.has(t, "This is you.")
		a.lacks(t, `action="/ui/users/jon/remove"`)
	}
	s.did(t)
	s.get("/ui/users/fia", admin).lacks(t, `action="/ui/users/fia/role"`, `action="/ui/users/fia/password"`, `href="/ui/users/fia/remove"`)
}

func TestEverybodyHasAnAccount(t *testing.T) {
	s := serve(t, newRack(), 0)
	viewer := header{"X-Test-Role": "viewer"}
	s.get("/ui/account", viewer).has(t, "<bdi>jon</bdi>", "You may look, but not act.", "Chrome on Linux", "192.0.2.7", `autocomplete="current-password"`, `autocomplete="new-password"`)
	form := url.Values{"old": {"the old one"}, "password": {"the new one"}, "again": {"the new 0ne"}}
	s.do("POST", "/ui/account/password", form, viewer).has(t, "The two new passwords differ. Nothing was changed.")
	s.did(t)
	form.Set("again", "the new one")
	if a := s.do("POST", "/ui/account/password", form, viewer); a.status != http.StatusSeeOther || a.location != "/ui/account?done=password" {
		t.Errorf("%d to %q", a.status, a.location)
	}
	s.get("/ui/account?done=password", viewer).has(t, "Your password is changed.")
	if a := s.do("POST", "/ui/account/signout", url.Values{}, viewer); a.status != http.StatusSeeOther || a.location != "/ui/signin?done=everywhere" {
		t.Errorf("%d to %q", a.status, a.location)
	}
	s.did(t, "own password from the old one to the new one", "jon signs jon out", "sign out")
	for status, tc := range map[int]struct {
		err  error
		says string
	}{
		http.StatusBadRequest:      {&auth.Wrong{}, "The old password is not right. Nothing was changed."},
		http.StatusTooManyRequests: {&auth.TooMany{After: time.Second}, "Try again in 1 s."},
		http.StatusConflict:        {&node.Conflict{Text: "jon is a user of the htpasswd file"}, "htpasswd file"},
	} {
		s.staff.edit(func() { s.staff.refuse = tc.err })
		a := s.do("POST", "/ui/account/password", form, viewer)
		if a.status != status {
			t.Errorf("%v: %d, want %d", tc.err, a.status, status)
		}
		a.has(t, tc.says)
		a.lacks(t, "the old one", "the new one")
	}
}

func TestWhereNobodySignsInThereIsNoAccount(t *testing.T) {
	s := serve(t, newRack(), 0)
	s.staff.edit(func() { s.staff.nobody = true })
	for _, path := range []string{"/ui/signin", "/ui/users", "/ui/account"} {
		a := s.get(path, admin)
		if a.status != http.StatusNotFound {
			t.Errorf("%s: %d", path, a.status)
		}
		a.has(t, "Nobody signs in at this appliance")
	}
}

func TestWhoComesBackToAFormsAddressFindsItsPage(t *testing.T) {
	s := serve(t, newRack(), 0)
	for from, to := range map[string]string{
		"/ui/users/ann/role": "/ui/users/ann", "/ui/users/ann/password": "/ui/users/ann", "/ui/users/a%20b/signout": "/ui/users/a%20b",
		"/ui/account/password": "/ui/account", "/ui/account/signout": "/ui/account",
	} {
		if a := s.get(from, admin); a.status != http.StatusSeeOther || a.location != to {
			t.Errorf("%s: %d to %q", from, a.status, a.location)
		}
	}
}

func TestHostileNamesOfUsersAreText(t *testing.T) {
	s := serve(t, newRack(), 0)
	name := "<script>alert(1)</script>\u202e" + strings.Repeat("é", 40)
	s.staff.edit(func() { s.staff.people["x"] = auth.Person{Name: name, Role: "viewer"} })
	s.staff.edit(func() { s.staff.people["jon"] = auth.Person{Name: name, Role: "operator"} })
	s.staff.edit(func() { s.staff.browser.Agent = "<img src=x onerror=alert(1)>" + strings.Repeat("a", 10000) })
	for _, a := range []answer{s.get("/ui/users", admin), s.get("/ui/users/jon", admin), s.get("/ui/account"), s.get("/ui/users/jon/remove", admin)} {
		if a.status != http.StatusOK {
			t.Errorf("got %d", a.status)
		}
		a.lacks(t, "<script>alert", "<img src=x", strings.Repeat("a", 100))
	}
	s.staff.edit(func() { s.staff.refuse = &auth.Wrong{} })
	s.do("POST", "/ui/signin", url.Values{"name": {`"><script>alert(1)</script>`}}, nobody).lacks(t, "<script>alert")
}

func TestEveryWordOfSignInUsersAndAccountIsATextOfTheCatalogue(t *testing.T) {
	r := newRack()
	r.speak = speakMarked
	s := serve(t, r, 0)
	s.staff.edit(func() { s.staff.ofFile = true })
	for path, who := range map[string]header{
		"/ui/signin": nobody, "/ui/signin?lost=1&done=out": nobody, "/ui/users": admin, "/ui/users?done=added": admin, "/ui/users/ann": admin, "/ui/users/jon?done=role": admin,
		"/ui/users/fia": admin, "/ui/users/ann/remove": admin, "/ui/users/jon/remove": admin, "/ui/account?done=password": admin,
	} {
		for _, said := range saidOn(s.get(path, who).body) {
			rest := withoutData(outside(said))
			for _, name := range []string{"jon", "ann", "fia"} {
				rest = strings.ReplaceAll(rest, name, "")
			}
			if strings.ContainsFunc(rest, unicode.IsLetter) {
				t.Errorf("%s says %q, which is no text of the catalogue", path, said)
			}
		}
	}
}
