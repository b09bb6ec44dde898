package conductor_test

import (
	"errors"
	"fmt"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"

	"cagenut/conductor"
	"cagenut/node"
)

// typed is an enrolment as people type it.
func typed(name, address string, change ...func(*conductor.Enrolment)) conductor.Enrolment {
	x := conductor.Enrolment{Node: node.Node{Name: name, Driver: node.DriverRedfish, DriverInfo: map[string]any{"redfish_address": address}, Extra: map[string]any{}}}
	for _, f := range change {
		f(&x)
	}
	return x
}

func at(rack string, unit, units int) func(*conductor.Enrolment) {
	return func(x *conductor.Enrolment) {
		x.Node.Extra["rack"], x.Node.Extra["rack_unit"], x.Node.Extra["rack_units"] = rack, unit, units
	}
}

func macs(all ...string) func(*conductor.Enrolment) {
	return func(x *conductor.Enrolment) { x.MACs = all }
}

func TestAnEnrolmentMakesTheNodeItsPortsAndItsCheck(t *testing.T) {
	x := newEnrolling(t)
	e := typed("r07-u21", "192.0.2.21", at("R07", 21, 2), macs("52-54-00-AA-BB-01", "52:54:00:aa:bb:02"))
	e.Check = true
	made, err := x.e.Enrol(t.Context(), operator, e)
	if err != nil || len(made.Notes) != 0 {
		t.Fatalf("%+v, %v", made.Notes, err)
	}
	n := x.node(made.Node)
	same(t, "state", n.ProvisionState, node.Verifying)
	same(t, "place", n.Location(), node.Location{Rack: "R07", Unit: 21, Units: 2})
	ports, err := x.store.Ports(t.Context(), node.PortFilter{NodeUUID: n.UUID})
	if err != nil || len(ports) != 2 || ports[0].Address != "52:54:00:aa:bb:01" || !ports[0].PXEEnabled {
		t.Errorf("the ports are %+v, %v", ports, err)
	}
}

func TestWhatIsRefusedLeavesNoNode(t *testing.T) {
	x := newEnrolling(t)
	if _, err := x.e.Enrol(t.Context(), operator, typed("r07-u01", "192.0.2.1", macs("52:54:00:aa:bb:01"))); err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		x     conductor.Enrolment
		field string
	}{
		"a name that is taken":         {typed("r07-u01", "192.0.2.2"), "name"},
		"a name that is none":          {typed("<script>", "192.0.2.2"), "name"},
		"a reserved name":              {typed("detail", "192.0.2.2"), "name"},
		"no address":                   {typed("r07-u02", ""), "address"},
		"a MAC that is none":           {typed("r07-u02", "192.0.2.2", macs("52:54:00")), "macs"},
		"a MAC twice":                  {typed("r07-u02", "192.0.2.2", macs("52:54:00:aa:bb:03", "52-54-00-AA-BB-03")), "macs"},
		"a MAC that is taken (G28)":    {typed("r07-u02", "192.0.2.2", macs("52:54:00:aa:bb:01")), "macs"},
		"an interface of other nodes":  {typed("r07-u02", "192.0.2.2", func(x *conductor.Enrolment) { x.Node.Interfaces.Inspect = "fake" }), "interface"},
		"a driver that is not there":   {typed("r07-u02", "192.0.2.2", func(x *conductor.Enrolment) { x.Node.Driver = "idrac" }), "driver"},
		"the UUID of another (G60)":    {typed("r07-u02", "192.0.2.2", func(x *conductor.Enrolment) { x.Node.UUID = "?" }), ""},
		"a user that is no text (G38)": {typed("r07-u02", "192.0.2.2", func(x *conductor.Enrolment) { x.Node.DriverInfo["redfish_username"] = []any{1} }), "user"},
	} {
		t.Run(name, func(t *testing.T) {
			if c.x.Node.UUID == "?" {
				c.x.Node.UUID = x.nodes()[0].UUID
			}
			_, err := x.e.Enrol(t.Context(), operator, c.x)
			if err == nil || conductor.EnrolField(err) != c.field {
				t.Errorf("field %q: %v", conductor.EnrolField(err), err)
			}
			if all := x.nodes(); len(all) != 1 {
				t.Errorf("there are %d nodes", len(all))
			}
		})
	}
}

func TestAListIsCheckedLineByLine(t *testing.T) {
	x := newEnrolling(t)
	if _, err := x.e.Enrol(t.Context(), operator, typed("there", "192.0.2.1", at("R07", 1, 2), macs("52:54:00:aa:bb:01"))); err != nil {
		t.Fatal(err)
	}
	ipmi := func(x *conductor.Enrolment) {
		x.Node.Driver, x.Node.DriverInfo = node.DriverIPMI, map[string]any{"ipmi_address": "192.0.2.1"}
	}
	system := func(id string) func(*conductor.Enrolment) {
		return func(x *conductor.Enrolment) { x.Node.DriverInfo["redfish_system_id"] = id }
	}
	lines := []struct {
		x             conductor.Enrolment
		refused, warn string
	}{
		{typed("a", "192.0.2.10", at("R07", 10, 1)), "", ""},
		{typed("a", "192.0.2.11"), "name a is in the list twice: also in entry 1", ""},
		{typed("b", "https://192.0.2.10/redfish/v1/"), "is in the list twice: also in entry 1", ""},
		{typed("there", "192.0.2.12"), "There is a node there already", ""},
		{typed("c", "192.0.2.1"), "Its BMC is that of node there already", ""},
		{typed("d", "", ipmi), "Its BMC is that of node there already", ""},
		{typed("e", "192.0.2.13", func(x *conductor.Enrolment) { x.Node.Driver = "idrac" }), `There is no driver "idrac"`, ""},
		{typed("f", "192.0.2.14", macs("52:54")), "is no MAC address", ""},
		{typed("g", "192.0.2.15", macs("52:54:00:aa:bb:01")), "that of a port of node", ""},
		{typed("h", "192.0.2.16", at("R07", 2, 1)), "", "Its place is that of there."},
		{typed("i", "192.0.2.17", at("R07", 9, 2)), "", "Its place is that of a."},
		{typed("j", "192.0.2.18", at("R07", 100, 3)), "", "No rack has unit 102."},
		{typed("k", "192.0.2.19", system("/redfish/v1/Systems/1")), "", ""},
		{typed("l", "192.0.2.19", system("/redfish/v1/Systems/2")), "", ""},
		{typed("m", "192.0.2.19", system("/redfish/v1/Systems/2/")), "is in the list twice: also in entry 14", ""},
		{typed("", "192.0.2.20"), "", ""},
		{typed("", "192.0.2.21"), "", ""},
		{typed("bad name", "192.0.2.22"), "invalid name", ""},
		{typed("n", "192.0.2.23", macs("52:54:00:aa:bb:09")), "", ""},
		{typed("o", "192.0.2.24", macs("52:54:00:AA:BB:09")), "52:54:00:aa:bb:09 is in the list twice: also in entry 19", ""},
	}
	var all []conductor.Enrolment
	for _, l := range lines {
		all = append(all, l.x)
	}
	got, err := x.e.CheckMany(t.Context(), all)
	if err != nil {
		t.Fatal(err)
	}
	for i, l := range lines {
		v := got[i]
		if (v.Refused == "") != (l.refused == "") || !strings.Contains(v.Refused, l.refused) || strings.Join(v.Warnings, "|") != l.warn {
			t.Errorf("entry %d: refused %q, warnings %q; want %q, %q", i+1, v.Refused, v.Warnings, l.refused, l.warn)
		}
	}
}

func TestOneBadLineStopsNoneOfTheOthers(t *testing.T) {
	x := newEnrolling(t)
	lines := []conductor.EnrolLine{
		{Enrolment: typed("a", "192.0.2.10"), Label: "1"},
		{Enrolment: typed("bad name", "192.0.2.11"), Label: "2"},
		{Enrolment: typed("c", "192.0.2.12"), Label: "3"},
		{Enrolment: typed("d", "192.0.2.12"), Label: "4"},
	}
	for i := range lines {
		lines[i].Node.DriverInfo["redfish_password"] = "planted-secret"
	}
	id, err := x.e.EnrolMany(operator, "", lines)
	if err != nil {
		t.Fatal(err)
	}
	r := x.ran(id)
	if r.Total != 4 || len(r.Results) != 4 || r.By.User != operator.User {
		t.Fatalf("the run is %+v", r)
	}
	for i, want := range []struct {
		made, exists bool
	}{{true, false}, {false, false}, {true, false}, {false, true}} {
		got := r.Results[i]
		if (got.Refused == "") != want.made || got.Exists != want.exists || strings.Contains(got.Refused, "planted-secret") {
			t.Errorf("line %d: %+v", i+1, got)
		}
	}
	if all := x.nodes(); len(all) != 2 {
		t.Errorf("there are %d nodes", len(all))
	}
	var missing *node.NotFound
	if _, err := x.e.EnrolRun(node.NewUUID()); !errors.As(err, &missing) {
		t.Errorf("an unknown run: %v", err)
	}
}

// Two people give the same list, or one presses twice: servers without names are told apart by their BMCs alone.
func TestRunsThatMeetMakeNoServerTwice(t *testing.T) {
	x := newEnrolling(t)
	var lines []conductor.EnrolLine
	for i := range 50 {
		lines = append(lines, conductor.EnrolLine{Enrolment: typed("", fmt.Sprintf("192.0.2.%d", i+1)), Label: "a line"})
	}
	var ids []string
	for range 4 {
		id, err := x.e.EnrolMany(operator, "", lines)
		if err != nil {
			t.Fatal(err)
		}
		ids = append(ids, id)
	}
	there := 0
	for _, id := range ids {
		for _, r := range x.ran(id).Results {
			if r.Exists {
				there++
			}
		}
	}
	if all := x.nodes(); len(all) != len(lines) || there != 3*len(lines) {
		t.Errorf("%d nodes were made of %d servers, %d were there already", len(all), len(lines), there)
	}
}

// A chassis is one BMC with the systems of all its blades.
func TestEverySystemBehindOneBMCIsKnownAgain(t *testing.T) {
	x := newEnrolling(t)
	var lines []conductor.EnrolLine
	for i := range 30 {
		blade := typed("", "192.0.2.1")
		blade.Node.DriverInfo["redfish_system_id"] = fmt.Sprintf("/redfish/v1/Systems/Blade%d", i+1)
		lines = append(lines, conductor.EnrolLine{Enrolment: blade, Label: "a blade"})
	}
	for _, made := range []bool{true, false} {
		id, err := x.e.EnrolMany(operator, "", lines)
		if err != nil {
			t.Fatal(err)
		}
		for i, r := range x.ran(id).Results {
			if r.Exists == made || (r.Refused == "") != made {
				t.Errorf("to be made %v, blade %d: %+v", made, i+1, r)
			}
		}
	}
}

func TestABMCIsKnownAgainHoweverItsAddressIsSpelt(t *testing.T) {
	for first, second := range map[string]string{"2001:DB8:0:0::1": "https://[2001:db8::1]", " 192.0.2.8 ": "192.0.2.8", "BMC.example": "https://bmc.example:443"} {
		x := newEnrolling(t)
		id, err := x.e.EnrolMany(operator, "", []conductor.EnrolLine{{Enrolment: typed("", first)}, {Enrolment: typed("", second)}})
		if err != nil {
			t.Fatal(err)
		}
		if r := x.ran(id).Results; r[0].UUID == "" || !r[1].Exists || r[1].UUID != r[0].UUID {
			t.Errorf("%q, then %q: %+v", first, second, r)
		}
	}
}

func TestARunThatGoesOnIsNotForgottenForNewerOnes(t *testing.T) {
	hold, held := make(chan struct{}), atomic.Bool{}
	ended := make(chan string, 1000)
	x := newEnrolling(t, func(n *conductor.EnrollerNeeds) {
		n.Announce = func(id string) {
			if held.CompareAndSwap(false, true) {
				<-hold // the first run of all goes on until the test has looked
			}
			ended <- id
		}
	})
	t.Cleanup(func() { close(hold) })
	begin := func(name string) string {
		id, err := x.e.EnrolMany(operator, "", []conductor.EnrolLine{{Enrolment: typed(name, "192.0.2.1")}})
		if err != nil {
			t.Fatal(err)
		}
		return id
	}
	first := begin("first")
	for !held.Load() {
		runtime.Gosched()
	}
	for i := range 25 {
		begin(fmt.Sprint("later-", i))
		<-ended
	}
	if r, err := x.e.EnrolRun(first); err != nil || !r.EndedAt.IsZero() {
		t.Errorf("%+v, %v", r, err)
	}
}
