package store

import (
	"context"
	"sync"

	"cagenut/node"
)

// watchDepth is how many notices a watcher may lag behind before it misses some.
const watchDepth = 64

// hub tells watchers what a commit changed.
type hub struct {
	mu       sync.Mutex
	watchers map[*watcher]struct{}
	closed   bool
}

type watcher struct {
	ch chan node.Notice
}

func newHub() *hub { return &hub{watchers: map[*watcher]struct{}{}} }

func (h *hub) tell(notices []node.Notice) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for w := range h.watchers {
		for _, n := range notices {
			w.tell(n)
		}
	}
}

// tell never waits: what a watcher has not read in time is taken back, and a zero Notice stands for all of it.
func (w *watcher) tell(n node.Notice) {
	for {
		select {
		case w.ch <- n:
			return
		default:
		}
		n = node.Notice{}
		for drained := false; !drained; {
			select {
			case <-w.ch:
			default:
				drained = true
			}
		}
	}
}

// Watch tells of every commit that changes a node, from now until ctx ends or the store closes, and then closes the
// channel. A reader that falls behind misses notices and finds a zero Notice instead: it must look at everything again.
func (s *Store) Watch(ctx context.Context) <-chan node.Notice {
	h := s.hub
	w := &watcher{ch: make(chan node.Notice, watchDepth)}
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.closed {
		close(w.ch)
		return w.ch
	}
	h.watchers[w] = struct{}{}
	context.AfterFunc(ctx, func() { h.drop(w) })
	return w.ch
}

func (h *hub) drop(w *watcher) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if _, ok := h.watchers[w]; ok {
		delete(h.watchers, w)
		close(w.ch)
	}
}

func (h *hub) close() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.closed = true
	for w := range h.watchers {
		close(w.ch)
	}
	clear(h.watchers)
}
