package templates

import (
	"context"
	"strings"
	"unicode"
	"unicode/utf8"

	"cagenut/node"
)

// The texts of what a BMC tells when somebody opens it.

// PartKeys lists the parts in the order of their tabs: what somebody in front of a sick server wants first.
func PartKeys() []string {
	return []string{"health", "sensors", "log", "light", "boot", "media", "bmc", "firmware", "bios"}
}

// PartLabel is the word on a part's tab; "" for what is none.
func PartLabel(ctx context.Context, key string) string {
	if key == "" {
		return ""
	}
	return T(ctx, "part.tab."+key)
}

// Lacking is the sentence for a part that the BMC cannot tell.
func Lacking(ctx context.Context, key string) string { return T(ctx, "part.lacks."+key) }

// NotRead is the sentence for a part, firmware or bios, that the node's interface does not read.
func NotRead(ctx context.Context, key, chosen string) string {
	return T(ctx, "part.notread."+key, key, chosen)
}

// NotTold says that the BMC did not answer a question, and what it or the line to it said.
func NotTold(ctx context.Context, said string, late bool) string {
	if late {
		return T(ctx, "part.late", said)
	}
	return T(ctx, "part.nottold", said)
}

// HealthWord is a health as people read it.
func HealthWord(ctx context.Context, h node.Health) string {
	if h == "" {
		return T(ctx, "health.unknown")
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
func HealthSentence(ctx context.Context, overall node.Health, ill int) string {
	switch {
	case ill > 0:
		return N(ctx, "health.ill", ill)
	case overall == node.HealthOK:
		return T(ctx, "health.fine")
	case overall == "":
		return T(ctx, "health.nosum")
	}
	return T(ctx, "health.nopart")
}

// SensorsWord sums up how many sensors are out of their limits.
func SensorsWord(ctx context.Context, out, all int) string {
	if out == 0 {
		return T(ctx, "sensors.fine", all)
	}
	return T(ctx, "sensors.out", out, all)
}

// SensorKindLabel is the heading of a kind of sensors.
func SensorKindLabel(ctx context.Context, k node.SensorKind) string {
	switch k {
	case node.SensorTemperature:
		return T(ctx, "sensors.kind.temperature")
	case node.SensorFan:
		return T(ctx, "sensors.kind.fan")
	case node.SensorVoltage:
		return T(ctx, "sensors.kind.voltage")
	case node.SensorCurrent:
		return T(ctx, "sensors.kind.current")
	case node.SensorPower:
		return T(ctx, "sensors.kind.power")
	case node.SensorOther, "":
		return T(ctx, "sensors.kind.other")
	}
	first, size := utf8.DecodeRuneInString(string(k))
	return string(unicode.ToUpper(first)) + string(k[size:])
}

// Beyond says which limit a reading is beyond.
func Beyond(ctx context.Context, verdict, limit string, above bool) string {
	if above {
		return T(ctx, "sensors.above", verdict, limit)
	}
	return T(ctx, "sensors.below", verdict, limit)
}

// Limits says where a warning or an alarm begins; low and high are "" where there is none.
func Limits(ctx context.Context, which, low, high string) string {
	which = T(ctx, "sensors.limit."+which)
	switch {
	case low == "":
		return T(ctx, "sensors.limit.above", which, high)
	case high == "":
		return T(ctx, "sensors.limit.below", which, low)
	}
	return T(ctx, "sensors.limit.both", which, low, high)
}

// MoreEntries is the link to more of the log.
func MoreEntries(ctx context.Context, upTo int) string { return T(ctx, "log.more", upTo) }

// CutLog says that a log has more entries than are shown.
func CutLog(ctx context.Context, shown int) string { return T(ctx, "log.cut", shown) }

// ClearQuestion names the node and its place.
func ClearQuestion(ctx context.Context, name, place string) string {
	return question(ctx, T(ctx, "log.clear.question"), name, place)
}

// NMIQuestion names the node and its place.
func NMIQuestion(ctx context.Context, name, place string) string {
	return question(ctx, T(ctx, "nmi.question"), name, place)
}

// EjectQuestion names the node and its place.
func EjectQuestion(ctx context.Context, name, place string) string {
	return question(ctx, T(ctx, "media.eject.question"), name, place)
}

// DriveKinds is what a virtual drive takes.
func DriveKinds(ctx context.Context, kinds []node.MediumKind) string {
	words := map[node.MediumKind]string{
		node.MediumCD: T(ctx, "media.kind.cd"), node.MediumDisk: T(ctx, "media.kind.disk"), node.MediumFloppy: T(ctx, "media.kind.floppy"),
	}
	var all []string
	for _, k := range kinds {
		if w := words[k]; w != "" {
			all = append(all, w)
		}
	}
	if len(all) == 0 {
		return T(ctx, "media.kind.drive")
	}
	return strings.Join(all, ", ")
}

// LightSentence says how the light is.
func LightSentence(ctx context.Context, i node.Indicator) string {
	switch i {
	case node.IndicatorOn:
		return T(ctx, "light.sentence.on")
	case node.IndicatorOff:
		return T(ctx, "light.sentence.off")
	case node.IndicatorBlinking:
		return T(ctx, "light.sentence.blinking")
	}
	return T(ctx, "light.sentence.unknown")
}

// LightWord is the light in a word.
func LightWord(ctx context.Context, i node.Indicator) string {
	switch i {
	case node.IndicatorOn:
		return T(ctx, "light.word.on")
	case node.IndicatorOff:
		return T(ctx, "light.word.off")
	case node.IndicatorBlinking:
		return T(ctx, "light.word.blinking")
	}
	return T(ctx, "light.word.unknown")
}

// LightLabel is the word on the button that switches the light.
func LightLabel(ctx context.Context, i node.Indicator) string {
	switch i {
	case node.IndicatorOn:
		return T(ctx, "light.on")
	case node.IndicatorBlinking:
		return T(ctx, "light.blinking")
	}
	return T(ctx, "light.off")
}

// BootSentence says what the server boots from next.
func BootSentence(ctx context.Context, b node.Boot) string {
	switch {
	case b.Device == node.BootNone:
		return T(ctx, "boot.none")
	case b.Persistent:
		return T(ctx, "boot.always", bootWords(ctx, b.Device))
	}
	return T(ctx, "boot.once", bootWords(ctx, b.Device))
}

func bootWords(ctx context.Context, d node.BootDevice) string {
	switch d {
	case node.BootPXE, node.BootDisk, node.BootCDROM, node.BootBIOS, node.BootSafe:
		return T(ctx, "boot.from."+string(d))
	}
	return T(ctx, "boot.from", d)
}

// ClockOff says how far the BMC's clock is from the appliance's; "" where the two agree.
func ClockOff(ctx context.Context, far string, ahead bool) string {
	switch {
	case far == "":
		return ""
	case ahead:
		return T(ctx, "bmc.clock.ahead", far)
	}
	return T(ctx, "bmc.clock.behind", far)
}
