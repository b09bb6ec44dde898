package redfish

import (
	"bytes"
	"encoding/json"
	"math"
	"strconv"
	"strings"
	"time"
	"unicode"

	"cagenut/node"
)

// These read single values out of JSON that a BMC sent. A value of another type than expected is absent, never an error.

func object(raw json.RawMessage) resource {
	var m resource
	if json.Unmarshal(raw, &m) != nil {
		return nil
	}
	return m
}

func text(raw json.RawMessage) string {
	var s string
	if json.Unmarshal(raw, &s) != nil {
		return ""
	}
	return s
}

func items(raw json.RawMessage) []json.RawMessage {
	var list []json.RawMessage
	if json.Unmarshal(raw, &list) != nil {
		return nil
	}
	return list
}

func texts(raw json.RawMessage) []string {
	var out []string
	for _, item := range items(raw) {
		if s := text(item); s != "" {
			out = append(out, s)
		}
	}
	return out
}

// link is the path in {"@odata.id": …}.
func link(raw json.RawMessage) string { return linkPath(text(object(raw)["@odata.id"])) }

// resource is a JSON object of a BMC's, its values still to be read.
type resource map[string]json.RawMessage

// first is the first of the keys that has a value, else nil.
func (r resource) first(keys ...string) json.RawMessage {
	for _, k := range keys {
		if v := r[k]; len(v) > 0 && !bytes.Equal(v, []byte("null")) {
			return v
		}
	}
	return nil
}

// word is the first of the keys that says something. Padding and what BMCs write for "nothing" is dropped; a number counts as
// its digits.
func (r resource) word(keys ...string) string {
	for _, k := range keys {
		if s := word(r[k]); s != "" {
			return s
		}
	}
	return ""
}

// nothing is what BMCs write where they have nothing to say.
var nothing = map[string]bool{
	"n/a": true, "na": true, "none": true, "nil": true, "null": true, "not available": true, "not specified": true,
	"to be filled by o.e.m.": true, "unknown": true, "default string": true, "not present": true, "-*": true,
}

func word(raw json.RawMessage) string {
	s := text(raw)
	if s == "" {
		var n json.Number
		if json.Unmarshal(raw, &n) == nil {
			s = n.String()
		}
	}
	s = printable(s)
	if nothing[strings.ToLower(s)] {
		return ""
	}
	return s
}

// number is the first of the keys that holds one; numbers in strings count, with or without a unit (quirk 50).
func (r resource) number(keys ...string) *float64 {
	for _, k := range keys {
		if n := number(r[k]); n != nil {
			return n
		}
	}
	return nil
}

func number(raw json.RawMessage) *float64 {
	if len(raw) == 0 || bytes.Equal(raw, []byte("null")) {
		return nil
	}
	var n float64
	if json.Unmarshal(raw, &n) == nil {
		return &n
	}
	fields := strings.Fields(text(raw))
	if len(fields) == 0 || len(fields) > 2 {
		return nil
	}
	n, err := strconv.ParseFloat(fields[0], 64)
	if err != nil || math.IsNaN(n) || math.IsInf(n, 0) {
		return nil
	}
	return &n
}

// whole is a number that counts something: not negative, fractions cut off; 0 where there is none.
func (r resource) whole(keys ...string) int64 {
	for _, k := range keys {
		if n := number(r[k]); n != nil && *n > 0 && *n < math.MaxInt64 {
			return int64(*n)
		}
	}
	return 0
}

func boolean(raw json.RawMessage) *bool {
	var b bool
	if len(raw) > 0 && !bytes.Equal(raw, []byte("null")) && json.Unmarshal(raw, &b) == nil {
		return &b
	}
	if b, err := strconv.ParseBool(strings.ToLower(text(raw))); err == nil {
		return &b
	}
	return nil
}

// moment reads a time, UTC where it names no zone; zero where it is none, or of before BMCs had clocks that were set.
func moment(raw json.RawMessage) time.Time {
	for _, layout := range []string{time.RFC3339, "2006-01-02T15:04:05Z0700", "2006-01-02T15:04:05", "2006-01-02 15:04:05"} {
		if t, err := time.Parse(layout, text(raw)); err == nil && t.Year() >= 2005 {
			return t.UTC()
		}
	}
	return time.Time{}
}

func health(raw json.RawMessage) node.Health {
	switch strings.ToLower(text(raw)) {
	case "ok":
		return node.HealthOK
	case "warning":
		return node.HealthWarning
	case "critical":
		return node.HealthCritical
	}
	return ""
}

// state is the Status that most resources have.
type state struct {
	health node.Health // the part's own
	rollup node.Health // of what is below it
	state  string      // "Enabled", "Absent", …
	why    []string    // messages of its conditions
}

func (r resource) state() state {
	o := object(r["Status"])
	s := state{health: health(o["Health"]), rollup: health(o["HealthRollup"]), state: text(o["State"])}
	for _, c := range items(o["Conditions"]) {
		if m := object(c).word("Message", "MessageId"); m != "" {
			s.why = append(s.why, m)
		}
	}
	return s
}

// absent tells of an empty slot.
func (s state) absent() bool { return strings.EqualFold(s.state, "Absent") }

// worst is the worse of the part's own health and that of what is below it.
func (s state) worst() node.Health { return s.health.Worse(s.rollup) }

// printable is text of somebody else's on its way into a message: no control characters, at most 300 bytes.
func printable(s string) string { return shortened(s, 300) }

func shortened(s string, limit int) string {
	s = strings.Map(func(r rune) rune {
		if unicode.IsControl(r) {
			return ' '
		}
		return r
	}, s)
	if len(s) > limit {
		s = strings.ToValidUTF8(s[:limit], "") + "…"
	}
	return strings.TrimSpace(s)
}
