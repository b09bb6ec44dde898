package redfish_test

import (
	"fmt"
	"net/http/httptest"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"cagenut/bmc"
	"cagenut/node"
)

// tree is a recorded BMC and what is to be found in its answers.
type tree struct {
	folder, system string

	model, serial string
	manager       string // manufacturer, model and firmware of the BMC
	cpu           node.Processor
	cpus          int
	memoryMiB     int64
	modules       int
	nic           node.NIC // one of them
	nics          int
	drive         node.Drive // one of them
	drives        int
	controllers   int
	cards         int
	mode          string
	secure        *bool
	firmware      node.Firmware // one of them
	firmwares     int
	bios          string // an attribute
	biosValue     any
	mostRequests  int // for the hardware, asked for one by one
	mostExpanded  int // the same where the BMC sends members with their collections
}

func trees() []tree {
	no, yes, gig, fast := false, true, 1000, 25000
	return []tree{
		{
			folder: "dell-r750-idrac9", system: "/redfish/v1/Systems/System.Embedded.1",
			model: "PowerEdge R750", serial: "EXC36C716F82EC", manager: "Dell 15G Monolithic 6.00.30.00",
			cpu: node.Processor{Socket: "CPU.Socket.1", Manufacturer: "Intel", Model: "Intel(R) Xeon(R) Gold 6354 CPU @ 3.00GHz", Architecture: "x86_64",
				Cores: 18, Threads: 36, MHz: 4000, Health: "OK"}, cpus: 2,
			memoryMiB: 512 << 10, modules: 16,
			nic: node.NIC{Name: "NIC.Embedded.1-1-1", MAC: "70:b5:e8:f0:52:dc", Link: &no, Manufacturer: "Broadcom Inc. and subsidiaries", Health: "OK"}, nics: 5,
			drive: node.Drive{Name: "PCIe SSD in Slot 1 in Bay 1", Manufacturer: "KIOXIA Corporation", Model: "Dell Ent NVMe CM6 RI 1.92TB", Serial: "EXD749EC1598",
				Bytes: 1920383410176, Rotational: &no, Protocol: "PCIe", Health: "OK"}, drives: 3, controllers: 2, cards: 13,
			mode: "uefi", secure: &no,
			firmware: node.Firmware{Component: "BIOS", ID: "Current-159-1.8.2__BIOS.Setup.1-1", Version: "1.8.2", Updateable: &yes, Released: "2022-09-16T00:00:00Z"}, firmwares: 27,
			bios: "AcPwrRcvryUserDelay", biosValue: int64(120), mostRequests: 110, mostExpanded: 60,
		},
		{
			folder: "dmtf-public-rackmount1", system: "/redfish/v1/Systems/437XR1138R2",
			model: "3500", serial: "EX4363AEDBE", manager: "Contoso Joo Janta 200 1.00",
			cpu: node.Processor{Socket: "CPU 1", Manufacturer: "Intel(R) Corporation", Model: "Multi-Core Intel(R) Xeon(R) processor 7xxx Series",
				Architecture: "x86_64", Cores: 8, Threads: 16, MHz: 3700, Health: "OK"}, cpus: 1, // the other socket is empty
			memoryMiB: 96 << 10, modules: 3,
			nic: node.NIC{Name: "1", MAC: "12:44:6a:3b:04:11", SpeedMbps: &gig, Link: &yes, IPv4: "192.0.2.16", IPv6: "fe80::1ec1:deff:fe6f:1e24", Health: "OK"}, nics: 2,
			drive: node.Drive{Name: "SATA Bay 2", Manufacturer: "Contoso", Model: "3000GT7", Bytes: 4000000000000, Health: "Warning"}, drives: 2,
			mode: "uefi", firmware: node.Firmware{Component: "BMC", ID: "BMC", Version: "1.00"}, firmwares: 2, // no update service
			bios: "BootMode", biosValue: "Uefi", mostRequests: 20, mostExpanded: 20,
		},
		{
			folder: "gigabyte-h262-ami", system: "/redfish/v1/Systems/Self",
			model: "H262-Z63-00", serial: "EXA0D5B999497FA5", manager: "AMI 410810600 12.84.13",
			cpu: node.Processor{Socket: "P1", Manufacturer: "Advanced Micro Devices, Inc.", Model: "AMD EPYC 7702 64-Core Processor", Architecture: "x86_64",
				Cores: 64, Threads: 128, MHz: 3350, Health: "OK"}, cpus: 2,
			memoryMiB: 244 << 10, modules: 16,
			nic: node.NIC{Name: "1", MAC: "b4:2e:99:ba:de:15", Health: "OK"}, nics: 2, // two of three have the same MAC
			drive: node.Drive{Name: "SAMSUNG MZ7LH1T9HMLT-00005", Model: "SAMSUNG MZ7LH1T9HMLT-00005", Serial: "EX2C7B0480A683", Bytes: 2013667524608, Health: "OK"}, drives: 1, cards: 1,
			mode: "bios", secure: &no,
			firmware: node.Firmware{Component: "BIOS", ID: "BIOS", Version: "C27", Updateable: &yes}, firmwares: 3,
			bios: "FBO001", biosValue: "UEFI", mostRequests: 50, mostExpanded: 40,
		},
		{
			folder: "hpe-dl360-ilo5", system: "/redfish/v1/Systems/1",
			model: "ProLiant DL360 Gen10 Plus - SIMULATED", serial: "EXHPE00001", manager: "HPE iLO 5 iLO 5 v3.11",
			cpu: node.Processor{Socket: "Proc 1", Manufacturer: "Intel(R) Corporation", Model: "Intel(R) Xeon(R) Silver 4310 CPU @ 2.10GHz", Architecture: "x86_64",
				Cores: 12, Threads: 24, MHz: 4000, Health: "OK"}, cpus: 2,
			memoryMiB: 192 << 10, modules: 12,
			nic: node.NIC{Name: "13", MAC: "88:e9:a4:6b:a8:ac", SpeedMbps: &fast, Link: &yes, Manufacturer: "MLNX", Model: "Ethernet 10/25Gb 2-port SFP28 MCX512F-ACHT Adapter",
				Health: "OK", Neighbour: &node.Neighbour{SwitchID: "bc:d7:a5:72:f4:00", PortID: "1/1/1:4"}}, nics: 6,
			drive: node.Drive{Name: "480GB 6G SATA SSD", Model: "MK000480GWSSC", Serial: "EX99DBDB0E686D", WWN: "31402EC013A3F46F", Bytes: 480103981056, Rotational: &no,
				Protocol: "SATA", Health: "OK"}, drives: 2, controllers: 1, cards: 5,
			mode: "uefi", secure: &no,
			firmware: node.Firmware{Component: "System ROM", ID: "2", Version: "U46 v2.34 (03/11/2025)", Updateable: &yes}, firmwares: 23,
			bios: "BootMode", biosValue: "Uefi", mostRequests: 80, mostExpanded: 80,
		},
		{
			folder: "lenovo-sr670-xcc", system: "/redfish/v1/Systems/1",
			model: "ThinkSystem SR670 V2", serial: "EXLNV001", manager: "Lenovo Lenovo XClarity Controller TGBT42S 2.83 2023-07-05",
			cpu: node.Processor{Socket: "CPU 1", Manufacturer: "Intel(R) Corporation", Model: "Intel(R) Xeon(R) Platinum 8362 CPU @ 2.80GHz", Architecture: "x86_64",
				Cores: 32, Threads: 64, MHz: 3600, Health: "OK"}, cpus: 2, // and eight GPUs
			memoryMiB: 1024 << 10, modules: 16,
			nic: node.NIC{Name: "NIC1", MAC: "00:62:0b:4c:28:4e", Link: &no, Manufacturer: "Broadcom Limited", Model: "BCM5719", Health: "OK"}, nics: 4,
			drive: node.Drive{Name: "7.68TB EDSFF NVMe SSD", Manufacturer: "MICRON", Model: "Micron_7450_MTFDKBZ7T6TFR", Serial: "EXBB446045CC", Bytes: 7680000000000,
				Rotational: &no, Protocol: "NVMe", Health: "OK"}, drives: 4, controllers: 2, cards: 16,
			mode: "uefi", secure: &no,
			firmware: node.Firmware{Component: "Firmware:UEFI", ID: "UEFI", Version: "22J-1.51", Updateable: &yes, Released: "2023-03-30T00:00:00Z"}, firmwares: 41,
			bios: "SystemRecovery_POSTWatchdogTimer", biosValue: "Disabled", mostRequests: 120, mostExpanded: 80,
		},
		{
			folder: "supermicro-x13", system: "/redfish/v1/Systems/1",
			model: "SYS-821GE-TNHR", serial: "EX36DF75E726CA7", manager: "Supermicro ASPEED 11.01.01",
			cpu: node.Processor{Socket: "CPU1", Manufacturer: "Intel(R) Corporation", Model: "Intel(R) Xeon(R) Platinum 8462Y+", Architecture: "x86_64",
				Cores: 32, Threads: 64, MHz: 4000, Health: "OK"}, cpus: 2,
			memoryMiB: 2048 << 10, modules: 32,
			nic: node.NIC{Name: "1", MAC: "94:6d:ae:91:fb:22", Link: &no, Manufacturer: "Supermicro", Model: "MCX75310AAS-NEAT", Health: "OK"}, nics: 11,
			drive: node.Drive{Name: "Disk.Bay.0", Manufacturer: "Samsung", Model: "MZQL27T6HBLA-00A07", Serial: "EXB5421F12D062", Bytes: 7681501126656, Health: "OK"}, drives: 8, controllers: 1, cards: 26,
			mode: "uefi", secure: &no,
			firmware: node.Firmware{Component: "BMC", ID: "BMC", Version: "11.01.01", Updateable: &yes, Released: "2023-11-17T00:00:00Z"}, firmwares: 104,
			bios: "AES_NI_3C75", biosValue: "Enable", mostRequests: 180, mostExpanded: 60,
		},
	}
}

// serveTree starts the recorded BMC and a client of it.
func serveTree(t *testing.T, m tree, expands bool) (*recorded, bmc.Abilities) {
	t.Helper()
	root := filepath.Join(sharedFolder(t), m.folder)
	if _, err := os.Stat(filepath.Join(root, "redfish", "v1")); err == nil {
		root = filepath.Join(root, "redfish", "v1")
	}
	r := &recorded{t: t, root: root, system: m.system, changes: map[string]any{}, expands: expands}
	server := httptest.NewServer(r)
	t.Cleanup(server.Close)
	n := node.Node{UUID: node.NewUUID(), Driver: node.DriverRedfish, DriverInfo: map[string]any{"redfish_address": server.URL}}
	return r, abilities(t, open(t, newDriver(t, quick()), n))
}

func abilities(t *testing.T, c bmc.Client) bmc.Abilities {
	t.Helper()
	a, ok := c.(bmc.Abilities)
	if !ok {
		t.Fatalf("%T has no abilities beyond power and boot", c)
	}
	return a
}

// eachTree runs a test on every recorded BMC, with and without members in their collections, and counts.
func eachTree(t *testing.T, test func(t *testing.T, m tree, r *recorded, c bmc.Abilities)) {
	t.Helper()
	sharedFolder(t) // or the whole test is left out, and says so
	tested := 0
	for _, m := range trees() {
		for _, expands := range []bool{false, true} {
			name := m.folder
			if expands {
				name += " with members expanded"
			}
			t.Run(name, func(t *testing.T) {
				r, c := serveTree(t, m, expands)
				test(t, m, r, c)
			})
		}
		tested++
	}
	fmt.Printf("vendor trees: %d tested (%s)\n", tested, t.Name())
}

func TestTheHardwareOfRealMachinesIsFound(t *testing.T) { // quirks 44 to 51, 53, 54
	eachTree(t, func(t *testing.T, m tree, r *recorded, c bmc.Abilities) {
		h, err := c.Hardware(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if h.System.Model != m.model || h.System.Serial != m.serial || h.System.UUID == "" || h.System.Manufacturer == "" || h.System.BIOSVersion == "" {
			t.Errorf("system %+v", h.System)
		}
		one(t, "processor", h.Processors, m.cpu, m.cpus)
		if h.MemoryMiB != m.memoryMiB || len(h.Memory) != m.modules {
			t.Errorf("memory %d MiB in %d modules, want %d in %d", h.MemoryMiB, len(h.Memory), m.memoryMiB, m.modules)
		}
		one(t, "NIC", h.NICs, m.nic, m.nics)
		one(t, "drive", h.Drives, m.drive, m.drives)
		if len(h.Storage) != m.controllers || len(h.PCIe) != m.cards {
			t.Errorf("%d controllers, %d cards; want %d, %d: %+v", len(h.Storage), len(h.PCIe), m.controllers, m.cards, h.Storage)
		}
		if h.BootMode != m.mode || !reflect.DeepEqual(h.SecureBoot, m.secure) {
			t.Errorf("boot mode %q, secure boot %v", h.BootMode, h.SecureBoot)
		}
		most := m.mostRequests
		if r.expands {
			most = m.mostExpanded
		}
		if len(r.reads) > most {
			t.Errorf("%d requests, want at most %d", len(r.reads), most)
		}
	})
}

// one finds an item among what was found, and counts.
func one[T any](t *testing.T, what string, found []T, want T, count int) {
	t.Helper()
	if len(found) != count {
		t.Errorf("%d × %s, want %d", len(found), what, count)
	}
	for _, f := range found {
		if reflect.DeepEqual(f, want) {
			return
		}
	}
	t.Errorf("no %s like\n%+v among\n%+v", what, want, found)
}

func TestTheFirmwareOfRealMachinesIsListed(t *testing.T) {
	eachTree(t, func(t *testing.T, m tree, _ *recorded, c bmc.Abilities) {
		id, err := c.Identity(t.Context())
		if said := id.Manufacturer + " " + id.Model + " " + id.Firmware; err != nil || said != m.manager || !strings.HasPrefix(id.Protocol, "Redfish 1.") || id.Time.IsZero() || id.UUID == "" {
			t.Errorf("BMC %+v, %v; want %s", id, err, m.manager)
		}
		list, err := c.Firmware(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		one(t, "firmware", list, m.firmware, m.firmwares)
		attributes, err := c.BIOS(t.Context())
		if err != nil || attributes[m.bios] != m.biosValue {
			t.Errorf("BIOS: %v, %s is %v (%T)", err, m.bios, attributes[m.bios], attributes[m.bios])
		}
	})
}
