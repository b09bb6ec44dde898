package auth_test

import (
	"context"
	"errors"
	"io"
	"maps"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/gofiber/fiber/v2"

	"cagenut/node"
	"cagenut/web"
	"cagenut/web/auth"
)

// desk keeps users, sessions and the audit in memory, and has a clock that stands still.
type desk struct {
	mu       sync.Mutex
	users    map[string]auth.Account
	sessions map[string]auth.Session
	signedIn map[string]time.Time
	audit    []node.Audit
	at       time.Time
	asked    int // for accounts
}

// newDesk knows vera the viewer, otto the operator and ada the admin; their passwords are "vera's password" and so on.
func newDesk(t *testing.T) *desk {
	t.Helper()
	d := &desk{users: map[string]auth.Account{}, sessions: map[string]auth.Session{}, signedIn: map[string]time.Time{}, at: time.Date(2026, 11, 30, 14, 0, 0, 0, time.UTC)}
	for name, role := range map[string]string{"vera": web.RoleViewer, "otto": web.RoleOperator, "ada": web.RoleAdmin} {
		d.users[name] = auth.Account{Hash: hash(t, name+"'s password"), Role: role}
	}
	return d
}

func (d *desk) now() time.Time {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.at
}

func (d *desk) pass(by time.Duration) { d.edit(func() { d.at = d.at.Add(by) }) }

func (d *desk) edit(change func()) {
	d.mu.Lock()
	defer d.mu.Unlock()
	change()
}

func (d *desk) Account(_ context.Context, name string) (auth.Account, bool, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.asked++
	a, ok := d.users[name]
	return a, ok, nil
}

func (d *desk) People(context.Context) ([]auth.Person, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	var all []auth.Person
	for _, name := range slices.Sorted(maps.Keys(d.users)) {
		all = append(all, auth.Person{Name: name, Role: d.users[name].Role, SignedIn: d.signedIn[name]})
	}
	return all, nil
}

func (d *desk) AddPerson(_ context.Context, name, hash, role string, a node.Audit) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if _, taken := d.users[name]; taken {
		return &node.Exists{Text: "taken"}
	}
	d.users[name], d.audit = auth.Account{Hash: hash, Role: role}, append(d.audit, a)
	return nil
}

func (d *desk) ChangePerson(_ context.Context, name, hash, role string, a node.Audit) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	u, ok := d.users[name]
	if !ok {
		return &node.NotFound{What: "User", Ident: name}
	}
	if hash != "" {
		u.Hash = hash
	}
	if role != "" {
		u.Role = role
	}
	d.users[name], d.audit = u, append(d.audit, a)
	return nil
}

func (d *desk) RemovePerson(_ context.Context, name string, a node.Audit) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.users[name].Role == web.RoleAdmin {
		return &node.Conflict{Text: name + " is the last admin"}
	}
	delete(d.users, name)
	d.audit = append(d.audit, a)
	return nil
}

func (d *desk) OpenSession(_ context.Context, s auth.Session, _, _ time.Time, a node.Audit) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.sessions[s.ID], d.signedIn[s.User], d.audit = s, s.Created, append(d.audit, a)
	return nil
}

func (d *desk) Session(_ context.Context, id string) (auth.Session, bool, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	s, ok := d.sessions[id]
	return s, ok, nil
}

func (d *desk) ListSessions(_ context.Context, user string) ([]auth.Session, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	var all []auth.Session
	for _, s := range d.sessions {
		if user == "" || s.User == user {
			all = append(all, s)
		}
	}
	return all, nil
}

func (d *desk) UseSession(_ context.Context, id string, at time.Time) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if s, ok := d.sessions[id]; ok {
		s.Used = at
		d.sessions[id] = s
	}
	return nil
}

func (d *desk) EndSession(_ context.Context, id string, a node.Audit) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if _, ok := d.sessions[id]; ok {
		delete(d.sessions, id)
		d.audit = append(d.audit, a)
	}
	return nil
}

func (d *desk) EndSessions(_ context.Context, user string, a node.Audit) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	maps.DeleteFunc(d.sessions, func(_ string, s auth.Session) bool { return s.User == user })
	d.audit = append(d.audit, a)
	return nil
}

func (d *desk) SignedIn(_ context.Context, user string, at time.Time) error {
	d.edit(func() { d.signedIn[user] = at })
	return nil
}

func (d *desk) Note(_ context.Context, _ *node.History, a *node.Audit) error {
	d.edit(func() { d.audit = append(d.audit, *a) })
	return nil
}

// lines is the audit in short: who, what, result, about whom.
func (d *desk) lines() []string {
	d.mu.Lock()
	defer d.mu.Unlock()
	var out []string
	for _, a := range d.audit {
		out = append(out, strings.TrimSpace(a.Actor.User+": "+a.Action+": "+a.Result+" "+a.Reason))
	}
	return out
}

func (d *desk) open() int {
	d.mu.Lock()
	defer d.mu.Unlock()
	return len(d.sessions)
}

func (d *desk) options() auth.Options {
	return auth.Options{Mode: auth.Basic, Users: d, Sessions: d, Audit: d, Now: d.now}
}

// site is a dashboard behind the gate: the addresses of signing in work, every other one says who asked.
type site struct {
	t      *testing.T
	base   string
	people *auth.People
}

func (d *desk) serve(t *testing.T, change ...func(*auth.Options)) *site {
	t.Helper()
	o := d.options()
	for _, f := range change {
		f(&o)
	}
	gate, err := auth.New(o)
	if err != nil {
		t.Fatal(err)
	}
	s := &site{t: t, people: auth.NewPeople(gate, d)}
	app := web.NewApp(web.AppOptions{TrustedProxies: []string{"127.0.0.1"}})
	app.Use(gate.Check)
	app.Post("/ui/signin", func(c *fiber.Ctx) error {
		err := gate.SignIn(c, c.FormValue("name"), c.FormValue("password"))
		var wrong *auth.Wrong
		var many *auth.TooMany
		switch {
		case errors.As(err, &wrong):
			return fiber.NewError(401, err.Error())
		case errors.As(err, &many):
			return fiber.NewError(429, err.Error())
		}
		return err
	})
	app.Post("/ui/signout", gate.SignOut)
	app.Post("/ui/account/password", func(c *fiber.Ctx) error { return s.people.ChangeOwn(c, c.FormValue("old"), c.FormValue("password")) })
	app.All("/*", func(c *fiber.Ctx) error {
		name, role := web.User(c)
		return c.SendString(name + "/" + role)
	})
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	done := make(chan error, 1)
	go func() { done <- app.Listener(ln) }()
	t.Cleanup(func() {
		http.DefaultClient.CloseIdleConnections()
		_ = app.Shutdown()
		_ = ln.Close() // a shutdown before the server has begun to accept leaves it open
		<-done
	})
	s.base = "http://" + ln.Addr().String()
	return s
}

// reply is an answer with its cookie and body.
type reply struct {
	*http.Response
	cookie *http.Cookie
	text   string
}

// send makes a request as a browser of today does from our own page: cookie "" is none, headers are pairs.
func (s *site) send(method, path, cookie string, form url.Values, headers ...string) reply {
	s.t.Helper()
	req, err := http.NewRequestWithContext(s.t.Context(), method, s.base+path, strings.NewReader(form.Encode()))
	if err != nil {
		s.t.Fatal(err)
	}
	if form != nil {
		req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	}
	if method != "GET" {
		req.Header.Set("Sec-Fetch-Site", "same-origin")
	}
	if cookie != "" {
		req.AddCookie(&http.Cookie{Name: "cagenut_session", Value: cookie})
	}
	for i := 0; i < len(headers); i += 2 {
		if headers[i+1] == "" {
			req.Header.Del(headers[i])
			continue
		}
		req.Header.Set(headers[i], headers[i+1])
	}
	client := &http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	resp, err := client.Do(req)
	if err != nil {
		s.t.Fatal(err)
	}
	defer func() { _ = resp.Body.Close() }()
	b, err := io.ReadAll(resp.Body)
	if err != nil {
		s.t.Fatal(err)
	}
	r := reply{Response: resp, text: string(b)}
	for _, c := range resp.Cookies() {
		r.cookie = c
	}
	return r
}

// signIn is the cookie of somebody who has signed in by the form.
func (s *site) signIn(name string, headers ...string) string {
	s.t.Helper()
	r := s.try(name, name+"'s password", headers...)
	if r.StatusCode != 200 || r.cookie == nil {
		s.t.Fatalf("%s signs in: %d %s", name, r.StatusCode, r.text)
	}
	return r.cookie.Value
}

func (s *site) try(name, password string, headers ...string) reply {
	s.t.Helper()
	return s.send("POST", "/ui/signin", "", url.Values{"name": {name}, "password": {password}}, headers...)
}

// sees is who the site takes the owner of a cookie for; "" for somebody who has to sign in.
func (s *site) sees(cookie string) string {
	s.t.Helper()
	r := s.send("GET", "/ui/nodes/n1", cookie, nil)
	if r.StatusCode == 303 {
		return ""
	}
	return r.text
}
