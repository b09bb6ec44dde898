package sim

import (
	"fmt"
	"net/http"
	"time"
)

// managersDocument is the list of BMCs, which is one, and all that is below it.
func (s *Server) managersDocument(rest []string) map[string]any {
	switch {
	case s.has(FaultMissingLinks):
		return nil
	case len(rest) == 0:
		return members("ManagerCollection", rootPath+"/Managers", managerPath)
	case rest[0] != "1":
		return nil
	case len(rest) == 1:
		return s.managerDocument()
	}
	kind, below := rest[1], rest[2:]
	switch kind {
	case "NetworkProtocol":
		return only(below, func() map[string]any {
			return resource("ManagerNetworkProtocol.v1_10_1.ManagerNetworkProtocol", managerPath+"/NetworkProtocol", map[string]any{
				"Id": "NetworkProtocol", "Name": "Services", "HostName": s.Name + "-bmc", "HTTP": map[string]any{"ProtocolEnabled": true, "Port": s.Port},
				"HTTPS": map[string]any{"ProtocolEnabled": false, "Port": 443}, "IPMI": map[string]any{"ProtocolEnabled": false, "Port": 623}, "Status": healthy(),
			})
		})
	case "EthernetInterfaces":
		return pick("EthernetInterfaceCollection", managerPath+"/EthernetInterfaces", []map[string]any{
			resource("EthernetInterface.v1_12_0.EthernetInterface", managerPath+"/EthernetInterfaces/1", map[string]any{
				"Name": "BMC", "MACAddress": s.hardware.bmcMAC, "PermanentMACAddress": s.hardware.bmcMAC, "SpeedMbps": 1000, "LinkStatus": "LinkUp",
				"IPv4Addresses": []any{map[string]any{"Address": s.host, "AddressOrigin": "Static", "SubnetMask": "255.0.0.0"}}, "Status": healthy(),
			}),
		}, below)
	case "LogServices":
		return s.logServicesDocument(managerPath, "Log", below)
	case "VirtualMedia":
		return s.mediaDocument(managerPath, below)
	}
	return nil
}

func (s *Server) managerDocument() map[string]any {
	now := time.Now().UTC()
	if s.has(FaultClockUnset) {
		now = time.Unix(int64(now.Minute()), 0).UTC()
	}
	doc := resource("Manager.v1_19_0.Manager", managerPath, map[string]any{
		"Name": "Simulated BMC", "ManagerType": "BMC", "Manufacturer": s.hardware.model.manufacturer, "Model": "Simulated BMC", "FirmwareVersion": bmcVersion, "SerialNumber": s.hardware.serial + "-BMC",
		"UUID": s.hardware.uuid, "DateTime": now.Format(time.RFC3339), "DateTimeLocalOffset": "+00:00", "PowerState": "On", "Status": healthy(),
		"EthernetInterfaces": ref(managerPath + "/EthernetInterfaces"), "LogServices": ref(managerPath + "/LogServices"), "NetworkProtocol": ref(managerPath + "/NetworkProtocol"),
		"Links": map[string]any{"ManagerForServers": refs(systemPath), "ManagerForChassis": refs(chassisPath)},
	})
	for _, place := range s.mediaPlaces() {
		if place == managerPath {
			doc["VirtualMedia"] = ref(managerPath + "/VirtualMedia")
		}
	}
	return doc
}

// logServicesDocument is a log at the system and at the manager: two views of the same entries.
func (s *Server) logServicesDocument(place, id string, rest []string) map[string]any {
	base := place + "/LogServices"
	path := base + "/" + id
	switch {
	case s.has(FaultMissingLinks):
		return nil
	case len(rest) <= 1:
		return pick("LogServiceCollection", base, []map[string]any{resource("LogService.v1_7_0.LogService", path, map[string]any{
			"Id": id, "Name": "Event log", "MaxNumberOfRecords": mostEvents, "OverWritePolicy": "WrapsWhenFull", "ServiceEnabled": true, "LogEntryType": "Event", "Entries": ref(path + "/Entries"),
			"Actions": map[string]any{"#LogService.ClearLog": map[string]any{"target": path + "/Actions/LogService.ClearLog"}}, "Status": healthy(),
		})}, rest)
	case rest[0] != id || rest[1] != "Entries":
		return nil
	case len(rest) > 2:
		for _, e := range s.events.entries() {
			if rest[2] == fmt.Sprint(e.id) && len(rest) == 3 {
				return s.entryDocument(path, e)
			}
		}
		return nil
	}
	doc := members("LogEntryCollection", path+"/Entries")
	list := []any{}
	for _, e := range s.events.entries() {
		list = append(list, s.entryDocument(path, e))
	}
	doc["Members"], doc["Members@odata.count"] = list, len(list)
	return doc
}

func (s *Server) entryDocument(log string, e event) map[string]any {
	severity := string(e.severity)
	return resource("LogEntry.v1_17_0.LogEntry", fmt.Sprintf("%s/Entries/%d", log, e.id), map[string]any{
		"Id": fmt.Sprint(e.id), "Name": "Entry " + fmt.Sprint(e.id), "EntryType": "Event", "Created": s.stamp(e).Format(time.RFC3339), "Severity": severity, "Message": e.message,
		"MessageId": "Example.1.0.Event", "SensorType": e.sensor,
	})
}

func (s *Server) clearLog(w http.ResponseWriter, r *http.Request) {
	place := rootPath + "/" + r.PathValue("family") + "/1"
	id := map[string]string{systemPath: "SEL", managerPath: "Log"}[place]
	if id == "" || id != r.PathValue("id") || s.has(FaultMissingLinks) {
		refuseMissing(w, r)
		return
	}
	s.events.clear()
	s.news.tell()
	w.WriteHeader(http.StatusNoContent)
}
