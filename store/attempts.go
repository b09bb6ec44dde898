package store

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"gorm.io/gorm"

	"cagenut/node"
)

// attemptRow is an inspection attempt, and at once the embedded inspector's record of it.
type attemptRow struct {
	Number        int64 `gorm:"primaryKey"`
	ID            string
	NodeUUID      string
	Interface     string
	Token         string
	TokenHash     string
	State         string
	StartedUser   string
	StartedSource string
	StartedAt     int64
	WaitingAt     int64
	ReportAt      int64
	EndedAt       int64
	EndedUser     string
	EndedSource   string
	Outcome       string
	Error         string
	LastError     string
	Reason        string
	Proof         string
	Notes         string
	Step          string
	AbortAsked    string
	AbortAskedAt  int64
	KeepPowerOn   bool
	KeepBoot      bool
	CleanUp       string
	CleanUpStep   string
	CleanUpError  string
	CleanUpTries  int
	Divergence    string
}

func (attemptRow) TableName() string { return "attempts" }

func (s *Store) attemptRow(a node.Attempt) (attemptRow, error) {
	notes, err := json.Marshal(append([]string{}, a.Notes...))
	if err != nil {
		return attemptRow{}, err
	}
	return attemptRow{
		Number: a.Number, ID: a.ID, NodeUUID: a.NodeUUID, Interface: a.Interface,
		Token: s.seal.close("attempt/"+a.ID, []byte(a.Token)), TokenHash: tokenHash(a.Token), State: string(a.State),
		StartedUser: a.Started.User, StartedSource: string(a.Started.Source), StartedAt: micros(a.StartedAt), WaitingAt: micros(a.WaitingAt), ReportAt: micros(a.ReportAt),
		EndedAt: micros(a.EndedAt), EndedUser: a.Ended.User, EndedSource: string(a.Ended.Source), Outcome: string(a.Outcome),
		Error: a.Error, LastError: a.LastError, Reason: a.Reason, Proof: string(a.Proof), Notes: string(notes), Step: a.Step,
		AbortAsked: actorJSON(a.AbortAsked), AbortAskedAt: micros(a.AbortAskedAt), KeepPowerOn: a.KeepPowerOn, KeepBoot: a.KeepBoot,
		CleanUp: string(a.CleanUp), CleanUpStep: a.CleanUpStep, CleanUpError: a.CleanUpError, CleanUpTries: a.CleanUpTries, Divergence: a.Divergence,
	}, nil
}

func (s *Store) attempt(r attemptRow) (node.Attempt, error) {
	token, err := s.seal.open("attempt/"+r.ID, r.Token)
	if err != nil {
		return node.Attempt{}, err
	}
	a := node.Attempt{
		Number: r.Number, ID: r.ID, NodeUUID: r.NodeUUID, Interface: r.Interface, Token: node.Secret(token), State: node.RunState(r.State),
		Started: node.Actor{User: r.StartedUser, Source: node.Source(r.StartedSource)}, StartedAt: fromMicros(r.StartedAt),
		WaitingAt: fromMicros(r.WaitingAt), ReportAt: fromMicros(r.ReportAt), EndedAt: fromMicros(r.EndedAt),
		Ended: node.Actor{User: r.EndedUser, Source: node.Source(r.EndedSource)}, Outcome: node.Outcome(r.Outcome),
		Error: r.Error, LastError: r.LastError, Reason: r.Reason, Proof: node.Proof(r.Proof), Step: r.Step,
		AbortAsked: actorFromJSON(r.AbortAsked), AbortAskedAt: fromMicros(r.AbortAskedAt), KeepPowerOn: r.KeepPowerOn, KeepBoot: r.KeepBoot,
		CleanUp: node.CleanUpState(r.CleanUp), CleanUpStep: r.CleanUpStep, CleanUpError: r.CleanUpError, CleanUpTries: r.CleanUpTries, Divergence: r.Divergence,
	}
	return a, json.Unmarshal([]byte(r.Notes), &a.Notes)
}

// Attempt finds an attempt by its id.
func (s *Store) Attempt(ctx context.Context, id string) (node.Attempt, error) {
	return s.takeAttempt(s.read.WithContext(ctx).Where("id = ?", id), id)
}

// AttemptByToken finds an attempt by the token of its callback URL.
func (s *Store) AttemptByToken(ctx context.Context, token node.Secret) (node.Attempt, error) {
	return s.takeAttempt(s.read.WithContext(ctx).Where("token_hash = ?", tokenHash(token)), node.Mask)
}

func (s *Store) takeAttempt(q *gorm.DB, ident string) (node.Attempt, error) {
	var r attemptRow
	err := q.Take(&r).Error
	if errors.Is(err, gorm.ErrRecordNotFound) {
		return node.Attempt{}, &node.NotFound{What: "Attempt", Ident: ident}
	}
	if err != nil {
		return node.Attempt{}, fmt.Errorf("read attempt %s: %w", ident, err)
	}
	return s.attempt(r)
}

// Attempts lists attempts, newest first.
func (s *Store) Attempts(ctx context.Context, f node.RunFilter) ([]node.Attempt, error) {
	q := s.read.WithContext(ctx).Order("number DESC")
	if f.NodeUUID != "" {
		q = q.Where("node_uuid = ?", f.NodeUUID)
	}
	if f.States != nil {
		q = q.Where("state IN ?", f.States)
	}
	if f.Latest {
		q = q.Where("id IN (SELECT attempt_id FROM nodes WHERE attempt_id <> '')")
	}
	if f.Marker != "" {
		at, err := s.Attempt(ctx, f.Marker)
		if err != nil {
			return nil, err
		}
		q = q.Where("number < ?", at.Number)
	}
	if f.Limit > 0 {
		q = q.Limit(f.Limit)
	}
	var rows []attemptRow
	if err := q.Find(&rows).Error; err != nil {
		return nil, fmt.Errorf("list attempts: %w", err)
	}
	out := make([]node.Attempt, len(rows))
	for i, r := range rows {
		var err error
		if out[i], err = s.attempt(r); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// UpdateAttempt stores how far the work on an attempt has come, and what the node's last_error says of it now.
func (s *Store) UpdateAttempt(ctx context.Context, a node.Attempt, lastError *string) error {
	r, err := s.attemptRow(a)
	if err != nil {
		return fmt.Errorf("update attempt %s: %w", a.ID, err)
	}
	return s.inTurn(ctx, func(tx *transaction) error {
		var now attemptRow
		if err := tx.Select("ended_at", "clean_up").Where("id = ?", a.ID).Take(&now).Error; err != nil && !errors.Is(err, gorm.ErrRecordNotFound) {
			return fmt.Errorf("read attempt %s: %w", a.ID, err)
		}
		n, err := tx.cas(&attemptRow{}, progress(r, now), "id = ? AND clean_up <> ?", a.ID, node.CleanUpCancelled)
		if err != nil {
			return fmt.Errorf("update attempt %s: %w", a.ID, err)
		}
		if n == 0 {
			return node.ErrLost
		}
		tx.notice(node.Notice{NodeUUID: a.NodeUUID})
		if a.CleanUp == node.CleanUpDone || a.CleanUp == node.CleanUpGivenUp {
			if err := tx.forgetPowerTarget(a); err != nil {
				return err
			}
		}
		if lastError == nil {
			return nil
		}
		return tx.amendLastError(a, *lastError)
	})
}

// progress are the columns that UpdateAttempt writes. Whoever read the attempt before it ended must not take back what the
// end has ordered, so each part is written only in its own time: who asked to abort, and how, while the attempt runs, the
// clean-up while it is pending.
func progress(r, now attemptRow) map[string]any {
	set := map[string]any{"step": r.Step, "notes": r.Notes}
	if now.EndedAt == 0 {
		set["abort_asked"], set["abort_asked_at"], set["reason"], set["keep_power_on"] = r.AbortAsked, r.AbortAskedAt, r.Reason, r.KeepPowerOn
	}
	if now.CleanUp == string(node.CleanUpPending) && r.CleanUp != "" {
		set["clean_up"], set["clean_up_step"] = r.CleanUp, r.CleanUpStep
		set["clean_up_error"], set["clean_up_tries"] = r.CleanUpError, r.CleanUpTries
	}
	return set
}

// SetDivergence notes in what a foreign inspector differs from us; "" when it does not.
func (s *Store) SetDivergence(ctx context.Context, a node.Attempt, what string) error {
	return s.inTurn(ctx, func(tx *transaction) error {
		if _, err := tx.cas(&attemptRow{}, map[string]any{"divergence": what}, "id = ?", a.ID); err != nil {
			return fmt.Errorf("note the divergence of attempt %s: %w", a.ID, err)
		}
		tx.notice(node.Notice{NodeUUID: a.NodeUUID})
		return nil
	})
}

// forgetPowerTarget clears what the end of the attempt had promised of the power, once clean-up has nothing more to do.
func (tx *transaction) forgetPowerTarget(a node.Attempt) error {
	_, err := tx.cas(&nodeRow{}, map[string]any{"target_power_state": ""}, "uuid = ? AND attempt_id = ? AND reservation_id = ''", a.NodeUUID, a.ID)
	return err
}

// tellCleanUp tells a pending clean-up that somebody has taken over the server's power, or what it boots from.
func (tx *transaction) tellCleanUp(nodeUUID, what string) error {
	_, err := tx.cas(&attemptRow{}, map[string]any{what: true}, "node_uuid = ? AND clean_up = ?", nodeUUID, node.CleanUpPending)
	return err
}

// amendLastError replaces the node's last_error while it still speaks of the attempt.
func (tx *transaction) amendLastError(a node.Attempt, text string) error {
	var r nodeRow
	if err := tx.Select("last_error").Where("uuid = ? AND attempt_id = ?", a.NodeUUID, a.ID).Take(&r).Error; err != nil {
		if errors.Is(err, gorm.ErrRecordNotFound) {
			return nil
		}
		return fmt.Errorf("amend last_error of node %s: %w", a.NodeUUID, err)
	}
	if a.LastError == "" || !strings.HasPrefix(r.LastError, a.LastError) || r.LastError == text {
		return nil
	}
	_, err := tx.cas(&nodeRow{}, map[string]any{"last_error": text}, "uuid = ? AND attempt_id = ?", a.NodeUUID, a.ID)
	return err
}

func (tx *transaction) createAttempt(a node.Attempt) error {
	r, err := tx.store.attemptRow(a)
	if err != nil {
		return err
	}
	return tx.Create(&r).Error
}

// setAttemptState moves a run. How an attempt ended is never touched: what a reapplied report comes to is written
// beside it.
func (tx *transaction) setAttemptState(m node.Move) error {
	set, where := map[string]any{"state": string(m.AttemptState)}, "id = ? AND ended_at = 0"
	switch m.AttemptState {
	case node.RunWaiting:
		set["waiting_at"] = micros(m.At)
	case node.RunProcessing:
		set["report_at"], set["proof"] = micros(m.At), string(m.Proof)
	case node.RunReapplying:
		set["error"], where = "", "id = ? AND ended_at <> 0"
	case node.RunFinished, node.RunError: // of a reapplied report
		set["error"], where = m.AttemptError, "id = ? AND state = '"+string(node.RunReapplying)+"'"
	}
	if m.AttemptNotes != nil {
		notes, err := json.Marshal(m.AttemptNotes)
		if err != nil {
			return err
		}
		set["notes"] = string(notes)
	}
	n, err := tx.cas(&attemptRow{}, set, where, m.Attempt)
	if err == nil && n == 0 {
		return node.ErrLost
	}
	return err
}

func (tx *transaction) endAttempt(e node.Ending) error {
	state := node.RunError
	if e.Outcome == node.Succeeded {
		state = node.RunFinished
	}
	set := map[string]any{
		"state": string(state), "outcome": string(e.Outcome), "ended_at": micros(e.Move.At), "ended_user": e.Move.Actor.User,
		"ended_source": string(e.Move.Actor.Source), "error": e.Error, "last_error": e.LastError, "reason": e.Reason,
		"keep_power_on": e.KeepPowerOn,
	}
	if e.CleanUp {
		set["clean_up"] = string(node.CleanUpPending)
	}
	if e.Notes != nil {
		notes, err := json.Marshal(e.Notes)
		if err != nil {
			return err
		}
		set["notes"] = string(notes)
	}
	n, err := tx.cas(&attemptRow{}, set, "id = ? AND ended_at = 0", e.Move.Attempt)
	if err != nil {
		return fmt.Errorf("end attempt %s: %w", e.Move.Attempt, err)
	}
	if n == 0 {
		return node.ErrLost
	}
	return nil
}

func (tx *transaction) cancelCleanUps(nodeUUID string) error {
	_, err := tx.cas(&attemptRow{}, map[string]any{"clean_up": string(node.CleanUpCancelled)}, "node_uuid = ? AND clean_up = ?", nodeUUID, node.CleanUpPending)
	return err
}

// serial is the machine's serial number in an inventory, for the search box.
func serial(inventory []byte) string {
	var doc struct {
		Vendor struct {
			Serial any `json:"serial_number"`
		} `json:"system_vendor"`
	}
	if json.Unmarshal(inventory, &doc) != nil {
		return ""
	}
	s, _ := node.Text(doc.Vendor.Serial)
	return s
}
