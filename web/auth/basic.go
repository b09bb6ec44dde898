package auth

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/gofiber/fiber/v2"

	"cagenut/node"
	"cagenut/web"
)

// noteTime bounds the line about a sign-in, which nobody waits for longer.
const noteTime = 2 * time.Second

// checkBasic judges a request by its Authorization header. A challenge makes browsers ask by a window of their own, which
// cannot be signed out of: the dashboard gives none.
func (g *Gate) checkBasic(c *fiber.Ctx, header string, challenge bool) error {
	name, password, refused := credentials(header)
	if refused != nil {
		return refused.answer(c, challenge)
	}
	account, first, err := g.verified(c.UserContext(), web.Actor(c, source(c)), name, password)
	var (
		wrong *Wrong
		many  *TooMany
	)
	switch {
	case errors.As(err, &wrong):
		return (&refusal{fiber.StatusUnauthorized, wrong.Error()}).answer(c, challenge)
	case errors.As(err, &many):
		c.Set(fiber.HeaderRetryAfter, strconv.Itoa(many.Seconds()))
		return (&refusal{fiber.StatusTooManyRequests, many.Error()}).answer(c, false)
	case err != nil:
		return err
	}
	if first {
		g.noteSignIn(c.UserContext(), name)
	}
	proof := account.proof()
	web.SetStillIn(c, func(ctx context.Context) bool {
		now, known, _, err := g.account(ctx, name)
		return err != nil || (known && now.proof() == proof)
	})
	return enter(c, name, account.Role)
}

// noteSignIn keeps when somebody last signed in; once per remembered password, not for each request.
func (g *Gate) noteSignIn(ctx context.Context, name string) {
	if g.o.Sessions == nil {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, noteTime)
	defer cancel()
	if err := g.o.Sessions.SignedIn(ctx, name, g.o.Now()); err != nil {
		g.o.Log.Warn("auth: the time of a sign-in could not be kept", "err", err)
	}
}

func source(c *fiber.Ctx) node.Source {
	if isDashboard(c.Path()) {
		return node.SourceUI
	}
	return node.SourceAPI
}

// refusal is an answer in the shape of contract.md §7.1.
type refusal struct {
	status int
	text   string
}

func (r *refusal) answer(c *fiber.Ctx, challenge bool) error {
	if challenge && r.status == fiber.StatusUnauthorized {
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
