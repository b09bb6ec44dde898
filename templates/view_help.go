package templates

// Help is the page that explains the dashboard.
type Help struct {
	Frame
	Keys   []KeyHelp
	Groups []StateHelp
}

// KeyHelp is a key, or several, with what they do.
type KeyHelp struct {
	Keys []string
	Does string // key of its text
}

// StateHelp is a group of states.
type StateHelp struct {
	Label  string
	States []State
	Means  []string // of each state
}
