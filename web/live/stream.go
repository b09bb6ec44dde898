package live

import (
	"bufio"
	"context"
	"net"
	"strconv"
	"sync/atomic"
	"time"

	"github.com/gofiber/fiber/v2"

	"cagenut/node"
	"cagenut/web"
)

// message is one thing for a client: ready bytes, a change still to be encoded, or the news that something was missed.
type message struct {
	raw    []byte
	change *node.Change
	again  bool
}

// stream is one client. Only the hub pushes, only the stream's own goroutine takes.
type stream struct {
	view     View
	programs bool                       // gets state changes, not fragments
	beat     []byte                     // sent on a silent stream
	still    func(context.Context) bool // whether who opened it would still be let in; nil: nobody asks
	queue    chan message
	lost     atomic.Bool // the queue was full: what is in it is incomplete
	conn     net.Conn
	patience time.Duration
}

// push never waits.
func (s *stream) push(m message) {
	select {
	case s.queue <- m:
	default:
		s.lost.Store(true)
	}
}

// missedSome empties the queue if it overflowed.
func (s *stream) missedSome() bool {
	if !s.lost.Load() {
		return false
	}
	for {
		select {
		case <-s.queue:
		default:
			s.lost.Store(false)
			return true
		}
	}
}

// hurry lets a write that a client does not take fail soon.
func (s *stream) hurry() { _ = s.conn.SetWriteDeadline(time.Now().Add(time.Second)) }

// send writes with a deadline that counts from now: a client that takes nothing is cut, one that is idle is not.
func (s *stream) send(w *bufio.Writer, b []byte) error {
	if err := s.conn.SetWriteDeadline(time.Now().Add(s.patience)); err != nil {
		return err
	}
	if _, err := w.Write(b); err != nil {
		return err
	}
	return w.Flush()
}

// handler says how a kind of stream begins, takes a message, and makes up for lost ones.
type handler interface {
	begin(ctx context.Context, send func([]byte) error) error
	take(m message, send func([]byte) error) error
	again(ctx context.Context, send func([]byte) error) error
}

// serve answers a request with a stream that lives until the client leaves, the hub ends, or its time is over.
func (h *Hub) serve(c *fiber.Ctx, s *stream, via handler) error {
	s.queue, s.conn, s.patience, s.still = make(chan message, h.o.Queue), c.Context().Conn(), h.o.Patience, web.StillIn(c)
	add := h.add
	if c.Method() == fiber.MethodHead {
		add = h.wouldAdd
	}
	if err := add(s); err != nil {
		c.Set(fiber.HeaderRetryAfter, "5")
		return err
	}
	c.Set(fiber.HeaderContentType, "text/event-stream; charset=utf-8")
	c.Set(fiber.HeaderCacheControl, "no-store")
	c.Set("X-Accel-Buffering", "no")
	if c.Method() == fiber.MethodHead {
		return nil
	}
	// The deadline of the last write must not meet another request on the same connection.
	c.Context().SetConnectionClose()
	c.Context().SetBodyStreamWriter(func(w *bufio.Writer) {
		defer h.remove(s)
		h.pump(w, s, via)
	})
	return nil
}

func (h *Hub) add(s *stream) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	if err := h.room(); err != nil {
		return err
	}
	h.streams[s] = struct{}{}
	h.open.Add(1)
	return nil
}

// wouldAdd says what add would: by HEAD a page asks why its stream was refused.
func (h *Hub) wouldAdd(*stream) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.room()
}

// room is nil while another stream may be opened. It needs the lock.
func (h *Hub) room() error {
	if len(h.streams) >= h.o.MaxStreams || h.ctx.Err() != nil {
		return ErrFull
	}
	return nil
}

func (h *Hub) remove(s *stream) {
	h.mu.Lock()
	delete(h.streams, s)
	h.mu.Unlock()
	h.open.Done()
}

// pump ends at the first write that fails: that is how one learns that a client has left.
func (h *Hub) pump(w *bufio.Writer, s *stream, via handler) {
	send := func(b []byte) error { return s.send(w, b) }
	if send([]byte("retry: 2000\n\n")) != nil {
		return
	}
	if err := via.begin(h.ctx, send); err != nil {
		return
	}
	beat := time.NewTicker(h.o.Heartbeat)
	defer beat.Stop()
	life := time.NewTimer(h.o.MaxLife)
	defer life.Stop()
	asked := time.Now()
	for h.ctx.Err() == nil {
		var err error
		select {
		case <-h.ctx.Done():
			return
		case <-life.C:
			if !s.programs {
				_ = send(encode("renew", "", nil)) // it may have left
			}
			return
		case <-beat.C:
			if time.Since(asked) >= h.o.AskEvery {
				if asked = time.Now(); !h.stillIn(s) {
					return
				}
			}
			err = send(s.beat)
		case m := <-s.queue:
			if s.missedSome() || m.again {
				err = via.again(h.ctx, send)
			} else {
				err = via.take(m, send)
			}
		}
		if err != nil {
			return
		}
	}
}

// stillIn tells whether who opened a stream would be let in now.
func (h *Hub) stillIn(s *stream) bool {
	if s.still == nil {
		return true
	}
	ctx, cancel := context.WithTimeout(h.ctx, drawTimeout)
	defer cancel()
	return s.still(ctx)
}

// Fragments streams what changes on a page: events `fragment` (HTML, each element in a <template> of its own), `resync`
// (too much was missed: fetch the page again), `beat` (nothing happens; the pause to the next one in milliseconds: a page
// that hears nothing for longer has lost its connection) and `renew` (the stream's time is over: open another). position is
// where the page was drawn, or the last event's id.
func (h *Hub) Fragments(c *fiber.Ctx, v View, position string) error {
	s := &stream{view: v, beat: encode("beat", "", []byte(strconv.FormatInt(h.o.Heartbeat.Milliseconds(), 10)))}
	return h.serve(c, s, &fragments{hub: h, view: v, from: position})
}

type fragments struct {
	hub  *Hub
	view View
	from string
}

func (f *fragments) begin(ctx context.Context, send func([]byte) error) error {
	nodes, now, ok := f.hub.missed(f.from)
	if !ok {
		return send(encode("resync", now, nil))
	}
	html, err := f.hub.draw(ctx, f.view, nodes)
	if err != nil {
		return send(encode("resync", now, nil))
	}
	if len(html) == 0 {
		return nil
	}
	return send(encode("fragment", now, html))
}

func (f *fragments) take(m message, send func([]byte) error) error { return send(m.raw) }

func (f *fragments) again(_ context.Context, send func([]byte) error) error {
	return send(encode("resync", f.hub.Position(), nil))
}

const (
	replayPage  = 500
	replayLimit = 20000
)

// Changes streams changes: events `state`, `power` and `bmc`, whose id is the change's, and `resync` (more was missed than
// is replayed: read the lists again). lastEventID is the last id that the client has seen, "" to begin now.
func (h *Hub) Changes(c *fiber.Ctx, lastEventID string, encode func(node.Change) []byte) error {
	s := &stream{programs: true, beat: []byte(": still here\n\n")}
	return h.serve(c, s, &changes{hub: h, asked: lastEventID, encode: encode})
}

type changes struct {
	hub    *Hub
	asked  string
	encode func(node.Change) []byte
	last   int64
	// replayed holds what the last replay sent: the queue may hold the same again. IDs alone do not tell, because on
	// PostgreSQL a lower one can be committed later.
	replayed map[int64]struct{}
}

func (p *changes) begin(ctx context.Context, send func([]byte) error) error {
	short, cancel := context.WithTimeout(ctx, drawTimeout)
	defer cancel()
	newest, err := p.hub.o.Store.LastChange(short)
	if err != nil {
		p.hub.o.Log.Warn("live: the newest change could not be read", "err", err)
		return err
	}
	p.last = newest
	if p.asked == "" {
		return nil
	}
	asked, err := strconv.ParseInt(p.asked, 10, 64)
	if err != nil || asked < 0 || asked > newest || newest-asked > replayLimit {
		return p.resync(send)
	}
	p.last = asked
	return p.again(ctx, send)
}

func (p *changes) take(m message, send func([]byte) error) error {
	if _, done := p.replayed[m.change.ID]; done {
		return nil
	}
	return p.write(*m.change, send)
}

func (p *changes) again(ctx context.Context, send func([]byte) error) error {
	p.replayed = map[int64]struct{}{}
	for len(p.replayed) <= replayLimit {
		short, cancel := context.WithTimeout(ctx, drawTimeout)
		page, err := p.hub.o.Store.Changes(short, p.last, replayPage)
		cancel()
		if err != nil {
			p.hub.o.Log.Warn("live: missed changes could not be read", "err", err)
			return err
		}
		for _, c := range page {
			if err := p.write(c, send); err != nil {
				return err
			}
			p.replayed[c.ID] = struct{}{}
		}
		if len(page) < replayPage {
			return nil
		}
	}
	return p.resync(send)
}

func (p *changes) write(c node.Change, send func([]byte) error) error {
	p.last = max(p.last, c.ID)
	return send(encode(kind(c), strconv.FormatInt(c.ID, 10), p.encode(c)))
}

// kind is the name of the event that tells a change.
func kind(c node.Change) string {
	switch {
	case c.Power != nil:
		return "power"
	case c.BMC != nil:
		return "bmc"
	}
	return "state"
}

func (p *changes) resync(send func([]byte) error) error {
	return send(encode("resync", strconv.FormatInt(p.last, 10), []byte("{}")))
}
