package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"regexp"
	"strconv"
	"strings"
)

// answered is what came back.
type answered struct {
	status int
	header http.Header
	body   []byte
	length int64
}

// judge holds answers against the documents of several microversions and against contract.md §1.
type judge struct {
	described map[int]*description
}

// complaints are everything that is wrong with an answer.
func (j judge) complaints(r sentRequest, a answered) []string {
	var all []string
	say := func(format string, args ...any) { all = append(all, fmt.Sprintf(format, args...)) }
	for _, word := range leaks {
		if bytes.Contains(a.body, []byte(word)) {
			say("the answer shows %q of the inside", word)
		}
	}
	path := plainPath(r.path)
	ours := !strings.HasPrefix(path, "/cagenut/")
	minor, refused := askedFor(r)
	if !ours {
		minor, refused = newestMinor, false
	}
	d := j.described[minor]
	if d == nil {
		d = j.described[newestMinor]
	}
	op, known := d.find(r.method, path)
	later, knownLater := j.described[newestMinor].find(r.method, path)
	guard := guarded(r, path)
	flat := bytes.HasPrefix(a.body, []byte(`{"faultcode"`))

	switch {
	case guard != 0 && a.status != guard:
		say("a body that nobody shall read is answered %d, not %d", a.status, guard)
	case guard != 0 || flat:
		if a.status != 400 && a.status != 413 && a.status != 415 {
			say("the flat refusal of a body has status %d", a.status)
		}
	case ours && refused && (later != nil || r.path == "/"):
		j.refusedVersion(say, r, a)
	case op != nil:
		op.complain(say, r, a)
		if ours {
			versionHeaders(say, a, strconv.Itoa(minor))
		}
	case later != nil: // it came with a later microversion: which of these is said of what, tells contract.md §1.4
		if a.status != 404 && a.status != 405 && a.status != 406 {
			say("an operation of a later version is answered %d", a.status)
		}
		if ours {
			versionHeaders(say, a, strconv.Itoa(minor))
		}
	default:
		unrouted(say, r, a, known || knownLater, ours)
	}
	if ours && !flat && a.status >= 400 && r.method != "HEAD" {
		doubleEncoded(say, a)
	}
	return all
}

// leaks are words that only the inside of the appliance has.
var leaks = []string{"sql:", "SQLITE", "sqlite", "panic", ".go:", "gorm", "goroutine", "json: ", "runtime error", "strconv."}

// plainPath is the path as it is routed (contract.md §1.6), with the prefix that bookmarks leave out.
func plainPath(path string) string {
	for strings.Contains(path, "//") {
		path = strings.ReplaceAll(path, "//", "/")
	}
	if len(path) > 1 {
		path = strings.TrimSuffix(path, "/")
	}
	for _, prefix := range []string{"/v1/", "/cagenut/"} {
		if strings.HasPrefix(path, prefix) {
			return path
		}
	}
	if path == "/" || path == "/v1" || strings.HasPrefix(path, "/V1") {
		return path
	}
	return "/v1" + path
}

var versionPattern = regexp.MustCompile(`^(\d{1,9})\.(\d{1,9})$`)

// askedFor is the minor version that a request asks for, or that it is refused (contract.md §1.3 and §1.4).
func askedFor(r sentRequest) (minor int, refused bool) {
	said := r.version
	for _, part := range strings.Split(r.header["OpenStack-API-Version"], ",") {
		if v, ok := strings.CutPrefix(strings.TrimSpace(part), "baremetal "); ok {
			said = v
			break
		}
	}
	said = strings.ToLower(strings.TrimSpace(said))
	switch said {
	case "":
		return 1, false
	case "latest":
		return newestMinor, false
	}
	m := versionPattern.FindStringSubmatch(said)
	if m == nil || m[1] != "1" {
		return 0, true
	}
	minor, err := strconv.Atoi(m[2])
	return minor, err != nil || minor < 1 || minor > newestMinor
}

// guarded is the status of bodies that no operation sees (contract.md §1.5); 0 for any other.
func guarded(r sentRequest, path string) int {
	encoding := strings.ToLower(strings.TrimSpace(r.header["Content-Encoding"]))
	switch {
	case len(r.body) == 0:
		return 0
	case encoding == "", encoding == "identity":
		if r.packed {
			return 0 // what looks like no JSON is measured by nobody
		}
	case encoding == "gzip" && r.packed:
	case encoding == "gzip", encoding == "deflate":
		return 400
	default:
		return 415
	}
	if len(r.body) > 1<<20 && path != "/v1/continue_inspection" {
		return 413
	}
	if deep(r.body) {
		return 400
	}
	return 0
}

// deep tells whether a body that begins as a document of JSON nests deeper than 25 levels.
func deep(body []byte) bool {
	body = bytes.TrimLeft(body, " \t\r\n")
	if len(body) == 0 || body[0] != '{' && body[0] != '[' {
		return false
	}
	levels, text, escaped := 0, false, false
	for _, b := range body {
		switch {
		case escaped:
			escaped = false
		case text && b == '\\':
			escaped = true
		case b == '"':
			text = !text
		case text:
		case b == '{' || b == '[':
			if levels++; levels > 25 {
				return true
			}
		case b == '}' || b == ']':
			levels--
		}
	}
	return false
}

func (j judge) refusedVersion(say func(string, ...any), r sentRequest, a answered) {
	if a.status != 406 {
		say("a version that is not served is answered %d", a.status)
	}
	if got := a.header.Get("X-OpenStack-Ironic-API-Version"); got != "" {
		say("a refused version is echoed as %s", got)
	}
	if family(a) != "routing" {
		say("a refused version is answered in the family of %s", family(a))
	}
}

// complain holds an answer against the description of its operation.
func (o *describedOperation) complain(say func(string, ...any), r sentRequest, a answered) {
	want, ok := o.answers[a.status]
	if !ok {
		say("status %d is not in the document of %s %s", a.status, o.method, o.path)
		return
	}
	if a.status < 400 {
		if o.judgeQuery(r.query) == forbidden {
			say("status %d, though the document does not allow the query", a.status)
		}
		if (!r.packed || r.header["Content-Encoding"] != "") && o.judgeBody(r.body) == forbidden {
			say("status %d, though the document does not allow the body: %v", a.status, o.reason(r.body))
		}
	}
	want.complain(say, a)
}

// reason is what the validator says of a body.
func (o *describedOperation) reason(body []byte) error {
	var v any
	if err := json.Unmarshal(body, &v); err != nil {
		return err
	}
	return o.body.resolved.Validate(v)
}

func (want describedAnswer) complain(say func(string, ...any), a answered) {
	if want.location && a.header.Get("Location") == "" {
		say("there is no Location header")
	}
	kind := a.header.Get("Content-Type")
	if want.shape == nil {
		if len(a.body) != 0 || kind != "" || a.length != 0 {
			say("an answer without a body has %d bytes, Content-Type %q and Content-Length %d", len(a.body), kind, a.length)
		}
		return
	}
	if kind, _, _ := strings.Cut(kind, ";"); kind != want.kind {
		say("Content-Type %q, want %q", kind, want.kind)
	}
	if want.kind != "application/json" {
		return
	}
	var body any
	if err := json.Unmarshal(a.body, &body); err != nil {
		say("the body is no JSON: %v", err)
		return
	}
	if err := want.shape.resolved.Validate(body); err != nil {
		say("the body is not what the document says: %v", err)
	}
}

// versionHeaders are on every routed reply, errors included (contract.md §1.3).
func versionHeaders(say func(string, ...any), a answered, minor string) {
	for name, want := range map[string]string{"Minimum-Version": "1.1", "Maximum-Version": "1.96", "Version": "1." + minor} {
		if got := a.header.Get("X-OpenStack-Ironic-API-" + name); got != want {
			say("X-OpenStack-Ironic-API-%s is %q, want %q", name, got, want)
		}
	}
}

// unrouted is what has no operation: an unknown path is 404, another method of a known path 405 or 404 (contract.md §1.5).
func unrouted(say func(string, ...any), r sentRequest, a answered, known, ours bool) {
	switch {
	case r.method == "HEAD" && known: // of what can be read, a client may ask for the headers alone
	case a.status == 405 && known:
		if a.header.Get("Allow") == "" {
			say("405 without Allow")
		}
	case a.status != 404:
		say("what has no operation (path known: %v) is answered %d", known, a.status)
	}
	if !ours || r.method == "HEAD" {
		return
	}
	if family(a) != "routing" {
		say("what has no operation is answered in the family of %s", family(a))
	}
	for name := range a.header {
		if strings.HasPrefix(name, "X-Openstack-Ironic-Api-") {
			say("what has no operation is answered with %s", name)
		}
	}
}

// family is which layer an error is of (contract.md §1.5).
func family(a answered) string {
	var outer struct {
		Message string `json:"error_message"`
	}
	var inner map[string]any
	if json.Unmarshal(a.body, &outer) != nil || json.Unmarshal([]byte(outer.Message), &inner) != nil {
		return "nobody"
	}
	if _, ok := inner["faultstring"]; ok {
		return "handlers"
	}
	return "routing"
}

// doubleEncoded is the shape of all of Ironic's errors: a string that holds JSON, because clients decode it twice.
func doubleEncoded(say func(string, ...any), a answered) {
	var outer map[string]string
	if err := json.Unmarshal(a.body, &outer); err != nil {
		say("error_message is no string: %s", a.body)
		return
	}
	var inner map[string]any
	if err := json.Unmarshal([]byte(outer["error_message"]), &inner); err != nil {
		say("error_message holds no JSON: %s", a.body)
		return
	}
	code := "Client"
	if a.status >= 500 {
		code = "Server"
	}
	if text, ok := inner["faultstring"].(string); ok {
		if inner["faultcode"] != code || text == "" || inner["debuginfo"] != nil {
			say("the fault is %v", inner)
		}
		return
	}
	if inner["code"] != float64(a.status) || inner["title"] != http.StatusText(a.status) {
		say("the error is %v", inner)
	}
}
