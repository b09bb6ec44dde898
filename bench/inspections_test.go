package bench_test

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"net/url"
	"sync"
	"testing"
	"time"

	"cagenut/node"
	"cagenut/store"
)

// A hall that is inspected at once: 200 servers in `inspect wait` report 150 KB each within ten seconds, and 50 of them are
// aborted meanwhile. Every answer is accounted for, none is a 5xx, and the ramdisks get theirs within 250 ms (p99).
func BenchmarkTwoHundredReportsAndFiftyAborts(b *testing.B) {
	const servers, aborted, within, limit = 200, 50, 10 * time.Second, 250.0
	var reported, stopped latencies
	for range b.N {
		b.StopTimer()
		a := open(b, true)
		base := serve(b, a)
		nodes, tokens := make([]node.Node, servers), make([]node.Secret, servers)
		for i := range nodes {
			n, at := a.waiting(b, node.DriverFake)
			nodes[i], tokens[i] = n, at.Token
		}
		var (
			all              sync.WaitGroup
			mu               sync.Mutex
			reports, aborts  = map[int]int{}, map[int]int{}
			acceptedBy       = map[string]string{}
			noteTo           = func(m map[int]int, status int) { mu.Lock(); defer mu.Unlock(); m[status]++ }
			accepted         = func(uuid, by string) { mu.Lock(); defer mu.Unlock(); acceptedBy[uuid] += by }
			random           = rand.New(rand.NewPCG(1, 2))
			due              = func() time.Duration { return time.Duration(random.Int64N(int64(within))) }
			reportAt, stopAt [servers]time.Duration
		)
		for i := range servers {
			reportAt[i], stopAt[i] = due(), due()
		}
		b.StartTimer()
		for i, n := range nodes {
			body := largeReport(b, i)
			all.Go(func() {
				time.Sleep(reportAt[i])
				status := 0
				must(b, reported.time(func() (err error) {
					status, err = send("POST", base+"/v1/continue_inspection?attempt="+url.QueryEscape(string(tokens[i])), "", body)
					return err
				}))
				noteTo(reports, status)
				if status == http.StatusAccepted {
					accepted(n.UUID, "report")
				}
			})
			if i >= aborted {
				continue
			}
			all.Go(func() {
				time.Sleep(stopAt[i])
				status := 0
				must(b, stopped.time(func() (err error) {
					status, err = send("PUT", base+"/v1/nodes/"+n.UUID+"/states/provision", "1.96", []byte(`{"target":"abort"}`))
					return err
				}))
				noteTo(aborts, status)
				if status == http.StatusAccepted {
					accepted(n.UUID, "abort")
				}
			})
		}
		all.Wait()
		b.StopTimer()
		for _, m := range []map[int]int{reports, aborts} {
			for status := range m {
				if status >= 500 {
					b.Errorf("answers by status: reports %v, aborts %v", reports, aborts)
				}
			}
		}
		changes := a.store.Watch(b.Context())
		for _, n := range nodes {
			switch by := acceptedBy[n.UUID]; by {
			case "report":
				a.until(b, changes, n.UUID, node.Manageable)
			case "abort":
				a.until(b, changes, n.UUID, node.InspectFailed)
			default:
				b.Errorf("node %s was ended by %q", n.UUID, by)
			}
		}
		b.Logf("reports by status: %v, aborts by status: %v", reports, aborts)
	}
	stopped.report(b, "aborts")
	b.ReportMetric(stopped.millis(99), "abort-p99-ms")
	reported.report(b, "reports")
	if p := reported.millis(99); p > limit {
		b.Errorf("the 99th percentile of the answers to reports is %.0f ms, more than %.0f", p, limit)
	}
}

// send makes one request and reads its answer.
func send(method, address, version string, body []byte) (status int, err error) {
	req, err := http.NewRequest(method, address, bytes.NewReader(body))
	if err != nil {
		return 0, err
	}
	req.Header.Set("Content-Type", "application/json")
	if version != "" {
		req.Header.Set("X-OpenStack-Ironic-API-Version", version)
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return 0, err
	}
	if _, err := io.Copy(io.Discard, resp.Body); err != nil {
		return 0, err
	}
	return resp.StatusCode, resp.Body.Close()
}

// largeReport is 150 KB of report, two thirds of it logs.
func largeReport(b *testing.B, i int) []byte {
	b.Helper()
	var doc map[string]any
	must(b, json.Unmarshal(report(i), &doc))
	logs := make([]byte, 75_000)
	random := rand.New(rand.NewPCG(uint64(i), 7))
	for j := range logs {
		logs[j] = byte(random.Uint32())
	}
	doc["logs"] = base64.StdEncoding.EncodeToString(logs)
	var devices []map[string]string
	for j := range 400 {
		devices = append(devices, map[string]string{"vendor_id": "8086", "product_id": fmt.Sprintf("%04x", j), "class": "020000", "revision": "01", "bus": fmt.Sprintf("0000:%02x:%02x.0", j/32, j%32)})
	}
	doc["pci_devices"] = devices
	body, err := json.Marshal(doc)
	must(b, err)
	return body
}

// A node with a thousand inspections: lists, pages and differences read what they show and no more.
func BenchmarkAThousandInspectionsOfOneNode(b *testing.B) {
	const kept = 1000
	a := open(b, false, func(o *store.Options) { o.InspectionsKept = kept })
	n := a.create(b, node.DriverFake, node.Manageable)
	var attempts []string
	for i := range kept {
		at := node.Attempt{ID: node.NewUUID(), NodeUUID: n.UUID, Interface: "agent", Token: node.Secret(node.NewUUID()), State: node.RunWaiting, StartedAt: time.Now()}
		_, err := a.store.Move(b.Context(), node.Move{Node: n.UUID, From: node.Manageable, Event: node.Inspect, Then: []node.Event{node.Wait}, At: time.Now(), NewAttempt: &at})
		must(b, err)
		_, err = a.store.EndAttempt(b.Context(), node.Ending{Outcome: node.Succeeded, Move: node.Move{
			Node: n.UUID, From: node.InspectWait, Event: node.Resume, Then: []node.Event{node.Done}, Attempt: at.ID, At: time.Now(),
			Inventory: &node.Inventory{NodeUUID: n.UUID, AttemptID: at.ID, Inventory: inventoryOf(i), PluginData: []byte(`{}`), CreatedAt: time.Now()},
		}})
		must(b, err)
		attempts = append(attempts, at.ID)
	}
	b.Run("a page of fifty from the middle", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			page, err := a.Kept(b.Context(), n.UUID, attempts[kept/2], 50)
			if err != nil || len(page) != 50 {
				b.Fatal(len(page), err)
			}
		}
	})
	b.Run("the difference of the last two", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			d, err := a.Difference(b.Context(), n.UUID, "", "")
			if err != nil || len(d.Parts) != 1 {
				b.Fatal(d, err)
			}
		}
	})
	b.Run("the difference of the first and the last", func(b *testing.B) {
		for b.Loop() {
			if _, err := a.Difference(b.Context(), n.UUID, attempts[0], attempts[kept-1]); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("the newest inventory", func(b *testing.B) {
		for b.Loop() {
			if i, err := a.store.Inventory(b.Context(), n.UUID); err != nil || i.AttemptID != attempts[kept-1] {
				b.Fatal(i.AttemptID, err)
			}
		}
	})
}

// inventoryOf is what the i-th inspection found: of two that follow each other, the number of processors differs.
func inventoryOf(i int) []byte {
	return fmt.Appendf(nil, `{"interfaces":[{"name":"eno1","mac_address":"02:00:5e:00:00:01","has_carrier":true}],"cpu":{"architecture":"x86_64","count":%d},"memory":{"physical_mb":4096},"disks":[]}`, i+1)
}
