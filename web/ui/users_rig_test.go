package ui_test

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/gofiber/fiber/v2"

	"cagenut/node"
	"cagenut/web"
	"cagenut/web/auth"
)

// staff are users in memory. What is done to them is remembered in words; refuse is what is answered instead of doing it.
type staff struct {
	mu      sync.Mutex
	people  map[string]auth.Person
	done    []string
	refuse  error
	ofFile  bool
	nobody  bool // nobody has to sign in
	browser auth.Session
}

// newStaff are jon the operator, who looks, ann the admin, and fia of a file.
func newStaff() *staff {
	return &staff{
		people: map[string]auth.Person{
			"jon": {Name: "jon", Role: web.RoleOperator, Created: noon.Add(-48 * time.Hour), SignedIn: noon.Add(-time.Hour), Sessions: 1},
			"ann": {Name: "ann", Role: web.RoleAdmin, Created: noon.Add(-50 * time.Hour)},
			"fia": {Name: "fia", Role: web.RoleAdmin, OfFile: true},
		},
		browser: auth.Session{
			ID: "s1", User: "jon", Address: "192.0.2.7", Created: noon.Add(-time.Hour), Used: noon.Add(-time.Minute),
			Agent: "Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/140.0.0.0 Safari/537.36",
		},
	}
}

func (s *staff) edit(change func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	change()
}

// did notes something and gives the refusal.
func (s *staff) did(what ...any) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.refuse == nil {
		s.done = append(s.done, fmt.Sprint(what...))
	}
	return s.refuse
}

func (s *staff) Asks() (yes bool) {
	s.edit(func() { yes = !s.nobody })
	return yes
}

func (s *staff) SignIn(_ *fiber.Ctx, name, password string) error {
	return s.did("sign in ", name, " with ", password)
}

func (s *staff) SignOut(*fiber.Ctx) error { return s.did("sign out") }

func (s *staff) List(context.Context) ([]auth.Person, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	var all []auth.Person
	for _, name := range slices.Sorted(maps.Keys(s.people)) {
		all = append(all, s.people[name])
	}
	return all, nil
}

func (s *staff) Find(_ context.Context, name string) (auth.Person, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if p, ok := s.people[name]; ok {
		return p, nil
	}
	return auth.Person{}, &node.NotFound{What: "User", Ident: name}
}

func (s *staff) FromFile() (yes bool) {
	s.edit(func() { yes = s.ofFile })
	return yes
}

func (s *staff) Sessions(_ context.Context, name string) ([]auth.Session, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if name != s.browser.User {
		return nil, nil
	}
	return []auth.Session{s.browser}, nil
}

// made is a password for an empty one.
func made(password string) string {
	if password == "" {
		return "MADE-UP-JUST-NOW"
	}
	return ""
}

func (s *staff) Add(_ context.Context, by node.Actor, name, role, password string) (string, error) {
	err := s.did(by.User, " adds ", name, " as ", role, " with ", password)
	if err == nil {
		s.edit(func() { s.people[name] = auth.Person{Name: name, Role: role, Created: noon} })
	}
	return made(password), err
}

func (s *staff) Reset(_ context.Context, by node.Actor, name, password string) (string, error) {
	return made(password), s.did(by.User, " gives ", name, " the password ", password)
}

func (s *staff) SetRole(_ context.Context, by node.Actor, name, role string) error {
	return s.did(by.User, " makes ", name, " a ", role)
}

func (s *staff) Remove(_ context.Context, by node.Actor, name string) error {
	return s.did(by.User, " removes ", name)
}

func (s *staff) SignOutEverywhere(_ context.Context, by node.Actor, name string) error {
	return s.did(by.User, " signs ", name, " out")
}

func (s *staff) ChangeOwn(_ *fiber.Ctx, old, password string) error {
	return s.did("own password from ", old, " to ", password)
}
