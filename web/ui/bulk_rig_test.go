package ui_test

import (
	"context"
	"slices"
	"time"

	"cagenut/conductor"
	"cagenut/node"
)

// bulks are the runs of a rack. A run is through when it is accepted, unless the rack is told to wait.
type bulks struct {
	runs    []node.BulkRun
	results map[string][]node.BulkResult
	asked   []conductor.BulkRequest
	planned []conductor.BulkRequest
	waits   bool
}

func (r *rack) PlanBulk(_ context.Context, req conductor.BulkRequest) (conductor.BulkRequest, []conductor.BulkCandidate, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.bulks.planned = append(r.bulks.planned, req)
	return r.plan(req)
}

func (r *rack) plan(req conductor.BulkRequest) (conductor.BulkRequest, []conductor.BulkCandidate, error) {
	if req.RetryOf != "" && req.Choice.Idents == nil {
		for _, b := range r.bulks.results[req.RetryOf] {
			if b.State == node.BulkRefused {
				req.Choice.Idents = append(req.Choice.Idents, b.Node)
			}
		}
		for _, run := range r.bulks.runs {
			if run.ID == req.RetryOf {
				req.Action, req.Reason, req.KeepPowerOn = run.Action, run.Reason, run.KeepPowerOn
			}
		}
	}
	if !req.Action.Valid() {
		return req, nil, node.Invalidf("The action is none.")
	}
	var out []conductor.BulkCandidate
	for _, n := range r.nodes {
		f := req.Choice.Filter
		if f != nil && (f.Rack == "" || n.Location().Rack == f.Rack) && (f.ProvisionStates == nil || slices.Contains(f.ProvisionStates, n.ProvisionState)) ||
			slices.Contains(req.Choice.Idents, n.UUID) {
			out = append(out, r.candidate(n, req))
		}
	}
	for _, id := range req.Choice.Idents {
		if _, err := r.find(id); err != nil {
			out = append(out, conductor.BulkCandidate{Node: node.Node{Name: id}, Why: err})
		}
	}
	if len(out) == 0 {
		return req, nil, node.Invalidf("No node is chosen.")
	}
	return req, out, nil
}

func (r *rack) candidate(n node.Node, req conductor.BulkRequest) conductor.BulkCandidate {
	b := conductor.BulkCandidate{Node: n}
	if req.Action == node.BulkAbort {
		if b.Attempt = n.AttemptID; req.Seen != nil {
			b.Attempt = req.Seen[n.UUID]
		}
	}
	switch verb := req.Action.Verb(); {
	case n.Reserved():
		b.Why = &node.Locked{Node: n.UUID, Holder: n.Reservation}
	case b.Attempt != "" && b.Attempt != n.AttemptID:
		b.Why = &node.Stale{Node: n.UUID, Seen: b.Attempt, Now: n.ProvisionState}
	case verb != "":
		_, b.Why = n.ProvisionState.Next(verb)
	}
	return b
}

func (r *rack) StartBulk(ctx context.Context, actor node.Actor, req conductor.BulkRequest) (node.BulkRun, error) {
	r.mu.Lock()
	for _, run := range r.bulks.runs {
		if run.ID == req.ID {
			r.mu.Unlock()
			return run, nil
		}
	}
	r.bulks.asked = append(r.bulks.asked, req)
	req, all, err := r.plan(req)
	r.mu.Unlock()
	if err != nil {
		return node.BulkRun{}, err
	}
	run := node.BulkRun{ID: req.ID, Action: req.Action, Actor: actor, Reason: req.Reason, KeepPowerOn: req.KeepPowerOn, RetryOf: req.RetryOf, StartedAt: noon, EndedAt: noon}
	results := make([]node.BulkResult, len(all))
	for i, b := range all {
		res := node.BulkResult{Position: i + 1, Node: b.Node.UUID, Name: b.Node.Name, Place: "R07 · U21", Attempt: b.Attempt, State: node.BulkDone, At: noon}
		err := b.Why
		if err == nil && req.Action.Verb() != "" && !r.bulks.waits {
			err = r.SetProvisionState(ctx, actor, b.Node.UUID, conductor.ProvisionRequest{Target: string(req.Action), Attempt: b.Attempt, Reason: req.Reason, KeepPowerOn: req.KeepPowerOn})
		}
		if run.Counts.Done++; err != nil {
			run.Counts.Done--
			run.Counts.Refused++
			res.State = node.BulkRefused
			res.Refusal, res.Why = node.RefusalOf(err)
		}
		results[i] = res
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.bulks.waits {
		run.EndedAt, run.Counts = time.Time{}, node.BulkCounts{Pending: len(all)}
		for i := range results {
			results[i] = node.BulkResult{Position: i + 1, Node: results[i].Node, Name: results[i].Name, State: node.BulkPending}
		}
	}
	r.keepRun(run, results)
	return run, nil
}

// keepRun puts a run first.
func (r *rack) keepRun(run node.BulkRun, results []node.BulkResult) {
	if r.bulks.results == nil {
		r.bulks.results = map[string][]node.BulkResult{}
	}
	r.bulks.runs = append([]node.BulkRun{run}, r.bulks.runs...)
	r.bulks.results[run.ID] = results
}

func (r *rack) BulkRuns(context.Context) ([]node.BulkRun, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(r.bulks.runs), r.broken
}

func (r *rack) BulkRun(_ context.Context, id string) (node.BulkRun, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, run := range r.bulks.runs {
		if run.ID == id {
			return run, nil
		}
	}
	return node.BulkRun{}, &node.NotFound{What: "Run", Ident: id}
}

func (r *rack) BulkResults(_ context.Context, id string, f node.BulkResultFilter) ([]node.BulkResult, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	var out []node.BulkResult
	for _, b := range r.bulks.results[id] {
		if b.Position > f.After && (f.State == "" || b.State == f.State) && (f.Limit == 0 || len(out) < f.Limit) {
			out = append(out, b)
		}
	}
	return out, nil
}
