package templates

// HowFar is the last sign of life of a server under inspection, and what to look at.
type HowFar struct {
	Last   string // what it was, in words; "" for nothing to say at all
	At     Time   // when it came last
	Detail string // such as the address that it came from
	Advice string // what to look at; "" where there is nothing to explain
	Look   string // "waiting" or "failed"
	Href   string // the attempt's page; "" where that is open
}

// words are the sign up to its time.
func (h HowFar) words() string {
	text := h.Last
	if h.Detail != "" {
		text += " " + h.Detail
	}
	if h.At.Exact != "" {
		text += ","
	}
	return text
}

// SignLine is a line of an attempt's timeline.
type SignLine struct {
	Words  string
	Look   string // colour of its dot
	Icon   string
	Stamp  string // "14:02:11 UTC"
	At     Time
	After  string // how long after the one before: "12 s later"
	Detail string
	Times  string // "57 times, the last" for a sign that came again
	LastAt Time
}

// Attempt is the page of one inspection.
type Attempt struct {
	Frame
	Name, Href, Place string // the node
	Line              AttemptLine
	Sentence          string // what it does, or how it ended
	Step              string // progress of a start
	Deadline          Time   // when the wait ends by itself
	HowFar            HowFar
	Ended             bool
	Error             string // why it did not succeed
	Request           string // id of the request that started it; "" where none did
	Hints             []Hint // what to do about it
	Divergence        string
	Actions           []Action
	Facts             []Fact
	Notes             []string
	Signs             []SignLine
	Compared          *Difference // with the inspection before; nil where there is none
	Uncompared        string      // why it is not compared
	Logs              string      // address of its logs; "" where none came
	History           []HistoryLine
}

// InspectedAt is one side of a difference.
type InspectedAt struct {
	Attempt string
	Stamp   string
	At      Time
	Href    string // the attempt's page
}

// Difference is what changed between two inspections.
type Difference struct {
	From, To InspectedAt
	Identity []string // what says that it is another machine
	Summary  string   // "2 disks replaced, 1 link lost"
	Same     bool     // nothing changed
	Groups   []PartGroup
	Href     string // its page; "" where that is open
}

// PartGroup is what changed of one kind of parts.
type PartGroup struct {
	Label string
	Parts []PartLine
	More  string // that there are more than are shown
}

// PartLine is a part that came, went or is not what it was.
type PartLine struct {
	State  // added, removed, changed
	Part   string
	Stayed bool // it was there before, and is there now
	Fields []FieldLine
}

// FieldLine is a value before and after; "" is one that was not told.
type FieldLine struct {
	Label, Before, After string
}

// KeptLine is an inspection whose results are kept.
type KeptLine struct {
	InspectedAt
	Compare string // address of what changed in it; "" for the oldest
	Newest  bool
}

// Inspections is the page of what is kept of a node's inspections, with the difference of two of them.
type Inspections struct {
	Frame
	Name, Href, Place string // the node
	Self              string // address of the page: where the form leads
	From, To          []Option
	Compared          *Difference
	Uncompared        string // why nothing is compared
	Kept              []KeptLine
	First, Next       string // pages of the list
}

// Logs are the files in the logs of an attempt's ramdisk.
type Logs struct {
	Frame
	Name, Href, Place string // the node
	Attempt           string // address of the attempt's page
	Files             []LogFile
	Problem           string // why the list is not complete
	Archive           string // address of the download
}

// LogFile is one of them.
type LogFile struct {
	File, Size, Href string
}

// LogText is the beginning of one file as text.
type LogText struct {
	Frame
	Name, Href, Place string // the node
	File              string
	Text              string
	Cut               string // that there is more
	Problem           string // why it cannot be read
	Whole, Archive    string // addresses of the downloads
	Logs              string // address of the list
}
