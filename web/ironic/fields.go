package ironic

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"cagenut/node"
)

// field is one key of a resource's JSON: from which microversion it is there, how it reads, and how it is written.
type field[T any] struct {
	name  string
	since int
	get   func(t T, minor int) any
	// set is nil for what no client may write.
	set func(t *T, raw json.RawMessage) error
	// creatable and patchable say through which methods set may be used; sortable whether lists can be ordered by it.
	creatable, patchable, sortable bool
}

func fieldNamed[T any](fields []field[T], name string) (field[T], bool) {
	i := slices.IndexFunc(fields, func(f field[T]) bool { return f.name == name })
	if i < 0 {
		return field[T]{}, false
	}
	return fields[i], true
}

// sortableSince is the argument of [page].
func sortableSince[T any](fields []field[T]) func(string) int {
	return func(key string) int {
		if f, ok := fieldNamed(fields, key); ok && f.sortable {
			return f.since
		}
		return 0
	}
}

// show is the resource with the named fields, or with all of the version where names is nil.
func show[T any](fields []field[T], t T, minor int, names []string) map[string]any {
	out := make(map[string]any, len(fields)+4)
	for _, f := range fields {
		if f.since <= minor && (names == nil || slices.Contains(names, f.name)) {
			out[f.name] = f.get(t, minor)
		}
	}
	return out
}

// create fills a new resource from a body (contract.md §3.4); what names it in the texts.
func create[T any](fields []field[T], what string, t *T, raw []byte, minor int, required ...string) error {
	args := arguments{}
	if json.Unmarshal(raw, &args) != nil || args == nil {
		return node.Invalidf("Schema error for %s: the body is not of type 'object'", what)
	}
	for _, k := range sortedKeys(args) {
		if f, ok := fieldNamed(fields, k); !ok || !f.creatable {
			return node.Invalidf("Schema error for %s: Additional properties are not allowed ('%s' was unexpected)", what, k)
		}
	}
	for _, k := range required {
		if v, ok := args[k]; !ok || string(v) == "null" {
			return node.Invalidf("Schema error for %s: '%s' is a required property", what, k)
		}
	}
	for _, k := range sortedKeys(args) {
		f, _ := fieldNamed(fields, k)
		if f.since > minor {
			return node.ErrNotAcceptable
		}
		if err := f.set(t, args[k]); err != nil {
			return err
		}
	}
	return nil
}

func sortedKeys(a arguments) []string {
	keys := make([]string, 0, len(a))
	for k := range a {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}

// chosen reads `fields=`: nil without it (contract.md §3.2).
func chosen[T any](fields []field[T], list string, minor int, unknown func(name string) error) ([]string, error) {
	if list == "" {
		return nil, nil
	}
	if minor < 8 {
		return nil, node.ErrNotAcceptable
	}
	names := []string{}
	for _, name := range strings.Split(strings.ToLower(list), ",") {
		f, ok := fieldNamed(fields, name)
		switch {
		case name == "links":
			continue
		case !ok || name == "created_at" || name == "updated_at":
			return nil, unknown(name)
		case f.since > minor:
			return nil, node.ErrNotAcceptable
		}
		names = append(names, name)
	}
	return names, nil
}

func isNull(raw json.RawMessage) bool { return len(raw) == 0 || string(raw) == "null" }

func readText(name string, raw json.RawMessage, limit int) (string, error) {
	if isNull(raw) {
		return "", nil
	}
	var s string
	if json.Unmarshal(raw, &s) != nil {
		return "", node.Invalidf("Expected string for %s: %s", name, raw)
	}
	if utf8.RuneCountInString(s) > limit {
		return "", node.Invalidf("Schema error for %s: the value is longer than %d characters", name, limit)
	}
	return s, nil
}

// readDocument keeps numbers as they are spelt.
func readDocument(name string, raw json.RawMessage) (map[string]any, error) {
	doc := map[string]any{}
	if isNull(raw) {
		return doc, nil
	}
	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber()
	if d.Decode(&doc) != nil {
		return nil, node.Invalidf("Schema error for %s: the value is not of type 'object'", name)
	}
	return doc, nil
}

func textOrNull[S ~string](s S) any {
	if s == "" {
		return nil
	}
	return s
}

func flagOrNull(b *bool) any {
	if b == nil {
		return nil
	}
	return *b
}

// timeOrNull is a time as Ironic spells it (contract.md §3.3).
func timeOrNull(t time.Time) any {
	if t.IsZero() {
		return nil
	}
	return t.UTC().Format("2006-01-02T15:04:05.000000+00:00")
}

func document(d map[string]any) map[string]any {
	if d == nil {
		return map[string]any{}
	}
	return d
}
