package redfish

import (
	"bytes"
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"strconv"
	"time"
)

// bodyLimit is the largest answer that is read of a BMC.
const bodyLimit = 16 << 20

// connectTimeout is short so that a dead BMC is known to be dead within seconds; a living one answers a SYN in milliseconds, and
// the kernel repeats a lost one meanwhile.
const connectTimeout = 5 * time.Second

var (
	errBodyTooLarge = errors.New("the answer is larger than 16 MiB")
	errNotJSON      = errors.New("the answer is not JSON")
	errNotRedfish   = errors.New("it does not answer as a Redfish service does")
	errWantsTLS     = errors.New("it answers that it wants TLS")
	errStaysBusy    = errors.New("it stays busy")
)

// transport makes HTTP requests to one BMC: authenticated, bounded, and repeated where that is safe. gofish gets it as its
// http.RoundTripper and knows nothing of logins.
type transport struct {
	plain   *http.Transport
	auth    *auth
	options Options
}

func newPlainTransport(c *tls.Config) *http.Transport {
	dialer := &net.Dialer{Timeout: connectTimeout}
	return &http.Transport{
		DialContext:         dialer.DialContext,
		TLSClientConfig:     c,
		TLSHandshakeTimeout: 10 * time.Second,
		MaxConnsPerHost:     2,
		IdleConnTimeout:     20 * time.Second,
		DisableCompression:  true,                                                   // quirk 20: some BMCs change the ETag of a compressed answer
		TLSNextProto:        map[string]func(string, *tls.Conn) http.RoundTripper{}, // no HTTP/2
	}
}

// RoundTrip answers with the whole body in memory. A GET is repeated on 429, 502, 503, 504, lost connections, cut bodies and
// answers that are not JSON; anything else goes out once, except after a 401 that a new login cures: a 401 carried nothing out.
func (t *transport) RoundTrip(req *http.Request) (*http.Response, error) {
	body, err := requestBody(req)
	if err != nil {
		return nil, err
	}
	ctx := req.Context()
	tries := 1
	if req.Method == http.MethodGet {
		tries = t.options.Reads
	}
	pause := t.options.Pause
	for try := 1; ; try++ {
		res, err := t.authenticated(req, body)
		wait, again := worthRepeating(res, err)
		if !again || try >= tries || ctx.Err() != nil {
			if err == nil && req.Method == http.MethodGet && errors.Is(res.bad, errNotJSON) {
				return nil, res.bad
			}
			if err != nil {
				return nil, err
			}
			return res.Response, nil
		}
		if wait == 0 {
			wait = pause/2 + rand.N(pause/2+1)
			pause *= 2
		}
		if sleep(ctx, wait) != nil {
			if err == nil {
				err = fmt.Errorf("%w: HTTP status %d", errStaysBusy, res.StatusCode)
			}
			return nil, err
		}
	}
}

// answer is a response whose body is in memory; bad says what is wrong with a body of a good status.
type answer struct {
	*http.Response
	bad error
}

func (t *transport) authenticated(req *http.Request, body []byte) (answer, error) {
	if isRoot(req.URL.Path) { // anybody may read it, by the standard; a few BMCs differ
		if res, err := t.once(req, body, nil); err != nil || res.StatusCode != http.StatusUnauthorized || t.auth.user == "" {
			return res, err
		}
	}
	ctx := req.Context()
	pass, err := t.auth.pass(ctx, t)
	if err != nil {
		return answer{}, err
	}
	res, err := t.once(req, body, pass)
	if err != nil || res.StatusCode != http.StatusUnauthorized {
		return res, err
	}
	t.auth.expired(ctx, pass)
	if pass.session == nil {
		return res, pass.why // Basic took the place of a session and was refused: the next call logs in again
	}
	if pass, err = t.auth.pass(ctx, t); err != nil {
		return answer{}, err
	}
	res, err = t.once(req, body, pass)
	if err == nil && res.StatusCode == http.StatusUnauthorized {
		t.auth.expired(ctx, pass)
		err = pass.why
	}
	return res, err
}

// once is one request and its whole answer, in the time of one try.
func (t *transport) once(req *http.Request, body []byte, p *pass) (answer, error) {
	ctx, cancel := context.WithTimeout(req.Context(), t.options.Try)
	defer cancel()
	r := req.Clone(ctx)
	if body != nil {
		r.Body = io.NopCloser(bytes.NewReader(body))
		r.ContentLength = int64(len(body))
	}
	p.apply(r)
	if r.Method != http.MethodGet {
		// What changes something cannot be repeated when a kept connection turns out to be dead, as some BMCs leave them
		// (quirk 41): it goes out on a fresh one.
		t.plain.CloseIdleConnections()
	}
	res, err := t.plain.RoundTrip(r)
	if err != nil {
		return answer{}, err
	}
	b, err := io.ReadAll(io.LimitReader(res.Body, bodyLimit+1))
	if closeErr := res.Body.Close(); err == nil {
		err = closeErr
	}
	switch {
	case err != nil:
		return answer{}, fmt.Errorf("the answer was cut off: %w", err)
	case len(b) > bodyLimit:
		return answer{}, errBodyTooLarge
	}
	res.Body = io.NopCloser(bytes.NewReader(b))
	a := answer{Response: res}
	if res.StatusCode == http.StatusOK && !json.Valid(b) {
		a.bad = errNotJSON
	}
	return a, nil
}

func worthRepeating(a answer, err error) (wait time.Duration, again bool) {
	switch {
	case errors.Is(err, errBodyTooLarge), errors.Is(err, errLogin), errors.Is(err, errGivenUp):
		return 0, false
	case err != nil:
		return 0, !permanent(err)
	case a.bad != nil:
		return 0, true
	}
	switch a.StatusCode {
	case http.StatusTooManyRequests, http.StatusBadGateway, http.StatusServiceUnavailable, http.StatusGatewayTimeout:
		return retryAfter(a.Header), true
	}
	return 0, false
}

// permanent tells of errors that the same request meets again at once: a certificate that is not trusted, and any failure to
// connect, name look-up included, which has taken long enough already.
func permanent(err error) bool {
	var cert *tls.CertificateVerificationError
	var dial *net.OpError
	return errors.As(err, &cert) || (errors.As(err, &dial) && dial.Op == "dial")
}

// retryAfter reads the header, at most 10 s of it; 0 where there is none.
func retryAfter(h http.Header) time.Duration {
	s, err := strconv.Atoi(h.Get("Retry-After"))
	if err != nil || s <= 0 {
		return 0
	}
	return min(time.Duration(s)*time.Second, 10*time.Second)
}

func requestBody(req *http.Request) ([]byte, error) {
	if req.Body == nil || req.Body == http.NoBody {
		return nil, nil
	}
	b, err := io.ReadAll(req.Body)
	if closeErr := req.Body.Close(); err == nil {
		err = closeErr
	}
	return b, err
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
