package main

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"cagenut/bmc/sim"
	"cagenut/node"
)

// What a BMC refuses for a while is done when it does not refuse it any more: the start of an inspection in its time, and what
// follows an abort, which is true at once.
func TestStartAndAbortAreFinishedWhenTheBMCLetsThem(t *testing.T) { // G34, G64
	t.Parallel()
	a := serveForTest(t, true)
	servers := a.rack(sim.Options{Servers: 4, IPMI: 2, Silent: 4})
	drivers := map[string]int{}
	var conflicts, inPOST []*sim.Server
	for _, s := range servers {
		drivers[s.Driver]++
		if drivers[s.Driver] == 1 {
			conflicts = append(conflicts, s)
			continue
		}
		// It has just been switched on and must not be switched off: it can be told what to boot after POST alone.
		inPOST = append(inPOST, s)
		patch := []map[string]any{{"op": "replace", "path": "/disable_power_off", "value": true}}
		if status, _, body := a.send("PATCH", "/v1/nodes/"+s.Name, "latest", patch); status != http.StatusOK {
			t.Fatalf("%d %s", status, body)
		}
		s.SetPower(node.PowerOn)
		if err := s.SwitchOn(sim.FaultPOSTBusy, sim.Strength{Delay: 4 * time.Second}); err != nil {
			t.Fatal(err)
		}
	}
	if len(conflicts) != 2 || len(inPOST) != 2 {
		t.Fatalf("the rack has %v", drivers)
	}
	for _, s := range servers {
		a.provision(s.Name, "inspect")
	}
	for _, s := range servers {
		a.untilState(s.Name, node.InspectWait)
	}
	for _, s := range conflicts {
		if err := s.SwitchOn(sim.FaultPowerConflict, sim.Strength{Count: 1}); err != nil {
			t.Fatal(err)
		}
		a.provision(s.Name, "abort")
	}
	for _, s := range inPOST {
		refused := 0
		for _, r := range s.Requests() {
			if (r.Method == http.MethodPatch || r.Path == "Set System Boot Options") && (r.Status == http.StatusServiceUnavailable || r.Status == http.StatusBadRequest || r.Status == 0xd5) {
				refused++
			}
		}
		if refused == 0 {
			t.Errorf("%s refused nothing: %v", s.Name, s.Requests())
		}
		a.provision(s.Name, "abort")
	}
	for _, s := range servers {
		n, err := a.store.Node(t.Context(), s.Name)
		if err != nil || n.ProvisionState != node.InspectFailed || !strings.HasPrefix(n.LastError, "Inspection was aborted by request.") {
			t.Errorf("%s is %q with %q, %v; want it aborted at once", s.Name, n.ProvisionState, n.LastError, err)
		}
	}
	for _, s := range servers {
		n := a.until(s.Name, "the end of its clean-up", func(n node.Node) bool {
			at, err := a.store.Attempt(t.Context(), n.AttemptID)
			return err == nil && at.CleanUp == node.CleanUpDone
		})
		want := node.PowerOff
		if n.DisablePowerOff {
			want = node.PowerOn
		}
		if s.Power() != want || s.Boot().Device != node.BootNone || n.LastError != "Inspection was aborted by request." {
			t.Errorf("%s (%s) is %s with override %+v and last error %q, want %s without an override", s.Name, s.Driver, s.Power(), s.Boot(), n.LastError, want)
		}
	}
}
