package sim

import (
	"fmt"
	"strconv"
	"strings"

	"cagenut/node"
)

func (s *Server) processorDocuments() []map[string]any {
	h := s.hardware
	mhz, _ := strconv.ParseFloat(h.model.mhz, 64) // a table of ours
	var docs []map[string]any
	for k := range h.sockets {
		docs = append(docs, resource("Processor.v1_20_0.Processor", fmt.Sprintf("%s/Processors/%d", systemPath, k+1), map[string]any{
			"Id": fmt.Sprint(k + 1), "Name": fmt.Sprintf("CPU %d", k+1), "ProcessorType": "CPU", "Model": h.model.cpu, "Manufacturer": h.model.manufacturer, "Socket": fmt.Sprintf("CPU%d", k+1),
			"TotalCores": h.model.cores, "TotalThreads": 2 * h.model.cores, "MaxSpeedMHz": int(mhz), "ProcessorArchitecture": "x86", "InstructionSet": "x86-64", "Status": healthy(),
		}))
	}
	if s.has(FaultSummariesCountGPU) {
		docs = append(docs, resource("Processor.v1_20_0.Processor", systemPath+"/Processors/GPU1", map[string]any{
			"Id": "GPU1", "Name": "GPU 1", "ProcessorType": "GPU", "Model": "Example Accelerator", "TotalCores": 6912, "Status": healthy(),
		}))
	}
	return docs
}

func (s *Server) memoryDocuments() []map[string]any {
	h := s.hardware
	var docs []map[string]any
	for k := range h.modules() {
		slot := fmt.Sprintf("DIMM %c%d", 'A'+rune(k%2), k/2+1)
		docs = append(docs, resource("Memory.v1_20_0.Memory", fmt.Sprintf("%s/Memory/%d", systemPath, k+1), map[string]any{
			"Id": fmt.Sprint(k + 1), "Name": slot, "DeviceLocator": slot, "CapacityMiB": h.memory << 10 / h.modules(), "MemoryDeviceType": "DDR4", "MemoryType": "DRAM",
			"OperatingSpeedMhz": 3200, "Manufacturer": "Example Memory", "PartNumber": "EXM-3200", "SerialNumber": fmt.Sprintf("%s-M%02d", h.serial, k+1), "Status": healthy(),
		}))
	}
	return docs
}

func (s *Server) nicDocuments() []map[string]any {
	if s.has(FaultNICsAtAdapters) {
		return nil
	}
	var docs []map[string]any
	for k, n := range s.hardware.nics {
		link := "LinkDown"
		if n.carrier {
			link = "LinkUp"
		}
		doc := resource("EthernetInterface.v1_12_0.EthernetInterface", fmt.Sprintf("%s/EthernetInterfaces/%d", systemPath, k+1), map[string]any{
			"Id": fmt.Sprint(k + 1), "Name": n.name, "MACAddress": n.mac, "PermanentMACAddress": n.mac, "SpeedMbps": n.mbps, "LinkStatus": link,
			"InterfaceEnabled": true, "Status": healthy(),
		})
		s.spellMAC(doc, k, n.mac)
		docs = append(docs, doc)
	}
	if s.has(FaultOddMACs) {
		docs = append(docs,
			resource("EthernetInterface.v1_12_0.EthernetInterface", systemPath+"/EthernetInterfaces/NA", map[string]any{"Id": "NA", "Name": "spare", "MACAddress": "Not Available", "Status": healthy()}),
			resource("EthernetInterface.v1_12_0.EthernetInterface", systemPath+"/EthernetInterfaces/Twice", map[string]any{"Id": "Twice", "Name": "again", "MACAddress": s.hardware.nics[0].mac, "Status": healthy()}),
			resource("EthernetInterface.v1_12_0.EthernetInterface", systemPath+"/EthernetInterfaces/IB", map[string]any{
				"Id": "IB", "Name": "ib0", "MACAddress": "80:00:02:08:fe:80:00:00:00:00:00:00:02:00:5e:00:00:00:00:01", "Status": healthy(),
			}))
	}
	return docs
}

// spellMAC writes an interface's addresses as the BMC's oddities have it.
func (s *Server) spellMAC(doc map[string]any, k int, mac string) {
	switch {
	case s.has(FaultPermanentMACOnly):
		delete(doc, "MACAddress")
	case s.has(FaultEmptyMACs):
		doc["MACAddress"], doc["PermanentMACAddress"] = "", ""
	case s.has(FaultOddMACs) && k == 0:
		doc["MACAddress"], doc["PermanentMACAddress"] = strings.ToUpper(mac), strings.ToUpper(mac)
	case s.has(FaultOddMACs) && k == 1:
		doc["MACAddress"] = "02:00:5E:FF:00:01" // somebody changed it; the permanent one is the card's
		doc["PermanentMACAddress"] = strings.ReplaceAll(mac, ":", "-")
	}
}

// card is a PCIe device of the server.
type card struct {
	id, name, manufacturer, model string
	address                       string // bus:device.function
	vendor, device, class         string
}

func (h hardware) cards() []card {
	var all []card
	for k, n := range h.nics {
		if k%2 == 0 {
			all = append(all, card{
				id: fmt.Sprintf("NIC%d", k/2+1), name: fmt.Sprintf("Network adapter %d", k/2+1), manufacturer: "Example Networks", model: "EX-T2", address: strings.TrimPrefix(n.pci, "0000:"),
				vendor: n.vendor, device: n.product, class: "0x020000",
			})
		}
	}
	return append(all, card{
		id: "RAID1", name: "Storage controller", manufacturer: "Example Storage", model: "EX-HBA 9", address: "00:17.0", vendor: "0x1000", device: "0x10e6", class: "0x010700",
	})
}

func (s *Server) pcieRefs() []any {
	var paths []string
	for _, c := range s.hardware.cards() {
		paths = append(paths, systemPath+"/PCIeDevices/"+c.id)
	}
	return refs(paths...)
}

func (s *Server) pcieDocument(rest []string) map[string]any {
	var docs []map[string]any
	for _, c := range s.hardware.cards() {
		path := systemPath + "/PCIeDevices/" + c.id
		function := resource("PCIeFunction.v1_6_0.PCIeFunction", path+"/PCIeFunctions/0", map[string]any{
			"Id": "0", "Name": c.name, "FunctionId": 0, "DeviceClass": map[bool]string{true: "NetworkController", false: "MassStorageController"}[c.class == "0x020000"],
			"VendorId": c.vendor, "DeviceId": c.device, "ClassCode": c.class, "RevisionId": "0x01", "Status": healthy(),
		})
		if len(rest) > 1 && rest[0] == c.id && rest[1] == "PCIeFunctions" {
			return pick("PCIeFunctionCollection", path+"/PCIeFunctions", []map[string]any{function}, rest[2:])
		}
		docs = append(docs, resource("PCIeDevice.v1_17_0.PCIeDevice", path, map[string]any{
			"Id": c.id, "Name": c.name, "Manufacturer": c.manufacturer, "Model": c.model, "DeviceType": "SingleFunction", "FirmwareVersion": "20.5.1",
			"PCIeFunctions": ref(path + "/PCIeFunctions"), "Slot": map[string]any{"Location": map[string]any{"PartLocation": map[string]any{"ServiceLabel": c.address}}}, "Status": healthy(),
		}))
	}
	return pick("PCIeDeviceCollection", systemPath+"/PCIeDevices", docs, rest)
}

// updateServiceDocument is the list of what has a version.
func (s *Server) updateServiceDocument(rest []string) map[string]any {
	const path = rootPath + "/UpdateService"
	if len(rest) == 0 {
		return resource("UpdateService.v1_14_0.UpdateService", path, map[string]any{"Name": "Update service", "ServiceEnabled": true, "FirmwareInventory": ref(path + "/FirmwareInventory")})
	}
	if rest[0] != "FirmwareInventory" {
		return nil
	}
	h := s.hardware
	list := [][4]string{
		{"BIOS", "BIOS", h.bios, "2026-05-01T00:00:00Z"}, {"BMC", "BMC", bmcVersion, "2026-03-15T00:00:00Z"},
		{"NIC1", "Network adapter 1", "20.5.1", "2025-11-20T00:00:00Z"}, {"RAID1", "Storage controller", "20.5.1", "2025-11-20T00:00:00Z"}, {"PSU1", "Power supply", "00.1D.7D", ""},
	}
	var docs []map[string]any
	for _, f := range list {
		doc := resource("SoftwareInventory.v1_10_0.SoftwareInventory", path+"/FirmwareInventory/"+f[0], map[string]any{
			"Id": f[0], "Name": f[1], "Version": f[2], "Updateable": f[3] != "", "Manufacturer": h.model.manufacturer, "Status": healthy(),
		})
		if f[3] != "" {
			doc["ReleaseDate"] = f[3]
		}
		docs = append(docs, doc)
	}
	return pick("SoftwareInventoryCollection", path+"/FirmwareInventory", docs, rest[1:])
}

// biosDocument is the firmware's set-up. Attributes are read; nothing here changes them.
func (s *Server) biosDocument(rest []string) map[string]any {
	return only(rest, func() map[string]any {
		mode := "Uefi"
		if s.machine.override().Legacy {
			mode = "LegacyBios"
		}
		return resource("Bios.v1_2_3.Bios", systemPath+"/Bios", map[string]any{
			"Id": "Bios", "Name": "BIOS", "AttributeRegistry": "BiosAttributeRegistry.v1_0_0",
			"Attributes": map[string]any{
				"BootMode": mode, "ProcVirtualization": "Enabled", "LogicalProc": "Enabled", "SriovGlobalEnable": "Disabled", "SysProfile": "PerfOptimized",
				"NumLock": "On", "PowerOnDelaySeconds": 0, "SecureBoot": s.secureBoot(), "AssetTag": s.hardware.asset(),
			},
		})
	})
}

// secureBoot is on where the server boots by UEFI and its number is even.
func (s *Server) secureBoot() bool {
	return s.hardware.index%2 == 0 && !s.machine.override().Legacy
}

func (s *Server) secureBootDocument() map[string]any {
	current := "Disabled"
	if s.secureBoot() {
		current = "Enabled"
	}
	return resource("SecureBoot.v1_1_2.SecureBoot", systemPath+"/SecureBoot", map[string]any{
		"Id": "SecureBoot", "Name": "Secure boot", "SecureBootEnable": s.secureBoot(), "SecureBootCurrentBoot": current, "SecureBootMode": "UserMode",
	})
}

// registryDocument is the registry of the BIOS' attributes.
func (s *Server) registryDocument(rest []string) map[string]any {
	const (
		path = rootPath + "/Registries"
		name = "BiosAttributeRegistry.v1_0_0"
	)
	file := resource("MessageRegistryFile.v1_1_5.MessageRegistryFile", path+"/"+name, map[string]any{
		"Id": name, "Name": "BIOS attributes", "Registry": name, "Languages": []string{"en"}, "Location": []any{map[string]any{"Language": "en", "Uri": path + "/" + name + "/" + name + ".json"}},
	})
	if len(rest) == 2 && rest[0] == name && rest[1] == name+".json" {
		return map[string]any{
			"@odata.type": "#AttributeRegistry.v1_3_8.AttributeRegistry", "Id": name, "Name": "BIOS attributes", "Language": "en", "OwningEntity": "Example", "RegistryVersion": "1.0.0",
			"RegistryEntries": map[string]any{"Attributes": []any{
				map[string]any{"AttributeName": "BootMode", "Type": "Enumeration", "Value": []any{map[string]any{"ValueName": "Uefi"}, map[string]any{"ValueName": "LegacyBios"}}},
				map[string]any{"AttributeName": "PowerOnDelaySeconds", "Type": "Integer", "LowerBound": 0, "UpperBound": 240},
			}},
		}
	}
	return pick("MessageRegistryFileCollection", path, []map[string]any{file}, rest)
}

// bmcVersion is the version of the BMCs' own firmware: 1.02.
const bmcVersion = "1.02"

func healthOf(bad bool, h node.Health) map[string]any {
	if bad {
		return status(h)
	}
	return healthy()
}
