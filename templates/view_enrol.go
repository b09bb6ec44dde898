package templates

import (
	"strconv"
	"strings"

	"github.com/a-h/templ"
)

// EnrolForm is the page with the form for one server. It never holds a password.
type EnrolForm struct {
	Frame
	UUID   string // of the node that it makes
	Kept   string // what its password is kept by; "" where none is
	Fields []EnrolField
	More   bool   // the rarer fields are open
	Failed string // why it was not enrolled just now; "" where nobody tried, or a field says so
	Test   EnrolTest
}

// Field is one of its fields by key.
func (f EnrolForm) Field(key string) EnrolField {
	for _, one := range f.Fields {
		if one.Key == key {
			return one
		}
	}
	return EnrolField{Key: key, Kind: "text"}
}

// EnrolField is one field; its label and hint are texts by its key.
type EnrolField struct {
	Key, Value string
	Kind       string // "text", "password", "number", "area", "check" or "select"
	Problem    string // what is wrong with it, in words; "" for nothing
	Hint       bool   // a sentence stands under it
	Kept       bool   // of a password: it is kept, and need not be typed again
	Required   bool
	Max        int
	Complete   string // autocomplete
	Options    []Option
}

// EnrolTest is what came of a test of the connection. The zero value is that nobody has tested.
type EnrolTest struct {
	Headline    string
	Look        string // "good" or "failed"
	Text        string
	Facts       []Fact
	Twins       []EnrolTwin
	Certificate *EnrolCertificate // that nobody has vouched for
	Problems    []EnrolProblem
}

// EnrolProblem is what is wrong with a field, for the summary that leads there.
type EnrolProblem struct{ Key, Text string }

// EnrolTwin is a node that may be the same server.
type EnrolTwin struct {
	Text string
	Link Link
}

// EnrolCertificate is one that a BMC showed.
type EnrolCertificate struct {
	Fingerprint, Subject, Issuer, Until string
}

// EnrolRunView is the page of the enrolment of many.
type EnrolRunView struct {
	Frame
	Total, Done          int
	Made, There, Refused int
	Ended                bool
	Cut                  bool // it ended before all were done
	Lines                []EnrolRunLine
	Again                string // address of the page that it was begun on
	AgainText            string
}

// EnrolRunLine is what came of one server.
type EnrolRunLine struct {
	Label string
	State State // a chip
	Node  Link  // Href "" where there is none
	Why   string
	Notes []string
}

// ImportView is the page that takes a list.
type ImportView struct {
	Frame
	Failed  string
	Text    string // what was pasted, where it could not be read and holds no password
	Columns []ImportColumn
	Fields  []EnrolField // for lines that say nothing of their own
	Most    int
}

// ImportColumn is one that a list may have.
type ImportColumn struct{ Name, What string }

// ImportPreview is a list before it is enrolled. It shows no password.
type ImportPreview struct {
	Frame
	Post      string
	Good, Bad []ImportLine
	More      int // good lines that are not shown
	Ready     int // how many can be enrolled
	Warned    int // how many of them have warnings
	Notes     []string
	Begun     string // address of the run that was begun of it; "" before
	Minutes   int    // how long the list is kept
}

// ImportLine is one line of a list.
type ImportLine struct {
	Number                            int
	Name, Driver, Address, Place, MAC string
	User                              bool // it has credentials
	Why                               string
	Warnings                          []string
	Node                              Link // that it is already; Href "" for none
}

// SearchView is the page of a search of addresses.
type SearchView struct {
	Frame
	Where, Redfish, IPMI string // of the form
	Failed               string
	Local                bool // loopback may be searched
	Now                  *SearchState
}

// SearchState is a search at a moment.
type SearchState struct {
	ID, Where    string
	By           string
	Began        Time
	Took         string
	Total, Asked int
	Running      bool
	Cancelled    bool
	Cancel       string // address of the form that ends it
	Enrol        string // address of the form that enrols
	Finds        []SearchFind
	Hidden       int // finds that are not shown while the search runs
	Choosable    int // how many may be enrolled
	Fields       []EnrolField
	Kept         string
	Failed       string
}

// SearchFind is a BMC that was found.
type SearchFind struct {
	Key, Address, Protocols, What, Certificate string
	Known                                      Link // the node whose BMC it is; Href "" for none
	Chosen                                     bool
}

// enrolDescribed tells screen readers what stands under a field.
func enrolDescribed(f EnrolField) templ.Attributes {
	a := templ.Attributes{}
	var by []string
	if f.Hint || f.Kept {
		by = append(by, "hint-"+f.Key)
	}
	a["aria-describedby"] = strings.Join(append(by, "problem-"+f.Key), " ")
	if f.Problem != "" {
		a["aria-invalid"] = "true"
	}
	if f.Required {
		a["aria-required"] = "true"
	}
	return a
}

// enrolRole is how a result is read aloud.
func enrolRole(t EnrolTest) string {
	if t.Look == "failed" {
		return "alert"
	}
	return "status"
}

// findID is the id of the n-th find's box.
func findID(n int) string { return "find-" + strconv.Itoa(n) }
