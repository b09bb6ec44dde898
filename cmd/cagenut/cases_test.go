package main

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"cagenut/bmc/sim"
	"cagenut/node"
)

// Cases of comparable products (G numbers), over real HTTP on the real appliance. Those that are about many requests at
// once are in crowd_test.go, those about what a node is just doing in cases_states_test.go.

// fakeNode makes a node with a pretended BMC, over the wire.
func (a *testAppliance) fakeNode(name string, more map[string]any) map[string]any {
	a.t.Helper()
	body := map[string]any{"name": name, "driver": "fake-hardware", "inspect_interface": "agent"}
	for k, v := range more {
		body[k] = v
	}
	status, _, answer := a.send("POST", "/v1/nodes", "latest", body)
	if status != http.StatusCreated {
		a.t.Fatalf("create %s: %d %s", name, status, answer)
	}
	return a.get("/v1/nodes/" + name)
}

// manageable makes such a node and lets its BMC be verified.
func (a *testAppliance) manageable(name string, more map[string]any) {
	a.t.Helper()
	a.fakeNode(name, more)
	a.provision(name, "manage")
	a.until(name, "manageable and free", func(n node.Node) bool { return n.ProvisionState == node.Manageable && !n.Reserved() })
}

// introspection is a run as the inspector's API tells it.
func (a *testAppliance) introspection(uuid string) map[string]any {
	a.t.Helper()
	resp, err := http.Get("http://" + a.inspectorListener.Addr().String() + "/v1/introspection/" + uuid)
	if err != nil {
		a.t.Fatal(err)
	}
	defer resp.Body.Close()
	doc := map[string]any{}
	if err := json.NewDecoder(resp.Body).Decode(&doc); err != nil || resp.StatusCode != http.StatusOK {
		a.t.Fatalf("introspection of %s: %d, %v", uuid, resp.StatusCode, err)
	}
	return doc
}

func (a *testAppliance) wants(method, path string, body any, want int) []byte {
	a.t.Helper()
	status, _, answer := a.send(method, path, "latest", body)
	if status != want {
		a.t.Errorf("%s %s: %d, want %d: %s", method, path, status, want, answer)
	}
	return answer
}

// G03: programs tell a wanted stop from a failure by one word, and nothing that happens to the node afterwards takes it.
func TestTheWordAbortedIsInTheTextOfAnAbortAloneAndStaysThere(t *testing.T) {
	t.Parallel()
	a := serveForTest(t, true, func(s *settings) { s.InspectTimeout, s.PowerSyncInterval = 2*time.Second, time.Second })
	servers := a.rack(sim.Options{Servers: 2, Silent: 2})
	aborted, late := servers[0], servers[1]
	a.provision(aborted.Name, "inspect")
	a.untilState(aborted.Name, node.InspectWait)
	a.provision(aborted.Name, "abort")
	a.provision(late.Name, "inspect")
	a.until(aborted.Name, "off after clean-up", offAndFree)

	text := func(s *sim.Server) string {
		t.Helper()
		doc := a.get("/v1/nodes/" + s.Name + "?fields=last_error,provision_state")
		if doc["provision_state"] != "inspect failed" {
			t.Errorf("%s is %v", s.Name, doc["provision_state"])
		}
		return doc["last_error"].(string)
	}
	const want = "Inspection was aborted by request."
	steady := func(after string) {
		t.Helper()
		if got := text(aborted); got != want {
			t.Errorf("after %s: %q", after, got)
		}
	}
	steady("clean-up")
	power := "/v1/nodes/" + aborted.Name + "/states/power"
	for _, target := range []string{"power on", "soft power off", "rebooting", "power off"} {
		a.wants("PUT", power, map[string]any{"target": target}, http.StatusAccepted)
		steady("asking for " + target)
		a.until(aborted.Name, target, func(n node.Node) bool { return !n.Reserved() && n.TargetPowerState == "" })
		steady(target)
	}
	aborted.SetFaults(sim.Faults{RefuseLogin: true})
	a.wants("PUT", power, map[string]any{"target": "power on"}, http.StatusAccepted)
	a.until(aborted.Name, "the end of a power action that fails", func(n node.Node) bool { return !n.Reserved() })
	steady("a power action that failed")
	a.wants("PUT", "/v1/nodes/"+aborted.Name+"/maintenance", map[string]any{"reason": "fan"}, http.StatusAccepted)
	a.wants("DELETE", "/v1/nodes/"+aborted.Name+"/maintenance", nil, http.StatusAccepted)
	a.wants("PATCH", "/v1/nodes/"+aborted.Name, []map[string]any{{"op": "add", "path": "/extra/note", "value": "x"}}, http.StatusOK)
	steady("maintenance and a change")
	aborted.SetFaults(sim.Faults{})
	aborted.SetPower(node.PowerOn)
	a.until(aborted.Name, "the next power sync", func(n node.Node) bool { return n.PowerState == node.PowerOn })
	steady("a power sync")

	a.untilState(late.Name, node.InspectFailed)
	if got := text(late); !strings.HasPrefix(got, "Timeout reached while inspecting the node.") || strings.Contains(got, "aborted") {
		t.Errorf("the time-out's text is %q", got)
	}
}

// G28: a card that another node had before is named in the result and stays that node's.
func TestAReportedMACOfAnotherNodeIsNamedAndNotStolen(t *testing.T) {
	t.Parallel()
	a := serveForTest(t, true)
	s := a.rack(sim.Options{Servers: 1, Silent: 1})[0]
	const foreign = "02:00:5e:00:00:09"
	owner := a.fakeNode("n2", nil)["uuid"].(string)
	a.wants("POST", "/v1/ports", map[string]any{"node_uuid": owner, "address": foreign}, http.StatusCreated)
	before := a.get("/v1/ports/detail?address=" + foreign)

	a.provision(s.Name, "inspect")
	n := a.untilState(s.Name, node.InspectWait)
	at, err := a.store.Attempt(t.Context(), n.AttemptID)
	if err != nil {
		t.Fatal(err)
	}
	report := strings.Replace(string(s.Report()), `"interfaces":[`, `"interfaces":[{"name":"moved0","mac_address":"`+foreign+`","ipv4_address":"192.0.2.77"},`, 1)
	if status, _, body := a.send("POST", "/v1/continue_inspection?attempt="+string(at.Token), "", []byte(report)); status != http.StatusAccepted {
		t.Fatalf("%d %s", status, body)
	}
	a.untilState(s.Name, node.Manageable)
	if diff := cmp.Diff(before, a.get("/v1/ports/detail?address="+foreign)); diff != "" {
		t.Errorf("the port changed (-before +after):\n%s", diff)
	}
	notes, _ := a.get("/cagenut/v1/nodes/" + s.Name + "/attempts")["attempts"].([]any)[0].(map[string]any)["notes"].([]any)
	want := "MAC " + foreign + " was reported, but its port belongs to node " + owner + " and stays there"
	if !slices.Contains(notes, any(want)) {
		t.Errorf("the attempt notes %q", notes)
	}
}

// G44: when it ran is on the node while it runs and after a success; after an abort it is in the attempts, the history
// and the inspector's status. All times are UTC with a zone.
func TestTimesOfARunAreWhereTheyBelong(t *testing.T) {
	t.Parallel()
	a := serveForTest(t, true)
	s := a.rack(sim.Options{Servers: 1, Silent: 1})[0]
	instant := func(what string, v any) time.Time {
		t.Helper()
		text, _ := v.(string)
		at, err := time.Parse(time.RFC3339Nano, text)
		if err != nil || !strings.HasSuffix(text, "Z") && !strings.HasSuffix(text, "+00:00") {
			t.Errorf("%s is %v, no UTC time with a zone", what, v)
		}
		return at
	}
	run := func(end func(node.Node), state node.State, finished bool) {
		t.Helper()
		began := time.Now().Add(-time.Second)
		a.provision(s.Name, "inspect")
		n := a.untilState(s.Name, node.InspectWait)
		doc := a.get("/v1/nodes/" + s.Name)
		started := instant("inspection_started_at", doc["inspection_started_at"])
		if started.Before(began) || doc["inspection_finished_at"] != nil {
			t.Errorf("while it runs: started %v, finished %v", doc["inspection_started_at"], doc["inspection_finished_at"])
		}
		end(n)
		a.untilState(s.Name, state)
		doc = a.get("/v1/nodes/" + s.Name)
		if doc["inspection_started_at"] != nil || (doc["inspection_finished_at"] != nil) != finished {
			t.Errorf("%s: started %v, finished %v", state, doc["inspection_started_at"], doc["inspection_finished_at"])
		}
		if finished {
			instant("inspection_finished_at", doc["inspection_finished_at"])
		}
		at := a.get("/cagenut/v1/nodes/" + s.Name + "/attempts")["attempts"].([]any)[0].(map[string]any)
		moment := func(key string) any { return at[key].(map[string]any)["at"] }
		status := a.introspection(n.UUID)
		for _, key := range []string{"started_at", "finished_at"} {
			status[key] = fmt.Sprint(status[key]) + "Z" // the inspector's times have no zone and are UTC, contract.md §5.2
		}
		for what, pair := range map[string][2]any{"attempt": {moment("started"), moment("ended")}, "inspector": {status["started_at"], status["finished_at"]}} {
			from, to := instant(what+"'s start", pair[0]), instant(what+"'s end", pair[1])
			if from.Before(began) || to.Before(from) || time.Since(to) > time.Minute {
				t.Errorf("%s ran from %s to %s", what, from, to)
			}
		}
		history := a.get("/v1/nodes/" + s.Name + "/history?detail=true")["history"].([]any)
		instant("history", history[len(history)-1].(map[string]any)["created_at"])
	}
	run(func(node.Node) { a.provision(s.Name, "abort") }, node.InspectFailed, false)
	run(func(n node.Node) {
		at, err := a.store.Attempt(t.Context(), n.AttemptID)
		if err != nil {
			t.Fatal(err)
		}
		if status, err := s.SendReport(t.Context(), nil, a.base+"/v1/continue_inspection?attempt="+string(at.Token)); err != nil || status != http.StatusAccepted {
			t.Fatalf("report: %d %v", status, err)
		}
	}, node.Manageable, true)
}

// G46: who did it stands in the history in full, whichever door they came through, page by page.
func TestHistoryNamesWhoDidItAndIsReadInPages(t *testing.T) {
	a := serveForTest(t, false, func(s *settings) { s.Auth = "basic" })
	long := strings.Repeat("u", 64)
	for _, name := range []string{long, "browser"} {
		if err := addUser(t.Context(), a.store, name, "not-a-real-one", "operator"); err != nil {
			t.Fatal(err)
		}
	}
	n, _ := a.nodeIn(node.InspectWait, "agent")
	as := func(user, method, path, kind, body string) (int, []byte) {
		t.Helper()
		req, err := http.NewRequestWithContext(t.Context(), method, a.base+path, strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		req.SetBasicAuth(user, "not-a-real-one")
		req.Header.Set("Content-Type", kind)
		req.Header.Set("X-OpenStack-Ironic-API-Version", "1.78")
		resp, err := http.DefaultClient.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		defer resp.Body.Close()
		answer, err := io.ReadAll(resp.Body)
		if err != nil {
			t.Fatal(err)
		}
		return resp.StatusCode, answer
	}
	if status, body := as(long, "PUT", "/v1/nodes/"+n.UUID+"/states/provision", "application/json", `{"target":"abort"}`); status != http.StatusAccepted {
		t.Fatalf("abort over REST: %d %s", status, body)
	}
	n, err := a.store.Node(t.Context(), n.UUID)
	if err != nil {
		t.Fatal(err)
	}
	n, at := a.waiting(n)
	if status, body := as("browser", "POST", "/ui/nodes/"+n.UUID+"/provision", "application/x-www-form-urlencoded", "verb=abort&attempt="+at.ID); status >= 400 {
		t.Fatalf("abort in the dashboard: %d %s", status, body)
	}
	var users []string
	marker := ""
	for range 3 {
		_, body := as(long, "GET", "/v1/nodes/"+n.UUID+"/history?limit=1&detail=true"+marker, "", "")
		var page struct{ History []map[string]any }
		if err := json.Unmarshal(body, &page); err != nil {
			t.Fatalf("%v: %s", err, body)
		}
		if len(page.History) == 0 {
			break
		}
		entry := page.History[0]
		users = append(users, entry["user"].(string))
		for _, key := range []string{"event", "event_type", "severity", "created_at"} {
			if s, _ := entry[key].(string); s == "" {
				t.Errorf("entry %d has no %s: %v", len(users), key, entry)
			}
		}
		marker = "&marker=" + entry["uuid"].(string)
	}
	if diff := cmp.Diff([]string{long, "browser"}, users); diff != "" {
		t.Errorf("who did it, oldest first (-want +got):\n%s", diff)
	}
}
