package main

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/gofiber/fiber/v2"

	"cagenut/node"
)

// sharedLog is written by the appliance and read by the test.
type sharedLog struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (l *sharedLog) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(p)
}

// take is what was logged since the last time.
func (l *sharedLog) take() []string {
	l.mu.Lock()
	defer l.mu.Unlock()
	defer l.text.Reset()
	return strings.Split(strings.TrimSpace(l.text.String()), "\n")
}

// badReports are bodies of which nothing can be used (G22, G26), and what they are answered with.
func badReports(t *testing.T) []struct {
	name, encoding string
	body           []byte
	status         int
} {
	t.Helper()
	zipped := func(n int) []byte {
		var out bytes.Buffer
		z := gzip.NewWriter(&out)
		if _, err := z.Write(bytes.Repeat([]byte(" "), n)); err != nil {
			t.Fatal(err)
		}
		if err := z.Close(); err != nil {
			t.Fatal(err)
		}
		return out.Bytes()
	}
	nic := `{"name":"eno1","mac_address":"02:00:5e:00:00:71"}`
	with := func(interfaces string) []byte { return []byte(`{"inventory":{"interfaces":` + interfaces + `}}`) }
	return []struct {
		name, encoding string
		body           []byte
		status         int
	}{
		{"no body", "", nil, 400},
		{"no JSON", "", []byte("inventory"), 400},
		{"half of a document", "", []byte(`{"inventory":{"interfaces":[` + nic), 400},
		{"a list", "", []byte(`[]`), 400},
		{"no inventory", "", []byte(`{}`), 400},
		{"no interfaces", "", []byte(`{"inventory":{}}`), 400},
		{"an empty list of interfaces", "", with(`[]`), 400},
		{"interfaces of another type", "", with(`{}`), 400},
		{"a MAC of another type", "", with(`[{"mac_address":7}]`), 400},
		{"a BMC address of another type", "", []byte(`{"inventory":{"bmc_address":[],"interfaces":[` + nic + `]}}`), 400},
		{"a million interfaces", "", with("[" + strings.Repeat(`{},`, 1_000_000) + nic + "]"), 400},
		{"65 interfaces", "", with("[" + strings.Repeat(nic+",", 64) + nic + "]"), 400},
		{"too deep", "", with(strings.Repeat("[", 100_000) + strings.Repeat("]", 100_000)), 400},
		{"a NUL byte", "", append(with("["+nic+"]"), 0), 400},
		{"bytes that are no text", "", []byte("\xff\xfe\x00\x01"), 400},
		{"over 16 MiB", "", bytes.Repeat([]byte(" "), 16<<20+1), 413},
		{"a bomb", "gzip", zipped(20 << 20), 413},
		{"compressed by its word only", "gzip", []byte(`{}`), 400},
		{"compressed in another way", "br", []byte(`{}`), 415},
		{"no lookup key", "", with(`[{"name":"ib0","mac_address":"80:00:02:08:fe:80:00:00:00:00"}]`), 400},
	}
}

// G22, G26: what is bad gets the status of contract.md §4.1, changes nothing, and leaves one line in the log that tells from
// where it came. Afterwards the good report is taken.
func TestBadReportsChangeNothing(t *testing.T) {
	var logged sharedLog
	a := serveWithLog(t, true, &logged, func(s *settings) { s.LogLevel = "info" })
	n, at := a.nodeIn(node.InspectWait, "agent")
	state := func() (node.Node, node.Attempt, []node.Port, int) {
		t.Helper()
		now, err := a.store.Node(t.Context(), n.UUID)
		if err != nil {
			t.Fatal(err)
		}
		run, err := a.store.Attempt(t.Context(), at.ID)
		if err != nil {
			t.Fatal(err)
		}
		ports, err := a.store.Ports(t.Context(), node.PortFilter{NodeUUID: n.UUID})
		if err != nil {
			t.Fatal(err)
		}
		history := len(a.get("/v1/nodes/" + n.UUID + "/history")["history"].([]any))
		// A power sync may look at the node meanwhile.
		now.Version, now.UpdatedAt = 0, now.CreatedAt
		return now, run, ports, history
	}
	doors := []string{a.base + "/v1/continue_inspection", "http://" + a.inspectorListener.Addr().String() + "/v1/continue"}
	beforeNode, beforeRun, beforePorts, beforeHistory := state()
	all := badReports(t)
	for _, door := range doors {
		for i, c := range all {
			tokens := []string{"", "?attempt=" + url.QueryEscape(string(at.Token))}
			switch {
			case c.name == "no lookup key":
				tokens = tokens[:1] // the token is one
			case len(c.body) > 1<<16:
				tokens = tokens[i%2 : i%2+1] // either will do
			}
			for _, token := range tokens {
				t.Run(fmt.Sprintf("%s at %s, token %v", c.name, door[strings.LastIndexByte(door, '/'):], token != ""), func(t *testing.T) {
					logged.take()
					req, err := http.NewRequestWithContext(t.Context(), "POST", door+token, bytes.NewReader(c.body))
					if err != nil {
						t.Fatal(err)
					}
					req.Header.Set("Content-Type", "application/json")
					if c.encoding != "" {
						req.Header.Set("Content-Encoding", c.encoding)
					}
					resp, err := http.DefaultClient.Do(req)
					if err != nil {
						t.Fatal(err)
					}
					resp.Body.Close()
					if resp.StatusCode != c.status {
						t.Errorf("status %d, want %d", resp.StatusCode, c.status)
					}
					var lines []string
					for _, line := range logged.take() {
						if strings.Contains(line, "/v1/continue") {
							lines = append(lines, line)
						}
					}
					if len(lines) != 1 || !strings.Contains(lines[0], "from=127.0.0.1") || len(lines[0]) > 1000 || strings.Contains(lines[0], string(at.Token)) {
						t.Errorf("logged: %q", lines)
					}
				})
			}
		}
	}
	nowNode, nowRun, nowPorts, nowHistory := state()
	for _, c := range []struct {
		what      string
		was, isIt any
	}{{"the node", beforeNode, nowNode}, {"the attempt", beforeRun, nowRun}, {"the ports", beforePorts, nowPorts}, {"the history", beforeHistory, nowHistory}} {
		if !reflect.DeepEqual(c.was, c.isIt) {
			t.Errorf("%s changed:\nwas %+v\nis  %+v", c.what, c.was, c.isIt)
		}
	}
	if status, _, body := a.send("POST", "/v1/continue_inspection?attempt="+url.QueryEscape(string(at.Token)), "", crowdReport(1)); status != http.StatusAccepted {
		t.Fatalf("the good report: %d %s", status, body)
	}
	a.untilState(n.UUID, node.Manageable)
}

// One odd field among good ones is skipped, named in the attempt, and the rest is used.
func TestOneOddFieldOfAReportIsNamedInTheAttempt(t *testing.T) {
	a := serveForTest(t, true)
	n, at := a.nodeIn(node.InspectWait, "agent")
	report := []byte(`{"inventory":{"interfaces":[{"name":"eno1","mac_address":"02:00:5e:00:00:71"}],"cpu":{"architecture":"x86_64","count":[]},"memory":{"physical_mb":2048},"hostname":"a` + "\xff" + `b"}}`)
	if status, _, body := a.send("POST", "/v1/continue_inspection?attempt="+url.QueryEscape(string(at.Token)), "", report); status != http.StatusAccepted {
		t.Fatalf("%d %s", status, body)
	}
	now := a.untilState(n.UUID, node.Manageable)
	if mb, _ := node.Int(now.Properties["memory_mb"]); mb != 2048 || now.Properties["cpu_arch"] != "x86_64" || now.Properties["cpus"] != nil {
		t.Errorf("properties %v", now.Properties)
	}
	run, err := a.store.Attempt(t.Context(), at.ID)
	if err != nil {
		t.Fatal(err)
	}
	notes := strings.Join(run.Notes, "\n")
	for _, want := range []string{"inventory.cpu.count is not a whole number but []; ignored", "the report was not valid UTF-8"} {
		if !strings.Contains(notes, want) {
			t.Errorf("no note says %q: %q", want, run.Notes)
		}
	}
}

// G50: what a ramdisk is answered is what it acts upon: it gives up at 4xx, and comes again at 409 and 5xx.
func TestTheAnswersThatRamdisksRelyOn(t *testing.T) {
	a := serveForTest(t, false) // nothing but reports is written
	writing := func(off bool) {
		t.Helper()
		if _, err := a.store.Writer().ExecContext(t.Context(), fmt.Sprintf("PRAGMA query_only=%v", off)); err != nil {
			t.Fatal(err)
		}
	}
	for _, door := range []struct {
		app           *fiber.App
		path, version string
		accepted      int
		fields        []string
	}{
		{a.app, "/v1/continue_inspection", "", 202, []string{"uuid"}},
		{a.app, "/v1/continue_inspection", "1.84", 202, []string{"config", "node"}},
		{a.inspectorApp, "/v1/continue", "", 200, []string{"uuid"}},
	} {
		t.Run(door.path+" "+door.version, func(t *testing.T) {
			n, at := a.nodeIn(node.InspectWait, "agent")
			post := func(want int, what string) map[string]any {
				t.Helper()
				req, err := http.NewRequestWithContext(t.Context(), "POST", "http://127.0.0.1"+door.path+"?attempt="+url.QueryEscape(string(at.Token)), bytes.NewReader(crowdReport(1)))
				if err != nil {
					t.Fatal(err)
				}
				if door.version != "" {
					req.Header.Set("X-OpenStack-Ironic-API-Version", door.version)
				}
				resp, err := door.app.Test(req, -1)
				if err != nil {
					t.Fatal(err)
				}
				defer resp.Body.Close()
				doc := map[string]any{}
				if err := json.NewDecoder(resp.Body).Decode(&doc); err != nil || resp.StatusCode != want {
					t.Fatalf("%s: status %d, want %d; %v", what, resp.StatusCode, want, err)
				}
				return doc
			}
			writing(true)
			post(500, "the database refuses to be written")
			writing(false)
			now, err := a.store.Node(t.Context(), n.UUID)
			if err != nil || now.ProvisionState != node.InspectWait || now.Reserved() {
				t.Fatalf("the node is %q, held by %q; %v", now.ProvisionState, now.Reservation, err)
			}
			if got := slices.Sorted(maps.Keys(post(door.accepted, "it can be written again"))); !slices.Equal(got, door.fields) {
				t.Errorf("the answer holds %v, want %v", got, door.fields)
			}
			post(404, "a second time")
		})
	}
}
