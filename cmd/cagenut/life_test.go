package main

import (
	"bufio"
	"context"
	"encoding/json"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/gophercloud/gophercloud/v2/openstack/baremetal/noauth"
	"github.com/gophercloud/gophercloud/v2/openstack/baremetal/v1/nodes"
	inspectnoauth "github.com/gophercloud/gophercloud/v2/openstack/baremetalintrospection/noauth"
	"github.com/gophercloud/gophercloud/v2/openstack/baremetalintrospection/v1/introspection"

	"cagenut/bmc/sim"
	"cagenut/node"
)

// rack puts simulated servers in front of a test appliance and enrols them.
func (a *testAppliance) rack(o sim.Options) []*sim.Server {
	a.t.Helper()
	o.BootURL, o.Seed, o.RetryDelay = a.base, 7, 500*time.Millisecond
	rack, err := sim.Start(a.t.Context(), o)
	if err != nil {
		a.t.Fatal(err)
	}
	a.t.Cleanup(func() {
		if err := rack.Close(); err != nil {
			a.t.Error(err)
		}
	})
	if err := enrol(a.t.Context(), a.conductor, rack.Servers()); err != nil {
		a.t.Fatal(err)
	}
	return rack.Servers()
}

func (a *testAppliance) provision(name, target string) {
	a.t.Helper()
	if status, _, body := a.send("PUT", "/v1/nodes/"+name+"/states/provision", "latest", map[string]string{"target": target}); status != http.StatusAccepted {
		a.t.Fatalf("%s %s: %d %s", target, name, status, body)
	}
}

// until waits for a node to be as it should.
func (a *testAppliance) until(name, what string, ok func(node.Node) bool) node.Node {
	a.t.Helper()
	ctx, cancel := context.WithTimeout(a.t.Context(), time.Minute)
	defer cancel()
	changes := a.store.Watch(ctx)
	for {
		n, err := a.store.Node(a.t.Context(), name)
		if err != nil {
			a.t.Fatal(err)
		}
		if ok(n) {
			return n
		}
		if _, open := <-changes; !open {
			a.t.Fatalf("%s never came to %s: it is %q, %s, last error %q", name, what, n.ProvisionState, n.PowerState, n.LastError)
		}
	}
}

func (a *testAppliance) untilState(name string, s node.State) node.Node {
	a.t.Helper()
	return a.until(name, string(s), func(n node.Node) bool { return n.ProvisionState == s })
}

// offAndFree is a node whose clean-up is over.
func offAndFree(n node.Node) bool { return n.PowerState == node.PowerOff && n.TargetPowerState == "" }

func TestAServerIsInspectedOverTheWire(t *testing.T) {
	t.Parallel()
	for _, driver := range []string{node.DriverRedfish, node.DriverIPMI} {
		t.Run(driver, func(t *testing.T) {
			a := serveForTest(t, true)
			o := sim.Options{Servers: 1}
			if driver == node.DriverIPMI {
				o.IPMI = 1
			}
			s := a.rack(o)[0]
			a.provision(s.Name, "inspect")
			a.untilState(s.Name, node.Manageable)
			n := a.until(s.Name, "off after clean-up", offAndFree)
			if n.LastError != "" || n.InspectionFinishedAt.IsZero() || !n.InspectionStartedAt.IsZero() {
				t.Errorf("last error %q, started %v, finished %v", n.LastError, n.InspectionStartedAt, n.InspectionFinishedAt)
			}
			for _, key := range []string{"cpu_arch", "cpus", "memory_mb", "local_gb", "capabilities"} {
				if n.Properties[key] == nil {
					t.Errorf("properties.%s was not filled: %v", key, n.Properties)
				}
			}
			at, err := a.store.Attempt(t.Context(), n.AttemptID)
			if err != nil || at.Outcome != node.Succeeded || at.Proof != node.Proven {
				t.Errorf("attempt %+v, %v", at, err)
			}
			if s.Power() != node.PowerOff || s.Boot().Device != node.BootNone {
				t.Errorf("clean-up left the server %s with override %v", s.Power(), s.Boot())
			}
			checkInventory(t, a.base, n.UUID, s)
		})
	}
}

// checkInventory reads what was stored as Metal3 does.
func checkInventory(t *testing.T, base, uuid string, s *sim.Server) {
	t.Helper()
	client, err := noauth.NewBareMetalNoAuth(noauth.EndpointOpts{IronicEndpoint: base + "/v1/"})
	if err != nil {
		t.Fatal(err)
	}
	client.Microversion = "1.89"
	inv, err := nodes.GetInventory(t.Context(), client, uuid).Extract()
	if err != nil {
		t.Fatal(err)
	}
	if inv.Inventory.CPU.Count == 0 || inv.Inventory.Memory.PhysicalMb == 0 || len(inv.Inventory.Disks) == 0 {
		t.Errorf("the inventory is thin: %+v", inv.Inventory)
	}
	var macs []string
	for _, i := range inv.Inventory.Interfaces {
		macs = append(macs, i.MACAddress)
	}
	if !strings.Contains(strings.Join(macs, " "), s.BootMAC) {
		t.Errorf("the boot MAC %s is not among %v", s.BootMAC, macs)
	}
}

// G01, G04, G08: after an abort the server is off, both APIs say so, and no late report changes anything, not even after
// a re-inspection.
func TestAnAbortedRunStaysAborted(t *testing.T) {
	t.Parallel()
	a := serveForTest(t, true)
	s := a.rack(sim.Options{Servers: 1})[0]
	s.HoldReport()
	a.provision(s.Name, "inspect")
	n := a.untilState(s.Name, node.InspectWait)
	first, err := a.store.Attempt(t.Context(), n.AttemptID)
	if err != nil {
		t.Fatal(err)
	}
	a.provision(s.Name, "abort")
	a.until(s.Name, "off after clean-up", offAndFree)
	if s.Power() != node.PowerOff {
		t.Error("the server still runs")
	}
	inspector, err := inspectnoauth.NewBareMetalIntrospectionNoAuth(inspectnoauth.EndpointOpts{IronicInspectorEndpoint: "http://" + a.inspectorListener.Addr().String() + "/v1/"})
	if err != nil {
		t.Fatal(err)
	}
	status, err := introspection.GetIntrospectionStatus(t.Context(), inspector, n.UUID).Extract()
	if err != nil || !status.Finished || status.State != "error" || status.Error != "Canceled by operator" {
		t.Errorf("the inspector says %+v, %v", status, err)
	}
	doors := map[string]string{
		"Ironic's door": a.base + "/v1/continue_inspection", "the inspector's door": "http://" + a.inspectorListener.Addr().String() + "/v1/continue",
	}
	refused := func(when string) {
		t.Helper()
		for door, url := range doors {
			for _, query := range []string{"?attempt=" + string(first.Token), ""} {
				if query == "" && when == "while the next attempt waits" {
					continue // without a token Ironic's rules apply
				}
				want := http.StatusNotFound
				if query != "" && door == "the inspector's door" {
					want = http.StatusBadRequest // contract.md §5.6
				}
				if got, err := s.SendReport(t.Context(), nil, url+query); err != nil || got != want {
					t.Errorf("%s, %s, token %t: %d %v", when, door, query != "", got, err)
				}
			}
		}
	}
	refused("after the abort")
	after, _ := a.store.Node(t.Context(), s.Name)
	if after.ProvisionState != node.InspectFailed || !strings.Contains(after.LastError, "aborted") {
		t.Errorf("the node became %q: %q", after.ProvisionState, after.LastError)
	}
	if status, _, _ := a.send("GET", "/v1/nodes/"+s.Name+"/inventory", "latest", nil); status != http.StatusNotFound {
		t.Errorf("an inventory was stored: %d", status)
	}
	a.provision(s.Name, "inspect")
	a.untilState(s.Name, node.InspectWait)
	refused("while the next attempt waits")
	if n := a.untilState(s.Name, node.InspectWait); n.AttemptID == first.ID {
		t.Error("the second inspection has no attempt of its own")
	}
	late := 0
	history, _ := a.store.History(t.Context(), n.UUID, node.Page{})
	for _, h := range history {
		if h.Key == "late:"+first.ID {
			late = h.Count
		}
	}
	if late != 6 {
		t.Errorf("%d late reports counted, want 6", late)
	}
	s.ReleaseReport()
	a.untilState(s.Name, node.Manageable)
}

// Both doors complete an attempt, with and without its token.
func TestBothReportDoorsCompleteAnAttempt(t *testing.T) {
	a := serveForTest(t, true)
	s := a.rack(sim.Options{Servers: 1, Silent: 1})[0]
	for _, door := range []string{a.base + "/v1/continue_inspection", "http://" + a.inspectorListener.Addr().String() + "/v1/continue"} {
		for _, proof := range []node.Proof{node.Proven, node.NotProven} {
			a.provision(s.Name, "inspect")
			n := a.untilState(s.Name, node.InspectWait)
			at, err := a.store.Attempt(t.Context(), n.AttemptID)
			if err != nil {
				t.Fatal(err)
			}
			url := door
			if proof == node.Proven {
				url += "?attempt=" + string(at.Token)
			}
			if status, err := s.SendReport(t.Context(), nil, url); err != nil || status/100 != 2 {
				t.Fatalf("%s, %s: %d %v", door, proof, status, err)
			}
			a.untilState(s.Name, node.Manageable)
			if at, _ = a.store.Attempt(t.Context(), n.AttemptID); at.Proof != proof || at.State != node.RunFinished {
				t.Errorf("%s: attempt is %s, %s", door, at.Proof, at.State)
			}
		}
	}
}

// The inspector's API aborts the node too, and its own refusals are honest (G08, G29).
func TestAbortThroughTheInspector(t *testing.T) {
	a := serveForTest(t, true)
	s := a.rack(sim.Options{Servers: 1, Silent: 1})[0]
	client, err := inspectnoauth.NewBareMetalIntrospectionNoAuth(inspectnoauth.EndpointOpts{IronicInspectorEndpoint: "http://" + a.inspectorListener.Addr().String() + "/v1/"})
	if err != nil {
		t.Fatal(err)
	}
	if err := introspection.StartIntrospection(t.Context(), client, s.Name, introspection.StartOpts{}).ExtractErr(); err != nil {
		t.Fatal(err)
	}
	a.untilState(s.Name, node.InspectWait)
	if err := introspection.AbortIntrospection(t.Context(), client, s.Name).ExtractErr(); err != nil {
		t.Fatal(err)
	}
	if n, _ := a.store.Node(t.Context(), s.Name); n.ProvisionState != node.InspectFailed {
		t.Errorf("the node is %q", n.ProvisionState)
	}
	if err := introspection.AbortIntrospection(t.Context(), client, s.Name).ExtractErr(); err == nil {
		t.Error("a second abort was accepted")
	}
}

// A BMC that refuses the password: the node is back in `enroll` and says why, without the password (G37).
func TestRefusedCredentialsAreToldOnTheNode(t *testing.T) {
	a := serveForTest(t, true)
	s := a.rack(sim.Options{Servers: 1})[0]
	info := s.DriverInfo()
	info["redfish_password"] = "a-wrong-one"
	status, _, body := a.send("POST", "/v1/nodes", "latest", map[string]any{"name": "wrong", "driver": "redfish", "driver_info": info})
	if status != http.StatusCreated || strings.Contains(string(body), "a-wrong-one") {
		t.Fatalf("%d %s", status, body)
	}
	a.provision("wrong", "manage")
	n := a.until("wrong", "an answer", func(n node.Node) bool { return n.LastError != "" })
	if n.ProvisionState != node.Enroll || !strings.Contains(n.LastError, "credentials") || !strings.Contains(n.LastError, "127.77.") || strings.Contains(n.LastError, "a-wrong-one") {
		t.Errorf("%q: %q", n.ProvisionState, n.LastError)
	}
	if status, _, _ := a.send("DELETE", "/v1/nodes/wrong", "latest", nil); status != http.StatusNoContent {
		t.Errorf("DELETE: %d", status)
	}
}

func TestBulkAbortAndEventsAndAttempts(t *testing.T) {
	a := serveForTest(t, true)
	servers := a.rack(sim.Options{Servers: 3, Silent: 3})
	req, _ := http.NewRequestWithContext(t.Context(), "GET", a.base+"/cagenut/v1/events", nil)
	req.Header.Set("Last-Event-ID", "0")
	stream, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer stream.Body.Close()
	for _, s := range servers[:2] {
		a.provision(s.Name, "inspect")
		a.untilState(s.Name, node.InspectWait)
	}
	status, _, body := a.send("POST", "/cagenut/v1/aborts", "", map[string]any{"nodes": []string{servers[0].Name, servers[1].Name, servers[2].Name}, "reason": "wrong cable"})
	var answer struct{ Aborted, Refused int }
	if err := json.Unmarshal(body, &answer); err != nil || status != http.StatusOK || answer.Aborted != 2 || answer.Refused != 1 {
		t.Fatalf("%d %s", status, body)
	}
	list := a.get("/cagenut/v1/nodes/" + servers[0].Name + "/attempts")["attempts"].([]any)
	if got := list[0].(map[string]any); got["outcome"] != "aborted" || got["reason"] != "wrong cable" {
		t.Errorf("attempt %v", got)
	}
	aborted := 0
	for lines := bufio.NewScanner(stream.Body); aborted < 2 && lines.Scan(); {
		if strings.HasPrefix(lines.Text(), "data:") && strings.Contains(lines.Text(), `"to":"inspect failed"`) {
			aborted++
		}
	}
	if aborted != 2 {
		t.Errorf("the event stream told of %d aborts", aborted)
	}
}
