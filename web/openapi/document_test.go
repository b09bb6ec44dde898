package openapi_test

import (
	"encoding/json"
	"maps"
	"reflect"
	"slices"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/google/go-cmp/cmp"

	"cagenut/web/openapi"
)

func typeOf[T any]() reflect.Type { return reflect.TypeFor[T]() }

// shelf is a small API.
func shelf() openapi.Document {
	book := openapi.Record(map[string]*openapi.Schema{"title": openapi.Typed("string"), "shelf": openapi.OrNull(openapi.Ref("Shelf"))})
	return openapi.Document{Title: "Shelves", Version: "1.5", Description: "Of books.", Server: "http://192.0.2.1", Basic: true, Parts: []openapi.Part{{
		Operations: []openapi.Operation{
			{Method: "GET", Path: "/", Does: "Say what there is.", Public: true, Answers: []openapi.Answer{{Status: 200, Shows: openapi.Shows(openapi.Typed("object"))}}},
			{Method: "GET", Path: "/books", Does: "List books.", Query: []openapi.Parameter{
				{Name: "limit", Does: "How many.", Kind: openapi.Integer(1, "")}, {Name: "author", Since: 4, Required: true, Kind: openapi.Text(9)},
			}, Answers: []openapi.Answer{{Status: 200, Shows: openapi.Shows(openapi.ListOf(openapi.Ref("Book")))}}},
			{Method: "PUT", Path: "/books/:book/shelf/:place", Does: "Put a book.", Since: 3, Body: openapi.Arguments{{Name: "heavy", Kind: openapi.Flag()}, {Name: "light", Since: 5, Kind: openapi.Flag()}},
				Answers: []openapi.Answer{{Status: 202, Location: true}}, May: []int{409, 400}},
			{Method: "GET", Path: "/books/:book", Since: 3, Answers: []openapi.Answer{{Status: 200, Type: "text/plain", Shows: openapi.Shows(openapi.Typed("string"))}}},
		},
		Components: func(minor int) map[string]*openapi.Schema {
			out := map[string]*openapi.Schema{"Book": book, "Shelf": openapi.Typed("string"), "Error": openapi.Typed("object"), "Strange": openapi.Typed("object")}
			if minor >= 5 {
				out["New"] = openapi.Typed("string")
			}
			return out
		},
		Refusals: map[int]*openapi.Schema{0: openapi.Ref("Error"), 415: openapi.Ref("Strange")},
		Headers:  []openapi.Parameter{{Name: "X-Version", Kind: openapi.Text(16)}},
	}}}
}

func documentAt(t *testing.T, d openapi.Document, minor int) *openapi3.T {
	t.Helper()
	raw, err := json.Marshal(d.At(minor))
	if err != nil {
		t.Fatal(err)
	}
	doc, err := openapi3.NewLoader().LoadFromData(raw)
	if err != nil {
		t.Fatalf("1.%d: %v", minor, err)
	}
	if err := doc.Validate(t.Context()); err != nil {
		t.Fatalf("1.%d is no OpenAPI document: %v", minor, err)
	}
	return doc
}

func TestADocumentShowsWhatAVersionHas(t *testing.T) {
	for minor, want := range map[int][]string{
		1: {"/", "/books"}, 2: {"/", "/books"}, 3: {"/", "/books", "/books/{book}", "/books/{book}/shelf/{place}"}, 5: {"/", "/books", "/books/{book}", "/books/{book}/shelf/{place}"},
	} {
		doc := documentAt(t, shelf(), minor)
		if diff := cmp.Diff(want, slices.Sorted(maps.Keys(doc.Paths.Map()))); diff != "" {
			t.Errorf("1.%d (-want +got):\n%s", minor, diff)
		}
		if got := doc.Components.Schemas["New"] != nil; got != (minor >= 5) {
			t.Errorf("1.%d has the newer schema: %v", minor, got)
		}
	}
	if author := documentAt(t, shelf(), 3).Paths.Value("/books").Get.Parameters.GetByInAndName("query", "author"); author != nil {
		t.Error("a newer parameter is there")
	}
	put := documentAt(t, shelf(), 3).Paths.Value("/books/{book}/shelf/{place}").Put
	if properties := put.RequestBody.Value.Content["application/json"].Schema.Value.Properties; properties["heavy"] == nil || properties["light"] != nil {
		t.Errorf("the arguments are %v", slices.Sorted(maps.Keys(properties)))
	}
}

func TestADocumentSaysEverythingOfAnOperation(t *testing.T) {
	doc := documentAt(t, shelf(), 5)
	put := doc.Paths.Value("/books/{book}/shelf/{place}").Put
	if put.OperationID != "put_books_book_shelf_place" || put.Summary != "Put a book." {
		t.Errorf("it is %s: %s", put.OperationID, put.Summary)
	}
	for _, name := range []string{"book", "place"} {
		if p := put.Parameters.GetByInAndName("path", name); p == nil || !p.Required {
			t.Errorf("the parameter %s of the path is %v", name, p)
		}
	}
	if put.Parameters.GetByInAndName("header", "X-Version") == nil {
		t.Error("the header of every request is not there")
	}
	// 202, what every operation may answer, what one with a name and with a body may, what this one may, and who is not
	// allowed to.
	if diff := cmp.Diff([]string{"202", "400", "401", "403", "404", "406", "409", "413", "415", "429"}, slices.Sorted(maps.Keys(put.Responses.Map()))); diff != "" {
		t.Errorf("answers (-want +got):\n%s", diff)
	}
	if h := put.Responses.Value("202").Value.Headers["Location"]; h == nil || len(put.Responses.Value("202").Value.Content) != 0 {
		t.Error("202 has no Location, or a body")
	}
	for status, want := range map[string]string{"400": "Error", "415": "Strange"} {
		if got := put.Responses.Value(status).Value.Content["application/json"].Schema.Ref; got != "#/components/schemas/"+want {
			t.Errorf("%s shows %s", status, got)
		}
	}
	list := doc.Paths.Value("/books").Get
	if p := list.Parameters.GetByInAndName("query", "author"); p == nil || !p.Required || p.Extensions["x-since"] != "1.4" {
		t.Errorf("the newer parameter is %v", p)
	}
	if diff := cmp.Diff([]string{"200", "400", "401", "406", "429"}, slices.Sorted(maps.Keys(list.Responses.Map()))); diff != "" {
		t.Errorf("answers of the list (-want +got):\n%s", diff)
	}
	if doc.Paths.Value("/books/{book}").Get.Responses.Value("200").Value.Content["text/plain"] == nil {
		t.Error("the answer that is a text is not described as one")
	}
}

func TestADocumentSaysWhoMustSignIn(t *testing.T) {
	guarded := documentAt(t, shelf(), 1)
	if len(guarded.Security) != 1 || guarded.Components.SecuritySchemes["basic"] == nil {
		t.Errorf("security: %v", guarded.Security)
	}
	if open := guarded.Paths.Value("/").Get; open.Security == nil || len(*open.Security) != 0 || open.Responses.Value("401") != nil {
		t.Errorf("the public operation asks for %v", open.Security)
	}
	if guarded.Paths.Value("/books").Get.Security != nil {
		t.Error("the guarded operation has a rule of its own")
	}
	free := shelf()
	free.Basic = false
	doc := documentAt(t, free, 5)
	if len(doc.Security) != 0 || doc.Paths.Value("/books").Get.Responses.Value("401") != nil || doc.Paths.Value("/books/{book}/shelf/{place}").Put.Responses.Value("403") != nil {
		t.Error("an appliance without passwords asks for one")
	}
}
