package sim_test

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"cagenut/bmc/sim"
)

const (
	managerSlots = "/redfish/v1/Managers/1/VirtualMedia"
	systemSlots  = system + "/VirtualMedia"
	cdSlot       = managerSlots + "/1"
	insertAction = "/Actions/VirtualMedia.InsertMedia"
	ejectAction  = "/Actions/VirtualMedia.EjectMedia"
	image        = `"Image":"http://127.0.0.1:1/tools.iso"`
	other        = `{"Image":"http://127.0.0.1:1/other.iso"}`
)

func insertInto(t *testing.T, s *sim.Server, slot, body string) int {
	t.Helper()
	return status(t, s, http.MethodPost, slot+insertAction, body)
}

func eject(t *testing.T, s *sim.Server) int {
	t.Helper()
	return status(t, s, http.MethodPost, cdSlot+ejectAction, "{}")
}

// slotIDs lists the drives at a place; nil where there is no such list.
func slotIDs(t *testing.T, s *sim.Server, place string) []string {
	t.Helper()
	res, doc := call(t, s, http.MethodGet, place, "")
	if res.StatusCode != http.StatusOK {
		return nil
	}
	ids := []string{}
	for i := range doc["Members"].([]any) {
		ids = append(ids, strings.TrimPrefix(at(doc, "Members", i, "@odata.id").(string), place+"/"))
	}
	return ids
}

var mediaQuirks = []quirk{
	{fault: sim.FaultNoMedia, rows: []int{31}, check: func(t *testing.T, s *sim.Server) {
		if slotIDs(t, s, managerSlots) != nil || slotIDs(t, s, systemSlots) != nil || shown(t, s, "/redfish/v1/Managers/1")["VirtualMedia"] != nil {
			t.Error("there are drives")
		}
	}},
	{fault: sim.FaultMediaPatch, rows: []int{23}, check: func(t *testing.T, s *sim.Server) {
		ids := slotIDs(t, s, managerSlots)
		if shown(t, s, cdSlot)["Actions"] != nil || len(ids) != 3 {
			t.Errorf("actions, or drives %v", ids)
		}
		patch := func(slot, body string) int { return status(t, s, http.MethodPatch, managerSlots+"/"+slot, body) }
		expect(t, "the first drive, the CD drive, eject", []int{
			patch(ids[0], "{"+image+`,"Inserted":true}`), patch("1", "{"+image+`,"Inserted":true}`),
		}, []int{400, 204})
		if s.Media()["1"] == "" {
			t.Error("nothing is inserted")
		}
		expect(t, "eject", []int{patch("1", `{"Inserted":false}`)}, []int{204})
	}},
	{fault: sim.FaultMediaImageOnly, rows: []int{24}, check: func(t *testing.T, s *sim.Server) {
		expect(t, "with Inserted, without", []int{insertInto(t, s, cdSlot, "{"+image+`,"Inserted":true}`), insertInto(t, s, cdSlot, "{"+image+"}")}, []int{400, 204})
	}},
	{fault: sim.FaultMediaFullBody, check: func(t *testing.T, s *sim.Server) {
		insertInto(t, s, cdSlot, "{"+image+"}")
		before := shown(t, s, cdSlot)["Inserted"]
		insertInto(t, s, cdSlot, "{"+image+`,"Inserted":true,"WriteProtected":true}`)
		if after := shown(t, s, cdSlot)["Inserted"]; before != false || after != true {
			t.Errorf("%v, with the full body %v", before, after)
		}
	}},
	{fault: sim.FaultMediaTransfer, rows: []int{25}, check: func(t *testing.T, s *sim.Server) {
		expect(t, "without, with", []int{insertInto(t, s, cdSlot, "{"+image+"}"), insertInto(t, s, cdSlot, "{"+image+`,"TransferProtocolType":"HTTP","TransferMethod":"Stream"}`)}, []int{400, 204})
	}},
	{fault: sim.FaultMediaCredentials, check: func(t *testing.T, s *sim.Server) {
		expect(t, "without, with", []int{insertInto(t, s, cdSlot, "{"+image+"}"), insertInto(t, s, cdSlot, "{"+image+`,"UserName":"any","Password":"any"}`)}, []int{400, 204})
	}},
	{fault: sim.FaultEjectEmpty, rows: []int{26}, check: func(t *testing.T, s *sim.Server) { // G35
		expect(t, "empty", []int{eject(t, s)}, []int{400})
		insertInto(t, s, cdSlot, "{"+image+"}")
		expect(t, "full", []int{eject(t, s)}, []int{204})
	}},
	{fault: sim.FaultEjectBody, check: func(t *testing.T, s *sim.Server) { // G35
		insertInto(t, s, cdSlot, "{"+image+"}")
		expect(t, "without a body, with one", []int{status(t, s, http.MethodPost, cdSlot+ejectAction, ""), eject(t, s)}, []int{415, 204})
	}},
	{fault: sim.FaultMediaStale, strength: sim.Strength{Delay: time.Hour}, rows: []int{27}, check: func(t *testing.T, s *sim.Server) { // G35
		insertInto(t, s, cdSlot, "{"+image+"}")
		eject(t, s)
		if slot := shown(t, s, cdSlot); slot["Inserted"] != true || slot["Image"] == nil || len(s.Media()) != 0 {
			t.Errorf("%v, %v", slot, s.Media())
		}
		expect(t, "insert meanwhile", []int{insertInto(t, s, cdSlot, other)}, []int{500})
		switchOn(t, s, sim.FaultMediaStale, sim.Strength{Delay: time.Nanosecond})
		insertAndEject := func() int { eject(t, s); return insertInto(t, s, cdSlot, other) }
		expect(t, "insert later", []int{insertAndEject()}, []int{500}) // an empty drive is not looked at again
	}},
	{fault: sim.FaultMediaConsole, rows: []int{28}, check: func(t *testing.T, s *sim.Server) {
		ids := slotIDs(t, s, managerSlots)
		var got []int
		for _, id := range ids[:3] {
			got = append(got, insertInto(t, s, managerSlots+"/"+id, "{"+image+"}"))
		}
		expect(t, "drive by drive", got, []int{405, 400, 204})
	}},
	{fault: sim.FaultMediaDVDOnly, check: func(t *testing.T, s *sim.Server) {
		if types := shown(t, s, cdSlot)["MediaTypes"].([]any); len(types) != 1 || types[0] != "DVD" {
			t.Errorf("%v", types)
		}
	}},
	{fault: sim.FaultMediaNoTypes, check: func(t *testing.T, s *sim.Server) {
		if types := shown(t, s, cdSlot)["MediaTypes"].([]any); len(types) != 0 {
			t.Errorf("%v", types)
		}
	}},
	{fault: sim.FaultMediaAtSystem, rows: []int{29}, check: func(t *testing.T, s *sim.Server) {
		if slotIDs(t, s, managerSlots) != nil || len(slotIDs(t, s, systemSlots)) != 2 || shown(t, s, system)["VirtualMedia"] == nil {
			t.Error("the drives are elsewhere")
		}
		expect(t, "at the manager, at the system", []int{insertInto(t, s, cdSlot, "{"+image+"}"), insertInto(t, s, systemSlots+"/1", "{"+image+"}")}, []int{404, 204})
	}},
	{fault: sim.FaultMediaBoth, check: func(t *testing.T, s *sim.Server) {
		expect(t, "at the system", []int{insertInto(t, s, systemSlots+"/1", "{"+image+"}")}, []int{204})
		if shown(t, s, cdSlot)["Inserted"] != true || len(slotIDs(t, s, systemSlots)) != 2 {
			t.Error("the manager does not show it")
		}
	}},
	{fault: sim.FaultMediaImageStays, rows: []int{30}, check: func(t *testing.T, s *sim.Server) {
		insertInto(t, s, cdSlot, "{"+image+"}")
		eject(t, s)
		if slot := shown(t, s, cdSlot); slot["Inserted"] != false || slot["Image"] == nil {
			t.Errorf("%v", slot)
		}
		expect(t, "another image", []int{insertInto(t, s, cdSlot, other)}, []int{204})
	}},
	{fault: sim.FaultMediaTask, strength: sim.Strength{Delay: time.Millisecond}, check: func(t *testing.T, s *sim.Server) {
		expect(t, "insert", []int{insertInto(t, s, cdSlot, "{"+image+"}")}, []int{202})
		wait(t, s, "it is in", func(s *sim.Server) bool { return s.Media()["1"] != "" })
	}},
	{fault: sim.FaultMediaTaskFails, strength: sim.Strength{Delay: time.Millisecond}, check: func(t *testing.T, s *sim.Server) {
		expect(t, "insert", []int{insertInto(t, s, cdSlot, "{"+image+"}")}, []int{202})
		task := "/redfish/v1/TaskService/Tasks/1"
		wait(t, s, "it has failed", func(*sim.Server) bool { return shown(t, s, task)["TaskState"] == "Exception" })
		expect(t, "the monitor", []int{status(t, s, http.MethodGet, task+"/Monitor", "")}, []int{400})
		if s.Media()["1"] != "" {
			t.Error("it is in")
		}
	}},
	{fault: sim.FaultMediaLate, strength: sim.Strength{Delay: time.Millisecond}, check: func(t *testing.T, s *sim.Server) {
		expect(t, "insert", []int{insertInto(t, s, cdSlot, "{"+image+"}")}, []int{204})
		wait(t, s, "it is in", func(s *sim.Server) bool { return s.Media()["1"] != "" })
	}},
	{fault: sim.FaultMediaRefused, strength: sim.Strength{Count: 1}, check: func(t *testing.T, s *sim.Server) {
		expect(t, "insert twice", []int{insertInto(t, s, cdSlot, "{"+image+"}"), insertInto(t, s, cdSlot, "{"+image+"}")}, []int{400, 204})
	}},
	{fault: sim.FaultMediaBusy, strength: sim.Strength{Count: 1}, check: func(t *testing.T, s *sim.Server) {
		expect(t, "insert twice", []int{insertInto(t, s, cdSlot, "{"+image+"}"), insertInto(t, s, cdSlot, "{"+image+"}")}, []int{503, 204})
	}},
	{fault: sim.FaultLicence, rows: []int{52}, check: func(t *testing.T, s *sim.Server) {
		expect(t, "media, BIOS, secure boot, system", []int{
			insertInto(t, s, cdSlot, "{"+image+"}"), status(t, s, http.MethodGet, system+"/Bios", ""), status(t, s, http.MethodGet, system+"/SecureBoot", ""), status(t, s, http.MethodGet, system, ""),
		}, []int{403, 403, 403, 200})
	}},
}
