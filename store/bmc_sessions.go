package store

import (
	"context"
	"fmt"

	"cagenut/node"
)

// BMCSession is a login session at a BMC, kept so that the next run of the appliance uses or ends it.
type BMCSession struct {
	ID      string
	Address string      // of the BMC
	Secret  node.Secret // what its driver knows of it; "" in a list where it cannot be unsealed
}

type bmcSessionRow struct {
	ID        string `gorm:"primaryKey"`
	Address   string
	Secret    string // sealed
	CreatedAt int64  `gorm:"autoCreateTime:false"`
}

// TableName is gorm's.
func (bmcSessionRow) TableName() string { return "bmc_sessions" }

func (r bmcSessionRow) place() string { return "bmc_session/" + r.ID }

// BMCSessions lists the sessions, the oldest first. One that cannot be unsealed is not worth an error: it ends by itself.
func (s *Store) BMCSessions(ctx context.Context) ([]BMCSession, error) {
	var rows []bmcSessionRow
	if err := s.read.WithContext(ctx).Order("created_at, id").Find(&rows).Error; err != nil {
		return nil, fmt.Errorf("list BMC sessions: %w", err)
	}
	all := make([]BMCSession, len(rows))
	for i, r := range rows {
		all[i] = BMCSession{ID: r.ID, Address: r.Address}
		if plain, err := s.seal.open(r.place(), r.Secret); err == nil {
			all[i].Secret = node.Secret(plain)
		}
	}
	return all, nil
}

// KeepBMCSession adds a session; its ID must be new.
func (s *Store) KeepBMCSession(ctx context.Context, b BMCSession) error {
	r := bmcSessionRow{ID: b.ID, Address: b.Address, CreatedAt: micros(s.now())}
	r.Secret = s.seal.close(r.place(), []byte(b.Secret))
	return s.inTurn(ctx, func(tx *transaction) error { return tx.Create(&r).Error })
}

// mostDropped is how many sessions one statement removes.
const mostDropped = 500

// DropBMCSessions removes sessions, in one transaction; ids that are not there are no error.
func (s *Store) DropBMCSessions(ctx context.Context, ids ...string) error {
	return s.inTurn(ctx, func(tx *transaction) error {
		for rest := ids; len(rest) > 0; {
			some := rest[:min(len(rest), mostDropped)]
			rest = rest[len(some):]
			if err := tx.Where("id IN ?", some).Delete(&bmcSessionRow{}).Error; err != nil {
				return err
			}
		}
		return nil
	})
}
