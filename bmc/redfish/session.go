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

// pass is what proves who we are on one request; a nil pass proves nothing.
type pass struct {
	token    string // of a session, else Basic
	session  string // path of the session, for the logout
	user     string
	password node.Secret
	why      error // why this is Basic, where that may be why it is refused; nil where a refusal is one of the credentials
}

func (p *pass) apply(r *http.Request) {
	switch {
	case p == nil:
	case p.token != "":
		r.Header.Set("X-Auth-Token", p.token)
	case p.user != "":
		r.SetBasicAuth(p.user, string(p.password))
	}
}

// auth holds the login session of one BMC. BMCs have few sessions (quirk 38): there is one, shared, renewed when the BMC
// forgets it, and Basic authentication takes its place where logging in is impossible.
type auth struct {
	base     string
	user     string
	password node.Secret

	mu       sync.Mutex
	current  *pass
	sessions string // path of the session collection; "" until the service root was read
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
func (a *auth) expired(p *pass) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.current == p {
		a.current = nil
	}
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
	return &pass{token: res.Header.Get("X-Auth-Token"), session: sessionPath(res.Response)}, nil
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

// logout deletes the session, if there is one.
func (a *auth) logout(ctx context.Context, t *transport) error {
	a.mu.Lock()
	p := a.current
	a.current = nil
	a.mu.Unlock()
	if p == nil || p.token == "" || p.session == "" {
		return nil
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodDelete, a.base+p.session, nil)
	if err != nil {
		return err
	}
	if _, err := t.once(req, nil, p); err != nil {
		return fmt.Errorf("redfish: log out of %s: %w", a.base, err)
	}
	return nil
}

func isRoot(path string) bool {
	return strings.EqualFold(strings.TrimRight(path, "/"), "/redfish/v1")
}
