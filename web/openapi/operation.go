package openapi

import (
	"bytes"
	"encoding/json"
	"maps"
	"net/url"
	"slices"
	"strings"

	"cagenut/node"
)

// Operation is one thing that an API does.
type Operation struct {
	Method string
	// Path has its parameters as ":name".
	Path string
	// Does says what it does, in a sentence without a subject.
	Does string
	// Tag groups operations in the document.
	Tag string
	// Since is the microversion 1.N that brought it; 0 and 1 are always there.
	Since int
	// Query are the parameters that the address may have.
	Query []Parameter
	// Body is what the request says; nil: its body is not read.
	Body Body
	// Answers are those of success.
	Answers []Answer
	// May are the statuses of refusals beside those that every operation has.
	May []int
	// Public operations ask nobody who they are.
	Public bool
}

// Parameter is a value that a request names: in its address or in a body of arguments.
type Parameter struct {
	Name string
	Does string
	// Since is the microversion that brought it.
	Since int
	// Older is what older callers are told; nil leaves it to the API.
	Older    func(value string) error
	Required bool
	Kind     Kind
}

// Body is what a request says in its body.
type Body interface {
	// Takes is the schema of what is allowed at a microversion.
	Takes(minor int) *Schema
}

// Answer is an answer of success.
type Answer struct {
	Status int
	// Shows is its body; nil for none.
	Shows func(minor int) *Schema
	// Type of the body; application/json if "".
	Type string
	// Location says that the header of that name is there.
	Location bool
}

// Shows is the body of an answer that is the same for all versions.
func Shows(s *Schema) func(int) *Schema { return func(int) *Schema { return s } }

// CheckQuery refuses what the address must not say: names that are not known, newer parameters, and values of another
// kind. older makes the refusal of a newer parameter that has none of its own.
func (o Operation) CheckQuery(q url.Values, minor int, older func(since int) error) error {
	if err := known(o.Query, slices.Sorted(maps.Keys(q))); err != nil {
		return err
	}
	for _, p := range o.Query {
		said, given := q.Get(p.Name), q.Has(p.Name)
		switch {
		case !given && p.Required:
			return node.Invalidf("Missing mandatory parameter: %s", p.Name)
		case !given:
			continue
		case minor < p.Since && p.Older != nil:
			return p.Older(said)
		case minor < p.Since:
			return older(p.Since)
		}
		if err := p.Kind.Check(p.Name, queryValue(said, p.Kind), minor); err != nil {
			return err
		}
	}
	return nil
}

// queryValue is JSON for what an address says, which has no types: all is text but what has to be a number.
func queryValue(said string, k Kind) json.RawMessage {
	if p, ok := k.(plain); ok && p.takes.Type == "integer" {
		return json.RawMessage(said)
	}
	b, err := json.Marshal(said)
	if err != nil {
		return nil // no string fails
	}
	return b
}

func known(all []Parameter, names []string) error {
	var unknown []string
	for _, name := range names {
		if !slices.ContainsFunc(all, func(p Parameter) bool { return p.Name == name }) {
			unknown = append(unknown, name)
		}
	}
	if len(unknown) > 0 {
		return node.Invalidf("Unexpected arguments: %s", strings.Join(unknown, ", "))
	}
	return nil
}

// Arguments is a body of named values (contract.md §1.5).
type Arguments []Parameter

// Takes is an object with the arguments of the version.
func (a Arguments) Takes(minor int) *Schema {
	s := &Schema{Type: "object", Properties: map[string]*Schema{}, AdditionalProperties: Nothing()}
	for _, p := range a {
		if minor < p.Since {
			continue
		}
		s.Properties[p.Name], s.PropertyOrder = p.Kind.Takes(minor), append(s.PropertyOrder, p.Name)
		if p.Required {
			s.Required = append(s.Required, p.Name)
		}
	}
	return s
}

// Values are the arguments of a request, as they came.
type Values map[string]json.RawMessage

// Read checks a body. An empty one has no arguments, and null is as good as not given. One that is no JSON object is
// told the argument that it lacks, if there is one (contract.md §1.5).
func (a Arguments) Read(body []byte, minor int, older func(since int) error) (Values, error) {
	v := Values{}
	if b := bytes.TrimSpace(body); len(b) > 0 && (json.Unmarshal(b, &v) != nil || v == nil) {
		for _, p := range a {
			if p.Required {
				return nil, node.Invalidf("Missing mandatory parameter: %s", p.Name)
			}
		}
		return nil, node.Invalidf("The body is not a JSON object.")
	}
	if err := known(a, slices.Sorted(maps.Keys(v))); err != nil {
		return nil, err
	}
	for _, p := range a {
		raw := v[p.Name]
		if IsNull(raw) {
			if p.Required {
				return nil, node.Invalidf("Missing mandatory parameter: %s", p.Name)
			}
			delete(v, p.Name)
			continue
		}
		if minor < p.Since {
			return nil, older(p.Since)
		}
		if err := p.Kind.Check(p.Name, raw, minor); err != nil {
			return nil, err
		}
	}
	return v, nil
}

// Text is a string among the values; "" when it is not there.
func (v Values) Text(name string) string {
	var s string
	_ = json.Unmarshal(v[name], &s) // its kind has been checked
	return s
}

// Flag is a boolean among the values; false when it is not there.
func (v Values) Flag(name string) bool {
	b, _ := ReadFlag(name, v[name]) // its kind has been checked
	return b
}

// Into decodes a value; one that is not there changes nothing.
func (v Values) Into(name string, into any) error {
	raw, ok := v[name]
	if !ok {
		return nil
	}
	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber()
	if d.Decode(into) != nil {
		return node.Invalidf("The value of %s cannot be read.", name)
	}
	return nil
}
