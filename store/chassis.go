package store

import (
	"context"
	"errors"
	"fmt"

	"gorm.io/gorm"

	"cagenut/node"
)

type chassisRow struct {
	ID          int64 `gorm:"primaryKey"`
	UUID        string
	Description string
	Extra       string
	CreatedAt   int64 `gorm:"autoCreateTime:false"`
	UpdatedAt   int64 `gorm:"autoUpdateTime:false"`
}

func (chassisRow) TableName() string { return "chassis" }

func (r chassisRow) chassis() (node.Chassis, error) {
	extra, err := decodeDocument(r.Extra)
	return node.Chassis{ID: r.ID, UUID: r.UUID, Description: r.Description, Extra: extra, CreatedAt: fromMicros(r.CreatedAt), UpdatedAt: fromMicros(r.UpdatedAt)}, err
}

// Chassis finds a chassis by UUID.
func (s *Store) Chassis(ctx context.Context, uuid string) (node.Chassis, error) {
	return findChassis(s.read.WithContext(ctx), uuid)
}

func findChassis(db *gorm.DB, uuid string) (node.Chassis, error) {
	var r chassisRow
	err := db.Where("uuid = ?", uuid).Take(&r).Error
	if errors.Is(err, gorm.ErrRecordNotFound) {
		return node.Chassis{}, &node.NotFound{What: "Chassis", Ident: uuid}
	}
	if err != nil {
		return node.Chassis{}, fmt.Errorf("read chassis %s: %w", uuid, err)
	}
	return r.chassis()
}

// ChassisList lists the chassis.
func (s *Store) ChassisList(ctx context.Context, p node.Page) ([]node.Chassis, error) {
	q, err := s.page(s.read.WithContext(ctx).Model(&chassisRow{}), &chassisRow{}, "Chassis", p, []string{"id", "uuid", "description", "created_at", "updated_at"})
	if err != nil {
		return nil, err
	}
	var rows []chassisRow
	if err := q.Find(&rows).Error; err != nil {
		return nil, fmt.Errorf("list chassis: %w", err)
	}
	out := make([]node.Chassis, len(rows))
	for i, r := range rows {
		if out[i], err = r.chassis(); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// CreateChassis stores a chassis; *node.Exists when the UUID is taken.
func (s *Store) CreateChassis(ctx context.Context, c node.Chassis) (node.Chassis, error) {
	extra, err := document(c.Extra)
	if err != nil {
		return node.Chassis{}, err
	}
	r := chassisRow{UUID: c.UUID, Description: c.Description, Extra: extra, CreatedAt: micros(s.now())}
	err = s.inTurn(ctx, func(tx *transaction) error {
		err := tx.Create(&r).Error
		if errors.Is(err, gorm.ErrDuplicatedKey) {
			return &node.Exists{Text: fmt.Sprintf("A chassis with UUID %s already exists.", c.UUID)}
		}
		return err
	})
	if err != nil {
		return node.Chassis{}, err
	}
	return r.chassis()
}

// ChangeChassis stores description and extra of what change makes of a chassis. It reads and writes in one transaction, so
// that no change is lost to another at the same time; change is called once and must not ask the store for anything.
func (s *Store) ChangeChassis(ctx context.Context, uuid string, change func(node.Chassis) (node.Chassis, error)) (node.Chassis, error) {
	var after node.Chassis
	err := s.inTurn(ctx, func(tx *transaction) error {
		was, err := findChassis(tx.DB, uuid)
		if err != nil {
			return err
		}
		if after, err = change(was); err != nil {
			return err
		}
		extra, err := document(after.Extra)
		if err != nil {
			return err
		}
		set := map[string]any{"description": after.Description, "extra": extra, "updated_at": micros(s.now())}
		if _, err := tx.cas(&chassisRow{}, set, "uuid = ?", uuid); err != nil {
			return fmt.Errorf("change chassis %s: %w", uuid, err)
		}
		after, err = findChassis(tx.DB, uuid)
		return err
	})
	return after, err
}

// DeleteChassis removes a chassis without nodes.
func (s *Store) DeleteChassis(ctx context.Context, uuid string) error {
	return s.inTurn(ctx, func(tx *transaction) error {
		var nodes int64
		if err := tx.Model(&nodeRow{}).Where("chassis_uuid = ?", uuid).Count(&nodes).Error; err != nil {
			return fmt.Errorf("count the nodes of chassis %s: %w", uuid, err)
		}
		if nodes > 0 {
			return node.Invalidf("Cannot complete the requested action because chassis %s contains nodes.", uuid)
		}
		q := tx.Where("uuid = ?", uuid).Delete(&chassisRow{})
		if q.Error == nil && q.RowsAffected == 0 {
			return &node.NotFound{What: "Chassis", Ident: uuid}
		}
		return q.Error
	})
}
