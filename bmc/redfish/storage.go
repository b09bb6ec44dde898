package redfish

import (
	"encoding/json"
	"strings"

	"cagenut/node"
)

// storage is the controllers and the disks. Storage tells most, SimpleStorage and HPE's SmartStorage take its place where it
// has no disks (quirk 48).
func storage(w *walk, s system) ([]node.StorageController, []node.Drive) {
	var controllers []node.StorageController
	var drives []node.Drive
	for _, m := range w.collection(link(s.all["Storage"]), "Drives", "StorageControllers", "Controllers") {
		controllers = append(controllers, storageControllers(w, m.resource)...)
		for _, d := range w.array(m.resource["Drives"], "CapacityBytes", "Model") {
			if !d.state().absent() {
				drives = append(drives, drive(d.resource))
			}
		}
		for _, v := range w.collection(link(m.resource["Volumes"]), "CapacityBytes", "Capacity") {
			if v.word("VolumeType") != "RawDevice" { // such a volume is the drive itself
				drives = append(drives, volume(v.resource))
			}
		}
	}
	if len(drives) == 0 {
		more, disks := smartStorage(w, s)
		controllers, drives = append(controllers, more...), disks
	}
	if len(drives) == 0 {
		drives = simpleStorage(w, s)
	}
	return controllers, drives
}

// storageControllers are in a collection of their own (new), or inside the resource (old), or linked from there.
func storageControllers(w *walk, r resource) []node.StorageController {
	list := w.collection(link(r["Controllers"]), "Name", "Model")
	if inside := items(r["StorageControllers"]); len(list) == 0 || len(inside) > len(list) {
		list = w.array(r["StorageControllers"], "Name", "Model", "FirmwareVersion", "Manufacturer")
	}
	var out []node.StorageController
	for _, m := range list {
		st := m.state()
		if st.absent() {
			continue
		}
		out = append(out, node.StorageController{
			Name: m.word("Name", "MemberId", "Id"), Manufacturer: m.word("Manufacturer"), Model: m.word("Model"),
			Serial: m.word("SerialNumber"), Firmware: m.word("FirmwareVersion"), Health: st.worst(),
		})
	}
	return out
}

func drive(r resource) node.Drive {
	return node.Drive{
		Name: r.word("Name", "Id"), Manufacturer: r.word("Manufacturer"), Model: r.word("Model"), Serial: r.word("SerialNumber"),
		WWN: wwn(r["Identifiers"]), Bytes: r.whole("CapacityBytes"), Rotational: rotational(r), Protocol: r.word("Protocol"),
		Health: r.state().worst(),
	}
}

func volume(r resource) node.Drive {
	size := r.whole("CapacityBytes")
	if size == 0 {
		size = object(object(r["Capacity"])["Data"]).whole("AllocatedBytes", "ProvisionedBytes")
	}
	return node.Drive{
		Name: r.word("DisplayName", "Name", "Id"), Manufacturer: r.word("Manufacturer"), Model: r.word("Model"),
		WWN: wwn(r["Identifiers"]), Bytes: size, Volume: true, Health: r.state().worst(),
	}
}

// rotational is told by the kind of medium; a speed of 0 alone says nothing.
func rotational(r resource) *bool {
	switch r.word("MediaType") {
	case "HDD", "SMR":
		return ref(true)
	case "SSD":
		return ref(false)
	}
	if r.whole("RotationSpeedRPM", "RotationalSpeedRpm") > 0 {
		return ref(true)
	}
	return nil
}

func wwn(raw json.RawMessage) string {
	for _, item := range items(raw) {
		id := object(item)
		switch id.word("DurableNameFormat") {
		case "NAA", "EUI":
			if name := id.word("DurableName"); name != "" {
				return name
			}
		}
	}
	return ""
}

func simpleStorage(w *walk, s system) []node.Drive {
	var out []node.Drive
	for _, m := range w.collection(link(s.all["SimpleStorage"]), "Devices") {
		for _, raw := range items(m.resource["Devices"]) {
			d := object(raw)
			if !d.state().absent() && d.word("Model", "CapacityBytes") != "" {
				out = append(out, drive(d))
			}
		}
	}
	return out
}

// smartStorage is where older HPE firmware keeps disks: below its own extension of the system.
func smartStorage(w *walk, s system) (controllers []node.StorageController, drives []node.Drive) {
	oem := object(s.all["Oem"])
	for _, vendor := range []string{"Hpe", "Hp"} {
		own := object(oem[vendor])
		start := w.follow(object(own["Links"]), "SmartStorage")
		if start == nil {
			start = w.follow(own, "SmartStorage")
		}
		for _, controller := range w.collection(link(object(start["Links"])["ArrayControllers"]), "Links") {
			controllers = append(controllers, node.StorageController{
				Name: controller.word("Name", "Id"), Model: controller.word("Model"), Serial: controller.word("SerialNumber"),
				Firmware: object(object(controller.resource["FirmwareVersion"])["Current"]).word("VersionString"), Health: controller.state().worst(),
			})
			links := object(controller.resource["Links"])
			for _, d := range w.collection(link(links.first("PhysicalDrives", "DiskDrives")), "CapacityMiB", "Model") {
				disk := drive(d.resource)
				disk.Name = strings.TrimSpace(disk.Name + " " + d.word("Location")) // the names are all the same
				disk.Bytes = d.whole("CapacityMiB") << 20
				disk.Protocol = d.word("InterfaceType")
				drives = append(drives, disk)
			}
		}
	}
	return controllers, drives
}
