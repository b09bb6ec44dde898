package templates

import (
	"fmt"

	"cagenut/node"
)

// The sentences for an action that did not happen. Each says what is true now and, where it helps, what to do.

// Finished says that an abort came after the end of the inspection.
func Finished(ago string, s node.State) string {
	return fmt.Sprintf("The inspection finished %s; the node is “%s”. Nothing was aborted.", ago, s)
}

// AlreadyAborted says who was first.
func AlreadyAborted(who, at string) string {
	return fmt.Sprintf("%s aborted this inspection at %s. Nothing more was done.", who, at)
}

// AlreadyTimedOut says that the wait had ended by itself.
func AlreadyTimedOut(at string, s node.State) string {
	return fmt.Sprintf("This inspection timed out at %s; the node is “%s”. Nothing was aborted.", at, s)
}

// AlreadyFailed says that the inspection had failed before.
func AlreadyFailed(at string, s node.State) string {
	return fmt.Sprintf("This inspection failed at %s; the node is “%s”. Nothing was aborted.", at, s)
}

// NewerAttempt follows the sentence about the attempt that was seen, when another one runs by now.
const NewerAttempt = "This page showed an earlier inspection; reload to see the current one."

// NotAbortable says that the node left the state in which abort is possible.
func NotAbortable(s node.State) string {
	return fmt.Sprintf("The node is “%s”; there is nothing to abort in this state. Nothing was done.", s)
}

// NotPossible says that the node is not in a state for the verb.
func NotPossible(label string, s node.State) string {
	return fmt.Sprintf("“%s” is not possible: the node is “%s” by now. Nothing was done.", label, s)
}

// LockedBy says that a worker holds the node.
func LockedBy(holder string) string {
	if holder == "" {
		holder = "another operation"
	}
	return fmt.Sprintf("The node is held by %s at this moment. Nothing was done; try again.", holder)
}

// NotAccepted says that something outside refused; what it said, and where the node stands.
func NotAccepted(said string, s node.State) string {
	return fmt.Sprintf("%s. Nothing was done; the node is still “%s”.", said, s)
}

// NoAnswerFrom says that something outside did not answer in time.
func NoAnswerFrom(said string, s node.State) string {
	return fmt.Sprintf("%s. It is not known whether it took the request; the node is still “%s” and the page will show what comes of it.", said, s)
}

// Unsupported says that the node's interface cannot do it at all.
func Unsupported(what string) string {
	return fmt.Sprintf("This node's driver or interface cannot do this: %s Nothing was done.", what)
}

// AbortQuestion names the node and its place.
func AbortQuestion(name, place string) string { return question("Abort inspection of", name, place) }

// AbortElseQuestion is for the states in which something other than an inspection is aborted.
func AbortElseQuestion(name string, s node.State) string {
	return fmt.Sprintf("Abort what runs on %s (%s)?", name, s)
}

// TextAbortElse is what that does.
const TextAbortElse = "What runs on the node stops where it is. This cannot be undone."

// PowerQuestion names the node and its place.
func PowerQuestion(label, name, place string) string { return question(label, name, place) }

// question is what a page asks before something is done to a node.
func question(what, name, place string) string {
	if place == "" {
		return fmt.Sprintf("%s %s?", what, name)
	}
	return fmt.Sprintf("%s %s (%s)?", what, name, place)
}

// PowerConsequence says what a power action does to whatever runs on the server.
func PowerConsequence(a node.PowerAction) string {
	switch a {
	case node.ActionOff:
		return "The server is switched off at once, as if it were unplugged. What runs on it is lost."
	case node.ActionReboot:
		return "The server is switched off and on again at once. What runs on it is lost."
	case node.ActionSoftOff:
		return "The operating system is asked to shut down, and may refuse or take its time. What runs on the server ends."
	case node.ActionSoftReboot:
		return "The operating system is asked to restart, and may refuse or take its time. What runs on the server ends, and starts again as far as it does so by itself."
	}
	return "The server is switched on."
}

// PowerLabel is the word on a power action's button.
func PowerLabel(a node.PowerAction) string {
	switch a {
	case node.ActionOn:
		return "Power on"
	case node.ActionOff:
		return "Power off"
	case node.ActionReboot:
		return "Reboot"
	case node.ActionSoftOff:
		return "Soft power off"
	case node.ActionSoftReboot:
		return "Soft reboot"
	}
	return string(a)
}

// PowerText is a power state in one word.
func PowerText(p node.PowerState) string {
	switch p {
	case node.PowerOn:
		return "on"
	case node.PowerOff:
		return "off"
	case node.PowerError:
		return "error"
	}
	return "unknown"
}

// PowerPending is what is shown while a power action has not been confirmed; "" when none runs (G54).
func PowerPending(target node.PowerState) string {
	switch target {
	case node.PowerOn:
		return "powering on…"
	case node.PowerOff:
		return "powering off…"
	case "":
		return ""
	}
	return string(target) + "…"
}

// PowerProblem is what is shown beside the power of a node whose clean-up could not confirm that it is off (G54).
func PowerProblem(p node.PowerState, a node.Attempt) string {
	switch {
	case a.KeepPowerOn || p == node.PowerOff:
		return ""
	case a.CleanUp == node.CleanUpGivenUp:
		return "power off not confirmed"
	case a.CleanUp == node.CleanUpPending && a.CleanUpError != "":
		return "power off not confirmed yet, retrying"
	}
	return ""
}

// CleanUpText says how far the clean-up of an attempt has come.
func CleanUpText(s node.CleanUpState, tries int, problem string, keepOn bool) string {
	kept := ""
	if keepOn {
		kept = "; kept powered on for debugging"
	}
	switch s {
	case node.CleanUpPending:
		if problem != "" {
			return fmt.Sprintf("Clean-up: %s; retrying (%d tries so far)%s.", problem, tries, kept)
		}
		return "Clean-up is running" + kept + "."
	case node.CleanUpDone:
		return "Clean-up is done" + kept + "."
	case node.CleanUpGivenUp:
		return fmt.Sprintf("Clean-up was given up after %d tries: %s%s.", tries, problem, kept)
	case node.CleanUpCancelled:
		return "Clean-up was taken over by what came next."
	}
	return ""
}
