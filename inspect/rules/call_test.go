package rules_test

import (
	"context"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"
)

func TestAPICall(t *testing.T) {
	var calls atomic.Int64
	var last atomic.Pointer[http.Request]
	other := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { w.WriteHeader(http.StatusTeapot) }))
	defer other.Close()
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		last.Store(r)
		n := calls.Add(1)
		switch r.URL.Path {
		case "/flaky":
			if n < 3 {
				w.WriteHeader(http.StatusServiceUnavailable)
			}
		case "/gone":
			w.WriteHeader(http.StatusNotFound)
		case "/down":
			w.WriteHeader(http.StatusInternalServerError)
		case "/here":
			http.Redirect(w, r, "/there", http.StatusFound)
		case "/away":
			http.Redirect(w, r, other.URL, http.StatusFound)
		case "/round":
			http.Redirect(w, r, "/round", http.StatusFound)
		case "/hook/not-a-real-one":
			w.Header().Set("Location", "http://[/hook/not-a-real-one")
			w.WriteHeader(http.StatusFound)
		case "/slow":
			<-r.Context().Done()
		}
	}))
	defer s.Close()
	for name, c := range map[string]struct {
		args  string
		fails string
		calls int64
	}{
		"an answer":                         {`{"url":"SERVER/node/{node.uuid}","headers":{"X-Auth-Token":"t"}}`, "", 1},
		"a failure that passes":             {`{"url":"SERVER/flaky","backoff_factor":0.001}`, "", 3},
		"a failure that does not pass":      {`{"url":"SERVER/down","retries":2,"backoff_factor":"0.001"}`, "Request to SERVER failed: the answer is 500 Internal Server Error", 3},
		"no other try":                      {`{"url":"SERVER/down","retries":0}`, "Request to SERVER failed: the answer is 500 Internal Server Error", 1},
		"a failure that is final":           {`{"url":"SERVER/gone"}`, "Request to SERVER failed: the answer is 404 Not Found", 1},
		"elsewhere on the same host":        {`{"url":"SERVER/here"}`, "", 2},
		"another host":                      {`{"url":"SERVER/away","retries":0}`, "Request to SERVER failed: it redirects too often, or to another host", 1},
		"round and round":                   {`{"url":"SERVER/round","retries":0}`, "Request to SERVER failed: it redirects too often, or to another host", 4},
		"a redirect that is no URL":         {`{"url":"SERVER/hook/not-a-real-one","retries":0}`, "Request to SERVER failed: it redirects to what is no URL", 1},
		"no answer in time":                 {`{"url":"SERVER/slow","retries":0,"timeout":0.05}`, "Request to SERVER failed: context deadline exceeded", 1},
		"nobody there, secrets in the URL":  {`{"url":"http://user:not-a-real-one@127.0.0.1:1/not-a-real-one?token=not-a-real-one","retries":0}`, "Request to http://127.0.0.1:1 failed: dial tcp 127.0.0.1:1: connect: connection refused", 0},
		"through a proxy":                   {`{"url":"http://192.0.2.1/proxied","proxies":{"http":"SERVER"}}`, "", 1},
		"a proxy of another kind":           {`{"url":"SERVER","proxies":{"http":"ftp://x"}}`, "proxies: a URL that begins with http:// or https:// is needed", 0},
		"a header that is none":             {`{"url":"SERVER","headers":{"a b":"x"},"retries":0}`, `Request to SERVER failed: net/http: invalid header field name "a b"`, 0},
		"patience that is none":             {`{"url":"SERVER","timeout":0}`, "Invalid parameter: timeout must be greater than zero", 0},
		"retries from a field that is text": {`{"url":"SERVER","retries":"{item}"},"loop":["x"]`, "Invalid parameter: retries", 0},
	} {
		calls.Store(0)
		args := strings.ReplaceAll(c.args, "SERVER", s.URL)
		_, err := apply(t, aRule(t, `[]`, `[{"op":"api-call","args":`+args+`}]`))
		switch want := strings.ReplaceAll(c.fails, "SERVER", s.URL); {
		case want == "" && err != nil:
			t.Errorf("%s: %v", name, err)
		case want != "" && (err == nil || !strings.HasSuffix(err.Error(), "action api-call: "+want)):
			t.Errorf("%s:\n%v\nnot %s", name, err, want)
		}
		if n := calls.Load(); n != c.calls {
			t.Errorf("%s: %d calls, not %d", name, n, c.calls)
		}
		if name == "an answer" {
			if r := last.Load(); r.Method != http.MethodGet || r.URL.Path != "/node/"+nodeUUID || r.Header.Get("X-Auth-Token") != "t" {
				t.Errorf("%s: asked %s %s", name, r.Method, r.URL)
			}
		}
	}
}

// What the appliance itself ends is no failure of the rule.
func TestACallEndsWithTheWork(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	s := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }))
	defer s.Close()
	in := input()
	in.Rules = append(in.Rules, aRule(t, `[]`, `[{"op":"api-call","args":["`+s.URL+`"]}]`))
	if _, err := engine().Apply(ctx, in); err == nil || !strings.HasSuffix(err.Error(), context.DeadlineExceeded.Error()) {
		t.Errorf("%v", err)
	}
}
