package redfish

import (
	"fmt"
	"strconv"
	"strings"

	"cagenut/node"
)

// pcie are the functions of the cards; a card whose functions the BMC does not tell is listed by itself.
func pcie(w *walk, s system, chassis []member) []node.PCIeDevice {
	devices := w.array(s.all["PCIeDevices"], "Manufacturer", "Model", "PCIeFunctions")
	if len(devices) == 0 {
		for _, ch := range chassis {
			devices = append(devices, w.array(ch.resource["PCIeDevices"], "Manufacturer", "Model", "PCIeFunctions")...)
		}
	}
	var out []node.PCIeDevice
	for _, d := range devices {
		if d.state().absent() {
			continue
		}
		card := node.PCIeDevice{Name: d.word("Name", "Id"), Manufacturer: d.word("Manufacturer"), Model: d.word("Model")}
		functions := w.collection(link(d.resource["PCIeFunctions"]), "VendorId", "DeviceId")
		if len(functions) == 0 {
			functions = w.array(object(d.resource["Links"])["PCIeFunctions"], "VendorId", "DeviceId")
		}
		if len(functions) == 0 {
			out = append(out, card)
		}
		for _, f := range functions {
			one := card
			one.VendorID, one.DeviceID, one.Class = hexadecimal(f.word("VendorId")), hexadecimal(f.word("DeviceId")), hexadecimal(f.word("ClassCode"))
			one.Address = pcieAddress(f.resource)
			out = append(out, one)
		}
	}
	return out
}

func hexadecimal(s string) string {
	s = strings.TrimPrefix(strings.ToLower(s), "0x")
	if s == "" || strings.Trim(s, "0123456789abcdef") != "" {
		return ""
	}
	return s
}

// pcieAddress is segment, bus, device and function, as newer BMCs tell them.
func pcieAddress(f resource) string {
	part := func(key string) (uint64, bool) {
		n, err := strconv.ParseUint(f.word(key), 0, 16)
		return n, err == nil
	}
	bus, ok1 := part("BusNumber")
	device, ok2 := part("DeviceNumber")
	function, ok3 := part("FunctionNumber")
	if !ok1 || !ok2 || !ok3 {
		return ""
	}
	segment, _ := part("SegmentNumber")
	return fmt.Sprintf("%04x:%02x:%02x.%x", segment, bus, device, function)
}
