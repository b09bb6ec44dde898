package difference

import (
	"cmp"
	"encoding/json"
	"errors"
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
	// told are the kinds that the report has a section for, be it an empty one: a ramdisk without a collector says nothing.
	told map[string]bool
	// switches tells whether the report has what the switches said.
	switches bool
}

func read(i node.Inventory) (machine, error) {
	m := machine{identity: map[string]string{}, parts: map[string]map[string]part{}, told: map[string]bool{}}
	hardware, err := open(i.Inventory)
	if err != nil {
		return m, fmt.Errorf("the inventory of attempt %s: %w", i.AttemptID, err)
	}
	plugins, err := open(i.PluginData)
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
	m.told[kindPCI] = has(plugins, "pci_devices") || has(hardware, "pci_devices")
	m.told[kindModule], m.told[kindDisk], m.told[kindInterface] = has(extra, "memory"), has(hardware, "disks"), has(hardware, "interfaces")
	for _, kind := range []string{kindSystem, kindProcessor, kindMemory, kindBMC} { // there is one of each, or nothing was told
		m.told[kind] = len(m.parts[kind]) > 0
	}
	m.switches = has(plugins, "parsed_lldp")
	return m, nil
}

// has tells whether an object has something under a key.
func has(doc object, key string) bool {
	v, there := doc[key]
	return there && string(v) != "null"
}

// ofSwitches are the fields of an interface that its switch has told.
var ofSwitches = map[string]string{"switch": "switch_system_name", "switch chassis": "switch_chassis_id", "switch port": "switch_port_id"}

// withoutSwitches forgets what the switches said.
func (m machine) withoutSwitches() {
	for _, p := range m.parts[kindInterface] {
		for field := range ofSwitches {
			delete(p, field)
		}
	}
}

// object is one of a stored document, of which only what is asked for is decoded: what a server reported may be millions of values.
type object map[string]json.RawMessage

// open is a stored document; one that is no object, or has more members than any report that is accepted, has no parts.
func open(doc []byte) (object, error) {
	if len(doc) == 0 {
		return nil, nil
	}
	if !json.Valid(doc) {
		return nil, errors.New("it is no JSON")
	}
	return asObject(doc), nil
}

func asObject(v json.RawMessage) object {
	o, err := inventory.Members(v)
	if err != nil {
		return nil
	}
	return o
}

func under(doc object, key string) object { return asObject(doc[key]) }

// list are the objects in a list; the rest of it is skipped.
func list(doc object, key string) (out []object) {
	all, _ := inventory.Elements(doc[key], maxParts) // what is beyond is not compared
	for _, v := range all {
		if o := asObject(v); o != nil {
			out = append(out, o)
		}
	}
	return out
}

// maxText is the size of a value that is compared.
const maxText = 4096

// text is a value as it is compared and shown; "" for what says nothing.
func text(v json.RawMessage) string {
	var s string
	switch {
	case len(v) == 0, len(v) > maxText:
		return ""
	case string(v) == "true":
		return "yes"
	case string(v) == "false":
		return "no"
	case v[0] == '"':
		s, _ = inventory.Text(v)
	case v[0] == '-' || '0' <= v[0] && v[0] <= '9':
		s = string(v)
	}
	return inventory.Known(strings.TrimSpace(inventory.Excerpt(s)))
}

// add adds a part with the fields that are told of it; from names the key of each.
func (m machine) add(kind, name string, doc object, from map[string]string) {
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

func (m machine) system(hardware, extra object) {
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

func (m machine) processors(doc object) {
	m.add(kindProcessor, "", doc, map[string]string{"model": "model_name", "logical processors": "count", "sockets": "socket_count", "architecture": "architecture"})
}

// modules are the banks that the extra-hardware collector tells of.
func (m machine) modules(memory object) {
	for name, v := range memory {
		doc := asObject(v)
		if doc == nil || !strings.HasPrefix(name, "bank") || len(m.parts[kindModule]) >= maxParts {
			continue
		}
		m.add(kindModule, inventory.Excerpt(name), doc, map[string]string{"size": "size", "serial": "serial", "product": "product", "manufacturer": "vendor", "slot": "slot"})
	}
}

func (m machine) interfaces(hardware, lldp object) {
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
		for field, key := range ofSwitches {
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
func (m machine) disks(hardware object) {
	for _, doc := range list(hardware, "disks") {
		id := cmp.Or(text(doc["serial"]), text(doc["wwn"]))
		from := map[string]string{"bytes": "size", "model": "model", "vendor": "vendor", "rotating": "rotational", "WWN": "wwn"}
		if id == "" {
			id = text(doc["name"])
		}
		m.add(kindDisk, id, doc, from)
	}
}

func (m machine) pci(devices []object) {
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
func (m machine) bmc(hardware object) {
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
