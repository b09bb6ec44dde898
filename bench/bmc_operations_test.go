package bench_test

import (
	"context"
	"errors"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"runtime/pprof"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"cagenut/bmc"
	"cagenut/bmc/ipmi"
	"cagenut/bmc/redfish"
	"cagenut/bmc/sim"
	"cagenut/node"
)

// BenchmarkBMCOperations does ten thousand operations on forty BMCs, some of which fail, and holds goroutines, open files and
// logins to staying where they were. Simulator and appliance's clients share this process, so both sides are held.
func BenchmarkBMCOperations(b *testing.B) {
	for range b.N {
		o := openOperations(b, "127.81.0.1")
		first, last := o.batches(b, 10, 1000)
		o.close(b)
		b.ReportMetric(float64(o.done.Load())/b.Elapsed().Seconds(), "operations/s")
		b.ReportMetric(float64(o.failed.Load()), "failed")
		b.ReportMetric(float64(first.goroutines), "goroutines-after-1000")
		b.ReportMetric(float64(last.goroutines), "goroutines-after-10000")
		b.ReportMetric(float64(first.files), "files-after-1000")
		b.ReportMetric(float64(last.files), "files-after-10000")
		b.ReportMetric(float64(o.opened), "logins")
	}
}

// G65: the same, smaller and without a stop-watch.
func TestManyOperationsLeaveNothingBehind(t *testing.T) {
	o := openOperations(t, "127.81.1.1")
	o.batches(t, 5, 200)
	o.close(t)
	if done, failed := o.done.Load(), o.failed.Load(); done != 1000 || failed == 0 || failed > done/2 {
		t.Errorf("%d operations, of which %d failed: that is not the mix that was meant", done, failed)
	}
}

// G65: however many want one BMC at the same moment, it is used by one at a time, in one login.
func TestManyCallersOfOneBMCNeverUseItAtOnce(t *testing.T) {
	r := startSimulator(t, sim.Options{Servers: 2, IPMI: 1, TLS: true, CAFile: filepath.Join(t.TempDir(), "ca.pem"), FirstAddress: "127.81.2.1"})
	for _, s := range r.Servers() {
		t.Run(s.Driver, func(t *testing.T) {
			pool := newPool()
			var callers sync.WaitGroup
			for i := range 20 {
				callers.Go(func() {
					for range 10 {
						err := pool.Do(t.Context(), node.Node{Driver: s.Driver, DriverInfo: s.DriverInfo()}, func(c bmc.Client) error {
							if i == 0 { // as an abort's clean-up among those who look
								return c.SetBoot(t.Context(), node.Boot{Device: node.BootPXE})
							}
							power, err := c.Power(t.Context())
							if err == nil && power != node.PowerOff {
								err = errors.New("an answer to something else: " + string(power))
							}
							return err
						})
						if err != nil {
							t.Error(err)
						}
					}
				})
			}
			callers.Wait()
			if err := pool.Close(t.Context()); err != nil {
				t.Error(err)
			}
			c := s.Sessions()
			if s.Overlaps() != 0 || c.Open != 0 || c.Leaked != 0 || c.Opened == 0 || (s.Driver == node.DriverRedfish && c.Opened != 1) {
				t.Errorf("%d times used by two at once; logins %+v", s.Overlaps(), c)
			}
		})
	}
}

// operations are forty BMCs behind one pool: most of them answer, some have something wrong with them from the beginning.
type operations struct {
	pool         *bmc.Pool
	servers      []*sim.Server
	dice         *rand.Rand
	done, failed atomic.Int64
	opened       int
	before       footprint
}

// footprint is what of this process could grow.
type footprint struct{ goroutines, files int }

func measure(tb testing.TB) footprint {
	tb.Helper()
	files, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		tb.Fatal(err)
	}
	return footprint{runtime.NumGoroutine(), len(files)}
}

// steady is the footprint once it has stopped to change: all that was started runs.
func steady(tb testing.TB) footprint {
	tb.Helper()
	last, same := measure(tb), 0
	for same < 10 {
		time.Sleep(10 * time.Millisecond)
		if now := measure(tb); now == last {
			same++
		} else {
			last, same = now, 0
		}
	}
	return last
}

func startSimulator(tb testing.TB, o sim.Options) *sim.Rack {
	tb.Helper()
	r, err := sim.Start(context.Background(), o)
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() {
		if err := r.Close(); err != nil {
			tb.Error(err)
		}
	})
	return r
}

// newPool is the appliance's, with clients that soon repeat what failed. They are patient with an answer, however busy the machine:
// of a login that was given up nobody knows the end.
func newPool() *bmc.Pool {
	return bmc.NewPool(map[string]bmc.Driver{
		node.DriverRedfish: redfish.New(redfish.Options{Try: time.Minute, Pause: 5 * time.Millisecond, BusyPause: 5 * time.Millisecond}),
		node.DriverIPMI:    ipmi.New(ipmi.Options{}),
	}, bmc.PoolOptions{})
}

func openOperations(tb testing.TB, first string) *operations {
	tb.Helper()
	r := startSimulator(tb, sim.Options{Servers: 40, IPMI: 16, TLS: true, CAFile: filepath.Join(tb.TempDir(), "ca.pem"), FirstAddress: first, KeepRequests: 10})
	o := &operations{pool: newPool(), servers: r.Servers(), dice: rand.New(rand.NewPCG(1, 2)), before: steady(tb)}
	for i, s := range o.servers {
		fault, strength := sim.Fault(""), sim.Strength{}
		switch i % 10 {
		case 1:
			fault = sim.FaultWrongPassword
		case 3:
			fault, strength = sim.FaultBusy, sim.Strength{Percent: 20}
		case 5:
			fault = sim.FaultRefuse
		case 7:
			fault = sim.FaultHang
		case 9:
			if fault, strength = sim.FaultDrop, (sim.Strength{Percent: 10}); s.Driver == node.DriverIPMI {
				fault = sim.FaultDuplicate // of one that loses datagrams, logins end by themselves
			}
		default:
			continue
		}
		if err := s.SwitchOn(fault, strength); err != nil {
			tb.Fatal(err)
		}
	}
	return o
}

// batches does operations, size at a time, and looks after each batch that no more is left than after the first.
func (o *operations) batches(tb testing.TB, n, size int) (first, last footprint) {
	tb.Helper()
	for i := range n {
		o.batch(size)
		if i == 0 {
			first = o.settle(tb, footprint{1 << 20, 1 << 20})
			continue
		}
		// Which of the kept connections are open at the moment is chance: two per BMC, and their other ends.
		slack := 4 * len(o.servers) / 4
		last = o.settle(tb, footprint{first.goroutines + slack, first.files + slack})
	}
	return first, last
}

// settle waits until no more is there than that, and a failed call has let go of what it held.
func (o *operations) settle(tb testing.TB, most footprint) footprint {
	tb.Helper()
	deadline := time.Now().Add(2 * time.Minute)
	for {
		now := measure(tb)
		if now.goroutines <= most.goroutines && now.files <= most.files {
			return now
		}
		if time.Now().After(deadline) {
			var who strings.Builder
			_ = pprof.Lookup("goroutine").WriteTo(&who, 1) // into memory
			tb.Fatalf("after %d operations %d goroutines and %d files, at most %d and %d were expected:\n%s", o.done.Load(), now.goroutines, now.files, most.goroutines, most.files, &who)
		}
		time.Sleep(10 * time.Millisecond)
	}
}

// batch does operations from 32 callers, each on whichever BMC comes.
func (o *operations) batch(size int) {
	type order struct {
		server *sim.Server
		dice   int
	}
	work := make(chan order)
	var callers sync.WaitGroup
	for range 32 {
		callers.Go(func() {
			for w := range work {
				if o.operate(w.server, w.dice) != nil {
					o.failed.Add(1)
				}
				o.done.Add(1)
			}
		})
	}
	for range size {
		work <- order{o.servers[o.dice.IntN(len(o.servers))], o.dice.IntN(20)}
	}
	close(work)
	callers.Wait()
}

// operate does one of the things that are asked of BMCs, the usual ones more often.
func (o *operations) operate(s *sim.Server, dice int) error {
	patience := 2 * time.Minute
	if _, hangs := s.ActiveFaults()[sim.FaultHang]; hangs {
		patience = 100 * time.Millisecond
	}
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	return o.pool.Do(ctx, node.Node{Driver: s.Driver, DriverInfo: s.DriverInfo()}, func(c bmc.Client) error {
		var err error
		switch monitor := c.(bmc.Monitor); {
		case dice == 0:
			_, err = monitor.Sensors(ctx)
		case dice == 1:
			_, err = c.(bmc.Log).Events(ctx, 10)
		case dice == 2:
			err = c.SetPower(ctx, node.ActionOn)
		case dice < 6:
			err = c.SetBoot(ctx, node.Boot{Device: node.BootPXE})
		case dice < 8:
			_, err = c.Boot(ctx)
		default:
			_, err = c.Power(ctx)
		}
		return err
	})
}

// close ends the pool, and finds neither a login on any BMC nor a goroutine or a file too many.
func (o *operations) close(tb testing.TB) {
	tb.Helper()
	for _, s := range o.servers {
		s.Heal() // a BMC that is dead for good takes no logout
	}
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Minute)
	defer cancel()
	if err := o.pool.Close(ctx); err != nil {
		tb.Error(err)
	}
	for i, s := range o.servers {
		c := s.Sessions()
		o.opened += c.Opened
		if c.Open != 0 || c.Leaked != 0 {
			tb.Errorf("%s (%s): logins %+v", s.Name, s.Driver, c)
		}
		// Who gives up on a BMC that hangs comes back before that has noticed, and a repeated login is not a second user.
		if well := i%2 == 0; well && s.Overlaps() != 0 {
			tb.Errorf("%s (%s) was used by two at once %d times", s.Name, s.Driver, s.Overlaps())
		}
	}
	const others = 3 // the tests' own
	o.settle(tb, footprint{o.before.goroutines + others, o.before.files + others})
}
