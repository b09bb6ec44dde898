package node

import "time"

// What a BMC tells of its server beside power and boot, in one shape for all protocols. Absent texts are "", absent
// numbers nil: what a BMC does not say is never guessed.

// Health is how something is, in Redfish's words; "" where nobody says.
type Health string

// Health, from good to bad.
const (
	HealthOK       Health = "OK"
	HealthWarning  Health = "Warning"
	HealthCritical Health = "Critical"
)

// rank orders health from unknown over good to bad.
var rank = map[Health]int{"": 0, HealthOK: 1, HealthWarning: 2, HealthCritical: 3}

// Worse is the worse of two.
func (h Health) Worse(other Health) Health {
	if rank[other] > rank[h] {
		return other
	}
	return h
}

// HealthReport is the health of a server and of those of its parts that are not well.
type HealthReport struct {
	Overall Health
	Parts   []PartHealth // worst first; parts that are OK are left out
}

// PartHealth is a part that is not well.
type PartHealth struct {
	Part    string // what people call it, such as "PSU 2" or "DIMM A3"
	Health  Health
	Message string // why, where the BMC says
}

// Sensor is one reading.
type Sensor struct {
	Name    string
	Kind    SensorKind
	Unit    string   // "Cel", "RPM", "V", "A", "W", "%": UCUM where it has one
	Reading *float64 // nil where there is none at the moment
	State   string   // of a sensor without a number, such as "Presence detected"
	Health  Health
	// Thresholds, as far as they are set.
	LowerCritical, LowerWarning, UpperWarning, UpperCritical *float64
}

// SensorKind is what a sensor measures.
type SensorKind string

// Kinds of sensors. Others exist.
const (
	SensorTemperature SensorKind = "temperature"
	SensorFan         SensorKind = "fan"
	SensorVoltage     SensorKind = "voltage"
	SensorCurrent     SensorKind = "current"
	SensorPower       SensorKind = "power"
	SensorOther       SensorKind = "other"
)

// LogEntry is one entry of a BMC's event log.
type LogEntry struct {
	ID       string
	At       time.Time // zero where the BMC's clock was not set
	Severity Health
	Message  string
	Sensor   string
}

// Firmware is one component with a version.
type Firmware struct {
	Component  string // what the BMC calls it, such as "BIOS"
	ID         string
	Version    string
	Updateable *bool
	Released   string // as the BMC spells the date
}

// BMCIdentity is what a BMC says of itself.
type BMCIdentity struct {
	Manufacturer string
	Model        string
	Firmware     string // version
	UUID         string
	Serial       string
	Protocol     string // such as "Redfish 1.17.0" or "IPMI 2.0"
	Time         time.Time
}

// MediumKind is what a medium in a virtual drive is, in Ironic's words (contract.md §3.6, vmedia).
type MediumKind string

// Kinds of media.
const (
	MediumCD     MediumKind = "cdrom"
	MediumDisk   MediumKind = "disk"
	MediumFloppy MediumKind = "floppy"
)

// VirtualDrive is a drive that a BMC gives its server, with what is in it.
type VirtualDrive struct {
	ID       string       // names the drive to the BMC
	Kinds    []MediumKind // of media that it takes
	Inserted bool
	URL      string // of the image; may be "" although one is inserted
	ReadOnly bool
}

// Medium is an image to be put into a virtual drive.
type Medium struct {
	Kind MediumKind
	URL  string // http or https, as the BMC reaches it
	// User and Password are for the server of the image, where it asks.
	User     string
	Password Secret
}

// Indicator is the light by which people find a server.
type Indicator string

// States of the light, in Ironic's words.
const (
	IndicatorOff      Indicator = "off"
	IndicatorOn       Indicator = "on"
	IndicatorBlinking Indicator = "blinking"
	IndicatorUnknown  Indicator = "unknown"
)

// Hardware is what a BMC knows of its server without booting it.
type Hardware struct {
	System     SystemIdentity
	Processors []Processor
	Memory     []MemoryModule
	// MemoryMiB is the memory as a whole; 0 where the BMC does not say.
	MemoryMiB int64
	NICs      []NIC
	Storage   []StorageController
	Drives    []Drive
	PCIe      []PCIeDevice
	// BootMode is "uefi", "bios" or "".
	BootMode string
	// SecureBoot is nil where the BMC does not say.
	SecureBoot *bool
}

// SystemIdentity is who made a server, and which one it is.
type SystemIdentity struct {
	Manufacturer, Model, SKU, Serial, UUID, AssetTag, HostName, BIOSVersion string
}

// Processor is one socket.
type Processor struct {
	Socket, Manufacturer, Model string
	Architecture                string // as Ironic spells it: x86_64, aarch64, …
	Cores, Threads              int
	MHz                         int // the highest speed
	Health                      Health
}

// MemoryModule is one module.
type MemoryModule struct {
	Slot, Manufacturer, PartNumber, Serial, Kind string
	MiB                                          int64
	MHz                                          int
	Health                                       Health
}

// NIC is one Ethernet interface.
type NIC struct {
	Name         string
	MAC          string // lower case; the permanent one where the BMC tells both
	SpeedMbps    *int
	Link         *bool
	IPv4, IPv6   string
	Manufacturer string
	Model        string
	Health       Health
	// Neighbour is what the BMC has heard by LLDP from the other end; nil for nothing.
	Neighbour *Neighbour
}

// Neighbour is the switch port at the other end of a cable.
type Neighbour struct {
	SwitchID, SwitchName, PortID, PortDescription string
}

// StorageController is one controller.
type StorageController struct {
	Name, Manufacturer, Model, Serial, Firmware string
	Health                                      Health
}

// Drive is one disk, or a volume that a controller made of several.
type Drive struct {
	Name, Manufacturer, Model, Serial, WWN string
	Bytes                                  int64
	Rotational                             *bool
	Protocol                               string // "NVMe", "SATA", "SAS", …
	Volume                                 bool
	Health                                 Health
}

// PCIeDevice is one function of a card.
type PCIeDevice struct {
	Name, Manufacturer, Model, Address string
	VendorID, DeviceID, Class          string // hexadecimal, without 0x, as IPA spells them
}
