package conductor_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"cagenut/node"
)

const rescue = "http://u:p@192.0.2.1/rescue.iso?sig=hidden"

func (w *world) attach(n node.Node) error {
	w.t.Helper()
	return w.AttachVirtualMedia(w.t.Context(), operator, n.UUID, node.MediumCD, rescue)
}

func TestAMediumThatTakesItsTimeIsFollowedByAJob(t *testing.T) {
	for name, c := range map[string]struct {
		looks  int  // that the BMC takes
		job    bool // whether one is needed
		rounds int
	}{"at once": {0, false, 0}, "within seconds": {3, false, 0}, "later": {20, true, 5}} {
		t.Run(name, func(t *testing.T) {
			w, b, n := ableWorld(t)
			b.looks, b.task = c.looks, "/redfish/v1/Tasks/1"
			if err := w.attach(n); err != nil {
				t.Fatal(err)
			}
			jobs := w.queue.of(n.UUID, node.JobMedium)
			same(t, "a job follows it", len(jobs) > 0, c.job)
			if !c.job {
				return
			}
			if j := jobs[0].Job; j.Medium != "http://192.0.2.1/rescue.iso" || j.Task != b.task || j.Hold != "" {
				t.Errorf("the job is %+v", j)
			}
			looked := 1
			for w.step(n.UUID, node.JobMedium) >= 0 {
				looked++
			}
			if looked < c.rounds || b.looks >= 0 {
				t.Errorf("looked %d times, %d to go", looked, b.looks)
			}
			same(t, "last_error", w.node(n).LastError, "")
		})
	}
}

func TestAMediumThatFailsIsTold(t *testing.T) {
	failure := &node.Unreachable{What: "BMC 192.0.2.10", Answered: true, Trouble: node.TroubleTask, Err: errors.New("cannot read ?sig=hidden")}
	t.Run("in the answer, as long as somebody waits", func(t *testing.T) {
		w, b, n := ableWorld(t)
		b.looks, b.failure = 3, failure
		if err := w.attach(n); err == nil || strings.Contains(err.Error(), "hidden") {
			t.Error(err)
		}
		same(t, "jobs", len(w.queue.of(n.UUID, node.JobMedium)), 0)
	})
	for name, after := range map[string]func(*world, *ableBMC){
		"Failed to attach virtual media http://192.0.2.1/rescue.iso: BMC 192.0.2.10: no share at http://192.0.2.1/rescue.iso now, not even at http://192.0.2.1/rescue.iso": func(_ *world, b *ableBMC) {
			text := "no share at http://192.0.2.1/rescue.iso?sig=hidden now, not even at http://192.0.2.1/rescue.iso?sig=hidden"
			b.failure = &node.Unreachable{What: "BMC 192.0.2.10", Answered: true, Trouble: node.TroubleTask, Err: errors.New(text)}
		},
		"Failed to attach virtual media http://192.0.2.1/rescue.iso: the BMC accepted it, but does not show it as inserted after 5m0s": func(w *world, _ *ableBMC) { w.clock.advance(6 * time.Minute) },
	} {
		t.Run("on the node, later: "+name, func(t *testing.T) {
			w, b, n := ableWorld(t)
			b.looks = 1000
			if err := w.attach(n); err != nil {
				t.Fatal(err)
			}
			after(w, b)
			w.work(n.UUID, node.JobMedium)
			same(t, "last_error", w.node(n).LastError, name)
			h := w.history(n)
			if len(h) != 1 || h[0].Event != name || h[0].Actor.User != operator.User {
				t.Errorf("history: %+v", h)
			}
		})
	}
}

func TestALookThatFailsIsNoFailureOfTheMedium(t *testing.T) {
	w, b, n := ableWorld(t)
	b.looks, b.failure = 1000, &node.Unreachable{What: "BMC 192.0.2.10", Answered: true, Trouble: node.TroubleBusy, Err: errors.New("HTTP status 503")}
	if err := w.attach(n); err != nil {
		t.Fatal(err)
	}
	if again := w.step(n.UUID, node.JobMedium); again <= 0 {
		t.Error("it is not looked at again")
	}
	b.looks, b.failure = 0, nil
	w.work(n.UUID, node.JobMedium)
	same(t, "last_error", w.node(n).LastError, "")
}

// Whatever the job that follows a medium is doing, it says nothing more once somebody else has decided what is in the drives.
func TestAMediumThatHasToGoIsNotFollowedAnyMore(t *testing.T) {
	for name, c := range map[string]struct {
		decide func(*world, node.Node) error
		jobs   int // that follow a medium then
	}{
		"taken out again":  {func(w *world, n node.Node) error { return w.DetachVirtualMedia(w.t.Context(), operator, n.UUID, nil) }, 0},
		"put in once more": {func(w *world, n node.Node) error { return w.attach(n) }, 1},
		"in the way of an inspection that boots from there": {func(w *world, n node.Node) error { return w.ask(n, node.Inspect) }, 0},
	} {
		for when, during := range map[string]bool{"before its step": false, "while its step waits for the BMC": true} {
			t.Run(name+", "+when, func(t *testing.T) {
				w, b, n := ableWorld(t)
				w.Inspect["agent"] = &scripted{}
				n, err := w.change(n, func(n *node.Node) { n.Interfaces.Inspect, n.Interfaces.Boot = "agent", node.BootVirtualMedia })
				if err != nil {
					t.Fatal(err)
				}
				b.looks = 1000
				w.must(w.attach(n))
				job := w.queue.of(n.UUID, node.JobMedium)[0].Job
				decide := func() {
					w.must(c.decide(w, n))
					b.failure = &node.Unreachable{What: "BMC", Answered: true, Trouble: node.TroubleTask, Err: errors.New("its task ended as Cancelled")}
				}
				if during {
					w.rack.first = decide
				} else {
					decide()
				}
				if again, err := w.Work(t.Context(), job, 1); again >= 0 || err != nil {
					t.Errorf("it goes on: %v, %v", again, err)
				}
				same(t, "last_error", w.node(n).LastError, "")
				same(t, "jobs", len(w.queue.of(n.UUID, node.JobMedium)), c.jobs)
			})
		}
	}
}

// What is done about one kind of media says nothing of another kind's.
func TestAMediumIsFollowedWhateverHappensToOtherKinds(t *testing.T) {
	detach := func(kinds ...node.MediumKind) func(*world, *ableBMC, node.Node) error {
		return func(w *world, _ *ableBMC, n node.Node) error {
			return w.DetachVirtualMedia(w.t.Context(), operator, n.UUID, kinds)
		}
	}
	for name, c := range map[string]struct {
		decide func(*world, *ableBMC, node.Node) error
		goesOn bool
	}{
		"the floppy is taken out":            {detach(node.MediumFloppy), true},
		"the floppy and the CD are":          {detach(node.MediumFloppy, node.MediumCD), false},
		"everything is":                      {detach(), false},
		"a floppy is put in, and in at once": {func(w *world, b *ableBMC, n node.Node) error { b.looks = 0; return w.attachFloppy(n) }, true},
		"a floppy is put in, and followed":   {func(w *world, _ *ableBMC, n node.Node) error { return w.attachFloppy(n) }, true},
	} {
		t.Run(name, func(t *testing.T) {
			w, b, n := ableWorld(t)
			b.looks = 1000
			w.must(w.attach(n))
			job := w.queue.of(n.UUID, node.JobMedium)[0]
			w.must(c.decide(w, b, n))
			var kept bool
			for _, j := range w.queue.of(n.UUID, node.JobMedium) {
				kept = kept || j.id == job.id
			}
			same(t, "its job is kept", kept, c.goesOn)
			b.looks = 1000
			again, err := w.Work(t.Context(), job.Job, 1)
			same(t, "it is followed", again > 0, c.goesOn)
			w.must(err)
		})
	}
}

func (w *world) attachFloppy(n node.Node) error {
	return w.AttachVirtualMedia(w.t.Context(), operator, n.UUID, node.MediumFloppy, "http://192.0.2.1/drivers.img")
}

// A person's command that had to wait for the BMC takes nothing from under a server that an inspection has meanwhile started.
func TestMediaAreLeftToAnInspectionThatBeganMeanwhile(t *testing.T) {
	for name, order := range map[string]func(*world, node.Node) error{
		"attach": func(w *world, n node.Node) error { return w.attach(n) },
		"detach": func(w *world, n node.Node) error { return w.DetachVirtualMedia(w.t.Context(), operator, n.UUID, nil) },
	} {
		w, b, n := ableWorld(t)
		w.Inspect["agent"] = &scripted{}
		w.rack.first = func() { w.must(w.ask(n, node.Inspect)) }
		if err := order(w, n); !errors.As(err, new(*node.Conflict)) || len(b.done) != 0 {
			t.Errorf("%s: %v, did %v", name, err, b.done)
		}
	}
}
