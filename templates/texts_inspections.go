package templates

import (
	"fmt"
	"strings"

	"cagenut/node"
)

// Texts of an attempt's page.
const (
	TextHowFar        = "How far it got"
	TextNoSign        = "No sign of life yet."
	TextTimeline      = "The whole timeline"
	TextOtherMachine  = "This is another machine than at the inspection before"
	TextNothingBefore = "There is no earlier inspection to compare it with."
	TextNoResults     = "No results of this inspection are kept."
	TextNotCompared   = "What was stored of these inspections cannot be compared."
	TextInShort       = "In short:"
	TextSince         = "Since the inspection before:"
	TextSame          = "No difference: the same parts as before."
	TextNoLogs        = "No logs of the ramdisk came with this inspection, or they are no longer kept."
	TextLogs          = "The ramdisk's logs"
	TextReapply       = "Apply the report once more"
	TextReapplyNot    = "Leave it as it is"
	TextCompare       = "Compare inspections"
	TextNoInspections = "No inspection of this node has stored anything yet."
	TextOneInspection = "One inspection is kept; a second one is needed to compare."
	TextTwice         = "This is the same inspection twice. Choose two different ones."
	TextNotTold       = "not told"
	TextNoFiles       = "There are no files in these logs."
	TextEmptyFile     = "This file is empty."
	TextDownloadAll   = "Download the archive (tar.gz)"
	TextWholeFile     = "The whole file"
	TextHostileLogs   = "Whatever the server sent, as text."
	TextProven        = "proven: the report carried this attempt's token"
	TextUnproven      = "not proven: the report came without this attempt's token, and was matched by MAC or BMC address"
	// TextUnprovenNote is the same as a sentence.
	TextUnprovenNote = "Not proven: the report came without this attempt's token, and was matched by MAC or BMC address."
)

// ReapplyEffect says what a reapply does; the node stays in its state.
func ReapplyEffect(s node.State) string {
	return fmt.Sprintf("The newest report that is kept is worked up again with the hooks and rules of now, and what comes of it replaces what is stored. The server is not touched, and the node stays “%s”.", s)
}

// ReapplyQuestion names the node and its place.
func ReapplyQuestion(name, place string) string {
	return question("Apply the last report once more to", name, place)
}

// ProofText says how sure it is that the report was this attempt's; "" before any.
func ProofText(p node.Proof) string {
	switch p {
	case node.Proven:
		return TextProven
	case node.NotProven:
		return TextUnproven
	}
	return string(p)
}

// RunSentence says what an attempt does, or how it ended.
func RunSentence(a node.Attempt) string {
	switch {
	case a.State == node.RunReapplying:
		return "Its report is being applied once more."
	case a.Outcome == node.Succeeded:
		return "The server reported, and what it found is stored."
	case a.Outcome == node.Aborted:
		return "It was aborted by request."
	case a.Outcome == node.TimedOut:
		return "No report came in time."
	case a.Outcome == node.Failed:
		return "It did not succeed."
	case a.State == node.RunStarting:
		return "The inspection is starting."
	case a.State == node.RunWaiting:
		return "The server boots the ramdisk; waiting for its report."
	case a.State == node.RunProcessing:
		return "The report is being worked up."
	}
	return ""
}

// SignWords is a sign of life in words.
func SignWords(k node.SignKind) string {
	switch k {
	case node.SignPowerSent:
		return "Power on sent to the BMC"
	case node.SignPoweredOn:
		return "Power on confirmed by the BMC"
	case node.SignBootScript:
		return "Boot script fetched"
	case node.SignBootFile:
		return "Kernel or ramdisk fetched"
	case node.SignBootImage:
		return "Boot image read"
	case node.SignLookup:
		return "Lookup by the ramdisk"
	case node.SignHeartbeat:
		return "Heartbeat of the ramdisk"
	case node.SignReport:
		return "Report received"
	case node.SignHooks:
		return "Hooks begun"
	case node.SignDone:
		return "Ended"
	}
	return string(k)
}

// SignDetail says where a sign came from.
func SignDetail(k node.SignKind, detail string) string {
	switch {
	case detail == "":
		return ""
	case k == node.SignBootScript:
		return "by " + detail
	case k == node.SignDone:
		return detail
	}
	return "from " + detail
}

// Texts of the timeline that are no signs.
const (
	TextStarted = "Inspection started"
	TextWaits   = "Waits for the ramdisk (inspect wait)"
)

// SignTimes says how often a sign came, before the time of its last.
func SignTimes(times int) string { return fmt.Sprintf("%d times, the last", times) }

// Later says how long after the line before it something happened.
func Later(long string) string { return long + " later" }

// ChangeLook is the colour and the sign of what happened to a part.
func ChangeLook(c node.ChangeKind) (look, icon string) {
	switch c {
	case node.PartAdded:
		return "good", "+"
	case node.PartRemoved:
		return GroupFailed, "−"
	}
	return GroupWaiting, "≠"
}

// kindWords are the kinds of parts, one and several.
var kindWords = map[string][2]string{
	"system": {"system", "systems"}, "processors": {"processors", "processors"}, "memory": {"memory", "memory"}, "BMC": {"BMC", "BMCs"},
	"memory module": {"memory module", "memory modules"}, "network interface": {"network interface", "network interfaces"}, "disk": {"disk", "disks"},
	"PCI device": {"PCI device", "PCI devices"},
}

// KindHeading is the heading of a kind of parts.
func KindHeading(kind string, parts int) string {
	words, ok := kindWords[kind]
	if !ok {
		return kind
	}
	text := words[0]
	if parts > 1 {
		text = words[1]
	}
	return strings.ToUpper(text[:1]) + text[1:]
}

// Counted is a piece of a difference's summary: "2 disks replaced".
func Counted(n int, kind, what string) string {
	words, ok := kindWords[kind]
	switch {
	case n == 1 && ok:
		kind = words[0]
	case ok:
		kind = words[1]
	case n > 1:
		kind += "s"
	}
	return fmt.Sprintf("%d %s %s", n, kind, what)
}

// OnlyOne is the same for a kind of which there is one: what changed of it.
func OnlyOne(kind, what string, fields []string) string {
	const most = 3
	if len(fields) > most {
		fields = append(append([]string{}, fields[:most]...), "…")
	}
	if len(fields) == 0 || what != string(node.PartChanged) {
		return kind + " " + what
	}
	return fmt.Sprintf("%s %s (%s)", kind, what, strings.Join(fields, ", "))
}

// Links says how many links came or went.
func Links(n int, lost bool) string {
	what := "links came up"
	switch {
	case lost && n == 1:
		what = "link lost"
	case lost:
		what = "links lost"
	case n == 1:
		what = "link came up"
	}
	return fmt.Sprintf("%d %s", n, what)
}

// Moved says how many interfaces are on another switch port.
func Moved(n int) string {
	if n == 1 {
		return "1 cable moved to another switch port"
	}
	return fmt.Sprintf("%d cables moved to other switch ports", n)
}

// MoreParts says that more parts changed than are shown.
func MoreParts(n int) string { return fmt.Sprintf("and %d more, which the API tells", n) }

// CutText says that a file is longer than what is shown.
func CutText(shown, size string) string {
	return fmt.Sprintf("These are the first %s of %s.", shown, size)
}
