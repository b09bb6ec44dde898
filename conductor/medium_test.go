package conductor_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"cagenut/conductor"
	"cagenut/inspect"
	"cagenut/node"
)

// told is what a piece of work answers.
type told struct {
	progress node.Progress
	err      error
}

// scripted is an inspect interface that answers one after the other what it was told to; the last one for ever.
type scripted struct {
	inspect.Base
	starts, cleanUps []told
	seen             []node.MediumRecord // what the clean-up knew
}

func (*scripted) Validate(context.Context, node.Node) error { return nil }

func (s *scripted) Inspect(context.Context, node.Node, node.Attempt) (node.Progress, error) {
	return next(&s.starts)
}

func (s *scripted) Abort(context.Context, node.Node, node.Attempt) (node.Ending, error) {
	return inspect.Aborted(), nil
}

func (s *scripted) CleanUp(_ context.Context, n node.Node, _ node.Attempt, _ func(context.Context) error) (node.Progress, error) {
	s.seen = append(s.seen, n.BootMedium())
	return next(&s.cleanUps)
}

func next(all *[]told) (node.Progress, error) {
	t := (*all)[0]
	if len(*all) > 1 {
		*all = (*all)[1:]
	}
	return t.progress, t.err
}

func medium(url string, in bool) *string {
	s := node.MediumRecord{URL: url, In: in}.String()
	return &s
}

func (w *world) scripts(s *scripted) node.Node {
	w.Inspect["agent"] = s
	return w.enrolled(node.Manageable, "agent")
}

// A clean-up knows what the start has put in, until it is out; the aborted attempt's end does not forget it.
func TestWhatAStartPutsInIsKnownUntilItIsOut(t *testing.T) {
	const iso = "http://192.0.2.1/ipa.iso"
	w := newWorld(t, conductor.Settings{})
	left := fmt.Errorf("%w: redfish: 500", node.ErrMediumLeft)
	s := &scripted{
		starts: []told{
			{progress: node.Progress{Step: "asked", BootMedium: medium(iso, false)}}, {progress: node.Progress{Step: "in", BootMedium: medium(iso, true)}},
			{progress: node.Progress{Ready: true, Step: "started"}},
		},
		cleanUps: []told{{progress: node.Progress{Power: node.PowerOff}, err: left}, {progress: node.Progress{Ready: true, Step: "done", Power: node.PowerOff, BootMedium: medium("", false)}}},
	}
	n := w.scripts(s)
	w.must(w.ask(n, node.Inspect))
	for _, want := range []node.MediumRecord{{URL: iso}, {URL: iso, In: true}, {URL: iso, In: true}} {
		w.step(n.UUID, node.JobStart)
		same(t, "record", w.node(n).BootMedium(), want)
	}
	w.is(n, node.InspectWait, "")
	w.must(w.ask(n, node.Abort))
	w.step(n.UUID, node.JobCleanUp)
	w.is(n, node.InspectFailed, abortedText+" Virtual medium not ejected: eject the virtual medium: redfish: 500")
	w.work(n.UUID, node.JobCleanUp)
	w.is(n, node.InspectFailed, abortedText)
	same(t, "record", w.node(n).BootMedium(), node.MediumRecord{})
	same(t, "what clean-up knew", fmt.Sprint(s.seen), fmt.Sprint([]node.MediumRecord{{URL: iso, In: true}, {URL: iso, In: true}}))
	same(t, "clean-up", w.attempt(w.node(n)).CleanUp, node.CleanUpDone)
}

// G41: a start that fails ends with what its last piece has learned.
func TestAStartThatFailsKeepsWhatItsLastPieceLearned(t *testing.T) {
	const iso = "http://192.0.2.1/ipa.iso"
	for name, c := range map[string]struct {
		last *string
		want node.MediumRecord
	}{
		"the BMC has refused it, so that there is nothing to wait for": {medium("", false), node.MediumRecord{}},
		"nobody knows": {nil, node.MediumRecord{URL: iso}},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, conductor.Settings{})
			s := &scripted{
				starts:   []told{{progress: node.Progress{Step: "asked", BootMedium: medium(iso, false)}}, {progress: node.Progress{BootMedium: c.last}, err: errors.New("insert the ISO: 400")}},
				cleanUps: []told{{progress: node.Progress{Ready: true, Step: "done", Power: node.PowerOff}}},
			}
			n := w.scripts(s)
			w.must(w.ask(n, node.Inspect))
			w.work(n.UUID, node.JobStart)
			w.is(n, node.InspectFailed, "unable to start inspection: insert the ISO: 400")
			same(t, "record", w.node(n).BootMedium(), c.want)
			w.work(n.UUID, node.JobCleanUp)
			same(t, "what clean-up knew", s.seen[0], c.want)
		})
	}
}

func TestAStartByVirtualMediaMayTakeLonger(t *testing.T) {
	for boot, limit := range map[string]time.Duration{node.BootIPXE: time.Minute, node.BootVirtualMedia: 4 * time.Minute} {
		w := newWorld(t, conductor.Settings{StartTimeout: time.Minute})
		n := w.scripts(&scripted{starts: []told{{progress: node.Progress{Step: "waiting"}}}, cleanUps: []told{{progress: node.Progress{Ready: true}}}})
		if _, err := w.change(n, func(n *node.Node) { n.Interfaces.Boot = boot }); err != nil {
			t.Fatal(err)
		}
		w.must(w.ask(n, node.Inspect))
		w.step(n.UUID, node.JobStart)
		w.clock.advance(limit - time.Second)
		w.step(n.UUID, node.JobStart)
		same(t, boot+" in time", w.node(n).ProvisionState, node.Inspecting)
		w.clock.advance(2 * time.Second)
		w.step(n.UUID, node.JobStart)
		if now := w.node(n); now.ProvisionState != node.InspectFailed || !strings.Contains(now.LastError, fmt.Sprint(limit)) {
			t.Errorf("%s too late: %s, %q", boot, now.ProvisionState, now.LastError)
		}
	}
}

func TestABootMediumIsServedForAsLongAsItsAttemptRuns(t *testing.T) {
	w := newWorld(t, conductor.Settings{})
	n, a := w.waiting("agent")
	if found, at, err := w.BootingAttempt(t.Context(), a.ID); err != nil || found.UUID != n.UUID || at.Token != a.Token {
		t.Errorf("while it runs: %s, %v", found.UUID, err)
	}
	w.must(w.ask(n, node.Abort))
	for _, id := range []string{a.ID, node.NewUUID(), ""} {
		if _, _, err := w.BootingAttempt(t.Context(), id); !errors.As(err, new(*node.NotFound)) {
			t.Errorf("after the end: %v", err)
		}
	}
}
