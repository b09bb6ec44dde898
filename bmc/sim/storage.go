package sim

import (
	"fmt"
	"strings"

	"cagenut/node"
)

const (
	storagePath      = systemPath + "/Storage"
	smartStoragePath = systemPath + "/SmartStorage"
)

// controllers are the ids of the storage controllers, with what they are for.
var controllers = [][2]string{{"NVMe", "nvme"}, {"SATA", "sata"}}

// drivesAt are the indexes of the disks at a controller.
func (h hardware) drivesAt(tran string) []int {
	var all []int
	for k, d := range h.disks {
		if d.tran == tran {
			all = append(all, k)
		}
	}
	return all
}

// storageDocument is the list of controllers, one of them, or what is below it.
func (s *Server) storageDocument(rest []string) map[string]any {
	var docs []map[string]any
	if !s.has(FaultSmartStorage) {
		for _, c := range controllers {
			if len(s.hardware.drivesAt(c[1])) > 0 {
				docs = append(docs, s.controllerDocument(c[0], c[1]))
			}
		}
	}
	if len(rest) <= 1 {
		return pick("StorageCollection", storagePath, docs, rest)
	}
	doc := pick("StorageCollection", storagePath, docs, rest[:1])
	if doc == nil {
		return nil
	}
	path, tran := storagePath+"/"+rest[0], strings.ToLower(rest[0])
	switch rest[1] {
	case "Drives":
		var drives []map[string]any
		for _, k := range s.hardware.drivesAt(tran) {
			drives = append(drives, s.diskDocument(path, k))
		}
		return pick("DriveCollection", path+"/Drives", drives, rest[2:])
	case "Volumes":
		return pick("VolumeCollection", path+"/Volumes", s.volumeDocuments(path, tran), rest[2:])
	}
	return nil
}

func (s *Server) controllerDocument(id, tran string) map[string]any {
	path := storagePath + "/" + id
	var drives []string
	worst := node.HealthOK
	for _, k := range s.hardware.drivesAt(tran) {
		drives = append(drives, fmt.Sprintf("%s/Drives/%d", path, k+1))
		if s.driveFailing(k) {
			worst = node.HealthWarning
		}
	}
	return resource("Storage.v1_17_0.Storage", path, map[string]any{
		"Id": id, "Name": id + " controller", "Drives": refs(drives...), "Drives@odata.count": len(drives), "Volumes": ref(path + "/Volumes"), "Status": status(worst),
		"StorageControllers": []any{map[string]any{
			"@odata.id": path + "#/StorageControllers/0", "MemberId": "0", "Name": id + " controller", "Manufacturer": "Example Storage", "Model": "EX-HBA 9", "SerialNumber": s.hardware.serial + "-" + id,
			"FirmwareVersion": "20.5.1", "Status": status(worst),
		}},
	})
}

func (s *Server) diskDocument(path string, k int) map[string]any {
	d := s.hardware.disks[k]
	media := "SSD"
	if d.rotational {
		media = "HDD"
	}
	return resource("Drive.v1_20_0.Drive", fmt.Sprintf("%s/Drives/%d", path, k+1), map[string]any{
		"Id": fmt.Sprint(k + 1), "Name": strings.TrimPrefix(d.name, "/dev/"), "Manufacturer": "Example Storage", "Model": d.model, "SerialNumber": d.serial, "CapacityBytes": d.bytes,
		"MediaType": media, "Protocol": map[string]string{"nvme": "NVMe", "sata": "SATA"}[d.tran], "Identifiers": []any{map[string]any{"DurableNameFormat": "NAA", "DurableName": d.wwn}},
		"FailurePredicted": s.driveFailing(k), "Status": healthOf(s.driveFailing(k), node.HealthWarning),
	})
}

// volumeDocuments are one mirror of the first two hard disks, where there are two.
func (s *Server) volumeDocuments(path, tran string) []map[string]any {
	at := s.hardware.drivesAt(tran)
	if tran != "sata" || len(at) < 2 {
		return nil
	}
	return []map[string]any{resource("Volume.v1_10_0.Volume", path+"/Volumes/1", map[string]any{
		"Id": "1", "Name": "Mirror 1", "RAIDType": "RAID1", "CapacityBytes": s.hardware.disks[at[0]].bytes, "Status": healthy(),
		"Links": map[string]any{"Drives": refs(fmt.Sprintf("%s/Drives/%d", path, at[0]+1), fmt.Sprintf("%s/Drives/%d", path, at[1]+1))},
	})}
}

// simpleStorageDocuments list the same disks in the old way.
func (s *Server) simpleStorageDocuments() []map[string]any {
	if s.has(FaultSmartStorage) {
		return nil
	}
	var docs []map[string]any
	for _, c := range controllers {
		var devices []any
		for _, k := range s.hardware.drivesAt(c[1]) {
			d := s.hardware.disks[k]
			devices = append(devices, map[string]any{"Name": strings.TrimPrefix(d.name, "/dev/"), "Model": d.model, "CapacityBytes": d.bytes, "Status": healthy()})
		}
		if len(devices) > 0 {
			docs = append(docs, resource("SimpleStorage.v1_3_2.SimpleStorage", systemPath+"/SimpleStorage/"+c[0], map[string]any{"Id": c[0], "Name": c[0] + " controller", "Devices": devices, "Status": healthy()}))
		}
	}
	return docs
}

// smartStorageDocument is where one vendor's machines keep their disks; other machines have nothing there.
func (s *Server) smartStorageDocument(rest []string) map[string]any {
	if !s.has(FaultSmartStorage) {
		return nil
	}
	const controllersPath = smartStoragePath + "/ArrayControllers"
	const path = controllersPath + "/0"
	kind := func(doc map[string]any, name string) map[string]any {
		doc["@odata.type"] = "#" + name + ".v2_0_0." + name
		return doc
	}
	switch {
	case len(rest) == 0:
		return kind(resource("", smartStoragePath, map[string]any{"Name": "SmartStorage", "Links": map[string]any{"ArrayControllers": ref(controllersPath)}, "Status": healthy()}), "HpeSmartStorage")
	case rest[0] != "ArrayControllers":
		return nil
	case len(rest) <= 2:
		doc := kind(resource("", path, map[string]any{
			"Id": "0", "Name": "Array controller", "Model": "EX-HBA 9", "SerialNumber": s.hardware.serial + "-A", "FirmwareVersion": map[string]any{"Current": map[string]any{"VersionString": "20.5.1"}},
			"Links": map[string]any{"PhysicalDrives": ref(path + "/DiskDrives")}, "Status": healthy(),
		}), "HpeSmartStorageArrayController")
		return pick("HpeSmartStorageArrayControllerCollection", controllersPath, []map[string]any{doc}, rest[1:])
	case rest[1] == "0" && rest[2] == "DiskDrives":
		var docs []map[string]any
		for k, d := range s.hardware.disks {
			media := "SSD"
			if d.rotational {
				media = "HDD"
			}
			docs = append(docs, kind(resource("", fmt.Sprintf("%s/DiskDrives/%d", path, k), map[string]any{
				"Id": fmt.Sprint(k), "Name": "Disk drive", "Model": d.model, "SerialNumber": d.serial, "CapacityMiB": d.bytes >> 20, "CapacityGB": d.bytes / 1e9, "MediaType": media,
				"InterfaceType": strings.ToUpper(d.tran), "Status": healthOf(s.driveFailing(k), node.HealthWarning),
			}), "HpeSmartStorageDiskDrive"))
		}
		return pick("HpeSmartStorageDiskDriveCollection", path+"/DiskDrives", docs, rest[3:])
	}
	return nil
}
