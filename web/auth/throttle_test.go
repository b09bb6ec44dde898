package auth

import (
	"fmt"
	"testing"
	"time"
)

// clock is a time that stands still.
type clock struct{ at time.Time }

func (c *clock) now() time.Time { return c.at }

func newClock() *clock { return &clock{time.Date(2026, 11, 30, 14, 0, 0, 0, time.UTC)} }

func (t *throttle) pause(name, address string) time.Duration {
	d, _ := t.wait(name, address)
	return d
}

func TestWrongPasswordsMakeTheNextTryWaitLongerAndLonger(t *testing.T) {
	c := newClock()
	th := newThrottle(c.now)
	for i, want := range []time.Duration{0, 0, 0, 0, 1, 2, 4, 8, 16, 32, 64, 128, 256, 300, 300} {
		th.wrong("admin", "192.0.2.1")
		if got := th.pause("admin", "192.0.2.1"); got != want*time.Second {
			t.Errorf("after %d wrong ones: %s, want %ds", i+1, got, want)
		}
		c.at = c.at.Add(want * time.Second)
		if got := th.pause("admin", "192.0.2.1"); got != 0 {
			t.Errorf("after the pause it is still %s", got)
		}
	}
}

func TestAStrangerElsewhereKeepsNobodyOut(t *testing.T) {
	th := newThrottle(newClock().now)
	for range 200 {
		th.wrong("admin", "192.0.2.66")
	}
	if th.pause("admin", "192.0.2.66") == 0 {
		t.Error("the stranger is not slowed down")
	}
	if got := th.pause("admin", "192.0.2.1"); got != 0 {
		t.Errorf("the admin waits %s at another address", got)
	}
}

func TestManyNamesFromOneAddressAreSlowedDownToo(t *testing.T) {
	th := newThrottle(newClock().now)
	for i := range 29 {
		th.wrong(fmt.Sprint("name", i), "2001:db8:1:2::1")
	}
	if got := th.pause("ann", "2001:db8:1:2::2"); got != 0 {
		t.Errorf("after 29 names: %s", got)
	}
	for i := range 40 {
		th.wrong(fmt.Sprint("other", i), fmt.Sprintf("2001:db8:1:2::%x", i+1))
	}
	if got := th.pause("ann", "2001:db8:1:2::ffff"); got != time.Minute {
		t.Errorf("in the same /64: %s", got)
	}
	if got := th.pause("ann", "2001:db8:1:3::1"); got != 0 {
		t.Errorf("in another: %s", got)
	}
}

func TestARightPasswordForgetsTheWrongOnesOfThatNameAlone(t *testing.T) {
	th := newThrottle(newClock().now)
	for range 10 {
		th.wrong("ann", "192.0.2.1")
		th.wrong("bob", "192.0.2.1")
	}
	th.right("ann", "192.0.2.1")
	if got := th.pause("ann", "192.0.2.1"); got != 0 {
		t.Errorf("ann waits %s", got)
	}
	if th.pause("bob", "192.0.2.1") == 0 {
		t.Error("bob's are forgotten too")
	}
	for range 10 {
		th.wrong("eve", "192.0.2.1")
	}
	if th.pause("ann", "192.0.2.1") == 0 {
		t.Error("those of the address are forgotten")
	}
}

func TestAnHourOfPeaceForgetsWrongPasswords(t *testing.T) {
	c := newClock()
	th := newThrottle(c.now)
	for range 8 {
		th.wrong("ann", "192.0.2.1")
	}
	c.at = c.at.Add(forgotten + time.Second)
	th.wrong("ann", "192.0.2.1")
	if got := th.pause("ann", "192.0.2.1"); got != 0 {
		t.Errorf("the first wrong one of another day makes wait %s", got)
	}
}

func TestEachPauseIsToldOnce(t *testing.T) {
	c := newClock()
	th := newThrottle(c.now)
	for range 5 {
		th.wrong("ann", "192.0.2.1")
	}
	told := 0
	for range 10 {
		if _, first := th.wait("ann", "192.0.2.1"); first {
			told++
		}
	}
	c.at = c.at.Add(time.Second)
	th.wrong("ann", "192.0.2.1")
	if _, first := th.wait("ann", "192.0.2.1"); !first || told != 1 {
		t.Errorf("told %d times in the first pause, in the second: %v", told, first)
	}
}

func TestTheMemoryOfWrongPasswordsIsBounded(t *testing.T) {
	c := newClock()
	th := newThrottle(c.now)
	for i := range mostCounted {
		c.at = c.at.Add(time.Millisecond)
		th.wrong(fmt.Sprint("n", i), fmt.Sprintf("10.%d.%d.1", i/256, i%256))
	}
	if len(th.counts) > mostCounted {
		t.Errorf("%d counts", len(th.counts))
	}
	if th.counts[place{"n0", "10.0.0.1"}] != nil || th.counts[place{fmt.Sprint("n", mostCounted-1), "10.39.15.1"}] == nil {
		t.Error("the oldest has to give way, not the newest")
	}
}
