package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/gophercloud/gophercloud/v2/openstack/baremetal/inventory"
	"github.com/gophercloud/gophercloud/v2/openstack/baremetal/v1/nodes"
	"github.com/gophercloud/gophercloud/v2/openstack/baremetal/v1/ports"

	"cagenut/bmc/sim"
	"cagenut/node"
)

// The life of a server from its enrolment to `available`, with an abort in the middle, on a fleet of both kinds of BMC.
func gopherLivesThroughAnInspection(t *testing.T, g *gopher) {
	for _, s := range g.servers(sim.Options{Servers: 2, IPMI: 1}) {
		t.Run(s.Driver, func(t *testing.T) {
			t.Parallel()
			g.in(t).liveThroughAnInspection(t, s)
		})
	}
}

func (g *gopher) liveThroughAnInspection(t *testing.T, s *sim.Server) {
	n := g.enrol(s)
	if n.PowerState != string(node.PowerOff) || n.TargetProvisionState != "" || n.LastError != "" {
		t.Errorf("managed, it is %+v", n)
	}
	refused(t, "the inventory of a node that was never inspected", nodes.GetInventory(t.Context(), g.ironic, n.UUID).Err, 404, "could not be found")

	s.HoldReport()
	g.verb(n.UUID, nodes.TargetInspect)
	g.until(n.UUID, nodes.InspectWait)
	n = g.node(n.UUID)
	if n.InspectionStartedAt == nil || n.InspectionFinishedAt != nil || n.TargetProvisionState != string(nodes.Manageable) {
		t.Errorf("waiting, it is %+v", n)
	}
	g.verb(n.UUID, nodes.TargetAbort)
	if n = g.node(n.UUID); n.ProvisionState != string(nodes.InspectFail) || !strings.HasPrefix(n.LastError, "Inspection was aborted by request.") ||
		n.TargetProvisionState != string(nodes.Manageable) || n.InspectionStartedAt != nil || n.InspectionFinishedAt != nil || n.Reservation != "" {
		t.Errorf("at the moment of the answer it is %+v", n)
	}
	g.wait(n.UUID, "off after clean-up", idleOff)
	if s.Power() != node.PowerOff {
		t.Error("the server still runs")
	}
	refused(t, "a second abort", g.tryVerb(n.UUID, nodes.TargetAbort), 400, `The requested action "abort" can not be performed on node "`+n.UUID+`" while it is in state "inspect failed".`)
	refused(t, "the inventory after an abort", nodes.GetInventory(t.Context(), g.ironic, n.UUID).Err, 404, "could not be found")

	g.verb(n.UUID, nodes.TargetManage)
	g.until(n.UUID, nodes.Manageable)
	g.verb(n.UUID, nodes.TargetInspect)
	g.waitFor(n.UUID, nodes.InspectWait)
	s.ReleaseReport()
	g.waitFor(n.UUID, nodes.Manageable)
	n = g.wait(n.UUID, "off after its report", idleOff)
	if n.LastError != "" || n.InspectionFinishedAt == nil || n.InspectionStartedAt != nil || n.Properties["memory_mb"] == nil {
		t.Errorf("inspected, it is %+v", n)
	}
	g.checkReport(t, n, s)

	g.verb(n.UUID, nodes.TargetProvide)
	g.until(n.UUID, nodes.Available)
	g.checkHistory(t, n.UUID)
	if err := nodes.Delete(t.Context(), g.ironic, n.UUID).ExtractErr(); err != nil {
		t.Errorf("delete: %v", err)
	}
}

// until waits as gophercloud's own users do.
func (g *gopher) until(ident string, state nodes.ProvisionState) {
	g.t.Helper()
	ctx, cancel := context.WithTimeout(g.t.Context(), time.Minute)
	defer cancel()
	if err := nodes.WaitForProvisionState(ctx, g.ironic, ident, state); err != nil {
		g.t.Fatalf("wait for %s: %v", state, err)
	}
}

func idleOff(n *nodes.Node) bool {
	return n.PowerState == string(node.PowerOff) && n.TargetPowerState == "" && n.Reservation == ""
}

// posted is a server's report in the types that gophercloud has for what is stored of it.
type posted struct {
	Inventory inventory.InventoryType `json:"inventory"`
	inventory.StandardPluginData
}

func reportOf(t *testing.T, s *sim.Server) (p posted) {
	t.Helper()
	if err := json.Unmarshal(s.Report(), &p.StandardPluginData); err != nil {
		t.Fatal(err)
	}
	whole := struct {
		Inventory *inventory.InventoryType `json:"inventory"`
	}{&p.Inventory}
	if err := json.Unmarshal(s.Report(), &whole); err != nil {
		t.Fatal(err)
	}
	p.Inventory.Compat()
	return p
}

// checkReport compares what GetInventory decodes with what the server posted, field by field (contract.md §4.6).
func (g *gopher) checkReport(t *testing.T, n *nodes.Node, s *sim.Server) {
	t.Helper()
	data, err := nodes.GetInventory(t.Context(), g.ironic, n.UUID).Extract()
	if err != nil {
		t.Fatal(err)
	}
	want := reportOf(t, s)
	if diff := cmp.Diff(want.Inventory, data.Inventory); diff != "" {
		t.Errorf("the inventory (-posted +stored):\n%s", diff)
	}
	if data.Inventory.CPU.Frequency == "" || len(data.Inventory.Disks) == 0 || len(data.Inventory.Interfaces) < 2 {
		t.Errorf("the inventory is thin: %+v", data.Inventory)
	}
	standard, foreign, err := data.PluginData.GuessFormat()
	if err != nil || standard == nil || foreign != nil {
		t.Fatalf("the plugin data are taken for an inspector's: %v", err)
	}
	got := *standard
	if len(got.ValidInterfaces) == 0 || len(got.AllInterfaces) != len(data.Inventory.Interfaces) || len(got.MACs) == 0 {
		t.Errorf("the hooks left %+v", got)
	}
	for _, i := range got.ValidInterfaces {
		if i.MACAddress == s.BootMAC && !i.PXEEnabled {
			t.Errorf("%s booted, and is not said to: %+v", s.BootMAC, i)
		}
	}
	got.ValidInterfaces, got.AllInterfaces, got.MACs, got.ParsedLLDP = nil, nil, nil, nil // what the hooks added
	if diff := cmp.Diff(want.StandardPluginData, got); diff != "" {
		t.Errorf("the plugin data (-posted +stored):\n%s", diff)
	}
	if doc, err := data.PluginData.AsMap(); err != nil || doc["logs"] != nil || doc["inventory"] != nil {
		t.Errorf("the plugin data hold the logs or the inventory: %v", err)
	}
	pages, err := ports.ListDetail(g.ironic, ports.ListOpts{NodeUUID: n.UUID}).AllPages(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	list, err := ports.ExtractPorts(pages)
	if err != nil || len(list) == 0 || list[0].Address != s.BootMAC || !list[0].PXEEnabled {
		t.Errorf("its ports are %+v, %v", list, err)
	}
}

// checkHistory reads the history: gophercloud has no function for it, so through its service client (contract.md §3.6).
func (g *gopher) checkHistory(t *testing.T, uuid string) {
	t.Helper()
	short, _ := g.read("nodes", uuid, "history")["history"].([]any)
	long, _ := g.read("nodes", uuid, "history?detail=true")["history"].([]any)
	if len(short) == 0 || len(short) != len(long) {
		t.Fatalf("%d short entries, %d detailed", len(short), len(long))
	}
	aborted := 0
	for _, e := range long {
		entry := e.(map[string]any)
		if entry["event"] != "Inspection was aborted by request." {
			continue
		}
		aborted++
		if entry["event_type"] != "introspection" || entry["severity"] != "ERROR" || entry["conductor"] != g.conductor.Host {
			t.Errorf("the abort's entry is %v", entry)
		}
		if one := g.read("nodes", uuid, "history", fmt.Sprint(entry["uuid"])); one["event"] != entry["event"] || one["created_at"] != entry["created_at"] {
			t.Errorf("by itself it is %v", one)
		}
	}
	if aborted != 1 {
		t.Errorf("%d entries tell of the abort: %v", aborted, long)
	}
	page := g.read("nodes", uuid, "history?limit=1")
	if first, _ := page["history"].([]any); len(first) != 1 || !cmp.Equal(first[0].(map[string]any)["uuid"], short[0].(map[string]any)["uuid"]) || page["next"] == nil {
		t.Errorf("a page of one is %v", page)
	}
	_, err := g.at("1.77").Get(t.Context(), g.ironic.ServiceURL("nodes", uuid, "history"), &map[string]any{}, nil) //nolint:bodyclose // gophercloud reads and closes it
	refused(t, "the history at 1.77", err, 404, "")
}

// A ramdisk that leaves out half of what it could say, or says it oddly: what is stored still decodes (contract.md §4.6, G21).
func gopherDecodesOddInventories(t *testing.T, g *gopher) {
	reports := map[string]string{
		"sparse": `{"inventory":{"interfaces":[{"name":"eno1","mac_address":"MAC","ipv4_address":"192.0.2.9"}],"cpu":{"count":2,"architecture":"x86_64"},"memory":{"physical_mb":1024}}}`,
		"nulls": `{"inventory":{"interfaces":[{"name":"eno1","mac_address":"MAC","ipv4_address":"192.0.2.9","has_carrier":null,"speed_mbps":null,"lldp":null,"vendor":null,"product":null}],
			"cpu":{"count":2,"architecture":"x86_64","frequency":null,"flags":null,"model_name":null},"memory":{"physical_mb":1024,"total":null},"disks":[{"name":"/dev/sda","size":17179869184,"rotational":true,"serial":null}],
			"system_vendor":null,"boot":null,"bmc_address":null,"hostname":null},"root_disk":null,"error":null}`,
		"a frequency that is a number": `{"inventory":{"interfaces":[{"name":"eno1","mac_address":"MAC","ipv4_address":"192.0.2.9"}],"cpu":{"count":2,"architecture":"x86_64","frequency":3300.5},"memory":{"physical_mb":1024}}}`,
	}
	servers := 0
	for name, report := range reports {
		servers++
		mac := fmt.Sprintf("02:00:5e:00:aa:%02x", servers)
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			g.in(t).decodesOddInventory(t, mac, strings.ReplaceAll(report, "MAC", mac))
		})
	}
}

func (g *gopher) decodesOddInventory(t *testing.T, mac, report string) {
	t.Helper()
	n := g.create(nodes.CreateOpts{Driver: "fake-hardware", InspectInterface: "agent"})
	if err := ports.Create(t.Context(), g.ironic, ports.CreateOpts{NodeUUID: n.UUID, Address: mac}).Err; err != nil {
		t.Fatal(err)
	}
	g.verb(n.UUID, nodes.TargetManage)
	g.waitFor(n.UUID, nodes.Manageable)
	g.verb(n.UUID, nodes.TargetInspect)
	g.waitFor(n.UUID, nodes.InspectWait)
	if status, _, body := g.send("POST", "/v1/continue_inspection", "", []byte(report)); status != 202 || !bytes.Contains(body, []byte(n.UUID)) {
		t.Fatalf("the report was answered with %d %s", status, body)
	}
	n = g.wait(n.UUID, "an end", func(n *nodes.Node) bool {
		return n.ProvisionState == string(nodes.Manageable) || n.ProvisionState == string(nodes.InspectFail)
	})
	data, err := nodes.GetInventory(t.Context(), g.ironic, n.UUID).Extract()
	if err != nil || data.Inventory.CPU.Count != 2 || data.Inventory.Memory.PhysicalMb != 1024 || len(data.Inventory.Interfaces) != 1 {
		t.Errorf("%+v, %v; the node says %q", data, err, n.LastError)
	}
	if _, err := data.PluginData.AsStandardData(); err != nil {
		t.Error(err)
	}
}
