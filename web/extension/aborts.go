package extension

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"sort"
	"strings"
	"sync"

	"github.com/gofiber/fiber/v2"

	"cagenut/conductor"
	"cagenut/node"
	"cagenut/web"
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
	if _, role := web.User(c); role != web.RoleOperator && role != web.RoleAdmin {
		return fiber.NewError(fiber.StatusForbidden, "Your role may look, but not act.")
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
	return a.o.Conductor.SetProvisionState(ctx, actor, t.node.UUID, conductor.ProvisionRequest{Target: string(node.Abort), Reason: req.reason, KeepPowerOn: req.keepPowerOn})
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

// parseAborts is strict: a key that is not known, or is of another type, is an error that names it.
func parseAborts(body []byte) (abortRequest, error) {
	keys, err := object(body)
	if err != nil {
		return abortRequest{}, bad("The body must be one JSON object: " + err.Error() + ".")
	}
	var req abortRequest
	choices := 0
	for key, value := range keys {
		ok := true
		switch key {
		case "nodes":
			choices++
			ok = json.Unmarshal(value, &req.nodes) == nil && len(req.nodes) > 0
			for _, id := range req.nodes {
				ok = ok && id != ""
			}
			if len(req.nodes) > abortsMost {
				return req, bad("nodes may name 1000 nodes at most.")
			}
		case "rack":
			choices++
			req.filter = &node.Filter{IncludeChildren: true}
			ok = json.Unmarshal(value, &req.filter.Rack) == nil && req.filter.Rack != ""
		case "filter":
			choices++
			f, err := parseFilter(value)
			if err != nil {
				return req, err
			}
			req.filter = &f
		case "reason":
			ok = string(value) == "null" || json.Unmarshal(value, &req.reason) == nil
		case "keep_power_on":
			ok = string(value) != "null" && json.Unmarshal(value, &req.keepPowerOn) == nil
		default:
			return req, bad("The key " + key + " is not known; known are nodes, rack, filter, reason and keep_power_on.")
		}
		if !ok {
			return req, bad("The value of " + key + " is empty or of the wrong type.")
		}
	}
	if choices != 1 {
		return req, bad("Exactly one of nodes, rack and filter must choose the nodes.")
	}
	if req.reason = strings.TrimSpace(req.reason); len([]rune(req.reason)) > reasonLimit {
		return req, bad("The reason is too long; 500 characters are enough.")
	}
	return req, nil
}

// object reads exactly one JSON object. Its keys keep their case, unlike those of a struct.
func object(body []byte) (map[string]json.RawMessage, error) {
	d := json.NewDecoder(bytes.NewReader(body))
	var keys map[string]json.RawMessage
	if err := d.Decode(&keys); err != nil {
		if errors.Is(err, io.EOF) {
			return nil, errors.New("it is empty")
		}
		return nil, errors.New("it is none")
	}
	if keys == nil {
		return nil, errors.New("it is null")
	}
	if d.Decode(new(any)) != io.EOF {
		return nil, errors.New("something follows it")
	}
	return keys, nil
}

// filterFields are the keys of a filter; each must be a non-empty string.
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

// parseFilter reads a filter. An empty one is refused: it would choose everything, which nobody should do by mistake.
func parseFilter(value json.RawMessage) (node.Filter, error) {
	f := node.Filter{IncludeChildren: true}
	keys, err := object(value)
	if err != nil || len(keys) == 0 {
		return f, bad("filter must be an object with at least one key.")
	}
	for key, raw := range keys {
		set, ok := filterFields[key]
		if !ok {
			known := make([]string, 0, len(filterFields))
			for k := range filterFields {
				known = append(known, k)
			}
			sort.Strings(known)
			return f, bad("The filter's key " + key + " is not known; known are " + strings.Join(known, ", ") + ".")
		}
		var s string
		if json.Unmarshal(raw, &s) != nil || s == "" {
			return f, bad("The filter's value of " + key + " is empty or of the wrong type.")
		}
		set(&f, s)
	}
	if len(f.ProvisionStates) == 1 && !f.ProvisionStates[0].Valid() {
		return f, bad("The filter's provision_state is no state.")
	}
	return f, nil
}
