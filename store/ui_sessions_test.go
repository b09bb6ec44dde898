package store_test

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"cagenut/node"
	"cagenut/store"
)

// noted is a line of the audit that names no node.
func noted(action string) node.Audit {
	return node.Audit{At: begin, Actor: node.Actor{User: "ada", Source: node.SourceUI}, Action: action, Result: "accepted"}
}

// withUsers adds somebody of each name, with the role admin for "ada" and operator for others.
func (r rig) withUsers(t *testing.T, names ...string) {
	t.Helper()
	for _, name := range names {
		role := "operator"
		if name == "ada" {
			role = "admin"
		}
		if err := r.AddUser(t.Context(), store.User{Name: name, PasswordHash: "hash of " + name, Role: role}, noted("user add")); err != nil {
			t.Fatal(err)
		}
	}
}

func (r rig) signIn(t *testing.T, id, user string, at time.Time) {
	t.Helper()
	s := store.UISession{ID: id, User: user, Proof: "p", Address: "192.0.2.7", Agent: "a browser", Created: at, Used: at}
	if err := r.OpenUISession(t.Context(), s, at.Add(-24*time.Hour), at.Add(-time.Hour), noted("sign in")); err != nil {
		t.Fatal(err)
	}
}

func (r rig) sessionsOf(t *testing.T, user string) []string {
	t.Helper()
	ids := []string{}
	for _, s := range must(r.UISessions(t.Context(), user))(t) {
		ids = append(ids, s.ID)
	}
	return ids
}

func wantIDs(t *testing.T, got []string, want ...string) {
	t.Helper()
	if diff := cmp.Diff(append([]string{}, want...), got); diff != "" {
		t.Errorf("sessions (-want +got):\n%s", diff)
	}
}

func TestASessionIsThereAfterARestart(t *testing.T) {
	folder := t.TempDir()
	r := open(t, folder)
	r.withUsers(t, "ada")
	r.signIn(t, "one", "ada", begin)
	later := begin.Add(time.Minute)
	if err := r.UseUISession(t.Context(), "one", later); err != nil {
		t.Fatal(err)
	}
	if err := r.Close(); err != nil {
		t.Fatal(err)
	}
	r = open(t, folder)
	want := store.UISession{ID: "one", User: "ada", Proof: "p", Address: "192.0.2.7", Agent: "a browser", Created: begin.Truncate(time.Microsecond), Used: later.Truncate(time.Microsecond)}
	if diff := cmp.Diff(want, must(r.UISession(t.Context(), "one"))(t)); diff != "" {
		t.Errorf("session (-want +got):\n%s", diff)
	}
	if u := must(r.User(t.Context(), "ada"))(t); u.SignedInAt != begin.UnixMicro() {
		t.Errorf("last sign-in: %d", u.SignedInAt)
	}
	var gone *node.NotFound
	if _, err := r.UISession(t.Context(), "two"); !errors.As(err, &gone) {
		t.Errorf("a session that is not there: %v", err)
	}
}

func TestWhatChangesAUserEndsTheirSessionsAndNobodyElses(t *testing.T) {
	for name, change := range map[string]func(rig) error{
		"another password": func(r rig) error {
			return r.ChangeUser(t.Context(), "bob", store.UserChange{PasswordHash: "new"}, noted("user password"))
		},
		"another role": func(r rig) error {
			return r.ChangeUser(t.Context(), "bob", store.UserChange{Role: "viewer"}, noted("user role"))
		},
		"removal":                func(r rig) error { return r.RemoveUser(t.Context(), "bob", noted("user remove")) },
		"signing out everywhere": func(r rig) error { return r.EndUISessions(t.Context(), "bob", noted("sign out everywhere")) },
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t)
			r.withUsers(t, "ada", "bob")
			r.signIn(t, "a1", "ada", begin)
			r.signIn(t, "b1", "bob", begin)
			r.signIn(t, "b2", "bob", begin.Add(time.Second))
			if err := change(r); err != nil {
				t.Fatal(err)
			}
			wantIDs(t, r.sessionsOf(t, ""), "a1")
			if all := must(r.Audits(t.Context(), ""))(t); len(all) != 6 {
				t.Errorf("%d lines in the audit", len(all))
			}
		})
	}
}

func TestARoleThatStaysTheSameSignsNobodyOut(t *testing.T) {
	r := newRig(t)
	r.withUsers(t, "ada")
	r.signIn(t, "a1", "ada", begin)
	if err := r.ChangeUser(t.Context(), "ada", store.UserChange{Role: "admin"}, noted("user role")); err != nil {
		t.Fatal(err)
	}
	wantIDs(t, r.sessionsOf(t, "ada"), "a1")
}

func TestASessionIsEndedOnce(t *testing.T) {
	r := newRig(t)
	r.signIn(t, "f1", "of-a-file", begin)
	r.signIn(t, "f2", "of-a-file", begin)
	for range 2 {
		if err := r.EndUISession(t.Context(), "f1", noted("sign out")); err != nil {
			t.Fatal(err)
		}
	}
	wantIDs(t, r.sessionsOf(t, "of-a-file"), "f2")
	if all := must(r.Audits(t.Context(), ""))(t); len(all) != 3 {
		t.Errorf("%d lines in the audit, want two sign-ins and one sign-out", len(all))
	}
	if err := r.UseUISession(t.Context(), "f1", begin); err != nil {
		t.Fatal(err)
	}
	wantIDs(t, r.sessionsOf(t, "of-a-file"), "f2")
}

func TestExpiredSessionsGoWhenSomebodySignsIn(t *testing.T) {
	r := newRig(t)
	r.signIn(t, "old", "ada", begin)
	r.signIn(t, "idle", "ada", begin.Add(23*time.Hour))
	wantIDs(t, r.sessionsOf(t, "ada"), "idle") // old was not used for an hour
	r.signIn(t, "new", "ada", begin.Add(24*time.Hour+30*time.Minute))
	wantIDs(t, r.sessionsOf(t, "ada"), "new")
}

func TestTheSessionsOfOneUserAreBounded(t *testing.T) {
	r := newRig(t)
	r.signIn(t, "other", "bob", begin)
	for i := range 60 {
		r.signIn(t, fmt.Sprintf("s%02d", i), "ada", begin.Add(time.Duration(i)*time.Second))
	}
	ids := r.sessionsOf(t, "ada")
	if len(ids) != 50 || ids[0] != "s59" || ids[49] != "s10" {
		t.Errorf("sessions: %v", ids)
	}
	wantIDs(t, r.sessionsOf(t, "bob"), "other")
}

func TestUsersAreAddedOnceChangedAndRemoved(t *testing.T) {
	r := newRig(t)
	r.withUsers(t, "bob", "ada")
	var taken *node.Exists
	if err := r.AddUser(t.Context(), store.User{Name: "bob", PasswordHash: "x", Role: "admin"}, noted("user add")); !errors.As(err, &taken) {
		t.Errorf("added twice: %v", err)
	}
	if err := r.ChangeUser(t.Context(), "bob", store.UserChange{PasswordHash: "h3", Role: "viewer"}, noted("user password")); err != nil {
		t.Fatal(err)
	}
	all := must(r.Users(t.Context()))(t)
	if len(all) != 2 || all[0].Name != "ada" || all[1].PasswordHash != "h3" || all[1].Role != "viewer" || all[1].CreatedAt != begin.UnixMicro() {
		t.Errorf("users: %+v", all)
	}
	if err := r.RemoveUser(t.Context(), "bob", noted("user remove")); err != nil {
		t.Fatal(err)
	}
	var gone *node.NotFound
	for what, err := range map[string]error{
		"read":          func() error { _, err := r.User(t.Context(), "bob"); return err }(),
		"removed twice": r.RemoveUser(t.Context(), "bob", noted("user remove")),
		"changed":       r.ChangeUser(t.Context(), "bob", store.UserChange{Role: "admin"}, noted("user role")),
	} {
		if !errors.As(err, &gone) || err.Error() != "User bob could not be found." {
			t.Errorf("%s: %v", what, err)
		}
	}
}

func TestTheLastAdminStays(t *testing.T) {
	r := newRig(t)
	r.withUsers(t, "ada", "bob")
	var refused *node.Conflict
	if err := r.RemoveUser(t.Context(), "ada", noted("user remove")); !errors.As(err, &refused) {
		t.Errorf("removed: %v", err)
	}
	if err := r.ChangeUser(t.Context(), "ada", store.UserChange{Role: "operator"}, noted("user role")); !errors.As(err, &refused) {
		t.Errorf("demoted: %v", err)
	}
	if err := r.ChangeUser(t.Context(), "bob", store.UserChange{Role: "admin"}, noted("user role")); err != nil {
		t.Fatal(err)
	}
	if err := r.RemoveUser(t.Context(), "ada", noted("user remove")); err != nil {
		t.Errorf("with another admin: %v", err)
	}
}
