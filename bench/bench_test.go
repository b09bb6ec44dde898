package bench_test

import (
	"io"
	"log/slog"
	"net"
	"net/http"
	"sync"
	"testing"

	"cagenut/conductor"
	"cagenut/node"
	"cagenut/web"
	"cagenut/web/auth"
	"cagenut/web/ironic"
)

// The yardstick: one UPDATE and one INSERT, committed, on the connection that everything else writes through.
func BenchmarkBareTransaction(b *testing.B) {
	a := open(b, false)
	n := a.create(b, node.DriverFake, node.Manageable)
	var l latencies
	b.ResetTimer()
	for i := range b.N {
		must(b, l.time(func() error {
			tx, err := a.store.Writer().BeginTx(b.Context(), nil)
			if err != nil {
				return err
			}
			defer tx.Rollback()
			if _, err := tx.Exec(`UPDATE nodes SET updated_at = ? WHERE uuid = ?`, i, n.UUID); err != nil {
				return err
			}
			if _, err := tx.Exec(`INSERT INTO audit (at, actor, action, node_uuid) VALUES (?, '{}', 'bench', ?)`, i, n.UUID); err != nil {
				return err
			}
			return tx.Commit()
		}))
	}
	b.StopTimer()
	l.report(b, "transactions")
}

// One abort after the other. The clean-up jobs are inserted, and worked elsewhere.
func BenchmarkAbortOneByOne(b *testing.B) {
	a := open(b, false)
	all := make([]node.Node, b.N)
	for i := range all {
		all[i], _ = a.waiting(b, node.DriverFake)
	}
	var l latencies
	b.ResetTimer()
	for _, n := range all {
		must(b, l.time(func() error { return a.abort(b.Context(), n) }))
	}
	b.StopTimer()
	l.report(b, "aborts")
}

// A thousand aborts from 32 clients, while their clean-ups run.
func BenchmarkAbortOfAThousandFrom32Clients(b *testing.B) {
	const nodes, clients = 1000, 32
	var l latencies
	for range b.N {
		b.StopTimer()
		a := open(b, true)
		work := make(chan node.Node, nodes)
		for range nodes {
			n, _ := a.waiting(b, node.DriverFake)
			work <- n
		}
		close(work)
		var all sync.WaitGroup
		b.StartTimer()
		for range clients {
			all.Go(func() {
				for n := range work {
					if err := l.time(func() error { return a.abort(b.Context(), n) }); err != nil {
						b.Error(err)
					}
				}
			})
		}
		all.Wait()
	}
	b.StopTimer()
	l.report(b, "aborts")
}

// A dead BMC must not be felt (G05): the same aborts with clean-up running into BMCs that obey and that accept no packets.
func BenchmarkAbortWithItsBMC(b *testing.B) {
	for _, c := range []struct{ name, driver string }{{"healthy", node.DriverFake}, {"accepting no packets", node.DriverRedfish}} {
		b.Run(c.name, func(b *testing.B) {
			a := open(b, true)
			all := make([]node.Node, b.N)
			for i := range all {
				all[i], _ = a.waiting(b, c.driver)
			}
			var l latencies
			b.ResetTimer()
			for _, n := range all {
				must(b, l.time(func() error { return a.abort(b.Context(), n) }))
			}
			b.StopTimer()
			l.report(b, "aborts")
		})
	}
}

func BenchmarkListOfAThousandNodes(b *testing.B) {
	a := open(b, false)
	for range 1000 {
		a.create(b, node.DriverFake, node.Manageable)
	}
	b.Run("from the store", func(b *testing.B) {
		for b.Loop() {
			all, err := a.store.Nodes(b.Context(), node.Filter{})
			if err != nil || len(all) != 1000 {
				b.Fatal(len(all), err)
			}
		}
	})
	base := serve(b, a)
	for _, c := range []struct{ name, path string }{{"over the socket", "/v1/nodes?limit=1000"}, {"in detail over the socket", "/v1/nodes/detail?limit=1000"}} {
		b.Run(c.name, func(b *testing.B) {
			for b.Loop() {
				resp, err := http.Get(base + c.path)
				must(b, err)
				size, err := io.Copy(io.Discard, resp.Body)
				resp.Body.Close()
				if err != nil || resp.StatusCode != http.StatusOK {
					b.Fatal(resp.StatusCode, err)
				}
				b.SetBytes(size)
			}
		})
	}
}

// serve puts the Bare Metal API on a socket.
func serve(b *testing.B, a *appliance) string {
	b.Helper()
	log := slog.New(slog.DiscardHandler)
	guard, err := auth.New(auth.Options{Mode: auth.None, Log: log})
	must(b, err)
	app := web.NewApp(web.AppOptions{Log: log, Errors: []web.ErrorShape{ironic.ErrorShape()}})
	app.Use(guard.Check)
	ironic.Register(app, ironic.Options{Conductor: a.Conductor, Store: a.store, Host: "bench"})
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

// From nothing to `manageable`: create, manage, and the job that asks the BMC.
func BenchmarkEnrolment(b *testing.B) {
	a := open(b, true)
	changes := a.store.Watch(b.Context())
	var l latencies
	b.ResetTimer()
	for range b.N {
		must(b, l.time(func() error {
			n := a.create(b, node.DriverFake, node.Enroll)
			if err := a.SetProvisionState(b.Context(), node.System(), n.UUID, conductor.ProvisionRequest{Target: "manage"}); err != nil {
				return err
			}
			a.until(b, changes, n.UUID, node.Manageable)
			return nil
		}))
	}
	b.StopTimer()
	l.report(b, "nodes")
}

// From the ramdisk's post to `manageable`: the report is stored, and the job runs the hooks.
func BenchmarkReportUntilManageable(b *testing.B) {
	a := open(b, true)
	tokens, all := make([]node.Secret, b.N), make([]node.Node, b.N)
	for i := range all {
		n, at := a.waiting(b, node.DriverFake)
		all[i], tokens[i] = n, at.Token
	}
	changes := a.store.Watch(b.Context())
	var l latencies
	b.ResetTimer()
	for i, n := range all {
		must(b, l.time(func() error {
			if _, err := a.Report(b.Context(), node.Actor{Source: node.SourceRamdisk}, conductor.ReportRequest{Body: report(i), Token: tokens[i]}); err != nil {
				return err
			}
			a.until(b, changes, n.UUID, node.Manageable)
			return nil
		}))
	}
	b.StopTimer()
	l.report(b, "reports")
}
