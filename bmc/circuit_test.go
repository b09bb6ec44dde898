package bmc_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"cagenut/bmc"
	"cagenut/node"
)

// silence is what drivers say of a BMC that does not answer.
func silence() error {
	return &node.Unreachable{What: "BMC 192.0.2.7", Timeout: true, Hint: "check its cable", Err: fmt.Errorf("no answer: %w", context.DeadlineExceeded)}
}

// asks is one way into the pool, Do or Look.
type asks func(context.Context, node.Node, func(bmc.Client) error) error

// answer asks the BMC, which answers with err at once, and tells whether it was asked.
func answer(t *testing.T, ask asks, n node.Node, err error) (asked bool, got error) {
	t.Helper()
	got = ask(t.Context(), n, func(bmc.Client) error { asked = true; return err })
	if asked && !errors.Is(got, err) {
		t.Errorf("the call's error %v became %v", err, got)
	}
	return asked, got
}

// fail lets the BMC be silent to so many calls in a row.
func fail(t *testing.T, p *bmc.Pool, n node.Node, times int) {
	t.Helper()
	for range times {
		if asked, _ := answer(t, p.Do, n, silence()); !asked {
			t.Fatal("Do did not ask")
		}
	}
}

func TestWhatCountsAgainstABMC(t *testing.T) {
	for what, c := range map[string]struct {
		err    error
		counts bool
	}{
		"silence":                 {silence(), true},
		"a refused connection":    {&node.Unreachable{What: "BMC", Err: errors.New("connection refused")}, true},
		"refused credentials":     {fmt.Errorf("redfish: log in: %w", node.ErrCredentials), true},
		"silence, wrapped":        {fmt.Errorf("power: %w", silence()), true},
		"a 500":                   {&node.Unreachable{What: "BMC", Answered: true, Err: errors.New("HTTP status 500")}, false},
		"a task that never ends":  {&node.Unreachable{What: "BMC", Answered: true, Timeout: true, Err: errors.New("still running")}, false},
		"what it cannot do":       {&node.Unsupported{Driver: "redfish", Extension: "inject_nmi"}, false},
		"driver_info that is odd": {node.Invalidf("redfish_address"), false},
		"the caller's own error":  {node.ErrLost, false},
		"a caller that went away": {fmt.Errorf("redfish: power: %w", context.Canceled), false},
		"nothing asked":           {&node.Unreachable{What: "BMC", Unasked: true, Err: errors.New("waited")}, false},
		"success":                 {nil, false},
	} {
		p, n := newPool(t, bmc.PoolOptions{}), fakeNode()
		if _, err := answer(t, p.Do, n, c.err); c.err != nil && err == nil {
			t.Errorf("%s: no error", what)
		}
		s := p.Standing(n)
		if c.counts != (s.Failures == 1) || c.counts != !s.Since.IsZero() || c.counts != (s.Err != nil) {
			t.Errorf("%s: %+v", what, s)
		}
		if !s.NextLook.IsZero() {
			t.Errorf("%s: looks are held off after a single failure", what)
		}
	}
}

func TestAnAnswerOfAnyKindClosesTheCircuit(t *testing.T) {
	for what, c := range map[string]struct {
		err    error
		closes bool
	}{
		"success":           {nil, true},
		"a 500":             {&node.Unreachable{What: "BMC", Answered: true, Err: errors.New("HTTP status 500")}, true},
		"what we cannot do": {&node.Unsupported{Driver: "ipmi", Extension: "bios"}, false},
		"a lost race of us": {node.ErrLost, false},
	} {
		p, n := newPool(t, bmc.PoolOptions{}), fakeNode()
		fail(t, p, n, 3)
		_, _ = answer(t, p.Do, n, c.err)
		if s := p.Standing(n); c.closes != (s == bmc.Standing{}) {
			t.Errorf("%s: %+v", what, s)
		}
		if asked, _ := answer(t, p.Look, n, nil); asked != c.closes {
			t.Errorf("%s: a look was let through: %v", what, asked)
		}
		if c.closes && p.Lines() != 0 {
			t.Errorf("%s: something is remembered of a BMC that answers", what)
		}
	}
}

func TestLooksLeaveASilentBMCAloneForLongerAndLonger(t *testing.T) { // G36
	now := time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC)
	p, n := newPool(t, bmc.PoolOptions{Now: func() time.Time { return now }}), fakeNode()
	first := now
	for _, err := range []error{silence(), silence()} {
		if asked, _ := answer(t, p.Look, n, err); !asked {
			t.Fatal("a look did not ask although the circuit was closed")
		}
		now = now.Add(time.Second)
	}
	now = now.Add(-time.Second)
	for i, pause := range []time.Duration{10, 20, 40, 80, 160, 300, 300} {
		pause *= time.Second
		s := p.Standing(n)
		if s.Failures != i+2 || !s.Since.Equal(first) || !errors.As(s.Err, new(*node.Unreachable)) {
			t.Fatalf("after %d failures: %+v", i+2, s)
		}
		if wait := s.NextLook.Sub(now); wait > pause || wait <= pause*3/4 {
			t.Fatalf("after %d failures looks wait for %s instead of about %s", i+2, wait, pause)
		}
		now = s.NextLook.Add(-time.Nanosecond)
		var u *node.Unreachable
		asked, err := answer(t, p.Look, n, nil)
		if asked || !errors.As(err, &u) || !u.Unasked || u.Answered || !u.Timeout || u.What != "BMC 192.0.2.7" || u.Hint != "check its cable" {
			t.Fatalf("a look during the back-off: asked %v, %#v", asked, err)
		}
		if !strings.Contains(err.Error(), "no answer") {
			t.Errorf("the error does not say why: %v", err)
		}
		now = s.NextLook
		if asked, _ := answer(t, p.Look, n, silence()); !asked {
			t.Fatal("no look was let through at the end of the back-off")
		}
	}
}

func TestRefusedCredentialsHoldLooksOffSoThatRoundsLockNoAccount(t *testing.T) { // G37
	p, n := newPool(t, bmc.PoolOptions{}), fakeNode()
	logins := 0
	for range 20 {
		err := p.Look(t.Context(), n, func(bmc.Client) error {
			logins++
			return fmt.Errorf("redfish: power at https://192.0.2.7: %w", node.ErrCredentials)
		})
		if !errors.Is(err, node.ErrCredentials) {
			t.Errorf("%v does not say what is wrong", err)
		}
		if unreachable := (*node.Unreachable)(nil); logins == 2 && errors.As(err, &unreachable) && !unreachable.Unasked {
			t.Errorf("%v: a refusal without asking does not say so", err)
		}
	}
	if logins != 2 {
		t.Errorf("%d logins with a wrong password", logins)
	}
}

func TestACommandIsTriedHoweverOftenTheBMCHasFailed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p, n := newPool(t, bmc.PoolOptions{}), fakeNode()
		fail(t, p, n, 2)
		next := p.Standing(n).NextLook
		time.Sleep(time.Second)
		fail(t, p, n, 5)
		if s := p.Standing(n); s.Failures != 7 || !s.NextLook.Equal(next) {
			t.Errorf("commands during the back-off moved the next look from %s to %s, %d failures", next, s.NextLook, s.Failures)
		}
		if asked, err := answer(t, p.Do, n, nil); !asked || err != nil { // somebody has plugged in the cable, and clicks
			t.Errorf("asked %v, %v", asked, err)
		}
		if asked, err := answer(t, p.Look, n, nil); !asked || err != nil {
			t.Errorf("a look after that: asked %v, %v", asked, err)
		}
	})
}

func TestAtTheEndOfTheBackOffOneCallTriesForAll(t *testing.T) {
	for what, end := range map[string]struct {
		first func(*bmc.Pool) asks
		wait  bool
	}{
		"a look":                    {func(p *bmc.Pool) asks { return p.Look }, true},
		"a command, before its end": {func(p *bmc.Pool) asks { return p.Do }, false},
		"a command, after its end":  {func(p *bmc.Pool) asks { return p.Do }, true},
	} {
		synctest.Test(t, func(t *testing.T) {
			p, n := newPool(t, bmc.PoolOptions{}), fakeNode()
			fail(t, p, n, 2)
			if end.wait {
				time.Sleep(time.Until(p.Standing(n).NextLook))
			}
			var probe sync.WaitGroup
			probe.Go(func() {
				err := end.first(p)(t.Context(), n, func(bmc.Client) error { time.Sleep(time.Second); return nil })
				if err != nil {
					t.Errorf("%s: %v", what, err)
				}
			})
			synctest.Wait()
			start := time.Now()
			for range 10 {
				if asked, err := answer(t, p.Look, n, nil); asked || !errors.As(err, new(*node.Unreachable)) {
					t.Errorf("%s tries the BMC, and a look: asked %v, %v", what, asked, err)
				}
			}
			if took := time.Since(start); took != 0 {
				t.Errorf("%s: looks waited for %s", what, took)
			}
			probe.Wait()
			if asked, err := answer(t, p.Look, n, nil); !asked || err != nil {
				t.Errorf("after %s had an answer: asked %v, %v", what, asked, err)
			}
		})
	}
}

func TestWhoWaitsBehindACallThatFailsHearsTheSameAtOnce(t *testing.T) {
	for what, c := range map[string]struct {
		err  error
		same bool
	}{
		"silence":             {silence(), true},
		"refused credentials": {fmt.Errorf("log in: %w", node.ErrCredentials), true},
		"a 500":               {&node.Unreachable{What: "BMC", Answered: true, Err: errors.New("HTTP status 500")}, false},
	} {
		synctest.Test(t, func(t *testing.T) {
			p, n := newPool(t, bmc.PoolOptions{}), fakeNode()
			var mu sync.Mutex
			calls, start := 0, time.Now()
			ask := func() error {
				return p.Do(t.Context(), n, func(bmc.Client) error {
					mu.Lock()
					calls++
					mu.Unlock()
					time.Sleep(15 * time.Second)
					return c.err
				})
			}
			var all sync.WaitGroup
			for range 10 {
				all.Go(func() {
					if err := ask(); !errors.Is(err, c.err) {
						t.Errorf("%s: %v", what, err)
					}
					if took := time.Since(start); c.same && took != 15*time.Second {
						t.Errorf("%s: the answer came after %s", what, took)
					}
				})
			}
			all.Wait()
			if want := map[bool]int{true: 1, false: 10}[c.same]; calls != want {
				t.Errorf("%s: the BMC was asked %d times, not %d", what, calls, want)
			}
			if err := ask(); !errors.Is(err, c.err) || calls < 2 {
				t.Errorf("%s: who comes later must try: %v", what, err)
			}
			if failures := p.Standing(n).Failures; c.same && failures != 2 {
				t.Errorf("%s: %d failures of 2 calls", what, failures)
			}
		})
	}
}

func TestADeadlineSpeaksAgainstABMCOnlyIfItHadTimeToAnswer(t *testing.T) {
	for what, c := range map[string]struct {
		deadline, busy time.Duration
		cancel         bool
		failures       int
	}{
		"passed in the queue":             {deadline: 5 * time.Second, busy: 10 * time.Second},
		"passed when little was left":     {deadline: 10*time.Second + bmc.DefaultLend/2, busy: 10 * time.Second},
		"passed while the BMC was asked":  {deadline: 15 * time.Second, busy: 10 * time.Second, failures: 1},
		"not passed: the caller went off": {deadline: 15 * time.Second, cancel: true},
	} {
		synctest.Test(t, func(t *testing.T) {
			p, n := newPool(t, bmc.PoolOptions{}), fakeNode()
			release := hold(t, p, n)
			ctx, cancel := context.WithTimeout(t.Context(), c.deadline)
			defer cancel()
			if c.cancel {
				time.AfterFunc(5*time.Second, cancel)
			}
			done := make(chan error)
			go func() {
				done <- p.Do(ctx, n, func(bmc.Client) error { <-ctx.Done(); return silence() })
			}()
			time.Sleep(c.busy)
			release()
			err := <-done
			var u *node.Unreachable
			if unasked := errors.As(err, &u) && u.Unasked; unasked != (c.busy > c.deadline) {
				t.Errorf("%s: %#v", what, err)
			}
			if got := p.Standing(n).Failures; got != c.failures {
				t.Errorf("%s: %d failures counted", what, got)
			}
		})
	}
}
