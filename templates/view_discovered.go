package templates

// Machines is the page of machines that have reported although no node is them.
type Machines struct {
	Frame
	Off   bool   // discovery is off: nobody new comes
	Tabs  []Tab  // by what was decided
	State string // of the machines that are shown
	Rows  []MachineRow
	Empty string // why there is nothing; "" where there is
	First string // address of the first page; "" on the first page
	Next  string // address of the next page; "" on the last
}

// MachineRow is one of them.
type MachineRow struct {
	UUID, Href    string
	Label, Serial string
	State         State
	MACs, BMC     string
	Hardware      string
	Last          Time
	Times         string // "3 reports"
	From          string // address
}

// Machine is the page of one of them.
type Machine struct {
	Frame
	UUID, Label string
	State       State
	Sentence    string // what the state means
	First, Last Time
	Times, From string
	Twins       []Link // nodes with the same BMC
	Failed      string // why it was not accepted just now; "" where nobody tried
	CanAct      bool
	Accept      *AcceptForm // nil where it cannot be accepted
	Decisions   []Decision
	Facts       []Fact
	Inventory   *Inventory
}

// Link leads to another page.
type Link struct{ Href, Text string }

// AcceptForm is what is asked of people who accept a machine. It holds no password.
type AcceptForm struct {
	Post     string
	ReportAt string // the report that they see
	Name     string
	Drivers  []Option
	BMC      string
	User     string
	NoVerify bool // the BMC's certificate is not verified
}

// Decision is a button.
type Decision struct {
	Label, Post, Effect string
	Danger              bool
}
