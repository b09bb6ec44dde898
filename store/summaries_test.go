package store_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"cagenut/node"
)

var listOrders = []node.ListOrder{node.ByAttention, node.ByName, node.ByPlace, node.ByState, node.BySince, node.ByPower, node.ByHealth, node.ByDriver}

var ranks = [][]node.State{{node.InspectFailed}, {node.InspectWait, node.CleanWait}, {node.Manageable, node.Available}}

// hall stores nodes that are alike in all that lists are sorted by, some of them in everything.
func hall(t *testing.T, r rig, nodes int) {
	t.Helper()
	states := []node.State{node.Enroll, node.InspectFailed, node.Manageable, node.InspectWait}
	for i := range nodes {
		r.add(t, states[i*7%4], func(n *node.Node) {
			n.Driver = []string{node.DriverRedfish, node.DriverIPMI, node.DriverFake}[i%3]
			n.PowerState = []node.PowerState{"", node.PowerOn, node.PowerOff}[i%3]
			n.Health = []node.Health{"", node.HealthOK, node.HealthWarning, node.HealthCritical}[i%4]
			n.Maintenance = i%5 == 0
			if i%6 != 0 {
				n.Name = fmt.Sprintf("n%02d", i*13%nodes)
			}
			if i%7 != 0 {
				n.Extra = map[string]any{"rack": fmt.Sprintf("R%d", i%3), "rack_unit": i % 4}
			}
			if i%8 == 0 {
				n.BMCUnreachableSince = begin
			}
		})
	}
}

func uuids(all []node.Summary) (out []string) {
	for _, n := range all {
		out = append(out, n.UUID)
	}
	return out
}

func TestPagesForPeopleShowEachNodeOnceInEveryOrderG57(t *testing.T) {
	r := newRig(t)
	hall(t, r, 23)
	for _, order := range listOrders {
		for _, descending := range []bool{false, true} {
			l := node.List{Order: order, Descending: descending, Ranks: ranks, Filter: node.Filter{IncludeChildren: true}}
			whole := must(r.Summaries(t.Context(), l))(t)
			if len(whole.All) != 23 || whole.Earlier || whole.Later {
				t.Fatalf("by %q: %d nodes in the whole list", order, len(whole.All))
			}
			l.Limit = 4
			var forth, back []string
			for {
				page := must(r.Summaries(t.Context(), l))(t)
				forth = append(forth, uuids(page.All)...)
				if page.Earlier != (len(forth) > 4) || page.Later != (len(forth) < 23) {
					t.Errorf("by %q: after %d nodes there is one before: %v, behind: %v", order, len(forth), page.Earlier, page.Later)
				}
				if len(forth) >= 23 {
					l.At = page.All[0].Cursor
					break
				}
				l.At = page.All[3].Cursor
			}
			for l.Before = true; ; {
				page := must(r.Summaries(t.Context(), l))(t)
				back = append(uuids(page.All), back...)
				if !page.Later {
					t.Errorf("by %q: a page before another has nothing behind it", order)
				}
				if !page.Earlier {
					break
				}
				l.At = page.All[0].Cursor
			}
			if d := cmp.Diff(uuids(whole.All), forth); d != "" {
				t.Errorf("by %q, descending %v, forth: %s", order, descending, d)
			}
			if d := cmp.Diff(forth[:20], back); d != "" {
				t.Errorf("by %q, descending %v, back: %s", order, descending, d)
			}
		}
	}
}

func TestAListIsSortedByWhatItSays(t *testing.T) {
	r := newRig(t)
	hall(t, r, 40)
	rank := func(n node.Summary) string {
		at := slices.IndexFunc(ranks, func(s []node.State) bool { return slices.Contains(s, n.ProvisionState) })
		return fmt.Sprint(map[bool]int{true: at, false: len(ranks)}[at >= 0])
	}
	place := func(n node.Summary) string {
		l := n.Location()
		return fmt.Sprintf("%v %s %03d", l.Rack == "", l.Rack, l.Unit)
	}
	health := func(n node.Summary) string {
		switch {
		case n.Health == node.HealthCritical:
			return "0"
		case n.Health == node.HealthWarning:
			return "1"
		case !n.BMCUnreachableSince.IsZero():
			return "2"
		case n.Health == "":
			return "3"
		}
		return "4"
	}
	for order, key := range map[node.ListOrder]func(node.Summary) string{
		node.ByAttention: func(n node.Summary) string { return rank(n) + n.Name },
		node.ByName:      func(n node.Summary) string { return n.Name },
		node.ByPlace:     place,
		node.ByState:     func(n node.Summary) string { return string(n.ProvisionState) + " " + n.Name },
		node.BySince:     func(n node.Summary) string { return n.ProvisionUpdatedAt.Format(time.RFC3339Nano) },
		node.ByPower:     func(n node.Summary) string { return string(n.PowerState) + " " + n.Name },
		node.ByHealth:    func(n node.Summary) string { return health(n) + n.Name },
		node.ByDriver:    func(n node.Summary) string { return n.Driver + " " + n.Name },
	} {
		for _, descending := range []bool{false, true} {
			all := must(r.Summaries(t.Context(), node.List{Order: order, Descending: descending, Ranks: ranks}))(t).All
			var keys []string
			for _, n := range all {
				keys = append(keys, key(n))
			}
			if descending {
				slices.Reverse(keys)
			}
			if !slices.IsSorted(keys) {
				t.Errorf("by %q, descending %v: %q", order, descending, keys)
			}
		}
	}
}

func TestAPageFollowsItsPlaceWhenNodesGo(t *testing.T) {
	r := newRig(t)
	hall(t, r, 12)
	l := node.List{Order: node.ByName, Limit: 5}
	first := must(r.Summaries(t.Context(), l))(t).All
	l.At = first[4].Cursor
	second := uuids(must(r.Summaries(t.Context(), l))(t).All)
	last := must(r.Node(t.Context(), first[4].UUID))(t)
	if err := r.DeleteNode(t.Context(), last, node.Audit{}); err != nil {
		t.Fatal(err)
	}
	if got := uuids(must(r.Summaries(t.Context(), l))(t).All); !slices.Equal(got, second) {
		t.Error("the next page is another one after the node before it was deleted")
	}
}

func TestAPlaceOfAnotherListIsRefused(t *testing.T) {
	r := newRig(t)
	for _, c := range []node.Cursor{{}, {"a"}, {"a", "b"}, {"x", "n1", "1"}, {"1", "n1", "1", "1"}} {
		var invalid *node.Invalid
		if _, err := r.Summaries(t.Context(), node.List{At: c, Ranks: ranks}); !errors.As(err, &invalid) {
			t.Errorf("%q: %v", c, err)
		}
	}
	if _, err := r.Summaries(t.Context(), node.List{Order: "colour"}); err == nil {
		t.Error("a list is sorted by colour")
	}
}

func TestASummaryIsTheNodeAsAListShowsIt(t *testing.T) {
	r := newRig(t)
	n := r.add(t, node.Manageable, func(n *node.Node) {
		n.Name, n.Driver, n.PowerState, n.TargetPowerState, n.PowerCheckedAt = "r07-u21", node.DriverRedfish, node.PowerOn, node.PowerOff, begin
		n.BMCUnreachableSince, n.BMCError, n.Health, n.HealthAt, n.LastError = begin, "no answer", node.HealthWarning, begin, "it broke"
		n.Reservation, n.ReservationID, n.AttemptID, n.Maintenance, n.MaintenanceReason, n.DisablePowerOff = "appliance", "id", "attempt", true, "fan", true
		n.Extra = map[string]any{"rack": "R07", "rack_unit": 21, "owner": "ops"}
		n.DriverInfo = map[string]any{"redfish_address": "https://192.0.2.10", "redfish_password": "not-a-real-one"}
	})
	got := must(r.Summaries(t.Context(), node.List{Limit: 1}))(t).All[0]
	want := node.Summary{BMCAddress: "192.0.2.10", Cursor: got.Cursor, Node: node.Node{
		ID: n.ID, UUID: n.UUID, Name: n.Name, Driver: n.Driver, ProvisionState: n.ProvisionState, ProvisionUpdatedAt: n.ProvisionUpdatedAt,
		PowerState: n.PowerState, TargetPowerState: n.TargetPowerState, PowerCheckedAt: n.PowerCheckedAt, BMCUnreachableSince: n.BMCUnreachableSince,
		BMCError: n.BMCError, Health: n.Health, HealthAt: n.HealthAt, LastError: n.LastError, Reservation: n.Reservation, ReservationID: n.ReservationID,
		AttemptID: n.AttemptID, Maintenance: true, MaintenanceReason: n.MaintenanceReason, DisablePowerOff: true, Extra: map[string]any{"rack": "R07", "rack_unit": 21},
	}}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
}

func TestAPageKnowsHowFarItsInspectionsAre(t *testing.T) {
	r := newRig(t)
	n, a := r.waiting(t)
	for _, kind := range []node.SignKind{node.SignBootScript, node.SignLookup} {
		if err := r.AddSign(t.Context(), n.UUID, node.Sign{AttemptID: a.ID, Kind: kind, LastAt: begin.Add(time.Minute), Detail: "192.0.2.7"}); err != nil {
			t.Fatal(err)
		}
	}
	page := must(r.Summaries(t.Context(), node.List{Limit: 5}))(t)
	got := page.Attempts[page.All[0].AttemptID]
	if got.ID != a.ID || got.NodeUUID != n.UUID || got.Token != "" {
		t.Errorf("the attempt is %+v", got)
	}
	if signs := page.Signs[a.ID]; len(signs) != 2 || signs[1].Kind != node.SignLookup || signs[1].Detail != "192.0.2.7" {
		t.Errorf("the signs are %+v", signs)
	}
	must(r.EndAttempt(t.Context(), abort(n, a)))(t)
	page = must(r.Summaries(t.Context(), node.List{Limit: 5}))(t)
	if got := page.Attempts[a.ID]; got.Outcome != node.Aborted || got.Ended.User != "ada" || got.CleanUp != node.CleanUpPending || len(page.Signs) != 0 {
		t.Errorf("after the abort it is %+v with %d signs", got, len(page.Signs))
	}
}

func TestDoubledSerialsAndPlacesAreCountedAndNothingIsMergedG52(t *testing.T) {
	r := newRig(t)
	serial := func(n node.Node, s string) {
		t.Helper()
		if _, err := r.Writer().Exec(`UPDATE nodes SET serial = ? WHERE uuid = ?`, s, n.UUID); err != nil {
			t.Fatal(err)
		}
	}
	at := func(name, rack string, unit int) node.Node {
		return r.add(t, node.Manageable, func(n *node.Node) {
			n.Name, n.Extra = name, map[string]any{"rack": rack, "rack_unit": unit}
		})
	}
	serial(at("a", "R1", 1), "CZ1")
	serial(at("b", "R1", 2), "CZ1")
	serial(at("c", "R1", 2), "Not Specified")
	serial(at("d", "R2", 2), "Not Specified")
	serial(at("e", "R1", 0), "0000000")
	at("f", "R1", 0)
	at("g", "", 2)
	at("h", "", 2)
	got := map[string][2]int{}
	for _, n := range must(r.Summaries(t.Context(), node.List{Order: node.ByName, Limit: 100}))(t).All {
		got[n.Name] = [2]int{n.SerialTwins, n.PlaceTwins}
	}
	want := map[string][2]int{"a": {1, 0}, "b": {1, 1}, "c": {0, 1}, "d": {}, "e": {}, "f": {}, "g": {}, "h": {}}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
	if found := must(r.Summaries(t.Context(), node.List{Filter: node.Filter{Search: "not spec"}, Limit: 9}))(t).All; len(found) != 2 {
		t.Errorf("a search for the placeholder finds %d nodes", len(found))
	}
}

func TestASearchTakesAMACInAnySpelling(t *testing.T) {
	r := newRig(t)
	n := r.add(t, node.Manageable)
	must(r.CreatePort(t.Context(), node.Port{UUID: node.NewUUID(), NodeUUID: n.UUID, Address: "52:54:00:aa:00:0b"}, node.Audit{}))(t)
	for text, want := range map[string]int{
		"52:54:00:aa:00:0b": 1, "52:54:00:AA:00:0B": 1, "52-54-00-AA-00-0B": 1, "5254.00aa.000b": 1, "525400AA000B": 1, "aa:00": 1, "AA-00": 1, "aa:01": 0, "52:54:00:aa:00:0c": 0, "%": 0, "_": 0,
		"525400": 1, "AA000B": 1, "000b": 1, "00aa.000b": 1, "5254.00": 1, "000c": 0, "10.0": 0, "5.25": 0,
	} {
		if got := must(r.Summaries(t.Context(), node.List{Filter: node.Filter{Search: text}, Limit: 5}))(t).All; len(got) != want {
			t.Errorf("%q finds %d nodes, want %d", text, len(got), want)
		}
	}
}

func TestTalliesCountWhatAFilterChooses(t *testing.T) {
	r := newRig(t)
	hall(t, r, 60)
	yes, rnd := true, rand.New(rand.NewPCG(1, 2))
	for _, f := range []node.Filter{
		{}, {IncludeChildren: true}, {Maintenance: &yes}, {Driver: node.DriverIPMI}, {Healths: []node.Health{""}}, {Silent: true}, {Rack: "R1"}, {Search: "n1"},
		{ProvisionStates: []node.State{node.InspectFailed, node.Enroll}, Search: fmt.Sprint(rnd.IntN(9))},
	} {
		all := must(r.Summaries(t.Context(), node.List{Filter: f}))(t).All
		racks, silent, tallied := map[string]int{}, 0, 0
		for _, n := range all {
			racks[n.Location().Rack]++
			if !n.BMCUnreachableSince.IsZero() {
				silent++
			}
		}
		for _, tally := range must(r.Tallies(t.Context(), f))(t) {
			alike := slices.DeleteFunc(slices.Clone(all), func(n node.Summary) bool {
				return n.ProvisionState != tally.State || n.Driver != tally.Driver || n.Health != tally.Health || n.Maintenance != tally.Maintenance
			})
			if len(alike) != tally.N {
				t.Errorf("%+v: %+v, but there are %d", f, tally, len(alike))
			}
			tallied, silent = tallied+tally.N, silent-tally.Silent
		}
		if tallied != len(all) || silent != 0 {
			t.Errorf("%+v: %d nodes are tallied of %d, and %d silent ones too few", f, tallied, len(all), silent)
		}
		if d := cmp.Diff(racks, must(r.RackTallies(t.Context(), f))(t)); d != "" {
			t.Errorf("%+v: %s", f, d)
		}
	}
}
