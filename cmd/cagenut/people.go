package main

import (
	"context"
	"errors"
	"time"

	"cagenut/node"
	"cagenut/store"
	"cagenut/web/auth"
)

// accounts are the appliance's own users, and who of them is signed in at the dashboard.
type accounts struct{ store *store.Store }

// gate decides who may send which request.
func (a *appliance) gate() (*auth.Gate, error) {
	s := a.settings
	users := accounts{a.store}
	return auth.New(auth.Options{
		Mode: s.Auth, Users: users, HTPasswd: s.HTPasswd, Sessions: users, Idle: s.SessionIdle, Life: s.SessionMax, Audit: a.store, Log: a.log,
	})
}

// Account is auth.Users'.
func (a accounts) Account(ctx context.Context, name string) (auth.Account, bool, error) {
	u, err := a.store.User(ctx, name)
	var missing *node.NotFound
	if errors.As(err, &missing) {
		return auth.Account{}, false, nil
	}
	return auth.Account{Hash: u.PasswordHash, Role: u.Role}, err == nil, err
}

// People is auth.Book's.
func (a accounts) People(ctx context.Context) ([]auth.Person, error) {
	users, err := a.store.Users(ctx)
	all := make([]auth.Person, len(users))
	for i, u := range users {
		all[i] = auth.Person{Name: u.Name, Role: u.Role, Created: time.UnixMicro(u.CreatedAt)}
		if u.SignedInAt > 0 {
			all[i].SignedIn = time.UnixMicro(u.SignedInAt)
		}
	}
	return all, err
}

// AddPerson is auth.Book's.
func (a accounts) AddPerson(ctx context.Context, name, hash, role string, note node.Audit) error {
	return a.store.AddUser(ctx, store.User{Name: name, PasswordHash: hash, Role: role}, note)
}

// ChangePerson is auth.Book's.
func (a accounts) ChangePerson(ctx context.Context, name, hash, role string, note node.Audit) error {
	return a.store.ChangeUser(ctx, name, store.UserChange{PasswordHash: hash, Role: role}, note)
}

// RemovePerson is auth.Book's.
func (a accounts) RemovePerson(ctx context.Context, name string, note node.Audit) error {
	return a.store.RemoveUser(ctx, name, note)
}

// OpenSession is auth.Sessions'.
func (a accounts) OpenSession(ctx context.Context, s auth.Session, began, used time.Time, note node.Audit) error {
	return a.store.OpenUISession(ctx, store.UISession(s), began, used, note)
}

// Session is auth.Sessions'.
func (a accounts) Session(ctx context.Context, id string) (auth.Session, bool, error) {
	s, err := a.store.UISession(ctx, id)
	var missing *node.NotFound
	if errors.As(err, &missing) {
		return auth.Session{}, false, nil
	}
	return auth.Session(s), err == nil, err
}

// ListSessions is auth.Sessions'.
func (a accounts) ListSessions(ctx context.Context, user string) ([]auth.Session, error) {
	rows, err := a.store.UISessions(ctx, user)
	all := make([]auth.Session, len(rows))
	for i, r := range rows {
		all[i] = auth.Session(r)
	}
	return all, err
}

// UseSession is auth.Sessions'.
func (a accounts) UseSession(ctx context.Context, id string, at time.Time) error {
	return a.store.UseUISession(ctx, id, at)
}

// EndSession is auth.Sessions'.
func (a accounts) EndSession(ctx context.Context, id string, note node.Audit) error {
	return a.store.EndUISession(ctx, id, note)
}

// EndSessions is auth.Sessions'.
func (a accounts) EndSessions(ctx context.Context, user string, note node.Audit) error {
	return a.store.EndUISessions(ctx, user, note)
}

// SignedIn is auth.Sessions'.
func (a accounts) SignedIn(ctx context.Context, user string, at time.Time) error {
	return a.store.UserSignedIn(ctx, user, at)
}

var (
	_ auth.Users    = accounts{}
	_ auth.Book     = accounts{}
	_ auth.Sessions = accounts{}
)
