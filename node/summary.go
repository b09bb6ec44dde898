package node

import "slices"

// ListOrder is what a list for people is sorted by. Nodes that are equal in it follow each other by name.
type ListOrder string

// The orders. By attention, what needs a person comes first: the states in the order of [List.Ranks].
const (
	ByAttention ListOrder = ""
	ByName      ListOrder = "name"
	ByPlace     ListOrder = "place"
	ByState     ListOrder = "state"
	BySince     ListOrder = "since" // the longest in its state first
	ByPower     ListOrder = "power"
	ByHealth    ListOrder = "health" // the worst first
	ByDriver    ListOrder = "driver"
)

// Valid tells whether it is one of the orders.
func (o ListOrder) Valid() bool {
	return slices.Contains([]ListOrder{ByAttention, ByName, ByPlace, ByState, BySince, ByPower, ByHealth, ByDriver}, o)
}

// Cursor is a place in a list: what the list is sorted by there. It stays where it is when nodes come, go or change, and needs
// no node to be there.
type Cursor []string

// List is one page of a list for people.
type List struct {
	Filter     Filter // its Page does not count
	Order      ListOrder
	Descending bool
	Ranks      [][]State // for ByAttention; states that are in none come last
	At         Cursor    // the page begins after it; nil: at the beginning. One that fits no list is an *[Invalid].
	Before     bool      // the page ends before At instead
	Limit      int       // 0: the whole list, without the company of its nodes
}

// Summaries are one page of a list, and in its company what else a list shows of the nodes.
type Summaries struct {
	All     []Summary
	Earlier bool // there is a page before
	Later   bool // there is a page behind

	Attempts map[string]Attempt // the latest ones of the nodes, by id, as far as a list needs them: no tokens, no notes
	Signs    map[string][]Sign  // of those that run, by id of the attempt, in the order in which they came first
}

// Summary is what lists show of a node: of its documents nothing but its rack and unit, and no secret.
type Summary struct {
	Node
	BMCAddress string
	Serial     string // as it was reported, also if it says nothing
	Cursor     Cursor // its place in the list

	// SerialTwins and PlaceTwins say how many other nodes have the same serial number, and the same rack and unit; company.
	SerialTwins, PlaceTwins int
}

// Tally is how many nodes are alike in what lists are filtered by.
type Tally struct {
	State       State
	Driver      string
	Health      Health
	Maintenance bool
	N           int
	Silent      int // how many of them have a BMC that does not answer
}
