package ui

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"cagenut/node"
	"cagenut/templates"
)

// Neighbours tells from an inspection's documents which switch port each interface is at, by the interface's name.
type Neighbours func(node.Inventory) map[string]node.Neighbour

// inventoryView reads a stored inventory (contract.md §6.3). A ramdisk wrote it: whatever is odd reads as absent, and
// the rest is shown. cables are the switch ports that the node's ports know, by MAC.
func (p *Pages) inventoryView(ctx context.Context, i node.Inventory, cables map[string]string) *templates.Inventory {
	doc := document(i.Inventory)
	if doc == nil {
		return nil
	}
	v := &templates.Inventory{At: p.past(i.CreatedAt), System: systemFacts(ctx, doc), Memory: modules(document(i.PluginData))}
	disks, interfaces := objects(doc["disks"]), objects(doc["interfaces"])
	for _, d := range disks[:min(len(disks), partsShown)] {
		v.Disks = append(v.Disks, diskLine(d))
	}
	if _, listed := doc["disks"].([]any); listed && len(disks) == 0 {
		v.NoDisks = templates.T(ctx, "inventory.nodisks")
	} else if len(disks) == 0 {
		v.NoDisks = templates.T(ctx, "inventory.disksuntold")
	}
	var heard map[string]node.Neighbour
	if p.o.Neighbours != nil {
		heard = p.o.Neighbours(i)
	}
	for _, n := range interfaces[:min(len(interfaces), partsShown)] {
		l := nicLine(ctx, n)
		if l.Switch = neighbourWords(ctx, heard[text(n["name"])]); l.Switch == "" {
			l.Switch = cables[strings.ToLower(l.MAC)]
		}
		v.NICs = append(v.NICs, l)
	}
	if len(disks) > partsShown || len(interfaces) > partsShown {
		v.More = templates.T(ctx, "inventory.more")
	}
	return v
}

// document is a stored JSON object; nil for anything else.
func document(b []byte) (doc map[string]any) {
	d := json.NewDecoder(bytes.NewReader(b))
	d.UseNumber()
	if err := d.Decode(&doc); err != nil {
		return nil
	}
	return doc
}

// systemFacts are what there is one of. What everybody looks for and is not there is said to be missing.
func systemFacts(ctx context.Context, doc map[string]any) (out []templates.Fact) {
	system, cpu, memory, boot := object(doc["system_vendor"]), object(doc["cpu"]), object(doc["memory"]), object(doc["boot"])
	firmware := object(system["firmware"])
	may := func(name, value string, mono bool) {
		if value = strings.Join(strings.Fields(value), " "); value != "" {
			out = append(out, templates.Fact{Name: name, Value: value, Mono: mono})
		}
	}
	must := func(name, value string, mono bool) {
		if value = strings.TrimSpace(value); value == "" {
			out = append(out, templates.Fact{Name: name, Value: templates.T(ctx, "inventory.untold"), Quiet: true})
			return
		}
		may(name, value, mono)
	}
	must(templates.T(ctx, "inventory.system"), text(system["manufacturer"])+" "+text(system["product_name"]), false)
	must(templates.T(ctx, "inventory.serial"), text(system["serial_number"]), true)
	must(templates.T(ctx, "inventory.firmware"), text(firmware["vendor"])+" "+text(firmware["version"])+" "+text(firmware["build_date"]), false)
	must(templates.T(ctx, "inventory.cpu"), cpuWords(ctx, cpu), false)
	must(templates.T(ctx, "inventory.memory"), memoryWords(memory), false)
	must(templates.T(ctx, "inventory.bootmode"), text(boot["current_boot_mode"]), false)
	may(templates.T(ctx, "inventory.bootedfrom"), text(boot["pxe_interface"]), true)
	must(templates.T(ctx, "inventory.bmc"), address(doc["bmc_address"]), true)
	may(templates.T(ctx, "inventory.bmc6"), address(doc["bmc_v6address"]), true)
	may(templates.T(ctx, "inventory.bmcmac"), text(doc["bmc_mac"]), true)
	may(templates.T(ctx, "inventory.hostname"), text(doc["hostname"]), true)
	for _, c := range objects(doc["storage_controllers"]) {
		may(templates.T(ctx, "inventory.controller"), text(c["manufacturer"])+" "+text(c["model"])+" "+text(c["firmware_version"]), false)
	}
	return out
}

// modules are the memory banks that the extra-hardware collector tells of.
func modules(plugins map[string]any) (out []templates.ModuleLine) {
	banks := object(object(plugins["extra"])["memory"])
	for _, name := range slices.Sorted(maps.Keys(banks)) {
		bank := object(banks[name])
		if bank == nil || !strings.HasPrefix(name, "bank") || len(out) == partsShown {
			continue
		}
		m := templates.ModuleLine{Slot: text(bank["slot"]), Product: strings.TrimSpace(text(bank["vendor"]) + " " + text(bank["product"])), Serial: text(bank["serial"])}
		if m.Slot == "" {
			m.Slot = node.Shorten(name, valueLimit)
		}
		if size, ok := node.Int(bank["size"]); ok && size > 0 {
			m.Size = binary(size)
		}
		out = append(out, m)
	}
	return out
}

// neighbourWords say where a cable ends; "" where nobody knows.
func neighbourWords(ctx context.Context, n node.Neighbour) string {
	name := cmp.Or(n.SwitchName, n.SwitchID)
	port := cmp.Or(n.PortID, n.PortDescription)
	switch {
	case port == "":
		return node.Shorten(name, valueLimit)
	case name == "":
		return templates.T(ctx, "node.switch.port", node.Shorten(port, valueLimit))
	}
	return templates.T(ctx, "node.switch", node.Shorten(name, valueLimit), node.Shorten(port, valueLimit))
}

// linkOf is where a port's cable ends, as its local_link_connection knows.
func linkOf(p node.Port) node.Neighbour {
	read := func(key string) string { return text(p.LocalLinkConnection[key]) }
	return node.Neighbour{SwitchName: read("switch_info"), SwitchID: read("switch_id"), PortID: read("port_id")}
}

func object(v any) map[string]any { m, _ := v.(map[string]any); return m }

// objects are the objects of a list; of a giant one, the first few hundred.
func objects(v any) []map[string]any {
	list, _ := v.([]any)
	var out []map[string]any
	for _, e := range list {
		if m := object(e); m != nil && len(out) < 256 {
			out = append(out, m)
		}
	}
	return out
}

// valueLimit is how many characters of a value that a server told of itself are shown.
const valueLimit = 300

func text(v any) string {
	s, _ := node.Text(v)
	return node.Shorten(s, valueLimit)
}

// address leaves out the spellings of "none found" (G12).
func address(v any) string {
	s := strings.TrimSpace(text(v))
	if slices.Contains([]string{"0.0.0.0", "::", "::/0"}, s) {
		return ""
	}
	return s
}

func cpuWords(ctx context.Context, cpu map[string]any) string {
	var parts []string
	if n, ok := node.Int(cpu["count"]); ok && n > 0 {
		parts = append(parts, fmt.Sprintf("%d ×", n))
	}
	if model := text(cpu["model_name"]); model != "" {
		parts = append(parts, model)
	}
	var more []string
	if arch := text(cpu["architecture"]); arch != "" {
		more = append(more, arch)
	}
	if n, ok := node.Int(cpu["socket_count"]); ok && n > 0 {
		more = append(more, templates.N(ctx, "inventory.sockets", int(n)))
	}
	if len(more) > 0 {
		parts = append(parts, "("+strings.Join(more, ", ")+")")
	}
	return strings.Join(parts, " ")
}

func memoryWords(memory map[string]any) string {
	if mb, ok := node.Int(memory["physical_mb"]); ok && mb > 0 {
		return binary(mb << 20)
	}
	if total, ok := node.Int(memory["total"]); ok && total > 0 {
		return binary(total)
	}
	return ""
}

// binary is a size of memory, in powers of 1024.
func binary(b int64) string {
	if b < 1<<30 {
		return fmt.Sprintf("%d MiB", b>>20)
	}
	return strings.TrimSuffix(fmt.Sprintf("%.1f", float64(b)/(1<<30)), ".0") + " GiB"
}

// decimal is a size of a disk, in powers of 1000, as it stands on the label.
func decimal(b int64) string {
	switch {
	case b >= 1e12:
		return strings.TrimSuffix(fmt.Sprintf("%.2f", float64(b)/1e12), ".00") + " TB"
	case b >= 1e9:
		return fmt.Sprintf("%.0f GB", float64(b)/1e9)
	}
	return fmt.Sprintf("%.0f MB", float64(b)/1e6)
}

func diskLine(d map[string]any) templates.DiskLine {
	l := templates.DiskLine{Name: text(d["name"]), Model: strings.TrimSpace(text(d["vendor"]) + " " + text(d["model"])), Serial: text(d["serial"])}
	if size, ok := node.Int(d["size"]); ok && size > 0 {
		l.Size = decimal(size)
	}
	if spins, ok := d["rotational"].(bool); ok {
		l.Kind = map[bool]string{true: "HDD", false: "SSD"}[spins]
	}
	if tran := text(d["tran"]); tran != "" {
		l.Kind = strings.TrimSpace(l.Kind + " " + tran)
	}
	return l
}

func nicLine(ctx context.Context, n map[string]any) templates.NICLine {
	l := templates.NICLine{Name: text(n["name"]), MAC: text(n["mac_address"]), Address: text(n["ipv4_address"]), Product: strings.TrimSpace(text(n["vendor"]) + " " + text(n["product"]))}
	if l.Address == "" {
		l.Address = text(n["ipv6_address"])
	}
	if up, ok := n["has_carrier"].(bool); ok {
		l.Link, l.Down = map[bool]string{true: templates.T(ctx, "inventory.up"), false: templates.T(ctx, "inventory.down")}[up], !up
	}
	if mbps, ok := node.Int(n["speed_mbps"]); ok && mbps > 0 {
		l.Speed = fmt.Sprintf("%d Mbit/s", mbps)
		if mbps%1000 == 0 {
			l.Speed = fmt.Sprintf("%d Gbit/s", mbps/1000)
		}
	}
	return l
}
