package store_test

import (
	"context"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"cagenut/node"
)

func TestTurnsAreSpreadEvenlyAndComeOncePerRound(t *testing.T) {
	r := newRig(t)
	const nodes, seconds = 200, 60
	for range nodes {
		r.add(t, node.Manageable)
	}
	asked, most := map[string]int{}, 0
	turn := func(second int) int64 { return int64(second) * node.Turns / seconds }
	for second := 30; second < 30+seconds; second++ { // the window passes the end of a round
		due := must(r.PowerDue(t.Context(), turn(second), turn(second+1)))(t)
		most = max(most, len(due))
		for _, n := range due {
			asked[n.UUID]++
		}
	}
	for uuid, times := range asked {
		if times != 1 {
			t.Errorf("%s had %d turns in a round", uuid, times)
		}
	}
	if len(asked) != nodes || most > 2*nodes/seconds {
		t.Errorf("%d of %d nodes had a turn, up to %d of them in the same second", len(asked), nodes, most)
	}
	for what, window := range map[string]struct {
		from, to int64
		want     int
	}{
		"no time":                          {7, 7, 0},
		"a clock that was put back":        {9, 7, 0},
		"a whole round":                    {7, 7 + node.Turns, nodes},
		"more than a round, after a pause": {7, 7 + 3*node.Turns, nodes},
		"all but one turn":                 {1, node.Turns, nodes},
	} {
		if got := must(r.PowerDue(t.Context(), window.from, window.to))(t); len(got) != window.want {
			t.Errorf("%s: %d nodes", what, len(got))
		}
	}
}

func TestWhoseTurnItIsTakesAnIndexAndNotAWalkThroughAllNodes(t *testing.T) {
	r := newRig(t)
	rows, err := r.Writer().QueryContext(t.Context(), `EXPLAIN QUERY PLAN SELECT * FROM nodes WHERE reservation_id = '' AND target_power_state = '' AND NOT maintenance
		AND provision_state NOT IN ('enroll', 'verifying') AND NOT EXISTS (SELECT 1 FROM attempts WHERE id = nodes.attempt_id AND clean_up = 'pending')
		AND (id * 40503) & 65535 BETWEEN 1 AND 1000`)
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	var plan []string
	for rows.Next() {
		var id, parent, unused int
		var step string
		if err := rows.Scan(&id, &parent, &unused, &step); err != nil {
			t.Fatal(err)
		}
		plan = append(plan, step)
	}
	if all := strings.Join(plan, "; "); rows.Err() != nil || !strings.Contains(all, "nodes_turn") || strings.Contains(all, "SCAN") {
		t.Errorf("the plan is %s, %v", all, rows.Err())
	}
}

func TestNobodyLooksAtNodesThatAreNotForIt(t *testing.T) {
	r := newRig(t)
	idle := r.add(t, node.Manageable)
	waits, _ := r.waiting(t)
	r.add(t, node.Enroll)
	r.add(t, node.AdoptFailed)
	r.add(t, node.Verifying)
	r.add(t, node.Available, func(n *node.Node) { n.Maintenance = true })
	r.add(t, node.Manageable, func(n *node.Node) { n.TargetPowerState = node.PowerOff })
	held := r.add(t, node.Manageable)
	must(r.Move(t.Context(), node.Move{Node: held.UUID, From: node.Manageable, Hold: "w", At: begin}))(t)
	cleaned, a := r.waiting(t)
	must(r.EndAttempt(t.Context(), abort(cleaned, a)))(t)
	who := func() (all []string) {
		for _, n := range must(r.PowerDue(t.Context(), 0, node.Turns))(t) {
			all = append(all, n.UUID)
		}
		slices.Sort(all)
		return all
	}
	sorted := func(all ...string) []string { slices.Sort(all); return all }
	if d := cmp.Diff(sorted(idle.UUID, waits.UUID), who()); d != "" {
		t.Errorf("while clean-up is pending (-want +got):\n%s", d)
	}
	a = must(r.Attempt(t.Context(), a.ID))(t)
	a.CleanUp = node.CleanUpDone
	if err := r.UpdateAttempt(t.Context(), a, nil); err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(sorted(idle.UUID, waits.UUID, cleaned.UUID), who()); d != "" {
		t.Errorf("once clean-up is done (-want +got):\n%s", d)
	}
}

// look is a finished look at a node as it is now.
func look(n node.Node, at time.Time, found func(*node.Look)) node.Look {
	l := node.BeginLook(n)
	l.At = at
	found(&l)
	return l
}

func TestALookThatSomethingOfOursHasOvertakenIsDropped(t *testing.T) {
	r := newRig(t)
	for name, ours := range map[string]func(n node.Node) error{
		"a power job held the node and let it go": func(n node.Node) error {
			for _, m := range []node.Move{{Hold: "w"}, {Held: "w"}} {
				m.Node, m.From, m.At = n.UUID, node.Manageable, begin
				if _, err := r.Move(t.Context(), m); err != nil {
					return err
				}
			}
			return nil
		},
		"clean-up confirmed the same power state at the same moment": func(n node.Node) error {
			return r.SetPowerState(t.Context(), n.UUID, node.PowerOn, begin)
		},
		"somebody gave it another BMC": func(n node.Node) error {
			n.DriverInfo = map[string]any{"redfish_address": "https://192.0.2.99"}
			_, err := r.UpdateNode(t.Context(), n, node.Audit{})
			return err
		},
		"somebody set maintenance": func(n node.Node) error {
			return r.SetMaintenance(t.Context(), n.UUID, true, "", node.Audit{})
		},
		"another look was faster": func(n node.Node) error {
			return r.RecordLooks(t.Context(), []node.Look{look(n, begin, func(l *node.Look) { l.Power, l.Outside = node.PowerOff, true })})
		},
		"it was deleted": func(n node.Node) error { return r.DeleteNode(t.Context(), n, node.Audit{}) },
	} {
		t.Run(name, func(t *testing.T) {
			n := r.add(t, node.Manageable, func(n *node.Node) { n.PowerState = node.PowerOn })
			if err := ours(n); err != nil {
				t.Fatal(err)
			}
			before, _ := r.Node(t.Context(), n.UUID)
			found := look(n, begin.Add(time.Hour), func(l *node.Look) {
				l.Power, l.Outside, l.Unreachable, l.SilentAt = node.PowerError, true, "silence", begin
				l.History = []node.History{{NodeUUID: n.UUID, Severity: node.SeverityInfo, Type: node.TypePower, Event: "seen too late"}}
			})
			if err := r.RecordLooks(t.Context(), []node.Look{found}); err != nil {
				t.Fatal(err)
			}
			after, _ := r.Node(t.Context(), n.UUID)
			if d := cmp.Diff(before, after); d != "" {
				t.Errorf("(-before +after):\n%s", d)
			}
			for _, h := range must(r.History(t.Context(), n.UUID, node.Page{}))(t) {
				if h.Event == "seen too late" {
					t.Error("it is in the history")
				}
			}
		})
	}
}

func TestAThousandLooksAreOneTransactionAndNewsOnlyWhereSomethingChanged(t *testing.T) {
	r := newRig(t)
	same := r.add(t, node.Manageable, func(n *node.Node) { n.PowerState, n.LastError = node.PowerOn, "Inspection was aborted by request." })
	other := r.add(t, node.Manageable, func(n *node.Node) {
		n.PowerState, n.PowerAsked, n.PowerAskedAt, n.LastError = node.PowerOn, node.ActionOn, begin, "kept"
	})
	unknown := r.add(t, node.Manageable)
	ctx, cancel := context.WithCancel(t.Context())
	news := r.Watch(ctx)
	at := begin.Add(time.Minute)
	looks := []node.Look{
		look(same, at, func(l *node.Look) { l.Power, l.Answered = node.PowerOn, true }),
		look(other, at, func(l *node.Look) { l.Power, l.Answered, l.Outside = node.PowerOff, true, true }),
		look(unknown, at, func(l *node.Look) { l.Power, l.Answered = node.PowerOff, true }),
	}
	for range 997 {
		looks = append(looks, look(node.Node{UUID: node.NewUUID()}, at, func(l *node.Look) { l.Power = node.PowerOn }))
	}
	if err := r.RecordLooks(t.Context(), looks); err != nil {
		t.Fatal(err)
	}
	cancel()
	var told []node.Notice
	for n := range news {
		told = append(told, n)
	}
	same.PowerCheckedAt = at
	if d := cmp.Diff(same, must(r.Node(t.Context(), same.UUID))(t)); d != "" {
		t.Errorf("the server that is as it was (-want +got):\n%s", d)
	}
	now := must(r.Node(t.Context(), other.UUID))(t)
	if now.PowerState != node.PowerOff || now.PowerAsked != "" || now.LastError != "kept" || !now.PowerCheckedAt.Equal(at) {
		t.Errorf("the server that was switched off: %s, asked %q, last error %q, checked %s", now.PowerState, now.PowerAsked, now.LastError, now.PowerCheckedAt)
	}
	if first := must(r.Node(t.Context(), unknown.UUID))(t); first.PowerState != node.PowerOff {
		t.Errorf("the server of which nobody knew: %q", first.PowerState)
	}
	kinds := map[string]int{}
	for _, n := range told {
		switch {
		case n.Change == nil:
			kinds["news"]++
		case n.Change.Power != nil && n.NodeUUID == other.UUID && *n.Change.Power == (node.PowerChange{From: node.PowerOn, To: node.PowerOff}):
			kinds["power"]++
		default:
			kinds["?"]++
		}
	}
	if d := cmp.Diff(map[string]int{"news": 2, "power": 1}, kinds); d != "" {
		t.Errorf("what was told (-want +got):\n%s", d)
	}
}

func TestAMarkOutlivesARestartAndEndsWithTheFirstAnswer(t *testing.T) {
	since, later := begin.Add(time.Minute), begin.Add(time.Hour+time.Minute)
	for name, answers := range map[string]func(r rig, n node.Node) error{
		"to a look": func(r rig, n node.Node) error {
			return r.RecordLooks(t.Context(), []node.Look{look(n, later, func(l *node.Look) { l.Power, l.Answered = node.PowerOn, true })})
		},
		"to a look, with a complaint": func(r rig, n node.Node) error {
			return r.RecordLooks(t.Context(), []node.Look{look(n, later, func(l *node.Look) { l.Answered = true })})
		},
		"to clean-up": func(r rig, n node.Node) error { return r.SetPowerState(t.Context(), n.UUID, node.PowerOn, later) },
		"to a power job": func(r rig, n node.Node) error {
			on := node.PowerOn
			_, err := r.Move(t.Context(), node.Move{Node: n.UUID, From: node.Manageable, At: later, PowerState: &on})
			return err
		},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t)
			n := r.add(t, node.Manageable, func(n *node.Node) { n.PowerState = node.PowerOn })
			mark := look(n, since.Add(time.Minute), func(l *node.Look) { l.Unreachable, l.SilentAt = "BMC 192.0.2.10: no answer", since })
			if err := r.RecordLooks(t.Context(), []node.Look{mark}); err != nil {
				t.Fatal(err)
			}
			if err := r.Close(); err != nil {
				t.Fatal(err)
			}
			r = open(t, r.folder)
			n = must(r.Node(t.Context(), n.UUID))(t)
			if !n.BMCUnreachableSince.Equal(since) || n.BMCError != "BMC 192.0.2.10: no answer" || n.PowerState != node.PowerOn {
				t.Fatalf("after a restart: since %s, %q, %s", n.BMCUnreachableSince, n.BMCError, n.PowerState)
			}
			again := look(n, since.Add(2*time.Minute), func(l *node.Look) { l.Unreachable, l.SilentAt = "it refuses the credentials", since.Add(2*time.Minute) })
			if err := r.RecordLooks(t.Context(), []node.Look{again}); err != nil {
				t.Fatal(err)
			}
			n = must(r.Node(t.Context(), n.UUID))(t)
			if !n.BMCUnreachableSince.Equal(since) || n.BMCError != "it refuses the credentials" {
				t.Errorf("with another reason: since %s, %q", n.BMCUnreachableSince, n.BMCError)
			}
			for range 2 { // the second time there is nothing to end
				if err := answers(r, must(r.Node(t.Context(), n.UUID))(t)); err != nil {
					t.Fatal(err)
				}
			}
			n = must(r.Node(t.Context(), n.UUID))(t)
			if !n.BMCUnreachableSince.IsZero() || n.BMCError != "" {
				t.Errorf("after an answer: since %s, %q", n.BMCUnreachableSince, n.BMCError)
			}
			var ends []string
			for _, h := range must(r.History(t.Context(), n.UUID, node.Page{}))(t) {
				ends = append(ends, string(h.Severity)+" "+h.Type+" "+h.Event)
			}
			if d := cmp.Diff([]string{"INFO power The BMC is reachable again after 1h0m0s."}, ends); d != "" {
				t.Errorf("history (-want +got):\n%s", d)
			}
			var told []node.BMCChange
			for _, c := range must(r.Changes(t.Context(), 0, 100))(t) {
				if c.BMC != nil {
					told = append(told, *c.BMC)
				}
			}
			if d := cmp.Diff([]node.BMCChange{{Error: "BMC 192.0.2.10: no answer"}, {Reachable: true}}, told); d != "" {
				t.Errorf("changes (-want +got):\n%s", d)
			}
		})
	}
}

func TestTheHealthThatALookFoundIsKeptWithItsTimeAndBelongsToOneBMC(t *testing.T) {
	r := newRig(t)
	n := r.add(t, node.Manageable, func(n *node.Node) {
		n.Driver, n.DriverInfo = node.DriverRedfish, map[string]any{"redfish_address": "https://192.0.2.10"}
	})
	at := begin.Add(time.Minute)
	news := r.Watch(t.Context())
	for _, found := range []func(*node.Look){
		func(l *node.Look) { l.Health, l.HealthSeen = node.HealthCritical, node.HealthCritical },
		func(l *node.Look) { l.Power = node.PowerOn }, // says nothing of it
		func(l *node.Look) { l.HealthSeen = node.HealthOK },
	} {
		if err := r.RecordLooks(t.Context(), []node.Look{look(must(r.Node(t.Context(), n.UUID))(t), at, found)}); err != nil {
			t.Fatal(err)
		}
		at = at.Add(time.Minute)
	}
	if first, _ := read(t, news); first.NodeUUID != n.UUID {
		t.Errorf("told was %+v", first)
	}
	now := must(r.Node(t.Context(), n.UUID))(t)
	if now.Health != node.HealthCritical || now.HealthSeen != node.HealthOK || !now.HealthAt.Equal(begin.Add(time.Minute)) || now.Version != n.Version {
		t.Errorf("%s since %s, seen %s, version %d", now.Health, now.HealthAt, now.HealthSeen, now.Version)
	}
	now.Description = "row 4"
	now = must(r.UpdateNode(t.Context(), now, node.Audit{}))(t)
	if now.Health != node.HealthCritical {
		t.Errorf("after another description: %q", now.Health)
	}
	now.DriverInfo["redfish_address"] = "https://192.0.2.11"
	now = must(r.UpdateNode(t.Context(), now, node.Audit{}))(t)
	if now.Health != "" || now.HealthSeen != "" || !now.HealthAt.IsZero() {
		t.Errorf("with another BMC: %s since %s, seen %s", now.Health, now.HealthAt, now.HealthSeen)
	}
}

func TestAnotherBMCBeginsWithoutTheMarkOfTheOld(t *testing.T) {
	r := newRig(t)
	for name, tc := range map[string]struct {
		change func(*node.Node)
		marked bool
	}{
		"another address":  {func(n *node.Node) { n.DriverInfo["redfish_address"] = "https://192.0.2.11" }, false},
		"another password": {func(n *node.Node) { n.DriverInfo["redfish_password"] = "another-unreal-one" }, false},
		"another driver":   {func(n *node.Node) { n.Driver = node.DriverIPMI }, false},
		"another name":     {func(n *node.Node) { n.Description = "row 4" }, true},
	} {
		t.Run(name, func(t *testing.T) {
			n := r.add(t, node.Manageable, func(n *node.Node) {
				n.Driver, n.DriverInfo = node.DriverRedfish, map[string]any{"redfish_address": "https://192.0.2.10", "redfish_password": "not-a-real-one", "port": 623}
			})
			mark := look(n, begin, func(l *node.Look) { l.Unreachable, l.SilentAt = "no answer", begin })
			if err := r.RecordLooks(t.Context(), []node.Look{mark}); err != nil {
				t.Fatal(err)
			}
			n = must(r.Node(t.Context(), n.UUID))(t)
			tc.change(&n)
			n = must(r.UpdateNode(t.Context(), n, node.Audit{}))(t)
			if marked := !n.BMCUnreachableSince.IsZero(); marked != tc.marked || (n.BMCError != "") != tc.marked {
				t.Errorf("marked: %v, %q", marked, n.BMCError)
			}
		})
	}
}
