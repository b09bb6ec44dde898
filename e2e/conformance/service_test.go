package conformance_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"
)

// service is the API under test.
type service struct {
	base           string // "http://host:port"
	user, password string
	own            bool // our own binary, started by the suite
	callback       string
	patience       time.Duration
	minor          int // of the newest version
}

func (s *service) String() string {
	if s.own {
		return "our own binary"
	}
	return s.base
}

// pointedAt is the service that the settings name; nil when they name none.
func pointedAt(t *testing.T) *service {
	t.Helper()
	base := strings.TrimSuffix(strings.TrimSuffix(setting("URL", ""), "/"), "/v1")
	if base == "" {
		return nil
	}
	patience, err := time.ParseDuration(setting("PATIENCE", "60s"))
	if err != nil {
		t.Fatalf("CAGENUT_CONFORMANCE_PATIENCE: %v", err)
	}
	return &service{
		base: base, user: setting("USER", ""), password: setting("PASSWORD", ""), callback: setting("CALLBACK", base+"/v1/continue_inspection"), patience: patience,
	}
}

// web has a deadline above that of the slowest answer, an abort that waits for a dead BMC (contract.md §9, 3).
var web = &http.Client{Timeout: 2 * time.Minute}

// answer is what came back.
type answer struct {
	status int
	header http.Header
	body   []byte
	took   time.Duration
}

// fault is the sentence of an error, out of its string in a string (contract.md §1.5).
func (a answer) fault() string {
	var outer struct {
		Text string `json:"error_message"`
	}
	var inner struct{ Faultstring, Description string }
	if json.Unmarshal(a.body, &outer) != nil || json.Unmarshal([]byte(outer.Text), &inner) != nil {
		return "(not an error of Ironic's shape) " + string(a.body)
	}
	return inner.Faultstring + inner.Description
}

func (a answer) String() string { return fmt.Sprintf("%d %s", a.status, a.body) }

// doc is a JSON object.
type doc = map[string]any

// ask makes one request at a version; "" sends none.
func (s *service) ask(ctx context.Context, version, method, path string, body any) (answer, error) {
	var in io.Reader
	if body != nil {
		b, err := json.Marshal(body)
		if err != nil {
			return answer{}, err
		}
		in = bytes.NewReader(b)
	}
	req, err := http.NewRequestWithContext(ctx, method, s.base+path, in)
	if err != nil {
		return answer{}, err
	}
	if body != nil {
		req.Header.Set("Content-Type", "application/json")
	}
	req.Header.Set("Accept", "application/json")
	if version != "" {
		req.Header.Set("X-OpenStack-Ironic-API-Version", version)
	}
	if s.user != "" {
		req.SetBasicAuth(s.user, s.password)
	}
	began := time.Now()
	resp, err := web.Do(req)
	if err != nil {
		return answer{}, err
	}
	defer func() { _ = resp.Body.Close() }()
	b, err := io.ReadAll(resp.Body)
	return answer{status: resp.StatusCode, header: resp.Header, body: b, took: time.Since(began)}, err
}

// at is ask with no more to go wrong.
func (s *service) at(t *testing.T, version, method, path string, body any) answer {
	t.Helper()
	a, err := s.ask(t.Context(), version, method, path, body)
	if err != nil {
		t.Fatalf("%s %s: %v", method, path, err)
	}
	return a
}

// read is the document at a path as the newest version shows it.
func (s *service) read(t *testing.T, path string) doc {
	t.Helper()
	return s.readAt(t, "latest", path)
}

func (s *service) readAt(t *testing.T, version, path string) (d doc) {
	t.Helper()
	a := s.at(t, version, "GET", path, nil)
	if a.status != http.StatusOK {
		t.Fatalf("GET %s at %s: %s", path, version, a)
	}
	if err := json.Unmarshal(a.body, &d); err != nil {
		t.Fatalf("GET %s: %v: %s", path, err, a.body)
	}
	return d
}

// insist repeats what only says that somebody else is busy with the node, as Ironic's clients do.
func (s *service) insist(t *testing.T, version, method, path string, body any) answer {
	t.Helper()
	for deadline := time.Now().Add(s.patience); ; time.Sleep(100 * time.Millisecond) {
		a := s.at(t, version, method, path, body)
		if a.status != http.StatusConflict && a.status != http.StatusServiceUnavailable || time.Now().After(deadline) {
			return a
		}
	}
}

// must is insist with an answer of success.
func (s *service) must(t *testing.T, method, path string, body any) (d doc) {
	t.Helper()
	a := s.insist(t, "latest", method, path, body)
	if a.status >= 300 {
		t.Fatalf("%s %s: %s", method, path, a)
	}
	if len(a.body) > 0 {
		if err := json.Unmarshal(a.body, &d); err != nil {
			t.Fatalf("%s %s: %v: %s", method, path, err, a.body)
		}
	}
	return d
}

// discover reads how new the service is.
func (s *service) discover(t *testing.T) {
	t.Helper()
	a := s.at(t, "", "GET", "/v1", nil)
	newest := a.header.Get("X-OpenStack-Ironic-API-Maximum-Version")
	if n, err := fmt.Sscanf(newest, "1.%d", &s.minor); n != 1 || err != nil {
		t.Fatalf("GET /v1: the newest version is %q: %s", newest, a)
	}
	if s.minor < 41 {
		t.Fatalf("%s knows versions up to %s; the abort of an inspection came with 1.41", s.base, newest)
	}
}

// until asks again and again whether something has become true.
func (s *service) until(t *testing.T, what string, holds func() bool) {
	t.Helper()
	for deadline := time.Now().Add(s.patience); ; time.Sleep(25 * time.Millisecond) {
		if holds() {
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("never: %s", what)
		}
	}
}

// post is what a ramdisk does: no version, no credentials (contract.md §6.1).
func post(t *testing.T, callback string, report []byte) answer {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, callback, bytes.NewReader(report))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/json")
	resp, err := web.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = resp.Body.Close() }()
	b, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return answer{status: resp.StatusCode, header: resp.Header, body: b}
}

// attemptCallback is where the ramdisk of the node's present attempt is told to report, with what tells this attempt from
// others; "" where the service does not tell attempts apart. Ours says it in the boot script that it serves. The host in
// there is how servers see the service, so it is left out.
func (s *service) attemptCallback(t *testing.T, mac string) string {
	t.Helper()
	a := s.at(t, "", "GET", "/boot.ipxe?mac="+url.QueryEscape(mac), nil)
	if a.status != http.StatusOK {
		return ""
	}
	for _, word := range strings.Fields(string(a.body)) {
		value, ok := strings.CutPrefix(word, "ipa-inspection-callback-url=")
		if !ok {
			continue
		}
		u, err := url.Parse(value)
		if err != nil {
			t.Fatalf("the boot script says %q: %v", value, err)
		}
		if u.Query().Get("attempt") != "" {
			return s.base + u.RequestURI()
		}
	}
	return ""
}
