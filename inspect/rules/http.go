package rules

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"time"
)

// maxRedirects is how often a call follows a server that sends it elsewhere on the same host.
const maxRedirects = 3

// HTTP makes the calls of rules over the network. Connections are not kept.
type HTTP struct{}

// Get is [Caller]'s. A redirect to another host is an error: the headers may hold a token.
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
		CheckRedirect: func(next *http.Request, via []*http.Request) error {
			if len(via) > maxRedirects || next.URL.Host != via[0].URL.Host {
				return errors.New("it redirects too often, or to another host")
			}
			return nil
		},
	}
	res, err := client.Do(req)
	if err != nil {
		var outer *url.Error
		if errors.As(err, &outer) {
			err = outer.Err // without the URL, which may hold a password
		}
		return 0, err
	}
	return res.StatusCode, res.Body.Close()
}
