package store

import (
	"context"
	"fmt"

	"gorm.io/gorm"
	"gorm.io/gorm/clause"

	"cagenut/node"
)

type signRow struct {
	AttemptID string `gorm:"primaryKey"`
	Kind      string `gorm:"primaryKey"`
	FirstAt   int64
	LastAt    int64
	Times     int
	Detail    string
}

func (signRow) TableName() string { return "signs" }

func (r signRow) sign() node.Sign {
	return node.Sign{AttemptID: r.AttemptID, Kind: node.SignKind(r.Kind), FirstAt: fromMicros(r.FirstAt), LastAt: fromMicros(r.LastAt), Times: r.Times, Detail: r.Detail}
}

// AddSign notes a sign of life of an attempt that runs; where the attempt is over or gone it comes to nothing.
func (s *Store) AddSign(ctx context.Context, nodeUUID string, sign node.Sign) error {
	return s.inTurn(ctx, func(tx *transaction) error {
		var running int64
		if err := tx.Model(&attemptRow{}).Where("id = ? AND ended_at = 0", sign.AttemptID).Count(&running).Error; err != nil || running == 0 {
			return err
		}
		at := micros(sign.LastAt)
		r := signRow{AttemptID: sign.AttemptID, Kind: string(sign.Kind), FirstAt: at, LastAt: at, Times: 1, Detail: sign.Detail}
		again := clause.OnConflict{Columns: []clause.Column{{Name: "attempt_id"}, {Name: "kind"}}, DoUpdates: clause.Assignments(map[string]any{
			"last_at": at, "times": gorm.Expr("signs.times + 1"), "detail": sign.Detail,
		})}
		if err := tx.Clauses(again).Create(&r).Error; err != nil {
			return fmt.Errorf("note a sign of attempt %s: %w", sign.AttemptID, err)
		}
		tx.notice(node.Notice{NodeUUID: nodeUUID})
		return nil
	})
}

// Signs lists the signs of life of an attempt, in the order in which they came first.
func (s *Store) Signs(ctx context.Context, attempt string) ([]node.Sign, error) {
	var rows []signRow
	if err := s.read.WithContext(ctx).Where("attempt_id = ?", attempt).Order("first_at").Find(&rows).Error; err != nil {
		return nil, fmt.Errorf("list the signs of attempt %s: %w", attempt, err)
	}
	out := make([]node.Sign, len(rows))
	for i, r := range rows {
		out[i] = r.sign()
	}
	return out, nil
}
