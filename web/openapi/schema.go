package openapi

import (
	"maps"
	"reflect"
	"slices"

	"github.com/google/jsonschema-go/jsonschema"
)

// Schema is a JSON Schema, draft 2020-12.
type Schema = jsonschema.Schema

// Typed is any value of the named JSON types.
func Typed(types ...string) *Schema {
	if len(types) == 1 {
		return &Schema{Type: types[0]}
	}
	return &Schema{Types: types}
}

// OneOf is one of some values.
func OneOf[T any](values ...T) *Schema {
	s := &Schema{}
	for _, v := range values {
		s.Enum = append(s.Enum, v)
	}
	return s
}

// Caseless is one of some words in lower case, which may be said in any case.
func Caseless(words ...string) *Schema {
	return &Schema{AnyOf: []*Schema{OneOf(words...), {Type: "string", Pattern: "^(" + caseless(words) + ")$"}}}
}

// ListOf is an array.
func ListOf(item *Schema) *Schema { return &Schema{Type: "array", Items: item} }

// Record is an object with exactly these keys; all but the optional ones are always there.
func Record(properties map[string]*Schema, optional ...string) *Schema {
	s := &Schema{Type: "object", Properties: properties, AdditionalProperties: Nothing(), PropertyOrder: slices.Sorted(maps.Keys(properties))}
	for _, key := range s.PropertyOrder {
		if !slices.Contains(optional, key) {
			s.Required = append(s.Required, key)
		}
	}
	return s
}

// MapOf is an object with any keys.
func MapOf(value *Schema) *Schema { return &Schema{Type: "object", AdditionalProperties: value} }

// Nothing is the schema that no value satisfies.
func Nothing() *Schema { return &Schema{Not: &Schema{}} }

// Ref is a schema that stands among the components of the document.
func Ref(name string) *Schema { return &Schema{Ref: "#/components/schemas/" + name} }

// OrNull also allows null.
func OrNull(s *Schema) *Schema { return &Schema{AnyOf: []*Schema{s, Typed("null")}} }

// Of is the schema of what a Go type marshals to. Pointers may be null; a key that may be omitted need not be there.
func Of(t reflect.Type) *Schema {
	s, err := jsonschema.ForType(t, &jsonschema.ForOptions{})
	if err != nil {
		// Types that cannot be marshalled are a programmer's error, which the test of the document finds.
		return Nothing()
	}
	return s
}
