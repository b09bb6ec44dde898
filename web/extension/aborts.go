package extension

import (
	"context"
	"encoding/json"
	"errors"
	"maps"
	"slices"
	"strings"
	"sync"

	"github.com/gofiber/fiber/v2"

	"cagenut/conductor"
	"cagenut/node"
	"cagenut/web"
	"cagenut/web/openapi"
)

const (
	// abortsMost is how many nodes one request may name or choose.
	abortsMost = 1000
	// abortsAtOnce is how many aborts run beside each other: one that waits for a foreign inspector must not hold up the rest.
	abortsAtOnce = 8
	reasonLimit  = 500
)

// abortRequest is the body of POST aborts: exactly one of nodes (UUIDs or names), rack and filter chooses the nodes.
// Every chosen node gets a result, also those that have nothing to abort.
type abortRequest struct {
	nodes       []string
	filter      *node.Filter
	reason      string
	keepPowerOn bool
}

// AbortResult is what came of one node. Status is what the REST API would have answered.
type AbortResult struct {
	Node   *string     `json:"node"` // UUID; null for one that is not known
	Name   *string     `json:"name"`
	Status int         `json:"status"` // 202: aborted
	State  *node.State `json:"state"`  // after the request
	Error  string      `json:"error,omitempty"`
}

type abortAnswer struct {
	Results []AbortResult `json:"results"` // in the order of the request, or of the list
	Aborted int           `json:"aborted"`
	Refused int           `json:"refused"`
}

func (a *api) aborts(c *fiber.Ctx) error {
	if err := mayAct(c); err != nil {
		return err
	}
	if err := abortsOperation().CheckQuery(web.Query(c), 0, nil); err != nil {
		return err
	}
	req, err := parseAborts(c.Body())
	if err != nil {
		return err
	}
	chosen, err := a.choose(c.UserContext(), req)
	if err != nil {
		return err
	}
	actor := web.Actor(c, node.SourceAPI)
	out := abortAnswer{Results: make([]AbortResult, len(chosen))}
	failures := make([]error, len(chosen))
	ctx, slots := c.UserContext(), make(chan struct{}, abortsAtOnce)
	var running sync.WaitGroup
	for i, n := range chosen {
		slots <- struct{}{}
		running.Go(func() {
			defer func() { <-slots }()
			failures[i] = a.abort(ctx, actor, n, req)
		})
	}
	running.Wait()
	for i, n := range chosen {
		out.Results[i] = a.result(c, n, failures[i])
		if failures[i] == nil {
			out.Aborted++
		} else {
			out.Refused++
		}
	}
	return c.JSON(out)
}

// target is a chosen node, or the reason why it could not be found.
type target struct {
	node node.Node
	err  error
}

func (a *api) abort(ctx context.Context, actor node.Actor, t target, req abortRequest) error {
	if t.err != nil {
		return t.err
	}
	// The last of a thousand may have its turn minutes later: what was chosen is the inspection of now.
	return a.o.Conductor.SetProvisionState(ctx, actor, t.node.UUID, conductor.ProvisionRequest{
		Target: string(node.Abort), Attempt: t.node.AttemptID, Unattempted: t.node.AttemptID == "", Reason: req.reason, KeepPowerOn: req.keepPowerOn,
	})
}

func (a *api) result(c *fiber.Ctx, t target, err error) AbortResult {
	r := AbortResult{Node: orNull(t.node.UUID), Name: orNull(t.node.Name), Status: fiber.StatusAccepted}
	if err != nil {
		r.Status, r.Error = web.Explain(c, err)
		if r.Status == fiber.StatusInternalServerError {
			a.o.Log.Error("extension: abort", "node", t.node.UUID, "req", web.RequestID(c), "err", err)
		}
	}
	if t.err != nil {
		return r
	}
	state := t.node.ProvisionState
	if n, readErr := a.o.Store.Node(c.UserContext(), t.node.UUID); readErr == nil {
		state = n.ProvisionState
	} else if err == nil {
		state = node.InspectFailed // an accepted abort is true; only reading it again failed
	}
	r.State = &state
	return r
}

// choose finds the nodes. One that is named twice, by whatever name, is aborted once (G53).
func (a *api) choose(ctx context.Context, req abortRequest) ([]target, error) {
	var out []target
	if req.filter != nil {
		req.filter.Limit = abortsMost + 1
		nodes, err := a.o.Store.Nodes(ctx, *req.filter)
		if err != nil {
			return nil, err
		}
		if len(nodes) > abortsMost {
			return nil, bad("More than 1000 nodes match; choose fewer.")
		}
		for _, n := range nodes {
			out = append(out, target{node: n})
		}
		return out, nil
	}
	seen := map[string]bool{}
	for _, id := range req.nodes {
		n, err := a.o.Store.Node(ctx, id)
		var unknown *node.NotFound
		switch {
		case errors.As(err, &unknown):
			out = append(out, target{node: node.Node{Name: id}, err: err})
		case err != nil:
			return nil, err
		case !seen[n.UUID]:
			seen[n.UUID] = true
			out = append(out, target{node: n})
		}
	}
	return out, nil
}

// abortArguments are the body of POST aborts. It is strict: who aborts a thousand nodes should not be misunderstood.
func abortArguments() openapi.Arguments {
	return openapi.Arguments{
		{Name: "nodes", Does: "UUIDs or names.", Kind: names(abortsMost)},
		{Name: "rack", Kind: word()},
		{Name: "filter", Kind: filters{}},
		{Name: "reason", Kind: openapi.Text(reasonLimit)},
		{Name: "keep_power_on", Kind: openapi.Boolean()},
	}
}

func parseAborts(body []byte) (req abortRequest, err error) {
	args, err := strictly(body, abortArguments())
	if err != nil {
		return req, err
	}
	req.reason, req.keepPowerOn = strings.TrimSpace(args.Text("reason")), args.Flag("keep_power_on")
	choice, err := chosenBy(args)
	req.nodes, req.filter = choice.Idents, choice.Filter
	return req, err
}

// strictly reads a body that acts on many nodes: a null is no value but for the reason.
func strictly(body []byte, takes openapi.Arguments) (openapi.Values, error) {
	var object map[string]json.RawMessage
	if json.Unmarshal(body, &object) != nil || object == nil {
		return nil, bad("The body must be one JSON object.")
	}
	for key, raw := range object {
		if openapi.IsNull(raw) && key != "reason" {
			return nil, bad("The value of " + key + " is null; leave the key out.")
		}
	}
	return takes.Read(body, 0, nil)
}

// chosenBy is the choice of nodes in a body: exactly one of nodes, rack and filter.
func chosenBy(args openapi.Values) (choice node.BulkChoice, err error) {
	choices := 0
	for _, key := range []string{"nodes", "rack", "filter"} {
		if _, ok := args[key]; ok {
			choices++
		}
	}
	if choices != 1 {
		return choice, bad("Exactly one of nodes, rack and filter must choose the nodes.")
	}
	if rack := args.Text("rack"); rack != "" {
		choice.Filter = &node.Filter{IncludeChildren: true, Rack: rack}
	}
	if raw, ok := args["filter"]; ok {
		choice.Filter = filterOf(raw)
	}
	return choice, args.Into("nodes", &choice.Idents)
}

// word is the kind of a text that is not empty.
func word() openapi.Kind {
	one, most := 1, 255
	s := &openapi.Schema{Type: "string", MinLength: &one, MaxLength: &most}
	return openapi.Custom(s, s, func(name string, raw json.RawMessage) error {
		if string(raw) == `""` {
			return node.Invalidf("The value of %s is empty.", name)
		}
		return openapi.Text(most).Check(name, raw, 0)
	})
}

// names is the kind of a list of nodes, so many at the most.
func names(most int) openapi.Kind {
	one := 1
	s := openapi.ListOf(word().Takes(0))
	s.MinItems, s.MaxItems = &one, &most
	return openapi.Custom(s, s, func(name string, raw json.RawMessage) error {
		var list []json.RawMessage
		switch {
		case json.Unmarshal(raw, &list) != nil || len(list) == 0:
			return node.Invalidf("The value of %s is empty or no list.", name)
		case len(list) > most:
			return node.Invalidf("%s may name %d nodes at most.", name, most)
		}
		for _, item := range list {
			if err := word().Check(name, item, 0); err != nil || openapi.IsNull(item) {
				return node.Invalidf("A value of %s is no name.", name)
			}
		}
		return nil
	})
}

// filterFields are the keys of a filter.
var filterFields = map[string]func(*node.Filter, string){
	"provision_state": func(f *node.Filter, s string) { f.ProvisionStates = []node.State{node.State(s)} },
	"rack":            func(f *node.Filter, s string) { f.Rack = s },
	"driver":          func(f *node.Filter, s string) { f.Driver = s },
	"resource_class":  func(f *node.Filter, s string) { f.ResourceClass = s },
	"conductor_group": func(f *node.Filter, s string) { f.ConductorGroup = &s },
	"conductor":       func(f *node.Filter, s string) { f.Conductor = s },
	"owner":           func(f *node.Filter, s string) { f.Owner = s },
	"lessee":          func(f *node.Filter, s string) { f.Lessee = s },
	"shard":           func(f *node.Filter, s string) { f.Shards = []string{s} },
	"search":          func(f *node.Filter, s string) { f.Search = s },
}

// filters is the kind of a filter. An empty one is refused: it would choose everything, which nobody should do by mistake.
type filters struct{}

func (k filters) Reads(minor int) *openapi.Schema { return k.Takes(minor) }

func (filters) Takes(int) *openapi.Schema {
	one := 1
	s := &openapi.Schema{Type: "object", Properties: map[string]*openapi.Schema{}, AdditionalProperties: openapi.Nothing(), MinProperties: &one}
	for key := range filterFields {
		s.Properties[key] = word().Takes(0)
	}
	s.Properties["provision_state"] = openapi.OneOf(node.States()...)
	return s
}

func (filters) Check(name string, raw json.RawMessage, _ int) error {
	var keys map[string]json.RawMessage
	if json.Unmarshal(raw, &keys) != nil || len(keys) == 0 {
		return node.Invalidf("%s must be an object with at least one key.", name)
	}
	for _, key := range slices.Sorted(maps.Keys(keys)) {
		if _, ok := filterFields[key]; !ok {
			return node.Invalidf("The filter's key %s is not known; known are %s.", key, strings.Join(slices.Sorted(maps.Keys(filterFields)), ", "))
		}
		if err := word().Check(key, keys[key], 0); err != nil || openapi.IsNull(keys[key]) {
			return node.Invalidf("The filter's value of %s is empty or of the wrong type.", key)
		}
	}
	if f := filterOf(raw); len(f.ProvisionStates) == 1 && !f.ProvisionStates[0].Valid() {
		return node.Invalidf("The filter's provision_state is no state.")
	}
	return nil
}

// filterOf is what a checked filter chooses.
func filterOf(raw json.RawMessage) *node.Filter {
	f := node.Filter{IncludeChildren: true}
	var values map[string]string
	_ = json.Unmarshal(raw, &values) // its kind has been checked
	for key, value := range values {
		filterFields[key](&f, value)
	}
	return &f
}
