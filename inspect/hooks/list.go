package hooks

import (
	"fmt"
	"slices"
	"strings"
)

// Settings is what hooks know beside the report.
type Settings struct {
	AddPorts         string            // which interfaces become ports: AddPXE if empty
	PCIAliases       []PCIAlias        // of pci-devices
	Accelerators     []Accelerator     // of accelerators; nil: KnownAccelerators
	PhysicalNetworks []PhysicalNetwork // of physical-network; the first that fits counts
}

// DefaultName stands for the usual hooks in a list of names.
const DefaultName = "default"

// DefaultNames are the hooks that run on a ramdisk's report when nobody chose others, in their order (design.md §7).
func DefaultNames() []string {
	return []string{"ramdisk-error", "validate-interfaces", "ports", "architecture", "memory", "cpus", "root-device", "boot-mode"}
}

// Default lists them, as they are without settings.
func Default() []Hook { return pick(DefaultNames()) }

// OutOfBandNames are the usual hooks where a BMC and no ramdisk tells (contract.md §4.3).
func OutOfBandNames() []string { return []string{"validate-interfaces", "ports", "architecture"} }

// OutOfBand lists them, as they are without settings.
func OutOfBand() []Hook { return pick(OutOfBandNames()) }

// pick takes hooks that [every] lists in the order of their names here.
func pick(names []string) []Hook {
	return slices.DeleteFunc(every(Settings{}), func(h Hook) bool { return !slices.Contains(names, h.Name()) })
}

// Names are those of all hooks there are.
func Names() []string {
	var names []string
	for _, h := range every(Settings{}) {
		names = append(names, h.Name())
	}
	return names
}

// every lists all hooks that there are, the default ones first and in their order. A new one gets its line here.
func every(s Settings) []Hook {
	return []Hook{
		ramdiskError{}, validateInterfaces{add: s.AddPorts}, ports{add: s.AddPorts}, architecture{}, memory{}, cpus{}, rootDevice{}, bootMode{},
		cpuCapabilities{}, pciDevices{aliases: s.PCIAliases}, accelerators{known: s.Accelerators}, localLinkConnection{}, parseLLDP{},
		physicalNetwork{networks: s.PhysicalNetworks}, raidDevice{}, extraHardware{},
	}
}

// Select makes the hooks of that name, in that order; [DefaultName] stands for the usual ones. The error says which name
// is wrong, or which hook lacks one that it needs before it.
func Select(names, usual []string, s Settings) ([]Hook, error) {
	var spelt []string
	for _, name := range names {
		if name = strings.TrimSpace(name); name == DefaultName {
			spelt = append(spelt, usual...)
		} else {
			spelt = append(spelt, name)
		}
	}
	all := every(s)
	var list []Hook
	for i, name := range spelt {
		at := slices.IndexFunc(all, func(h Hook) bool { return h.Name() == name })
		switch {
		case name == "":
			return nil, fmt.Errorf("there is a hook without a name in the list")
		case at < 0:
			return nil, fmt.Errorf("there is no hook %q; there are %s, and %s for the usual ones", name, strings.Join(Names(), ", "), DefaultName)
		case slices.Contains(spelt[:i], name):
			return nil, fmt.Errorf("the hook %s is there twice", name)
		}
		for _, needed := range all[at].Needs() {
			if !slices.Contains(spelt[:i], needed) {
				return nil, fmt.Errorf("the hook %s needs %s before it", name, needed)
			}
		}
		list = append(list, all[at])
	}
	return list, nil
}

// NeedsPrevious tells whether one of the hooks compares with the inventory that is stored so far.
func NeedsPrevious(list []Hook) bool {
	return slices.ContainsFunc(list, func(h Hook) bool { _, ok := h.(raidDevice); return ok })
}
