package ironic

import (
	"strings"
	"time"

	"github.com/gofiber/fiber/v2"

	"cagenut/node"
)

// Options are what the API is served with.
type Options struct {
	Conductor Conductor
	Store     Store
	// Host is this appliance's name: the one conductor, and the host of all drivers.
	Host string
	// MaxMinor is the ceiling 1.N; 96 if 0 or higher.
	MaxMinor int
	// PublicURL is the base of links, without a slash at its end; "" takes it from each request.
	PublicURL string
}

type api struct {
	Options
	nodes   *resource[node.Node]
	ports   *resource[node.Port]
	chassis *resource[node.Chassis]
	rules   *resource[node.InspectionRule]
	public  string
	since   time.Time // when this conductor began to serve
}

func newAPI(o Options) *api {
	if o.MaxMinor <= 0 || o.MaxMinor > newest {
		o.MaxMinor = newest
	}
	return &api{
		Options: o, nodes: nodeResource(), ports: portResource(), chassis: chassisResource(), rules: ruleResource(),
		public: strings.TrimSuffix(o.PublicURL, "/"), since: time.Now(),
	}
}

// Register adds the routes of the Bare Metal API to r. The application should answer errors below them with
// [ErrorShapes].
func Register(r fiber.Router, o Options) {
	a := newAPI(o)
	for _, op := range a.operations() {
		h := a.serve(op)
		r.Add(op.Method, op.Path, h)
		// The tree is served without the prefix too: those addresses are the bookmarks (contract.md §1.2).
		if bookmark, ok := strings.CutPrefix(op.Path, "/v1/"); ok {
			r.Add(op.Method, "/"+bookmark, h)
		}
	}
	r.Get("/v1.json", a.serve(operation{do: a.root}))
}

// operations is the list of everything that is served. Order matters where a fixed word stands beside a name.
func (a *api) operations() []operation {
	var all []operation
	for _, part := range [][]operation{
		a.discoveryOperations(), a.nodeOperations(), a.stateOperations(), a.recordOperations(), a.traitOperations(), a.portOperations(), a.chassisOperations(),
		a.driverOperations(), a.ruleOperations(), a.ramdiskOperations(), a.unservedOfNode(), a.unserved(),
	} {
		all = append(all, part...)
	}
	return all
}
