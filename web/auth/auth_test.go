package auth_test

import (
	"context"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/gofiber/fiber/v2"
	"go.uber.org/goleak"
	"golang.org/x/crypto/bcrypt"

	"cagenut/web"
	"cagenut/web/auth"
)

func TestMain(m *testing.M) {
	goleak.VerifyTestMain(m,
		goleak.IgnoreAnyFunction("github.com/valyala/fasthttp.updateServerDate.func1"),
		goleak.IgnoreAnyFunction("github.com/valyala/fasthttp.(*workerPool).Start.func2"))
}

type people map[string]auth.Account

func (p people) Account(_ context.Context, name string) (auth.Account, bool, error) {
	a, ok := p[name]
	return a, ok, nil
}

func hash(t *testing.T, password string) string {
	t.Helper()
	b, err := bcrypt.GenerateFromPassword([]byte(password), bcrypt.MinCost)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// serve answers every path with who asked.
func serve(t *testing.T, o auth.Options) string {
	t.Helper()
	gate, err := auth.New(o)
	if err != nil {
		t.Fatal(err)
	}
	app := web.NewApp(web.AppOptions{})
	app.Use(gate.Check)
	app.All("/*", func(c *fiber.Ctx) error {
		name, role := web.User(c)
		return c.SendString(name + "/" + role)
	})
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	done := make(chan error, 1)
	go func() { done <- app.Listener(ln) }()
	t.Cleanup(func() {
		http.DefaultClient.CloseIdleConnections()
		_ = app.Shutdown()
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
	return "http://" + ln.Addr().String()
}

func call(t *testing.T, method, url, user, password, header string) (*http.Response, string) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), method, url, nil)
	if err != nil {
		t.Fatal(err)
	}
	if user != "" {
		req.SetBasicAuth(user, password)
	}
	if header != "" {
		req.Header.Set("Authorization", header)
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
	return resp, string(b)
}

// Contract.md §7.1.
func TestBasic(t *testing.T) {
	base := serve(t, auth.Options{Mode: auth.Basic, Users: people{
		"vera": {Hash: hash(t, "vera's"), Role: web.RoleViewer}, "otto": {Hash: hash(t, "otto's"), Role: web.RoleOperator},
	}})
	for _, tc := range []struct {
		name, method, path, user, password, header string
		status                                     int
		text                                       string
	}{
		{"nobody is asked to sign in", "GET", "/v1/nodes", "", "", "", 401, `{"error":{"message":"Authorization required","code":401}}`},
		{"a wrong password", "GET", "/v1/nodes", "otto", "x", "", 401, `{"error":{"message":"Incorrect username or password","code":401}}`},
		{"an unknown user", "GET", "/v1/nodes", "eve", "x", "", 401, `{"error":{"message":"Incorrect username or password","code":401}}`},
		{"an unknown user without a password", "GET", "/v1/nodes", "eve", "", "", 401, `{"error":{"message":"Incorrect username or password","code":401}}`},
		{"another scheme", "GET", "/v1/nodes", "", "", "Bearer x", 400, `{"error":{"message":"Unsupported authorization type \"Bearer\"","code":400}}`},
		{"a token that is no base64", "GET", "/v1/nodes", "", "", "Basic %%%", 400, `{"error":{"message":"Could not decode authorization token","code":400}}`},
		{"an operator writes", "PUT", "/v1/nodes/n1", "otto", "otto's", "", 200, "otto/operator"},
		{"and again, from memory", "PUT", "/v1/nodes/n1", "otto", "otto's", "", 200, "otto/operator"},
		{"memory does not take another password", "PUT", "/v1/nodes/n1", "otto", "otto'", "", 401, `{"error":{"message":"Incorrect username or password","code":401}}`},
		{"a viewer reads", "GET", "/ui", "vera", "vera's", "", 200, "vera/viewer"},
		{"a viewer does not write", "DELETE", "/v1/nodes/n1", "vera", "vera's", "", 403, ""},
		{"an agent beats", "POST", "/v1/heartbeat/4f0e-1", "", "", "", 200, "/"},
		{"an agent looks itself up", "GET", "/v1/lookup.json", "", "", "", 200, "/"},
		{"health is public", "GET", "/readyz", "", "", "", 200, "/"},
		{"a server asks for its script", "GET", "/boot.ipxe?mac=x", "", "", "", 200, "/"},
		{"the extension is not public", "GET", "/cagenut/v1/events", "", "", "", 401, ""},
		{"ramdisks report", "POST", "/v1/continue_inspection", "", "", "", 200, "/"},
		{"discovery is public", "GET", "/v1/", "", "", "", 200, "/"},
		{"boot files are public", "GET", "/boot/kernel", "", "", "", 200, "/"},
		{"so is the boot medium of an attempt", "GET", "/boot/iso/1/2/ipa.iso", "", "", "", 200, "/"},
		{"the bookmark form is not", "POST", "/continue_inspection", "", "", "", 401, `{"error":{"message":"Authorization required","code":401}}`},
		{"below a public path is not", "GET", "/boot/x/../../v1/nodes", "", "", "", 401, `{"error":{"message":"Authorization required","code":401}}`},
	} {
		t.Run(tc.name, func(t *testing.T) {
			resp, text := call(t, tc.method, base+tc.path, tc.user, tc.password, tc.header)
			if resp.StatusCode != tc.status || (tc.text != "" && text != tc.text) {
				t.Errorf("got %d %s", resp.StatusCode, text)
			}
			if challenge := resp.Header.Get("WWW-Authenticate"); (challenge == `Basic realm="Baremetal API"`) != (tc.status == 401) {
				t.Errorf("challenge %q", challenge)
			}
		})
	}
}

func TestNone(t *testing.T) {
	base := serve(t, auth.Options{Mode: auth.None})
	if resp, text := call(t, "DELETE", base+"/v1/nodes/n1", "", "", ""); resp.StatusCode != 200 || text != "/admin" {
		t.Errorf("got %d %s", resp.StatusCode, text)
	}
}

func TestHTPasswd(t *testing.T) {
	path := filepath.Join(t.TempDir(), "htpasswd")
	write := func(text string, at time.Time) {
		t.Helper()
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Chtimes(path, at, at); err != nil {
			t.Fatal(err)
		}
	}
	now := time.Now()
	write("ada:"+hash(t, "first")+"\n", now)
	base := serve(t, auth.Options{Mode: auth.Basic, HTPasswd: path})
	status := func(password string) int {
		resp, _ := call(t, "PUT", base+"/v1/nodes/n1", "ada", password, "")
		return resp.StatusCode
	}
	if status("first") != 200 {
		t.Error("ada may not in")
	}
	write("ada:"+hash(t, "second")+"\n", now.Add(time.Second))
	if status("first") != 401 || status("second") != 200 {
		t.Error("a changed password does not count at once")
	}
	write("ada:plain\n", now.Add(2*time.Second))
	if status("second") != 200 {
		t.Error("a broken change locks everybody out")
	}
	if _, err := auth.New(auth.Options{Mode: auth.Basic, HTPasswd: path}); err == nil {
		t.Error("the start is not refused")
	}
	if _, err := auth.New(auth.Options{Mode: auth.Basic}); err == nil {
		t.Error("nobody could sign in, and the start is not refused")
	}
}
