package store_test

import (
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"cagenut/node"
)

var sortKeys = []string{
	"", "id", "uuid", "name", "created_at", "updated_at", "driver", "provision_state", "provision_updated_at", "power_state", "target_power_state",
	"last_error", "reservation", "inspection_started_at", "inspection_finished_at", "maintenance", "maintenance_reason", "fault", "protected",
	"protected_reason", "retired", "retired_reason", "console_enabled", "disable_power_off", "automated_clean", "instance_uuid", "instance_name",
	"chassis_uuid", "resource_class", "conductor_group", "description", "owner", "lessee", "shard", "parent_node", "conductor", "rack", "boot_mode", "secure_boot",
}

func TestPagesByEverySortKeyShowEachNodeOnceG57(t *testing.T) {
	r := newRig(t)
	for i := range 7 {
		r.add(t, []node.State{node.Enroll, node.Manageable}[i%2], func(n *node.Node) {
			n.Name, n.Owner, n.Maintenance, n.UpdatedAt = fmt.Sprint("n", 9-i), fmt.Sprint(i/3), i%2 == 0, begin.Add(time.Duration(i%3))
			if i > 2 {
				on := i > 4
				n.AutomatedClean, n.SecureBoot = &on, &on
			}
		})
	}
	for _, key := range sortKeys {
		for _, descending := range []bool{false, true} {
			var all, paged []string
			for _, n := range must(r.Nodes(t.Context(), node.Filter{Page: node.Page{SortKey: key, Descending: descending}}))(t) {
				all = append(all, n.UUID)
			}
			for marker := ""; len(paged) <= 7; {
				page := must(r.Nodes(t.Context(), node.Filter{Page: node.Page{SortKey: key, Descending: descending, Marker: marker, Limit: 2}}))(t)
				if len(page) == 0 {
					break
				}
				for _, n := range page {
					paged = append(paged, n.UUID)
				}
				marker = page[len(page)-1].UUID
			}
			if len(all) != 7 || !slices.Equal(all, paged) {
				t.Errorf("by %q, descending %v: %d in one list, %d in pages, or in another order", key, descending, len(all), len(paged))
			}
		}
	}
}

func TestAnUnknownSortKeyOrMarkerIsTheCallersMistake(t *testing.T) {
	r := newRig(t)
	var invalid *node.Invalid
	if _, err := r.Nodes(t.Context(), node.Filter{Page: node.Page{SortKey: "extra"}}); !errors.As(err, &invalid) {
		t.Errorf("sort key: %v", err)
	}
	var missing *node.NotFound
	if _, err := r.Nodes(t.Context(), node.Filter{Page: node.Page{Marker: node.NewUUID()}}); !errors.As(err, &missing) {
		t.Errorf("marker: %v", err)
	}
}

func TestFiltersChooseWhatTheySay(t *testing.T) {
	r := newRig(t)
	yes, no := true, false
	a := r.add(t, node.Enroll, func(n *node.Node) {
		n.Name, n.Owner, n.Shard, n.InstanceUUID, n.Description = "alpha", "ops", "s1", node.NewUUID(), "100% new"
		n.Maintenance, n.Extra, n.DriverInfo = true, map[string]any{"rack": "R1"}, map[string]any{"ipmi_address": "192.0.2.7"}
	})
	b := r.add(t, node.Available, func(n *node.Node) { n.Name, n.Lessee, n.Description = "beta", "ops", "1000 new" })
	c := r.add(t, node.Available, func(n *node.Node) { n.Name, n.ParentNode = "gamma", a.UUID })
	must(r.CreatePort(t.Context(), node.Port{UUID: node.NewUUID(), NodeUUID: b.UUID, Address: "52:54:00:00:00:0b"}, node.Audit{}))(t)
	for name, f := range map[string]struct {
		filter node.Filter
		want   []string
	}{
		"nothing leaves children out": {node.Filter{}, []string{"alpha", "beta"}},
		"children too":                {node.Filter{IncludeChildren: true}, []string{"alpha", "beta", "gamma"}},
		"children of one":             {node.Filter{ParentNode: a.UUID}, []string{"gamma"}},
		"state":                       {node.Filter{ProvisionStates: []node.State{node.Available}}, []string{"beta"}},
		"no state at all":             {node.Filter{ProvisionStates: []node.State{}}, nil},
		"associated":                  {node.Filter{Associated: &yes}, []string{"alpha"}},
		"not associated":              {node.Filter{Associated: &no}, []string{"beta"}},
		"maintenance":                 {node.Filter{Maintenance: &yes}, []string{"alpha"}},
		"not sharded":                 {node.Filter{Sharded: &no}, []string{"beta"}},
		"project":                     {node.Filter{Project: "ops"}, []string{"alpha", "beta"}},
		"project and state":           {node.Filter{Project: "ops", ProvisionStates: []node.State{node.Available}}, []string{"beta"}},
		"rack":                        {node.Filter{Rack: "R1"}, []string{"alpha"}},
		"a percent sign is a letter":  {node.Filter{DescriptionContains: "00% n"}, []string{"alpha"}},
		"search for a MAC":            {node.Filter{Search: "00:0B"}, []string{"beta"}},
		"search for a BMC":            {node.Filter{Search: "192.0.2"}, []string{"alpha"}},
		"search stays in the filter":  {node.Filter{Search: "a", Maintenance: &no, UUIDs: []string{b.UUID, c.UUID}}, []string{"beta"}},
	} {
		var got []string
		for _, n := range must(r.Nodes(t.Context(), f.filter))(t) {
			got = append(got, n.Name)
		}
		if !slices.Equal(got, f.want) {
			t.Errorf("%s: %v, not %v", name, got, f.want)
		}
	}
}

func TestWhoWaitsForHowLong(t *testing.T) {
	r := newRig(t)
	n, _ := r.waiting(t)
	if got := must(r.WaitingSince(t.Context(), begin))(t); len(got) != 0 {
		t.Errorf("waiting since before its begin: %d", len(got))
	}
	if got := must(r.WaitingSince(t.Context(), begin.Add(time.Second)))(t); len(got) != 1 || got[0].UUID != n.UUID {
		t.Errorf("waiting: %d", len(got))
	}
	if err := r.SetMaintenance(t.Context(), n.UUID, true, "", node.Audit{}); err != nil {
		t.Fatal(err)
	}
	if got := must(r.WaitingSince(t.Context(), begin.Add(time.Second)))(t); len(got) != 1 {
		t.Error("a node in maintenance waits for ever")
	}
}

func TestLookupAddressesAreThoseOfTheNodesThatWait(t *testing.T) {
	r := newRig(t)
	r.add(t, node.Manageable)
	bare, _ := r.waiting(t)
	n, a := r.waiting(t)
	_, err := r.Move(t.Context(), node.Move{
		Node: n.UUID, From: node.InspectWait, Attempt: a.ID, At: begin,
		Internal: map[string]any{"lookup_bmc_addresses": []string{"192.0.2.10", "2001:db8::10"}, "agent_secret_token": "not-a-real-one"},
	})
	if err != nil {
		t.Fatal(err)
	}
	got, err := r.LookupAddresses(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(map[string][]string{bare.UUID: nil, n.UUID: {"192.0.2.10", "2001:db8::10"}}, got); d != "" {
		t.Error(d)
	}
}
