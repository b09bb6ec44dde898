// Package jobs keeps the work that outlives a request: jobs are inserted in the transaction of the change that needs
// them, and worked by River in the same database file. It decides nothing: what a job does is its [Handler]'s business.
//
// Life cycle: [New] migrates River's tables, [Queue.Run] works jobs until its context ends and waits for those that run.
package jobs

import (
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"log/slog"
	"strings"
	"time"

	"github.com/riverqueue/river"
	"github.com/riverqueue/river/riverdriver/riversqlite"
	"github.com/riverqueue/river/rivermigrate"
	"github.com/riverqueue/river/rivertype"

	"cagenut/node"
)

// Handler carries out jobs, one step of at most [StepLimit] at a time. A job may be handed over twice (style.md §4.1):
// the handler looks first whether its work is still wanted.
type Handler interface {
	// Work does one step. again says when the job wants its next one; negative: it is done. round counts the steps before
	// this one. An error is a fault of ours (a database that does not answer): the step is repeated later.
	Work(ctx context.Context, j node.Job, round int) (again time.Duration, err error)
}

// Done is what [Handler.Work] returns for a job that is finished.
const Done time.Duration = -1

// StepLimit bounds one step of a job.
const StepLimit = 30 * time.Second

// The queues keep jobs that talk to dead BMCs from holding up reports.
const (
	queueWork    = river.QueueDefault
	queueCleanUp = "cleanup"
	queueReports = "reports"
)

// atOnce is how many jobs of a queue are worked at once. It bounds nothing that costs much: jobs take turns at the database, and the
// pool of BMCs says how many of those are at work. A job whose BMC is dead does nothing but wait, up to StepLimit; were there fewer
// places than dead BMCs in a hall, theirs would keep those of the living from beginning (G36).
const atOnce = 1024

// args is a job as River stores it.
type args struct {
	node.Job
}

// Kind is River's.
func (args) Kind() string { return "node" }

// InsertOpts chooses the queue.
func (a args) InsertOpts() river.InsertOpts {
	o := river.InsertOpts{Queue: queueWork, MaxAttempts: 1000, ScheduledAt: a.At}
	switch a.Job.Kind {
	case node.JobCleanUp, node.JobSettle:
		o.Queue = queueCleanUp
	case node.JobFinish, node.JobReapply:
		o.Queue = queueReports
	}
	return o
}

// Queue is the job queue.
type Queue struct {
	client *river.Client[*sql.Tx]
	db     *sql.DB
	worker *worker
}

// New prepares the queue on the connection that writes. Jobs may be inserted at once; they are worked in Run.
func New(ctx context.Context, db *sql.DB, log *slog.Logger) (*Queue, error) {
	driver := riversqlite.New(db)
	quiet := slog.New(levelHandler{log.Handler()})
	migrator, err := rivermigrate.New(driver, &rivermigrate.Config{Logger: quiet})
	if err != nil {
		return nil, fmt.Errorf("prepare the job queue: %w", err)
	}
	if _, err := migrator.Migrate(ctx, rivermigrate.DirectionUp, nil); err != nil {
		return nil, fmt.Errorf("migrate the job queue: %w", err)
	}
	q := &Queue{db: db, worker: &worker{}}
	workers := river.NewWorkers()
	if err := river.AddWorkerSafely(workers, q.worker); err != nil {
		return nil, fmt.Errorf("prepare the job queue: %w", err)
	}
	q.client, err = river.NewClient(driver, &river.Config{
		Workers: workers,
		Queues: map[string]river.QueueConfig{
			queueWork: {MaxWorkers: atOnce}, queueCleanUp: {MaxWorkers: atOnce}, queueReports: {MaxWorkers: 8},
		},
		Logger:                      quiet,
		JobTimeout:                  StepLimit,
		RescueStuckJobsAfter:        StepLimit + 15*time.Second,
		FetchCooldown:               20 * time.Millisecond,
		FetchPollInterval:           250 * time.Millisecond,
		CompletedJobRetentionPeriod: time.Minute,
		CancelledJobRetentionPeriod: time.Minute,
	})
	if err != nil {
		return nil, fmt.Errorf("prepare the job queue: %w", err)
	}
	return q, nil
}

// Insert adds a job in the transaction of the change that needs it.
func (q *Queue) Insert(ctx context.Context, tx *sql.Tx, j node.Job) error {
	if _, err := q.client.InsertTx(ctx, tx, args{j}, nil); err != nil {
		return fmt.Errorf("insert a %s job: %w", j.Kind, err)
	}
	return nil
}

// Cancel ends the jobs of a node that wait for their turn; no kinds means all. One that runs finds by itself that it is
// not wanted any more.
func (q *Queue) Cancel(ctx context.Context, tx *sql.Tx, nodeUUID string, kinds ...node.JobKind) error {
	query := `UPDATE river_job SET state = 'cancelled', finalized_at = CURRENT_TIMESTAMP
		WHERE state IN ('available', 'scheduled', 'retryable') AND json_extract(args, '$.Node') = ?`
	params := []any{nodeUUID}
	if len(kinds) > 0 {
		query += ` AND json_extract(args, '$.Kind') IN (?` + strings.Repeat(", ?", len(kinds)-1) + `)`
		for _, k := range kinds {
			params = append(params, string(k))
		}
	}
	if _, err := tx.ExecContext(ctx, query, params...); err != nil {
		return fmt.Errorf("cancel jobs of node %s: %w", nodeUUID, err)
	}
	return nil
}

// Release makes the jobs that a dead process of this appliance was working on available at once. With SQLite that is
// every job that runs, so it must be called before Run.
func (q *Queue) Release(ctx context.Context) error {
	if _, err := q.db.ExecContext(ctx, `UPDATE river_job SET state = 'available' WHERE state = 'running'`); err != nil {
		return fmt.Errorf("release the jobs of the last run: %w", err)
	}
	return nil
}

// Run works jobs until ctx ends, then stops the running ones and waits for them.
func (q *Queue) Run(ctx context.Context, h Handler) error {
	q.worker.handler = h
	if err := q.client.Start(context.WithoutCancel(ctx)); err != nil {
		return fmt.Errorf("start the job queue: %w", err)
	}
	<-ctx.Done()
	stop, cancel := context.WithTimeout(context.WithoutCancel(ctx), 10*time.Second)
	defer cancel()
	if err := q.client.StopAndCancel(stop); err != nil {
		return fmt.Errorf("stop the job queue: %w", err)
	}
	return nil
}

type worker struct {
	river.WorkerDefaults[args]
	handler Handler
}

// Work is River's.
func (w *worker) Work(ctx context.Context, j *river.Job[args]) error {
	again, err := w.handler.Work(ctx, j.Args.Job, snoozes(j.JobRow))
	if err != nil {
		return err
	}
	if again >= 0 {
		return river.JobSnooze(again)
	}
	return nil
}

// NextRetry is River's: quickly at first, at most half a minute apart.
func (w *worker) NextRetry(j *river.Job[args]) time.Time {
	return time.Now().Add(min(time.Duration(j.Attempt)*time.Second, 30*time.Second))
}

func snoozes(j *rivertype.JobRow) int {
	doc := struct {
		Snoozes int `json:"snoozes"`
	}{}
	if err := json.Unmarshal(j.Metadata, &doc); err != nil {
		return 0
	}
	return doc.Snoozes
}

// levelHandler keeps River's chatter out of the log: a job that is cut off at shutdown is repeated and no news.
type levelHandler struct{ slog.Handler }

// Enabled is slog's.
func (h levelHandler) Enabled(_ context.Context, l slog.Level) bool { return l >= slog.LevelError }

var _ river.Worker[args] = (*worker)(nil)
