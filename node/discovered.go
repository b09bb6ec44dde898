package node

import (
	"net/netip"
	"slices"
	"time"
)

// DiscoveredState is what people have decided about a machine in the waiting room.
type DiscoveredState string

// The states of a discovered machine.
const (
	DiscoveredNew     DiscoveredState = "new"     // nobody has decided
	DiscoveredIgnored DiscoveredState = "ignored" // hidden; its reports are answered and only counted
	DiscoveredBlocked DiscoveredState = "blocked" // its reports are refused and only counted
)

// DiscoveredStates lists them.
func DiscoveredStates() []DiscoveredState {
	return []DiscoveredState{DiscoveredNew, DiscoveredIgnored, DiscoveredBlocked}
}

// Discovered is a machine that has reported although no node is it: it waits for somebody to accept it as one.
type Discovered struct {
	UUID    string // of the node that it becomes
	State   DiscoveredState
	FirstAt time.Time
	LastAt  time.Time // of the last report, also of one that only counted
	Times   int       // reports so far
	Address string    // from which the last report came
	// ReportAt is when the report came that is kept; Size is what all of it takes, compressed, in bytes.
	ReportAt time.Time
	Size     int64
	Machine  Machine
}

// Machine is what a report says of the hardware that it comes from, in short: hostile text, bounded. Absent texts are "",
// absent numbers 0.
type Machine struct {
	Manufacturer, Product, Serial string
	CPU                           string // model
	CPUs                          int64  // logical processors
	Architecture                  string
	MemoryMB                      int64
	Disks                         []MachineDisk
	NICs                          []MachineNIC
	BMCAddresses                  []string // canonical
	// MACs are all usable ones that were reported, lower case, each once.
	MACs []string
}

// MachineDisk is a disk of a [Machine].
type MachineDisk struct {
	Name, Model, Serial string
	Bytes               int64
}

// MachineNIC is a network interface of a [Machine]; MAC is "" where it has no Ethernet address.
type MachineNIC struct {
	Name, MAC, Address string
}

// Same tells whether two reports are of one machine. They are when they share a MAC or, for one whose cards were all changed,
// the serial number; but not when something says that they are two: another serial number beside a MAC that many machines
// have (G27), or another BMC beside a serial number that several do (G52).
func (m Machine) Same(other Machine) bool {
	if m.Serial != "" && other.Serial != "" && m.Serial != other.Serial {
		return false
	}
	if share(m.MACs, other.MACs) {
		return true
	}
	otherBMC := len(m.BMCAddresses) > 0 && len(other.BMCAddresses) > 0 && !share(m.BMCAddresses, other.BMCAddresses)
	return m.Serial != "" && m.Serial == other.Serial && m.Product == other.Product && !otherBMC
}

func share(a, b []string) bool {
	return slices.ContainsFunc(a, func(s string) bool { return slices.Contains(b, s) })
}

// DriverInfo is how a driver would reach the machine's BMC, as far as the report tells; empty where it does not. With driver
// "" it chooses one: redfish where the BMC's address is known, else ipmi.
func (m Machine) DriverInfo(driver string) (chosen string, info map[string]any) {
	info = map[string]any{}
	bmc := ""
	if len(m.BMCAddresses) > 0 {
		bmc = m.BMCAddresses[0]
	}
	switch {
	case driver == "" && bmc == "":
		driver = DriverIPMI
	case driver == "":
		driver = DriverRedfish
	}
	switch {
	case bmc == "":
	case driver == DriverRedfish:
		info["redfish_address"] = "https://" + bracketed(bmc)
	case driver == DriverIPMI:
		info["ipmi_address"] = bmc
	}
	return driver, info
}

// bracketed is an address as it stands in a URL.
func bracketed(address string) string {
	if a, err := netip.ParseAddr(address); err == nil && a.Is6() {
		return "[" + address + "]"
	}
	return address
}

// Discovery is a report of a machine that no node is, to be kept.
type Discovery struct {
	Address string
	At      time.Time
	Machine Machine
	Report  []byte // without the logs
	Logs    []byte // the archive; nil without
}

// DiscoveredReport is what a discovered machine reported last while its reports were kept.
type DiscoveredReport struct {
	Report []byte // without the logs
	Logs   []byte // the archive; nil without
}

// DiscoveredFilter chooses discovered machines, the newest first. Zero values choose everything.
type DiscoveredFilter struct {
	States []DiscoveredState
	Marker string // UUID of the last one seen
	Limit  int    // 0: everything
}

// Acceptance makes a node of a discovered machine, in one transaction with everything that its report has brought.
type Acceptance struct {
	Node    Node // with the UUID of the machine
	Ports   []Port
	Attempt Attempt // stands for the report: finished
	// Report is the one that was decided on: when another has come since, that is [ErrLost].
	Report    Report
	Logs      []byte // the archive; nil without
	Inventory Inventory
	History   History
	Audit     Audit
}
