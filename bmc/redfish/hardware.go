package redfish

import (
	"context"
	"math"
	"strings"

	"cagenut/node"
)

// Hardware is the inventory that the BMC keeps of its server. What cannot be read is left out (contract.md §4.5). Where time
// runs out, the next call for the same attempt goes on from there.
func (c *client) Hardware(ctx context.Context) (h node.Hardware, err error) {
	err = c.longWalk(ctx, "read the hardware inventory", func(w *walk, s system) error {
		h.System = systemIdentity(w, s)
		h.Processors = processors(w, s)
		h.Memory = memory(w, s)
		h.MemoryMiB = memoryMiB(s, h.Memory)
		h.BootMode, h.SecureBoot = bootMode(s), secureBoot(w, s)
		chassis := w.chassis(s)
		h.NICs = nics(w, s, chassis)
		h.Storage, h.Drives = storage(w, s)
		h.PCIe = pcie(w, s, chassis)
		return nil
	})
	return h, err
}

func systemIdentity(w *walk, s system) node.SystemIdentity {
	id := node.SystemIdentity{
		Manufacturer: s.all.word("Manufacturer"), Model: s.all.word("Model"), SKU: s.all.word("SKU"), Serial: s.all.word("SerialNumber"),
		UUID: s.all.word("UUID"), AssetTag: s.all.word("AssetTag"), HostName: s.all.word("HostName"), BIOSVersion: s.all.word("BiosVersion"),
	}
	if id.Manufacturer == "" {
		id.Manufacturer = w.c.vendor()
	}
	return id
}

// processors are the sockets. GPUs and the like are listed beside them and left out (quirk 49).
func processors(w *walk, s system) []node.Processor {
	var out []node.Processor
	for _, m := range w.collection(link(s.all["Processors"]), "Model", "TotalCores") {
		st := m.state()
		if kind := m.word("ProcessorType"); st.absent() || (kind != "" && kind != "CPU") {
			continue
		}
		out = append(out, node.Processor{
			Socket: m.word("Socket", "Name", "Id"), Manufacturer: m.word("Manufacturer"), Model: m.word("Model"),
			Architecture: architecture(m.resource),
			Cores:        int(m.whole("TotalCores", "TotalEnabledCores")), Threads: int(m.whole("TotalThreads")),
			MHz: int(m.whole("MaxSpeedMHz", "OperatingSpeedMHz")), Health: st.worst(),
		})
	}
	return out
}

// architectures are Redfish's instruction sets in Ironic's words (contract.md §4.5).
var architectures = map[string]string{
	"x86-64": "x86_64", "x86": "i686", "arm-a64": "aarch64", "arm-a32": "arm", "ia-64": "ia64", "mips32": "mips", "mips64": "mips64",
}

// architecture is told by the instruction set alone: ProcessorArchitecture means x86 and x86-64 by the same word.
func architecture(r resource) string {
	return architectures[strings.ReplaceAll(strings.ToLower(r.word("InstructionSet")), "_", "-")]
}

func memory(w *walk, s system) []node.MemoryModule {
	var out []node.MemoryModule
	for _, m := range w.collection(link(s.all["Memory"]), "CapacityMiB") {
		st, size := m.state(), m.whole("CapacityMiB")
		if st.absent() || size == 0 {
			continue
		}
		slot := m.word("DeviceLocator")
		if slot == "" {
			slot = object(object(m.resource["Location"])["PartLocation"]).word("ServiceLabel")
		}
		if slot == "" {
			slot = m.word("Name", "Id")
		}
		out = append(out, node.MemoryModule{
			Slot: slot, Manufacturer: m.word("Manufacturer"), PartNumber: m.word("PartNumber"), Serial: m.word("SerialNumber"),
			Kind: m.word("MemoryDeviceType", "MemoryType"), MiB: size, MHz: int(m.whole("OperatingSpeedMhz", "OperatingSpeedMHz")),
			Health: st.worst(),
		})
	}
	return out
}

// memoryMiB is the BMC's sum, and where it has none that of the modules (quirk 49).
func memoryMiB(s system, modules []node.MemoryModule) int64 {
	if gib := object(s.all["MemorySummary"]).number("TotalSystemMemoryGiB"); gib != nil && *gib > 0 && *gib < 1<<30 {
		return int64(math.Round(*gib * 1024))
	}
	var sum int64
	for _, m := range modules {
		sum += m.MiB
	}
	return sum
}

// bootMode is the mode that the override shows, which is that of the system also where none is set.
func bootMode(s system) string {
	switch s.boot.mode {
	case "UEFI":
		return "uefi"
	case "Legacy":
		return "bios"
	}
	return ""
}

// secureBoot is how the server has booted, else how it is set.
func secureBoot(w *walk, s system) *bool {
	r := w.follow(s.all, "SecureBoot")
	switch r.word("SecureBootCurrentBoot") {
	case "Enabled":
		return ref(true)
	case "Disabled":
		return ref(false)
	}
	return boolean(r["SecureBootEnable"])
}

func ref[T any](v T) *T { return &v }
