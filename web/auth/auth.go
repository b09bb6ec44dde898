package auth

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"log/slog"
	"regexp"
	"slices"
	"strings"

	"github.com/gofiber/fiber/v2"

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

// The modes.
const (
	None  = "none"
	Basic = "basic"
)

// Options are what [Guard] needs.
type Options struct {
	Mode string // None or Basic
	// Users are the appliance's own, or nil. HTPasswd is the path of a file whose users are all admins, or ""; it is asked
	// first. Basic needs one of both.
	Users    Users
	HTPasswd string
	Log      *slog.Logger
}

// public are the addresses that ask nobody who they are. The bookmark forms are not among them.
var public = regexp.MustCompile(`^(/|/v1|/v1/lookup|/v1/heartbeat/[a-z0-9-]+|/v1/continue_inspection)(\.json)?$|^/boot\.ipxe$|^/boot/([^/]*|iso/[^/]+/[^/]+/[^/]+)$|^/(healthz|readyz)$`)

type guard struct {
	users    Users
	file     *htpasswd
	verifier *verifier
}

// Guard is the middleware, to be used before all routes. It fails for a mode that is none, and for an htpasswd file that
// cannot be read or has other entries than bcrypt.
func Guard(o Options) (fiber.Handler, error) {
	switch o.Mode {
	case None:
		return func(c *fiber.Ctx) error {
			web.SetUser(c, "", web.RoleAdmin)
			return c.Next()
		}, nil
	case Basic:
	default:
		return nil, fmt.Errorf("auth: %q is neither none nor basic", o.Mode)
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	g := &guard{users: o.Users, verifier: newVerifier()}
	if o.HTPasswd != "" {
		var err error
		if g.file, err = openHTPasswd(o.HTPasswd, o.Log); err != nil {
			return nil, err
		}
	}
	if g.users == nil && g.file == nil {
		return nil, errors.New("auth: basic needs users or an htpasswd file")
	}
	return g.check, nil
}

func (g *guard) check(c *fiber.Ctx) error {
	if public.MatchString(c.Path()) {
		return c.Next()
	}
	name, password, refused := credentials(c.Get(fiber.HeaderAuthorization))
	if refused != nil {
		return refused.answer(c)
	}
	account, known, err := g.account(c.UserContext(), name)
	if err != nil {
		return fmt.Errorf("auth: look for user: %w", err)
	}
	ok, err := g.verifier.verify(c.UserContext(), name, account.Hash, password)
	if err != nil {
		return err
	}
	if !known || !ok {
		return (&refusal{fiber.StatusUnauthorized, "Incorrect username or password"}).answer(c)
	}
	web.SetUser(c, name, account.Role)
	if !mayUse(account.Role, c.Method()) {
		return fiber.NewError(fiber.StatusForbidden, "Your role may only read.")
	}
	return c.Next()
}

// account asks the file first, then the appliance's own users.
func (g *guard) account(ctx context.Context, name string) (Account, bool, error) {
	if g.file != nil {
		if hash, ok := g.file.hash(name); ok {
			return Account{Hash: hash, Role: web.RoleAdmin}, true, nil
		}
	}
	if g.users == nil {
		return Account{}, false, nil
	}
	return g.users.Account(ctx, name)
}

// mayUse lets viewers and roles that nobody knows read only.
func mayUse(role, method string) bool {
	if role == web.RoleOperator || role == web.RoleAdmin {
		return true
	}
	return slices.Contains([]string{fiber.MethodGet, fiber.MethodHead, fiber.MethodOptions}, method)
}

// refusal is an answer in the shape of contract.md §7.1.
type refusal struct {
	status int
	text   string
}

func (r *refusal) answer(c *fiber.Ctx) error {
	if r.status == fiber.StatusUnauthorized {
		c.Set(fiber.HeaderWWWAuthenticate, `Basic realm="Baremetal API"`)
	}
	var body struct {
		Error struct {
			Message string `json:"message"`
			Code    int    `json:"code"`
		} `json:"error"`
	}
	body.Error.Message, body.Error.Code = r.text, r.status
	return c.Status(r.status).JSON(body)
}

func credentials(header string) (name, password string, r *refusal) {
	if header == "" {
		return "", "", &refusal{fiber.StatusUnauthorized, "Authorization required"}
	}
	scheme, token, _ := strings.Cut(header, " ")
	if !strings.EqualFold(scheme, "basic") {
		return "", "", &refusal{fiber.StatusBadRequest, fmt.Sprintf("Unsupported authorization type %q", scheme)}
	}
	raw, err := base64.StdEncoding.DecodeString(strings.TrimSpace(token))
	name, password, ok := strings.Cut(string(raw), ":")
	if err != nil || !ok {
		return "", "", &refusal{fiber.StatusBadRequest, "Could not decode authorization token"}
	}
	return name, password, nil
}
