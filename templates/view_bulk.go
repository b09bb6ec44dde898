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
	return T(ctx, "bulk.action."+strings.ReplaceAll(string(a), " ", "-"))
}
