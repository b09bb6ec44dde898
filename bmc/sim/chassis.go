package sim

import (
	"encoding/hex"
	"fmt"
	"net/http"
	"strings"

	"cagenut/node"
)

// chassisDocument is the list of chassis and all that is below the server's.
func (s *Server) chassisDocument(rest []string) map[string]any {
	switch {
	case len(rest) == 0:
		return members("ChassisCollection", rootPath+"/Chassis", chassisPath)
	case rest[0] != "1":
		return nil
	case len(rest) == 1:
		return s.boxDocument()
	}
	kind, below := rest[1], rest[2:]
	switch kind {
	case "Thermal":
		return only(below, s.thermalDocument)
	case "Power":
		return only(below, s.powerDocument)
	case "Sensors":
		return pick("SensorCollection", chassisPath+"/Sensors", s.sensorDocuments(), below)
	case "ThermalSubsystem":
		return only(below, func() map[string]any {
			return resource("ThermalSubsystem.v1_3_1.ThermalSubsystem", chassisPath+"/ThermalSubsystem", map[string]any{"Id": "ThermalSubsystem", "Name": "Cooling", "Status": healthy()})
		})
	case "PowerSubsystem":
		return s.powerSubsystemDocument(below)
	case "NetworkAdapters":
		return s.adaptersDocument(below)
	}
	return nil
}

func (s *Server) boxDocument() map[string]any {
	power := s.machine.shownPower()
	if s.has(FaultChassisOn) {
		power = "On"
	}
	doc := resource("Chassis.v1_25_0.Chassis", chassisPath, map[string]any{
		"Name": s.Name, "ChassisType": "RackMount", "Manufacturer": s.hardware.model.manufacturer, "Model": s.hardware.model.product, "PowerState": power,
		"SerialNumber": s.hardware.serial, "AssetTag": s.hardware.asset(), "Status": status(s.health()),
		"Thermal": ref(chassisPath + "/Thermal"), "Power": ref(chassisPath + "/Power"), "Sensors": ref(chassisPath + "/Sensors"),
		"ThermalSubsystem": ref(chassisPath + "/ThermalSubsystem"), "PowerSubsystem": ref(chassisPath + "/PowerSubsystem"), "NetworkAdapters": ref(chassisPath + "/NetworkAdapters"),
		"Links": map[string]any{"ComputerSystems": refs(systemPath), "ManagedBy": refs(managerPath)},
	})
	if s.has(FaultNoAdapters) {
		delete(doc, "NetworkAdapters")
	}
	s.showLight(doc)
	return doc
}

func (s *Server) patchChassis(w http.ResponseWriter, r *http.Request) {
	var p struct {
		IndicatorLED            *string
		LocationIndicatorActive *bool
	}
	switch {
	case !strictly(r, &p):
		refuse(w, http.StatusBadRequest, "PropertyUnknown", "The request body holds properties that cannot be changed.")
	case s.precondition(w, r, tagOf(s.boxDocument())) && s.changeLight(w, p.IndicatorLED, p.LocationIndicatorActive):
		w.WriteHeader(http.StatusNoContent)
	}
}

// reading is the value as JSON: null where there is none.
func (s sensor) reading() any {
	if !s.present {
		return nil
	}
	return s.value()
}

// limit is one of the limits as JSON.
func (s sensor) limit(k int) any {
	if s.limits[k] == 0 {
		return nil
	}
	return s.real(s.limits[k])
}

func (s sensor) status() map[string]any {
	if !s.present {
		return map[string]any{"State": "UnavailableOffline"}
	}
	return status(s.health())
}

func (s *Server) thermalDocument() map[string]any {
	temperatures, fanList := []any{}, []any{}
	for _, one := range s.sensors() {
		doc := map[string]any{"MemberId": fmt.Sprint(one.number), "Name": one.name, "SensorNumber": one.number, "Status": one.status(),
			"LowerThresholdCritical": one.limit(0), "LowerThresholdNonCritical": one.limit(1), "UpperThresholdNonCritical": one.limit(2), "UpperThresholdCritical": one.limit(3)}
		switch one.kind {
		case node.SensorTemperature:
			doc["@odata.id"] = fmt.Sprintf("%s/Thermal#/Temperatures/%d", chassisPath, len(temperatures))
			doc["ReadingCelsius"] = one.reading()
			temperatures = append(temperatures, doc)
		case node.SensorFan:
			doc["@odata.id"] = fmt.Sprintf("%s/Thermal#/Fans/%d", chassisPath, len(fanList))
			doc["Reading"], doc["ReadingUnits"] = one.reading(), "RPM"
			fanList = append(fanList, doc)
		}
	}
	return resource("Thermal.v1_7_2.Thermal", chassisPath+"/Thermal", map[string]any{"Id": "Thermal", "Name": "Thermal", "Temperatures": temperatures, "Fans": fanList})
}

func (s *Server) powerDocument() map[string]any {
	doc := resource("Power.v1_7_2.Power", chassisPath+"/Power", map[string]any{"Id": "Power", "Name": "Power"})
	voltages, supplyList := []any{}, []any{}
	for _, one := range s.sensors() {
		switch {
		case one.kind == node.SensorVoltage:
			voltages = append(voltages, map[string]any{
				"@odata.id": fmt.Sprintf("%s/Power#/Voltages/%d", chassisPath, len(voltages)), "MemberId": fmt.Sprint(one.number), "Name": one.name, "SensorNumber": one.number,
				"ReadingVolts": one.reading(), "Status": one.status(), "LowerThresholdCritical": one.limit(0), "LowerThresholdNonCritical": one.limit(1), "UpperThresholdNonCritical": one.limit(2), "UpperThresholdCritical": one.limit(3),
			})
		case one.kind == node.SensorPower:
			doc["PowerControl"] = []any{map[string]any{"@odata.id": chassisPath + "/Power#/PowerControl/0", "MemberId": "0", "Name": one.name, "PowerConsumedWatts": one.reading(), "PowerCapacityWatts": 1600, "Status": one.status()}}
		}
	}
	for k := range supplies {
		supplyList = append(supplyList, map[string]any{
			"@odata.id": fmt.Sprintf("%s/Power#/PowerSupplies/%d", chassisPath, k), "MemberId": fmt.Sprint(k), "Name": fmt.Sprintf("PSU %d", k+1), "Model": "EX-PS 800", "SerialNumber": fmt.Sprintf("%s-P%d", s.hardware.serial, k+1),
			"PowerCapacityWatts": 800, "Status": healthOf(s.psuFailed(k), node.HealthCritical),
		})
	}
	doc["Voltages"], doc["PowerSupplies"] = voltages, supplyList
	return doc
}

func (s *Server) powerSubsystemDocument(rest []string) map[string]any {
	const path = chassisPath + "/PowerSubsystem"
	if len(rest) == 0 {
		return resource("PowerSubsystem.v1_1_2.PowerSubsystem", path, map[string]any{"Id": "PowerSubsystem", "Name": "Power", "PowerSupplies": ref(path + "/PowerSupplies"), "Status": healthOf(s.psuFailed(1), node.HealthCritical)})
	}
	if rest[0] != "PowerSupplies" {
		return nil
	}
	var docs []map[string]any
	for k := range supplies {
		docs = append(docs, resource("PowerSupply.v1_6_0.PowerSupply", fmt.Sprintf("%s/PowerSupplies/%d", path, k+1), map[string]any{
			"Id": fmt.Sprint(k + 1), "Name": fmt.Sprintf("PSU %d", k+1), "Model": "EX-PS 800", "SerialNumber": fmt.Sprintf("%s-P%d", s.hardware.serial, k+1), "PowerCapacityWatts": 800,
			"Status": healthOf(s.psuFailed(k), node.HealthCritical),
		}))
	}
	return pick("PowerSupplyCollection", path+"/PowerSupplies", docs, rest[1:])
}

// readingTypes are Redfish's words for what a sensor measures.
var readingTypes = map[node.SensorKind]string{
	node.SensorTemperature: "Temperature", node.SensorFan: "Rotational", node.SensorVoltage: "Voltage", node.SensorCurrent: "Current", node.SensorPower: "Power",
}

// sensorDocuments leave out what has no number.
func (s *Server) sensorDocuments() []map[string]any {
	var docs []map[string]any
	for _, one := range s.sensors() {
		if one.kind == node.SensorOther {
			continue
		}
		limits := map[string]any{}
		for k, name := range []string{"LowerCritical", "LowerCaution", "UpperCaution", "UpperCritical"} {
			if one.limits[k] != 0 {
				limits[name] = map[string]any{"Reading": one.limit(k)}
			}
		}
		id := strings.ReplaceAll(one.name, " ", "")
		docs = append(docs, resource("Sensor.v1_9_1.Sensor", chassisPath+"/Sensors/"+id, map[string]any{
			"Id": id, "Name": one.name, "ReadingType": readingTypes[one.kind], "ReadingUnits": one.unit, "Reading": one.reading(), "Thresholds": limits, "Status": one.status(),
		}))
	}
	return docs
}

// adaptersDocument are the network cards with their ports. Ports are numbered from 1 at each adapter, so their ids collide.
func (s *Server) adaptersDocument(rest []string) map[string]any {
	const path = chassisPath + "/NetworkAdapters"
	if s.has(FaultNoAdapters) {
		return nil
	}
	var docs []map[string]any
	for k := 0; k < len(s.hardware.nics); k += 2 {
		id := fmt.Sprintf("NIC%d", k/2+1)
		if len(rest) > 1 && rest[0] == id {
			return s.adapterPart(path+"/"+id, k, rest[1:])
		}
		docs = append(docs, resource("NetworkAdapter.v1_11_0.NetworkAdapter", path+"/"+id, map[string]any{
			"Id": id, "Name": fmt.Sprintf("Network adapter %d", k/2+1), "Manufacturer": "Example Networks", "Model": "EX-T2", "SerialNumber": fmt.Sprintf("%s-%s", s.hardware.serial, id), "Ports": ref(path + "/" + id + "/Ports"),
			"NetworkDeviceFunctions": ref(path + "/" + id + "/NetworkDeviceFunctions"), "Controllers": []any{map[string]any{"FirmwarePackageVersion": "20.5.1"}}, "Status": healthy(),
		}))
	}
	return pick("NetworkAdapterCollection", path, docs, rest)
}

func (s *Server) adapterPart(path string, first int, rest []string) map[string]any {
	var ports, functions []map[string]any
	for k := first; k < min(first+2, len(s.hardware.nics)); k++ {
		n, id := s.hardware.nics[k], fmt.Sprint(k-first+1)
		port := resource("Port.v1_14_0.Port", path+"/Ports/"+id, map[string]any{
			"Id": id, "Name": n.name, "PortId": id, "LinkStatus": "LinkDown", "CurrentSpeedGbps": 0, "PortProtocol": "Ethernet", "Status": healthy(),
			"Ethernet": map[string]any{"AssociatedMACAddresses": []string{n.mac}},
		})
		if n.carrier {
			port["LinkStatus"], port["CurrentSpeedGbps"] = "LinkUp", n.mbps/1000
			port["Ethernet"].(map[string]any)["LLDPReceive"] = n.heard()
		}
		ports = append(ports, port)
		functions = append(functions, resource("NetworkDeviceFunction.v1_9_2.NetworkDeviceFunction", path+"/NetworkDeviceFunctions/"+id, map[string]any{
			"Id": id, "Name": n.name, "NetDevFuncType": "Ethernet", "Ethernet": map[string]any{"MACAddress": n.mac, "PermanentMACAddress": n.mac, "MTUSize": 1500}, "Status": healthy(),
		}))
	}
	switch rest[0] {
	case "Ports":
		return pick("PortCollection", path+"/Ports", ports, rest[1:])
	case "NetworkDeviceFunctions":
		return pick("NetworkDeviceFunctionCollection", path+"/NetworkDeviceFunctions", functions, rest[1:])
	}
	return nil
}

// heard is what LLDP said, in Redfish's words: the same as the ramdisk's report has in TLVs.
func (n nic) heard() map[string]any {
	value := map[int]string{}
	for _, tlv := range n.lldp {
		raw, _ := hex.DecodeString(tlv[1].(string)) // made by neighbour
		value[tlv[0].(int)] = string(raw)
	}
	chassis := fmt.Sprintf("% x", value[1][1:])
	return map[string]any{
		"ChassisId": strings.ReplaceAll(chassis, " ", ":"), "ChassisIdSubtype": "MacAddr", "PortId": value[2][1:], "PortIdSubtype": "IfName", "SystemName": value[5], "SystemDescription": value[6],
	}
}
