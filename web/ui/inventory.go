package ui

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"

	"cagenut/node"
	"cagenut/templates"
)

// inventoryView reads a stored inventory (contract.md §6.3). A ramdisk wrote it: whatever is odd reads as absent, and
// the rest is shown.
func (p *Pages) inventoryView(i node.Inventory) *templates.Inventory {
	var doc map[string]any
	d := json.NewDecoder(bytes.NewReader(i.Inventory))
	d.UseNumber()
	if err := d.Decode(&doc); err != nil {
		return nil
	}
	v := &templates.Inventory{At: p.past(i.CreatedAt)}
	system, cpu, memory, boot := object(doc["system_vendor"]), object(doc["cpu"]), object(doc["memory"]), object(doc["boot"])
	add := func(name, value string, mono bool) {
		if value = strings.TrimSpace(value); value != "" {
			v.System = append(v.System, templates.Fact{Name: name, Value: value, Mono: mono})
		}
	}
	add("System", text(system["manufacturer"])+" "+text(system["product_name"]), false)
	add("Serial", text(system["serial_number"]), true)
	firmware := object(system["firmware"])
	add("Firmware", strings.Join(strings.Fields(text(firmware["vendor"])+" "+text(firmware["version"])+" "+text(firmware["build_date"])), " "), false)
	add("CPU", cpuWords(cpu), false)
	add("Memory", memoryWords(memory), false)
	add("Boot mode", text(boot["current_boot_mode"]), false)
	add("Booted from", text(boot["pxe_interface"]), true)
	add("BMC address", address(doc["bmc_address"]), true)
	add("BMC address (v6)", address(doc["bmc_v6address"]), true)
	add("BMC MAC", text(doc["bmc_mac"]), true)
	add("Host name", text(doc["hostname"]), true)
	for _, d := range objects(doc["disks"]) {
		v.Disks = append(v.Disks, diskLine(d))
	}
	for _, n := range objects(doc["interfaces"]) {
		v.NICs = append(v.NICs, nicLine(n))
	}
	return v
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

func text(v any) string { s, _ := node.Text(v); return s }

// address leaves out the two spellings of "none found".
func address(v any) string {
	s := text(v)
	if s == "0.0.0.0" || s == "::/0" {
		return ""
	}
	return s
}

func cpuWords(cpu map[string]any) string {
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
		more = append(more, plural(n, "socket"))
	}
	if len(more) > 0 {
		parts = append(parts, "("+strings.Join(more, ", ")+")")
	}
	return strings.Join(parts, " ")
}

func plural(n int64, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
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

func nicLine(n map[string]any) templates.NICLine {
	l := templates.NICLine{Name: text(n["name"]), MAC: text(n["mac_address"]), Address: text(n["ipv4_address"]), Product: strings.TrimSpace(text(n["vendor"]) + " " + text(n["product"]))}
	if l.Address == "" {
		l.Address = text(n["ipv6_address"])
	}
	if up, ok := n["has_carrier"].(bool); ok {
		l.Link = map[bool]string{true: "up", false: "down"}[up]
	}
	if mbps, ok := node.Int(n["speed_mbps"]); ok && mbps > 0 {
		l.Speed = fmt.Sprintf("%d Mbit/s", mbps)
		if mbps%1000 == 0 {
			l.Speed = fmt.Sprintf("%d Gbit/s", mbps/1000)
		}
	}
	return l
}
