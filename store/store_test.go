package store_test

import (
	"context"
	"database/sql"
	"io"
	"log/slog"
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"time"

	"cagenut/node"
	"cagenut/store"
)

// queue is a store.Queue that remembers what it was told, in the order of the telling.
type queue struct {
	mu        sync.Mutex
	inserted  []node.Job
	cancelled []node.JobKind
}

func (q *queue) Insert(_ context.Context, _ *sql.Tx, j node.Job) error {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.inserted = append(q.inserted, j)
	return nil
}

func (q *queue) Cancel(_ context.Context, _ *sql.Tx, _ string, kinds ...node.JobKind) error {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.cancelled = append(q.cancelled, kinds...)
	return nil
}

func (q *queue) jobs() []node.Job {
	q.mu.Lock()
	defer q.mu.Unlock()
	return slices.Clone(q.inserted)
}

var begin = time.Date(2026, 11, 30, 2, 5, 27, 816528000, time.UTC)

type rig struct {
	*store.Store
	queue  *queue
	folder string
}

func open(t *testing.T, folder string) rig {
	t.Helper()
	seal, err := store.OpenSeal(filepath.Join(folder, "key"))
	if err != nil {
		t.Fatal(err)
	}
	s, err := store.Open(t.Context(), store.Options{Path: filepath.Join(folder, "cagenut.db"), Seal: seal,
		Log: slog.New(slog.NewTextHandler(io.Discard, nil)), Now: func() time.Time { return begin }})
	if err != nil {
		t.Fatal(err)
	}
	r := rig{Store: s, queue: &queue{}, folder: folder}
	s.SetQueue(r.queue)
	t.Cleanup(func() { _ = s.Close() })
	return r
}

func newRig(t *testing.T) rig {
	t.Helper()
	return open(t, t.TempDir())
}

// add stores a node in a state.
func (r rig) add(t *testing.T, state node.State, with ...func(*node.Node)) node.Node {
	t.Helper()
	n := node.Node{UUID: node.NewUUID(), Driver: node.DriverFake, ProvisionState: state}
	for _, f := range with {
		f(&n)
	}
	n, err := r.CreateNode(t.Context(), n, node.Audit{Action: "create", NodeUUID: n.UUID, Result: "accepted"})
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// waiting stores a node that waits for the ramdisk of a new attempt.
func (r rig) waiting(t *testing.T) (node.Node, node.Attempt) {
	t.Helper()
	n := r.add(t, node.Manageable)
	a := node.Attempt{ID: node.NewUUID(), NodeUUID: n.UUID, Interface: "agent", Token: node.Secret(node.NewUUID()), State: node.RunStarting, StartedAt: begin}
	if _, err := r.Move(t.Context(), node.Move{Node: n.UUID, From: node.Manageable, Event: node.Inspect, Then: []node.Event{node.Wait}, At: begin, NewAttempt: &a}); err != nil {
		t.Fatal(err)
	}
	n, err := r.Node(t.Context(), n.UUID)
	if err != nil {
		t.Fatal(err)
	}
	return n, a
}

func abort(n node.Node, a node.Attempt) node.Ending {
	text := "Inspection was aborted by request."
	return node.Ending{Outcome: node.Aborted, LastError: text, Error: "Canceled by operator", CleanUp: true,
		Move: node.Move{Node: n.UUID, From: node.InspectWait, Attempt: a.ID, Event: node.Abort, At: begin.Add(time.Minute), LastError: &text,
			Actor:   node.Actor{User: "ada", Source: node.SourceAPI},
			History: []node.History{{NodeUUID: n.UUID, AttemptID: a.ID, At: begin, Severity: node.SeverityInfo, Type: node.TypeInspection, Event: text, Final: true}},
			Jobs:    []node.Job{{Kind: node.JobCleanUp, Node: n.UUID, Attempt: a.ID}}}}
}

func must[T any](v T, err error) func(*testing.T) T {
	return func(t *testing.T) T {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
}
