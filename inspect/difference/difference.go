package difference

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"cagenut/node"
)

// Comparer compares inspections. It holds nothing.
type Comparer struct{}

// Between compares what two inspections of a node stored. A document that is not JSON is an error; what in it is of an odd
// type counts as not told.
func (Comparer) Between(before, after node.Inventory) (node.Difference, error) {
	d := node.Difference{
		NodeUUID: after.NodeUUID,
		From:     node.Inspected{AttemptID: before.AttemptID, At: before.CreatedAt}, To: node.Inspected{AttemptID: after.AttemptID, At: after.CreatedAt},
		Identity: []string{}, Parts: []node.PartChange{},
	}
	was, err := read(before)
	if err != nil {
		return d, err
	}
	is, err := read(after)
	if err != nil {
		return d, err
	}
	d.Identity = append(d.Identity, identity(was.identity, is.identity)...)
	if !was.switches || !is.switches {
		was.withoutSwitches()
		is.withoutSwitches()
	}
	for _, kind := range kinds {
		if !was.told[kind] || !is.told[kind] {
			continue
		}
		d.Parts = append(d.Parts, changes(kind, was.parts[kind], is.parts[kind])...)
	}
	return d, nil
}

// identity tells what of a machine's own numbers is another one. What one side does not know tells nothing.
func identity(was, is map[string]string) (out []string) {
	for _, what := range identities {
		if a, b := was[what], is[what]; a != "" && b != "" && !strings.EqualFold(a, b) {
			out = append(out, fmt.Sprintf("The %s was %q and is %q now.", what, a, b))
		}
	}
	return out
}

// changes lists what became of the parts of a kind, by name.
func changes(kind string, was, is map[string]part) []node.PartChange {
	names := map[string]bool{}
	for name := range was {
		names[name] = true
	}
	for name := range is {
		names[name] = true
	}
	var out []node.PartChange
	for _, name := range slices.Sorted(maps.Keys(names)) {
		c := node.PartChange{Kind: kind, Name: name, Change: node.PartChanged}
		a, before := was[name]
		b, after := is[name]
		switch {
		case !before:
			c.Change = node.PartAdded
		case !after:
			c.Change = node.PartRemoved
		}
		c.Fields = fields(a, b)
		if len(c.Fields) > 0 || c.Change != node.PartChanged {
			out = append(out, c)
		}
	}
	return out
}

func fields(was, is part) []node.FieldChange {
	names := map[string]bool{}
	for name := range was {
		names[name] = true
	}
	for name := range is {
		names[name] = true
	}
	out := []node.FieldChange{}
	for _, name := range slices.Sorted(maps.Keys(names)) {
		if was[name] != is[name] {
			out = append(out, node.FieldChange{Name: name, Before: was[name], After: is[name]})
		}
	}
	return out
}
