package conformance_test

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"testing"

	"cagenut/e2e/process"
)

// exchange is one request of the client, as it passed by.
type exchange struct {
	method, path, version string
	status                int
}

// passing is a proxy in front of a service that notes what passes.
type passing struct {
	mu  sync.Mutex
	all []exchange
}

func (p *passing) ServeHTTP(target http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		seen := &statusWriter{ResponseWriter: w}
		e := exchange{method: r.Method, path: r.URL.Path, version: r.Header.Get("X-OpenStack-Ironic-API-Version")}
		target.ServeHTTP(seen, r)
		e.status = seen.status
		p.mu.Lock()
		defer p.mu.Unlock()
		p.all = append(p.all, e)
	})
}

func (p *passing) exchanges() []exchange {
	p.mu.Lock()
	defer p.mu.Unlock()
	return slices.Clone(p.all)
}

type statusWriter struct {
	http.ResponseWriter
	status int
}

func (w *statusWriter) WriteHeader(status int) {
	w.status = status
	w.ResponseWriter.WriteHeader(status)
}

// The sixth test: the openstack client asks at its own newest version, is told 406, reads at GET /v1 what there is, and asks
// again, so that an abort succeeds against a service that is older than the client (contract.md §1.7).
func TestConformance6AnAbortByTheRealClientAgainstAnOlderService(t *testing.T) {
	path, err := exec.LookPath("openstack")
	switch {
	case err != nil && os.Getenv("CAGENUT_REQUIRE_PEERS") == "1":
		t.Fatal("openstack is not installed, and CAGENUT_REQUIRE_PEERS asks for it")
	case err != nil:
		t.Skip("openstack is not installed on this machine: number 6 is NOT tested")
	}
	s := pointedAt(t)
	if s == nil {
		s = ownService(t, "--api-max-version", "1.60")
	}
	s.discover(t)
	m := newSite(t, s, setting("DRIVER", "fake-hardware")).waiting(t)

	base, err := url.Parse(s.base)
	if err != nil {
		t.Fatal(err)
	}
	seen := &passing{}
	proxy := httptest.NewServer(seen.ServeHTTP(&httputil.ReverseProxy{Rewrite: func(r *httputil.ProxyRequest) { r.SetURL(base) }}))
	t.Cleanup(proxy.Close)
	ctx, cancel := context.WithTimeout(t.Context(), s.patience)
	defer cancel()
	cmd := exec.CommandContext(ctx, path, "baremetal", "node", "abort", m.uuid)
	cmd.Env = process.Environment(t, "OS_AUTH_TYPE=none", "OS_ENDPOINT="+proxy.URL)
	if s.user != "" {
		cmd.Env = process.Environment(t, "OS_AUTH_TYPE=http_basic", "OS_ENDPOINT="+proxy.URL, "OS_USERNAME="+s.user, "OS_PASSWORD="+s.password)
	}
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("openstack baremetal node abort: %v: %s", err, out)
	}
	m.aborted()

	all := seen.exchanges()
	if len(all) > 0 && all[0].status == http.StatusAccepted && !s.own {
		t.Skipf("this service is not older than the client: at %s it accepted at once, so the negotiation is NOT tested", all[0].version)
	}
	newest := fmt.Sprintf("1.%d", s.minor)
	if len(all) < 3 || all[0].status != http.StatusNotAcceptable || all[0].version == newest ||
		!slices.ContainsFunc(all[1:len(all)-1], func(e exchange) bool {
			return e.method == "GET" && strings.TrimSuffix(e.path, "/") == "/v1" && e.status == http.StatusOK
		}) {
		t.Errorf("it did not negotiate: %+v", all)
	}
	last := all[len(all)-1]
	if last.method != "PUT" || last.status != http.StatusAccepted || last.version != newest || last.path != m.path("states/provision") {
		t.Errorf("at last it asked %+v", last)
	}
}
