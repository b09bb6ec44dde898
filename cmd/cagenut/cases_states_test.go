package main

import (
	"encoding/json"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"cagenut/bmc/sim"
	"cagenut/node"
)

// G09: nothing of an aborted run's ramdisk is left. The next inspection has a token of its own, is a fresh run at both
// APIs and works the first time.
func TestTheRamdiskOfAnAbortedRunIsAStrangerToTheNext(t *testing.T) {
	t.Parallel()
	a := serveForTest(t, true)
	a.manageable("again", nil)
	uuid := a.get("/v1/nodes/again")["uuid"].(string)
	a.wants("POST", "/v1/ports", map[string]any{"node_uuid": uuid, "address": crowdMAC(1)}, http.StatusCreated)
	token := func() string {
		t.Helper()
		var doc struct {
			Config struct {
				Token string `json:"agent_token"`
			}
		}
		if err := json.Unmarshal(a.wants("GET", "/v1/lookup?addresses="+crowdMAC(1), nil, http.StatusOK), &doc); err != nil {
			t.Fatal(err)
		}
		return doc.Config.Token
	}
	beat := func(token, url string, want int) {
		t.Helper()
		a.wants("POST", "/v1/heartbeat/"+uuid, map[string]any{"callback_url": url, "agent_version": "10.1.0", "agent_token": token}, want)
	}
	left := func() (keys []string) {
		for key := range a.get("/v1/nodes/again")["driver_internal_info"].(map[string]any) {
			if strings.HasPrefix(key, "agent_") {
				keys = append(keys, key)
			}
		}
		return keys
	}

	a.provision("again", "inspect")
	first := a.untilState("again", node.InspectWait)
	old := token()
	if again := token(); len(old) != 43 || again != node.Mask {
		t.Errorf("the token has %d characters, the second lookup tells %q", len(old), again)
	}
	beat(old, "https://192.0.2.40:9999", http.StatusAccepted)
	if len(left()) == 0 {
		t.Error("the heartbeat left nothing")
	}
	a.provision("again", "abort")
	if keys := left(); keys != nil {
		t.Errorf("after the abort there is still %v", keys)
	}
	beat(old, "https://192.0.2.40:9999", http.StatusBadRequest)
	a.wants("GET", "/v1/lookup?addresses="+crowdMAC(1), nil, http.StatusNotFound)

	a.provision("again", "inspect")
	n := a.untilState("again", node.InspectWait)
	beat(old, "https://192.0.2.40:9999", http.StatusBadRequest)
	if fresh := token(); len(fresh) != 43 || fresh == old {
		t.Errorf("the next run has the token of the one before, or none: %d characters", len(fresh))
	} else {
		beat(fresh, "https://192.0.2.41:9999", http.StatusAccepted)
	}
	run := a.introspection(uuid)
	if run["finished"] != false || run["error"] != nil || run["finished_at"] != nil || run["state"] != "waiting" {
		t.Errorf("the inspector tells of the next run %v", run)
	}
	attempts := map[string]node.Attempt{}
	for _, id := range []string{first.AttemptID, n.AttemptID} {
		at, err := a.store.Attempt(t.Context(), id)
		if err != nil {
			t.Fatal(err)
		}
		attempts[id] = at
	}
	for id, want := range map[string]int{first.AttemptID: http.StatusNotFound, n.AttemptID: http.StatusAccepted} {
		if status, _, body := a.send("POST", "/v1/continue_inspection?attempt="+string(attempts[id].Token), "", crowdReport(1)); status != want {
			t.Errorf("the report of attempt %d: %d %s", attempts[id].Number, status, body)
		}
	}
	a.untilState("again", node.Manageable)
	if keys := left(); keys != nil {
		t.Errorf("after the success there is still %v", keys)
	}
}

// G40: in `inspecting` a change is refused and a node not deleted, in `inspect wait` a change is taken; maintenance comes
// and goes at any time, and the report is heard all the same.
func TestChangesWhileANodeIsInspected(t *testing.T) {
	t.Parallel()
	a := serveForTest(t, true, func(s *settings) { s.StartTimeout = time.Minute })
	a.manageable("slow", map[string]any{"driver_info": map[string]any{"fake_answer_delay": 1}})
	change := []map[string]any{{"op": "add", "path": "/extra/note", "value": "x"}}
	four := func(state node.State, version string, patch int, patchText, deleteText string) {
		t.Helper()
		uuid := a.get("/v1/nodes/slow")["uuid"].(string)
		status, _, body := a.send("PATCH", "/v1/nodes/slow", version, change)
		if status != patch || !strings.Contains(string(body), strings.ReplaceAll(patchText, "UUID", uuid)) {
			t.Errorf("PATCH in %s, %s: %d %s", state, version, status, body)
		}
		if body := string(a.wants("DELETE", "/v1/nodes/slow", nil, http.StatusConflict)); !strings.Contains(body, deleteText) {
			t.Errorf("DELETE in %s: %s", state, body)
		}
		a.wants("PUT", "/v1/nodes/slow/maintenance", map[string]any{"reason": "fan"}, http.StatusAccepted)
		a.wants("DELETE", "/v1/nodes/slow/maintenance", nil, http.StatusAccepted)
		if n, err := a.store.Node(t.Context(), "slow"); err != nil || n.ProvisionState != state {
			t.Fatalf("the node became %q, %v", n.ProvisionState, err)
		}
	}
	a.provision("slow", "inspect")
	four(node.Inspecting, "1.39", http.StatusConflict, `Cannot update node \\\"UUID\\\" while it is in state \\\"inspecting\\\".`, "is locked by host")
	n := a.untilState("slow", node.InspectWait)
	four(node.InspectWait, "1.39", http.StatusOK, "UUID", "'manageable', 'enroll', 'adopt failed', 'available'")
	four(node.InspectWait, "1.38", http.StatusOK, "UUID", "'manageable', 'enroll', 'adopt failed', 'available'")
	at, err := a.store.Attempt(t.Context(), n.AttemptID)
	if err != nil {
		t.Fatal(err)
	}
	if status, _, body := a.send("POST", "/v1/continue_inspection?attempt="+string(at.Token), "", crowdReport(1)); status != http.StatusAccepted {
		t.Fatalf("the report: %d %s", status, body)
	}
	a.untilState("slow", node.Manageable)
}

// G41: a start that fails half way says why within seconds, waits for no ramdisk and leaves nothing switched on.
func TestAStartThatFailsHalfWayLeavesNothingOn(t *testing.T) {
	for _, driver := range []string{node.DriverRedfish, node.DriverIPMI} {
		for name, c := range map[string]struct {
			faults sim.Faults
			heal   bool // the BMC must be put right before anything can be switched off
		}{
			"the boot device is refused": {sim.Faults{RefuseBoot: true}, false},
			"the boot device is ignored": {sim.Faults{IgnoreBoot: true}, false},
			"the BMC is always busy":     {sim.Faults{Busy: -1}, true},
			"the password is refused":    {sim.Faults{RefuseLogin: true}, true},
			"power commands do nothing":  {sim.Faults{StuckPower: true}, true},
		} {
			if driver == node.DriverIPMI && (c.faults.IgnoreBoot || c.faults.Busy != 0) {
				continue // IPMI has no way to read the override that can be relied on, and a busy BMC has no session left for a minute
			}
			t.Run(driver+", "+name, func(t *testing.T) {
				t.Parallel()
				a := serveForTest(t, true, func(s *settings) { s.StartTimeout = 5 * time.Second })
				o := sim.Options{Servers: 1, Silent: 1, FirstAddress: "127.0.0.1"}
				if driver == node.DriverIPMI {
					o.IPMI = 1
				}
				s := a.rack(o)[0]
				s.SetPower(node.PowerOn)
				s.SetFaults(c.faults)
				began := time.Now()
				a.provision(s.Name, "inspect")
				n := a.untilState(s.Name, node.InspectFailed)
				if took := time.Since(began); took > 20*time.Second || !strings.HasPrefix(n.LastError, "unable to start inspection: ") {
					t.Errorf("after %s: %q", took, n.LastError)
				}
				for _, h := range a.get("/v1/nodes/" + s.Name + "/history?detail=true")["history"].([]any) {
					if h.(map[string]any)["state"] == "inspect wait" {
						t.Errorf("it waited for a ramdisk: %v", h)
					}
				}
				if c.heal {
					s.SetFaults(sim.Faults{})
				}
				a.until(s.Name, "off", offAndFree)
				if s.Power() != node.PowerOff {
					t.Error("the server was left on")
				}
			})
		}
	}
}

// G63: whatever reads answers while a worker holds the node and its BMC is slow. What has to ask the BMC waits for it, and
// nothing says that the node is locked.
func TestEverythingReadsWhileTheNodeIsHeldAndItsBMCIsSlow(t *testing.T) {
	t.Parallel()
	a := serveForTest(t, true)
	a.manageable("held", map[string]any{"driver_info": map[string]any{"fake_answer_delay": 0.1}})
	uuid := a.get("/v1/nodes/held")["uuid"].(string)
	a.wants("POST", "/v1/ports", map[string]any{"node_uuid": uuid, "address": crowdMAC(1), "name": "port-of-held"}, http.StatusCreated)
	a.wants("PATCH", "/v1/nodes/held", []map[string]any{{"op": "add", "path": "/driver_info/fake_answer_delay", "value": 5}}, http.StatusOK)
	if _, err := a.store.Move(t.Context(), node.Move{Node: uuid, From: node.Manageable, Hold: "test", Host: "rack-7", At: time.Now()}); err != nil {
		t.Fatal(err)
	}

	var asking, lacking, reading, paths []string
	for _, r := range a.app.GetRoutes(true) {
		path := r.Path
		if strings.HasSuffix(path, ".json") {
			continue // another name of the same
		}
		for param, value := range map[string]string{":node": uuid, ":ident": uuid, ":port": "port-of-held"} {
			path = strings.ReplaceAll(path, param, value)
		}
		switch {
		case r.Method != http.MethodGet || strings.ContainsAny(path, ":*") || slices.Contains(paths, path):
			continue
		case !strings.HasPrefix(path, "/v1/nodes") && !strings.HasPrefix(path, "/v1/ports"):
			continue
		case strings.Contains(path, "/management/"):
			asking = append(asking, path)
		case strings.HasSuffix(path, "/vmedia"):
			lacking = append(lacking, path) // waits for its turn at the BMC, which then says at once that it has none
		default:
			reading = append(reading, path)
		}
		paths = append(paths, path)
	}
	for _, path := range []string{"", "/states", "/ports", "/inventory", "/history", "/validate", "/traits", "/management/boot_device"} {
		if !slices.Contains(paths, "/v1/nodes/"+uuid+path) {
			t.Errorf("GET …%s was not tried, but %v", path, paths)
		}
	}
	get := func(path string, allowed ...int) {
		status, _, body := a.send("GET", path, "latest", nil)
		if status == http.StatusConflict || status >= 500 && !slices.Contains(allowed, status) {
			t.Errorf("GET %s: %d %s", path, status, body)
		}
	}
	var (
		asked sync.WaitGroup
		first = make(chan string, len(asking))
	)
	for _, path := range asking {
		asked.Go(func() {
			get(path, http.StatusServiceUnavailable, http.StatusGatewayTimeout)
			first <- path
		})
	}
	for _, path := range lacking {
		asked.Go(func() { get(path, http.StatusServiceUnavailable, http.StatusGatewayTimeout) })
	}
	for _, path := range reading {
		get(path)
		select {
		case done := <-first:
			t.Fatalf("GET %s was answered after the BMC had answered %s", path, done)
		default:
		}
	}
	asked.Wait()
}
