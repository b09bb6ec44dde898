package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"time"

	"gorm.io/gorm"

	"cagenut/node"
)

// Reader is a connection that reads, for what shares the file.
func (s *Store) Reader() (*sql.DB, error) { return s.read.DB() }

// counted are the tables of whose rows people want to know how many there are.
var counted = []string{"nodes", "ports", "attempts", "reports", "history", "audit"}

// writeTime is how long the database may take to let somebody write before that counts as trouble.
const writeTime = time.Second

// Load is how much is kept, how large the file is, and whether more can be written.
func (s *Store) Load(ctx context.Context) (node.DatabaseLoad, error) {
	l := node.DatabaseLoad{Kind: "SQLite", Path: s.path}
	for _, table := range counted {
		k := node.Kept{What: table}
		if err := s.read.WithContext(ctx).Table(table).Count(&k.Count).Error; err != nil {
			return l, fmt.Errorf("count %s: %w", table, err)
		}
		l.Kept = append(l.Kept, k)
	}
	if err := s.read.WithContext(ctx).Table("goose_db_version").Select("MAX(version_id)").Row().Scan(&l.Schema); err != nil {
		return l, fmt.Errorf("read the version of the schema: %w", err)
	}
	var err error
	if l.Size, err = fileSize(s.path); err != nil {
		return l, err
	}
	if l.WAL, err = fileSize(s.path + "-wal"); err != nil {
		return l, err
	}
	var disk syscall.Statfs_t
	if err := syscall.Statfs(filepath.Dir(s.path), &disk); err == nil {
		l.DiskFree, l.DiskSize = int64(disk.Bavail)*int64(disk.Bsize), int64(disk.Blocks)*int64(disk.Bsize)
	}
	l.Unwritten = s.unwritten(ctx)
	return l, nil
}

func fileSize(path string) (int64, error) {
	info, err := os.Stat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return 0, nil
	}
	if err != nil {
		return 0, fmt.Errorf("look at the database's file: %w", err)
	}
	return info.Size(), nil
}

// unwritten is why nobody can write: "" where somebody can. It takes the lock for writing and gives it back, so that it
// needs no page of the disk.
func (s *Store) unwritten(ctx context.Context) string {
	ctx, cancel := context.WithTimeout(ctx, writeTime)
	defer cancel()
	err := s.inTurn(ctx, func(tx *transaction) error { return tx.Exec("DELETE FROM audit WHERE id < 0").Error })
	if errors.Is(err, context.DeadlineExceeded) {
		return "nobody could write within " + writeTime.String()
	}
	if err != nil {
		return err.Error()
	}
	return ""
}

// mostSilent is how many silent BMCs are named.
const mostSilent = 20

// BMCLoad is which BMCs can be used as far as is known, with the ones named that have been silent for the longest.
func (s *Store) BMCLoad(ctx context.Context) (l node.BMCLoad, err error) {
	db := s.read.WithContext(ctx)
	err = db.Table("nodes").Select(`COALESCE(SUM(bmc_unreachable_since = 0 AND power_checked_at <> 0), 0),
		COALESCE(SUM(bmc_unreachable_since <> 0), 0), COALESCE(SUM(bmc_unreachable_since = 0 AND power_checked_at = 0), 0)`).
		Row().Scan(&l.Answering, &l.Silent, &l.Unasked)
	if err != nil {
		return l, fmt.Errorf("count the BMCs that answer: %w", err)
	}
	if l.Silent == 0 {
		return l, nil
	}
	l.Worst, err = silent(db)
	return l, err
}

func silent(db *gorm.DB) ([]node.SilentBMC, error) {
	var rows []nodeRow
	q := db.Select("uuid", "name", "extra", "bmc_address", "bmc_unreachable_since", "bmc_error").
		Where("bmc_unreachable_since <> 0").Order("bmc_unreachable_since, id").Limit(mostSilent)
	if err := q.Find(&rows).Error; err != nil {
		return nil, fmt.Errorf("list the silent BMCs: %w", err)
	}
	all := make([]node.SilentBMC, len(rows))
	for i, r := range rows {
		extra, err := decodeDocument(r.Extra)
		if err != nil {
			return nil, fmt.Errorf("node %s: %w", r.UUID, err)
		}
		all[i] = node.SilentBMC{
			Node: r.UUID, Name: r.Name, Place: node.Node{Extra: extra}.Location(), Address: r.BMCAddress, Since: fromMicros(r.BMCUnreachableSince), Error: r.BMCError,
		}
	}
	return all, nil
}
