package bmc_test

import (
	"context"
	"maps"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"cagenut/bmc"
	"cagenut/bmc/fake"
	"cagenut/node"
)

// with is the node with something else in its driver_info.
func with(n node.Node, key string, value any) node.Node {
	n.DriverInfo = maps.Clone(n.DriverInfo)
	if n.DriverInfo == nil {
		n.DriverInfo = map[string]any{}
	}
	n.DriverInfo[key] = value
	return n
}

func TestOtherDriverInfoIsTriedAtOnce(t *testing.T) {
	p, wrong := newPool(t, bmc.PoolOptions{}), with(fakeNode(), "redfish_password", "wrong")
	fail(t, p, wrong, 4)
	right := with(wrong, "redfish_password", "right")
	if s := p.Standing(right); s != (bmc.Standing{}) {
		t.Errorf("it has a standing before it was tried: %+v", s)
	}
	if asked, _ := answer(t, p.Look, wrong, nil); asked {
		t.Error("the old password was tried again")
	}
	if asked, err := answer(t, p.Look, right, silence()); !asked {
		t.Errorf("the new password was not tried: %v", err)
	}
	if s := p.Standing(right); s.Failures != 1 {
		t.Errorf("failures go on to be counted from the old one's: %+v", s)
	}
}

func TestWhatOldDriverInfoMeetsSaysNothingOfTheNew(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p, before := newPool(t, bmc.PoolOptions{}), with(fakeNode(), "redfish_password", "wrong")
		after := with(before, "redfish_password", "right")
		var all sync.WaitGroup
		all.Go(func() {
			_ = p.Do(t.Context(), before, func(bmc.Client) error { time.Sleep(10 * time.Second); return silence() })
		})
		synctest.Wait()
		all.Go(func() {
			err := p.Do(t.Context(), after, func(bmc.Client) error {
				if s := p.Standing(after); s != (bmc.Standing{}) {
					t.Errorf("the old password's failure counts against the new one: %+v", s)
				}
				return nil
			})
			if err != nil {
				t.Errorf("who came with the new password got the old one's answer: %v", err)
			}
		})
		all.Wait()
	})
}

func TestForgettingANodeForgetsItsFailures(t *testing.T) {
	p, n := newPool(t, bmc.PoolOptions{}), fakeNode()
	fail(t, p, n, 4)
	p.Forget(n)
	if s := p.Standing(n); s != (bmc.Standing{}) {
		t.Errorf("%+v", s)
	}
	eventually(t, "nothing is remembered", func() bool { return p.Lines() == 0 })
	if asked, err := answer(t, p.Look, n, nil); !asked || err != nil {
		t.Errorf("asked %v, %v", asked, err)
	}
}

// keeper is a driver that tells what it was told to forget, and with how much time left.
type keeper struct {
	*fake.Driver
	forgot chan bool
}

func (k keeper) Forget(ctx context.Context, _ node.Node) { k.forgot <- ctx.Err() == nil }

func TestADriverForgetsANodeAlsoWhenItsBMCIsNeverFree(t *testing.T) {
	for what, busy := range map[string]time.Duration{"free in time": 10 * time.Second, "not free in time": time.Hour} {
		synctest.Test(t, func(t *testing.T) {
			k := keeper{fake.New(), make(chan bool, 1)}
			p, n := bmc.NewPool(map[string]bmc.Driver{node.DriverFake: k}, bmc.PoolOptions{}), fakeNode()
			release := hold(t, p, n)
			time.AfterFunc(busy, release)
			p.Forget(n)
			if inTime := <-k.forgot; inTime != (busy < time.Minute) {
				t.Errorf("%s: the BMC is asked: %v", what, inTime)
			}
			if err := p.Close(t.Context()); err != nil {
				t.Error(err)
			}
		})
	}
}

func TestFailuresOfNodesThatNobodyAsksForAreForgotten(t *testing.T) {
	now := time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC)
	p := newPool(t, bmc.PoolOptions{Now: func() time.Time { return now }})
	for range 10_000 {
		fail(t, p, fakeNode(), 1)
	}
	wanted := fakeNode()
	fail(t, p, wanted, 2)
	for range 40 { // its rounds go on, though mostly in vain
		now = now.Add(time.Minute)
		_, _ = answer(t, p.Look, wanted, silence())
	}
	if p.Lines() != 1 || p.Standing(wanted).Failures < 3 {
		t.Errorf("%d BMCs are remembered; the one that is still wanted: %+v", p.Lines(), p.Standing(wanted))
	}
}

func TestNodesBehindOneBMCShareItsFailures(t *testing.T) {
	p := newPool(t, bmc.PoolOptions{})
	first := node.Node{UUID: node.NewUUID(), Driver: node.DriverRedfish, DriverInfo: map[string]any{"redfish_address": "bmc-1.example", "redfish_system_id": "/redfish/v1/Systems/1"}}
	second := with(first, "redfish_system_id", "/redfish/v1/Systems/2")
	second.UUID = node.NewUUID()
	fail(t, p, first, 1)
	fail(t, p, second, 1)
	for _, n := range []node.Node{first, second} {
		if asked, _ := answer(t, p.Look, n, nil); asked || p.Standing(n).Failures != 2 {
			t.Errorf("asked %v, %+v", asked, p.Standing(n))
		}
	}
}
