package ui_test

import (
	"bytes"
	"context"
	"mime/multipart"
	"net"
	"net/http"
	"net/netip"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/gofiber/fiber/v2"

	"cagenut/conductor"
	"cagenut/node"
	"cagenut/web"
	"cagenut/web/live"
	"cagenut/web/ui"
)

// desk is an enroller in memory: it says what the test has it say, and remembers what it was asked.
type desk struct {
	r *rack

	mu       sync.Mutex
	probed   conductor.Probed
	refuse   error
	twins    []conductor.Twin
	asked    []conductor.Enrolment
	enrolled []conductor.Enrolment
	verdict  func(conductor.Enrolment) conductor.EnrolVerdict
	lines    []conductor.EnrolLine
	run      conductor.EnrolRun
	search   conductor.Search
	begun    []conductor.SearchRequest
	stopped  int
	actors   []node.Actor
	// meanwhile is what others do while a node is being made.
	meanwhile func()
}

func (d *desk) Enrol(_ context.Context, actor node.Actor, x conductor.Enrolment) (conductor.Enrolled, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.meanwhile != nil {
		d.meanwhile()
	}
	if d.refuse != nil {
		return conductor.Enrolled{}, d.refuse
	}
	d.enrolled, d.actors = append(d.enrolled, x), append(d.actors, actor)
	d.r.edit(func() { d.r.nodes = append(d.r.nodes, x.Node) })
	return conductor.Enrolled{Node: x.Node}, nil
}

func (d *desk) ProbeBMC(_ context.Context, actor node.Actor, x conductor.Enrolment) (conductor.Probed, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.asked, d.actors = append(d.asked, x), append(d.actors, actor)
	return d.probed, d.refuse
}

func (d *desk) Twins(context.Context, conductor.Enrolment, string) ([]conductor.Twin, error) {
	return d.twins, nil
}

func (d *desk) CheckMany(_ context.Context, all []conductor.Enrolment) ([]conductor.EnrolVerdict, error) {
	out := make([]conductor.EnrolVerdict, len(all))
	for i, x := range all {
		if d.verdict != nil {
			out[i] = d.verdict(x)
		}
	}
	return out, nil
}

func (d *desk) EnrolMany(actor node.Actor, search string, lines []conductor.EnrolLine) (string, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.refuse != nil {
		return "", d.refuse
	}
	d.lines, d.actors = append(d.lines, lines...), append(d.actors, actor)
	d.run = conductor.EnrolRun{ID: node.NewUUID(), By: actor, Search: search, StartedAt: noon, Total: len(lines)}
	return d.run.ID, nil
}

func (d *desk) EnrolRun(id string) (conductor.EnrolRun, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.run.ID != id {
		return conductor.EnrolRun{}, &node.NotFound{What: "Enrolment", Ident: id}
	}
	return d.run, nil
}

func (d *desk) Addresses(text string) ([]netip.Addr, error) {
	return conductor.ReadAddresses(text, false)
}

func (d *desk) StartSearch(_ context.Context, actor node.Actor, req conductor.SearchRequest) (string, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.refuse != nil {
		return "", d.refuse
	}
	d.begun, d.actors = append(d.begun, req), append(d.actors, actor)
	d.search = conductor.Search{ID: node.NewUUID(), By: actor, Where: req.Where, Ports: req.Ports, StartedAt: noon, Total: len(req.Addresses)}
	return d.search.ID, nil
}

func (d *desk) Search(id string) (conductor.Search, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.search.ID == "" || (id != "" && d.search.ID != id) {
		return conductor.Search{}, &node.NotFound{What: "Search", Ident: id}
	}
	return d.search, nil
}

func (d *desk) CancelSearch(context.Context, node.Actor, string) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.stopped++
	d.search.EndedAt, d.search.Cancelled = noon, true
	return nil
}

// change changes what the desk says while pages are open.
func (d *desk) change(f func()) {
	d.mu.Lock()
	defer d.mu.Unlock()
	f()
}

// said are the enrolments that were asked about, made and begun so far.
func (d *desk) said() (asked, enrolled []conductor.Enrolment, lines []conductor.EnrolLine) {
	d.mu.Lock()
	defer d.mu.Unlock()
	return slices.Clone(d.asked), slices.Clone(d.enrolled), slices.Clone(d.lines)
}

// begunLines is how many lines are being enrolled.
func (d *desk) begunLines() int {
	_, _, lines := d.said()
	return len(lines)
}

// office is the dashboard with a desk, and a clock that the test sets; the header X-Test-User stands for signing in as another.
type office struct {
	*site
	*desk
	rack *rack
	now  time.Time
}

func openOffice(t *testing.T) *office {
	t.Helper()
	r := newRack()
	o := &office{desk: &desk{r: r}, rack: r, now: noon}
	clock := func() time.Time {
		o.mu.Lock()
		defer o.mu.Unlock()
		return o.now
	}
	pages := ui.New(ui.Options{Conductor: r, Store: r, Enrolling: o.desk, Now: clock})
	hub := live.New(live.Options{Store: r, Pages: pages, CountEvery: time.Millisecond})
	app := web.NewApp(web.AppOptions{Errors: []web.ErrorShape{pages.ErrorShape()}, ReportDoors: []string{"/ui/enrol/import"}})
	app.Use(func(c *fiber.Ctx) error {
		web.SetUser(c, c.Get("X-Test-User", "jon"), c.Get("X-Test-Role", "operator"))
		return c.Next()
	})
	pages.Register(app, hub)
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	var running sync.WaitGroup
	running.Go(func() { _ = hub.Run(ctx) })
	running.Go(func() { _ = app.Listener(l) })
	t.Cleanup(func() {
		cancel()
		if err := app.ShutdownWithTimeout(5 * time.Second); err != nil {
			t.Errorf("shutdown: %v", err)
		}
		running.Wait()
		http.DefaultClient.CloseIdleConnections()
	})
	o.site = &site{t: t, base: "http://" + l.Addr().String(), hub: hub}
	return o
}

// pass lets time pass.
func (o *office) pass(d time.Duration) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.now = o.now.Add(d)
}

// upload sends a form with a file.
func (o *office) upload(path, file string, fields map[string]string) answer {
	o.t.Helper()
	var body bytes.Buffer
	w := multipart.NewWriter(&body)
	part, err := w.CreateFormFile("file", "servers.csv")
	if err == nil {
		_, err = part.Write([]byte(file))
	}
	for k, v := range fields {
		if err == nil {
			err = w.WriteField(k, v)
		}
	}
	if err != nil || w.Close() != nil {
		o.t.Fatal(err)
	}
	req, err := http.NewRequestWithContext(o.t.Context(), http.MethodPost, o.base+path, &body)
	if err != nil {
		o.t.Fatal(err)
	}
	req.Header.Set("Content-Type", w.FormDataContentType())
	client := &http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	resp, err := client.Do(req)
	if err != nil {
		o.t.Fatal(err)
	}
	defer func() { _ = resp.Body.Close() }()
	var text bytes.Buffer
	if _, err := text.ReadFrom(resp.Body); err != nil {
		o.t.Fatal(err)
	}
	return answer{status: resp.StatusCode, header: resp.Header, body: text.String(), location: resp.Header.Get("Location")}
}
