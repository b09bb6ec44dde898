package bench_test

import (
	"bufio"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"sync/atomic"
	"testing"
	"time"
)

// The limits that are held.
const (
	mostForStreams = 60.0                   // MB resident, for 500 open streams
	mostFromPress  = 100 * time.Millisecond // from a press to the changed row in another browser, p99
)

// BenchmarkStreamsMemory measures what 500 open dashboards cost the appliance, in a process of its own: its resident memory
// before they come, and after each of them has seen the servers of a rack go through inspections and aborts.
func BenchmarkStreamsMemory(b *testing.B) {
	const streams = 500
	d := openDemo(b)
	d.warmUp(b)
	before := d.appliance.usage(b)
	var seen atomic.Int64
	all := make([]*watcher, streams)
	for i := range all {
		all[i] = d.watch(b, &seen)
	}
	for range 3 {
		for _, n := range d.nodes {
			d.startInspection(b, n)
		}
		for _, n := range d.nodes {
			d.abort(b, n)
		}
	}
	// Nobody is measured before everybody has got something: each abort is an event for each stream.
	eventually(b, "every stream has seen the aborts", func() bool { return seen.Load() >= int64(3*len(d.nodes)*streams) })
	after := d.appliance.usage(b)
	b.ReportMetric(after.resident-before.resident, "MB/500-streams")
	b.ReportMetric(before.resident, "MB-before")
	b.ReportMetric(0, "ns/op")
	if more := after.resident - before.resident; more > mostForStreams {
		b.Errorf("500 streams cost %.1f MB (%.1f before, %.1f after), the limit is %.0f MB", more, before.resident, after.resident, mostForStreams)
	}
}

// BenchmarkPressToChangedRow measures from a person's press of Abort to the changed row in another browser, while 200 dashboards
// are open: a form is posted as the page's script does it, and another client waits for the fragment.
func BenchmarkPressToChangedRow(b *testing.B) {
	const streams = 200
	d := openDemo(b)
	d.warmUp(b)
	var seen atomic.Int64
	for range streams - 1 {
		d.watch(b, &seen)
	}
	other := d.watch(b, &seen)
	var l latencies
	presses := 0
	for b.Loop() {
		n := d.nodes[presses%len(d.nodes)]
		d.startInspection(b, n)
		page := d.confirmation(b, n)
		must(b, l.time(func() error {
			if err := d.press(n, page); err != nil {
				return err
			}
			return other.awaits(n.UUID, "inspect failed")
		}))
		presses++
	}
	l.report(b, "presses")
	if presses < 100 {
		return // too few to speak of a hundredth
	}
	if p99 := l.millis(99); p99 > float64(mostFromPress.Milliseconds()) {
		b.Errorf("p99 of %d presses is %.1f ms, the limit is %s", presses, p99, mostFromPress)
	}
}

// demo is the appliance in front of a simulated rack in which no server ever reports, so that each can be aborted.
type demo struct {
	appliance *program
	api       door
	address   string
	nodes     []demoNode
}

type demoNode struct {
	UUID           string
	ProvisionState string `json:"provision_state"`
}

func openDemo(b *testing.B) *demo {
	b.Helper()
	p, dashboard := run(b, "Dashboard: ", "demo", "--servers", "12", "--ipmi", "0", "--silent", "12", "--virtual-media", "0", "--power-delay", "10ms", "--listen", "127.0.0.1:0", "--inspector-listen", "127.0.0.1:0")
	u, err := url.Parse(dashboard)
	must(b, err)
	d := &demo{appliance: p, api: newDoor("http://" + u.Host), address: u.Host}
	var list struct{ Nodes []demoNode }
	must(b, d.api.ask("GET", "/v1/nodes/detail", nil, &list))
	d.nodes = list.Nodes
	return d
}

// warmUp takes every node through an inspection and an abort, so that what the appliance keeps from a first time on is there.
func (d *demo) warmUp(b *testing.B) {
	b.Helper()
	for _, n := range d.nodes {
		d.startInspection(b, n)
		page := d.confirmation(b, n)
		must(b, d.press(n, page))
	}
}

// startInspection returns when the node waits for its ramdisk.
func (d *demo) startInspection(b *testing.B, n demoNode) {
	b.Helper()
	must(b, d.api.ask("PUT", "/v1/nodes/"+n.UUID+"/states/provision", map[string]string{"target": "inspect"}, nil))
	eventually(b, "the node waits for its ramdisk", func() bool {
		var now demoNode
		must(b, d.api.ask("GET", "/v1/nodes/"+n.UUID, nil, &now))
		return now.ProvisionState == "inspect wait"
	})
}

func (d *demo) abort(b *testing.B, n demoNode) {
	b.Helper()
	must(b, d.api.ask("PUT", "/v1/nodes/"+n.UUID+"/states/provision", map[string]string{"target": "abort"}, nil))
}

var hidden = regexp.MustCompile(`<input type="hidden" name="([^"]*)" value="([^"]*)"`)

// confirmation is the filled-in form of the dialog that asks back.
func (d *demo) confirmation(b *testing.B, n demoNode) url.Values {
	b.Helper()
	var text strings.Builder
	must(b, d.api.text("GET", "/ui/nodes/"+n.UUID+"/abort?back=list", nil, &text))
	form := url.Values{}
	for _, m := range hidden.FindAllStringSubmatch(text.String(), -1) {
		form.Set(m[1], m[2])
	}
	return form
}

// press sends it as the page's script does.
func (d *demo) press(n demoNode, form url.Values) error {
	return d.api.text("POST", "/ui/nodes/"+n.UUID+"/provision", form, nil)
}

// watcher is an open dashboard.
type watcher struct {
	conn net.Conn
	r    *bufio.Reader
	rows chan string
}

// watch opens the list's stream and reads it until the benchmark ends; seen counts the rows of nodes that were aborted.
func (d *demo) watch(b *testing.B, seen *atomic.Int64) *watcher {
	b.Helper()
	conn, err := net.Dial("tcp", d.address)
	must(b, err)
	b.Cleanup(func() { _ = conn.Close() })
	_, err = fmt.Fprintf(conn, "GET /ui/events?view=list HTTP/1.1\r\nHost: %s\r\nAccept: text/event-stream\r\n\r\n", d.address)
	must(b, err)
	w := &watcher{conn: conn, r: bufio.NewReader(conn), rows: make(chan string, 4096)}
	status, err := w.r.ReadString('\n')
	must(b, err)
	if !strings.Contains(status, " 200 ") {
		b.Fatalf("a stream is answered %q", status)
	}
	go func() {
		defer close(w.rows)
		for {
			line, err := w.r.ReadString('\n')
			if err != nil {
				return
			}
			if !strings.Contains(line, `id="row-`) {
				continue
			}
			seen.Add(int64(strings.Count(line, `data-state="inspect failed"`)))
			select {
			case w.rows <- line:
			default: // nobody waits for this one's rows
			}
		}
	}()
	return w
}

// awaits reads until the node's row is in the state.
func (w *watcher) awaits(uuid, state string) error {
	late := time.NewTimer(patience)
	defer late.Stop()
	for {
		select {
		case line, ok := <-w.rows:
			if !ok {
				return fmt.Errorf("the stream ended before the row of %s was %s", uuid, state)
			}
			_, row, _ := strings.Cut(line, `id="row-`+uuid+`"`)
			if tag, _, _ := strings.Cut(row, ">"); strings.Contains(tag, `data-state="`+state+`"`) {
				return nil
			}
		case <-late.C:
			return fmt.Errorf("the row of %s never was %s", uuid, state)
		}
	}
}

// text makes a request of the dashboard as its script does, which must succeed.
func (d door) text(method, path string, form url.Values, into *strings.Builder) error {
	req, err := http.NewRequest(method, d.base+path, strings.NewReader(form.Encode()))
	if err != nil {
		return err
	}
	req.Header.Set("X-Requested-With", "fetch")
	req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	res, err := d.client.Do(req)
	if err != nil {
		return err
	}
	defer func() { _ = res.Body.Close() }()
	var b strings.Builder
	if _, err := bufio.NewReader(res.Body).WriteTo(&b); err != nil {
		return err
	}
	if res.StatusCode >= 300 {
		return fmt.Errorf("%s %s: %d %s", method, path, res.StatusCode, b.String())
	}
	if into != nil {
		into.WriteString(b.String())
	}
	return nil
}
