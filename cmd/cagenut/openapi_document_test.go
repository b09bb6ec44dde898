package main

import (
	"bytes"
	"encoding/json"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/google/jsonschema-go/jsonschema"
)

// description is the appliance's own document at one microversion, read as a client reads it.
type description struct {
	minor      int
	operations []*describedOperation
}

type describedOperation struct {
	method, path string
	at           *regexp.Regexp
	words        int // elements of the path that are no parameters
	query        []describedParameter
	body         *shape // nil: nothing is said of a body
	answers      map[int]describedAnswer
	public       bool
}

type describedParameter struct {
	name     string
	required bool
	shape    *shape
}

type describedAnswer struct {
	kind     string // content type; "" for no content
	shape    *shape
	location bool
}

// shape is a schema that values can be held against.
type shape struct {
	schema   *jsonschema.Schema
	resolved *jsonschema.Resolved
}

// documentJSON is as much of an OpenAPI document as is needed here.
type documentJSON struct {
	OpenAPI  string
	Security []map[string][]string
	Paths    map[string]map[string]struct {
		Security   *[]map[string][]string
		Parameters []struct {
			Name, In string
			Required bool
			Schema   json.RawMessage
		}
		RequestBody *struct {
			Content map[string]struct{ Schema json.RawMessage }
		}
		Responses map[string]struct {
			Headers map[string]json.RawMessage
			Content map[string]struct{ Schema json.RawMessage }
		}
	}
	Components struct{ Schemas map[string]json.RawMessage }
}

// described reads the document of a microversion. kin-openapi judges whether it is one of OpenAPI 3.1; values are held
// against its schemas by jsonschema-go, because kin-openapi's own validator of values knows neither if/then nor keywords
// beside a $ref.
func (a *testAppliance) described(minor int) *description {
	a.t.Helper()
	path := "/cagenut/v1/openapi.json"
	if minor != newestMinor {
		path += "?version=1." + strconv.Itoa(minor)
	}
	status, _, raw := a.send("GET", path, "", nil)
	if status != 200 {
		a.t.Fatalf("GET %s: %d %s", path, status, raw)
	}
	loaded, err := openapi3.NewLoader().LoadFromData(raw)
	if err != nil {
		a.t.Fatalf("%s cannot be loaded: %v", path, err)
	}
	if err := loaded.Validate(a.t.Context()); err != nil {
		a.t.Fatalf("%s is no OpenAPI document: %v", path, err)
	}
	return readDescription(a.t, raw, minor)
}

// newestMinor is the ceiling of the appliance (design.md §7).
const newestMinor = 96

func readDescription(t *testing.T, raw []byte, minor int) *description {
	t.Helper()
	var doc documentJSON
	if err := json.Unmarshal(raw, &doc); err != nil {
		t.Fatal(err)
	}
	if doc.OpenAPI != "3.1.0" {
		t.Errorf("the document is of OpenAPI %s", doc.OpenAPI)
	}
	shapes := shapes{t: t, components: doc.Components.Schemas, known: map[string]*shape{}}
	d := &description{minor: minor}
	for path, item := range doc.Paths {
		for method, o := range item {
			op := &describedOperation{method: strings.ToUpper(method), path: path, answers: map[int]describedAnswer{}, public: len(doc.Security) == 0}
			if o.Security != nil {
				op.public = len(*o.Security) == 0
			}
			op.at, op.words = pathPattern(path)
			for _, p := range o.Parameters {
				if p.In == "query" {
					op.query = append(op.query, describedParameter{p.Name, p.Required, shapes.of(p.Schema)})
				}
			}
			if o.RequestBody != nil {
				op.body = shapes.of(o.RequestBody.Content["application/json"].Schema)
			}
			for status, r := range o.Responses {
				n, err := strconv.Atoi(status)
				if err != nil {
					t.Fatalf("%s %s answers %q, which is no status", method, path, status)
				}
				var answer describedAnswer
				_, answer.location = r.Headers["Location"]
				for kind, content := range r.Content {
					answer.kind, answer.shape = kind, shapes.of(content.Schema)
				}
				op.answers[n] = answer
			}
			d.operations = append(d.operations, op)
		}
	}
	slices.SortFunc(d.operations, func(a, b *describedOperation) int {
		return strings.Compare(a.path+" "+a.method, b.path+" "+b.method)
	})
	return d
}

func pathPattern(path string) (*regexp.Regexp, int) {
	words, parts := 0, strings.Split(path, "/")
	for i, part := range parts {
		if strings.HasPrefix(part, "{") {
			parts[i] = "[^/]+"
			continue
		}
		words++
		parts[i] = regexp.QuoteMeta(part)
	}
	return regexp.MustCompile("^" + strings.Join(parts, "/") + "$"), words
}

// find is the operation that a request is for: of several, the one whose path has the most words. known says that the
// path is there, if not with this method.
func (d *description) find(method, path string) (op *describedOperation, known bool) {
	for _, o := range d.operations {
		if !o.at.MatchString(path) {
			continue
		}
		known = true
		if o.method == method && (op == nil || o.words > op.words) {
			op = o
		}
	}
	return op, known
}

// shapes resolves schemas, each distinct one once.
type shapes struct {
	t          *testing.T
	components map[string]json.RawMessage
	known      map[string]*shape
}

func (s *shapes) of(raw json.RawMessage) *shape {
	s.t.Helper()
	if found, ok := s.known[string(raw)]; ok {
		return found
	}
	schema := s.read(raw)
	schema.Defs = map[string]*jsonschema.Schema{}
	s.define(schema.Defs, raw)
	out := &shape{schema: schema}
	var err error
	if out.resolved, err = schema.Resolve(nil); err != nil {
		s.t.Fatalf("the schema %s cannot be resolved: %v", raw, err)
	}
	s.known[string(raw)] = out
	return out
}

var reference = regexp.MustCompile(`"#/components/schemas/(\w+)"`)

// define adds the components that a schema refers to, and those that they refer to.
func (s *shapes) define(defs map[string]*jsonschema.Schema, raw json.RawMessage) {
	for _, found := range reference.FindAllSubmatch(raw, -1) {
		name := string(found[1])
		if component, ok := s.components[name]; ok && defs[name] == nil {
			defs[name] = s.read(component)
			s.define(defs, component)
		}
	}
}

func (s *shapes) read(raw json.RawMessage) *jsonschema.Schema {
	s.t.Helper()
	schema := &jsonschema.Schema{}
	if err := json.Unmarshal(bytes.ReplaceAll(raw, []byte("#/components/schemas/"), []byte("#/$defs/")), schema); err != nil {
		s.t.Fatalf("the schema %s cannot be read: %v", raw, err)
	}
	return schema
}

// verdict is what a document says of a part of a request.
type verdict int

const (
	allowed verdict = iota
	forbidden
	unclear // what the document does not speak of
)

// body holds the body of a request against the document.
func (o *describedOperation) judgeBody(body []byte) verdict {
	switch {
	case o.body == nil || len(bytes.TrimSpace(body)) == 0:
		return allowed // no body is required: what is missing in it is told by the operation
	case !utf8.Valid(body):
		return forbidden
	}
	var value any
	d := json.NewDecoder(bytes.NewReader(body))
	d.UseNumber()
	if d.Decode(&value) != nil || d.More() {
		return forbidden
	}
	if json.Unmarshal(body, &value) != nil {
		return unclear // a number that no float64 holds
	}
	if o.body.resolved.Validate(value) != nil {
		return forbidden
	}
	return allowed
}

// judgeQuery holds the query of a request against the document.
func (o *describedOperation) judgeQuery(query string) verdict {
	values, err := url.ParseQuery(query)
	if err != nil {
		return unclear
	}
	out := allowed
	for name, said := range values {
		i := slices.IndexFunc(o.query, func(p describedParameter) bool { return p.name == name })
		switch {
		case name == "":
			out = unclear // nothing has a name without letters
		case i < 0:
			return forbidden
		case len(said) > 1 || !utf8.ValidString(said[0]):
			out = unclear
		case !o.query[i].takes(said[0]):
			return forbidden
		}
	}
	for _, p := range o.query {
		if p.required && !values.Has(p.name) {
			return forbidden
		}
	}
	return out
}

// takes tells whether the parameter may say this. What an address says has no type: it may be meant as text, as a list
// with commas, or as a number or a word of JSON.
func (p describedParameter) takes(said string) bool {
	readings := []any{said}
	if p.shape.schema.Type == "array" {
		list := []any{}
		for _, item := range strings.Split(said, ",") {
			list = append(list, item)
		}
		readings = []any{list}
		if said == "" {
			readings = append(readings, []any{})
		}
	}
	var value any
	if json.Unmarshal([]byte(said), &value) == nil {
		readings = append(readings, value)
	}
	return slices.ContainsFunc(readings, func(v any) bool { return p.shape.resolved.Validate(v) == nil })
}
