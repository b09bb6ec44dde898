package rules

import (
	"errors"
	"strings"
)

// A text may hold replacement fields in the way of Python's format strings: {root.attribute[key][key]}, with doubled
// braces for a brace. Formats and conversions are not carried out.

// part is a piece of a text: as it is, or a field to fill in.
type part struct {
	text  string
	field *field
}

// field is one replacement field.
type field struct {
	source string // as written, without the braces
	root   string
	steps  []pathStep
}

type pathStep struct {
	attribute bool // .key, else [key]
	key       string
}

var (
	errBraces     = errors.New("its braces do not match")
	errNumbered   = errors.New("it has numbered fields")
	errFormat     = errors.New("a format or conversion is not carried out")
	errNoField    = errors.New("what stands in braces is no field")
	templateRoots = map[string]bool{"node": true, "inventory": true, "plugin_data": true, "item": true}
)

// parse splits a text into its parts; the error says why it is no template.
func parse(s string) ([]part, error) {
	var parts []part
	var text strings.Builder
	for s != "" {
		i := strings.IndexAny(s, "{}")
		if i < 0 {
			text.WriteString(s)
			break
		}
		text.WriteString(s[:i])
		brace := s[i]
		s = s[i+1:]
		if s != "" && s[0] == brace {
			text.WriteByte(brace)
			s = s[1:]
			continue
		}
		end := fieldEnd(s)
		if brace == '}' || end < 0 {
			return nil, errBraces
		}
		f, err := parseField(s[:end])
		if err != nil {
			return nil, err
		}
		if text.Len() > 0 {
			parts = append(parts, part{text: text.String()})
			text.Reset()
		}
		parts = append(parts, part{field: &f})
		s = s[end+1:]
	}
	if text.Len() > 0 || len(parts) == 0 {
		parts = append(parts, part{text: text.String()})
	}
	return parts, nil
}

// fieldEnd is where the field that s begins with is closed; -1 where it is not, or holds another field.
func fieldEnd(s string) int {
	inKey := false
	for i := range len(s) {
		switch c := s[i]; {
		case inKey:
			inKey = c != ']'
		case c == '[':
			inKey = true
		case c == '{':
			return -1
		case c == '}':
			return i
		}
	}
	return -1
}

func parseField(source string) (field, error) {
	f := field{source: source}
	end := strings.IndexAny(source, ".[!:")
	if end < 0 {
		end = len(source)
	}
	f.root = source[:end]
	if strings.Trim(f.root, "0123456789,") == "" {
		return field{}, errNumbered
	}
	if !templateRoots[f.root] {
		return field{}, errNoField
	}
	for rest := source[end:]; rest != ""; {
		var key string
		switch rest[0] {
		case '[':
			close := strings.IndexByte(rest, ']')
			if close < 0 {
				return field{}, errBraces
			}
			key, rest = rest[1:close], rest[close+1:]
			f.steps = append(f.steps, pathStep{key: key})
		case '.':
			end := strings.IndexAny(rest[1:], ".[!:") + 1
			if end == 0 {
				end = len(rest)
			}
			key, rest = rest[1:end], rest[end:]
			f.steps = append(f.steps, pathStep{attribute: true, key: key})
		case '!', ':':
			return field{}, errFormat
		default:
			return field{}, errNoField
		}
		if key == "" {
			return field{}, errNoField
		}
	}
	return f, nil
}
