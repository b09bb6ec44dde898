package templates

// Row is one node in the list.
type Row struct {
	UUID, Name, Href string
	Fresh            bool   // it comes into a page that is open, whose filter may not show it any more
	CanPick          bool   // it has a box to choose it with
	Place            string // "R07 · U21"
	PlaceTwins       string // that others claim the place too; "" where none does
	Serial           string
	SerialTwins      string // that others have the serial number too; "" where none has
	State            State
	Detail           string // second line of the state: progress, or who ended it
	DetailAt         Time
	Ends             Time   // when the wait ends by itself
	Held             string // who holds the node; "" if it is free
	Maintenance      bool
	Power            Power
	PowerLook        string // "on", "off" or "unsure": its sign
	Health           State  // as the BMC said last; the zero value where nobody knows
	HealthKey        string // the filters by health that show it, by commas
	BMC              string // address
	Error            string // last error in one line
	Driver           string
	Actions          []Action
}

// Tab is one coarse group with its count.
type Tab struct {
	Group, Label, Count, Href string
	Current                   bool
}

// StateCount is how many nodes are in one state, and the address that adds it to the filter or takes it out.
type StateCount struct {
	State
	ID, Count, Href string
	Chosen          bool
}

// Column is the heading of a column that the list can be sorted by.
type Column struct {
	Key  string // its text is list.column.Key
	Href string
	Sort string // "ascending" or "descending" where the list is sorted by it; "" elsewhere
}

// Columns are the headings that the list can be sorted by.
type Columns struct {
	Name, Place, State, Since, Power, Health, Driver Column
}

// Chosen is one condition of a filter, and the address without it.
type Chosen struct {
	Text, Href string
}

// Choice is a select of the filter.
type Choice struct {
	Name    string // its label is list.filter.Name
	Options []Option
}

// Hidden is a field that a form carries along.
type Hidden struct {
	Name, Value string
}

// Size is a number of nodes on a page.
type Size struct {
	Count, Href string
	Current     bool
}

// List is the page of nodes.
type List struct {
	Frame
	Search  string
	Keep    []Hidden // what the form of the filter keeps of the address
	Racks   []Option // with how many nodes are in each
	Rack    string
	Many    bool // there are too many racks for a select
	Choices []Choice
	// Narrowed: a phone shows the selects of the filter, because one of them is set.
	Narrowed bool
	Tabs     []Tab
	States   []StateCount
	Chosen   []Chosen // the filter in words; nil for none
	Clear    string   // address without a filter
	Columns  Columns
	Rows     []Row
	Total    string // how many nodes the filter shows, in words
	Shown    Shown
	Sizes    []Size
	Empty    bool   // there is no node at all
	First    string // address of the first page; "" on the first page
	Prev     string // address of the page before; "" on the first
	Next     string // address of the next page; "" on the last
	Whole    bool   // the page shows every node there is: the script fetches it again when a new one comes
	Bar      Selection
	// NoRamdisk warns that no inspection can work, because nobody has said where servers reach the appliance.
	NoRamdisk bool
	CanAct    bool
	APIURL    string
}

// Shown is what the filter lets through: a row that changes so that it would not be shown any more stays, greyed. Empty lets
// everything through.
type Shown struct {
	States, Health, Maintenance []string
}

func yesNo(b bool) string {
	if b {
		return "true"
	}
	return "false"
}
