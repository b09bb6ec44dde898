package web

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"reflect"
	"slices"
	"strings"

	"cagenut/node"
)

// DecodeStrict reads a JSON object into the struct that into points to. Every failure is a *node.Invalid: no object, more
// than one value, an unknown key (also one that differs in case, which encoding/json would take), a value of another type.
func DecodeStrict(body []byte, into any) error {
	keys := map[string]json.RawMessage{}
	one := json.NewDecoder(bytes.NewReader(body))
	if err := one.Decode(&keys); err != nil || keys == nil {
		return node.Invalidf("The body is not a JSON object.")
	}
	if _, err := one.Token(); !errors.Is(err, io.EOF) {
		return node.Invalidf("The body holds more than one JSON value.")
	}
	known := keysOf(reflect.TypeOf(into))
	var unknown []string
	for key := range keys {
		if !slices.Contains(known, key) {
			unknown = append(unknown, key)
		}
	}
	if len(unknown) > 0 {
		slices.Sort(unknown)
		return node.Invalidf("Unexpected arguments: %s", strings.Join(unknown, ", "))
	}
	strict := json.NewDecoder(bytes.NewReader(body))
	strict.DisallowUnknownFields()
	err := strict.Decode(into)
	var mismatch *json.UnmarshalTypeError
	switch {
	case err == nil:
		return nil
	case errors.As(err, &mismatch):
		return node.Invalidf("Expected %s for %s, not a value of type %s.", typeName(mismatch.Type), mismatch.Field, mismatch.Value)
	default:
		if field, ok := strings.CutPrefix(err.Error(), "json: unknown field "); ok {
			return node.Invalidf("Unexpected arguments: %s", strings.Trim(field, `"`))
		}
		return node.Invalidf("The body cannot be read: a value has an unexpected form.")
	}
}

// keysOf lists the keys that a struct takes.
func keysOf(t reflect.Type) []string {
	var keys []string
	for _, f := range reflect.VisibleFields(t.Elem()) {
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		if name == "" {
			name = f.Name
		}
		if f.IsExported() && !f.Anonymous && name != "-" {
			keys = append(keys, name)
		}
	}
	return keys
}

// typeName is a Go type in JSON's words.
func typeName(t reflect.Type) string {
	switch t.Kind() {
	case reflect.Bool:
		return "boolean"
	case reflect.String:
		return "string"
	case reflect.Slice, reflect.Array:
		return "array"
	case reflect.Struct, reflect.Map:
		return "object"
	case reflect.Pointer:
		return typeName(t.Elem())
	}
	return "number"
}
