package redfish

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"

	"github.com/stmcginnis/gofish"
)

// connection is what is kept of one BMC between clients: TCP connections, the login, where things are.
type connection struct {
	settings
	plain *http.Transport
	rt    *transport

	mu      sync.Mutex
	service *gofish.APIClient // nil until the service root was read
	systems string            // path of the systems collection
	chosen  string            // the system that was found where driver_info names none
	root    resource          // the service root
	// unexpanded is set where the BMC offers to expand collections and fails at it, expanded where it has been seen to work.
	unexpanded, expanded bool
	unfinished           *reading // what a walk that ran out of time has read
}

// newConnection takes over the sessions that are left of this way in.
func newConnection(s settings, o Options, k *keeper, left []session) (*connection, error) {
	tc, err := s.tlsConfig()
	if err != nil {
		k.giveBack(left...)
		return nil, err
	}
	plain := newPlainTransport(tc)
	return &connection{settings: s, plain: plain, rt: &transport{plain: plain, options: o, auth: newAuth(s, k, left)}}, nil
}

// gofish is a client for calls within ctx. The first call reads the service root.
func (c *connection) gofish(ctx context.Context) (*gofish.APIClient, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.forgetStale()
	if c.service != nil {
		return c.service.WithContext(ctx), nil
	}
	kept := &rootKeeper{rt: c.rt}
	g, err := gofish.ConnectContext(ctx, gofish.ClientConfig{
		Endpoint: c.base, HTTPClient: &http.Client{Transport: kept, CheckRedirect: sameHost(c.base)},
		NoModifyTransport: true, ReuseConnections: true,
	})
	if err = kept.judge(err); err != nil {
		return nil, err
	}
	root := kept.root
	c.root = root
	c.systems = link(root["Systems"])
	if c.systems == "" {
		c.systems = "/redfish/v1/Systems"
	}
	c.rt.auth.useSessions(link(object(root["Links"])["Sessions"]))
	c.service = g
	return c.service.WithContext(ctx), nil
}

// rootKeeper keeps the service root for us, and from gofish: that reads it when it connects, makes no other use of it, and gives
// up on all of the BMC for one field of an odd type (the handbook's G3).
type rootKeeper struct {
	rt   http.RoundTripper
	root resource
	// foreign is set where what answers is no Redfish service.
	foreign error
}

func (k *rootKeeper) RoundTrip(req *http.Request) (*http.Response, error) {
	res, err := k.rt.RoundTrip(req)
	if err != nil || k.root != nil || !isRoot(req.URL.Path) {
		return res, err
	}
	body, err := io.ReadAll(res.Body)
	if err != nil {
		return nil, err
	}
	if k.foreign = foreign(req, res, body); k.foreign == nil && res.StatusCode == http.StatusOK {
		k.root, body = object(body), []byte("{}")
	}
	res.Body = io.NopCloser(bytes.NewReader(body))
	return res, nil
}

// judge is the error of a connect, told from what was seen at the service root.
func (k *rootKeeper) judge(err error) error {
	if k.foreign != nil {
		return k.foreign
	}
	return err
}

// foreign says why an answer to a request for the service root is not that of a Redfish service; nil where it may be.
func foreign(req *http.Request, res *http.Response, body []byte) error {
	plain := req.URL.Scheme == "http"
	switch code := res.StatusCode; {
	case plain && code/100 == 3 && strings.HasPrefix(strings.ToLower(res.Header.Get("Location")), "https://"),
		plain && code == http.StatusBadRequest && bytes.Contains(bytes.ToLower(body), []byte("https")):
		return fmt.Errorf("%w: HTTP status %d", errWantsTLS, code)
	case code == http.StatusNotFound, code == http.StatusGone, code == http.StatusMethodNotAllowed, code == http.StatusBadRequest, code == http.StatusNotImplemented:
		return fmt.Errorf("%w: HTTP status %d for %s", errNotRedfish, code, req.URL.Path)
	case code != http.StatusOK:
		return nil
	}
	root := object(body)
	for _, key := range []string{"RedfishVersion", "Systems", "Managers", "Chassis", "SessionService"} {
		if root[key] != nil {
			return nil
		}
	}
	if strings.Contains(text(root["@odata.type"]), "ServiceRoot") {
		return nil
	}
	return fmt.Errorf("%w: what is at %s is no service root", errNotRedfish, req.URL.Path)
}

// sameHost keeps redirects on the BMC, so that neither token nor password travels elsewhere.
func sameHost(base string) func(*http.Request, []*http.Request) error {
	return func(r *http.Request, via []*http.Request) error {
		if len(via) >= 4 || r.URL.Scheme+"://"+r.URL.Host != base {
			return http.ErrUseLastResponse
		}
		return nil
	}
}

// close logs out, and names the sessions that have ended.
func (c *connection) close(ctx context.Context) (ended []string, err error) {
	defer c.drop()
	return c.rt.auth.logout(ctx, c.rt)
}

func (c *connection) drop() { c.plain.CloseIdleConnections() }
