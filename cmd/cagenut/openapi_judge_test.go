package main

import (
	"net/http"
	"strings"
	"testing"
)

// A judge that finds nothing is worth something only if it would find what is wrong.
func TestTheJudgeFindsWhatIsWrong(t *testing.T) {
	a := serveForTest(t, false)
	j := judge{described: map[int]*description{newestMinor: a.described(newestMinor)}}
	right := func() (sentRequest, answered) {
		return sentRequest{method: "GET", path: "/v1/nodes", version: "1.96"}, answered{status: 200, body: []byte(`{"nodes":[]}`), header: http.Header{
			"Content-Type": {"application/json"}, "X-Openstack-Ironic-Api-Version": {"1.96"}, "X-Openstack-Ironic-Api-Minimum-Version": {"1.1"}, "X-Openstack-Ironic-Api-Maximum-Version": {"1.96"},
		}}
	}
	fault := func(status int, text string) func(*sentRequest, *answered) {
		return func(_ *sentRequest, a *answered) { a.status, a.body = status, []byte(text) }
	}
	for _, tc := range []struct {
		name    string
		change  func(*sentRequest, *answered)
		finding string // "" for none
	}{
		{"nothing wrong", func(*sentRequest, *answered) {}, ""},
		{"a status that is not described", fault(500, `{"error_message":"{\"faultcode\":\"Server\",\"faultstring\":\"x\",\"debuginfo\":null}"}`), "status 500 is not in the document"},
		{"a key that is not described", fault(200, `{"nodes":[],"more":1}`), "the body is not what the document says"},
		{"a key that is missing", fault(200, `{}`), "the body is not what the document says"},
		{"a node without links", fault(200, `{"nodes":[{"uuid":"6a6d0a7e-1111-4a51-9a3c-0c1f2d3e4f50"}]}`), "the body is not what the document says"},
		{"no JSON", fault(200, `{`), "the body is no JSON"},
		{"a cause in an error", fault(400, `{"error_message":"{\"faultcode\":\"Client\",\"faultstring\":\"sql: no rows\",\"debuginfo\":null}"}`), `"sql:" of the inside`},
		{"an error that is encoded once", fault(400, `{"error_message":{"faultstring":"x"}}`), "error_message is no string"},
		{"an error of the wrong side", fault(400, `{"error_message":"{\"faultcode\":\"Server\",\"faultstring\":\"x\",\"debuginfo\":null}"}`), "the fault is"},
		{"another type", func(_ *sentRequest, a *answered) { a.header.Set("Content-Type", "text/plain") }, `Content-Type "text/plain"`},
		{"no version", func(_ *sentRequest, a *answered) { a.header.Del("X-OpenStack-Ironic-API-Version") }, "X-OpenStack-Ironic-API-Version"},
		{"an unknown parameter", func(r *sentRequest, _ *answered) { r.query = "bogus=1" }, "does not allow the query"},
		{"a bad limit", func(r *sentRequest, _ *answered) { r.query = "limit=0" }, "does not allow the query"},
		{"a good limit", func(r *sentRequest, _ *answered) { r.query = "limit=5&fields=uuid,NAME&maintenance=yes" }, ""},
		{"a version that is not served", func(r *sentRequest, _ *answered) { r.version = "1.97" }, "a version that is not served is answered 200"},
		{"an unknown path", func(r *sentRequest, _ *answered) { r.path = "/v1/nonsense" }, "what has no operation"},
		{"a method that is not there", func(r *sentRequest, _ *answered) { r.method = "DELETE" }, "what has no operation"},
		{"a new node that is none", func(r *sentRequest, a *answered) {
			r.method, r.body, a.status = "POST", []byte(`{"bogus":1}`), 201
		}, "does not allow the body"},
		{"no Location", func(r *sentRequest, a *answered) {
			r.method, r.path, r.body, a.status, a.body = "PUT", "/v1/nodes/n1/states/provision", []byte(`{"target":"abort"}`), 202, nil
			a.header.Del("Content-Type")
		}, "no Location"},
		{"a body where none belongs", func(r *sentRequest, a *answered) { r.method, r.path, a.status = "DELETE", "/v1/nodes/n1", 204 }, "an answer without a body has"},
		{"a body too deep that is taken", func(r *sentRequest, _ *answered) { r.body = []byte(strings.Repeat("[", 26) + strings.Repeat("]", 26)) }, "a body that nobody shall read"},
		{"brackets in a text", func(r *sentRequest, _ *answered) { r.body = []byte(`["` + strings.Repeat(`[\"`, 30) + `"]`) }, ""},
	} {
		t.Run(tc.name, func(t *testing.T) {
			r, got := right()
			tc.change(&r, &got)
			all := strings.Join(j.complaints(r, got), "; ")
			if (all == "") != (tc.finding == "") || !strings.Contains(all, tc.finding) {
				t.Errorf("it says: %s", all)
			}
		})
	}
}
