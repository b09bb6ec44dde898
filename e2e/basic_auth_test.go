package e2e_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/crypto/bcrypt"

	"cagenut/e2e/process"
)

// guarded starts an appliance that knows no user yet, and gives the password that it prints for admin.
func guarded(t *testing.T, settings ...string) (a *appliance, password string) {
	t.Helper()
	a = serveOn(t, withBootFiles(t), append([]string{"--auth", "basic"}, settings...)...)
	line, _ := a.out.Line("There was no user yet. Sign in as admin with the password ")
	password, _, _ = strings.Cut(line, " ")
	if len(password) < 20 {
		t.Fatalf("the password of the first user is %q", password)
	}
	if strings.Contains(a.errs.String(), password) {
		t.Error("the password is in the log")
	}
	return a, password
}

// curl makes one request with the program of that name.
func curl(t *testing.T, args ...string) (*http.Response, string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	cmd := exec.CommandContext(ctx, peer(t, "curl"), append([]string{"--silent", "--show-error", "--include", "--path-as-is"}, args...)...)
	var errs bytes.Buffer
	cmd.Env, cmd.Stderr = process.Environment(t), &errs
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("curl %q: %v: %s", args, err, &errs)
	}
	resp, err := http.ReadResponse(bufio.NewReader(bytes.NewReader(out)), nil)
	if err != nil {
		t.Fatalf("curl %q: %v: %s", args, err, out)
	}
	defer func() { _ = resp.Body.Close() }()
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatalf("curl %q: %v: %s", args, err, out)
	}
	return resp, string(body)
}

func TestWhoSignsInWithBasicAuthentication(t *testing.T) {
	t.Parallel()
	peer(t, "curl")
	a, password := guarded(t)
	nodes := a.base + "/v1/nodes"

	resp, body := curl(t, "-u", "admin:"+password, nodes)
	if resp.StatusCode != 200 || body != `{"nodes":[]}` {
		t.Errorf("the right password gets %s %s", resp.Status, body)
	}
	const required, incorrect = "Authorization required", "Incorrect username or password"
	for name, c := range map[string]struct {
		args   []string
		status int
		says   string
	}{
		"nobody":                      {nil, 401, required},
		"a wrong password":            {[]string{"-u", "admin:wrong"}, 401, incorrect},
		"an unknown user":             {[]string{"-u", "nobody:" + password}, 401, incorrect},
		"an empty password":           {[]string{"-u", "admin:"}, 401, incorrect},
		"a token":                     {[]string{"-H", "X-Auth-Token: " + password}, 401, required},
		"another scheme":              {[]string{"-H", "Authorization: Bearer " + password}, 400, `Unsupported authorization type "Bearer"`},
		"what is not Base64":          {[]string{"-H", "Authorization: Basic !!!"}, 400, "Could not decode authorization token"},
		"Base64 of what has no colon": {[]string{"-H", "Authorization: Basic YWRtaW4="}, 400, "Could not decode authorization token"},
	} {
		t.Run(name, func(t *testing.T) {
			resp, body := curl(t, append(c.args, nodes)...)
			var doc struct {
				Error struct {
					Message string
					Code    int
				}
			}
			if err := json.Unmarshal([]byte(body), &doc); err != nil {
				t.Fatalf("%v: %s", err, body)
			}
			if resp.StatusCode != c.status || doc.Error.Code != c.status || doc.Error.Message != c.says {
				t.Errorf("got %s %s", resp.Status, body)
			}
			challenge := resp.Header.Get("WWW-Authenticate")
			if want := map[int]string{401: `Basic realm="Baremetal API"`}[c.status]; challenge != want {
				t.Errorf("the challenge is %q, want %q", challenge, want)
			}
			for header := range resp.Header {
				if strings.HasPrefix(strings.ToLower(header), "x-openstack-ironic-api") {
					t.Errorf("an answer to a stranger has the header %s", header)
				}
			}
		})
	}
}

// Servers that boot the ramdisk, and clients that negotiate, have no password (contract.md §7.1).
func TestWhatIsAnsweredWithoutAPassword(t *testing.T) {
	t.Parallel()
	peer(t, "curl")
	a, _ := guarded(t)
	const node = "6a6d0a7e-0000-4a51-9a3c-000000000001"
	public := map[string]string{
		"/v1/lookup?addresses=52:54:00:00:00:01": "GET", "/v1/heartbeat/" + node: "POST", "/v1/continue_inspection": "POST",
	}
	asks := func(method, path string) bool {
		resp, _ := curl(t, "-X", method, "-H", "Content-Type: application/json", "-d", "{}", a.base+path)
		return resp.StatusCode == 401 || resp.Header.Get("WWW-Authenticate") != ""
	}
	for path, method := range public {
		path, query, _ := strings.Cut(path, "?")
		for _, form := range []string{path, path + "/", path + ".json"} {
			if asks(method, form+"?"+query) {
				t.Errorf("%s %s asks who is there", method, form)
			}
		}
		bookmark := strings.TrimPrefix(path, "/v1")
		for _, form := range []string{bookmark, bookmark + "/", bookmark + ".json", path + "/more", path + "/../nodes", path + "%2fnodes"} {
			if !asks(method, form+"?"+query) {
				t.Errorf("%s %s does not ask who is there", method, form)
			}
		}
	}
	for _, path := range []string{"/", "/v1", "/v1/", "/v1.json"} {
		resp, body := curl(t, a.base+path)
		if resp.StatusCode != 200 || !strings.Contains(body, `"version":"1.96"`) || resp.Header.Get("X-Openstack-Ironic-Api-Maximum-Version") != "1.96" {
			t.Errorf("%s: got %s %v %s", path, resp.Status, resp.Header, body)
		}
	}
	for _, path := range []string{"/nodes", "/v1/nodes", "/v1/nodes/", "//v1/nodes", "/v1//nodes", "/v1/../v1/nodes", "/v1/nodes/" + node, "/v1/drivers", "/v1/heartbeat", "/v1/heartbeat/A", "/v1/nothing"} {
		if !asks("GET", path) {
			t.Errorf("GET %s does not ask who is there", path)
		}
	}
	if resp, _ := curl(t, "-u", "admin:wrong", a.base+"/v1"); resp.StatusCode != 200 {
		t.Errorf("a public address looks at the password: %s", resp.Status)
	}
}

func TestTheOpenstackClientSignsIn(t *testing.T) {
	t.Parallel()
	python(t, "openstackclient.shell", "ironicclient.osc.plugin")
	const password = "correct:horse:4711"
	file := filepath.Join(t.TempDir(), "htpasswd")
	hash, err := bcrypt.GenerateFromPassword([]byte(password), bcrypt.MinCost)
	if err != nil {
		t.Fatal(err)
	}
	// Apache's tool writes 2y for what Go calls 2a.
	if err := os.WriteFile(file, []byte("rack:"+strings.Replace(string(hash), "$2a$", "$2y$", 1)+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	a := serveOn(t, withBootFiles(t), "--auth", "basic", "--htpasswd", file)
	stranger := openstackFor(t, a)
	signedIn := stranger.with(environment{"OS_AUTH_TYPE": "http_basic", "OS_USERNAME": "rack", "OS_PASSWORD": password})

	for name, o := range map[string]*openstack{"root": signedIn, "v1": signedIn.with(environment{"OS_ENDPOINT": a.base + "/v1"})} {
		if n := o.show("node", "create", "--driver", "fake-hardware", "--name", name); n["provision_state"] != "enroll" {
			t.Errorf("the node made at the address with %s is %v", name, n)
		}
		o.baremetal("node", "manage", name, "--wait", "60")
		o.baremetal("node", "delete", name)
	}
	for name, o := range map[string]*openstack{"a wrong password": signedIn.with(environment{"OS_PASSWORD": "wrong"}), "no password": stranger} {
		if words := o.refused("node", "list"); !strings.HasPrefix(words, "Unauthorized (HTTP 401)") {
			t.Errorf("with %s the client says %q", name, words)
		}
	}
}
