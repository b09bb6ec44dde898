package node_test

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"cagenut/node"
)

// golden is contract.md §2.2, written down a second time: state | target | event>next, … Every pair that is not here
// must be refused.
const golden = `
enroll|-|manage>verifying
verifying|manageable|done>manageable, fail>enroll
manageable|-|inspect>inspecting, provide>cleaning, clean>cleaning, adopt>adopting
inspecting|manageable|done>manageable, fail>inspect failed, wait>inspect wait
inspect wait|manageable|abort>inspect failed, resume>inspecting, done>manageable, fail>inspect failed
inspect failed|manageable|inspect>inspecting, manage>manageable
available|-|manage>manageable, deploy>deploying
cleaning|available|done>available, manage>manageable, fail>clean failed, wait>clean wait, hold>clean hold
clean wait|available|abort>clean failed, resume>cleaning, fail>clean failed, hold>clean hold
clean hold|available|abort>clean failed, unhold>clean wait
clean failed|available|manage>manageable
deploying|active|done>active, fail>deploy failed, wait>wait call-back, hold>deploy hold
wait call-back|active|abort>deploy failed, delete>deleting, resume>deploying, fail>deploy failed, hold>deploy hold
deploy hold|active|abort>deploy failed, unhold>wait call-back
deploy failed|active|rebuild>deploying, deploy>deploying, delete>deleting
active|-|rebuild>deploying, delete>deleting, rescue>rescuing, service>servicing
error|-|rebuild>deploying, delete>deleting
deleting|available|clean>cleaning, fail>error
adopting|active|done>active, fail>adopt failed
adopt failed|active|adopt>adopting, manage>manageable
rescuing|rescue|done>rescue, wait>rescue wait, fail>rescue failed
rescue wait|rescue|abort>rescue failed, resume>rescuing, fail>rescue failed, delete>deleting
rescue|-|rescue>rescuing, unrescue>unrescuing, delete>deleting
rescue failed|rescue|rescue>rescuing, unrescue>unrescuing, delete>deleting
unrescuing|active|done>active, fail>unrescue failed
unrescue failed|active|rescue>rescuing, unrescue>unrescuing, delete>deleting
servicing|active|done>active, fail>service failed, wait>service wait, hold>service hold
service wait|active|abort>service failed, resume>servicing, fail>service failed, hold>service hold, delete>deleting
service hold|active|abort>service failed, unhold>service wait, delete>deleting
service failed|active|abort>active, service>servicing, rescue>rescuing, delete>deleting
`

var events = []node.Event{
	"manage", "provide", "inspect", "abort", "clean", "adopt", "deploy", "rebuild", "delete", "rescue", "unrescue", "service", "unhold",
	"done", "fail", "wait", "resume", "hold",
}

type goldenRow struct {
	target node.State
	next   map[node.Event]node.State
}

func goldenTable() map[node.State]goldenRow {
	rows := map[node.State]goldenRow{}
	for line := range strings.Lines(strings.TrimSpace(golden)) {
		part := strings.Split(strings.TrimSpace(line), "|")
		row := goldenRow{target: node.State(strings.TrimPrefix(part[1], "-")), next: map[node.Event]node.State{}}
		for step := range strings.SplitSeq(part[2], ", ") {
			event, to, _ := strings.Cut(step, ">")
			row.next[node.Event(event)] = node.State(to)
		}
		rows[node.State(part[0])] = row
	}
	return rows
}

func TestEveryEventInEveryStateDoesWhatTheContractSays(t *testing.T) {
	want := goldenTable()
	if len(node.States()) != len(want) || len(want) != 30 {
		t.Fatalf("%d states in the table, %d in the contract, not 30", len(node.States()), len(want))
	}
	for state, row := range want {
		for _, event := range events {
			to, err := state.Next(event)
			if to != row.next[event] {
				t.Errorf("%s in %q leads to %q, not %q", event, state, to, row.next[event])
			}
			if _, legal := row.next[event]; legal {
				if err != nil {
					t.Errorf("%s in %q: %v", event, state, err)
				}
				continue
			}
			var refused *node.InvalidTransition
			if !errors.As(err, &refused) || refused.From != state || refused.Event != event {
				t.Errorf("%s in %q: %v, not an InvalidTransition that names both", event, state, err)
			}
		}
		if state.Target() != row.target {
			t.Errorf("%q is on its way to %q, not %q", state, state.Target(), row.target)
		}
		if state.Stable() != (row.target == "") {
			t.Errorf("%q stable: %v", state, state.Stable())
		}
	}
}

func chosen(holds func(node.State) bool) []node.State {
	return slices.DeleteFunc(node.States(), func(s node.State) bool { return !holds(s) })
}

func TestTheSetsOfStatesAreThoseOfTheContract(t *testing.T) {
	transient := []node.State{"deploy failed", "inspect failed", "inspect wait", "clean failed", "error", "verifying", "adopt failed",
		"rescue failed", "unrescue failed", "service hold", "service failed"}
	for name, c := range map[string]struct{ got, want []node.State }{
		"stable": {chosen(node.State.Stable), []node.State{"enroll", "manageable", "available", "active", "error", "rescue"}},
		"looked up by a ramdisk": {chosen(node.State.LookupAllowed), []node.State{"deploying", "wait call-back", "cleaning", "clean wait", "inspecting",
			"inspect wait", "rescuing", "rescue wait", "service wait"}},
		"patched":                          {chosen(node.State.PatchAllowed), slices.Concat(transient, []node.State{"enroll", "manageable", "available", "active", "rescue"})},
		"deleted":                          {chosen(node.State.Deletable), []node.State{"manageable", "enroll", "adopt failed", "available"}},
		"deleted, as the error names them": {node.DeletableStates(), []node.State{"manageable", "enroll", "adopt failed", "available"}},
	} {
		slices.Sort(c.got)
		slices.Sort(c.want)
		if d := cmp.Diff(c.want, c.got); d != "" {
			t.Errorf("states that may be %s (-contract +table):\n%s", name, d)
		}
	}
}

func TestNoStateIsWithoutAWayOut(t *testing.T) {
	for _, s := range node.States() {
		if len(s.Events()) == 0 {
			t.Errorf("%q has no events", s)
		}
		if s.Stable() && len(s.Verbs()) == 0 {
			t.Errorf("%q is stable and has no verbs: a node would stay in it for ever", s)
		}
	}
}

func TestNobodyCanAbortWhileTheApplianceItselfWorks(t *testing.T) {
	for _, s := range []node.State{node.Inspecting, node.Verifying, node.Cleaning, node.Deploying} {
		if to, err := s.Next(node.Abort); err == nil {
			t.Errorf("abort from %q leads to %q", s, to)
		}
	}
	if to, err := node.InspectWait.Next(node.Abort); err != nil || to != node.InspectFailed {
		t.Errorf("abort from inspect wait: %q, %v", to, err)
	}
}

func TestNoSequenceOfEventsLeavesTheTable(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := rapid.SampledFrom(node.States()).Draw(t, "begin")
		for _, e := range rapid.SliceOfN(rapid.SampledFrom(events), 1, 60).Draw(t, "events") {
			to, err := s.Next(e)
			if (err == nil) != slices.Contains(s.Events(), e) {
				t.Fatalf("%s in %q: %v, and its events are %v", e, s, err, s.Events())
			}
			if slices.Contains(s.Verbs(), e) != (err == nil && e.IsVerb()) {
				t.Fatalf("verbs of %q are %v", s, s.Verbs())
			}
			if err != nil {
				continue
			}
			if s = to; !s.Valid() {
				t.Fatalf("reached %q", s)
			}
			if (s.Target() == "") != s.Stable() {
				t.Fatalf("%q has target %q", s, s.Target())
			}
		}
	})
}

func TestAnUnknownStateAllowsNothing(t *testing.T) {
	s := node.State("bogus")
	if s.Valid() || s.Stable() || s.PatchAllowed() || s.Deletable() || s.LookupAllowed() || len(s.Events()) > 0 {
		t.Error("bogus counts as a state")
	}
}

func TestVerbsAreReadInEverySpellingOfTheWire(t *testing.T) {
	for target, want := range map[string]struct {
		event node.Event
		known bool
		verb  bool
	}{
		"manage": {node.Manage, true, true}, "abort": {node.Abort, true, true}, "active": {node.Deploy, true, true}, "deploy": {node.Deploy, true, true},
		"deleted": {node.Delete, true, true}, "undeploy": {node.Delete, true, true}, "rescue": {node.RescueIt, true, true},
		"fail": {node.Fail, true, false}, "done": {node.Done, true, false}, "resume": {node.Resume, true, false},
		"bogus": {"bogus", false, false}, "": {"", false, false}, "Abort": {"Abort", false, false},
	} {
		e, ok := node.ParseVerb(target)
		if e != want.event || ok != want.known || e.IsVerb() != want.verb {
			t.Errorf("target %q: %q, known %v, verb %v", target, e, ok, e.IsVerb())
		}
	}
}
