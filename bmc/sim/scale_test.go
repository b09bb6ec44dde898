package sim_test

import (
	"context"
	"net/http"
	"runtime"
	"sync"
	"testing"
	"time"

	"cagenut/bmc/sim"
	"cagenut/node"
)

// heap is what the process holds after a collection.
func heap() uint64 {
	runtime.GC()
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc + m.StackInuse
}

// TestAThousandServersFitIntoAProcess holds the figures of docs/simulator.md: what an idle server costs, of both kinds.
func TestAThousandServersFitIntoAProcess(t *testing.T) {
	const servers = 1000
	bytes, goroutines := heap(), runtime.NumGoroutine()
	begin := time.Now()
	r := startRack(t, sim.Options{Servers: servers, IPMI: servers / 3, FirstAddress: "127.78.0.1"})
	started := time.Since(begin)
	each := float64(heap()-bytes) / servers / 1024
	routines := float64(runtime.NumGoroutine()-goroutines) / servers
	t.Logf("%d servers started in %s; each takes %.1f KiB and %.1f goroutines", servers, started.Round(time.Millisecond), each, routines)
	if each > 40 || routines > 3 {
		t.Errorf("each server takes %.1f KiB and %.1f goroutines", each, routines)
	}

	begin = time.Now()
	asked := askAll(t, r)
	took := time.Since(begin)
	t.Logf("%d Redfish BMCs told their power in %s", asked, took.Round(time.Millisecond))
	if wait := time.Minute; took > wait {
		t.Errorf("a round took %s", took)
	}
	closeRack(t, r)
}

// askAll reads the system of every Redfish BMC once, 16 at a time.
func askAll(t *testing.T, r *sim.Rack) (asked int) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Minute)
	defer cancel()
	work := make(chan *sim.Server)
	var wg sync.WaitGroup
	for range 16 {
		wg.Go(func() {
			for s := range work {
				req, err := http.NewRequestWithContext(ctx, http.MethodGet, s.Address+system, nil)
				if err != nil {
					t.Error(err)
					continue
				}
				req.SetBasicAuth(s.User, string(s.Password))
				res, err := web.Do(req)
				if err != nil {
					t.Error(err)
					continue
				}
				_ = res.Body.Close()
				if res.StatusCode != http.StatusOK {
					t.Errorf("%s: %s", s.Name, res.Status)
				}
			}
		})
	}
	for _, s := range r.Servers() {
		if s.Driver == node.DriverRedfish {
			work <- s
			asked++
		}
	}
	close(work)
	wg.Wait()
	return asked
}
