package bmc

import (
	"context"

	"cagenut/node"
)

// Client is one server's BMC, as long as the caller has it to itself. It is for one goroutine. Every method touches the
// network, honours the context and has a bound of its own besides.
//
// Errors: node.ErrCredentials (wrapped with the address) where the BMC refuses user or password, *node.Unreachable where it does
// not answer or answers badly, *node.Unsupported where it cannot do what was asked, *node.Invalid where driver_info is wrong.
// An error of the caller's own cancelled context stays context.Canceled.
type Client interface {
	// Power is the state as the BMC says now. A server on its way counts as what it still is; "" is "the BMC does not know".
	Power(ctx context.Context) (node.PowerState, error)
	// SetPower returns when the BMC has accepted; the caller waits for the state. nil at once if it is already so.
	SetPower(ctx context.Context, action node.PowerAction) error
	// Boot is the boot override that the BMC would apply at the next boot.
	Boot(ctx context.Context) (node.Boot, error)
	// SetBoot sets the override; node.BootNone removes it. Repeating it is harmless.
	SetBoot(ctx context.Context, b node.Boot) error
	// SupportedBoot lists the devices that SetBoot can take.
	SupportedBoot(ctx context.Context) ([]node.BootDevice, error)
}

// Glancer is a [Client] whose BMC tells the health with the power, in the same answer: it costs no further request.
type Glancer interface {
	Glance(ctx context.Context) (node.Glance, error)
}

// Abilities are what some BMCs have beyond a [Client]. A client that has all of them says so by its type; where a BMC
// lacks one, its methods are *node.Unsupported.
type Abilities interface {
	Media
	Light
	Monitor
	Log
	Identifier
	// InjectNMI interrupts the server.
	InjectNMI(ctx context.Context) error
}

// Media are the virtual drives.
type Media interface {
	// Drives lists the drives and what is in them.
	Drives(ctx context.Context) ([]node.VirtualDrive, error)
	// BeginInsert asks for an image to be put into a drive of its kind; nil at once if it is there already, and another image
	// is ejected first (G35). It returns when the BMC has been asked, with what that names the work, or "": it may take minutes
	// to fetch the image. [Media.Inserted] looks how far that is.
	BeginInsert(ctx context.Context, m node.Medium) (task string, err error)
	// Inserted takes one look at a begun insertion: whether the image is in. An error with node.TroubleTask says that it has
	// failed; any other says nothing of it.
	Inserted(ctx context.Context, m node.Medium, task string) (bool, error)
	// Eject empties the drives of a kind, or all with ""; an empty drive is no error.
	Eject(ctx context.Context, kind node.MediumKind) error
	// EjectIf empties the drives that chosen picks among those in which something is, and says how many these were.
	EjectIf(ctx context.Context, chosen func(node.VirtualDrive) bool) (int, error)
}

// Light is the light by which people find a server.
type Light interface {
	Indicator(ctx context.Context) (node.Indicator, error)
	SetIndicator(ctx context.Context, to node.Indicator) error
}

// Monitor tells how a server is.
type Monitor interface {
	Health(ctx context.Context) (node.HealthReport, error)
	Sensors(ctx context.Context) ([]node.Sensor, error)
}

// Log is the event log.
type Log interface {
	// Events lists the newest limit entries, the newest first; limit 0 is all.
	Events(ctx context.Context, limit int) ([]node.LogEntry, error)
	ClearLog(ctx context.Context) error
}

// Identifier tells what a server is made of.
type Identifier interface {
	Identity(ctx context.Context) (node.BMCIdentity, error)
	Hardware(ctx context.Context) (node.Hardware, error)
	Firmware(ctx context.Context) ([]node.Firmware, error)
	// BIOS are the attributes of the firmware's set-up, by their names.
	BIOS(ctx context.Context) (map[string]any, error)
}

// Lacks has no ability: clients embed it and override what their BMCs have.
type Lacks struct{ Driver string }

func (l Lacks) no(what string) error { return &node.Unsupported{Driver: l.Driver, Extension: what} }

// Drives is *node.Unsupported.
func (l Lacks) Drives(context.Context) ([]node.VirtualDrive, error) {
	return nil, l.no("virtual media")
}

// BeginInsert is *node.Unsupported.
func (l Lacks) BeginInsert(context.Context, node.Medium) (string, error) {
	return "", l.no("attach_virtual_media")
}

// Inserted is *node.Unsupported.
func (l Lacks) Inserted(context.Context, node.Medium, string) (bool, error) {
	return false, l.no("attach_virtual_media")
}

// EjectIf is *node.Unsupported.
func (l Lacks) EjectIf(context.Context, func(node.VirtualDrive) bool) (int, error) {
	return 0, l.no("detach_virtual_media")
}

// Eject is *node.Unsupported.
func (l Lacks) Eject(context.Context, node.MediumKind) error { return l.no("detach_virtual_media") }

// Indicator is *node.Unsupported.
func (l Lacks) Indicator(context.Context) (node.Indicator, error) {
	return "", l.no("get_indicator_state")
}

// SetIndicator is *node.Unsupported.
func (l Lacks) SetIndicator(context.Context, node.Indicator) error {
	return l.no("set_indicator_state")
}

// Health is *node.Unsupported.
func (l Lacks) Health(context.Context) (node.HealthReport, error) {
	return node.HealthReport{}, l.no("health")
}

// Sensors is *node.Unsupported.
func (l Lacks) Sensors(context.Context) ([]node.Sensor, error) { return nil, l.no("sensors") }

// Events is *node.Unsupported.
func (l Lacks) Events(context.Context, int) ([]node.LogEntry, error) { return nil, l.no("event log") }

// ClearLog is *node.Unsupported.
func (l Lacks) ClearLog(context.Context) error { return l.no("clear event log") }

// Identity is *node.Unsupported.
func (l Lacks) Identity(context.Context) (node.BMCIdentity, error) {
	return node.BMCIdentity{}, l.no("BMC identity")
}

// Hardware is *node.Unsupported.
func (l Lacks) Hardware(context.Context) (node.Hardware, error) {
	return node.Hardware{}, l.no("hardware inventory")
}

// Firmware is *node.Unsupported.
func (l Lacks) Firmware(context.Context) ([]node.Firmware, error) { return nil, l.no("firmware") }

// BIOS is *node.Unsupported.
func (l Lacks) BIOS(context.Context) (map[string]any, error) { return nil, l.no("bios") }

// InjectNMI is *node.Unsupported.
func (l Lacks) InjectNMI(context.Context) error { return l.no("inject_nmi") }

var _ Abilities = Lacks{}

// Driver makes clients of one protocol. It is safe for concurrent use.
type Driver interface {
	// Validate checks driver_info without the network; the error is *node.Invalid and names the keys.
	Validate(n node.Node) error
	// Address says which BMC the node's is, for queueing and look-up. It fails as Validate does.
	Address(n node.Node) (Address, error)
	// Open makes a client. It reads driver_info anew each time and does not touch the network.
	Open(n node.Node) (Client, error)
	// Forget ends what is kept of the node's BMC between clients, such as a login session.
	Forget(ctx context.Context, n node.Node)
	// Close ends everything that is kept, for all BMCs. No client is in use any more.
	Close(ctx context.Context) error
}

// Address is where a BMC is.
type Address struct {
	// Queue identifies the BMC: nodes with the same Queue take turns.
	Queue string
	// Host is the host name or IP address alone, lower case, without brackets, zone kept; "" where there is none.
	Host string
}
