package bench_test

import (
	"context"
	"testing"
	"time"

	"cagenut/conductor"
	"cagenut/node"
)

// A thousand waiting nodes are aborted by one run, whose clean-ups run beside it. Meanwhile somebody else presses Abort on single
// nodes, again and again: that must stay a blink.
func BenchmarkBulkAbortOfAThousand(b *testing.B) {
	const (
		nodes, singles = 1000, 100
		longest        = 30 * time.Second // until the last one is aborted
		blink          = 100.0            // ms, of nineteen of twenty single ones
	)
	var run, single latencies
	for range b.N {
		b.StopTimer()
		a := open(b, true)
		var choice node.BulkChoice
		for range nodes {
			n, _ := a.waiting(b, node.DriverFake)
			choice.Idents = append(choice.Idents, n.UUID)
		}
		others := make([]node.Node, singles)
		for i := range others {
			others[i], _ = a.waiting(b, node.DriverFake)
		}
		pressing, stop := context.WithCancel(b.Context())
		pressed := make(chan struct{})
		b.StartTimer()
		go func() {
			defer close(pressed)
			for _, n := range others {
				if err := single.time(func() error { return a.abort(b.Context(), n) }); err != nil {
					b.Error(err)
				}
				select {
				case <-pressing.Done():
					return
				case <-time.After(20 * time.Millisecond):
				}
			}
		}()
		must(b, run.time(func() error { return a.bulkAbort(b, choice) }))
		stop()
		<-pressed
	}
	b.StopTimer()
	b.ReportMetric(run.millis(50), "run-ms")
	b.ReportMetric(single.millis(50), "single-p50-ms")
	b.ReportMetric(single.millis(95), "single-p95-ms")
	if took := run.millis(99); took > float64(longest.Milliseconds()) {
		b.Errorf("the last node was aborted after %.0f ms; the limit is %s", took, longest)
	}
	if p95 := single.millis(95); p95 > blink {
		b.Errorf("single aborts beside it took up to %.0f ms; the limit is %.0f ms", p95, blink)
	}
}

// bulkAbort returns when the run has ended.
func (a *appliance) bulkAbort(b *testing.B, choice node.BulkChoice) error {
	notices := a.store.Watch(b.Context())
	actor := node.Actor{User: "bench", Source: node.SourceUI, RequestID: "req-" + node.NewUUID()}
	r, err := a.StartBulk(b.Context(), actor, conductor.BulkRequest{Action: node.BulkAbort, Choice: choice})
	if err != nil {
		return err
	}
	for late := time.After(2 * time.Minute); ; {
		if r, err = a.store.BulkRun(b.Context(), r.ID); err != nil || r.Ended() {
			if r.Counts.Done != len(choice.Idents) {
				b.Errorf("the run ended with %+v", r.Counts)
			}
			return err
		}
		select {
		case <-notices:
		case <-late:
			b.Fatalf("the run has come to %+v", r.Counts)
		}
	}
}
