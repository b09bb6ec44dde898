package introspection_test

import (
	"net/http"
	"testing"

	"github.com/gophercloud/gophercloud/v2"
	"github.com/gophercloud/gophercloud/v2/openstack/baremetalintrospection/noauth"
	client "github.com/gophercloud/gophercloud/v2/openstack/baremetalintrospection/v1/introspection"

	"cagenut/node"
)

// A client that nobody wrote for this server drives a run from start to abort.
func TestGophercloud(t *testing.T) {
	r := newRack()
	base := serve(t, r, nil)
	for _, endpoint := range []string{base + "/v1", base + "/v1/"} {
		c, err := noauth.NewBareMetalIntrospectionNoAuth(noauth.EndpointOpts{IronicInspectorEndpoint: endpoint})
		if err != nil {
			t.Fatal(err)
		}
		if err := client.StartIntrospection(t.Context(), c, one, client.StartOpts{}).ExtractErr(); err != nil {
			t.Fatalf("start: %v", err)
		}
		status := func() *client.Introspection {
			s, err := client.GetIntrospectionStatus(t.Context(), c, one).Extract()
			if err != nil {
				t.Fatalf("status: %v", err)
			}
			return s
		}
		if s := status(); s.UUID != one || s.Finished || s.State != "starting" || s.StartedAt.Unix() != began.Unix() || !s.FinishedAt.IsZero() {
			t.Errorf("got %+v", s)
		}
		if err := client.AbortIntrospection(t.Context(), c, one).ExtractErr(); !gophercloud.ResponseCodeIs(err, http.StatusConflict) {
			t.Errorf("an abort while starting: %v", err)
		}
		r.wait(one)
		if err := client.AbortIntrospection(t.Context(), c, one).ExtractErr(); err != nil {
			t.Errorf("abort: %v", err)
		}
		if s := status(); !s.Finished || s.State != "error" || s.Error != "Canceled by operator" || s.FinishedAt.IsZero() {
			t.Errorf("got %+v", s)
		}
		if err := client.AbortIntrospection(t.Context(), c, one).ExtractErr(); !gophercloud.ResponseCodeIs(err, http.StatusBadRequest) {
			t.Errorf("a second abort: %v", err)
		}
		checkReads(t, c)
	}
}

func checkReads(t *testing.T, c *gophercloud.ServiceClient) {
	t.Helper()
	pages, err := client.ListIntrospections(c, client.ListIntrospectionsOpts{Limit: 10}).AllPages(t.Context())
	if err != nil {
		t.Fatalf("list: %v", err)
	}
	all, err := client.ExtractIntrospections(pages)
	if err != nil || len(all) != 2 || all[0].UUID != one || all[1].UUID != two {
		t.Errorf("got %+v, %v", all, err)
	}
	data, err := client.GetIntrospectionData(t.Context(), c, one).Extract()
	if err != nil || data.Inventory.Hostname != "ramdisk" || data.Inventory.CPU.Count != 8 || len(data.MACs) != 1 {
		t.Errorf("got %+v, %v", data, err)
	}
	if err := client.GetIntrospectionData(t.Context(), c, two).Err; !gophercloud.ResponseCodeIs(err, http.StatusNotFound) {
		t.Errorf("data that is not there: %v", err)
	}
}

// wait moves the latest run of a node from starting to waiting.
func (r *rack) wait(uuid string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for i := range r.attempts {
		if r.attempts[i].NodeUUID == uuid && r.attempts[i].State == node.RunStarting {
			r.attempts[i].State = node.RunWaiting
		}
	}
}
