package ui

import (
	"context"
	"errors"
	"maps"
	"strconv"
	"strings"

	"github.com/gofiber/fiber/v2"

	"cagenut/node"
	"cagenut/templates"
	"cagenut/web"
)

// editURL is the address of the form that changes what the appliance knows of a node.
func editURL(n node.Node) string { return nodeURL(n.UUID) + "/edit" }

// editLimit is how long a field may be, in characters.
const editLimit = 4096

// bmcKeys are the keys of driver_info that say where a driver's BMC is and who asks it; "" for a driver without one.
func bmcKeys(driver string) (address, user, password string) {
	switch driver {
	case node.DriverRedfish:
		return "redfish_address", "redfish_username", "redfish_password"
	case node.DriverIPMI:
		return "ipmi_address", "ipmi_username", "ipmi_password"
	}
	return "", "", ""
}

// edited is what a form says of a node. An empty password is the one that is known.
type edited struct{ name, description, address, user, password string }

func editedOf(n node.Node) edited {
	e := edited{name: n.Name, description: n.Description}
	if _, user, _ := bmcKeys(n.Driver); user != "" {
		e.address = bmcAddress(n)
		e.user, _ = node.Text(n.DriverInfo[user])
	}
	return e
}

// change makes of a node what the form says. What is as it was shown is left alone, down to its spelling.
func (e edited) change(n node.Node) node.Node {
	was := editedOf(n)
	n.Name, n.Description = e.name, e.description
	address, user, password := bmcKeys(n.Driver)
	if user == "" {
		return n
	}
	n.DriverInfo = maps.Clone(n.DriverInfo)
	if n.DriverInfo == nil {
		n.DriverInfo = map[string]any{}
	}
	set := func(key, value string) {
		if n.DriverInfo[key] = value; value == "" {
			delete(n.DriverInfo, key)
		}
	}
	if e.address != was.address {
		set(address, e.address)
	}
	if e.user != was.user {
		set(user, e.user)
	}
	if e.password != "" {
		n.DriverInfo[password] = e.password
	}
	return n
}

// fields are the form's. What is typed as a password is never shown again.
func (e edited) fields(ctx context.Context, driver string) []templates.EditField {
	out := []templates.EditField{
		{Name: "name", Label: templates.T(ctx, "edit.name"), Value: e.name, Help: templates.T(ctx, "edit.name.help")},
		{Name: "description", Label: templates.T(ctx, "edit.description"), Value: e.description, Long: true},
	}
	if _, user, _ := bmcKeys(driver); user == "" {
		return out
	}
	help := ""
	if driver == node.DriverRedfish {
		help = templates.T(ctx, "edit.address.redfish")
	}
	return append(out,
		templates.EditField{Name: "address", Label: templates.T(ctx, "edit.address"), Value: e.address, Help: help},
		templates.EditField{Name: "user", Label: templates.T(ctx, "edit.user"), Value: e.user},
		templates.EditField{Name: "password", Label: templates.T(ctx, "edit.password"), Password: true, Help: templates.T(ctx, "edit.password.help")},
	)
}

func (p *Pages) editForm(c *fiber.Ctx) error {
	if !mayAct(c) {
		return p.notAllowed(c)
	}
	n, err := p.named(c)
	if err != nil {
		return err
	}
	return p.drawEdit(c, fiber.StatusOK, n, editedOf(n), "")
}

func (p *Pages) drawEdit(c *fiber.Ctx, status int, n node.Node, e edited, problem string) error {
	ctx := c.UserContext()
	return render(c, status, templates.NodeEditPage(templates.NodeEdit{
		Frame: p.frame(c, templates.T(ctx, "edit.titleof", n.Label()), ""), Name: n.Label(), Href: nodeURL(n.Label()), Place: place(n),
		Post: editURL(n), Version: strconv.FormatInt(n.Version, 10), Fields: e.fields(ctx, n.Driver), Problem: problem,
	}))
}

// edit saves the form: the same call as the REST API's PATCH. The form carries the version of the node that was shown, so
// that nobody undoes by it what somebody else has changed since.
func (p *Pages) edit(c *fiber.Ctx) error {
	if !mayAct(c) {
		return p.notAllowed(c)
	}
	n, err := p.named(c)
	if err != nil {
		return err
	}
	ctx := c.UserContext()
	e := edited{
		name: strings.TrimSpace(c.FormValue("name")), description: strings.ReplaceAll(c.FormValue("description"), "\r\n", "\n"),
		address: strings.TrimSpace(c.FormValue("address")), user: strings.TrimSpace(c.FormValue("user")), password: c.FormValue("password"),
	}
	for _, f := range []string{e.name, e.description, e.address, e.user, e.password} {
		if len([]rune(f)) > editLimit {
			return p.drawEdit(c, fiber.StatusBadRequest, n, editedOf(n), templates.T(ctx, "edit.toolong"))
		}
	}
	saved, err := p.o.Conductor.PatchNode(ctx, web.Actor(c, node.SourceUI), n.UUID, 0, func(now node.Node) (node.Node, error) {
		if strconv.FormatInt(now.Version, 10) != c.FormValue("version") {
			return now, errEditStale
		}
		return e.change(now), nil
	})
	switch {
	case errors.Is(err, errEditStale):
		if n, err = p.o.Store.Node(ctx, n.UUID); err != nil {
			return err
		}
		return p.drawEdit(c, fiber.StatusConflict, n, editedOf(n), templates.T(ctx, "edit.stale"))
	case err != nil:
		text, known := p.sentence(ctx, n, "", "", err)
		if !known {
			return err
		}
		status, _ := web.Status(err)
		return p.drawEdit(c, status, n, e, text)
	}
	return c.Redirect(nodeURL(saved.Label())+"?done=saved", fiber.StatusSeeOther)
}

// errEditStale says that the form shows an earlier version of the node.
var errEditStale = errors.New("the node has changed since")
