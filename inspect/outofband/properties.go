package outofband

import (
	"maps"
	"strings"

	"cagenut/inspect/inventory"
	"cagenut/node"
)

// smallestRoot is the least size of a disk that an operating system is put on.
const smallestRoot = 4 * inventory.GiB

// properties are the node's with what the BMC told: memory_mb, local_gb, and the capability boot_mode where there is none.
// What it did not tell stays as it was. cpu_arch is left to the hook.
func properties(before map[string]any, h node.Hardware) (map[string]any, []string) {
	p := maps.Clone(before)
	if p == nil {
		p = map[string]any{}
	}
	if h.MemoryMiB > 0 {
		p["memory_mb"] = h.MemoryMiB
	}
	if gb, known := localGB(h.Drives); known {
		p["local_gb"] = gb
	}
	if h.BootMode == "" {
		return p, nil
	}
	capabilities, isText := p["capabilities"].(string)
	if p["capabilities"] != nil && !isText {
		return p, []string{"properties.capabilities is no text: the capability boot_mode was not set"}
	}
	if !hasCapability(capabilities, "boot_mode") {
		if capabilities != "" {
			capabilities += ","
		}
		p["capabilities"] = capabilities + "boot_mode:" + h.BootMode
	}
	return p, nil
}

// undiscovered lists, sorted, what a node needs and has from nobody.
func undiscovered(p map[string]any, h node.Hardware) []string {
	var lacking []string
	for _, key := range []string{"cpu_arch", "local_gb", "memory_mb"} {
		if p[key] == nil && (key != "cpu_arch" || processors(h.Processors).Architecture == "") {
			lacking = append(lacking, key)
		}
	}
	return lacking
}

// localGB is the size of the disk that a deployment would take, in GiB, less one for partitioning: the smallest that an
// operating system fits on, of the volumes where there are such, since their members cannot be used; 0 for a server
// without one. It is not known where the BMC tells of disks and of no size.
func localGB(drives []node.Drive) (gb int64, known bool) {
	var volume, single int64
	known = len(drives) == 0
	for _, d := range drives {
		known = known || d.Bytes > 0
		smallest := &single
		if d.Volume {
			smallest = &volume
		}
		if d.Bytes >= smallestRoot && (*smallest == 0 || d.Bytes < *smallest) {
			*smallest = d.Bytes
		}
	}
	if volume > 0 {
		single = volume
	}
	return max(single/inventory.GiB-1, 0), known
}

func hasCapability(text, name string) bool {
	for part := range strings.SplitSeq(text, ",") {
		if key, _, _ := strings.Cut(part, ":"); strings.TrimSpace(key) == name {
			return true
		}
	}
	return false
}
