package node

import (
	"slices"
	"strings"
)

// placeholders are what vendors write where a value was to come.
var placeholders = []string{
	"not specified", "not available", "not applicable", "none", "unknown", "n/a", "default string", "default",
	"to be filled by o.e.m.", "system serial number", "system product name", "system manufacturer", "system", "0123456789", "123456789",
}

// Known is what a machine says of itself, or "" for a value that its vendor left as it found it (G52).
func Known(s string) string {
	s = strings.TrimSpace(s)
	if slices.Contains(placeholders, strings.ToLower(s)) || strings.Trim(s, "0. -") == "" {
		return ""
	}
	return s
}
