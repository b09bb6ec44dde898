package main

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"fmt"
	"maps"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/google/jsonschema-go/jsonschema"
	"pgregory.net/rapid"
)

// sentRequest is a request as it goes over the wire.
type sentRequest struct {
	method, path, query string // encoded
	version             string // of the header; "" for none
	header              map[string]string
	body                []byte
	packed              bool // the body goes compressed
}

func (r sentRequest) String() string {
	body := string(r.body)
	if len(body) > 400 {
		body = fmt.Sprintf("%s… (%d bytes)", body[:400], len(body))
	}
	at := r.path
	if r.query != "" {
		at += "?" + r.query
	}
	return fmt.Sprintf("%s %s (version %q, headers %v, compressed %v) %q", r.method, at, r.version, r.header, r.packed, body)
}

// generator makes requests from the document. What it knows of the appliance is what is there: a document cannot tell.
type generator struct {
	d      *description
	here   things
	shapes map[*jsonschema.Schema]*jsonschema.Resolved
}

// things are the names of what is there, by the word that a path or a body has for it.
type things map[string][]string

// request is anything that a client may send at an operation: mostly what the document allows, with one thing odd.
func (g *generator) request(t *rapid.T) sentRequest {
	var ops []*describedOperation
	for _, o := range g.d.operations {
		if o.path != "/cagenut/v1/events" { // never ends
			ops = append(ops, o)
		}
		if o.body != nil { // there is more to say to these
			ops = append(ops, o, o)
		}
	}
	o := rapid.SampledFrom(ops).Draw(t, "operation")
	if o.path == "/cagenut/v1/openapi.json" { // by far the largest answer: not so often
		o = rapid.SampledFrom(ops).Draw(t, "operation")
	}
	r := sentRequest{method: o.method, path: g.path(t, o), query: g.query(t, o), version: "1." + strconv.Itoa(g.d.minor), header: map[string]string{}}
	if o.body != nil {
		r.body = encode(g.value(t, "", o.body.schema, 0))
	}
	if rapid.IntRange(0, 2).Draw(t, "odd") == 0 {
		rapid.SampledFrom(oddities).Draw(t, "oddity")(g, t, o, &r)
	}
	return r
}

var pathElement = regexp.MustCompile(`\{(\w+)\}`)

func (g *generator) path(t *rapid.T, o *describedOperation) string {
	return pathElement.ReplaceAllStringFunc(o.path, func(element string) string {
		known := g.here[strings.Trim(element, "{}")]
		if len(known) > 0 && rapid.IntRange(0, 9).Draw(t, "known") > 1 {
			return url.PathEscape(rapid.SampledFrom(known).Draw(t, "ident"))
		}
		return rapid.SampledFrom(strangeElements).Draw(t, "strange")
	})
}

// strangeElements are elements of a path as they may come, encoded.
var strangeElements = []string{
	"6a6d0a7e-dead-4a51-9a3c-0c1f2d3e4f50", "nobody", "nobody.json", "a%2Fb", "%2F", "..%2F..", "%00", "a%00b", "%0a", "%FF%FE", "%25", "%zz", "%", "%20", "a%20b",
	"%E2%98%83", "52:54:00:00:00:01", "52-54-00-00-00-01", "-1", "0", "null", "*", "'%20OR%201=1--", "%22", "{node}", ":node", ".", "~", strings.Repeat("a", 300), "CUSTOM_X", "HW_CPU_X86_VMX", "a;b", "a,b",
	"6A6D0A7E-DEAD-4A51-9A3C-0C1F2D3E4F50", "detail", "validate",
}

func (g *generator) query(t *rapid.T, o *describedOperation) string {
	var pairs []string
	for _, p := range o.query {
		if !p.required && !g.given(t, p.name) {
			continue
		}
		pairs = append(pairs, url.QueryEscape(p.name)+"="+url.QueryEscape(g.said(t, p)))
	}
	return strings.Join(pairs, "&")
}

// said is a value for a parameter of the address, mostly an allowed one.
func (g *generator) said(t *rapid.T, p describedParameter) string {
	if rapid.IntRange(0, 7).Draw(t, "strange") == 0 {
		return rapid.SampledFrom(strangeTexts).Draw(t, "text")
	}
	if known := g.here[p.name]; len(known) > 0 && rapid.Bool().Draw(t, "known") {
		return rapid.SampledFrom(known).Draw(t, "known")
	}
	switch v := g.value(t, p.name, p.shape.schema, 0).(type) {
	case nil:
		return ""
	case string:
		return v
	case []any:
		var words []string
		for _, item := range v {
			words = append(words, fmt.Sprint(item))
		}
		return strings.Join(words, ",")
	default:
		return fmt.Sprint(v)
	}
}

var strangeTexts = []string{"", " ", "\x00", "a\x00b", "\xff\xfe", "0", "-1", "1e9", "99999999999999999999", "null", "True", "yes", "banana", "%", "a,b,,", ",", "'; DROP TABLE nodes;--", "\n", "☃",
	"UUID", "uuid,UUID,uuid", "links", "id", "extra", strings.Repeat("x", 5000)}

// value is a value that the schema allows; known values of the name are preferred.
func (g *generator) value(t *rapid.T, name string, s *jsonschema.Schema, depth int) any {
	if hints := hintsFor(name, g.here); len(hints) > 0 && rapid.IntRange(0, 4).Draw(t, "hint") > 0 {
		if v := rapid.SampledFrom(hints).Draw(t, "hint"); g.allows(s, v) {
			return v
		}
	}
	switch {
	case len(s.Enum) > 0:
		return rapid.SampledFrom(s.Enum).Draw(t, "enum")
	case len(s.AnyOf) > 0:
		return g.value(t, name, rapid.SampledFrom(s.AnyOf).Draw(t, "any of"), depth)
	}
	types := s.Types
	if s.Type != "" {
		types = []string{s.Type}
	}
	if len(types) == 0 {
		types = []string{"null", "boolean", "integer", "number", "string", "array", "object"}
	}
	switch kind := rapid.SampledFrom(types).Draw(t, "type"); kind {
	case "boolean":
		return rapid.Bool().Draw(t, "boolean")
	case "integer", "number":
		return number(t, s)
	case "string":
		return text(t, s)
	case "array":
		return g.array(t, name, s, depth)
	case "object":
		return g.object(t, s, depth)
	}
	return nil
}

func (g *generator) allows(s *jsonschema.Schema, v any) bool {
	if g.shapes[s] == nil {
		resolved, err := s.CloneSchemas().Resolve(nil)
		if err != nil {
			return false
		}
		g.shapes[s] = resolved
	}
	return g.shapes[s].Validate(v) == nil
}

func number(t *rapid.T, s *jsonschema.Schema) any {
	low, high := -5, 100000
	if s.Minimum != nil {
		low = int(*s.Minimum)
	}
	if s.Maximum != nil {
		high = int(*s.Maximum)
	}
	if s.Type == "number" && rapid.Bool().Draw(t, "fraction") {
		return rapid.Float64().Draw(t, "number")
	}
	return rapid.IntRange(low, high).Draw(t, "integer")
}

func text(t *rapid.T, s *jsonschema.Schema) string {
	if s.Pattern != "" {
		return rapid.StringMatching(s.Pattern).Draw(t, "text")
	}
	most := 24
	if s.MaxLength != nil {
		most = min(most, *s.MaxLength)
	}
	return rapid.StringN(0, most, -1).Draw(t, "text")
}

func (g *generator) array(t *rapid.T, name string, s *jsonschema.Schema, depth int) any {
	least, most := 0, 3
	if s.MinItems != nil {
		least = *s.MinItems
	}
	if s.MaxItems != nil {
		most = *s.MaxItems
	}
	list := []any{}
	item := s.Items
	if item == nil {
		item = &jsonschema.Schema{Types: []string{"string", "integer", "null"}}
	}
	for range rapid.IntRange(least, max(least, most)).Draw(t, "items") {
		list = append(list, g.value(t, strings.TrimSuffix(name, "s"), item, depth+1))
	}
	return list
}

func (g *generator) object(t *rapid.T, s *jsonschema.Schema, depth int) any {
	required, absent := slices.Clone(s.Required), map[string]bool{}
	if len(s.OneOf) > 0 {
		chosen := rapid.SampledFrom(s.OneOf).Draw(t, "one of")
		for _, other := range s.OneOf {
			for _, key := range other.Required {
				absent[key] = !slices.Contains(chosen.Required, key)
			}
		}
		required = append(required, chosen.Required...)
	}
	out := map[string]any{}
	bare := len(required) > 0 && rapid.Bool().Draw(t, "bare")
	for _, key := range slices.Sorted(maps.Keys(s.Properties)) {
		if !absent[key] && (slices.Contains(required, key) || !bare && g.given(t, key)) {
			out[key] = g.value(t, key, s.Properties[key], depth+1)
		}
	}
	if s.If != nil && s.Then != nil && g.allows(s.If, out) {
		for _, key := range s.Then.Required {
			if _, given := out[key]; !given {
				out[key] = g.value(t, key, s.Properties[key], depth+1)
			}
		}
	}
	if s.AdditionalProperties == nil && depth < 3 {
		for range rapid.IntRange(0, 2).Draw(t, "more") {
			out[rapid.StringMatching(`[a-z_]{1,8}`).Draw(t, "key")] = g.value(t, "", &jsonschema.Schema{}, depth+2)
		}
	}
	return out
}

// given decides whether something is said that need not be; more often where something sensible can be.
func (g *generator) given(t *rapid.T, name string) bool {
	if len(hintsFor(name, g.here)) > 0 {
		return rapid.IntRange(0, 4).Draw(t, "given") < 3
	}
	return rapid.IntRange(0, 5).Draw(t, "given") == 0
}

func encode(v any) []byte {
	b, err := json.Marshal(v)
	if err != nil {
		panic(err) // values of JSON always encode
	}
	return b
}

func compressed(b []byte) []byte {
	var out bytes.Buffer
	w := gzip.NewWriter(&out)
	_, _ = w.Write(b) // a buffer takes everything
	_ = w.Close()
	return out.Bytes()
}
