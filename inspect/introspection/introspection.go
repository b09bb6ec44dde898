// Package introspection is the embedded inspector service (contract.md §5). It keeps nothing of its own: its record of a
// run is the node's attempt, so its answers and the node's state can never disagree. What it needs of nodes it declares;
// cmd joins that to the conductor and the store.
package introspection

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"cagenut/node"
)

// Nodes finds nodes by UUID or name; *node.NotFound otherwise.
type Nodes interface {
	Node(ctx context.Context, ident string) (node.Node, error)
}

// Runs is what is kept of attempts.
type Runs interface {
	Attempt(ctx context.Context, id string) (node.Attempt, error)
	Attempts(ctx context.Context, f node.RunFilter) ([]node.Attempt, error)
	Inventory(ctx context.Context, nodeUUID string) (node.Inventory, error)
}

// Verbs asks for the node's transitions; success means that it is committed.
type Verbs interface {
	Inspect(ctx context.Context, actor node.Actor, ident string) error
	Abort(ctx context.Context, actor node.Actor, ident, attempt string) error
}

// Reports takes what a ramdisk posted and answers with the node's UUID.
type Reports interface {
	Report(ctx context.Context, actor node.Actor, body []byte, token node.Secret) (string, error)
}

// Needs is what a [Service] works with.
type Needs struct {
	Nodes   Nodes
	Runs    Runs
	Verbs   Verbs
	Reports Reports
}

// Service is the inspector. Its methods are safe for concurrent use.
type Service struct{ Needs }

// New makes a service.
func New(n Needs) *Service { return &Service{n} }

// Run is what the API tells of an attempt. FinishedAt is the zero time while it runs.
type Run struct {
	UUID       string // of the node
	State      node.RunState
	Finished   bool
	StartedAt  time.Time
	FinishedAt time.Time
	Error      string
}

func run(a node.Attempt) Run {
	return Run{UUID: a.NodeUUID, State: a.State, Finished: a.State.Ended(), StartedAt: a.StartedAt, FinishedAt: a.EndedAt, Error: a.Error}
}

// errBusy is the inspector's answer where Ironic names the holder of a lock.
var errBusy = &node.Conflict{Text: "Node is locked, please, retry later"}

// latest is the node's latest attempt; the inspector's own 404 for a node without one.
func (s *Service) latest(ctx context.Context, ident string) (node.Node, node.Attempt, error) {
	gone := &node.NotFound{Text: fmt.Sprintf("Could not find node %s in cache", ident)}
	n, err := s.Nodes.Node(ctx, ident)
	if missing(err) || (err == nil && n.AttemptID == "") {
		return n, node.Attempt{}, gone
	}
	if err != nil {
		return n, node.Attempt{}, err
	}
	a, err := s.Runs.Attempt(ctx, n.AttemptID)
	return n, a, err
}

func missing(err error) bool {
	var gone *node.NotFound
	return errors.As(err, &gone)
}

// Start is the verb `inspect`. The appliance boots the server itself: manageBoot may be nil or true.
func (s *Service) Start(ctx context.Context, actor node.Actor, ident string, manageBoot *bool) error {
	if manageBoot != nil && !*manageBoot {
		return node.Invalidf("This inspector boots the servers itself: leave manage_boot out, or set it to true.")
	}
	return busy(s.Verbs.Inspect(ctx, actor, ident))
}

// Status is how the latest run of a node is.
func (s *Service) Status(ctx context.Context, ident string) (Run, error) {
	_, a, err := s.latest(ctx, ident)
	if err != nil {
		return Run{}, err
	}
	return run(a), nil
}

// List lists the latest run of each node, newest first. marker is a node's UUID or ""; no states means all.
func (s *Service) List(ctx context.Context, marker string, limit int, states []node.RunState) ([]Run, error) {
	f := node.RunFilter{Latest: true, Limit: limit, States: states}
	if marker != "" {
		_, a, err := s.latest(ctx, marker)
		if err != nil {
			return nil, err
		}
		f.Marker = a.ID
	}
	attempts, err := s.Runs.Attempts(ctx, f)
	if err != nil {
		return nil, err
	}
	runs := make([]Run, len(attempts))
	for i, a := range attempts {
		runs[i] = run(a)
	}
	return runs, nil
}

// Abort ends a waiting run and, in the same transaction, the node's inspection. Unlike the original it accepts nothing
// that it does not do (G29, contract.md §9, 25).
func (s *Service) Abort(ctx context.Context, actor node.Actor, ident string) error {
	n, a, err := s.latest(ctx, ident)
	if err != nil {
		return err
	}
	switch {
	case a.State.Ended():
		return node.Invalidf("Introspection of node %s is over (state %q): there is nothing to abort.", n.UUID, a.State)
	case a.State != node.RunWaiting:
		return errBusy
	}
	return busy(s.Verbs.Abort(ctx, actor, n.UUID, a.ID))
}

func busy(err error) error {
	var locked *node.Locked
	if errors.As(err, &locked) {
		return errBusy
	}
	return err
}

// Data is what the last successful run stored: one flat document, the inventory beside the plugins' keys.
func (s *Service) Data(ctx context.Context, ident string) ([]byte, error) {
	n, err := s.Nodes.Node(ctx, ident)
	if err != nil {
		return nil, err
	}
	stored, err := s.Runs.Inventory(ctx, n.UUID)
	if missing(err) {
		return nil, &node.NotFound{Text: fmt.Sprintf("Introspection data of node %s could not be found.", ident)}
	}
	if err != nil {
		return nil, err
	}
	flat := map[string]json.RawMessage{}
	if err := json.Unmarshal(stored.PluginData, &flat); err != nil {
		return nil, fmt.Errorf("read the plugin data of node %s: %w", n.UUID, err)
	}
	flat["inventory"] = stored.Inventory
	return json.Marshal(flat)
}

// Report takes what a ramdisk posted and answers with the node's UUID. A run that is over and one that never was are the
// same refusal: it must not tell strangers which nodes there are.
func (s *Service) Report(ctx context.Context, actor node.Actor, body []byte, token node.Secret) (string, error) {
	uuid, err := s.Reports.Report(ctx, actor, body, token)
	if errors.Is(err, node.ErrNotReported) {
		return "", &node.NotFound{Text: "Look up error: no introspection is waiting for this report; it may have finished, or been aborted."}
	}
	return uuid, busy(err)
}
