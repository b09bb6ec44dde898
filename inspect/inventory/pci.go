package inventory

import (
	"encoding/json"
	"fmt"
	"strings"
)

// maxPCIDevices is how many devices are looked at; a server with all the virtual functions that its cards have stays below.
const maxPCIDevices = 8192

// PCIDevice is a device by its ids: lower-case hexadecimal, without 0x.
type PCIDevice struct {
	VendorID, ProductID string
	Bus                 string // such as 0000:3b:00.0; "" when unknown
}

// PCIDevices are the devices that the ramdisk's collector found, or that a BMC told of. known is false where nobody told
// of any; notes tells of what was skipped.
func (r Report) PCIDevices() (devices []PCIDevice, known bool, notes []string) {
	where, v := "pci_devices", r.PluginData["pci_devices"]
	if isNull(v) {
		where = "inventory.pci_devices"
		if fields, err := Members(r.Inventory); err == nil {
			v = fields["pci_devices"]
		}
	}
	if isNull(v) {
		return nil, false, nil
	}
	parent, key, _ := strings.Cut(where, ".")
	if key == "" {
		parent, key = "report", where
	}
	all := reader{where: parent, fields: map[string]json.RawMessage{key: v}, notes: &notes}.list(key, maxPCIDevices)
	for i, v := range all {
		one := read(fmt.Sprintf("%s[%d]", where, i), v, &notes)
		d := PCIDevice{VendorID: PCIID(one.text("vendor_id")), ProductID: PCIID(one.text("product_id")), Bus: one.text("bus")}
		if d.VendorID != "" && d.ProductID != "" {
			devices = append(devices, d)
		}
	}
	return devices, true, notes
}

// PCIID is an id in the spelling that ids are compared in; "" for what is none.
func PCIID(s string) string {
	s = strings.TrimPrefix(strings.ToLower(strings.TrimSpace(s)), "0x")
	if len(s) != 4 || strings.Trim(s, "0123456789abcdef") != "" {
		return ""
	}
	return s
}
