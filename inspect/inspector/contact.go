package inspector

import (
	"context"
	"errors"
	"sync"
	"time"

	"cagenut/node"
)

// contact is when a service answered last, and what went wrong since.
type contact struct {
	mu               sync.Mutex
	answered, failed time.Time
	err              error
}

// note keeps what came of a call. One that its caller gave up says nothing.
func (c *contact) note(ctx context.Context, err error) {
	if errors.Is(ctx.Err(), context.Canceled) {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if err != nil {
		c.failed, c.err = time.Now(), err
		return
	}
	c.answered, c.failed, c.err = time.Now(), time.Time{}, nil
}

// Contact tells where the external service is and whether it answers; the zero value for the embedded one.
func (i *Interface) Contact() node.InspectorContact {
	s := i.service
	if s == nil {
		return node.InspectorContact{}
	}
	s.contact.mu.Lock()
	defer s.contact.mu.Unlock()
	c := node.InspectorContact{External: true, Address: s.base, Answered: s.contact.answered, Failed: s.contact.failed}
	if s.contact.err != nil {
		c.Error = s.contact.err.Error()
	}
	return c
}
