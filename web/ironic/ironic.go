package ironic

import (
	"strings"
	"time"

	"github.com/gofiber/fiber/v2"

	"cagenut/node"
	"cagenut/web/openapi"
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
// [ErrorShape].
func Register(r fiber.Router, o Options) {
	a := newAPI(o)
	for _, op := range a.operations() {
		paths := []string{op.Path}
		// The tree is served without the prefix too: those addresses are the bookmarks (contract.md §1.2).
		if bookmark, ok := strings.CutPrefix(op.Path, "/v1/"); ok {
			paths = append(paths, "/"+bookmark)
		}
		for _, path := range paths {
			r.Add(op.Method, path, a.serve(op, false))
			if last := path[strings.LastIndex(path, "/")+1:]; last != "" && last[0] != ':' {
				r.Add(op.Method, path+".json", a.serve(op, true))
			}
		}
	}
}

// Description is the API as the document of it shows it.
func Description(o Options) openapi.Part {
	a := newAPI(o)
	var all []openapi.Operation
	for _, op := range a.operations() {
		all = append(all, op.Operation)
	}
	return openapi.Part{Operations: all, Components: a.components, Refusals: refusals(), Headers: []openapi.Parameter{
		{Name: headerVersion, Does: "The microversion, 1.N or latest; 1.1 without it.", Kind: openapi.Text(16)},
	}}
}

// components are the schemas of everything that answers show more than once.
func (a *api) components(minor int) map[string]*openapi.Schema {
	word := openapi.Typed("string")
	return map[string]*openapi.Schema{
		"Link":  openapi.Record(map[string]*openapi.Schema{"href": word, "rel": word, "type": word}, "type"),
		"Links": openapi.ListOf(openapi.Ref("Link")),
		"Node":  a.nodes.reads(minor), "NodeInFull": a.nodes.readsInFull(minor),
		"Port": a.ports.reads(minor), "PortInFull": a.ports.readsInFull(minor),
		"Chassis": a.chassis.reads(minor), "ChassisInFull": a.chassis.readsInFull(minor),
		"InspectionRule": a.rules.reads(minor), "InspectionRuleInFull": a.rules.readsInFull(minor),
		"Driver": keyed(driverKeys(minor)), "Conductor": keyed(conductorKeys(minor)),
		"HistoryEntry": historySchema(minor), "Lookup": lookupSchema(minor),
		"ErrorMessage": {Description: "JSON within a string, as clients of Ironic expect it.", Type: "object", Required: []string{"error_message"}, AdditionalProperties: openapi.Nothing(),
			Properties: map[string]*openapi.Schema{"error_message": {Type: "string", ContentMediaType: "application/json"}}},
		"Fault":         openapi.Record(map[string]*openapi.Schema{"faultcode": word, "faultstring": word}),
		"SignInRefusal": openapi.Record(map[string]*openapi.Schema{"error": openapi.Record(map[string]*openapi.Schema{"message": word, "code": openapi.Typed("integer")})}),
	}
}

// refusals are the shapes of contract.md §1.5: that of handlers and routing, that of bodies which no handler sees, and
// that of who is not signed in (§7.1).
func refusals() map[int]*openapi.Schema {
	fault := &openapi.Schema{AnyOf: []*openapi.Schema{openapi.Ref("ErrorMessage"), openapi.Ref("Fault")}}
	return map[int]*openapi.Schema{
		0: openapi.Ref("ErrorMessage"), 413: fault, 415: fault, 401: openapi.Ref("SignInRefusal"), 429: openapi.Ref("SignInRefusal"),
		400: {AnyOf: []*openapi.Schema{openapi.Ref("ErrorMessage"), openapi.Ref("Fault"), openapi.Ref("SignInRefusal")}},
	}
}

// operations is the list of everything that is served. Order matters where a fixed word stands beside a name.
func (a *api) operations() []operation {
	var all []operation
	for _, part := range [][]operation{
		a.discoveryOperations(), a.nodeOperations(), a.stateOperations(), a.indicatorOperations(), a.mediaOperations(), a.recordOperations(), a.biosOperations(), a.traitOperations(), a.portOperations(), a.chassisOperations(),
		a.driverOperations(), a.ruleOperations(), a.ramdiskOperations(), a.unservedOfNode(), a.unserved(),
	} {
		all = append(all, part...)
	}
	return all
}
