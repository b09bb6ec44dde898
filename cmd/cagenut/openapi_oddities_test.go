package main

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"pgregory.net/rapid"
)

// oddity changes one thing of a request that the document allows.
type oddity func(g *generator, t *rapid.T, o *describedOperation, r *sentRequest)

var oddities = []oddity{
	oddBody, oddBody, oddBody, oddBytes, oddBytes, oddBytes, oddVersion, oddMethod, oddPath, bookmark, repeatedQuery, unknownQuery, oddQuery, oddEncoding, oddType,
}

// oddValues stand where something else was meant.
var oddValues = []any{
	nil, "", " ", "\x00", "a\x1fb", "☃", "null", strings.Repeat("x", 300), strings.Repeat("x", 5000), json.Number("1e400"), json.Number("12345678901234567890123"), json.Number("-0"), -1, 0, 1.5, true,
	"true", []any{}, []any{nil}, map[string]any{}, map[string]any{"": nil}, []any{[]any{map[string]any{"a": 1}}}, json.RawMessage(`"\ud800"`),
}

// oddBody changes the document that a body is: one value, or one key, anywhere in it.
func oddBody(_ *generator, t *rapid.T, o *describedOperation, r *sentRequest) {
	if o.body == nil {
		return
	}
	var doc any
	if json.Unmarshal(r.body, &doc) != nil {
		return
	}
	r.body = encode(oddDocument(t, doc))
}

func oddDocument(t *rapid.T, doc any) any {
	switch doc := doc.(type) {
	case []any:
		if len(doc) > 0 && rapid.IntRange(0, 3).Draw(t, "inside") > 0 {
			i := rapid.IntRange(0, len(doc)-1).Draw(t, "item")
			doc[i] = oddDocument(t, doc[i])
			return doc
		}
	case map[string]any:
		if len(doc) == 0 || rapid.IntRange(0, 6).Draw(t, "unknown") == 0 {
			doc[rapid.SampledFrom([]string{"bogus", "", "uuid", "links", "created_at", "reservation", "provision_state", "Driver", "a\x00"}).Draw(t, "key")] = rapid.SampledFrom(oddValues).Draw(t, "value")
			return doc
		}
		key := rapid.SampledFrom(slices.Sorted(maps.Keys(doc))).Draw(t, "key")
		switch rapid.IntRange(0, 6).Draw(t, "how") {
		case 0:
			delete(doc, key)
		case 1:
			value := doc[key]
			delete(doc, key)
			doc[strings.ToUpper(key)] = value
		case 2, 3:
			doc[key] = oddDocument(t, doc[key])
		default:
			doc[key] = rapid.SampledFrom(oddValues).Draw(t, "value")
		}
		return doc
	}
	return rapid.SampledFrom(oddValues).Draw(t, "value")
}

// oddBytes makes of a body what is no JSON, not of UTF-8, too deep or too large.
func oddBytes(_ *generator, t *rapid.T, _ *describedOperation, r *sentRequest) {
	body := r.body
	switch rapid.IntRange(0, 9).Draw(t, "how") {
	case 0:
		if len(body) > 0 {
			body = body[:len(body)-1]
		}
	case 1:
		body = append(slices.Clone(body), " {}"...)
	case 2:
		body = append(slices.Clone(body), 0)
	case 3:
		body = []byte("{\"target\": \"\xff\xfe\", \"reason\": \"\xc3\x28\"}")
	case 4:
		body = []byte(strings.ReplaceAll(string(body), `":"`, "\":\"\xff"))
	case 5:
		body = []byte(strings.Repeat("[", 30) + strings.Repeat("]", 30))
	case 6:
		body = []byte(`{"extra":` + strings.Repeat(`{"a":`, 4000) + "1" + strings.Repeat("}", 4000) + "}")
	case 7:
		body = append([]byte("\xef\xbb\xbf"), body...)
	case 8:
		body = []byte(rapid.SampledFrom([]string{"null", "5", `"x"`, "true", "[]", "{}", "[null]", "[5]", "[[]]", "[{}]", "nonsense", "{,}", "{'a':1}", "\x00", "NaN", `{"a":NaN}`, "<xml/>", "a=b&c=d"}).Draw(t, "body"))
	case 9:
		body = []byte(`{"description":"` + strings.Repeat("x", 1<<20) + `"}`)
	}
	r.body = body
}

func oddVersion(_ *generator, t *rapid.T, _ *describedOperation, r *sentRequest) {
	r.version = rapid.SampledFrom([]string{"", "latest", "LATEST", " 1.96 ", "1.096", "1.0", "1.97", "1.115", "2.1", "0.9", "foo", "1", "1.", ".1", "1.1.1", "-1.1", "1.-1", "1.99999999999999999999", "1.0x10", "1,1", "١.١"}).Draw(t, "version")
	if rapid.IntRange(0, 2).Draw(t, "second") == 0 {
		r.header["OpenStack-API-Version"] = rapid.SampledFrom([]string{"baremetal 1.96", "baremetal latest", "compute 2.1", "baremetal foo", "baremetal", "compute 2.1, baremetal 1.96", "baremetal 2.0"}).Draw(t, "generic")
	}
}

func oddMethod(_ *generator, t *rapid.T, _ *describedOperation, r *sentRequest) {
	r.method = rapid.SampledFrom([]string{"GET", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE", "HEAD"}).Draw(t, "method")
}

func oddPath(_ *generator, t *rapid.T, _ *describedOperation, r *sentRequest) {
	switch rapid.IntRange(0, 5).Draw(t, "how") {
	case 0:
		r.path += "/nonsense"
	case 1:
		r.path += "//"
	case 2:
		r.path = strings.Replace(r.path, "/", "//", 2)
	case 3:
		r.path = "/v1/nonsense"
	case 4:
		r.path = strings.Replace(r.path, "/v1/", "/V1/", 1)
	case 5:
		r.path += "%2F"
	}
}

// bookmark leaves out the prefix, as the bookmark links do.
func bookmark(_ *generator, _ *rapid.T, _ *describedOperation, r *sentRequest) {
	if rest, ok := strings.CutPrefix(r.path, "/v1/"); ok {
		r.path = "/" + rest
	}
}

func (r *sentRequest) ask(more string) {
	if r.query != "" {
		r.query += "&"
	}
	r.query += more
}

func repeatedQuery(g *generator, t *rapid.T, o *describedOperation, r *sentRequest) {
	if len(o.query) == 0 {
		return
	}
	p := rapid.SampledFrom(o.query).Draw(t, "parameter")
	for range 2 {
		r.ask(p.name + "=" + encodeText(g.said(t, p)))
	}
}

func unknownQuery(_ *generator, t *rapid.T, _ *describedOperation, r *sentRequest) {
	r.ask(rapid.SampledFrom([]string{"bogus=1", "bogus", "=", "=x", "LIMIT=1", "limit%00=1", "%FF=1", "limit[]=1", "fields[0]=uuid", "attempt_=x", "1=1;2=2"}).Draw(t, "query"))
}

func oddQuery(_ *generator, t *rapid.T, o *describedOperation, r *sentRequest) {
	if len(o.query) > 0 {
		r.query = rapid.SampledFrom(o.query).Draw(t, "parameter").name + "=" + encodeText(rapid.SampledFrom(strangeTexts).Draw(t, "text"))
	}
}

func oddEncoding(_ *generator, t *rapid.T, _ *describedOperation, r *sentRequest) {
	if len(r.body) == 0 {
		return
	}
	r.header["Content-Encoding"] = rapid.SampledFrom([]string{"gzip", "gzip", "gzip", "GZIP", "deflate", "br", "identity", "gzip, gzip", ""}).Draw(t, "encoding")
	r.packed = rapid.IntRange(0, 3).Draw(t, "packed") > 0
}

func oddType(_ *generator, t *rapid.T, _ *describedOperation, r *sentRequest) {
	r.header["Content-Type"] = rapid.SampledFrom([]string{"", "text/plain", "application/xml", "application/x-www-form-urlencoded", "multipart/form-data; boundary=x", "application/json; charset=utf-16", "nonsense", "application/json-patch+json"}).Draw(t, "type")
	r.header["Accept"] = rapid.SampledFrom([]string{"", "*/*", "application/xml", "text/plain", "application/json;q=0"}).Draw(t, "accept")
}
