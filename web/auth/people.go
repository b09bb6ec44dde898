package auth

import (
	"context"
	"crypto/rand"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/gofiber/fiber/v2"

	"cagenut/node"
	"cagenut/web"
)

// Person is somebody who may sign in, as the admin sees them.
type Person struct {
	Name, Role string
	OfFile     bool      // of the htpasswd file: changed there, not here
	Created    time.Time // zero for the file's
	SignedIn   time.Time // the last time; zero: never, or nobody knows
	Sessions   int       // at the dashboard
}

// Book keeps the appliance's own users. Each change is one transaction with its line of the audit, and ends the sessions of
// whom it changes.
type Book interface {
	// People lists them by name; Sessions and OfFile are left out.
	People(ctx context.Context) ([]Person, error)
	// AddPerson is *node.Exists for a name that is taken.
	AddPerson(ctx context.Context, name, hash, role string, a node.Audit) error
	// ChangePerson sets what is not "": *node.NotFound for nobody, *node.Conflict for the last admin's role.
	ChangePerson(ctx context.Context, name, hash, role string, a node.Audit) error
	// RemovePerson is *node.NotFound for nobody, *node.Conflict for the last admin.
	RemovePerson(ctx context.Context, name string, a node.Audit) error
}

// People is what the dashboard does to users. What is refused goes into the audit too; passwords go nowhere.
type People struct {
	gate *Gate
	book Book
}

// NewPeople joins the users to the gate that lets them in.
func NewPeople(g *Gate, b Book) *People { return &People{gate: g, book: b} }

// List is everybody who may sign in, by name.
func (p *People) List(ctx context.Context) ([]Person, error) {
	all, err := p.book.People(ctx)
	if err != nil {
		return nil, err
	}
	ofFile := p.gate.file.names()
	all = slices.DeleteFunc(all, func(q Person) bool { return slices.Contains(ofFile, q.Name) }) // the file is asked first
	for _, name := range ofFile {
		all = append(all, Person{Name: name, Role: web.RoleAdmin, OfFile: true})
	}
	slices.SortFunc(all, func(a, b Person) int { return strings.Compare(a.Name, b.Name) })
	sessions, err := p.gate.o.Sessions.ListSessions(ctx, "")
	if err != nil {
		return nil, err
	}
	if sessions, err = p.gate.counting(ctx, sessions); err != nil {
		return nil, err
	}
	for _, s := range sessions {
		if i := slices.IndexFunc(all, func(q Person) bool { return q.Name == s.User }); i >= 0 {
			all[i].Sessions++
		}
	}
	return all, nil
}

// Find is one of them; *node.NotFound for nobody.
func (p *People) Find(ctx context.Context, name string) (Person, error) {
	all, err := p.List(ctx)
	if err != nil {
		return Person{}, err
	}
	if i := slices.IndexFunc(all, func(q Person) bool { return q.Name == name }); i >= 0 {
		return all[i], nil
	}
	return Person{}, &node.NotFound{What: "User", Ident: node.Shorten(name, longestName)}
}

// FromFile tells whether users stand in an htpasswd file.
func (p *People) FromFile() bool { return p.gate.file != nil }

// Sessions are the ones of a user that count, the newest first.
func (p *People) Sessions(ctx context.Context, name string) ([]Session, error) {
	all, err := p.gate.o.Sessions.ListSessions(ctx, name)
	if err != nil {
		return nil, err
	}
	return p.gate.counting(ctx, all)
}

// Add adds somebody. An empty password is made up; it is returned, this once.
func (p *People) Add(ctx context.Context, by node.Actor, name, role, password string) (made string, err error) {
	name = strings.TrimSpace(name)
	return p.setPassword(ctx, by, "user add", name+": "+role, password, func(hash string, a node.Audit) error {
		if err := CheckName(name); err != nil {
			return err
		}
		if err := CheckRole(role); err != nil {
			return err
		}
		if err := p.notOfFile(name); err != nil {
			return err
		}
		return p.book.AddPerson(ctx, name, hash, role, a)
	})
}

// Reset gives somebody another password; an empty one is made up and returned, this once.
func (p *People) Reset(ctx context.Context, by node.Actor, name, password string) (made string, err error) {
	return p.setPassword(ctx, by, "user password", name, password, func(hash string, a node.Audit) error {
		if err := p.notOfFile(name); err != nil {
			return err
		}
		return p.book.ChangePerson(ctx, name, hash, "", a)
	})
}

func (p *People) setPassword(ctx context.Context, by node.Actor, action, whom, password string, set func(hash string, a node.Audit) error) (made string, err error) {
	if password == "" {
		made = rand.Text()
		password = made
	}
	hash, err := HashPassword(password)
	if err == nil {
		err = set(hash, p.gate.line(by, action, "accepted", shortened(whom)))
	}
	if err != nil {
		return "", p.refused(ctx, by, action, whom, err)
	}
	return made, nil
}

// SetRole gives somebody another role.
func (p *People) SetRole(ctx context.Context, by node.Actor, name, role string) error {
	const action = "user role"
	was, err := p.Find(ctx, name)
	if err == nil {
		err = CheckRole(role)
	}
	if err == nil {
		err = p.notOfFile(name)
	}
	whom := name + ": " + was.Role + " → " + role
	if err == nil {
		err = p.book.ChangePerson(ctx, name, "", role, p.gate.line(by, action, "accepted", shortened(whom)))
	}
	return p.refused(ctx, by, action, whom, err)
}

// Remove removes somebody.
func (p *People) Remove(ctx context.Context, by node.Actor, name string) error {
	const action = "user remove"
	err := p.notOfFile(name)
	if err == nil {
		err = p.book.RemovePerson(ctx, name, p.gate.line(by, action, "accepted", shortened(name)))
	}
	return p.refused(ctx, by, action, name, err)
}

// SignOutEverywhere ends all sessions of somebody.
func (p *People) SignOutEverywhere(ctx context.Context, by node.Actor, name string) error {
	const action = "sign out everywhere"
	if err := p.gate.o.Sessions.EndSessions(ctx, name, p.gate.line(by, action, "accepted", shortened(name))); err != nil {
		return fmt.Errorf("auth: sign out everywhere: %w", err)
	}
	return nil
}

// ChangeOwn changes the password of who asks: they say the old one (*[Wrong] and *[TooMany] as at the sign-in), are signed
// out everywhere, and stay signed in here by a new session.
func (p *People) ChangeOwn(c *fiber.Ctx, old, password string) error {
	const action = "own password"
	ctx, by := c.UserContext(), web.Actor(c, node.SourceUI)
	account, _, err := p.gate.verified(ctx, by, by.User, old)
	if err != nil {
		return err
	}
	err = p.notOfFile(by.User)
	if err == nil && password == old {
		err = node.Invalidf("The new password is the old one.")
	}
	if err == nil {
		account.Hash, err = HashPassword(password)
	}
	if err == nil {
		err = p.book.ChangePerson(ctx, by.User, account.Hash, "", p.gate.line(by, action, "accepted", shortened(by.User)))
	}
	if err != nil {
		return p.refused(ctx, by, action, by.User, err)
	}
	if web.Session(c) == "" {
		return nil
	}
	return p.gate.open(c, by.User, account)
}

// CanChangeOwn tells whether somebody's password is changed here.
func (p *People) CanChangeOwn(name string) bool { return p.notOfFile(name) == nil }

func (p *People) notOfFile(name string) error {
	if slices.Contains(p.gate.file.names(), name) {
		return &node.Conflict{Text: fmt.Sprintf("%s is a user of the htpasswd file: change the file, it is read again by itself.", name)}
	}
	return nil
}

// refused writes why something was not done into the audit, and is that error; nil for nil.
func (p *People) refused(ctx context.Context, by node.Actor, action, whom string, err error) error {
	if err != nil {
		_, text := web.Status(err)
		p.gate.note(ctx, by, action, text, shortened(whom))
	}
	return err
}

// shortened is what the audit keeps of a text that somebody typed.
func shortened(s string) string { return node.Shorten(s, 200) }
