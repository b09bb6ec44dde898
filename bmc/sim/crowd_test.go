package sim_test

import (
	"context"
	"io"
	"math/rand/v2"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"cagenut/bmc/sim"
	"cagenut/node"
)

// TestFaultsMayChangeWhileEverythingRuns is for the race detector: faults come and go while clients read and change, and the
// BMC is well when they are gone.
func TestFaultsMayChangeWhileEverythingRuns(t *testing.T) {
	s := startRack(t, sim.Options{Servers: 1}).Servers()[0]
	ctx, cancel := context.WithCancel(t.Context())
	var wg sync.WaitGroup
	for i, ask := range [][3]string{
		{"GET", system, ""}, {"GET", system + "/EthernetInterfaces?$expand=.", ""}, {"GET", "/redfish/v1/Chassis/1/Sensors?$expand=.", ""},
		{"PATCH", system, bootPXE}, {"POST", reset, `{"ResetType":"ForceRestart"}`}, {"POST", reset, `{"ResetType":"On"}`},
		{"POST", cdSlot + insertAction, "{" + image + "}"}, {"POST", cdSlot + ejectAction, "{}"}, {"POST", sessionsAt, credentials(s, string(s.Password))},
	} {
		wg.Go(func() {
			for ctx.Err() == nil {
				askAnyhow(ctx, s, ask, i%2 == 0)
			}
		})
	}
	faults := slices.DeleteFunc(sim.AllFaults(), func(f sim.FaultInfo) bool { return f.TLS || !slices.Contains(f.Drivers, node.DriverRedfish) })
	for range 300 {
		f := faults[rand.IntN(len(faults))]
		strength := sim.Strength{}
		if f.Delay > 0 {
			strength.Delay = time.Millisecond
		}
		switchOn(t, s, f.Fault, strength)
		if rand.IntN(3) == 0 {
			s.Heal()
		}
	}
	s.Heal()
	cancel()
	wg.Wait()
	s.ExpireSessions()
	if res, _ := call(t, s, http.MethodGet, system, ""); res.StatusCode != http.StatusOK {
		t.Errorf("when all is over: %s", res.Status)
	}
}

// askAnyhow sends a request and does not mind what becomes of it.
func askAnyhow(ctx context.Context, s *sim.Server, ask [3]string, guarded bool) {
	ctx, cancel := context.WithTimeout(ctx, 20*time.Millisecond)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, ask[0], s.Address+ask[1], strings.NewReader(ask[2]))
	if err != nil {
		return
	}
	req.SetBasicAuth(s.User, string(s.Password))
	if guarded {
		req.Header.Set("If-Match", "*")
	}
	if res, err := web.Do(req); err == nil {
		_, _ = io.Copy(io.Discard, res.Body)
		_ = res.Body.Close()
	}
}
