package introspection

import (
	"errors"
	"regexp"
	"strings"
)

// literal keeps a value what it is where Ironic fills in fields: its braces are doubled.
func literal(v any) any { return mapTexts(v, bracesDoubled) }

// unliteral is the reverse; ok is false where there is a field.
func unliteral(v any) (out any, ok bool) {
	ok = true
	out = mapTexts(v, func(s string) string {
		if strings.ContainsAny(strings.NewReplacer("{{", "", "}}", "").Replace(s), "{}") {
			ok = false
		}
		return strings.NewReplacer("{{", "{", "}}", "}").Replace(s)
	})
	return out, ok
}

func bracesDoubled(s string) string {
	return strings.NewReplacer("{", "{{", "}", "}}").Replace(s)
}

func mapTexts(v any, change func(string) string) any {
	switch v := v.(type) {
	case string:
		return change(v)
	case []any:
		out := make([]any, len(v))
		for i := range v {
			out[i] = mapTexts(v[i], change)
		}
		return out
	case map[string]any:
		out := make(map[string]any, len(v))
		for k, e := range v {
			out[change(k)] = mapTexts(e, change)
		}
		return out
	}
	return v
}

// anyField is a field in a text, or doubled braces, or a brace that is neither.
var anyField = regexp.MustCompile(`\{\{|\}\}|\{[^{}]*\}|\{|\}`)

var dataField = regexp.MustCompile(`^\{data((?:\[[^\]{}]+\])+)\}$`)

// formatted turns the inspector's fields, {data[inventory][cpu][count]}, into Ironic's.
func formatted(v any) (out any, err error) {
	out = mapTexts(v, func(s string) string {
		return anyField.ReplaceAllStringFunc(s, func(f string) string {
			switch m := dataField.FindStringSubmatch(f); {
			case f == "{{" || f == "}}":
			case m != nil:
				return inData(strings.Split(m[1][1:len(m[1])-1], "][")).field()
			case len(f) == 1:
				err = errors.New("Single '" + f + "' encountered in format string") //nolint:staticcheck // the wire's text
			default:
				err = errors.New("only fields such as {data[inventory][cpu][count]} are filled in, without format or conversion, not " + shorten(f))
			}
			return f
		})
	})
	return out, err
}

// unformatted is the reverse. A field of the node has no counterpart and stays as it is.
func unformatted(v any) any {
	return mapTexts(v, func(s string) string {
		return anyField.ReplaceAllStringFunc(s, func(f string) string {
			p, ok := readField(f)
			if !ok || p.root == "node" || len(p.keys) == 0 && p.root == "plugin_data" {
				return f
			}
			keys := p.keys
			if p.root == "inventory" {
				keys = append([]string{"inventory"}, keys...)
			}
			return "{data[" + strings.Join(keys, "][") + "]}"
		})
	})
}
