package conductor

import (
	"sync"
	"time"
)

// How many refusals of one kind and attempt are written down: whoever posts in a loop must not keep the database busy.
const (
	refusalsAMinute = 20
	refusalKinds    = 10_000 // remembered at once
)

// refusals counts what was refused lately, by kind and attempt.
type refusals struct {
	mu   sync.Mutex
	seen map[string]refusal
}

type refusal struct {
	since time.Time
	times int
}

// noted tells whether one more is worth writing down.
func (r *refusals) noted(key string, now time.Time) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	one, known := r.seen[key]
	if !known || now.Sub(one.since) >= time.Minute {
		one = refusal{since: now}
	}
	if !known && len(r.seen) >= refusalKinds {
		for k, old := range r.seen {
			if now.Sub(old.since) >= time.Minute {
				delete(r.seen, k)
			}
		}
		if len(r.seen) >= refusalKinds {
			return false
		}
	}
	one.times++
	r.seen[key] = one
	return one.times <= refusalsAMinute
}
