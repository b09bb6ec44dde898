package live

import (
	"bytes"
	"context"
	"fmt"
	"log/slog"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/gofiber/fiber/v2"

	"cagenut/node"
)

// Store is where changes come from.
type Store interface {
	// Watch tells of every commit about a node. It drops rather than wait; a zero notice says that something was dropped.
	// The channel is closed when ctx ends.
	Watch(ctx context.Context) <-chan node.Notice
	// Changes lists state changes with an ID above after, ascending.
	Changes(ctx context.Context, after int64, limit int) ([]node.Change, error)
	// LastChange is the ID of the newest state change.
	LastChange(ctx context.Context) (int64, error)
}

// Pages draws fragments of the dashboard.
type Pages interface {
	// Draw is what a view shows of a node now, or that it is gone.
	Draw(ctx context.Context, v View, uuid string) ([]byte, error)
	// DrawCounts is how many nodes a view counts, of each kind.
	DrawCounts(ctx context.Context, v View) ([]byte, error)
}

// View is what a page of the dashboard watches. Equal views get the same bytes.
type View struct {
	Node    string // UUID; "" for the list
	Filter  string // of the list: the query of its address, which its counts depend on, but no row
	Attempt string // with a node: the page of one of its attempts
	Act     bool   // the viewer may act: buttons are drawn
	// Discovered: the list of discovered machines, instead of that of nodes
	Discovered bool
	Rack       string // the page of a rack, by its name; with Racks a part of their names
	Racks      bool   // the page of all racks
	Run        string // the page of something that works on many nodes, by its UUID; news of it have the same UUID
	Language   string // tag of the language that the page is drawn in
}

// Options are a hub's dependencies and limits. Zero limits mean the defaults.
type Options struct {
	Store Store
	Pages Pages
	Log   *slog.Logger

	MaxStreams int           // streams at once; 512
	Heartbeat  time.Duration // pause between signs of life on a silent stream; 5 s
	Patience   time.Duration // how long a client may take nothing before it is cut; 10 s
	MaxLife    time.Duration // of one stream; 30 min
	CountEvery time.Duration // counts are sent at most this often; 1 s
	AskEvery   time.Duration // how often it is asked whether who opened a stream would still be let in; 15 s
	Queue      int           // events that a slow client may lag behind; 32
}

// ErrFull says that there are as many streams as allowed (503, Retry-After is set).
var ErrFull error = fiber.NewError(fiber.StatusServiceUnavailable, "too many event streams are open; try again later")

const (
	remembered  = 1024 // how many notices a page may have missed and still catch up
	catchUp     = 64   // how many nodes are drawn for that; more is a fresh page's work
	batchLimit  = 256
	drawTimeout = 5 * time.Second

	countsMayTake = 100 * time.Millisecond // at once: rows do not wait for them
)

// Hub fans out. Its methods are safe for concurrent use.
type Hub struct {
	o     Options
	epoch string // tells this process's positions from those of an earlier one

	ctx  context.Context // ends when Run ends
	stop context.CancelFunc
	open sync.WaitGroup

	mu      sync.Mutex
	streams map[*stream]struct{}
	seq     int64    // notices so far
	floor   int64    // positions below it cannot catch up
	recent  []string // what notice n was about at n % remembered, as keyOf says
}

// New makes a hub; it does nothing until Run.
func New(o Options) *Hub {
	if o.MaxStreams == 0 {
		o.MaxStreams = 512
	}
	if o.Queue == 0 {
		o.Queue = 32
	}
	def := func(d *time.Duration, v time.Duration) {
		if *d == 0 {
			*d = v
		}
	}
	def(&o.Heartbeat, 5*time.Second)
	def(&o.Patience, 10*time.Second)
	def(&o.MaxLife, 30*time.Minute)
	def(&o.CountEvery, time.Second)
	def(&o.AskEvery, 15*time.Second)
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	h := &Hub{o: o, epoch: node.NewUUID()[:8], streams: map[*stream]struct{}{}, recent: make([]string, remembered)}
	h.ctx, h.stop = context.WithCancel(context.Background())
	return h
}

// Run fans out until ctx ends or the store's channel is closed; it returns when every stream has ended.
func (h *Hub) Run(ctx context.Context) error {
	defer h.end()
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	notices := h.o.Store.Watch(ctx)
	var counts <-chan time.Time
	for {
		select {
		case <-ctx.Done():
			return nil
		case n, ok := <-notices:
			if !ok {
				return nil
			}
			h.tell(ctx, drain(n, notices))
			if counts == nil {
				counts = time.After(h.o.CountEvery)
			}
		case <-counts:
			if counts = nil; !h.tellCounts(ctx) {
				counts = time.After(h.o.CountEvery)
			}
		}
	}
}

func drain(first node.Notice, more <-chan node.Notice) []node.Notice {
	batch := []node.Notice{first}
	for len(batch) < batchLimit {
		select {
		case n, ok := <-more:
			if !ok {
				return batch
			}
			batch = append(batch, n)
		default:
			return batch
		}
	}
	return batch
}

func (h *Hub) end() {
	h.stop()
	h.mu.Lock()
	for s := range h.streams {
		s.hurry()
	}
	h.mu.Unlock()
	h.open.Wait()
}

// Position names the present moment in the stream of fragments. A page reads it before it reads what it draws, and gives
// it back when it opens its stream: nothing that happens between is lost.
func (h *Hub) Position() string {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.position()
}

func (h *Hub) position() string { return h.epoch + "." + strconv.FormatInt(h.seq, 10) }

// missed lists the nodes with news since a position; ok is false when the position is too old or from elsewhere.
func (h *Hub) missed(position string) (nodes []string, now string, ok bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	now = h.position()
	number, found := strings.CutPrefix(position, h.epoch+".")
	from, err := strconv.ParseInt(number, 10, 64)
	if !found || err != nil || from < h.floor || from > h.seq || h.seq-from > remembered {
		return nil, now, false
	}
	for n := from + 1; n <= h.seq; n++ {
		if uuid := h.recent[n%remembered]; !slices.Contains(nodes, uuid) {
			nodes = append(nodes, uuid)
		}
		if len(nodes) > catchUp {
			return nil, now, false
		}
	}
	return nodes, now, true
}

// runKey stands before the UUID of a run where the UUIDs of nodes stand without anything.
const runKey = "run "

func keyOf(n node.Notice) string {
	if n.Run {
		return runKey + n.NodeUUID
	}
	return n.NodeUUID
}

// shows tells whether a view may show something of what a key names, and its UUID.
func (v View) shows(key string) (uuid string, ok bool) {
	uuid, run := strings.CutPrefix(key, runKey)
	switch {
	case run || v.Run != "":
		return uuid, run && v.Run == uuid
	case v.Node != "":
		return uuid, v.Node == uuid
	}
	return uuid, true
}

// tell gives a batch of notices to everybody: first the changes, which need no drawing, then the fragments.
func (h *Hub) tell(ctx context.Context, batch []node.Notice) {
	var nodes []string
	gap := false
	h.mu.Lock()
	for _, n := range batch {
		h.seq++
		if n.NodeUUID == "" {
			gap = true
			h.floor = h.seq
			continue
		}
		key := keyOf(n)
		h.recent[h.seq%remembered] = key
		if !slices.Contains(nodes, key) {
			nodes = append(nodes, key)
		}
	}
	now := h.position()
	views := map[View][]*stream{}
	for s := range h.streams {
		if !s.programs {
			v := s.view
			v.Filter = ""
			views[v] = append(views[v], s)
			continue
		}
		if gap {
			s.push(message{again: true})
		}
		for _, n := range batch {
			if n.Change != nil {
				s.push(message{change: n.Change})
			}
		}
	}
	h.mu.Unlock()

	for v, streams := range views {
		m := message{again: true}
		if !gap {
			html, err := h.draw(ctx, v, nodes)
			if err != nil {
				h.o.Log.Warn("live: a fragment could not be drawn; its pages are told to reload", "err", err)
			} else if len(html) == 0 {
				continue
			} else {
				m = message{raw: encode("fragment", now, html)}
			}
		}
		for _, s := range streams {
			s.push(m)
		}
	}
}

// draw is one fragment for all the nodes of a batch that a view shows.
func (h *Hub) draw(ctx context.Context, v View, nodes []string) ([]byte, error) {
	ctx, cancel := context.WithTimeout(ctx, drawTimeout)
	defer cancel()
	var all bytes.Buffer
	for _, key := range nodes {
		uuid, ok := v.shows(key)
		if !ok {
			continue
		}
		html, err := h.o.Pages.Draw(ctx, v, uuid)
		if err != nil {
			return nil, fmt.Errorf("draw node %s: %w", uuid, err)
		}
		all.Write(html)
	}
	return all.Bytes(), nil
}

// tellCounts draws the counts of every view that has some. Where that takes too long, it is false: then those that are left
// have to wait for their turn.
func (h *Hub) tellCounts(ctx context.Context) bool {
	h.mu.Lock()
	views := map[View][]*stream{}
	for s := range h.streams {
		if v := s.view; !s.programs && v.Node == "" && v.Run == "" {
			v.Act = false // nobody acts on a count
			views[v] = append(views[v], s)
		}
	}
	h.mu.Unlock()
	ctx, cancel := context.WithTimeout(ctx, drawTimeout)
	defer cancel()
	began := time.Now()
	for v, streams := range views {
		if time.Since(began) > countsMayTake {
			return false
		}
		html, err := h.o.Pages.DrawCounts(ctx, v)
		if err != nil {
			h.o.Log.Warn("live: the counts could not be drawn", "err", err)
			continue
		}
		m := message{raw: encode("fragment", "", html)}
		for _, s := range streams {
			s.push(m)
		}
	}
	return true
}

// encode is one event on the wire. Every kind of line end in the data begins a new data line.
func encode(event, id string, data []byte) []byte {
	var b bytes.Buffer
	b.WriteString("event: " + event + "\n")
	if id != "" {
		b.WriteString("id: " + id + "\n")
	}
	data = bytes.ReplaceAll(bytes.ReplaceAll(data, []byte("\r\n"), []byte("\n")), []byte("\r"), []byte("\n"))
	for line := range bytes.SplitSeq(data, []byte("\n")) {
		b.WriteString("data: ")
		b.Write(line)
		b.WriteByte('\n')
	}
	b.WriteByte('\n')
	return b.Bytes()
}
