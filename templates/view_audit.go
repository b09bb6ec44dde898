package templates

// Audit is the page of who asked for what.
type Audit struct {
	Frame
	Form     AuditForm
	Problem  string // what is wrong with the filter; "" for nothing
	Filtered bool
	Rows     []AuditRow
	Reload   string // address of the page as it is
	CSV      string // address of the same lines as a file
	First    string // address of the first page; "" on the first page
	Next     string // address of the next page; "" on the last
}

// AuditForm is the filter as its form shows it.
type AuditForm struct {
	User, Action, Node, Search string
	From, To                   string // as a field for date and time writes them; UTC
	Sources, Results           []Option
	Narrow                     bool // more than the search is set
}

// AuditRow is one line.
type AuditRow struct {
	ID       string
	At       Time
	Who      string
	Source   string // key of the door's name
	Address  string
	Action   string
	Node     Link // Href is "" for what is no node any more
	Attempt  string
	Accepted bool
	Result   string // why it was refused
	Reason   string
	Request  string
}
