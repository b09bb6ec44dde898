package ui_test

import (
	"context"
	"errors"
	"net"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/gofiber/fiber/v2"
	"github.com/google/go-cmp/cmp"

	"cagenut/conductor"
	"cagenut/node"
	"cagenut/web"
	"cagenut/web/live"
	"cagenut/web/ui"
)

// waitingRoom is a ui.Discovery in memory.
type waitingRoom struct {
	mu       sync.Mutex
	machines []node.Discovered
	twins    []node.Node
	report   string
	accepted []conductor.AcceptRequest
	actors   []node.Actor
	refuse   error
}

func (w *waitingRoom) DiscoveredMachines(_ context.Context, f node.DiscoveredFilter) ([]node.Discovered, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	var out []node.Discovered
	begun := f.Marker == ""
	for _, d := range w.machines {
		if begun && slices.Contains(f.States, d.State) && len(out) < f.Limit {
			out = append(out, d)
		}
		begun = begun || d.UUID == f.Marker
	}
	if !begun {
		return nil, &node.NotFound{What: "Discovered machine", Ident: f.Marker}
	}
	return out, nil
}

func (w *waitingRoom) index(uuid string) int {
	return slices.IndexFunc(w.machines, func(d node.Discovered) bool { return d.UUID == uuid })
}

func (w *waitingRoom) DiscoveredMachine(_ context.Context, uuid string) (node.Discovered, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if i := w.index(uuid); i >= 0 {
		return w.machines[i], nil
	}
	return node.Discovered{}, &node.NotFound{What: "Discovered machine", Ident: uuid}
}

func (w *waitingRoom) DiscoveredReport(context.Context, string) (node.DiscoveredReport, error) {
	return node.DiscoveredReport{Report: []byte(w.report)}, nil
}

func (w *waitingRoom) CountDiscovered(context.Context) (map[node.DiscoveredState]int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	out := map[node.DiscoveredState]int{}
	for _, d := range w.machines {
		out[d.State]++
	}
	return out, nil
}

func (w *waitingRoom) NodesBehind(context.Context, []string) ([]node.Node, error) {
	return w.twins, nil
}

func (w *waitingRoom) AcceptMachine(_ context.Context, actor node.Actor, uuid string, req conductor.AcceptRequest) (node.Node, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.accepted, w.actors = append(w.accepted, req), append(w.actors, actor)
	return node.Node{UUID: uuid, Name: req.Name}, w.refuse
}

func (w *waitingRoom) DecideOnMachine(_ context.Context, actor node.Actor, uuid string, state node.DiscoveredState) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.actors = append(w.actors, actor)
	w.machines[w.index(uuid)].State = state
	return nil
}

// add puts a machine into the room.
func (w *waitingRoom) add(state node.DiscoveredState, product string) node.Discovered {
	d := node.Discovered{
		UUID: node.NewUUID(), State: state, FirstAt: noon.Add(-time.Hour), LastAt: noon.Add(-time.Minute), ReportAt: noon.Add(-time.Minute).Add(7 * time.Microsecond), Times: 3, Address: "192.0.2.7",
		Machine: node.Machine{
			Manufacturer: "Acme", Product: product, Serial: "EB-1", CPU: "Example 9000", CPUs: 24, MemoryMB: 131072, Disks: []node.MachineDisk{{Name: "/dev/sda"}},
			NICs: []node.MachineNIC{{Name: "eno1", MAC: "02:00:5e:00:00:01"}, {Name: "eno2", MAC: "02:00:5e:00:00:02"}}, MACs: []string{"02:00:5e:00:00:01", "02:00:5e:00:00:02"}, BMCAddresses: []string{"192.0.2.10"},
		},
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.machines = append(w.machines, d)
	return d
}

// serveRoom starts the dashboard with a waiting room.
func serveRoom(t *testing.T, r *rack, w *waitingRoom, on bool) *site {
	t.Helper()
	pages := ui.New(ui.Options{Conductor: r, Store: r, Discovery: w, Discovering: on, Now: func() time.Time { return noon }})
	hub := live.New(live.Options{Store: r, Pages: pages, CountEvery: time.Millisecond})
	app := web.NewApp(web.AppOptions{Errors: []web.ErrorShape{pages.ErrorShape()}})
	app.Use(func(c *fiber.Ctx) error {
		web.SetUser(c, "jon", c.Get("X-Test-Role", "operator"))
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
	return &site{t: t, base: "http://" + ln.Addr().String(), hub: hub}
}

func TestTheWaitingRoomIsInTheNavigationWhileDiscoveryIsOn(t *testing.T) {
	r, w := newRack(), &waitingRoom{}
	r.add("r07-u21", node.Manageable)
	w.add(node.DiscoveredNew, "EdgeBox 100")
	w.add(node.DiscoveredIgnored, "EdgeBox 200")
	serveRoom(t, r, w, true).get("/ui").has(t, `href="/ui/discovered"`, `id="count-discovered">1<`)
	off := serveRoom(t, r, w, false)
	off.get("/ui").lacks(t, `href="/ui/discovered"`)
	off.get("/ui/discovered").has(t, "Discovery is off", "EdgeBox 100")
	if a := serve(t, r, 0).get("/ui/discovered"); a.status != 404 {
		t.Errorf("without a waiting room: %d", a.status)
	}
}

func TestMachinesAreListedByWhatWasDecided(t *testing.T) {
	w := &waitingRoom{}
	s := serveRoom(t, newRack(), w, true)
	s.get("/ui/discovered").has(t, "No machine waits.")
	d := w.add(node.DiscoveredNew, "EdgeBox 100")
	w.add(node.DiscoveredIgnored, "EdgeBox 200")
	a := s.get("/ui/discovered")
	a.has(t, `href="/ui/discovered/`+d.UUID+`"`, "Acme EdgeBox 100", "EB-1", "02:00:5e:00:00:01 +1", "192.0.2.10", "24 CPUs, 128 GiB, 1 disk, 2 NICs", "3 reports, from 192.0.2.7", "1 m 00 s ago")
	a.lacks(t, "EdgeBox 200")
	s.get("/ui/discovered?state=ignored").has(t, "EdgeBox 200", `aria-current="page"`)
	s.get("/ui/discovered?state=ignored").lacks(t, "EdgeBox 100")
	s.get("/ui/discovered?state=blocked").has(t, "No machine is blocked.")
	s.get("/ui/discovered?state=odd").has(t, "EdgeBox 100")
}

func TestAFullWaitingRoomHasPages(t *testing.T) {
	w := &waitingRoom{}
	var last node.Discovered
	for range 51 {
		last = w.add(node.DiscoveredNew, "EdgeBox")
	}
	s := serveRoom(t, newRack(), w, true)
	first := s.get("/ui/discovered")
	first.has(t, `href="/ui/discovered?after=`+w.machines[49].UUID+`"`)
	first.lacks(t, last.UUID)
	s.get("/ui/discovered?after="+w.machines[49].UUID).has(t, last.UUID, "First page")
	if a := s.get("/ui/discovered?after=" + node.NewUUID()); a.status != 303 || a.location != "/ui/discovered" {
		t.Errorf("after a machine that is gone: %d to %s", a.status, a.location)
	}
}

func TestAMachinesPageShowsWhatItIsAndAsksHowToAcceptIt(t *testing.T) {
	w := &waitingRoom{report: `{"inventory":{"disks":[{"name":"/dev/sda","size":480103981056}],"interfaces":[{"name":"eno1","mac_address":"02:00:5e:00:00:01"}]}}`}
	d := w.add(node.DiscoveredNew, "EdgeBox 100")
	w.twins = []node.Node{{UUID: node.NewUUID(), Name: "r07-u01"}}
	s := serveRoom(t, newRack(), w, true)
	a := s.get("/ui/discovered/" + d.UUID)
	a.has(t, "Acme EdgeBox 100", d.UUID, "3 reports", "<code>192.0.2.7</code>", "24 CPUs, 128 GiB", "480 GB", "r07-u01", "has this machine&#39;s BMC already",
		`value="https://192.0.2.10"`, `<option value="redfish" selected>`, `name="password"`, "/"+d.UUID+"/ignore", "/"+d.UUID+"/block")
	a.lacks(t, "/"+d.UUID+"/restore")
	viewer := s.get("/ui/discovered/"+d.UUID, header{"X-Test-Role": "viewer"})
	viewer.has(t, "Acme EdgeBox 100", "may look, but not act")
	viewer.lacks(t, `action="/ui/discovered`, "/ignore")
	for _, path := range []string{"/accept", "/ignore"} { // G56
		if a := s.do("POST", "/ui/discovered/"+d.UUID+path, url.Values{}, header{"X-Test-Role": "viewer"}); a.status != 403 {
			t.Errorf("a viewer's %s: %d", path, a.status)
		}
	}
	for _, id := range []string{node.NewUUID(), "nonsense"} {
		if a := s.get("/ui/discovered/" + id); a.status != 404 {
			t.Errorf("%s: %d", id, a.status)
		}
	}
}

func TestAcceptingSendsWhatTheFormSays(t *testing.T) {
	for name, c := range map[string]struct {
		form url.Values
		want map[string]any
	}{
		"redfish": {url.Values{"driver": {"redfish"}, "bmc": {"https://192.0.2.10"}, "user": {"rack"}, "password": {"not a real one "}},
			map[string]any{"redfish_address": "https://192.0.2.10", "redfish_username": "rack", "redfish_password": "not a real one "}},
		"redfish with a certificate that nobody knows": {url.Values{"driver": {"redfish"}, "bmc": {"bmc-7"}, "no_verify": {"true"}}, map[string]any{"redfish_address": "bmc-7", "redfish_verify_ca": false}},
		"ipmi with the address that was suggested":     {url.Values{"driver": {"ipmi"}, "bmc": {"https://192.0.2.10"}, "user": {"rack"}}, map[string]any{"ipmi_address": "192.0.2.10", "ipmi_username": "rack"}},
		"ipmi in IPv6": {url.Values{"driver": {"ipmi"}, "bmc": {"https://[2001:db8::1]"}}, map[string]any{"ipmi_address": "2001:db8::1"}},
		"no hardware":  {url.Values{"driver": {"fake-hardware"}, "bmc": {"https://192.0.2.10"}}, map[string]any{}},
	} {
		t.Run(name, func(t *testing.T) {
			w := &waitingRoom{}
			d := w.add(node.DiscoveredNew, "EdgeBox 100")
			c.form.Set("name", " r07-u21 ")
			c.form.Set("report_at", "1764511271000007")
			a := serveRoom(t, newRack(), w, true).do("POST", "/ui/discovered/"+d.UUID+"/accept", c.form)
			if a.status != 303 || a.location != "/ui/nodes/"+d.UUID+"?done=machine-accepted" {
				t.Errorf("%d to %s", a.status, a.location)
			}
			want := conductor.AcceptRequest{Name: "r07-u21", Driver: c.form.Get("driver"), DriverInfo: c.want, ReportAt: time.UnixMicro(1764511271000007)}
			if diff := cmp.Diff(want, w.accepted[0]); diff != "" {
				t.Error(diff)
			}
			if who := w.actors[0]; who.User != "jon" || who.Source != node.SourceUI {
				t.Errorf("the actor is %+v", who)
			}
		})
	}
}

// What was typed is not lost with a refusal, but for the password.
func TestARefusedAcceptanceShowsWhyAndTheFormAgain(t *testing.T) {
	for status, refuse := range map[int]error{
		409: &node.Conflict{Text: "The machine was not accepted: <b>no"}, 400: node.Invalidf("Cannot create node with invalid name '<b>no'"), 500: errors.New("the secret cause"),
	} {
		w := &waitingRoom{refuse: refuse}
		d := w.add(node.DiscoveredNew, "EdgeBox 100")
		a := serveRoom(t, newRack(), w, true).do("POST", "/ui/discovered/"+d.UUID+"/accept", url.Values{"name": {"r07-u21"}, "driver": {"ipmi"}, "bmc": {"192.0.2.99"}, "user": {"rack"}, "password": {"not-a-real-one"}})
		if a.status != status {
			t.Errorf("%v: %d", refuse, a.status)
		}
		a.lacks(t, "not-a-real-one", "<b>no", "secret cause")
		if status != 500 {
			a.has(t, "&lt;b&gt;no", `value="r07-u21"`, `<option value="ipmi" selected>`, `value="192.0.2.99"`, `value="rack"`)
		}
	}
}

func TestDecisionsAreButtons(t *testing.T) {
	w := &waitingRoom{}
	d := w.add(node.DiscoveredNew, "EdgeBox 100")
	s := serveRoom(t, newRack(), w, true)
	for _, c := range []struct {
		word  string
		state node.DiscoveredState
		says  string
	}{
		{"ignore", node.DiscoveredIgnored, "is ignored from now on"}, {"block", node.DiscoveredBlocked, "is blocked from now on"}, {"restore", node.DiscoveredNew, "among the new ones again"},
	} {
		a := s.do("POST", "/ui/discovered/"+d.UUID+"/"+c.word, url.Values{})
		if a.status != 303 || w.machines[0].State != c.state {
			t.Fatalf("%s: %d, the machine is %s", c.word, a.status, w.machines[0].State)
		}
		page := s.get(a.location)
		page.has(t, c.says)
		page.lacks(t, "/"+d.UUID+"/"+c.word+`"`)
		if blocked := strings.Contains(page.body, `name="driver"`); blocked == (c.state == node.DiscoveredBlocked) {
			t.Errorf("%s: it can be accepted: %v", c.word, blocked)
		}
	}
}

// G26: whatever a machine says of itself is text.
func TestWhatAMachineSaysIsNeverMarkup(t *testing.T) {
	const bad = `"><script>alert(1)</script><img src=x>`
	w := &waitingRoom{report: `{"inventory":{"hostname":"<script>alert(1)</script>","disks":[{"name":"<img src=x>"}]}}`}
	d := w.add(node.DiscoveredNew, bad)
	m := &w.machines[0].Machine
	m.Manufacturer, m.Serial, m.CPU, m.MACs, m.BMCAddresses = bad, bad, bad, []string{bad}, []string{bad}
	w.machines[0].Address = bad
	s := serveRoom(t, newRack(), w, true)
	for _, path := range []string{"/ui/discovered", "/ui/discovered/" + d.UUID} {
		a := s.get(path)
		a.has(t, "&lt;script&gt;")
		a.lacks(t, "<script>", "<img")
	}
}

// The waiting room follows what happens: rows change, a machine that was accepted says so, and the number is right.
func TestTheWaitingRoomIsLive(t *testing.T) {
	r, w := newRack(), &waitingRoom{}
	d := w.add(node.DiscoveredNew, "EdgeBox 100")
	s := serveRoom(t, r, w, true)
	page := s.get("/ui/discovered")
	page.has(t, `data-events="/ui/events?view=discovered"`)
	after := regexp.MustCompile(`data-after="([^"]+)"`).FindStringSubmatch(page.body)[1]
	_, lines := s.stream("/ui/events?view=discovered&after=" + after)
	_, nodes := s.stream("/ui/events?view=list&after=" + after)
	r.tell(d.UUID)
	for nodes.Scan() && !strings.Contains(nodes.Text(), `id="count-discovered">1<`) {
		if strings.Contains(nodes.Text(), d.UUID) {
			t.Errorf("the list of nodes is told %s", nodes.Text())
		}
	}
	if row := until(t, lines, `id="row-`+d.UUID+`"`); !strings.Contains(row, "3 reports") {
		t.Errorf("the row is %s", row)
	}
	w.mu.Lock()
	w.machines = nil
	w.mu.Unlock()
	r.tell(d.UUID)
	until(t, lines, "no longer here")
	until(t, lines, `id="count-discovered">0<`)
}
