package main

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"runtime/debug"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"cagenut/bmc/sim"
	"cagenut/node"
)

// Cases that are about many requests at once, over real HTTP on the real appliance.

// tally counts answers by status.
type tally struct {
	mu    sync.Mutex
	count map[int]int
}

func (t *tally) add(status int) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.count == nil {
		t.count = map[int]int{}
	}
	t.count[status]++
}

// only fails the test for answers of another status than those.
func (t *tally) only(tt *testing.T, what string, allowed ...int) {
	tt.Helper()
	others := 0
	for _, n := range t.count {
		others += n
	}
	for _, s := range allowed {
		others -= t.count[s]
	}
	if others != 0 {
		tt.Errorf("%s were answered %v, only %v are right", what, t.count, allowed)
	}
}

// crowd makes nodes in `inspect wait`, each with a port and a pretended BMC.
func (a *testAppliance) crowd(n int) ([]node.Node, []node.Attempt) {
	a.t.Helper()
	nodes, attempts := make([]node.Node, n), make([]node.Attempt, n)
	for i := range n {
		made, err := a.conductor.CreateNode(a.t.Context(), node.System(), node.Node{
			Driver: node.DriverFake, ProvisionState: node.Manageable, PowerState: node.PowerOn, Interfaces: node.Interfaces{Inspect: "agent"},
		})
		if err != nil {
			a.t.Fatal(err)
		}
		if _, err := a.conductor.CreatePort(a.t.Context(), node.System(), node.Port{NodeUUID: made.UUID, Address: crowdMAC(i), PXEEnabled: true}); err != nil {
			a.t.Fatal(err)
		}
		nodes[i], attempts[i] = a.waiting(made)
	}
	return nodes, attempts
}

// raceDetector tells whether the tests were built with it.
func raceDetector() bool {
	info, _ := debug.ReadBuildInfo()
	return info != nil && slices.Contains(info.Settings, debug.BuildSetting{Key: "-race", Value: "true"})
}

func crowdMAC(i int) string { return fmt.Sprintf("02:00:5e:01:%02x:%02x", i>>8, i&0xff) }

func crowdReport(i int) []byte {
	return []byte(`{"inventory":{"interfaces":[{"name":"eno1","mac_address":"` + crowdMAC(i) + `","ipv4_address":"192.0.2.7","has_carrier":true}],
		"cpu":{"architecture":"x86_64","count":4},"memory":{"physical_mb":4096},"disks":[]},"error":null}`)
}

// G15 and G02: 200 servers report at once, 50 of them are aborted in the same moment, people look on and the power is
// read. Nobody sees a locked database, what was answered with success is so, and each attempt has one end.
func TestTwoHundredReportsAndFiftyAbortsAtOnceAddUp(t *testing.T) {
	a := serveForTest(t, true, func(s *settings) { s.PowerSyncInterval = 5 * time.Second })
	all, aborts := 200, 50
	if raceDetector() {
		all, aborts = 20, 8 // it makes the database, which is machine-made Go, twenty times slower
	}
	nodes, attempts := a.crowd(all)
	var (
		work, looking           sync.WaitGroup
		reported, aborted, seen tally
		begin, stop             = make(chan struct{}), make(chan struct{})
		wasAborted              = make([]bool, all)
	)
	for _, path := range []string{"/v1/nodes/detail", "/v1/nodes?provision_state=inspect%20wait&limit=20", "/ui", "/v1/ports/detail"} {
		looking.Go(func() {
			<-begin
			for again := time.NewTicker(500 * time.Millisecond); ; {
				status, _, _ := a.send("GET", path, "latest", nil)
				seen.add(status)
				select {
				case <-again.C:
				case <-stop:
					again.Stop()
					return
				}
			}
		})
	}
	for i := range all {
		work.Go(func() {
			<-begin
			status := http.StatusConflict
			for status == http.StatusConflict { // ramdisks try again then
				status, _, _ = a.send("POST", "/v1/continue_inspection?attempt="+string(attempts[i].Token), "", crowdReport(i))
			}
			reported.add(status)
		})
		if i >= aborts {
			continue
		}
		work.Go(func() {
			<-begin
			status, _, _ := a.send("PUT", "/v1/nodes/"+nodes[i].UUID+"/states/provision", "1.41", map[string]string{"target": "abort"})
			wasAborted[i] = status == http.StatusAccepted
			aborted.add(status)
		})
	}
	close(begin)
	work.Wait()
	close(stop)
	looking.Wait()

	reported.only(t, "reports", 202, 404)
	aborted.only(t, "aborts", 202, 400, 409)
	seen.only(t, "lists", 200)
	if won := reported.count[202] + aborted.count[202]; won != all {
		t.Errorf("%d attempts have an end that was answered with success, not %d: reports %v, aborts %v", won, all, reported.count, aborted.count)
	}
	for i, n := range nodes {
		want, event := node.Manageable, "Inspection finished."
		if wasAborted[i] {
			want, event = node.InspectFailed, "Inspection was aborted by request."
		}
		a.untilState(n.UUID, want)
		history, err := a.store.History(t.Context(), n.UUID, node.Page{})
		if err != nil {
			t.Fatal(err)
		}
		var ends []string
		for _, h := range history {
			if h.Final {
				ends = append(ends, h.Event)
			}
			if strings.Contains(h.Event, "can not transition") {
				t.Errorf("history of %s: %s", n.UUID, h.Event)
			}
		}
		if diff := cmp.Diff([]string{event}, ends); diff != "" {
			t.Errorf("ends of %s (-want +got):\n%s", n.UUID, diff)
		}
	}
}

// G16: twenty starts at two doors, one inspection: one answer of success, one attempt, one power cycle.
func TestTwentyStartsAtOnceAreOneInspection(t *testing.T) {
	for _, driver := range []string{node.DriverRedfish, node.DriverIPMI} {
		t.Run(driver, func(t *testing.T) {
			a := serveForTest(t, true)
			o := sim.Options{Servers: 1, Silent: 1}
			if driver == node.DriverIPMI {
				o.IPMI = 1
			}
			s := a.rack(o)[0]
			s.SetPower(node.PowerOn) // G42: a server that is on is cycled all the same
			s.ForgetRequests()
			var (
				all      sync.WaitGroup
				begin    = make(chan struct{})
				answered tally
			)
			for range 10 {
				all.Go(func() {
					<-begin
					status, _, _ := a.send("PUT", "/v1/nodes/"+s.Name+"/states/provision", "latest", map[string]string{"target": "inspect"})
					answered.add(status)
				})
				all.Go(func() {
					<-begin
					resp, err := http.Post("http://"+a.inspectorListener.Addr().String()+"/v1/introspection/"+s.Name, "application/json", nil)
					if err != nil {
						t.Error(err)
						return
					}
					_, _ = io.Copy(io.Discard, resp.Body)
					resp.Body.Close()
					answered.add(resp.StatusCode)
				})
			}
			close(begin)
			all.Wait()
			answered.only(t, "starts", 202, 400, 409)
			if answered.count[202] != 1 {
				t.Errorf("%d starts were accepted: %v", answered.count[202], answered.count)
			}
			a.untilState(s.Name, node.InspectWait)
			if list := a.get("/cagenut/v1/nodes/" + s.Name + "/attempts")["attempts"].([]any); len(list) != 1 {
				t.Errorf("%d attempts", len(list))
			}
			if got := powerCommands(s); got != "off, boot, on" {
				t.Errorf("the BMC was told: %s", got)
			}
		})
	}
}

// powerCommands is what changed a server, in its order and one word each.
func powerCommands(s *sim.Server) string {
	var words []string
	for _, r := range s.Requests() {
		line, word := r.String(), ""
		switch {
		case strings.Contains(line, "ForceOff") || strings.Contains(line, "Power Down"):
			word = "off"
		case r.Method == "PATCH" || strings.Contains(line, "Boot Flags"):
			word = "boot"
		case strings.HasSuffix(line, "Reset On") || strings.Contains(line, "Power Up"):
			word = "on"
		}
		if word != "" && (len(words) == 0 || words[len(words)-1] != word) {
			words = append(words, word)
		}
	}
	return strings.Join(words, ", ")
}

// G47: a delete that was answered is over: once 204, then 404, whoever reads the power or the list meanwhile.
func TestTwoHundredNodesAreCreatedAndDeletedWithoutAConflict(t *testing.T) {
	a := serveForTest(t, true, func(s *settings) { s.PowerSyncInterval = time.Second })
	var (
		all             sync.WaitGroup
		deleted, listed tally
	)
	each := 10
	if raceDetector() {
		each = 3
	}
	for range 20 {
		all.Go(func() {
			for range each {
				// Below 1.11 a node is available at once, and its power is read.
				status, _, body := a.send("POST", "/v1/nodes", "1.10", map[string]any{"driver": "fake-hardware"})
				var made struct{ UUID string }
				if err := json.Unmarshal(body, &made); err != nil || status != http.StatusCreated {
					t.Errorf("create: %d %s", status, body)
					return
				}
				status, _, _ = a.send("GET", "/v1/nodes/detail", "latest", nil)
				listed.add(status)
				status, _, _ = a.send("DELETE", "/v1/nodes/"+made.UUID, "latest", nil)
				deleted.add(status)
				if status, _, _ = a.send("DELETE", "/v1/nodes/"+made.UUID, "latest", nil); status != http.StatusNotFound {
					t.Errorf("the second delete: %d", status)
				}
			}
		})
	}
	all.Wait()
	deleted.only(t, "deletes", 204)
	listed.only(t, "lists", 200)
	if left := a.get("/v1/nodes")["nodes"].([]any); len(left) != 0 {
		t.Errorf("%d nodes are left", len(left))
	}
}

// G60: of two creations of the same thing one succeeds and the other is told so, and there is one of it.
func TestTheSameCreationTwiceAtOnceSucceedsOnce(t *testing.T) {
	a := serveForTest(t, false)
	owner := a.fakeNode("owner", nil)["uuid"]
	for _, c := range []struct {
		name, path, key string
		body            func(i int) map[string]any
	}{
		{"a node by its UUID", "/v1/nodes", "nodes", func(int) map[string]any { return map[string]any{"driver": "fake-hardware", "uuid": node.NewUUID()} }},
		{"a node by its name", "/v1/nodes", "nodes", func(i int) map[string]any {
			return map[string]any{"driver": "fake-hardware", "name": fmt.Sprint("n", i)}
		}},
		{"a node by its instance", "/v1/nodes", "nodes", func(int) map[string]any {
			return map[string]any{"driver": "fake-hardware", "instance_uuid": node.NewUUID()}
		}},
		{"a port by its MAC", "/v1/ports", "ports", func(i int) map[string]any { return map[string]any{"node_uuid": owner, "address": crowdMAC(i)} }},
		{"a port by its UUID and MAC", "/v1/ports", "ports", func(i int) map[string]any {
			return map[string]any{"node_uuid": owner, "address": crowdMAC(1000 + i), "uuid": node.NewUUID()}
		}},
		{"a chassis by its UUID", "/v1/chassis", "chassis", func(int) map[string]any { return map[string]any{"uuid": node.NewUUID()} }},
	} {
		t.Run(c.name, func(t *testing.T) {
			const rounds = 20
			before := len(a.get(c.path)[c.key].([]any))
			for i := range rounds {
				var (
					both     sync.WaitGroup
					answered tally
					body     = c.body(i)
				)
				for range 2 {
					both.Go(func() {
						status, _, answer := a.send("POST", c.path, "latest", body)
						answered.add(status)
						if status == http.StatusConflict && !strings.Contains(string(answer), "already") {
							t.Errorf("the refusal does not say why: %s", answer)
						}
					})
				}
				both.Wait()
				if answered.count[201] != 1 || answered.count[409] != 1 {
					t.Fatalf("answered %v", answered.count)
				}
			}
			if now := len(a.get(c.path)[c.key].([]any)); now != before+rounds {
				t.Errorf("%d are there, %d were made", now-before, rounds)
			}
		})
	}
}
