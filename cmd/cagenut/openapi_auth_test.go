package main

import (
	"bytes"
	"encoding/base64"
	"os"
	"path/filepath"
	"testing"

	"golang.org/x/crypto/bcrypt"

	"cagenut/web"
	"cagenut/web/auth"
)

// Whoever does not sign in is refused everywhere but where the document says that nobody has to, in the shape that it
// says; a viewer may read and not write (contract.md §7.1).
func TestTheDocumentSaysWhoHasToSignIn(t *testing.T) {
	a := serveWithPassword(t)
	signedIn := map[string]string{"Authorization": basic("admin", "a-password")}
	raw := a.exchange(sentRequest{method: "GET", path: "/cagenut/v1/openapi.json", header: signedIn})
	if raw.status != 200 {
		t.Fatalf("the document: %d %s", raw.status, raw.body)
	}
	d := readDescription(t, raw.body, newestMinor)
	public := map[string]bool{}
	for _, o := range d.operations {
		if o.path == "/cagenut/v1/events" {
			continue
		}
		r := sentRequest{method: o.method, path: pathElement.ReplaceAllString(o.path, "6a6d0a7e-dead-4a51-9a3c-0c1f2d3e4f50"), version: "1.96"}
		var complaints []string
		try := func(why string, status int, header map[string]string) {
			r.header = header
			got := a.exchange(r)
			say := func(format string, args ...any) { complaints = append(complaints, format) }
			if o.complain(say, r, got); len(complaints) > 0 {
				t.Errorf("%s: %s: %v: %d %s", why, r, complaints, got.status, got.body)
			}
			turnedAway := got.status == status && bytes.HasPrefix(got.body, []byte(`{"error":{`))
			if turnedAway == o.public {
				t.Errorf("%s: %s is answered %d %s", why, r, got.status, got.body)
			}
			for name := range got.header {
				if !o.public && name == "X-Openstack-Ironic-Api-Version" {
					t.Errorf("%s: %s is answered with a version", why, r)
				}
			}
			if challenge := got.header.Get("WWW-Authenticate"); (got.status == 401) != (challenge == `Basic realm="Baremetal API"`) {
				t.Errorf("%s: %s is answered %d with WWW-Authenticate %q", why, r, got.status, challenge)
			}
			complaints = nil
		}
		public[o.method+" "+o.path] = o.public
		try("without a name", 401, nil)
		try("with a token", 400, map[string]string{"Authorization": "Bearer x"})
		if !o.public && o.method != "GET" {
			r.header = map[string]string{"Authorization": basic("looker", "a-password")}
			got := a.exchange(r)
			say := func(format string, args ...any) { t.Errorf(r.String()+": "+format, args...) }
			if o.complain(say, r, got); got.status != 403 {
				t.Errorf("a viewer's %s is answered %d %s", r, got.status, got.body)
			}
		}
	}
	for _, operation := range []string{"GET /", "GET /v1", "GET /v1/lookup", "POST /v1/heartbeat/{node}", "POST /v1/continue_inspection"} {
		if !public[operation] {
			t.Errorf("the document has %s guarded", operation)
		}
		delete(public, operation)
	}
	for operation, free := range public {
		if free {
			t.Errorf("the document has %s public", operation)
		}
	}
	for _, header := range []string{basic("admin", "wrong"), basic("nobody", "a-password"), "Basic !!!"} {
		r := sentRequest{method: "GET", path: "/v1/nodes", version: "1.96", header: map[string]string{"Authorization": header}}
		op, _ := d.find("GET", "/v1/nodes")
		got := a.exchange(r)
		say := func(format string, args ...any) { t.Errorf(r.String()+": "+format, args...) }
		if op.complain(say, r, got); got.status != 401 && got.status != 400 {
			t.Errorf("%s is answered %d", r, got.status)
		}
	}
}

func basic(name, password string) string {
	return "Basic " + base64.StdEncoding.EncodeToString([]byte(name+":"+password))
}

// serveWithPassword serves an appliance with an admin and a viewer.
func serveWithPassword(t *testing.T) *testAppliance {
	t.Helper()
	hash, err := bcrypt.GenerateFromPassword([]byte("a-password"), bcrypt.MinCost)
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "htpasswd")
	if err := os.WriteFile(file, []byte("admin:"+string(hash)+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	a := serveForTest(t, false, func(s *settings) { s.Auth, s.HTPasswd = auth.Basic, file })
	if err := addUser(t.Context(), a.store, "looker", "a-password", web.RoleViewer); err != nil {
		t.Fatal(err)
	}
	return a
}
