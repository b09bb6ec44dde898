package hooks

// Accelerator is a device that the hook of that name knows.
type Accelerator struct {
	VendorID, DeviceID string // four hexadecimal digits, lower case
	Type               string // such as GPU
	Info               string // what it is called
}

// KnownAccelerators are those that are known without a setting.
func KnownAccelerators() []Accelerator {
	const nvidia = "10de"
	return []Accelerator{
		{nvidia, "1df6", "GPU", "NVIDIA Tesla V100S"}, {nvidia, "1eb8", "GPU", "NVIDIA Tesla T4"}, {nvidia, "2235", "GPU", "NVIDIA A40"},
		{nvidia, "2236", "GPU", "NVIDIA A10"}, {nvidia, "26b9", "GPU", "NVIDIA L40S"}, {nvidia, "26ba", "GPU", "NVIDIA L20"},
	}
}

// accelerators writes properties.accelerators: the known devices among the reported ones, and where they sit.
type accelerators struct {
	noPreprocess
	noNeeds
	known []Accelerator
}

func (accelerators) Name() string { return "accelerators" }

func (h accelerators) Main(w *work) error {
	devices, reported := w.pciDevices()
	if !reported {
		return nil
	}
	known := h.known
	if known == nil {
		known = KnownAccelerators()
	}
	found := []any{}
	for _, d := range devices {
		for _, a := range known {
			if a.VendorID != d.VendorID || a.DeviceID != d.ProductID {
				continue
			}
			found = append(found, map[string]any{"vendor_id": a.VendorID, "device_id": a.DeviceID, "type": a.Type, "device_info": a.Info, "pci_address": d.Bus})
			break
		}
	}
	w.properties["accelerators"] = found
	return nil
}
