package bmc_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"go.uber.org/goleak"

	"cagenut/bmc"
	"cagenut/bmc/fake"
	"cagenut/bmc/ipmi"
	"cagenut/bmc/redfish"
	"cagenut/bmc/sim"
	"cagenut/node"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// newPool makes a pool over all drivers, closed when the test ends.
func newPool(t *testing.T, o bmc.PoolOptions) *bmc.Pool {
	t.Helper()
	p := bmc.NewPool(map[string]bmc.Driver{
		node.DriverRedfish: redfish.New(redfish.Options{}), node.DriverIPMI: ipmi.New(ipmi.Options{}), node.DriverFake: fake.New(),
	}, o)
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), time.Second)
		defer cancel()
		_ = p.Close(ctx) // BMCs that a test has broken take no logout
	})
	return p
}

func fakeNode() node.Node { return node.Node{UUID: node.NewUUID(), Driver: node.DriverFake} }

func TestOneCallerAtATimeHasABMC(t *testing.T) { // G65
	p := newPool(t, bmc.PoolOptions{})
	n := fakeNode()
	var inside, most atomic.Int32
	var wg sync.WaitGroup
	for range 50 {
		wg.Go(func() {
			err := p.Do(t.Context(), n, func(c bmc.Client) error {
				if now := inside.Add(1); now > most.Load() {
					most.Store(now)
				}
				_, err := c.Power(t.Context())
				inside.Add(-1)
				return err
			})
			if err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	if most.Load() != 1 {
		t.Errorf("%d callers had the BMC at once", most.Load())
	}
}

// hold takes a BMC until release is called.
func hold(t *testing.T, p *bmc.Pool, n node.Node) (release func()) {
	t.Helper()
	has, end, done := make(chan struct{}), make(chan struct{}), make(chan struct{})
	go func() {
		defer close(done)
		err := p.Do(context.WithoutCancel(t.Context()), n, func(bmc.Client) error {
			close(has)
			<-end
			return nil
		})
		if err != nil {
			t.Error(err)
		}
	}()
	<-has
	return func() {
		close(end)
		<-done
	}
}

func TestCallersAreServedInTheOrderInWhichTheyCame(t *testing.T) {
	p := newPool(t, bmc.PoolOptions{})
	n := fakeNode()
	release := hold(t, p, n)
	var mu sync.Mutex
	var order []int
	var wg sync.WaitGroup
	for i := range 5 {
		before := p.Waiting(n)
		wg.Go(func() {
			err := p.Do(t.Context(), n, func(bmc.Client) error {
				mu.Lock()
				defer mu.Unlock()
				order = append(order, i)
				return nil
			})
			if err != nil {
				t.Error(err)
			}
		})
		eventually(t, "the next caller waits", func() bool { return p.Waiting(n) > before })
	}
	release()
	wg.Wait()
	if fmt.Sprint(order) != "[0 1 2 3 4]" {
		t.Errorf("served in the order %v", order)
	}
}

func eventually(t *testing.T, what string, ok func() bool) {
	t.Helper()
	for end := time.Now().Add(5 * time.Second); !ok(); {
		if time.Now().After(end) {
			t.Fatalf("not within 5 s: %s", what)
		}
		time.Sleep(time.Millisecond)
	}
}

func TestWaitingForABMCEndsWithTheContextAndGivesTheTurnOn(t *testing.T) {
	p := newPool(t, bmc.PoolOptions{})
	n := fakeNode()
	release := hold(t, p, n)
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer cancel()
	never := func(bmc.Client) error { t.Error("the BMC was given away twice"); return nil }
	var u *node.Unreachable
	if err := p.Do(ctx, n, never); !errors.As(err, &u) || !u.Timeout || !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("deadline: %v", err)
	}
	ctx, cancel = context.WithCancel(t.Context())
	cancel()
	if err := p.Do(ctx, n, never); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
	release()
}

func TestDeadBMCsDoNotStarveTheLivingOnes(t *testing.T) { // G36
	p := newPool(t, bmc.PoolOptions{Limit: 2, Lend: 10 * time.Millisecond})
	for range 10 {
		release := hold(t, p, fakeNode()) // ten calls that do not end, with places for two
		defer release()
	}
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Second)
	defer cancel()
	if err := p.Do(ctx, fakeNode(), func(bmc.Client) error { return nil }); err != nil {
		t.Errorf("a living BMC beside ten dead ones: %v", err)
	}
}

func TestAHungBMCHoldsUpNoOther(t *testing.T) { // G05, over the wire
	rack, err := sim.Start(t.Context(), sim.Options{Servers: 6, IPMI: 3})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = rack.Close() }()
	p := newPool(t, bmc.PoolOptions{})
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	servers := rack.Servers()
	var hung sync.WaitGroup
	for _, s := range servers[:4] {
		s.SetFaults(sim.Faults{Hang: true})
		hung.Go(func() {
			err := p.Do(ctx, nodeOf(s), func(c bmc.Client) error { return c.SetPower(ctx, node.ActionOff) })
			if !errors.Is(err, context.Canceled) {
				t.Errorf("%s: %v", s.Name, err)
			}
		})
		eventually(t, s.Name+" is asked", func() bool { return len(s.Requests()) > 0 })
	}
	start := time.Now()
	for _, s := range servers[4:] {
		err := p.Do(ctx, nodeOf(s), func(c bmc.Client) error { return c.SetPower(ctx, node.ActionOn) })
		if err != nil || s.Power() != node.PowerOn {
			t.Errorf("%s (%s): %v, %s", s.Name, s.Driver, err, s.Power())
		}
	}
	if took := time.Since(start); took > 2*time.Second {
		t.Errorf("two healthy servers took %s", took)
	}
	cancel()
	hung.Wait()
}

func nodeOf(s *sim.Server) node.Node {
	return node.Node{UUID: node.NewUUID(), Driver: s.Driver, DriverInfo: s.DriverInfo()}
}

func TestNodesBehindOneBMCShareItsQueueHoweverItsAddressIsSpelt(t *testing.T) { // G66
	p := newPool(t, bmc.PoolOptions{})
	first := node.Node{UUID: node.NewUUID(), Driver: node.DriverRedfish, DriverInfo: map[string]any{"redfish_address": "BMC-1.example"}}
	second := node.Node{UUID: node.NewUUID(), Driver: node.DriverRedfish, DriverInfo: map[string]any{"redfish_address": "https://bmc-1.example:443/redfish/v1/"}}
	release := hold(t, p, first)
	defer release()
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer cancel()
	if err := p.Do(ctx, second, func(bmc.Client) error { t.Error("not serialised"); return nil }); err == nil {
		t.Error("no error although the BMC was taken")
	}
	if host, err := p.Host(second); err != nil || host != "bmc-1.example" {
		t.Errorf("host %q, %v", host, err)
	}
}

func TestValidateNamesWhatIsMissing(t *testing.T) { // G37
	p := newPool(t, bmc.PoolOptions{})
	for driver, want := range map[string]string{node.DriverRedfish: "redfish_address", node.DriverIPMI: "ipmi_address", "no-such": "no-such"} {
		err := p.Validate(node.Node{UUID: node.NewUUID(), Driver: driver})
		if !errors.As(err, new(*node.Invalid)) || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", driver, err)
		}
	}
	if err := p.Validate(fakeNode()); err != nil {
		t.Error(err)
	}
}

func TestAClosedPoolWaitsForWhatRunsAndTakesNoMore(t *testing.T) {
	p := newPool(t, bmc.PoolOptions{})
	n := fakeNode()
	release := hold(t, p, n)
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Millisecond)
	defer cancel()
	if err := p.Close(ctx); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("while a call runs: %v", err)
	}
	if err := p.Do(t.Context(), fakeNode(), func(bmc.Client) error { return nil }); !errors.Is(err, bmc.ErrClosed) {
		t.Errorf("after Close: %v", err)
	}
	release()
	if err := p.Close(t.Context()); err != nil {
		t.Error(err)
	}
}

func TestForgetEndsTheSessionOfADeletedNode(t *testing.T) {
	rack, err := sim.Start(t.Context(), sim.Options{Servers: 1})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = rack.Close() }()
	s, p := rack.Servers()[0], newPool(t, bmc.PoolOptions{})
	n := nodeOf(s)
	if err := p.Do(t.Context(), n, func(c bmc.Client) error { _, err := c.Power(t.Context()); return err }); err != nil || s.OpenSessions() != 1 {
		t.Fatalf("%v, %d sessions", err, s.OpenSessions())
	}
	p.Forget(n)
	for deadline := time.Now().Add(10 * time.Second); s.OpenSessions() != 0; time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal("the session is still open")
		}
	}
}
