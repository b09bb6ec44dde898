package main

import (
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"cagenut/node"
)

var (
	abortVersions   = []string{"", "1.12", "1.13", "1.40", "1.41", "latest"}
	abortInterfaces = []string{"agent", "inspector", "redfish", "no-inspect", "fake"}
	abortable       = []string{"agent", "inspector"}
)

// abortStatus is the contract in one function: §2.3 with its order of checks, §2.4, §2.7 and design.md §4 (G06, G07, G43).
func abortStatus(state node.State, version, inspect string) int {
	_, err := state.Next(node.Abort)
	switch {
	case version == "" || version == "1.12":
		return http.StatusNotAcceptable // the verb is of 1.13, whatever the state
	case err != nil:
		return http.StatusBadRequest // also below 1.41: the state is checked first
	case state == node.InspectWait && (version == "1.13" || version == "1.40"):
		return http.StatusNotAcceptable
	case state == node.WaitCallback:
		return http.StatusNotAcceptable // of 1.110, which is above the ceiling
	case state == node.InspectWait && strings.Contains(strings.Join(abortable, " "), inspect):
		return http.StatusAccepted
	}
	return http.StatusBadRequest
}

func TestAbortForEveryStateVersionAndInterface(t *testing.T) {
	a := serveForTest(t, false)
	for _, state := range node.States() {
		for _, inspect := range abortInterfaces {
			for _, version := range abortVersions {
				t.Run(fmt.Sprintf("%s, %s, %q", state, inspect, version), func(t *testing.T) {
					n, _ := a.nodeIn(state, inspect)
					want := abortStatus(state, version, inspect)
					before := a.get("/v1/nodes/" + n.UUID)
					status, header, body := a.send("PUT", "/v1/nodes/"+n.UUID+"/states/provision", version, map[string]string{"target": "abort"})
					if status != want {
						t.Fatalf("status %d, want %d: %s", status, want, body)
					}
					after := a.get("/v1/nodes/" + n.UUID)
					history := a.get("/v1/nodes/" + n.UUID + "/history?detail=true")["history"].([]any)
					if want != http.StatusAccepted {
						if diff := cmp.Diff(before, after); diff != "" {
							t.Errorf("a refused abort changed the node (-before +after):\n%s", diff)
						}
						if len(history) != 0 {
							t.Errorf("a refused abort left history: %v", history)
						}
						return
					}
					if location := header.Get("Location"); len(body) != 0 || !strings.HasSuffix(location, "/v1/nodes/"+n.UUID+"/states") {
						t.Errorf("body %q, Location %q", body, location)
					}
					checkAborted(t, after, history)
				})
			}
		}
	}
}

// checkAborted is contract.md §2.7, with the differences of design.md §4, point 5.
func checkAborted(t *testing.T, n map[string]any, history []any) {
	t.Helper()
	for field, want := range map[string]any{
		"provision_state": "inspect failed", "target_provision_state": "manageable", "reservation": nil,
		"last_error": "Inspection was aborted by request.", "inspection_started_at": nil, "inspection_finished_at": nil,
		"power_state": "power on", "target_power_state": "power off",
	} {
		if n[field] != want {
			t.Errorf("%s is %v, want %v", field, n[field], want)
		}
	}
	if internal := n["driver_internal_info"].(map[string]any); len(internal) != 0 {
		t.Errorf("driver_internal_info still has %v", internal)
	}
	if len(history) != 1 {
		t.Fatalf("%d history entries, want one: %v", len(history), history)
	}
	entry := history[0].(map[string]any)
	for field, want := range map[string]any{
		"severity": "ERROR", "event_type": "introspection", "event": "Inspection was aborted by request.",
	} {
		if entry[field] != want {
			t.Errorf("history: %s is %v, want %v", field, entry[field], want)
		}
	}
}

func TestAbortOfAnUnknownNodeIs404BeforeAnythingElse(t *testing.T) {
	a := serveForTest(t, false)
	for _, version := range []string{"1.4", "1.12", "latest"} {
		status, _, body := a.send("PUT", "/v1/nodes/"+node.NewUUID()+"/states/provision", version, map[string]string{"target": "abort"})
		if status != http.StatusNotFound {
			t.Errorf("version %s: %d %s", version, status, body)
		}
	}
}

func TestAbortOfAHeldNodeIs409(t *testing.T) {
	a := serveForTest(t, false)
	a.conductor.LockPatience = 200 * time.Millisecond
	for _, state := range []node.State{node.Inspecting, node.InspectWait, node.Manageable} {
		t.Run(string(state), func(t *testing.T) {
			n, at := a.nodeIn(state, "agent")
			if _, err := a.store.Move(t.Context(), node.Move{Node: n.UUID, From: state, Attempt: at.ID, Hold: "somebody", Host: "rack-7", At: time.Now()}); err != nil {
				t.Fatal(err)
			}
			status, _, body := a.send("PUT", "/v1/nodes/"+n.UUID+"/states/provision", "1.41", map[string]string{"target": "abort"})
			if want := "is locked by host rack-7"; status != http.StatusConflict || !strings.Contains(string(body), want) {
				t.Errorf("%d %s", status, body)
			}
			if now := a.get("/v1/nodes/" + n.UUID)["provision_state"]; now != string(state) {
				t.Errorf("the node went to %v", now)
			}
		})
	}
}

// Two hundred requests that end an attempt meet on one node: one wins, everybody is answered, nothing is half done
// (G01, G02, G15, G19).
func TestTwoHundredAbortsAndReportsHaveOneWinner(t *testing.T) {
	a := serveForTest(t, true)
	const mac = "02:00:5e:00:00:01"
	n, at := a.nodeIn(node.InspectWait, "agent")
	if _, err := a.conductor.CreatePort(t.Context(), node.System(), node.Port{NodeUUID: n.UUID, Address: mac, PXEEnabled: true}); err != nil {
		t.Fatal(err)
	}
	report := []byte(`{"inventory":{"interfaces":[{"name":"eno1","mac_address":"` + mac + `","ipv4_address":"192.0.2.7","has_carrier":true}],
		"cpu":{"architecture":"x86_64","count":4},"memory":{"physical_mb":4096},"disks":[]},"error":null}`)
	var (
		mu       sync.Mutex
		statuses = map[string]map[int]int{"abort": {}, "report": {}}
		all      sync.WaitGroup
		begin    = make(chan struct{})
	)
	request := func(kind, method, path, version string, body any) {
		all.Go(func() {
			<-begin
			status, _, _ := a.send(method, path, version, body)
			mu.Lock()
			defer mu.Unlock()
			statuses[kind][status]++
		})
	}
	for range 100 {
		request("abort", "PUT", "/v1/nodes/"+n.UUID+"/states/provision", "latest", map[string]string{"target": "abort"})
		request("report", "POST", "/v1/continue_inspection?attempt="+string(at.Token), "", report)
	}
	close(begin)
	all.Wait()

	if won := statuses["abort"][202] + statuses["report"][202]; won != 1 {
		t.Errorf("%d winners: %v", won, statuses)
	}
	for kind, allowed := range map[string][]int{"abort": {202, 400, 409}, "report": {202, 404, 409}} {
		answered := 0
		for _, s := range allowed {
			answered += statuses[kind][s]
		}
		if answered != 100 {
			t.Errorf("%s: %v, only %v are right answers", kind, statuses[kind], allowed)
		}
	}
	a.checkOneEnd(t, n, at, statuses["abort"][202] == 1)
}

// checkOneEnd waits for the attempt's end and looks at what is left of it.
func (a *testAppliance) checkOneEnd(t *testing.T, n node.Node, at node.Attempt, aborted bool) {
	t.Helper()
	changes := a.store.Watch(t.Context())
	for {
		now, err := a.store.Attempt(t.Context(), at.ID)
		if err != nil {
			t.Fatal(err)
		}
		if now.State.Ended() {
			break
		}
		select {
		case <-changes:
		case <-t.Context().Done():
			t.Fatal("the attempt never ended")
		}
	}
	want := node.Manageable
	if aborted {
		want = node.InspectFailed
	}
	if now := a.get("/v1/nodes/" + n.UUID)["provision_state"]; now != string(want) {
		t.Errorf("the node is %v, want %s", now, want)
	}
	history, err := a.store.History(t.Context(), n.UUID, node.Page{})
	if err != nil {
		t.Fatal(err)
	}
	final := 0
	for _, h := range history {
		if h.Final {
			final++
		}
	}
	if final != 1 {
		t.Errorf("%d final entries: %v", final, history)
	}
}
