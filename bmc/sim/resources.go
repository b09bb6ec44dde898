package sim

import (
	"fmt"
	"hash/fnv"

	"cagenut/node"
)

// resources are the documents that the BMC serves, by path.
func (s *Server) resources() map[string]func() map[string]any {
	h := s.hardware
	docs := map[string]func() map[string]any{
		"/redfish":            func() map[string]any { return map[string]any{"v1": rootPath + "/"} },
		rootPath:              s.rootResource,
		rootPath + "/Systems": members("ComputerSystemCollection", rootPath+"/Systems", systemPath),
		systemPath:            s.systemResource,
		rootPath + "/SessionService": func() map[string]any {
			return resource("SessionService.v1_1_8.SessionService", rootPath+"/SessionService", map[string]any{"ServiceEnabled": true, "SessionTimeout": 1800, "Sessions": ref(sessionsPath)})
		},
		sessionsPath:             s.sessionList,
		rootPath + "/Chassis":    members("ChassisCollection", rootPath+"/Chassis", rootPath+"/Chassis/1"),
		rootPath + "/Managers":   members("ManagerCollection", rootPath+"/Managers", rootPath+"/Managers/1"),
		rootPath + "/Managers/1": s.managerResource,
		rootPath + "/Chassis/1":  s.chassisResource,
		systemPath + "/ResetActionInfo": func() map[string]any {
			return resource("ActionInfo.v1_3_0.ActionInfo", systemPath+"/ResetActionInfo", map[string]any{"Parameters": []any{map[string]any{"Name": "ResetType", "Required": true, "AllowableValues": resetTypes()}}})
		},
	}
	var nics, cpus []string
	for k, n := range h.nics {
		path := fmt.Sprintf("%s/EthernetInterfaces/%d", systemPath, k+1)
		nics = append(nics, path)
		docs[path] = func() map[string]any {
			link := "LinkDown"
			if n.carrier {
				link = "LinkUp"
			}
			return resource("EthernetInterface.v1_12_0.EthernetInterface", path, map[string]any{
				"Name": n.name, "MACAddress": n.mac, "PermanentMACAddress": n.mac, "SpeedMbps": n.mbps, "LinkStatus": link, "Status": healthy(),
			})
		}
	}
	for k := range h.sockets {
		path := fmt.Sprintf("%s/Processors/%d", systemPath, k+1)
		cpus = append(cpus, path)
		docs[path] = func() map[string]any {
			return resource("Processor.v1_20_0.Processor", path, map[string]any{
				"ProcessorType": "CPU", "Model": h.model.cpu, "Socket": fmt.Sprint(k), "TotalCores": h.model.cores, "TotalThreads": 2 * h.model.cores,
				"ProcessorArchitecture": "x86", "InstructionSet": "x86-64", "Status": healthy(),
			})
		}
	}
	docs[systemPath+"/EthernetInterfaces"] = members("EthernetInterfaceCollection", systemPath+"/EthernetInterfaces", nics...)
	docs[systemPath+"/Processors"] = members("ProcessorCollection", systemPath+"/Processors", cpus...)
	return docs
}

func (s *Server) rootResource() map[string]any {
	return resource("ServiceRoot.v1_17_0.ServiceRoot", rootPath+"/", map[string]any{
		"Id": "RootService", "RedfishVersion": "1.15.0", "UUID": s.hardware.uuid, "Vendor": s.hardware.model.manufacturer, "Product": "Simulated BMC",
		"Systems": ref(rootPath + "/Systems"), "Chassis": ref(rootPath + "/Chassis"), "Managers": ref(rootPath + "/Managers"),
		"SessionService": ref(rootPath + "/SessionService"), "Links": map[string]any{"Sessions": ref(sessionsPath)},
	})
}

func (s *Server) systemResource() map[string]any {
	h := s.hardware
	on, _ := s.machine.power()
	power := "Off"
	if on {
		power = "On"
	}
	doc := resource("ComputerSystem.v1_22_0.ComputerSystem", systemPath, map[string]any{
		"Name": s.Name, "SystemType": "Physical", "UUID": h.uuid, "SerialNumber": h.serial, "Manufacturer": h.model.manufacturer, "Model": h.model.product,
		"BiosVersion": h.bios, "PowerState": power, "Status": healthy(), "Boot": s.bootResource(),
		"MemorySummary":      map[string]any{"TotalSystemMemoryGiB": h.memory, "Status": healthy()},
		"ProcessorSummary":   map[string]any{"Count": h.sockets, "CoreCount": h.sockets * h.model.cores, "LogicalProcessorCount": h.threads(), "Model": h.model.cpu, "Status": healthy()},
		"EthernetInterfaces": ref(systemPath + "/EthernetInterfaces"), "Processors": ref(systemPath + "/Processors"),
		"Links": map[string]any{"Chassis": []any{ref(rootPath + "/Chassis/1")}, "ManagedBy": []any{ref(rootPath + "/Managers/1")}},
		"Actions": map[string]any{"#ComputerSystem.Reset": map[string]any{
			"target": resetPath, "ResetType@Redfish.AllowableValues": resetTypes(), "@Redfish.ActionInfo": systemPath + "/ResetActionInfo",
		}},
	})
	doc["@odata.etag"] = s.systemTag()
	return doc
}

func (s *Server) bootResource() map[string]any {
	o := s.machine.override()
	enabled, target, mode := "Disabled", "None", "UEFI"
	if o.Device != node.BootNone {
		enabled = "Once"
		for t, d := range targetDevices {
			if d == o.Device {
				target = t
			}
		}
	}
	if o.Persistent {
		enabled = "Continuous"
	}
	if o.Legacy {
		mode = "Legacy"
	}
	return map[string]any{
		"BootSourceOverrideEnabled": enabled, "BootSourceOverrideTarget": target, "BootSourceOverrideMode": mode,
		"BootSourceOverrideTarget@Redfish.AllowableValues":  []string{"None", "Pxe", "Hdd", "Cd", "BiosSetup"},
		"BootSourceOverrideEnabled@Redfish.AllowableValues": []string{"Disabled", "Once", "Continuous"},
		"BootSourceOverrideMode@Redfish.AllowableValues":    []string{"UEFI", "Legacy"},
	}
}

// systemTag is the system's ETag: it changes with the boot override, which is what a PATCH could overwrite.
func (s *Server) systemTag() string {
	h := fnv.New64a()
	_, _ = fmt.Fprint(h, s.machine.override()) // a hash takes everything
	return fmt.Sprintf(`"%x"`, h.Sum64())
}

func (s *Server) managerResource() map[string]any {
	return resource("Manager.v1_19_0.Manager", rootPath+"/Managers/1", map[string]any{
		"Name": "Simulated BMC", "ManagerType": "BMC", "FirmwareVersion": "1.0.0", "PowerState": "On", "Status": healthy(),
		"Links": map[string]any{"ManagerForServers": []any{ref(systemPath)}},
	})
}

func (s *Server) chassisResource() map[string]any {
	on, _ := s.machine.power()
	led := "Off"
	if on {
		led = "Lit"
	}
	return resource("Chassis.v1_25_0.Chassis", rootPath+"/Chassis/1", map[string]any{
		"Name": s.Name, "ChassisType": "RackMount", "Manufacturer": s.hardware.model.manufacturer, "Model": s.hardware.model.product,
		"SerialNumber": s.hardware.serial, "IndicatorLED": led, "Status": healthy(),
		"Links": map[string]any{"ComputerSystems": []any{ref(systemPath)}, "ManagedBy": []any{ref(rootPath + "/Managers/1")}},
	})
}

func resource(kind, path string, doc map[string]any) map[string]any {
	doc["@odata.type"], doc["@odata.id"] = "#"+kind, path
	if doc["Id"] == nil {
		doc["Id"] = "1"
	}
	return doc
}

func members(kind, path string, of ...string) func() map[string]any {
	return func() map[string]any {
		list := []any{}
		for _, p := range of {
			list = append(list, ref(p))
		}
		return map[string]any{"@odata.type": "#" + kind + "." + kind, "@odata.id": path, "Name": kind, "Members": list, "Members@odata.count": len(list)}
	}
}

func ref(path string) map[string]any { return map[string]any{"@odata.id": path} }

func healthy() map[string]any { return map[string]any{"State": "Enabled", "Health": "OK"} }
