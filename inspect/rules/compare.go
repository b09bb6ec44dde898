package rules

import (
	"cmp"
	"encoding/json"
	"regexp"
	"strconv"
	"strings"

	"cagenut/node"
)

// equal compares two values as people mean it: a number and a text that spells it are the same, because fields in texts
// become texts; so are true and "True".
func equal(a, b any) bool {
	switch a := a.(type) {
	case forcedText:
		t, ok := b.(forcedText)
		return ok && a == t
	case nil:
		return b == nil || b == "None"
	case bool:
		switch b := b.(type) {
		case bool:
			return a == b
		case string:
			return strings.EqualFold(pythonBool(a), b)
		}
		return false
	case string:
		switch b := b.(type) {
		case string:
			return a == b
		case nil, bool:
			return equal(b, a)
		}
	case json.Number:
		if a == b {
			return true // also one that is too large for any type
		}
	case map[string]any:
		if b, ok := b.(map[string]any); ok {
			return equalObjects(a, b)
		}
	case []any:
		if b, ok := b.([]any); ok {
			return equalLists(a, b)
		}
	}
	if order, ok := compareNumbers(a, b); ok {
		return order == 0
	}
	return equalTexts(a, b)
}

func equalObjects(a, b map[string]any) bool {
	if len(a) != len(b) {
		return false
	}
	for k, v := range a {
		if w, there := b[k]; !there || !equal(v, w) {
			return false
		}
	}
	return true
}

func equalLists(a, b []any) bool {
	if len(a) != len(b) {
		return false
	}
	for i := range a {
		if !equal(a[i], b[i]) {
			return false
		}
	}
	return true
}

func equalTexts(a, b any) bool {
	_, aText := a.(string)
	_, bText := b.(string)
	if !aText && !bText {
		return false
	}
	s, err := textOf(a)
	t, err2 := textOf(b)
	return err == nil && err2 == nil && s == t
}

// compare orders two values: as numbers where both are or spell numbers, else as texts where both are texts. ok is false
// for what has no order.
func compare(a, b any) (order int, ok bool) {
	if order, ok := compareNumbers(a, b); ok {
		return order, true
	}
	s, ok := a.(string)
	t, ok2 := b.(string)
	return strings.Compare(s, t), ok && ok2
}

var numberShape = regexp.MustCompile(`^-?\d{1,40}(\.\d{1,40})?([eE][+-]?\d{1,3})?$`)

func compareNumbers(a, b any) (order int, ok bool) {
	s, ok := numeral(a)
	t, ok2 := numeral(b)
	if !ok || !ok2 {
		return 0, false
	}
	i, err := strconv.ParseInt(s, 10, 64)
	j, err2 := strconv.ParseInt(t, 10, 64)
	if err == nil && err2 == nil {
		return cmp.Compare(i, j), true
	}
	x, err := strconv.ParseFloat(s, 64)
	y, err2 := strconv.ParseFloat(t, 64)
	return cmp.Compare(x, y), err == nil && err2 == nil
}

// numeral is a number's spelling, also that of a text which is one.
func numeral(v any) (string, bool) {
	switch v.(type) {
	case string, json.Number, float64, int, int64:
	default:
		return "", false
	}
	s, ok := node.Text(v)
	return s, ok && numberShape.MatchString(s)
}
