package node

import (
	"maps"
	"slices"
	"strings"
)

// Driver is a hardware type with the interfaces that its nodes may use.
type Driver struct {
	Name string
	// Enabled lists the interfaces of each type, the default first.
	Enabled map[string][]string
	// Properties are the keys of driver_info that the driver reads, each with a sentence for people.
	Properties map[string]string
	// LogicalDiskProperties are the keys of a logical disk in a RAID configuration, each with a sentence for people; nil
	// for a driver without a RAID interface.
	LogicalDiskProperties map[string]string
	// Required are those of Properties without which the BMC cannot be reached.
	Required []string
}

// The drivers of this appliance.
const (
	DriverRedfish = "redfish"
	DriverIPMI    = "ipmi"
	DriverFake    = "fake-hardware"
)

// The boot interfaces by which an inspected server comes to its ramdisk: over the network, or from an ISO in a virtual
// drive of its BMC.
const (
	BootIPXE         = "ipxe"
	BootVirtualMedia = "redfish-virtual-media"
)

// InterfaceTypes lists the types of interface that a node has, sorted.
func InterfaceTypes() []string {
	return []string{"bios", "boot", "console", "deploy", "firmware", "inspect", "management", "network", "power", "raid", "rescue", "storage", "vendor"}
}

var drivers = map[string]Driver{
	DriverRedfish: {
		Name: DriverRedfish,
		Enabled: map[string][]string{
			"bios": {"redfish", "no-bios"}, "boot": {BootIPXE, BootVirtualMedia}, "console": {"no-console"}, "deploy": {"noop"}, "firmware": {"redfish", "no-firmware"},
			"inspect": {"agent", "inspector", "redfish", "no-inspect"}, "management": {"redfish"}, "network": {"noop"}, "power": {"redfish"},
			"raid": {"no-raid"}, "rescue": {"no-rescue"}, "storage": {"noop"}, "vendor": {"no-vendor"},
		},
		Properties: map[string]string{
			"redfish_address":            "The URL of the BMC, or its host name or address with an optional port; https unless the scheme says otherwise. Required.",
			"redfish_username":           "User name at the BMC.",
			"redfish_password":           "Password of that user.",
			"redfish_system_id":          "Path of the system below the BMC, such as /redfish/v1/Systems/1. Needed only where a BMC has several.",
			"redfish_verify_ca":          "true (the default): verify the BMC's certificate; false: do not; otherwise the path of a CA file.",
			"redfish_certificate_sha256": "SHA-256 fingerprint of the BMC's certificate, 64 hexadecimal digits with or without colons: that certificate is trusted, whoever signed it, and no other.",
			"redfish_old_tls":            "true: TLS 1.0 and every cipher suite will do, for BMCs that speak nothing newer; false unless given.",
			"deploy_iso":                 "The address (http or https) of the ISO that an inspection boots with the boot interface redfish-virtual-media; unless given, the one of --iso-url or of the folder of boot files.",
		},
		Required: []string{"redfish_address"},
	},
	DriverIPMI: {
		Name: DriverIPMI,
		Enabled: map[string][]string{
			"bios": {"no-bios"}, "boot": {BootIPXE}, "console": {"no-console"}, "deploy": {"noop"}, "firmware": {"no-firmware"},
			"inspect": {"agent", "inspector", "no-inspect"}, "management": {"ipmitool"}, "network": {"noop"}, "power": {"ipmitool"},
			"raid": {"no-raid"}, "rescue": {"no-rescue"}, "storage": {"noop"}, "vendor": {"no-vendor"},
		},
		Properties: map[string]string{
			"ipmi_address":  "Host name or address of the BMC. Required.",
			"ipmi_port":     "UDP port of the BMC; 623 unless given.",
			"ipmi_username": "User name at the BMC, at most 16 bytes.",
			"ipmi_password": "Password of that user, at most 20 bytes.",
		},
		Required: []string{"ipmi_address"},
	},
	DriverFake: {
		Name: DriverFake,
		Enabled: map[string][]string{
			"bios": {"fake", "no-bios"}, "boot": {"fake"}, "console": {"fake", "no-console"}, "deploy": {"fake"}, "firmware": {"fake", "no-firmware"},
			"inspect": {"fake", "agent", "inspector", "no-inspect"}, "management": {"fake"}, "network": {"noop"}, "power": {"fake"},
			"raid": {"fake", "no-raid"}, "rescue": {"fake", "no-rescue"}, "storage": {"fake", "noop"}, "vendor": {"fake", "no-vendor"},
		},
		Properties: map[string]string{
			"fake_answer_delay": "Seconds that the pretended BMC takes for every answer, such as 0.5; 0 unless given, at most 300.",
		},
		LogicalDiskProperties: logicalDiskProperties,
	},
}

// Drivers lists the drivers, sorted by name.
func Drivers() []Driver {
	all := slices.Collect(maps.Values(drivers))
	slices.SortFunc(all, func(a, b Driver) int {
		if a.Name < b.Name {
			return -1
		}
		return 1
	})
	return all
}

// DriverNamed finds a driver; the error is Ironic's *[Invalid] of a node that names an unknown one.
func DriverNamed(name string) (Driver, error) {
	if d, ok := drivers[name]; ok {
		return d, nil
	}
	return Driver{}, Invalidf("No valid host was found. Reason: No conductor service registered which supports driver %s for conductor group \"\". Ensure the driver is valid and enabled.", name)
}

// Get is the interface of a type, such as "inspect".
func (i Interfaces) Get(kind string) string {
	if p := i.field(kind); p != nil {
		return *p
	}
	return ""
}

// Set changes the interface of a type; unknown types are ignored.
func (i *Interfaces) Set(kind, name string) {
	if p := i.field(kind); p != nil {
		*p = name
	}
}

func (i *Interfaces) field(kind string) *string {
	switch kind {
	case "bios":
		return &i.BIOS
	case "boot":
		return &i.Boot
	case "console":
		return &i.Console
	case "deploy":
		return &i.Deploy
	case "firmware":
		return &i.Firmware
	case "inspect":
		return &i.Inspect
	case "management":
		return &i.Management
	case "network":
		return &i.Network
	case "power":
		return &i.Power
	case "raid":
		return &i.RAID
	case "rescue":
		return &i.Rescue
	case "storage":
		return &i.Storage
	case "vendor":
		return &i.Vendor
	}
	return nil
}

// FillInterfaces gives every unset interface the driver's default and checks the others.
func (d Driver) FillInterfaces(i *Interfaces) error {
	for _, kind := range InterfaceTypes() {
		name := i.Get(kind)
		if name == "" {
			i.Set(kind, d.Enabled[kind][0])
			continue
		}
		if !slices.Contains(d.Enabled[kind], name) {
			return Invalidf("Could not find the following interface in the 'ironic.hardware.interfaces.%s' entrypoint: %s. Valid interfaces are ['%s'].", kind, name, strings.Join(d.Enabled[kind], "', '"))
		}
	}
	return nil
}
