package jobs

import (
	"context"
	"database/sql"
	"fmt"
	"time"

	"cagenut/node"
)

// Load is what waits in the queue and what is worked on, as a connection that reads shows it.
func (q *Queue) Load(ctx context.Context, db *sql.DB) (l node.JobLoad, err error) {
	const unfinished = `FROM river_job WHERE state IN ('available', 'running', 'scheduled', 'retryable', 'pending')`
	rows, err := db.QueryContext(ctx, `SELECT COALESCE(json_extract(args, '$.Kind'), ''), state, COUNT(*) `+unfinished+` GROUP BY 1, 2 ORDER BY 1, 2`)
	if err != nil {
		return l, fmt.Errorf("count the jobs: %w", err)
	}
	defer rows.Close()
	for rows.Next() {
		var c node.JobCount
		if err := rows.Scan(&c.Kind, &c.State, &c.Count); err != nil {
			return l, fmt.Errorf("count the jobs: %w", err)
		}
		l.Counts = append(l.Counts, c)
	}
	if err := rows.Err(); err != nil {
		return l, fmt.Errorf("count the jobs: %w", err)
	}
	var kind sql.NullString
	var at sql.NullInt64
	// One that is not free to begin yet waits for its time, not for us.
	err = db.QueryRowContext(ctx, `SELECT json_extract(args, '$.Kind'), MIN(unixepoch(scheduled_at)) FROM river_job
		WHERE state = 'available' AND scheduled_at <= datetime('now', 'subsec')`).Scan(&kind, &at)
	if err != nil {
		return l, fmt.Errorf("find the job that waits the longest: %w", err)
	}
	if at.Valid {
		l.Late, l.LateFrom = node.JobKind(kind.String), time.Unix(at.Int64, 0).UTC()
	}
	return l, nil
}
