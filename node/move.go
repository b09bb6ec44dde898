package node

import "time"

// Move is one change of a node's state with everything that must become true together with it. The store carries it out
// in one transaction: compare-and-swap of the node's row, then the rest. Zero rows is [ErrLost] and changes nothing.
type Move struct {
	Node string // UUID

	// What is compared. Held is the worker's own reservation id, or "" for a node that must be free. Attempt is compared
	// unless "".
	From    State
	Held    string
	Attempt string

	// Unset names a key of driver_internal_info that nobody may have set yet; "" compares nothing.
	Unset string

	// Event is the table's event; "" leaves the state alone (a power action only reserves). Then further events that
	// follow at once, such as Done after Provide.
	Event Event
	Then  []Event

	// Hold is the reservation id after the move, "" to free the node; Host is shown for it.
	Hold string
	Host string

	Actor Actor
	At    time.Time

	LastError        *string // nil: as it is
	PowerState       *PowerState
	TargetPowerState *PowerState
	// PowerAsked is the power action that this move leads to; nil: none, what was asked for before stands.
	PowerAsked *PowerAction
	// StartedAt and FinishedAt set or (zero time) clear the node's inspection times; nil: as they are.
	StartedAt  *time.Time
	FinishedAt *time.Time
	Properties map[string]any // nil: as they are; else the whole document
	// As is the node as it shall be; of it, the attributes that Changed names (as the wire does) are stored.
	As      *Node
	Changed []string
	// Internal sets keys of driver_internal_info; a nil value removes the key.
	Internal map[string]any
	// ForgetAgent removes the agent's token, URL and the lookup addresses from driver_internal_info.
	ForgetAgent bool

	NewAttempt   *Attempt // becomes the node's attempt
	AttemptState RunState // new state of the node's attempt; "" as it is
	AttemptError string   // with AttemptState, what a reapplied report ran into
	AttemptNotes []string // with AttemptState, the notes of the attempt; nil: as they are
	Report       *Report  // stored beside the attempt
	Proof        Proof    // of that report
	Inventory    *Inventory
	NewPorts     []Port
	PortUpdates  []Port
	KeepPowerOn  bool      // a clean-up that is pending leaves the power alone from now on
	KeepBoot     bool      // likewise the boot override
	CancelJobs   []JobKind // of this node, whatever their attempt
	Jobs         []Job
	History      []History
	Audit        *Audit
}

// Ending is how an attempt ends. The inspect interface's Abort fills Outcome, LastError and Error; the conductor adds
// who, why and the move; the store's EndAttempt writes it in one transaction.
type Ending struct {
	Outcome   Outcome
	LastError string // of the node
	Error     string // of the introspection status
	// CleanUp asks for the clean-up job; KeepPowerOn makes that job leave the power alone.
	CleanUp     bool
	KeepPowerOn bool
	Reason      string
	Notes       []string

	Move Move // Move.Event is Abort, Fail or Done; Move.Attempt must be set
}

// JobKind names what a durable job does.
type JobKind string

// The jobs. Each is a step of at most 30 s that can be repeated; what waits snoozes.
const (
	JobVerify  JobKind = "verify"  // manage from enroll: can the BMC be used?
	JobStart   JobKind = "start"   // inspect: until `inspect wait`
	JobFinish  JobKind = "finish"  // a report is there: hooks, inventory, `manageable`
	JobCleanUp JobKind = "cleanup" // after an attempt: power off, override removed
	JobPower   JobKind = "power"   // a power action asked for by somebody
	JobSettle  JobKind = "settle"  // makes sure that a foreign inspector really ended a run
	JobMedium  JobKind = "medium"  // a medium that a BMC has accepted and still fetches
	JobReapply JobKind = "reapply" // a stored report is worked up once more, or another in its place
	JobBulk    JobKind = "bulk"    // a run over many nodes; it is about no single one
)

// Job is work that outlives a request, inserted in the transaction of the state change.
type Job struct {
	Kind     JobKind
	Node     string // UUID
	Attempt  string // "" for jobs that belong to none
	Hold     string // the reservation that the job works under; "" for clean-up, which holds none
	Action   PowerAction
	Deadline time.Time // when a job that waits gives up; zero: never
	Actor    Actor
	// At is when the job may run first; zero: at once.
	At time.Time
	// Medium is the public part of the address of a medium of a kind, and Task what its BMC calls the work.
	Medium     string
	MediumKind MediumKind
	Task       string
	Follows    string // its name on the node, without which it is not wanted any more
	Run        string // of a bulk run, its id
}
