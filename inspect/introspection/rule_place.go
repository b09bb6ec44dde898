package introspection

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"cagenut/node"
)

// place is where a value of an inspection stands. The inspector's rules say it with a JSON path, `data://inventory.cpu.count`,
// Ironic's with a field, `{inventory[cpu][count]}`.
type place struct {
	root string // "node", "inventory" or "plugin_data"
	keys []string
}

// renamed are the keys of the inspector's data that are found elsewhere here.
var renamed = map[string]place{
	"memory_mb":      {"inventory", []string{"memory", "physical_mb"}},
	"cpus":           {"inventory", []string{"cpu", "count"}},
	"cpu_arch":       {"inventory", []string{"cpu", "architecture"}},
	"ipmi_address":   {"inventory", []string{"bmc_address"}},
	"ipmi_v6address": {"inventory", []string{"bmc_v6address"}},
	"interfaces":     {"plugin_data", []string{"valid_interfaces"}},
}

// inData is the place of a path in the flat document of the inspector's data.
func inData(keys []string) place {
	if keys[0] == "inventory" {
		return place{"inventory", keys[1:]}
	}
	if p, ok := renamed[keys[0]]; ok {
		return place{p.root, append(slices.Clone(p.keys), keys[1:]...)}
	}
	return place{"plugin_data", keys}
}

// many tells whether several values may stand there.
func (p place) many() bool { return slices.Contains(p.keys, node.RuleEach) }

// field is the place in Ironic's spelling.
func (p place) field() string {
	keys := p.keys
	var s strings.Builder
	s.WriteString("{" + p.root)
	if p.root == "node" && len(keys) > 0 {
		s.WriteString("." + keys[0])
		keys = keys[1:]
	}
	for _, k := range keys {
		s.WriteString("[" + k + "]")
	}
	s.WriteByte('}')
	return s.String()
}

var fieldShape = regexp.MustCompile(`^\{(inventory|plugin_data|node)(\.\w+)?((?:\[[^\]{}]+\])*)\}$`)

// readField is the place of a lone field.
func readField(text any) (place, bool) {
	s, _ := text.(string)
	m := fieldShape.FindStringSubmatch(s)
	if m == nil || (m[1] == "node") != (m[2] != "") {
		return place{}, false
	}
	p := place{root: m[1]}
	if m[2] != "" {
		p.keys = append(p.keys, m[2][1:])
	}
	if m[3] != "" {
		p.keys = append(p.keys, strings.Split(m[3][1:len(m[3])-1], "][")...)
	}
	return p, true
}

// path is the place in the inspector's spelling.
func (p place) path() string {
	keys, scheme := p.keys, "data://"
	switch p.root {
	case "node":
		scheme = "node://"
	case "inventory":
		keys = append([]string{"inventory"}, keys...)
	}
	var s strings.Builder
	for i, k := range keys {
		_, err := strconv.Atoi(k)
		switch {
		case k == node.RuleEach || err == nil && i > 0:
			s.WriteString("[" + k + "]")
		case plainKey.MatchString(k):
			if i > 0 {
				s.WriteByte('.')
			}
			s.WriteString(k)
		default:
			if i > 0 {
				s.WriteByte('.')
			}
			s.WriteString("'" + k + "'")
		}
	}
	return scheme + s.String()
}

var (
	plainKey = regexp.MustCompile(`^[A-Za-z_@][A-Za-z0-9_@-]*$`)
	// pathStep is one step of a JSON path: a name, a quoted name, all, or one of them or a number in brackets.
	pathStep = regexp.MustCompile(`^(?:\.?([A-Za-z_@][A-Za-z0-9_@-]*)|\.?'([^'\]{}]+)'|\.?"([^"\]{}]+)"|\.?(\*)|\[(\d{1,9}|\*)\]|\['([^'\]{}]+)'\]|\["([^"\]{}]+)"\])`)
)

// readPath is the place of a JSON path. Of the language of JSON paths it knows what has a counterpart: names, indices and [*].
func readPath(path string) (place, error) {
	scheme, rest, given := strings.Cut(path, "://")
	if !given {
		scheme, rest = "data", path
	}
	if scheme != "data" && scheme != "node" {
		return place{}, fmt.Errorf("Unsupported scheme for field: %s, valid values are node:// or data://", shorten(scheme)) //nolint:staticcheck // the wire's text
	}
	cannot := func(why string) (place, error) {
		return place{}, fmt.Errorf("Unable to parse field JSON path %s: %s", shorten(path), why) //nolint:staticcheck // the wire's text
	}
	keys := []string{}
	for left := strings.TrimPrefix(rest, "$"); left != ""; {
		m := pathStep.FindStringSubmatch(left)
		if m == nil {
			return cannot("only names, indices and [*] are known here, such as inventory.disks[*].size")
		}
		left = left[len(m[0]):]
		keys = append(keys, strings.Join(m[1:], ""))
	}
	switch {
	case len(keys) == 0:
		return cannot("it leads nowhere")
	case len(keys) > 16:
		return cannot("it has more than 16 steps")
	case scheme == "node" && !plainKey.MatchString(keys[0]):
		return cannot("a node has named attributes")
	case scheme == "node":
		return place{"node", keys}, nil
	case keys[0] == node.RuleEach:
		return cannot("it must begin with a name")
	}
	return inData(keys), nil
}

// shorten keeps what is repeated of a request short.
func shorten(s string) string {
	if r := []rune(s); len(r) > 100 {
		return string(r[:100]) + "…"
	}
	return s
}
