package conductor

import (
	"context"
	"fmt"
	"net/netip"
	"slices"
	"sync"
	"time"

	"cagenut/node"
)

const (
	// searchWorkers is how many addresses are asked at once.
	searchWorkers = 64
	// searchesKept is how many searches are remembered, the newest ones.
	searchesKept = 5
	// newsPause is how long news of a search or a run wait for company.
	newsPause = 250 * time.Millisecond
)

// SearchRequest says where BMCs are to be looked for.
type SearchRequest struct {
	Where     string // as it was typed, for people
	Addresses []netip.Addr
	Ports     node.SearchPorts
}

// Search is what is known of a search at a moment.
type Search struct {
	ID        string
	By        node.Actor
	Where     string
	Ports     node.SearchPorts
	StartedAt time.Time
	EndedAt   time.Time // zero while it runs
	Cancelled bool      // somebody has stopped it, or the appliance has
	Total     int       // addresses
	Asked     int       // of them, so far
	Found     []Find    // by address
}

// Find is a BMC that was found.
type Find struct {
	node.FoundBMC
	// KnownAs is the node whose BMC it is already; nil for none.
	KnownAs *Twin
}

// search is a search with what runs it.
type search struct {
	mu      sync.Mutex
	s       Search
	stopped bool
	cancel  context.CancelFunc // nil until it runs
	told    time.Time
}

// StartSearch begins to ask addresses, in the background, and returns the id of the search. *node.Conflict while another one
// runs: a network is asked by one person at a time.
func (e *Enroller) StartSearch(ctx context.Context, actor node.Actor, req SearchRequest) (string, error) {
	if len(req.Ports.Redfish)+len(req.Ports.IPMI) == 0 {
		return "", node.Invalidf("Say at which ports BMCs are looked for, of Redfish, of IPMI or of both.")
	}
	if len(req.Addresses) == 0 || len(req.Addresses) > MostSearched {
		return "", node.Invalidf("Between one address and %d are searched at a time.", MostSearched)
	}
	req.Ports = node.SearchPorts{Redfish: onceEach(req.Ports.Redfish), IPMI: onceEach(req.Ports.IPMI)}
	s := &search{s: Search{ID: node.NewUUID(), By: actor, Where: req.Where, Ports: req.Ports, StartedAt: e.c.Clock.Now(), Total: len(req.Addresses)}}
	if err := e.keepSearch(s); err != nil {
		return "", err
	}
	a := e.c.about(actor, "search for BMCs", "")
	a.Reason = node.Shorten(req.Where, auditLimit)
	err := e.c.Moves.Note(ctx, nil, &a)
	if err == nil {
		err = e.begin(func(ctx context.Context) { e.work(ctx, s, req) })
	}
	if err != nil {
		e.endSearch(s, true)
		return "", fmt.Errorf("begin to search: %w", err)
	}
	return s.s.ID, nil
}

// onceEach leaves out what is there a second time: a port that is named twice is no second BMC.
func onceEach[T comparable](all []T) (out []T) {
	for _, one := range all {
		if !slices.Contains(out, one) {
			out = append(out, one)
		}
	}
	return out
}

// keepSearch remembers a search, unless one runs.
func (e *Enroller) keepSearch(s *search) error {
	e.mu.Lock()
	defer e.mu.Unlock()
	for _, other := range e.searches {
		if now := other.snapshot(); now.EndedAt.IsZero() {
			return &node.Conflict{Text: fmt.Sprintf("A search of %s is running. Wait for its end, or cancel it.", node.Shorten(now.Where, 80))}
		}
	}
	e.searches = append(e.searches, s)
	if len(e.searches) > searchesKept {
		e.searches = slices.Delete(e.searches, 0, len(e.searches)-searchesKept)
	}
	return nil
}

// work asks all addresses, a bounded number at a time.
func (e *Enroller) work(ctx context.Context, s *search, req SearchRequest) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	if !s.runs(cancel) {
		e.endSearch(s, true)
		return
	}
	addresses := make(chan netip.Addr)
	var asking sync.WaitGroup
	for range min(searchWorkers, len(req.Addresses)) {
		asking.Go(func() {
			for a := range addresses {
				e.askAt(ctx, s, a, req.Ports)
			}
		})
	}
	for _, a := range req.Addresses {
		select {
		case addresses <- a:
			continue
		case <-ctx.Done():
		}
		break
	}
	close(addresses)
	asking.Wait()
	e.endSearch(s, ctx.Err() != nil)
}

func (e *Enroller) askAt(ctx context.Context, s *search, at netip.Addr, ports node.SearchPorts) {
	var finds []Find
	for _, f := range e.Finder.Find(ctx, at, ports) {
		find := Find{FoundBMC: f}
		known, err := e.knownAs(ctx, f)
		if err != nil {
			e.c.Log.Warn("a search cannot tell whether a BMC is a node's already", "bmc", f.Key(), "err", err)
		}
		find.KnownAs = known
		finds = append(finds, find)
	}
	if ctx.Err() != nil && len(finds) == 0 {
		return // it was not asked to the end
	}
	if s.add(finds, e.c.Clock.Now()) {
		e.Announce(s.s.ID)
	}
}

// knownAs is the node whose BMC was found, nil for none.
func (e *Enroller) knownAs(ctx context.Context, f node.FoundBMC) (*Twin, error) {
	for _, driver := range f.Drivers() {
		same, err := e.behind(ctx, node.Node{Driver: driver, DriverInfo: f.DriverInfo(driver)})
		if err != nil {
			return nil, err
		}
		if len(same) > 0 {
			return &Twin{Kind: SameBMC, UUID: same[0].UUID, Name: same[0].Label()}, nil
		}
	}
	return nil, nil
}

func (e *Enroller) endSearch(s *search, cancelled bool) {
	s.mu.Lock()
	s.s.EndedAt, s.s.Cancelled = e.c.Clock.Now(), cancelled
	s.mu.Unlock()
	e.Announce(s.s.ID)
}

// Search is what is known of a search now; *node.NotFound for one that is not remembered. With "" it is the newest.
func (e *Enroller) Search(id string) (Search, error) {
	s, err := e.searchOf(id)
	if err != nil {
		return Search{}, err
	}
	return s.snapshot(), nil
}

func (e *Enroller) searchOf(id string) (*search, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	for _, s := range slices.Backward(e.searches) {
		if id == "" || s.s.ID == id {
			return s, nil
		}
	}
	return nil, &node.NotFound{What: "Search", Ident: id}
}

// CancelSearch ends a search; what was found so far stays. It is no error that it has ended.
func (e *Enroller) CancelSearch(ctx context.Context, actor node.Actor, id string) error {
	s, err := e.searchOf(id)
	if err != nil {
		return err
	}
	if !s.stop() {
		return nil
	}
	a := e.c.about(actor, "cancel search for BMCs", "")
	a.Reason = node.Shorten(s.s.Where, auditLimit)
	return e.c.Moves.Note(ctx, nil, &a)
}

// runs notes by what a search is stopped; false when it was already.
func (s *search) runs(cancel context.CancelFunc) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.cancel = cancel
	return !s.stopped
}

// stop ends a search that runs; false for one that does not.
func (s *search) stop() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.stopped || !s.s.EndedAt.IsZero() {
		return false
	}
	s.stopped = true
	if s.cancel != nil {
		s.cancel()
	}
	return true
}

// add counts an address that was asked, and tells whether it is time to say so.
func (s *search) add(finds []Find, now time.Time) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.s.Asked++
	s.s.Found = append(s.s.Found, finds...)
	slices.SortFunc(s.s.Found, func(a, b Find) int {
		if c := a.Address.Compare(b.Address); c != 0 {
			return c
		}
		return compareKeys(a.Key(), b.Key())
	})
	if now.Sub(s.told) < newsPause {
		return false
	}
	s.told = now
	return true
}

// compareKeys puts https://a before https://a:8443, and ports in their order.
func compareKeys(a, b string) int {
	if len(a) != len(b) {
		return len(a) - len(b)
	}
	if a < b {
		return -1
	}
	return 1
}

// became notes as which node a find was enrolled.
func (s *search) became(key string, as Twin) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for i := range s.s.Found {
		if s.s.Found[i].Key() == key {
			s.s.Found[i].KnownAs = &as
		}
	}
}

func (s *search) snapshot() Search {
	s.mu.Lock()
	defer s.mu.Unlock()
	now := s.s
	now.Found = slices.Clone(s.s.Found)
	return now
}
