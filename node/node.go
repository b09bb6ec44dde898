package node

import (
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"
)

// Node is a bare-metal server as the appliance knows it. Absent strings are "", absent times the zero time; documents
// are never nil in what the store returns. The fields are those of contract.md §3.3; what the wire shows of them and
// from which microversion is web's business.
type Node struct {
	ID        int64 // the row's number: default sort key, and named in one of Ironic's texts
	UUID      string
	Name      string
	CreatedAt time.Time
	UpdatedAt time.Time // zero until the first change
	Version   int64     // guards PATCH alone: counts the changes of what PATCH can change

	Driver     string
	Interfaces Interfaces

	ProvisionState     State
	ProvisionUpdatedAt time.Time // when ProvisionState was entered
	PowerState         PowerState
	TargetPowerState   PowerState
	PowerCheckedAt     time.Time // when PowerState was last confirmed by the BMC
	LastError          string

	// BMCUnreachableSince is when the node's BMC stopped answering or began to refuse the credentials; zero while it answers,
	// and while nobody has asked. BMCError is why, in a sentence without secrets; "" together with the zero time.
	BMCUnreachableSince time.Time
	BMCError            string

	// Health is how the server is, as its BMC said last; "" while nobody knows. HealthAt is since when it is so.
	Health   Health
	HealthAt time.Time
	// HealthSeen is what the looks see, which is less than what a BMC answers to the question for the health: a look that
	// sees what it saw before takes nothing back of such an answer.
	HealthSeen Health

	// Moved counts what the appliance itself did to the node: moves, reservations, power states that its jobs confirmed.
	// Whoever looked at the BMC before one of them has seen a server that is no more.
	Moved int64
	// PowerAsked is the power action that the appliance asked the BMC for last; "" where there was none, or where somebody
	// has changed the power at the machine since. PowerAskedAt is when work on it was last heard of.
	PowerAsked   PowerAction
	PowerAskedAt time.Time

	// Reservation is the host whose worker holds the node, as the wire shows it; ReservationID is that worker's own
	// random id, which it must name to move the node. Both are "" for a node that is free.
	Reservation   string
	ReservationID string

	// AttemptID is the latest inspection attempt, also after its end; "" before the first.
	AttemptID            string
	InspectionStartedAt  time.Time
	InspectionFinishedAt time.Time

	Maintenance       bool
	MaintenanceReason string
	Fault             string
	Protected         bool
	ProtectedReason   string
	Retired           bool
	RetiredReason     string
	ConsoleEnabled    bool
	DisablePowerOff   bool
	AutomatedClean    *bool
	SecureBoot        *bool
	BootMode          string

	Properties         map[string]any
	DriverInfo         map[string]any // secrets in the clear; sealed by the store, masked by web
	DriverInternalInfo map[string]any
	InstanceInfo       map[string]any
	Extra              map[string]any
	NetworkData        map[string]any
	CleanStep          map[string]any
	DeployStep         map[string]any
	ServiceStep        map[string]any
	RAIDConfig         map[string]any
	TargetRAIDConfig   map[string]any

	InstanceUUID   string
	InstanceName   string
	ChassisUUID    string
	ResourceClass  string
	ConductorGroup string
	Description    string
	Owner          string
	Lessee         string
	Shard          string
	ParentNode     string
	Conductor      string // host that is responsible for the node
	Traits         []string
}

// Interfaces are the names of a node's hardware interfaces, one of each type.
type Interfaces struct {
	BIOS, Boot, Console, Deploy, Firmware, Inspect, Management, Network, Power, RAID, Rescue, Storage, Vendor string
}

// TargetProvisionState is what the node is on its way to; "" in a stable state (contract.md §2.1).
func (n Node) TargetProvisionState() State { return n.ProvisionState.Target() }

// Reserved tells whether a worker holds the node.
func (n Node) Reserved() bool { return n.ReservationID != "" }

// Label is what people call the node: its name, else its UUID.
func (n Node) Label() string {
	if n.Name != "" {
		return n.Name
	}
	return n.UUID
}

// Port is a network port of a node, known by its MAC (contract.md §3.7).
type Port struct {
	ID                  int64
	UUID                string
	NodeUUID            string
	Address             string // lower-case MAC
	Name                string
	CreatedAt           time.Time
	UpdatedAt           time.Time
	Version             int64
	PXEEnabled          bool
	Extra               map[string]any
	InternalInfo        map[string]any
	LocalLinkConnection map[string]any
	PhysicalNetwork     string
	IsSmartNIC          bool
}

// Chassis groups nodes; Ironic's API tests make one for nearly everything they make.
type Chassis struct {
	ID          int64
	UUID        string
	Description string
	Extra       map[string]any
	CreatedAt   time.Time
	UpdatedAt   time.Time
}

// NewUUID is a random UUID in the usual spelling.
func NewUUID() string { return uuid.NewString() }

// IsUUID tells whether s is a UUID in the spelling with dashes.
func IsUUID(s string) bool {
	if len(s) != 36 {
		return false
	}
	_, err := uuid.Parse(s)
	return err == nil
}

var (
	nameShape = regexp.MustCompile(`^[A-Za-z0-9._~-]{1,255}$`)
	// reservedNames are path elements below /v1/nodes, in Ironic's order of naming them.
	reservedNames = []string{"maintenance", "management", "states", "vendor_passthru", "detail", "validate"}
	macShape      = regexp.MustCompile(`^[0-9a-f]{2}(:[0-9a-f]{2}){5}$`)
)

// ValidateName checks a logical name: RFC 3986 unreserved characters, no UUID, no reserved word (contract.md §3.4).
func ValidateName(name string) error {
	return validateName(name, "Cannot create node with invalid name '"+name+"'")
}

// ValidateRename is [ValidateName] for the new name of a node that is there; ident is what the caller knows it by.
func ValidateRename(ident, name string) error {
	return validateName(name, "Node "+ident+": Cannot change name to invalid name '"+name+"'")
}

func validateName(name, invalid string) error {
	if slices.Contains(reservedNames, name) {
		return Invalidf("The word %q is reserved and can not be used as a node name. Reserved words are: %s.", name, strings.Join(reservedNames, ", "))
	}
	if !nameShape.MatchString(name) || IsUUID(name) {
		return &Invalid{Text: invalid}
	}
	return nil
}

// ValidatePortName checks a port's name: what [ValidateName] allows a node, but for the words that follow /v1/ports.
func ValidatePortName(name string) error {
	if name == "detail" {
		return Invalidf("The word %q is reserved and can not be used as a port name. Reserved words are: detail.", name)
	}
	if !nameShape.MatchString(name) || IsUUID(name) {
		return Invalidf("Cannot create port with invalid name '%s'", name)
	}
	return nil
}

// ParseMAC is the address as it is stored: lower case, with colons. ok is false for anything but an Ethernet address.
func ParseMAC(s string) (mac string, ok bool) {
	mac = strings.ReplaceAll(strings.ToLower(strings.TrimSpace(s)), "-", ":")
	return mac, macShape.MatchString(mac)
}
