package store

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"gorm.io/gorm"

	"cagenut/node"
)

// keptHistory is how many entries a node's history keeps, beside those that end an attempt (contract.md §2.9).
const keptHistory = 300

type historyRow struct {
	ID          int64 `gorm:"primaryKey"`
	UUID        string
	NodeUUID    string
	AttemptID   string
	At          int64
	Severity    string
	Type        string
	Event       string
	Actor       string
	Reason      string
	State       string
	TargetState string
	Duration    int64
	Final       bool
	Key         string
	Count       int
	LastAt      int64
}

func (historyRow) TableName() string { return "history" }

type changeRow struct {
	ID        int64 `gorm:"primaryKey"`
	NodeUUID  string
	FromState string
	ToState   string
	Actor     string
	At        int64
	AttemptID string
	Kind      string
	Error     string
}

func (changeRow) TableName() string { return "changes" }

// Kinds of changes, and the two words for whether a BMC answers.
const (
	stateChanged = "state"
	powerChanged = "power"
	bmcChanged   = "bmc"

	bmcReachable   = "reachable"
	bmcUnreachable = "unreachable"
)

func (r changeRow) change() node.Change {
	c := node.Change{ID: r.ID, NodeUUID: r.NodeUUID, Actor: actorFromJSON(r.Actor), At: fromMicros(r.At), AttemptID: r.AttemptID}
	switch r.Kind {
	case powerChanged:
		c.Power = &node.PowerChange{From: node.PowerState(r.FromState), To: node.PowerState(r.ToState)}
	case bmcChanged:
		c.BMC = &node.BMCChange{Reachable: r.ToState == bmcReachable, Error: r.Error}
	default:
		c.From, c.To = node.State(r.FromState), node.State(r.ToState)
	}
	return c
}

// keptChanges is how many changes are kept for event streams that come back.
const keptChanges = 50_000

// tellChange keeps a change for event streams, and tells the watchers of it.
func (tx *transaction) tellChange(r changeRow) error {
	if err := tx.Create(&r).Error; err != nil {
		return fmt.Errorf("tell a change of node %s: %w", r.NodeUUID, err)
	}
	if err := tx.Where("id <= ?", r.ID-keptChanges).Delete(&changeRow{}).Error; err != nil {
		return err
	}
	c := r.change()
	tx.notice(node.Notice{NodeUUID: r.NodeUUID, Change: &c})
	return nil
}

// storedActor is how an actor is written into a column.
type storedActor struct {
	User      string      `json:"user,omitempty"`
	Source    node.Source `json:"source,omitempty"`
	Address   string      `json:"address,omitempty"`
	RequestID string      `json:"request,omitempty"`
}

func actorJSON(a node.Actor) string {
	b, _ := json.Marshal(storedActor(a)) // four strings always marshal
	return string(b)
}

func actorFromJSON(s string) node.Actor {
	var a storedActor
	_ = json.Unmarshal([]byte(s), &a) // written by actorJSON; the column's check refuses anything else
	return node.Actor(a)
}

// remember appends to a node's history. An entry with a key that is there already counts the first one up instead.
func (tx *transaction) remember(h node.History) error {
	if h.Key != "" {
		n, err := tx.cas(&historyRow{}, map[string]any{"count": gorm.Expr("count + 1"), "last_at": micros(h.At), "event": h.Event}, "node_uuid = ? AND key = ?", h.NodeUUID, h.Key)
		if err != nil || n > 0 {
			return err
		}
	}
	r := historyRow{
		UUID: node.NewUUID(), NodeUUID: h.NodeUUID, AttemptID: h.AttemptID, At: micros(h.At), Severity: string(h.Severity), Type: h.Type, Event: h.Event,
		Actor: actorJSON(h.Actor), Reason: h.Reason, State: string(h.State), TargetState: string(h.TargetState), Duration: h.Duration.Microseconds(),
		Final: h.Final, Key: h.Key, Count: 1, LastAt: micros(h.At),
	}
	if err := tx.Create(&r).Error; err != nil {
		return fmt.Errorf("remember: %w", err)
	}
	return tx.Exec(`DELETE FROM history WHERE node_uuid = ? AND NOT final AND id <=
		(SELECT id FROM history WHERE node_uuid = ? AND NOT final ORDER BY id DESC LIMIT 1 OFFSET ?)`, h.NodeUUID, h.NodeUUID, keptHistory).Error
}

// Note appends to history and audit without moving anything; nil leaves either out.
func (s *Store) Note(ctx context.Context, h *node.History, a *node.Audit) error {
	return s.inTurn(ctx, func(tx *transaction) error {
		if h != nil {
			if err := tx.remember(*h); err != nil {
				return err
			}
			tx.notice(node.Notice{NodeUUID: h.NodeUUID})
		}
		if a != nil {
			return tx.audit(*a)
		}
		return nil
	})
}

// History lists a node's history, oldest first unless the page says otherwise.
func (s *Store) History(ctx context.Context, nodeUUID string, p node.Page) ([]node.History, error) {
	q, err := s.page(s.read.WithContext(ctx).Where("node_uuid = ?", nodeUUID), &historyRow{}, "Node history", p, []string{"id", "uuid", "severity", "type", "state"})
	if err != nil {
		return nil, err
	}
	var rows []historyRow
	if err := q.Find(&rows).Error; err != nil {
		return nil, fmt.Errorf("list the history of node %s: %w", nodeUUID, err)
	}
	out := make([]node.History, len(rows))
	for i, r := range rows {
		out[i] = r.history()
	}
	return out, nil
}

// HistoryEntry is one entry of a node's history.
func (s *Store) HistoryEntry(ctx context.Context, nodeUUID, uuid string) (node.History, error) {
	var r historyRow
	err := s.read.WithContext(ctx).Where("node_uuid = ? AND uuid = ?", nodeUUID, uuid).Take(&r).Error
	if errors.Is(err, gorm.ErrRecordNotFound) {
		return node.History{}, &node.NotFound{Text: fmt.Sprintf("Node history record for node %s and history %s could not be found.", nodeUUID, uuid)}
	}
	if err != nil {
		return node.History{}, fmt.Errorf("read history entry %s: %w", uuid, err)
	}
	return r.history(), nil
}

func (r historyRow) history() node.History {
	return node.History{
		ID: r.ID, UUID: r.UUID, NodeUUID: r.NodeUUID, AttemptID: r.AttemptID, At: fromMicros(r.At), Severity: node.Severity(r.Severity), Type: r.Type, Event: r.Event,
		Actor: actorFromJSON(r.Actor), Reason: r.Reason, State: node.State(r.State), TargetState: node.State(r.TargetState), Duration: time.Duration(r.Duration) * time.Microsecond,
		Final: r.Final, Key: r.Key, Count: r.Count, LastAt: fromMicros(r.LastAt),
	}
}

// Changes lists the state changes after an id, in the order in which they happened.
func (s *Store) Changes(ctx context.Context, after int64, limit int) ([]node.Change, error) {
	var rows []changeRow
	if err := s.read.WithContext(ctx).Where("id > ?", after).Order("id").Limit(limit).Find(&rows).Error; err != nil {
		return nil, fmt.Errorf("list changes: %w", err)
	}
	out := make([]node.Change, len(rows))
	for i, r := range rows {
		out[i] = r.change()
	}
	return out, nil
}

// LastChange is the id of the newest state change; 0 before the first.
func (s *Store) LastChange(ctx context.Context) (int64, error) {
	var id int64
	if err := s.read.WithContext(ctx).Model(&changeRow{}).Select("COALESCE(MAX(id), 0)").Row().Scan(&id); err != nil {
		return 0, fmt.Errorf("read the newest change: %w", err)
	}
	return id, nil
}
