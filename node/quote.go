package node

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

// Shorten cuts a text to at most limit characters, and marks the cut.
func Shorten(s string, limit int) string {
	s = strings.ToValidUTF8(s, "\uFFFD")
	if utf8.RuneCountInString(s) <= limit {
		return s
	}
	return string([]rune(s)[:limit]) + "…"
}

// short keeps a text that a client sent from filling an answer.
func short(s string) string { return Shorten(s, 80) }

// shortValue quotes what a client sent: not at length, and no secret.
func shortValue(v any) string {
	switch v := maskValue(v).(type) {
	case string:
		return "'" + short(v) + "'"
	case nil:
		return "null"
	default:
		return short(fmt.Sprint(v))
	}
}
