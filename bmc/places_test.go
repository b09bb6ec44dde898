package bmc_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"cagenut/bmc"
	"cagenut/node"
)

// meter counts calls that are with BMCs.
type meter struct {
	mu sync.Mutex
	counted
}

// counted is how many calls there are now, were at most at the same time, and in all.
type counted struct{ now, most, all int }

func (m *meter) read() counted {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.counted
}

func (m *meter) in() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.now++
	m.all++
	m.most = max(m.most, m.now)
}

func (m *meter) out() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.now--
}

// reset begins a new measurement and gives the most of the last one.
func (m *meter) reset() int {
	m.mu.Lock()
	defer m.mu.Unlock()
	most := m.most
	m.most = m.now
	return most
}

func nodes(count int) []node.Node {
	all := make([]node.Node, count)
	for i := range all {
		all[i] = fakeNode()
	}
	return all
}

// healthy is a call that the BMC answers after a while.
func (m *meter) healthy(takes time.Duration) func(bmc.Client) error {
	return func(bmc.Client) error {
		m.in()
		defer m.out()
		time.Sleep(takes)
		return nil
	}
}

// hanging is a call that the BMC does not answer, as drivers end it.
func (m *meter) hanging(ctx context.Context, bound time.Duration) func(bmc.Client) error {
	return func(bmc.Client) error {
		m.in()
		defer m.out()
		select {
		case <-time.After(bound):
		case <-ctx.Done():
		}
		return silence()
	}
}

func TestTwoHundredDeadBMCsCostTheHealthyOnesNothing(t *testing.T) { // G36
	const interval, deadline = time.Minute, 15 * time.Second
	for what, spread := range map[string]bool{"a round that is spread over its interval": true, "a round that begins everywhere at once": false} {
		synctest.Test(t, func(t *testing.T) {
			p := newPool(t, bmc.PoolOptions{})
			var dead, living meter
			var mu sync.Mutex
			var worst time.Duration
			var rounds sync.WaitGroup
			ctx, cancel := context.WithTimeout(t.Context(), 12*interval-time.Nanosecond)
			defer cancel()
			for i, n := range nodes(1000) {
				rounds.Go(func() {
					if spread {
						time.Sleep(interval / 1000 * time.Duration(i))
					}
					for tick := time.NewTicker(interval); ; {
						look, done := context.WithTimeout(ctx, deadline)
						start := time.Now()
						if i%5 == 0 {
							_ = p.Look(look, n, dead.hanging(look, 24*time.Second))
						} else if err := p.Look(look, n, living.healthy(50*time.Millisecond)); err != nil && ctx.Err() == nil {
							t.Errorf("%s: a healthy BMC was not asked: %v", what, err)
						} else {
							mu.Lock()
							worst = max(worst, time.Since(start)-50*time.Millisecond)
							mu.Unlock()
						}
						done()
						select {
						case <-tick.C:
						case <-ctx.Done():
							return
						}
					}
				})
			}
			measure := func() (time.Duration, int, int) {
				mu.Lock()
				defer mu.Unlock()
				w := worst
				worst = 0
				return w, dead.reset(), living.reset()
			}
			time.Sleep(3 * interval / 2) // each dead BMC has failed once
			delay, hanging, _ := measure()
			t.Logf("%s: first: worst delay %s, %d calls on dead BMCs at once", what, delay, hanging)
			if spread && delay > 5*time.Second {
				t.Errorf("%s: while the dead BMCs were found out a healthy one waited for %s", what, delay)
			}
			time.Sleep(10 * interval)
			delay, hanging, working := measure()
			t.Logf("%s: then: worst delay %s, %d calls on dead BMCs at once, %d on healthy ones, %d calls on dead ones in all", what, delay, hanging, working, dead.read().all)
			if hanging > 16 || working > 64 || spread && delay > 100*time.Millisecond || delay > 5*time.Second {
				t.Errorf("%s: worst delay %s, %d calls hang, %d work", what, delay, hanging, working)
			}
			cancel()
			rounds.Wait()
		})
	}
}

func TestACommandWaitsForNoDeadBMC(t *testing.T) { // G36
	for what, ask := range map[string]func(*bmc.Pool) asks{
		"looks":    func(p *bmc.Pool) asks { return p.Look },
		"commands": func(p *bmc.Pool) asks { return p.Do },
	} {
		for _, dies := range []int{200, 64, 16} {
			synctest.Test(t, func(t *testing.T) {
				p := newPool(t, bmc.PoolOptions{})
				var m meter
				ctx, cancel := context.WithCancel(t.Context())
				var all sync.WaitGroup
				for _, n := range nodes(dies) {
					all.Go(func() { _ = ask(p)(ctx, n, m.hanging(ctx, time.Minute)) })
				}
				synctest.Wait()
				for i := range 20 { // one after the other, while they die and afterwards
					start := time.Now()
					if err := p.Do(ctx, fakeNode(), m.healthy(time.Millisecond)); err != nil {
						t.Error(err)
					}
					// Of commands to dead BMCs, as many as there are places may be before this one, for 250 ms each.
					bound := time.Duration(dies/64)*250*time.Millisecond + time.Millisecond
					if what == "looks" || i > 0 {
						bound = time.Millisecond
					}
					if took := time.Since(start); took > bound {
						t.Errorf("%d %s to dead BMCs: command %d took %s", dies, what, i, took)
					}
				}
				cancel()
				all.Wait()
			})
		}
	}
}

func TestLooksLeaveHalfOfThePlacesToCommands(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newPool(t, bmc.PoolOptions{Limit: 8, Lend: time.Hour})
		var looks, commands meter
		var all sync.WaitGroup
		for _, n := range nodes(1000) {
			all.Go(func() { _ = p.Look(t.Context(), n, looks.healthy(time.Second)) })
		}
		synctest.Wait()
		for _, n := range nodes(20) {
			all.Go(func() { _ = p.Do(t.Context(), n, commands.healthy(time.Second)) })
		}
		time.Sleep(4500 * time.Millisecond)
		if l, c := looks.read(), commands.read(); l != (counted{now: 4, most: 4, all: 20}) || c.most != 4 || c.all != 20 {
			t.Errorf("looks %+v, commands %+v", l, c)
		}
		all.Wait()
		if l := looks.read(); l != (counted{most: 4, all: 1000}) {
			t.Errorf("looks %+v", l)
		}
	})
}

func TestNobodyIsHurriedForALookOrForWhatWaitsForAnotherReason(t *testing.T) {
	for what, failing := range map[string]bool{"a look": false, "a look, and a command to another failing BMC": true} {
		synctest.Test(t, func(t *testing.T) {
			p := newPool(t, bmc.PoolOptions{Limit: 4}) // one of them for failing BMCs
			var m meter
			var all sync.WaitGroup
			ctx, cancel := context.WithCancel(t.Context())
			if failing {
				for _, n := range nodes(2) {
					fail(t, p, n, 1)
					all.Go(func() { _ = p.Do(ctx, n, m.hanging(ctx, time.Minute)) })
				}
				time.Sleep(2 * bmc.DefaultLend) // the first of the two goes on without a place
			}
			for range 4 {
				all.Go(func() { _ = p.Do(t.Context(), fakeNode(), m.healthy(time.Second)) })
			}
			synctest.Wait()
			start := time.Now()
			if err := p.Look(t.Context(), fakeNode(), func(bmc.Client) error { return nil }); err != nil || time.Since(start) != time.Second {
				t.Errorf("%s: served after %s, %v", what, time.Since(start), err)
			}
			cancel()
			all.Wait()
		})
	}
}

func TestACommandIsNotHeldUpByTheLookBeforeItAtTheSameBMC(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newPool(t, bmc.PoolOptions{Limit: 2, Lend: time.Hour})
		var m meter
		var all sync.WaitGroup
		for _, n := range nodes(100) { // one of them works, and 99 wait for its place
			all.Go(func() { _ = p.Look(t.Context(), n, m.healthy(time.Minute)) })
		}
		synctest.Wait()
		n, start := fakeNode(), time.Now()
		all.Go(func() { _ = p.Look(t.Context(), n, m.healthy(time.Second)) })
		synctest.Wait()
		if err := p.Do(t.Context(), n, m.healthy(time.Second)); err != nil {
			t.Error(err)
		}
		if took := time.Since(start); took != 2*time.Second {
			t.Errorf("the command behind a look took %s", took)
		}
		all.Wait()
	})
}

func TestPlacesGoToThoseThatWaitLongest(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newPool(t, bmc.PoolOptions{Limit: 1})
		release := hold(t, p, fakeNode())
		var order []int
		var all sync.WaitGroup
		for i := range 20 {
			ask := asks(p.Do)
			if i%3 == 0 {
				ask = p.Look
			}
			all.Go(func() {
				_ = ask(t.Context(), fakeNode(), func(bmc.Client) error { order = append(order, i); return nil })
			})
			synctest.Wait()
		}
		release()
		all.Wait()
		if fmt.Sprint(order) != "[0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19]" {
			t.Errorf("served in the order %v", order)
		}
	})
}

func TestFailingBMCsHaveAQuarterOfThePlacesBetweenThem(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newPool(t, bmc.PoolOptions{Limit: 16})
		var looks, commands meter
		var all sync.WaitGroup
		ctx, cancel := context.WithCancel(t.Context())
		for i, n := range nodes(100) {
			fail(t, p, n, 1)
			ask, m := asks(p.Look), &looks
			if i >= 50 {
				ask, m = p.Do, &commands
			}
			all.Go(func() { _ = ask(ctx, n, m.hanging(ctx, 10*time.Second)) })
		}
		time.Sleep(35 * time.Second)
		if l, c := looks.read(), commands.read(); l.most > 3 || c.all == 0 || l.now+c.now != 4 {
			t.Errorf("looks %+v, commands %+v", l, c)
		}
		cancel()
		all.Wait()
	})
}

func TestNoMoreThanLentCallsGoOnWithoutAPlace(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newPool(t, bmc.PoolOptions{Limit: 2, Lent: 3})
		var m meter
		var all sync.WaitGroup
		for range 20 {
			all.Go(func() { _ = p.Do(t.Context(), fakeNode(), m.healthy(time.Minute)) })
		}
		time.Sleep(30 * time.Second)
		if c := m.read(); c.now != 5 {
			t.Errorf("%d calls at once, of 2 with a place and 3 without", c.now)
		}
		time.Sleep(30100 * time.Millisecond) // the first two have ended: the two that owed their places have given them back
		if c := m.read(); c != (counted{now: 5, most: 5, all: 7}) {
			t.Errorf("after the first have ended: %+v", c)
		}
		all.Wait()
		if c := m.read(); c != (counted{most: 5, all: 20}) {
			t.Errorf("in the end: %+v", c)
		}
	})
}

func TestACallThatOwedItsPlaceAndEndedOwesNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newPool(t, bmc.PoolOptions{Limit: 1, Lent: 1})
		var long, short, after meter
		var all sync.WaitGroup
		all.Go(func() { _ = p.Do(t.Context(), fakeNode(), long.healthy(time.Minute)) })
		synctest.Wait()
		if err := p.Do(t.Context(), fakeNode(), short.healthy(10*time.Second)); err != nil {
			t.Error(err)
		}
		all.Wait()
		for range 10 {
			all.Go(func() { _ = p.Do(t.Context(), fakeNode(), after.healthy(100*time.Millisecond)) })
		}
		all.Wait()
		if c := after.read(); c.most != 1 {
			t.Errorf("%d calls at once with a place for one", c.most)
		}
	})
}

func TestACallThatPanicsGivesEverythingBack(t *testing.T) {
	p, n := newPool(t, bmc.PoolOptions{Limit: 1}), fakeNode()
	func() {
		defer func() { _ = recover() }()
		_ = p.Do(t.Context(), n, func(bmc.Client) error { panic("a bug") })
	}()
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
	defer cancel()
	if err := p.Do(ctx, n, func(bmc.Client) error { return nil }); err != nil {
		t.Error(err)
	}
}

func TestWaitingInVainForAPlaceSaysNothingOfTheBMC(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p, n := newPool(t, bmc.PoolOptions{Limit: 1, Lend: time.Hour}), fakeNode()
		release := hold(t, p, fakeNode())
		defer release()
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		asked, err := false, p.Do(ctx, n, func(bmc.Client) error { return errors.New("asked") })
		var u *node.Unreachable
		if asked || !errors.As(err, &u) || !u.Unasked || !u.Timeout || u.Err.Error() != "too many BMCs are busy: context deadline exceeded" {
			t.Errorf("%#v", err)
		}
		if s := p.Standing(n); s != (bmc.Standing{}) || p.Waiting(n) != 0 {
			t.Errorf("%+v, %d waiting", s, p.Waiting(n))
		}
	})
}
