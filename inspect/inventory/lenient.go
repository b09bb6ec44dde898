package inventory

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// reader takes typed values out of one JSON object. What is missing or null is the zero value; what has another type is
// too, and a note tells about it.
type reader struct {
	where  string // path of the object, for notes
	fields map[string]json.RawMessage
	notes  *[]string
}

// read makes a reader of a value that should be an object.
func read(where string, value json.RawMessage, notes *[]string) reader {
	r := reader{where: where, notes: notes}
	if isNull(value) {
		return r
	}
	fields, err := Members(value)
	if err != nil {
		r.note("", "an object of usual size", value)
	}
	r.fields = fields
	return r
}

func (r reader) note(key, want string, got json.RawMessage) {
	where := r.where
	if key != "" {
		where += "." + key
	}
	*r.notes = append(*r.notes, fmt.Sprintf("%s is not %s but %s; ignored", where, want, excerpt(got)))
}

// value is the field, or nil for one that is missing or null.
func (r reader) value(key string) json.RawMessage {
	if v := r.fields[key]; !isNull(v) {
		return v
	}
	return nil
}

func (r reader) text(key string) string {
	v := r.value(key)
	if v == nil {
		return ""
	}
	if len(v) > textLimit {
		r.note(key, fmt.Sprintf("a text of at most %d bytes", textLimit), v)
		return ""
	}
	if s, ok := Text(v); ok {
		return s
	}
	// A number where text is expected is read as it is spelt: serial numbers and frequencies come like that.
	if isNumber(v) {
		return string(v)
	}
	r.note(key, "a text", v)
	return ""
}

// logs is the one text that may be as long as the body.
func (r reader) logs() []byte {
	v := r.value("logs")
	logs := textBytes(v)
	if v != nil && logs == nil {
		r.note("logs", "a text", v)
	}
	return logs
}

// whole reads a whole number that is not negative; the text of one counts, because ramdisks send both.
func (r reader) whole(key string) int64 {
	v := r.value(key)
	if v == nil {
		return 0
	}
	digits := string(v)
	if s, ok := Text(v); ok {
		digits = s
	}
	if n, err := strconv.ParseInt(digits, 10, 64); err == nil && n >= 0 {
		return n
	}
	if f, err := strconv.ParseFloat(digits, 64); err == nil && f >= 0 && f < 1<<53 && f == float64(int64(f)) {
		return int64(f)
	}
	r.note(key, "a whole number", v)
	return 0
}

// maxBytes is the size of the biggest memory or disk that is believed: sums of them stay far from overflow.
const maxBytes = 1 << 52

// bytes reads a number of bytes.
func (r reader) bytes(key string) int64 {
	n := r.whole(key)
	if n > maxBytes {
		r.note(key, "a size that hardware has", r.value(key))
		return 0
	}
	return n
}

func (r reader) flag(key string) *bool {
	v := r.value(key)
	if v == nil {
		return nil
	}
	var b bool
	if json.Unmarshal(v, &b) == nil {
		return &b
	}
	r.note(key, "true or false", v)
	return nil
}

// first is the first text of a list.
func (r reader) first(key string) string {
	for _, v := range r.list(key, maxMembers) {
		one := reader{where: r.where, fields: map[string]json.RawMessage{key: v}, notes: r.notes}
		if s := one.text(key); s != "" {
			return s
		}
	}
	return ""
}

// list reads at most max elements of a list and notes that there are more.
func (r reader) list(key string, max int) []json.RawMessage {
	v := r.value(key)
	if v == nil {
		return nil
	}
	l, err := Elements(v, max)
	switch {
	case errors.Is(err, errTooMany):
		*r.notes = append(*r.notes, fmt.Sprintf("%s.%s has more than %d elements; the rest is ignored", r.where, key, max))
	case err != nil:
		r.note(key, "a list", v)
	}
	return l
}

func isNull(v json.RawMessage) bool { return len(v) == 0 || string(v) == "null" }

func isNumber(v json.RawMessage) bool {
	return len(v) > 0 && (v[0] == '-' || '0' <= v[0] && v[0] <= '9')
}

const (
	textLimit    = 1024 // bytes of one value that is read; longer ones are in the documents alone
	excerptLimit = 60   // bytes of a ramdisk's own words that a note or an error repeats
)

func excerpt(v json.RawMessage) string {
	var out bytes.Buffer
	if len(v) > 4*excerptLimit {
		v = v[:4*excerptLimit]
	}
	if json.Compact(&out, v) != nil {
		out.Reset()
		out.Write(v)
	}
	return Excerpt(out.String())
}

// Excerpt is the beginning of a text that a ramdisk wrote, fit for a note or a log: short, and on one line.
func Excerpt(s string) string {
	if len(s) > excerptLimit {
		end := excerptLimit
		for end > 0 && !utf8.RuneStart(s[end]) {
			end--
		}
		s = s[:end] + "…"
	}
	var b strings.Builder
	for _, r := range s {
		if unicode.IsPrint(r) {
			b.WriteRune(r)
			continue
		}
		b.WriteString(strings.Trim(strconv.QuoteRune(r), "'"))
	}
	return b.String()
}
