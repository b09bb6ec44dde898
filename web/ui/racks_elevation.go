package ui

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"cagenut/node"
	"cagenut/templates"
)

// The measures of an elevation, in its own units: a server is as wide as the body and a unit as high as a finger needs.
const (
	unitHeight = 24
	bodyLeft   = 30
	bodyWidth  = 300
	bodyTop    = 4
	nameLeft   = 26 // of a server: what its icon takes
	markWidth  = 20
	charWidth  = 9 // of a name, on average
)

// lane is the part of a rack's width that a server gets: number at of so many.
type lane struct{ at, of int }

// lanes says which part each node gets by its UUID: those that share units stand side by side. Nodes that have no place in
// the rack get none.
func lanes(in []node.Placed) map[string]lane {
	standing := slices.DeleteFunc(slices.Clone(in), func(n node.Placed) bool { return !n.InRack() })
	slices.SortStableFunc(standing, func(a, b node.Placed) int { return cmp.Compare(a.Unit, b.Unit) })
	out := map[string]lane{}
	for len(standing) > 0 {
		cluster := overlapping(standing)
		standing = standing[len(cluster):]
		var tops []int // of the last node in each lane
		at := make([]int, len(cluster))
		for i, n := range cluster {
			at[i] = slices.IndexFunc(tops, func(top int) bool { return top < n.Unit })
			if at[i] < 0 {
				at[i] = len(tops)
				tops = append(tops, 0)
			}
			tops[at[i]] = n.Top()
		}
		for i, n := range cluster {
			out[n.UUID] = lane{at[i], len(tops)}
		}
	}
	return out
}

// overlapping is the beginning of a list, ordered from the bottom, up to where nothing reaches over.
func overlapping(standing []node.Placed) []node.Placed {
	top := 0
	for i, n := range standing {
		if i > 0 && n.Unit > top {
			return standing[:i]
		}
		top = max(top, n.Top())
	}
	return standing
}

// sharers are the nodes that are in units of a node's, by what people call them.
func sharers(in []node.Placed, of node.Node) []string {
	l := of.Location()
	if !l.InRack() {
		return nil
	}
	var out []string
	for _, n := range in {
		if n.UUID != of.UUID && n.InRack() && n.Unit <= l.Top() && l.Unit <= n.Top() {
			out = append(out, cmp.Or(n.Name, n.UUID))
		}
	}
	return out
}

// heightOf is how many units a rack has: the usual number, or as many as its highest node needs.
func heightOf(in []node.Placed) int {
	height := node.RackHeight
	for _, n := range in {
		if n.InRack() {
			height = max(height, n.Top())
		}
	}
	return height
}

// taken says of each unit of a rack, from 1, what group of states is in it; "" for none. Of several nodes the one counts
// that needs a person most.
func taken(in []node.Placed, height int) []string {
	units, order := make([]string, height+1), templates.Groups()
	for _, n := range in {
		if !n.InRack() {
			continue
		}
		group := templates.Group(n.State)
		for u := n.Unit; u <= n.Top(); u++ {
			if units[u] == "" || slices.Index(order, group) < slices.Index(order, units[u]) {
				units[u] = group
			}
		}
	}
	return units
}

// freeUnits are the units that nobody takes, as people write them: "1–20, 23".
func freeUnits(in []node.Placed, height int) string {
	var runs []string
	units := taken(in, height)
	for u := 1; u <= height; u++ {
		from := u
		for u <= height && units[u] == "" {
			u++
		}
		switch {
		case u == from+1:
			runs = append(runs, strconv.Itoa(from))
		case u > from:
			runs = append(runs, strconv.Itoa(from)+"–"+strconv.Itoa(u-1))
		}
	}
	return strings.Join(runs, ", ")
}

// unitLines are the numbered units of an elevation, from the top.
func unitLines(height int) []templates.RackUnit {
	var out []templates.RackUnit
	for u := height; u > 0; u-- {
		y := bodyTop + (height-u)*unitHeight
		out = append(out, templates.RackUnit{Number: u, Y: y, Middle: y + 16})
	}
	return out
}

// server is where a node is drawn, without what it says.
func server(l node.Location, at lane, height int) templates.RackServer {
	left, right := bodyWidth*at.at/at.of, bodyWidth*(at.at+1)/at.of
	return templates.RackServer{
		X: bodyLeft + left, Width: max(right-left, 4),
		Y: bodyTop + (height-l.Top())*unitHeight, Height: l.Units * unitHeight,
	}
}

// clipped is a text without control characters, and no longer than n of the others.
func clipped(s string, n int) string {
	s = printable(s)
	r := []rune(s)
	if len(r) <= n {
		return s
	}
	return string(r[:max(n-1, 0)]) + "…"
}

// printable is a text without the characters that no picture may hold.
func printable(s string) string {
	return strings.Map(func(r rune) rune {
		if r < ' ' || r == 0x7f || r == 0xfffe || r == 0xffff {
			return ' '
		}
		return r
	}, strings.ToValidUTF8(s, "�"))
}

// natural compares names as people order them: numbers inside of them by their value.
func natural(a, b string) int {
	for x, y := a, b; ; {
		if x == "" || y == "" {
			return cmp.Or(cmp.Compare(len(x), len(y)), cmp.Compare(a, b))
		}
		dx, dy := digits(x), digits(y)
		if dx == 0 || dy == 0 {
			if x[0] != y[0] {
				return cmp.Compare(x[0], y[0])
			}
			x, y = x[1:], y[1:]
			continue
		}
		m, n := strings.TrimLeft(x[:dx], "0"), strings.TrimLeft(y[:dy], "0")
		if c := cmp.Or(cmp.Compare(len(m), len(n)), cmp.Compare(m, n)); c != 0 {
			return c
		}
		x, y = x[dx:], y[dy:]
	}
}

// digits is how many digits a text begins with.
func digits(s string) int {
	for i := range len(s) {
		if s[i] < '0' || s[i] > '9' {
			return i
		}
	}
	return len(s)
}
