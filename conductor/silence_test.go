package conductor_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"cagenut/conductor"
	"cagenut/node"
)

func TestTheSecondSilentLookMarksANodeAndTheFirstAnswerEndsThat(t *testing.T) {
	for name, tc := range map[string]struct {
		fail  error
		event string
	}{
		"no answer": {silence, "ERROR power The BMC does not answer: BMC 192.0.2.10: context deadline exceeded"},
		"credentials refused": {fmt.Errorf("redfish: log in at https://192.0.2.10: %w", node.ErrCredentials),
			"ERROR power The BMC does not let the appliance in: redfish: log in at https://192.0.2.10: the BMC refused the credentials"},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, conductor.Settings{PowerSyncInterval: time.Minute})
			n, _ := w.aborted()
			w.work(n.UUID, node.JobCleanUp)
			bmc, known := w.rack.of(n.UUID), len(w.history(n))
			var since time.Time
			w.rounds(func(tick func(time.Duration)) {
				w.untilLooked(tick, bmc, 1)
				since = w.clock.Now()
				bmc.set(func(b *testBMC) { b.fail = tc.fail })
				for calls := 0; calls == 0; calls, _ = bmc.seen() {
					tick(time.Second)
				}
				tick(time.Second)
				tick(time.Second)
				if now := w.node(n); !now.BMCUnreachableSince.IsZero() {
					t.Error("it is marked after one look")
				}
				w.untilLooked(tick, bmc, 3)
			})
			now := w.node(n)
			if late := now.BMCUnreachableSince.Sub(since); late < 0 || late > 2*time.Minute || now.BMCError != tc.fail.Error() {
				t.Errorf("silent since %s, marked since %s with %q", since, now.BMCUnreachableSince, now.BMCError)
			}
			same(t, "power_state", now.PowerState, node.PowerOff)
			w.is(n, node.InspectFailed, abortedText) // G03
			if now.Maintenance || now.Fault != "" {
				t.Error("a silent BMC blocks its operators")
			}
			// After a restart nothing is known of the looks before it.
			w.rounds(func(tick func(time.Duration)) { w.untilLooked(tick, bmc, 3) })
			same(t, "silent since, after a restart", w.node(n).BMCUnreachableSince, now.BMCUnreachableSince)
			same(t, "entries after a restart", len(w.history(n)), known+1)
			bmc.set(func(b *testBMC) { b.fail = nil })
			w.rounds(func(tick func(time.Duration)) { w.untilLooked(tick, bmc, 2) })
			if now := w.node(n); !now.BMCUnreachableSince.IsZero() || now.BMCError != "" {
				t.Errorf("it answers, and is marked since %s with %q", now.BMCUnreachableSince, now.BMCError)
			}
			got := events(w.history(n)[known:])
			if len(got) != 2 || got[0] != tc.event || !strings.HasPrefix(got[1], "INFO power The BMC is reachable again after ") {
				t.Errorf("history: %q", got)
			}
		})
	}
}

func TestWhatIsNoSilence(t *testing.T) {
	for name, fail := range map[string]error{
		"a BMC that answers with a complaint": &node.Unreachable{What: "BMC 192.0.2.10", Answered: true, Err: errors.New("HTTP status 503")},
		"a setting that is wrong":             node.Invalidf("redfish_address is missing"),
		"something that nobody has foreseen":  errors.New("oh"),
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, conductor.Settings{PowerSyncInterval: time.Minute})
			n := w.enrolled(node.Manageable, "agent")
			bmc := w.rack.of(n.UUID)
			bmc.set(func(b *testBMC) { b.fail = fail })
			before := w.node(n)
			w.rounds(func(tick func(time.Duration)) { w.untilLooked(tick, bmc, 3) })
			if diff := cmp.Diff(before, w.node(n)); diff != "" {
				t.Errorf("the node changed (-before +after):\n%s", diff)
			}
		})
	}
}

// passing is a rack that leaves all BMCs alone.
type passing struct{ *rack }

func (passing) Look(context.Context, node.Node, func(conductor.BMC) error) error {
	return &node.Unreachable{What: "BMC 192.0.2.10", Unasked: true, Err: node.ErrCredentials}
}

func TestABMCThatIsLeftAloneForAWhileHasNotBeenSilent(t *testing.T) {
	w := newWorld(t, conductor.Settings{PowerSyncInterval: time.Minute})
	w.BMCs = passing{w.rack}
	n := w.enrolled(node.Manageable, "agent")
	before := w.node(n)
	w.rounds(func(tick func(time.Duration)) {
		for range 5 * 60 {
			tick(time.Second)
		}
	})
	if diff := cmp.Diff(before, w.node(n)); diff != "" {
		t.Errorf("the node changed (-before +after):\n%s", diff)
	}
}

func TestAnotherReasonReplacesTheFirstWithoutANewEntry(t *testing.T) {
	w := newWorld(t, conductor.Settings{PowerSyncInterval: time.Minute})
	n := w.enrolled(node.Manageable, "agent")
	bmc := w.rack.of(n.UUID)
	bmc.set(func(b *testBMC) { b.fail = silence })
	w.rounds(func(tick func(time.Duration)) {
		w.untilLooked(tick, bmc, 3)
		since := w.node(n).BMCUnreachableSince
		bmc.set(func(b *testBMC) { b.fail = node.ErrCredentials })
		w.untilLooked(tick, bmc, 2)
		now := w.node(n)
		same(t, "reason", now.BMCError, node.ErrCredentials.Error())
		same(t, "since", now.BMCUnreachableSince, since)
	})
	same(t, "entries", len(w.history(n)), 1)
}

func TestACommandToASilentBMCMarksItsNodeAtOnce(t *testing.T) {
	w := newWorld(t, conductor.Settings{})
	n := w.enrolled(node.Manageable, "agent")
	bmc := w.rack.of(n.UUID)
	bmc.set(func(b *testBMC) {
		b.before = func(string) {}
		b.noPower = silence
	})
	w.must(w.SetPower(t.Context(), operator, n.UUID, conductor.PowerRequest{Target: "power on"}))
	w.work(n.UUID, node.JobPower)
	now := w.node(n)
	same(t, "why", now.BMCError, silence.Error())
	same(t, "since", now.BMCUnreachableSince, w.clock.Now())
	same(t, "last_error", now.LastError, "Failed to change power state to 'power on'. Error: "+silence.Error())

	bmc.set(func(b *testBMC) { b.noPower = nil })
	if _, err := w.BootDevice(t.Context(), n.UUID); err != nil {
		t.Fatal(err)
	}
	same(t, "marked after somebody got an answer", w.node(n).BMCError, "")
	same(t, "the last entry", w.history(n)[len(w.history(n))-1].Event, "The BMC is reachable again after 0s.")
}
