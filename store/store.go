package store

import (
	"cmp"
	"context"
	"database/sql"
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"net/url"
	"runtime"
	"time"

	"github.com/glebarez/sqlite"
	"github.com/pressly/goose/v3"
	"gorm.io/gorm"
	"gorm.io/gorm/logger"

	"cagenut/node"
)

//go:embed migrations/sqlite/*.sql
var migrations embed.FS

// Queue takes the jobs that belong to a change, in the change's own transaction.
type Queue interface {
	Insert(ctx context.Context, tx *sql.Tx, j node.Job) error
	// Cancel ends the jobs of a node that have not begun; no kinds means all of them.
	Cancel(ctx context.Context, tx *sql.Tx, nodeUUID string, kinds ...node.JobKind) error
}

// Options say where and how a store is opened.
type Options struct {
	Path string // of the SQLite file; its folder must exist
	Seal *Seal  // for the secrets
	Log  *slog.Logger
	Now  func() time.Time // time.Now if nil
	// InspectionsKept is how many reports, inventories and logs are kept of each node, the newest; 10 if 0.
	InspectionsKept int
	// MaxDiscovered is how many unknown machines wait at most, MaxDiscoveredSize how many bytes their reports and logs may take
	// together, compressed; [MaxDiscovered] and [MaxDiscoveredSize] if 0. Beyond it those that nobody has decided about give
	// way, the one that has been silent for the longest first.
	MaxDiscovered     int
	MaxDiscoveredSize int64
}

// InspectionsKept is what is kept of each node unless [Options] say otherwise.
const InspectionsKept = 10

// Store is the database.
type Store struct {
	write *gorm.DB
	read  *gorm.DB
	turn  chan struct{} // whose turn it is to write; database/sql alone does not serve in order
	seal  *Seal
	queue Queue
	hub   *hub
	path  string
	now   func() time.Time
	kept  int // inspections of each node

	maxDiscovered, maxDiscoveredSize int64
}

// Open opens the database and brings it to the newest schema.
func Open(ctx context.Context, o Options) (*Store, error) {
	if o.Now == nil {
		o.Now = time.Now
	}
	file := (&url.URL{Scheme: "file", Opaque: (&url.URL{Path: o.Path}).EscapedPath()}).String()
	writer, err := sql.Open(sqlite.DriverName, file+"?_txlock=immediate&_pragma=busy_timeout(5000)&_pragma=journal_mode(WAL)"+
		"&_pragma=synchronous(FULL)&_pragma=foreign_keys(1)&_pragma=journal_size_limit(67108864)")
	if err != nil {
		return nil, fmt.Errorf("open %s: %w", o.Path, err)
	}
	writer.SetMaxOpenConns(1)
	writer.SetMaxIdleConns(1)
	if err := migrate(ctx, writer); err != nil {
		return nil, errors.Join(fmt.Errorf("open %s: %w", o.Path, err), writer.Close())
	}
	reader, err := sql.Open(sqlite.DriverName, file+"?_pragma=busy_timeout(5000)&_pragma=query_only(1)")
	if err != nil {
		return nil, errors.Join(fmt.Errorf("open %s to read: %w", o.Path, err), writer.Close())
	}
	reader.SetMaxOpenConns(2 * runtime.NumCPU())
	reader.SetMaxIdleConns(2 * runtime.NumCPU())

	s := &Store{turn: make(chan struct{}, 1), seal: o.Seal, hub: newHub(), path: o.Path, now: o.Now, kept: cmp.Or(o.InspectionsKept, InspectionsKept)}
	s.maxDiscovered, s.maxDiscoveredSize = int64(cmp.Or(o.MaxDiscovered, MaxDiscovered)), cmp.Or(o.MaxDiscoveredSize, MaxDiscoveredSize)
	if s.write, err = gormOn(writer, o.Log); err == nil {
		s.read, err = gormOn(reader, o.Log)
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("open %s: %w", o.Path, err), writer.Close(), reader.Close())
	}
	return s, nil
}

func gormOn(db *sql.DB, log *slog.Logger) (*gorm.DB, error) {
	return gorm.Open(sqlite.Dialector{Conn: db}, &gorm.Config{
		SkipDefaultTransaction: true,
		TranslateError:         true,
		// Parameters stay out of the log: among them are BMC passwords.
		Logger: logger.NewSlogLogger(log, logger.Config{SlowThreshold: 200 * time.Millisecond, LogLevel: logger.Warn, IgnoreRecordNotFoundError: true, ParameterizedQueries: true}),
	})
}

func migrate(ctx context.Context, db *sql.DB) error {
	files, err := fs.Sub(migrations, "migrations/sqlite")
	if err != nil {
		return err
	}
	p, err := goose.NewProvider(goose.DialectSQLite3, db, files, goose.WithLogger(goose.NopLogger()))
	if err != nil {
		return fmt.Errorf("read migrations: %w", err)
	}
	if _, err := p.Up(ctx); err != nil {
		return fmt.Errorf("migrate: %w", err)
	}
	return nil
}

// Writer is the connection that writes, for the job queue that shares the file.
func (s *Store) Writer() *sql.DB {
	db, _ := s.write.DB()
	return db
}

// SetQueue says who takes the jobs. It must be called before the first change: the queue needs the store's [Store.Writer]
// to be made.
func (s *Store) SetQueue(q Queue) { s.queue = q }

// Close ends all watches and closes the database.
func (s *Store) Close() error {
	s.hub.close()
	r, err := s.read.DB()
	if err != nil {
		return err
	}
	return errors.Join(s.Writer().Close(), r.Close())
}

// inTurn runs fn in the one write transaction, in the order of asking, and tells the watchers afterwards.
func (s *Store) inTurn(ctx context.Context, fn func(tx *transaction) error) error {
	select {
	case s.turn <- struct{}{}:
	case <-ctx.Done():
		return fmt.Errorf("wait to write: %w", context.Cause(ctx))
	}
	defer func() { <-s.turn }()
	var tx *transaction
	err := s.write.WithContext(ctx).Transaction(func(db *gorm.DB) error {
		tx = &transaction{DB: db, store: s}
		return fn(tx)
	})
	if err != nil {
		return err
	}
	s.hub.tell(tx.notices)
	return nil
}

// transaction is one write in progress.
type transaction struct {
	*gorm.DB
	store   *Store
	notices []node.Notice
}

func (tx *transaction) sql() *sql.Tx { return tx.Statement.ConnPool.(*sql.Tx) }

func (tx *transaction) notice(n node.Notice) { tx.notices = append(tx.notices, n) }

// cas updates the rows that the condition finds and says how many those were. It goes through a fresh model, because
// gorm writes the new values back into the one it is given.
func (tx *transaction) cas(model any, set map[string]any, where string, args ...any) (int64, error) {
	r := tx.Model(model).Where(where, args...).Updates(set)
	return r.RowsAffected, r.Error
}
