package introspection

import (
	"context"
	"slices"
	"strings"

	"cagenut/node"
)

// MaxLimit is how many introspections one page of the list may have.
const MaxLimit = 1000

// List is a page of introspections, the latest of each node, newest first. marker is the UUID of the node that the page
// before ended with; limit 0 is [MaxLimit]. A node that was inspected again in the meantime is newest again, and so is
// the page after it. A bad marker, limit or state is a *node.Invalid, a marker without record a *node.NotFound.
func (s *Service) List(ctx context.Context, marker string, limit int, states []node.RunState) ([]Run, error) {
	f, err := s.filter(ctx, marker, limit, states)
	if err != nil {
		return nil, err
	}
	limit = f.Limit
	out := []Run{}
	for {
		page, err := s.Runs.Attempts(ctx, f)
		if err != nil {
			return nil, err
		}
		for _, a := range page {
			if inBand(a.Interface) && len(out) < limit {
				out = append(out, run(a))
			}
		}
		// Attempts without a ramdisk leave gaps, which the next ones fill.
		if len(page) < f.Limit || len(out) == limit {
			return out, nil
		}
		f.Marker = page[len(page)-1].ID
	}
}

func (s *Service) filter(ctx context.Context, marker string, limit int, states []node.RunState) (node.RunFilter, error) {
	f := node.RunFilter{Latest: true, States: states, Limit: limit}
	switch {
	case limit < 0:
		return f, node.Invalidf("Limit cannot be negative")
	case limit > MaxLimit:
		return f, node.Invalidf("Limit over %d", MaxLimit)
	case limit == 0:
		f.Limit = MaxLimit
	}
	if unknown := unknownStates(states); len(unknown) > 0 {
		return f, node.Invalidf(`State(s) "%s" are not valid`, strings.Join(unknown, ", "))
	}
	if marker == "" {
		return f, nil
	}
	if !node.IsUUID(marker) {
		return f, node.Invalidf("Marker not UUID-like")
	}
	_, a, err := s.latest(ctx, strings.ToLower(marker))
	f.Marker = a.ID
	return f, err
}

func unknownStates(states []node.RunState) []string {
	var out []string
	for _, state := range states {
		if !slices.Contains(node.RunStates(), state) {
			out = append(out, string(state))
		}
	}
	return out
}
