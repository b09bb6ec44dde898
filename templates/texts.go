package templates

import "cagenut/node"

// This file holds the texts of the dashboard. Sentences that depend on what happened stand in outcome.go, those about what a
// BMC tells in texts_bmc.go.

// Texts of the live mark and the status line; live.js reads them from the page.
const (
	TextLive         = "Live"
	TextReconnecting = "Reconnecting – data may be old"
	TextOff          = "Off"
	TextNoAnswer     = "The appliance did not answer. Nothing is known about the result; the page will show it when the connection is back."
	TextSignedOut    = "You are signed out. Reload the page to sign in again; nothing was done."
	TextOneChanged   = "1 node changed"
	TextManyChanged  = "# nodes changed"
)

// Texts of the abort dialog (style of the whole: named by the act, the consequence first).
const (
	TextAbort       = "Abort inspection"
	TextKeepRunning = "Keep running"
	TextReason      = "Reason (optional, kept in the history)"
	TextKeepOn      = "Keep it powered on for debugging"
	TextConsequence = "The inspection stops and its data are discarded. The node goes to “inspect failed”; you can inspect it again. The server is powered off, unless you keep it on below. This cannot be undone."
	// TextConsequenceReboot is for nodes that must not be powered off.
	TextConsequenceReboot = "The inspection stops and its data are discarded. The node goes to “inspect failed”; you can inspect it again. This server must not be powered off, so it is rebooted out of the ramdisk, unless you keep it running below. This cannot be undone."
	TextNoAbortNow        = "There is nothing to abort: this node is not waiting for its ramdisk."
	TextViewer            = "Your account may look, but not act. Ask an operator."
)

// doneTexts are what the page says after an accepted action; the keys travel in the address, the texts never do.
var doneTexts = map[string]string{
	"manage":           "Accepted. The BMC is being checked.",
	"manage-directly":  "Accepted. The node is manageable.",
	"inspect":          "Accepted. The inspection is starting.",
	"provide":          "Accepted. The node is being made available.",
	"abort":            "The inspection is aborted. The server is being powered off.",
	"abort-keep":       "The inspection is aborted. The server stays powered on.",
	"power on":         "Accepted. The server is being powered on.",
	"power off":        "Accepted. The server is being powered off.",
	"rebooting":        "Accepted. The server is being rebooted.",
	"soft power off":   "Accepted. The operating system is asked to shut down.",
	"soft rebooting":   "Accepted. The operating system is asked to restart.",
	"light-on":         "The light is switched on.",
	"light-off":        "The light is switched off.",
	"light-blinking":   "The light is blinking.",
	"log-cleared":      "The event log is cleared.",
	"ejected":          "The virtual drives are emptied.",
	"nmi":              "The NMI is injected. What the server makes of it, its console shows.",
	"abort-reboot":     "The inspection is aborted. The server is being rebooted out of the ramdisk.",
	"abort-elsewise":   "Accepted. What was running is aborted.",
	"reapply":          "Accepted. The report is being applied once more; the history says what came of it.",
	"accepted-generic": "Accepted.",
	"machine-accepted": "Accepted as a node. Its BMC has not been asked yet: “Manage” checks it.",
	"machine-ignored":  "The machine is ignored from now on.",
	"machine-blocked":  "The machine is blocked from now on.",
	"placed":           "It stands there from now on.",
	"placed-shared":    "It stands there from now on, in units that another node takes too: the rack shows both.",
	"unplaced":         "It stands in no rack any more.",
	"machine-restored": "The machine is among the new ones again.",
	"maintenance-on":   "The node is in maintenance.",
	"maintenance-off":  "The maintenance is over.",
	"deleted":          "The node was deleted.",
	"saved":            "Saved.",
}

// Done is the sentence for an accepted action's key; "" for a key that is none.
func Done(key string) string { return doneTexts[key] }

// whyNot says in which states a verb is possible, for those where it is not.
var whyNot = map[node.Event]string{
	node.Manage:  "Possible in enroll, inspect failed, clean failed, adopt failed and available.",
	node.Inspect: "Possible in manageable and inspect failed.",
	node.Provide: "Possible in manageable.",
	node.Abort:   "Possible while the node waits for its ramdisk (inspect wait).",
}

// Why a power action makes no sense.
const (
	WhyPowerRuns = "A power action is running."
	WhyCleaning  = "The node is being cleaned."
	WhyServerOn  = "The server is on."
	WhyServerOff = "The server is off."
	WhyStaysOn   = "This server must not be powered off (disable_power_off)."
)

// WhyNot is the reason why a verb is not possible in a state.
func WhyNot(s node.State, e node.Event) string {
	if e == node.Abort {
		switch s {
		case node.Inspecting:
			return "Possible once the agent has been started and the node waits for it (inspect wait)."
		case node.InspectFailed:
			return "The inspection has already ended."
		case node.Manageable, node.Available, node.Enroll, node.Active:
			return "No inspection is running."
		}
	}
	if s == node.Inspecting || s == node.InspectWait {
		return "An inspection is running."
	}
	return whyNot[e]
}
