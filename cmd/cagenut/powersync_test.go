package main

import (
	"bufio"
	"net/http"
	"strings"
	"testing"
	"time"

	"cagenut/bmc/sim"
	"cagenut/node"
)

// Issue 4, point 6, over real BMCs' protocols.
func TestPowerSyncTellsWhatHappensAtTheMachines(t *testing.T) {
	a := serveForTest(t, true, func(s *settings) { s.PowerSyncInterval = 500 * time.Millisecond })
	servers := a.rack(sim.Options{Servers: 4})
	stream, err := http.Get(a.base + "/cagenut/v1/events")
	if err != nil {
		t.Fatal(err)
	}
	defer stream.Body.Close()
	lines := bufio.NewScanner(stream.Body)
	event := func(want ...string) {
		t.Helper()
		for lines.Scan() {
			if lines.Text() != want[0] {
				continue
			}
			want = want[1:]
			for lines.Scan() && lines.Text() != "" {
				for len(want) > 0 && strings.Contains(lines.Text(), want[0]) {
					want = want[1:]
				}
			}
			break
		}
		if len(want) > 0 {
			t.Errorf("the event stream does not tell of %q", want)
		}
	}
	for _, s := range servers {
		n := a.until(s.Name, "a known power", func(n node.Node) bool { return n.PowerState == s.Power() })
		to := node.PowerOn
		if n.PowerState == to {
			to = node.PowerOff
		}
		s.SetPower(to)
		now := a.until(s.Name, "the power that somebody gave it", func(n node.Node) bool { return n.PowerState == to })
		if now.LastError != n.LastError || now.Version != n.Version || now.Maintenance {
			t.Errorf("%s (%s): the node changed: %+v", s.Name, n.Driver, now)
		}
		a.remembers(s.Name, "Power state changed from '"+string(n.PowerState)+"' to '"+string(to)+"' outside of this appliance.")
		event("event: power", `"node":"`+n.UUID+`"`, `"from":"`+string(n.PowerState)+`","to":"`+string(to)+`"`)
	}
	for fault, says := range map[sim.Fault]string{sim.FaultDrop: "The BMC does not answer: ", sim.FaultWrongPassword: "The BMC does not let the appliance in: "} {
		t.Run(string(fault), func(t *testing.T) {
			s := servers[0]
			if err := s.SwitchOn(fault, sim.Strength{}); err != nil {
				t.Fatal(err)
			}
			s.ExpireSessions()
			n := a.until(s.Name, "a mark", func(n node.Node) bool { return !n.BMCUnreachableSince.IsZero() })
			a.remembers(s.Name, says+n.BMCError)
			event("event: bmc", `"node":"`+n.UUID+`","reachable":false,"error":"`)
			told := a.get("/cagenut/v1/nodes/" + s.Name + "/health?ask=false")["bmc"].(map[string]any)
			if told["reachable"] != false || told["error"] != n.BMCError || told["since"] == nil {
				t.Errorf("health without asking: %v", told)
			}
			if status, _, body := a.send("GET", "/cagenut/v1/nodes/"+s.Name+"/health", "", nil); status != http.StatusBadGateway {
				t.Errorf("health: %d %s", status, body)
			}
			if v1 := a.get("/v1/nodes/" + s.Name); v1["maintenance"] != false || v1["fault"] != nil || v1["bmc_error"] != nil {
				t.Errorf("Ironic's node tells of it: %v", v1)
			}
			s.Heal()
			if told := a.get("/cagenut/v1/nodes/" + s.Name + "/health")["bmc"].(map[string]any); told["reachable"] != true || told["since"] != nil {
				t.Errorf("health of a BMC that answers: %v", told)
			}
			a.until(s.Name, "an answer", func(n node.Node) bool { return n.BMCUnreachableSince.IsZero() && n.BMCError == "" })
			a.remembers(s.Name, "The BMC is reachable again after ")
			event("event: bmc", `"node":"`+n.UUID+`","reachable":true,"error":null`)
		})
	}
}

// remembers demands that the node's history has an entry that begins so, about power and by the appliance itself.
func (a *testAppliance) remembers(name, event string) {
	a.t.Helper()
	var all []string
	for _, h := range a.get("/v1/nodes/" + name + "/history?detail=true")["history"].([]any) {
		h := h.(map[string]any)
		said, _ := h["event"].(string)
		if strings.HasPrefix(said, event) && h["event_type"] == node.TypePower {
			return
		}
		all = append(all, said)
	}
	a.t.Errorf("the history of %s has no %q, but %q", name, event, all)
}
