package node_test

import (
	"math"
	"testing"

	"cagenut/node"
)

func TestAPlaceIsInARackWhereARackHasItsUnits(t *testing.T) {
	for name, c := range map[string]struct {
		at  node.Location
		top int
		in  bool
	}{
		"one unit":                 {node.Location{Rack: "R1", Unit: 21, Units: 1}, 21, true},
		"several":                  {node.Location{Rack: "R1", Unit: 21, Units: 4}, 24, true},
		"up to the highest":        {node.Location{Rack: "R1", Unit: node.TallestRack, Units: 1}, node.TallestRack, true},
		"beyond the highest":       {node.Location{Rack: "R1", Unit: node.TallestRack, Units: 2}, node.TallestRack + 1, false},
		"far beyond it":            {node.Location{Rack: "R1", Unit: math.MaxInt32, Units: math.MaxInt32}, 2*math.MaxInt32 - 1, false},
		"no unit, whatever height": {node.Location{Rack: "R1", Units: 4}, 0, false},
		"no rack":                  {node.Location{Unit: 3, Units: 1}, 3, false},
		"nothing":                  {node.Location{Units: 1}, 0, false},
	} {
		if top, in := c.at.Top(), c.at.InRack(); top != c.top || in != c.in {
			t.Errorf("%s: up to %d, in a rack: %v", name, top, in)
		}
	}
}
