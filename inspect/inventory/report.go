package inventory

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"unicode/utf8"

	"cagenut/node"
)

// Report is what a ramdisk posted. Its documents are parts of the body that was parsed, which must not change.
type Report struct {
	// Inventory is the document under `inventory`, byte for byte.
	Inventory json.RawMessage
	// PluginData holds every other top-level key but `logs`, each byte for byte.
	PluginData map[string]json.RawMessage
	// Logs is base64 of a tar.gz, as posted; empty without. It is never copied anywhere else (G25).
	Logs []byte
	// Error is what went wrong in the ramdisk, in its own words; "" when nothing did.
	Error string

	// What follows is read from the documents above; zero where the ramdisk said nothing of use.

	Interfaces   []Interface // in the order reported, also those that no port can be made of
	CPU          CPU
	Memory       Memory
	Disks        []Disk
	RootDisk     *Disk // which disk the ramdisk itself would take
	Boot         Boot
	System       System
	Hostname     string
	BMCAddresses []string // of the BMC, as KnownAddress spells them

	// Notes tells of what was skipped, one sentence each.
	Notes []string
}

// CPU is the processors together.
type CPU struct {
	Architecture string
	Count        int64 // logical processors
	Model        string
	Frequency    string // MHz
	Flags        []string
}

// Memory is the main memory.
type Memory struct {
	PhysicalMB int64
	Total      int64 // bytes
}

// Boot is how the server came up.
type Boot struct {
	Mode   string // "uefi" or "bios", lower case
	PXEMAC string // lower-case MAC of the interface that it booted from; "" when unknown
}

// System is what the vendor wrote into the firmware. Placeholders such as "Not Specified" count as unknown (G52).
type System struct {
	Manufacturer, ProductName, SerialNumber string
}

// maxNotes bounds what one report can make us keep.
const maxNotes = 100

// Parse reads a report. *node.Invalid says what is wrong with one that has not the minimum schema of contract.md §4.1.
// Nothing of the body is copied, because it may have 16 MiB; unless it had to be repaired first.
func Parse(body []byte) (Report, error) {
	var r Report
	if !utf8.Valid(body) {
		body = bytes.ToValidUTF8(body, []byte("\uFFFD"))
		r.Notes = append(r.Notes, "the report was not valid UTF-8; the bytes in question were replaced")
	}
	top, err := document(body)
	if err != nil {
		return Report{}, err
	}
	raw, ok := top["inventory"]
	if !ok {
		return Report{}, schemaError("", "'inventory' is a required property")
	}
	fields, err := object("inventory", raw)
	if err != nil {
		return Report{}, err
	}
	interfaces, err := checkInventory(fields)
	if err != nil {
		return Report{}, err
	}
	r.Inventory = raw
	outer := reader{where: "report", fields: top, notes: &r.Notes}
	r.Logs = outer.logs()
	r.Error = reported(outer.value("error"))
	r.PluginData = maps.Clone(top)
	delete(r.PluginData, "inventory")
	delete(r.PluginData, "logs")

	r.readInventory(reader{where: "inventory", fields: fields, notes: &r.Notes}, interfaces)
	r.readLegacy(outer, fields)
	if len(r.Notes) > maxNotes {
		r.Notes = append(r.Notes[:maxNotes:maxNotes], fmt.Sprintf("and %d more", len(r.Notes)-maxNotes))
	}
	return r, nil
}

func (r *Report) readInventory(inventory reader, interfaces []json.RawMessage) {
	for i, v := range interfaces {
		r.Interfaces = append(r.Interfaces, readInterface(read(fmt.Sprintf("inventory.interfaces[%d]", i), v, &r.Notes)))
	}
	cpu := read("inventory.cpu", inventory.value("cpu"), &r.Notes)
	r.CPU = CPU{Architecture: cpu.text("architecture"), Count: cpu.whole("count"), Model: cpu.text("model_name"), Frequency: cpu.text("frequency")}
	for _, v := range cpu.list("flags", maxFlags) {
		var flag string
		if json.Unmarshal(v, &flag) == nil {
			r.CPU.Flags = append(r.CPU.Flags, flag)
		}
	}
	r.Memory = readMemory(read("inventory.memory", inventory.value("memory"), &r.Notes))
	for i, v := range inventory.list("disks", maxDisks) {
		if d, ok := readDisk(read(fmt.Sprintf("inventory.disks[%d]", i), v, &r.Notes)); ok {
			r.Disks = append(r.Disks, d)
		}
	}
	boot := read("inventory.boot", inventory.value("boot"), &r.Notes)
	r.Boot = Boot{Mode: strings.ToLower(boot.text("current_boot_mode")), PXEMAC: r.bootMAC(boot, "pxe_interface")}
	system := read("inventory.system_vendor", inventory.value("system_vendor"), &r.Notes)
	r.System = System{Manufacturer: Known(system.text("manufacturer")), ProductName: Known(system.text("product_name")), SerialNumber: Known(system.text("serial_number"))}
	r.Hostname = inventory.text("hostname")
	r.addBMC(inventory.text("bmc_address"))
	r.addBMC(inventory.text("bmc_v6address"))
}

// readLegacy takes from the top level what only there is.
func (r *Report) readLegacy(outer reader, inventory map[string]json.RawMessage) {
	if v := outer.value("root_disk"); v != nil {
		if d, ok := readDisk(read("root_disk", v, &r.Notes)); ok {
			r.RootDisk = &d
		}
	}
	if r.Boot.PXEMAC == "" {
		r.Boot.PXEMAC = r.bootMAC(outer, "boot_interface")
	}
	r.readLSHW(outer)
	// `ipmi_address` never beats what the inventory says, not even that there is none (G12).
	_, v4 := inventory["bmc_address"]
	_, v6 := inventory["bmc_v6address"]
	if !v4 && !v6 {
		r.addBMC(outer.text("ipmi_address"))
	}
}

// readLSHW takes from `lshw`, which a collector of one's own may add, what the inventory does not tell.
func (r *Report) readLSHW(outer reader) {
	v := outer.value("lshw")
	if v == nil {
		return
	}
	found := readLSHW(v, &r.Notes)
	r.Memory.PhysicalMB = cmp.Or(r.Memory.PhysicalMB, found.MemoryBytes/MiB)
	r.System.Manufacturer = cmp.Or(r.System.Manufacturer, found.System.Manufacturer)
	r.System.ProductName = cmp.Or(r.System.ProductName, found.System.ProductName)
	r.System.SerialNumber = cmp.Or(r.System.SerialNumber, found.System.SerialNumber)
}

func (r *Report) addBMC(address string) {
	if a, ok := KnownAddress(address); ok && !slices.Contains(r.BMCAddresses, a) {
		r.BMCAddresses = append(r.BMCAddresses, a)
	}
}

func (r *Report) bootMAC(from reader, key string) string {
	s := from.text(key)
	mac, ok := parseBootMAC(s)
	if !ok && s != "" {
		r.Notes = append(r.Notes, fmt.Sprintf("%s.%s is no MAC: %s; ignored", from.where, key, Excerpt(s)))
	}
	return mac
}

// MACs lists every usable reported MAC once, in the order reported, but those that are ignored.
func (r Report) MACs() []string {
	var macs []string
	for _, i := range r.Interfaces {
		if i.MAC != "" && !i.Ignored && !slices.Contains(macs, i.MAC) {
			macs = append(macs, i.MAC)
		}
	}
	return macs
}

// Keys is what the report says of who it is about.
func (r Report) Keys() Keys { return Keys{MACs: r.MACs(), BMCAddresses: r.BMCAddresses} }

// reported is the ramdisk's error: one text; anything else but null counts, in its JSON spelling.
func reported(v json.RawMessage) string {
	if v == nil {
		return ""
	}
	var s string
	if json.Unmarshal(v, &s) == nil {
		return s
	}
	switch string(v) {
	case "false", "[]", "{}", "0":
		return ""
	}
	return string(v)
}

// Known is the value, or "" for one that a vendor left as it found it (G52).
func Known(s string) string { return node.Known(s) }

// parseBootMAC reads a MAC, also in pxelinux's form: a hardware type before it and dashes between (G21).
func parseBootMAC(s string) (string, bool) {
	s = strings.ReplaceAll(strings.ToLower(strings.TrimSpace(s)), "-", ":")
	if strings.Count(s, ":") == 6 && strings.Index(s, ":") == 2 {
		s = s[3:]
	}
	mac, ok := node.ParseMAC(s)
	if !ok {
		return "", false
	}
	return mac, true
}
