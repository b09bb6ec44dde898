package hooks

import (
	"encoding/json"
	"fmt"
	"maps"

	"cagenut/inspect/inventory"
	"cagenut/inspect/inventory/lldp"
	"cagenut/node"
)

// work is a report in the hands of the hooks.
type work struct {
	Input
	properties map[string]any
	ports      []*knownPort
	plugin     map[string]any // plugin data: json.RawMessage as reported, or what a hook put there

	usable []nic  // the interfaces that are real, by validateInterfaces
	valid  []nic  // those of them that ports are made of
	pxeMAC string // of the interface that the server booted from; "" when unknown

	sections map[string]map[string]json.RawMessage // see section
	heard    map[string]announcement               // by interface, see announced
	devices  *[]inventory.PCIDevice                // see pciDevices

	notes     []string
	moreNotes int
}

// maxNotes bounds what the hooks add to an attempt.
const maxNotes = 200

func (w *work) note(format string, a ...any) {
	if len(w.notes) >= maxNotes {
		w.moreNotes++
		return
	}
	w.notes = append(w.notes, fmt.Sprintf(format, a...))
}

func (w *work) allNotes() []string {
	if w.moreNotes > 0 {
		return append(w.notes, fmt.Sprintf("and %d more", w.moreNotes))
	}
	return w.notes
}

// knownPort is a port that the node has or gets.
type knownPort struct {
	node.Port
	added, changed bool
}

// port is the one with the MAC, nil for none.
func (w *work) port(mac string) *knownPort {
	for _, p := range w.ports {
		if p.Address == mac {
			return p
		}
	}
	return nil
}

// set puts a value into a document of a port; the document that was handed in stays as it was.
func (p *knownPort) set(doc *map[string]any, key string, v any) {
	*doc = maps.Clone(*doc)
	if *doc == nil {
		*doc = map[string]any{}
	}
	(*doc)[key], p.changed = v, true
}

// announcement is what the switch at the other end of a cable said.
type announcement struct {
	statements []lldp.TLV
	parsed     map[string]any // by a ramdisk or service that parsed it itself
}

// announced is what was heard on an interface; nothing where nobody listened.
func (w *work) announced(i inventory.Interface) announcement {
	if a, again := w.heard[i.Name]; again {
		return a
	}
	if w.heard == nil {
		w.heard = map[string]announcement{}
	}
	var a announcement
	for _, v := range []json.RawMessage{w.section("lldp_raw")[i.Name], i.Fields["lldp"]} {
		if len(v) == 0 || string(v) == "null" {
			continue
		}
		var notes []string
		if a.statements, notes = lldp.Read(v); len(notes) > 0 {
			w.noteInterface(i, notes)
		}
		if len(a.statements) > 0 {
			break
		}
	}
	a.parsed = object(w.section("parsed_lldp")[i.Name])
	if len(a.parsed) == 0 { // as the inspector service keeps it
		kept, _ := object(w.section("all_interfaces")[i.Name])["lldp_processed"].(map[string]any)
		a.parsed = kept
	}
	w.heard[i.Name] = a
	return a
}

func (w *work) noteInterface(i inventory.Interface, notes []string) {
	for _, n := range notes {
		w.note("interface %q: %s", inventory.Excerpt(i.Name), n)
	}
}

// section are the members of an object among the reported plugin data; none for what is no object.
func (w *work) section(name string) map[string]json.RawMessage {
	if fields, again := w.sections[name]; again {
		return fields
	}
	if w.sections == nil {
		w.sections = map[string]map[string]json.RawMessage{}
	}
	fields, err := inventory.Members(w.Report.PluginData[name])
	if err != nil {
		fields = nil
	}
	w.sections[name] = fields
	return fields
}

// maxParsed is the size of a description of a switch that somebody else made and that is read.
const maxParsed = 64 << 10

// object reads a small JSON object, nil for all else.
func object(v json.RawMessage) map[string]any {
	var doc map[string]any
	if len(v) == 0 || len(v) > maxParsed || json.Unmarshal(v, &doc) != nil {
		return nil
	}
	return doc
}

// pciDevices are the reported ones; false where none were reported.
func (w *work) pciDevices() ([]inventory.PCIDevice, bool) {
	if w.devices == nil {
		devices, known, notes := w.Report.PCIDevices()
		for _, n := range notes {
			w.note("%s", n)
		}
		if !known {
			w.note("no PCI devices were reported")
			devices = nil
		} else if devices == nil {
			devices = []inventory.PCIDevice{}
		}
		w.devices = &devices
	}
	return *w.devices, *w.devices != nil
}
