package store

import (
	"context"
	"errors"
	"fmt"
	"time"

	"gorm.io/gorm"

	"cagenut/node"
)

// UISession is somebody signed in at the dashboard.
type UISession struct {
	ID      string // hash of what the browser's cookie holds
	User    string
	Proof   string // digest of password hash and role at the time of signing in
	Address string
	Agent   string
	Created time.Time
	Used    time.Time
}

type uiSessionRow struct {
	ID        string `gorm:"primaryKey"`
	UserName  string
	Proof     string
	Address   string
	Agent     string
	CreatedAt int64 `gorm:"autoCreateTime:false"`
	UsedAt    int64
}

// TableName is gorm's.
func (uiSessionRow) TableName() string { return "ui_sessions" }

func (r uiSessionRow) session() UISession {
	return UISession{ID: r.ID, User: r.UserName, Proof: r.Proof, Address: r.Address, Agent: r.Agent, Created: fromMicros(r.CreatedAt), Used: fromMicros(r.UsedAt)}
}

// mostSessions is how many sessions one user has at most; a further one ends the oldest.
const mostSessions = 50

// OpenUISession keeps a new session and that its user signed in. Sessions that began before began, or were last used before
// used, go: that they are looked for whenever one is added bounds the table.
func (s *Store) OpenUISession(ctx context.Context, u UISession, began, used time.Time, a node.Audit) error {
	r := uiSessionRow{ID: u.ID, UserName: u.User, Proof: u.Proof, Address: u.Address, Agent: u.Agent, CreatedAt: micros(u.Created), UsedAt: micros(u.Used)}
	return s.inTurn(ctx, func(tx *transaction) error {
		if err := tx.Where("created_at < ? OR used_at < ?", micros(began), micros(used)).Delete(&uiSessionRow{}).Error; err != nil {
			return fmt.Errorf("purge sessions: %w", err)
		}
		if err := tx.Create(&r).Error; err != nil {
			return fmt.Errorf("keep session: %w", err)
		}
		if err := tx.Exec(`DELETE FROM ui_sessions WHERE user_name = ? AND id NOT IN
			(SELECT id FROM ui_sessions WHERE user_name = ? ORDER BY created_at DESC, id LIMIT ?)`, u.User, u.User, mostSessions).Error; err != nil {
			return fmt.Errorf("bound sessions: %w", err)
		}
		if _, err := tx.cas(&User{}, map[string]any{"signed_in_at": micros(u.Created)}, "name = ?", u.User); err != nil {
			return fmt.Errorf("note who signed in: %w", err)
		}
		return tx.audit(a)
	})
}

// UISession finds a session; *node.NotFound otherwise, which does not tell the id.
func (s *Store) UISession(ctx context.Context, id string) (UISession, error) {
	var r uiSessionRow
	err := s.read.WithContext(ctx).Where("id = ?", id).Take(&r).Error
	if errors.Is(err, gorm.ErrRecordNotFound) {
		return UISession{}, &node.NotFound{Text: "There is no such session."}
	}
	if err != nil {
		return UISession{}, fmt.Errorf("find session: %w", err)
	}
	return r.session(), nil
}

// UISessions lists sessions, the newest first: of one user, or of all for "".
func (s *Store) UISessions(ctx context.Context, user string) ([]UISession, error) {
	q := s.read.WithContext(ctx).Order("created_at DESC, id")
	if user != "" {
		q = q.Where("user_name = ?", user)
	}
	var rows []uiSessionRow
	if err := q.Find(&rows).Error; err != nil {
		return nil, fmt.Errorf("list sessions: %w", err)
	}
	all := make([]UISession, len(rows))
	for i, r := range rows {
		all[i] = r.session()
	}
	return all, nil
}

// UseUISession notes that a session is in use. One that has ended meanwhile stays so.
func (s *Store) UseUISession(ctx context.Context, id string, at time.Time) error {
	return s.inTurn(ctx, func(tx *transaction) error {
		_, err := tx.cas(&uiSessionRow{}, map[string]any{"used_at": micros(at)}, "id = ?", id)
		return err
	})
}

// UserSignedIn notes when a user signed in by another way than a session. Whom nobody knows is no error.
func (s *Store) UserSignedIn(ctx context.Context, name string, at time.Time) error {
	return s.inTurn(ctx, func(tx *transaction) error {
		_, err := tx.cas(&User{}, map[string]any{"signed_in_at": micros(at)}, "name = ?", name)
		return err
	})
}

// EndUISession ends a session; one that is not there is no error, and leaves no line in the audit.
func (s *Store) EndUISession(ctx context.Context, id string, a node.Audit) error {
	return s.inTurn(ctx, func(tx *transaction) error {
		q := tx.Where("id = ?", id).Delete(&uiSessionRow{})
		if q.Error != nil {
			return fmt.Errorf("end session: %w", q.Error)
		}
		if q.RowsAffected == 0 {
			return nil
		}
		return tx.audit(a)
	})
}

// EndUISessions signs a user out everywhere.
func (s *Store) EndUISessions(ctx context.Context, user string, a node.Audit) error {
	return s.inTurn(ctx, func(tx *transaction) error {
		if _, err := tx.endSessions(user); err != nil {
			return err
		}
		return tx.audit(a)
	})
}

func (tx *transaction) endSessions(user string) (int64, error) {
	q := tx.Where("user_name = ?", user).Delete(&uiSessionRow{})
	if q.Error != nil {
		return 0, fmt.Errorf("end sessions: %w", q.Error)
	}
	return q.RowsAffected, nil
}
