package openapi

import (
	"bytes"
	"encoding/json"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"cagenut/node"
)

// Kind is the type of a value: how answers show it, and what requests may give. The methods take the caller's
// microversion 1.N, because some values depend on it.
type Kind interface {
	// Reads is what answers show.
	Reads(minor int) *Schema
	// Takes is what requests may give.
	Takes(minor int) *Schema
	// Check refuses, with a text that names the value, exactly what Takes does not allow.
	Check(name string, value json.RawMessage, minor int) error
}

// plain is a kind that is the same for all versions.
type plain struct {
	reads, takes *Schema
	check        func(name string, value json.RawMessage) error
}

func (p plain) Reads(int) *Schema { return p.reads }
func (p plain) Takes(int) *Schema { return p.takes }

func (p plain) Check(name string, value json.RawMessage, _ int) error { return p.check(name, value) }

// Custom is a kind whose check is the caller's own.
func Custom(reads, takes *Schema, check func(name string, value json.RawMessage) error) Kind {
	return plain{reads, takes, check}
}

// IsNull tells whether a value is absent or null.
func IsNull(value json.RawMessage) bool { return len(value) == 0 || string(value) == "null" }

// Text is a string of at most limit characters, or null.
func Text(limit int) Kind {
	s := &Schema{Types: []string{"string", "null"}, MaxLength: &limit}
	return plain{s, s, func(name string, value json.RawMessage) error {
		_, err := readText(name, value, limit)
		return err
	}}
}

// UUID is a UUID in the spelling with dashes, or null. Requests may say "" for null.
func UUID() Kind {
	reads := &Schema{Types: []string{"string", "null"}, Pattern: uuidPattern}
	takes := &Schema{Types: []string{"string", "null"}, Pattern: "^$|" + uuidPattern}
	return plain{reads, takes, func(name string, value json.RawMessage) error {
		s, err := readText(name, value, 255)
		if err == nil && s != "" && !node.IsUUID(s) {
			return node.Invalidf("Expected UUID for %s: %s", name, s)
		}
		return err
	}}
}

const uuidPattern = "^[0-9A-Fa-f]{8}(-[0-9A-Fa-f]{4}){3}-[0-9A-Fa-f]{12}$"

// MAC is an Ethernet address.
func MAC() Kind {
	s := &Schema{Type: "string", Pattern: macPattern.String()}
	return plain{s, s, func(name string, value json.RawMessage) error {
		text, err := readText(name, value, 255)
		if err == nil && !macPattern.MatchString(text) {
			return node.Invalidf("Expected valid MAC address for %s: %s", name, text)
		}
		return err
	}}
}

var macPattern = regexp.MustCompile(`^[0-9A-Fa-f]{2}([:-][0-9A-Fa-f]{2}){5}$`)

func readText(name string, value json.RawMessage, limit int) (string, error) {
	if IsNull(value) {
		return "", nil
	}
	var s string
	if json.Unmarshal(value, &s) != nil {
		return "", node.Invalidf("Expected string for %s: %s", name, Quoted(name, value))
	}
	if utf8.RuneCountInString(s) > limit {
		return "", node.Invalidf("Schema error for %s: the value is longer than %d characters", name, limit)
	}
	return s, nil
}

var (
	yes = []string{"1", "t", "true", "on", "y", "yes"}
	no  = []string{"0", "f", "false", "off", "n", "no"}
)

// longestQuote is how much of a value an error quotes, in bytes.
const longestQuote = 200

// Quoted is a value as an error may show it: not the whole of a long one, and nothing of a secret.
func Quoted(name string, value []byte) string {
	switch {
	case node.IsSecretKey(name):
		return node.Mask
	case len(value) > longestQuote:
		return strings.ToValidUTF8(string(value[:longestQuote]), "") + "…"
	}
	return string(value)
}

// Flag is a boolean. Requests may say one of the words that stand for one, in any case, or null for the default.
func Flag() Kind { return plain{Typed("boolean"), flagTakes(), checkFlag} }

// Boolean is true or false and nothing that stands for it.
func Boolean() Kind {
	s := Typed("boolean")
	return plain{s, s, func(name string, value json.RawMessage) error {
		var b bool
		if json.Unmarshal(value, &b) != nil || IsNull(value) {
			return node.Invalidf("Expected boolean for %s: %s", name, Quoted(name, value))
		}
		return nil
	}}
}

// Choice is a boolean that may also be null.
func Choice() Kind { return plain{Typed("boolean", "null"), flagTakes(), checkFlag} }

func checkFlag(name string, value json.RawMessage) error {
	if IsNull(value) {
		return nil
	}
	_, err := ReadFlag(name, value)
	return err
}

func flagTakes() *Schema {
	return &Schema{AnyOf: []*Schema{Typed("boolean", "null"), OneOf(0, 1), {Type: "string", Pattern: flagPattern()}}}
}

// flagPattern allows the words in any case and with blanks around.
func flagPattern() string {
	return "^[" + blanks + "]*(" + caseless(append(slices.Clone(yes), no...)) + ")[" + blanks + "]*$"
}

const blanks = " \t\r\n"

// caseless is the part of a pattern that matches words in any case.
func caseless(words []string) string {
	var b strings.Builder
	for i, word := range words {
		if i > 0 {
			b.WriteByte('|')
		}
		for _, r := range word {
			if l, u := string(r), strings.ToUpper(string(r)); l != u {
				b.WriteString("[" + l + u + "]")
			} else {
				b.WriteRune(r)
			}
		}
	}
	return b.String()
}

// ReadFlag reads a boolean, or one of the words and numbers that stand for one.
func ReadFlag(name string, value json.RawMessage) (bool, error) {
	var b bool
	if json.Unmarshal(value, &b) == nil {
		return b, nil
	}
	var word string
	if json.Unmarshal(value, &word) != nil {
		word = string(value)
	}
	lower := strings.ToLower(strings.Trim(word, blanks))
	switch {
	case slices.Contains(yes, lower):
		return true, nil
	case slices.Contains(no, lower):
		return false, nil
	}
	all := append(slices.Clone(yes), no...)
	slices.Sort(all)
	return false, node.Invalidf("Invalid %s: Unrecognized value '%s', acceptable values are: '%s'", name, Quoted(name, []byte(word)), strings.Join(all, "', '"))
}

// Integer is a whole number from least on; tooSmall is the text for anything below.
func Integer(least int, tooSmall string) Kind {
	low, high := float64(least), float64(math.MaxInt32)
	s := &Schema{Type: "integer", Minimum: &low, Maximum: &high}
	return plain{s, s, func(name string, value json.RawMessage) error {
		n, err := strconv.ParseInt(strings.TrimSpace(string(value)), 10, 32)
		switch {
		case err != nil:
			return node.Invalidf("Expected integer for %s: %s", name, Quoted(name, bytes.Trim(value, `"`)))
		case n < int64(least):
			return node.Invalidf("%s", tooSmall)
		}
		return nil
	}}
}

// Object is an object with any content; requests may say null for an empty one.
func Object() Kind {
	return plain{Typed("object"), Typed("object", "null"), func(name string, value json.RawMessage) error {
		var doc map[string]json.RawMessage
		if json.Unmarshal(value, &doc) != nil && !IsNull(value) {
			return node.Invalidf("Schema error for %s: the value is not of type 'object'", name)
		}
		return nil
	}}
}

// Word is one of some strings; refused makes the text of an error from what was said instead.
func Word(refused func(said string) error, words ...string) Kind {
	s := OneOf(words...)
	return plain{s, s, func(name string, value json.RawMessage) error {
		said, err := readText(name, value, 255)
		if err == nil && !slices.Contains(words, said) {
			return refused(said)
		}
		return err
	}}
}

// Anything is a value that is kept as it comes.
func Anything() Kind {
	return plain{&Schema{}, &Schema{}, func(string, json.RawMessage) error { return nil }}
}

// Shown is the kind of what only answers have.
func Shown(s *Schema) Kind { return plain{reads: s} }
