package sim_test

import (
	"net/http"
	"strings"
	"testing"

	"cagenut/bmc/sim"
	"cagenut/node"
)

const (
	nics     = system + "/EthernetInterfaces"
	adapters = "/redfish/v1/Chassis/1/NetworkAdapters"
)

// macs are the MACAddress and the PermanentMACAddress of the interfaces that Redfish lists.
func macs(t *testing.T, s *sim.Server) (current, permanent []any) {
	t.Helper()
	for i := range shown(t, s, nics)["Members"].([]any) {
		doc := at(shown(t, s, nics+"?$expand=."), "Members", i)
		current, permanent = append(current, at(doc, "MACAddress")), append(permanent, at(doc, "PermanentMACAddress"))
	}
	return current, permanent
}

var inventoryQuirks = []quirk{
	{fault: sim.FaultSeveralSystems, rows: []int{44}, check: func(t *testing.T, s *sim.Server) {
		list := shown(t, s, "/redfish/v1/Systems")
		board, _ := at(list, "Members", 0, "@odata.id").(string)
		off := status(t, s, http.MethodGet, board, "")
		s.SetPower(node.PowerOn)
		doc := shown(t, s, board)
		if off != 503 || doc["Boot"] != nil || at(doc, "Actions", "#ComputerSystem.Reset", "ResetType@Redfish.AllowableValues") != nil || at(list, "Members", 1, "@odata.id") != system {
			t.Errorf("off %d, on %v", off, doc)
		}
	}},
	{fault: sim.FaultNICsAtAdapters, rows: []int{45}, check: func(t *testing.T, s *sim.Server) {
		port := shown(t, s, adapters+"/NIC1/Ports/1")
		if list := shown(t, s, nics)["Members"].([]any); len(list) != 0 || at(port, "Ethernet", "AssociatedMACAddresses", 0) != s.BootMAC {
			t.Errorf("%v, %v", list, port)
		}
	}},
	{fault: sim.FaultNoAdapters, check: func(t *testing.T, s *sim.Server) {
		expect(t, "adapters, interfaces", []int{status(t, s, http.MethodGet, adapters, ""), status(t, s, http.MethodGet, nics+"/1", "")}, []int{404, 200})
	}},
	{fault: sim.FaultEmptyMACs, rows: []int{46}, check: func(t *testing.T, s *sim.Server) {
		if current, _ := macs(t, s); current[0] != "" {
			t.Errorf("%v", current)
		}
	}},
	{fault: sim.FaultPermanentMACOnly, check: func(t *testing.T, s *sim.Server) {
		if current, permanent := macs(t, s); current[0] != nil || permanent[0] != s.BootMAC {
			t.Errorf("%v, %v", current, permanent)
		}
	}},
	{fault: sim.FaultOddMACs, rows: []int{47}, check: func(t *testing.T, s *sim.Server) {
		current, permanent := macs(t, s)
		n := len(current)
		if current[0] != strings.ToUpper(s.BootMAC) || !strings.Contains(permanent[1].(string), "-") || current[1] == permanent[1] ||
			current[n-3] != "Not Available" || current[n-2] != s.BootMAC || len(current[n-1].(string)) != 59 {
			t.Errorf("%v, %v", current, permanent)
		}
	}},
	{fault: sim.FaultSmartStorage, rows: []int{48}, check: func(t *testing.T, s *sim.Server) {
		if list := shown(t, s, system+"/Storage")["Members"].([]any); len(list) != 0 {
			t.Errorf("%v", list)
		}
		smart, _ := at(shown(t, s, system), "Oem", "Hpe", "Links", "SmartStorage", "@odata.id").(string)
		all, _ := at(shown(t, s, smart), "Links", "ArrayControllers", "@odata.id").(string)
		one, _ := at(shown(t, s, all), "Members", 0, "@odata.id").(string)
		list, _ := at(shown(t, s, one), "Links", "PhysicalDrives", "@odata.id").(string)
		drives := shown(t, s, list)
		first, _ := at(drives, "Members", 0, "@odata.id").(string)
		if want := reportOf(t, s).Inventory.Disks; drives["Members@odata.count"] != float64(len(want)) || shown(t, s, first)["SerialNumber"] != want[0].Serial {
			t.Errorf("%v", drives)
		}
	}},
	{fault: sim.FaultUnknownSummaries, rows: []int{49}, check: func(t *testing.T, s *sim.Server) {
		if sys := shown(t, s, system); at(sys, "MemorySummary", "TotalSystemMemoryGiB") != nil || at(sys, "ProcessorSummary", "Count") != nil {
			t.Errorf("%v", sys)
		}
	}},
	{fault: sim.FaultSummariesCountGPU, check: func(t *testing.T, s *sim.Server) {
		cpus := reportOf(t, s).Inventory.CPU.SocketCount
		if sys := shown(t, s, system); at(sys, "ProcessorSummary", "Count") != float64(cpus+1) || len(shown(t, s, system+"/Processors")["Members"].([]any)) != cpus+1 {
			t.Errorf("%v", sys)
		}
	}},
	{fault: sim.FaultFailedPSU, check: func(t *testing.T, s *sim.Server) {
		supply := at(shown(t, s, "/redfish/v1/Chassis/1/Power"), "PowerSupplies", 1, "Status", "Health")
		log := shown(t, s, "/redfish/v1/Managers/1/LogServices/Log/Entries")["Members"].([]any)
		if at(shown(t, s, system), "Status", "Health") != "Critical" || supply != "Critical" || at(log, len(log)-1, "Severity") != "Critical" {
			t.Errorf("%v, %v", supply, log)
		}
	}},
	{fault: sim.FaultHotInlet, check: func(t *testing.T, s *sim.Server) {
		inlet := at(shown(t, s, "/redfish/v1/Chassis/1/Thermal"), "Temperatures", 0)
		if at(shown(t, s, system), "Status", "Health") != "Warning" || at(inlet, "Status", "Health") != "Warning" || at(inlet, "ReadingCelsius").(float64) < at(inlet, "UpperThresholdNonCritical").(float64) {
			t.Errorf("%v", inlet)
		}
	}},
	{fault: sim.FaultFailedDrive, check: func(t *testing.T, s *sim.Server) {
		failing := 0
		for _, controller := range shown(t, s, system+"/Storage?$expand=.")["Members"].([]any) {
			for _, d := range at(controller, "Drives").([]any) {
				if at(shown(t, s, at(d, "@odata.id").(string)), "FailurePredicted") == true {
					failing++
				}
			}
		}
		if at(shown(t, s, system), "Status", "Health") != "Warning" || failing != 1 {
			t.Errorf("%d drives fail", failing)
		}
	}},
}

func TestPortsOfTwoAdaptersHaveTheSameIDs(t *testing.T) {
	for _, s := range startRack(t, sim.Options{Servers: 8}).Servers() {
		if len(shown(t, s, adapters)["Members"].([]any)) < 2 {
			continue
		}
		if a, b := shown(t, s, adapters+"/NIC1/Ports/1"), shown(t, s, adapters+"/NIC2/Ports/1"); a["Id"] != b["Id"] || at(a, "Ethernet", "AssociatedMACAddresses", 0) == at(b, "Ethernet", "AssociatedMACAddresses", 0) {
			t.Errorf("%v, %v", a, b)
		}
		return
	}
	t.Error("no server has two adapters")
}
