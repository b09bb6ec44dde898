package store

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"gorm.io/gorm"

	"cagenut/node"
)

type ruleRow struct {
	ID          int64 `gorm:"primaryKey"`
	UUID        string
	Description string
	Priority    int
	Phase       string
	Sensitive   bool
	Conditions  string
	Actions     string
	CreatedAt   int64 `gorm:"autoCreateTime:false"`
	UpdatedAt   int64 `gorm:"autoUpdateTime:false"`
	Version     int64
}

func (ruleRow) TableName() string { return "inspection_rules" }

var sortableRules = []string{"id", "uuid", "created_at", "updated_at", "description", "priority", "phase", "sensitive"}

func (s *Store) ruleRow(r node.InspectionRule) (ruleRow, error) {
	conditions, err := json.Marshal(append([]node.RuleCondition{}, r.Conditions...))
	if err != nil {
		return ruleRow{}, fmt.Errorf("encode the conditions of rule %s: %w", r.UUID, err)
	}
	actions, err := json.Marshal(append([]node.RuleAction{}, r.Actions...))
	if err != nil {
		return ruleRow{}, fmt.Errorf("encode the actions of rule %s: %w", r.UUID, err)
	}
	return ruleRow{
		ID: r.ID, UUID: r.UUID, Description: r.Description, Priority: r.Priority, Phase: r.Phase, Sensitive: r.Sensitive,
		Conditions: s.seal.close(rulePlace(r.UUID, "conditions"), conditions), Actions: s.seal.close(rulePlace(r.UUID, "actions"), actions),
		CreatedAt: micros(r.CreatedAt), UpdatedAt: micros(r.UpdatedAt), Version: r.Version,
	}, nil
}

func rulePlace(uuid, column string) string { return "rule/" + uuid + "/" + column }

func (s *Store) rule(r ruleRow) (node.InspectionRule, error) {
	out := node.InspectionRule{
		ID: r.ID, UUID: r.UUID, Description: r.Description, Priority: r.Priority, Phase: r.Phase, Sensitive: r.Sensitive,
		CreatedAt: fromMicros(r.CreatedAt), UpdatedAt: fromMicros(r.UpdatedAt), Version: r.Version,
	}
	return out, errors.Join(
		s.unsealInto(&out.Conditions, rulePlace(r.UUID, "conditions"), r.Conditions),
		s.unsealInto(&out.Actions, rulePlace(r.UUID, "actions"), r.Actions))
}

func (s *Store) unsealInto(to any, place, sealed string) error {
	plain, err := s.seal.open(place, sealed)
	if err != nil {
		return err
	}
	d := json.NewDecoder(bytes.NewReader(plain))
	d.UseNumber()
	if err := d.Decode(to); err != nil {
		return fmt.Errorf("decode %s: %w", place, err)
	}
	return nil
}

// InspectionRule finds a rule by UUID.
func (s *Store) InspectionRule(ctx context.Context, uuid string) (node.InspectionRule, error) {
	var r ruleRow
	err := s.read.WithContext(ctx).Where("uuid = ?", uuid).Take(&r).Error
	if errors.Is(err, gorm.ErrRecordNotFound) {
		return node.InspectionRule{}, noRule(uuid)
	}
	if err != nil {
		return node.InspectionRule{}, fmt.Errorf("read rule %s: %w", uuid, err)
	}
	return s.rule(r)
}

// noRule is Ironic's sentence (contract.md §4.4).
func noRule(uuid string) error { return &node.NotFound{What: "Rule", Ident: uuid} }

// InspectionRules lists the rules that the filter chooses.
func (s *Store) InspectionRules(ctx context.Context, f node.RuleFilter) ([]node.InspectionRule, error) {
	q := s.read.WithContext(ctx).Model(&ruleRow{})
	if f.Phase != "" {
		q = q.Where("phase = ?", f.Phase)
	}
	q, err := s.page(q, &ruleRow{}, "Rule", f.Page, sortableRules)
	if err != nil {
		return nil, err
	}
	var rows []ruleRow
	if err := q.Find(&rows).Error; err != nil {
		return nil, fmt.Errorf("list inspection rules: %w", err)
	}
	out := make([]node.InspectionRule, len(rows))
	for i, r := range rows {
		if out[i], err = s.rule(r); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// CreateInspectionRule stores a rule; *node.Exists when its UUID is taken.
func (s *Store) CreateInspectionRule(ctx context.Context, r node.InspectionRule, a node.Audit) (node.InspectionRule, error) {
	r.ID, r.CreatedAt = 0, s.now().UTC()
	row, err := s.ruleRow(r)
	if err != nil {
		return node.InspectionRule{}, err
	}
	err = s.inTurn(ctx, func(tx *transaction) error {
		err := tx.Create(&row).Error
		if errors.Is(err, gorm.ErrDuplicatedKey) {
			return &node.Exists{Text: fmt.Sprintf("A rule with UUID %s already exists.", r.UUID)}
		}
		if err != nil {
			return fmt.Errorf("create rule %s: %w", r.UUID, err)
		}
		return tx.audit(a)
	})
	if err != nil {
		return node.InspectionRule{}, err
	}
	return s.rule(row)
}

// UpdateInspectionRule stores a rule that is still in the version that r was read in; node.ErrLost otherwise, also when it
// is gone.
func (s *Store) UpdateInspectionRule(ctx context.Context, r node.InspectionRule, a node.Audit) (node.InspectionRule, error) {
	was := r.Version
	r.Version++
	r.UpdatedAt = s.now().UTC()
	row, err := s.ruleRow(r)
	if err != nil {
		return node.InspectionRule{}, err
	}
	err = s.inTurn(ctx, func(tx *transaction) error {
		q := tx.Model(&ruleRow{}).Where("uuid = ? AND version = ?", r.UUID, was).
			Select("description", "priority", "phase", "sensitive", "conditions", "actions", "updated_at", "version").Updates(&row)
		if q.Error != nil {
			return fmt.Errorf("update rule %s: %w", r.UUID, q.Error)
		}
		if q.RowsAffected == 0 {
			return node.ErrLost
		}
		return tx.audit(a)
	})
	if err != nil {
		return node.InspectionRule{}, err
	}
	return s.InspectionRule(ctx, r.UUID)
}

// DeleteInspectionRule removes a rule.
func (s *Store) DeleteInspectionRule(ctx context.Context, uuid string, a node.Audit) error {
	return s.inTurn(ctx, func(tx *transaction) error {
		q := tx.Where("uuid = ?", uuid).Delete(&ruleRow{})
		if q.Error != nil {
			return fmt.Errorf("delete rule %s: %w", uuid, q.Error)
		}
		if q.RowsAffected == 0 {
			return noRule(uuid)
		}
		return tx.audit(a)
	})
}

// DeleteInspectionRules removes all rules; none is fine.
func (s *Store) DeleteInspectionRules(ctx context.Context, a node.Audit) error {
	return s.inTurn(ctx, func(tx *transaction) error {
		if err := tx.Where("1 = 1").Delete(&ruleRow{}).Error; err != nil {
			return fmt.Errorf("delete all inspection rules: %w", err)
		}
		return tx.audit(a)
	})
}

// changeNode stores those attributes of a node that are named as the wire does. Others may have been changed meanwhile.
func (tx *transaction) changeNode(n node.Node, names []string) error {
	var columns []string
	for _, name := range names {
		of, err := columnsOf(name)
		if err != nil {
			return err
		}
		columns = append(columns, of...)
	}
	if len(columns) == 0 {
		return nil
	}
	if slices.Contains(columns, "name") {
		if err := tx.refuseTaken(n); err != nil {
			return err
		}
	}
	r, err := tx.store.nodeRow(n)
	if err != nil {
		return err
	}
	if err := tx.Model(&nodeRow{}).Where("uuid = ?", n.UUID).Select(columns).Updates(&r).Error; err != nil {
		return fmt.Errorf("change node %s: %w", n.UUID, err)
	}
	_, err = tx.cas(&nodeRow{}, map[string]any{"version": gorm.Expr("version + 1")}, "uuid = ?", n.UUID)
	return err
}

// columnsOf are the columns that keep an attribute, and what is derived from it.
func columnsOf(attribute string) ([]string, error) {
	switch {
	case attribute == "extra":
		return []string{"extra", "rack", "rack_unit"}, nil
	case attribute == "driver_info":
		return []string{"driver_info", "bmc_address"}, nil
	case attribute == "network_data":
		return []string{"documents"}, nil
	case strings.HasSuffix(attribute, "_interface"):
		return []string{"interfaces"}, nil
	case slices.Contains(patchable, attribute):
		return []string{attribute}, nil
	}
	return nil, fmt.Errorf("the attribute %q is not kept in a column that may be changed", attribute)
}
