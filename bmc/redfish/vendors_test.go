package redfish_test

import (
	"time"

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
	sensors       map[node.SensorKind]int
	sensor        node.Sensor // one of them
	health        node.HealthReport
	newest        node.LogEntry
	events        int
	media         []node.VirtualDrive
	light         node.Indicator
	nmi           bool
	writes        []string // to insert, eject, clear the log, switch the light
	mostRequests  int      // for the hardware, asked for one by one
	mostExpanded  int      // the same where the BMC sends members with their collections
}

func trees() []tree {
	no, yes, gig, fast := false, true, 1000, 25000
	return []tree{
		{
			folder: "dell-r750-idrac9", system: "/redfish/v1/Systems/System.Embedded.1",
			writes: []string{
				"POST /Systems/System.Embedded.1/VirtualMedia/1/Actions/VirtualMedia.InsertMedia",
				"POST /Systems/System.Embedded.1/VirtualMedia/1/Actions/VirtualMedia.EjectMedia",
				"POST /Managers/iDRAC.Embedded.1/LogServices/Sel/Actions/LogService.ClearLog",
				"PATCH /Systems/System.Embedded.1",
			},
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
			sensors: map[node.SensorKind]int{"temperature": 6, "fan": 6, "voltage": 51, "current": 2, "power": 8},
			sensor: node.Sensor{Name: "System Board Inlet Temp", Kind: "temperature", Unit: "Cel", Reading: ptr(25), Health: "OK",
				LowerCritical: ptr(-7), LowerWarning: ptr(3), UpperWarning: ptr(38), UpperCritical: ptr(42)},
			health: node.HealthReport{Overall: "OK"}, events: 5,
			newest: node.LogEntry{ID: "1024", At: at("2024-06-11T05:13:00Z"), Severity: "OK", Message: "An OEM diagnostic event occurred.", Sensor: "#26"},
			media:  []node.VirtualDrive{drive("1", true, "cdrom", "disk"), drive("2", true, "cdrom", "disk")}, light: "on", nmi: true,
		},
		{
			folder: "dmtf-public-rackmount1", system: "/redfish/v1/Systems/437XR1138R2",
			writes: []string{
				"PATCH /Managers/BMC/VirtualMedia/CD1",
				"PATCH /Managers/BMC/VirtualMedia/CD1",
				"PATCH /Managers/BMC/VirtualMedia/CD1",
				"POST /Systems/437XR1138R2/LogServices/Log1/Actions/LogService.Reset",
				"PATCH /Systems/437XR1138R2",
			},
			model: "3500", serial: "EX4363AEDBE", manager: "Contoso Joo Janta 200 1.00",
			cpu: node.Processor{Socket: "CPU 1", Manufacturer: "Intel(R) Corporation", Model: "Multi-Core Intel(R) Xeon(R) processor 7xxx Series",
				Architecture: "x86_64", Cores: 8, Threads: 16, MHz: 3700, Health: "OK"}, cpus: 1, // the other socket is empty
			memoryMiB: 96 << 10, modules: 3,
			nic: node.NIC{Name: "1", MAC: "12:44:6a:3b:04:11", SpeedMbps: &gig, Link: &yes, IPv4: "192.0.2.16", IPv6: "fe80::1ec1:deff:fe6f:1e24", Health: "OK"}, nics: 2,
			drive: node.Drive{Name: "SATA Bay 2", Manufacturer: "Contoso", Model: "3000GT7", Bytes: 4000000000000, Health: "Warning"}, drives: 2,
			mode: "uefi", firmware: node.Firmware{Component: "BMC", ID: "BMC", Version: "1.00"}, firmwares: 2, // no update service
			bios: "BootMode", biosValue: "Uefi", mostRequests: 20, mostExpanded: 20,
			sensors: map[node.SensorKind]int{"temperature": 3, "fan": 2, "voltage": 3, "power": 2},
			sensor:  node.Sensor{Name: "CPU2 Temp", Kind: "temperature", Unit: "Cel", State: "Disabled", UpperWarning: ptr(42), UpperCritical: ptr(45)},
			health: node.HealthReport{Overall: "Warning", Parts: []node.PartHealth{
				{Part: "SATA Bay 2", Health: "Warning", Message: "Degraded"}, {Part: "Power Supply Bay 0", Health: "Warning"}}},
			newest: node.LogEntry{ID: "2", At: at("2012-03-07T14:45:00Z"), Severity: "Critical", Message: "Temperature threshold exceeded", Sensor: "Temperature"}, events: 2,
			media: []node.VirtualDrive{
				{ID: "Floppy1", Kinds: []node.MediumKind{"floppy", "disk"}, Inserted: true, URL: "https://www.dmtf.org/freeImages/Sardine.img"},
				{ID: "CD1", Kinds: []node.MediumKind{"cdrom"}, Inserted: true, URL: "redfish.dmtf.org/freeImages/freeOS.1.1.iso"}},
			light: "off", nmi: true,
		},
		{
			folder: "gigabyte-h262-ami", system: "/redfish/v1/Systems/Self",
			writes: []string{
				"POST /Managers/Self/VirtualMedia/CD1/Actions/VirtualMedia.InsertMedia",
				"POST /Managers/Self/VirtualMedia/CD1/Actions/VirtualMedia.EjectMedia",
				"POST /Managers/Self/LogServices/SEL/Actions/LogService.ClearLog",
				"PATCH /Systems/Self",
			},
			model: "H262-Z63-00", serial: "EXA0D5B999497FA5", manager: "AMI 410810600 12.84.13",
			cpu: node.Processor{Socket: "P1", Manufacturer: "Advanced Micro Devices, Inc.", Model: "AMD EPYC 7702 64-Core Processor", Architecture: "x86_64",
				Cores: 64, Threads: 128, MHz: 3350, Health: "OK"}, cpus: 2,
			memoryMiB: 244 << 10, modules: 16,
			nic: node.NIC{Name: "1", MAC: "b4:2e:99:ba:de:15", Health: "OK"}, nics: 2, // two of three have the same MAC
			drive: node.Drive{Name: "SAMSUNG MZ7LH1T9HMLT-00005", Model: "SAMSUNG MZ7LH1T9HMLT-00005", Serial: "EX2C7B0480A683", Bytes: 2013667524608, Health: "OK"}, drives: 1, cards: 1,
			mode: "bios", secure: &no,
			firmware: node.Firmware{Component: "BIOS", ID: "BIOS", Version: "C27", Updateable: &yes}, firmwares: 3,
			bios: "FBO001", biosValue: "UEFI", mostRequests: 50, mostExpanded: 40,
			sensors: map[node.SensorKind]int{"temperature": 17, "voltage": 28, "power": 1},
			sensor: node.Sensor{Name: "CPU0_TEMP", Kind: "temperature", Unit: "Cel", Reading: ptr(40), Health: "OK",
				LowerCritical: ptr(0), LowerWarning: ptr(5), UpperWarning: ptr(97), UpperCritical: ptr(100)},
			health: node.HealthReport{Overall: "OK"}, // its power control is "Critical" and switched off
			newest: node.LogEntry{ID: "151", At: at("2022-03-09T20:02:35Z"), Severity: "OK", Message: "0x0580FF", Sensor: "System Event"}, events: 10,
			media: []node.VirtualDrive{drive("CD1", false, "cdrom")}, light: "off",
		},
		{
			folder: "hpe-dl360-ilo5", system: "/redfish/v1/Systems/1",
			writes: []string{
				"POST /Managers/1/VirtualMedia/2/Actions/VirtualMedia.InsertMedia",
				"POST /Managers/1/VirtualMedia/2/Actions/VirtualMedia.EjectMedia",
				"POST /Systems/1/LogServices/Event/Actions/LogService.ClearLog",
				"PATCH /Systems/1",
			},
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
			sensors: map[node.SensorKind]int{"temperature": 38, "fan": 7, "voltage": 2, "power": 3},
			sensor:  node.Sensor{Name: "Fan 1", Kind: "fan", Unit: "%", Reading: ptr(26), Health: "OK"}, health: node.HealthReport{Overall: "OK"},
			newest: node.LogEntry{ID: "228", At: at("2025-05-29T08:51:24Z"), Severity: "OK", Message: "iLOEvents.3.15.ServerFirmwareInventoryComplete"}, events: 228,
			media: []node.VirtualDrive{
				{ID: "1", Kinds: []node.MediumKind{"floppy", "disk"}, Inserted: true, ReadOnly: true,
					URL: "http://192.0.2.26:8080/api/file-copy-request/download/44cf87d0-cf23-430e-bc43-6c6decbfe3f2"}, drive("2", true, "cdrom")},
			light: "off", nmi: true,
		},
		{
			folder: "lenovo-sr670-xcc", system: "/redfish/v1/Systems/1",
			writes: []string{
				"PATCH /Systems/1/VirtualMedia/EXT1",
				"PATCH /Systems/1/VirtualMedia/EXT1",
				"POST /Systems/1/LogServices/PlatformLog/Actions/LogService.ClearLog",
				"PATCH /Systems/1",
			},
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
			sensors: map[node.SensorKind]int{"temperature": 20, "fan": 10, "voltage": 8, "power": 11},
			sensor:  node.Sensor{Name: "Ambient Temp", Kind: "temperature", Unit: "Cel", Reading: ptr(19), Health: "OK", UpperWarning: ptr(43), UpperCritical: ptr(46)},
			health:  node.HealthReport{Overall: "OK"}, events: 5,
			newest: node.LogEntry{ID: "5", At: at("2024-07-18T22:02:12.068Z"), Severity: "OK",
				Message: "ENET[CIM:ep1] DHCP-HSTN=xcc-example-1, DN=, IP@=0.0.0.0, SN=0.0.0.0, GW@=0.0.0.0, DNS1@=0.0.0.0 ."},
			media: lenovoDrives(), light: "off", nmi: true,
		},
		{
			folder: "supermicro-x13", system: "/redfish/v1/Systems/1",
			writes: []string{
				"POST /Managers/1/VirtualMedia/VirtualMedia1/Actions/VirtualMedia.InsertMedia",
				"POST /Managers/1/VirtualMedia/VirtualMedia1/Actions/VirtualMedia.EjectMedia",
				"POST /Systems/1/LogServices/Log1/Actions/LogService.ClearLog",
				"PATCH /Systems/1",
			},
			model: "SYS-821GE-TNHR", serial: "EX36DF75E726CA7", manager: "Supermicro ASPEED 11.01.01",
			cpu: node.Processor{Socket: "CPU1", Manufacturer: "Intel(R) Corporation", Model: "Intel(R) Xeon(R) Platinum 8462Y+", Architecture: "x86_64",
				Cores: 32, Threads: 64, MHz: 4000, Health: "OK"}, cpus: 2,
			memoryMiB: 2048 << 10, modules: 32,
			nic: node.NIC{Name: "1", MAC: "94:6d:ae:91:fb:22", Link: &no, Manufacturer: "Supermicro", Model: "MCX75310AAS-NEAT", Health: "OK"}, nics: 11,
			drive: node.Drive{Name: "Disk.Bay.0", Manufacturer: "Samsung", Model: "MZQL27T6HBLA-00A07", Serial: "EXB5421F12D062", Bytes: 7681501126656, Health: "OK"}, drives: 8, controllers: 1, cards: 26,
			mode: "uefi", secure: &no,
			firmware: node.Firmware{Component: "BMC", ID: "BMC", Version: "11.01.01", Updateable: &yes, Released: "2023-11-17T00:00:00Z"}, firmwares: 104,
			bios: "AES_NI_3C75", biosValue: "Enable", mostRequests: 180, mostExpanded: 60,
			sensors: map[node.SensorKind]int{"temperature": 36, "fan": 6, "voltage": 18, "power": 13},
			sensor:  node.Sensor{Name: "Inlet Temp", Kind: "temperature", Unit: "Cel", Reading: ptr(21), Health: "OK", LowerCritical: ptr(5), UpperCritical: ptr(42)},
			health:  node.HealthReport{Overall: "OK"}, events: 82,
			newest: node.LogEntry{ID: "82", At: at("2023-11-30T20:35:05Z"), Severity: "OK", Message: "[PWR-0000] PS8 Status, Power Supply Installed", Sensor: "Power Supply / Converter #199"},
			media:  []node.VirtualDrive{drive("VirtualMedia1", false, "cdrom", "floppy", "disk"), drive("VirtualMedia2", false, "cdrom", "floppy", "disk"), drive("VirtualMedia3", false, "cdrom", "floppy", "disk")},
			light:  "off", nmi: true,
		},
	}
}

func ptr(v float64) *float64 { return &v }

func at(s string) time.Time {
	t, _ := time.Parse(time.RFC3339, s)
	return t
}

func drive(id string, readOnly bool, kinds ...node.MediumKind) node.VirtualDrive {
	return node.VirtualDrive{ID: id, Kinds: kinds, ReadOnly: readOnly}
}

func lenovoDrives() (list []node.VirtualDrive) {
	for _, id := range []string{"EXT1", "EXT2", "EXT3", "EXT4", "Remote1", "Remote2", "Remote3", "Remote4", "RDOC1", "RDOC2"} {
		list = append(list, drive(id, true, "cdrom", "floppy", "disk"))
	}
	return list
}
