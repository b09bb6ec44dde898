package auth

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/gofiber/fiber/v2"

	"cagenut/node"
	"cagenut/web"
)

// Account is somebody who may sign in.
type Account struct {
	Hash string // bcrypt
	Role string // web.RoleViewer, web.RoleOperator or web.RoleAdmin
}

// Users knows who may sign in.
type Users interface {
	// Account finds somebody by name; ok is false for nobody of that name.
	Account(ctx context.Context, name string) (a Account, ok bool, err error)
}

// Auditor keeps lines of the audit.
type Auditor interface {
	Note(ctx context.Context, h *node.History, a *node.Audit) error
}

// The modes.
const (
	None  = "none"
	Basic = "basic"
)

// The defaults of how long a session lasts.
const (
	DefaultIdle = 8 * time.Hour
	DefaultLife = 7 * 24 * time.Hour
)

// Options are what a [Gate] needs.
type Options struct {
	Mode string // None or Basic
	// Users are the appliance's own, or nil. HTPasswd is the path of a file whose users are all admins, or ""; it is asked
	// first. Basic needs one of both.
	Users    Users
	HTPasswd string
	// Sessions keeps who is signed in at the dashboard; nil where there is none.
	Sessions Sessions
	// Idle is how long a session lasts unused, Life how long altogether; the defaults if 0.
	Idle, Life time.Duration
	Audit      Auditor // nil: nothing is kept
	Log        *slog.Logger
	Now        func() time.Time // time.Now if nil
}

// public are the addresses that ask nobody who they are. The bookmark forms are not among them.
var public = regexp.MustCompile(`^(/|/v1|/v1/lookup|/v1/heartbeat/[a-z0-9-]+|/v1/continue_inspection)(\.json)?$|^/boot\.ipxe$|^/boot/([^/]*|iso/[^/]+/[^/]+/[^/]+)$|^/(healthz|readyz)$`)

// personal are the addresses of the dashboard at which also a viewer may send forms: they change nothing but what the
// person sees and who the person is.
var personal = regexp.MustCompile(`^/ui/(signin|signout|account|account/[a-z]+|theme|keys)$`)

// Gate decides who may send which request, and who is signed in at the dashboard.
type Gate struct {
	o        Options
	file     *htpasswd
	verifier *verifier
	throttle *throttle
}

// New makes the gate. It fails for a mode that is none, and for an htpasswd file that cannot be read or has other entries
// than bcrypt.
func New(o Options) (*Gate, error) {
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	if o.Idle == 0 {
		o.Idle = DefaultIdle
	}
	if o.Life == 0 {
		o.Life = DefaultLife
	}
	g := &Gate{o: o, verifier: newVerifier(), throttle: newThrottle(o.Now)}
	switch o.Mode {
	case None:
		return g, nil
	case Basic:
	default:
		return nil, fmt.Errorf("auth: %q is neither none nor basic", o.Mode)
	}
	if o.HTPasswd != "" {
		var err error
		if g.file, err = openHTPasswd(o.HTPasswd, o.Log); err != nil {
			return nil, err
		}
	}
	if g.o.Users == nil && g.file == nil {
		return nil, errors.New("auth: basic needs users or an htpasswd file")
	}
	return g, nil
}

// Asks tells whether anybody has to sign in.
func (g *Gate) Asks() bool { return g.o.Mode != None }

// Check is the middleware, to be used before all routes that are not for everybody. A request with an Authorization header
// is judged by it, everywhere. One without is asked for it, except at the dashboard, whose sessions count there and nowhere
// else: the API cannot be reached by a cookie, so no page of another site can make a browser use it.
func (g *Gate) Check(c *fiber.Ctx) error {
	if !g.Asks() {
		web.SetUser(c, "", web.RoleAdmin)
		return c.Next()
	}
	if public.MatchString(c.Path()) {
		return c.Next()
	}
	header, dashboard := c.Get(fiber.HeaderAuthorization), isDashboard(c.Path())
	if dashboard {
		if err := refuseBlind(c); err != nil {
			return err
		}
		if header == "" && g.o.Sessions != nil {
			return g.checkSession(c)
		}
	}
	return g.checkBasic(c, header, !dashboard)
}

func isDashboard(path string) bool { return path == "/ui" || strings.HasPrefix(path, "/ui/") }

// enter lets somebody in as far as their role goes.
func enter(c *fiber.Ctx, name, role string) error {
	web.SetUser(c, name, role)
	if !mayUse(role, c.Method()) && !personal.MatchString(c.Path()) {
		return fiber.NewError(fiber.StatusForbidden, "Your role may only read.")
	}
	return c.Next()
}

// mayUse lets viewers and roles that nobody knows read only.
func mayUse(role, method string) bool {
	return role == web.RoleOperator || role == web.RoleAdmin || safe(method)
}

func safe(method string) bool {
	return slices.Contains([]string{fiber.MethodGet, fiber.MethodHead, fiber.MethodOptions}, method)
}

// account asks the file first, then the appliance's own users.
func (g *Gate) account(ctx context.Context, name string) (a Account, known, ofFile bool, err error) {
	if g.file != nil {
		if hash, ok := g.file.hash(name); ok {
			return Account{Hash: hash, Role: web.RoleAdmin}, true, true, nil
		}
	}
	if g.o.Users == nil {
		return Account{}, false, false, nil
	}
	a, known, err = g.o.Users.Account(ctx, name)
	if err != nil {
		return Account{}, false, false, fmt.Errorf("auth: look for user: %w", err)
	}
	return a, known, false, nil
}

// Wrong says that there is no user of that name with that password.
type Wrong struct{}

func (*Wrong) Error() string { return "Incorrect username or password" }

// TooMany says that passwords were wrong too often: none is looked at before After has passed.
type TooMany struct{ After time.Duration }

func (e *TooMany) Error() string {
	unit := "seconds"
	if e.Seconds() == 1 {
		unit = "second"
	}
	return fmt.Sprintf("Too many wrong passwords; try again in %d %s.", e.Seconds(), unit)
}

// Seconds is After in whole seconds, at least 1.
func (e *TooMany) Seconds() int { return int((e.After + time.Second - 1) / time.Second) }

// verified finds the account of a name and password: *[Wrong] or *[TooMany] otherwise. first tells that the password was
// looked at, not remembered. Refusals go into the audit; a name that nobody has is not quoted there, because people type
// passwords in the wrong field.
func (g *Gate) verified(ctx context.Context, by node.Actor, name, password string) (a Account, first bool, err error) {
	a, known, _, err := g.account(ctx, name)
	if err != nil {
		return Account{}, false, err
	}
	by.User = ""
	if known {
		by.User = name
	}
	told := false
	allowed := func() error {
		wait, first := g.throttle.wait(name, by.Address)
		told = told || first
		if wait > 0 {
			return &TooMany{After: wait}
		}
		return nil
	}
	wrong := func() { g.throttle.wrong(name, by.Address) }
	right, remembered, err := g.verifier.verify(ctx, name, a.Hash, password, allowed, wrong)
	var many *TooMany
	switch {
	case errors.As(err, &many):
		if told {
			g.note(ctx, by, "sign in", many.Error(), "")
		}
		return Account{}, false, many
	case err != nil:
		return Account{}, false, err
	case !known || !right:
		err := &Wrong{}
		g.note(ctx, by, "sign in", err.Error(), "")
		return Account{}, false, err
	}
	if !remembered {
		g.throttle.right(name, by.Address)
	}
	return a, !remembered, nil
}

func (g *Gate) line(by node.Actor, action, result, reason string) node.Audit {
	return node.Audit{At: g.o.Now(), Actor: by, Action: action, Result: result, Reason: reason}
}

// note writes a line of the audit about what was not done. That it cannot be written changes nothing about the refusal.
func (g *Gate) note(ctx context.Context, by node.Actor, action, result, reason string) {
	if g.o.Audit == nil {
		return
	}
	a := g.line(by, action, result, reason)
	if err := g.o.Audit.Note(context.WithoutCancel(ctx), nil, &a); err != nil {
		g.o.Log.Error("auth: a refusal could not be written into the audit", "action", action, "req", by.RequestID, "err", err)
	}
}
