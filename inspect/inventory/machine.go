package inventory

import (
	"encoding/json"
	"strings"
	"unicode"

	"cagenut/node"
)

// How much of a report is told of a machine that nobody knows.
const (
	machineText  = 80
	machineParts = 32
)

// Machine is the report in short, for people who have to decide whether they know the machine. It is bounded, and has
// nothing in it that a terminal obeys.
func (r Report) Machine() node.Machine {
	m := node.Machine{
		Manufacturer: shown(r.System.Manufacturer), Product: shown(r.System.ProductName), Serial: shown(r.System.SerialNumber),
		CPU: shown(r.CPU.Model), CPUs: r.CPU.Count, Architecture: shown(r.CPU.Architecture), MemoryMB: r.Memory.PhysicalMB,
		BMCAddresses: r.BMCAddresses, MACs: r.MACs(),
	}
	for _, d := range r.Disks[:min(len(r.Disks), machineParts)] {
		m.Disks = append(m.Disks, node.MachineDisk{Name: shown(d.Name), Model: d.shown("model"), Serial: d.shown("serial"), Bytes: d.Size})
	}
	for _, i := range r.Interfaces[:min(len(r.Interfaces), machineParts)] {
		m.NICs = append(m.NICs, node.MachineNIC{Name: shown(i.Name), MAC: i.MAC, Address: i.Address()})
	}
	return m
}

// shown is a field of the disk as it is shown; "" for what is no text.
func (d Disk) shown(key string) string {
	var s string
	if json.Unmarshal(d.Fields[key], &s) != nil {
		return ""
	}
	return shown(s)
}

// shown is a reported text for people: one short line.
func shown(s string) string {
	s = strings.Map(func(r rune) rune {
		if unicode.IsPrint(r) {
			return r
		}
		return ' '
	}, s)
	return node.Shorten(strings.Join(strings.Fields(s), " "), machineText)
}
