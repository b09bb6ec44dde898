package ironic_test

import (
	"encoding/json"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"cagenut/web/ironic"
	"cagenut/web/openapi"
)

// described are all kinds of values that operations take by name, each once, by the first operation that does.
func described(t *testing.T) map[string]openapi.Kind {
	t.Helper()
	out, seen := map[string]openapi.Kind{}, map[string]bool{}
	add := func(where string, p openapi.Parameter) {
		raw, err := json.Marshal(p.Kind.Takes(96))
		if err != nil {
			t.Fatal(err)
		}
		if key := p.Name + string(raw); !seen[key] {
			seen[key], out[where+p.Name] = true, p.Kind
		}
	}
	for _, o := range ironic.Description(ironic.Options{Host: "rack1"}).Operations {
		for _, p := range o.Query {
			if p.Kind.Takes(96).Type != "array" { // a list in an address is one with commas, not of JSON
				add(o.Method+" "+o.Path+"?", p)
			}
		}
		arguments, _ := o.Body.(openapi.Arguments)
		for _, p := range arguments {
			add(o.Method+" "+o.Path+" ", p)
		}
	}
	return out
}

var nearly = []any{
	nil, "", " ", "x", "id", "uuid", "UUID", "asc", "desc", "up", "manageable", "inspect wait", "power failure", "classic", "dynamic", "pxe", "disk", "floppy", "true", "YES", "banana", "power on", "52:54:00:00:00:01", "zz", one, one + "x",
	"created_at", "priority", "hostname", "extra", "\x00", 0.0, 1.0, -1.0, 1.5, 30.0, 2147483647.0, 2147483648.0, true, false, []any{}, []any{"CUSTOM_A"}, []any{1.0}, []any{nil}, map[string]any{}, map[string]any{"a": 1.0},
}

// What the document says that a parameter or an argument may be, and what is taken, is the same for all of them.
func TestEveryValueIsTakenAsTheDocumentSays(t *testing.T) {
	for name, kind := range described(t) {
		t.Run(name, func(t *testing.T) {
			for _, minor := range []int{1, 50, 96} {
				schema, err := kind.Takes(minor).CloneSchemas().Resolve(nil)
				if err != nil {
					t.Fatal(err)
				}
				inAddress, number := strings.Contains(name, "?"), kind.Takes(minor).Type == "integer"
				check := func(t interface{ Errorf(string, ...any) }, value any) {
					if _, isText := value.(string); inAddress && isText == number {
						return // an address says only texts, and numbers where one is meant
					}
					raw, err := json.Marshal(value)
					if err != nil {
						t.Errorf("%v: %v", value, err)
						return
					}
					valid, refused := schema.Validate(value), kind.Check("x", raw, minor)
					if (valid == nil) != (refused == nil) {
						t.Errorf("%s at 1.%d: the schema says %v, the check %v", raw, minor, valid, refused)
					}
				}
				for _, value := range nearly {
					check(t, value)
				}
				if t.Failed() {
					return
				}
				rapid.Check(t, func(t *rapid.T) { check(t, rapid.String().Draw(t, "text")) })
			}
		})
	}
}
