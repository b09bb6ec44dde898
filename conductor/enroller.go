package conductor

import (
	"context"
	"net"
	"net/netip"
	"sync"

	"cagenut/node"
)

// Endpoints tells BMCs apart. No network.
type Endpoints interface {
	// Endpoint says which BMC the node's is, and its host name or address alone; "" for a driver without BMCs. *node.Invalid
	// as BMCs.Validate.
	Endpoint(n node.Node) (endpoint, host string, err error)
}

// Neighbours is who is there already.
type Neighbours interface {
	Nodes(ctx context.Context, f node.Filter) ([]node.Node, error)
	// NodesBehind lists nodes whose BMC has one of the addresses, as driver_info spells them.
	NodesBehind(ctx context.Context, addresses []string) ([]node.Node, error)
	// Summaries is a list with the serial numbers that were reported.
	Summaries(ctx context.Context, l node.List) (node.Summaries, error)
}

// Finder asks addresses for BMCs.
type Finder interface {
	// Find says which BMCs answer at an address, within seconds, without any credentials.
	Find(ctx context.Context, at netip.Addr, ports node.SearchPorts) []node.FoundBMC
}

// EnrollerNeeds is what an [Enroller] works with beside its conductor.
type EnrollerNeeds struct {
	Endpoints  Endpoints
	Neighbours Neighbours
	Finder     Finder
	// Announce tells whoever watches that there is news of a search or a run, by its UUID.
	Announce func(uuid string)
	// Resolve looks a host name up; DNS if nil.
	Resolve func(ctx context.Context, host string) ([]netip.Addr, error)
	// LocalTargets lets people have this machine's own addresses asked: right where nobody reaches the appliance from elsewhere.
	LocalTargets bool
}

// Enroller lets people enrol servers: one after its BMC was tried, many from a list, and those that a search of addresses
// has found. Searches and runs go on in the background of [Enroller.Run] and are kept in memory alone: what they made are
// nodes, and those are kept.
type Enroller struct {
	EnrollerNeeds
	c     *Conductor
	works chan func(context.Context)

	mu       sync.Mutex
	searches []*search
	runs     []*enrolRun

	// making is held from the look whether a line's server is there until its node is made: of runs that meet, one makes it.
	making sync.Mutex
}

// mostWorks is how many searches and runs may wait for Run to begin them.
const mostWorks = 8

// NewEnroller makes an enroller; its background begins with Run.
func NewEnroller(c *Conductor, n EnrollerNeeds) *Enroller {
	if n.Resolve == nil {
		n.Resolve = func(ctx context.Context, host string) ([]netip.Addr, error) {
			return net.DefaultResolver.LookupNetIP(ctx, "ip", host)
		}
	}
	if n.Announce == nil {
		n.Announce = func(string) {}
	}
	return &Enroller{EnrollerNeeds: n, c: c, works: make(chan func(context.Context), mostWorks)}
}

// Run works on searches and runs until ctx ends, and returns when all of them have.
func (e *Enroller) Run(ctx context.Context) error {
	var working sync.WaitGroup
	defer working.Wait()
	for {
		select {
		case <-ctx.Done():
			return nil
		case work := <-e.works:
			working.Go(func() { work(ctx) })
		}
	}
}

// begin hands work to Run.
func (e *Enroller) begin(work func(context.Context)) error {
	select {
	case e.works <- work:
		return nil
	default:
		return &node.Conflict{Text: "Too much is waiting to be begun. Try again in a moment."}
	}
}
