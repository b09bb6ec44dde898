package inventory

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"unicode/utf8"
)

// How much of a report is read. Sixteen MiB of small values would otherwise become gigabytes of maps.
const (
	maxInterfaces = 64
	maxDisks      = 256
	maxFlags      = 1024
	maxMembers    = 1024
)

var (
	errTooMany  = errors.New("is too long")
	errNotThese = errors.New("is of another type")
)

// Elements splits a valid JSON array without copying it. Of one with more than max elements it returns the first max and
// an error.
func Elements(v json.RawMessage, max int) ([]json.RawMessage, error) {
	inside, ok := within(v, '[')
	if !ok {
		return nil, errNotThese
	}
	out := make([]json.RawMessage, 0, min(max, 8))
	for len(inside) > 0 {
		if len(out) == max {
			return out, fmt.Errorf("a list of more than %d elements %w", max, errTooMany)
		}
		var e json.RawMessage
		e, inside = cut(inside)
		out = append(out, e)
	}
	return out, nil
}

// Members splits a valid JSON object without copying its values; of several members with one name the last counts.
func Members(v json.RawMessage) (map[string]json.RawMessage, error) {
	inside, ok := within(v, '{')
	if !ok {
		return nil, errNotThese
	}
	out := map[string]json.RawMessage{}
	for len(inside) > 0 {
		var name, value json.RawMessage
		name, inside = cut(inside)
		value, inside = cut(inside)
		key, ok := Text(name)
		if !ok {
			return nil, errNotThese
		}
		if _, again := out[key]; !again && len(out) == maxMembers {
			return nil, fmt.Errorf("an object of more than %d members %w", maxMembers, errTooMany)
		}
		out[key] = value
	}
	return out, nil
}

// Text is the text that a valid JSON value is; false for one that is none.
func Text(v json.RawMessage) (string, bool) {
	if len(v) < 2 || v[0] != '"' {
		return "", false
	}
	if bytes.IndexByte(v, '\\') < 0 && utf8.Valid(v) {
		return string(v[1 : len(v)-1]), true
	}
	var s string
	err := json.Unmarshal(v, &s)
	return s, err == nil
}

// within is what stands between the brackets of a valid JSON array or object, whichever open begins.
func within(v []byte, open byte) ([]byte, bool) {
	v = bytes.Trim(v, space)
	if len(v) < 2 || v[0] != open {
		return nil, false
	}
	return bytes.Trim(v[1:len(v)-1], space), true
}

const space = " \t\r\n"

// cut takes the first value, and the comma or colon after it, off the inside of a valid JSON array or object.
func cut(v []byte) (value, rest []byte) {
	end := valueEnd(v)
	// The capacity ends with the value, so that nobody appends into its neighbour.
	value, rest = v[:end:end], bytes.TrimLeft(v[end:], space)
	if len(rest) > 0 {
		rest = bytes.TrimLeft(rest[1:], space)
	}
	return value, rest
}

// valueEnd is where the valid JSON value at the beginning of v ends.
func valueEnd(v []byte) int {
	if len(v) == 0 {
		return 0
	}
	switch v[0] {
	case '"':
		return textEnd(v)
	case '[', '{':
		depth := 0
		for i := 0; i < len(v); i++ {
			switch v[i] {
			case '"':
				i += textEnd(v[i:]) - 1
			case '[', '{':
				depth++
			case ']', '}':
				if depth--; depth == 0 {
					return i + 1
				}
			}
		}
		return len(v)
	}
	if end := bytes.IndexAny(v, ",:]} \t\r\n"); end >= 0 {
		return end
	}
	return len(v)
}

// textEnd is where the valid JSON text at the beginning of v ends.
func textEnd(v []byte) int {
	for i := 1; i < len(v); {
		quote := bytes.IndexByte(v[i:], '"')
		if quote < 0 {
			break
		}
		i += quote + 1
		backslashes := 0
		for v[i-2-backslashes] == '\\' {
			backslashes++
		}
		if backslashes%2 == 0 {
			return i
		}
	}
	return len(v)
}
