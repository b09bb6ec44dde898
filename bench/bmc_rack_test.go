package bench_test

import (
	"fmt"
	"net/http"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
)

// The limits that are held.
const (
	mostCPU    = 25.0  // percent of one core, of the appliance alone
	mostMemory = 250.0 // MB resident, ever since the start
	mostDelay  = 5 * time.Second
	mostExtra  = time.Second // of a power command, beside the same on an idle rack
)

// plan is how large a rack is measured, and for how long.
type plan struct {
	servers, ipmi, dead int
	interval            time.Duration // of the power sync
	rounds              int           // how many intervals are measured
}

// planned is the whole rack; with -short a small one, which shows in a few minutes that the benchmark itself works.
func planned() plan {
	if testing.Short() {
		return plan{servers: 400, ipmi: 120, dead: 80, interval: 20 * time.Second, rounds: 2}
	}
	return plan{servers: 1000, ipmi: 300, dead: 200, interval: time.Minute, rounds: 3}
}

// BenchmarkBMCRack measures the appliance, in a process of its own, in front of a thousand simulated BMCs in another one: 700
// that speak Redfish, 300 IPMI. It is the same rack from line to line; each line is one measurement, so that more than one
// round (-benchtime) tells nothing more.
func BenchmarkBMCRack(b *testing.B) {
	for _, transport := range []string{"plain", "TLS"} {
		b.Run("over "+transport, func(b *testing.B) {
			r := openRack(b, planned(), transport == "TLS")
			time.Sleep(r.interval + r.interval/2) // until the power sync has found its pace
			var idle commands
			b.Run("power sync", r.watchSync)
			b.Run("power command", func(b *testing.B) { idle = r.command(b, "power on") })
			r.hang(b)
			hanging := fmt.Sprintf(", %d hang", len(r.hanging))
			b.Run("power sync"+hanging, r.watchSync)
			b.Run("power command"+hanging, func(b *testing.B) { r.command(b, "power off").beside(b, idle) })
			b.Run("power command"+hanging+" and are told to go off", func(b *testing.B) {
				r.tellTheDead(b, "power off")
				r.command(b, "power on").beside(b, idle)
			})
			b.Run("until the healed are known", r.heal)
			b.Run("sessions left at the end", r.end)
		})
	}
}

// BenchmarkBMCStop measures how long the appliance takes to stop that has a login at each of a thousand BMCs over TLS. It has ten
// seconds for that (stopTime in cmd/cagenut).
func BenchmarkBMCStop(b *testing.B) {
	p := planned()
	p.ipmi = 0
	openRack(b, p, true).end(b)
}

// rack is both processes.
type rack struct {
	plan
	simulator, appliance *program
	control, api         door
	servers              []simulated
	hanging              map[string]bool
}

// simulated is what the simulator says of a server.
type simulated struct {
	Name, Driver string
	DriverInfo   map[string]any `json:"driver_info"`
	Sessions     struct{ Open, Opened, Closed, Leaked int }
	Overlaps     int
}

// asked is an entry of a BMC's request log.
type asked struct {
	At                   time.Time
	Method, Path, Detail string
}

// readsPower tells of what a power sync asks.
func (a asked) readsPower() bool {
	return (a.Method == http.MethodGet && a.Path == "/redfish/v1/Systems/1") || a.Path == "Get Chassis Status"
}

// switchesPower tells of what a power command becomes.
func (a asked) switchesPower() bool {
	return strings.HasSuffix(a.Path, "/Actions/ComputerSystem.Reset") || a.Path == "Chassis Control"
}

// openRack enrols the servers over REST and waits until all of them are manageable.
func openRack(b *testing.B, p plan, tls bool) *rack {
	b.Helper()
	args := []string{"sim", "--redfish", fmt.Sprint(p.servers - p.ipmi), "--control", "127.0.0.1:0", "--listen", "127.80.0.1", "--keep-requests", "300"}
	if p.ipmi > 0 {
		args = append(args, "--ipmi", fmt.Sprint(p.ipmi))
	}
	if tls {
		args = append(args, "--tls", "--ca-file", filepath.Join(b.TempDir(), "ca.pem"))
	}
	r := &rack{plan: p, hanging: map[string]bool{}}
	simulator, control := run(b, "Control: ", args...)
	appliance, dashboard := run(b, "Dashboard: ", "serve", "--auth", "none", "--listen", "127.0.0.1:0", "--inspector-listen", "127.0.0.1:0", "--data-dir", b.TempDir(), "--power-sync-interval", p.interval.String())
	r.simulator, r.appliance, r.control, r.api = simulator, appliance, newDoor(control), newDoor(strings.TrimSuffix(dashboard, "/ui"))
	must(b, r.control.ask("GET", "/servers", nil, &r.servers))
	began := time.Now()
	r.each(b, r.servers, func(s simulated) error {
		node := map[string]any{"name": s.Name, "driver": s.Driver, "driver_info": s.DriverInfo}
		if err := r.api.ask("POST", "/v1/nodes", node, nil); err != nil {
			return err
		}
		return r.api.ask("PUT", "/v1/nodes/"+s.Name+"/states/provision", map[string]string{"target": "manage"}, nil)
	})
	eventually(b, "all nodes are manageable", func() bool {
		var list struct{ Nodes []any }
		must(b, r.api.ask("GET", "/v1/nodes?provision_state=manageable&fields=uuid&limit=1000", nil, &list))
		return len(list.Nodes) == p.servers
	})
	b.Logf("%d servers enrolled and manageable after %s", p.servers, time.Since(began).Round(100*time.Millisecond))
	return r
}

// each does something for every server, 16 at a time.
func (r *rack) each(b *testing.B, servers []simulated, do func(simulated) error) {
	b.Helper()
	work := make(chan simulated)
	var all sync.WaitGroup
	for range 16 {
		all.Go(func() {
			for s := range work {
				if err := do(s); err != nil {
					b.Errorf("%s: %v", s.Name, err)
				}
			}
		})
	}
	for _, s := range servers {
		work <- s
	}
	close(work)
	all.Wait()
	if b.Failed() {
		b.FailNow()
	}
}

// healthy are the servers whose BMC does not hang.
func (r *rack) healthy() []simulated {
	return slices.DeleteFunc(slices.Clone(r.servers), func(s simulated) bool { return r.hanging[s.Name] })
}

// watchSync measures the power sync for some intervals: what the appliance uses, and how late the BMCs that answer are asked,
// by their own logs.
func (r *rack) watchSync(b *testing.B) {
	healthy, began := r.healthy(), time.Now()
	before, simulator := r.appliance.usage(b), r.simulator.usage(b)
	most, files := before.resident, before.openFiles
	for deadline := began.Add(time.Duration(r.rounds) * r.interval); time.Now().Before(deadline); time.Sleep(time.Second) {
		u := r.appliance.usage(b)
		most, files = max(most, u.resident), max(files, u.openFiles)
	}
	after, ended := r.appliance.usage(b), time.Now()
	cpu := after.share(before)
	delays := r.delays(b, healthy, began, ended)
	worst := delays[len(delays)-1]

	b.ReportMetric(cpu, "cpu-%")
	b.ReportMetric(r.simulator.usage(b).share(simulator), "simulator-cpu-%")
	b.ReportMetric(most, "rss-MB")
	b.ReportMetric(after.most, "rss-ever-MB")
	b.ReportMetric(float64(files), "files")
	b.ReportMetric(worst.Seconds(), "worst-delay-s")
	b.ReportMetric(delays[len(delays)*99/100].Seconds(), "p99-delay-s")
	b.ReportMetric(0, "ns/op") // it lasts as long as it is told to
	if cpu > mostCPU {
		b.Errorf("the appliance used %.1f %% of a core, more than %.0f", cpu, mostCPU)
	}
	if after.most > mostMemory {
		b.Errorf("the appliance used %.0f MB, more than %.0f", after.most, mostMemory)
	}
	if worst > mostDelay {
		b.Errorf("a BMC that answers was asked %s too late, more than %s", worst, mostDelay)
	}
}

// delays are, of each server, how much longer than the interval it waited for a question at most, in order.
func (r *rack) delays(b *testing.B, servers []simulated, began, ended time.Time) []time.Duration {
	b.Helper()
	var logs map[string][]asked
	must(b, r.control.ask("GET", "/servers/*/requests", nil, &logs))
	var all []time.Duration
	for _, s := range servers {
		last, late := time.Time{}, time.Duration(0)
		for _, a := range append(logs[s.Name], asked{At: ended, Path: "Get Chassis Status"}) {
			if !a.readsPower() || a.At.After(ended) {
				continue
			}
			if !last.IsZero() && a.At.After(began) {
				late = max(late, a.At.Sub(last)-r.interval)
			}
			last = a.At
		}
		if len(logs[s.Name]) == 0 {
			late = ended.Sub(began)
		}
		all = append(all, late)
	}
	slices.Sort(all)
	return all
}

// doomed are the servers whose BMCs die in the course of the measurement.
func (r *rack) doomed() (names []string) {
	for i := range r.plan.dead {
		names = append(names, r.servers[i*len(r.servers)/r.plan.dead].Name)
	}
	return names
}

// hang lets BMCs of both kinds die: they take connections and say nothing.
func (r *rack) hang(b *testing.B) {
	b.Helper()
	for _, name := range r.doomed() {
		must(b, r.control.ask("PUT", "/servers/"+name+"/faults/hang", map[string]any{}, nil))
		r.hanging[name] = true
	}
}

// commands are how long power commands took, in order: until the answer over REST, and until the BMC had it.
type commands struct{ answer, arrival []time.Duration }

// command gives power commands over REST to some BMCs that answer, one after the other.
func (r *rack) command(b *testing.B, target string) (c commands) {
	living := slices.DeleteFunc(slices.Clone(r.servers), func(s simulated) bool { return slices.Contains(r.doomed(), s.Name) }) // the same every time
	const n = 24
	for i := range n {
		s := living[(2*i+1)*len(living)/(2*n)]
		began := time.Now()
		must(b, r.api.ask("PUT", "/v1/nodes/"+s.Name+"/states/power", map[string]string{"target": target}, nil))
		c.answer = append(c.answer, time.Since(began))
		eventually(b, s.Name+" is told to "+target, func() bool {
			var logs map[string][]asked
			must(b, r.control.ask("GET", "/servers/"+s.Name+"/requests", nil, &logs))
			for _, a := range logs[s.Name] {
				if a.switchesPower() && a.At.After(began) {
					c.arrival = append(c.arrival, a.At.Sub(began))
					return true
				}
			}
			return false
		})
	}
	slices.Sort(c.answer)
	slices.Sort(c.arrival)
	ms := func(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }
	b.ReportMetric(ms(c.answer[n/2]), "answer-p50-ms")
	b.ReportMetric(ms(c.answer[n-1]), "answer-max-ms")
	b.ReportMetric(ms(c.arrival[n/2]), "arrival-p50-ms")
	b.ReportMetric(ms(c.arrival[n-1]), "arrival-max-ms")
	b.ReportMetric(0, "ns/op")
	return c
}

// beside holds commands to those that were given before anything was wrong.
func (c commands) beside(b *testing.B, idle commands) {
	b.Helper()
	if len(c.arrival) == 0 || len(idle.arrival) == 0 {
		b.Fatal("there is nothing to compare")
	}
	last := len(c.arrival) - 1
	for what, extra := range map[string]time.Duration{"the BMC had it": c.arrival[last] - idle.arrival[last], "the answer came": c.answer[last] - idle.answer[last]} {
		if extra > mostExtra {
			b.Errorf("%s %s later than on an idle rack, more than %s", what, extra, mostExtra)
		}
	}
}

// tellTheDead gives power commands to all BMCs that hang, as somebody does who switches off a rack.
func (r *rack) tellTheDead(b *testing.B, target string) {
	b.Helper()
	dead := slices.DeleteFunc(slices.Clone(r.servers), func(s simulated) bool { return !r.hanging[s.Name] })
	r.each(b, dead, func(s simulated) error {
		return r.api.ask("PUT", "/v1/nodes/"+s.Name+"/states/power", map[string]string{"target": target}, nil)
	})
}

// silent counts the nodes of those servers whose BMC, as the appliance says without asking it, does not answer.
func (r *rack) silent(b *testing.B, names []string) (n int) {
	b.Helper()
	for _, name := range names {
		var health struct{ BMC struct{ Reachable *bool } }
		must(b, r.api.ask("GET", "/cagenut/v1/nodes/"+name+"/health?ask=false", nil, &health))
		if reachable := health.BMC.Reachable; reachable != nil && !*reachable {
			n++
		}
	}
	return n
}

// heal ends all faults and measures until the appliance says of every BMC that hung that it answers.
func (r *rack) heal(b *testing.B) {
	eventually(b, "the appliance knows that they hang", func() bool { return r.silent(b, r.doomed()) == len(r.hanging) })
	began := time.Now()
	must(b, r.control.ask("DELETE", "/servers/*/faults", nil, nil))
	r.hanging = map[string]bool{}
	eventually(b, "the appliance knows that all BMCs answer", func() bool {
		time.Sleep(time.Second)
		return r.silent(b, r.doomed()) == 0
	})
	b.ReportMetric(time.Since(began).Seconds(), "s")
	b.ReportMetric(0, "ns/op")
}

// end stops the appliance and counts the logins that it leaves on the BMCs.
func (r *rack) end(b *testing.B) {
	began := time.Now()
	r.appliance.stop()
	b.ReportMetric(time.Since(began).Seconds(), "stop-s")
	var all []simulated
	must(b, r.control.ask("GET", "/servers", nil, &all))
	opened, left, overlaps := 0, 0, 0
	for _, s := range all {
		opened += s.Sessions.Opened
		left += s.Sessions.Open + s.Sessions.Leaked
		overlaps += s.Overlaps
	}
	b.ReportMetric(float64(opened), "opened")
	b.ReportMetric(float64(left), "left")
	b.ReportMetric(float64(overlaps), "overlaps")
	b.ReportMetric(0, "ns/op")
	if left > 0 || opened == 0 {
		b.Errorf("%d of %d logins are left on the BMCs; the appliance's last words:\n%s", left, opened, r.appliance.lastWords())
	}
}
