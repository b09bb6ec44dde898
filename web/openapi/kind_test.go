package openapi_test

import (
	"encoding/json"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"cagenut/node"
	"cagenut/web/openapi"
)

var kinds = map[string]openapi.Kind{
	"a text": openapi.Text(5), "a UUID": openapi.UUID(), "a MAC": openapi.MAC(), "a flag": openapi.Flag(), "a choice": openapi.Choice(), "a boolean": openapi.Boolean(),
	"an integer": openapi.Integer(2, "two is the least"), "an object": openapi.Object(), "anything": openapi.Anything(),
	"a word": openapi.Word(func(said string) error { return node.Invalidf("%s is no word", said) }, "asc", "desc"),
	"a custom one": openapi.Custom(openapi.Typed("null"), openapi.Typed("null"), func(_ string, raw json.RawMessage) error {
		if openapi.IsNull(raw) {
			return nil
		}
		return node.Invalidf("only null")
	}),
}

// texts are near what some kind takes.
var texts = []string{
	"", " ", "a", "äöüßé", "äöüßéx", "asc", "ASC", "desc ", "null", "2", "1", "yes", " YES\t", "\u00a0yes", "yes\u2003", "oN", "ye", "yess", "TRUE", "f", "0", "02:00:5e:00:00:01", "02-00-5E-00-00-01", " 02:00-5e:00:00:01\n", "02:00:5e:00:00",
	"02:00:5e:00:00:0g", "\v02:00:5e:00:00:01", "6a6d0a7e-1111-4a51-9a3c-0c1f2d3e4f50", "6A6D0A7E-1111-4A51-9A3C-0C1F2D3E4F50", "6a6d0a7e11114a519a3c0c1f2d3e4f50", "{6a6d0a7e-1111-4a51-9a3c-0c1f2d3e4f5}", "6a6d0a7e-1111-4a51-9a3c-0c1f2d3e4f5g",
	"6a6d0a7e-1111-4a51-9a3c-0c1f2d3e4f50 ", "\x00", "☃", "ſ",
}

// anyValue is a value of JSON as encoding/json spells it. Other spellings of a number are the one thing in which schema
// and check differ: to a schema -0, 1.0 and 1e0 are whole numbers, to a check they are texts that it does not know.
func anyValue() *rapid.Generator[any] {
	return rapid.Custom(func(t *rapid.T) any {
		switch rapid.IntRange(0, 9).Draw(t, "type") {
		case 0:
			return nil
		case 1:
			return rapid.Bool().Draw(t, "boolean")
		case 2:
			return rapid.SampledFrom([]float64{-3, -1, 0, 1, 1.5, 2, 5, 2147483647, 2147483648, 1e21}).Draw(t, "small")
		case 3:
			if f := rapid.Float64().Draw(t, "number"); f != 0 {
				return f
			}
			return 0.0
		case 4:
			return rapid.SampledFrom([]any{[]any{}, []any{nil}, map[string]any{}, map[string]any{"a": 1.0}}).Draw(t, "document")
		case 5:
			return rapid.StringN(0, 8, -1).Draw(t, "text")
		case 6:
			return rapid.StringMatching(`\s?(0[0-9a-fA-F][:-]){5}0[0-9a-fA-F]\s?|[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}`).Draw(t, "address")
		default:
			return rapid.SampledFrom(texts).Draw(t, "text")
		}
	})
}

// What Takes allows, Check accepts, and what it does not allow, Check refuses: requests are checked by the one and the
// document is written from the other.
func TestAKindTakesWhatItSaysThatItTakes(t *testing.T) {
	for name, kind := range kinds {
		t.Run(name, func(t *testing.T) {
			schema, err := kind.Takes(96).CloneSchemas().Resolve(nil)
			if err != nil {
				t.Fatal(err)
			}
			rapid.Check(t, func(t *rapid.T) {
				value := anyValue().Draw(t, "value")
				raw, err := json.Marshal(value)
				if err != nil {
					t.Fatal(err)
				}
				valid, refused := schema.Validate(value), kind.Check("x", raw, 96)
				if (valid == nil) != (refused == nil) {
					t.Errorf("%s: the schema says %v, the check %v", raw, valid, refused)
				}
			})
		})
	}
}

// What answers show may be said again, but that only null can be said of some and that shown values may be null.
func TestAKindReadsAsASchema(t *testing.T) {
	for name, kind := range kinds {
		if _, err := kind.Reads(1).CloneSchemas().Resolve(nil); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	if s := openapi.Shown(openapi.Typed("string")); s.Reads(1).Type != "string" || s.Takes(1) != nil {
		t.Error("what only answers have can be said")
	}
}

func TestTheSentencesOfRefusals(t *testing.T) {
	for _, tc := range []struct{ kind, raw, text string }{
		{"a text", `5`, "Expected string for x: 5"},
		{"a text", `"123456"`, "Schema error for x: the value is longer than 5 characters"},
		{"a UUID", `"notauuid"`, "Expected UUID for x: notauuid"},
		{"a MAC", `"zz"`, "Expected valid MAC address for x: zz"},
		{"a flag", `"banana"`, "Invalid x: Unrecognized value 'banana', acceptable values are: '0', '1', 'f', 'false', 'n', 'no', 'off', 'on', 't', 'true', 'y', 'yes'"},
		{"a flag", `2`, "Invalid x: Unrecognized value '2', acceptable values are: '0', '1', 'f', 'false', 'n', 'no', 'off', 'on', 't', 'true', 'y', 'yes'"},
		{"a boolean", `"yes"`, `Expected boolean for x: "yes"`},
		{"an integer", `"x"`, "Expected integer for x: x"},
		{"an integer", `1`, "two is the least"},
		{"an object", `[]`, "Schema error for x: the value is not of type 'object'"},
		{"a word", `"up"`, "up is no word"},
	} {
		if err := kinds[tc.kind].Check("x", json.RawMessage(tc.raw), 1); err == nil || err.Error() != tc.text {
			t.Errorf("%s of %s: %v", tc.kind, tc.raw, err)
		}
	}
}

func TestFlagsAreRead(t *testing.T) {
	for _, yes := range []string{`true`, `1`, `"1"`, `"t"`, `"True"`, `"ON"`, `"y"`, `" yes "`} {
		if b, err := openapi.ReadFlag("x", json.RawMessage(yes)); !b || err != nil {
			t.Errorf("%s reads %v, %v", yes, b, err)
		}
	}
	for _, no := range []string{`false`, `0`, `"0"`, `"f"`, `"False"`, `"off"`, `"N"`, `"no"`} {
		if b, err := openapi.ReadFlag("x", json.RawMessage(no)); b || err != nil {
			t.Errorf("%s reads %v, %v", no, b, err)
		}
	}
}

// A list that is in the address is one with commas; the words may be said in any case.
func TestCaselessWords(t *testing.T) {
	schema, err := openapi.Caseless("uuid", "created_at").Resolve(nil)
	if err != nil {
		t.Fatal(err)
	}
	for word, ok := range map[string]bool{"uuid": true, "UUID": true, "Created_At": true, "uuidx": false, "": false, "uuid ": false} {
		if (schema.Validate(word) == nil) != ok {
			t.Errorf("%q is allowed: %v", word, !ok)
		}
	}
}

func TestRecordsAreClosed(t *testing.T) {
	s := openapi.Record(map[string]*openapi.Schema{"b": openapi.Typed("string"), "a": openapi.OrNull(openapi.Typed("integer"))}, "b")
	if !slices.Equal(s.Required, []string{"a"}) {
		t.Errorf("required: %v", s.Required)
	}
	schema, err := s.Resolve(nil)
	if err != nil {
		t.Fatal(err)
	}
	for raw, ok := range map[string]bool{`{"a":1}`: true, `{"a":null,"b":"x"}`: true, `{}`: false, `{"a":1,"c":1}`: false, `{"a":"x"}`: false, `[]`: false} {
		var v any
		if err := json.Unmarshal([]byte(raw), &v); err != nil {
			t.Fatal(err)
		}
		if (schema.Validate(v) == nil) != ok {
			t.Errorf("%s is allowed: %v", raw, !ok)
		}
	}
}
