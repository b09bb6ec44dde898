package templates

// SignIn is the page where people sign in.
type SignIn struct {
	Frame
	Name    string // as typed before
	To      string // where it leads
	Problem string // why the last try did not succeed; "" for none
	Lost    bool   // a form was sent after the session had ended, and was not carried out
}

// PersonRow is one line of the users.
type PersonRow struct {
	Name, Href string
	Role       string
	OfFile     bool // its password stands in a file
	Self       bool // who looks
	Created    Time
	SignedIn   Time
	Sessions   string
}

// Users is the admin's page of who may sign in.
type Users struct {
	Frame
	FromFile bool // some stand in an htpasswd file
	Rows     []PersonRow
	Add      PersonForm
}

// PersonForm asks for somebody new.
type PersonForm struct {
	Name    string
	Roles   []Option
	Problem string // why the last try did not succeed; "" for none
}

// Person is the admin's page of one user.
type Person struct {
	Frame
	Who      PersonRow
	Roles    []Option
	Signed   []SessionRow
	Problem  string
	Password string // made up just now, and shown this once
	Added    bool   // the user is new
}

// SessionRow is one browser in which somebody is signed in.
type SessionRow struct {
	Agent, Address string
	Began, Used    Time
	This           bool // the one that asks
}

// RemovePerson asks back before a user is removed.
type RemovePerson struct {
	Frame
	Name, Post, Away string
	Refused          string // why it is not possible; "" if it is
}

// Account is everybody's page about themselves.
type Account struct {
	Frame
	Name, Role string
	OfFile     bool
	Signed     []SessionRow
	Problem    string
}
