package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"gopkg.in/yaml.v3"

	"cagenut/conductor"
	"cagenut/inspect/hooks"
	"cagenut/inspect/inventory"
	"cagenut/node"
)

// hookSettings are those of the inspection hooks. A wrong one stops the start, used or not.
type hookSettings struct {
	InspectionHooks        []string `default:"default" env:"CAGENUT_INSPECTION_HOOKS" help:"Inspection hooks in their order; default stands for the usual ones."`
	RedfishInspectionHooks []string `default:"default" env:"CAGENUT_REDFISH_INSPECTION_HOOKS" help:"The same for inspection by the BMC, without a ramdisk."`
	AddPorts               string   `default:"pxe" enum:"pxe,active,all,disabled" env:"CAGENUT_ADD_PORTS" help:"Which interfaces the hook ports makes ports of: pxe, active, all or disabled."`
	IgnoreMACs             []string `env:"CAGENUT_IGNORE_MACS" name:"ignore-macs" help:"MACs, or beginnings of some, that many servers have: no report is recognised by them, and they become no ports."`
	PCIDeviceAliases       []string `env:"CAGENUT_PCI_DEVICE_ALIASES" name:"pci-device-aliases" help:"Devices that the hook pci-devices counts, each as name=vendor:product."`
	PhysicalNetworkCIDRMap []string `env:"CAGENUT_PHYSICAL_NETWORK_CIDR_MAP" name:"physical-network-cidr-map" help:"Networks that the hook physical-network knows, each as subnet:name."`
	KnownAccelerators      string   `env:"CAGENUT_KNOWN_ACCELERATORS" type:"path" help:"YAML file with the devices that the hook accelerators knows; empty: a built-in list."`
}

// lists makes the hooks of inspection with and without a ramdisk.
func (s hookSettings) lists() (inBand, outOfBand []hooks.Hook, err error) {
	known, err := s.known()
	if err != nil {
		return nil, nil, err
	}
	if _, err := s.ignored(); err != nil {
		return nil, nil, err
	}
	if inBand, err = selected(s.InspectionHooks, hooks.DefaultNames(), known); err != nil {
		return nil, nil, fmt.Errorf("--inspection-hooks: %w", err)
	}
	outOfBand, err = selected(s.RedfishInspectionHooks, hooks.OutOfBandNames(), known)
	if err == nil && hooks.NeedsPrevious(outOfBand) {
		err = errors.New("raid-device compares what ramdisks report; it has no use here")
	}
	if err != nil {
		return nil, nil, fmt.Errorf("--redfish-inspection-hooks: %w", err)
	}
	return inBand, outOfBand, nil
}

// ignored are the MACs that say nothing of a server.
func (s hookSettings) ignored() ([]string, error) {
	var all []string
	for _, text := range s.IgnoreMACs {
		b, err := inventory.ParseMACBeginning(text)
		if err != nil {
			return nil, fmt.Errorf("--ignore-macs: %w", err)
		}
		all = append(all, b)
	}
	return all, nil
}

// selected are the hooks of that name; those that are usual where nobody chose.
func selected(names, usual []string, known hooks.Settings) ([]hooks.Hook, error) {
	if len(names) == 0 {
		names = usual
	}
	return hooks.Select(names, usual, known)
}

// known is what hooks know beside the report.
func (s hookSettings) known() (hooks.Settings, error) {
	known := hooks.Settings{AddPorts: s.AddPorts}
	for _, text := range s.PCIDeviceAliases {
		a, err := hooks.ParsePCIAlias(text)
		if err != nil {
			return known, fmt.Errorf("--pci-device-aliases: %w", err)
		}
		known.PCIAliases = append(known.PCIAliases, a)
	}
	for _, text := range s.PhysicalNetworkCIDRMap {
		n, err := hooks.ParsePhysicalNetwork(text)
		if err != nil {
			return known, fmt.Errorf("--physical-network-cidr-map: %w", err)
		}
		known.PhysicalNetworks = append(known.PhysicalNetworks, n)
	}
	var err error
	if known.Accelerators, err = s.accelerators(); err != nil {
		return known, fmt.Errorf("--known-accelerators=%s: %w", s.KnownAccelerators, err)
	}
	return known, nil
}

// accelerators reads the file of known devices, which has the shape of Ironic's; nil without one.
func (s hookSettings) accelerators() ([]hooks.Accelerator, error) {
	if s.KnownAccelerators == "" {
		return nil, nil
	}
	text, err := os.ReadFile(s.KnownAccelerators)
	if err != nil {
		return nil, err
	}
	var file struct {
		Devices []struct {
			Vendor string `yaml:"vendor_id"`
			Device string `yaml:"device_id"`
			Type   string `yaml:"type"`
			Info   string `yaml:"device_info"`
		} `yaml:"pci_devices"`
	}
	if err := yaml.Unmarshal(text, &file); err != nil {
		return nil, err
	}
	if file.Devices == nil {
		return nil, errors.New("it must have a list pci_devices")
	}
	all := []hooks.Accelerator{}
	for i, d := range file.Devices {
		a := hooks.Accelerator{VendorID: inventory.PCIID(d.Vendor), DeviceID: inventory.PCIID(d.Device), Type: d.Type, Info: d.Info}
		if a.VendorID == "" || a.DeviceID == "" {
			return nil, fmt.Errorf("pci_devices[%d]: vendor_id and device_id must be texts of four hexadecimal digits, such as \"10de\"", i)
		}
		all = append(all, a)
	}
	return all, nil
}

// inventories are what inspections of nodes stored.
type inventories interface {
	// Inventories lists those of a node without the documents, the newest first.
	Inventories(ctx context.Context, nodeUUID string, before time.Time, limit int) ([]node.Inventory, error)
	// InventoryOf is that of an attempt; *node.NotFound for none.
	InventoryOf(ctx context.Context, attempt string) (node.Inventory, error)
}

// reports understands what ramdisks post.
type reports struct {
	hooks   []hooks.Hook
	ignored []string // MACs, or beginnings of some
	stored  inventories
}

func (r reports) parse(body []byte) (inventory.Report, error) {
	report, err := inventory.Parse(body)
	report.Ignore(r.ignored)
	return report, err
}

// Keys is conductor.Reports'.
func (r reports) Keys(body []byte) (conductor.Keys, error) {
	report, err := r.parse(body)
	if err != nil {
		return conductor.Keys{}, err
	}
	return conductor.Keys(report.Keys()), nil
}

// Machine is conductor.Describer's.
func (r reports) Machine(body []byte) (node.Machine, error) {
	report, err := r.parse(body)
	if err != nil {
		return node.Machine{}, err
	}
	return report.Machine(), nil
}

// Match is conductor.Reports'.
func (reports) Match(k conductor.Keys, asked string, all []conductor.Candidate) (string, error) {
	candidates := make([]inventory.Candidate, len(all))
	for i, c := range all {
		candidates[i] = inventory.Candidate(c)
	}
	return inventory.Match(inventory.Keys(k), asked, candidates)
}

// Process is conductor.Reports'.
func (r reports) Process(ctx context.Context, n node.Node, ports []node.Port, owners map[string]string, body []byte) (conductor.Findings, error) {
	report, err := r.parse(body)
	if err != nil {
		return conductor.Findings{}, err
	}
	previous, err := r.previous(ctx, n)
	if err != nil {
		return conductor.Findings{}, err
	}
	f, err := hooks.Run(r.hooks, hooks.Input{Node: n, Ports: ports, Owners: owners, Previous: previous, Report: report})
	return conductor.Findings(f), err
}

// previous is the inventory of the inspection before, where a hook asks for it; nil for none. A report that is applied once
// more has left one already, which does not count.
func (r reports) previous(ctx context.Context, n node.Node) ([]byte, error) {
	if !hooks.NeedsPrevious(r.hooks) {
		return nil, nil
	}
	newest, err := r.stored.Inventories(ctx, n.UUID, time.Time{}, 2)
	if err != nil {
		return nil, err
	}
	for _, i := range newest {
		if i.AttemptID == n.AttemptID {
			continue
		}
		stored, err := r.stored.InventoryOf(ctx, i.AttemptID)
		if missing := (*node.NotFound)(nil); errors.As(err, &missing) {
			return nil, nil
		}
		return stored.Inventory, err
	}
	return nil, nil
}
