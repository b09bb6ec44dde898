package templates

import (
	"context"
	"strings"

	"cagenut/node"
)

// Selection is the bar of what can be done to many nodes at once. The page that shows it gives each of its nodes a checkbox
// with the attributes id="pick-UUID" name="node" value="UUID" form="chosen", of what it shows and of nothing else.
type Selection struct {
	CanAct bool // else no bar is drawn
	// Filter is the query of the list's address, and Rack the name of the rack that the page shows: one of them, with how many
	// nodes it chooses. 0 offers no such choice.
	Filter string
	Rack   string
	Count  int
}

// bulkButtons are the actions of the bar that have a button of their own, and those behind a menu.
var bulkButtons = []node.BulkAction{node.BulkInspect, node.BulkAbort}

type bulkMenu struct {
	key     string
	actions []node.BulkAction
}

var bulkMenus = []bulkMenu{
	{"power", []node.BulkAction{node.BulkPowerOn, node.BulkPowerOff, node.BulkReboot}},
	{"more", []node.BulkAction{node.BulkManage, node.BulkProvide, node.BulkMaintenanceOn, node.BulkMaintenanceOff}},
}

// BulkLabel is the word on an action's button.
func BulkLabel(ctx context.Context, a node.BulkAction) string {
	return T(ctx, "bulk.action."+BulkKey(a))
}

// BulkConfirm is a page, or the inside of a dialog, that asks back before something is done to many nodes.
type BulkConfirm struct {
	Frame
	Question    string
	Consequence string
	Can, Cannot BulkGroup
	Run         string // id of the run to be: pressing twice is one run
	Action      string
	Chosen      string // the nodes, and of an abort the attempts that were seen
	RetryOf     string
	WithReason  bool
	Reason      string
	WithKeepOn  bool
	KeepOn      bool
	Danger      bool
	Yes         string
	Away        string // where No leads
}

// BulkGroup are the nodes that can take an action, or those that cannot.
type BulkGroup struct {
	Count int
	// Reasons sums up why they cannot, where they are many; the lines are folded away then.
	Reasons string
	Lines   []BulkLine // the first of them
	More    int        // how many are not among the lines
}

// BulkLine is one node of a choice or of a run.
type BulkLine struct {
	Name, Href, Place string
	State             BulkLook // of a run
	Kind              string   // why not, in a few words
	Why               string   // the sentence of whoever refused; "" where Kind says it all
	At                Time
}

// BulkLook is the state of a result, as a chip.
type BulkLook struct{ Look, Icon, Text string }

// BulkRun is the page of a run.
type BulkRun struct {
	Frame
	ID, What, Who   string
	Started         Time
	Took            string // "" while it runs
	Reason          string
	KeepOn          bool
	RetryOf         string // address of the run that it repeats; "" for none
	Running         bool
	Total, Ready    int // how many nodes it has, and how many of them have their result
	Done, Refused   int
	Sentence        string
	Tabs            []Tab
	Show            string // whose results are shown; "" as it fits
	Lines           []BulkLine
	None            string // the sentence where there are no lines
	First, Next     string // addresses of further pages of results; "" for none
	Retry           bool   // the refused ones can be tried again
	Reload, History string // addresses
}

// BulkRuns is the page of the newest runs.
type BulkRuns struct {
	Frame
	Runs []BulkRunLine
}

// BulkRunLine is one run of the list.
type BulkRunLine struct {
	Href, What, Who, Counts string
	Started                 Time
	Look                    BulkLook
}

// BulkLookOf is a result's chip: icon, word and colour.
func BulkLookOf(ctx context.Context, s node.BulkState) BulkLook {
	look := map[node.BulkState]string{node.BulkPending: GroupWaiting, node.BulkDone: "good", node.BulkRefused: GroupFailed}[s]
	return BulkLook{Look: look, Icon: Icon(look), Text: T(ctx, "bulk.state."+string(s))}
}

// Dashed is a word of the wire as a part of a text's key.
func Dashed(word string) string { return strings.ReplaceAll(word, " ", "-") }

// BulkKey is an action as a part of a text's key.
func BulkKey(a node.BulkAction) string { return Dashed(string(a)) }
