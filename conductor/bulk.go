package conductor

import (
	"context"
	"fmt"
	"strings"
	"time"

	"cagenut/node"
)

// Bulks is what is kept of runs over many nodes.
type Bulks interface {
	// BulkNodes lists the nodes of a choice without their documents, limit at the most: of idents in their order, each node
	// once, and one that is not there as a node with nothing but that name.
	BulkNodes(ctx context.Context, choice node.BulkChoice, limit int) ([]node.Node, error)
	// StartBulk keeps a run with its results and the job that carries it out, in one transaction. A run that is there
	// already under its id is the answer as it is.
	StartBulk(ctx context.Context, run node.BulkRun, results []node.BulkResult, j node.Job) (node.BulkRun, error)
	// BulkRun finds a run; *node.NotFound otherwise.
	BulkRun(ctx context.Context, id string) (node.BulkRun, error)
	// BulkResults lists results of a run, in the order of its choice.
	BulkResults(ctx context.Context, id string, f node.BulkResultFilter) ([]node.BulkResult, error)
	// RecordBulk keeps what came of nodes of a run; a node that has its result already keeps it.
	RecordBulk(ctx context.Context, id string, results []node.BulkResult, now time.Time) (node.BulkRun, error)
	// BulkAccepted tells which of the nodes a request has been accepted for since a time, as the audit says.
	BulkAccepted(ctx context.Context, requestID string, since time.Time, nodes []string) (map[string]bool, error)
}

// BulkRequest asks for one action on many nodes.
type BulkRequest struct {
	ID     string // UUID of the run; "" for a new one
	Action node.BulkAction
	Choice node.BulkChoice
	// Seen are the attempts that the caller saw, by node; an abort stops no other, and none of a node that is not in it. nil:
	// they are the ones of the moment of the request.
	Seen map[string]string
	// RetryOf is a run that this one repeats. Without a choice it is of that run's refused nodes, with the attempts that were
	// seen for it, its Action, its Reason and its KeepPowerOn.
	RetryOf     string
	Reason      string
	KeepPowerOn bool
}

// BulkCandidate is a chosen node, and why it cannot take the action now; nil if it can.
type BulkCandidate struct {
	Node    node.Node // without documents
	Attempt string    // of an abort: the one that would be aborted
	Why     error
}

// bulkReasonLimit is how long a reason may be, in characters.
const bulkReasonLimit = 500

// PlanBulk tells what a request would do as things are now, and does nothing. The request is given back as it would be
// carried out: with what a retry takes from its run.
func (c *Conductor) PlanBulk(ctx context.Context, req BulkRequest) (BulkRequest, []BulkCandidate, error) {
	req, err := c.retried(ctx, req)
	if err != nil {
		return req, nil, err
	}
	nodes, err := c.Bulks.BulkNodes(ctx, req.Choice, node.BulkMost+1)
	switch {
	case err != nil:
		return req, nil, err
	case !req.Action.Valid():
		return req, nil, node.Invalidf("The action %q is none of: %s.", node.Shorten(string(req.Action), 80), actionNames())
	case len([]rune(req.Reason)) > bulkReasonLimit:
		return req, nil, node.Invalidf("The reason is too long; %d characters are enough.", bulkReasonLimit)
	case len(nodes) == 0:
		return req, nil, node.Invalidf("No node is chosen.")
	case len(nodes) > node.BulkMost:
		return req, nil, node.Invalidf("More than %d nodes are chosen; choose fewer.", node.BulkMost)
	}
	out := make([]BulkCandidate, len(nodes))
	for i, n := range nodes {
		out[i] = c.candidate(n, req)
	}
	return req, out, nil
}

func actionNames() string {
	names := make([]string, len(node.BulkActions()))
	for i, a := range node.BulkActions() {
		names[i] = string(a)
	}
	return strings.Join(names, ", ")
}

// retried makes the request of a retry whole.
func (c *Conductor) retried(ctx context.Context, req BulkRequest) (BulkRequest, error) {
	if req.RetryOf == "" {
		return req, nil
	}
	run, err := c.Bulks.BulkRun(ctx, req.RetryOf)
	if err != nil || req.Choice.Idents != nil || req.Choice.Filter != nil {
		return req, err
	}
	if !run.Ended() {
		return req, &node.Conflict{Text: "The run goes on; its refused nodes can be tried again when it has ended."}
	}
	refused, err := c.Bulks.BulkResults(ctx, run.ID, node.BulkResultFilter{State: node.BulkRefused})
	if err != nil {
		return req, err
	}
	if len(refused) == 0 {
		return req, &node.Conflict{Text: "No node was refused in this run: there is nothing to try again."}
	}
	req.Action, req.Reason, req.KeepPowerOn, req.Choice, req.Seen = run.Action, run.Reason, run.KeepPowerOn, node.BulkChoice{}, map[string]string{}
	for _, r := range refused {
		ident := r.Node
		if ident == "" {
			ident = r.Name
		}
		req.Choice.Idents = append(req.Choice.Idents, ident)
		if r.Attempt != "" {
			req.Seen[r.Node] = r.Attempt
		}
	}
	return req, nil
}

func (c *Conductor) candidate(n node.Node, req BulkRequest) BulkCandidate {
	if n.UUID == "" {
		return BulkCandidate{Node: n, Why: &node.NotFound{What: "Node", Ident: node.Shorten(n.Name, 255)}}
	}
	out := BulkCandidate{Node: n}
	if req.Action == node.BulkAbort {
		out.Attempt = n.AttemptID
		if req.Seen != nil {
			out.Attempt = req.Seen[n.UUID]
		}
	}
	out.Why = c.refusesBulk(n, out.Attempt, req.Action)
	return out
}

// refusesBulk is why a node cannot take an action now, as far as that can be told without its documents and without asking
// anybody; nil if nothing is known against it.
func (c *Conductor) refusesBulk(n node.Node, attempt string, a node.BulkAction) error {
	switch {
	case a.Verb() != "":
		return c.refusesVerb(n, ProvisionRequest{Target: string(a), Attempt: attempt, Unattempted: a == node.BulkAbort && attempt == ""})
	case a.Power() != "":
		if err := refusesPower(n, a.Power()); err != nil {
			return err
		}
		return held(n)
	}
	return nil // maintenance is possible at any time
}

func (c *Conductor) refusesVerb(n node.Node, req ProvisionRequest) error {
	verb := node.Event(req.Target)
	if err := allowed(n, verb, req); err != nil {
		return err
	}
	if verb == node.Provide && n.Retired {
		return node.Invalidf("The providing operation can't be performed on node %s because it is retired.", n.UUID)
	}
	if _, err := c.inspectInterface(n.Interfaces.Inspect); err != nil && verb == node.Inspect {
		return err
	}
	return held(n)
}

// held is the refusal of a node that a worker holds, or nil.
func held(n node.Node) error {
	if n.Reserved() {
		return &node.Locked{Node: n.UUID, Holder: n.Reservation}
	}
	return nil
}

// StartBulk accepts a run: what it is to do is kept when this returns, and is done by the appliance from then on, node for
// node as if each had been asked for alone. A request with the id of a run that is there is that run, whatever it says.
func (c *Conductor) StartBulk(ctx context.Context, actor node.Actor, req BulkRequest) (node.BulkRun, error) {
	if req.ID == "" {
		req.ID = node.NewUUID()
	}
	if !node.IsUUID(req.ID) {
		return node.BulkRun{}, node.Invalidf("The id of a run must be a UUID.")
	}
	run, err := c.Bulks.BulkRun(ctx, req.ID)
	if err == nil || !missing(err) {
		return run, err
	}
	req, candidates, err := c.PlanBulk(ctx, req)
	if err != nil {
		return node.BulkRun{}, err
	}
	run = node.BulkRun{ID: req.ID, Action: req.Action, Actor: actor, Reason: req.Reason, KeepPowerOn: req.KeepPowerOn, StartedAt: c.Clock.Now(), RetryOf: req.RetryOf}
	results := make([]node.BulkResult, len(candidates))
	for i, b := range candidates {
		results[i] = node.BulkResult{Node: b.Node.UUID, Name: node.Shorten(b.Node.Name, 255), Place: placeOf(b.Node), Attempt: b.Attempt, State: node.BulkPending}
		if b.Node.UUID == "" {
			results[i].State, results[i].At = node.BulkRefused, run.StartedAt
			results[i].Refusal, results[i].Why = node.RefusalOf(b.Why)
		}
	}
	return c.Bulks.StartBulk(ctx, run, results, node.Job{Kind: node.JobBulk, Run: run.ID})
}

// placeOf is where a node sits, in the words on the rack.
func placeOf(n node.Node) string {
	l := n.Location()
	var parts []string
	if l.Rack != "" {
		parts = append(parts, l.Rack)
	}
	if l.Unit != 0 {
		parts = append(parts, fmt.Sprintf("U%d", l.Unit))
	}
	return strings.Join(parts, " · ")
}
