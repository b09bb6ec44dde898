package templates

import (
	"fmt"

	"cagenut/node"
)

// Texts of the waiting room.
const (
	TextDiscovered    = "Discovered machines"
	TextDiscoveryOff  = "Discovery is off: machines that nobody knows are turned away, and nobody new comes here. The setting --discovery switches it on."
	TextNoName        = "Unknown machine"
	TextMachineGone   = "no longer here"
	TextTwins         = "A node has this machine's BMC already: is it this machine? Then give the node a port with one of the MACs below instead, and inspect it."
	TextAccept        = "Accept as a node"
	TextAcceptEffect  = "The node begins in enroll, with the ports, properties and the inventory that were reported. The server is left alone: “Manage” checks the BMC, and “Inspect” looks at the hardware anew."
	TextMachineBlock  = "This machine is blocked. Restore it to accept it."
	TextIgnoreMachine = "Ignore"
	TextBlockMachine  = "Block"
	TextRestore       = "Restore"
	TextIgnoreEffect  = "Hides it here. Its reports are answered and counted."
	TextBlockEffect   = "Turns its reports away from now on."
	TextRestoreEffect = "Shows it among the new ones again, and keeps its next report."
	TextHostile       = "Everything here is what the machine says of itself."

	LabelName     = "Name (optional)"
	LabelDriver   = "Driver"
	LabelBMC      = "Address of the BMC"
	LabelUser     = "User at the BMC"
	LabelPassword = "Password of that user"
	LabelNoVerify = "Do not verify the certificate of the BMC (Redfish)"
)

// discoveredWords are what people read for what was decided.
var discoveredWords = map[node.DiscoveredState]struct{ label, look, sentence, empty string }{
	node.DiscoveredNew: {"New", GroupWaiting, "It reported, and no node has one of its MACs. Nobody has decided about it yet.",
		"No machine waits. One that reports although no node has one of its MACs appears here."},
	node.DiscoveredIgnored: {"Ignored", "held", "It is ignored: its reports are answered and counted, and nothing new is kept of them.", "No machine is ignored."},
	node.DiscoveredBlocked: {"Blocked", GroupFailed, "It is blocked: its reports are turned away and counted.", "No machine is blocked."},
}

// DiscoveredLabel is the word for a state of a discovered machine.
func DiscoveredLabel(s node.DiscoveredState) string { return discoveredWords[s].label }

// DiscoveredSentence says what a state means for who looks at a machine.
func DiscoveredSentence(s node.DiscoveredState) string { return discoveredWords[s].sentence }

// DiscoveredEmpty says that no machine is in a state.
func DiscoveredEmpty(s node.DiscoveredState) string { return discoveredWords[s].empty }

// DiscoveredChip is a state with its icon.
func DiscoveredChip(s node.DiscoveredState) State {
	w := discoveredWords[s]
	return State{Name: w.label, Look: w.look, Icon: Icon(w.look)}
}

// ReportTimes says how often a machine has reported.
func ReportTimes(n int) string {
	if n == 1 {
		return "1 report"
	}
	return fmt.Sprintf("%d reports", n)
}
