package conductor_test

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"log/slog"
	"net"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"cagenut/conductor"
	"cagenut/inspect/agent"
	"cagenut/inspect/difference"
	"cagenut/inspect/hooks"
	"cagenut/inspect/inventory"
	"cagenut/inspect/managedboot"
	"cagenut/inspect/outofband"
	"cagenut/inspect/ramdisklogs"
	"cagenut/inspect/rules"
	"cagenut/node"
	"cagenut/store"
)

// world is a conductor over a real database, with a clock, a job queue and BMCs that the test has in hand.
type world struct {
	*conductor.Conductor
	t       *testing.T
	store   *store.Store
	clock   *clock
	queue   *queue
	rack    *rack
	foreign *foreignInspector
}

var operator = node.Actor{User: "rosa", Source: node.SourceUI, Address: "192.0.2.50", RequestID: "req-1"}

func newWorld(t *testing.T, s conductor.Settings) *world {
	t.Helper()
	dir := t.TempDir()
	seal, err := store.OpenSeal(filepath.Join(dir, "secret.key"))
	if err != nil {
		t.Fatal(err)
	}
	w := &world{t: t, clock: newClock(), rack: newRack()}
	if w.store, err = store.Open(t.Context(), store.Options{Path: filepath.Join(dir, "test.db"), Seal: seal, Log: slog.New(slog.DiscardHandler), Now: w.clock.Now}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := w.store.Close(); err != nil {
			t.Error(err)
		}
	})
	w.queue = newQueue(t, w.store.Writer())
	w.store.SetQueue(w.queue)
	managed := managedboot.New(bootBMCs{w.rack}, net.DefaultResolver, managedboot.Settings{RamdiskURL: "http://192.0.2.1:6385", Kernel: "kernel", Initrd: "initrd"})
	w.foreign = &foreignInspector{Interface: agent.New(managed), state: node.RunWaiting}
	s.Host = "rack-7"
	w.Conductor = conductor.New(conductor.Needs{
		Nodes: w.store, Moves: w.store, Attempts: w.store, Ports: w.store, Watched: w.store, BMCs: w.rack, Reports: reports{}, Logs: ramdisklogs.Archives{}, Comparer: difference.Comparer{}, Inspections: w.store, Signs: w.store, Audit: w.store, Bulks: w.store, Rules: w.store, RuleEngine: ruleEngine{rules.New(rules.Options{Caller: rules.HTTP{}, Log: slog.New(slog.DiscardHandler)})},
		Inspect: map[string]conductor.InspectInterface{
			"agent": agent.New(managed), "inspector": w.foreign, "redfish": outofband.Redfish{}, "no-inspect": outofband.NoInspect{}, "fake": outofband.Fake{},
		},
		Clock: w.clock, Log: slog.New(slog.DiscardHandler),
	}, s)
	return w
}

// clock is the time as the test says. Where it hurries, whoever waits has waited at once.
type clock struct {
	mu      sync.Mutex
	changed *sync.Cond
	now     time.Time
	hurries bool
	waiting []waiter
}

type waiter struct {
	at time.Time
	ch chan time.Time
}

func newClock() *clock {
	c := &clock{now: time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC), hurries: true}
	c.changed = sync.NewCond(&c.mu)
	return c
}

func (c *clock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}

func (c *clock) After(d time.Duration) <-chan time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	ch := make(chan time.Time, 1)
	if c.hurries {
		c.now = c.now.Add(d)
		ch <- c.now
		return ch
	}
	c.waiting = append(c.waiting, waiter{at: c.now.Add(d), ch: ch})
	c.changed.Broadcast()
	return ch
}

func (c *clock) advance(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now = c.now.Add(d)
	var still []waiter
	for _, w := range c.waiting {
		if w.at.After(c.now) {
			still = append(still, w)
			continue
		}
		w.ch <- c.now
	}
	c.waiting = still
}

// untilWaiting returns once n goroutines wait for the time.
func (c *clock) untilWaiting(n int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for len(c.waiting) < n {
		c.changed.Wait()
	}
}

// rounds runs the conductor's rounds; tick lets time pass and returns when every round that was due is over. The power
// sync runs only with an interval set.
func (w *world) rounds(during func(tick func(time.Duration))) {
	w.t.Helper()
	kinds := 1
	if w.InspectTimeout > 0 {
		kinds++
	}
	if w.PowerSyncInterval > 0 {
		kinds++
	}
	if w.AuditKept > 0 {
		kinds++
	}
	w.clock.hurries = false
	ctx, cancel := context.WithCancel(w.t.Context())
	ended := make(chan error, 1)
	go func() { ended <- w.Run(ctx) }()
	w.clock.untilWaiting(kinds)
	during(func(d time.Duration) {
		w.clock.advance(d)
		w.clock.untilWaiting(kinds)
	})
	cancel()
	if err := <-ended; err != nil {
		w.t.Error(err)
	}
	w.clock.mu.Lock()
	w.clock.hurries, w.clock.waiting = true, nil
	w.clock.mu.Unlock()
}

// queue keeps jobs in a table of the same database: what it shows has been committed.
type queue struct {
	t  *testing.T
	db *sql.DB
}

// queuedJob is a job with the steps that it has had.
type queuedJob struct {
	node.Job
	id, round int
}

func newQueue(t *testing.T, db *sql.DB) *queue {
	t.Helper()
	if _, err := db.ExecContext(t.Context(), `CREATE TABLE test_jobs (id INTEGER PRIMARY KEY, node TEXT, kind TEXT, job TEXT, round INTEGER NOT NULL DEFAULT 0)`); err != nil {
		t.Fatal(err)
	}
	return &queue{t: t, db: db}
}

func (q *queue) Insert(ctx context.Context, tx *sql.Tx, j node.Job) error {
	doc, err := json.Marshal(j)
	if err != nil {
		return err
	}
	_, err = tx.ExecContext(ctx, `INSERT INTO test_jobs (node, kind, job) VALUES (?, ?, ?)`, j.Node, string(j.Kind), string(doc))
	return err
}

func (q *queue) Cancel(ctx context.Context, tx *sql.Tx, nodeUUID string, kinds ...node.JobKind) error {
	if len(kinds) == 0 {
		_, err := tx.ExecContext(ctx, `DELETE FROM test_jobs WHERE node = ?`, nodeUUID)
		return err
	}
	for _, k := range kinds {
		if _, err := tx.ExecContext(ctx, `DELETE FROM test_jobs WHERE node = ? AND kind = ?`, nodeUUID, string(k)); err != nil {
			return err
		}
	}
	return nil
}

// of lists the node's jobs of a kind.
func (q *queue) of(nodeUUID string, kind node.JobKind) []queuedJob {
	q.t.Helper()
	rows, err := q.db.QueryContext(q.t.Context(), `SELECT id, job, round FROM test_jobs WHERE node = ? AND kind = ? ORDER BY id`, nodeUUID, string(kind))
	if err != nil {
		q.t.Fatal(err)
	}
	defer rows.Close()
	var out []queuedJob
	for rows.Next() {
		var (
			j   queuedJob
			doc string
		)
		if err := errors.Join(rows.Scan(&j.id, &doc, &j.round), json.Unmarshal([]byte(doc), &j.Job)); err != nil {
			q.t.Fatal(err)
		}
		out = append(out, j)
	}
	if err := rows.Err(); err != nil {
		q.t.Fatal(err)
	}
	return out
}

// step does one step of the node's job of a kind and lets the time pass that the job wants to wait.
func (w *world) step(nodeUUID string, kind node.JobKind) (again time.Duration) {
	w.t.Helper()
	jobs := w.queue.of(nodeUUID, kind)
	if len(jobs) == 0 {
		w.t.Fatalf("there is no %s job", kind)
	}
	j := jobs[0]
	again, err := w.Work(w.t.Context(), j.Job, j.round)
	if err != nil {
		w.t.Fatalf("%s job: %v", kind, err)
	}
	query := `UPDATE test_jobs SET round = round + 1 WHERE id = ?`
	if again < 0 {
		query = `DELETE FROM test_jobs WHERE id = ?`
	}
	if _, err := w.queue.db.ExecContext(w.t.Context(), query, j.id); err != nil {
		w.t.Fatal(err)
	}
	if again > 0 {
		w.clock.advance(again)
	}
	return again
}

// work does a job to its end.
func (w *world) work(nodeUUID string, kind node.JobKind) {
	w.t.Helper()
	for range 1000 {
		if w.step(nodeUUID, kind) < 0 {
			return
		}
	}
	w.t.Fatalf("the %s job does not end", kind)
}

type bootBMCs struct{ *rack }

func (b bootBMCs) Do(ctx context.Context, n node.Node, fn func(managedboot.BMC) error) error {
	return b.rack.Do(ctx, n, func(c conductor.BMC) error { return fn(c) })
}

func (b bootBMCs) Look(ctx context.Context, n node.Node, fn func(managedboot.BMC) error) error {
	return b.rack.Look(ctx, n, func(c conductor.BMC) error { return fn(c) })
}

// foreignInspector is an inspect interface whose run lives in another service.
type foreignInspector struct {
	*agent.Interface
	mu       sync.Mutex
	state    node.RunState
	failure  string
	runErr   error
	data     []byte
	abortErr error
	aborts   int
	during   func() // called in the middle of an answer
}

func (f *foreignInspector) set(change func()) {
	f.mu.Lock()
	defer f.mu.Unlock()
	change()
}

func (f *foreignInspector) External() bool { return true }

func (f *foreignInspector) Abort(ctx context.Context, n node.Node, a node.Attempt) (node.Ending, error) {
	f.mu.Lock()
	f.aborts++
	err, during := f.abortErr, f.during
	f.mu.Unlock()
	if during != nil {
		during()
	}
	if err != nil {
		return node.Ending{}, err
	}
	return f.Interface.Abort(ctx, n, a)
}

func (f *foreignInspector) Run(context.Context, node.Node) (node.RunState, string, error) {
	f.mu.Lock()
	during, state, failure, err := f.during, f.state, f.failure, f.runErr
	f.mu.Unlock()
	if during != nil {
		during()
	}
	return state, failure, err
}

func (f *foreignInspector) Data(_ context.Context, n node.Node) ([]byte, error) {
	if f.data == nil {
		return nil, &node.NotFound{What: "Introspection of node", Ident: n.UUID}
	}
	return f.data, nil
}

// reports is the real understanding of reports, joined as cmd joins it.
type reports struct{}

func (reports) Keys(body []byte) (conductor.Keys, error) {
	r, err := inventory.Parse(body)
	if err != nil {
		return conductor.Keys{}, err
	}
	return conductor.Keys(r.Keys()), nil
}

func (reports) Match(k conductor.Keys, asked string, all []conductor.Candidate) (string, error) {
	candidates := make([]inventory.Candidate, len(all))
	for i, c := range all {
		candidates[i] = inventory.Candidate(c)
	}
	return inventory.Match(inventory.Keys(k), asked, candidates)
}

func (reports) Process(_ context.Context, n node.Node, ports []node.Port, owners map[string]string, body []byte) (conductor.Findings, error) {
	r, err := inventory.Parse(body)
	if err != nil {
		return conductor.Findings{}, err
	}
	f, err := hooks.Run(hooks.Default(), hooks.Input{Node: n, Ports: ports, Owners: owners, Report: r})
	return conductor.Findings(f), err
}
