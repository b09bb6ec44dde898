package bench_test

import (
	"context"
	"fmt"
	"log/slog"
	"net"
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"time"

	"cagenut/bmc"
	"cagenut/bmc/fake"
	"cagenut/conductor"
	"cagenut/inspect/agent"
	"cagenut/inspect/difference"
	"cagenut/inspect/hooks"
	"cagenut/inspect/inventory"
	"cagenut/inspect/managedboot"
	"cagenut/inspect/ramdisklogs"
	"cagenut/inspect/rules"
	"cagenut/node"
	"cagenut/store"
	"cagenut/store/jobs"
)

// appliance is what cmd joins, without its doors: the real database file, the real queue, BMCs that obey at once or never.
type appliance struct {
	*conductor.Conductor
	store *store.Store
	dead  *deadDriver
}

// open makes an appliance whose jobs are worked if wanted.
func open(b *testing.B, work bool, change ...func(*store.Options)) *appliance {
	b.Helper()
	dir, log := b.TempDir(), slog.New(slog.DiscardHandler)
	seal, err := store.OpenSeal(filepath.Join(dir, "secret.key"))
	must(b, err)
	o := store.Options{Path: filepath.Join(dir, "bench.db"), Seal: seal, Log: log}
	for _, c := range change {
		c(&o)
	}
	s, err := store.Open(b.Context(), o)
	must(b, err)
	b.Cleanup(func() { must(b, s.Close()) })
	queue, err := jobs.New(b.Context(), s.Writer(), log)
	must(b, err)
	s.SetQueue(queue)
	a := &appliance{store: s, dead: &deadDriver{}}
	pool := bmc.NewPool(map[string]bmc.Driver{node.DriverFake: fake.New(), node.DriverRedfish: a.dead}, bmc.PoolOptions{})
	boot := managedboot.New(bootBMCs{pool}, net.DefaultResolver, managedboot.Settings{RamdiskURL: "http://192.0.2.1", Kernel: "kernel", Initrd: "initrd"})
	a.Conductor = conductor.New(conductor.Needs{
		Nodes: s, Moves: s, Attempts: s, Ports: s, Watched: s, BMCs: conductorBMCs{pool}, Reports: reports{}, Logs: ramdisklogs.Archives{}, Comparer: difference.Comparer{}, Inspections: s, Signs: s, Bulks: s, Rules: s, RuleEngine: ruleEngine{rules.New(rules.Options{Caller: rules.HTTP{}, Log: log})},
		Inspect: map[string]conductor.InspectInterface{"agent": agent.New(boot)}, Clock: conductor.SystemClock{}, Log: log,
	}, conductor.Settings{Host: "bench"})
	if !work {
		return a
	}
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- queue.Run(ctx, a.Conductor) }()
	b.Cleanup(func() {
		cancel()
		must(b, <-ended)
	})
	return a
}

func must(b *testing.B, err error) {
	b.Helper()
	if err != nil {
		b.Fatal(err)
	}
}

// create makes a node. Those of the redfish driver have a BMC that accepts no packets.
func (a *appliance) create(b *testing.B, driver string, state node.State) node.Node {
	b.Helper()
	n, err := a.CreateNode(b.Context(), node.System(), node.Node{
		Driver: driver, ProvisionState: state, PowerState: node.PowerOn, Interfaces: node.Interfaces{Inspect: "agent"},
		DriverInfo: map[string]any{"redfish_address": "https://192.0.2.10", "redfish_username": "admin", "redfish_password": "not-a-real-one"},
		Extra:      map[string]any{"rack": "r1", "rack_unit": 7},
	})
	must(b, err)
	return n
}

// waiting makes a node in `inspect wait`, as a start job would leave it.
func (a *appliance) waiting(b *testing.B, driver string) (node.Node, node.Attempt) {
	b.Helper()
	n, now := a.create(b, driver, node.Manageable), time.Now()
	at := node.Attempt{ID: node.NewUUID(), NodeUUID: n.UUID, Interface: "agent", Token: node.Secret(node.NewUUID()), State: node.RunWaiting, StartedAt: now}
	n, err := a.store.Move(b.Context(), node.Move{
		Node: n.UUID, From: n.ProvisionState, Event: node.Inspect, Then: []node.Event{node.Wait}, At: now, StartedAt: &now, NewAttempt: &at,
		Internal: map[string]any{"lookup_bmc_addresses": []string{"192.0.2.10"}},
	})
	must(b, err)
	return n, at
}

func (a *appliance) abort(ctx context.Context, n node.Node) error {
	return a.SetProvisionState(ctx, node.Actor{User: "bench", Source: node.SourceAPI}, n.UUID, conductor.ProvisionRequest{Target: "abort", Minor: 41})
}

// until returns once the node is in a state and free.
func (a *appliance) until(b *testing.B, changes <-chan node.Notice, uuid string, state node.State) {
	b.Helper()
	deadline := time.After(time.Minute)
	for {
		n, err := a.store.Node(b.Context(), uuid)
		must(b, err)
		if n.ProvisionState == state && !n.Reserved() {
			return
		}
		select {
		case <-changes:
		case <-deadline:
			b.Fatalf("node %s is still %s: %s", uuid, n.ProvisionState, n.LastError)
		}
	}
}

// latencies are how long single calls took.
type latencies struct {
	mu  sync.Mutex
	all []time.Duration
}

func (l *latencies) time(f func() error) error {
	began := time.Now()
	err := f()
	took := time.Since(began)
	l.mu.Lock()
	defer l.mu.Unlock()
	l.all = append(l.all, took)
	return err
}

// report tells the median, the 99th percentile and how many there were per second of the benchmark's own time.
func (l *latencies) report(b *testing.B, what string) {
	b.Helper()
	b.ReportMetric(l.millis(50), "p50-ms")
	b.ReportMetric(l.millis(99), "p99-ms")
	b.ReportMetric(float64(len(l.all))/b.Elapsed().Seconds(), what+"/s")
}

// millis is a percentile in milliseconds.
func (l *latencies) millis(percentile int) float64 {
	slices.Sort(l.all)
	return float64(l.all[(len(l.all)-1)*percentile/100].Microseconds()) / 1000
}

// deadDriver is of BMCs that accept no packets: every call lasts until its caller gives up.
type deadDriver struct{}

func (*deadDriver) Validate(node.Node) error                 { return nil }
func (*deadDriver) Address(n node.Node) (bmc.Address, error) { return bmc.Address{Queue: n.UUID}, nil }
func (d *deadDriver) Open(node.Node) (bmc.Client, error)     { return deadClient{}, nil }
func (*deadDriver) Forget(context.Context, node.Node)        {}
func (*deadDriver) Close(context.Context) error              { return nil }

type deadClient struct{}

func (deadClient) wait(ctx context.Context) error {
	<-ctx.Done()
	return &node.Unreachable{What: "BMC 192.0.2.10", Timeout: true, Err: ctx.Err()}
}

func (c deadClient) Power(ctx context.Context) (node.PowerState, error)     { return "", c.wait(ctx) }
func (c deadClient) SetPower(ctx context.Context, _ node.PowerAction) error { return c.wait(ctx) }
func (c deadClient) Boot(ctx context.Context) (node.Boot, error)            { return node.Boot{}, c.wait(ctx) }
func (c deadClient) SetBoot(ctx context.Context, _ node.Boot) error         { return c.wait(ctx) }
func (c deadClient) SupportedBoot(ctx context.Context) ([]node.BootDevice, error) {
	return nil, c.wait(ctx)
}

type conductorBMCs struct{ *bmc.Pool }

func (p conductorBMCs) Do(ctx context.Context, n node.Node, fn func(conductor.BMC) error) error {
	return p.Pool.Do(ctx, n, func(c bmc.Client) error { return fn(c) })
}

func (p conductorBMCs) Look(ctx context.Context, n node.Node, fn func(conductor.BMC) error) error {
	return p.Pool.Look(ctx, n, func(c bmc.Client) error { return fn(c) })
}

type bootBMCs struct{ *bmc.Pool }

func (p bootBMCs) Do(ctx context.Context, n node.Node, fn func(managedboot.BMC) error) error {
	return p.Pool.Do(ctx, n, func(c bmc.Client) error { return fn(c) })
}

func (p bootBMCs) Look(ctx context.Context, n node.Node, fn func(managedboot.BMC) error) error {
	return p.Pool.Look(ctx, n, func(c bmc.Client) error { return fn(c) })
}

type reports struct{}

func (reports) Keys(body []byte) (conductor.Keys, error) {
	r, err := inventory.Parse(body)
	if err != nil {
		return conductor.Keys{}, err
	}
	return conductor.Keys(r.Keys()), nil
}

func (reports) Match(k conductor.Keys, asked string, all []conductor.Candidate) (string, error) {
	candidates := make([]inventory.Candidate, len(all))
	for i, c := range all {
		candidates[i] = inventory.Candidate(c)
	}
	return inventory.Match(inventory.Keys(k), asked, candidates)
}

func (reports) Process(_ context.Context, n node.Node, ports []node.Port, owners map[string]string, body []byte) (conductor.Findings, error) {
	r, err := inventory.Parse(body)
	if err != nil {
		return conductor.Findings{}, err
	}
	f, err := hooks.Run(hooks.Default(), hooks.Input{Node: n, Ports: ports, Owners: owners, Report: r})
	return conductor.Findings(f), err
}

// report is what a ramdisk of the i-th server posts.
func report(i int) []byte {
	return fmt.Appendf(nil, `{"inventory":{"interfaces":[{"name":"eno1","mac_address":"02:00:5e:%02x:%02x:%02x","ipv4_address":"192.0.2.7","has_carrier":true}],
		"cpu":{"architecture":"x86_64","count":4},"memory":{"physical_mb":4096},"disks":[]},"error":null}`, i>>16&255, i>>8&255, i&255)
}

// ruleEngine carries out inspection rules, joined as cmd joins it.
type ruleEngine struct{ *rules.Engine }

func (e ruleEngine) Apply(ctx context.Context, in conductor.RuleInput) (conductor.Ruled, error) {
	res, err := e.Engine.Apply(ctx, rules.Input(in))
	return conductor.Ruled(res), err
}

// Try is conductor.RuleEngine's.
func (e ruleEngine) Try(ctx context.Context, in conductor.RuleInput) node.RulesTrial {
	return e.Engine.Try(ctx, rules.Input(in))
}
