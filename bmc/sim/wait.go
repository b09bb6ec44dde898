package sim

import (
	"context"
	"fmt"
	"sync"
)

// Wait returns when the condition holds, or an error that says what the server is doing when ctx ends first. The condition is
// asked now and after every change: power, boot override, phase, a request to the BMC. It may call all of the server's methods
// that read. For tests: nobody has to sleep.
func (s *Server) Wait(ctx context.Context, until func(*Server) bool) error {
	for {
		changed := s.news.next() // before the question, so that no change falls between the two
		if until(s) {
			return nil
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return fmt.Errorf("sim: %s is still in %q, phase %s: %w", s.Name, s.Power(), s.Phase(), ctx.Err())
		}
	}
}

// news wakes those who wait for a change.
type news struct {
	mu sync.Mutex
	ch chan struct{}
}

// next is closed at the next change.
func (n *news) next() <-chan struct{} {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.ch == nil {
		n.ch = make(chan struct{})
	}
	return n.ch
}

func (n *news) tell() {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.ch != nil {
		close(n.ch)
		n.ch = nil
	}
}
