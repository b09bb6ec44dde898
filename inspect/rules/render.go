package rules

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"cagenut/node"
)

var errTooLong = fmt.Errorf("has more than %d KiB as a text", maxText>>10)

// text is the value as a text, in the way that Python writes it, because that is what the regular expressions of existing
// rules expect: True and None, and lists and objects with single quotes. Objects are sorted by key.
func (v view) text() (string, error) {
	if s, ok := v.value.(string); ok {
		return s, nil
	}
	w := textWriter{view: v}
	if err := w.write(v.value); err != nil {
		return "", err
	}
	if w.Len() > maxText {
		return "", errTooLong
	}
	return w.String(), nil
}

// textOf is [view.text] of a value without secrets.
func textOf(v any) (string, error) { return view{value: v}.text() }

type textWriter struct {
	strings.Builder
	view
}

func (w *textWriter) write(v any) error {
	if w.Len() > maxText {
		return errTooLong
	}
	switch v := v.(type) {
	case nil:
		w.WriteString("None")
	case bool:
		w.WriteString(pythonBool(v))
	case string:
		w.quote(v)
	case json.Number:
		w.WriteString(v.String())
	case map[string]any:
		return w.object(v)
	case []any:
		return w.list(v)
	case []string:
		list := make([]any, len(v))
		for i := range v {
			list[i] = v[i]
		}
		return w.list(list)
	default:
		s, ok := node.Text(v)
		if !ok {
			return errors.New("cannot be written as a text")
		}
		w.WriteString(s)
	}
	return nil
}

func pythonBool(b bool) string {
	if b {
		return "True"
	}
	return "False"
}

func (w *textWriter) object(v map[string]any) error {
	if len(v) > maxText/4 {
		return errTooLong // before anything is sorted
	}
	w.WriteByte('{')
	for i, k := range slices.Sorted(maps.Keys(v)) {
		if i > 0 {
			w.WriteString(", ")
		}
		w.quote(k)
		w.WriteString(": ")
		e := v[k]
		if w.hides(k) {
			e = masked
		}
		if err := w.write(e); err != nil {
			return err
		}
	}
	w.WriteByte('}')
	return nil
}

func (w *textWriter) list(v []any) error {
	w.WriteByte('[')
	for i, e := range v {
		if i > 0 {
			w.WriteString(", ")
		}
		if err := w.write(e); err != nil {
			return err
		}
	}
	w.WriteByte(']')
	return nil
}

// quote writes a text inside a list or object.
func (w *textWriter) quote(s string) {
	quote := '\''
	if strings.ContainsRune(s, '\'') && !strings.ContainsRune(s, '"') {
		quote = '"'
	}
	w.WriteRune(quote)
	for i, c := range s {
		if i > maxText {
			break // the caller sees that it is too long
		}
		switch {
		case c == quote || c == '\\':
			w.WriteByte('\\')
			w.WriteRune(c)
		case c == '\n':
			w.WriteString(`\n`)
		case c == '\r':
			w.WriteString(`\r`)
		case c == '\t':
			w.WriteString(`\t`)
		case unicode.IsPrint(c):
			w.WriteRune(c)
		case c < 0x100:
			fmt.Fprintf(w, `\x%02x`, c)
		case c < 0x10000:
			fmt.Fprintf(w, `\u%04x`, c)
		default:
			fmt.Fprintf(w, `\U%08x`, c)
		}
	}
	w.WriteRune(quote)
}

// excerpt is a text that others wrote, fit for a note or an error.
func excerpt(s string) string { return cut(strings.Trim(strconv.Quote(s), `"`), 80) }

// cut shortens a text to at most max bytes and its mark.
func cut(s string, max int) string {
	if len(s) <= max {
		return s
	}
	for max > 0 && !utf8.RuneStart(s[max]) {
		max--
	}
	return s[:max] + "…"
}
