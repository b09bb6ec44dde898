package sim_test

import (
	"archive/tar"
	"compress/gzip"
	"encoding/base64"
	"encoding/json"
	"errors"
	"io"
	"maps"
	"net"
	"net/http"
	"slices"
	"strings"
	"testing"

	"cagenut/bmc/sim"
	"cagenut/node"
)

func TestSameSeedMakesTheSameHardware(t *testing.T) {
	var got [3][]string
	for i, seed := range []uint64{7, 7, 8} {
		r := startRack(t, sim.Options{Servers: 4, Seed: seed, FirstAddress: "127.77.9.1"})
		for _, s := range r.Servers() {
			got[i] = append(got[i], string(s.Report()))
		}
		closeRack(t, r)
	}
	if !slices.Equal(got[0], got[1]) {
		t.Error("the same seed made other hardware")
	}
	if slices.Equal(got[0], got[2]) {
		t.Error("another seed made the same hardware")
	}
}

func TestServersOfARackAreToldApart(t *testing.T) {
	seen := map[string]bool{}
	for _, s := range startRack(t, sim.Options{Servers: 50, IPMI: 10}).Servers() {
		keys := []string{s.Name, s.Address, reportOf(t, s).Inventory.SystemVendor.SerialNumber, reportOf(t, s).Inventory.BMCMAC}
		for _, i := range reportOf(t, s).Inventory.Interfaces {
			keys = append(keys, i.MAC)
			if mac, err := net.ParseMAC(i.MAC); err != nil || !strings.HasPrefix(i.MAC, "02:00:5e:") || len(mac) != 6 {
				t.Errorf("%s: MAC %q: %v", s.Name, i.MAC, err)
			}
		}
		for _, k := range keys {
			if seen[k] {
				t.Errorf("%s: %q is there twice", s.Name, k)
			}
			seen[k] = true
		}
	}
}

func TestOptionsSpreadDriversAndCabling(t *testing.T) {
	ipmi, silent := 0, 0
	for _, s := range startRack(t, sim.Options{Servers: 12, IPMI: 4, Silent: 2}).Servers() {
		if s.Driver == node.DriverIPMI {
			ipmi++
		}
		if s.Silent {
			silent++
		}
	}
	if ipmi != 4 || silent != 2 {
		t.Errorf("%d IPMI and %d silent servers, want 4 and 2", ipmi, silent)
	}
}

func TestImpossibleOptionsAreRefused(t *testing.T) {
	for name, o := range map[string]sim.Options{
		"more silent servers than servers": {Servers: 1, Silent: 2},
		"more IPMI servers than servers":   {Servers: 1, IPMI: 2},
		"a password too long for IPMI":     {Password: strings.Repeat("x", 21)},
		"a user too long for IPMI":         {User: strings.Repeat("x", 17)},
		"an address that is none":          {FirstAddress: "rack one"},
		"too many servers":                 {Servers: 2001},
	} {
		t.Run(name, func(t *testing.T) {
			if r, err := sim.Start(t.Context(), o); err == nil {
				closeRack(t, r)
				t.Error("accepted")
			}
		})
	}
}

// TestReportHasTheAgentsShape compares keys with contract.md §6.2 and §6.3.
func TestReportHasTheAgentsShape(t *testing.T) {
	s := startRack(t, sim.Options{Servers: 1}).Servers()[0]
	var doc map[string]any
	if err := json.Unmarshal(s.Report(), &doc); err != nil {
		t.Fatal(err)
	}
	at := func(path ...string) map[string]any {
		var here any = doc
		for _, p := range path {
			here = here.(map[string]any)[p]
			if list, ok := here.([]any); ok {
				here = list[0]
			}
		}
		return here.(map[string]any)
	}
	for _, c := range []struct {
		path []string
		keys string
	}{
		{nil, "boot_interface configuration error inventory lldp_raw logs pci_devices root_disk"},
		{[]string{"inventory"}, "bmc_address bmc_mac bmc_v6address boot cpu disks hostname interfaces memory system_vendor"},
		{[]string{"inventory", "interfaces"}, "biosdevname client_id driver has_carrier ipv4_address ipv6_address lldp mac_address name pci_address product speed_mbps vendor"},
		{[]string{"inventory", "cpu"}, "architecture count flags frequency model_name socket_count"},
		{[]string{"inventory", "memory"}, "physical_mb total"},
		{[]string{"inventory", "disks"}, "by_path hctl logical_sectors model name physical_sectors rotational serial size tran vendor wwn wwn_vendor_extension wwn_with_extension"},
		{[]string{"inventory", "system_vendor"}, "firmware manufacturer product_name serial_number"},
		{[]string{"inventory", "boot"}, "current_boot_mode pxe_interface"},
		{[]string{"root_disk"}, "by_path hctl logical_sectors model name physical_sectors rotational serial size tran vendor wwn wwn_vendor_extension wwn_with_extension"},
		{[]string{"pci_devices"}, "bus class numa_node_id product_id revision vendor_id"},
		{[]string{"configuration"}, "collectors managers"},
	} {
		if got := strings.Join(slices.Sorted(maps.Keys(at(c.path...))), " "); got != c.keys {
			t.Errorf("%v has\n%s, want\n%s", c.path, got, c.keys)
		}
	}
	if doc["error"] != nil {
		t.Errorf("error: %v", doc["error"])
	}
	if want := "01-" + strings.ReplaceAll(s.BootMAC, ":", "-"); doc["boot_interface"] != want { // G21
		t.Errorf("boot_interface %v, want %s", doc["boot_interface"], want)
	}
	if bmc := at("inventory")["bmc_address"].(string); !strings.Contains(s.Address, bmc) {
		t.Errorf("bmc_address %s of a BMC at %s", bmc, s.Address)
	}
}

func TestReportsLogsAreAnArchive(t *testing.T) {
	s := startRack(t, sim.Options{Servers: 1}).Servers()[0]
	z, err := gzip.NewReader(base64.NewDecoder(base64.StdEncoding, strings.NewReader(reportOf(t, s).Logs)))
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for archive := tar.NewReader(z); ; {
		h, err := archive.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		names = append(names, h.Name)
	}
	if !slices.Equal(names, []string{"journal", "lsblk"}) {
		t.Errorf("files %v", names)
	}
}

func TestRamdiskMayReportAnError(t *testing.T) { // G25
	s := startRack(t, sim.Options{Servers: 1}).Servers()[0]
	s.FailReports("failed to run hardware-detect utility: boom")
	if got := reportOf(t, s).Error; got == nil || *got != "The following errors were encountered:\n* failed to run hardware-detect utility: boom" {
		t.Errorf("error %v", got)
	}
	s.FailReports("")
	if got := reportOf(t, s).Error; got != nil {
		t.Errorf("error %q after it was healed", *got)
	}
}

func TestRedfishShowsTheHardwareThatTheRamdiskReports(t *testing.T) {
	for _, s := range startRack(t, sim.Options{Servers: 6, Seed: 3}).Servers() {
		inventory := reportOf(t, s).Inventory
		_, doc := call(t, s, http.MethodGet, system, "")
		if doc["SerialNumber"] != inventory.SystemVendor.SerialNumber || doc["Manufacturer"] != inventory.SystemVendor.Manufacturer || doc["Model"] != inventory.SystemVendor.ProductName {
			t.Errorf("%s: Redfish shows %v %v %v, the ramdisk %+v", s.Name, doc["Manufacturer"], doc["Model"], doc["SerialNumber"], inventory.SystemVendor)
		}
		if gib := doc["MemorySummary"].(map[string]any)["TotalSystemMemoryGiB"].(float64); int(gib)*1024 != inventory.Memory.PhysicalMB {
			t.Errorf("%s: %v GiB and %d MiB", s.Name, gib, inventory.Memory.PhysicalMB)
		}
		cpus := doc["ProcessorSummary"].(map[string]any)
		if int(cpus["LogicalProcessorCount"].(float64)) != inventory.CPU.Count || int(cpus["Count"].(float64)) != inventory.CPU.SocketCount {
			t.Errorf("%s: %v and %+v", s.Name, cpus, inventory.CPU)
		}
		var macs []string
		_, list := call(t, s, http.MethodGet, system+"/EthernetInterfaces", "")
		for _, m := range list["Members"].([]any) {
			_, nic := call(t, s, http.MethodGet, m.(map[string]any)["@odata.id"].(string), "")
			macs = append(macs, nic["MACAddress"].(string))
		}
		var reported []string
		for _, i := range inventory.Interfaces {
			reported = append(reported, i.MAC)
		}
		if !slices.Equal(macs, reported) || macs[0] != s.BootMAC || len(macs) < 2 || len(macs) > 4 {
			t.Errorf("%s: Redfish shows %v, the ramdisk %v, boots from %s", s.Name, macs, reported, s.BootMAC)
		}
	}
}

// wireReport is what the tests read of a report.
type wireReport struct {
	Inventory struct {
		BMCMAC     string `json:"bmc_mac"`
		Interfaces []struct {
			MAC string `json:"mac_address"`
		} `json:"interfaces"`
		Disks []struct {
			Model  string `json:"model"`
			Serial string `json:"serial"`
			Size   int64  `json:"size"`
		} `json:"disks"`
		CPU struct {
			Count       int `json:"count"`
			SocketCount int `json:"socket_count"`
		} `json:"cpu"`
		Memory struct {
			PhysicalMB int `json:"physical_mb"`
		} `json:"memory"`
		SystemVendor struct {
			SerialNumber string `json:"serial_number"`
			Manufacturer string `json:"manufacturer"`
			ProductName  string `json:"product_name"`
		} `json:"system_vendor"`
	} `json:"inventory"`
	Logs  string  `json:"logs"`
	Error *string `json:"error"`
}

func reportOf(t *testing.T, s *sim.Server) wireReport {
	t.Helper()
	var r wireReport
	if err := json.Unmarshal(s.Report(), &r); err != nil {
		t.Fatal(err)
	}
	return r
}
