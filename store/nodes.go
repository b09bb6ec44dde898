package store

import (
	"context"
	"errors"
	"fmt"

	"gorm.io/gorm"

	"cagenut/node"
)

// Node finds a node by UUID or name.
func (s *Store) Node(ctx context.Context, ident string) (node.Node, error) {
	return s.findNode(s.read.WithContext(ctx), ident)
}

func (s *Store) findNode(db *gorm.DB, ident string) (node.Node, error) {
	column := "name"
	if node.IsUUID(ident) {
		column = "uuid"
	}
	var r nodeRow
	err := db.Where(column+" = ? AND ? <> ''", ident, ident).Take(&r).Error
	if errors.Is(err, gorm.ErrRecordNotFound) {
		return node.Node{}, &node.NotFound{What: "Node", Ident: ident}
	}
	if err != nil {
		return node.Node{}, fmt.Errorf("read node %s: %w", ident, err)
	}
	return s.node(r)
}

// CreateNode stores a new node with the first line of its history.
func (s *Store) CreateNode(ctx context.Context, n node.Node, a node.Audit) (node.Node, error) {
	n.CreatedAt = s.now().UTC()
	n.ProvisionUpdatedAt = n.CreatedAt
	r, err := s.nodeRow(n)
	if err != nil {
		return node.Node{}, err
	}
	err = s.inTurn(ctx, func(tx *transaction) error {
		if err := tx.refuseTaken(n); err != nil {
			return err
		}
		if err := tx.refuseParent(n); err != nil {
			return err
		}
		if err := tx.Create(&r).Error; err != nil {
			return fmt.Errorf("create node %s: %w", n.UUID, err)
		}
		tx.notice(node.Notice{NodeUUID: n.UUID})
		return tx.audit(a)
	})
	if err != nil {
		return node.Node{}, err
	}
	return s.node(r)
}

// refuseTaken says which of a node's unique values another node has. Asking first is safe, because nobody else writes.
func (tx *transaction) refuseTaken(n node.Node) error {
	for _, u := range []struct{ column, value, text string }{
		{"uuid", n.UUID, fmt.Sprintf("A node with UUID %s already exists.", n.UUID)},
		{"name", n.Name, fmt.Sprintf("A node with name %s already exists.", n.Name)},
		{"instance_uuid", n.InstanceUUID, fmt.Sprintf("Instance %s is already associated with a node, it cannot be associated with this other node %s", n.InstanceUUID, n.UUID)},
	} {
		if u.value == "" {
			continue
		}
		var taken int64
		q := tx.Model(&nodeRow{}).Where(u.column+" = ?", u.value)
		if n.ID != 0 {
			q = q.Where("id <> ?", n.ID)
		}
		if err := q.Count(&taken).Error; err != nil {
			return fmt.Errorf("look for %s %s: %w", u.column, u.value, err)
		}
		if taken > 0 {
			return &node.Exists{Text: u.text, Name: u.column == "name"}
		}
	}
	return nil
}

// refuseParent refuses a parent that is not there, or that is a child of the node itself. Following the line is safe,
// because nobody else writes and no earlier write made a circle.
func (tx *transaction) refuseParent(n node.Node) error {
	if n.ParentNode == "" {
		return nil
	}
	var same int64
	if err := tx.Model(&nodeRow{}).Where("uuid = ? AND parent_node = ?", n.UUID, n.ParentNode).Count(&same).Error; err != nil {
		return fmt.Errorf("read the parent of node %s: %w", n.UUID, err)
	}
	if same > 0 {
		return nil // also of a parent that is gone by now
	}
	for parent := n.ParentNode; parent != ""; {
		var above struct{ ParentNode string }
		found := tx.Model(&nodeRow{}).Select("parent_node").Where("uuid = ?", parent).Limit(1).Find(&above)
		if found.Error != nil {
			return fmt.Errorf("read the parent %s of node %s: %w", parent, n.UUID, found.Error)
		}
		if parent == n.UUID || found.RowsAffected == 0 && parent == n.ParentNode {
			return node.Invalidf("Unable to apply the requested parent_node '%s'. Requested value was invalid.", n.ParentNode)
		}
		parent = above.ParentNode
	}
	return nil
}

// patchable are the columns that UpdateNode writes: everything that PATCH can change, and nothing that workers move.
var patchable = []string{
	"name", "updated_at", "version", "driver", "interfaces", "maintenance", "maintenance_reason", "fault", "protected", "protected_reason",
	"retired", "retired_reason", "console_enabled", "disable_power_off", "automated_clean", "secure_boot", "boot_mode",
	"properties", "driver_info", "instance_info", "extra", "documents", "traits", "instance_uuid", "instance_name", "chassis_uuid",
	"resource_class", "conductor_group", "description", "owner", "lessee", "shard", "parent_node", "rack", "rack_unit", "rack_units", "bmc_address",
}

// UpdateNode stores what PATCH can change.
func (s *Store) UpdateNode(ctx context.Context, n node.Node, a node.Audit) (node.Node, error) {
	was := n.Version
	n.Version++
	n.UpdatedAt = s.now().UTC()
	r, err := s.nodeRow(n)
	if err != nil {
		return node.Node{}, err
	}
	err = s.inTurn(ctx, func(tx *transaction) error {
		if err := tx.refuseTaken(n); err != nil {
			return err
		}
		if err := tx.refuseParent(n); err != nil {
			return err
		}
		columns, err := tx.withMark(patchable, n, &r)
		if err != nil {
			return err
		}
		q := tx.Model(&nodeRow{}).Where("uuid = ? AND version = ? AND provision_state = ? AND reservation_id = ''", n.UUID, was, n.ProvisionState).
			Select(columns).Updates(&r)
		if q.Error != nil {
			return fmt.Errorf("update node %s: %w", n.UUID, q.Error)
		}
		if q.RowsAffected == 0 {
			return node.ErrLost
		}
		tx.notice(node.Notice{NodeUUID: n.UUID})
		return tx.audit(a)
	})
	if err != nil {
		return node.Node{}, err
	}
	return s.Node(ctx, n.UUID)
}

// DeleteNode removes a node with all that belongs to it.
func (s *Store) DeleteNode(ctx context.Context, n node.Node, a node.Audit) error {
	return s.inTurn(ctx, func(tx *transaction) error {
		q := tx.Where("uuid = ? AND version = ? AND provision_state = ? AND reservation_id = ''", n.UUID, n.Version, n.ProvisionState).Delete(&nodeRow{})
		if q.Error != nil {
			return fmt.Errorf("delete node %s: %w", n.UUID, q.Error)
		}
		if q.RowsAffected == 0 {
			return node.ErrLost
		}
		if err := s.queue.Cancel(ctx, tx.sql(), n.UUID); err != nil {
			return err
		}
		tx.notice(node.Notice{NodeUUID: n.UUID, Deleted: true})
		return tx.audit(a)
	})
}

// SetMaintenance changes the flag, its reason and (when it goes off) the fault, whatever else goes on.
func (s *Store) SetMaintenance(ctx context.Context, uuid string, on bool, reason string, a node.Audit) error {
	set := map[string]any{"maintenance": on, "maintenance_reason": reason, "updated_at": micros(s.now()), "version": gorm.Expr("version + 1")}
	if !on {
		set["maintenance_reason"], set["fault"] = "", ""
	}
	return s.inTurn(ctx, func(tx *transaction) error {
		n, err := tx.cas(&nodeRow{}, set, "uuid = ?", uuid)
		if err != nil {
			return fmt.Errorf("set maintenance of node %s: %w", uuid, err)
		}
		if n == 0 {
			return &node.NotFound{What: "Node", Ident: uuid}
		}
		tx.notice(node.Notice{NodeUUID: uuid})
		return tx.audit(a)
	})
}
