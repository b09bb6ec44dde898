package store

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"gorm.io/gorm"
	"gorm.io/gorm/clause"

	"cagenut/node"
)

// What inspections leave: reports, inventories and logs of the newest few of a node.

type reportRow struct {
	AttemptID string `gorm:"primaryKey"`
	NodeUUID  string
	Body      []byte
	At        int64
}

func (reportRow) TableName() string { return "reports" }

type inventoryRow struct {
	AttemptID  string `gorm:"primaryKey"`
	NodeUUID   string
	Inventory  []byte
	PluginData []byte
	CreatedAt  int64 `gorm:"autoCreateTime:false"`
}

func (inventoryRow) TableName() string { return "inventories" }

type ramdiskLogsRow struct {
	AttemptID string `gorm:"primaryKey"`
	NodeUUID  string
	Archive   []byte
	At        int64
}

func (ramdiskLogsRow) TableName() string { return "ramdisk_logs" }

// keptDocuments are a move's documents as they are kept.
type keptDocuments struct{ report, inventory, pluginData []byte }

func packed(m node.Move) (k keptDocuments, err error) {
	if m.Report != nil {
		if k.report, err = pack(m.Report.Body); err != nil {
			return k, err
		}
	}
	if m.Inventory != nil {
		if k.inventory, err = pack(m.Inventory.Inventory); err != nil {
			return k, err
		}
		k.pluginData, err = pack(m.Inventory.PluginData)
	}
	return k, err
}

// pack compresses a document, quickly rather than well: a ramdisk waits for the answer.
func pack(doc []byte) ([]byte, error) {
	var b bytes.Buffer
	w, err := gzip.NewWriterLevel(&b, gzip.BestSpeed)
	if err != nil {
		return nil, err
	}
	if _, err := w.Write(doc); err != nil {
		return nil, err
	}
	if err := w.Close(); err != nil {
		return nil, err
	}
	return b.Bytes(), nil
}

// unpack is pack's reverse. Documents that were stored before they were compressed are JSON, which never begins as gzip does.
func unpack(kept []byte) ([]byte, error) {
	if !bytes.HasPrefix(kept, []byte{0x1f, 0x8b}) {
		return kept, nil
	}
	r, err := gzip.NewReader(bytes.NewReader(kept))
	if err != nil {
		return nil, err
	}
	doc, err := io.ReadAll(r)
	if err != nil {
		return nil, err
	}
	return doc, r.Close()
}

func (tx *transaction) keepReport(nodeUUID string, r node.Report, k keptDocuments) error {
	if err := tx.replace(&reportRow{AttemptID: r.AttemptID, NodeUUID: nodeUUID, Body: k.report, At: micros(r.At)}); err != nil {
		return err
	}
	return tx.keepNewest("reports", "at", nodeUUID)
}

func (tx *transaction) keepInventory(i node.Inventory, k keptDocuments) error {
	r := inventoryRow{AttemptID: i.AttemptID, NodeUUID: i.NodeUUID, Inventory: k.inventory, PluginData: k.pluginData, CreatedAt: micros(i.CreatedAt)}
	if err := tx.replace(&r); err != nil {
		return err
	}
	return tx.keepNewest("inventories", "created_at", i.NodeUUID)
}

func (tx *transaction) replace(row any) error {
	return tx.Clauses(clause.OnConflict{UpdateAll: true}).Create(row).Error
}

// keepNewest deletes what a node has in a table beyond the newest few.
func (tx *transaction) keepNewest(table, when, nodeUUID string) error {
	newest := tx.store.write.Session(&gorm.Session{NewDB: true}).Table(table).Select("attempt_id").Where("node_uuid = ?", nodeUUID).Order(when + " DESC").Limit(tx.store.kept)
	return tx.Table(table).Where("node_uuid = ? AND attempt_id NOT IN (?)", nodeUUID, newest).Delete(nil).Error
}

// Report is the report of an attempt.
func (s *Store) Report(ctx context.Context, attempt string) (node.Report, error) {
	return report(s.read.WithContext(ctx).Where("attempt_id = ?", attempt), "Report of attempt", attempt)
}

// LastReport is the newest report of a node that is kept.
func (s *Store) LastReport(ctx context.Context, nodeUUID string) (node.Report, error) {
	return report(s.read.WithContext(ctx).Where("node_uuid = ?", nodeUUID).Order("at DESC"), "Report of node", nodeUUID)
}

func report(q *gorm.DB, what, ident string) (node.Report, error) {
	var r reportRow
	err := q.Take(&r).Error
	if errors.Is(err, gorm.ErrRecordNotFound) {
		return node.Report{}, &node.NotFound{What: what, Ident: ident}
	}
	var body []byte
	if err == nil {
		body, err = unpack(r.Body)
	}
	if err != nil {
		return node.Report{}, fmt.Errorf("read a report of %s: %w", ident, err)
	}
	return node.Report{AttemptID: r.AttemptID, Body: body, At: fromMicros(r.At)}, nil
}

// Inventory is what the last successful inspection of a node stored.
func (s *Store) Inventory(ctx context.Context, nodeUUID string) (node.Inventory, error) {
	db := s.read.WithContext(ctx)
	i, err := inventory(db.Where("node_uuid = ?", nodeUUID).Order("created_at DESC"))
	if errors.Is(err, gorm.ErrRecordNotFound) {
		n, err := s.findNode(db, nodeUUID)
		if err != nil {
			return node.Inventory{}, err
		}
		return node.Inventory{}, &node.NotFound{Text: fmt.Sprintf("Node inventory record for node %d could not be found.", n.ID)}
	}
	if err != nil {
		return node.Inventory{}, fmt.Errorf("read the inventory of node %s: %w", nodeUUID, err)
	}
	return i, nil
}

// InventoryOf is what an attempt stored; *node.NotFound where that is no longer kept.
func (s *Store) InventoryOf(ctx context.Context, attempt string) (node.Inventory, error) {
	i, err := inventory(s.read.WithContext(ctx).Where("attempt_id = ?", attempt))
	if errors.Is(err, gorm.ErrRecordNotFound) {
		return node.Inventory{}, &node.NotFound{What: "Inventory of attempt", Ident: attempt}
	}
	if err != nil {
		return node.Inventory{}, fmt.Errorf("read the inventory of attempt %s: %w", attempt, err)
	}
	return i, nil
}

func inventory(q *gorm.DB) (node.Inventory, error) {
	var r inventoryRow
	if err := q.Take(&r).Error; err != nil {
		return node.Inventory{}, err
	}
	i := node.Inventory{NodeUUID: r.NodeUUID, AttemptID: r.AttemptID, CreatedAt: fromMicros(r.CreatedAt)}
	var err error
	if i.Inventory, err = unpack(r.Inventory); err == nil {
		i.PluginData, err = unpack(r.PluginData)
	}
	return i, err
}

// Inventories lists what is kept of a node's inspections, without the documents, the newest first: at most limit of those
// that were stored before a time; the zero time is now.
func (s *Store) Inventories(ctx context.Context, nodeUUID string, before time.Time, limit int) ([]node.Inventory, error) {
	q := s.read.WithContext(ctx).Select("attempt_id", "node_uuid", "created_at").Where("node_uuid = ?", nodeUUID).Order("created_at DESC").Limit(limit)
	if !before.IsZero() {
		q = q.Where("created_at < ?", micros(before))
	}
	var rows []inventoryRow
	if err := q.Find(&rows).Error; err != nil {
		return nil, fmt.Errorf("list the inspections of node %s: %w", nodeUUID, err)
	}
	out := make([]node.Inventory, len(rows))
	for i, r := range rows {
		out[i] = node.Inventory{NodeUUID: r.NodeUUID, AttemptID: r.AttemptID, CreatedAt: fromMicros(r.CreatedAt)}
	}
	return out, nil
}

// KeepLogs stores the logs that came with a report, and the report without them; rest nil leaves the report as it is.
func (s *Store) KeepLogs(ctx context.Context, l node.RamdiskLogs, rest []byte) error {
	body, err := pack(rest)
	if err != nil {
		return fmt.Errorf("keep the logs of attempt %s: %w", l.AttemptID, err)
	}
	return s.inTurn(ctx, func(tx *transaction) error {
		err := tx.replace(&ramdiskLogsRow{AttemptID: l.AttemptID, NodeUUID: l.NodeUUID, Archive: l.Archive, At: micros(l.At)})
		if err == nil && rest != nil {
			_, err = tx.cas(&reportRow{}, map[string]any{"body": body}, "attempt_id = ?", l.AttemptID)
		}
		if err == nil {
			err = tx.keepNewest("ramdisk_logs", "at", l.NodeUUID)
		}
		if err != nil {
			return fmt.Errorf("keep the logs of attempt %s: %w", l.AttemptID, err)
		}
		tx.notice(node.Notice{NodeUUID: l.NodeUUID})
		return nil
	})
}

// RamdiskLogs are the logs of an attempt; *node.NotFound where none came or they are no longer kept.
func (s *Store) RamdiskLogs(ctx context.Context, attempt string) (node.RamdiskLogs, error) {
	var r ramdiskLogsRow
	err := s.read.WithContext(ctx).Where("attempt_id = ?", attempt).Take(&r).Error
	if errors.Is(err, gorm.ErrRecordNotFound) {
		return node.RamdiskLogs{}, &node.NotFound{Text: "There are no logs of attempt " + attempt + "."}
	}
	if err != nil {
		return node.RamdiskLogs{}, fmt.Errorf("read the logs of attempt %s: %w", attempt, err)
	}
	return node.RamdiskLogs{AttemptID: r.AttemptID, NodeUUID: r.NodeUUID, Archive: r.Archive, At: fromMicros(r.At)}, nil
}

// Logged lists the attempts of a node whose logs are kept.
func (s *Store) Logged(ctx context.Context, nodeUUID string) (attempts []string, err error) {
	if err = s.read.WithContext(ctx).Model(&ramdiskLogsRow{}).Where("node_uuid = ?", nodeUUID).Order("at DESC").Pluck("attempt_id", &attempts).Error; err != nil {
		return nil, fmt.Errorf("list the logs of node %s: %w", nodeUUID, err)
	}
	return attempts, nil
}
