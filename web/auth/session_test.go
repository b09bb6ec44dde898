package auth_test

import (
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"cagenut/web"
	"cagenut/web/auth"
)

func TestWhoSignsInGetsACookieThatOnlyTheDashboardTakes(t *testing.T) {
	d := newDesk(t)
	s := d.serve(t)
	r := s.try("otto", "otto's password")
	if r.cookie == nil {
		t.Fatalf("no cookie: %d %s", r.StatusCode, r.text)
	}
	c := r.cookie
	if !c.HttpOnly || c.Path != "/ui" || c.Secure || !strings.Contains(c.Raw, "SameSite=Lax") || c.Domain != "" || len(c.Value) < 43 {
		t.Errorf("cookie %s", c.Raw)
	}
	if got := s.sees(c.Value); got != "otto/operator" {
		t.Errorf("seen as %q", got)
	}
	api := s.send("GET", "/v1/nodes", c.Value, nil)
	if api.StatusCode != 401 || api.Header.Get("WWW-Authenticate") == "" {
		t.Errorf("the cookie opens the API: %d", api.StatusCode)
	}
	for id := range d.sessions {
		if strings.Contains(id, c.Value) || strings.Contains(c.Value, id) {
			t.Error("the database holds what the cookie holds")
		}
	}
	if secure := s.try("otto", "otto's password", "X-Forwarded-Proto", "https").cookie; !secure.Secure {
		t.Errorf("behind a proxy with TLS: %s", secure.Raw)
	}
}

func TestWhoIsNotSignedInIsLedToTheSignInAndBack(t *testing.T) {
	s := newDesk(t).serve(t)
	for _, tc := range []struct {
		name, method, path string
		headers            []string
		status             int
		location           string
	}{
		{"a page", "GET", "/ui/nodes/r07-u21", nil, 303, "/ui/signin?to=" + url.QueryEscape("/ui/nodes/r07-u21")},
		{"a page with a filter, without what was done", "GET", "/ui?q=a%2Fb&done=abort", nil, 303, "/ui/signin?to=" + url.QueryEscape("/ui?q=a%2Fb")},
		{"the sign-in page", "GET", "/ui/signin", nil, 200, ""},
		{"the script", "GET", "/ui/nodes/r07-u21/abort", []string{"X-Requested-With", "fetch"}, 401, ""},
		{"the script's form", "POST", "/ui/nodes/r07-u21/provision", []string{"X-Requested-With", "fetch"}, 401, ""},
		{"an event stream", "GET", "/ui/events?view=list", []string{"Accept", "text/event-stream"}, 401, ""},
		{"a form", "POST", "/ui/nodes/r07-u21/provision", []string{"Referer", s.base + "/ui/nodes/r07-u21/abort?back=list"}, 303,
			"/ui/signin?to=" + url.QueryEscape("/ui/nodes/r07-u21/abort?back=list") + "&lost=1"},
		{"a form that tells no page", "POST", "/ui/nodes/r07-u21/provision", nil, 303, "/ui/signin?to=%2Fui&lost=1"},
		{"a form of a page that is not ours", "POST", "/ui/nodes/r07-u21/provision", []string{"Referer", "http://elsewhere.example/ui/x"}, 303, "/ui/signin?to=%2Fui&lost=1"},
	} {
		for what, cookie := range map[string]string{"without a cookie": "", "with one that is none": "planted"} {
			t.Run(tc.name+" "+what, func(t *testing.T) {
				var form url.Values
				if tc.method == "POST" {
					form = url.Values{"verb": {"abort"}}
				}
				r := s.send(tc.method, tc.path, cookie, form, tc.headers...)
				if r.StatusCode != tc.status || r.Header.Get("Location") != tc.location || r.Header.Get("WWW-Authenticate") != "" {
					t.Errorf("%d to %q, %v", r.StatusCode, r.Header.Get("Location"), r.Header)
				}
			})
		}
	}
}

func TestASessionIsANewOneAtEachSignIn(t *testing.T) {
	d := newDesk(t)
	s := d.serve(t)
	first := s.signIn("otto")
	r := s.send("POST", "/ui/signin", first, url.Values{"name": {"ada"}, "password": {"ada's password"}})
	if r.cookie == nil || r.cookie.Value == first {
		t.Fatal("the old session goes on")
	}
	if s.sees(first) != "" || s.sees(r.cookie.Value) != "ada/admin" {
		t.Errorf("the old one is %q, the new one %q", s.sees(first), s.sees(r.cookie.Value))
	}
	planted := s.send("POST", "/ui/signin", "planted", url.Values{"name": {"ada"}, "password": {"ada's password"}})
	if planted.cookie == nil || planted.cookie.Value == "planted" || s.sees("planted") != "" {
		t.Error("a planted session is taken")
	}
}

func TestASessionEndsWhenItIsNotUsedAndWhenItIsOld(t *testing.T) {
	t.Run("not used", func(t *testing.T) {
		d := newDesk(t)
		s := d.serve(t, func(o *auth.Options) { o.Idle, o.Life = time.Hour, 24*time.Hour })
		cookie := s.signIn("otto")
		for range 5 {
			d.pass(50 * time.Minute)
			if s.sees(cookie) == "" {
				t.Fatal("it ended although it was used")
			}
		}
		d.pass(time.Hour)
		if s.sees(cookie) != "" {
			t.Error("it goes on after an hour without use")
		}
	})
	t.Run("a page left open is no use", func(t *testing.T) {
		d := newDesk(t)
		s := d.serve(t, func(o *auth.Options) { o.Idle = time.Hour })
		cookie := s.signIn("otto")
		for range 3 {
			d.pass(25 * time.Minute)
			s.send("GET", "/ui/events?view=list", cookie, nil, "Accept", "text/event-stream")
		}
		if s.sees(cookie) != "" {
			t.Error("the stream kept it")
		}
	})
	t.Run("old", func(t *testing.T) {
		d := newDesk(t)
		s := d.serve(t, func(o *auth.Options) { o.Idle, o.Life = time.Hour, 4*time.Hour })
		cookie := s.signIn("otto")
		for range 7 {
			d.pass(30 * time.Minute)
			if s.sees(cookie) == "" {
				t.Fatal("it ended too soon")
			}
		}
		d.pass(30 * time.Minute)
		if s.sees(cookie) != "" {
			t.Error("it goes on after its life")
		}
	})
}

func TestASessionEndsWithThePasswordOrRoleItBeganWith(t *testing.T) {
	for name, change := range map[string]func(*testing.T, *desk){
		"another password": func(t *testing.T, d *desk) {
			d.users["otto"] = auth.Account{Hash: hash(t, "another one"), Role: web.RoleOperator}
		},
		"the same password anew": func(t *testing.T, d *desk) {
			d.users["otto"] = auth.Account{Hash: hash(t, "otto's password"), Role: web.RoleOperator}
		},
		"another role": func(_ *testing.T, d *desk) {
			d.users["otto"] = auth.Account{Hash: d.users["otto"].Hash, Role: web.RoleViewer}
		},
		"removal": func(_ *testing.T, d *desk) { delete(d.users, "otto") },
	} {
		t.Run(name, func(t *testing.T) {
			d := newDesk(t)
			s := d.serve(t)
			his, hers := s.signIn("otto"), s.signIn("ada")
			d.edit(func() { change(t, d) })
			if s.sees(his) != "" {
				t.Error("otto is still signed in")
			}
			if s.sees(hers) != "ada/admin" {
				t.Error("ada is signed out too")
			}
		})
	}
}

func TestASessionSurvivesARestart(t *testing.T) {
	d := newDesk(t)
	cookie := d.serve(t).signIn("vera")
	if got := d.serve(t).sees(cookie); got != "vera/viewer" {
		t.Errorf("seen as %q", got)
	}
}

func TestSigningOutEndsTheSessionAndNotThoseOfOtherBrowsers(t *testing.T) {
	d := newDesk(t)
	s := d.serve(t)
	here, there := s.signIn("vera"), s.signIn("vera")
	if r := s.send("POST", "/ui/signout", here, url.Values{}); r.StatusCode != 200 || r.cookie == nil || r.cookie.Value != "" {
		t.Errorf("signing out: %d %v", r.StatusCode, r.Cookies())
	}
	if s.sees(here) != "" || s.sees(there) != "vera/viewer" {
		t.Error("the wrong session ended")
	}
	s.send("POST", "/ui/signout", here, url.Values{}) // twice is no error and leaves no second line
	if got := d.lines(); !slices.Equal(got, []string{"vera: sign in: accepted", "vera: sign in: accepted", "vera: sign out: accepted"}) {
		t.Errorf("audit %q", got)
	}
}

// G56: what a viewer may send is about themselves alone.
func TestAViewerSendsOnlyWhatIsAboutThemselves(t *testing.T) {
	s := newDesk(t).serve(t)
	cookie := s.signIn("vera")
	for path, status := range map[string]int{
		"/ui/nodes/n1/provision": 403, "/ui/users": 403, "/ui/users/otto/password": 403, "/ui/accounts": 403, "/ui/account/a/b": 403, "/ui/nodes/signout": 403,
		"/ui/theme": 200, "/ui/account/signout": 200,
	} {
		if r := s.send("POST", path, cookie, url.Values{}); r.StatusCode != status {
			t.Errorf("POST %s: %d, want %d", path, r.StatusCode, status)
		}
	}
}

func TestAFormFromAnotherSiteIsRefused(t *testing.T) {
	s := newDesk(t).serve(t)
	cookie := s.signIn("ada")
	for _, tc := range []struct {
		name    string
		headers []string
		status  int
	}{
		{"our page", nil, 200},
		{"our page in an older browser", []string{"Sec-Fetch-Site", "", "Origin", s.base}, 200},
		{"our page in a very old browser", []string{"Sec-Fetch-Site", "", "Referer", s.base + "/ui"}, 200},
		{"another site", []string{"Sec-Fetch-Site", "cross-site", "Origin", "https://evil.example"}, 403},
		{"another site in an older browser", []string{"Sec-Fetch-Site", "", "Origin", "https://evil.example"}, 403},
		{"another site in a very old browser", []string{"Sec-Fetch-Site", "", "Referer", "https://evil.example/ui"}, 403},
		{"nobody says from where", []string{"Sec-Fetch-Site", ""}, 403},
		{"a sandboxed page", []string{"Sec-Fetch-Site", "", "Origin", "null"}, 403},
	} {
		t.Run(tc.name, func(t *testing.T) {
			if r := s.send("POST", "/ui/nodes/n1/provision", cookie, url.Values{}, tc.headers...); r.StatusCode != tc.status {
				t.Errorf("status %d: %s", r.StatusCode, r.text)
			}
		})
	}
}

func TestTheSignInLeadsNowhereElse(t *testing.T) {
	for to, want := range map[string]string{
		"":                             "/ui",
		"/ui":                          "/ui",
		"/ui/nodes/r07-u21":            "/ui/nodes/r07-u21",
		"/ui/nodes/a%2Fb":              "/ui/nodes/a%2Fb",
		"/ui?q=r07&group=failed":       "/ui?group=failed&q=r07",
		"/ui/racks/R07?done=abort":     "/ui/racks/R07",
		"/ui?q=http%3A%2F%2Fa.example": "/ui?q=http%3A%2F%2Fa.example",
		"/ui/nodes/n1#top":             "/ui/nodes/n1",
		"//evil.example/ui":            "/ui",
		"///evil.example":              "/ui",
		"https://evil.example/ui":      "/ui",
		"https:/ui":                    "/ui",
		"javascript:alert(1)":          "/ui",
		`/\evil.example`:               "/ui",
		`/ui/\evil.example`:            "/ui",
		"/ui//evil.example":            "/ui",
		"/ui/../v1/nodes":              "/ui",
		"/v1/nodes":                    "/ui",
		"/uix":                         "/ui",
		"ui":                           "/ui",
		"/ui/signin":                   "/ui",
		"/ui/signin?to=/ui":            "/ui",
		"/ui/signout":                  "/ui",
		"/ui/events?view=list":         "/ui",
		"/ui\r\nSet-Cookie: a=b":       "/ui",
		"/ui/%00":                      "/ui/%00",
		"http://[::1":                  "/ui",
	} {
		if got := auth.LocalPath(to); got != want {
			t.Errorf("%q leads to %q, want %q", to, got, want)
		}
	}
}

func TestBasicAuthenticationGoesOnWorkingAtTheDashboard(t *testing.T) {
	d := newDesk(t)
	s := d.serve(t)
	basic := func(name, password string) reply {
		req := s.send("GET", "/ui/nodes/n1", "", nil, "Authorization", basicHeader(name, password))
		return req
	}
	if r := basic("otto", "otto's password"); r.text != "otto/operator" {
		t.Errorf("%d %s", r.StatusCode, r.text)
	}
	if d.open() != 0 {
		t.Error("it opened a session")
	}
	if d.signedIn["otto"].IsZero() {
		t.Error("the sign-in is not kept")
	}
	if r := basic("otto", "wrong"); r.StatusCode != 401 || r.Header.Get("WWW-Authenticate") != "" {
		t.Errorf("a wrong password: %d %v", r.StatusCode, r.Header)
	}
}
