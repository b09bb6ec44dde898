package live_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/gofiber/fiber/v2"
	"go.uber.org/goleak"

	"cagenut/node"
	"cagenut/web"
	"cagenut/web/live"
)

func TestMain(m *testing.M) {
	goleak.VerifyTestMain(m,
		goleak.IgnoreAnyFunction("github.com/valyala/fasthttp.updateServerDate.func1"),
		goleak.IgnoreAnyFunction("github.com/valyala/fasthttp.(*workerPool).Start.func2"))
}

// keeper is a store that holds changes in memory.
type keeper struct {
	mu      sync.Mutex
	changes []node.Change
	notices chan node.Notice
}

func (k *keeper) Watch(context.Context) <-chan node.Notice { return k.notices }

func (k *keeper) LastChange(context.Context) (int64, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	return int64(len(k.changes)), nil
}

func (k *keeper) Changes(_ context.Context, after int64, limit int) ([]node.Change, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if after >= int64(len(k.changes)) {
		return nil, nil
	}
	return k.changes[after:min(int64(len(k.changes)), after+int64(limit))], nil
}

// commit keeps a change; tell says so to the hub.
func (k *keeper) commit(uuid string, to node.State) node.Notice {
	k.mu.Lock()
	defer k.mu.Unlock()
	c := node.Change{ID: int64(len(k.changes)) + 1, NodeUUID: uuid, To: to}
	k.changes = append(k.changes, c)
	return node.Notice{NodeUUID: uuid, Change: &c}
}

func (k *keeper) tell(uuid string, to node.State) { k.notices <- k.commit(uuid, to) }

// painter draws the name of what it is asked to draw.
type painter struct {
	mu    sync.Mutex
	drawn map[string]int
	fail  bool
}

func (p *painter) Draw(_ context.Context, v live.View, uuid string) ([]byte, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.fail {
		return nil, errors.New("no ink")
	}
	p.drawn[fmt.Sprint(v, uuid)]++
	return []byte("<" + uuid + "\r\n>"), nil
}

func (p *painter) DrawCounts(_ context.Context, v live.View) ([]byte, error) {
	return []byte("<counts" + v.Filter + ">"), nil
}

type world struct {
	store *keeper
	pages *painter
	hub   *live.Hub
	base  string
	end   func()
	// signedOut says that nobody who has a stream would be let in now.
	signedOut atomic.Bool
}

func start(t *testing.T, o live.Options) *world {
	t.Helper()
	w := &world{store: &keeper{notices: make(chan node.Notice, 64)}, pages: &painter{drawn: map[string]int{}}}
	o.Store, o.Pages = w.store, w.pages
	w.hub = live.New(o)
	app := fiber.New(fiber.Config{DisableStartupMessage: true, Immutable: true, ErrorHandler: func(c *fiber.Ctx, err error) error {
		if errors.Is(err, live.ErrFull) {
			return c.SendStatus(fiber.StatusServiceUnavailable)
		}
		return c.SendStatus(fiber.StatusInternalServerError)
	}})
	app.Use(func(c *fiber.Ctx) error {
		web.SetStillIn(c, func(context.Context) bool { return !w.signedOut.Load() })
		return c.Next()
	})
	app.Get("/fragments", func(c *fiber.Ctx) error {
		return w.hub.Fragments(c, live.View{Node: c.Query("node")}, c.Get("Last-Event-ID", c.Query("after")))
	})
	app.Get("/changes", func(c *fiber.Ctx) error {
		return w.hub.Changes(c, c.Get("Last-Event-ID"), func(ch node.Change) []byte { return []byte(ch.NodeUUID + " " + string(ch.To)) })
	})
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	w.base = "http://" + ln.Addr().String()
	ctx, cancel := context.WithCancel(t.Context())
	var running sync.WaitGroup
	running.Go(func() { _ = w.hub.Run(ctx) })
	running.Go(func() { _ = app.Listener(ln) })
	var once sync.Once
	w.end = func() {
		once.Do(func() {
			cancel()
			if err := app.ShutdownWithTimeout(5 * time.Second); err != nil {
				t.Errorf("streams kept the server from ending: %v", err)
			}
			running.Wait()
			http.DefaultClient.CloseIdleConnections()
		})
	}
	t.Cleanup(w.end)
	return w
}

type event struct{ name, id, data string }

// listener reads one stream.
type listener struct {
	t    *testing.T
	resp *http.Response
	r    *bufio.Reader
}

func (w *world) listen(t *testing.T, path string, last string) *listener {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	t.Cleanup(cancel)
	req, _ := http.NewRequestWithContext(ctx, http.MethodGet, w.base+path, nil)
	if last != "" {
		req.Header.Set("Last-Event-ID", last)
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = resp.Body.Close() })
	return &listener{t: t, resp: resp, r: bufio.NewReader(resp.Body)}
}

// block is the next block of lines, comments included.
func (l *listener) block() (string, error) {
	var b strings.Builder
	for {
		line, err := l.r.ReadString('\n')
		if err != nil {
			return "", err
		}
		if line == "\n" {
			return b.String(), nil
		}
		b.WriteString(line)
	}
}

func (l *listener) next() event {
	l.t.Helper()
	for {
		text, err := l.block()
		if err != nil {
			l.t.Fatalf("the stream ended: %v", err)
		}
		var e event
		for line := range strings.Lines(text) {
			name, value, _ := strings.Cut(strings.TrimSuffix(line, "\n"), ": ")
			switch name {
			case "event":
				e.name = value
			case "id":
				e.id = value
			case "data":
				e.data += value
			}
		}
		if e.name != "" && e.name != "beat" && e.data != "<counts>" {
			return e
		}
	}
}

func (l *listener) mustBe(want event) event {
	l.t.Helper()
	got := l.next()
	if want.id == "" {
		want.id = got.id
	}
	if got != want {
		l.t.Fatalf("got %+v, want %+v", got, want)
	}
	return got
}

func TestAPageGetsTheFragmentOfWhatChanged(t *testing.T) {
	w := start(t, live.Options{})
	at := w.hub.Position()
	list, one, other := w.listen(t, "/fragments?after="+at, ""), w.listen(t, "/fragments?node=a&after="+at, ""), w.listen(t, "/fragments?node=b&after="+at, "")
	for header, want := range map[string]string{"Content-Type": "text/event-stream; charset=utf-8", "Cache-Control": "no-store", "X-Accel-Buffering": "no"} {
		if got := list.resp.Header.Get(header); got != want {
			t.Errorf("%s is %q, want %q", header, got, want)
		}
	}
	if !list.resp.Close {
		t.Error("the connection of a stream must not be used again")
	}
	w.store.tell("a", node.InspectFailed)
	list.mustBe(event{name: "fragment", data: "<a>"})
	one.mustBe(event{name: "fragment", data: "<a>"})
	w.store.tell("b", node.InspectFailed)
	other.mustBe(event{name: "fragment", data: "<b>"})
	list.mustBe(event{name: "fragment", data: "<b>"})
}

func TestAFragmentIsDrawnOncePerViewHoweverManyWatch(t *testing.T) {
	w := start(t, live.Options{})
	at := w.hub.Position()
	var all []*listener
	for range 5 {
		all = append(all, w.listen(t, "/fragments?after="+at, ""))
	}
	w.store.tell("a", node.InspectWait)
	for _, l := range all {
		l.mustBe(event{name: "fragment", data: "<a>"})
	}
	w.pages.mu.Lock()
	defer w.pages.mu.Unlock()
	if n := w.pages.drawn[fmt.Sprint(live.View{}, "a")]; n != 1 {
		t.Errorf("drawn %d times, want once (%v)", n, w.pages.drawn)
	}
}

func TestAPageCatchesUpFromWhereItWasDrawn(t *testing.T) {
	w := start(t, live.Options{})
	first := w.listen(t, "/fragments?after="+w.hub.Position(), "")
	at := w.hub.Position()
	w.store.tell("a", node.InspectWait)
	last := first.mustBe(event{name: "fragment", data: "<a>"}).id

	w.listen(t, "/fragments?after="+at, "").mustBe(event{name: "fragment", data: "<a>"})
	w.listen(t, "/fragments?node=a", at).mustBe(event{name: "fragment", data: "<a>"})

	uptodate := w.listen(t, "/fragments", last)
	w.store.tell("b", node.InspectWait)
	uptodate.mustBe(event{name: "fragment", data: "<b>"})
}

func TestAPageFromAnotherTimeIsToldToLoadAgain(t *testing.T) {
	w := start(t, live.Options{})
	for _, position := range []string{"", "nonsense", "0badc0de.3", w.hub.Position() + "9999"} {
		w.listen(t, "/fragments?after="+position, "").mustBe(event{name: "resync", id: w.hub.Position()})
	}
}

func TestWhatTheStoreDroppedLeadsToResync(t *testing.T) {
	w := start(t, live.Options{})
	at := w.hub.Position()
	page, program := w.listen(t, "/fragments?after="+at, ""), w.listen(t, "/changes", "0")
	w.store.commit("a", node.InspectFailed) // its notice is lost
	w.store.notices <- node.Notice{}
	page.mustBe(event{name: "resync"})
	program.mustBe(event{name: "state", id: "1", data: "a inspect failed"})
	w.listen(t, "/fragments?after="+at, "").mustBe(event{name: "resync"})
}

func TestAFragmentThatCannotBeDrawnLeadsToResync(t *testing.T) {
	w := start(t, live.Options{})
	w.pages.fail = true
	page := w.listen(t, "/fragments?after="+w.hub.Position(), "")
	w.store.tell("a", node.InspectFailed)
	page.mustBe(event{name: "resync"})
}

func TestCountsAreSentToLists(t *testing.T) {
	w := start(t, live.Options{CountEvery: 10 * time.Millisecond})
	page := w.listen(t, "/fragments?after="+w.hub.Position(), "")
	w.store.tell("a", node.InspectFailed)
	for {
		text, err := page.block()
		if err != nil {
			t.Fatal(err)
		}
		if strings.Contains(text, "data: <counts>") {
			return
		}
	}
}

func TestAProgramReplaysFromItsLastEventWithoutGapOrDouble(t *testing.T) {
	w := start(t, live.Options{})
	for i := range 700 { // more than one page of the replay
		w.store.commit(fmt.Sprintf("n%d", i+1), node.InspectWait)
	}
	l := w.listen(t, "/changes", "3")
	for i := 4; i <= 700; i++ {
		l.mustBe(event{name: "state", id: fmt.Sprint(i), data: fmt.Sprintf("n%d inspect wait", i)})
	}
	old := w.store.changes[699]
	w.store.notices <- node.Notice{NodeUUID: "n700", Change: &old} // comes late; was replayed
	w.store.tell("n701", node.InspectFailed)
	l.mustBe(event{name: "state", id: "701", data: "n701 inspect failed"})
}

func TestAProgramWithoutALastEventBeginsNow(t *testing.T) {
	w := start(t, live.Options{})
	w.store.commit("old", node.InspectWait)
	l := w.listen(t, "/changes", "")
	if _, err := l.block(); err != nil { // the stream stands
		t.Fatal(err)
	}
	w.store.tell("new", node.InspectFailed)
	l.mustBe(event{name: "state", id: "2", data: "new inspect failed"})
}

func TestAProgramWithAnUnknownLastEventIsToldToReadAgain(t *testing.T) {
	w := start(t, live.Options{})
	w.store.commit("a", node.InspectWait)
	for _, last := range []string{"99", "x", "-1"} {
		w.listen(t, "/changes", last).mustBe(event{name: "resync", id: "1", data: "{}"})
	}
}

// A client that takes nothing must neither stop the others nor live for ever.
func TestASlowClientLosesNothingButTime(t *testing.T) {
	w := start(t, live.Options{Queue: 1})
	slow := w.listen(t, "/changes", "0")
	for i := range 200 {
		w.store.tell(fmt.Sprintf("n%d", i+1), node.State(strings.Repeat("x", 20_000)))
	}
	for i := range 200 {
		if got := slow.next(); got.id != fmt.Sprint(i+1) {
			t.Fatalf("event %d has id %s", i+1, got.id)
		}
	}
}

func TestAClientThatTakesNothingIsCut(t *testing.T) {
	w := start(t, live.Options{Patience: 200 * time.Millisecond, MaxStreams: 1})
	stuck := w.listen(t, "/changes", "0")
	for i := range 64 {
		w.store.tell(fmt.Sprintf("n%d", i+1), node.State(strings.Repeat("x", 400_000)))
	}
	if !eventually(func() bool { return w.status(t, "/changes") == http.StatusOK }) {
		t.Fatal("the stuck stream still holds its place")
	}
	_ = stuck.resp.Body.Close()
}

func TestThereAreOnlySoManyStreams(t *testing.T) {
	w := start(t, live.Options{MaxStreams: 2})
	w.listen(t, "/changes", "")
	w.listen(t, "/fragments?after="+w.hub.Position(), "")
	full := w.listen(t, "/changes", "")
	if full.resp.StatusCode != http.StatusServiceUnavailable || full.resp.Header.Get("Retry-After") == "" {
		t.Fatalf("got %d with Retry-After %q", full.resp.StatusCode, full.resp.Header.Get("Retry-After"))
	}
}

func TestASilentStreamBeatsAndAPlaceIsFreedWhenItsClientLeaves(t *testing.T) {
	w := start(t, live.Options{MaxStreams: 1, Heartbeat: 20 * time.Millisecond})
	l := w.listen(t, "/changes", "")
	for {
		text, err := l.block()
		if err != nil {
			t.Fatal(err)
		}
		if strings.HasPrefix(text, ":") {
			break
		}
	}
	_ = l.resp.Body.Close()
	if !eventually(func() bool { return w.status(t, "/changes") == http.StatusOK }) {
		t.Fatal("the place was not freed")
	}
}

func TestAStreamEndsWhenItsTimeIsOver(t *testing.T) {
	w := start(t, live.Options{MaxLife: 50 * time.Millisecond})
	l := w.listen(t, "/changes", "")
	if _, err := io.Copy(io.Discard, l.r); err != nil {
		t.Fatalf("want a clean end, got %v", err)
	}
}

func TestStreamsEndWithTheServer(t *testing.T) {
	w := start(t, live.Options{})
	l := w.listen(t, "/changes", "")
	began := time.Now()
	w.end()
	if took := time.Since(began); took > 4*time.Second {
		t.Errorf("the end took %s", took)
	}
	_, _ = io.Copy(io.Discard, l.r)
}

func (w *world) status(t *testing.T, path string) int {
	t.Helper()
	resp, err := http.Get(w.base + path)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = resp.Body.Close() }()
	return resp.StatusCode
}

func eventually(ok func() bool) bool {
	for deadline := time.Now().Add(8 * time.Second); time.Now().Before(deadline); time.Sleep(20 * time.Millisecond) {
		if ok() {
			return true
		}
	}
	return false
}
