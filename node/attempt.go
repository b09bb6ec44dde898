package node

import "time"

// RunState is the state of an attempt as the inspector's API tells it (contract.md §5.3).
type RunState string

// The states of a run that this appliance uses.
const (
	RunStarting   RunState = "starting"
	RunWaiting    RunState = "waiting"
	RunProcessing RunState = "processing"
	RunFinished   RunState = "finished"
	RunError      RunState = "error"
	RunReapplying RunState = "reapplying" // the stored report of an ended run is worked up once more
)

// RunStates lists every state that the inspector's API knows; a filter may name any of them.
func RunStates() []RunState {
	return []RunState{RunStarting, RunWaiting, RunProcessing, RunFinished, RunError, RunReapplying, "enrolling", "aborting"}
}

// Ended tells whether the run is over.
func (s RunState) Ended() bool { return s == RunFinished || s == RunError }

// Outcome is how an attempt ended; "" while it runs.
type Outcome string

// The outcomes.
const (
	Succeeded Outcome = "succeeded"
	Failed    Outcome = "failed"
	Aborted   Outcome = "aborted"
	TimedOut  Outcome = "timed out"
)

// Proof says how sure it is that a report belongs to the attempt that it completed.
type Proof string

// NotProven marks a report that came without the attempt's token and was matched by Ironic's rules; Proven one that
// carried it. "" before any report.
const (
	Proven    Proof = "proven"
	NotProven Proof = "not proven"
)

// Attempt is one run of an inspection, from `inspecting` to its end. It is also the record that the embedded inspector
// service shows: its API reads the same row, so the two can never disagree.
type Attempt struct {
	ID        string // UUID
	NodeUUID  string
	Number    int64  // counts the attempts of all nodes: sorts by start
	Interface string // the inspect interface that runs it
	Token     Secret // proves that a report is of this attempt; goes into the callback URL
	State     RunState
	Started   Actor
	StartedAt time.Time
	WaitingAt time.Time // when `inspect wait` began
	ReportAt  time.Time // when the ramdisk's report was stored
	EndedAt   time.Time
	Ended     Actor
	Outcome   Outcome
	Error     string // of the introspection status: contract.md §5.2 and §5.4
	LastError string // what the end wrote into the node's last_error; clean-up only adds to it
	Reason    string // why it was aborted, in the operator's words
	Proof     Proof
	Notes     []string // what hooks skipped, and other things to know that failed nothing

	// Step is how far a start in progress has come; written between the pieces of the start job, shown to people.
	Step string
	// AbortAsked is who asked a foreign inspector to abort when its answer is unknown (design.md §4), with Reason and
	// KeepPowerOn; zero time: nobody.
	AbortAsked   Actor
	AbortAskedAt time.Time

	// KeepPowerOn says that clean-up leaves the server running for debugging.
	KeepPowerOn bool
	// KeepBoot says that clean-up leaves the boot override alone: somebody has set one of their own since.
	KeepBoot bool
	// CleanUp is how far clean-up has come; "" for none. CleanUpStep is Step's counterpart for it.
	CleanUp     CleanUpState
	CleanUpStep string
	// CleanUpError is what the last try of clean-up ran into.
	CleanUpError string
	CleanUpTries int
	// Divergence is what the foreign inspector still does although the attempt is over; "" when both sides agree.
	Divergence string
}

// CleanUpState is the state of what follows the end of an attempt.
type CleanUpState string

// The states of clean-up.
const (
	CleanUpPending   CleanUpState = "pending"
	CleanUpDone      CleanUpState = "done"
	CleanUpGivenUp   CleanUpState = "given up"
	CleanUpCancelled CleanUpState = "cancelled" // a newer attempt or a delete took over
)

// Severity of a history entry.
type Severity string

// Severities, in Ironic's words.
const (
	SeverityInfo  Severity = "INFO"
	SeverityError Severity = "ERROR"
)

// Event types of history entries.
const (
	TypeInspection = "introspection" // contract.md §2.7
	TypeVerify     = "verify"
	TypePower      = "power"
	TypeProvision  = "provisioning"
	TypeNode       = "node"
	TypeHealth     = "health"
)

// History is one entry of a node's history.
type History struct {
	ID          int64
	UUID        string
	NodeUUID    string
	AttemptID   string // "" where it is about no attempt
	At          time.Time
	Severity    Severity
	Type        string
	Event       string // the sentence that the wire shows
	Actor       Actor
	Reason      string
	State       State // in which it happened
	TargetState State
	Duration    time.Duration // for the end of something: how long it took
	// Final marks the entry that ends an attempt: it is purged after all others.
	Final bool
	// Key, where set, is unique per node: a second entry with it updates Count and LastAt of the first instead.
	Key    string
	Count  int
	LastAt time.Time
}

// Audit is one line of who asked for what, and what came of it; refused requests are there too (G43).
type Audit struct {
	ID        int64
	At        time.Time
	Actor     Actor
	Action    string // "abort", "inspect", "power off", "create", …
	NodeUUID  string
	AttemptID string
	Result    string // "accepted", or why it was refused
	Reason    string
}

// Change is one change as event streams tell it (design.md §7): of the provision state, unless Power or BMC is set. ID
// grows without reuse.
type Change struct {
	ID        int64
	NodeUUID  string
	From      State
	To        State
	Power     *PowerChange
	BMC       *BMCChange
	Actor     Actor
	At        time.Time
	AttemptID string
}

// PowerChange is a power state that was found to be another one than recorded.
type PowerChange struct{ From, To PowerState }

// BMCChange tells that a BMC cannot be used any more, and why, or can be used again.
type BMCChange struct {
	Reachable bool
	Error     string
}
