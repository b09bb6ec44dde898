package ipmi

import (
	"context"
	"errors"
	"fmt"
	"net"
	"strings"
	"syscall"
	"time"

	goipmi "github.com/bougou/go-ipmi/pkg/client"
	"github.com/bougou/go-ipmi/pkg/types"
)

// goodbye bounds the end of a session: the BMC ends it by itself when that datagram is lost.
const goodbye = 2 * time.Second

// session is one login: for one goroutine, for a few commands, closed once.
type session struct {
	*goipmi.Client
	unhook func() bool
	retire time.Time // when a walk should go on in another session
}

// tired is errTired when the session should end.
func (s *session) tired() error {
	if time.Now().After(s.retire) {
		return errTired
	}
	return nil
}

// end closes the session. If the caller's context has ended, the BMC is told all the same, but nobody waits for its answer.
func (s *session) end(ctx context.Context) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), goodbye)
	defer cancel()
	_ = s.Close(ctx) // nobody is helped by an error here: the socket is closed in any case
	s.unhook()
}

// drop frees the socket of a login that failed. The library does so without waiting if its context has ended.
func (s *session) drop(ctx context.Context) {
	ctx, cancel := context.WithCancel(ctx)
	cancel()
	_ = s.Close(ctx) // it says that the context has ended
	s.unhook()
}

// connect climbs the ladder from where it worked last time.
func (c *client) connect(ctx context.Context) (*session, error) {
	ladder := c.driver.options.Ladder
	suites := []types.CipherSuiteID{types.CipherSuiteID17, types.CipherSuiteID3}
	known, ok := c.driver.known(c.address())
	if ok && known.suite == types.CipherSuiteID3 {
		suites[0], suites[1] = suites[1], suites[0]
	}
	var err error
	for rung := known.rung; rung < len(ladder); rung++ {
		for _, suite := range suites {
			var s *session
			if s, err = c.login(ctx, ladder[rung], suite); err == nil {
				c.driver.remember(c.address(), way{rung: rung, suite: suite})
				return s, nil
			}
			if ctx.Err() != nil || hopeless(err) || busy(err) {
				return nil, err
			}
			if silent(err) || isDoubtful(err) {
				break // the next rung is more patient
			}
		}
	}
	c.driver.forget(c.address()) // begin at the bottom next time
	return nil, err
}

// login makes one client and one session with one cipher suite.
func (c *client) login(ctx context.Context, r Rung, suite types.CipherSuiteID) (*session, error) {
	g, err := goipmi.NewClient(c.host, c.port, c.user, string(c.password))
	if err != nil {
		return nil, err
	}
	hook := &hookedDialer{ctx: ctx, address: c.address()}
	g.WithInterface(goipmi.InterfaceLanplus).WithTimeout(r.Timeout).WithRetry(r.Retries).WithUDPProxy(hook)
	g.WithCipherSuiteID(suite).WithMaxPrivilegeLevel(types.PrivilegeLevelOperator)
	s := &session{Client: g, unhook: hook.release}
	if err := g.Connect(ctx); err != nil {
		return nil, s.failed(ctx, hook.door, err)
	}
	s.retire = time.Now().Add(c.driver.options.Session)
	return s, nil
}

// failed cleans up after a login, and is the error of it. A BMC that let us in may still have refused the privilege.
func (s *session) failed(ctx context.Context, door *socket, err error) error {
	if door != nil && door.inside.Load() {
		s.end(ctx)
		return err
	}
	s.drop(ctx)
	switch {
	case door != nil && door.doubtful():
		return &doubtful{err}
	case door != nil && door.nonsense.Load() && silent(err):
		return fmt.Errorf("%w: %w", errForeign, err)
	}
	return err
}

// hookedDialer gives the library a socket that hears nothing more when the caller's context ends, so that no read outlives the
// caller.
type hookedDialer struct {
	ctx     context.Context
	address string
	door    *socket
	stop    func() bool
}

// Dial resolves the name within the context too; the library's own address is the same.
func (h *hookedDialer) Dial(network, _ string) (net.Conn, error) {
	var d net.Dialer
	conn, err := d.DialContext(h.ctx, network, h.address)
	if err != nil {
		return nil, err
	}
	h.door = &socket{Conn: conn}
	h.stop = context.AfterFunc(h.ctx, h.door.interrupt)
	return h.door, nil
}

func (h *hookedDialer) release() bool { return h.stop == nil || h.stop() }

// hopeless tells of failures that another try meets again: nobody listens, no such name, wrong password. Of the last there
// must be no second try, because BMCs lock accounts.
func hopeless(err error) bool {
	var dns *net.DNSError
	return errors.Is(err, syscall.ECONNREFUSED) || errors.As(err, &dns) || loginRefused(err) != ""
}

// doubtful is a refusal that may come of messages that overtook each other.
type doubtful struct{ err error }

func (d *doubtful) Error() string { return "it answers too late to log in: " + d.err.Error() }
func (d *doubtful) Unwrap() error { return d.err }

func isDoubtful(err error) bool {
	var d *doubtful
	return errors.As(err, &d)
}

// silent tells that not even the first datagram was answered.
func silent(err error) bool {
	return strings.Contains(err.Error(), "Get Channel Authentication Capabilities failed")
}

// loginRefused is why the BMC refused the login, or "". The library joins its errors as text, so text is what there is.
func loginRefused(err error) string {
	if isDoubtful(err) || busy(err) { // a BMC may be too busy for the last step of a login
		return ""
	}
	for sign, why := range map[string]string{
		"RAKP2 authentication code mismatch":        "wrong password",
		"RAKP4 integrity check value does not":      "wrong password",
		"RMCP+ status 0x0f":                         "wrong password",
		"RMCP+ status 0x0d":                         "unknown user",
		"RMCP+ status 0x0a":                         "the user may not act as an operator",
		"SetSessionPrivilegeLevel to (OPERATOR) fa": "the user may not act as an operator",
	} {
		if strings.Contains(err.Error(), sign) {
			return why
		}
	}
	return ""
}

// sleep waits; the error is the context's.
func sleep(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
