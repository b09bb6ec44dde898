package web_test

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/gofiber/fiber/v2"
	"go.uber.org/goleak"

	"cagenut/node"
	"cagenut/web"
)

func TestMain(m *testing.M) {
	goleak.VerifyTestMain(m,
		goleak.IgnoreAnyFunction("github.com/valyala/fasthttp.updateServerDate.func1"),
		goleak.IgnoreAnyFunction("github.com/valyala/fasthttp.(*workerPool).Start.func2"))
}

// logged is a log that may be read while the server writes.
type logged struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (l *logged) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(p)
}

func (l *logged) text() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()
}

// serve listens with the routes and gives the address back.
func serve(t *testing.T, o web.AppOptions, routes func(*fiber.App)) (string, *logged) {
	t.Helper()
	log := &logged{}
	o.Log = slog.New(slog.NewTextHandler(log, &slog.HandlerOptions{Level: slog.LevelDebug}))
	app := web.NewApp(o)
	routes(app)
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	done := make(chan error, 1)
	go func() { done <- app.Listener(ln) }()
	t.Cleanup(func() {
		http.DefaultClient.CloseIdleConnections()
		if err := app.ShutdownWithTimeout(5 * time.Second); err != nil {
			t.Error(err)
		}
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
	return "http://" + ln.Addr().String(), log
}

// echo answers with method, path and the length of the body.
func echo(app *fiber.App) {
	app.Use(func(c *fiber.Ctx) error {
		return c.JSON(fiber.Map{"method": c.Method(), "path": c.Path(), "length": len(c.Body())})
	})
}

type answer struct {
	status int
	header http.Header
	body   string
}

func ask(t *testing.T, method, url string, body io.Reader, headers ...string) answer {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), method, url, body)
	if err != nil {
		t.Fatal(err)
	}
	for i := 0; i+1 < len(headers); i += 2 {
		if headers[i] == "Host" {
			req.Host = headers[i+1]
		}
		req.Header.Set(headers[i], headers[i+1])
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = resp.Body.Close() }()
	b, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return answer{resp.StatusCode, resp.Header, string(b)}
}

func gzipped(n int) string {
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	_, _ = w.Write(append([]byte(`{"a":"`), append(bytes.Repeat([]byte("x"), n-8), `"}`...)...))
	_ = w.Close()
	return b.String()
}

// G26; contract.md §1.5(b).
func TestBodiesAreBoundedBeforeAnybodyReadsThem(t *testing.T) {
	base, _ := serve(t, web.AppOptions{}, echo)
	const mib = 1 << 20
	for _, tc := range []struct {
		name, path, body, encoding string
		status                     int
	}{
		{"1 MiB anywhere", "/v1/nodes", strings.Repeat("x", mib), "", 200},
		{"a byte more", "/v1/nodes", strings.Repeat("x", mib+1), "", 413},
		{"10 MiB at a report door", "/v1/continue_inspection", strings.Repeat("x", 10*mib), "", 200},
		{"10 MiB at the inspector's, with a slash", "/v1/continue/", strings.Repeat("x", 10*mib), "", 200},
		{"more than 16 MiB at a report door", "/v1/continue_inspection", strings.Repeat("x", 16*mib+1), "", 413},
		{"compressed, small inside", "/v1/nodes", gzipped(mib / 2), "gzip", 200},
		{"a bomb", "/v1/nodes", gzipped(32 * mib), "gzip", 413},
		{"a bomb at a report door", "/v1/continue_inspection", gzipped(32 * mib), "gzip", 413},
		{"no gzip in spite of its word", "/v1/nodes", "{}", "gzip", 400},
		{"an unknown encoding", "/v1/nodes", "{}", "br", 415},
		{"two encodings", "/v1/nodes", "{}", "gzip, gzip", 415},
		{"25 levels", "/v1/nodes", strings.Repeat("[", 25) + strings.Repeat("]", 25), "", 200},
		{"26 levels", "/v1/nodes", strings.Repeat(`{"a":`, 26) + "1" + strings.Repeat("}", 26), "", 400},
		{"100000 levels", "/v1/continue_inspection", strings.Repeat("[", 100_000), "", 400},
		{"brackets in strings", "/v1/nodes", `{"a":"` + strings.Repeat(`\"[`, 60) + `"}`, "", 200},
		{"levels side by side", "/v1/nodes", "[" + strings.Repeat("[],", 500) + "[]]", "", 200},
	} {
		t.Run(tc.name, func(t *testing.T) {
			got := ask(t, "POST", base+tc.path, strings.NewReader(tc.body), "Content-Encoding", tc.encoding)
			if got.status != tc.status {
				t.Fatalf("status %d, want %d: %s", got.status, tc.status, got.body)
			}
			if got.status == 200 {
				return
			}
			var flat map[string]string
			if err := json.Unmarshal([]byte(got.body), &flat); err != nil || flat["faultcode"] != "Client" || flat["faultstring"] == "" || len(flat) != 2 {
				t.Errorf("not the flat shape: %s", got.body)
			}
		})
	}
	if got := ask(t, "POST", base+"/v1/nodes", strings.NewReader(gzipped(1000)), "Content-Encoding", "gzip"); !strings.Contains(got.body, `"length":1000`) {
		t.Errorf("the handler must see the plain body: %s", got.body)
	}
}

// What does not even fit into the connection's limit is answered by the server itself, in the same shape. Raw, because a
// client may notice the closed connection before it reads the answer.
func TestABodyThatIsAnnouncedTooLargeIsNotRead(t *testing.T) {
	base, _ := serve(t, web.AppOptions{}, echo)
	conn, err := net.Dial("tcp", strings.TrimPrefix(base, "http://"))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = conn.Close() }()
	_ = conn.SetDeadline(time.Now().Add(5 * time.Second))
	_, _ = io.WriteString(conn, "POST /v1/continue_inspection HTTP/1.1\r\nHost: h\r\nContent-Length: 20971520\r\n\r\n")
	b, _ := io.ReadAll(conn)
	if !strings.HasPrefix(string(b), "HTTP/1.1 413 ") || !strings.Contains(string(b), `"faultcode":"Client"`) || !strings.Contains(string(b), "Openstack-Request-Id: req-") {
		t.Errorf("got %s", b)
	}
}

// G62: what was sent is not quoted back.
func TestARequestThatCannotBeReadIsAnsweredWithoutQuotingIt(t *testing.T) {
	base, _ := serve(t, web.AppOptions{}, echo)
	conn, err := net.Dial("tcp", strings.TrimPrefix(base, "http://"))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = conn.Close() }()
	_ = conn.SetDeadline(time.Now().Add(5 * time.Second))
	_, _ = io.WriteString(conn, "<script>garbage\r\n\r\n")
	b, _ := io.ReadAll(conn)
	if !strings.HasPrefix(string(b), "HTTP/1.1 400 ") || strings.Contains(string(b), "garbage") {
		t.Errorf("got %s", b)
	}
}

// G30; contract.md §1.6.
func TestSlashesAreForgiven(t *testing.T) {
	base, _ := serve(t, web.AppOptions{}, func(app *fiber.App) {
		app.Get("/", func(c *fiber.Ctx) error { return c.SendString("root") })
		app.Get("/v1", func(c *fiber.Ctx) error { return c.SendString("version") })
		app.Post("/v1/introspection/:id/abort", func(c *fiber.Ctx) error { return c.Status(202).SendString(c.Params("id")) })
	})
	for _, tc := range []struct {
		method, path string
		status       int
		body         string
	}{
		{"GET", "/", 200, "root"}, {"GET", "//", 200, "root"}, {"GET", "", 200, "root"},
		{"GET", "/v1", 200, "version"}, {"GET", "/v1/", 200, "version"}, {"GET", "//v1//", 200, "version"}, {"GET", "/v1/?a=//b/", 200, "version"},
		{"POST", "/v1/introspection/n1/abort", 202, "n1"}, {"POST", "/v1/introspection/n1/abort/", 202, "n1"}, {"POST", "/v1//introspection///n1/abort", 202, "n1"},
		{"POST", "/v1/introspection/a%2F%2Fb/abort/", 202, "a%2F%2Fb"},
		{"GET", "/V1", 404, ""}, {"GET", "/v1/introspection/n1/abort/", 405, ""},
	} {
		got := ask(t, tc.method, base+tc.path, nil)
		if got.status != tc.status || (tc.body != "" && got.body != tc.body) {
			t.Errorf("%s %q: %d %q", tc.method, tc.path, got.status, got.body)
		}
	}
}

func TestEveryAnswerCarriesItsIDAndTheSecurityHeaders(t *testing.T) {
	base, _ := serve(t, web.AppOptions{}, func(app *fiber.App) {
		app.Get("/id", func(c *fiber.Ctx) error { return c.SendString(web.RequestID(c)) })
		app.Put("/empty", func(c *fiber.Ctx) error { return c.SendStatus(202) })
		app.Put("/nothing", func(c *fiber.Ctx) error { c.Status(202); return nil })
	})
	seen := map[string]bool{}
	for range 3 {
		got := ask(t, "GET", base+"/id", nil)
		id := got.header.Get("x-openstack-request-id")
		if id != got.body || id != got.header.Get("openstack-request-id") || !node.IsUUID(strings.TrimPrefix(id, "req-")) || seen[id] {
			t.Errorf("ids: %q in the headers, %q for the handler", id, got.body)
		}
		seen[id] = true
	}
	for _, path := range []string{"/id", "/unknown"} {
		h := ask(t, "GET", base+path, nil).header
		if !strings.HasPrefix(h.Get("openstack-request-id"), "req-") || h.Get("X-Content-Type-Options") != "nosniff" || !strings.Contains(h.Get("Content-Security-Policy"), "default-src 'none'") {
			t.Errorf("%s: headers are missing: %v", path, h)
		}
	}
	if got := ask(t, "PUT", base+"/nothing", nil); got.status != 202 || got.header.Get("Content-Type") != "" || got.header.Get("Content-Length") != "0" {
		t.Errorf("an empty answer: %d %v", got.status, got.header)
	}
}

func TestWhatABrowserSendsFromElsewhereIsRefused(t *testing.T) {
	base, _ := serve(t, web.AppOptions{}, echo)
	host := strings.TrimPrefix(base, "http://")
	for _, tc := range []struct {
		name, method string
		headers      []string
		status       int
	}{
		{"a program", "PUT", nil, 200},
		{"our own page", "POST", []string{"Sec-Fetch-Site", "same-origin", "Origin", base}, 200},
		{"an older browser on our page", "POST", []string{"Origin", "http://" + host}, 200},
		{"another site", "POST", []string{"Sec-Fetch-Site", "cross-site", "Origin", "https://evil.example"}, 403},
		{"an older browser on another site", "DELETE", []string{"Origin", "https://evil.example"}, 403},
		{"a neighbour in the domain", "PUT", []string{"Sec-Fetch-Site", "same-site"}, 403},
		{"a link from another site", "GET", []string{"Sec-Fetch-Site", "cross-site"}, 200},
	} {
		t.Run(tc.name, func(t *testing.T) {
			if got := ask(t, tc.method, base+"/x", nil, tc.headers...); got.status != tc.status {
				t.Errorf("status %d: %s", got.status, got.body)
			}
		})
	}
}

func TestARequestEndsAtItsDeadlineOrWithTheAppliance(t *testing.T) {
	wait := func(app *fiber.App) {
		app.Get("/wait", func(c *fiber.Ctx) error {
			<-c.UserContext().Done()
			return c.UserContext().Err()
		})
	}
	late, _ := serve(t, web.AppOptions{RequestTimeout: 20 * time.Millisecond}, wait)
	if got := ask(t, "GET", late+"/wait", nil); got.status != 504 {
		t.Errorf("at the deadline: %d %s", got.status, got.body)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	stopping, _ := serve(t, web.AppOptions{Context: ctx}, wait)
	if got := ask(t, "GET", stopping+"/wait", nil); got.status != 503 {
		t.Errorf("while it stops: %d %s", got.status, got.body)
	}
}

func TestAClientThatNeverReadsItsAnswerIsCut(t *testing.T) {
	held := make(chan net.Conn, 1)
	base, _ := serve(t, web.AppOptions{RequestTimeout: 50 * time.Millisecond, WriteTimeout: 50 * time.Millisecond}, func(app *fiber.App) {
		app.Get("/large", func(c *fiber.Ctx) error {
			held <- c.Context().Conn()
			return c.Send(make([]byte, 32<<20))
		})
	})
	conn, err := net.Dial("tcp", strings.TrimPrefix(base, "http://"))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = conn.Close() }()
	_, _ = io.WriteString(conn, "GET /large HTTP/1.1\r\nHost: h\r\n\r\n")
	server := <-held
	for deadline := time.Now().Add(5 * time.Second); time.Now().Before(deadline); time.Sleep(10 * time.Millisecond) {
		if errors.Is(server.SetReadDeadline(time.Now().Add(time.Minute)), net.ErrClosed) {
			return
		}
	}
	t.Error("the connection is still held")
}

// G62: no trace and no cause leaves the appliance.
func TestAnInternalErrorIsToldByItsRequestAlone(t *testing.T) {
	base, log := serve(t, web.AppOptions{}, func(app *fiber.App) {
		app.Get("/panic", func(*fiber.Ctx) error { panic("row 17") })
		app.Get("/error", func(*fiber.Ctx) error { return errors.New("SELECT row 17") })
	})
	for _, path := range []string{"/panic", "/error"} {
		got := ask(t, "GET", base+path, nil)
		want := `{"error":{"code":500,"message":"internal error, request ` + got.header.Get("openstack-request-id") + `"}}`
		if got.status != 500 || got.body != want {
			t.Errorf("%s: %d %s", path, got.status, got.body)
		}
	}
	if text := log.text(); !strings.Contains(text, "SELECT row 17") || !strings.Contains(text, "panic: row 17") || !strings.Contains(text, "app_test.go") {
		t.Errorf("the log must tell the cause and the stack:\n%s", text)
	}
}

func TestTheLogHidesTheTokenOfAnAttempt(t *testing.T) {
	base, log := serve(t, web.AppOptions{}, echo)
	ask(t, "POST", base+"/v1/continue_inspection?attempt=s3cr3t-1&node_uuid=n1", nil)
	ask(t, "POST", base+"/v1/continue_inspection?x=1&%61ttempt=s3cr3t-2", nil)
	ask(t, "POST", base+"/v1/continue_inspection?ATTEMPT=s3cr3t-3&agent_token=s3cr3t-4", nil)
	text := log.text()
	if strings.Contains(text, "s3cr3t") || !strings.Contains(text, "node_uuid=n1") || !strings.Contains(text, "attempt=******") {
		t.Errorf("got\n%s", text)
	}
}

func TestOnlyTrustedProxiesAreBelieved(t *testing.T) {
	routes := func(app *fiber.App) {
		app.Get("/who", func(c *fiber.Ctx) error {
			web.SetUser(c, "ann", web.RoleOperator)
			a := web.Actor(c, node.SourceAPI)
			return c.SendString(a.User + " " + a.Address + " " + c.BaseURL())
		})
	}
	direct, _ := serve(t, web.AppOptions{}, routes)
	behind, _ := serve(t, web.AppOptions{TrustedProxies: []string{"127.0.0.0/8", "192.0.2.1"}}, routes)
	forged := []string{"X-Forwarded-For", "198.51.100.9, 203.0.113.5, 192.0.2.1", "X-Forwarded-Proto", "https", "X-Forwarded-Host", "rack.example"}
	if got := ask(t, "GET", direct+"/who", nil, forged...); got.body != "ann 127.0.0.1 "+direct {
		t.Errorf("without proxies: %s", got.body)
	}
	if got := ask(t, "GET", behind+"/who", nil, forged...); got.body != "ann 203.0.113.5 https://rack.example" {
		t.Errorf("behind proxies: %s", got.body)
	}
	if _, err := web.ParseProxies([]string{"nonsense"}); err == nil {
		t.Error("nonsense must be refused at the start")
	}
}
