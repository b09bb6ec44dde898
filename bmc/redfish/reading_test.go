package redfish_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"reflect"
	"strings"
	"testing"
	"time"

	"cagenut/bmc/redfish"
	"cagenut/bmc/sim"
	"cagenut/node"
)

// step reads the hardware for as long as one step of a job may take, and says how far it came; 0 is to the end, or nowhere.
func step(t *testing.T, d *redfish.Driver, n node.Node, limit time.Duration) (node.Hardware, int, error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), limit)
	defer cancel()
	h, err := abilities(t, open(t, d, n)).Hardware(ctx)
	var u *node.Unreachable
	if errors.As(err, &u) {
		return h, u.Read, err
	}
	return h, 0, err
}

func TestASlowBMCIsReadInAsManyCallsAsItTakes(t *testing.T) {
	s := startServer(t, sim.Options{Seed: 7})
	n := nodeOf(s)
	want, _, err := step(t, newDriver(t, patient()), n, time.Minute)
	if err != nil {
		t.Fatal(err)
	}
	fast := count(s, "GET")
	if err := s.SwitchOn(sim.FaultSlow, sim.Strength{Delay: 60 * time.Millisecond}); err != nil {
		t.Fatal(err)
	}
	s.ForgetRequests()
	d := newDriver(t, patient())
	for calls, read := 1, 0; ; calls++ {
		h, now, err := step(t, d, n, 700*time.Millisecond)
		if err == nil {
			if !reflect.DeepEqual(h, want) {
				t.Errorf("%+v\nwant %+v", h, want)
			}
			if asked := count(s, "GET"); calls < 2 || asked > fast+3*calls { // each call looks at the system, and may be cut off in a read
				t.Errorf("%d calls with %d requests, at once it takes %d", calls, asked, fast)
			}
			break
		}
		var u *node.Unreachable
		if !errors.As(err, &u) || now <= read || u.Trouble != node.TroubleSlow || !u.Timeout || !u.Answered || !strings.Contains(err.Error(), s.Address) {
			t.Fatalf("call %d: %d parts after %d, %v", calls, now, read, err)
		}
		read = now
	}
}

func TestWhatWasReadIsForTheSameAttemptAndNotForLong(t *testing.T) {
	s := startServer(t, sim.Options{})
	if err := s.SwitchOn(sim.FaultSlow, sim.Strength{Delay: 60 * time.Millisecond}); err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		keep    time.Duration
		attempt string
		goesOn  bool
	}{
		"the same attempt":           {time.Minute, "a", true},
		"another attempt":            {time.Minute, "b", false},
		"the same, after a long way": {time.Nanosecond, "a", false},
	} {
		t.Run(name, func(t *testing.T) {
			o := patient()
			o.KeepReading = c.keep
			d, n := newDriver(t, o), nodeOf(s)
			n.AttemptID = "a"
			_, first, err := step(t, d, n, 700*time.Millisecond)
			if first == 0 {
				t.Fatal(err)
			}
			n.AttemptID = c.attempt
			s.ForgetRequests()
			_, err = abilities(t, open(t, d, n)).Hardware(t.Context())
			memory := count(s, "GET /redfish/v1/Systems/1/Processors")
			if err != nil || (memory == 0) != c.goesOn {
				t.Errorf("%v, the processors were read %d times", err, memory)
			}
		})
	}
}

func TestABMCThatStopsAnsweringIsNotProgress(t *testing.T) {
	s := startServer(t, sim.Options{})
	d, n := newDriver(t, patient()), nodeOf(s)
	if err := s.SwitchOn(sim.FaultSlow, sim.Strength{Delay: 60 * time.Millisecond}); err != nil {
		t.Fatal(err)
	}
	if _, read, err := step(t, d, n, 700*time.Millisecond); read == 0 {
		t.Fatal(err)
	}
	s.SetFaults(sim.Faults{Hang: true})
	var u *node.Unreachable
	if _, read, err := step(t, d, n, 100*time.Millisecond); read != 0 || !errors.As(err, &u) || !u.Timeout || u.Trouble != node.TroubleSilence {
		t.Errorf("%d, %v", read, err)
	}
}

// timeout is a context whose time is over when the test says so.
type timeout struct {
	context.Context
	done chan struct{}
}

func (t timeout) Done() <-chan struct{} { return t.done }

func (t timeout) Err() error {
	select {
	case <-t.done:
		return context.DeadlineExceeded
	default:
		return nil
	}
}

// Nobody's BMC fills our memory: what is too much is read in one call or not at all.
func TestWhatIsKeptOfAnUnfinishedReadingIsBounded(t *testing.T) {
	p := newPeer(to("Memory", "/M"), "", "")
	var paths []string
	for i := range 20 {
		path := fmt.Sprintf("/M/%d", i)
		paths = append(paths, path)
		p.docs[path] = `{"CapacityMiB":1024,"Oem":"` + strings.Repeat("x", 1<<20) + `"}`
	}
	p.docs["/M"] = links(paths...)
	for last, kept := range map[string]bool{"/M/4": true, "/M/12": false} {
		over := timeout{t.Context(), make(chan struct{})}
		p.get = func(_ http.ResponseWriter, r *http.Request) bool {
			if strings.HasSuffix(r.URL.Path, last) {
				close(over.done)
			}
			return false
		}
		o := patient()
		o.Try, o.Operation = time.Minute, time.Minute
		_, err := p.client(t, o).Hardware(over)
		var u *node.Unreachable
		if !errors.As(err, &u) || (u.Read > 0) != kept {
			t.Errorf("after %s: %v, want it to be kept: %t", last, err, kept)
		}
	}
}
