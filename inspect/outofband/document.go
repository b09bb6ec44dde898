package outofband

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"

	"cagenut/inspect/inventory"
	"cagenut/node"
)

// maxInterfaces is how many interfaces a report may have.
const maxInterfaces = 64

// document is the hardware as it is stored (contract.md §4.5, §4.6). The parsed LLDP data becomes plugin data.
type document struct {
	Inventory hardware             `json:"inventory"`
	LLDP      map[string]neighbour `json:"parsed_lldp,omitempty"`
}

type hardware struct {
	Interfaces  []networkInterface `json:"interfaces"`
	CPU         cpu                `json:"cpu"`
	Memory      *memory            `json:"memory,omitempty"`
	Disks       []disk             `json:"disks"`
	Controllers []controller       `json:"storage_controllers,omitempty"`
	PCI         []pciDevice        `json:"pci_devices,omitempty"`
	Vendor      vendor             `json:"system_vendor,omitzero"`
	Boot        *boot              `json:"boot,omitempty"`
}

// networkInterface has no address: what an operating system has told the BMC of its addresses says nothing of which
// interface matters to us, and the hooks would make ports of those alone.
type networkInterface struct {
	MAC     string `json:"mac_address"`
	Name    string `json:"name"`
	Speed   *int   `json:"speed_mbps,omitempty"`
	Carrier *bool  `json:"has_carrier,omitempty"`
}

type cpu struct {
	Count        int    `json:"count"` // logical processors
	Sockets      int    `json:"socket_count,omitempty"`
	Architecture string `json:"architecture"`
	Model        string `json:"model_name,omitempty"`
	// Frequency is a text, as ramdisks send it: clients cannot decode a number (contract.md §4.5).
	Frequency string `json:"frequency,omitempty"`
}

type memory struct {
	PhysicalMB int64 `json:"physical_mb"`
}

type disk struct {
	Name       string `json:"name"`
	Size       *int64 `json:"size"` // bytes; null where the BMC does not say
	Model      string `json:"model,omitempty"`
	Vendor     string `json:"vendor,omitempty"`
	Serial     string `json:"serial,omitempty"`
	WWN        string `json:"wwn,omitempty"`
	Rotational *bool  `json:"rotational,omitempty"`
}

type controller struct {
	Name         string `json:"name"`
	Manufacturer string `json:"manufacturer,omitempty"`
	Model        string `json:"model,omitempty"`
	Serial       string `json:"serial_number,omitempty"`
	Firmware     string `json:"firmware_version,omitempty"`
}

type pciDevice struct {
	VendorID  string `json:"vendor_id,omitempty"`
	ProductID string `json:"product_id,omitempty"`
	Class     string `json:"class,omitempty"`
	Bus       string `json:"bus,omitempty"`
}

type vendor struct {
	Product      string   `json:"product_name,omitempty"`
	Serial       string   `json:"serial_number,omitempty"`
	Manufacturer string   `json:"manufacturer,omitempty"`
	UUID         string   `json:"system_uuid,omitempty"`
	Firmware     firmware `json:"firmware,omitzero"`
}

type firmware struct {
	Version string `json:"version,omitempty"`
}

type boot struct {
	Mode string `json:"current_boot_mode"`
}

type neighbour struct {
	Chassis     string `json:"switch_chassis_id,omitempty"`
	Port        string `json:"switch_port_id,omitempty"`
	Description string `json:"switch_port_description,omitempty"`
	System      string `json:"switch_system_name,omitempty"`
}

// describe puts what the BMC told into the document, and notes what it leaves out.
func describe(h node.Hardware) (document, []string) {
	d := document{Inventory: hardware{
		Interfaces: []networkInterface{}, CPU: processors(h.Processors), Disks: disks(h.Drives),
		Vendor: vendor{
			Product: h.System.Model, Serial: h.System.Serial, Manufacturer: h.System.Manufacturer, UUID: h.System.UUID,
			Firmware: firmware{Version: h.System.BIOSVersion},
		},
	}}
	notes := d.addInterfaces(h.NICs)
	if h.MemoryMiB > 0 {
		d.Inventory.Memory = &memory{PhysicalMB: h.MemoryMiB}
	}
	if h.BootMode != "" {
		d.Inventory.Boot = &boot{Mode: h.BootMode}
	}
	for _, c := range h.Storage {
		d.Inventory.Controllers = append(d.Inventory.Controllers, controller{Name: c.Name, Manufacturer: c.Manufacturer, Model: c.Model, Serial: c.Serial, Firmware: c.Firmware})
	}
	for _, p := range h.PCIe {
		if p.VendorID == "" && p.DeviceID == "" {
			continue // a card whose functions the BMC does not know
		}
		d.Inventory.PCI = append(d.Inventory.PCI, pciDevice{VendorID: p.VendorID, ProductID: p.DeviceID, Class: p.Class, Bus: p.Address})
	}
	return d, notes
}

// addInterfaces adds each interface by a name of its own: cards count their ports alike, and the hooks know interfaces by
// name.
func (d *document) addInterfaces(nics []node.NIC) (notes []string) {
	names := map[string]bool{}
	for i, n := range nics {
		mac, ok := node.ParseMAC(n.MAC)
		if !ok {
			notes = append(notes, fmt.Sprintf("interface %q was left out: the BMC tells no Ethernet address of it", inventory.Excerpt(n.Name)))
			continue
		}
		if len(d.Inventory.Interfaces) == maxInterfaces {
			return append(notes, fmt.Sprintf("the BMC tells of %d more interfaces; they were left out", len(nics)-i))
		}
		name := cmp.Or(n.Name, mac)
		if names[name] {
			name += " " + mac
		}
		names[name] = true
		d.Inventory.Interfaces = append(d.Inventory.Interfaces, networkInterface{MAC: mac, Name: name, Speed: n.SpeedMbps, Carrier: n.Link})
		if b := n.Neighbour; b != nil {
			if d.LLDP == nil {
				d.LLDP = map[string]neighbour{}
			}
			d.LLDP[name] = neighbour{Chassis: b.SwitchID, Port: b.PortID, Description: b.PortDescription, System: b.SwitchName}
		}
	}
	return notes
}

// processors are all sockets together; they are alike, so the first that says something speaks for all. Where a BMC does
// not count threads, cores are counted.
func processors(all []node.Processor) cpu {
	c := cpu{Sockets: len(all)}
	for _, p := range all {
		c.Count += cmp.Or(p.Threads, p.Cores)
		c.Architecture = cmp.Or(c.Architecture, p.Architecture)
		c.Model = cmp.Or(c.Model, p.Model)
		if c.Frequency == "" && p.MHz > 0 {
			c.Frequency = strconv.Itoa(p.MHz)
		}
	}
	return c
}

// disks are the physical ones; volumes take their place where the BMC tells of no other.
func disks(all []node.Drive) []disk {
	out := []disk{}
	physical := slices.DeleteFunc(slices.Clone(all), func(d node.Drive) bool { return d.Volume })
	if len(physical) == 0 {
		physical = all
	}
	for _, d := range physical {
		one := disk{Name: d.Name, Model: d.Model, Vendor: d.Manufacturer, Serial: d.Serial, WWN: d.WWN, Rotational: d.Rotational}
		if d.Bytes > 0 {
			one.Size = &d.Bytes
		}
		out = append(out, one)
	}
	return out
}
