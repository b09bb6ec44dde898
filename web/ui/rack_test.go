package ui_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
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
	"cagenut/web/live"
	"cagenut/web/ui"
)

func TestMain(m *testing.M) {
	goleak.VerifyTestMain(m,
		goleak.IgnoreAnyFunction("github.com/valyala/fasthttp.updateServerDate.func1"),
		goleak.IgnoreAnyFunction("github.com/valyala/fasthttp.(*workerPool).Start.func2"))
}

var noon = time.Date(2026, 11, 30, 14, 2, 11, 0, time.UTC)

// rack is a store and a conductor in memory: as much of both as the pages can see.
type rack struct {
	mu        sync.Mutex
	nodes     []node.Node
	attempts  map[string]node.Attempt
	ports     []node.Port
	history   []node.History
	inventory map[string][]byte
	notices   chan node.Notice

	asked  []conductor.ProvisionRequest
	powers []conductor.PowerRequest
	actors []node.Actor
	refuse error // what the conductor answers instead of doing it
	broken error // what the store answers
	bmc    bmc   // that every node has
	kept   kept  // of inspections
	// speak is the language of the pages; English if nil
	speak func(context.Context, string) context.Context
	bulks bulks     // actions on many nodes
	trail trail     // of the audit
	self  *portrait // of the appliance; nil: it does not tell of itself

	serials map[string]string // by node
}

func newRack() *rack {
	return &rack{attempts: map[string]node.Attempt{}, inventory: map[string][]byte{}, notices: make(chan node.Notice, 16)}
}

// add puts a node in a state, with a running or ended attempt for the states of an inspection.
func (r *rack) add(name string, s node.State, change ...func(*node.Node)) node.Node {
	n := node.Node{
		UUID: node.NewUUID(), Name: name, Driver: node.DriverRedfish, ProvisionState: s, ProvisionUpdatedAt: noon.Add(-252 * time.Second),
		PowerState: node.PowerOn, PowerCheckedAt: noon.Add(-20 * time.Second),
		Extra: map[string]any{"rack": "R07", "rack_unit": 21}, DriverInfo: map[string]any{"redfish_address": "https://192.0.2.10"},
	}
	if s == node.InspectWait || s == node.Inspecting || s == node.InspectFailed {
		a := node.Attempt{ID: node.NewUUID(), NodeUUID: n.UUID, Interface: "agent", State: node.RunWaiting, Started: node.Actor{User: "mara", Source: node.SourceAPI}, StartedAt: noon.Add(-5 * time.Minute)}
		n.AttemptID = a.ID
		r.attempts[a.ID] = a
	}
	for _, f := range change {
		f(&n)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.nodes = append(r.nodes, n)
	return n
}

// end ends a node's attempt.
func (r *rack) end(uuid string, to node.State, o node.Outcome, by node.Actor, at time.Time) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for i := range r.nodes {
		if n := &r.nodes[i]; n.UUID == uuid {
			a := r.attempts[n.AttemptID]
			a.Outcome, a.Ended, a.EndedAt, a.State = o, by, at, node.RunError
			r.attempts[a.ID] = a
			n.ProvisionState, n.ProvisionUpdatedAt = to, at
			if o == node.Aborted {
				n.LastError, n.TargetPowerState = "Inspection was aborted by request.", node.PowerOff
			}
		}
	}
}

// edit changes what is in the rack while the dashboard reads it.
func (r *rack) edit(change func()) {
	r.mu.Lock()
	defer r.mu.Unlock()
	change()
}

func (r *rack) tell(uuid string) { r.notices <- node.Notice{NodeUUID: uuid} }

func (r *rack) find(ident string) (node.Node, error) {
	for _, n := range r.nodes {
		if n.UUID == ident || (n.Name != "" && n.Name == ident) {
			return n, nil
		}
	}
	return node.Node{}, &node.NotFound{What: "Node", Ident: ident}
}

func (r *rack) Node(_ context.Context, ident string) (node.Node, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.broken != nil {
		return node.Node{}, r.broken
	}
	return r.find(ident)
}

func (r *rack) Ports(_ context.Context, f node.PortFilter) ([]node.Port, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.DeleteFunc(slices.Clone(r.ports), func(p node.Port) bool { return p.NodeUUID != f.NodeUUID }), nil
}

func (r *rack) History(_ context.Context, uuid string, p node.Page) ([]node.History, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if !p.Descending || p.Limit == 0 {
		return nil, errors.New("the history must be newest first and bounded")
	}
	all := slices.DeleteFunc(slices.Clone(r.history), func(h node.History) bool { return h.NodeUUID != uuid })
	if p.Marker != "" {
		at := slices.IndexFunc(all, func(h node.History) bool { return h.UUID == p.Marker })
		if at < 0 {
			return nil, &node.NotFound{What: "Node history", Ident: p.Marker}
		}
		all = all[at+1:]
	}
	return all[:min(p.Limit, len(all))], nil
}

func (r *rack) Inventory(_ context.Context, uuid string) (node.Inventory, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if b, ok := r.inventory[uuid]; ok {
		return node.Inventory{NodeUUID: uuid, Inventory: b, CreatedAt: noon.Add(-time.Hour)}, nil
	}
	return node.Inventory{}, &node.NotFound{What: "Node", Ident: uuid}
}

func (r *rack) Attempt(_ context.Context, id string) (node.Attempt, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if a, ok := r.attempts[id]; ok {
		return a, nil
	}
	return node.Attempt{}, &node.NotFound{What: "Attempt", Ident: id}
}

func (r *rack) Attempts(_ context.Context, f node.RunFilter) ([]node.Attempt, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	var out []node.Attempt
	for _, a := range r.attempts {
		if a.NodeUUID == f.NodeUUID {
			out = append(out, a)
		}
	}
	slices.SortFunc(out, func(a, b node.Attempt) int { return b.StartedAt.Compare(a.StartedAt) })
	if f.Marker != "" {
		at := slices.IndexFunc(out, func(a node.Attempt) bool { return a.ID == f.Marker })
		if at < 0 {
			return nil, &node.NotFound{What: "Attempt", Ident: f.Marker}
		}
		out = out[at+1:]
	}
	if f.Limit > 0 {
		out = out[:min(f.Limit, len(out))]
	}
	return out, nil
}

func (r *rack) Watch(context.Context) <-chan node.Notice { return r.notices }

func (r *rack) Changes(context.Context, int64, int) ([]node.Change, error) { return nil, nil }

func (r *rack) LastChange(context.Context) (int64, error) { return 0, nil }

func (r *rack) SetProvisionState(_ context.Context, actor node.Actor, ident string, req conductor.ProvisionRequest) error {
	r.mu.Lock()
	r.asked, r.actors = append(r.asked, req), append(r.actors, actor)
	n, err := r.find(ident)
	refuse := r.refuse
	r.mu.Unlock()
	if err != nil {
		return err
	}
	if refuse != nil {
		return refuse
	}
	if req.Attempt != "" && req.Attempt != n.AttemptID {
		return &node.Stale{Node: n.UUID, Seen: req.Attempt, Now: n.ProvisionState}
	}
	to, err := n.ProvisionState.Next(node.Event(req.Target))
	if err != nil {
		return err
	}
	if req.Target == string(node.Abort) {
		r.end(n.UUID, to, node.Aborted, actor, noon)
		return nil
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	for i := range r.nodes {
		if r.nodes[i].UUID == n.UUID {
			r.nodes[i].ProvisionState = to
		}
	}
	return nil
}

func (r *rack) SetPower(_ context.Context, actor node.Actor, ident string, req conductor.PowerRequest) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.powers, r.actors = append(r.powers, req), append(r.actors, actor)
	return r.refuse
}

// site is the dashboard over a rack, on a real socket.
type site struct {
	t    *testing.T
	base string
	hub  *live.Hub
	// staff are the users.
	staff *staff
}

// serve starts the dashboard; the header X-Test-Role stands for signing in.
func serve(t *testing.T, r *rack, streams int) *site {
	t.Helper()
	staff := newStaff()
	o := ui.Options{Conductor: r, Store: r, Now: func() time.Time { return noon }, InspectTimeout: 30 * time.Minute, SignIn: staff, People: staff, Speak: r.speak}
	if r.self != nil {
		o.Self = r.self
	}
	pages := ui.New(o)
	hub := live.New(live.Options{Store: r, Pages: pages, MaxStreams: streams, CountEvery: time.Millisecond})
	app := web.NewApp(web.AppOptions{Errors: []web.ErrorShape{pages.ErrorShape()}})
	ui.RegisterStatic(app)
	app.Use(func(c *fiber.Ctx) error {
		if role := c.Get("X-Test-Role", "operator"); role != "nobody" {
			web.SetUser(c, "jon", role)
		}
		return c.Next()
	})
	pages.Register(app, hub)
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
	return &site{t: t, base: "http://" + ln.Addr().String(), hub: hub, staff: staff}
}

type answer struct {
	status   int
	header   http.Header
	body     string
	location string
}

type header map[string]string

var script = header{"X-Requested-With": "fetch"}

func (s *site) do(method, path string, form url.Values, headers ...header) answer {
	s.t.Helper()
	ctx, cancel := context.WithTimeout(s.t.Context(), 10*time.Second)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, method, s.base+path, strings.NewReader(form.Encode()))
	if err != nil {
		s.t.Fatal(err)
	}
	if form != nil {
		req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	}
	for _, h := range headers {
		for k, v := range h {
			req.Header.Set(k, v)
		}
	}
	client := &http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	resp, err := client.Do(req)
	if err != nil {
		s.t.Fatal(err)
	}
	defer func() { _ = resp.Body.Close() }()
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		s.t.Fatal(err)
	}
	return answer{status: resp.StatusCode, header: resp.Header, body: string(body), location: resp.Header.Get("Location")}
}

func (s *site) get(path string, headers ...header) answer {
	return s.do(http.MethodGet, path, nil, headers...)
}

func (a answer) has(t *testing.T, parts ...string) {
	t.Helper()
	for _, p := range parts {
		if !strings.Contains(a.body, p) {
			t.Errorf("the answer (%d) lacks %q:\n%s", a.status, p, excerpt(a.body))
		}
	}
}

func (a answer) lacks(t *testing.T, parts ...string) {
	t.Helper()
	for _, p := range parts {
		if strings.Contains(a.body, p) {
			t.Errorf("the answer (%d) must not hold %q:\n%s", a.status, p, excerpt(a.body))
		}
	}
}

func excerpt(s string) string {
	if i := strings.Index(s, "<main"); i >= 0 {
		s = s[i:]
	}
	return fmt.Sprintf("%.3000s", s)
}
