package templates

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"cagenut/node"
)

// The texts of what a BMC tells when somebody opens it.

// Texts around the parts; live.js reads the first four from the page.
const (
	TextAsking   = "Asking the BMC… a slow one takes up to 20 seconds."
	TextAnswered = "The BMC has answered."
	TextTryAgain = "Try again"
	TextNotAsked = "The appliance did not answer, so the BMC was not asked."
	TextAskAgain = "Ask again"
	TextAskFirst = "Choose what the BMC shall tell. It is asked at that moment, and not before."
)

// partLabels are the words on the tabs, in the order of [PartKeys].
var partLabels = map[string]string{
	"health": "Health", "sensors": "Sensors", "log": "Event log", "light": "Light", "boot": "Boot device",
	"media": "Virtual media", "bmc": "BMC", "firmware": "Firmware", "bios": "BIOS settings",
}

// PartKeys lists the parts in the order of their tabs: what somebody in front of a sick server wants first.
func PartKeys() []string {
	return []string{"health", "sensors", "log", "light", "boot", "media", "bmc", "firmware", "bios"}
}

// PartLabel is the word on a part's tab.
func PartLabel(key string) string { return partLabels[key] }

// partLacks says what a BMC cannot tell.
var partLacks = map[string]string{
	"health":   "This BMC does not say how its server is.",
	"sensors":  "This BMC shows no sensors.",
	"log":      "This BMC keeps no event log that can be read.",
	"light":    "This BMC has no light that can be switched.",
	"boot":     "This BMC does not say what the server boots from next.",
	"media":    "This BMC has no virtual media.",
	"bmc":      "This BMC says nothing about itself.",
	"firmware": "This BMC tells no firmware versions.",
	"bios":     "This BMC tells no BIOS settings.",
}

// Lacking is the sentence for a part that the BMC cannot tell.
func Lacking(key string) string { return partLacks[key] }

// NotRead is the sentence for a part, firmware or bios, that the node's interface does not read.
func NotRead(key, chosen string) string {
	what := map[string]string{"firmware": "Firmware versions", "bios": "BIOS settings"}[key]
	return fmt.Sprintf("%s are not read from this node: its %s interface is “%s”.", what, key, chosen)
}

// NotTold says that the BMC did not answer a question, and what it or the line to it said.
func NotTold(said string, late bool) string {
	if late {
		return fmt.Sprintf("The BMC did not answer in time. %s", said)
	}
	return fmt.Sprintf("The BMC did not tell. %s", said)
}

// WrongCredentials says that the BMC refused who we are.
const WrongCredentials = "The BMC refuses the user name or the password that the node has for it. Correct them in the node's driver_info."

// BMCSilent is what is shown in the place of a fresh power state.
const (
	TextBMCSilent     = "BMC unreachable"
	TextBMCSilentThen = "The power state is what it said last. It is asked again from time to time; a button asks at once."
)

// HealthWord is a health as people read it.
func HealthWord(h node.Health) string {
	if h == "" {
		return "not known"
	}
	return string(h)
}

// HealthLook is the colour and the sign of a health.
func HealthLook(h node.Health) (look, icon string) {
	switch h {
	case node.HealthOK:
		return "good", Icon("good")
	case node.HealthWarning:
		return GroupWaiting, "!"
	case node.HealthCritical:
		return GroupFailed, Icon(GroupFailed)
	}
	return "idle", "?"
}

// HealthSentence is how the server is as a whole; ill is how many of its parts are not well.
func HealthSentence(overall node.Health, ill int) string {
	switch {
	case ill == 1:
		return "One part is not well:"
	case ill > 1:
		return fmt.Sprintf("%d parts are not well, the worst first:", ill)
	case overall == node.HealthOK:
		return "The BMC has no complaint about any part."
	case overall == "":
		return "The BMC does not sum up how its server is, and complains about no part."
	}
	return "The BMC does not say which part it means. Its event log may tell."
}

// SensorsWord sums up how many sensors are out of their limits.
func SensorsWord(out, all int) string {
	if out == 0 {
		return fmt.Sprintf("all %d within their limits", all)
	}
	return fmt.Sprintf("%d of %d out of limits", out, all)
}

// SensorKindLabel is the heading of a kind of sensors.
func SensorKindLabel(k node.SensorKind) string {
	switch k {
	case node.SensorTemperature:
		return "Temperature"
	case node.SensorFan:
		return "Fans"
	case node.SensorVoltage:
		return "Voltage"
	case node.SensorCurrent:
		return "Current"
	case node.SensorPower:
		return "Power"
	case node.SensorOther, "":
		return "Other"
	}
	first, size := utf8.DecodeRuneInString(string(k))
	return string(unicode.ToUpper(first)) + string(k[size:])
}

// Texts of readings and limits.
const (
	TextNoReading = "no reading"
	TextNoSensors = "The BMC shows no sensors. Some show them only while the server is on."
)

// Beyond says which limit a reading is beyond.
func Beyond(verdict, limit string, above bool) string {
	if above {
		return fmt.Sprintf("%s: above %s", verdict, limit)
	}
	return fmt.Sprintf("%s: below %s", verdict, limit)
}

// Limits says where a warning or an alarm begins; low and high are "" where there is none.
func Limits(which, low, high string) string {
	switch {
	case low == "":
		return fmt.Sprintf("%s above %s", which, high)
	case high == "":
		return fmt.Sprintf("%s below %s", which, low)
	}
	return fmt.Sprintf("%s below %s, above %s", which, low, high)
}

// Texts of the event log.
const (
	TextLogEmpty    = "The log is empty."
	TextNoTime      = "no time: the BMC's clock was not set"
	TextClearLog    = "Clear the log"
	TextClearEffect = "All entries are deleted in the BMC, for everybody, and cannot be brought back. The server keeps running."
	TextKeepLog     = "Keep it"
)

// MoreEntries is the link to more of the log.
func MoreEntries(upTo int) string { return fmt.Sprintf("Show up to %d entries", upTo) }

// CutLog says that a log has more entries than are shown.
func CutLog(shown int) string {
	return fmt.Sprintf("These are the newest %d entries. The BMC has more.", shown)
}

// ClearQuestion names the node and its place.
func ClearQuestion(name, place string) string { return question("Clear the event log of", name, place) }

// Texts of the interrupt.
const (
	TextNMI       = "Inject NMI"
	TextNMIEffect = "The server gets a non-maskable interrupt at once. Most operating systems write a crash dump and stop or restart: what runs on it is lost. Meant for a server that hangs."
	TextNMINot    = "Leave it as it is"
)

// NMIQuestion names the node and its place.
func NMIQuestion(name, place string) string { return question("Inject an NMI into", name, place) }

// Texts of virtual media.
const (
	TextNoDrives    = "The BMC has no virtual drives at the moment."
	TextEmptyDrive  = "empty"
	TextUnnamed     = "something whose address the BMC does not tell"
	TextReadOnly    = "read-only"
	TextEject       = "Eject"
	TextEjectAll    = "Eject all"
	TextEjectEffect = "All virtual drives of the server are emptied. A server that boots or installs from one stops doing so."
	TextEjectNot    = "Leave it in"
)

// EjectQuestion names the node and its place.
func EjectQuestion(name, place string) string {
	return question("Eject the virtual media of", name, place)
}

// DriveKinds is what a virtual drive takes.
func DriveKinds(kinds []node.MediumKind) string {
	words := map[node.MediumKind]string{node.MediumCD: "CD", node.MediumDisk: "disk", node.MediumFloppy: "floppy"}
	var all []string
	for _, k := range kinds {
		if w := words[k]; w != "" {
			all = append(all, w)
		}
	}
	if len(all) == 0 {
		return "drive"
	}
	return strings.Join(all, ", ")
}

// LightSentence says how the light is.
func LightSentence(i node.Indicator) string {
	switch i {
	case node.IndicatorOn:
		return "The light of this server is on."
	case node.IndicatorOff:
		return "The light of this server is off. Switch it on, and go and look."
	case node.IndicatorBlinking:
		return "The light of this server is blinking."
	}
	return "The BMC does not say how the light is. It can be switched all the same."
}

// LightWord is the light in a word.
func LightWord(i node.Indicator) string {
	if i == "" || i == node.IndicatorUnknown {
		return "not known"
	}
	return string(i)
}

// LightLabel is the word on the button that switches the light.
func LightLabel(i node.Indicator) string {
	switch i {
	case node.IndicatorOn:
		return "On"
	case node.IndicatorBlinking:
		return "Blinking"
	}
	return "Off"
}

// BootSentence says what the server boots from next.
func BootSentence(b node.Boot) string {
	switch {
	case b.Device == node.BootNone:
		return "Nothing is set: the server follows the boot order of its own set-up."
	case b.Persistent:
		return bootWords(b.Device) + " at every start, until that is changed."
	}
	return bootWords(b.Device) + " at the next start, and then as before."
}

func bootWords(d node.BootDevice) string {
	switch d {
	case node.BootPXE:
		return "Boots from the network (pxe)"
	case node.BootDisk:
		return "Boots from its disk (disk)"
	case node.BootCDROM:
		return "Boots from its CD, real or virtual (cdrom)"
	case node.BootBIOS:
		return "Opens the BIOS set-up (bios)"
	case node.BootSafe:
		return "Boots from its disk in safe mode (safe)"
	}
	return fmt.Sprintf("Boots from %s", d)
}

// ClockOff says how far the BMC's clock is from the appliance's; "" where the two agree.
func ClockOff(far string, ahead bool) string {
	switch {
	case far == "":
		return ""
	case ahead:
		return far + " ahead of the appliance"
	}
	return far + " behind the appliance"
}
