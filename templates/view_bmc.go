package templates

// Part is one of the things that a BMC tells when somebody asks: on a page of its own, and inside a node's page.
type Part struct {
	Frame
	Name, Href, Place string // the node
	Key, Label        string // "" before anything was asked
	Tabs              []PartTab
	// Alone says that the part is on a page of its own, where its links lead to pages.
	Alone   bool
	Asked   Time   // when the BMC said so; zero where it said nothing
	Again   string // address that asks the same again
	Lacks   string // what the BMC cannot tell, in a sentence; "" if it can
	Failed  string // why the BMC told nothing, in a sentence; "" if it did
	Actions []Action
}

// PartTab leads to a part.
type PartTab struct {
	Key, Label, Href string
	Current          bool
}

// Health is how a server is, as a whole and by its parts.
type Health struct {
	Overall  State
	Sentence string
	Parts    []PartHealth
}

// PartHealth is a part that is not well.
type PartHealth struct {
	State
	Part, Message string
}

// Sensors are all readings by kind, those out of their limits first.
type Sensors struct {
	Summary State // how many are out of their limits
	Groups  []SensorGroup
}

// SensorGroup is the sensors of a kind.
type SensorGroup struct {
	Label string
	Lines []SensorLine
}

// SensorLine is a reading with its limits.
type SensorLine struct {
	State       // its Name says what is wrong; "" where the BMC gives no verdict
	Sensor      string
	Reading     string
	Limits      string // where a warning and an alarm begin
	OutOfLimits bool
}

// EventLog is the newest entries of a BMC's log, the newest first.
type EventLog struct {
	Lines []LogLine
	// More is the address that shows so many more; "" where these are all.
	More, MoreText string
	// Cut says that there are more than the dashboard shows; "" otherwise.
	Cut string
}

// LogLine is an entry of the log.
type LogLine struct {
	State           // of what is no mere news
	At              Time
	Stamp           string // the BMC's time, or that it had none
	Message, Sensor string
}

// FirmwareLine is a component with its version.
type FirmwareLine struct {
	Component, Version, Released, Updateable string
}

// DriveLine is a virtual drive.
type DriveLine struct {
	Kinds, Content string
	Mono           bool // Content is an address
	Note           string
	Full           bool
}

// Light is how the light is by which people find the server. What it can be set to are the part's actions.
type Light struct {
	State
	Sentence string
}
