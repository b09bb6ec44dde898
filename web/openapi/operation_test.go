package openapi_test

import (
	"encoding/json"
	"errors"
	"net/url"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"cagenut/node"
	"cagenut/web/openapi"
)

var errOlder = errors.New("too old")

func older(int) error { return errOlder }

var arguments = openapi.Arguments{
	{Name: "target", Required: true, Kind: openapi.Text(9)}, {Name: "timeout", Kind: openapi.Integer(1, "too short")}, {Name: "persistent", Kind: openapi.Flag()},
	{Name: "token", Since: 62, Kind: openapi.Text(9)},
}

// Contract.md §1.5: the texts, and which of several mistakes is told.
func TestArguments(t *testing.T) {
	for _, tc := range []struct {
		name, body string
		minor      int
		text       string // "" when it is taken
	}{
		{"all there", `{"target":"abort","timeout":5,"persistent":"yes","token":"t"}`, 62, ""},
		{"only what is required", `{"target":"abort"}`, 1, ""},
		{"null is not given", `{"target":"abort","timeout":null,"token":null}`, 1, ""},
		{"nothing", ``, 1, "Missing mandatory parameter: target"},
		{"blanks", "\n ", 1, "Missing mandatory parameter: target"},
		{"no JSON", `{`, 1, "Missing mandatory parameter: target"},
		{"two values", `{"target":"x"} {}`, 1, "Missing mandatory parameter: target"},
		{"no object", `["target"]`, 1, "Missing mandatory parameter: target"},
		{"null alone", `null`, 1, "Missing mandatory parameter: target"},
		{"null for what is required", `{"target":null}`, 1, "Missing mandatory parameter: target"},
		{"the key in capitals", `{"TARGET":"x"}`, 1, "Unexpected arguments: TARGET"},
		{"unknown keys, sorted, before all else", `{"b":1,"a":2}`, 1, "Unexpected arguments: a, b"},
		{"a value of another type", `{"target":5}`, 1, "Expected string for target: 5"},
		{"a wrong second value", `{"target":"x","timeout":0}`, 1, "too short"},
		{"a newer key", `{"target":"x","token":"t"}`, 61, "too old"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			_, err := arguments.Read([]byte(tc.body), tc.minor, older)
			if (err == nil) != (tc.text == "") || (err != nil && err.Error() != tc.text) {
				t.Errorf("got %v", err)
			}
		})
	}
}

func TestArgumentsThatAreAllOptional(t *testing.T) {
	optional := openapi.Arguments{{Name: "reason", Kind: openapi.Text(9)}}
	for body, ok := range map[string]bool{``: true, `{}`: true, `{"reason":null}`: true, `{`: false, `"x"`: false, `null`: false, `{} {}`: false} {
		if _, err := optional.Read([]byte(body), 1, older); (err == nil) != ok {
			t.Errorf("%q: %v", body, err)
		}
	}
}

func TestValuesOfArguments(t *testing.T) {
	v, err := arguments.Read([]byte(`{"target":"ab\"ort","timeout":7,"persistent":"on"}`), 62, older)
	if err != nil {
		t.Fatal(err)
	}
	seconds := 1
	if err := v.Into("timeout", &seconds); err != nil || seconds != 7 {
		t.Errorf("timeout: %d, %v", seconds, err)
	}
	if v.Text("target") != `ab"ort` || v.Text("token") != "" || !v.Flag("persistent") || v.Flag("token") {
		t.Errorf("read %v", v)
	}
	if err := v.Into("token", &seconds); err != nil || seconds != 7 {
		t.Errorf("what is not there changed something: %d, %v", seconds, err)
	}
	if err := v.Into("target", &seconds); err == nil {
		t.Error("a text was taken for a number")
	}
	var number any
	if err := v.Into("timeout", &number); err != nil || number != json.Number("7") {
		t.Errorf("the number lost its spelling: %#v, %v", number, err)
	}
}

// The schema of arguments and their check are of one mind about every object; what is required may not be null for the
// check alone, because a schema of the kind cannot know that it is.
func TestArgumentsTakeWhatTheySay(t *testing.T) {
	for _, minor := range []int{1, 96} {
		schema, err := arguments.Takes(minor).CloneSchemas().Resolve(nil)
		if err != nil {
			t.Fatal(err)
		}
		rapid.Check(t, func(t *rapid.T) {
			doc := rapid.MapOfN(rapid.SampledFrom([]string{"target", "target", "timeout", "persistent", "token", "bogus"}), anyValue(), 0, 4).Draw(t, "document")
			raw, err := json.Marshal(doc)
			if err != nil {
				t.Fatal(err)
			}
			valid := schema.Validate(map[string]any(doc))
			_, refused := arguments.Read(raw, minor, older)
			target, given := doc["target"]
			null := given && target == nil
			_, newer := doc["token"]
			if newer && doc["token"] == nil && minor < 62 {
				return // a newer key without a value is as good as not given
			}
			for _, name := range []string{"timeout"} {
				if v, given := doc[name]; given && v == nil {
					return // the same: null is not given, which the schema of a number has no word for
				}
			}
			if (valid == nil) != (refused == nil) && !null {
				t.Errorf("%s at 1.%d: the schema says %v, the check %v", raw, minor, valid, refused)
			}
		})
	}
}

func TestQueries(t *testing.T) {
	op := openapi.Operation{Query: []openapi.Parameter{
		{Name: "node", Required: true, Kind: openapi.Text(255)}, {Name: "limit", Kind: openapi.Integer(1, "Limit must be positive")},
		{Name: "owner", Since: 50, Kind: openapi.Text(255)}, {Name: "retired", Kind: openapi.Flag()},
		{Name: "detail", Since: 43, Older: func(said string) error { return node.Invalidf("detail=%s is new", said) }, Kind: openapi.Flag()},
	}}
	for _, tc := range []struct {
		query string
		minor int
		text  string
	}{
		{"node=n1&limit=5&owner=o&detail=True&retired=no", 50, ""},
		{"node=", 1, ""},
		{"", 1, "Missing mandatory parameter: node"},
		{"node=n1&bogus=1&another=2", 1, "Unexpected arguments: another, bogus"},
		{"node=n1&limit=0", 1, "Limit must be positive"},
		{"node=n1&limit=-1", 1, "Limit must be positive"},
		{"node=n1&limit=x", 1, "Expected integer for limit: x"},
		{"node=n1&limit=", 1, "Expected integer for limit: "},
		{"node=n1&owner=o", 49, "too old"},
		{"node=n1&detail=x", 42, "detail=x is new"},
		{"node=n1&retired=banana", 1, "Invalid retired: Unrecognized value 'banana', acceptable values are: '0', '1', 'f', 'false', 'n', 'no', 'off', 'on', 't', 'true', 'y', 'yes'"},
	} {
		q, err := url.ParseQuery(tc.query)
		if err != nil {
			t.Fatal(err)
		}
		err = op.CheckQuery(q, tc.minor, older)
		if (err == nil) != (tc.text == "") || (err != nil && err.Error() != tc.text) {
			t.Errorf("%q at 1.%d: %v", tc.query, tc.minor, err)
		}
	}
}

func TestGoTypesAsSchemas(t *testing.T) {
	type thing struct {
		Name  *string  `json:"name"`
		Count int      `json:"count,omitempty"`
		List  []string `json:"list"`
	}
	raw, err := json.Marshal(openapi.Of(typeOf[thing]()))
	if err != nil {
		t.Fatal(err)
	}
	var got map[string]any
	if err := json.Unmarshal(raw, &got); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]any{"name", "list"}, got["required"]); diff != "" {
		t.Errorf("required (-want +got):\n%s", diff)
	}
	if none, err := openapi.Of(typeOf[chan int]()).Resolve(nil); err != nil || none.Validate("x") == nil {
		t.Errorf("what cannot be JSON is allowed: %v", err)
	}
}
