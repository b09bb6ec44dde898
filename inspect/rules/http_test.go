package rules_test

import (
	"net/http"
	"net/http/httptest"
	"testing"

	"cagenut/inspect/rules"
)

// Headers, which may hold a token, never go to another host, nor out of TLS.
func TestRedirectsThatAreFollowed(t *testing.T) {
	for _, c := range []struct {
		way     []string // from the first request to the one that is asked about
		refused string
	}{
		{[]string{"https://a/x", "https://a/y"}, ""},
		{[]string{"http://a/x", "http://a/y"}, ""},
		{[]string{"http://a/x", "https://a/x"}, ""},
		{[]string{"https://a/x", "http://a/x"}, "it redirects from https to http"},
		{[]string{"http://a/x", "https://a/x", "http://a/y"}, "it redirects from https to http"},
		{[]string{"https://a/x", "https://b/x"}, "it redirects too often, or to another host"},
		{[]string{"https://a/1", "https://a/2", "https://a/3", "https://a/4", "https://a/5"}, "it redirects too often, or to another host"},
	} {
		var way []*http.Request
		for _, u := range c.way {
			way = append(way, httptest.NewRequest(http.MethodGet, u, nil))
		}
		got := ""
		if err := rules.MayFollow(way[len(way)-1], way[:len(way)-1]); err != nil {
			got = err.Error()
		}
		if got != c.refused {
			t.Errorf("%s: %q", c.way, got)
		}
	}
}
