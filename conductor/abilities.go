package conductor

import (
	"context"
	"errors"
	"net/url"

	"cagenut/node"
)

// Abilities are what some BMCs have beyond a [BMC]; a BMC that has them says so by its type. What one lacks of them is
// *node.Unsupported.
type Abilities interface {
	Drives(ctx context.Context) ([]node.VirtualDrive, error)
	// BeginInsert asks for an image to be inserted: nil is that the BMC has accepted. It returns what the BMC calls the work.
	BeginInsert(ctx context.Context, m node.Medium) (task string, err error)
	// Inserted takes one look: whether the image is in. An error with node.TroubleTask says that the work has failed; any other
	// says nothing of it.
	Inserted(ctx context.Context, m node.Medium, task string) (bool, error)
	// Eject empties the drives of a kind, or all with "".
	Eject(ctx context.Context, kind node.MediumKind) error
	Indicator(ctx context.Context) (node.Indicator, error)
	SetIndicator(ctx context.Context, to node.Indicator) error
	InjectNMI(ctx context.Context) error
	Health(ctx context.Context) (node.HealthReport, error)
	Sensors(ctx context.Context) ([]node.Sensor, error)
	// Events lists the newest limit entries of the event log, the newest first.
	Events(ctx context.Context, limit int) ([]node.LogEntry, error)
	ClearLog(ctx context.Context) error
	Identity(ctx context.Context) (node.BMCIdentity, error)
	Firmware(ctx context.Context) ([]node.Firmware, error)
	BIOS(ctx context.Context) (map[string]any, error)
}

// askAble asks the BMC of a node for an ability, which what names where the BMC has none at all.
func (c *Conductor) askAble(ctx context.Context, ident, what string, fn func(context.Context, Abilities) error) error {
	return c.ask(ctx, ident, func(ctx context.Context, b BMC) error {
		able, ok := b.(Abilities)
		if !ok {
			n, err := c.Nodes.Node(ctx, ident)
			if err != nil {
				return err
			}
			return &node.Unsupported{Driver: n.Driver, Extension: what}
		}
		return fn(ctx, able)
	})
}

// reads asks for what changes nothing: no reservation is needed.
func reads[T any](ctx context.Context, c *Conductor, ident, what string, fn func(Abilities, context.Context) (T, error)) (found T, err error) {
	err = c.askAble(ctx, ident, what, func(ctx context.Context, a Abilities) (err error) {
		found, err = fn(a, ctx)
		return err
	})
	return found, err
}

// orders lets the BMC of a free node do something, and notes who wanted it, also where it was refused.
func (c *Conductor) orders(ctx context.Context, actor node.Actor, ident, what, action string, fn func(context.Context, Abilities) error) error {
	n, err := c.Nodes.Node(ctx, ident)
	if err != nil {
		return err
	}
	err = c.whenFree(ctx, n, func(n node.Node) error { return c.askAble(ctx, n.UUID, what, fn) })
	if err != nil {
		c.auditRefusal(ctx, actor, action, n, "", err)
		return err
	}
	a := c.about(actor, node.Shorten(action, auditLimit), n.UUID)
	// It is done: whoever asked may have gone away, the line is written all the same.
	return c.Moves.Note(context.WithoutCancel(ctx), nil, &a)
}

// VirtualMedia lists the virtual drives of a node. Of the images' addresses only what is no secret is shown.
func (c *Conductor) VirtualMedia(ctx context.Context, ident string) ([]node.VirtualDrive, error) {
	found, err := reads(ctx, c, ident, "virtual media", Abilities.Drives)
	for i := range found {
		found[i].URL = node.PublicAddress(found[i].URL)
	}
	return found, err
}

// queryOf is what of an image's address may be secret, once user and password are apart.
func queryOf(address string) string {
	u, err := url.Parse(address)
	if err != nil {
		return ""
	}
	return u.RawQuery
}

// DetachVirtualMedia empties the virtual drives of some kinds, or all of them.
func (c *Conductor) DetachVirtualMedia(ctx context.Context, actor node.Actor, ident string, kinds []node.MediumKind) error {
	action := "detach virtual media"
	for _, k := range kinds {
		action += " " + string(k)
	}
	if len(kinds) == 0 {
		kinds = []node.MediumKind{""}
	}
	return c.ordersMedia(ctx, actor, ident, "detach_virtual_media", action, func(ctx context.Context, n node.Node, a Abilities) error {
		for _, k := range kinds {
			if err := a.Eject(ctx, k); err != nil {
				return err
			}
		}
		return c.unfollow(ctx, actor, n, kinds...)
	})
}

// Indicator reads the light by which people find the server.
func (c *Conductor) Indicator(ctx context.Context, ident string) (node.Indicator, error) {
	return reads(ctx, c, ident, "get_indicator_state", Abilities.Indicator)
}

// SetIndicator switches the light.
func (c *Conductor) SetIndicator(ctx context.Context, actor node.Actor, ident string, to node.Indicator) error {
	return c.orders(ctx, actor, ident, "set_indicator_state", "indicator "+string(to), func(ctx context.Context, a Abilities) error { return a.SetIndicator(ctx, to) })
}

// InjectNMI interrupts what runs on the server.
func (c *Conductor) InjectNMI(ctx context.Context, actor node.Actor, ident string) error {
	return c.orders(ctx, actor, ident, "inject_nmi", "inject NMI", func(ctx context.Context, a Abilities) error { return a.InjectNMI(ctx) })
}

// Identity reads what the BMC says of itself.
func (c *Conductor) Identity(ctx context.Context, ident string) (node.BMCIdentity, error) {
	return reads(ctx, c, ident, "BMC identity", Abilities.Identity)
}

// BIOS reads the attributes of the firmware's set-up, by name. A node whose bios interface reads none has none; no BMC
// is asked then.
func (c *Conductor) BIOS(ctx context.Context, ident string) (map[string]any, error) {
	return readsBy(ctx, c, ident, "bios", Abilities.BIOS)
}

// Firmware reads which versions are installed; none as with [Conductor.BIOS].
func (c *Conductor) Firmware(ctx context.Context, ident string) ([]node.Firmware, error) {
	return readsBy(ctx, c, ident, "firmware", Abilities.Firmware)
}

// readsBy reads what an interface of the node reads from its BMC. One that lacks it has nothing to tell.
func readsBy[T any](ctx context.Context, c *Conductor, ident, kind string, fn func(Abilities, context.Context) (T, error)) (found T, err error) {
	n, err := c.Nodes.Node(ctx, ident)
	if err != nil || n.Interfaces.Get(kind) != node.DriverRedfish {
		return found, err
	}
	told, err := reads(ctx, c, n.UUID, kind, fn)
	if lacking(err) {
		return found, nil
	}
	return told, err
}

func lacking(err error) bool {
	u := (*node.Unsupported)(nil)
	return errors.As(err, &u)
}
