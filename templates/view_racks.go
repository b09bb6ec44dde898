package templates

// Racks is the page of all racks.
type Racks struct {
	Frame
	Search string // part of the names of racks
	Cards  []RackCard
	Racks  int  // how many there are, whatever the search
	Empty  bool // no node is in a rack
	Free   FreeNodes
	APIURL string
}

// RackCard is one rack among all: its elevation in small, and what needs a person.
type RackCard struct {
	ID, Name string
	Href     string // "" for a name that is too long for an address
	Nodes    int
	Used     int // units that are taken
	Height   int // units that there are
	Loose    int // nodes of the rack that no unit is known of
	Shared   bool
	Groups   []GroupCount
	Paths    []RackPath
}

// GroupCount is how many nodes are in a group of states.
type GroupCount struct {
	Group, Look, Icon string
	Count             int
}

// RackPath is the units of a card's elevation that have the same colour.
type RackPath struct {
	Look, D string
}

// Rack is the page of one rack.
type Rack struct {
	Frame
	Name, Href   string
	Here         string // address of the page as it is shown, for what leads back
	Search       string
	Found        int // nodes that the search found
	Nodes        int
	Used, Height int
	Groups       []GroupCount
	Units        []RackUnit
	Placed       []RackNode // from the top
	Loose        []RackNode // of this rack, but in none of its units
	Hidden       int        // nodes of the rack that are not shown, because there are too many
	List         string     // address of the list of its nodes
	CanAct       bool
	Free         FreeNodes
}

// RackUnit is one unit of an elevation.
type RackUnit struct {
	Number, Y, Middle int
}

// RackNode is a node of a rack: its row and, where it has a place, how it is drawn.
type RackNode struct {
	Row
	// At is an id of how the node is drawn beside the others: another one means that the rack has to be drawn again.
	At     string
	Unit   string // "U21", "U21–22"
	Why    string // why it cannot be drawn; "" if it can
	Shares string // who is in the same units; "" for nobody
	Move   string // address of the form that gives it another place; "" for who may not
	Shaded bool   // the search did not find it
	Drawn  *RackServer
}

// RackServer is a node in an elevation.
type RackServer struct {
	X, Y, Width, Height int
	Name, Title         string // cut to what fits; everything that is known
	Off                 bool
	Marks               []RackMark
}

// RackMark is a sign at the end of a server.
type RackMark struct {
	Icon, Look string
	X          int
}

// FreeNodes are nodes in no rack, beside a rack or all of them.
type FreeNodes struct {
	Total  int // that the search finds
	Search string
	Action string // address of the page that searches
	Keep   string // the page's own search
	Nodes  []FreeNode
	CanAct bool
}

// FreeNode is one node in no rack.
type FreeNode struct {
	UUID, Name, Href string
	State            State
	Hints            string // what tells it from others: driver and BMC
	Place            string // address of the form that gives it a place
}

// Place is the form that gives a node a place, takes it out of a rack, or moves it.
type Place struct {
	Frame
	Name, Post  string
	Now         string // where it is; "" for nowhere
	Seen        string // the same for the server: who moves a node has seen where it was
	Rack        string
	Unit, Units string
	Racks       []string // that there are
	FreeIn      string   // the rack that Free speaks of
	Free        string   // its free units
	Failed      string   // why the last try was refused
	Back, From  string   // where the form was opened
	Away        string
	Tallest     int
}
