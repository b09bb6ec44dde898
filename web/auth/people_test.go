package auth_test

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"cagenut/node"
	"cagenut/web/auth"
)

var boss = node.Actor{User: "ada", Source: node.SourceUI}

func TestUsersAreAddedChangedAndRemovedWithALineInTheAudit(t *testing.T) {
	d := newDesk(t)
	s, ctx := d.serve(t), t.Context()
	if made, err := s.people.Add(ctx, boss, " nora ", "viewer", "nora's password"); err != nil || made != "" {
		t.Fatalf("%q, %v", made, err)
	}
	first := s.signIn("nora")
	if err := s.people.SetRole(ctx, boss, "nora", "operator"); err != nil {
		t.Fatal(err)
	}
	if s.sees(first) != "" {
		t.Error("another role did not sign out")
	}
	made, err := s.people.Reset(ctx, boss, "nora", "")
	if err != nil || len(made) < 20 {
		t.Fatalf("%q, %v", made, err)
	}
	if s.try("nora", "nora's password").StatusCode != 401 || s.try("nora", made).StatusCode != 200 {
		t.Error("the made-up password does not count, or the old one does")
	}
	if err := s.people.SignOutEverywhere(ctx, boss, "nora"); err != nil || d.open() != 0 {
		t.Errorf("%d sessions, %v", d.open(), err)
	}
	if err := s.people.Remove(ctx, boss, "nora"); err != nil {
		t.Fatal(err)
	}
	want := []string{
		"ada: user add: accepted nora: viewer", "nora: sign in: accepted", "ada: user role: accepted nora: viewer → operator", "ada: user password: accepted nora",
		"nora: sign in: Incorrect username or password", "nora: sign in: accepted", "ada: sign out everywhere: accepted nora", "ada: user remove: accepted nora",
	}
	if got := d.lines(); !slices.Equal(got, want) {
		t.Errorf("audit:\n%s", strings.Join(got, "\n"))
	}
}

func TestWhatIsRefusedAboutUsersIsInTheAuditToo(t *testing.T) {
	for name, tc := range map[string]struct {
		do   func(*testing.T, *auth.People) error
		kind any
		line string
	}{
		"a name that is taken": {func(t *testing.T, p *auth.People) error {
			_, err := p.Add(t.Context(), boss, "otto", "viewer", "long enough")
			return err
		}, new(*node.Exists), "ada: user add: taken otto: viewer"},
		"a name with a colon": {func(t *testing.T, p *auth.People) error {
			_, err := p.Add(t.Context(), boss, "a:b", "viewer", "long enough")
			return err
		}, new(*node.Invalid), "neither : nor /"},
		"a role that is none": {func(t *testing.T, p *auth.People) error {
			_, err := p.Add(t.Context(), boss, "nora", "root", "long enough")
			return err
		}, new(*node.Invalid), "A role is viewer, operator or admin."},
		"a short password": {func(t *testing.T, p *auth.People) error {
			_, err := p.Reset(t.Context(), boss, "otto", "hunter2")
			return err
		}, new(*node.Invalid), "A password has at least 8 characters. otto"},
		"the role of nobody": {func(t *testing.T, p *auth.People) error { return p.SetRole(t.Context(), boss, "nobody", "viewer") }, new(*node.NotFound), "User nobody could not be found."},
		"the last admin":     {func(t *testing.T, p *auth.People) error { return p.Remove(t.Context(), boss, "ada") }, new(*node.Conflict), "ada: user remove: ada is the last admin ada"},
	} {
		t.Run(name, func(t *testing.T) {
			d := newDesk(t)
			err := tc.do(t, d.serve(t).people)
			if err == nil || !errors.As(err, tc.kind) {
				t.Fatalf("got %v", err)
			}
			if got := d.lines(); len(got) != 1 || !strings.Contains(got[0], tc.line) || strings.Contains(got[0], "hunter2") {
				t.Errorf("audit %q", got)
			}
		})
	}
}

// Every page of an account lists the users: what that costs must not grow with the browsers in which they are signed in.
func TestTheListOfUsersAsksForEachOfThemOnce(t *testing.T) {
	d := newDesk(t)
	s := d.serve(t)
	for range 5 {
		s.signIn("otto")
	}
	s.signIn("ada")
	d.edit(func() { d.asked = 0 })
	all, err := s.people.List(t.Context())
	if err != nil || len(all) != 3 || all[0].Sessions != 1 || all[1].Sessions != 5 || d.asked != 2 {
		t.Errorf("%+v, %v: asked %d times", all, err, d.asked)
	}
	if signed, err := s.people.Sessions(t.Context(), "otto"); err != nil || len(signed) != 5 || d.asked != 3 {
		t.Errorf("%d sessions, %v: asked %d times", len(signed), err, d.asked)
	}
}

func TestUsersOfAFileAreShownAndStayInTheFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "htpasswd")
	if err := os.WriteFile(path, []byte("fia:"+hash(t, "fia's password")+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	d := newDesk(t)
	s := d.serve(t, func(o *auth.Options) { o.HTPasswd = path })
	cookie := s.signIn("fia")
	if got := s.sees(cookie); got != "fia/admin" {
		t.Errorf("seen as %q", got)
	}
	all, err := s.people.List(t.Context())
	if err != nil || len(all) != 4 || all[1].Name != "fia" || !all[1].OfFile || all[1].Sessions != 1 || all[0].OfFile {
		t.Errorf("%+v, %v", all, err)
	}
	var refused *node.Conflict
	_, reset := s.people.Reset(t.Context(), boss, "fia", "another one")
	_, added := s.people.Add(t.Context(), boss, "fia", "viewer", "another one")
	for what, err := range map[string]error{"reset": reset, "added": added, "role": s.people.SetRole(t.Context(), boss, "fia", "viewer"), "removed": s.people.Remove(t.Context(), boss, "fia")} {
		if !errors.As(err, &refused) || !strings.Contains(err.Error(), "htpasswd") {
			t.Errorf("%s: %v", what, err)
		}
	}
	if err := os.WriteFile(path, []byte("fia:"+hash(t, "changed in the file")+"\n# so that it is longer\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if s.sees(cookie) != "" {
		t.Error("a password that is changed in the file does not sign out")
	}
}
