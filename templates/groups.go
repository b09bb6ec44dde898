package templates

import (
	"context"
	"slices"

	"cagenut/node"
)

// The coarse groups of states, as the list's tabs show them. The value is the `group` of the page's address.
const (
	GroupFailed  = "failed"
	GroupWaiting = "waiting"
	GroupWorking = "working"
	GroupNew     = "new"
	GroupReady   = "ready"
	GroupUsed    = "used"
)

// Groups lists the groups in the order of the page: what needs a person first.
func Groups() []string {
	return []string{GroupFailed, GroupWaiting, GroupWorking, GroupNew, GroupReady, GroupUsed}
}

// IsGroup tells whether a word names a group.
func IsGroup(word string) bool { return slices.Contains(Groups(), word) }

// GroupLabel is what people read on a group's tab; "" for a word that is no group.
func GroupLabel(ctx context.Context, group string) string {
	if !IsGroup(group) {
		return ""
	}
	return T(ctx, "group."+group)
}

// Group is the group that a state belongs to. Every state belongs to exactly one.
func Group(s node.State) string {
	switch s {
	case node.Enroll:
		return GroupNew
	case node.Manageable, node.Available:
		return GroupReady
	case node.Active, node.Rescue:
		return GroupUsed
	case node.InspectWait, node.CleanWait, node.CleanHold, node.WaitCallback, node.DeployHold, node.RescueWait, node.ServiceWait, node.ServiceHold:
		return GroupWaiting
	case node.InspectFailed, node.CleanFailed, node.DeployFailed, node.ErrorState, node.AdoptFailed, node.RescueFailed, node.UnrescueFailed, node.ServiceFailed:
		return GroupFailed
	}
	return GroupWorking
}

// GroupStates lists the states of a group, sorted by name; nil for a word that is no group.
func GroupStates(group string) []node.State {
	return slices.DeleteFunc(node.States(), func(s node.State) bool { return Group(s) != group })
}

// Look is the colour of a state's chip: the name of a CSS class.
func Look(s node.State) string {
	switch s {
	case node.Enroll, node.Manageable:
		return "idle"
	case node.Available, node.Active, node.Rescue:
		return "good"
	}
	return Group(s)
}

// Icon is the sign that stands beside a state's name, so that colour is never alone.
func Icon(look string) string {
	switch look {
	case "idle":
		return "○"
	case "good":
		return "✓"
	case "held":
		return "‖"
	case GroupWaiting:
		return "◷"
	case GroupFailed:
		return "✕"
	}
	return "◔"
}
