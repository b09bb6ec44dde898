package redfish_test

import (
	"fmt"
	"reflect"
	"testing"

	"cagenut/node"
)

func TestInterfacesAreMergedByMAC(t *testing.T) { // quirks 45, 46, 47, 51
	type doc struct{ path, body string }
	adapter := doc{"/NA/1", "{" + to("NetworkDeviceFunctions", "/NA/1/F") + "," + to("Ports", "/NA/1/P") + `,"Manufacturer":"Mellanox","Model":"CX5"}`}
	function := func(n int, more string) doc {
		return doc{fmt.Sprintf("/NA/1/F/%d", n), fmt.Sprintf(`{"@odata.id":"/redfish/v1/NA/1/F/%d","Id":"F%d",%s}`, n, n, more)}
	}
	port := func(n int, more string) doc {
		return doc{fmt.Sprintf("/NA/1/P/%d", n), fmt.Sprintf(`{"@odata.id":"/redfish/v1/NA/1/P/%d","Id":"P%d",%s}`, n, n, more)}
	}
	ethernet := func(n int, more string) doc {
		return doc{fmt.Sprintf("/E/%d", n), fmt.Sprintf(`{"@odata.id":"/redfish/v1/E/%d","Id":"E%d",%s}`, n, n, more)}
	}
	yes := true
	speed := 25000
	for name, c := range map[string]struct {
		docs []doc
		want []node.NIC
	}{
		"EthernetInterfaces is empty, the adapter knows (45)": {
			[]doc{adapter, function(1, `"Ethernet":{"MACAddress":"AA-BB-CC-00-00-01"},"Links":{`+to("PhysicalNetworkPortAssignment", "/NA/1/P/1")+`}`),
				port(1, `"LinkStatus":"LinkUp","CurrentSpeedGbps":25,"LinkNetworkTechnology":"Ethernet"`)},
			[]node.NIC{{Name: "F1", MAC: "aa:bb:cc:00:00:01", Link: &yes, SpeedMbps: &speed, Manufacturer: "Mellanox", Model: "CX5"}},
		},
		"there are ports alone": {
			[]doc{adapter, port(1, `"LinkStatus":"Up","AssociatedNetworkAddresses":["aa:bb:cc:00:00:02"]`), port(2, `"Ethernet":{"AssociatedMACAddresses":["AABBCC000003","nonsense"]}`)},
			[]node.NIC{{Name: "P1", MAC: "aa:bb:cc:00:00:02", Link: &yes, Manufacturer: "Mellanox", Model: "CX5"},
				{Name: "P2", MAC: "aa:bb:cc:00:00:03", Manufacturer: "Mellanox", Model: "CX5"}},
		},
		"both know, the permanent address counts": {
			[]doc{ethernet(1, `"MACAddress":"aa:bb:cc:00:00:09","PermanentMACAddress":"AA:BB:CC:00:00:01","IPv4Addresses":[{"Address":"0.0.0.0"},{"Address":"192.0.2.5"}]`),
				adapter, function(1, `"Ethernet":{"PermanentMACAddress":"aa:bb:cc:00:00:01","MACAddress":"aa:bb:cc:00:00:09"}`)},
			[]node.NIC{{Name: "E1", MAC: "aa:bb:cc:00:00:01", IPv4: "192.0.2.5", Manufacturer: "Mellanox", Model: "CX5"}},
		},
		"one knows the permanent address, the other the current one": {
			[]doc{ethernet(1, `"MACAddress":"aa:bb:cc:00:00:09"`), adapter, function(1, `"Ethernet":{"PermanentMACAddress":"aa:bb:cc:00:00:01","MACAddress":"aa:bb:cc:00:00:09"}`)},
			[]node.NIC{{Name: "E1", MAC: "aa:bb:cc:00:00:01", Manufacturer: "Mellanox", Model: "CX5"}},
		},
		"what is no Ethernet address is none (46, 47)": {
			[]doc{ethernet(1, `"MACAddress":""`), ethernet(2, `"MACAddress":"Not Available"`), ethernet(3, `"MACAddress":"00:00:00:00:00:00"`),
				ethernet(4, `"MACAddress":"ff:ff:ff:ff:ff:ff"`), ethernet(5, `"MACAddress":"80:00:02:08:fe:80:00:00:00:00:00:00:b8:3f:d2:03:00:a4:1b:d2"`), ethernet(6, `"MACAddress":null`)},
			nil,
		},
		"one address twice is one interface (47)": {
			[]doc{ethernet(1, `"MACAddress":"aa:bb:cc:00:00:01"`), ethernet(2, `"MACAddress":"AA:BB:CC:00:00:01","LinkStatus":"LinkUp"`)},
			[]node.NIC{{Name: "E1", MAC: "aa:bb:cc:00:00:01", Link: &yes}},
		},
		"the interface to the BMC itself is left out": {
			[]doc{ethernet(1, `"MACAddress":"aa:bb:cc:00:00:01","Links":{`+to("HostInterface", "/Managers/1/HostInterfaces/1")+`}`)}, nil,
		},
		"InfiniBand is not Ethernet": {
			[]doc{adapter, function(1, `"NetDevFuncType":"InfiniBand","Ethernet":{"MACAddress":"aa:bb:cc:00:00:01"}`),
				function(2, `"Ethernet":{"MACAddress":"aa:bb:cc:00:00:02"},"Links":{`+to("PhysicalPortAssignment", "/NA/1/P/1")+`}`), port(1, `"ActiveLinkTechnology":"InfiniBand","LinkStatus":"Up"`)},
			nil,
		},
		"what LLDP has heard is told, names spelled out": {
			[]doc{adapter, port(1, `"Ethernet":{"AssociatedMACAddresses":["aa:bb:cc:00:00:01"],"LLDPReceive":{"ChassisId":"BC:D7:A5:00:00:01","ChassisIdSubtype":"MacAddr",`+
				`"PortId":"45:74:68:31:2F:34","PortIdSubtype":"IfName","SystemName":"leaf-1"}}`)},
			[]node.NIC{{Name: "P1", MAC: "aa:bb:cc:00:00:01", Manufacturer: "Mellanox", Model: "CX5",
				Neighbour: &node.Neighbour{SwitchID: "bc:d7:a5:00:00:01", PortID: "Eth1/4", SwitchName: "leaf-1"}}},
		},
	} {
		t.Run(name, func(t *testing.T) {
			p := newPeer(to("EthernetInterfaces", "/E"), "", to("NetworkAdapters", "/NA"))
			lists := map[string][]string{"/E/": nil, "/NA/1/F/": nil, "/NA/1/P/": nil}
			for _, d := range c.docs {
				p.docs[d.path] = d.body
				for list := range lists {
					if len(d.path) == len(list)+1 && d.path[:len(list)] == list {
						lists[list] = append(lists[list], d.path)
					}
				}
			}
			for list, paths := range lists {
				p.docs[list[:len(list)-1]] = links(paths...)
			}
			p.docs["/NA"] = links("/NA/1")
			h, err := p.client(t, patient()).Hardware(t.Context())
			if err != nil || !reflect.DeepEqual(h.NICs, c.want) {
				t.Errorf("%+v, %v\nwant %+v", h.NICs, err, c.want)
			}
		})
	}
}

func TestOnlyProcessorsCount(t *testing.T) { // quirk 49; contract.md §4.5
	p := newPeer(to("Processors", "/P")+`,"ProcessorSummary":{"Count":9,"Model":"NVIDIA A100"}`, "", "")
	p.docs["/P"] = links("/P/1", "/P/2", "/P/3", "/P/4")
	p.docs["/P/1"] = `{"ProcessorType":"CPU","Socket":"CPU1","InstructionSet":"ARM-A64","Model":"Altra   ","TotalCores":80,"MaxSpeedMHz":3000}`
	p.docs["/P/2"] = `{"ProcessorType":"GPU","Model":"A100"}`
	p.docs["/P/3"] = `{"ProcessorType":"CPU","Status":{"State":"Absent"}}`
	p.docs["/P/4"] = `{"Socket":"CPU2","ProcessorArchitecture":"x86","Model":"Unknown","TotalCores":-1,"Status":{"HealthRollup":"Warning"}}`
	h, err := p.client(t, patient()).Hardware(t.Context())
	want := []node.Processor{{Socket: "CPU1", Architecture: "aarch64", Model: "Altra", Cores: 80, MHz: 3000}, {Socket: "CPU2", Health: node.HealthWarning}}
	if err != nil || !reflect.DeepEqual(h.Processors, want) {
		t.Errorf("%+v, %v; want %+v: x86 may be 32 or 64 bits, which is not guessed", h.Processors, err, want)
	}
}

func TestInstructionSetsAreNamedAsInIronic(t *testing.T) { // contract.md §4.5
	for set, want := range map[string]string{
		"x86-64": "x86_64", "x86": "i686", "ARM-A64": "aarch64", "ARM-A32": "arm", "IA-64": "ia64", "MIPS32": "mips", "MIPS64": "mips64", "x86_64": "x86_64", "VAX": "",
	} {
		p := newPeer(to("Processors", "/P"), "", "")
		p.docs["/P"], p.docs["/P/1"] = links("/P/1"), fmt.Sprintf(`{"InstructionSet":%q}`, set)
		h, err := p.client(t, patient()).Hardware(t.Context())
		if err != nil || len(h.Processors) != 1 || h.Processors[0].Architecture != want {
			t.Errorf("%s: %+v, %v; want %q", set, h.Processors, err, want)
		}
	}
}

func TestMemoryIsTheBMCsSumElseThatOfTheModules(t *testing.T) { // quirk 49
	for summary, want := range map[string]int64{
		`{"TotalSystemMemoryGiB":244}`: 244 * 1024, `{"TotalSystemMemoryGiB":0.5}`: 512, `{"TotalSystemMemoryGiB":"96"}`: 96 * 1024,
		`{"TotalSystemMemoryGiB":0}`: 3 * 16384, `{"TotalSystemMemoryGiB":null}`: 3 * 16384, `{}`: 3 * 16384, `"none"`: 3 * 16384, `{"TotalSystemMemoryGiB":-1}`: 3 * 16384,
	} {
		p := withMemory()
		p.docs["/Systems/1"] = `{"@odata.id":"/redfish/v1/Systems/1",` + to("Memory", "/Memory") + `,"MemorySummary":` + summary + `}`
		if h, err := p.client(t, patient()).Hardware(t.Context()); err != nil || h.MemoryMiB != want {
			t.Errorf("%s: %d MiB, %v; want %d", summary, h.MemoryMiB, err, want)
		}
	}
}

func TestDisksAreFoundWhereverTheBMCKeepsThem(t *testing.T) { // quirk 48
	yes, no := true, false
	for name, c := range map[string]struct {
		system string
		docs   map[string]string
		want   []node.Drive
	}{
		"Storage with drives and a RAID volume": {
			to("Storage", "/S"), map[string]string{
				"/S": links("/S/1"), "/S/1": `{"Drives":[{"@odata.id":"/redfish/v1/D/1"},{"@odata.id":"/redfish/v1/D/2"},{"@odata.id":"/redfish/v1/D/3"}],` + to("Volumes", "/V") + `}`,
				"/D/1": `{"Name":"Disk 1","MediaType":"HDD","CapacityBytes":1000,"Identifiers":[{"DurableNameFormat":"UUID","DurableName":"x"},{"DurableNameFormat":"NAA","DurableName":"5000C5"}]}`,
				"/D/2": `{"Name":"Disk 2","RotationSpeedRPM":7200,"CapacityBytes":"2000"}`,
				"/D/3": `{"Name":"Slot 3","Status":{"State":"Absent"}}`,
				"/V":   links("/V/1", "/V/2"), "/V/1": `{"Name":"RAID 1","CapacityBytes":900,"VolumeType":"Mirrored"}`, "/V/2": `{"Name":"Disk 1","VolumeType":"RawDevice","CapacityBytes":1000}`,
			},
			[]node.Drive{{Name: "Disk 1", Bytes: 1000, Rotational: &yes, WWN: "5000C5"}, {Name: "Disk 2", Bytes: 2000, Rotational: &yes}, {Name: "RAID 1", Bytes: 900, Volume: true}},
		},
		"Storage is empty, SimpleStorage is not": {
			to("Storage", "/S") + "," + to("SimpleStorage", "/SS"), map[string]string{
				"/S": links(), "/SS": links("/SS/1"), "/SS/1": `{"Devices":[{"Name":"Bay 1","Model":"X","CapacityBytes":5},{"Name":"Bay 2","Status":{"State":"Absent"}},"odd",{"Name":"Bay 3"}]}`,
			},
			[]node.Drive{{Name: "Bay 1", Model: "X", Bytes: 5}},
		},
		"Storage is empty, the disks are in HPE's SmartStorage": {
			to("Storage", "/S") + `,"Oem":{"Hpe":{"Links":{` + to("SmartStorage", "/Smart") + `}}}`, map[string]string{
				"/S": links(), "/Smart": `{"Links":{` + to("ArrayControllers", "/Smart/AC") + `}}`, "/Smart/AC": links("/Smart/AC/1"),
				"/Smart/AC/1": `{"Links":{` + to("PhysicalDrives", "/Smart/AC/1/D") + `}}`, "/Smart/AC/1/D": links("/Smart/AC/1/D/1"),
				"/Smart/AC/1/D/1": `{"Name":"HpeSmartStorageDiskDrive","Model":"EG","SerialNumber":"1","CapacityMiB":2,"MediaType":"SSD","InterfaceType":"SAS","Status":{"Health":"OK"}}`,
			},
			[]node.Drive{{Name: "HpeSmartStorageDiskDrive", Model: "EG", Serial: "1", Bytes: 2 << 20, Rotational: &no, Protocol: "SAS", Health: "OK"}},
		},
	} {
		t.Run(name, func(t *testing.T) {
			p := newPeer(c.system, "", "")
			for path, doc := range c.docs {
				p.docs[path] = doc
			}
			if h, err := p.client(t, patient()).Hardware(t.Context()); err != nil || !reflect.DeepEqual(h.Drives, c.want) {
				t.Errorf("%+v, %v\nwant %+v", h.Drives, err, c.want)
			}
		})
	}
}

func TestControllersInsideTheirStorageAreToldApart(t *testing.T) {
	p := newPeer(to("Storage", "/S"), "", "")
	p.docs["/S"] = links("/S/1")
	p.docs["/S/1"] = `{"@odata.id":"/redfish/v1/S/1","StorageControllers":[{"@odata.id":"/redfish/v1/S/1#/StorageControllers/0","Name":"A"},{"@odata.id":"/redfish/v1/S/1#/StorageControllers/1","Name":"B","FirmwareVersion":"2"}]}`
	h, err := p.client(t, patient()).Hardware(t.Context())
	if want := []node.StorageController{{Name: "A"}, {Name: "B", Firmware: "2"}}; err != nil || !reflect.DeepEqual(h.Storage, want) {
		t.Errorf("%+v, %v; want %+v", h.Storage, err, want)
	}
}

func TestCardsAreListedByFunction(t *testing.T) {
	p := newPeer("", "", to("PCIeDevices", "/C"))
	p.docs["/C"] = links("/C/1", "/C/2")
	p.docs["/C/1"] = `{"Name":"NIC","Manufacturer":"M","Model":"CX5",` + to("PCIeFunctions", "/C/1/F") + `}`
	p.docs["/C/1/F"] = links("/C/1/F/0", "/C/1/F/1")
	p.docs["/C/1/F/0"] = `{"VendorId":"0x15B3","DeviceId":"0x1017","ClassCode":"0x020000","BusNumber":"0x5e","DeviceNumber":"0x0","FunctionNumber":"0x0"}`
	p.docs["/C/1/F/1"] = `{"VendorId":"15b3","DeviceId":"nonsense"}`
	p.docs["/C/2"] = `{"Name":"GPU"}`
	h, err := p.client(t, patient()).Hardware(t.Context())
	want := []node.PCIeDevice{
		{Name: "NIC", Manufacturer: "M", Model: "CX5", VendorID: "15b3", DeviceID: "1017", Class: "020000", Address: "0000:5e:00.0"},
		{Name: "NIC", Manufacturer: "M", Model: "CX5", VendorID: "15b3"}, {Name: "GPU"},
	}
	if err != nil || !reflect.DeepEqual(h.PCIe, want) {
		t.Errorf("%+v, %v\nwant %+v", h.PCIe, err, want)
	}
}

func TestManagersAndChassisAreFoundWithoutLinks(t *testing.T) { // quirks 53, 54
	p := newPeer(`"Manufacturer":"Acme","Links":{"ManagedBy":"odd"}`, `"Model":"B1","FirmwareVersion":"1.2","DateTime":"1970-01-01T00:00:09Z"`, to("Thermal", "/T"))
	p.docs["/T"] = `{"Temperatures":[{"Name":"Inlet","ReadingCelsius":20}]}`
	c := p.client(t, patient())
	id, err := c.Identity(t.Context())
	if want := (node.BMCIdentity{Manufacturer: "Acme", Model: "B1", Firmware: "1.2", Protocol: "Redfish 1.17.0"}); err != nil || id != want {
		t.Errorf("%+v, %v; want %+v", id, err, want)
	}
	p.docs["/Managers"], p.docs["/Chassis"] = links("/Managers/0", "/Managers/2"), links("/Chassis/0", "/Chassis/1")
	p.docs["/Managers/0"], p.docs["/Managers/2"] = `{"Model":"of another blade"}`, `{"Model":"B2","Links":{"ManagerForServers":[{"@odata.id":"/redfish/v1/Systems/1/"}]}}`
	p.docs["/Chassis/0"], p.docs["/Chassis/1"] = `{}`, `{`+to("Thermal", "/T")+`,"Links":{"ComputerSystems":[{"@odata.id":"/redfish/v1/systems/1"}]}}`
	if id, err := c.Identity(t.Context()); err != nil || id.Model != "B2" {
		t.Errorf("of two managers: %+v, %v", id, err)
	}
	if s, err := c.Sensors(t.Context()); err != nil || len(s) != 1 {
		t.Errorf("of two chassis: %+v, %v", s, err)
	}
	p.docs["/Managers"] = links()
	if id, err := c.Identity(t.Context()); err != nil || id.Protocol == "" || id.Manufacturer != "Acme" {
		t.Errorf("without managers: %+v, %v", id, err)
	}
}

func TestBIOSAttributesKeepTheirTypesAndNoPassword(t *testing.T) {
	p := newPeer(to("Bios", "/B"), "", "")
	p.docs["/B"] = `{"Attributes":{"A":"x","B":true,"C":12,"D":1.5,"E":null,"F":{"odd":1},"SetupPassword":"unsafe"}}`
	got, err := p.client(t, patient()).BIOS(t.Context())
	want := map[string]any{"A": "x", "B": true, "C": int64(12), "D": 1.5, "E": nil, "SetupPassword": nil}
	if err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("%v, %v; want %v", got, err, want)
	}
}
