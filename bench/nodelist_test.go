package bench_test

import (
	"database/sql"
	"fmt"
	"html"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"

	"cagenut/node"
	"cagenut/web"
	"cagenut/web/auth"
	"cagenut/web/live"
	"cagenut/web/ui"
)

const (
	inHall      = 10_000                // nodes
	mostForList = 50 * time.Millisecond // for any page of their list, p99
)

// BenchmarkNodeList measures the dashboard's list of ten thousand nodes over HTTP: pages near and far, searches, each filter and
// each order. None may take longer than the limit.
func BenchmarkNodeList(b *testing.B) {
	a := open(b, false)
	a.fillHall(b)
	base := a.dashboard(b)
	far := map[string]string{}
	for _, order := range []string{"", "name", "health"} {
		far[order] = farPage(b, base, order, 100)
	}
	for _, c := range []struct{ name, path string }{
		{"first page", "/ui"}, {"first page of 200", "/ui?size=200"}, {"page 100", far[""]}, {"page 100 by name", far["name"]}, {"page 100 by health", far["health"]},
		{"search for a MAC", "/ui?q=52:54:00:01:12:34"}, {"search for part of a MAC", "/ui?q=01:12:3"}, {"search for a serial", "/ui?q=CZ2D004321"},
		{"search for a name", "/ui?q=r107-u21"}, {"search for a BMC address", "/ui?q=10.9.33.7"}, {"search for a rack", "/ui?q=R107"}, {"search for a UUID", "/ui?q=00004321-0000-4000-8000-000000004321"},
		{"search for what is nowhere", "/ui?q=nothing-like-it"}, {"search for what is everywhere", "/ui?q=r"},
		{"filter by state", "/ui?state=available"}, {"filter by two states", "/ui?state=inspect+wait&state=inspect+failed"}, {"filter by group", "/ui?group=ready"},
		{"filter by rack", "/ui?rack=R107"}, {"filter by health", "/ui?health=Critical"}, {"filter by silence", "/ui?health=silent"}, {"filter by driver", "/ui?driver=ipmi"},
		{"filter by maintenance", "/ui?maintenance=true"}, {"filter by all", "/ui?state=available&driver=ipmi&health=OK&maintenance=false&q=r1&sort=since&dir=desc"},
		{"sort by name", "/ui?sort=name"}, {"sort by name backwards", "/ui?sort=name&dir=desc"}, {"sort by place", "/ui?sort=place"}, {"sort by place backwards", "/ui?sort=place&dir=desc"},
		{"sort by state", "/ui?sort=state"}, {"sort by state backwards", "/ui?sort=state&dir=desc"}, {"sort by time", "/ui?sort=since"}, {"sort by time backwards", "/ui?sort=since&dir=desc"},
		{"sort by power", "/ui?sort=power"}, {"sort by power backwards", "/ui?sort=power&dir=desc"}, {"sort by health", "/ui?sort=health"}, {"sort by health backwards", "/ui?sort=health&dir=desc"},
		{"sort by driver", "/ui?sort=driver"}, {"sort by driver backwards", "/ui?sort=driver&dir=desc"}, {"attention backwards", "/ui?dir=desc"},
	} {
		b.Run(c.name, func(b *testing.B) {
			fetchPage(b, base+c.path) // the first time, a connection is made
			var l latencies
			worked := cpu(b)
			for b.Loop() {
				must(b, l.time(func() error {
					fetchPage(b, base+c.path)
					return nil
				}))
			}
			l.report(b, "pages")
			b.ReportMetric((cpu(b)-worked).Seconds()*1000/float64(len(l.all)), "cpu-ms/page")
			if p99 := l.millis(99); len(l.all) >= 20 && p99 > mostForList.Seconds()*1000 {
				b.Errorf("the 99th percentile is %.1f ms, the limit is %s", p99, mostForList)
			}
		})
	}
}

// fillHall makes the nodes, each with two ports and documents of the usual size, and inspections where their state has one.
func (a *appliance) fillHall(b *testing.B) {
	b.Helper()
	states := []node.State{node.Active, node.Available, node.Active, node.Manageable, node.Available, node.Active, node.Enroll, node.Active, node.InspectWait, node.InspectFailed}
	document := fmt.Sprintf(`{"capabilities":%q}`, strings.Repeat("boot_mode:uefi,", 50))
	tx, err := a.store.Writer().BeginTx(b.Context(), nil)
	must(b, err)
	defer tx.Rollback()
	insert := func(query string) *sql.Stmt {
		s, err := tx.Prepare(query)
		must(b, err)
		return s
	}
	nodes := insert(`INSERT INTO nodes (uuid, name, created_at, driver, interfaces, provision_state, provision_updated_at, power_state, power_checked_at, health, maintenance, bmc_unreachable_since,
		last_error, attempt_id, properties, driver_info, driver_internal_info, instance_info, extra, documents, traits, rack, rack_unit, bmc_address, serial)
		VALUES (?, ?, 1, ?, '{}', ?, ?, ?, 1, ?, ?, ?, ?, ?, ?, ?, ?, '{}', ?, '{}', '[]', ?, ?, ?, ?)`)
	ports := insert(`INSERT INTO ports (uuid, node_uuid, address, created_at, extra, internal_info, local_link_connection) VALUES (?, ?, ?, 1, '{}', '{}', '{}')`)
	attempts := insert(`INSERT INTO attempts (id, node_uuid, interface, token, token_hash, state, started_at, waiting_at, ended_at, outcome, notes) VALUES (?, ?, 'agent', '', ?, 'waiting', 1, 1, ?, ?, '[]')`)
	signs := insert(`INSERT INTO signs (attempt_id, kind, first_at, last_at, times, detail) VALUES (?, ?, ?, ?, 1, '192.0.2.7')`)
	run := func(s *sql.Stmt, args ...any) {
		_, err := s.Exec(args...)
		must(b, err)
	}
	for i := range inHall {
		id, state, attempt, lastError, silent := fmt.Sprintf("%08d-0000-4000-8000-%012d", i, i), states[i*7919%len(states)], "", "", 0
		if state == node.InspectWait || state == node.InspectFailed {
			attempt = fmt.Sprintf("%08d-1111-4000-8000-%012d", i, i)
		}
		if state == node.InspectFailed {
			lastError = "Timeout reached while inspecting the node. No boot file was fetched: check the cabling of the boot NIC, its network, and that the server boots from it."
		}
		if i%97 == 0 {
			silent = 1
		}
		run(nodes, id, fmt.Sprintf("r%03d-u%02d", i*13%inHall/40, i*13%inHall%40+1), []string{node.DriverRedfish, node.DriverRedfish, node.DriverIPMI}[i%3], state, int64(i)*7919%1e6*1e6+1,
			[]node.PowerState{node.PowerOn, node.PowerOn, node.PowerOff}[i%3], []node.Health{node.HealthOK, node.HealthOK, "", node.HealthWarning, node.HealthCritical}[i%5], i%50 == 0, silent,
			lastError, attempt, document, document, document, document, fmt.Sprintf("R%03d", i*13%inHall/40), i*13%inHall%40+1, fmt.Sprintf("10.%d.%d.7", i/1000, i%1000/4), fmt.Sprintf("CZ2D%06d", i))
		for j := range 2 {
			run(ports, fmt.Sprintf("%08d-%04d-4000-8000-%012d", i, j+2, i), id, fmt.Sprintf("52:54:00:%02x:%02x:%02x", j, i>>8, i&255))
		}
		if attempt == "" {
			continue
		}
		ended, outcome := int64(0), ""
		if state == node.InspectFailed {
			ended, outcome = 2, string(node.TimedOut)
		}
		run(attempts, attempt, id, attempt, ended, outcome)
		for k, kind := range []node.SignKind{node.SignPowerSent, node.SignPoweredOn, node.SignBootScript} {
			run(signs, attempt, kind, k+1, k+1)
		}
	}
	must(b, tx.Commit())
}

// dashboard puts the pages on a socket.
func (a *appliance) dashboard(b *testing.B) string {
	b.Helper()
	log := slog.New(slog.DiscardHandler)
	guard, err := auth.New(auth.Options{Mode: auth.None, Log: log})
	must(b, err)
	pages := ui.New(ui.Options{Conductor: a.Conductor, Store: a.store, InspectTimeout: 30 * time.Minute})
	hub := live.New(live.Options{Store: a.store, Pages: pages, Log: log})
	app := web.NewApp(web.AppOptions{Log: log, Errors: []web.ErrorShape{pages.ErrorShape()}})
	app.Use(guard.Check)
	pages.Register(app, hub)
	l, err := net.Listen("tcp", "127.0.0.1:0")
	must(b, err)
	ended := make(chan error, 1)
	go func() { ended <- app.Listener(l) }()
	b.Cleanup(func() {
		must(b, app.Shutdown())
		must(b, <-ended)
	})
	return "http://" + l.Addr().String()
}

// cpu is how long the processors have worked for this process: appliance and client. It tells what a page costs where the
// machine has other things to do.
func cpu(b *testing.B) time.Duration {
	b.Helper()
	var u syscall.Rusage
	must(b, syscall.Getrusage(syscall.RUSAGE_SELF, &u))
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

func fetchPage(b *testing.B, address string) string {
	b.Helper()
	resp, err := http.Get(address)
	must(b, err)
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	must(b, err)
	if resp.StatusCode != http.StatusOK || !strings.Contains(string(body), `id="total"`) {
		b.Fatalf("%s: %s", address, resp.Status)
	}
	return string(body)
}

var nextLink = regexp.MustCompile(`href="(/ui\?[^"]*)" rel="next"`)

// farPage is the address of a page that is reached by its number of links.
func farPage(b *testing.B, base, order string, pages int) string {
	b.Helper()
	at := "/ui?sort=" + url.QueryEscape(order)
	for range pages - 1 {
		next := nextLink.FindStringSubmatch(fetchPage(b, base+at))
		if next == nil {
			b.Fatalf("by %q there are not %d pages", order, pages)
		}
		at = html.UnescapeString(next[1])
	}
	return at
}
