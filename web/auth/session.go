package auth

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"net/url"
	"path"
	"strings"
	"time"

	"github.com/gofiber/fiber/v2"

	"cagenut/node"
	"cagenut/web"
)

// Session is somebody signed in at the dashboard.
type Session struct {
	ID      string // hash of what the cookie holds, so that the database alone lets nobody in
	User    string
	Proof   string // digest of the account as it was at the time of signing in
	Address string
	Agent   string
	Created time.Time
	Used    time.Time
}

// Sessions keeps who is signed in.
type Sessions interface {
	// OpenSession keeps a new session, and that its user signed in; those that began before began or were last used before
	// used may go.
	OpenSession(ctx context.Context, s Session, began, used time.Time, a node.Audit) error
	// Session finds one by its ID; ok is false where there is none.
	Session(ctx context.Context, id string) (s Session, ok bool, err error)
	// ListSessions are those of a user, or all for "", the newest first, expired ones among them.
	ListSessions(ctx context.Context, user string) ([]Session, error)
	UseSession(ctx context.Context, id string, at time.Time) error
	EndSession(ctx context.Context, id string, a node.Audit) error
	// EndSessions signs a user out everywhere.
	EndSessions(ctx context.Context, user string, a node.Audit) error
	// SignedIn notes that somebody signed in without a session.
	SignedIn(ctx context.Context, user string, at time.Time) error
}

const (
	cookieName = "cagenut_session"
	// usedEvery is how exactly it is known when a session was last used: writing it down for each request would cost more
	// than it tells.
	usedEvery    = time.Minute
	longestAgent = 200
)

// SignIn signs somebody in and gives the browser a new session; the one that it may have had ends, so that nobody is signed
// in to a session that was planted. *[Wrong] and *[TooMany] are refusals.
func (g *Gate) SignIn(c *fiber.Ctx, name, password string) error {
	by := web.Actor(c, node.SourceUI)
	account, _, err := g.verified(c.UserContext(), by, name, password)
	if err != nil {
		return err
	}
	if old := c.Cookies(cookieName); old != "" {
		by.User = name
		if err := g.o.Sessions.EndSession(c.UserContext(), digestOf(old), g.line(by, "sign out", "accepted", "signed in anew")); err != nil {
			return fmt.Errorf("auth: sign in: %w", err)
		}
	}
	return g.open(c, name, account)
}

// open makes the session of somebody who has proved who they are.
func (g *Gate) open(c *fiber.Ctx, name string, account Account) error {
	raw := make([]byte, 32)
	_, _ = rand.Read(raw) // never fails
	id, now, by := base64.RawURLEncoding.EncodeToString(raw), g.o.Now(), web.Actor(c, node.SourceUI)
	by.User = name
	s := Session{ID: digestOf(id), User: name, Proof: account.proof(), Address: by.Address, Agent: node.Shorten(c.Get(fiber.HeaderUserAgent), longestAgent), Created: now, Used: now}
	if err := g.o.Sessions.OpenSession(c.UserContext(), s, now.Add(-g.o.Life), now.Add(-g.o.Idle), g.line(by, "sign in", "accepted", "")); err != nil {
		return fmt.Errorf("auth: sign in: %w", err)
	}
	c.Cookie(cookie(c, id, now.Add(g.o.Life)))
	return nil
}

// cookie holds a session's id. Lax, not Strict: a link to a node in a colleague's message opens the node; whatever changes
// something is no GET, and is refused from other sites. Below /ui alone: the API cannot be used by it. (Names beginning with
// __Host- would need the path /.)
func cookie(c *fiber.Ctx, id string, until time.Time) *fiber.Cookie {
	return &fiber.Cookie{Name: cookieName, Value: id, Path: "/ui", HTTPOnly: true, SameSite: fiber.CookieSameSiteLaxMode, Secure: c.Protocol() == "https", Expires: until}
}

// SignOut ends the browser's session.
func (g *Gate) SignOut(c *fiber.Ctx) error {
	if !g.Asks() || g.o.Sessions == nil {
		return nil
	}
	id := c.Cookies(cookieName)
	c.Cookie(cookie(c, "", time.Unix(1, 0)))
	if id == "" {
		return nil
	}
	if err := g.o.Sessions.EndSession(c.UserContext(), digestOf(id), g.line(web.Actor(c, node.SourceUI), "sign out", "accepted", "")); err != nil {
		return fmt.Errorf("auth: sign out: %w", err)
	}
	return nil
}

// checkSession judges a request to the dashboard by its cookie.
func (g *Gate) checkSession(c *fiber.Ctx) error {
	s, account, ok, err := g.session(c.UserContext(), c.Cookies(cookieName))
	if err != nil {
		return err
	}
	if ok {
		g.use(c, s)
		web.SetSession(c, s.ID)
		id := c.Cookies(cookieName)
		web.SetStillIn(c, func(ctx context.Context) bool {
			_, _, ok, err := g.session(ctx, id)
			return ok || err != nil // a database that does not answer ends nobody's session
		})
		return enter(c, s.User, account.Role)
	}
	if c.Path() == "/ui/signin" || c.Path() == "/ui/signout" {
		return c.Next()
	}
	return askToSignIn(c)
}

// session finds a session that counts: neither too old nor too long unused, and its user still has the password and the role
// that they had. So a change of either signs out everywhere, whoever makes it and wherever users are kept.
func (g *Gate) session(ctx context.Context, cookie string) (Session, Account, bool, error) {
	if cookie == "" {
		return Session{}, Account{}, false, nil
	}
	s, ok, err := g.o.Sessions.Session(ctx, digestOf(cookie))
	if err != nil || !ok {
		return Session{}, Account{}, false, err
	}
	account, known, _, err := g.account(ctx, s.User)
	return s, account, err == nil && known && g.counts(s, account), err
}

// counts tells whether a session of somebody with this account is one that counts.
func (g *Gate) counts(s Session, a Account) bool {
	now := g.o.Now()
	return now.Sub(s.Created) < g.o.Life && now.Sub(s.Used) < g.o.Idle && a.proof() == s.Proof
}

// counting are those of the sessions that count. Each user is asked for once.
func (g *Gate) counting(ctx context.Context, all []Session) (out []Session, err error) {
	accounts := map[string]Account{} // that of nobody is the proof of no session
	for _, s := range all {
		a, asked := accounts[s.User]
		if !asked {
			if a, _, _, err = g.account(ctx, s.User); err != nil {
				return nil, err
			}
			accounts[s.User] = a
		}
		if g.counts(s, a) {
			out = append(out, s)
		}
	}
	return out, nil
}

// proof changes whenever the password or the role does. The hash is salted: the same password anew is another.
func (a Account) proof() string { return digestOf(a.Role + " " + a.Hash) }

func digestOf(s string) string {
	sum := sha256.Sum256([]byte(s))
	return hex.EncodeToString(sum[:])
}

// use notes that the session is in use. An event stream is no use: a page that is left open must not stay signed in.
func (g *Gate) use(c *fiber.Ctx, s Session) {
	if isStream(c) || g.o.Now().Sub(s.Used) < usedEvery {
		return
	}
	ctx, cancel := context.WithTimeout(c.UserContext(), noteTime)
	defer cancel()
	if err := g.o.Sessions.UseSession(ctx, s.ID, g.o.Now()); err != nil && !errors.Is(err, context.Canceled) {
		g.o.Log.Warn("auth: the use of a session could not be noted", "err", err)
	}
}

func isStream(c *fiber.Ctx) bool {
	return c.Path() == "/ui/events" || strings.Contains(c.Get(fiber.HeaderAccept), "text/event-stream")
}

// askToSignIn sends a person to the sign-in page, which leads back to where they were. A form is not carried out, then or
// later: the page that it stood on is opened again. The page's script is told by the status.
func askToSignIn(c *fiber.Ctx) error {
	if isStream(c) || c.Get("X-Requested-With") == "fetch" {
		return fiber.NewError(fiber.StatusUnauthorized, "You are signed out; nothing was done. Open the page again to sign in.")
	}
	to, lost := c.Path(), ""
	if query := string(c.Context().URI().QueryString()); query != "" {
		to += "?" + query
	}
	if !safe(c.Method()) {
		to, lost = refererPath(c), "&lost=1"
	}
	return c.Redirect("/ui/signin?to="+url.QueryEscape(LocalPath(to))+lost, fiber.StatusSeeOther)
}

// LocalPath is the address if it is a page of the dashboard, else the dashboard's first page: nobody is sent to another
// site, nor in circles.
func LocalPath(to string) string {
	const home = "/ui"
	u, err := url.Parse(to)
	if err != nil || u.Scheme != "" || u.Host != "" || u.User != nil || u.Opaque != "" || !isDashboard(u.Path) || path.Clean(u.Path) != u.Path {
		return home
	}
	if strings.ContainsAny(to, "\\\r\n\t\x00") || strings.Contains(to, "//") {
		return home
	}
	switch u.Path {
	case "/ui/signin", "/ui/signout", "/ui/events":
		return home
	}
	q := u.Query()
	q.Del("done") // what was done then is not news any more
	u.RawQuery, u.Fragment = q.Encode(), ""
	return u.String()
}

// refererPath is where a form was sent from, if that was a page of ours.
func refererPath(c *fiber.Ctx) string {
	u, err := url.Parse(c.Get(fiber.HeaderReferer))
	if err != nil || u.Host != c.Hostname() {
		return ""
	}
	return u.RequestURI()
}

// refuseBlind refuses what a browser too old to say where a form comes from may have sent from another site: with the cookie
// and neither Sec-Fetch-Site nor Origin, the page that it names must be ours.
func refuseBlind(c *fiber.Ctx) error {
	if safe(c.Method()) || c.Cookies(cookieName) == "" || c.Get("Sec-Fetch-Site") != "" || c.Get(fiber.HeaderOrigin) != "" {
		return nil
	}
	if u, err := url.Parse(c.Get(fiber.HeaderReferer)); err == nil && u.Host != "" && u.Host == c.Hostname() {
		return nil
	}
	return fiber.NewError(fiber.StatusForbidden, "The request does not say that it comes from this site and was refused.")
}
