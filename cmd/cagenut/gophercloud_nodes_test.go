package main

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/gophercloud/gophercloud/v2"
	"github.com/gophercloud/gophercloud/v2/openstack/baremetal/v1/nodes"
	"github.com/gophercloud/gophercloud/v2/pagination"

	"cagenut/node"
)

func gopherEnrolsANode(t *testing.T, g *gopher) {
	yes := true
	want := nodes.CreateOpts{
		Name: "metal3~r1-u01", UUID: node.NewUUID(), Driver: "redfish", Owner: "rack-team", ResourceClass: "gold", ConductorGroup: "hall-1",
		DriverInfo: map[string]any{"redfish_address": "http://127.0.0.1:9", "redfish_username": "root", "redfish_password": "not-a-real-one"},
		Properties: map[string]any{"cpu_arch": "x86_64", "capabilities": "boot_mode:uefi"}, Extra: map[string]any{"rack": "R1", "rack_unit": float64(1)},
		InspectInterface: "agent", AutomatedClean: &yes, DisablePowerOff: &yes, NetworkData: map[string]any{"links": []any{}},
	}
	t.Cleanup(func() { g.remove(want.UUID) })
	created := nodes.Create(t.Context(), g.ironic, want)
	n, err := created.Extract()
	if err != nil {
		t.Fatal(err)
	}
	if location := created.Header.Get("Location"); location != g.base+"/v1/nodes/"+want.UUID {
		t.Errorf("Location %q", location)
	}
	if got := n.DriverInfo["redfish_password"]; got != "******" {
		t.Errorf("the password is answered as %v", got)
	}
	got := nodes.CreateOpts{
		Name: n.Name, UUID: n.UUID, Driver: n.Driver, Owner: n.Owner, ResourceClass: n.ResourceClass, ConductorGroup: n.ConductorGroup, DriverInfo: want.DriverInfo,
		Properties: n.Properties, Extra: n.Extra, InspectInterface: n.InspectInterface, AutomatedClean: n.AutomatedClean, DisablePowerOff: &n.DisablePowerOff,
		NetworkData: n.NetworkData,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("what was sent is not what was stored (-sent +stored):\n%s", diff)
	}
	if n.ProvisionState != string(nodes.Enroll) || n.TargetProvisionState != "" || n.PowerState != "" || n.LastError != "" || n.Reservation != "" || n.Maintenance ||
		n.CreatedAt.IsZero() || n.InspectionStartedAt != nil || n.InspectionFinishedAt != nil || n.Conductor != g.conductor.Host || n.FirmwareInterface == "" ||
		len(n.Links) != 2 || len(n.Ports) != 2 || len(n.States) != 2 || len(n.PortGroups) != 2 || len(n.Volume) != 2 {
		t.Errorf("the new node is %+v", n)
	}
	for _, ident := range []string{n.UUID, n.Name} {
		if diff := cmp.Diff(n, g.node(ident)); diff != "" {
			t.Errorf("by %s it differs (-created +read):\n%s", ident, diff)
		}
	}

	create := func(o nodes.CreateOpts) error {
		if o.Driver == "" {
			o.Driver = "fake-hardware"
		}
		return nodes.Create(t.Context(), g.ironic, o).Err
	}
	refused(t, "a second node of the name", create(nodes.CreateOpts{Name: want.Name}), 409, "A node with name metal3~r1-u01 already exists.")
	refused(t, "a second node of the UUID", create(nodes.CreateOpts{UUID: want.UUID}), 409, "A node with UUID "+want.UUID+" already exists.")
	refused(t, "a name with blanks", create(nodes.CreateOpts{Name: "bad name!"}), 400, "Cannot create node with invalid name 'bad name!'")
	refused(t, "a reserved name", create(nodes.CreateOpts{Name: "detail"}), 400, `The word "detail" is reserved`)
	refused(t, "a UUID that is none", create(nodes.CreateOpts{UUID: "notauuid"}), 400, "Expected UUID for uuid: notauuid")
	refused(t, "an unknown driver", create(nodes.CreateOpts{Driver: "nosuch"}), 400, "No valid host was found.")
	refused(t, "an interface that the driver has not", create(nodes.CreateOpts{InspectInterface: "nosuch"}), 400, "nosuch")
	refused(t, "a node without a driver", nodes.Create(t.Context(), g.ironic, nodes.CreateOpts{Name: "x"}).Err, 400, "'driver' is a required property")
	refused(t, "a field that is newer than the version", nodes.Create(t.Context(), g.at("1.94"), nodes.CreateOpts{Driver: "fake-hardware", DisablePowerOff: &yes}).Err, 406, "Request not acceptable.")
	if names := g.names(nodes.ListOpts{}); !slices.Equal(names, []string{want.Name}) {
		t.Errorf("what was refused is there: %v", names)
	}
}

// pages goes through a list as gophercloud's pager does, to its end.
func pages(t *testing.T, pager pagination.Pager) (sizes []int, all []nodes.Node) {
	t.Helper()
	err := pager.EachPage(t.Context(), func(_ context.Context, p pagination.Page) (bool, error) {
		list, err := nodes.ExtractNodes(p)
		sizes, all = append(sizes, len(list)), append(all, list...)
		return len(sizes) < 20, err
	})
	if err != nil {
		t.Fatal(err)
	}
	return sizes, all
}

func (g *gopher) names(o nodes.ListOpts) []string {
	g.t.Helper()
	_, all := pages(g.t, nodes.List(g.ironic, o))
	names := make([]string, len(all))
	for i, n := range all {
		names[i] = n.Name
	}
	return names
}

// Whatever chooses and sorts a list holds on its next pages too (G33).
func gopherPagesThroughNodes(t *testing.T, g *gopher) {
	var gold, all []string
	for i := range 7 {
		o := nodes.CreateOpts{Name: fmt.Sprintf("r1-u0%d", i), Driver: "fake-hardware", ResourceClass: "gold", Owner: "rack-team"}
		if i%3 == 2 {
			o.ResourceClass, o.Owner = "tin", ""
		}
		g.create(o)
		all = append(all, o.Name)
		if o.ResourceClass == "gold" {
			gold = append(gold, o.Name)
		}
	}
	sizes, list := pages(t, nodes.List(g.ironic, nodes.ListOpts{Limit: 2}))
	if !slices.Equal(sizes, []int{2, 2, 2, 1}) || list[0].Driver != "" {
		t.Errorf("pages of %v, the first node is %+v", sizes, list[0])
	}
	sizes, list = pages(t, nodes.ListDetail(g.ironic, nodes.ListOpts{Limit: 2}))
	if !slices.Equal(sizes, []int{2, 2, 2, 1}) || list[6].Driver != "fake-hardware" || list[6].CreatedAt.IsZero() {
		t.Errorf("pages of %v, the last node is %+v", sizes, list[6])
	}
	backwards := slices.Clone(gold)
	slices.Reverse(backwards)
	for what, c := range map[string]struct {
		o    nodes.ListOpts
		want []string
	}{
		"all":                           {nodes.ListOpts{Limit: 2}, all},
		"of a resource class":           {nodes.ListOpts{Limit: 2, ResourceClass: "gold"}, gold},
		"of an owner":                   {nodes.ListOpts{Limit: 2, Owner: "rack-team"}, gold},
		"of a state and driver":         {nodes.ListOpts{Limit: 2, ProvisionState: nodes.Enroll, Driver: "fake-hardware"}, all},
		"of two filters, backwards":     {nodes.ListOpts{Limit: 2, ResourceClass: "gold", Owner: "rack-team", SortKey: "name", SortDir: "desc"}, backwards},
		"their names only":              {nodes.ListOpts{Limit: 2, ResourceClass: "gold", Fields: []string{"name"}, SortKey: "name"}, gold},
		"after a marker":                {nodes.ListOpts{Limit: 2, Marker: g.node("r1-u04").UUID}, all[5:]},
		"of another state":              {nodes.ListOpts{Limit: 2, ProvisionState: nodes.InspectWait}, nil},
		"of no group, in maintenance":   {nodes.ListOpts{Limit: 2, Maintenance: true}, nil},
		"of a conductor group":          {nodes.ListOpts{Limit: 2, ConductorGroup: "hall-1"}, nil},
		"that have an instance":         {nodes.ListOpts{Limit: 2, Associated: true}, nil},
		"of a fault":                    {nodes.ListOpts{Limit: 2, Fault: "power failure"}, nil},
		"of an instance":                {nodes.ListOpts{Limit: 2, InstanceUUID: node.NewUUID()}, nil},
		"more than there are to a page": {nodes.ListOpts{Limit: 1000}, all},
	} {
		if got := g.names(c.o); !slices.Equal(got, c.want) {
			t.Errorf("%s: %v, want %v", what, got, c.want)
		}
	}
	refusals := map[string]struct {
		o     nodes.ListOpts
		words string
	}{
		"a negative limit":        {nodes.ListOpts{Limit: -1}, "Limit must be positive"},
		"a marker that is none":   {nodes.ListOpts{Marker: "zzz"}, "Expected UUID for marker: zzz"},
		"a sort key that is none": {nodes.ListOpts{SortKey: "bogus"}, `The sort_key value "bogus" is an invalid field for sorting`},
		"a direction":             {nodes.ListOpts{SortDir: "up"}, "Invalid sort direction: up. Acceptable values are 'asc' or 'desc'"},
		"a field that is none":    {nodes.ListOpts{Fields: []string{"bogus"}}, "Field bogus is not a valid field."},
		"a state that is none":    {nodes.ListOpts{ProvisionState: "bogus"}, `Provision state "bogus" is not valid`},
		// There is no such filter in Ironic either, whatever gophercloud offers (contract.md §3.2).
		"the health": {nodes.ListOpts{Health: "OK"}, "Unexpected arguments: health"},
	}
	for what, c := range refusals {
		_, err := nodes.List(g.ironic, c.o).AllPages(t.Context())
		refused(t, what, err, 400, c.words)
	}
	_, err := nodes.List(g.ironic, nodes.ListOpts{Marker: node.NewUUID()}).AllPages(t.Context())
	refused(t, "a marker that nobody has", err, 404, "could not be found")
	_, err = nodes.List(g.at("1.20"), nodes.ListOpts{ResourceClass: "gold"}).AllPages(t.Context())
	refused(t, "a filter that is newer than the version", err, 406, "1.21")
}

// Older gophercloud looks for nodes_links and ignores next, newer the other way round: both lead to the same place.
func nextAndNodesLinksLeadToTheSamePage(t *testing.T, g *gopher) {
	for i := range 3 {
		g.create(nodes.CreateOpts{Name: fmt.Sprintf("r1-u0%d", i), Driver: "fake-hardware"})
	}
	for _, path := range []string{"nodes?limit=2&driver=fake-hardware", "nodes/detail?limit=2&driver=fake-hardware"} {
		doc := g.read(path)
		links, _ := doc["nodes_links"].([]any)
		if len(links) != 1 {
			t.Fatalf("%s: nodes_links is %v", path, doc["nodes_links"])
		}
		link := links[0].(map[string]any)
		if link["rel"] != "next" || link["href"] != doc["next"] || !strings.HasPrefix(fmt.Sprint(doc["next"]), g.base+"/v1/nodes") {
			t.Errorf("%s: next is %v, nodes_links %v", path, doc["next"], links)
		}
	}
}

func gopherPatchesANode(t *testing.T, g *gopher) {
	n := g.create(nodes.CreateOpts{
		Name: "r1-u01", Driver: "fake-hardware", Properties: map[string]any{"cpus": 4}, Extra: map[string]any{"rack": "R1", "note": "old"},
	})
	patch := func(o ...nodes.Patch) (*nodes.Node, error) {
		return nodes.Update(t.Context(), g.ironic, n.UUID, o).Extract()
	}
	op := func(op nodes.UpdateOp, path string, value any) nodes.Patch {
		return nodes.UpdateOperation{Op: op, Path: path, Value: value}
	}
	instance := node.NewUUID()
	got, err := patch(
		op(nodes.ReplaceOp, "/name", "r1-u02"), op(nodes.AddOp, "/properties/capabilities", "boot_mode:uefi"), op(nodes.ReplaceOp, "/properties/cpus", 8),
		op(nodes.RemoveOp, "/extra/note", nil), op(nodes.AddOp, "/description", "second from below"), op(nodes.AddOp, "/instance_uuid", instance),
		op(nodes.ReplaceOp, "/inspect_interface", "agent"), op(nodes.AddOp, "/automated_clean", true), op(nodes.AddOp, "/instance_info/image", map[string]any{"url": "http://192.0.2.1/i"}),
	)
	if err != nil {
		t.Fatal(err)
	}
	want := *n
	want.Name, want.Description, want.InstanceUUID, want.InspectInterface = "r1-u02", "second from below", instance, "agent"
	want.Properties, want.Extra = map[string]any{"cpus": float64(8), "capabilities": "boot_mode:uefi"}, map[string]any{"rack": "R1"}
	want.InstanceInfo = map[string]any{"image": map[string]any{"url": "http://192.0.2.1/i"}}
	yes := true
	want.AutomatedClean = &yes
	want.UpdatedAt = got.UpdatedAt
	if diff := cmp.Diff(&want, got); diff != "" || got.UpdatedAt.IsZero() {
		t.Errorf("updated at %s (-want +got):\n%s", got.UpdatedAt, diff)
	}
	if diff := cmp.Diff(got, g.node(n.UUID)); diff != "" {
		t.Errorf("the answer is not what is stored (-answer +stored):\n%s", diff)
	}

	stored := g.node(n.UUID)
	for what, c := range map[string]struct {
		patch nodes.Patch
		words string
	}{
		"the UUID":               {op(nodes.ReplaceOp, "/uuid", node.NewUUID()), "Cannot patch /uuid. Only the following can be updated: "},
		"the state":              {op(nodes.ReplaceOp, "/provision_state", "active"), "Cannot patch /provision_state."},
		"what is not there":      {op(nodes.RemoveOp, "/extra/nope", nil), "can't remove a non-existent object 'nope'"},
		"the driver away":        {op(nodes.RemoveOp, "/driver", nil), "'driver' is a required property"},
		"the driver to none":     {op(nodes.ReplaceOp, "/driver", "nosuch"), "nosuch"},
		"an interface to none":   {op(nodes.ReplaceOp, "/inspect_interface", "nosuch"), "nosuch"},
		"an operation unknown":   {op("test", "/extra/rack", "R1"), "Schema error for patch"},
		"a path without a slash": {op(nodes.AddOp, "extra/x", "y"), "Schema error for patch"},
		"a name with blanks":     {op(nodes.ReplaceOp, "/name", "bad name!"), "bad name!"},
	} {
		// The first operation would be fine: all of them are done or none.
		_, err := patch(op(nodes.AddOp, "/extra/half", "done"), c.patch)
		refused(t, what, err, 400, c.words)
	}
	if diff := cmp.Diff(stored, g.node(n.UUID)); diff != "" {
		t.Errorf("refused patches changed the node (-before +after):\n%s", diff)
	}
	if _, err := patch(); err != nil {
		t.Errorf("a patch of nothing: %v", err)
	}
	got, err = patch(op(nodes.RemoveOp, "/name", nil), op(nodes.RemoveOp, "/instance_uuid", nil), op(nodes.RemoveOp, "/inspect_interface", nil), op(nodes.RemoveOp, "/properties/capabilities", nil))
	if err != nil || got.Name != "" || got.InstanceUUID != "" || got.InspectInterface != n.InspectInterface || got.Properties["capabilities"] != nil {
		t.Errorf("removed, the node is %+v, %v", got, err)
	}
	other := g.create(nodes.CreateOpts{Name: "taken", Driver: "fake-hardware"})
	_, err = patch(op(nodes.AddOp, "/name", other.Name))
	refused(t, "a name that another has", err, 409, "A node with name taken already exists.")
	refused(t, "a node that is not there", nodes.Update(t.Context(), g.ironic, "nobody", nodes.UpdateOpts{op(nodes.AddOp, "/extra/x", 1)}).Err, 404, "Node nobody could not be found.")
}

func gopherDeletesANode(t *testing.T, g *gopher) {
	n := g.create(nodes.CreateOpts{Name: "r1-u01", Driver: "fake-hardware"})
	if err := nodes.Delete(t.Context(), g.ironic, n.Name).ExtractErr(); err != nil {
		t.Fatal(err)
	}
	missing := "Node " + n.UUID + " could not be found."
	refused(t, "a deleted node", nodes.Get(t.Context(), g.ironic, n.UUID).Err, 404, missing)
	refused(t, "a second delete", nodes.Delete(t.Context(), g.ironic, n.UUID).ExtractErr(), 404, missing)
	if err := nodes.Get(t.Context(), g.ironic, n.UUID).Err; !gophercloud.ResponseCodeIs(err, 404) {
		t.Errorf("ResponseCodeIs does not know it: %v", err)
	}
	if names := g.names(nodes.ListOpts{}); len(names) != 0 {
		t.Errorf("left: %v", names)
	}
}
