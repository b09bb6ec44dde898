package ironic

import (
	"context"

	"cagenut/conductor"
	"cagenut/node"
)

// Conductor is everything that changes nodes or asks their BMCs; *conductor.Conductor is one.
type Conductor interface {
	Verbs
	NodeChanges
	BMCs
	PortChanges
	Settings
	Ramdisks
	RuleChanges
}

// Settings are what is kept of consoles and RAID.
type Settings interface {
	SetConsole(ctx context.Context, actor node.Actor, ident string, on bool) error
	Console(ctx context.Context, ident string) (on bool, info map[string]any, err error)
	SetRAIDConfig(ctx context.Context, actor node.Actor, ident string, config map[string]any) error
}

// RuleChanges keep the list of inspection rules.
type RuleChanges interface {
	CreateInspectionRule(ctx context.Context, actor node.Actor, r node.InspectionRule) (node.InspectionRule, error)
	PatchInspectionRule(ctx context.Context, actor node.Actor, uuid string, change func(node.InspectionRule) (node.InspectionRule, error)) (node.InspectionRule, error)
	DeleteInspectionRule(ctx context.Context, actor node.Actor, uuid string) error
	DeleteInspectionRules(ctx context.Context, actor node.Actor) error
}

// Ramdisks are spoken to by these alone.
type Ramdisks interface {
	// Lookup finds the node of a ramdisk; node.ErrNotReported for any miss.
	Lookup(ctx context.Context, actor node.Actor, req conductor.LookupRequest) (node.Node, node.Secret, error)
	Heartbeat(ctx context.Context, actor node.Actor, req conductor.HeartbeatRequest) error
	// Report takes what a ramdisk posted; node.ErrNotReported when it is of no waiting attempt.
	Report(ctx context.Context, actor node.Actor, r conductor.ReportRequest) (node.Node, error)
	// ReportAndLookup does both.
	ReportAndLookup(ctx context.Context, actor node.Actor, r conductor.ReportRequest) (node.Node, node.Secret, error)
}

// Verbs move nodes. Success means that it is committed.
type Verbs interface {
	SetProvisionState(ctx context.Context, actor node.Actor, ident string, req conductor.ProvisionRequest) error
	SetPower(ctx context.Context, actor node.Actor, ident string, req conductor.PowerRequest) error
	SetMaintenance(ctx context.Context, actor node.Actor, ident string, on bool, reason string) error
}

// NodeChanges keep the list of nodes. PatchNode may call change several times.
type NodeChanges interface {
	CreateNode(ctx context.Context, actor node.Actor, n node.Node) (node.Node, error)
	PatchNode(ctx context.Context, actor node.Actor, ident string, minor int, change func(node.Node) (node.Node, error)) (node.Node, error)
	DeleteNode(ctx context.Context, actor node.Actor, ident string) error
}

// BMCs are asked within the deadline of the context.
type BMCs interface {
	Validate(ctx context.Context, ident string) (map[string]conductor.Validation, error)
	BootDevice(ctx context.Context, ident string) (node.Boot, error)
	SetBootDevice(ctx context.Context, actor node.Actor, ident string, b node.Boot) error
	SupportedBootDevices(ctx context.Context, ident string) ([]node.BootDevice, error)
	BMCAbilities
}

// BMCAbilities are what some BMCs have beyond power and boot; *node.Unsupported of those that lack them. What changes
// something waits for a free node.
type BMCAbilities interface {
	VirtualMedia(ctx context.Context, ident string) ([]node.VirtualDrive, error)
	AttachVirtualMedia(ctx context.Context, actor node.Actor, ident string, kind node.MediumKind, image string) error
	// DetachVirtualMedia empties all drives without kinds.
	DetachVirtualMedia(ctx context.Context, actor node.Actor, ident string, kinds []node.MediumKind) error
	Indicator(ctx context.Context, ident string) (node.Indicator, error)
	SetIndicator(ctx context.Context, actor node.Actor, ident string, to node.Indicator) error
	InjectNMI(ctx context.Context, actor node.Actor, ident string) error
	// BIOS and Firmware are empty for a node whose interface reads none.
	BIOS(ctx context.Context, ident string) (map[string]any, error)
	Firmware(ctx context.Context, ident string) ([]node.Firmware, error)
}

// PortChanges keep the list of ports.
type PortChanges interface {
	CreatePort(ctx context.Context, actor node.Actor, p node.Port) (node.Port, error)
	PatchPort(ctx context.Context, actor node.Actor, ident string, change func(node.Port) (node.Port, error)) (node.Port, error)
	DeletePort(ctx context.Context, actor node.Actor, ident string) error
}

// Store is what is read, without any reservation (G63).
type Store interface {
	Nodes
	Records
	Chassis
	Rules
}

// Rules finds inspection rules; *node.NotFound otherwise.
type Rules interface {
	InspectionRule(ctx context.Context, uuid string) (node.InspectionRule, error)
	InspectionRules(ctx context.Context, f node.RuleFilter) ([]node.InspectionRule, error)
}

// Nodes finds nodes by UUID or name, and their ports; *node.NotFound otherwise.
type Nodes interface {
	Node(ctx context.Context, ident string) (node.Node, error)
	Nodes(ctx context.Context, f node.Filter) ([]node.Node, error)
	Ports(ctx context.Context, f node.PortFilter) ([]node.Port, error)
	Port(ctx context.Context, ident string) (node.Port, error)
	ShardCounts(ctx context.Context) (map[string]int, error)
}

// Records is what is kept beside a node; nodes are named by UUID here.
type Records interface {
	History(ctx context.Context, nodeUUID string, p node.Page) ([]node.History, error)
	HistoryEntry(ctx context.Context, nodeUUID, uuid string) (node.History, error)
	Inventory(ctx context.Context, nodeUUID string) (node.Inventory, error)
}

// Chassis keeps chassis, which nothing but this API uses.
type Chassis interface {
	Chassis(ctx context.Context, uuid string) (node.Chassis, error)
	ChassisList(ctx context.Context, p node.Page) ([]node.Chassis, error)
	CreateChassis(ctx context.Context, c node.Chassis) (node.Chassis, error)
	// ChangeChassis stores what change makes of the chassis, as it is while nobody else writes; change is called once.
	ChangeChassis(ctx context.Context, uuid string, change func(node.Chassis) (node.Chassis, error)) (node.Chassis, error)
	DeleteChassis(ctx context.Context, uuid string) error
}
