package redfish

import (
	"encoding/json"
	"strings"
	"unicode"
)

// These read single values out of JSON that a BMC sent. A value of another type than expected is absent, never an error.

func object(raw json.RawMessage) map[string]json.RawMessage {
	var m map[string]json.RawMessage
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

func texts(raw json.RawMessage) []string {
	var items []json.RawMessage
	if json.Unmarshal(raw, &items) != nil {
		return nil
	}
	var out []string
	for _, item := range items {
		if s := text(item); s != "" {
			out = append(out, s)
		}
	}
	return out
}

// link is the path in {"@odata.id": …}.
func link(raw json.RawMessage) string { return linkPath(text(object(raw)["@odata.id"])) }

// printable is text of somebody else's on its way into a message: no control characters, at most 300 bytes.
func printable(s string) string {
	s = strings.Map(func(r rune) rune {
		if unicode.IsControl(r) {
			return ' '
		}
		return r
	}, s)
	if len(s) > 300 {
		s = strings.ToValidUTF8(s[:300], "") + "…"
	}
	return strings.TrimSpace(s)
}
