package managedboot_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"cagenut/node"
)

// G35, G42: what happens to a server from its start to the end of its clean-up, whatever it was doing and however its BMC is.
func TestAnISOComesInAndGoesOut(t *testing.T) {
	var (
		off, on, insert, eject = "power off", "power on", "insert " + ourISO, "eject " + ourISO
		cleared, toCD          = "override removed", "override cdrom"
	)

	for name, c := range map[string]struct {
		rack  rack
		node  node.Node
		start []string
		end   []string
	}{
		"of a server that is off": {rack{server: server{power: node.PowerOff}}, node.Node{},
			[]string{cleared, insert, toCD, on}, []string{off, cleared, eject}},
		"of a server that is on": {rack{server: server{power: node.PowerOn}}, node.Node{},
			[]string{off, cleared, insert, toCD, on}, []string{off, cleared, eject}},
		"with slow power": {rack{server: server{power: node.PowerOn, lag: 4}}, node.Node{},
			[]string{off, cleared, insert, toCD, on}, []string{off, cleared, eject}},
		"with a BMC that takes its time": {rack{server: server{power: node.PowerOff}, lag: 8}, node.Node{},
			[]string{cleared, insert, toCD, on}, []string{off, cleared, eject}},
		"with a BMC that takes its time and names the task": {rack{server: server{power: node.PowerOff}, lag: 25, task: "/redfish/v1/Tasks/1"}, node.Node{},
			[]string{cleared, insert, toCD, on}, []string{off, cleared, eject}},
		"with a BMC that has to be asked once more": {rack{server: server{power: node.PowerOff}, lag: 14}, node.Node{},
			[]string{cleared, insert, insert, toCD, on}, []string{off, cleared, eject}},
		"with a BMC that shows no more than the name": {rack{server: server{power: node.PowerOff}, shows: func(string) string { return "ipa.iso" }}, node.Node{},
			[]string{cleared, insert, toCD, on}, []string{off, cleared, eject}},
		"with a BMC that does not show what is in": {rack{server: server{power: node.PowerOff}, shows: func(string) string { return "" }}, node.Node{},
			[]string{cleared, insert, toCD, on}, []string{off, cleared, eject}},
		"with a BMC that spells addresses in its own way": {rack{server: server{power: node.PowerOff}, shows: func(s string) string { return strings.Replace(s, "http", "HTTP", 1) }}, node.Node{},
			[]string{cleared, insert, toCD, on}, []string{off, cleared, eject}},
		"of a server that must stay on": {rack{server: server{power: node.PowerOn}}, node.Node{DisablePowerOff: true},
			[]string{cleared, insert, toCD, "rebooting"}, []string{cleared, "rebooting", eject, "under a server that is on"}},
		"of a server that must stay on and is off": {rack{server: server{power: node.PowerOff}}, node.Node{DisablePowerOff: true},
			[]string{cleared, insert, toCD, on}, []string{cleared, "rebooting", eject, "under a server that is on"}},
	} {
		t.Run(name, func(t *testing.T) {

			l := newLife(t, &c.rack, c.node)
			if err := l.start(); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(c.start, c.rack.log); diff != "" {
				t.Errorf("start (-want +got):\n%s", diff)
			}
			if c.rack.power != node.PowerOn || c.rack.boot != (node.Boot{Device: node.BootCDROM}) || c.rack.in != ourISO {
				t.Errorf("started %s with %+v from %q", c.rack.power, c.rack.boot, c.rack.in)
			}
			if r := l.node.BootMedium(); r != (node.MediumRecord{URL: ourISO, In: true}) {
				t.Errorf("the record is %+v", r)
			}
			c.rack.log = nil
			if err := l.cleanUp(); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(c.end, c.rack.log); diff != "" {
				t.Errorf("clean-up (-want +got):\n%s", diff)
			}
			if r := l.node.BootMedium(); c.rack.in != "" || c.rack.boot != (node.Boot{}) || r.URL != "" {
				t.Errorf("left: %q, %+v, record %+v", c.rack.in, c.rack.boot, r)
			}
		})
	}
}

// G41: whatever goes wrong, the server is not switched on, the reason comes through without the image's address, and the
// clean-up leaves nothing.
func TestAStartFromAnISOThatFails(t *testing.T) {
	refused := &node.Unreachable{What: "BMC", Answered: true, Err: errors.New("HTTP status 400: cannot read " + ourISO)}
	silent := &node.Unreachable{What: "BMC", Err: errors.New("connection reset")}
	failed := &node.Unreachable{What: "BMC", Answered: true, Trouble: node.TroubleTask, Err: refused.Err}
	for name, c := range map[string]struct {
		rack   rack
		change func(*rack, *life)
		want   string
		record bool // whether there may still be something to wait for
	}{
		"the BMC refuses the image": {rack{server: server{failing: map[string]error{"insert": refused}}}, nil, "insert the ISO: BMC: HTTP status 400: cannot read …/ipa.iso", false},
		"the BMC fails at it":       {rack{server: server{failing: map[string]error{"insert": &node.Unreachable{What: "BMC", Answered: true, Trouble: node.TroubleInside, Err: errors.New("HTTP status 504")}}}}, nil, "insert the ISO: BMC: HTTP status 504", true},
		"the BMC is silent":         {rack{server: server{failing: map[string]error{"insert": silent}}}, nil, "insert the ISO: BMC: connection reset", true},
		"the BMC's task fails":      {rack{server: server{}, task: "/Tasks/1", taskErr: failed}, nil, "insert the ISO: BMC: HTTP status 400", false},
		"the override is refused":   {rack{server: server{failing: map[string]error{"override cdrom": errBMC}}}, nil, "set the boot device to the virtual CD: redfish: 500", true},
		"power on is refused":       {rack{server: server{failing: map[string]error{"power on": errBMC}}}, nil, "power on: redfish: 500", true},
		"the image is not there":    {rack{}, func(_ *rack, l *life) { l.isos.err = errors.New("there is no ISO") }, "there is no ISO", false},
		"what an earlier attempt left cannot be ejected": {rack{server: server{failing: map[string]error{"eject": errBMC}}},
			func(_ *rack, l *life) {
				l.node.DriverInternalInfo[node.BootMediumKey] = "in http://192.0.2.1/old.iso"
			},
			"eject the virtual medium: redfish: 500", true},
	} {
		t.Run(name, func(t *testing.T) {
			c.rack.power = node.PowerOff
			l := newLife(t, &c.rack, node.Node{})
			if c.change != nil {
				c.change(&c.rack, l)
			}
			err := l.start()
			if err == nil || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), "0123456789abcdef") {
				t.Errorf("got %v, want %q and no address", err, c.want)
			}
			if c.rack.power != node.PowerOff || c.rack.coming == string(node.PowerOn) {
				t.Errorf("the server was switched on: %v", c.rack.log)
			}
			if kept := l.node.BootMedium().URL != ""; kept != c.record {
				t.Errorf("the record is %+v", l.node.BootMedium())
			}
			c.rack.failing = nil
			if err := l.cleanUp(); err != nil {
				t.Fatal(err)
			}
			if c.rack.in != "" || c.rack.boot != (node.Boot{}) {
				t.Errorf("left: %q, %+v", c.rack.in, c.rack.boot)
			}
		})
	}
}

// A BMC that has accepted the image may insert it, whatever it answers to whoever looks. Were it forgotten, the next boot would
// lead into the ramdisk.
func TestALookThatFailsSaysNothingOfTheInsertion(t *testing.T) {
	broken := &node.Unreachable{What: "BMC", Answered: true, Err: errors.New("HTTP status 500")}
	begun := func(t *testing.T, r *rack) *life {
		l := newLife(t, r, node.Node{})
		for range 4 { // found, cleared, insert, one look
			if _, err := l.piece(l.starting); err != nil {
				t.Fatal(err)
			}
		}
		return l
	}
	t.Run("a BMC that is busy is looked at again", func(t *testing.T) {
		r := rack{server: server{power: node.PowerOff}, task: "/Tasks/1", lag: 3, taskErr: broken}
		l := begun(t, &r)
		r.taskErr = nil
		if err := l.start(); err != nil || r.power != node.PowerOn {
			t.Errorf("%v, the server is %s", err, r.power)
		}
	})
	for name, fail := range map[string]func(*rack){
		"one that does not let us in any more":                   func(r *rack) { r.taskErr = node.ErrCredentials },
		"one that refuses to be asked once more, as it is at it": func(r *rack) { r.failing = map[string]error{"insert": broken} },
	} {
		t.Run(name+" is waited for by the clean-up", func(t *testing.T) {
			r := rack{server: server{power: node.PowerOff}, lag: 30}
			l := begun(t, &r)
			fail(&r)
			if err := l.start(); err == nil || r.in != "" || r.power != node.PowerOff {
				t.Fatalf("%v, %q, %s", err, r.in, r.power)
			}
			r.taskErr, r.failing, r.lag = nil, nil, 2
			if err := l.cleanUp(); err != nil || r.in != "" || r.coming != "" {
				t.Errorf("%v, left: %q, %q", err, r.in, r.coming)
			}
		})
	}
}

func TestTheAnswerToAnInsertionThatDoesNotComeInTimeSaysNothing(t *testing.T) {
	r := rack{server: server{power: node.PowerOff, failing: map[string]error{"insert": &node.Unreachable{What: "BMC", Timeout: true, Err: context.DeadlineExceeded}}}}
	l := newLife(t, &r, node.Node{})
	for range 6 { // found, cleared, insert, three looks
		if _, err := l.piece(l.starting); err != nil {
			t.Fatal(err)
		}
	}
	if !strings.Contains(l.attempt.Step, "look 4") {
		t.Fatalf("at %q", l.attempt.Step)
	}
	r.in = ourISO // it has done it after all
	if err := l.start(); err != nil || r.power != node.PowerOn {
		t.Errorf("%v, the server is %s", err, r.power)
	}
}

// A restart, and a new attempt, find what was put in by the node's record alone.
func TestWhereverAStartIsInterruptedCleanUpLeavesNothing(t *testing.T) {
	for pieces := range 12 {
		for _, lost := range []bool{false, true} {
			t.Run(fmt.Sprintf("after %d pieces, the last one unrecorded: %v", pieces, lost), func(t *testing.T) {
				r := rack{server: server{power: node.PowerOn, lag: 1}, lag: 3}
				l := newLife(t, &r, node.Node{})
				for range pieces {
					if ready, err := l.piece(l.starting); err != nil {
						t.Fatal(err)
					} else if ready {
						break
					}
				}
				if lost { // the appliance dies before it has written down what it did
					if _, err := l.starting(l.boot()); err != nil {
						t.Fatal(err)
					}
				}
				if err := l.cleanUp(); err != nil {
					t.Fatal(err)
				}
				if r.in != "" || r.server.coming != "" || r.power != node.PowerOff || r.boot != (node.Boot{}) || l.node.BootMedium().URL != "" {
					t.Errorf("left: %q, %q, %s, %+v, %v; commands %v", r.in, r.coming, r.power, r.boot, l.node.BootMedium(), r.log)
				}
				for i, did := range r.log {
					if strings.HasPrefix(did, "under") {
						t.Errorf("G35: ejected under a running server: %v", r.log[:i+1])
					}
				}
			})
		}
	}
	t.Run("a new attempt begins with that, also over the network", func(t *testing.T) {
		for boot, want := range map[string][]string{
			node.BootIPXE:         {"power off", "override removed", "eject " + ourISO, "override pxe", "power on"},
			node.BootVirtualMedia: {"power off", "override removed", "eject " + ourISO, "insert " + ourISO, "override cdrom", "power on"},
		} {
			r := rack{server: server{power: node.PowerOff}}
			l := newLife(t, &r, node.Node{})
			if err := l.start(); err != nil {
				t.Fatal(err)
			}
			r.log, l.attempt.Step, l.node.Interfaces.Boot = nil, "", boot
			if err := l.start(); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(want, r.log); diff != "" {
				t.Errorf("%s (-want +got):\n%s", boot, diff)
			}
			if kept := l.node.BootMedium().URL != ""; kept != (boot == node.BootVirtualMedia) {
				t.Errorf("%s: the record is %+v", boot, l.node.BootMedium())
			}
		}
	})
}

func TestEveryPieceOfAStartFromAnISOMayBeRepeated(t *testing.T) {
	for name, n := range map[string]node.Node{"": {}, " of a server that must stay on": {DisablePowerOff: true}} {
		t.Run("every piece twice"+name, func(t *testing.T) {
			r := rack{server: server{power: node.PowerOn}, lag: 2}
			l := newLife(t, &r, n)
			for ready := false; !ready; {
				if _, err := l.starting(l.boot()); err != nil { // its outcome is lost in a crash
					t.Fatal(err)
				}
				var err error
				if ready, err = l.piece(l.starting); err != nil {
					t.Fatal(err)
				}
			}
			if r.power != node.PowerOn || r.boot.Device != node.BootCDROM || r.in != ourISO {
				t.Errorf("%s, %+v, %q: %v", r.power, r.boot, r.in, r.log)
			}
		})
	}
}

func TestWhatSomebodyElseHasPutInIsTheirs(t *testing.T) { // G35
	r := rack{server: server{power: node.PowerOff}}
	l := newLife(t, &r, node.Node{})
	if err := l.start(); err != nil {
		t.Fatal(err)
	}
	r.in, r.log = theirISO, nil
	if err := l.cleanUp(); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"power off", "override removed"}, r.log); diff != "" || r.in != theirISO {
		t.Errorf("in is %q; commands (-want +got):\n%s", r.in, diff)
	}
}

func TestAServerThatIsLeftOnKeepsItsMediumUntilItIsOff(t *testing.T) { // G35
	r := rack{server: server{power: node.PowerOff}}
	l := newLife(t, &r, node.Node{})
	if err := l.start(); err != nil {
		t.Fatal(err)
	}
	r.log, l.attempt.Step, l.attempt.KeepPowerOn = nil, "", true
	for range 20 {
		if ready, err := l.piece(l.cleaning); ready || err != nil {
			t.Fatalf("ready %v, %v", ready, err)
		}
	}
	if diff := cmp.Diff([]string{"override removed"}, r.log); diff != "" || r.in != ourISO {
		t.Errorf("in is %q; commands (-want +got):\n%s", r.in, diff)
	}
	r.power = node.PowerOff
	if ready, err := l.piece(l.cleaning); !ready || err != nil || r.in != "" {
		t.Errorf("once it is off: ready %v, %v, in is %q", ready, err, r.in)
	}

	r.power, r.in, l.attempt.Step = node.PowerOn, ourISO, ""
	l.node.DriverInternalInfo[node.BootMediumKey] = "in " + ourISO
	if err := l.cleanUp(); !errors.Is(err, node.ErrMediumLeft) || r.in != ourISO {
		t.Errorf("after an hour: %v, in is %q", err, r.in)
	}
}

// What can be removed is removed, and what cannot is told.
func TestOneThingThatStaysIsNoReasonToLeaveTheOther(t *testing.T) {
	for failing, want := range map[string]string{"override removed": "remove the boot override: redfish: 500", "eject": "eject the virtual medium: redfish: 500"} {
		r := rack{server: server{power: node.PowerOff}}
		l := newLife(t, &r, node.Node{})
		if err := l.start(); err != nil {
			t.Fatal(err)
		}
		r.failing = map[string]error{failing: errBMC}
		err := l.cleanUp()
		if err == nil || !strings.Contains(err.Error(), want) || errors.Is(err, node.ErrMediumLeft) != (failing == "eject") {
			t.Errorf("%s: %v", failing, err)
		}
		if (r.in == "") != (failing != "eject") || (r.boot == node.Boot{}) != (failing == "eject") || r.power != node.PowerOff {
			t.Errorf("%s: %q, %+v, %s", failing, r.in, r.boot, r.power)
		}
		r.failing = nil
		if err := l.all(l.cleaning); err != nil || r.in != "" || r.boot != (node.Boot{}) {
			t.Errorf("afterwards: %v, %q, %+v", err, r.in, r.boot)
		}
	}
}

func TestAnImageIsReadBeforeTheServerIsTouched(t *testing.T) {
	r := rack{server: server{power: node.PowerOn}}
	l := newLife(t, &r, node.Node{})
	l.isos.reads, l.isos.notes = 3, []string{"not proven"}
	for range 3 {
		if _, err := l.piece(l.starting); err != nil || len(r.log) != 0 || l.attempt.Step != "reading the ISO" {
			t.Fatalf("%v at %q: %v", err, l.attempt.Step, r.log)
		}
	}
	if err := l.start(); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"not proven"}, l.notes); diff != "" {
		t.Errorf("notes (-want +got):\n%s", diff)
	}
}

func TestCleanUpAsksBeforeItEjects(t *testing.T) {
	errNewer := errors.New("a newer attempt exists")
	r := rack{server: server{power: node.PowerOff}}
	l := newLife(t, &r, node.Node{})
	if err := l.start(); err != nil {
		t.Fatal(err)
	}
	r.power, l.attempt.Step, l.attempt.WaitingAt = node.PowerOff, "", time.Now()
	asked := 0
	_, err := l.boot().CleanUp(t.Context(), l.node, l.attempt, func(context.Context) error {
		if asked++; asked > 1 {
			return errNewer
		}
		return nil
	})
	if !errors.Is(err, errNewer) || r.in != ourISO {
		t.Errorf("got %v, in is %q", err, r.in)
	}
}
