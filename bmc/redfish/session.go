package redfish

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"

	"cagenut/node"
)

// errLogin marks a failed login: the request behind it was never sent and a repetition would only count as one more failure,
// until the BMC locks the account.
var errLogin = errors.New("login")

// errGivenUp ends what is still going on at a connection that was given up: a login there would be nobody's to end.
var errGivenUp = errors.New("the way to this BMC was changed or removed meanwhile")

// pass is what proves who we are on one request; a nil pass proves nothing.
type pass struct {
	session  *session // else Basic
	user     string
	password node.Secret
	why      error // why this is Basic, where that may be why it is refused; nil where a refusal is one of the credentials
}

func (p *pass) apply(r *http.Request) {
	switch {
	case p == nil:
	case p.session != nil:
		r.Header.Set("X-Auth-Token", string(p.session.token))
	case p.user != "":
		r.SetBasicAuth(p.user, string(p.password))
	}
}

// auth holds the login session of one BMC. BMCs have few sessions (quirk 38): there is one, shared, renewed when the BMC
// forgets it, and Basic authentication takes its place where logging in is impossible.
type auth struct {
	settings
	print  string
	keeper *keeper

	mu       sync.Mutex
	current  *pass
	left     []session // of other settings: they are ended before anything else is asked
	sessions string    // path of the session collection; "" until the service root was read
	givenUp  bool
}

// newAuth takes over the sessions that are left of this way in: one to use, if it belongs to exactly these settings.
func newAuth(s settings, k *keeper, left []session) *auth {
	a := &auth{settings: s, print: s.print(), keeper: k}
	for _, one := range left {
		if a.current == nil && one.print == a.print {
			a.current = &pass{session: &one}
			continue
		}
		a.left = append(a.left, one)
	}
	return a
}

// useSessions says where to log in.
func (a *auth) useSessions(path string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.sessions = path
}

// pass is the current one; it logs in where there is none.
func (a *auth) pass(ctx context.Context, t *transport) (*pass, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.givenUp {
		return nil, errGivenUp
	}
	a.endLeft(ctx, t)
	if a.current != nil {
		return a.current, nil
	}
	if a.user == "" {
		a.current = &pass{}
		return a.current, nil
	}
	p, err := a.login(ctx, t)
	if err != nil {
		return nil, err
	}
	a.current = p
	return p, nil
}

// expired forgets a pass that the BMC no longer takes, unless another request has renewed it already.
func (a *auth) expired(ctx context.Context, p *pass) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.current != p {
		return
	}
	a.current = nil
	if p.session != nil {
		a.keeper.drop(ctx, p.session.id)
	}
}

// endLeft ends the sessions of other settings, once; the caller holds the lock. What is not ended is tried again by the driver.
func (a *auth) endLeft(ctx context.Context, t *transport) {
	var ended []string
	for i, s := range a.left {
		if err := end(ctx, t, s); err != nil {
			a.keeper.abandon(a.left[i:]...)
			break
		}
		ended = append(ended, s.id)
	}
	a.left = nil
	a.keeper.drop(ctx, ended...)
}

func (a *auth) login(ctx context.Context, t *transport) (*pass, error) {
	basic := &pass{user: a.user, password: a.password}
	if a.sessions == "" {
		return basic, nil
	}
	body, err := json.Marshal(map[string]string{"UserName": a.user, "Password": string(a.password)})
	if err != nil {
		return nil, err
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, a.base+a.sessions, nil)
	if err != nil {
		return nil, err
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Accept", "application/json")
	res, err := t.once(req, body, nil)
	if err != nil {
		return nil, err
	}
	switch {
	case noSessionLeft(res.Response):
		basic.why = fmt.Errorf("%w: the BMC gives no session (HTTP status %d) and takes no Basic authentication", errLogin, res.StatusCode)
		return basic, nil
	case res.StatusCode == http.StatusUnauthorized || res.StatusCode == http.StatusForbidden:
		return nil, fmt.Errorf("%w at %s: %w", errLogin, a.base, node.ErrCredentials)
	case res.StatusCode/100 != 2 || res.Header.Get("X-Auth-Token") == "":
		return basic, nil // the BMC knows no sessions
	}
	s := &session{
		base: a.base, user: a.user, print: a.print, trust: a.trust, token: node.Secret(res.Header.Get("X-Auth-Token")), path: sessionPath(res.Response),
	}
	a.keeper.keep(ctx, s)
	return &pass{session: s}, nil
}

// noSessionLeft tells of a login that was refused for another reason than the credentials: all sessions are taken (quirk 38,
// which some BMCs say with 401 or 403), or the BMC is busy.
func noSessionLeft(res *http.Response) bool {
	switch res.StatusCode {
	case http.StatusTooManyRequests, http.StatusBadGateway, http.StatusServiceUnavailable, http.StatusGatewayTimeout:
		return true
	case http.StatusBadRequest, http.StatusUnauthorized, http.StatusForbidden:
		b, err := io.ReadAll(res.Body)
		said := strings.ToLower(string(b))
		return err == nil && (strings.Contains(said, "sessionlimitexceeded") || strings.Contains(said, "rac0218") || strings.Contains(said, "maximum number of user sessions"))
	}
	return false
}

// sessionPath is in the Location header, else in the body.
func sessionPath(res *http.Response) string {
	if path := linkPath(res.Header.Get("Location")); path != "" {
		return path
	}
	b, err := io.ReadAll(res.Body)
	if err != nil {
		return ""
	}
	return linkPath(text(object(b)["@odata.id"]))
}

// logout ends the sessions that there are. It names those that have ended, and gives the others back to the keeper.
func (a *auth) logout(ctx context.Context, t *transport) (ended []string, err error) {
	for _, s := range a.release() {
		if e := end(ctx, t, s); e != nil {
			a.keeper.abandon(s)
			err = errors.Join(err, e)
			continue
		}
		ended = append(ended, s.id)
	}
	return ended, err
}

// release gives up the sessions, as they are, and with them the connection.
func (a *auth) release() []session {
	a.mu.Lock()
	defer a.mu.Unlock()
	all := a.left
	if a.current != nil && a.current.session != nil {
		all = append(all, *a.current.session)
	}
	a.current, a.left, a.givenUp = nil, nil, true
	return all
}

// end deletes a session at its BMC. nil also where the BMC says that it has none such.
func end(ctx context.Context, t *transport, s session) error {
	if s.path == "" {
		return nil // it ends by itself: the BMC did not say where it is
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodDelete, s.base+s.path, nil)
	if err != nil {
		return err
	}
	res, err := t.once(req, nil, &pass{session: &s})
	switch {
	case err != nil:
		return fmt.Errorf("redfish: log out of %s: %w", s.base, err)
	case res.StatusCode == http.StatusTooManyRequests || res.StatusCode >= http.StatusInternalServerError:
		return fmt.Errorf("redfish: log out of %s: HTTP status %d", s.base, res.StatusCode)
	}
	return nil
}

func isRoot(path string) bool {
	return strings.EqualFold(strings.TrimRight(path, "/"), "/redfish/v1")
}
