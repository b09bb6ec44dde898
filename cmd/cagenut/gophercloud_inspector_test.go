package main

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/gophercloud/gophercloud/v2"
	"github.com/gophercloud/gophercloud/v2/openstack/baremetal/v1/nodes"
	"github.com/gophercloud/gophercloud/v2/openstack/baremetalintrospection/v1/introspection"
	"github.com/gophercloud/gophercloud/v2/pagination"

	"cagenut/bmc/sim"
	"cagenut/node"
)

// The inspector's own API, by gophercloud's introspection client (contract.md §5): start, status, list, abort, data.
func gopherDrivesTheInspector(t *testing.T, g *gopher) {
	servers := g.servers(sim.Options{Servers: 2})
	s, other := servers[0], servers[1]
	n, second := g.enrol(s), g.enrol(other)
	start := func(ident string) error {
		return introspection.StartIntrospection(t.Context(), g.inspector, ident, introspection.StartOpts{}).ExtractErr()
	}
	status := func(ident string) *introspection.Introspection {
		t.Helper()
		r, err := introspection.GetIntrospectionStatus(t.Context(), g.inspector, ident).Extract()
		if err != nil {
			t.Fatal(err)
		}
		return r
	}

	t.Log("nothing yet")
	inspectorRefused(t, "an unknown node", start("nobody"), 404, "nobody")
	inspectorRefused(t, "the status of a node without a run", introspection.GetIntrospectionStatus(t.Context(), g.inspector, n.UUID).Err, 404, "Could not find node "+n.UUID+" in cache")
	inspectorRefused(t, "the data of a node without a run", introspection.GetIntrospectionData(t.Context(), g.inspector, n.UUID).Err, 404, "")
	inspectorRefused(t, "the abort of a node without a run", introspection.AbortIntrospection(t.Context(), g.inspector, n.UUID).ExtractErr(), 404, "")

	t.Log("started, and aborted at both sides at once")
	s.HoldReport()
	if err := start(n.Name); err != nil {
		t.Fatal(err)
	}
	g.waitFor(n.UUID, nodes.InspectWait)
	if r := status(n.UUID); r.UUID != n.UUID || r.Finished || r.State != "waiting" || r.Error != "" || r.StartedAt.IsZero() || !r.FinishedAt.IsZero() || len(r.Links) != 1 {
		t.Errorf("waiting, the run is %+v", r)
	}
	if err := introspection.AbortIntrospection(t.Context(), g.inspector, n.UUID).ExtractErr(); err != nil {
		t.Fatal(err)
	}
	if got := g.node(n.UUID); got.ProvisionState != string(nodes.InspectFail) || !strings.Contains(got.LastError, "aborted") {
		t.Errorf("aborted through the inspector, the node is %q: %q", got.ProvisionState, got.LastError)
	}
	if r := status(n.UUID); !r.Finished || r.State != "error" || r.Error != "Canceled by operator" || r.FinishedAt.Before(r.StartedAt) {
		t.Errorf("aborted, the run is %+v", r)
	}
	if err := introspection.AbortIntrospection(t.Context(), g.inspector, n.UUID).ExtractErr(); err == nil {
		t.Error("a second abort was accepted")
	}
	inspectorRefused(t, "the data of an aborted run", introspection.GetIntrospectionData(t.Context(), g.inspector, n.UUID).Err, 404, "")

	t.Log("started at the other door, and aborted there")
	other.HoldReport()
	g.verb(second.UUID, nodes.TargetInspect)
	g.waitFor(second.UUID, nodes.InspectWait)
	g.verb(second.UUID, nodes.TargetAbort)
	if r := status(second.Name); !r.Finished || r.Error != "Canceled by operator" {
		t.Errorf("aborted over REST, the run is %+v", r)
	}

	t.Log("all runs, newest first")
	if list := runs(t, g.inspector, introspection.ListIntrospectionsOpts{}); !slices.Equal(list, []string{second.UUID, n.UUID}) {
		t.Errorf("the runs are of %v", list)
	}
	if list := runs(t, g.inspector, introspection.ListIntrospectionsOpts{Limit: 1, Marker: second.UUID}); !slices.Equal(list, []string{n.UUID}) {
		t.Errorf("after the marker are %v", list)
	}
	_, err := introspection.ListIntrospections(g.inspector, introspection.ListIntrospectionsOpts{Limit: 1001}).AllPages(t.Context())
	inspectorRefused(t, "too long a page", err, 400, "")
	_, err = introspection.ListIntrospections(g.inspector, introspection.ListIntrospectionsOpts{Marker: node.NewUUID()}).AllPages(t.Context())
	inspectorRefused(t, "a marker that nobody has", err, 404, "")

	t.Log("again, to the end")
	if err := start(n.UUID); err != nil {
		t.Fatal(err)
	}
	g.waitFor(n.UUID, nodes.InspectWait)
	s.ReleaseReport()
	g.waitFor(n.UUID, nodes.Manageable)
	if r := status(n.UUID); !r.Finished || r.State != "finished" || r.Error != "" {
		t.Errorf("finished, the run is %+v", r)
	}
	data, err := introspection.GetIntrospectionData(t.Context(), g.inspector, n.UUID).Extract()
	if err != nil {
		t.Fatal(err)
	}
	want := reportOf(t, s)
	if diff := cmp.Diff(want.Inventory, data.Inventory); diff != "" {
		t.Errorf("the inventory (-posted +stored):\n%s", diff)
	}
	if diff := cmp.Diff(want.RootDisk, data.RootDisk); diff != "" || data.BootInterface != want.BootInterface || !cmp.Equal(data.RawLLDP, want.RawLLDP) || !slices.Contains(data.MACs, s.BootMAC) {
		t.Errorf("the data are %+v\n%s", data, diff)
	}

	t.Log("what was reported, applied once more with a rule of now")
	rule := map[string]any{"actions": []map[string]any{{"action": "set-attribute", "path": "/extra/applied", "value": "{data[inventory][hostname]}"}}}
	var made struct{ UUID string }
	if _, err := g.inspector.Post(t.Context(), g.inspector.ServiceURL("rules"), rule, &made, &gophercloud.RequestOpts{OkCodes: []int{201}}); err != nil {
		t.Fatal(err)
	}
	if err := introspection.ReApplyIntrospection(t.Context(), g.inspector, n.UUID).ExtractErr(); err != nil {
		t.Fatal(err)
	}
	applied := g.wait(n.UUID, "the report applied once more", func(n *nodes.Node) bool { return n.Extra["applied"] != nil })
	if applied.ProvisionState != string(nodes.Manageable) {
		t.Errorf("applied once more, the node is %q", applied.ProvisionState)
	}
	if r := status(n.UUID); !r.Finished || r.State != "finished" || r.Error != "" {
		t.Errorf("applied once more, the run is %+v", r)
	}
	if _, err := g.inspector.Delete(t.Context(), g.inspector.ServiceURL("rules", made.UUID), nil); err != nil {
		t.Error(err)
	}
	inspectorRefused(t, "what an aborted run reported", introspection.ReApplyIntrospection(t.Context(), g.inspector, second.UUID).ExtractErr(), 400, "aborted")
}

// runs are the nodes of the runs in a list.
func runs(t *testing.T, c *gophercloud.ServiceClient, o introspection.ListIntrospectionsOpts) (of []string) {
	t.Helper()
	err := introspection.ListIntrospections(c, o).EachPage(t.Context(), func(_ context.Context, p pagination.Page) (bool, error) {
		list, err := introspection.ExtractIntrospections(p)
		for _, r := range list {
			of = append(of, r.UUID)
		}
		return true, err
	})
	if err != nil {
		t.Fatal(err)
	}
	return of
}

// inspectorRefused checks a refusal in the inspector's shape, which is encoded once (contract.md §5.1).
func inspectorRefused(t *testing.T, what string, err error, status int, words string) {
	t.Helper()
	var unexpected gophercloud.ErrUnexpectedResponseCode
	if !errors.As(err, &unexpected) {
		t.Errorf("%s: %v", what, err)
		return
	}
	if body := string(unexpected.Body); unexpected.Actual != status || !strings.HasPrefix(body, `{"error":{"message":"`) || !strings.Contains(body, words) {
		t.Errorf("%s: %d %s, want %d and %q", what, unexpected.Actual, body, status, words)
	}
}
