package auth

import (
	"maps"
	"net/netip"
	"slices"
	"sync"
	"time"
)

// How often a password may be wrong before the next try has to wait: one second, twice as long after each further wrong one,
// up to a bound. A name is counted at an address only, so that a stranger who tries names elsewhere keeps nobody out;
// an address, whatever the names, is counted more leniently, because people may share it.
const (
	freePair, freeAddress       = 5, 30
	longestPair, longestAddress = 5 * time.Minute, time.Minute
	// forgotten is after how long without a wrong password the count begins anew.
	forgotten = time.Hour
	// mostCounted bounds the memory; the counts that are the longest without a wrong password give way.
	mostCounted = 10000
)

// place is whose wrong passwords are counted together; without a name it is the address whatever the names.
type place struct{ name, address string }

func (p place) bounds() (free int, most time.Duration) {
	if p.name == "" {
		return freeAddress, longestAddress
	}
	return freePair, longestPair
}

type count struct {
	wrong int
	last  time.Time
	until time.Time // no try before
	told  bool      // this pause has been written into the audit
}

// throttle makes guessing slow.
type throttle struct {
	now func() time.Time

	mu     sync.Mutex
	counts map[place]*count
}

func newThrottle(now func() time.Time) *throttle {
	return &throttle{now: now, counts: map[place]*count{}}
}

// network is what counts as one address: of IPv6 the /64, because whoever has one address of it has all of them.
func network(address string) string {
	a, err := netip.ParseAddr(address)
	if err != nil || a.Unmap().Is4() {
		return address
	}
	p, err := a.WithZone("").Prefix(64)
	if err != nil {
		return address
	}
	return p.String()
}

func places(name, address string) [2]place {
	at := network(address)
	if len(name) > longestName { // memory is bounded whatever is typed
		name = digestOf(name)
	}
	return [2]place{{name, at}, {"", at}}
}

// wait is how long the next try has to wait; first tells that nobody was told in this pause yet.
func (t *throttle) wait(name, address string) (d time.Duration, first bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	now := t.now()
	for _, p := range places(name, address) {
		if c := t.counts[p]; c != nil && c.until.After(now) {
			if left := c.until.Sub(now); left > d {
				d = left
			}
			first = first || !c.told
			c.told = true
		}
	}
	return d, first
}

// wrong counts a wrong password.
func (t *throttle) wrong(name, address string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	now := t.now()
	for _, p := range places(name, address) {
		c := t.counts[p]
		if c == nil || now.Sub(c.last) > forgotten {
			t.makeRoom(now)
			c = &count{}
			t.counts[p] = c
		}
		c.wrong++
		c.last = now
		if free, most := p.bounds(); c.wrong >= free {
			pause := most
			if doublings := c.wrong - free; doublings < 16 {
				pause = min(most, time.Second<<doublings)
			}
			c.until, c.told = now.Add(pause), false
		}
	}
}

// right forgets the wrong ones of a name at an address. Those of the address stay: an account of one's own must not help to
// guess those of others.
func (t *throttle) right(name, address string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	delete(t.counts, places(name, address)[0])
}

// makeRoom drops a tenth at once where the memory is full, so that looking for the oldest is not each wrong password's work.
func (t *throttle) makeRoom(now time.Time) {
	if len(t.counts) < mostCounted {
		return
	}
	maps.DeleteFunc(t.counts, func(_ place, c *count) bool { return now.Sub(c.last) > forgotten })
	if len(t.counts) < mostCounted {
		return
	}
	oldestFirst := slices.SortedFunc(maps.Keys(t.counts), func(a, b place) int { return t.counts[a].last.Compare(t.counts[b].last) })
	for _, p := range oldestFirst[:mostCounted/10] {
		delete(t.counts, p)
	}
}
