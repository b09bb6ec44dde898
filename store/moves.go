package store

import (
	"context"
	"errors"
	"fmt"

	"gorm.io/gorm"

	"cagenut/node"
)

// Move carries out one transition, and everything that belongs to it, in one transaction.
func (s *Store) Move(ctx context.Context, m node.Move) (node.Node, error) {
	kept, err := packed(m) // outside of the transaction: others want to write too
	if err != nil {
		return node.Node{}, fmt.Errorf("move node %s: %w", m.Node, err)
	}
	var after node.Node
	err = s.inTurn(ctx, func(tx *transaction) (err error) {
		after, err = tx.move(ctx, m, kept)
		return err
	})
	return after, err
}

// EndAttempt ends an attempt and moves its node, in one transaction. Of several that try, exactly one finds the attempt
// still running; the others get node.ErrLost.
func (s *Store) EndAttempt(ctx context.Context, e node.Ending) (node.Node, error) {
	kept, err := packed(e.Move)
	if err != nil {
		return node.Node{}, fmt.Errorf("end attempt %s: %w", e.Move.Attempt, err)
	}
	var after node.Node
	err = s.inTurn(ctx, func(tx *transaction) (err error) {
		if after, err = tx.move(ctx, e.Move, kept); err != nil {
			return err
		}
		return tx.endAttempt(e)
	})
	return after, err
}

func (tx *transaction) move(ctx context.Context, m node.Move, kept keptDocuments) (node.Node, error) {
	to, err := destination(m)
	if err != nil {
		return node.Node{}, err
	}
	set, err := tx.moved(m, to)
	if err != nil {
		return node.Node{}, err
	}
	where, args := "uuid = ? AND provision_state = ? AND reservation_id = ?", []any{m.Node, m.From, m.Held}
	if m.Attempt != "" {
		where, args = where+" AND attempt_id = ?", append(args, m.Attempt)
	}
	n, err := tx.cas(&nodeRow{}, set, where, args...)
	if err != nil {
		return node.Node{}, fmt.Errorf("move node %s: %w", m.Node, err)
	}
	if n == 0 {
		return node.Node{}, node.ErrLost
	}
	if err := tx.moveTheRest(ctx, m, kept, to); err != nil {
		return node.Node{}, fmt.Errorf("move node %s: %w", m.Node, err)
	}
	return tx.store.findNode(tx.DB, m.Node)
}

func destination(m node.Move) (node.State, error) {
	to := m.From
	for _, e := range append([]node.Event{m.Event}, m.Then...) {
		if e == "" {
			continue
		}
		var err error
		if to, err = to.Next(e); err != nil {
			return "", err
		}
	}
	return to, nil
}

// moved are the columns of the node that a move changes.
func (tx *transaction) moved(m node.Move, to node.State) (map[string]any, error) {
	set := map[string]any{"updated_at": micros(m.At), "reservation": "", "reservation_id": m.Hold, "moved": oneMore}
	if m.Hold != "" {
		set["reservation"] = m.Host
	}
	if m.Event != "" {
		set["provision_state"] = string(to)
		set["provision_updated_at"] = micros(m.At)
	}
	if m.LastError != nil {
		set["last_error"] = *m.LastError
	}
	if m.PowerState != nil {
		confirmed(set, *m.PowerState, m.At)
	}
	if m.PowerAsked != nil {
		set["power_asked"], set["power_asked_at"] = string(*m.PowerAsked), micros(m.At)
	}
	if m.TargetPowerState != nil {
		set["target_power_state"] = string(*m.TargetPowerState)
	}
	if m.StartedAt != nil {
		set["inspection_started_at"] = micros(*m.StartedAt)
	}
	if m.FinishedAt != nil {
		set["inspection_finished_at"] = micros(*m.FinishedAt)
	}
	if m.NewAttempt != nil {
		set["attempt_id"] = m.NewAttempt.ID
	}
	if m.Properties != nil {
		doc, err := document(m.Properties)
		if err != nil {
			return nil, err
		}
		set["properties"], set["version"] = doc, gorm.Expr("version + 1")
	}
	if m.Inventory != nil {
		set["serial"] = serial(m.Inventory.Inventory)
	}
	if m.Internal == nil && !m.ForgetAgent && m.Unset == "" {
		return set, nil
	}
	doc, err := tx.internal(m)
	if err != nil {
		return nil, err
	}
	set["driver_internal_info"] = doc
	return set, nil
}

// agentKeys of driver_internal_info belong to the ramdisk of one attempt (contract.md §2.7).
var agentKeys = []string{
	"agent_secret_token", "agent_secret_token_pregenerated", "agent_url", "agent_verify_ca", "agent_version", "agent_last_heartbeat", "agent_status",
	"agent_status_message", "lookup_bmc_addresses",
}

// internal is driver_internal_info after the move. Reading it first is safe, because nobody else writes.
func (tx *transaction) internal(m node.Move) (string, error) {
	n, err := tx.store.findNode(tx.DB, m.Node)
	if err != nil {
		return "", err
	}
	if m.Unset != "" && n.DriverInternalInfo[m.Unset] != nil {
		return "", node.ErrLost
	}
	if m.ForgetAgent {
		for _, key := range agentKeys {
			delete(n.DriverInternalInfo, key)
		}
	}
	for key, v := range m.Internal {
		if v == nil {
			delete(n.DriverInternalInfo, key)
			continue
		}
		n.DriverInternalInfo[key] = v
	}
	doc, err := tx.store.seal.closeDocument(m.Node+"/driver_internal_info", n.DriverInternalInfo)
	if err != nil {
		return "", err
	}
	return document(doc)
}

// moveTheRest writes what a move brings along beside the node's own row.
func (tx *transaction) moveTheRest(ctx context.Context, m node.Move, kept keptDocuments, to node.State) error {
	var errs []error
	do := func(err error) { errs = append(errs, err) }
	if m.PowerState != nil {
		do(tx.answered(m.Node, m.At))
	}
	if m.As != nil {
		do(tx.changeNode(*m.As, m.Changed))
	}
	if m.NewAttempt != nil {
		do(tx.createAttempt(*m.NewAttempt))
	}
	if len(m.CancelJobs) > 0 {
		do(tx.store.queue.Cancel(ctx, tx.sql(), m.Node, m.CancelJobs...))
		for _, k := range m.CancelJobs {
			if k == node.JobCleanUp {
				do(tx.cancelCleanUps(m.Node))
			}
		}
	}
	if m.KeepPowerOn {
		do(tx.tellCleanUp(m.Node, "keep_power_on"))
	}
	if m.KeepBoot {
		do(tx.tellCleanUp(m.Node, "keep_boot"))
	}
	if m.AttemptState != "" {
		do(tx.setAttemptState(m))
	}
	if m.Report != nil {
		do(tx.keepReport(m.Node, *m.Report, kept))
	}
	if m.Inventory != nil {
		do(tx.keepInventory(*m.Inventory, kept))
	}
	for _, p := range m.NewPorts {
		do(tx.createPort(p))
	}
	for _, p := range m.PortUpdates {
		do(tx.updatePort(p))
	}
	for _, h := range m.History {
		do(tx.remember(h))
	}
	if m.Audit != nil {
		do(tx.audit(*m.Audit))
	}
	for _, j := range m.Jobs {
		do(tx.store.queue.Insert(ctx, tx.sql(), j))
	}
	if err := errors.Join(errs...); err != nil {
		return err
	}
	return tx.tellMove(m, to)
}

func (tx *transaction) tellMove(m node.Move, to node.State) error {
	if m.Event == "" {
		tx.notice(node.Notice{NodeUUID: m.Node})
		return nil
	}
	attempt := m.Attempt
	if m.NewAttempt != nil {
		attempt = m.NewAttempt.ID
	}
	return tx.tellChange(changeRow{
		NodeUUID: m.Node, Kind: stateChanged, FromState: string(m.From), ToState: string(to), Actor: actorJSON(m.Actor), At: micros(m.At), AttemptID: attempt,
	})
}
