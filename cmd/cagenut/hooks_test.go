package main

import (
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"cagenut/inspect/hooks"
	"cagenut/node"
)

func TestAWrongSettingOfTheHooksStopsTheStartWithASentence(t *testing.T) {
	file := func(text string) string {
		name := filepath.Join(t.TempDir(), "known.yaml")
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return name
	}
	nobody := filepath.Join(t.TempDir(), "nobody.yaml")
	words := func(s ...string) []string { return s }
	for _, c := range []struct {
		settings hookSettings
		want     string
	}{
		{hookSettings{InspectionHooks: words("default", "lldp")}, `--inspection-hooks: there is no hook "lldp"; there are ramdisk-error, `},
		{hookSettings{InspectionHooks: words("ports")}, "--inspection-hooks: the hook ports needs validate-interfaces before it"},
		{hookSettings{RedfishInspectionHooks: words("default", "ports")}, "--redfish-inspection-hooks: the hook ports is there twice"},
		{hookSettings{RedfishInspectionHooks: words("default", "raid-device")}, "--redfish-inspection-hooks: raid-device compares what ramdisks report"},
		{hookSettings{PCIDeviceAliases: words("gpu=10de:1eb8", "fpga")}, `--pci-device-aliases: "fpga" is not of the form name=vendor:product`},
		{hookSettings{PhysicalNetworkCIDRMap: words("192.0.2.0:a")}, `--physical-network-cidr-map: "192.0.2.0:a" is not of the form subnet:name`},
		{hookSettings{IgnoreMACs: words("fa:4b:7f", "fa:4b:7")}, `--ignore-macs: "fa:4b:7" is neither a MAC nor the beginning of one`},
		{hookSettings{KnownAccelerators: nobody}, "--known-accelerators=" + nobody + ": open "},
		{hookSettings{KnownAccelerators: file("pci_devices: 7")}, "cannot unmarshal"},
		{hookSettings{KnownAccelerators: file("devices: []")}, "it must have a list pci_devices"},
		{hookSettings{KnownAccelerators: file(`pci_devices: [{vendor_id: "10de", device_id: "1eb8"}, {vendor_id: "10de"}]`)}, "pci_devices[1]: vendor_id and device_id must be texts"},
	} {
		t.Run(c.want, func(t *testing.T) {
			if _, _, err := c.settings.lists(); err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("got %v, want %q", err, c.want)
			}
		})
	}
}

func TestTheHooksThatAreChosen(t *testing.T) {
	names := func(list []hooks.Hook) (all []string) {
		for _, h := range list {
			all = append(all, h.Name())
		}
		return all
	}
	for _, c := range []struct {
		settings           hookSettings
		inBand, outOfBand  []string
		whatIsOnTopOfUsual string
	}{
		{hookSettings{}, hooks.DefaultNames(), hooks.OutOfBandNames(), "nothing"},
		{hookSettings{InspectionHooks: []string{"default"}, RedfishInspectionHooks: []string{"default"}}, hooks.DefaultNames(), hooks.OutOfBandNames(), "nothing, said so"},
		{hookSettings{InspectionHooks: []string{"default", "parse-lldp"}, RedfishInspectionHooks: []string{"default", "local-link-connection"}},
			append(hooks.DefaultNames(), "parse-lldp"), append(hooks.OutOfBandNames(), "local-link-connection"), "one each"},
	} {
		t.Run(c.whatIsOnTopOfUsual, func(t *testing.T) {
			inBand, outOfBand, err := c.settings.lists()
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(c.inBand, names(inBand)); diff != "" {
				t.Errorf("in band (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(c.outOfBand, names(outOfBand)); diff != "" {
				t.Errorf("out of band (-want +got):\n%s", diff)
			}
		})
	}
}

// Hooks beside the usual ones work on what is posted, and raid-device knows what was stored before.
func TestChosenHooksWorkOnReports(t *testing.T) {
	known := filepath.Join(t.TempDir(), "known.yaml")
	if err := os.WriteFile(known, []byte("pci_devices:\n- vendor_id: \"1172\"\n  device_id: \"1234\"\n  type: FPGA\n  device_info: Example FPGA\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	a := serveForTest(t, true, func(s *settings) {
		s.hookSettings = hookSettings{
			InspectionHooks:  []string{"default", "raid-device", "pci-devices", "accelerators", "local-link-connection", "parse-lldp", "physical-network"},
			PCIDeviceAliases: []string{"fpga=1172:1234"}, PhysicalNetworkCIDRMap: []string{"192.0.2.0/24:rack-7"}, KnownAccelerators: known,
		}
	})
	const mac = "02:00:5e:00:00:71"
	n, at := a.nodeIn(node.InspectWait, "agent")
	inspect := func(disks string) node.Node {
		t.Helper()
		report := fmt.Sprintf(`{"inventory":{"interfaces":[{"name":"eno1","mac_address":%q,"ipv4_address":"192.0.2.71"}],"disks":[%s]},
			"lldp_raw":{"eno1":[[1,"0402005e100001"],[2,"0545746831"]]},"pci_devices":[{"vendor_id":"1172","product_id":"1234","bus":"0000:3b:00.0"}]}`, mac, disks)
		got := a.exchange(sentRequest{method: "POST", path: "/v1/continue_inspection", query: "attempt=" + url.QueryEscape(string(at.Token)), body: []byte(report)})
		if got.status != 202 {
			t.Fatalf("the report: %d %s", got.status, got.body)
		}
		return a.untilState(n.UUID, node.Manageable)
	}
	const a1 = `{"name":"/dev/sda","size":480103981056,"serial":"A"}`
	first := inspect(a1)
	if first.Properties["root_device"] != nil || first.Properties["capabilities"] != "fpga:1" {
		t.Errorf("after the first inspection: %v", first.Properties)
	}
	ports, err := a.store.Ports(t.Context(), node.PortFilter{NodeUUID: n.UUID})
	if err != nil || len(ports) != 1 {
		t.Fatalf("ports %+v, %v", ports, err)
	}
	if p := ports[0]; p.PhysicalNetwork != "rack-7" || p.LocalLinkConnection["switch_id"] != "02:00:5e:10:00:01" || p.LocalLinkConnection["port_id"] != "Eth1" {
		t.Errorf("the port: %+v", p)
	}
	stored := a.get("/v1/nodes/" + n.UUID + "/inventory")
	want := map[string]any{"eno1": map[string]any{"switch_chassis_id": "02:00:5e:10:00:01", "switch_port_id": "Eth1"}}
	if diff := cmp.Diff(want, stored["plugin_data"].(map[string]any)["parsed_lldp"]); diff != "" {
		t.Errorf("parsed_lldp (-want +got):\n%s", diff)
	}
	n, at = a.waiting(a.until(n.UUID, "free", func(n node.Node) bool { return !n.Reserved() }))
	second := inspect(a1 + `,{"name":"/dev/sdb","size":960197124096,"serial":"RAID-1"}`)
	if diff := cmp.Diff(map[string]any{"serial": "RAID-1"}, second.Properties["root_device"]); diff != "" {
		t.Errorf("root_device (-want +got):\n%s", diff)
	}
	wantFPGA := []any{map[string]any{"vendor_id": "1172", "device_id": "1234", "type": "FPGA", "device_info": "Example FPGA", "pci_address": "0000:3b:00.0"}}
	if diff := cmp.Diff(wantFPGA, second.Properties["accelerators"]); diff != "" {
		t.Errorf("accelerators (-want +got):\n%s", diff)
	}

	// Applied once more, the report is compared with the inspection before it, not with itself.
	a.asked("PATCH", "/v1/nodes/"+n.UUID, []map[string]string{{"op": "remove", "path": "/properties/root_device"}}, 200)
	free := a.until(n.UUID, "free", func(n node.Node) bool { return !n.Reserved() })
	if err := a.conductor.Reapply(t.Context(), node.System(), free.UUID, nil); err != nil {
		t.Fatal(err)
	}
	a.until(n.UUID, "root_device again", func(n node.Node) bool { return n.Properties["root_device"] != nil })
}

// G27: an interface to the BMC that has the same MAC on every server neither mixes two of them up nor becomes a port, even
// where no token tells whose report it is.
func TestAMACOfManyServersIsIgnored(t *testing.T) {
	a := serveForTest(t, true, func(s *settings) { s.IgnoreMACs = []string{"FA-4B-7F"} })
	const shared = "fa:4b:7f:00:00:01"
	for i, mac := range []string{"02:00:5e:00:01:01", "02:00:5e:00:01:02"} {
		n, at := a.nodeIn(node.InspectWait, "agent")
		if _, err := a.conductor.CreatePort(t.Context(), node.System(), node.Port{UUID: node.NewUUID(), NodeUUID: n.UUID, Address: mac}); err != nil {
			t.Fatal(err)
		}
		// Without a boot interface every one with an address would become a port.
		report := fmt.Sprintf(`{"inventory":{"interfaces":[{"name":"usb0","mac_address":%q,"ipv4_address":"192.0.2.8"},{"name":"eno1","mac_address":%q,"ipv4_address":"192.0.2.9"}]}}`, shared, mac)
		if got := a.exchange(sentRequest{method: "POST", path: "/v1/continue_inspection", body: []byte(report)}); got.status != 202 {
			t.Fatalf("report %d: %d %s", i, got.status, got.body)
		}
		a.untilState(n.UUID, node.Manageable)
		ports, err := a.store.Ports(t.Context(), node.PortFilter{NodeUUID: n.UUID})
		if err != nil || len(ports) != 1 || ports[0].Address != mac {
			t.Errorf("ports %+v, %v", ports, err)
		}
		run, err := a.store.Attempt(t.Context(), at.ID)
		if want := `interface "usb0" was left out: the MAC ` + shared + " is one to be ignored"; err != nil || !slices.Contains(run.Notes, want) {
			t.Errorf("notes %q, %v", run.Notes, err)
		}
	}
}
