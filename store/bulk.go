package store

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"gorm.io/gorm"

	"cagenut/node"
)

// Runs over many nodes, and what came of each.

// keptBulkResults is how many results the kept runs may have together: the oldest runs go first.
const keptBulkResults = 100_000

type bulkRunRow struct {
	ID          int64 `gorm:"primaryKey"`
	UUID        string
	Action      string
	Actor       string
	Reason      string
	KeepPowerOn bool
	RetryOf     string
	StartedAt   int64
	EndedAt     int64
	Pending     int
	Done        int
	Refused     int
}

func (bulkRunRow) TableName() string { return "bulk_runs" }

func (r bulkRunRow) run() node.BulkRun {
	return node.BulkRun{
		ID: r.UUID, Action: node.BulkAction(r.Action), Actor: actorFromJSON(r.Actor), Reason: r.Reason, KeepPowerOn: r.KeepPowerOn, RetryOf: r.RetryOf,
		StartedAt: fromMicros(r.StartedAt), EndedAt: fromMicros(r.EndedAt), Counts: node.BulkCounts{Pending: r.Pending, Done: r.Done, Refused: r.Refused},
	}
}

type bulkResultRow struct {
	RunID     int64 `gorm:"primaryKey;autoIncrement:false"`
	Position  int   `gorm:"primaryKey;autoIncrement:false"`
	NodeUUID  string
	Name      string
	Place     string
	AttemptID string
	State     string
	Refusal   string
	Why       string
	At        int64
}

func (bulkResultRow) TableName() string { return "bulk_results" }

func (r bulkResultRow) result() node.BulkResult {
	return node.BulkResult{
		Position: r.Position, Node: r.NodeUUID, Name: r.Name, Place: r.Place, Attempt: r.AttemptID,
		State: node.BulkState(r.State), Refusal: node.Refusal(r.Refusal), Why: r.Why, At: fromMicros(r.At),
	}
}

// StartBulk keeps a run with a result for each of its nodes, and the job that carries it out, in one transaction. A run
// that is there already under its id is the answer as it is: nothing is done twice.
func (s *Store) StartBulk(ctx context.Context, run node.BulkRun, results []node.BulkResult, j node.Job) (node.BulkRun, error) {
	err := s.inTurn(ctx, func(tx *transaction) error {
		known, err := bulkRun(tx.DB, run.ID)
		if err == nil {
			run = known.run()
			return nil
		}
		if missing := (*node.NotFound)(nil); !errors.As(err, &missing) {
			return err
		}
		run, err = tx.startBulk(run, results)
		if err != nil || run.Ended() {
			return err
		}
		return tx.store.queue.Insert(ctx, tx.sql(), j)
	})
	if err != nil {
		return node.BulkRun{}, fmt.Errorf("keep run %s: %w", run.ID, err)
	}
	return run, nil
}

func (tx *transaction) startBulk(run node.BulkRun, results []node.BulkResult) (node.BulkRun, error) {
	r := bulkRunRow{
		UUID: run.ID, Action: string(run.Action), Actor: actorJSON(run.Actor), Reason: run.Reason, KeepPowerOn: run.KeepPowerOn, RetryOf: run.RetryOf, StartedAt: micros(run.StartedAt),
	}
	rows := make([]bulkResultRow, len(results))
	for i, b := range results {
		rows[i] = bulkResultRow{
			Position: i + 1, NodeUUID: b.Node, Name: b.Name, Place: b.Place, AttemptID: b.Attempt, State: string(b.State), Refusal: string(b.Refusal), Why: b.Why, At: micros(b.At),
		}
		switch b.State {
		case node.BulkPending:
			r.Pending++
		case node.BulkRefused:
			r.Refused++
		default:
			r.Done++
		}
	}
	if r.Pending == 0 {
		r.EndedAt = r.StartedAt
	}
	if err := tx.Create(&r).Error; err != nil {
		return run, err
	}
	for i := range rows {
		rows[i].RunID = r.ID
	}
	if err := tx.CreateInBatches(rows, 500).Error; err != nil {
		return run, err
	}
	return r.run(), tx.dropOldBulkRuns()
}

// dropOldBulkRuns keeps the newest runs, and no more results than keptBulkResults. Runs that still go on stay.
func (tx *transaction) dropOldBulkRuns() error {
	var all []bulkRunRow
	if err := tx.Select("id", "ended_at", "pending", "done", "refused").Order("id DESC").Find(&all).Error; err != nil {
		return err
	}
	var gone []int64
	results := 0
	for i, r := range all {
		results += r.run().Counts.Total()
		if r.EndedAt != 0 && i > 0 && (i >= node.BulkKept || results > keptBulkResults) {
			gone = append(gone, r.ID)
		}
	}
	if len(gone) == 0 {
		return nil
	}
	return tx.Where("id IN ?", gone).Delete(&bulkRunRow{}).Error
}

// RecordBulk keeps what came of nodes of a run; a node that has its result already keeps it. The run ends with the last one.
func (s *Store) RecordBulk(ctx context.Context, id string, results []node.BulkResult, now time.Time) (node.BulkRun, error) {
	var r bulkRunRow
	err := s.inTurn(ctx, func(tx *transaction) (err error) {
		if r, err = bulkRun(tx.DB, id); err != nil {
			return err
		}
		for _, b := range results {
			n, err := tx.cas(&bulkResultRow{}, map[string]any{"state": string(b.State), "refusal": string(b.Refusal), "why": b.Why, "at": micros(b.At)},
				"run_id = ? AND position = ? AND state = ?", r.ID, b.Position, node.BulkPending)
			if err != nil {
				return err
			}
			r.Pending -= int(n)
			if b.State == node.BulkDone {
				r.Done += int(n)
			} else {
				r.Refused += int(n)
			}
		}
		if r.Pending == 0 && r.EndedAt == 0 {
			r.EndedAt = micros(now)
		}
		tx.notice(node.Notice{NodeUUID: id, Run: true})
		return tx.Save(&r).Error
	})
	if err != nil {
		return node.BulkRun{}, fmt.Errorf("record results of run %s: %w", id, err)
	}
	return r.run(), nil
}

// BulkRun finds a run; *node.NotFound otherwise.
func (s *Store) BulkRun(ctx context.Context, id string) (node.BulkRun, error) {
	r, err := bulkRun(s.read.WithContext(ctx), id)
	if err != nil {
		return node.BulkRun{}, err
	}
	return r.run(), nil
}

func bulkRun(db *gorm.DB, id string) (bulkRunRow, error) {
	var r bulkRunRow
	err := db.Where("uuid = ?", id).Take(&r).Error
	if errors.Is(err, gorm.ErrRecordNotFound) {
		return r, &node.NotFound{What: "Run", Ident: node.Shorten(id, 80)}
	}
	if err != nil {
		return r, fmt.Errorf("read run %s: %w", id, err)
	}
	return r, nil
}

// BulkRuns lists the runs that are kept, the newest first.
func (s *Store) BulkRuns(ctx context.Context) ([]node.BulkRun, error) {
	var rows []bulkRunRow
	if err := s.read.WithContext(ctx).Order("id DESC").Find(&rows).Error; err != nil {
		return nil, fmt.Errorf("list runs: %w", err)
	}
	out := make([]node.BulkRun, len(rows))
	for i, r := range rows {
		out[i] = r.run()
	}
	return out, nil
}

// BulkResults lists results of a run, in the order of its choice.
func (s *Store) BulkResults(ctx context.Context, id string, f node.BulkResultFilter) ([]node.BulkResult, error) {
	q := s.read.WithContext(ctx).Where("run_id = (SELECT id FROM bulk_runs WHERE uuid = ?) AND position > ?", id, f.After).Order("position")
	if f.State != "" {
		q = q.Where("state = ?", f.State)
	}
	if f.Limit > 0 {
		q = q.Limit(f.Limit)
	}
	var rows []bulkResultRow
	if err := q.Find(&rows).Error; err != nil {
		return nil, fmt.Errorf("list results of run %s: %w", id, err)
	}
	out := make([]node.BulkResult, len(rows))
	for i, r := range rows {
		out[i] = r.result()
	}
	return out, nil
}

// BulkAccepted tells which of the nodes a request has been accepted for, since a time: the audit has been written together
// with what was asked for, so it knows what a process that died had no time to record.
func (s *Store) BulkAccepted(ctx context.Context, requestID string, since time.Time, nodes []string) (map[string]bool, error) {
	var done []string
	err := s.read.WithContext(ctx).Model(&auditRow{}).Distinct("node_uuid").
		Where("node_uuid IN ? AND at >= ? AND result = 'accepted' AND json_extract(actor, '$.request') = ?", nodes, micros(since), requestID).Pluck("node_uuid", &done).Error
	if err != nil {
		return nil, fmt.Errorf("read what request %s had been accepted for: %w", requestID, err)
	}
	out := make(map[string]bool, len(done))
	for _, uuid := range done {
		out[uuid] = true
	}
	return out, nil
}

// bulkColumns are what deciding about an action on a node takes; its documents, which make reading it dear, are not.
var bulkColumns = []string{
	"id", "uuid", "name", "driver", "interfaces", "provision_state", "power_state", "target_power_state", "reservation", "reservation_id", "attempt_id", "maintenance",
	"retired", "protected", "disable_power_off", "rack", "rack_unit",
}

// BulkNodes lists the nodes of a choice, without their documents but for the place: of idents in their order, each node once,
// and one that is not there as a node with nothing but that name; of a filter by name, limit at the most.
func (s *Store) BulkNodes(ctx context.Context, choice node.BulkChoice, limit int) ([]node.Node, error) {
	db := s.read.WithContext(ctx)
	if choice.Filter != nil {
		var rows []nodeRow
		if err := chosen(db, *choice.Filter).Select(bulkColumns).Order("name, id").Limit(limit).Find(&rows).Error; err != nil {
			return nil, fmt.Errorf("choose nodes: %w", err)
		}
		return bulkNodes(rows)
	}
	known := map[string]node.Node{}
	for idents := range slices.Chunk(choice.Idents, 1000) {
		var rows []nodeRow
		if err := db.Select(bulkColumns).Where("uuid IN ? OR name IN ?", idents, idents).Find(&rows).Error; err != nil {
			return nil, fmt.Errorf("choose nodes: %w", err)
		}
		nodes, err := bulkNodes(rows)
		if err != nil {
			return nil, err
		}
		for _, n := range nodes {
			known[n.UUID] = n
			if n.Name != "" && known[n.Name].UUID == "" {
				known[n.Name] = n
			}
		}
	}
	var out []node.Node
	seen := map[string]bool{}
	for _, ident := range choice.Idents {
		n, ok := known[ident]
		if !ok {
			n = node.Node{Name: ident}
		}
		if id := cmp.Or(n.UUID, n.Name); !seen[id] && len(out) < limit {
			seen[id] = true
			out = append(out, n)
		}
	}
	return out, nil
}

func bulkNodes(rows []nodeRow) ([]node.Node, error) {
	out := make([]node.Node, len(rows))
	for i, r := range rows {
		n := node.Node{
			ID: r.ID, UUID: r.UUID, Name: r.Name, Driver: r.Driver, ProvisionState: node.State(r.ProvisionState), PowerState: node.PowerState(r.PowerState),
			TargetPowerState: node.PowerState(r.TargetPowerState), Reservation: r.Reservation, ReservationID: r.ReservationID, AttemptID: r.AttemptID,
			Maintenance: r.Maintenance, Retired: r.Retired, Protected: r.Protected, DisablePowerOff: r.DisablePowerOff,
			Extra: map[string]any{"rack": r.Rack, "rack_unit": r.RackUnit},
		}
		if err := json.Unmarshal([]byte(r.Interfaces), &n.Interfaces); err != nil {
			return nil, fmt.Errorf("read the interfaces of node %s: %w", r.UUID, err)
		}
		out[i] = n
	}
	return out, nil
}
