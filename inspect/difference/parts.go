package difference

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"strings"

	"cagenut/inspect/inventory"
	"cagenut/node"
)

// The kinds of parts, in the order in which they are told.
const (
	kindSystem    = "system"
	kindProcessor = "processors"
	kindMemory    = "memory"
	kindModule    = "memory module"
	kindInterface = "network interface"
	kindDisk      = "disk"
	kindPCI       = "PCI device"
	kindBMC       = "BMC"
)

var kinds = []string{kindSystem, kindProcessor, kindMemory, kindModule, kindInterface, kindDisk, kindPCI, kindBMC}

// identities are a machine's own numbers.
var identities = []string{"system UUID", "serial number", "board serial number", "product"}

// maxParts bounds how many parts of a kind are compared: a stored document may hold millions.
const maxParts = 1024

// part is what is known of a part: names of fields and their values. A value that was not told is not there.
type part map[string]string

// machine is one inspection, as far as it is compared.
type machine struct {
	identity map[string]string
	parts    map[string]map[string]part
}

func read(i node.Inventory) (machine, error) {
	m := machine{identity: map[string]string{}, parts: map[string]map[string]part{}}
	hardware, err := decode(i.Inventory)
	if err != nil {
		return m, fmt.Errorf("the inventory of attempt %s: %w", i.AttemptID, err)
	}
	plugins, err := decode(i.PluginData)
	if err != nil {
		return m, fmt.Errorf("the plugin data of attempt %s: %w", i.AttemptID, err)
	}
	extra := under(plugins, "extra")
	m.system(hardware, extra)
	m.processors(under(hardware, "cpu"))
	m.add(kindMemory, "", under(hardware, "memory"), map[string]string{"size in MiB": "physical_mb"})
	m.modules(under(extra, "memory"))
	m.interfaces(hardware, under(plugins, "parsed_lldp"))
	m.disks(hardware)
	m.pci(append(list(plugins, "pci_devices"), list(hardware, "pci_devices")...))
	m.bmc(hardware)
	return m, nil
}

func decode(doc []byte) (map[string]any, error) {
	if len(doc) == 0 {
		return nil, nil
	}
	d := json.NewDecoder(bytes.NewReader(doc))
	d.UseNumber()
	var v any
	if err := d.Decode(&v); err != nil {
		return nil, err
	}
	m, _ := v.(map[string]any) // a stored null has no parts
	return m, nil
}

func under(doc map[string]any, key string) map[string]any {
	m, _ := doc[key].(map[string]any)
	return m
}

// list are the objects in a list; the rest of it is skipped.
func list(doc map[string]any, key string) (out []map[string]any) {
	all, _ := doc[key].([]any)
	for _, v := range all[:min(len(all), maxParts)] {
		if m, ok := v.(map[string]any); ok {
			out = append(out, m)
		}
	}
	return out
}

// text is a value as it is compared and shown; "" for what says nothing.
func text(v any) string {
	if b, ok := v.(bool); ok {
		if b {
			return "yes"
		}
		return "no"
	}
	s, _ := node.Text(v)
	return inventory.Known(strings.TrimSpace(inventory.Excerpt(s)))
}

// add adds a part with the fields that are told of it; from names the key of each.
func (m machine) add(kind, name string, doc map[string]any, from map[string]string) {
	p := part{}
	for field, key := range from {
		if v := text(doc[key]); v != "" {
			p[field] = v
		}
	}
	m.put(kind, name, p)
}

// put adds a part under a name of its own; one that says nothing is none.
func (m machine) put(kind, name string, p part) {
	if len(p) == 0 {
		return
	}
	if m.parts[kind] == nil {
		m.parts[kind] = map[string]part{}
	}
	own := name
	for i := 2; m.parts[kind][own] != nil && i < maxParts; i++ {
		own = fmt.Sprintf("%s (%d)", name, i)
	}
	m.parts[kind][own] = p
}

func (m machine) system(hardware, extra map[string]any) {
	vendor := under(hardware, "system_vendor")
	product, board := under(under(extra, "system"), "product"), under(under(extra, "system"), "motherboard")
	for what, v := range map[string]string{
		"system UUID":         cmp.Or(text(vendor["system_uuid"]), text(product["uuid"])),
		"serial number":       cmp.Or(text(vendor["serial_number"]), text(product["serial"])),
		"board serial number": text(board["serial"]),
		"product":             cmp.Or(text(vendor["product_name"]), text(product["name"])),
	} {
		m.identity[what] = v
	}
	p := part{}
	for what, v := range m.identity {
		if v != "" {
			p[what] = v
		}
	}
	firmware := under(vendor, "firmware")
	for what, v := range map[string]string{
		"manufacturer": text(vendor["manufacturer"]), "firmware": text(firmware["version"]), "firmware date": text(firmware["build_date"]),
		"boot mode": text(under(hardware, "boot")["current_boot_mode"]),
	} {
		if v != "" {
			p[what] = v
		}
	}
	m.put(kindSystem, "", p)
}

func (m machine) processors(doc map[string]any) {
	m.add(kindProcessor, "", doc, map[string]string{"model": "model_name", "logical processors": "count", "sockets": "socket_count", "architecture": "architecture"})
}

// modules are the banks that the extra-hardware collector tells of.
func (m machine) modules(memory map[string]any) {
	for name, v := range memory {
		doc, ok := v.(map[string]any)
		if !ok || !strings.HasPrefix(name, "bank") || len(m.parts[kindModule]) >= maxParts {
			continue
		}
		m.add(kindModule, inventory.Excerpt(name), doc, map[string]string{"size": "size", "serial": "serial", "product": "product", "manufacturer": "vendor", "slot": "slot"})
	}
}

func (m machine) interfaces(hardware, lldp map[string]any) {
	for _, doc := range list(hardware, "interfaces") {
		name := text(doc["name"])
		p := part{}
		for field, key := range map[string]string{
			"name": "name", "link": "has_carrier", "Mbit/s": "speed_mbps", "driver": "driver", "vendor": "vendor", "product": "product", "PCI address": "pci_address",
		} {
			if v := text(doc[key]); v != "" {
				p[field] = v
			}
		}
		neighbour := under(lldp, name)
		for field, key := range map[string]string{"switch": "switch_system_name", "switch chassis": "switch_chassis_id", "switch port": "switch_port_id"} {
			if v := text(neighbour[key]); v != "" {
				p[field] = v
			}
		}
		id := text(doc["mac_address"])
		if mac, ok := node.ParseMAC(id); ok {
			id = mac
		}
		m.put(kindInterface, cmp.Or(id, name), p)
	}
}

// disks are known by what is printed on them; their names go from one to the other at each boot.
func (m machine) disks(hardware map[string]any) {
	for _, doc := range list(hardware, "disks") {
		id := cmp.Or(text(doc["serial"]), text(doc["wwn"]))
		from := map[string]string{"bytes": "size", "model": "model", "vendor": "vendor", "rotating": "rotational", "WWN": "wwn"}
		if id == "" {
			id = text(doc["name"])
		}
		m.add(kindDisk, id, doc, from)
	}
}

func (m machine) pci(devices []map[string]any) {
	for _, doc := range devices[:min(len(devices), maxParts)] {
		p := part{}
		if id := strings.Trim(text(doc["vendor_id"])+":"+text(doc["product_id"]), ":"); id != "" {
			p["device"] = strings.ToLower(id)
		}
		for _, key := range []string{"class", "revision"} {
			if v := text(doc[key]); v != "" {
				p[key] = v
			}
		}
		m.put(kindPCI, cmp.Or(text(doc["bus"]), p["device"]), p)
	}
}

// bmc has no addresses of the kinds that say "none" (contract.md §6.3).
func (m machine) bmc(hardware map[string]any) {
	p := part{}
	for field, key := range map[string]string{"IPv4 address": "bmc_address", "IPv6 address": "bmc_v6address"} {
		if a, ok := inventory.KnownAddress(text(hardware[key])); ok {
			p[field] = a
		}
	}
	if mac, ok := node.ParseMAC(text(hardware["bmc_mac"])); ok {
		p["MAC"] = mac
	}
	m.put(kindBMC, "", p)
}
