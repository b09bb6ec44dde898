package main

import (
	"strings"
	"testing"
	"time"

	"cagenut/bmc/sim"
	"cagenut/node"
)

// Issue 6, point 1, over real BMCs' protocols: nobody asks for the health, and it is known.
func TestTheHealthOfServersIsKnownWithoutAsking(t *testing.T) {
	a := serveForTest(t, true, func(s *settings) { s.PowerSyncInterval = 500 * time.Millisecond })
	for _, s := range a.rack(sim.Options{Servers: 2, IPMI: 1}) {
		well := a.until(s.Name, "a known health", func(n node.Node) bool { return n.Health == node.HealthOK })
		fault := map[string]sim.Fault{node.DriverRedfish: sim.FaultFailedPSU, node.DriverIPMI: sim.FaultChassisFan}[well.Driver]
		if err := s.SwitchOn(fault, sim.Strength{}); err != nil {
			t.Fatal(err)
		}
		ill := a.until(s.Name, "the health that got worse", func(n node.Node) bool { return n.Health == node.HealthCritical })
		if ill.Version != well.Version || ill.LastError != well.LastError || ill.HealthAt.Before(well.HealthAt) {
			t.Errorf("%s: the node changed: %+v", s.Name, ill)
		}
		told := a.get("/cagenut/v1/nodes/" + s.Name + "/health?ask=false")
		if told["overall"] != "Critical" || told["overall_since"] == nil || told["parts"] != nil {
			t.Errorf("%s: health without asking: %v", s.Name, told)
		}
		s.Heal()
		a.until(s.Name, "the health that is well again", func(n node.Node) bool { return n.Health == node.HealthOK })
		var lines []string
		for _, h := range a.get("/v1/nodes/" + s.Name + "/history?detail=true")["history"].([]any) {
			if h := h.(map[string]any); h["event_type"] == node.TypeHealth {
				lines = append(lines, h["event"].(string))
			}
		}
		if len(lines) != 2 || !strings.HasPrefix(lines[0], "Health changed from 'OK' to 'Critical'") || lines[1] != "Health is 'OK' again, after 'Critical'." {
			t.Errorf("%s: the history tells %q", s.Name, lines)
		}
	}
}

func TestTheApplianceTellsOfItselfAndForgetsItsOldAudit(t *testing.T) {
	a := serveForTest(t, true, func(s *settings) {
		s.AuditKept = 30
		s.KernelURL = "http://user:not-a-real-one@192.0.2.1/kernel?signed=by-nobody"
	})
	self := a.get("/cagenut/v1/appliance")
	settings := self["settings"].(map[string]any)
	if settings["audit-kept"] != "30" || settings["kernel-url"] != "http://192.0.2.1/kernel" {
		t.Errorf("settings are %v", settings)
	}
	rows := self["database"].(map[string]any)["rows"].(map[string]any)
	if rows["nodes"] != 0.0 || self["host"] == "" || self["database"].(map[string]any)["writable"] != true || self["jobs"].(map[string]any)["late"] != nil {
		t.Errorf("got %v", self)
	}
	if a.conductor.AuditKept != 30*24*time.Hour {
		t.Errorf("the audit is kept for %s", a.conductor.AuditKept)
	}
}
