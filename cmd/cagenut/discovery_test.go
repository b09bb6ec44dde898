package main

import (
	"encoding/json"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"cagenut/bmc/sim"
	"cagenut/node"
)

func discovering(s *settings) { s.Discovery = true }

// strangers is a rack of servers that the appliance does not know.
func (a *testAppliance) strangers(o sim.Options) []*sim.Server {
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
	return rack.Servers()
}

// told is a driver_info as people type it.
func told(s *sim.Server) map[string]any {
	out := map[string]any{}
	for key, v := range s.DriverInfo() {
		if secret, ok := v.(node.Secret); ok {
			v = string(secret)
		}
		out[key] = v
	}
	return out
}

// unknownMachines sees to it that some machines wait to be accepted, and lists all that do.
func (a *testAppliance) unknownMachines() []node.Discovered {
	a.t.Helper()
	all, err := a.store.DiscoveredMachines(a.t.Context(), node.DiscoveredFilter{})
	if err != nil {
		a.t.Fatal(err)
	}
	for len(all) < 12 {
		body := reportWith(a.t, randomMAC(), "", "started")
		m, err := reports{}.Machine(body)
		if err == nil {
			_, err = a.store.Discover(a.t.Context(), node.Discovery{Address: "192.0.2.7", At: time.Now(), Machine: m, Report: body})
		}
		if err != nil {
			a.t.Fatal(err)
		}
		if all, err = a.store.DiscoveredMachines(a.t.Context(), node.DiscoveredFilter{}); err != nil {
			a.t.Fatal(err)
		}
	}
	return all
}

// Issue 5, point 6: from the first report of a machine that nobody knows to its inspection.
func TestAMachineThatNobodyKnowsIsDiscoveredAcceptedAndInspected(t *testing.T) {
	t.Parallel()
	for _, driver := range []string{node.DriverRedfish, node.DriverIPMI} {
		t.Run(driver, func(t *testing.T) {
			a := serveForTest(t, true, discovering)
			o := sim.Options{Servers: 1}
			if driver == node.DriverIPMI {
				o.IPMI = 1
			}
			s := a.strangers(o)[0]
			status, _, body := a.send("POST", "/v1/continue_inspection", "", s.Report())
			var first, again struct{ UUID string }
			if err := json.Unmarshal(body, &first); err != nil || status != http.StatusAccepted || !node.IsUUID(first.UUID) {
				t.Fatalf("the report is answered %d %s", status, body)
			}
			door := &testAppliance{t: t, base: "http://" + a.inspectorListener.Addr().String()}
			status, _, body = door.send("POST", "/v1/continue", "", s.Report())
			if err := json.Unmarshal(body, &again); err != nil || status != http.StatusOK || again != first {
				t.Fatalf("at the inspector's door: %d %s", status, body)
			}
			status, _, body = a.send("POST", "/v1/continue_inspection", "1.84", s.Report())
			var doc struct {
				Node   struct{ UUID string }
				Config struct {
					Token *string `json:"agent_token"`
				}
			}
			if err := json.Unmarshal(body, &doc); err != nil || status != http.StatusAccepted || doc.Node != first || doc.Config.Token != nil {
				t.Fatalf("of a newer version: %d %s", status, body)
			}

			list := a.get("/cagenut/v1/discovered")["discovered"].([]any)
			if len(list) != 1 || list[0].(map[string]any)["times"] != 3.0 {
				t.Fatalf("the waiting room: %v", list)
			}
			shown := a.get("/cagenut/v1/discovered/" + first.UUID)
			if shown["serial"] == nil || shown["inventory"].(map[string]any)["interfaces"] == nil || !slices.Contains(shown["macs"].([]any), any(s.BootMAC)) {
				t.Errorf("it is shown as %v", shown)
			}
			if status, _, _ = a.send("GET", "/v1/nodes/"+first.UUID, "latest", nil); status != http.StatusNotFound {
				t.Errorf("there is a node before anybody accepted it: %d", status)
			}

			accept := map[string]any{"name": s.Name, "driver": s.Driver, "driver_info": told(s), "report_at": shown["report_at"]}
			status, header, body := a.send("POST", "/cagenut/v1/discovered/"+first.UUID+"/accept", "", accept)
			if status != http.StatusCreated || !strings.HasSuffix(header.Get("Location"), "/v1/nodes/"+first.UUID) {
				t.Fatalf("accept: %d %s", status, body)
			}
			n := a.get("/v1/nodes/" + s.Name)
			if n["uuid"] != first.UUID || n["provision_state"] != "enroll" || n["properties"].(map[string]any)["cpu_arch"] != "x86_64" {
				t.Errorf("the node is %v", n)
			}
			stored := a.get("/v1/nodes/" + first.UUID + "/inventory")
			if stored["plugin_data"].(map[string]any)["auto_discovered"] != true || stored["inventory"].(map[string]any)["interfaces"] == nil {
				t.Errorf("the inventory is %v", stored)
			}
			if ports := a.get("/v1/ports/detail?node=" + first.UUID)["ports"].([]any); len(ports) == 0 || ports[0].(map[string]any)["address"] != s.BootMAC {
				t.Errorf("the ports are %v", ports)
			}
			if asked := s.Requests(); len(asked) != 0 || s.Power() != node.PowerOff {
				t.Errorf("the BMC was asked %v, the server is %s", asked, s.Power())
			}

			a.provision(s.Name, "manage")
			a.untilState(s.Name, node.Manageable)
			a.provision(s.Name, "inspect")
			a.untilState(s.Name, node.InspectWait)
			a.untilState(s.Name, node.Manageable)
			if n := a.until(s.Name, "off after clean-up", offAndFree); n.LastError != "" {
				t.Errorf("last error %q", n.LastError)
			}
			if kept := a.get("/cagenut/v1/nodes/" + first.UUID + "/inspections")["inspections"].([]any); len(kept) != 2 {
				t.Errorf("kept are %v", kept)
			}
			// A machine that is known by now is turned away as ever.
			if status, _, body = a.send("POST", "/v1/continue_inspection", "", s.Report()); status != http.StatusNotFound {
				t.Errorf("a later report: %d %s", status, body)
			}
		})
	}
}

// Reports as ramdisks really send them.
func TestRealReportsAreDiscoveredAndAccepted(t *testing.T) {
	dir := os.Getenv("CAGENUT_SHARED")
	if dir == "" {
		dir = filepath.Join("..", "..", "..", "shared")
	}
	a := serveForTest(t, false, discovering)
	for _, name := range []string{"01-inspector-continue-request-apiref.json", "06-hci-node-ipv6-zones-numa.json", "08-infiniband-ipv6-bmc-prefix.json"} {
		body, err := os.ReadFile(filepath.Join(dir, "payloads", name))
		if os.IsNotExist(err) && os.Getenv("CAGENUT_REQUIRE_PEERS") != "1" {
			t.Skipf("the shared folder with real reports is not here (set CAGENUT_SHARED): %s", err)
		}
		if err != nil {
			t.Fatal(err)
		}
		status, _, answer := a.send("POST", "/v1/continue_inspection", "", body)
		var found struct{ UUID string }
		if err := json.Unmarshal(answer, &found); err != nil || status != http.StatusAccepted {
			t.Fatalf("%s: %d %s", name, status, answer)
		}
		if status, _, answer := a.send("POST", "/cagenut/v1/discovered/"+found.UUID+"/accept", "", nil); status != http.StatusCreated {
			t.Fatalf("accept %s: %d %s", name, status, answer)
		}
		if ports := a.get("/v1/ports?node=" + found.UUID)["ports"].([]any); len(ports) == 0 {
			t.Errorf("%s: no ports", name)
		}
		if a.get("/v1/nodes/" + found.UUID + "/inventory")["inventory"] == nil {
			t.Errorf("%s: no inventory", name)
		}
	}
}

// Off by default: an unknown machine finds Ironic's answer and leaves nothing.
func TestWithoutDiscoveryAnUnknownMachineIsTurnedAway(t *testing.T) {
	a := serveForTest(t, true)
	s := a.strangers(sim.Options{Servers: 1})[0]
	for _, version := range []string{"", "1.84"} {
		got := a.exchange(sentRequest{method: "POST", path: "/v1/continue_inspection", version: version, body: s.Report()})
		if got.status != http.StatusNotFound || sentence(t, got) != "Resource could not be found." {
			t.Errorf("version %q: %d %s", version, got.status, got.body)
		}
	}
	if status, err := s.SendReport(t.Context(), nil, "http://"+a.inspectorListener.Addr().String()+"/v1/continue"); status != http.StatusNotFound || err != nil {
		t.Errorf("at the inspector's door: %d %v", status, err)
	}
	if list := a.get("/cagenut/v1/discovered?state=all")["discovered"].([]any); len(list) != 0 {
		t.Errorf("in the waiting room: %v", list)
	}
}

// A blocked machine finds what it would find without discovery; an ignored one finds nothing odd.
func TestABlockedMachineIsTurnedAwayAndAnIgnoredOneIsNot(t *testing.T) {
	a := serveForTest(t, false, discovering)
	body := reportWith(t, randomMAC(), "EB-1", "started")
	report := func() int {
		status, _, _ := a.send("POST", "/v1/continue_inspection", "", body)
		return status
	}
	if status := report(); status != http.StatusAccepted {
		t.Fatalf("the report: %d", status)
	}
	uuid := a.get("/cagenut/v1/discovered")["discovered"].([]any)[0].(map[string]any)["uuid"].(string)
	for i, c := range []struct {
		decision string
		shown    int // by the list without a filter
		answer   int
	}{{"block", 0, 404}, {"restore", 1, 202}, {"ignore", 0, 202}, {"block", 0, 404}} {
		if status, _, text := a.send("POST", "/cagenut/v1/discovered/"+uuid+"/"+c.decision, "", nil); status != http.StatusNoContent {
			t.Fatalf("%s: %d %s", c.decision, status, text)
		}
		if got := len(a.get("/cagenut/v1/discovered")["discovered"].([]any)); got != c.shown {
			t.Errorf("after %s, %d machines are listed", c.decision, got)
		}
		if status := report(); status != c.answer {
			t.Errorf("after %s, a report is answered %d", c.decision, status)
		}
		if times := a.get("/cagenut/v1/discovered/" + uuid)["times"]; times != float64(i+2) {
			t.Errorf("after %s, %v reports are counted", c.decision, times)
		}
	}
	if status, _, text := a.send("DELETE", "/cagenut/v1/discovered/"+uuid, "", nil); status != http.StatusNoContent {
		t.Errorf("forget: %d %s", status, text)
	}
	if status := report(); status != http.StatusAccepted {
		t.Errorf("once forgotten it is a new machine: %d", status)
	}
}

// G26: strangers that report without end keep nobody from the report that is waited for.
func TestAFloodOfUnknownMachinesDelaysNoReportThatIsWaitedFor(t *testing.T) {
	a := serveForTest(t, false, discovering)
	const waiting, strangers = 40, 6
	stop := make(chan struct{})
	var flood sync.WaitGroup
	var mu sync.Mutex
	answers := map[int]int{}
	for range strangers {
		flood.Go(func() {
			for {
				select {
				case <-stop:
					return
				default:
				}
				got := a.exchange(sentRequest{method: "POST", path: "/v1/continue_inspection", body: reportWith(t, randomMAC(), "", strings.Repeat("journal ", 20_000))})
				mu.Lock()
				answers[got.status]++
				mu.Unlock()
			}
		})
	}
	var took []time.Duration
	for range waiting {
		_, at := a.nodeIn(node.InspectWait, "agent")
		body := reportWith(t, randomMAC(), "EB-1", "started")
		began := time.Now()
		got := a.exchange(sentRequest{method: "POST", path: "/v1/continue_inspection", query: "attempt=" + string(at.Token), body: body})
		took = append(took, time.Since(began))
		if got.status != http.StatusAccepted {
			t.Errorf("a report that is waited for: %d %s", got.status, got.body)
		}
	}
	close(stop)
	flood.Wait()
	slices.Sort(took)
	t.Logf("result: %d reports that are waited for beside %v of strangers: median %s, slowest %s", waiting, answers, took[waiting/2].Round(time.Millisecond), took[waiting-1].Round(time.Millisecond))
	if took[waiting/2] > time.Second {
		t.Errorf("half of the reports took longer than %s", took[waiting/2])
	}
	for status := range answers {
		if status != http.StatusAccepted && status != http.StatusConflict {
			t.Errorf("strangers are answered %v", answers)
		}
	}
	if all, err := a.store.DiscoveredMachines(t.Context(), node.DiscoveredFilter{}); err != nil || len(all) > 1000 || len(all) == 0 {
		t.Errorf("%d machines wait, %v", len(all), err)
	}
}
