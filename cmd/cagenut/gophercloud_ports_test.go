package main

import (
	"context"
	"fmt"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/gophercloud/gophercloud/v2/openstack/baremetal/v1/nodes"
	"github.com/gophercloud/gophercloud/v2/openstack/baremetal/v1/ports"
	"github.com/gophercloud/gophercloud/v2/pagination"

	"cagenut/node"
)

func gopherKeepsPorts(t *testing.T, g *gopher) {
	n, other := g.create(nodes.CreateOpts{Name: "r1-u01", Driver: "fake-hardware"}), g.create(nodes.CreateOpts{Name: "r1-u02", Driver: "fake-hardware"})
	no := false
	link := map[string]any{"switch_id": "02:00:5e:00:01:01", "port_id": "Ethernet1/1", "switch_info": "sw-r1-a"}
	created := ports.Create(t.Context(), g.ironic, ports.CreateOpts{
		NodeUUID: n.UUID, Address: "52:54:00:AA:BB:01", PXEEnabled: &no, PhysicalNetwork: "inspection", LocalLinkConnection: link, Extra: map[string]any{"cable": "blue"}, IsSmartNIC: &no,
	})
	p, err := created.Extract()
	if err != nil {
		t.Fatal(err)
	}
	if p.Address != "52:54:00:aa:bb:01" || p.NodeUUID != n.UUID || p.PXEEnabled || p.PhysicalNetwork != "inspection" || p.IsSmartNIC || p.PortGroupUUID != "" ||
		!cmp.Equal(p.LocalLinkConnection, link) || p.Extra["cable"] != "blue" || p.CreatedAt.IsZero() || len(p.Links) != 2 {
		t.Errorf("the new port is %+v", p)
	}
	if location := created.Header.Get("Location"); location != g.base+"/v1/ports/"+p.UUID {
		t.Errorf("Location %q", location)
	}
	if got, err := ports.Get(t.Context(), g.ironic, p.UUID).Extract(); err != nil || !cmp.Equal(p, got) {
		t.Errorf("read, it is %+v, %v", got, err)
	}

	t.Log("changed")
	got, err := ports.Update(t.Context(), g.ironic, p.UUID, ports.UpdateOpts{
		ports.UpdateOperation{Op: ports.ReplaceOp, Path: "/address", Value: "52:54:00:AA:BB:02"}, ports.UpdateOperation{Op: ports.ReplaceOp, Path: "/pxe_enabled", Value: true},
		ports.UpdateOperation{Op: ports.AddOp, Path: "/extra/length", Value: 3}, ports.UpdateOperation{Op: ports.RemoveOp, Path: "/physical_network"},
		ports.UpdateOperation{Op: ports.ReplaceOp, Path: "/node_uuid", Value: other.UUID},
	}).Extract()
	if err != nil || got.Address != "52:54:00:aa:bb:02" || !got.PXEEnabled || got.Extra["length"] != float64(3) || got.PhysicalNetwork != "" || got.NodeUUID != other.UUID || got.UpdatedAt.IsZero() {
		t.Errorf("changed, it is %+v, %v", got, err)
	}

	t.Log("refused")
	create := func(o ports.CreateOpts) error { return ports.Create(t.Context(), g.ironic, o).Err }
	update := func(ident string, o ports.UpdateOperation) error {
		return ports.Update(t.Context(), g.ironic, ident, ports.UpdateOpts{o}).Err
	}
	refused(t, "a second port of the address", create(ports.CreateOpts{NodeUUID: n.UUID, Address: "52:54:00:AA:BB:02"}), 409, "A port with MAC address 52:54:00:aa:bb:02 already exists.")
	refused(t, "an address that is none", create(ports.CreateOpts{NodeUUID: n.UUID, Address: "zz"}), 400, "Expected valid MAC address for address: zz")
	refused(t, "a port of an unknown node", create(ports.CreateOpts{NodeUUID: node.NewUUID(), Address: "52:54:00:aa:bb:03"}), 400, "could not be found")
	refused(t, "a port without an address", create(ports.CreateOpts{NodeUUID: n.UUID}), 400, "'address' is a required property")
	refused(t, "a port without a node", create(ports.CreateOpts{Address: "52:54:00:aa:bb:03"}), 400, "node_uuid")
	refused(t, "another UUID", update(p.UUID, ports.UpdateOperation{Op: ports.ReplaceOp, Path: "/uuid", Value: node.NewUUID()}), 400, "Cannot patch /uuid.")
	refused(t, "a port that is not there", update(node.NewUUID(), ports.UpdateOperation{Op: ports.AddOp, Path: "/extra/x", Value: "y"}), 404, "could not be found")
	refused(t, "a port by its address", ports.Get(t.Context(), g.ironic, p.Address).Err, 400, "Expected UUID or name for port_ident: "+p.Address)

	t.Log("deleted")
	if err := ports.Delete(t.Context(), g.ironic, p.UUID).ExtractErr(); err != nil {
		t.Error(err)
	}
	refused(t, "a deleted port", ports.Get(t.Context(), g.ironic, p.UUID).Err, 404, "Port "+p.UUID+" could not be found.")
	refused(t, "a second delete", ports.Delete(t.Context(), g.ironic, p.UUID).ExtractErr(), 404, "Port "+p.UUID+" could not be found.")
}

// addresses goes through a list of ports to its end.
func addresses(t *testing.T, pager pagination.Pager) (sizes []int, all []string) {
	t.Helper()
	err := pager.EachPage(t.Context(), func(_ context.Context, p pagination.Page) (bool, error) {
		list, err := ports.ExtractPorts(p)
		sizes = append(sizes, len(list))
		for _, one := range list {
			all = append(all, one.Address)
		}
		return len(sizes) < 20, err
	})
	if err != nil {
		t.Fatal(err)
	}
	return sizes, all
}

func gopherPagesThroughPorts(t *testing.T, g *gopher) {
	n, other := g.create(nodes.CreateOpts{Name: "r1-u01", Driver: "fake-hardware"}), g.create(nodes.CreateOpts{Name: "r1-u02", Driver: "fake-hardware"})
	var all, own []string
	for i := range 5 {
		o := ports.CreateOpts{NodeUUID: n.UUID, Address: fmt.Sprintf("52:54:00:aa:bb:0%d", i)}
		if i%2 == 1 {
			o.NodeUUID = other.UUID
		} else {
			own = append(own, o.Address)
		}
		if err := ports.Create(t.Context(), g.ironic, o).Err; err != nil {
			t.Fatal(err)
		}
		all = append(all, o.Address)
	}
	for what, c := range map[string]struct {
		o     ports.ListOpts
		sizes []int
		want  []string
	}{
		"all":                    {ports.ListOpts{Limit: 2}, []int{2, 2, 1}, all},
		"of a node by name":      {ports.ListOpts{Limit: 2, Node: n.Name}, []int{2, 1}, own},
		"of a node by UUID":      {ports.ListOpts{Limit: 2, Node: n.UUID}, []int{2, 1}, own},
		"of a node, the old way": {ports.ListOpts{Limit: 2, NodeUUID: n.UUID}, []int{2, 1}, own},
		"of an address":          {ports.ListOpts{Address: "52:54:00:AA:BB:03"}, []int{1}, all[3:4]},
		"of no address":          {ports.ListOpts{Address: "52:54:00:aa:bb:99"}, nil, nil},
	} {
		for kind, list := range map[string]func() pagination.Pager{
			"short":    func() pagination.Pager { return ports.List(g.ironic, c.o) },
			"detailed": func() pagination.Pager { return ports.ListDetail(g.ironic, c.o) },
		} {
			if sizes, got := addresses(t, list()); !slices.Equal(sizes, c.sizes) || !slices.Equal(got, c.want) {
				t.Errorf("%s, %s: pages of %v with %v, want %v with %v", what, kind, sizes, got, c.sizes, c.want)
			}
		}
	}
	if _, got := addresses(t, ports.List(g.ironic, ports.ListOpts{Limit: 2, Fields: []string{"address"}, SortKey: "address", SortDir: "desc", Node: n.UUID})); len(got) != 3 || got[0] != own[2] || got[2] != own[0] {
		t.Errorf("backwards: %v", got)
	}
	_, err := ports.List(g.ironic, ports.ListOpts{Node: "nobody"}).AllPages(t.Context())
	refused(t, "ports of an unknown node", err, 404, "Node nobody could not be found.")
	_, err = ports.List(g.ironic, ports.ListOpts{Fields: []string{"bogus"}}).AllPages(t.Context())
	refused(t, "a field that is none", err, 400, `Field(s) "bogus" are not valid`)
}
