package conductor

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"cagenut/node"
)

const (
	// bulkAtOnce is how many nodes of a run are worked on beside each other. One that waits for its reservation or for a
	// foreign inspector must not hold up the rest; more would make somebody wait who presses a single button meanwhile.
	bulkAtOnce = 8
	// bulkStep is how long one step of a run begins with further nodes, and bulkNode how long a single one may take: together
	// they fit into a step of a job.
	bulkStep = 10 * time.Second
	bulkNode = 14 * time.Second
	// bulkTold is how often results are recorded, and told to who watches.
	bulkTold = 250 * time.Millisecond
	// bulkPage is how many results are read at a time.
	bulkPage = 256
)

// workBulk carries on a run with the nodes that have no result yet.
func (c *Conductor) workBulk(ctx context.Context, j node.Job) (time.Duration, error) {
	run, err := c.Bulks.BulkRun(ctx, j.Run)
	if missing(err) || err == nil && run.Ended() {
		return done, nil
	}
	if err != nil {
		return done, err
	}
	step, cancel := context.WithTimeout(ctx, stepTime)
	defer cancel()
	w := &bulkWork{c: c, run: run, results: make(chan node.BulkResult, bulkPage), worked: make(chan struct{})}
	var failed error
	var feeding sync.WaitGroup
	feeding.Go(func() {
		defer close(w.worked)
		failed = w.feed(step)
	})
	// What has been done is recorded even when the step is cut.
	err = w.record(context.WithoutCancel(ctx))
	cancel()
	feeding.Wait()
	if err = errors.Join(failed, err); err != nil || w.ended {
		return done, err
	}
	return 0, nil
}

// bulkWork is one step of a run.
type bulkWork struct {
	c       *Conductor
	run     node.BulkRun
	results chan node.BulkResult
	worked  chan struct{} // closed once no more results come
	ended   bool          // every node has its result
}

// feed gives the pending nodes to workers, as long as the step may go on, and waits for them.
func (w *bulkWork) feed(ctx context.Context) error {
	todo := make(chan node.BulkResult)
	var working sync.WaitGroup
	for range bulkAtOnce {
		working.Go(func() {
			for r := range todo {
				w.work(ctx, r)
			}
		})
	}
	defer working.Wait()
	defer close(todo)
	until := w.c.Clock.Now().Add(bulkStep)
	for after := 0; ; {
		page, err := w.c.Bulks.BulkResults(ctx, w.run.ID, node.BulkResultFilter{State: node.BulkPending, After: after, Limit: bulkPage})
		if err != nil || len(page) == 0 {
			return err
		}
		accepted, err := w.acceptedBefore(ctx, page)
		if err != nil {
			return err
		}
		for _, r := range page {
			if after = r.Position; accepted[r.Node] {
				w.tell(ctx, r, nil)
				continue
			}
			if !w.c.Clock.Now().Before(until) {
				return nil
			}
			select {
			case todo <- r:
			case <-ctx.Done():
				return nil
			}
		}
	}
}

// acceptedBefore tells for which nodes the action was accepted in a step whose end nobody recorded, because the appliance died
// or was stopped: it is not done twice.
func (w *bulkWork) acceptedBefore(ctx context.Context, page []node.BulkResult) (map[string]bool, error) {
	uuids := make([]string, len(page))
	for i, r := range page {
		uuids[i] = r.Node
	}
	return w.c.Bulks.BulkAccepted(ctx, w.run.Actor.RequestID, w.run.StartedAt, uuids)
}

// work does the action to one node, by the method that a single button and the REST API call.
func (w *bulkWork) work(ctx context.Context, r node.BulkResult) {
	alone, cancel := context.WithTimeout(ctx, bulkNode)
	defer cancel()
	err := w.c.carryOutBulk(alone, w.run, r)
	if ctx.Err() != nil && err != nil {
		return // the step was cut, which says nothing about the node: the next one does it
	}
	w.tell(ctx, r, err)
}

func (c *Conductor) carryOutBulk(ctx context.Context, run node.BulkRun, r node.BulkResult) error {
	switch {
	case run.Action.Verb() != "":
		return c.SetProvisionState(ctx, run.Actor, r.Node, ProvisionRequest{
			Target: string(run.Action), Attempt: r.Attempt, Unattempted: run.Action == node.BulkAbort && r.Attempt == "", Reason: run.Reason, KeepPowerOn: run.KeepPowerOn,
		})
	case run.Action.Power() != "":
		return c.SetPower(ctx, run.Actor, r.Node, PowerRequest{Target: string(run.Action)})
	}
	return c.SetMaintenance(ctx, run.Actor, r.Node, run.Action == node.BulkMaintenanceOn, run.Reason)
}

// tell hands over what came of a node, to be recorded.
func (w *bulkWork) tell(ctx context.Context, r node.BulkResult, err error) {
	r.State, r.At = node.BulkDone, w.c.Clock.Now()
	if err != nil {
		r.State = node.BulkRefused
		if r.Refusal, r.Why = node.RefusalOf(err); r.Refusal == node.RefusedInternal {
			w.c.Log.Error("bulk: an action failed", "run", w.run.ID, "action", w.run.Action, "node", r.Node, "err", err)
		}
	}
	select {
	case w.results <- r:
	case <-ctx.Done(): // nobody records any more; the audit knows what was accepted
	}
}

// record writes results as they come, several at a time, until the workers are through.
func (w *bulkWork) record(ctx context.Context) error {
	for more := true; more; {
		var batch []node.BulkResult
		select {
		case r := <-w.results:
			batch = append(batch, r)
		case <-w.worked:
			more = false
		}
		if more {
			select {
			case <-w.c.Clock.After(bulkTold):
			case <-w.worked:
				more = false
			}
		}
		if batch = w.drain(batch); len(batch) == 0 {
			continue
		}
		ended, err := w.c.Bulks.RecordBulk(ctx, w.run.ID, batch, w.c.Clock.Now())
		if err != nil {
			return fmt.Errorf("record a bulk run: %w", err)
		}
		w.ended = ended.Ended()
	}
	return nil
}

func (w *bulkWork) drain(batch []node.BulkResult) []node.BulkResult {
	for {
		select {
		case r := <-w.results:
			batch = append(batch, r)
		default:
			return batch
		}
	}
}
