package templates

// PortLine is one port of a node.
type PortLine struct {
	Address, UUID, Network string
	PXE                    bool
	Switch                 string // where its cable ends; "" where nobody knows
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
	Request                    string // request id; "" where no request led to it
}

// Older is the address of what comes after the lines of a list, and of its beginning; "" where there is none.
type Older struct{ First, Next string }

// Hint is what may be wrong, and what to do about it.
type Hint struct {
	ID, Title, Text string
	Links           []HintLink
	Actions         []Action
}

// HintLink leads to where more is told.
type HintLink struct {
	ID, Label, Href string
	Part            bool // opens a part of what the BMC tells, where that is on the page
}

// Node is the page of one node.
type Node struct {
	Frame
	UUID, Name, Place string
	PlaceHref         string // the rack's page; "" where the node has no rack
	State             State
	Sentence          string // what the state means
	Step              string // progress of what runs
	Deadline          Time   // when the wait ends by itself
	Held              string // who holds it, and for what
	HeldSince         Time
	Maintenance       string // its reason; "" for none
	InMaintenance     bool
	Power             Power
	Health            State // as the BMC said last; the zero value while nobody knows
	HealthSince       Time
	Silent            Time   // since when the BMC does not answer; zero while it does
	SilentSince       string // "12:03:11 UTC"
	BMCError          string // why it does not
	Error             string
	Request           string // id of the request that led to Error; "" where none did
	Divergence        string
	Hints             []Hint // what to do about it
	CanAct            bool
	Actions           []Action
	NotNow            []Refusal
	PowerActions      []Action
	Keeping           []Action // of the record: maintenance, delete
	Edit              string   // address of the form that changes the record
	BMC               Part     // nothing asked yet: its tabs
	Facts             []Fact
	Ports             []PortLine
	Inventory         *Inventory
	Signs             []SignLine // timeline of the latest inspection
	SignsOpen         bool       // it is what the node is about now
	SignsHref         string     // the page of that inspection
	Attempts          []AttemptLine
	OlderAttempts     string      // address of those before; "" where these are all
	HowFar            HowFar      // of the inspection that runs
	Compared          *Difference // the last two inspections that are kept; nil where there are not two
	Inspections       string      // address where those that are kept are compared; "" where there are not two
	Reapply           Action      // the zero value where it makes no sense
	History           []HistoryLine
	OlderHistory      string
	API               string   // address of the API's JSON
	Curl              []string // the same through the API
}

// NodeHistory is a page of what happened to a node.
type NodeHistory struct {
	Frame
	Name, Href, Place string // the node
	Lines             []HistoryLine
	Older
}

// NodeAttempts is a page of a node's inspections.
type NodeAttempts struct {
	Frame
	Name, Href, Place string // the node
	Lines             []AttemptLine
	Older
}

// NodeEdit is the form that changes what the appliance knows of a node.
type NodeEdit struct {
	Frame
	Name, Href, Place string // the node
	Post              string
	Version           string // of the node that the person saw
	Fields            []EditField
	Problem           string // why it was not taken; "" if nobody tried
}

// EditField is one field of a form.
type EditField struct {
	Name, Label, Value, Help string
	Password                 bool // what is typed is never shown, what is known never sent
	Long                     bool
}
