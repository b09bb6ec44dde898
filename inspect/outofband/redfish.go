package outofband

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"cagenut/inspect"
	"cagenut/inspect/hooks"
	"cagenut/inspect/inventory"
	"cagenut/node"
)

// BMC is what out-of-band inspection needs of one.
type BMC interface {
	// Hardware is what the server is made of. It only reads.
	Hardware(ctx context.Context) (node.Hardware, error)
}

// BMCs reaches the BMCs of nodes.
type BMCs interface {
	// Validate tells whether driver_info says enough to try: *node.Invalid otherwise. No network.
	Validate(n node.Node) error
	// Do runs fn while nobody else talks to the node's BMC.
	Do(ctx context.Context, n node.Node, fn func(BMC) error) error
}

// Redfish is the inspect interface `redfish`: the BMC tells everything. Its work is Discover and Process; there is no
// ramdisk to be started, so Inspect stays unsupported, as Abort does (contract.md §4.5). It is safe for concurrent use.
type Redfish struct {
	inspect.Base
	bmcs  BMCs
	hooks []hooks.Hook // nil: the usual ones
}

// NewRedfish makes one with the usual hooks; most properties are not a hook's but our own.
func NewRedfish(bmcs BMCs) Redfish { return Redfish{bmcs: bmcs} }

// WithHooks is the same with other hooks.
func (r Redfish) WithHooks(list []hooks.Hook) Redfish {
	r.hooks = list
	return r
}

// Validate asks for a BMC that can be reached and for nothing else: where a ramdisk would come from does not matter here.
func (r Redfish) Validate(_ context.Context, n node.Node) error { return r.bmcs.Validate(n) }

// Discover reads the hardware from the BMC, in its queue and within ctx. It changes nothing there, so it may be repeated.
func (r Redfish) Discover(ctx context.Context, n node.Node) (h node.Hardware, err error) {
	err = r.bmcs.Do(ctx, n, func(b BMC) (err error) {
		h, err = b.Hardware(ctx)
		return err
	})
	return h, err
}

// Process makes of the hardware what an inspection leaves behind. ports are the node's, owners names the node of every
// MAC that has a port already. An error fails the inspection with its text; the findings then hold the notes alone.
func (r Redfish) Process(n node.Node, ports []node.Port, owners map[string]string, h node.Hardware) (hooks.Findings, error) {
	var notes []string
	n.Properties, notes = properties(n.Properties, h)
	if lacking := undiscovered(n.Properties, h); len(lacking) > 0 {
		return hooks.Findings{Notes: notes}, fmt.Errorf("Failed to discover the following properties: %s on node %s", strings.Join(lacking, ", "), n.UUID) //nolint:staticcheck // the wire's text, contract.md §4.5
	}
	told, more, err := report(h)
	if err != nil {
		return hooks.Findings{Notes: append(notes, more...)}, err
	}
	told.Notes = append(append(notes, more...), told.Notes...)
	list := r.hooks
	if list == nil {
		list = hooks.OutOfBand()
	}
	return hooks.Run(list, hooks.Input{Node: n, Ports: ports, Owners: owners, Report: told})
}

// report puts the hardware into the shape of a ramdisk's report, so that the hooks cannot tell the difference.
func report(h node.Hardware) (inventory.Report, []string, error) {
	d, notes := describe(h)
	body, err := json.Marshal(d)
	if err != nil {
		return inventory.Report{}, notes, fmt.Errorf("the inventory cannot be written: %w", err)
	}
	if len(d.Inventory.Interfaces) == 0 {
		// A ramdisk's report without an interface is refused as a whole. Here the hook says what is missing.
		return inventory.Report{}, notes, nil
	}
	r, err := inventory.Parse(body)
	if err != nil {
		return r, notes, err
	}
	for i := range r.Interfaces {
		r.Interfaces[i].Virtual = false // a BMC's names are no kernel's: "NIC.1" is no VLAN
	}
	return r, notes, nil
}
