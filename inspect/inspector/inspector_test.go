package inspector_test

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"cagenut/inspect/inspector"
	"cagenut/inspect/managedboot"
	"cagenut/node"
)

// log is what reached the outside, in order: calls to the service and commands to the BMC.
type log struct {
	mu    sync.Mutex
	lines []string
}

func (l *log) add(format string, a ...any) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.lines = append(l.lines, fmt.Sprintf(format, a...))
}

func (l *log) all() []string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return append([]string(nil), l.lines...)
}

// server is a BMC whose power follows at once.
type server struct {
	*log
	power node.PowerState
}

func (s *server) Do(_ context.Context, _ node.Node, fn func(managedboot.BMC) error) error {
	return fn(s)
}

func (s *server) Look(_ context.Context, _ node.Node, fn func(managedboot.BMC) error) error {
	return fn(s)
}

func (s *server) Power(context.Context) (node.PowerState, error) { return s.power, nil }

func (s *server) SetPower(_ context.Context, a node.PowerAction) error {
	s.power = a.Result()
	s.add("%s", a)
	return nil
}

func (s *server) SetBoot(_ context.Context, b node.Boot) error {
	s.add("boot %s", b.Device)
	return nil
}

func boot(l *log) *managedboot.Boot {
	return managedboot.New(&server{log: l, power: node.PowerOff}, net.DefaultResolver,
		managedboot.Settings{RamdiskURL: "http://192.0.2.1:6385", Kernel: "k", Initrd: "i"})
}

// external is the interface in front of a service that answers every call with handler.
func external(t *testing.T, handler http.HandlerFunc, change func(*inspector.Settings)) (*inspector.Interface, *log) {
	t.Helper()
	l := &log{}
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		l.add("%s %s", r.Method, r.URL.RequestURI())
		handler(w, r)
	}))
	t.Cleanup(s.Close)
	settings := inspector.Settings{URL: s.URL, AbortDeadline: 10 * time.Second}
	if change != nil {
		change(&settings)
	}
	i, err := inspector.NewExternal(boot(l), settings)
	if err != nil {
		t.Fatal(err)
	}
	return i, l
}

func says(code int, body string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(code)
		fmt.Fprint(w, body)
	}
}

var n1 = node.Node{UUID: "1be26c0b-03f2-4d2e-ae87-c02d7f33c781"}

func start(t *testing.T, i *inspector.Interface) error {
	t.Helper()
	var a node.Attempt
	for range 20 {
		p, err := i.Inspect(t.Context(), n1, a)
		if err != nil || p.Ready {
			return err
		}
		if p.Step == a.Step {
			t.Fatalf("no progress from step %q", a.Step)
		}
		a.Step = p.Step
	}
	return errors.New("never ready")
}

func TestTheEmbeddedServiceNeedsNobodysConsent(t *testing.T) {
	l := &log{}
	i := inspector.NewEmbedded(boot(l))
	if i.External() || i.CallbackURL() != "" {
		t.Error("the embedded service must not count as external")
	}
	if err := start(t, i); err != nil {
		t.Fatal(err)
	}
	before := len(l.all())
	end, err := i.Abort(t.Context(), n1, node.Attempt{})
	if err != nil || end.LastError != "Inspection was aborted by request." || end.Outcome != node.Aborted || !end.CleanUp {
		t.Errorf("got %+v, %v", end, err)
	}
	if got := l.all(); len(got) != before {
		t.Errorf("an abort must not touch the BMC: %v", got[before:])
	}
}

func TestAStartTellsTheExternalServiceBeforeTheServerIsSwitchedOn(t *testing.T) {
	i, l := external(t, says(202, "{}"), nil)
	if err := start(t, i); err != nil {
		t.Fatal(err)
	}
	want := []string{"POST /v1/introspection/" + n1.UUID + "?manage_boot=false", "boot ", "boot pxe", "power on"}
	if diff := cmp.Diff(want, l.all()); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// G41: nothing is switched on for a run that the service does not want.
func TestAStartThatTheServiceRefusesLeavesTheServerAlone(t *testing.T) {
	for _, c := range []struct {
		code       int
		body, want string
	}{
		{400, `{"error":{"message":"Invalid provision state for introspection"}}`, "Failed to start inspection: inspector service at http://127.0.0.1:PORT: 400 Bad Request: Invalid provision state for introspection"},
		{404, `{"error":{"message":"Node was not found"}}`, "404 Not Found: Node was not found"},
		{500, "<html>\n <b>oops</b>", "500 Internal Server Error: <html> <b>oops</b>"},
		{302, "", "302 Found: it gave no reason"},
		{401, "", "check --inspector-user"},
	} {
		t.Run(fmt.Sprint(c.code), func(t *testing.T) {
			var host string
			i, l := external(t, func(w http.ResponseWriter, r *http.Request) {
				host = r.Host
				says(c.code, c.body)(w, r)
			}, nil)
			err := start(t, i)
			if err == nil || !strings.Contains(strings.ReplaceAll(err.Error(), host, "127.0.0.1:PORT"), c.want) {
				t.Fatalf("got %v, want %q", err, c.want)
			}
			if got := l.all(); len(got) != 1 {
				t.Errorf("after the refusal: %v", got[1:])
			}
		})
	}
}

// contract.md §9, 27: a start that meets an abort on its way is not lost.
func TestAStartWaitsUntilAnEarlierRunIsOver(t *testing.T) {
	for _, state := range []string{"aborting", "processing", "reapplying"} {
		t.Run(state, func(t *testing.T) {
			over := false
			i, l := external(t, func(w http.ResponseWriter, r *http.Request) {
				switch {
				case r.Method == "GET":
					says(200, `{"state":"`+state+`","finished":false,"error":null}`)(w, r)
				case over:
					says(202, "{}")(w, r)
				default:
					says(400, `{"error":{"message":"Invalid event: start"}}`)(w, r)
				}
			}, nil)
			a := node.Attempt{StartedAt: time.Now()}
			p, err := i.Inspect(t.Context(), n1, a)
			if err != nil || p.Step != "" || p.After != time.Second {
				t.Fatalf("got %+v, %v", p, err)
			}
			over = true
			if p, err = i.Inspect(t.Context(), n1, a); err != nil || p.Step == "" {
				t.Errorf("once it is over: %+v, %v", p, err)
			}
			over = false
			a.StartedAt = time.Now().Add(-time.Minute)
			if _, err := i.Inspect(t.Context(), n1, a); err == nil || !strings.Contains(err.Error(), "Invalid event: start") {
				t.Errorf("it waits for ever: %v", err)
			}
			for _, line := range l.all() {
				if strings.HasPrefix(line, "power") || strings.HasPrefix(line, "boot") {
					t.Errorf("the BMC was told %q", line)
				}
			}
		})
	}
}

func TestAStartThatIsRefusedForAnotherReasonFailsAtOnce(t *testing.T) {
	i, _ := external(t, func(w http.ResponseWriter, r *http.Request) {
		if r.Method == "GET" {
			says(200, `{"state":"finished","finished":true,"error":null}`)(w, r)
			return
		}
		says(400, `{"error":{"message":"No lookup attributes were found"}}`)(w, r)
	}, nil)
	if _, err := i.Inspect(t.Context(), n1, node.Attempt{StartedAt: time.Now()}); err == nil || !strings.HasPrefix(err.Error(), "Failed to start inspection: ") {
		t.Errorf("got %v", err)
	}
}

func TestAbortAtAnExternalService(t *testing.T) {
	for _, c := range []struct {
		name string
		code int
		body string
		want func(t *testing.T, end node.Ending, err error)
	}{
		{"202 is acceptance", 202, "{}", func(t *testing.T, end node.Ending, err error) {
			if err != nil || end.Outcome != node.Aborted || end.Error != "Canceled by operator" || !end.CleanUp {
				t.Errorf("got %+v, %v", end, err)
			}
		}},
		{"409 is a conflict", 409, `{"error":{"message":"Node is locked, please, retry later"}}`, func(t *testing.T, _ node.Ending, err error) {
			var conflict *node.Conflict
			if !errors.As(err, &conflict) || conflict.Text != "Failed to abort inspection: Node is locked, please, retry later" {
				t.Errorf("got %v", err)
			}
		}},
		{"404 is none", 404, `{"error":{"message":"Could not find node in cache"}}`, badAnswer("404 Not Found: Could not find node in cache")},
		{"500 is none", 500, `{"error":{"message":"Internal server error"}}`, badAnswer("500 Internal Server Error: Internal server error")},
		{"the page of a proxy is none", 200, "<html>sign in</html>", badAnswer("200 OK: <html>sign in</html>")},
		{"a redirect is none", 302, "", badAnswer("302 Found")},
		{"a giant answer is none", 500, strings.Repeat("x", 1<<20), badAnswer("longer than 65536 bytes")},
	} {
		t.Run(c.name, func(t *testing.T) {
			i, l := external(t, says(c.code, c.body), nil)
			end, err := i.Abort(t.Context(), n1, node.Attempt{})
			c.want(t, end, err)
			if err != nil && (end.CleanUp || end.Outcome != "") {
				t.Errorf("a refused abort ends nothing: %+v", end)
			}
			if diff := cmp.Diff([]string{"POST /v1/introspection/" + n1.UUID + "/abort"}, l.all()); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func badAnswer(want string) func(*testing.T, node.Ending, error) {
	return func(t *testing.T, _ node.Ending, err error) {
		var u *node.Unreachable
		if !errors.As(err, &u) || u.Timeout || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want *node.Unreachable without time-out that says %q", err, want)
		}
	}
}

func TestAnAbortThatIsNotAnsweredInTimeIsATimeout(t *testing.T) {
	for name, handler := range map[string]http.HandlerFunc{
		"no answer": func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() },
		"half an answer": func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Length", "100")
			w.WriteHeader(202)
			w.(http.Flusher).Flush()
			<-r.Context().Done()
		},
	} {
		t.Run(name, func(t *testing.T) {
			i, _ := external(t, handler, func(s *inspector.Settings) { s.AbortDeadline = 50 * time.Millisecond })
			_, err := i.Abort(t.Context(), n1, node.Attempt{})
			var u *node.Unreachable
			if !errors.As(err, &u) || !u.Timeout || !errors.Is(err, context.DeadlineExceeded) || !strings.Contains(err.Error(), "no answer within 50ms") {
				t.Errorf("got %v, want *node.Unreachable with Timeout", err)
			}
		})
	}
}

func TestAServiceThatIsNotThere(t *testing.T) {
	s := httptest.NewServer(http.NotFoundHandler())
	s.Close()
	i, err := inspector.NewExternal(boot(&log{}), inspector.Settings{URL: s.URL})
	if err != nil {
		t.Fatal(err)
	}
	_, err = i.Abort(t.Context(), n1, node.Attempt{})
	var u *node.Unreachable
	if !errors.As(err, &u) || u.Timeout || !strings.HasPrefix(err.Error(), "inspector service at "+s.URL+": dial tcp") {
		t.Errorf("got %v", err)
	}
}

func TestRunTellsHowTheServiceSeesTheRun(t *testing.T) {
	for _, c := range []struct {
		name, body string
		state      node.RunState
		failure    string
	}{
		{"waiting", `{"finished":false,"state":"waiting","error":null}`, node.RunWaiting, ""},
		{"aborting", `{"finished":false,"state":"aborting","error":null}`, "aborting", ""},
		{"finished", `{"finished":true,"state":"finished","error":null}`, node.RunFinished, ""},
		{"aborted", `{"finished":true,"state":"error","error":"Canceled by operator"}`, node.RunError, "Canceled by operator"},
		{"failed without words", `{"finished":true,"state":"error","error":null}`, node.RunError, ""},
		{"an old service, running", `{"finished":false,"error":null}`, node.RunWaiting, ""},
		{"an old service, finished", `{"finished":true,"error":null}`, node.RunFinished, ""},
		{"an old service, failed", `{"finished":true,"error":"Introspection timeout"}`, node.RunError, "Introspection timeout"},
	} {
		t.Run(c.name, func(t *testing.T) {
			i, l := external(t, says(200, c.body), nil)
			state, failure, err := i.Run(t.Context(), n1)
			if err != nil || state != c.state || failure != c.failure {
				t.Errorf("got %q, %q, %v", state, failure, err)
			}
			if diff := cmp.Diff([]string{"GET /v1/introspection/" + n1.UUID}, l.all()); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// G32: a service that lost the run is told apart from one that does not answer.
func TestRunOfANodeThatTheServiceForgot(t *testing.T) {
	i, _ := external(t, says(404, `{"error":{"message":"Could not find node U in cache"}}`), nil)
	_, _, err := i.Run(t.Context(), n1)
	var missing *node.NotFound
	if !errors.As(err, &missing) || !strings.Contains(err.Error(), "Could not find node U in cache") {
		t.Errorf("got %v, want *node.NotFound with the service's words", err)
	}
	for _, handler := range []http.HandlerFunc{says(503, "busy"), says(200, "no JSON")} {
		i, _ := external(t, handler, nil)
		_, _, err := i.Run(t.Context(), n1)
		var u *node.Unreachable
		if !errors.As(err, &u) {
			t.Errorf("got %v, want *node.Unreachable", err)
		}
	}
}

func TestDataIsTheStoredDocument(t *testing.T) {
	doc := `{"inventory":{"interfaces":[{"mac_address":"02:00:5e:00:00:01"}]},"x":18446744073709551615}`
	i, l := external(t, says(200, doc), nil)
	got, err := i.Data(t.Context(), n1)
	if err != nil || string(got) != doc {
		t.Errorf("got %s, %v", got, err)
	}
	if diff := cmp.Diff([]string{"GET /v1/introspection/" + n1.UUID + "/data"}, l.all()); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	i, _ = external(t, says(404, ""), nil)
	var missing *node.NotFound
	if _, err := i.Data(t.Context(), n1); !errors.As(err, &missing) {
		t.Errorf("without data: got %v, want *node.NotFound", err)
	}
	i, _ = external(t, says(200, strings.Repeat(" ", 16<<20+1)), nil)
	if _, err := i.Data(t.Context(), n1); err == nil || !strings.Contains(err.Error(), "longer than 16777216 bytes") {
		t.Errorf("too much data: got %v", err)
	}
}

// G30: base URLs as people write them.
func TestSettings(t *testing.T) {
	for _, suffix := range []string{"", "/", "/v1", "/v1/", "/inspector", "/inspector/v1/"} {
		t.Run("base path "+suffix, func(t *testing.T) {
			i, l := external(t, says(202, "{}"), func(s *inspector.Settings) { s.URL += suffix })
			if _, err := i.Abort(t.Context(), n1, node.Attempt{}); err != nil {
				t.Fatal(err)
			}
			path := strings.TrimSuffix(strings.TrimRight(suffix, "/"), "/v1")
			if got, want := l.all()[0], "POST "+path+"/v1/introspection/"+n1.UUID+"/abort"; got != want {
				t.Errorf("got %s, want %s", got, want)
			}
			if !i.External() || !strings.HasSuffix(i.CallbackURL(), path+"/v1/continue") {
				t.Errorf("callback: %s", i.CallbackURL())
			}
		})
	}
	for _, bad := range []string{"", "192.0.2.1:5050", "ftp://192.0.2.1", "http://", "http://u:p@192.0.2.1"} {
		t.Run("refused: "+bad, func(t *testing.T) {
			_, err := inspector.NewExternal(boot(&log{}), inspector.Settings{URL: bad})
			var invalid *node.Invalid
			if !errors.As(err, &invalid) || strings.Contains(err.Error(), "u:p") {
				t.Errorf("got %v, want *node.Invalid without the secret", err)
			}
		})
	}
	t.Run("basic authentication", func(t *testing.T) {
		var user, password string
		i, _ := external(t, func(w http.ResponseWriter, r *http.Request) {
			user, password, _ = r.BasicAuth()
			w.WriteHeader(401)
		}, func(s *inspector.Settings) { s.User, s.Password = "cagenut", "example-only" })
		_, err := i.Abort(t.Context(), n1, node.Attempt{})
		if user != "cagenut" || password != "example-only" {
			t.Errorf("sent %q, %q", user, password)
		}
		if err == nil || strings.Contains(err.Error(), "example-only") {
			t.Errorf("got %v, want an error without the secret", err)
		}
	})
}

func TestCleanUpIsThatOfAManagedBoot(t *testing.T) {
	i, l := external(t, says(202, "{}"), nil)
	p, err := i.CleanUp(t.Context(), n1, node.Attempt{WaitingAt: time.Now()}, func(context.Context) error { return nil })
	if err != nil || !p.Ready {
		t.Errorf("got %+v, %v", p, err)
	}
	if diff := cmp.Diff([]string{"boot "}, l.all()); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
