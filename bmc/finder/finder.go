package finder

import (
	"context"
	"net/netip"
	"strings"
	"sync"
	"time"

	"cagenut/node"
)

// Options bound a [Finder]. Zero values are the defaults.
type Options struct {
	// Timeout is how long one address may take, all its ports together; 2 s.
	Timeout time.Duration
	// Again is after how long a datagram is repeated that nobody answered; a third of Timeout.
	Again time.Duration
}

// Finder asks addresses. It keeps nothing between two of them and is safe for concurrent use.
type Finder struct{ o Options }

// New makes a finder.
func New(o Options) *Finder {
	if o.Timeout <= 0 {
		o.Timeout = 2 * time.Second
	}
	if o.Again <= 0 {
		o.Again = o.Timeout / 3
	}
	return &Finder{o: o}
}

// Find asks one address at all of the ports at once and says which BMCs are there: mostly none or one. One that speaks both
// protocols is one find. It returns within the time-out, earlier when ctx ends, and leaves nothing running.
func (f *Finder) Find(ctx context.Context, at netip.Addr, ports node.SearchPorts) []node.FoundBMC {
	ctx, cancel := context.WithTimeout(ctx, f.o.Timeout)
	defer cancel()
	services, others := make([]*node.FoundRedfish, len(ports.Redfish)), make([]*node.FoundIPMI, len(ports.IPMI))
	var asking sync.WaitGroup
	for i, p := range ports.Redfish {
		asking.Go(func() { services[i] = askRedfish(ctx, at, p) })
	}
	for i, port := range ports.IPMI {
		asking.Go(func() { others[i] = f.askIPMI(ctx, at, port) })
	}
	asking.Wait()
	return join(at, once(services), there(others))
}

// join makes finds of what answered at an address. Only where there is one of each protocol are they taken for one BMC.
func join(at netip.Addr, services []*node.FoundRedfish, others []*node.FoundIPMI) (found []node.FoundBMC) {
	if len(services) == 1 && len(others) == 1 {
		return []node.FoundBMC{{Address: at, Redfish: services[0], IPMI: others[0]}}
	}
	for _, s := range services {
		found = append(found, node.FoundBMC{Address: at, Redfish: s})
	}
	for _, o := range others {
		found = append(found, node.FoundBMC{Address: at, IPMI: o})
	}
	return found
}

func there[T any](all []*T) (out []*T) {
	for _, one := range all {
		if one != nil {
			out = append(out, one)
		}
	}
	return out
}

// once leaves out a service that was met a second time, over plain HTTP or at another port.
func once(services []*node.FoundRedfish) (out []*node.FoundRedfish) {
	seen := map[string]bool{}
	for _, secure := range []bool{true, false} {
		for _, s := range there(services) {
			if strings.HasPrefix(s.URL, "https://") != secure || (s.UUID != "" && seen[s.UUID]) {
				continue
			}
			seen[s.UUID] = true
			out = append(out, s)
		}
	}
	return out
}
