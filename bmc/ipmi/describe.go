package ipmi

import (
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/bougou/go-ipmi/pkg/types"

	"cagenut/node"
)

// Kinds of log entries, §32. The rest are the manufacturer's.
const (
	eventEntry = 0x02
	timedOEM   = 0xc0 // to 0xdf
	otherOEM   = 0xe0 // to 0xff
)

// clockUnset: up to here a time counts from when the BMC started, because nobody has set its clock (§37).
const clockUnset = 0x20000000

// moment reads a time; zero where the BMC did not know it.
func moment(seconds uint32) time.Time {
	if seconds <= clockUnset || seconds == 0xffffffff {
		return time.Time{}
	}
	return time.Unix(int64(seconds), 0).UTC()
}

// describe puts an entry in words.
func describe(e entry, sensors map[[2]byte]sensorRecord) node.LogEntry {
	l := node.LogEntry{ID: strconv.Itoa(int(e.id()))}
	kind := e.data[2]
	if kind < otherOEM {
		l.At = moment(binary.LittleEndian.Uint32(e.data[3:7]))
	}
	switch {
	case kind == eventEntry:
		event(&l, e.data, sensors)
	case kind >= otherOEM:
		l.Message = fmt.Sprintf("OEM record %02x: %s", kind, hex.EncodeToString(e.data[3:16]))
	case kind >= timedOEM:
		maker := uint32(e.data[7]) | uint32(e.data[8])<<8 | uint32(e.data[9])<<16
		l.Message = fmt.Sprintf("OEM record %02x of manufacturer %d: %s", kind, maker, hex.EncodeToString(e.data[10:16]))
	default:
		l.Message = fmt.Sprintf("record of unknown type %02x: %s", kind, hex.EncodeToString(e.data[7:16]))
	}
	return l
}

// event describes an event of a sensor, §32.1.
func event(l *node.LogEntry, data []byte, sensors map[[2]byte]sensorRecord) {
	r, known := sensors[[2]byte{data[7], data[11]}]
	if !known {
		r = sensorRecord{kind: types.SensorType(data[10]), number: data[11]}
		r.name = r.named("")
	}
	l.Sensor = r.name
	gone := data[12]&0x80 != 0
	reading, details := types.EventReadingType(data[12]&0x7f), types.EventData{EventData1: data[13], EventData2: data[14], EventData3: data[15]}
	e := reading.Event(types.SensorType(data[10]), details)
	if e == nil {
		l.Message = fmt.Sprintf("%s event %d", types.SensorType(data[10]), details.EventReadingOffset())
	} else {
		l.Message = plain(e.EventName)
		l.Severity = health(reading.EventSeverity(types.SensorType(data[10]), details, types.EventDirAssertion))
	}
	if reading.IsThreshold() && known && r.analog && !r.scale.linear.IsNonLinear() {
		l.Message += measured(r, details)
	} else if rest := undecoded(details); rest != "" {
		l.Message += rest
	}
	if gone {
		l.Message += " (no longer)"
		l.Severity = node.HealthOK
	}
}

// measured is the reading and the threshold that an event of a threshold carries, §29.7.
func measured(r sensorRecord, d types.EventData) string {
	var parts []string
	for _, p := range []struct {
		carries bool
		name    string
		raw     byte
	}{{d.EventData1>>6 == 1, "reading", d.EventData2}, {d.EventData1>>4&0x03 == 1, "threshold", d.EventData3}} {
		if v := r.scale.value(p.raw); p.carries && v != nil {
			parts = append(parts, p.name+" "+node.Amount(*v, r.unit))
		}
	}
	if len(parts) == 0 {
		return ""
	}
	return ": " + strings.Join(parts, ", ")
}

// undecoded is what an event carries that only its manufacturer, or a table of the standard, explains; 0xff is "nothing".
func undecoded(d types.EventData) string {
	if d.EventData1>>4 == 0 || d.EventData2 == 0xff && d.EventData3 == 0xff {
		return ""
	}
	return fmt.Sprintf(" [%02x %02x]", d.EventData2, d.EventData3)
}
