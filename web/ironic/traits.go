package ironic

import (
	"encoding/json"
	"fmt"
	"slices"

	"cagenut/node"
	"cagenut/web/openapi"
)

const traitsSince = 37

func (a *api) traitOperations() []operation {
	op := func(method, path, does string, older error, body openapi.Body, answer openapi.Answer, do func(*request) error) operation {
		o := openapi.Operation{Method: method, Path: "/v1/nodes/:node/traits" + path, Does: does, Tag: "traits", Since: traitsSince, Body: body, Answers: []openapi.Answer{answer}}
		if method != "GET" {
			o.May = []int{409}
		}
		return operation{o, older, do}
	}
	none := openapi.Answer{Status: 204}
	// Older versions have the path, but not these methods (contract.md §1.4).
	noMethod := &routed{status: 405, allow: "GET"}
	all := openapi.Arguments{{Name: "traits", Required: true, Kind: traitList()}}
	return []operation{
		op("GET", "", "List the traits of a node.", node.ErrNotAcceptable, nil,
			openapi.Answer{Status: 200, Shows: openapi.Shows(openapi.Record(map[string]*openapi.Schema{"traits": openapi.ListOf(openapi.Typed("string"))}))}, a.listTraits),
		op("PUT", "", "Replace all traits of a node.", noMethod, all, none, a.setTraits),
		op("DELETE", "", "Remove all traits of a node.", nil, nil, none, a.deleteTraits),
		op("PUT", "/:trait", "Add a trait.", noMethod, openapi.Arguments{}, openapi.Answer{Status: 204, Location: true}, a.addTrait),
		op("DELETE", "/:trait", "Remove a trait.", nil, nil, none, a.deleteTrait),
	}
}

// traitList is the kind of a list of traits. null is never taken for "none".
func traitList() openapi.Kind {
	s := openapi.ListOf(openapi.Typed("string"))
	return openapi.Custom(s, s, func(name string, raw json.RawMessage) error {
		if readStrings(raw) == nil {
			return node.Invalidf("Expected array of strings for %s: %s", name, openapi.Quoted(name, raw))
		}
		return nil
	})
}

func (a *api) listTraits(r *request) error {
	n, err := a.node(r)
	if err != nil {
		return err
	}
	traits := append([]string{}, n.Traits...)
	slices.Sort(traits)
	return r.JSON(map[string]any{"traits": traits})
}

// setTraits replaces all traits.
func (a *api) setTraits(r *request) error {
	traits := readStrings(r.args["traits"])
	return a.changeTraits(r, func(node.Node) ([]string, error) { return slices.Clone(traits), nil })
}

func (a *api) addTrait(r *request) error {
	trait := r.named("trait")
	if err := node.ValidateTrait(trait); err != nil {
		return err
	}
	if err := a.changeTraits(r, func(n node.Node) ([]string, error) { return append(slices.Clone(n.Traits), trait), nil }); err != nil {
		return err
	}
	r.Location(a.base(r.Ctx) + "/v1/nodes/" + r.Params("node") + "/traits/" + trait)
	return nil
}

func (a *api) deleteTraits(r *request) error {
	return a.changeTraits(r, func(node.Node) ([]string, error) { return nil, nil })
}

func (a *api) deleteTrait(r *request) error {
	trait := r.named("trait")
	return a.changeTraits(r, func(n node.Node) ([]string, error) {
		i := slices.Index(n.Traits, trait)
		if i < 0 {
			return nil, &node.NotFound{Text: fmt.Sprintf("Node %s doesn't have a trait '%s'", n.UUID, trait)}
		}
		return slices.Delete(slices.Clone(n.Traits), i, i+1), nil
	})
}

// changeTraits stores what change makes of a node's traits, each once and sorted.
func (a *api) changeTraits(r *request, change func(node.Node) ([]string, error)) error {
	ident, err := a.nodeIdent(r)
	if err != nil {
		return err
	}
	_, err = a.Conductor.PatchNode(r.UserContext(), r.actor(), ident, r.minor, func(n node.Node) (node.Node, error) {
		traits, err := change(n)
		if err != nil {
			return n, err
		}
		slices.Sort(traits)
		n.Traits = slices.Compact(traits)
		return n, node.ValidateTraits(n.UUID, n.Traits)
	})
	if err != nil {
		return err
	}
	return r.empty(204)
}
