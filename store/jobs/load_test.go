package jobs_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"cagenut/node"
)

func TestTheQueueTellsWhatWaitsAndWhichJobForTheLongest(t *testing.T) {
	r := newRig(t)
	db, err := r.Reader()
	if err != nil {
		t.Fatal(err)
	}
	load := func() node.JobLoad {
		t.Helper()
		l, err := r.queue.Load(t.Context(), db)
		if err != nil {
			t.Fatal(err)
		}
		return l
	}
	if l := load(); len(l.Counts) != 0 || l.Late != "" || !l.LateFrom.IsZero() {
		t.Errorf("of an empty queue: %+v", l)
	}
	r.insert(t, node.Job{Kind: node.JobPower, Node: "a"}, node.Job{Kind: node.JobPower, Node: "b"}, node.Job{Kind: node.JobCleanUp, Node: "a", At: time.Now().Add(time.Hour)})
	if _, err := r.Writer().ExecContext(t.Context(), `UPDATE river_job SET scheduled_at = datetime('now', '-10 minutes', 'subsec') WHERE json_extract(args, '$.Node') = 'b'`); err != nil {
		t.Fatal(err)
	}
	l := load()
	if d := cmp.Diff([]node.JobCount{{Kind: node.JobCleanUp, State: "scheduled", Count: 1}, {Kind: node.JobPower, State: "available", Count: 2}}, l.Counts); d != "" {
		t.Errorf("counts (-want +got):\n%s", d)
	}
	if age := time.Since(l.LateFrom); l.Late != node.JobPower || age < 9*time.Minute || age > 11*time.Minute {
		t.Errorf("%s has waited for %s", l.Late, age)
	}
}
