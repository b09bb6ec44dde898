package ironic

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"

	"cagenut/node"
)

// Settings say where Ironic is.
type Settings struct {
	URL      string // base, with or without /v1
	User     string // for basic authentication; "" for none
	Password node.Secret
}

const (
	callTime    = 20 * time.Second
	answerLimit = 64 << 20 // bytes; a list of nodes is long
	wordsLimit  = 500      // bytes of Ironic's words that are repeated
)

// Client asks Ironic. Its errors are *node.NotFound (404), *node.Exists and *node.Conflict (409, for what is taken and what is locked),
// *node.Invalid (400 and 406), all in Ironic's words, and *node.Unreachable for everything else. It is safe for concurrent use.
type Client struct {
	base     string // without trailing slash and /v1
	user     string
	password node.Secret
	http     *http.Client
}

// New makes a client; *node.Invalid for a URL that is none.
func New(s Settings) (*Client, error) {
	u, err := url.Parse(s.URL)
	if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
		return nil, node.Invalidf("--ironic-url must be the http or https address of an Ironic API.")
	}
	if u.User != nil {
		return nil, node.Invalidf("--ironic-url must not contain a password: use --ironic-user and --ironic-password-file.")
	}
	base := strings.TrimRight(u.Scheme+"://"+u.Host+u.EscapedPath(), "/")
	return &Client{
		base: strings.TrimRight(strings.TrimSuffix(base, "/v1"), "/"), user: s.User, password: s.Password,
		http: &http.Client{
			Timeout: callTime, Transport: http.DefaultTransport.(*http.Transport).Clone(),
			// A redirected POST would arrive as a GET and look like a success.
			CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
		},
	}, nil
}

// call makes one request below /v1 and reads a successful answer into out, unless that is nil.
func (c *Client) call(ctx context.Context, method, path string, body, out any) error {
	var in io.Reader
	if body != nil {
		b, err := json.Marshal(body)
		if err != nil {
			return fmt.Errorf("ask Ironic: %w", err)
		}
		in = bytes.NewReader(b)
	}
	r, err := http.NewRequestWithContext(ctx, method, c.base+"/v1"+path, in)
	if err != nil {
		return fmt.Errorf("ask Ironic: %w", err)
	}
	r.Header.Set("Accept", "application/json")
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("X-OpenStack-Ironic-API-Version", "latest")
	if c.user != "" {
		r.SetBasicAuth(c.user, string(c.password))
	}
	resp, err := c.http.Do(r)
	if err != nil {
		return c.silent(err)
	}
	defer resp.Body.Close()
	answer, err := io.ReadAll(io.LimitReader(resp.Body, answerLimit+1))
	switch {
	case err != nil:
		return c.silent(err)
	case len(answer) > answerLimit:
		return c.unreachable(fmt.Errorf("the answer is longer than %d bytes", answerLimit))
	case resp.StatusCode < 200 || resp.StatusCode > 299:
		return c.refusal(resp.StatusCode, answer)
	case out == nil:
		return nil
	}
	d := json.NewDecoder(bytes.NewReader(answer))
	d.UseNumber()
	if err := d.Decode(out); err != nil {
		return c.unreachable(fmt.Errorf("its answer cannot be read: %w", err))
	}
	return nil
}

// silent is a call without an answer.
func (c *Client) silent(err error) error {
	var wrapped *url.Error
	if errors.As(err, &wrapped) {
		err = wrapped.Err // without the address, which stands in What
	}
	u := c.unreachable(err)
	var late interface{ Timeout() bool }
	u.Timeout = errors.As(err, &late) && late.Timeout()
	return u
}

func (c *Client) unreachable(err error) *node.Unreachable {
	return &node.Unreachable{What: "Ironic at " + c.base, Err: err}
}

// refusal is an answer that is no success.
func (c *Client) refusal(status int, body []byte) error {
	text := words(body)
	switch status {
	case http.StatusNotFound:
		return &node.NotFound{Text: text}
	case http.StatusConflict:
		if strings.Contains(text, "already exist") { // else it is locked, which passes
			return &node.Exists{Text: text}
		}
		return &node.Conflict{Text: text}
	case http.StatusBadRequest, http.StatusNotAcceptable:
		return &node.Invalid{Text: text}
	}
	u := c.unreachable(fmt.Errorf("%d %s: %s", status, http.StatusText(status), text))
	if status == http.StatusUnauthorized || status == http.StatusForbidden {
		u.Hint = "check --ironic-user and --ironic-password-file"
	}
	return u
}

// words are Ironic's own: a document in a text in a document (contract.md §1.5), or the start of the body.
func words(body []byte) string {
	var outer struct {
		Message json.RawMessage `json:"error_message"`
	}
	var fault struct {
		Text string `json:"faultstring"`
	}
	if json.Unmarshal(body, &outer) == nil {
		var inner string
		if json.Unmarshal(outer.Message, &inner) != nil {
			inner = string(outer.Message)
		}
		if json.Unmarshal([]byte(inner), &fault) == nil && fault.Text != "" {
			return shorten(fault.Text)
		}
	}
	if s := shorten(string(body)); s != "" {
		return s
	}
	return "it gave no reason"
}

func shorten(s string) string {
	s = strings.Join(strings.Fields(strings.ToValidUTF8(s, "?")), " ")
	if len(s) <= wordsLimit {
		return s
	}
	return strings.ToValidUTF8(s[:wordsLimit], "") + "…"
}
