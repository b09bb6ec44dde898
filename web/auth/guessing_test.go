package auth_test

import (
	"encoding/base64"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
)

func basicHeader(name, password string) string {
	return "Basic " + base64.StdEncoding.EncodeToString([]byte(name+":"+password))
}

func from(address string) []string { return []string{"X-Forwarded-For", address} }

func TestGuessingIsSlowAtEveryDoorAndKeepsNobodyElseOut(t *testing.T) {
	const stranger, home = "198.51.100.9", "192.0.2.7"
	for name, guess := range map[string]func(*site, string, string) reply{
		"the sign-in page": func(s *site, password, address string) reply { return s.try("ada", password, from(address)...) },
		"HTTP basic": func(s *site, password, address string) reply {
			return s.send("GET", "/v1/nodes", "", nil, append(from(address), "Authorization", basicHeader("ada", password))...)
		},
	} {
		t.Run(name, func(t *testing.T) {
			d := newDesk(t)
			s := d.serve(t)
			for i := range 5 {
				if r := guess(s, "a guess", stranger); r.StatusCode != 401 {
					t.Fatalf("guess %d: %d", i, r.StatusCode)
				}
			}
			r := guess(s, "ada's password", stranger)
			if r.StatusCode != 429 || !strings.Contains(r.text, "Too many wrong passwords; try again in 1 second.") || r.Header.Get("WWW-Authenticate") != "" {
				t.Errorf("the sixth, even a right one: %d %s", r.StatusCode, r.text)
			}
			if r := guess(s, "ada's password", home); r.StatusCode != 200 {
				t.Errorf("ada at another address: %d %s", r.StatusCode, r.text)
			}
			d.pass(time.Second)
			if r := guess(s, "another guess", stranger); r.StatusCode != 401 {
				t.Errorf("after the pause: %d", r.StatusCode)
			}
			d.pass(time.Second)
			if r := guess(s, "a third", stranger); r.StatusCode != 429 {
				t.Errorf("the next pause is no longer: %d", r.StatusCode)
			}
		})
	}
}

func TestARefusalSaysWhenToTryAgain(t *testing.T) {
	s := newDesk(t).serve(t)
	header := []string{"Authorization", basicHeader("ada", "a guess")}
	for range 5 {
		s.send("GET", "/v1/nodes", "", nil, header...)
	}
	if r := s.send("GET", "/v1/nodes", "", nil, header...); r.StatusCode != 429 || r.Header.Get("Retry-After") != "1" {
		t.Errorf("%d, Retry-After %q", r.StatusCode, r.Header.Get("Retry-After"))
	}
}

// Programs send their password with every request, also many at once, and also where somebody else mistypes theirs.
func TestARightPasswordThatIsRememberedIsNeverSlowedDown(t *testing.T) {
	s := newDesk(t).serve(t)
	right := []string{"Authorization", basicHeader("otto", "otto's password")}
	var all sync.WaitGroup
	for range 20 {
		all.Go(func() {
			if r := s.send("GET", "/v1/nodes", "", nil, right...); r.StatusCode != 200 {
				t.Errorf("at once: %d", r.StatusCode)
			}
		})
	}
	all.Wait()
	for range 6 {
		s.try("otto", "a guess")
	}
	if r := s.send("GET", "/v1/nodes", "", nil, right...); r.StatusCode != 200 {
		t.Errorf("while his pause runs: %d", r.StatusCode)
	}
}

func TestNamesThatNobodyHasAreTreatedLikeThoseThatSomebodyHas(t *testing.T) {
	s := newDesk(t).serve(t)
	var known, unknown []int
	for range 7 {
		known = append(known, s.try("ada", "a guess", from("192.0.2.1")...).StatusCode)
		unknown = append(unknown, s.try("nobody", "a guess", from("192.0.2.2")...).StatusCode)
	}
	if !slices.Equal(known, unknown) || known[6] != 429 {
		t.Errorf("known %v, unknown %v", known, unknown)
	}
}

func TestTheAuditTellsWhoTriedToSignInButNoPassword(t *testing.T) {
	d := newDesk(t)
	s := d.serve(t)
	s.signIn("ada", from("192.0.2.7")...)
	s.try("ada", "hunter2-typo", from("192.0.2.8")...)
	s.try("hunter2-in-the-wrong-field", "ada", from("192.0.2.8")...)
	for range 8 {
		s.try("otto", "hunter2-guess", from("192.0.2.9")...)
	}
	want := []string{
		"ada: sign in: accepted", "ada: sign in: Incorrect username or password", ": sign in: Incorrect username or password",
	}
	want = append(want, slices.Repeat([]string{"otto: sign in: Incorrect username or password"}, 5)...)
	want = append(want, "otto: sign in: Too many wrong passwords; try again in 1 second.") // once for each pause
	if got := d.lines(); !slices.Equal(got, want) {
		t.Errorf("got\n%s", strings.Join(got, "\n"))
	}
	for _, a := range d.audit {
		if a.Actor.Address == "" || a.Actor.RequestID == "" || a.At.IsZero() || strings.Contains(a.Actor.User+a.Reason+a.Result+a.Action, "hunter2") {
			t.Errorf("line %+v", a)
		}
	}
}

func TestWhoChangesTheirPasswordStaysSignedInHereAlone(t *testing.T) {
	d := newDesk(t)
	s := d.serve(t)
	here, there := s.signIn("vera"), s.signIn("vera")
	change := func(old, password string) reply {
		return s.send("POST", "/ui/account/password", here, url.Values{"old": {old}, "password": {password}})
	}
	for name, r := range map[string]reply{
		"a wrong old one": change("vera", "a new password"), "too short": change("vera's password", "short"), "too long": change("vera's password", strings.Repeat("x", 73)),
		"the old one": change("vera's password", "vera's password"),
	} {
		if r.StatusCode == 200 || s.sees(here) == "" || s.sees(there) == "" {
			t.Errorf("%s: %d %s", name, r.StatusCode, r.text)
		}
	}
	r := change("vera's password", "a new password")
	if r.StatusCode != 200 || r.cookie == nil {
		t.Fatalf("%d %s", r.StatusCode, r.text)
	}
	if s.sees(here) != "" || s.sees(there) != "" || s.sees(r.cookie.Value) != "vera/viewer" {
		t.Errorf("this browser %q, before %q, the other %q", s.sees(r.cookie.Value), s.sees(here), s.sees(there))
	}
	if s.try("vera", "vera's password").StatusCode != 401 || s.try("vera", "a new password").StatusCode != 200 {
		t.Error("the old password counts, or the new one does not")
	}
}
