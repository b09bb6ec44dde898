package node

import (
	"math"
	"strconv"
	"strings"
)

const (
	// RackHeight is how many units a rack has unless a node sits higher.
	RackHeight = 42
	// TallestRack is the highest unit that a rack can have; what sits above it is a mistake.
	TallestRack = 100
)

// Location is where a node sits in a rack, read from `extra` (design.md §2). Rack is "" where nobody has said.
type Location struct {
	Rack  string
	Unit  int // lowest unit, counted from the bottom; 0: unknown
	Units int // height; 1 unless said otherwise
}

// Location reads the node's place. Numbers count as names of racks, and digits as numbers, because clients differ in what
// they make of `rack=7`; anything else of another type than expected counts as unknown.
func (n Node) Location() Location {
	l := Location{Units: 1}
	l.Rack, _ = Text(n.Extra["rack"])
	if u, ok := units(n.Extra["rack_unit"]); ok {
		l.Unit = u
	}
	if u, ok := units(n.Extra["rack_units"]); ok {
		l.Units = u
	}
	return l
}

// units reads a positive number of units.
func units(v any) (int, bool) {
	u, ok := Int(v)
	if s, text := v.(string); text {
		var err error
		u, err = strconv.ParseInt(strings.TrimSpace(s), 10, 32)
		ok = err == nil
	}
	return int(u), ok && u > 0 && u <= math.MaxInt32
}

// Top is the highest unit that the node takes; 0 where its unit is not known.
func (l Location) Top() int {
	if l.Unit == 0 {
		return 0
	}
	return l.Unit + l.Units - 1
}

// InRack tells whether the place is one that a rack has: then it can be drawn.
func (l Location) InRack() bool { return l.Rack != "" && l.Unit > 0 && l.Top() <= TallestRack }

// Placed is what a picture of racks needs of a node.
type Placed struct {
	UUID string
	Name string // of one rack only; "" in the list of all
	Location
	State State
}
