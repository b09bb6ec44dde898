package rules

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"strings"
	"time"
)

// maxRedirects is how often a call follows a server that sends it elsewhere on the same host.
const maxRedirects = 3

// HTTP makes the calls of rules over the network. Connections are not kept.
type HTTP struct{}

// Get is [Caller]'s. A redirect to another host, or out of TLS, is an error: the headers may hold a token.
func (HTTP) Get(ctx context.Context, c Call) (int, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, c.URL.String(), nil)
	if err != nil {
		return 0, errors.New("the URL cannot be asked")
	}
	req.Header.Set("User-Agent", "cagenut")
	for name, v := range c.Headers {
		if http.CanonicalHeaderKey(name) == "Host" {
			req.Host = v
			continue
		}
		req.Header.Set(name, v)
	}
	client := http.Client{
		Transport: &http.Transport{
			DisableKeepAlives: true, MaxResponseHeaderBytes: 64 << 10, TLSHandshakeTimeout: 5 * time.Second,
			Proxy: func(r *http.Request) (*url.URL, error) { return c.Proxies[r.URL.Scheme], nil },
		},
		CheckRedirect: mayFollow,
	}
	res, err := client.Do(req)
	if err != nil {
		var outer *url.Error
		if errors.As(err, &outer) {
			err = outer.Err // without the URL, which may hold a password
		}
		if strings.Contains(err.Error(), "Location header") {
			err = errors.New("it redirects to what is no URL") // which may be made of ours
		}
		return 0, err
	}
	return res.StatusCode, res.Body.Close()
}

// mayFollow tells whether the headers of a call may go where the server sends it.
func mayFollow(next *http.Request, via []*http.Request) error {
	switch last := via[len(via)-1]; {
	case len(via) > maxRedirects || next.URL.Host != via[0].URL.Host:
		return errors.New("it redirects too often, or to another host")
	case last.URL.Scheme == "https" && next.URL.Scheme != "https":
		return errors.New("it redirects from https to " + excerpt(next.URL.Scheme))
	}
	return nil
}
