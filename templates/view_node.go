package templates

// PortLine is one port of a node.
type PortLine struct {
	Address, UUID, Network string
	PXE                    bool
}

// DiskLine and NICLine are lines of an inventory.
type DiskLine struct {
	Name, Model, Size, Kind, Serial string
}

// NICLine is a network interface that an inspection found.
type NICLine struct {
	Name, MAC, Address, Speed, Link, Product string
}

// Inventory is what the last inspection found.
type Inventory struct {
	At     Time
	System []Fact
	Disks  []DiskLine
	NICs   []NICLine
}

// AttemptLine is one run of an inspection.
type AttemptLine struct {
	ID, Interface  string
	Href           string // its page
	Outcome, Look  string
	Icon           string
	Started, Ended Time
	Took           string
	StartedBy      string
	EndedBy        string
	Reason, Error  string
	CleanUp        string // how far clean-up has come, in words
	Notes          []string
}

// HistoryLine is one entry of a node's history.
type HistoryLine struct {
	At                         Time
	Event, Actor, Reason, Type string
	Bad                        bool
	Times                      string // "3 times" for an entry that counts
}

// Node is the page of one node.
type Node struct {
	Frame
	UUID, Name, Place string
	State             State
	Sentence          string // what the state means
	Step              string // progress of what runs
	Deadline          Time   // when the wait ends by itself
	Held              string
	Maintenance       string // its reason; "" for none
	InMaintenance     bool
	Power             Power
	Silent            Time   // since when the BMC does not answer; zero while it does
	SilentSince       string // "12:03:11 UTC"
	BMCError          string // why it does not
	Error             string
	Divergence        string
	CanAct            bool
	Actions           []Action
	NotNow            []Refusal
	PowerActions      []Action
	BMC               Part // nothing asked yet: its tabs
	Facts             []Fact
	Ports             []PortLine
	Inventory         *Inventory
	Attempts          []AttemptLine
	HowFar            HowFar      // of the inspection that runs
	Compared          *Difference // the last two inspections that are kept; nil where there are not two
	Inspections       string      // address where those that are kept are compared; "" where there are not two
	Reapply           Action      // the zero value where it makes no sense
	History           []HistoryLine
	Curl              []string // the same through the API
}
