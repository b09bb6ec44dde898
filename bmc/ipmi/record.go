package ipmi

import (
	"fmt"
	"math"
	"strings"

	"github.com/bougou/go-ipmi/pkg/types"

	"cagenut/node"
)

// Lengths and types of sensor data records, IPMI 2.0 §43.
const (
	headerLength  = 5
	fullRecord    = 0x01
	compactRecord = 0x02
	fullLength    = 48 // without the name
	compactLength = 32 // without the name
	longestRecord = fullLength + 16
	bmcAddress    = 0x20
)

// sensorRecord is what the repository says of one sensor.
type sensorRecord struct {
	owner, lun, number byte
	name               string
	kind               types.SensorType
	reading            types.EventReadingType
	unit               string
	analog             bool
	scale              scale
	access             byte   // to its thresholds: 0 none, 1 readable, 2 settable too, 3 fixed
	fixed              limits // where access is 3
}

// scale turns raw readings into numbers with a unit, §36.3.
type scale struct {
	format types.SensorAnalogUnitFormat
	linear types.LinearizationFunc
	types.ReadingFactors
}

// limits are raw thresholds; those whose bit is set in the mask are there.
type limits struct {
	mask                                    byte
	lowerWarning, lowerCritical, lowerFatal byte
	upperWarning, upperCritical, upperFatal byte
}

// Bits of the mask of thresholds.
const (
	hasLowerWarning byte = 1 << iota
	hasLowerCritical
	hasLowerFatal
	hasUpperWarning
	hasUpperCritical
	hasUpperFatal
)

// value is what a raw reading means; nil if that is not a number.
func (s scale) value(raw byte) *float64 {
	x := float64(types.AnalogValue(raw, s.format))
	y := (float64(s.M)*x + float64(s.B)*math.Pow10(int(s.B_Exp))) * math.Pow10(int(s.R_Exp))
	if s.linear == types.LinearizationFunc_EXP10 {
		y = math.Pow(10, y) // the library cuts the exponent
	} else {
		y = s.linear.Apply(y)
	}
	if math.IsNaN(y) || math.IsInf(y, 0) {
		return nil
	}
	y = math.Round(y*1e6) / 1e6 // 8 bits of reading have no more; 0.1 stays 0.1
	return &y
}

// decodeSensors reads a full or compact record: mostly one sensor, but a compact one may stand for several. Records of other
// types, and those that are cut short, are none.
func decodeSensors(data []byte) []sensorRecord {
	if len(data) < compactLength || data[3] == fullRecord && len(data) < fullLength {
		return nil
	}
	r := sensorRecord{
		owner: data[5], lun: data[6] & 0x03, number: data[7], access: data[11] >> 2 & 0x03,
		kind: types.SensorType(data[12]), reading: types.EventReadingType(data[13]), unit: unit(data[20], data[21], data[22]),
	}
	switch data[3] {
	case fullRecord:
		r.name = r.named(text(data[47], data[fullLength:]))
		r.scale = decodeScale(data)
		r.analog = r.scale.format != types.SensorAnalogUnitFormat_NotAnalog
		r.fixed = limits{mask: data[18], upperFatal: data[36], upperCritical: data[37], upperWarning: data[38], lowerFatal: data[39], lowerCritical: data[40], lowerWarning: data[41]}
		return []sensorRecord{r}
	case compactRecord:
		return r.shared(decodeText(data[31], data[compactLength:]), data[23], data[24])
	}
	return nil
}

func decodeScale(data []byte) scale {
	signed := func(v uint16, bits uint) int { // two's complement
		if v >= 1<<(bits-1) {
			return int(v) - 1<<bits
		}
		return int(v)
	}
	s := scale{format: types.SensorAnalogUnitFormat(data[20] >> 6), linear: types.LinearizationFunc(data[23] & 0x7f)}
	s.M = int16(signed(uint16(data[25]&0xc0)<<2|uint16(data[24]), 10))
	s.B = int16(signed(uint16(data[27]&0xc0)<<2|uint16(data[26]), 10))
	s.R_Exp = int8(signed(uint16(data[29]>>4), 4))
	s.B_Exp = int8(signed(uint16(data[29]&0x0f), 4))
	return s
}

// shared lists the sensors of a compact record. They have consecutive numbers, and names that count in digits or letters.
func (r sensorRecord) shared(name string, sharing, modifier byte) []sensorRecord {
	count := int(sharing & 0x0f)
	if count <= 1 {
		r.name = r.named(strings.TrimSpace(name))
		return []sensorRecord{r}
	}
	all := make([]sensorRecord, 0, count)
	for i := range count {
		one, n := r, int(modifier&0x7f)+i
		one.number += byte(i)
		suffix := fmt.Sprint(n)
		if sharing>>4&0x03 == 1 {
			suffix = string(rune('A' + n%26))
		}
		one.name = one.named(strings.TrimSpace(name + suffix))
		all = append(all, one)
	}
	return all
}

// named is the name, or what there is to say of a sensor without one.
func (r sensorRecord) named(name string) string {
	if name != "" {
		return name
	}
	return fmt.Sprintf("%s %#02x", r.kind, r.number)
}

// sort is what the sensor measures, for people.
func (r sensorRecord) sort() node.SensorKind {
	switch {
	case r.unit == "W":
		return node.SensorPower // whatever its type: power supplies say "current" or "other"
	case r.kind == types.SensorTypeTemperature:
		return node.SensorTemperature
	case r.kind == types.SensorTypeFan:
		return node.SensorFan
	case r.kind == types.SensorTypeVoltage:
		return node.SensorVoltage
	case r.kind == types.SensorTypeCurrent:
		return node.SensorCurrent
	}
	return node.SensorOther
}

var units = map[byte]string{1: "Cel", 2: "[degF]", 3: "K", 4: "V", 5: "A", 6: "W", 7: "J", 8: "C", 9: "V.A", 18: "RPM", 19: "Hz", 20: "us", 21: "ms", 22: "s", 23: "min", 24: "h", 25: "d"}

var rates = []string{"", "/us", "/ms", "/s", "/min", "/h", "/d", ""}

// unit spells a unit, in UCUM where it is a usual one.
func unit(flags, base, modifier byte) string {
	spell := func(u byte) string {
		if s, ok := units[u]; ok {
			return s
		}
		if u == 0 {
			return ""
		}
		return types.SensorUnitType(u).String()
	}
	s := spell(base)
	switch flags >> 1 & 0x03 {
	case 1:
		s += "/" + spell(modifier)
	case 2:
		s += "." + spell(modifier)
	}
	if flags&1 != 0 {
		s = strings.TrimSpace("% " + s)
	}
	return s + rates[flags>>3&0x07]
}
