package conductor

import (
	"context"
	"time"

	"cagenut/node"
)

// Nodes is what is kept of nodes. Reads see every commit that returned before they began.
type Nodes interface {
	// Node finds a node by UUID or name; *node.NotFound otherwise.
	Node(ctx context.Context, ident string) (node.Node, error)
	// CreateNode stores a new node and its audit line; *node.Exists when UUID, name or
	// instance is taken, *node.Invalid when the parent is not there or below the node itself.
	CreateNode(ctx context.Context, n node.Node, a node.Audit) (node.Node, error)
	// UpdateNode stores what PATCH can change, if the node is still in the version and state that n was read in and is
	// free; node.ErrLost otherwise.
	UpdateNode(ctx context.Context, n node.Node, a node.Audit) (node.Node, error)
	// DeleteNode removes a node with all that belongs to it and cancels its jobs, if it is still in the state that n was
	// read in and is free; node.ErrLost otherwise.
	DeleteNode(ctx context.Context, n node.Node, a node.Audit) error
	// SetMaintenance changes the flag and its reason, whatever else goes on.
	SetMaintenance(ctx context.Context, uuid string, on bool, reason string, a node.Audit) error
}

// Moves is the one place where states change.
type Moves interface {
	// Move carries out one transition in one transaction; node.ErrLost when the compare-and-swap finds another node.
	Move(ctx context.Context, m node.Move) (node.Node, error)
	// EndAttempt ends an attempt and moves its node in one transaction; node.ErrLost as Move.
	EndAttempt(ctx context.Context, e node.Ending) (node.Node, error)
	// SetPowerState records what a BMC said to one of our own jobs, at a time; it touches neither last_error nor the reservation.
	SetPowerState(ctx context.Context, uuid string, p node.PowerState, at time.Time) error
	// RecordLooks records what looks at BMCs found, in one transaction; it touches neither last_error nor the reservation. A
	// look is dropped when the node is not in the version, or not at the count of our own moves, that it was in when the
	// look began.
	RecordLooks(ctx context.Context, looks []node.Look) error
	// Note appends to history and audit without moving anything.
	Note(ctx context.Context, h *node.History, a *node.Audit) error
}

// Attempts is what is kept of inspection attempts.
type Attempts interface {
	// Attempt finds an attempt by its id; *node.NotFound otherwise.
	Attempt(ctx context.Context, id string) (node.Attempt, error)
	// AttemptByToken finds an attempt by the token of its callback URL; *node.NotFound otherwise.
	AttemptByToken(ctx context.Context, token node.Secret) (node.Attempt, error)
	// UpdateAttempt stores Step, Notes, AbortAsked with its Reason and KeepPowerOn, and the clean-up fields. lastError, when not nil, replaces the node's
	// last_error as long as the attempt is the node's latest and the text there still begins with the attempt's ending.
	UpdateAttempt(ctx context.Context, a node.Attempt, lastError *string) error
	// SetDivergence notes in what a foreign inspector differs from us; "" when it does not.
	SetDivergence(ctx context.Context, a node.Attempt, what string) error
	// Report is the stored report of an attempt; *node.NotFound without one.
	Report(ctx context.Context, attempt string) (node.Report, error)
	// Attempts lists attempts, newest first.
	Attempts(ctx context.Context, f node.RunFilter) ([]node.Attempt, error)
}

// Ports is what is kept of ports and chassis.
type Ports interface {
	// Port finds a port by UUID or name; *node.NotFound otherwise.
	Port(ctx context.Context, ident string) (node.Port, error)
	// Ports lists ports.
	Ports(ctx context.Context, f node.PortFilter) ([]node.Port, error)
	// CreatePort stores a port of a free node; *node.Exists when UUID, MAC or name is taken, *node.Locked for a reserved node.
	CreatePort(ctx context.Context, p node.Port, a node.Audit) (node.Port, error)
	// UpdatePort stores a port if it is still in the version that p was read in; node.ErrLost otherwise. *node.Locked when
	// the node that has it, or the one that p gives it to, is reserved.
	UpdatePort(ctx context.Context, p node.Port, a node.Audit) (node.Port, error)
	// DeletePort removes a port of a free node; *node.Locked for a reserved node.
	DeletePort(ctx context.Context, uuid string, a node.Audit) error
}

// Watched is what the conductor's own rounds ask for. Every call is one indexed query.
type Watched interface {
	// WaitingSince lists the nodes in `inspect wait` whose wait began before t, also those in maintenance.
	WaitingSince(ctx context.Context, t time.Time) ([]node.Node, error)
	// Waiting lists all nodes in `inspect wait`.
	Waiting(ctx context.Context) ([]node.Node, error)
	// LookupAddresses are the BMC addresses by which a report may find a node, of all nodes in `inspect wait` by UUID; a node
	// that has none is there all the same. It is asked for every report, and must be cheap with a whole hall waiting.
	LookupAddresses(ctx context.Context) (map[string][]string, error)
	// Interrupted lists the nodes that a worker held when the appliance died.
	Interrupted(ctx context.Context) ([]node.Node, error)
	// PowerDue lists the nodes whose turn in the power sync comes from `from` on and before `to`, counted on and on in
	// node.Turns to the round: of those that are free, whose power is not about to change, and of whose BMC somebody has
	// said that it can be used.
	PowerDue(ctx context.Context, from, to int64) ([]node.Node, error)
}

// Glancer is a [BMC] that tells the health with the power, in the same answer.
type Glancer interface {
	Glance(ctx context.Context) (node.Glance, error)
}

// BMC is one server's controller, as long as the caller has it to itself.
type BMC interface {
	Power(ctx context.Context) (node.PowerState, error)
	// SetPower returns when the BMC has accepted; nil if the power is already so.
	SetPower(ctx context.Context, action node.PowerAction) error
	Boot(ctx context.Context) (node.Boot, error)
	SetBoot(ctx context.Context, b node.Boot) error
	SupportedBoot(ctx context.Context) ([]node.BootDevice, error)
}

// BMCs reaches the BMCs of nodes.
type BMCs interface {
	// Validate tells whether driver_info says enough to try: *node.Invalid otherwise. No network.
	Validate(n node.Node) error
	// Warn is what should be known about driver_info although it is valid; "" where there is nothing. No network.
	Warn(n node.Node) string
	// Do runs fn while nobody else talks to the node's BMC.
	Do(ctx context.Context, n node.Node, fn func(BMC) error) error
	// Look is Do for what nobody has asked for. A BMC that keeps failing is left alone for a while: the error is
	// *node.Unreachable then, and fn does not run.
	Look(ctx context.Context, n node.Node, fn func(BMC) error) error
	// Forget gives up what is kept of the BMC of a node that is gone, or has another now, such as a login session. It does not wait.
	Forget(n node.Node)
}

// InspectInterface inspects nodes in one way. Implementations embed inspect.Base, whose Abort is *node.Unsupported.
type InspectInterface interface {
	// Validate tells whether the node can be inspected as it is set up: *node.Invalid says what is missing.
	Validate(ctx context.Context, n node.Node) error
	// Inspect does the next piece of the start of an attempt, at most 30 s; called again until it is ready or finished.
	Inspect(ctx context.Context, n node.Node, a node.Attempt) (node.Progress, error)
	// Abort decides and talks outward; it writes nothing. *node.Unsupported leaves everything as it is.
	Abort(ctx context.Context, n node.Node, a node.Attempt) (node.Ending, error)
	// CleanUp does the next piece of what follows an end, at most 30 s; called again until it is ready. still is asked
	// before each command, inside the BMC's queue, and its error ends the clean-up. Power counts also beside an error.
	CleanUp(ctx context.Context, n node.Node, a node.Attempt, still func(context.Context) error) (node.Progress, error)
}

// Delegate is an InspectInterface whose run lives in a foreign inspector service.
type Delegate interface {
	InspectInterface
	// External tells whether the service is a foreign one; the methods below are called only then.
	External() bool
	// Run is what the service says of the node's run: its state, and its error once it ended badly. *node.NotFound when it
	// does not know the node.
	Run(ctx context.Context, n node.Node) (node.RunState, string, error)
	// Data is the report that the service stored for a finished run.
	Data(ctx context.Context, n node.Node) ([]byte, error)
}

// Keys is what a report says of who it is about.
type Keys struct {
	MACs         []string // lower case, Ethernet only
	BMCAddresses []string
}

// Candidate is a node that a report may be about.
type Candidate struct {
	NodeUUID     string
	Waiting      bool
	MACs         []string
	BMCAddresses []string // resolved when the attempt began
}

// Findings is what the hooks made of a report.
type Findings struct {
	Properties  map[string]any // the whole document
	NewPorts    []node.Port
	PortUpdates []node.Port
	Inventory   []byte
	PluginData  []byte
	Notes       []string
}

// Reports understands what ramdisks post.
type Reports interface {
	// Keys reads who a report is about; *node.Invalid when it has not the shape of contract.md §4.1.
	Keys(body []byte) (Keys, error)
	// Match decides by the rules of contract.md §4.1 which candidate the report is about; node.ErrNotReported if none.
	// asked is a node UUID that the caller named, or "".
	Match(k Keys, asked string, all []Candidate) (string, error)
	// Process runs the hooks. owners names the node of every reported MAC that has a port already. An error fails the run
	// with its text.
	Process(ctx context.Context, n node.Node, ports []node.Port, owners map[string]string, body []byte) (Findings, error)
}

// Clock is the time; tests set it.
type Clock interface {
	Now() time.Time
	// After is closed or sent to once d has passed.
	After(d time.Duration) <-chan time.Time
}
