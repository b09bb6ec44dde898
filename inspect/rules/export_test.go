package rules

import (
	"maps"
	"slices"
)

// Known lists the operators, sorted, and then the actions, sorted.
func Known() []string {
	return slices.Concat(slices.Sorted(maps.Keys(operators)), slices.Sorted(maps.Keys(actions)))
}

// MayFollow decides about redirects.
var MayFollow = mayFollow
