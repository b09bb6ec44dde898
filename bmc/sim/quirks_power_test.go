package sim_test

import (
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"cagenut/bmc/sim"
	"cagenut/node"
)

func waitPower(t *testing.T, s *sim.Server, p node.PowerState) {
	t.Helper()
	wait(t, s, string(p), func(s *sim.Server) bool { return s.Power() == p })
}

func resetStatus(t *testing.T, s *sim.Server, kind string) int {
	t.Helper()
	return status(t, s, http.MethodPost, reset, `{"ResetType":"`+kind+`"}`)
}

var powerQuirks = []quirk{
	{fault: sim.FaultStuckPower, check: func(t *testing.T, s *sim.Server) { // G54
		if resetTo(t, s, "On", 204); s.Power() != node.PowerOff {
			t.Error(s.Power())
		}
	}},
	{fault: sim.FaultSlowOff, strength: sim.Strength{Delay: 30 * time.Millisecond}, rows: []int{34}, check: func(t *testing.T, s *sim.Server) {
		s.SetPower(node.PowerOn)
		begin := time.Now()
		resetTo(t, s, "ForceOff", 204)
		if waitPower(t, s, node.PowerOff); time.Since(begin) < 30*time.Millisecond {
			t.Errorf("off after %s", time.Since(begin))
		}
	}},
	{fault: sim.FaultPowerConflict, strength: sim.Strength{Count: 3}, check: func(t *testing.T, s *sim.Server) { // G34
		expect(t, "on", []int{resetStatus(t, s, "On"), resetStatus(t, s, "On"), resetStatus(t, s, "On"), resetStatus(t, s, "On")}, []int{409, 409, 409, 204})
	}},
	{fault: sim.FaultOnAfterOff, strength: sim.Strength{Count: 2}, rows: []int{32}, check: func(t *testing.T, s *sim.Server) {
		resetTo(t, s, "On", 204) // it has not been switched off yet
		resetTo(t, s, "ForceOff", 204)
		expect(t, "on right after off", []int{resetStatus(t, s, "On"), resetStatus(t, s, "On"), resetStatus(t, s, "On")}, []int{409, 409, 204})
	}},
	{fault: sim.FaultPowering, strength: sim.Strength{Delay: 30 * time.Millisecond}, rows: []int{33}, check: func(t *testing.T, s *sim.Server) {
		for kind, way := range map[string][2]string{"On": {"PoweringOn", "On"}, "ForceOff": {"PoweringOff", "Off"}} {
			if kind == "ForceOff" {
				s.SetPower(node.PowerOn)
			} else {
				s.SetPower(node.PowerOff)
			}
			switchOn(t, s, sim.FaultPowering, sim.Strength{Delay: time.Hour})
			resetTo(t, s, kind, 204)
			if p := shown(t, s, system)["PowerState"]; p != way[0] {
				t.Errorf("%s: %v", kind, p)
			}
			switchOn(t, s, sim.FaultPowering, sim.Strength{Delay: time.Millisecond})
			resetTo(t, s, kind, 204) // replaces the one on its way
			wait(t, s, way[1], func(s *sim.Server) bool { return shown(t, s, system)["PowerState"] == way[1] })
		}
	}},
	{fault: sim.FaultPowerUnknown, check: func(t *testing.T, s *sim.Server) {
		if p, there := shown(t, s, system)["PowerState"]; p != nil || !there {
			t.Errorf("%v", p)
		}
	}},
	{fault: sim.FaultChassisOn, check: func(t *testing.T, s *sim.Server) {
		if c := shown(t, s, "/redfish/v1/Chassis/1")["PowerState"]; c != "On" || shown(t, s, system)["PowerState"] != "Off" {
			t.Errorf("%v", c)
		}
	}},
	{fault: sim.FaultNotReady, strength: sim.Strength{Count: 1}, rows: []int{36}, check: func(t *testing.T, s *sim.Server) {
		res, doc := call(t, s, http.MethodPost, reset, `{"ResetType":"On"}`)
		if id, _ := at(doc, "error", "@Message.ExtendedInfo", 0, "MessageId").(string); res.StatusCode != 503 || !strings.HasSuffix(id, "SYS518") {
			t.Errorf("%s %s", res.Status, id)
		}
		resetTo(t, s, "On", 204)
	}},
	{fault: sim.FaultFewResetTypes, rows: []int{35}, check: func(t *testing.T, s *sim.Server) {
		s.SetPower(node.PowerOn)
		list := at(shown(t, s, system), "Actions", "#ComputerSystem.Reset", "ResetType@Redfish.AllowableValues").([]any)
		if len(list) != 3 {
			t.Errorf("%v", list)
		}
		expect(t, "soft restart, cycle, restart", []int{resetStatus(t, s, "GracefulRestart"), resetStatus(t, s, "PowerCycle"), resetStatus(t, s, "ForceRestart")}, []int{400, 400, 204})
	}},
	{fault: sim.FaultNoResetList, check: func(t *testing.T, s *sim.Server) {
		action := at(shown(t, s, system), "Actions", "#ComputerSystem.Reset").(map[string]any)
		if len(action) != 1 || action["target"] != reset {
			t.Errorf("%v", action)
		}
		resetTo(t, s, "On", 204)
	}},
	{fault: sim.FaultResetTask, strength: sim.Strength{Delay: time.Millisecond}, rows: []int{37}, check: func(t *testing.T, s *sim.Server) {
		res, doc := call(t, s, http.MethodPost, reset, `{"ResetType":"On"}`)
		monitor := res.Header.Get("Location")
		if res.StatusCode != 202 || doc["TaskMonitor"] != monitor {
			t.Fatalf("%s, at %q, %v", res.Status, monitor, doc)
		}
		wait(t, s, "the task has ended", func(s *sim.Server) bool { return status(t, s, http.MethodGet, monitor, "") == 204 })
		if task := shown(t, s, strings.TrimSuffix(monitor, "/Monitor")); task["TaskState"] != "Completed" || s.Power() != node.PowerOn {
			t.Errorf("%v, %s", task, s.Power())
		}
	}},
}

func patchBoot(t *testing.T, s *sim.Server, fields ...string) int {
	t.Helper()
	var parts []string
	for i := 0; i+1 < len(fields); i += 2 {
		parts = append(parts, `"`+fields[i]+`":"`+fields[i+1]+`"`)
	}
	return status(t, s, http.MethodPatch, system, `{"Boot":{`+strings.Join(parts, ",")+`}}`)
}

const (
	target  = "BootSourceOverrideTarget"
	enabled = "BootSourceOverrideEnabled"
	mode    = "BootSourceOverrideMode"
)

// bootsFrom switches a server on and tells what it runs.
func bootsFrom(t *testing.T, s *sim.Server) sim.Phase {
	t.Helper()
	s.SetPower(node.PowerOff)
	resetTo(t, s, "On", 204)
	wait(t, s, "it has booted", func(s *sim.Server) bool { return slices.Contains([]sim.Phase{sim.PhaseDisk, sim.PhaseDone}, s.Phase()) })
	return s.Phase()
}

// insertISO puts a virtual CD in that any server can boot, by the BMC's own door.
func insertISO(t *testing.T, s *sim.Server) *appliance {
	t.Helper()
	a := newAppliance(t)
	if got := status(t, s, http.MethodPost, cdSlot+insertAction, `{"Image":"`+a.URL+`/boot/tools.iso"}`); got != 204 {
		t.Fatalf("insert: %d", got)
	}
	return a
}

var bootQuirks = []quirk{
	{fault: sim.FaultRefuseBoot, check: func(t *testing.T, s *sim.Server) { // G41
		expect(t, "PXE", []int{patchBoot(t, s, target, "Pxe", enabled, "Once")}, []int{400})
	}},
	{fault: sim.FaultIgnoreBoot, check: func(t *testing.T, s *sim.Server) {
		if got := patchBoot(t, s, target, "Pxe", enabled, "Once"); got != 204 || s.Boot() != (node.Boot{}) {
			t.Errorf("%d, %+v", got, s.Boot())
		}
	}},
	{fault: sim.FaultBootsDisk, strength: sim.Strength{Count: 1}, rows: []int{1, 14}, check: func(t *testing.T, s *sim.Server) {
		insertISO(t, s)
		for _, want := range []sim.Phase{sim.PhaseDisk, sim.PhaseDone} {
			expect(t, "CD", []int{patchBoot(t, s, target, "Cd", enabled, "Once")}, []int{204})
			if got := bootsFrom(t, s); got != want {
				t.Errorf("it runs %s, want %s", got, want)
			}
		}
	}},
	{fault: sim.FaultPOSTBusy, strength: sim.Strength{Delay: time.Hour}, rows: []int{6}, check: func(t *testing.T, s *sim.Server) { // G64
		off := patchBoot(t, s, target, "Pxe", enabled, "Once")
		resetTo(t, s, "On", 204)
		res, doc := call(t, s, http.MethodPatch, system, bootPXE)
		if id, _ := at(doc, "error", "@Message.ExtendedInfo", 0, "MessageId").(string); off != 204 || res.StatusCode != 400 || !strings.HasSuffix(id, "UnableToModifyDuringSystemPOST") {
			t.Errorf("off %d, in POST %s %s", off, res.Status, id)
		}
		switchOn(t, s, sim.FaultPOSTBusy, sim.Strength{Delay: time.Nanosecond}) // POST is over
		expect(t, "after POST", []int{patchBoot(t, s, target, "Pxe", enabled, "Once")}, []int{204})
	}},
	{fault: sim.FaultModeAtReboot, rows: []int{2}, check: func(t *testing.T, s *sim.Server) {
		patchBoot(t, s, mode, "Legacy")
		before := at(shown(t, s, system), "Boot", mode)
		resetTo(t, s, "On", 204)
		if after := at(shown(t, s, system), "Boot", mode); before != "UEFI" || after != "Legacy" {
			t.Errorf("%v, after the boot %v", before, after)
		}
	}},
	{fault: sim.FaultBootSettings, rows: []int{3}, check: func(t *testing.T, s *sim.Server) {
		sys := shown(t, s, system)
		place, _ := at(sys, "@Redfish.Settings", "SettingsObject", "@odata.id").(string)
		res, _ := call(t, s, http.MethodGet, place, "")
		expect(t, "system, settings with the system's tag, settings with their own", []int{
			patchBoot(t, s, target, "Pxe", enabled, "Once"), status(t, s, http.MethodPatch, place, bootPXE, "If-Match", sys["@odata.etag"].(string)),
			status(t, s, http.MethodPatch, place, bootPXE, "If-Match", res.Header.Get("ETag")),
		}, []int{400, 412, 204})
		if got := at(shown(t, s, system), "Boot", target); got != "Pxe" {
			t.Errorf("the system shows %v", got)
		}
	}},
	{fault: sim.FaultBootPending, rows: []int{4}, check: func(t *testing.T, s *sim.Server) {
		place, _ := at(shown(t, s, system), "@Redfish.Settings", "SettingsObject", "@odata.id").(string)
		expect(t, "system, settings", []int{patchBoot(t, s, target, "Pxe", enabled, "Once"), status(t, s, http.MethodPatch, place, strings.Replace(bootPXE, "Once", "Continuous", 1))}, []int{400, 204})
		before, pending := at(shown(t, s, system), "Boot", target), at(shown(t, s, place), "Boot", target)
		resetTo(t, s, "On", 204)
		if after := at(shown(t, s, system), "Boot", target); before != "None" || pending != "Pxe" || after != "Pxe" {
			t.Errorf("%v, pending %v, after the reset %v", before, pending, after)
		}
	}},
	{fault: sim.FaultStrictBoot, rows: []int{5}, check: func(t *testing.T, s *sim.Server) {
		expect(t, "with and without", []int{patchBoot(t, s, target, "Pxe", enabled, "Once", "HttpBootUri", ""), patchBoot(t, s, target, "Pxe", enabled, "Once")}, []int{400, 204})
	}},
	{fault: sim.FaultNoBootMode, rows: []int{7}, check: func(t *testing.T, s *sim.Server) {
		if boot := at(shown(t, s, system), "Boot").(map[string]any); boot[mode] != nil {
			t.Errorf("%v", boot)
		}
		expect(t, "with and without", []int{patchBoot(t, s, target, "Pxe", enabled, "Once", mode, "UEFI"), patchBoot(t, s, target, "Pxe", enabled, "Once")}, []int{400, 204})
	}},
	{fault: sim.FaultModeFallsBack, rows: []int{8}, check: func(t *testing.T, s *sim.Server) {
		expect(t, "target alone, with enabled", []int{patchBoot(t, s, target, "Pxe"), patchBoot(t, s, target, "Pxe", enabled, "Once")}, []int{400, 204})
		if got := at(shown(t, s, system), "Boot", mode); got != "Legacy" {
			t.Errorf("%v", got)
		}
	}},
	{fault: sim.FaultFullBoot, rows: []int{9}, check: func(t *testing.T, s *sim.Server) {
		expect(t, "two, three", []int{patchBoot(t, s, target, "Pxe", enabled, "Once"), patchBoot(t, s, target, "Pxe", enabled, "Once", mode, "UEFI")}, []int{400, 204})
	}},
	{fault: sim.FaultShortBoot, rows: []int{10}, check: func(t *testing.T, s *sim.Server) {
		expect(t, "three, two", []int{patchBoot(t, s, target, "Pxe", enabled, "Once", mode, "UEFI"), patchBoot(t, s, target, "Pxe", enabled, "Once")}, []int{400, 204})
	}},
	{fault: sim.FaultNoContinuous, rows: []int{11}, check: func(t *testing.T, s *sim.Server) {
		expect(t, "for good, once", []int{patchBoot(t, s, target, "Pxe", enabled, "Continuous"), patchBoot(t, s, target, "Pxe", enabled, "Once")}, []int{400, 204})
	}},
	{fault: sim.FaultUsbCd, rows: []int{12}, check: func(t *testing.T, s *sim.Server) {
		insertISO(t, s)
		for device, want := range map[string]sim.Phase{"Cd": sim.PhaseDisk, "UsbCd": sim.PhaseDone} {
			expect(t, device, []int{patchBoot(t, s, target, device, enabled, "Once")}, []int{204})
			if got := bootsFrom(t, s); got != want {
				t.Errorf("%s: it runs %s, want %s", device, got, want)
			}
		}
	}},
	{fault: sim.FaultPhysicalCd, rows: []int{13}, check: func(t *testing.T, s *sim.Server) {
		a := insertISO(t, s)
		patchBoot(t, s, target, "Cd", enabled, "Once")
		if got := bootsFrom(t, s); got != sim.PhaseDisk || len(a.requests()) != 0 {
			t.Errorf("it runs %s and fetched %v", got, a.requests())
		}
	}},
	{fault: sim.FaultLosesBootEntry, rows: []int{15}, check: func(t *testing.T, s *sim.Server) {
		before := at(shown(t, s, system), "Boot", "BootOrder").([]any)
		netbootOnce(t, s)
		if after := at(shown(t, s, system), "Boot", "BootOrder").([]any); len(before) != 2 || len(after) != 1 {
			t.Errorf("%v, %v", before, after)
		}
	}},
	{fault: sim.FaultParentFirst, rows: []int{16}, check: func(t *testing.T, s *sim.Server) {
		get := func(path string) int { return status(t, s, http.MethodGet, system+path, "") }
		expect(t, "before, list, after", []int{get("/BootOptions/Boot0001"), get("/BootOptions"), get("/BootOptions/Boot0001")}, []int{404, 200, 200})
	}},
}
