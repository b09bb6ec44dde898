package rules

import (
	"errors"
	"fmt"
	"maps"
	"slices"

	"cagenut/node"
)

// inLoop puts the answers of a loop's rounds together; there is at least one.
func inLoop(multiple string, rounds []scope, once func(scope) (bool, error)) (bool, error) {
	switch multiple {
	case "first":
		rounds = rounds[:1]
	case "last":
		rounds = rounds[len(rounds)-1:]
	}
	var open error // a round without an answer matters only where the others do not settle it
	for _, s := range rounds {
		yes, err := once(s)
		if unclear := (*undecided)(nil); errors.As(err, &unclear) {
			open = err
			continue
		}
		if err != nil {
			return false, err
		}
		if yes != (multiple == "all") {
			return yes, nil
		}
	}
	return multiple == "all", open
}

// rounds are the rounds of a loop. Of one that is written out the items' own fields are filled in: an object is one round, and
// nothing or an empty list no loop at all. They are filled in once, so that what a ramdisk reports is never taken for a field. A
// text loops over what the inspection found, as it was found.
func (r *run) rounds(loop any) (rounds []scope, looped bool, err error) {
	var items []any
	switch l := loop.(type) {
	case string:
		rounds, err = r.each(l)
		return rounds, true, err
	case map[string]any:
		if len(l) > 0 {
			items = []any{l}
		}
	case []any:
		items = l
	}
	if len(items) == 0 {
		return nil, false, nil
	}
	filled, err := r.expand(items, scope{})
	if err != nil {
		return nil, false, err
	}
	for _, item := range filled.([]any) {
		rounds = append(rounds, scope{looped: true, item: item})
	}
	return rounds, true, nil
}

// maxEach is how many values a loop over what was found may have: more than any server has of anything.
const maxEach = 4096

// each are the values that a field names; [*] in it is every element of a list, or every value of an object. Of a list that it
// ends with the elements are taken too. What is not there has no rounds.
func (r *run) each(text string) ([]scope, error) {
	parts, err := parse(text)
	if err != nil || len(parts) != 1 || parts[0].field == nil {
		return nil, errors.New("a loop over a text needs one field, such as {inventory[interfaces]}")
	}
	f := *parts[0].field
	found, err := r.lookUp(field{root: f.root, steps: f.steps[:min(len(f.steps), rootSteps(f.root))]}, scope{})
	if errors.Is(err, errAbsent) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	views := []view{found}
	for _, s := range f.steps[min(len(f.steps), rootSteps(f.root)):] {
		if views, err = r.further(views, s); err != nil {
			return nil, err
		}
	}
	if n := len(f.steps); n == 0 || f.steps[n-1].key != node.RuleEach {
		views = elements(views)
	}
	if len(views) > maxEach {
		return nil, fmt.Errorf("a loop over more than %d values is too long", maxEach)
	}
	rounds := make([]scope, len(views))
	for i, v := range views {
		rounds[i] = scope{looped: true, item: v.value, secret: v.secret}
	}
	return rounds, r.charge(16 * len(views))
}

// rootSteps is how many steps belong to the root itself: node.extra is a document, as inventory is.
func rootSteps(root string) int {
	if root == "node" {
		return 1
	}
	return 0
}

// further are the values one step below.
func (r *run) further(views []view, s pathStep) (out []view, err error) {
	for _, v := range views {
		if s.key != node.RuleEach || s.attribute {
			below, err := v.walk([]pathStep{s})
			if err == nil {
				out = append(out, below)
			} else if !errors.Is(err, errAbsent) {
				return nil, err
			}
			continue
		}
		if in, ok := v.value.(map[string]any); ok {
			for _, key := range slices.Sorted(maps.Keys(in)) {
				below, _ := v.walk([]pathStep{{key: key}})
				out = append(out, below)
			}
		}
		list, _ := v.list()
		out = append(out, list...)
		if err := r.charge(16 * len(out)); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// elements takes lists apart.
func elements(views []view) (out []view) {
	for _, v := range views {
		if list, ok := v.list(); ok {
			out = append(out, list...)
		} else {
			out = append(out, v)
		}
	}
	return out
}

// list are the elements of a list; ok is false for everything else.
func (v view) list() (out []view, ok bool) {
	switch in := v.value.(type) {
	case []any:
		for _, e := range in {
			out = append(out, view{value: e, secret: v.secret})
		}
		return out, true
	case []string: // traits
		for _, e := range in {
			out = append(out, view{value: e})
		}
		return out, true
	}
	return nil, false
}
