package rules

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"cagenut/node"
)

// Call is one request of the action `api-call`. It is a GET; nothing of the answer is used but its status.
type Call struct {
	URL     *url.URL // http or https
	Headers map[string]string
	Proxies map[string]*url.URL // by scheme; nil where the server is asked itself
}

// Caller makes calls.
type Caller interface {
	// Get returns the status of the answer. It ends with ctx at the latest.
	Get(ctx context.Context, c Call) (status int, err error)
}

// What a call may ask for, whatever the rule says.
const (
	maxRetries = 10
	maxTimeout = 10 * time.Second
)

// callAPI makes a call, and again after failures that may pass.
func callAPI(ctx context.Context, r *run, args map[string]any) error {
	c, err := callOf(args)
	if err != nil {
		return err
	}
	timeout, retries, pause, err := patience(args)
	if err != nil {
		return err
	}
	limited, cancel := context.WithTimeout(ctx, callTime-r.callingTime)
	defer cancel()
	begin := time.Now()
	defer func() { r.callingTime += time.Since(begin) }()
	for try := 0; ; try++ {
		again, err := r.callOnce(limited, c, timeout)
		switch {
		case err == nil:
			return nil
		case ctx.Err() != nil:
			return ctx.Err()
		case limited.Err() != nil:
			return fmt.Errorf("Request to %s failed: the calls of inspection rules may take %s together", redacted(c.URL), callTime) //nolint:staticcheck // Ironic's words
		case !again || try >= retries:
			return fmt.Errorf("Request to %s failed: %w", redacted(c.URL), err) //nolint:staticcheck // Ironic's words
		}
		select {
		case <-time.After(pause << try):
		case <-limited.Done():
		}
	}
}

// callOnce tells, of a call that failed, whether it is worth another try.
func (r *run) callOnce(ctx context.Context, c Call, timeout time.Duration) (again bool, err error) {
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	status, err := r.Caller.Get(ctx, c)
	if err != nil {
		return true, err
	}
	switch {
	case status < http.StatusBadRequest:
		return false, nil
	case status == http.StatusTooManyRequests || status == http.StatusInternalServerError || status >= http.StatusBadGateway && status <= http.StatusGatewayTimeout:
		again = true
	}
	return again, fmt.Errorf("the answer is %d %s", status, http.StatusText(status))
}

func callOf(args map[string]any) (Call, error) {
	address, err := textArgument(args, "url")
	if err != nil {
		return Call{}, err
	}
	c := Call{Headers: map[string]string{}, Proxies: map[string]*url.URL{}}
	if c.URL, err = webURL(address); err != nil {
		return Call{}, fmt.Errorf("url: %w", err)
	}
	if err := eachText(args["headers"], func(name, v string) error { c.Headers[name] = v; return nil }); err != nil {
		return Call{}, fmt.Errorf("headers: %w", err)
	}
	err = eachText(args["proxies"], func(scheme, v string) error {
		c.Proxies[scheme], err = webURL(v)
		return err
	})
	if err != nil {
		return Call{}, fmt.Errorf("proxies: %w", err)
	}
	return c, nil
}

func webURL(s string) (*url.URL, error) {
	u, err := url.Parse(s)
	if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
		return nil, errors.New("a URL that begins with http:// or https:// is needed") // the URL itself may hold a password
	}
	return u, nil
}

func eachText(v any, do func(name, text string) error) error {
	doc, ok := v.(map[string]any)
	if !ok && v != nil {
		return errors.New("no object of texts")
	}
	for name, v := range doc {
		s, ok := v.(string)
		if !ok {
			return fmt.Errorf("the value of '%s' is no text", excerpt(name))
		}
		if err := do(name, s); err != nil {
			return err
		}
	}
	return nil
}

// patience is how long and how often a call is tried, within our own bounds.
func patience(args map[string]any) (timeout time.Duration, retries int, pause time.Duration, err error) {
	read := func(name string, otherwise, limit float64) float64 {
		v, given := args[name]
		if !given {
			return otherwise
		}
		f, ok := number(v)
		if !ok || f < 0 {
			err = fmt.Errorf("Invalid parameter: %s", name) //nolint:staticcheck // Ironic's words
		}
		return min(f, limit)
	}
	timeout = time.Duration(read("timeout", 5, maxTimeout.Seconds()) * float64(time.Second))
	retries = int(read("retries", 3, maxRetries))
	pause = time.Duration(read("backoff_factor", 0.3, callTime.Seconds()) * float64(time.Second))
	if err == nil && timeout <= 0 {
		err = errors.New("Invalid parameter: timeout must be greater than zero") //nolint:staticcheck // Ironic's words
	}
	return timeout, retries, pause, err
}

// number reads a number, also one that is written as a text.
func number(v any) (float64, bool) {
	s, ok := node.Text(v)
	if s = strings.TrimSpace(s); !ok || !numberShape.MatchString(s) {
		return 0, false
	}
	f, err := strconv.ParseFloat(s, 64)
	return f, err == nil
}

// redacted is where a URL leads, without what may be secret in it: of web hooks that is the path, too.
func redacted(u *url.URL) string { return excerpt(u.Scheme + "://" + u.Host) }
