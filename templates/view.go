package templates

// Frame is what stands around every page.
type Frame struct {
	Title string
	User  string // who is signed in; "" where nobody signs in
	Role  string // "viewer", "operator" or "admin"; "" before anybody has signed in: no way leads on then
	// SignOut: there is a session that can be ended.
	SignOut bool
	Path    string // the page's own address, without its query
	Here    string // the same with its query: where forms of the frame lead back to
	Theme   string // "light" or "dark"; "" as the system says
	KeysOff bool   // the person wants no keyboard shortcuts
	Events  string // address of the page's event stream; "" for a page that does not change
	After   string // position in the event stream that the page was drawn at
	Now     string // when the page was drawn, RFC 3339: the script corrects the browser's clock by it
	Notice  string // what came of the action that led here; "" for none
	// Discovered is how many unknown machines wait for a decision; "" where discovery is off.
	Discovered string
}

// Time is a moment: exact for machines and the title, relative for people. The zero value draws nothing.
type Time struct {
	Exact string // RFC 3339, UTC
	Title string // "2026-11-30 14:02:11 UTC"
	Text  string // "4 m 12 s"
	Kind  string // what stands around it: "for" (nothing), "ago" or "in"
}

// Action is a button that asks for something. With Confirm it is a link to a page that asks back, else a form's button.
type Action struct {
	ID      string // element id, so that focus survives a redraw
	Label   string
	Names   string // the node, for screen readers: "Inspect r07-u21"
	Field   string // name of the field that says what is asked: "verb" or "target"
	Value   string
	Post    string // address of the form
	Confirm string // address of the page that asks back; "" to act at once
	Back    string // "list", "node", "part" or "attempt": what the answer draws
	Danger  bool
	Pressed bool // it is so already
}

// Refusal is an action that is not possible now, and why.
type Refusal struct {
	Label, Reason string
}

// State is a provision state as a chip with an icon.
type State struct {
	Name, Group, Look, Icon string
	Since                   Time
}

// Power is what is known of a server's power.
type Power struct {
	Text    string // "on", "off", "error", "unknown"
	Pending string // "powering off…" until the BMC has confirmed; "" otherwise
	Problem string // "power off not confirmed" while or after clean-up had no success; "" otherwise
	Checked Time   // when the BMC last confirmed it
	Silent  Time   // since when the BMC does not answer; zero while it does
}

// Option is one choice of a select.
type Option struct {
	Value, Label string
	Selected     bool
}

// Fact is one line of a definition list.
type Fact struct {
	Name  string
	At    Time // stands before the value
	Value string
	Mono  bool
	Quiet bool // the value says that there is none
}

// Confirm is a page, or the inside of a dialog, that asks back before something is done.
type Confirm struct {
	Frame
	Question    string
	Consequence string
	Post        string
	Field       string // "verb" or "target"; "" where the address says it all
	Value       string
	Attempt     string // attempt id that the person saw; "" where there is none
	Back        string // "list", "node", "part" or "attempt"
	List        string // of "list": what its address says behind the question mark
	Yes, No     string // the buttons
	Away        string // where No leads without a script
	WithReason  bool   // offers a reason and to keep the power on
	ReasonAlone bool   // of the two, the reason alone
	HowFar      HowFar // of the inspection that would be aborted
	Refused     string // why there is nothing to confirm; "" if there is
}

// Failure is a page, or the inside of a dialog, that says why something did not happen.
type Failure struct {
	Frame
	Headline string
	Text     string
	Away     string // where to go on
	AwayText string
	Request  string // request id, for the log; "" where it does not help
}
