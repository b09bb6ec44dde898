package store

import (
	"context"
	"errors"
	"fmt"

	"gorm.io/gorm"

	"cagenut/node"
)

type portRow struct {
	ID                  int64 `gorm:"primaryKey"`
	UUID                string
	NodeUUID            string
	Address             string
	Name                string
	CreatedAt           int64 `gorm:"autoCreateTime:false"`
	UpdatedAt           int64 `gorm:"autoUpdateTime:false"`
	Version             int64
	PXEEnabled          bool
	Extra               string
	InternalInfo        string
	LocalLinkConnection string
	PhysicalNetwork     string
	IsSmartNIC          bool `gorm:"column:is_smartnic"`
}

func (portRow) TableName() string { return "ports" }

func newPortRow(p node.Port) (portRow, error) {
	var errs [3]error
	r := portRow{
		ID: p.ID, UUID: p.UUID, NodeUUID: p.NodeUUID, Address: p.Address, Name: p.Name, CreatedAt: micros(p.CreatedAt), UpdatedAt: micros(p.UpdatedAt),
		Version: p.Version, PXEEnabled: p.PXEEnabled, PhysicalNetwork: p.PhysicalNetwork, IsSmartNIC: p.IsSmartNIC,
	}
	r.Extra, errs[0] = document(p.Extra)
	r.InternalInfo, errs[1] = document(p.InternalInfo)
	r.LocalLinkConnection, errs[2] = document(p.LocalLinkConnection)
	return r, errors.Join(errs[:]...)
}

func (r portRow) port() (node.Port, error) {
	var errs [3]error
	p := node.Port{
		ID: r.ID, UUID: r.UUID, NodeUUID: r.NodeUUID, Address: r.Address, Name: r.Name, CreatedAt: fromMicros(r.CreatedAt), UpdatedAt: fromMicros(r.UpdatedAt),
		Version: r.Version, PXEEnabled: r.PXEEnabled, PhysicalNetwork: r.PhysicalNetwork, IsSmartNIC: r.IsSmartNIC,
	}
	p.Extra, errs[0] = decodeDocument(r.Extra)
	p.InternalInfo, errs[1] = decodeDocument(r.InternalInfo)
	p.LocalLinkConnection, errs[2] = decodeDocument(r.LocalLinkConnection)
	return p, errors.Join(errs[:]...)
}

// Port finds a port by UUID or name.
func (s *Store) Port(ctx context.Context, ident string) (node.Port, error) {
	column := "name"
	if node.IsUUID(ident) {
		column = "uuid"
	}
	var r portRow
	err := s.read.WithContext(ctx).Where(column+" = ? AND ? <> ''", ident, ident).Take(&r).Error
	if errors.Is(err, gorm.ErrRecordNotFound) {
		return node.Port{}, &node.NotFound{What: "Port", Ident: ident}
	}
	if err != nil {
		return node.Port{}, fmt.Errorf("read port %s: %w", ident, err)
	}
	return r.port()
}

// Ports lists ports.
func (s *Store) Ports(ctx context.Context, f node.PortFilter) ([]node.Port, error) {
	q := s.read.WithContext(ctx).Model(&portRow{})
	if f.NodeUUID != "" {
		q = q.Where("node_uuid = ?", f.NodeUUID)
	}
	if f.Addresses != nil {
		q = q.Where("address IN ?", f.Addresses)
	}
	if f.Shards != nil {
		q = q.Where("node_uuid IN (SELECT uuid FROM nodes WHERE shard IN ?)", f.Shards)
	}
	q, err := s.page(q, &portRow{}, "Port", f.Page, []string{"id", "uuid", "address", "created_at", "updated_at", "node_uuid", "name", "pxe_enabled", "physical_network", "is_smartnic"})
	if err != nil {
		return nil, err
	}
	var rows []portRow
	if err := q.Find(&rows).Error; err != nil {
		return nil, fmt.Errorf("list ports: %w", err)
	}
	out := make([]node.Port, len(rows))
	for i, r := range rows {
		if out[i], err = r.port(); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// CreatePort stores a port of a free node.
func (s *Store) CreatePort(ctx context.Context, p node.Port, a node.Audit) (node.Port, error) {
	p.CreatedAt = s.now().UTC()
	err := s.inTurn(ctx, func(tx *transaction) error {
		if err := tx.mustBeFree(p.NodeUUID); err != nil {
			return err
		}
		if err := tx.createPort(p); err != nil {
			return err
		}
		tx.notice(node.Notice{NodeUUID: p.NodeUUID})
		return tx.audit(a)
	})
	if err != nil {
		return node.Port{}, err
	}
	return s.Port(ctx, p.UUID)
}

// UpdatePort stores a port that is still in the version that p was read in. The node that has it, and the one that p gives
// it to, must be free (contract.md §3.7).
func (s *Store) UpdatePort(ctx context.Context, p node.Port, a node.Audit) (node.Port, error) {
	p.UpdatedAt = s.now().UTC()
	err := s.inTurn(ctx, func(tx *transaction) error {
		var was portRow
		err := tx.Select("node_uuid").Where("uuid = ?", p.UUID).Take(&was).Error
		if errors.Is(err, gorm.ErrRecordNotFound) {
			return node.ErrLost
		}
		if err != nil {
			return fmt.Errorf("update port %s: %w", p.UUID, err)
		}
		touched := []string{was.NodeUUID}
		if p.NodeUUID != was.NodeUUID {
			touched = append(touched, p.NodeUUID)
		}
		for _, uuid := range touched {
			if err := tx.mustBeFree(uuid); err != nil {
				return err
			}
			tx.notice(node.Notice{NodeUUID: uuid})
		}
		if err := tx.updatePort(p); err != nil {
			return err
		}
		return tx.audit(a)
	})
	if err != nil {
		return node.Port{}, err
	}
	return s.Port(ctx, p.UUID)
}

// DeletePort removes a port of a free node.
func (s *Store) DeletePort(ctx context.Context, uuid string, a node.Audit) error {
	return s.inTurn(ctx, func(tx *transaction) error {
		var r portRow
		err := tx.Where("uuid = ?", uuid).Take(&r).Error
		if errors.Is(err, gorm.ErrRecordNotFound) {
			return &node.NotFound{What: "Port", Ident: uuid}
		}
		if err != nil {
			return fmt.Errorf("delete port %s: %w", uuid, err)
		}
		if err := tx.mustBeFree(r.NodeUUID); err != nil {
			return err
		}
		if err := tx.Delete(&r).Error; err != nil {
			return fmt.Errorf("delete port %s: %w", uuid, err)
		}
		tx.notice(node.Notice{NodeUUID: r.NodeUUID})
		return tx.audit(a)
	})
}

func (tx *transaction) mustBeFree(nodeUUID string) error {
	var r nodeRow
	err := tx.Select("reservation", "reservation_id").Where("uuid = ?", nodeUUID).Take(&r).Error
	if errors.Is(err, gorm.ErrRecordNotFound) {
		// contract.md §3.7: a port of an unknown node is the caller's mistake, not a missing resource.
		return node.Invalidf("Node %s could not be found.", nodeUUID)
	}
	if err != nil {
		return fmt.Errorf("read node %s: %w", nodeUUID, err)
	}
	if r.ReservationID != "" {
		return &node.Locked{Node: nodeUUID, Holder: r.Reservation}
	}
	return nil
}

func (tx *transaction) createPort(p node.Port) error {
	if p.UUID == "" {
		p.UUID = node.NewUUID()
	}
	if p.CreatedAt.IsZero() {
		p.CreatedAt = tx.store.now().UTC()
	}
	if err := tx.refuseTakenPort(p); err != nil {
		return err
	}
	r, err := newPortRow(p)
	if err != nil {
		return fmt.Errorf("create port %s: %w", p.Address, err)
	}
	return tx.Create(&r).Error
}

func (tx *transaction) updatePort(p node.Port) error {
	was := p.Version
	p.Version++
	if p.UpdatedAt.IsZero() || p.UpdatedAt.Before(p.CreatedAt) {
		p.UpdatedAt = tx.store.now().UTC()
	}
	if err := tx.refuseTakenPort(p); err != nil {
		return err
	}
	r, err := newPortRow(p)
	if err != nil {
		return fmt.Errorf("update port %s: %w", p.UUID, err)
	}
	q := tx.Model(&portRow{}).Where("uuid = ? AND version = ?", p.UUID, was).
		Select("node_uuid", "address", "name", "updated_at", "version", "pxe_enabled", "extra", "local_link_connection", "physical_network", "is_smartnic").Updates(&r)
	if q.Error != nil {
		return fmt.Errorf("update port %s: %w", p.UUID, q.Error)
	}
	if q.RowsAffected == 0 {
		return node.ErrLost
	}
	return nil
}

// refuseTakenPort says which of a port's unique values another port has. Asking first is safe, because nobody else writes.
func (tx *transaction) refuseTakenPort(p node.Port) error {
	for _, u := range []struct{ column, value, what string }{{"address", p.Address, "MAC address"}, {"uuid", p.UUID, "UUID"}, {"name", p.Name, "name"}} {
		if u.value == "" {
			continue
		}
		var taken int64
		if err := tx.Model(&portRow{}).Where(u.column+" = ? AND id <> ?", u.value, p.ID).Count(&taken).Error; err != nil {
			return fmt.Errorf("look for a port with %s %s: %w", u.what, u.value, err)
		}
		if taken > 0 {
			return &node.Exists{Text: fmt.Sprintf("A port with %s %s already exists.", u.what, u.value), Name: u.column == "name"}
		}
	}
	return nil
}
