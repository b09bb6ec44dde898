package node

import (
	_ "embed"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"
)

// MaxTraits is how many traits a node may have.
const MaxTraits = 50

const maxTraitLength = 255

// standardTraits are the names that OpenStack's os-traits has agreed on, one a line, sorted.
//
//go:embed traits.txt
var standardTraits string

var customTrait = regexp.MustCompile(`^CUSTOM_[A-Z0-9_]+$`)

// ValidateTrait checks that a trait is a standard one or a custom one; the error is Ironic's *[Invalid] (contract.md §3.6).
func ValidateTrait(name string) error {
	switch {
	case name == "":
		return Invalidf("Schema error for trait: '' is too short")
	case utf8.RuneCountInString(name) > maxTraitLength:
		return Invalidf("Schema error for trait: '%s' is too long", short(name))
	case customTrait.MatchString(name) || isStandardTrait(name):
		return nil
	}
	return Invalidf("Schema error for trait: '%s' is not valid under any of the given schemas", short(name))
}

func isStandardTrait(name string) bool {
	_, known := slices.BinarySearch(strings.Split(strings.TrimSpace(standardTraits), "\n"), name)
	return known
}

// ValidateTraits checks all traits that a node is to have: each name, and how many there are.
func ValidateTraits(nodeUUID string, traits []string) error {
	for _, t := range traits {
		if err := ValidateTrait(t); err != nil {
			return err
		}
	}
	if n := len(traits); n > MaxTraits {
		return Invalidf("Could not modify traits for node %s as it would exceed the maximum number of traits per node (%d vs. %d)", nodeUUID, n, MaxTraits)
	}
	return nil
}
