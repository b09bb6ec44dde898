package templates

// Appliance is the page of the appliance's own state.
type Appliance struct {
	Frame
	At      Time // when it was looked at
	Defects []Defect
	About   []Fact // program and machine
	BMCs    []BMCCount
	Calls   []Fact
	Silent  []SilentBMC
	More    string // how many silent ones are not named, in a sentence; "" for none
	Jobs    []JobLine
	Late    Fact // the job that waits the longest; without a name: none does
	// Inspector is where it is; Contact, whether an external one answers.
	Inspector []Fact
	Contact   State
	Database  []Fact
	Settings  []Fact
}

// Defect is something that is wrong with the appliance, and what to do about it.
type Defect struct {
	Kind   string
	Grave  bool
	What   string
	Detail string // what somebody said about it
	Do     string
}

// BMCCount is how many BMCs are in some way.
type BMCCount struct {
	State State
	Count string
	Href  string // the list of those nodes; "" for none
}

// SilentBMC is a node whose BMC cannot be used.
type SilentBMC struct {
	Node    Link
	Place   string
	Address string
	Since   Time
	Error   string
}

// JobLine is how many jobs of a kind wait, run, and wait for their time.
type JobLine struct{ Kind, Running, Ready, Later string }
