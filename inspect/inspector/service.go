package inspector

import (
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

// Settings say where an external inspector service is.
type Settings struct {
	URL      string // base, with or without /v1
	User     string // for basic authentication; "" for none
	Password node.Secret
	// AbortDeadline is how long an abort may take, because a person waits for it; 5 s if 0.
	AbortDeadline time.Duration
}

const (
	startDeadline  = 20 * time.Second
	statusDeadline = 10 * time.Second
	dataDeadline   = 25 * time.Second

	answerLimit = 64 << 10 // bytes of an answer but the data
	dataLimit   = 16 << 20 // bytes of stored data
	wordsLimit  = 300      // bytes of the service's words that are repeated
)

// service is the client of an external inspector service.
type service struct {
	base          string // without credentials and trailing slash
	user          string
	password      node.Secret
	abortDeadline time.Duration
	client        *http.Client
	contact       contact
}

func newService(s Settings) (*service, error) {
	u, err := url.Parse(s.URL)
	if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
		return nil, node.Invalidf("--inspector-url must be the http or https address of an inspector service.")
	}
	if u.User != nil {
		return nil, node.Invalidf("--inspector-url must not contain a password: use --inspector-user and --inspector-password-file.")
	}
	if s.AbortDeadline == 0 {
		s.AbortDeadline = 5 * time.Second
	}
	base := strings.TrimRight(u.Scheme+"://"+u.Host+u.EscapedPath(), "/")
	return &service{
		base: strings.TrimRight(strings.TrimSuffix(base, "/v1"), "/"),
		user: s.User, password: s.Password, abortDeadline: s.AbortDeadline,
		client: &http.Client{
			Transport: http.DefaultTransport.(*http.Transport).Clone(),
			// A redirected POST would arrive as a GET and look like a success.
			CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
		},
	}, nil
}

func (s *service) start(ctx context.Context, uuid string) error {
	a, err := s.call(ctx, startDeadline, http.MethodPost, uuid, "?manage_boot=false", answerLimit)
	if err != nil {
		return err
	}
	if a.code < 200 || a.code > 299 {
		return s.refusal(a)
	}
	return nil
}

func (s *service) abort(ctx context.Context, uuid string) error {
	a, err := s.call(ctx, s.abortDeadline, http.MethodPost, uuid, "/abort", answerLimit)
	switch {
	case err != nil:
		return err
	case a.code == http.StatusConflict:
		return &node.Conflict{Text: "Failed to abort inspection: " + a.words()}
	case a.code != http.StatusAccepted:
		return s.refusal(a)
	}
	return nil
}

func (s *service) status(ctx context.Context, uuid string) (node.RunState, string, error) {
	a, err := s.call(ctx, statusDeadline, http.MethodGet, uuid, "", answerLimit)
	if err != nil {
		return "", "", err
	}
	if err := s.found(a, uuid); err != nil {
		return "", "", err
	}
	var status struct {
		State    node.RunState `json:"state"`
		Finished bool          `json:"finished"`
		Error    *string       `json:"error"`
	}
	if err := json.Unmarshal(a.body, &status); err != nil {
		return "", "", s.unreachable(fmt.Errorf("the status of the run cannot be read: %w", err), "")
	}
	failure := ""
	if status.Error != nil {
		failure = shorten(*status.Error)
	}
	// The error decides, as it does for Ironic (contract.md §5.7); services before API 1.10 send no state.
	switch {
	case failure != "":
		return node.RunError, failure, nil
	case status.State != "":
		return status.State, "", nil
	case status.Finished:
		return node.RunFinished, "", nil
	}
	return node.RunWaiting, "", nil
}

func (s *service) data(ctx context.Context, uuid string) ([]byte, error) {
	a, err := s.call(ctx, dataDeadline, http.MethodGet, uuid, "/data", dataLimit)
	if err != nil {
		return nil, err
	}
	if err := s.found(a, uuid); err != nil {
		return nil, err
	}
	return a.body, nil
}

// found turns every answer but 200 into an error.
func (s *service) found(a answer, uuid string) error {
	switch a.code {
	case http.StatusOK:
		return nil
	case http.StatusNotFound:
		return &node.NotFound{What: "Introspection of node", Ident: uuid, Text: fmt.Sprintf("The inspector service at %s does not know it: %s", s.base, a.words())}
	}
	return s.refusal(a)
}

// answer is what the service said.
type answer struct {
	code int
	body []byte
}

// call asks the service about a node and reads at most limit bytes. Its error is always *node.Unreachable.
func (s *service) call(ctx context.Context, deadline time.Duration, method, uuid, rest string, limit int64) (answer, error) {
	a, err := s.exchange(ctx, deadline, method, uuid, rest, limit)
	s.contact.note(ctx, err)
	return a, err
}

func (s *service) exchange(ctx context.Context, deadline time.Duration, method, uuid, rest string, limit int64) (answer, error) {
	ctx, cancel := context.WithTimeout(ctx, deadline)
	defer cancel()
	r, err := http.NewRequestWithContext(ctx, method, s.base+"/v1/introspection/"+url.PathEscape(uuid)+rest, nil)
	if err != nil {
		return answer{}, s.unreachable(err, "")
	}
	r.Header.Set("Accept", "application/json")
	if s.user != "" {
		r.SetBasicAuth(s.user, string(s.password))
	}
	resp, err := s.client.Do(r)
	if err != nil {
		return answer{}, s.failure(ctx, deadline, err)
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(io.LimitReader(resp.Body, limit+1))
	if err != nil {
		return answer{}, s.failure(ctx, deadline, err)
	}
	if int64(len(body)) > limit {
		return answer{}, s.unreachable(fmt.Errorf("the answer is longer than %d bytes", limit), "")
	}
	return answer{code: resp.StatusCode, body: body}, nil
}

// failure is a call without an answer. Where time ran out, nobody knows whether the service acted on it.
func (s *service) failure(ctx context.Context, deadline time.Duration, err error) error {
	var wrapped *url.Error
	if errors.As(err, &wrapped) {
		err = wrapped.Err // without the method and URL that stand in What already
	}
	u := &node.Unreachable{What: s.what(), Err: err}
	if ctx.Err() != nil {
		u.Timeout = true
		u.Err = fmt.Errorf("no answer within %s: %w", deadline, err)
	}
	return u
}

// refusal is an answer that is not the one hoped for.
func (s *service) refusal(a answer) error {
	hint := ""
	if a.code == http.StatusUnauthorized || a.code == http.StatusForbidden {
		hint = "check --inspector-user and --inspector-password-file"
	}
	return s.unreachable(fmt.Errorf("%d %s: %s", a.code, http.StatusText(a.code), a.words()), hint)
}

func (s *service) unreachable(err error, hint string) error {
	return &node.Unreachable{What: s.what(), Err: err, Hint: hint}
}

func (s *service) what() string { return "inspector service at " + s.base }

// words are the service's own, from the error document of contract.md §5.1 or, failing that, the start of the body.
func (a answer) words() string {
	var doc struct {
		Error struct {
			Message string `json:"message"`
		} `json:"error"`
	}
	if json.Unmarshal(a.body, &doc) == nil && doc.Error.Message != "" {
		return shorten(doc.Error.Message)
	}
	if text := shorten(string(a.body)); text != "" {
		return text
	}
	return "it gave no reason"
}

// shorten makes one line of bounded length of a text that a stranger wrote.
func shorten(s string) string {
	s = strings.Join(strings.Fields(strings.ToValidUTF8(s, "?")), " ")
	if len(s) <= wordsLimit {
		return s
	}
	return strings.ToValidUTF8(s[:wordsLimit], "") + "…"
}
