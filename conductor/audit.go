package conductor

import (
	"context"
	"time"
)

// Audit is the record of who asked for what.
type Audit interface {
	// ForgetAudit drops some of the lines from before a time, the oldest first, and says how many; 0 says that none is left.
	ForgetAudit(ctx context.Context, before time.Time) (int, error)
}

// forgetInterval is how often the audit is looked through for what is too old.
const forgetInterval = time.Hour

// forgetAudit drops what is older than it is kept.
func (c *Conductor) forgetAudit(ctx context.Context) error {
	before := c.Clock.Now().Add(-c.AuditKept)
	for ctx.Err() == nil {
		if n, err := c.Needs.Audit.ForgetAudit(ctx, before); err != nil || n == 0 {
			return err
		}
	}
	return nil
}
