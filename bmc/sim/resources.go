package sim

import (
	"fmt"
	"strings"

	"cagenut/node"
)

// document is the resource at a path, made afresh; nil for none.
func (s *Server) document(path string) map[string]any {
	if path == "/redfish" {
		return map[string]any{"v1": rootPath + "/"}
	}
	below, ok := strings.CutPrefix(strings.TrimRight(path, "/"), rootPath)
	if !ok {
		return nil
	}
	parts := strings.Split(strings.TrimPrefix(below, "/"), "/")
	rest := parts[1:]
	switch parts[0] {
	case "":
		return s.rootDocument()
	case "SessionService":
		return s.sessionServiceDocument(rest)
	case "TaskService":
		return s.taskServiceDocument(rest)
	case "UpdateService":
		return s.updateServiceDocument(rest)
	case "Registries":
		return s.registryDocument(rest)
	case "Systems":
		return s.systemsDocument(rest)
	case "Chassis":
		return s.chassisDocument(rest)
	case "Managers":
		return s.managersDocument(rest)
	}
	return nil
}

func (s *Server) rootDocument() map[string]any {
	doc := resource("ServiceRoot.v1_17_0.ServiceRoot", rootPath+"/", map[string]any{
		"Id": "RootService", "Name": "Root", "RedfishVersion": "1.15.0", "UUID": s.hardware.uuid, "Vendor": s.hardware.model.manufacturer, "Product": "Simulated BMC",
		"Systems": ref(rootPath + "/Systems"), "Chassis": ref(rootPath + "/Chassis"), "Managers": ref(rootPath + "/Managers"),
		"SessionService": ref(rootPath + "/SessionService"), "Links": map[string]any{"Sessions": ref(sessionsPath)},
		"UpdateService": ref(rootPath + "/UpdateService"), "Tasks": ref(rootPath + "/TaskService"), "Registries": ref(rootPath + "/Registries"),
		"ProtocolFeaturesSupported": map[string]any{"ExpandQuery": map[string]any{"NoLinks": true, "Levels": true, "MaxLevels": 1, "ExpandAll": false, "Links": false}},
	})
	if s.has(FaultNoSessions) {
		delete(doc, "SessionService")
		doc["Links"] = map[string]any{}
	}
	if s.has(FaultNoVendor) {
		delete(doc, "Vendor")
		delete(doc, "Product")
	}
	return doc
}

// systemsDocument is the list of systems and all that is below the server's own.
func (s *Server) systemsDocument(rest []string) map[string]any {
	switch {
	case len(rest) == 0:
		paths := []string{systemPath}
		if s.has(FaultSeveralSystems) {
			paths = []string{gpuBoardPath, systemPath}
		}
		return members("ComputerSystemCollection", rootPath+"/Systems", paths...)
	case rest[0] == "GPU_Board_0" && len(rest) == 1 && s.has(FaultSeveralSystems):
		return s.gpuBoardDocument()
	case rest[0] != "1":
		return nil
	case len(rest) == 1:
		return s.systemDocument()
	}
	kind, below := rest[1], rest[2:]
	switch kind {
	case "ResetActionInfo":
		return only(below, s.resetInfoDocument)
	case "Settings":
		return only(below, s.settingsDocument)
	case "EthernetInterfaces":
		return pick("EthernetInterfaceCollection", systemPath+"/EthernetInterfaces", s.nicDocuments(), below)
	case "Processors":
		return pick("ProcessorCollection", systemPath+"/Processors", s.processorDocuments(), below)
	case "Memory":
		return pick("MemoryCollection", systemPath+"/Memory", s.memoryDocuments(), below)
	case "PCIeDevices":
		return s.pcieDocument(below)
	case "Storage":
		return s.storageDocument(below)
	case "SimpleStorage":
		return pick("SimpleStorageCollection", systemPath+"/SimpleStorage", s.simpleStorageDocuments(), below)
	case "SmartStorage":
		return s.smartStorageDocument(below)
	case "Bios":
		return s.biosDocument(below)
	case "SecureBoot":
		return only(below, s.secureBootDocument)
	case "BootOptions":
		return pick("BootOptionCollection", systemPath+"/BootOptions", s.bootOptionDocuments(), below)
	case "LogServices":
		return s.logServicesDocument(systemPath, "SEL", below)
	case "VirtualMedia":
		return s.mediaDocument(systemPath, below)
	}
	return nil
}

func (s *Server) systemDocument() map[string]any {
	h := s.hardware
	doc := resource("ComputerSystem.v1_22_0.ComputerSystem", systemPath, map[string]any{
		"Name": s.Name, "SystemType": "Physical", "UUID": h.uuid, "SerialNumber": h.serial, "Manufacturer": h.model.manufacturer, "Model": h.model.product,
		"SKU": h.model.sku(), "AssetTag": h.asset(), "HostName": s.Name, "BiosVersion": h.bios, "PowerState": s.machine.shownPower(), "Status": status(s.health()), "Boot": s.bootDocument(s.machine.override()),
		"MemorySummary":      map[string]any{"TotalSystemMemoryGiB": h.memory, "Status": healthy()},
		"ProcessorSummary":   map[string]any{"Count": h.sockets, "CoreCount": h.sockets * h.model.cores, "LogicalProcessorCount": h.threads(), "Model": h.model.cpu, "Status": healthy()},
		"EthernetInterfaces": ref(systemPath + "/EthernetInterfaces"), "Processors": ref(systemPath + "/Processors"), "Memory": ref(systemPath + "/Memory"),
		"Storage": ref(systemPath + "/Storage"), "SimpleStorage": ref(systemPath + "/SimpleStorage"), "Bios": ref(systemPath + "/Bios"),
		"SecureBoot": ref(systemPath + "/SecureBoot"), "LogServices": ref(systemPath + "/LogServices"), "PCIeDevices": s.pcieRefs(),
		"Links": map[string]any{"Chassis": []any{ref(chassisPath)}, "ManagedBy": []any{ref(managerPath)}},
		"Actions": map[string]any{"#ComputerSystem.Reset": map[string]any{
			"target": resetPath, "ResetType@Redfish.AllowableValues": s.resetTypes(), "@Redfish.ActionInfo": systemPath + "/ResetActionInfo",
		}},
	})
	s.showLight(doc)
	if s.has(FaultBootSettings) || s.has(FaultBootPending) {
		doc["@Redfish.Settings"] = map[string]any{"@odata.type": "#Settings.v1_3_5.Settings", "SettingsObject": ref(settingsPath)}
	}
	if s.has(FaultMediaAtSystem) || s.has(FaultMediaBoth) {
		doc["VirtualMedia"] = ref(systemPath + "/VirtualMedia")
	}
	doc["@odata.etag"] = s.systemTag()
	return doc
}

func (s *Server) resetInfoDocument() map[string]any {
	if s.has(FaultNoResetList) {
		return nil
	}
	return resource("ActionInfo.v1_3_0.ActionInfo", systemPath+"/ResetActionInfo", map[string]any{
		"Id": "ResetActionInfo", "Name": "Reset", "Parameters": []any{map[string]any{"Name": "ResetType", "Required": true, "AllowableValues": s.resetTypes()}},
	})
}

const gpuBoardPath = rootPath + "/Systems/GPU_Board_0"

// gpuBoardDocument is a system that is none: without boot targets and without reset types.
func (s *Server) gpuBoardDocument() map[string]any {
	on, _ := s.machine.power()
	if !on {
		return map[string]any{unavailable: true}
	}
	return resource("ComputerSystem.v1_22_0.ComputerSystem", gpuBoardPath, map[string]any{
		"Id": "GPU_Board_0", "Name": "GPU board", "SystemType": "Physical", "PowerState": "On", "Status": healthy(),
		"Actions": map[string]any{"#ComputerSystem.Reset": map[string]any{"target": gpuBoardPath + "/Actions/ComputerSystem.Reset"}},
	})
}

// unavailable marks a document that is answered 503.
const unavailable = "\x00unavailable"

// only is a document that has nothing below it.
func only(below []string, make func() map[string]any) map[string]any {
	if len(below) != 0 {
		return nil
	}
	return make()
}

// pick is a collection of documents, or the one that the rest of a path names.
func pick(kind, path string, docs []map[string]any, rest []string) map[string]any {
	switch len(rest) {
	case 0:
		var paths []string
		for _, doc := range docs {
			paths = append(paths, doc["@odata.id"].(string))
		}
		return members(kind, path, paths...)
	case 1:
		for _, doc := range docs {
			if doc["@odata.id"] == path+"/"+rest[0] {
				return doc
			}
		}
	}
	return nil
}

func resource(kind, path string, doc map[string]any) map[string]any {
	doc["@odata.type"], doc["@odata.id"] = "#"+kind, path
	if doc["Id"] == nil {
		doc["Id"] = "1"
	}
	return doc
}

func members(kind, path string, of ...string) map[string]any {
	list := refs(of...)
	return map[string]any{"@odata.type": "#" + kind + "." + kind, "@odata.id": path, "Name": kind, "Members": list, "Members@odata.count": len(list)}
}

func ref(path string) map[string]any { return map[string]any{"@odata.id": path} }

func refs(paths ...string) []any {
	list := []any{}
	for _, p := range paths {
		list = append(list, ref(p))
	}
	return list
}

func healthy() map[string]any { return status(node.HealthOK) }

func status(h node.Health) map[string]any {
	return map[string]any{"State": "Enabled", "Health": string(h), "HealthRollup": string(h)}
}

func (m model) sku() string {
	return fmt.Sprintf("SKU-%s-%d", strings.ReplaceAll(m.product, " ", ""), m.cores)
}
