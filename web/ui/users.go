package ui

import (
	"context"
	"net/url"
	"strings"

	"github.com/gofiber/fiber/v2"

	"cagenut/node"
	"cagenut/templates"
	"cagenut/web"
	"cagenut/web/auth"
)

// People are who may sign in. What is refused is *node.NotFound, *node.Exists, *node.Conflict or *node.Invalid.
type People interface {
	List(ctx context.Context) ([]auth.Person, error)
	Find(ctx context.Context, name string) (auth.Person, error)
	FromFile() bool
	Sessions(ctx context.Context, name string) ([]auth.Session, error)
	// Add and Reset make up a password for an empty one, and return what they made.
	Add(ctx context.Context, by node.Actor, name, role, password string) (made string, err error)
	Reset(ctx context.Context, by node.Actor, name, password string) (made string, err error)
	SetRole(ctx context.Context, by node.Actor, name, role string) error
	Remove(ctx context.Context, by node.Actor, name string) error
	SignOutEverywhere(ctx context.Context, by node.Actor, name string) error
	// ChangeOwn changes the password of who asks; *auth.Wrong and *auth.TooMany speak of the old one.
	ChangeOwn(c *fiber.Ctx, old, password string) error
}

func (p *Pages) registerUsers(r fiber.Router) {
	r.Get("/ui/users", p.forAdmins(p.users))
	r.Post("/ui/users", p.forAdmins(p.addUser))
	r.Get("/ui/users/:name", p.forAdmins(p.person))
	r.Post("/ui/users/:name/role", p.forAdmins(p.setRole))
	r.Post("/ui/users/:name/password", p.forAdmins(p.resetPassword))
	r.Post("/ui/users/:name/signout", p.forAdmins(p.signOutPerson))
	r.Get("/ui/users/:name/remove", p.forAdmins(p.confirmRemove))
	r.Post("/ui/users/:name/remove", p.forAdmins(p.removePerson))
	// A form's answer may stand at these addresses: who comes back to one finds the user.
	for _, form := range []string{"role", "password", "signout"} {
		r.Get("/ui/users/:name/"+form, p.forAdmins(func(c *fiber.Ctx) error {
			return c.Redirect("/ui/users/"+c.Params("name"), fiber.StatusSeeOther)
		}))
	}
}

// forAdmins lets nobody else see or change users.
func (p *Pages) forAdmins(page fiber.Handler) fiber.Handler {
	return func(c *fiber.Ctx) error {
		if err := p.signs(c); err != nil {
			return err
		}
		if _, role := web.User(c); role != web.RoleAdmin {
			return &node.Forbidden{Text: templates.T(c.UserContext(), "users.adminsonly")}
		}
		return page(c)
	}
}

func (p *Pages) users(c *fiber.Ctx) error {
	return p.usersPage(c, fiber.StatusOK, templates.PersonForm{Roles: roleOptions(c, web.RoleOperator)})
}

func (p *Pages) usersPage(c *fiber.Ctx, status int, add templates.PersonForm) error {
	ctx := c.UserContext()
	v := templates.Users{Frame: p.frame(c, templates.T(ctx, "users.title"), ""), FromFile: p.o.People.FromFile(), Add: add}
	v.Notice = userNotice(c)
	all, err := p.o.People.List(ctx)
	if err != nil {
		return err
	}
	for _, person := range all {
		v.Rows = append(v.Rows, p.personRow(c, person))
	}
	return render(c, status, templates.UsersPage(v))
}

func (p *Pages) personRow(c *fiber.Ctx, person auth.Person) templates.PersonRow {
	self, _ := web.User(c)
	r := templates.PersonRow{
		Name: person.Name, Href: personURL(person.Name), Role: person.Role, OfFile: person.OfFile, Self: person.Name == self,
		Created: p.past(person.Created), SignedIn: p.past(person.SignedIn),
	}
	if r.Sessions = templates.T(c.UserContext(), "users.sessions.none"); person.Sessions > 0 {
		r.Sessions = templates.N(c.UserContext(), "users.sessions", person.Sessions)
	}
	return r
}

func roleOptions(c *fiber.Ctx, chosen string) []templates.Option {
	var all []templates.Option
	for _, role := range []string{web.RoleViewer, web.RoleOperator, web.RoleAdmin} {
		all = append(all, templates.Option{Value: role, Label: templates.T(c.UserContext(), "users.role."+role), Selected: role == chosen})
	}
	return all
}

// userNotice is the sentence for what was done to a user; the address carries its key.
func userNotice(c *fiber.Ctx) string {
	switch key := c.Query("done"); key {
	case "added", "role", "password", "removed", "signedout":
		return templates.T(c.UserContext(), "users.done."+key)
	}
	return ""
}

// refusedText is the sentence of a refusal that belongs beside the form; ok is false for an error that has a page of its own.
func refusedText(err error) (status int, text string, ok bool) {
	status, text = web.Status(err)
	return status, text, status == fiber.StatusBadRequest || status == fiber.StatusConflict
}

func (p *Pages) addUser(c *fiber.Ctx) error {
	ctx, name, role := c.UserContext(), strings.TrimSpace(c.FormValue("name")), c.FormValue("role")
	made, err := p.o.People.Add(ctx, web.Actor(c, node.SourceUI), name, role, c.FormValue("password"))
	if status, text, ok := refusedText(err); err != nil && ok {
		return p.usersPage(c, status, templates.PersonForm{Name: name, Roles: roleOptions(c, role), Problem: text})
	}
	if err != nil {
		return err
	}
	if made == "" {
		return c.Redirect("/ui/users?done=added", fiber.StatusSeeOther)
	}
	return p.personPage(c, fiber.StatusOK, name, func(v *templates.Person) { v.Password, v.Added = made, true })
}

// personNamed is the user that the address names.
func personNamed(c *fiber.Ctx) (string, error) {
	name, err := url.PathUnescape(c.Params("name"))
	if err != nil || name == "" {
		return "", fiber.ErrNotFound
	}
	return name, nil
}

func (p *Pages) person(c *fiber.Ctx) error {
	name, err := personNamed(c)
	if err != nil {
		return err
	}
	return p.personPage(c, fiber.StatusOK, name, func(v *templates.Person) { v.Notice = userNotice(c) })
}

func (p *Pages) personPage(c *fiber.Ctx, status int, name string, with func(*templates.Person)) error {
	ctx := c.UserContext()
	found, err := p.o.People.Find(ctx, name)
	if err != nil {
		return err
	}
	signed, err := p.o.People.Sessions(ctx, found.Name)
	if err != nil {
		return err
	}
	v := templates.Person{Frame: p.frame(c, found.Name, ""), Who: p.personRow(c, found), Roles: roleOptions(c, found.Role), Signed: p.sessionRows(c, signed)}
	with(&v)
	return render(c, status, templates.PersonPage(v))
}

// change answers a form about a user: with its page and why not, or by leading to where the notice stands.
func (p *Pages) change(c *fiber.Ctx, name, done string, err error) error {
	if status, text, ok := refusedText(err); err != nil && ok {
		return p.personPage(c, status, name, func(v *templates.Person) { v.Problem = text })
	}
	if err != nil {
		return err
	}
	return c.Redirect(personURL(name)+"?done="+done, fiber.StatusSeeOther)
}

func (p *Pages) setRole(c *fiber.Ctx) error {
	name, err := personNamed(c)
	if err != nil {
		return err
	}
	return p.change(c, name, "role", p.o.People.SetRole(c.UserContext(), web.Actor(c, node.SourceUI), name, c.FormValue("role")))
}

func (p *Pages) resetPassword(c *fiber.Ctx) error {
	name, err := personNamed(c)
	if err != nil {
		return err
	}
	made, err := p.o.People.Reset(c.UserContext(), web.Actor(c, node.SourceUI), name, c.FormValue("password"))
	if err != nil || made == "" {
		return p.change(c, name, "password", err)
	}
	return p.personPage(c, fiber.StatusOK, name, func(v *templates.Person) { v.Password = made })
}

func (p *Pages) signOutPerson(c *fiber.Ctx) error {
	name, err := personNamed(c)
	if err != nil {
		return err
	}
	return p.change(c, name, "signedout", p.o.People.SignOutEverywhere(c.UserContext(), web.Actor(c, node.SourceUI), name))
}

// confirmRemove asks back. Nobody removes themselves: the page that would say so could not be shown to them.
func (p *Pages) confirmRemove(c *fiber.Ctx) error {
	name, err := personNamed(c)
	if err != nil {
		return err
	}
	ctx := c.UserContext()
	found, err := p.o.People.Find(ctx, name)
	if err != nil {
		return err
	}
	return p.removePage(c, fiber.StatusOK, found.Name, p.whyNotRemove(c, found.Name))
}

func (p *Pages) whyNotRemove(c *fiber.Ctx, name string) string {
	if self, _ := web.User(c); self == name {
		return templates.T(c.UserContext(), "users.remove.self")
	}
	return ""
}

func (p *Pages) removePage(c *fiber.Ctx, status int, name, refused string) error {
	title := templates.T(c.UserContext(), "users.remove.question", name)
	return render(c, status, templates.RemovePersonPage(templates.RemovePerson{
		Frame: p.frame(c, title, ""), Name: name, Post: personURL(name) + "/remove", Away: personURL(name), Refused: refused,
	}))
}

func (p *Pages) removePerson(c *fiber.Ctx) error {
	name, err := personNamed(c)
	if err != nil {
		return err
	}
	if why := p.whyNotRemove(c, name); why != "" {
		return p.removePage(c, fiber.StatusConflict, name, why)
	}
	err = p.o.People.Remove(c.UserContext(), web.Actor(c, node.SourceUI), name)
	if status, text, ok := refusedText(err); err != nil && ok {
		return p.removePage(c, status, name, text)
	}
	if err != nil {
		return err
	}
	return c.Redirect("/ui/users?done=removed", fiber.StatusSeeOther)
}
