package ironic

import (
	"bytes"
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"time"

	"cagenut/node"
	"cagenut/web/openapi"
)

// field is one key of a resource's JSON: from which microversion it is there, how it reads, and how it is written.
type field[T any] struct {
	name  string
	since int
	kind  openapi.Kind
	// get is nil for what is written only.
	get func(t T, minor int) any
	// secret is what a patch works on, where that is not what get shows; nil elsewhere.
	secret func(t T) any
	// set takes a value that its kind allows; nil for what no client may write.
	set func(t *T, raw json.RawMessage)
	// creatable and patchable say through which methods set may be used; sortable whether lists can be ordered by it.
	creatable, patchable, sortable bool
}

// resource is a kind of thing that the API keeps: everything that requests may say of it, and all that answers show.
type resource[T any] struct {
	what  string // in texts, such as "node"
	title string // in the document, such as "Node"
	// fields is the representation, without the links.
	fields []field[T]
	// required are the keys that a new one must have and none may lose.
	required []string
	// short are the fields that lists show unless asked for others.
	short []string
	// linked are the keys beside `links` that hold links, with the version that brought each.
	linked map[string]int
	// hidden are fields that cannot be chosen by `fields=`; unknown is what is said to those and to names that are none.
	hidden  []string
	unknown func(name string) error
}

func (s *resource[T]) field(name string) (field[T], bool) {
	i := slices.IndexFunc(s.fields, func(f field[T]) bool { return f.name == name })
	if i < 0 {
		return field[T]{}, false
	}
	return s.fields[i], true
}

// show is the resource with the named fields, or with all of the version where names is nil.
func (s *resource[T]) show(t T, minor int, names []string) map[string]any {
	out := make(map[string]any, len(s.fields)+4)
	for _, f := range s.fields {
		if f.get != nil && f.since <= minor && (names == nil || slices.Contains(names, f.name)) {
			out[f.name] = f.get(t, minor)
		}
	}
	return out
}

// stored is the resource as a patch works on it: with its secrets.
func (s *resource[T]) stored(t T) map[string]any {
	out := s.show(t, newest, nil)
	for _, f := range s.fields {
		if f.secret != nil {
			out[f.name] = f.secret(t)
		}
	}
	return out
}

// create fills a new resource from a body (contract.md §3.4).
func (s *resource[T]) create(t *T, raw []byte, minor int) error {
	args := map[string]json.RawMessage{}
	if json.Unmarshal(raw, &args) != nil || args == nil {
		return node.Invalidf("Schema error for %s: the body is not of type 'object'", s.what)
	}
	for _, k := range slices.Sorted(maps.Keys(args)) {
		if f, ok := s.field(k); !ok || !f.creatable {
			return node.Invalidf("Schema error for %s: Additional properties are not allowed ('%s' was unexpected)", s.what, k)
		}
	}
	for _, k := range s.required {
		if openapi.IsNull(args[k]) {
			return node.Invalidf("Schema error for %s: '%s' is a required property", s.what, k)
		}
	}
	for _, k := range slices.Sorted(maps.Keys(args)) {
		f, _ := s.field(k)
		if f.since > minor {
			return node.ErrNotAcceptable
		}
		if err := f.kind.Check(k, args[k], minor); err != nil {
			return err
		}
		f.set(t, args[k])
	}
	return nil
}

// chosen are the fields of an answer: all (nil) in detail, those of `fields=`, or none but the short ones.
func (s *resource[T]) chosen(r *request, detail bool, otherwise []string) []string {
	list := r.query.Get("fields")
	switch {
	case detail:
		return nil
	case list == "":
		return otherwise
	}
	return strings.Split(strings.ToLower(list), ",")
}

// fieldsParameter is `fields=` (contract.md §3.2).
func (s *resource[T]) fieldsParameter() openapi.Parameter {
	return openapi.Parameter{Name: "fields", Does: "The fields to show, instead of all.", Since: 8, Older: olderFields, Kind: fieldList[T]{s}}
}

func olderFields(string) error { return node.ErrNotAcceptable }

// fieldList is the kind of a comma list of fields.
type fieldList[T any] struct{ of *resource[T] }

func (l fieldList[T]) Reads(minor int) *openapi.Schema { return l.Takes(minor) }

func (l fieldList[T]) Takes(minor int) *openapi.Schema {
	names := []string{"links"}
	for _, f := range l.of.fields {
		if f.get != nil && f.since <= minor && !slices.Contains(l.of.hidden, f.name) {
			names = append(names, f.name)
		}
	}
	return openapi.ListOf(openapi.Caseless(names...))
}

func (l fieldList[T]) Check(_ string, raw json.RawMessage, minor int) error {
	var list string
	if json.Unmarshal(raw, &list) != nil || list == "" {
		return nil
	}
	for _, name := range strings.Split(strings.ToLower(list), ",") {
		f, ok := l.of.field(name)
		switch {
		case name == "links":
		case !ok || f.get == nil || slices.Contains(l.of.hidden, name):
			return l.of.unknown(name)
		case f.since > minor:
			return node.ErrNotAcceptable
		}
	}
	return nil
}

// sortKey is the kind of `sort_key` (G58).
type sortKey[T any] struct{ of *resource[T] }

func (k sortKey[T]) Reads(minor int) *openapi.Schema { return k.Takes(minor) }

func (k sortKey[T]) Takes(minor int) *openapi.Schema {
	names := []string{"id"}
	for _, f := range k.of.fields {
		if f.sortable && f.since <= minor {
			names = append(names, f.name)
		}
	}
	return openapi.OneOf(names...)
}

func (k sortKey[T]) Check(_ string, raw json.RawMessage, minor int) error {
	var key string
	err := json.Unmarshal(raw, &key)
	f, ok := k.of.field(key)
	switch {
	case key == "id":
		return nil
	case err != nil || !ok || !f.sortable:
		return node.Invalidf("The sort_key value %q is an invalid field for sorting", key)
	case f.since > minor:
		return node.ErrNotAcceptable
	}
	return nil
}

// paging are the parameters of every list (contract.md §3.2).
func paging() []openapi.Parameter {
	return []openapi.Parameter{
		{Name: "limit", Does: "How many to show; 1000 at most.", Kind: openapi.Integer(1, "Limit must be positive")},
		{Name: "marker", Does: "The UUID of the last one that was seen.", Kind: openapi.UUID()},
	}
}

func (s *resource[T]) paging() []openapi.Parameter {
	return append(paging(),
		openapi.Parameter{Name: "sort_key", Kind: sortKey[T]{s}},
		directionParameter(),
	)
}

func directionParameter() openapi.Parameter {
	return openapi.Parameter{Name: "sort_dir", Kind: openapi.Word(func(said string) error {
		return node.Invalidf("Invalid sort direction: %s. Acceptable values are 'asc' or 'desc'", said)
	}, "asc", "desc")}
}

// reads is the schema of answers that may show any of the fields.
func (s *resource[T]) reads(minor int) *openapi.Schema {
	out := &openapi.Schema{Type: "object", Properties: map[string]*openapi.Schema{"links": openapi.Ref("Links")}, AdditionalProperties: openapi.Nothing(), Required: []string{"links"}}
	for _, f := range s.fields {
		if f.get != nil && f.since <= minor {
			out.Properties[f.name] = f.kind.Reads(minor)
			out.PropertyOrder = append(out.PropertyOrder, f.name)
		}
	}
	for _, key := range slices.Sorted(maps.Keys(s.linked)) {
		if s.linked[key] <= minor {
			out.Properties[key] = openapi.Ref("Links")
		}
	}
	return out
}

// readsInFull is the schema of answers that show all fields of the version.
func (s *resource[T]) readsInFull(minor int) *openapi.Schema {
	return &openapi.Schema{Ref: "#/components/schemas/" + s.title, Required: slices.Sorted(maps.Keys(s.reads(minor).Properties))}
}

func (s *resource[T]) ref() func(int) *openapi.Schema { return openapi.Shows(openapi.Ref(s.title)) }

func (s *resource[T]) fullRef() func(int) *openapi.Schema {
	return openapi.Shows(openapi.Ref(s.title + "InFull"))
}

// list is the schema of a page.
func list(key string, item *openapi.Schema) func(int) *openapi.Schema {
	return openapi.Shows(openapi.Record(map[string]*openapi.Schema{
		key: openapi.ListOf(item), "next": openapi.Typed("string"), key + "_links": openapi.Ref("Links"),
	}, "next", key+"_links"))
}

// creation is the body of a POST.
type creation[T any] struct{ of *resource[T] }

func (b creation[T]) Takes(minor int) *openapi.Schema {
	out := &openapi.Schema{Type: "object", Properties: map[string]*openapi.Schema{}, AdditionalProperties: openapi.Nothing(), Required: b.of.required}
	for _, f := range b.of.fields {
		if f.creatable && f.since <= minor {
			out.Properties[f.name] = f.kind.Takes(minor)
			out.PropertyOrder = append(out.PropertyOrder, f.name)
		}
	}
	return out
}

func readText(raw json.RawMessage) string {
	var s string
	_ = json.Unmarshal(raw, &s) // its kind has been checked; null is ""
	return s
}

// readStrings is nil for anything but a list of strings.
func readStrings(raw json.RawMessage) []string {
	var items []*string
	if json.Unmarshal(raw, &items) != nil || items == nil || slices.Contains(items, nil) {
		return nil
	}
	list := make([]string, len(items))
	for i, s := range items {
		list[i] = *s
	}
	return list
}

// readDocument keeps numbers as they are spelt.
func readDocument(raw json.RawMessage) map[string]any {
	doc := map[string]any{}
	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber()
	if d.Decode(&doc) != nil || doc == nil {
		return map[string]any{}
	}
	return doc
}

func readFlag(raw json.RawMessage, otherwise bool) bool {
	if openapi.IsNull(raw) {
		return otherwise
	}
	b, _ := openapi.ReadFlag("", raw) // its kind has been checked
	return b
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

// timeKind is the kind of times, which only answers have.
func timeKind() openapi.Kind {
	return openapi.Shown(&openapi.Schema{Types: []string{"string", "null"}, Format: "date-time"})
}

func document(d map[string]any) map[string]any {
	if d == nil {
		return map[string]any{}
	}
	return d
}
