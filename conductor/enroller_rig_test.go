package conductor_test

import (
	"context"
	"testing"
	"time"

	"cagenut/bmc"
	"cagenut/bmc/fake"
	"cagenut/bmc/finder"
	"cagenut/bmc/ipmi"
	"cagenut/bmc/redfish"
	"cagenut/bmc/sim"
	"cagenut/conductor"
	"cagenut/node"
)

// pooled lets the conductor reach simulated BMCs as the appliance does.
type pooled struct{ *bmc.Pool }

func (p pooled) Do(ctx context.Context, n node.Node, fn func(conductor.BMC) error) error {
	return p.Pool.Do(ctx, n, func(c bmc.Client) error { return fn(c) })
}

func (p pooled) Look(ctx context.Context, n node.Node, fn func(conductor.BMC) error) error {
	return p.Pool.Look(ctx, n, func(c bmc.Client) error { return fn(c) })
}

// enrolling is a world whose BMCs are simulated, with an enroller that works.
type enrolling struct {
	*world
	e    *conductor.Enroller
	news chan string
}

func newEnrolling(t *testing.T, change ...func(*conductor.EnrollerNeeds)) *enrolling {
	t.Helper()
	w := newWorld(t, conductor.Settings{})
	pool := bmc.NewPool(map[string]bmc.Driver{
		node.DriverRedfish: redfish.New(redfish.Options{Reads: 1}), node.DriverIPMI: ipmi.New(ipmi.Options{Ladder: []ipmi.Rung{{Timeout: 300 * time.Millisecond, Retries: 1}}}), node.DriverFake: fake.New(),
	}, bmc.PoolOptions{})
	w.BMCs = pooled{pool}
	x := &enrolling{world: w, news: make(chan string, 10000)}
	needs := conductor.EnrollerNeeds{
		Endpoints: pool, Neighbours: w.store, Finder: finder.New(finder.Options{}), LocalTargets: true, Announce: func(id string) { x.news <- id },
	}
	for _, f := range change {
		f(&needs)
	}
	x.e = conductor.NewEnroller(w.Conductor, needs)
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- x.e.Run(ctx) }()
	t.Cleanup(func() {
		cancel()
		if err := <-ended; err != nil {
			t.Error(err)
		}
		if err := pool.Close(context.Background()); err != nil {
			t.Error(err)
		}
	})
	return x
}

// rackOf is a simulated rack.
func rackOf(t *testing.T, o sim.Options) *sim.Rack {
	t.Helper()
	o.Seed = 7
	r, err := sim.Start(context.Background(), o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := r.Close(); err != nil {
			t.Error(err)
		}
	})
	return r
}

// of is the enrolment of a simulated server.
func of(s *sim.Server) conductor.Enrolment {
	return conductor.Enrolment{
		Node: node.Node{Name: s.Name, Driver: s.Driver, DriverInfo: s.DriverInfo(), Extra: map[string]any{"rack": s.Rack, "rack_unit": s.Unit}}, MACs: []string{s.BootMAC},
	}
}

// searched waits until a search has ended.
func (x *enrolling) searched(id string) conductor.Search {
	x.t.Helper()
	for {
		s, err := x.e.Search(id)
		if err != nil {
			x.t.Fatal(err)
		}
		if !s.EndedAt.IsZero() {
			return s
		}
		x.heard()
	}
}

// ran waits until a run has ended.
func (x *enrolling) ran(id string) conductor.EnrolRun {
	x.t.Helper()
	for {
		r, err := x.e.EnrolRun(id)
		if err != nil {
			x.t.Fatal(err)
		}
		if !r.EndedAt.IsZero() {
			return r
		}
		x.heard()
	}
}

// heard waits for news.
func (x *enrolling) heard() {
	x.t.Helper()
	select {
	case <-x.news:
	case <-time.After(30 * time.Second):
		x.t.Fatal("no news came")
	}
}

func (x *enrolling) nodes() []node.Node {
	x.t.Helper()
	all, err := x.store.Nodes(x.t.Context(), node.Filter{})
	if err != nil {
		x.t.Fatal(err)
	}
	return all
}
