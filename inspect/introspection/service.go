package introspection

import (
	"context"
	"errors"
	"fmt"
	"time"

	"cagenut/node"
)

// Nodes finds nodes by UUID or name; *node.NotFound otherwise.
type Nodes interface {
	Node(ctx context.Context, ident string) (node.Node, error)
}

// Runs is what is kept of attempts. Unknown ones, and nodes without an inventory, are a *node.NotFound.
type Runs interface {
	Attempt(ctx context.Context, id string) (node.Attempt, error)
	AttemptByToken(ctx context.Context, token node.Secret) (node.Attempt, error)
	// Attempts lists newest first.
	Attempts(ctx context.Context, f node.RunFilter) ([]node.Attempt, error)
	Inventory(ctx context.Context, nodeUUID string) (node.Inventory, error)
}

// Verbs move nodes. Success means that it is committed.
type Verbs interface {
	Inspect(ctx context.Context, actor node.Actor, ident string) error
	// Abort ends node and attempt in one transaction; *node.Stale when the node is in another attempt than the one named.
	Abort(ctx context.Context, actor node.Actor, ident, attempt string) error
}

// Reports takes what a ramdisk posted and names the node that it is of. It returns once the report is stored;
// node.ErrNotReported when no inspection waits for it.
type Reports interface {
	Report(ctx context.Context, actor node.Actor, body []byte, token node.Secret) (nodeUUID string, err error)
}

// Stored is what ramdisks reported, for as long as it is kept.
type Stored interface {
	// LastReport is the newest stored report of a node, without the ramdisk's logs; *node.NotFound without one.
	LastReport(ctx context.Context, nodeUUID string) (node.Report, error)
	// Reapply works the stored report up once more, or data instead. It returns once that is certain to happen.
	Reapply(ctx context.Context, actor node.Actor, ident string, data []byte) error
}

// Needs is everything that a [Service] works with.
type Needs struct {
	Nodes   Nodes
	Runs    Runs
	Verbs   Verbs
	Reports Reports
	Stored  Stored
	Rules   Rules
}

// Service answers for introspections.
type Service struct{ Needs }

// New makes the service.
func New(n Needs) *Service { return &Service{n} }

// Run is the status of an introspection (contract.md §5.2).
type Run struct {
	UUID       string // of the node
	Finished   bool   // whether it is over, however it ended
	State      node.RunState
	StartedAt  time.Time
	FinishedAt time.Time // zero while it runs
	Error      string    // "" unless it failed; "Canceled by operator" after an abort
}

func run(a node.Attempt) Run {
	r := Run{UUID: a.NodeUUID, Finished: a.State.Ended(), State: a.State, StartedAt: a.StartedAt}
	if r.Finished { // one that is applied once more has ended before
		r.FinishedAt, r.Error = a.EndedAt, a.Error
	}
	return r
}

// inBand tells whether a ramdisk carries out the attempts of an inspect interface; others are none of this service's.
func inBand(inspectInterface string) bool {
	return inspectInterface == "agent" || inspectInterface == "inspector"
}

// Start begins an introspection: it is the verb `inspect`. manageBoot nil is the default, true; with false it is a
// *node.Invalid, because nothing but this service can bring the server into its ramdisk.
func (s *Service) Start(ctx context.Context, actor node.Actor, ident string, manageBoot *bool) error {
	n, err := s.Nodes.Node(ctx, ident)
	if missing(err) {
		return unknownNode(ident)
	}
	if err != nil {
		return err
	}
	if manageBoot != nil && !*manageBoot {
		return node.Invalidf("manage_boot=false is not possible: this inspector always manages the boot of the nodes that it inspects.")
	}
	if !inBand(n.Interfaces.Inspect) {
		return node.Invalidf("Node %s has the inspect interface %s, which works without a ramdisk: start its inspection with the verb inspect, or set its inspect_interface to agent.", n.UUID, n.Interfaces.Inspect)
	}
	return busy(s.Verbs.Inspect(ctx, actor, n.UUID))
}

// Status is the latest introspection of a node; *node.NotFound where there is none.
func (s *Service) Status(ctx context.Context, ident string) (Run, error) {
	_, a, err := s.latest(ctx, ident)
	if err != nil {
		return Run{}, err
	}
	return run(a), nil
}

// latest finds a node and its latest attempt.
func (s *Service) latest(ctx context.Context, ident string) (node.Node, node.Attempt, error) {
	n, err := s.Nodes.Node(ctx, ident)
	if missing(err) && !node.IsUUID(ident) {
		return n, node.Attempt{}, unknownNode(ident)
	}
	if missing(err) {
		return n, node.Attempt{}, notInCache(ident)
	}
	if err != nil {
		return n, node.Attempt{}, err
	}
	if n.AttemptID == "" {
		return n, node.Attempt{}, notInCache(n.UUID)
	}
	a, err := s.Runs.Attempt(ctx, n.AttemptID)
	if missing(err) || err == nil && !inBand(a.Interface) {
		return n, a, notInCache(n.UUID)
	}
	return n, a, err
}

// unknownNode is the inspector's sentence for a node that there is not: it asks Ironic for names alone.
func unknownNode(ident string) error {
	return &node.NotFound{Text: fmt.Sprintf("Node %s was not found in Ironic", ident)}
}

// notInCache is the inspector's sentence for a node that it has no record of.
func notInCache(ident string) error {
	return &node.NotFound{Text: fmt.Sprintf("Could not find node %s in cache", ident)}
}

// errBusy is the inspector's answer where Ironic names the holder of the lock (contract.md §5.2).
var errBusy = &node.Conflict{Text: "Node is locked, please, retry later"}

func busy(err error) error {
	var held *node.Locked
	if errors.As(err, &held) {
		return errBusy
	}
	return err
}

func missing(err error) bool {
	var m *node.NotFound
	return errors.As(err, &m)
}
