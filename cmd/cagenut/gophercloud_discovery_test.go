package main

import (
	"context"
	"slices"
	"testing"

	"github.com/gophercloud/gophercloud/v2"
	"github.com/gophercloud/gophercloud/v2/openstack/baremetal/apiversions"
	"github.com/gophercloud/gophercloud/v2/openstack/baremetal/noauth"
	"github.com/gophercloud/gophercloud/v2/openstack/baremetal/v1/allocations"
	"github.com/gophercloud/gophercloud/v2/openstack/baremetal/v1/conductors"
	"github.com/gophercloud/gophercloud/v2/openstack/baremetal/v1/drivers"
	"github.com/gophercloud/gophercloud/v2/openstack/baremetal/v1/portgroups"
	"github.com/gophercloud/gophercloud/v2/openstack/baremetal/v1/runbooks"
	"github.com/gophercloud/gophercloud/v2/openstack/utils"
	"github.com/gophercloud/gophercloud/v2/pagination"
)

// The discovery documents are public: this client has no credentials, in either way of signing in (contract.md §1.1, §1.7).
func gopherDiscoversTheAPI(t *testing.T, g *gopher) {
	client := func(endpoint string) *gophercloud.ServiceClient {
		c, err := noauth.NewBareMetalNoAuth(noauth.EndpointOpts{IronicEndpoint: g.base + endpoint})
		if err != nil {
			t.Fatal(err)
		}
		return c
	}
	want := apiversions.APIVersion{ID: "v1", MinVersion: "1.1", Version: "1.96", Status: "CURRENT"}
	all, err := apiversions.List(t.Context(), client("/")).Extract()
	if err != nil || all.DefaultVersion != want || len(all.Versions) != 1 || all.Versions[0] != want {
		t.Errorf("the root document says %+v, %v", all, err)
	}
	one, err := apiversions.Get(t.Context(), client("/"), "v1").Extract()
	if err != nil || *one != want {
		t.Errorf("the document of v1 says %+v, %v", one, err)
	}
	for _, endpoint := range []string{"/", "/v1", "/v1/"} {
		supported, err := utils.GetSupportedMicroversions(t.Context(), client(endpoint))
		if err != nil || (supported != utils.SupportedMicroversions{MinMajor: 1, MinMinor: 1, MaxMajor: 1, MaxMinor: 96}) {
			t.Errorf("%s: %+v, %v", endpoint, supported, err)
		}
		versions, err := utils.GetServiceVersions(t.Context(), client(endpoint).ProviderClient, g.base+endpoint, true)
		if err != nil || len(versions) != 1 || versions[0].Major != 1 || versions[0].Status != utils.StatusCurrent {
			t.Errorf("%s: %+v, %v", endpoint, versions, err)
		}
	}
	if c, err := utils.RequireMicroversion(t.Context(), *client("/v1/"), "1.89"); err != nil || c.Microversion != "1.89" {
		t.Errorf("1.89 is not there: %v", err)
	}
	if _, err := utils.RequireMicroversion(t.Context(), *client("/v1/"), "1.97"); err == nil {
		t.Error("1.97 is said to be there")
	}
}

func gopherFindsTheDrivers(t *testing.T, g *gopher) {
	for what, o := range map[string]drivers.ListDriversOpts{"all": {}, "in detail": {Detail: true}, "dynamic ones": {Type: "dynamic"}} {
		names := map[string]drivers.Driver{}
		err := drivers.ListDrivers(g.ironic, o).EachPage(t.Context(), func(_ context.Context, p pagination.Page) (bool, error) {
			list, err := drivers.ExtractDrivers(p)
			for _, d := range list {
				names[d.Name] = d
			}
			return true, err
		})
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range []string{"redfish", "ipmi", "fake-hardware"} {
			if d := names[name]; len(d.Hosts) != 1 || d.Hosts[0] != g.conductor.Host || d.Type != "dynamic" || len(d.Links) != 2 {
				t.Errorf("%s: %s is %+v", what, name, d)
			}
			if d := names[name]; o.Detail && (d.DefaultPowerInterface == "" || len(d.EnabledPowerInterfaces) == 0) {
				t.Errorf("%s: %s is %+v", what, name, d)
			}
		}
	}
	d, err := drivers.GetDriverDetails(t.Context(), g.ironic, "redfish").Extract()
	if err != nil || d.DefaultInspectInterface != "agent" || !slices.Contains(d.EnabledInspectInterfaces, "inspector") || len(d.Properties) != 2 {
		t.Errorf("redfish is %+v, %v", d, err)
	}
	properties, err := drivers.GetDriverProperties(t.Context(), g.ironic, "redfish").Extract()
	if err != nil || (*properties)["redfish_address"] == nil || (*properties)["redfish_password"] == nil {
		t.Errorf("the properties of redfish are %v, %v", properties, err)
	}
	if disks, err := drivers.GetDriverDiskProperties(t.Context(), g.ironic, "fake-hardware").Extract(); err != nil || (*disks)["size_gb"] == nil {
		t.Errorf("the disk properties of fake-hardware are %v, %v", disks, err)
	}
	refused(t, "disk properties of a driver that keeps no RAID", drivers.GetDriverDiskProperties(t.Context(), g.ironic, "redfish").Err, 400, "Driver redfish does not support")
	if methods, err := drivers.ListVendorPassthruMethods(t.Context(), g.ironic, "redfish").Extract(); err != nil || len(methods) != 0 {
		t.Errorf("the vendor methods of redfish are %v, %v", methods, err)
	}
	refused(t, "an unknown driver", drivers.GetDriverDetails(t.Context(), g.ironic, "nosuch").Err, 404,
		"Could not find the following driver(s) or hardware type(s): nosuch.")
	refused(t, "properties of an unknown driver", drivers.GetDriverProperties(t.Context(), g.ironic, "nosuch").Err, 404, "nosuch")
	refused(t, "types of drivers at 1.29", drivers.ListDrivers(g.at("1.29"), drivers.ListDriversOpts{Type: "dynamic"}).
		EachPage(t.Context(), func(context.Context, pagination.Page) (bool, error) { return false, nil }), 406, "1.30")
}

func gopherFindsTheConductor(t *testing.T, g *gopher) {
	list := func(o conductors.ListOpts) []conductors.Conductor {
		t.Helper()
		pages, err := conductors.List(g.ironic, o).AllPages(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		all, err := conductors.ExtractConductors(pages)
		if err != nil {
			t.Fatal(err)
		}
		return all
	}
	if all := list(conductors.ListOpts{}); len(all) != 1 || all[0].Hostname != g.conductor.Host || !all[0].Alive {
		t.Errorf("the conductors are %+v", all)
	}
	if all := list(conductors.ListOpts{Detail: true}); len(all) != 1 || !slices.Contains(all[0].Drivers, "redfish") || all[0].CreatedAt.IsZero() {
		t.Errorf("in detail they are %+v", all)
	}
	if all := list(conductors.ListOpts{Fields: []string{"hostname"}, Limit: 10, SortKey: "hostname", SortDir: "desc"}); len(all) != 1 || all[0].Hostname != g.conductor.Host || all[0].Alive {
		t.Errorf("by their names alone they are %+v", all)
	}
	one, err := conductors.Get(t.Context(), g.ironic, g.conductor.Host).Extract()
	if err != nil || one.Hostname != g.conductor.Host || len(one.Drivers) != 3 {
		t.Errorf("the conductor is %+v, %v", one, err)
	}
	refused(t, "an unknown conductor", conductors.Get(t.Context(), g.ironic, "nosuch").Err, 404, "nosuch")
}

// What this appliance leaves out has empty lists, and nothing can be made there (contract.md §3.1).
func gopherFindsNothingThatIsLeftOut(t *testing.T, g *gopher) {
	for what, pager := range map[string]pagination.Pager{
		"allocations": allocations.List(g.ironic, allocations.ListOpts{}),
		"portgroups":  portgroups.List(g.ironic, portgroups.ListOpts{}),
		"runbooks":    runbooks.List(g.ironic, runbooks.ListOpts{}),
	} {
		err := pager.EachPage(t.Context(), func(_ context.Context, p pagination.Page) (bool, error) {
			t.Errorf("%s: there is a page %v", what, p.GetBody())
			return false, nil
		})
		if err != nil {
			t.Errorf("%s: %v", what, err)
		}
	}
	unknown := "9b4b1d5c-4e0e-4b43-9f5f-2f1a4f6c1a11"
	for what, err := range map[string]error{
		"an allocation":    allocations.Create(t.Context(), g.ironic, allocations.CreateOpts{ResourceClass: "gold"}).Err,
		"a portgroup":      portgroups.Create(t.Context(), g.ironic, portgroups.CreateOpts{NodeUUID: unknown}).Err,
		"a runbook":        runbooks.Create(t.Context(), g.ironic, runbooks.CreateOpts{Name: "CUSTOM_X", Steps: []runbooks.Step{{Interface: "bios", Step: "factory_reset"}}}).Err,
		"no allocation":    allocations.Get(t.Context(), g.ironic, unknown).Err,
		"no portgroup":     portgroups.Get(t.Context(), g.ironic, unknown).Err,
		"no runbook":       runbooks.Get(t.Context(), g.ironic, unknown).Err,
		"less allocations": allocations.Delete(t.Context(), g.ironic, unknown).Err,
		"less portgroups":  portgroups.Delete(t.Context(), g.ironic, unknown).Err,
		"less runbooks":    runbooks.Delete(t.Context(), g.ironic, unknown).Err,
	} {
		refused(t, what, err, 404, "")
	}
}
