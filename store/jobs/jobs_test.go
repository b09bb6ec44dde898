package jobs_test

import (
	"context"
	"database/sql"
	"errors"
	"io"
	"log/slog"
	"path/filepath"
	"testing"
	"time"

	"go.uber.org/goleak"

	"cagenut/node"
	"cagenut/store"
	"cagenut/store/jobs"
)

type step struct {
	job   node.Job
	round int
}

// handler hands every step to the test and does what the test says.
type handler struct {
	steps chan step
	work  func(ctx context.Context, round int) (time.Duration, error)
}

func (h handler) Work(ctx context.Context, j node.Job, round int) (time.Duration, error) {
	h.steps <- step{j, round}
	return h.work(ctx, round)
}

func done(context.Context, int) (time.Duration, error) { return jobs.Done, nil }

type rig struct {
	*store.Store
	queue *jobs.Queue
}

func newRig(t *testing.T) rig {
	t.Helper()
	folder := t.TempDir()
	seal, err := store.OpenSeal(filepath.Join(folder, "key"))
	if err != nil {
		t.Fatal(err)
	}
	log := slog.New(slog.NewTextHandler(io.Discard, nil))
	s, err := store.Open(t.Context(), store.Options{Path: filepath.Join(folder, "cagenut.db"), Seal: seal, Log: log})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = s.Close()
		goleak.VerifyNone(t)
	})
	q, err := jobs.New(t.Context(), s.Writer(), log)
	if err != nil {
		t.Fatal(err)
	}
	s.SetQueue(q)
	return rig{s, q}
}

// run works jobs until the returned function is called, which waits for the end of Run.
func (r rig) run(t *testing.T, h handler) (stop func()) {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- r.queue.Run(ctx, h) }()
	return func() {
		t.Helper()
		cancel()
		select {
		case err := <-ended:
			if err != nil {
				t.Errorf("Run: %v", err)
			}
		case <-time.After(15 * time.Second):
			t.Error("Run did not stop")
		}
	}
}

func (r rig) inTx(t *testing.T, fn func(tx *sql.Tx) error) {
	t.Helper()
	tx, err := r.Writer().BeginTx(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(fn(tx), tx.Commit()); err != nil {
		t.Fatal(err)
	}
}

func (r rig) insert(t *testing.T, all ...node.Job) {
	t.Helper()
	r.inTx(t, func(tx *sql.Tx) error {
		var errs []error
		for _, j := range all {
			errs = append(errs, r.queue.Insert(t.Context(), tx, j))
		}
		return errors.Join(errs...)
	})
}

func (r rig) count(t *testing.T, state string) (n int) {
	t.Helper()
	if err := r.Writer().QueryRowContext(t.Context(), `SELECT COUNT(*) FROM river_job WHERE state = ?`, state).Scan(&n); err != nil {
		t.Fatal(err)
	}
	return n
}

func (r rig) eventually(t *testing.T, state string, want int) {
	t.Helper()
	for end := time.Now().Add(10 * time.Second); r.count(t, state) != want; {
		if time.Now().After(end) {
			t.Fatalf("%d jobs are %s, not %d", r.count(t, state), state, want)
		}
		<-time.After(10 * time.Millisecond)
	}
}

func next(t *testing.T, steps <-chan step) step {
	t.Helper()
	select {
	case s := <-steps:
		return s
	case <-time.After(15 * time.Second):
		t.Fatal("no job was worked")
		return step{}
	}
}

// G36: jobs that wait for two hundred dead BMCs do not keep one for a living BMC from beginning.
func TestTwoHundredJobsThatHangHoldUpNoOther(t *testing.T) {
	const dead = 200
	for _, kind := range []node.JobKind{node.JobPower, node.JobCleanUp} {
		t.Run(string(kind), func(t *testing.T) {
			r := newRig(t)
			h := handler{make(chan step, dead+1), func(ctx context.Context, _ int) (time.Duration, error) {
				<-ctx.Done() // as a BMC that says nothing lets it
				return jobs.Done, ctx.Err()
			}}
			all := make([]node.Job, dead)
			for i := range all {
				all[i] = node.Job{Kind: kind, Node: node.NewUUID()}
			}
			r.insert(t, all...)
			stop := r.run(t, h)
			defer stop()
			for range dead {
				next(t, h.steps)
			}
			living := node.Job{Kind: kind, Node: node.NewUUID()}
			r.insert(t, living)
			if got := next(t, h.steps); got.job.Node != living.Node {
				t.Errorf("%s was worked instead", got.job.Node)
			}
		})
	}
}

func TestAJobIsWorkedOnceAndComesAsItWasGiven(t *testing.T) {
	r := newRig(t)
	h := handler{make(chan step, 10), done}
	stop := r.run(t, h)
	defer stop()
	want := node.Job{Kind: node.JobPower, Node: node.NewUUID(), Attempt: "a", Hold: "w1", Action: node.ActionOff, Deadline: time.Date(2026, 11, 30, 2, 0, 0, 0, time.UTC),
		Actor: node.Actor{User: "ada", Source: node.SourceUI}}
	r.insert(t, want)
	if got := next(t, h.steps); got.job != want || got.round != 0 {
		t.Errorf("got %+v", got)
	}
	r.eventually(t, "completed", 1)
	if len(h.steps) != 0 {
		t.Error("worked again")
	}
}

func TestAJobThatWaitsCountsItsRounds(t *testing.T) {
	r := newRig(t)
	h := handler{make(chan step, 10), func(_ context.Context, round int) (time.Duration, error) {
		if round < 2 {
			return time.Millisecond, nil
		}
		return jobs.Done, nil
	}}
	stop := r.run(t, h)
	defer stop()
	r.insert(t, node.Job{Kind: node.JobStart, Node: "n"})
	for round := range 3 {
		if got := next(t, h.steps); got.round != round {
			t.Errorf("round %d, not %d", got.round, round)
		}
	}
	r.eventually(t, "completed", 1)
}

func TestCancelEndsTheJobsOfANodeByKind(t *testing.T) {
	r := newRig(t)
	r.insert(t, node.Job{Kind: node.JobCleanUp, Node: "a"}, node.Job{Kind: node.JobPower, Node: "a"}, node.Job{Kind: node.JobCleanUp, Node: "b"})
	r.inTx(t, func(tx *sql.Tx) error { return r.queue.Cancel(t.Context(), tx, "a", node.JobCleanUp) })
	if c, a := r.count(t, "cancelled"), r.count(t, "available"); c != 1 || a != 2 {
		t.Errorf("by kind: %d cancelled, %d left", c, a)
	}
	r.inTx(t, func(tx *sql.Tx) error { return r.queue.Cancel(t.Context(), tx, "a") })
	h := handler{make(chan step, 10), done}
	stop := r.run(t, h)
	defer stop()
	if got := next(t, h.steps); got.job.Node != "b" {
		t.Errorf("worked %+v", got.job)
	}
	r.eventually(t, "completed", 1)
	if c := r.count(t, "cancelled"); c != 2 || len(h.steps) != 0 {
		t.Errorf("all kinds: %d cancelled, %d more worked", c, len(h.steps))
	}
}

func TestJobsOfADeadProcessAreReleased(t *testing.T) {
	r := newRig(t)
	r.insert(t, node.Job{Kind: node.JobStart, Node: "n"})
	r.inTx(t, func(tx *sql.Tx) error {
		_, err := tx.ExecContext(t.Context(), `UPDATE river_job SET state = 'running', attempt = 1, attempted_at = CURRENT_TIMESTAMP`)
		return err
	})
	if err := r.queue.Release(t.Context()); err != nil {
		t.Fatal(err)
	}
	h := handler{make(chan step, 1), done}
	stop := r.run(t, h)
	defer stop()
	next(t, h.steps)
	r.eventually(t, "completed", 1)
}

func TestAJobOfAMoveThatFailedDoesNotExist(t *testing.T) {
	r := newRig(t)
	n, err := r.CreateNode(t.Context(), node.Node{UUID: node.NewUUID(), Driver: node.DriverFake, ProvisionState: node.Manageable}, node.Audit{})
	if err != nil {
		t.Fatal(err)
	}
	move := node.Move{Node: n.UUID, From: node.Manageable, Event: node.Inspect, At: time.Now(), Jobs: []node.Job{{Kind: node.JobStart, Node: n.UUID}}}
	// The attempt does not exist: the move fails after its compare-and-swap has succeeded, and all of it is rolled back.
	broken := move
	broken.Attempt, broken.AttemptState = "", node.RunWaiting
	if _, err := r.Move(t.Context(), broken); err == nil {
		t.Fatal("the broken move succeeded")
	}
	if got := r.count(t, "available"); got != 0 {
		t.Errorf("%d jobs of a move that never was", got)
	}
	if _, err := r.Move(t.Context(), move); err != nil {
		t.Fatal(err)
	}
	if got := r.count(t, "available"); got != 1 {
		t.Errorf("%d jobs", got)
	}
}

func TestRunStopsARunningJobAndWaitsForIt(t *testing.T) {
	r := newRig(t)
	h := handler{make(chan step, 1), func(ctx context.Context, _ int) (time.Duration, error) {
		<-ctx.Done()
		return 0, ctx.Err()
	}}
	stop := r.run(t, h)
	r.insert(t, node.Job{Kind: node.JobStart, Node: "n"})
	next(t, h.steps)
	stop()
	if got := r.count(t, "running"); got != 0 {
		t.Errorf("%d jobs still count as running", got)
	}
}
