package hooks_test

import (
	"os"
	"testing"

	"github.com/google/go-cmp/cmp"

	"cagenut/inspect/hooks"
	"cagenut/inspect/inventory"
	"cagenut/node"
)

// Samples of our own, one of every shape that reports come in.
func TestSamplesOfOurOwn(t *testing.T) {
	vm := outcome{properties(8192, 8, 39, "capabilities", bios), []string{"02:00:5e:30:00:01 pxe"}, nil}
	vm.check(t, "default", string(sample(t, "processed-data.json")))
	vm.check(t, "default", posted(part(t, sample(t, "inventory-and-plugin-data.json"), "inventory")))

	outcome{properties(32768, 8, 237, "capabilities", "boot_mode:uefi"), []string{"02:00:5e:50:00:01 pxe"}, []string{noPXE}}.check(t, "default", posted(sample(t, "cluster-agent-inventory.json")))

	outcome{map[string]any{"cpu_arch": "aarch64", "cpus": int64(16), "local_gb": int64(0)},
		[]string{"02:00:5e:40:00:02 pxe client-id=ff:00:00:00:00:00:02:00:00:02:c9:00:02:00:5e:03:00:40:00:02"},
		[]string{`interface "ib1" was left out: "80:00:02:08:fe:80:00:00:00:00:00:00:02:00:5e:03:00:40:00:03" is no Ethernet address`,
			"no physical memory was reported: memory_mb stays as it is", "no disk was reported: local_gb is 0", noMode},
	}.check(t, "default", string(sample(t, "infiniband.json")))
}

// A report with all that collectors add, and every hook at work on it.
func TestEveryHookOnOneReport(t *testing.T) {
	alias, err := hooks.ParsePCIAlias("gpu=10de:1eb8")
	if err != nil {
		t.Fatal(err)
	}
	network, err := hooks.ParsePhysicalNetwork("2001:db8:20::/64:rack-2")
	if err != nil {
		t.Fatal(err)
	}
	in := hooks.Input{
		Node: node.Node{Properties: map[string]any{"capabilities": "boot_mode:bios"}}, Ports: ports("02:00:5e:20:00:02"),
		Previous: []byte(`{"disks":[{"name":"/dev/sda","serial":"EX-0001"}]}`),
	}
	s := hooks.Settings{PCIAliases: []hooks.PCIAlias{alias}, PhysicalNetworks: []hooks.PhysicalNetwork{network}}
	f := runHooks(t, everyHook, s, in, string(sample(t, "all-collectors.json")))
	gpu := func(bus string) any {
		return map[string]any{"vendor_id": "10de", "device_id": "1eb8", "type": "GPU", "device_info": "NVIDIA Tesla T4", "pci_address": bus}
	}
	if diff := cmp.Diff(properties(393216, 128, 446, "capabilities", "boot_mode:uefi,cpu_vt:true,cpu_aes:true,cpu_hugepages:true,cpu_hugepages_1g:true,gpu:2",
		"root_device", map[string]any{"serial": "EX-0002"}, "accelerators", []any{gpu("0000:3b:00.0"), gpu("0000:5e:00.0")}), f.Properties); diff != "" {
		t.Errorf("properties (-want +got):\n%s", diff)
	}
	want := node.Port{Address: "02:00:5e:20:00:01", PXEEnabled: true, PhysicalNetwork: "rack-2",
		LocalLinkConnection: map[string]any{"switch_id": "02:00:5e:10:00:01", "port_id": "Ethernet1/7", "switch_info": "leaf-7"}}
	if len(f.NewPorts) != 1 {
		t.Fatalf("%d new ports", len(f.NewPorts))
	}
	got := f.NewPorts[0]
	if diff := cmp.Diff(want, node.Port{Address: got.Address, PXEEnabled: got.PXEEnabled, PhysicalNetwork: got.PhysicalNetwork, LocalLinkConnection: got.LocalLinkConnection}); diff != "" {
		t.Errorf("the new port (-want +got):\n%s", diff)
	}
	if len(f.PortUpdates) != 1 || f.PortUpdates[0].PXEEnabled {
		t.Errorf("changed ports: %+v", f.PortUpdates)
	}
	plugin := pluginData(t, f)
	for _, key := range []string{"pci_devices", "lldp_raw", "usb_devices", "numa_topology", "configuration", "extra", "parsed_lldp", "all_interfaces", "valid_interfaces", "macs", "root_disk", "local_gb"} {
		if plugin[key] == nil {
			t.Errorf("plugin data lack %s", key)
		}
	}
	for _, key := range []string{"data", "logs", "inventory"} {
		if _, there := plugin[key]; there {
			t.Errorf("plugin data hold %s", key)
		}
	}
	noted(t, f, `interface "bond0.20" was left out: it is virtual`)
	if len(f.Notes) != 1 {
		t.Errorf("notes %q", f.Notes)
	}
}

// What Ironic's default hooks leave behind of a report (contract.md §6), key by key.
func TestPluginDataAreThoseOfIronicsDefaultHooks(t *testing.T) {
	body, err := os.ReadFile("testdata/edge-server.json")
	if err != nil {
		t.Fatal(err)
	}
	f := runHooks(t, "ramdisk-error,validate-interfaces,ports,architecture", hooks.Settings{}, hooks.Input{}, string(body))
	reported, err := inventory.Members(body)
	if err != nil {
		t.Fatal(err)
	}
	plugin, err := inventory.Members(f.PluginData)
	if err != nil {
		t.Fatal(err)
	}
	for key, v := range reported {
		switch _, kept := plugin[key]; {
		case key == "inventory" || key == "logs":
			if kept {
				t.Errorf("plugin data hold %s", key)
			}
		case string(plugin[key]) != compact(t, v):
			t.Errorf("%s: got %s, want %s", key, plugin[key], v)
		}
		delete(plugin, key)
	}
	for _, key := range []string{"all_interfaces", "valid_interfaces", "macs"} {
		if plugin[key] == nil {
			t.Errorf("plugin data lack %s", key)
		}
		delete(plugin, key)
	}
	if len(plugin) != 0 {
		t.Errorf("plugin data hold more: %v", plugin)
	}
	if diff := cmp.Diff(map[string]any{"cpu_arch": "x86_64"}, f.Properties); diff != "" {
		t.Errorf("properties (-want +got):\n%s", diff)
	}
}
