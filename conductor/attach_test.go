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
	failure := &node.Unreachable{What: "BMC 192.0.2.10", Answered: true, Err: errors.New("cannot read ?sig=hidden")}
	t.Run("in the answer, as long as somebody waits", func(t *testing.T) {
		w, b, n := ableWorld(t)
		b.looks, b.failure = 3, failure
		if err := w.attach(n); err == nil || strings.Contains(err.Error(), "hidden") {
			t.Error(err)
		}
		same(t, "jobs", len(w.queue.of(n.UUID, node.JobMedium)), 0)
	})
	for name, after := range map[string]func(*world, *ableBMC){
		"Failed to attach virtual media http://192.0.2.1/rescue.iso: BMC 192.0.2.10: no share at http://192.0.2.1/rescue.iso now": func(_ *world, b *ableBMC) {
			b.failure = &node.Unreachable{What: "BMC 192.0.2.10", Answered: true, Err: errors.New("no share at http://192.0.2.1/rescue.iso?sig=hidden now")}
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

func TestAMediumThatIsTakenOutAgainIsNotFollowedAnyMore(t *testing.T) {
	w, b, n := ableWorld(t)
	b.looks = 1000
	if err := w.attach(n); err != nil {
		t.Fatal(err)
	}
	if err := w.DetachVirtualMedia(t.Context(), operator, n.UUID, nil); err != nil {
		t.Fatal(err)
	}
	same(t, "jobs", len(w.queue.of(n.UUID, node.JobMedium)), 0)
}
