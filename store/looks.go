package store

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"gorm.io/gorm"

	"cagenut/node"
)

// turn is a node's place in the round of the power sync; the index nodes_turn has the same words.
const turn = "(id * 40503) & 65535"

// PowerDue lists the nodes whose turn comes from `from` on and before `to`, both counted on and on in node.Turns to the
// round. Left out are those in whose power nobody may look: held ones, those whose power the appliance is about to change,
// and those in `enroll` or maintenance, of whose BMC nobody has said that it can be used (contract.md §2.9).
func (s *Store) PowerDue(ctx context.Context, from, to int64) ([]node.Node, error) {
	if from >= to {
		return nil, nil
	}
	q := s.read.WithContext(ctx).Where(`reservation_id = '' AND target_power_state = '' AND NOT maintenance AND provision_state NOT IN ?
		AND NOT EXISTS (SELECT 1 FROM attempts WHERE id = nodes.attempt_id AND clean_up = ?)`,
		[]node.State{node.Enroll, node.Verifying, node.AdoptFailed}, node.CleanUpPending)
	first, last := from%node.Turns, (to-1)%node.Turns
	switch {
	case to-from >= node.Turns: // everybody
	case first <= last:
		q = q.Where(turn+" BETWEEN ? AND ?", first, last)
	default:
		q = q.Where("("+turn+" >= ? OR "+turn+" <= ?)", first, last)
	}
	return s.nodes(q)
}

// oneMore counts up what the appliance did to a node.
var oneMore = gorm.Expr("moved + 1")

// confirmed are the columns of a power state that a BMC told one of our own jobs.
func confirmed(set map[string]any, p node.PowerState, at time.Time) {
	set["power_state"], set["power_checked_at"] = string(p), micros(at)
	set["power_asked_at"] = gorm.Expr("CASE power_asked WHEN '' THEN power_asked_at ELSE ? END", micros(at))
}

// SetPowerState records what a BMC said to one of our own jobs. A target that it fulfils is cleared, unless a worker holds
// the node and will clear it itself.
func (s *Store) SetPowerState(ctx context.Context, uuid string, p node.PowerState, at time.Time) error {
	return s.inTurn(ctx, func(tx *transaction) error {
		var was nodeRow
		err := tx.Select("power_state", "target_power_state", "reservation_id").Where("uuid = ?", uuid).Take(&was).Error
		if errors.Is(err, gorm.ErrRecordNotFound) {
			return nil // deleted while its BMC was asked
		}
		set, news := map[string]any{"moved": oneMore}, was.PowerState != string(p)
		confirmed(set, p, at)
		if was.TargetPowerState == string(p) && was.ReservationID == "" {
			set["target_power_state"], news = "", true
		}
		if err == nil {
			_, err = tx.cas(&nodeRow{}, set, "uuid = ?", uuid)
		}
		if err != nil {
			return fmt.Errorf("record power of node %s: %w", uuid, err)
		}
		if news { // a node that says what it said before is none
			tx.notice(node.Notice{NodeUUID: uuid})
		}
		return tx.answered(uuid, at)
	})
}

// RecordLooks records what looks at BMCs found, all in one transaction: with one each, a rack would do nothing but sync the
// disk. A look that something of ours has overtaken is dropped; so is one at a node that is gone.
func (s *Store) RecordLooks(ctx context.Context, looks []node.Look) error {
	return s.inTurn(ctx, func(tx *transaction) error {
		for _, l := range looks {
			if err := tx.look(l); err != nil {
				return fmt.Errorf("record a look at node %s: %w", l.Node, err)
			}
		}
		return nil
	})
}

const asItWas = "uuid = ? AND moved = ? AND version = ?"

func (tx *transaction) look(l node.Look) error {
	changed := l.Power != "" && l.Power != l.Was
	ended := l.Answered && !l.Since.IsZero()
	if !changed && !ended && l.Unreachable == "" && l.Health == "" && l.HealthSeen == "" && len(l.History) == 0 {
		return tx.confirm(l)
	}
	set := map[string]any{"moved": oneMore}
	if l.Power != "" {
		set["power_state"], set["power_checked_at"] = string(l.Power), micros(l.At)
	}
	if l.Outside {
		set["power_asked"], set["power_asked_at"] = "", 0
	}
	if l.Unreachable != "" {
		set["bmc_error"] = l.Unreachable
		if l.Since.IsZero() {
			set["bmc_unreachable_since"] = micros(l.SilentAt)
		}
	}
	if l.Health != "" {
		set["health"], set["health_at"] = string(l.Health), micros(l.At)
	}
	if l.HealthSeen != "" {
		set["health_seen"] = string(l.HealthSeen)
	}
	n, err := tx.cas(&nodeRow{}, set, asItWas, l.Node, l.Moved, l.Version)
	if err != nil || n == 0 {
		return err
	}
	tx.notice(node.Notice{NodeUUID: l.Node})
	for _, h := range l.History {
		if err := tx.remember(h); err != nil {
			return err
		}
	}
	return tx.tellLook(l, changed, ended)
}

// confirm is all that there is to do for a server that is as it was, which is nearly every one.
func (tx *transaction) confirm(l node.Look) error {
	if l.Power == "" {
		return nil
	}
	return tx.Exec("UPDATE nodes SET power_checked_at = ? WHERE "+asItWas, micros(l.At), l.Node, l.Moved, l.Version).Error
}

// tellLook tells event streams what a look has changed.
func (tx *transaction) tellLook(l node.Look, changed, ended bool) error {
	r := changeRow{NodeUUID: l.Node, Actor: actorJSON(node.System()), At: micros(l.At)}
	if changed && l.Was != "" {
		r.Kind, r.FromState, r.ToState = powerChanged, string(l.Was), string(l.Power)
		if err := tx.tellChange(r); err != nil {
			return err
		}
	}
	if l.Unreachable != "" && l.Since.IsZero() {
		r.Kind, r.FromState, r.ToState, r.Error = bmcChanged, bmcReachable, bmcUnreachable, l.Unreachable
		return tx.tellChange(r)
	}
	if ended {
		return tx.answered(l.Node, l.At)
	}
	return nil
}

// answered ends the mark of a node whose BMC has answered, if it has one.
func (tx *transaction) answered(uuid string, at time.Time) error {
	var was nodeRow
	q := tx.Select("bmc_unreachable_since").Where("uuid = ? AND bmc_unreachable_since <> 0", uuid).Limit(1).Find(&was)
	if q.Error != nil || q.RowsAffected == 0 {
		return q.Error
	}
	if _, err := tx.cas(&nodeRow{}, map[string]any{"bmc_unreachable_since": 0, "bmc_error": ""}, "uuid = ?", uuid); err != nil {
		return err
	}
	if err := tx.remember(node.ReachableAgain(uuid, fromMicros(was.BMCUnreachableSince), at)); err != nil {
		return err
	}
	return tx.tellChange(changeRow{
		NodeUUID: uuid, Kind: bmcChanged, FromState: bmcUnreachable, ToState: bmcReachable, Actor: actorJSON(node.System()), At: micros(at),
	})
}

// withMark adds what one BMC has told to the columns of a change that leads to another, or to the same one in another way:
// nobody has asked that one yet. r is the row that will be written.
func (tx *transaction) withMark(columns []string, n node.Node, r *nodeRow) ([]string, error) {
	var was nodeRow
	q := tx.Select("uuid", "driver", "driver_info").Where("uuid = ? AND (bmc_unreachable_since <> 0 OR health <> '' OR health_seen <> '')", n.UUID).Limit(1).Find(&was)
	if q.Error != nil || q.RowsAffected == 0 {
		return columns, q.Error
	}
	doc, err := decodeDocument(was.DriverInfo)
	if err == nil {
		doc, err = tx.store.seal.openDocument(n.UUID+"/driver_info", doc)
	}
	if err != nil {
		return nil, err
	}
	same, err := sameText(doc, n.DriverInfo)
	if err != nil || same && was.Driver == n.Driver {
		return columns, err
	}
	r.BMCUnreachableSince, r.BMCError, r.Health, r.HealthAt, r.HealthSeen = 0, "", "", 0, ""
	return append(slices.Clone(columns), "bmc_unreachable_since", "bmc_error", "health", "health_at", "health_seen"), nil
}

// sameText tells whether two documents say the same, whatever types their values have here.
func sameText(a, b map[string]any) (bool, error) {
	var texts [2]string
	for i, doc := range []map[string]any{a, b} {
		clear, err := mapSecrets("", doc, func(_ string, v any) (any, error) { return reveal(v), nil })
		if err != nil {
			return false, err
		}
		if texts[i], err = document(clear); err != nil {
			return false, err
		}
	}
	return texts[0] == texts[1], nil
}
