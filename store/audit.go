package store

import (
	"context"
	"fmt"
	"time"

	"gorm.io/gorm"

	"cagenut/node"
)

type auditRow struct {
	ID        int64 `gorm:"primaryKey"`
	At        int64
	Actor     string
	Action    string
	NodeUUID  string
	AttemptID string
	Result    string
	Reason    string
}

func (auditRow) TableName() string { return "audit" }

func (r auditRow) audit() node.Audit {
	return node.Audit{
		ID: r.ID, At: fromMicros(r.At), Actor: actorFromJSON(r.Actor), Action: r.Action, NodeUUID: r.NodeUUID, AttemptID: r.AttemptID,
		Result: r.Result, Reason: r.Reason,
	}
}

func (tx *transaction) audit(a node.Audit) error {
	r := auditRow{At: micros(a.At), Actor: actorJSON(a.Actor), Action: a.Action, NodeUUID: a.NodeUUID, AttemptID: a.AttemptID, Result: a.Result, Reason: a.Reason}
	if err := tx.Create(&r).Error; err != nil {
		return fmt.Errorf("write the audit: %w", err)
	}
	return nil
}

// Audits lists what was asked about a node and what came of it, oldest first; also after the node is gone.
func (s *Store) Audits(ctx context.Context, nodeUUID string) ([]node.Audit, error) {
	var rows []auditRow
	if err := s.read.WithContext(ctx).Where("node_uuid = ?", nodeUUID).Order("id").Find(&rows).Error; err != nil {
		return nil, fmt.Errorf("list the audit of node %s: %w", nodeUUID, err)
	}
	out := make([]node.Audit, len(rows))
	for i, r := range rows {
		out[i] = r.audit()
	}
	return out, nil
}

// audited is a line with its node, where that is still there.
type audited struct {
	Line      auditRow `gorm:"embedded"`
	NodeName  string
	NodeKnown bool
}

// AuditTrail lists what was asked for and what came of it, the newest first.
func (s *Store) AuditTrail(ctx context.Context, f node.AuditFilter) ([]node.AuditLine, error) {
	q := auditChosen(s.read.WithContext(ctx).Table("audit"), f).
		Select("audit.*, COALESCE(nodes.name, '') AS node_name, nodes.uuid IS NOT NULL AS node_known").
		Joins("LEFT JOIN nodes ON nodes.uuid = audit.node_uuid AND audit.node_uuid <> ''").
		Order("audit.id DESC")
	if f.Limit > 0 {
		q = q.Limit(f.Limit)
	}
	var rows []audited
	if err := q.Find(&rows).Error; err != nil {
		return nil, fmt.Errorf("list the audit: %w", err)
	}
	out := make([]node.AuditLine, len(rows))
	for i, r := range rows {
		out[i] = node.AuditLine{Audit: r.Line.audit(), NodeName: r.NodeName, NodeKnown: r.NodeKnown}
	}
	return out, nil
}

func auditChosen(q *gorm.DB, f node.AuditFilter) *gorm.DB {
	where := func(is bool, condition string, args ...any) {
		if is {
			q = q.Where(condition, args...)
		}
	}
	where(f.Before != 0, "audit.id < ?", f.Before)
	where(!f.From.IsZero(), "audit.at >= ?", micros(f.From))
	where(!f.To.IsZero(), "audit.at < ?", micros(f.To))
	where(f.User != "", "json_extract(audit.actor, '$.user') = ?", f.User)
	where(f.Source != "", "json_extract(audit.actor, '$.source') = ?", string(f.Source))
	where(f.Action != "", `audit.action LIKE ? ESCAPE '\'`, like(f.Action)[1:])
	where(f.Node != "", "audit.node_uuid <> '' AND (audit.node_uuid = ? OR audit.node_uuid IN (SELECT uuid FROM nodes WHERE name = ?))", f.Node, f.Node)
	if f.Refused != nil {
		where(*f.Refused, "audit.result <> ?", node.AuditAccepted)
		where(!*f.Refused, "audit.result = ?", node.AuditAccepted)
	}
	if f.Search != "" {
		p := like(f.Search)
		where(true, `(audit.action LIKE ? ESCAPE '\' OR audit.result LIKE ? ESCAPE '\' OR audit.reason LIKE ? ESCAPE '\' OR audit.node_uuid LIKE ? ESCAPE '\'
			OR audit.attempt_id LIKE ? ESCAPE '\' OR nodes.name LIKE ? ESCAPE '\'
			OR json_extract(audit.actor, '$.user') LIKE ? ESCAPE '\' OR json_extract(audit.actor, '$.address') LIKE ? ESCAPE '\'
			OR json_extract(audit.actor, '$.request') LIKE ? ESCAPE '\')`, p, p, p, p, p, p, p, p, p)
	}
	return q
}

// auditChunk is how many lines one transaction forgets: others wait for it.
const auditChunk = 2000

// ForgetAudit drops the oldest lines, those from before a time, and says how many these were. It drops so many at once that
// nobody waits for it; 0 says that there is nothing left to drop.
func (s *Store) ForgetAudit(ctx context.Context, before time.Time) (forgotten int, err error) {
	err = s.inTurn(ctx, func(tx *transaction) error {
		q := tx.Exec("DELETE FROM audit WHERE id IN (SELECT id FROM audit WHERE at < ? ORDER BY at LIMIT ?)", micros(before), auditChunk)
		forgotten = int(q.RowsAffected)
		return q.Error
	})
	if err != nil {
		return 0, fmt.Errorf("forget old lines of the audit: %w", err)
	}
	return forgotten, nil
}
