package conductor

import (
	"log/slog"
	"time"

	"cagenut/node"
)

// Needs is everything a [Conductor] works with.
type Needs struct {
	Nodes    Nodes
	Moves    Moves
	Attempts Attempts
	Ports    Ports
	Watched  Watched
	Bulks    Bulks
	// Audit is used with [Settings.AuditKept].
	Audit   Audit
	BMCs    BMCs
	Reports Reports
	Logs    LogArchives
	Rules   Rules
	// Inspections and Signs are what is left of inspections.
	Inspections Inspections
	Signs       Signs
	Comparer    Comparer
	// Discovered and Describer are used with [Settings.Discovery], and for what was discovered while it was on.
	Discovered Discovered
	Describer  Describer
	// RuleEngine carries the rules out.
	RuleEngine RuleEngine
	// Inspect holds the inspect interfaces by name.
	Inspect map[string]InspectInterface
	Clock   Clock
	Log     *slog.Logger
}

// Settings are the conductor's own.
type Settings struct {
	// Host is this appliance's name, shown as `reservation` and `conductor`.
	Host string
	// InspectTimeout ends a wait for a ramdisk; 0: never.
	InspectTimeout time.Duration
	// StartTimeout bounds the way from `inspecting` to `inspect wait`. 60 s if 0.
	StartTimeout time.Duration
	// PowerSyncInterval is how old the power state of an idle node may get; 0: it is never read.
	PowerSyncInterval time.Duration
	// InspectorSyncInterval is how often a foreign inspector is asked. 15 s if 0.
	InspectorSyncInterval time.Duration
	// LockPatience is how long a request waits for a reservation. 2.5 s if 0.
	LockPatience time.Duration
	// Discovery lets machines that report although no node is them into the waiting room; otherwise they are turned away.
	Discovery bool
	// AuditKept is for how long lines of the audit are kept; 0: for ever.
	AuditKept time.Duration
	// CleanUpPatience is how long clean-up tries before it gives up. 1 h if 0.
	CleanUpPatience time.Duration
}

// Conductor carries out what people and programs ask of nodes.
type Conductor struct {
	Needs
	Settings
	waitingRoom chan struct{} // whoever is let in holds it
	refused     refusals
}

// New fills the settings' defaults.
func New(n Needs, s Settings) *Conductor {
	def := func(d *time.Duration, v time.Duration) {
		if *d == 0 {
			*d = v
		}
	}
	def(&s.StartTimeout, 60*time.Second)
	def(&s.InspectorSyncInterval, 15*time.Second)
	def(&s.LockPatience, 2500*time.Millisecond)
	def(&s.CleanUpPatience, time.Hour)
	return &Conductor{Needs: n, Settings: s, waitingRoom: make(chan struct{}, 1), refused: refusals{seen: map[string]refusal{}}}
}

// ProvisionRequest asks for a verb (contract.md §2.3).
type ProvisionRequest struct {
	Target string // as the caller spelt it
	// Minor is the caller's microversion 1.N; 0 for callers that have none (dashboard, extension): everything is allowed.
	Minor int
	// Arguments names the further keys of the body that were given: configdrive, clean_steps, ….
	Arguments []string

	// Attempt is the attempt that the caller saw; *node.Stale when it is not the node's any more. "" for callers that
	// decide by state alone (the REST API), and, with Unattempted, for those who saw that there had been none.
	Attempt     string
	Unattempted bool
	Reason      string
	KeepPowerOn bool
}

// PowerRequest asks for a power action (contract.md §3.6).
type PowerRequest struct {
	Target  string
	Timeout time.Duration // 0: the default
	Minor   int
}

// ReportRequest is what a ramdisk posted.
type ReportRequest struct {
	Body     []byte
	NodeUUID string      // ?node_uuid= of the newer microversions
	Token    node.Secret // ?attempt= of the callback URL; "" for ramdisks that were booted without it
}

// Validation is whether one interface of a node would work: nil is "has nothing to check". Reason also warns of what works.
type Validation struct {
	Result *bool
	Reason string
}
