package conductor

import (
	"context"
	"errors"
	"strings"
	"time"

	"cagenut/node"
)

// askTime bounds requests whose purpose is to ask the BMC.
const askTime = 20 * time.Second

// ask runs fn with the BMC of a node that nobody holds.
func (c *Conductor) ask(ctx context.Context, ident string, fn func(context.Context, BMC) error) error {
	n, err := c.Nodes.Node(ctx, ident)
	if err != nil {
		return err
	}
	if err := c.BMCs.Validate(n); err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, askTime)
	defer cancel()
	if err := c.BMCs.Do(ctx, n, func(b BMC) error { return fn(ctx, b) }); err != nil {
		return err
	}
	if err := c.answeredTo(context.WithoutCancel(ctx), n); err != nil {
		c.Log.Error("cannot note that a BMC has answered", "node", n.UUID, "err", err)
	}
	return nil
}

// BootDevice asks the BMC what the server boots from next.
func (c *Conductor) BootDevice(ctx context.Context, ident string) (boot node.Boot, err error) {
	err = c.ask(ctx, ident, func(ctx context.Context, b BMC) (err error) {
		boot, err = b.Boot(ctx)
		return err
	})
	return boot, err
}

// SupportedBootDevices asks the BMC what the server can boot from.
func (c *Conductor) SupportedBootDevices(ctx context.Context, ident string) (all []node.BootDevice, err error) {
	err = c.ask(ctx, ident, func(ctx context.Context, b BMC) (err error) {
		all, err = b.SupportedBoot(ctx)
		return err
	})
	return all, err
}

// SetBootDevice tells the BMC what the server shall boot from next; *node.Locked while a worker holds the node.
func (c *Conductor) SetBootDevice(ctx context.Context, actor node.Actor, ident string, boot node.Boot) error {
	n, err := c.Nodes.Node(ctx, ident)
	if err != nil {
		return err
	}
	return c.whenFree(ctx, n, func(n node.Node) error {
		err := c.ask(ctx, n.UUID, func(ctx context.Context, b BMC) error {
			if err := b.SetBoot(ctx, boot); err != nil {
				return err
			}
			// While nobody else talks to the BMC: the clean-up of an earlier attempt must not take away what they set.
			a := c.about(actor, "boot device "+string(boot.Device), n.UUID)
			_, err := c.Moves.Move(ctx, node.Move{Node: n.UUID, From: n.ProvisionState, KeepBoot: true, Actor: actor, At: a.At, Audit: &a})
			return err
		})
		if unsupported := (*node.Unsupported)(nil); errors.As(err, &unsupported) && unsupported.Extension == "boot device "+string(boot.Device) {
			return node.Invalidf("Invalid boot device %s specified.", boot.Device) // Ironic's words, contract.md §3.6
		}
		return err
	})
}

// Validate tells for each interface whether it would work as the node is set up. No BMC is asked.
func (c *Conductor) Validate(ctx context.Context, ident string) (map[string]Validation, error) {
	n, err := c.Nodes.Node(ctx, ident)
	if err != nil {
		return nil, err
	}
	bmc := verdict(c.BMCs.Validate(n))
	warned := bmc
	if *bmc.Result {
		warned.Reason = c.BMCs.Warn(n)
	}
	inspect := Validation{}
	if i, err := c.inspectInterface(n.Interfaces.Inspect); err != nil {
		inspect = verdict(err)
	} else {
		inspect = verdict(i.Validate(ctx, n))
	}
	out := map[string]Validation{"power": warned, "management": warned, "boot": bmc, "inspect": inspect}
	for _, kind := range node.InterfaceTypes() {
		if _, ok := out[kind]; ok || kind == "vendor" {
			continue
		}
		switch name := n.Interfaces.Get(kind); {
		case strings.HasPrefix(name, "no-"):
			out[kind] = Validation{Reason: "not supported"}
		case name == node.DriverRedfish:
			out[kind] = bmc // it reads from there
		default:
			out[kind] = verdict(nil)
		}
	}
	return out, nil
}

func verdict(err error) Validation {
	ok := err == nil
	v := Validation{Result: &ok}
	if err != nil {
		v.Reason = err.Error()
	}
	return v
}
