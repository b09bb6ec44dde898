package inventory

import (
	"encoding/json"
	"fmt"
	"strings"
)

// maxChildren is how many parts of one part of a machine are looked at.
const maxChildren = 1024

// MiB is the unit of `memory_mb`.
const MiB = 1 << 20

// lshw is what the output of `lshw -json` tells of a machine.
type lshw struct {
	System      System
	MemoryBytes int64
}

// readLSHW reads that output. Newer versions of lshw put the machine into a list of one.
func readLSHW(value json.RawMessage, notes *[]string) lshw {
	if list, err := Elements(value, 1); err == nil && len(list) == 1 {
		value = list[0]
	}
	machine := read("lshw", value, notes)
	found := lshw{System: System{
		Manufacturer: Known(machine.text("vendor")), ProductName: Known(machine.text("product")), SerialNumber: Known(machine.text("serial")),
	}}
	for i, v := range machine.list("children", maxChildren) {
		core := read(fmt.Sprintf("lshw.children[%d]", i), v, notes)
		if core.text("id") != "core" {
			continue
		}
		for k, v := range core.list("children", maxChildren) {
			found.MemoryBytes += memoryBytes(read(fmt.Sprintf("%s.children[%d]", core.where, k), v, notes))
		}
	}
	return found
}

// memoryBytes is the size of one array of main memory. Not every firmware tells it of the array: then the banks count.
// What lshw calls memory otherwise, as caches and the firmware's own chip, is none.
func memoryBytes(part reader) int64 {
	if id := part.text("id"); id != "memory" && !strings.HasPrefix(id, "memory:") {
		return 0
	}
	if size := part.bytes("size"); size > 0 {
		return size
	}
	var sum int64
	for i, v := range part.list("children", maxChildren) {
		bank := read(fmt.Sprintf("%s.children[%d]", part.where, i), v, part.notes)
		if strings.HasPrefix(bank.text("id"), "bank") {
			sum += bank.bytes("size")
		}
	}
	return sum
}
