package extension_test

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/gofiber/fiber/v2"
	"go.uber.org/goleak"

	"cagenut/conductor"
	"cagenut/node"
	"cagenut/web"
	"cagenut/web/extension"
	"cagenut/web/live"
)

func TestMain(m *testing.M) {
	goleak.VerifyTestMain(m,
		goleak.IgnoreAnyFunction("github.com/valyala/fasthttp.updateServerDate.func1"),
		goleak.IgnoreAnyFunction("github.com/valyala/fasthttp.(*workerPool).Start.func2"))
}

var noon = time.Date(2026, 11, 30, 14, 2, 11, 0, time.UTC)

// hall is a store and a conductor in memory.
type hall struct {
	mu       sync.Mutex
	nodes    []node.Node
	attempts []node.Attempt
	changes  []node.Change
	notices  chan node.Notice
	locked   map[string]bool

	filter node.Filter
	asked  []conductor.ProvisionRequest
	actor  node.Actor
	broken error

	condition conductor.Condition
	runs      runs

	trail  []node.AuditLine
	wanted node.AuditFilter
	self   node.Appliance
}

func newHall() *hall { return &hall{notices: make(chan node.Notice, 8), locked: map[string]bool{}} }

func (h *hall) add(name string, s node.State) node.Node {
	n := node.Node{UUID: node.NewUUID(), Name: name, ProvisionState: s}
	h.nodes = append(h.nodes, n)
	return n
}

func (h *hall) index(ident string) int {
	return slices.IndexFunc(h.nodes, func(n node.Node) bool { return n.UUID == ident || n.Name == ident })
}

func (h *hall) Node(_ context.Context, ident string) (node.Node, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if i := h.index(ident); i >= 0 {
		return h.nodes[i], nil
	}
	return node.Node{}, &node.NotFound{What: "Node", Ident: ident}
}

func (h *hall) Nodes(_ context.Context, f node.Filter) ([]node.Node, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.filter = f
	return slices.Clone(h.nodes), nil
}

func (h *hall) Attempts(_ context.Context, f node.RunFilter) ([]node.Attempt, error) {
	all := slices.DeleteFunc(slices.Clone(h.attempts), func(a node.Attempt) bool { return a.NodeUUID != f.NodeUUID })
	if i := slices.IndexFunc(all, func(a node.Attempt) bool { return a.ID == f.Marker }); i >= 0 {
		all = all[i+1:]
	}
	return all[:min(len(all), f.Limit)], nil
}

func (h *hall) Attempt(_ context.Context, id string) (node.Attempt, error) {
	for _, a := range h.attempts {
		if a.ID == id {
			return a, nil
		}
	}
	return node.Attempt{}, &node.NotFound{What: "Attempt", Ident: id}
}

func (h *hall) SetProvisionState(_ context.Context, actor node.Actor, ident string, req conductor.ProvisionRequest) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.asked, h.actor = append(h.asked, req), actor
	if h.broken != nil {
		return h.broken
	}
	n := &h.nodes[h.index(ident)]
	if h.locked[n.UUID] {
		return &node.Locked{Node: n.UUID, Holder: "appliance-1"}
	}
	to, err := n.ProvisionState.Next(node.Event(req.Target))
	if err != nil {
		return err
	}
	n.ProvisionState = to
	return nil
}

func (h *hall) Watch(context.Context) <-chan node.Notice { return h.notices }

func (h *hall) LastChange(context.Context) (int64, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	return int64(len(h.changes)), nil
}

func (h *hall) Changes(_ context.Context, after int64, limit int) ([]node.Change, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.changes[min(after, int64(len(h.changes))):], nil
}

type noPages struct{}

func (noPages) Draw(context.Context, live.View, string) ([]byte, error) { return nil, nil }
func (noPages) DrawCounts(context.Context, live.View) ([]byte, error)   { return nil, nil }

// serve starts the extension; the header X-Test-Role stands for signing in.
func serve(t *testing.T, h *hall, streams int) string {
	t.Helper()
	hub := live.New(live.Options{Store: h, Pages: noPages{}, MaxStreams: streams})
	app := web.NewApp(web.AppOptions{})
	app.Use(func(c *fiber.Ctx) error {
		web.SetUser(c, "jon", c.Get("X-Test-Role", "operator"))
		return c.Next()
	})
	extension.Register(app, extension.Options{Conductor: h, Store: h, Self: h, Hub: hub})
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	var running sync.WaitGroup
	running.Go(func() { _ = hub.Run(ctx) })
	running.Go(func() { _ = app.Listener(ln) })
	t.Cleanup(func() {
		cancel()
		if err := app.ShutdownWithTimeout(5 * time.Second); err != nil {
			t.Errorf("shutdown: %v", err)
		}
		running.Wait()
		http.DefaultClient.CloseIdleConnections()
	})
	return "http://" + ln.Addr().String() + "/cagenut/v1"
}

func call(t *testing.T, method, url, body string, out any, headers ...string) int {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, method, url, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	for i := 0; i+1 < len(headers); i += 2 {
		req.Header.Set(headers[i], headers[i+1])
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = resp.Body.Close() }()
	b, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(b, out); err != nil {
		t.Fatalf("%d %s: %v", resp.StatusCode, b, err)
	}
	return resp.StatusCode
}

type answer struct {
	Results []struct {
		Node, Name, State *string
		Status            int
		Error             string
	}
	Aborted, Refused int
}

type failure struct {
	Error struct {
		Code    int
		Message string
	}
}

// G53
func TestABulkAbortTellsPerNodeWhatHappened(t *testing.T) {
	h := newHall()
	names := []string{"nobody"}
	for i := range 6 {
		names = append(names, h.add(fmt.Sprintf("w%d", i), node.InspectWait).Name)
	}
	for i, s := range []node.State{node.Inspecting, node.Manageable, node.Active} {
		names = append(names, h.add(fmt.Sprintf("x%d", i), s).Name)
	}
	held := h.add("held", node.InspectWait)
	h.locked[held.UUID] = true
	names = append(names, held.UUID, held.Name, "w0") // twice by two names: once
	body, _ := json.Marshal(map[string]any{"nodes": names, "reason": "wrong switch", "keep_power_on": true})
	var a answer
	if status := call(t, "POST", serve(t, h, 0)+"/aborts", string(body), &a); status != 200 {
		t.Fatalf("got %d", status)
	}
	if a.Aborted != 6 || a.Refused != 5 || len(a.Results) != 11 {
		t.Fatalf("got %d aborted, %d refused, %d results", a.Aborted, a.Refused, len(a.Results))
	}
	want := map[string]struct {
		status int
		state  string
	}{"w0": {202, "inspect failed"}, "w5": {202, "inspect failed"}, "x0": {400, "inspecting"}, "x1": {400, "manageable"}, "held": {409, "inspect wait"}, "nobody": {404, ""}}
	for _, r := range a.Results {
		w, ok := want[*r.Name]
		if !ok {
			continue
		}
		if r.Status != w.status || (w.state != "" && (r.State == nil || *r.State != w.state)) || (r.Error == "") != (w.status == 202) || (r.Node == nil) != (w.status == 404) {
			t.Errorf("%s: %+v", *r.Name, r)
		}
	}
	if len(h.asked) != 10 {
		t.Errorf("the conductor was asked %d times, want once per node", len(h.asked))
	}
	for _, r := range h.asked {
		if r.Target != "abort" || r.Reason != "wrong switch" || !r.KeepPowerOn || r.Minor != 0 {
			t.Errorf("asked %+v", r)
		}
	}
	if h.actor.User != "jon" || h.actor.Source != node.SourceAPI || h.actor.RequestID == "" {
		t.Errorf("the actor is %+v", h.actor)
	}
}

func TestABulkAbortIsOfTheInspectionsThatWereChosen(t *testing.T) {
	h := newHall()
	h.add("inspected", node.InspectWait)
	h.nodes[0].AttemptID = "first"
	h.add("never inspected", node.Manageable)
	var a answer
	call(t, "POST", serve(t, h, 0)+"/aborts", `{"rack":"R07"}`, &a)
	slices.SortFunc(h.asked, func(a, b conductor.ProvisionRequest) int { return strings.Compare(b.Attempt, a.Attempt) })
	if len(h.asked) != 2 || h.asked[0].Attempt != "first" || h.asked[0].Unattempted || h.asked[1].Attempt != "" || !h.asked[1].Unattempted {
		t.Errorf("asked %+v", h.asked)
	}
}

func TestARackOrAFilterChoosesNodes(t *testing.T) {
	h := newHall()
	h.add("a", node.InspectWait)
	base := serve(t, h, 0)
	var a answer
	if status := call(t, "POST", base+"/aborts", `{"rack":"R07"}`, &a); status != 200 || a.Aborted != 1 || h.filter.Rack != "R07" || !h.filter.IncludeChildren || h.filter.Limit == 0 {
		t.Errorf("rack: %d %+v %+v", status, a, h.filter)
	}
	if status := call(t, "POST", base+"/aborts", `{"filter":{"provision_state":"inspect wait","driver":"ipmi","owner":"me"}}`, &a); status != 200 {
		t.Errorf("filter: %d", status)
	}
	if f := h.filter; !slices.Equal(f.ProvisionStates, []node.State{node.InspectWait}) || f.Driver != "ipmi" || f.Owner != "me" {
		t.Errorf("filter: %+v", f)
	}
}

func TestABulkAbortThatIsNotClearDoesNothing(t *testing.T) {
	h := newHall()
	h.add("a", node.InspectWait)
	base := serve(t, h, 0)
	for _, body := range []string{
		``, `null`, `[]`, `"a"`, `{`, `{}`, `{"nodes":[]}`, `{"nodes":null}`, `{"nodes":[""]}`, `{"nodes":"a"}`, `{"nodes":[1]}`, `{"rack":""}`, `{"rack":7}`, `{"filter":{}}`, `{"filter":null}`,
		`{"filter":{"name":"a"}}`, `{"filter":{"provision_state":"bored"}}`, `{"filter":{"driver":null}}`, `{"nodes":["a"],"rack":"R07"}`, `{"Nodes":["a"]}`,
		`{"nodes":["a"],"force":true}`, `{"nodes":["a"],"keep_power_on":"yes"}`, `{"nodes":["a"],"reason":7}`, `{"nodes":["a"]} {}`, `{"reason":"x"}`,
		`{"nodes":["a"],"reason":"` + strings.Repeat("x", 501) + `"}`,
	} {
		var f failure
		if status := call(t, "POST", base+"/aborts", body, &f); status != 400 || f.Error.Code != 400 || f.Error.Message == "" {
			t.Errorf("%.60s: %d %+v", body, status, f)
		}
	}
	if len(h.asked) != 0 {
		t.Error("the conductor was asked")
	}
}

// G56
func TestAViewerMayNotAbort(t *testing.T) {
	h := newHall()
	h.add("a", node.InspectWait)
	var f failure
	if status := call(t, "POST", serve(t, h, 0)+"/aborts", `{"nodes":["a"]}`, &f, "X-Test-Role", "viewer"); status != 403 || f.Error.Code != 403 || len(h.asked) != 0 {
		t.Errorf("got %d %+v", status, f)
	}
}

func TestAnUnknownErrorOfANodeNamesNoCause(t *testing.T) {
	h := newHall()
	h.add("a", node.InspectWait)
	h.broken = errors.New("database at /secret is full")
	var a answer
	call(t, "POST", serve(t, h, 0)+"/aborts", `{"nodes":["a"]}`, &a)
	if r := a.Results[0]; r.Status != 500 || strings.Contains(r.Error, "secret") || !strings.Contains(r.Error, "req-") {
		t.Errorf("got %+v", r)
	}
}

func TestAttemptsTellWhoWhenAndHow(t *testing.T) {
	h := newHall()
	n := h.add("r07-u21", node.InspectFailed)
	h.attempts = []node.Attempt{
		{ID: "running", Number: 2, NodeUUID: n.UUID, Interface: "agent", State: node.RunWaiting, StartedAt: noon, Token: "hunter2", Started: node.Actor{User: "jon", Source: node.SourceUI, Address: "192.0.2.7"}},
		{ID: "ended", Number: 1, NodeUUID: n.UUID, Interface: "agent", State: node.RunError, Outcome: node.Aborted, Token: "hunter2", Proof: node.Proven, Reason: "wrong switch",
			StartedAt: noon.Add(-10 * time.Minute), WaitingAt: noon.Add(-9 * time.Minute), EndedAt: noon.Add(-5 * time.Minute), Ended: node.Actor{User: "mara", Source: node.SourceAPI},
			Error: "Canceled by operator", Notes: []string{"a disk was skipped"}, CleanUp: node.CleanUpDone, CleanUpTries: 1, KeepPowerOn: true},
		{ID: "other", NodeUUID: "other"},
	}
	base := serve(t, h, 0)
	var list struct {
		Attempts []map[string]any
		Next     string
	}
	if status := call(t, "GET", base+"/nodes/r07-u21/attempts", "", &list); status != 200 || len(list.Attempts) != 2 || list.Next != "" {
		t.Fatalf("got %d, %+v", status, list)
	}
	text, _ := json.Marshal(list)
	if strings.Contains(string(text), "hunter2") || strings.Contains(string(text), "token") {
		t.Error("the token is there")
	}
	running, ended := list.Attempts[0], list.Attempts[1]
	if running["outcome"] != nil || running["ended"] != nil || running["clean_up"] != nil || running["state"] != "waiting" {
		t.Errorf("the running one is %v", running)
	}
	if got := fmt.Sprint(running["started"]); got != "map[actor:map[address:192.0.2.7 source:ui user:jon] at:2026-11-30T14:02:11.000Z]" {
		t.Errorf("started: %s", got)
	}
	for key, want := range map[string]string{
		"outcome": "aborted", "reason": "wrong switch", "proof": "proven", "error": "Canceled by operator", "notes": "[a disk was skipped]", "interface": "agent",
		"ended":     "map[actor:map[source:api user:mara] at:2026-11-30T13:57:11.000Z]",
		"clean_up":  "map[error:<nil> keep_power_on:true state:done tries:1]",
		"durations": "map[process:<nil> start:60 total:300 wait:240]",
	} {
		if got := fmt.Sprint(ended[key]); got != want {
			t.Errorf("%s is %s, want %s", key, got, want)
		}
	}

	if call(t, "GET", base+"/nodes/"+n.UUID+"/attempts?limit=1", "", &list); len(list.Attempts) != 1 || !strings.HasSuffix(list.Next, "/attempts?limit=1&marker=running") {
		t.Fatalf("the first page is %+v", list)
	}
	next := list.Next
	list.Next = ""
	if call(t, "GET", next, "", &list); len(list.Attempts) != 1 || list.Attempts[0]["id"] != "ended" || list.Next != "" {
		t.Errorf("the second page is %+v", list)
	}

	for path, want := range map[string]int{"/nodes/nobody/attempts": 404, "/nodes/r07-u21/attempts?limit=0": 400, "/nodes/r07-u21/attempts?limit=x": 400} {
		var f failure
		if status := call(t, "GET", base+path, "", &f); status != want || f.Error.Code != want {
			t.Errorf("%s: %d %+v", path, status, f)
		}
	}
}

func TestEventsAreReplayedAndThenFollow(t *testing.T) {
	h := newHall()
	h.changes = []node.Change{{ID: 1, NodeUUID: "a", From: node.Manageable, To: node.Inspecting, At: noon}, {ID: 2, NodeUUID: "a", From: node.Inspecting, To: node.InspectWait, At: noon, AttemptID: "t"}}
	base := serve(t, h, 1)
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	req, _ := http.NewRequestWithContext(ctx, "GET", base+"/events", nil)
	req.Header.Set("Last-Event-ID", "1")
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = resp.Body.Close() }()
	lines := bufio.NewScanner(resp.Body)
	expect := func(want ...string) {
		t.Helper()
		for len(want) > 0 && lines.Scan() {
			if lines.Text() == want[0] {
				want = want[1:]
			}
		}
		if len(want) > 0 {
			t.Fatalf("missing %q: %v", want, lines.Err())
		}
	}
	expect("event: state", "id: 2", `data: {"node":"a","from":"inspecting","to":"inspect wait","actor":{"user":"","source":""},"at":"2026-11-30T14:02:11.000Z","attempt":"t"}`)
	c := node.Change{ID: 3, NodeUUID: "a", From: node.InspectWait, To: node.InspectFailed, At: noon, Actor: node.Actor{User: "mara", Source: node.SourceUI, Address: "192.0.2.7"}}
	h.mu.Lock()
	h.changes = append(h.changes, c)
	h.mu.Unlock()
	h.notices <- node.Notice{NodeUUID: "a", Change: &c}
	expect("event: state", "id: 3", `data: {"node":"a","from":"inspect wait","to":"inspect failed","actor":{"user":"mara","source":"ui","address":"192.0.2.7"},"at":"2026-11-30T14:02:11.000Z","attempt":null}`)

	for _, c := range []node.Change{
		{ID: 4, NodeUUID: "a", At: noon, Power: &node.PowerChange{From: node.PowerOn, To: node.PowerOff}},
		{ID: 5, NodeUUID: "a", At: noon, BMC: &node.BMCChange{Error: "BMC 192.0.2.10: no answer"}},
		{ID: 6, NodeUUID: "a", At: noon, BMC: &node.BMCChange{Reachable: true}},
	} {
		h.notices <- node.Notice{NodeUUID: "a", Change: &c}
	}
	expect("event: power", "id: 4", `data: {"node":"a","from":"power on","to":"power off","at":"2026-11-30T14:02:11.000Z"}`)
	expect("event: bmc", "id: 5", `data: {"node":"a","reachable":false,"error":"BMC 192.0.2.10: no answer","at":"2026-11-30T14:02:11.000Z"}`)
	expect("event: bmc", "id: 6", `data: {"node":"a","reachable":true,"error":null,"at":"2026-11-30T14:02:11.000Z"}`)

	var f failure
	if status := call(t, "GET", base+"/events", "", &f); status != 503 || f.Error.Code != 503 {
		t.Errorf("one stream too many: %d %+v", status, f)
	}
}
