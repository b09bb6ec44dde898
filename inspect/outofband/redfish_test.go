package outofband_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"cagenut/inspect/hooks"
	"cagenut/inspect/outofband"
	"cagenut/node"
)

const (
	uuid  = "1be26c0b-03f2-4d2e-ae87-c02d7f33c781"
	gib   = int64(1) << 30
	first = "02:00:5e:00:00:01"
)

func ref[T any](v T) *T { return &v }

// server is a BMC's answer with everything in it.
func server() node.Hardware {
	return node.Hardware{
		System: node.SystemIdentity{Manufacturer: "Example Corp", Model: "EdgeBox 100", Serial: "EB100-0001", UUID: "4c4c4544-0042-3010-8059-b4c04f4e4331", BIOSVersion: "1.2.3"},
		Processors: []node.Processor{
			{Model: "Example CPU", Architecture: "x86_64", Cores: 12, Threads: 24, MHz: 3300},
			{Model: "Example CPU", Architecture: "x86_64", Cores: 12, Threads: 24, MHz: 3300},
		},
		MemoryMiB: 131072,
		NICs: []node.NIC{
			{Name: "NIC.1", MAC: "02:00:5E:00:00:01", SpeedMbps: ref(25000), Link: ref(true), IPv4: "192.0.2.7", Neighbour: &node.Neighbour{
				SwitchID: "02:00:5e:ff:00:01", SwitchName: "leaf-1", PortID: "Ethernet7", PortDescription: "r1-u01",
			}},
			{Name: "NIC.2", MAC: "02:00:5e:00:00:02"},
		},
		Storage: []node.StorageController{{Name: "RAID.0", Manufacturer: "Example", Model: "R1", Serial: "C-1", Firmware: "7.0"}},
		Drives: []node.Drive{
			{Name: "Disk 0", Model: "NVME 960", Serial: "D-0", Bytes: 960197124096, Rotational: ref(false)},
			{Name: "Disk 1", Bytes: 480 * gib},
		},
		PCIe:     []node.PCIeDevice{{Name: "NIC", VendorID: "8086", DeviceID: "1563", Class: "020000", Address: "0000:3b:00.0"}, {Name: "a card alone"}},
		BootMode: "uefi",
	}
}

func process(t *testing.T, n node.Node, h node.Hardware) (hooks.Findings, error) {
	t.Helper()
	n.UUID = uuid
	return outofband.Redfish{}.Process(n, nil, nil, h)
}

// decoded is what was found, the documents as JSON says them.
func decoded(t *testing.T, f hooks.Findings) (inventory, plugin map[string]any) {
	t.Helper()
	if err := errors.Join(json.Unmarshal(f.Inventory, &inventory), json.Unmarshal(f.PluginData, &plugin)); err != nil {
		t.Fatal(err)
	}
	return inventory, plugin
}

func TestWhatABMCTellsBecomesAnInventory(t *testing.T) {
	f, err := process(t, node.Node{Properties: map[string]any{"rack": "r1", "capabilities": "cpu_vt:true"}}, server())
	if err != nil {
		t.Fatal(err)
	}
	wantProperties := map[string]any{
		"rack": "r1", "cpu_arch": "x86_64", "memory_mb": int64(131072), "local_gb": int64(479), "capabilities": "cpu_vt:true,boot_mode:uefi",
	}
	if diff := cmp.Diff(wantProperties, f.Properties); diff != "" {
		t.Errorf("properties (-want +got):\n%s", diff)
	}
	inventory, plugin := decoded(t, f)
	var want map[string]any
	if err := json.Unmarshal([]byte(`{
		"interfaces": [
			{"name": "NIC.1", "mac_address": "02:00:5e:00:00:01", "speed_mbps": 25000, "has_carrier": true},
			{"name": "NIC.2", "mac_address": "02:00:5e:00:00:02"}],
		"cpu": {"count": 48, "socket_count": 2, "architecture": "x86_64", "model_name": "Example CPU", "frequency": "3300"},
		"memory": {"physical_mb": 131072},
		"disks": [
			{"name": "Disk 0", "size": 960197124096, "model": "NVME 960", "serial": "D-0", "rotational": false},
			{"name": "Disk 1", "size": 515396075520}],
		"storage_controllers": [{"name": "RAID.0", "manufacturer": "Example", "model": "R1", "serial_number": "C-1", "firmware_version": "7.0"}],
		"pci_devices": [{"vendor_id": "8086", "product_id": "1563", "class": "020000", "bus": "0000:3b:00.0"}],
		"system_vendor": {"product_name": "EdgeBox 100", "serial_number": "EB100-0001", "manufacturer": "Example Corp",
			"system_uuid": "4c4c4544-0042-3010-8059-b4c04f4e4331", "firmware": {"version": "1.2.3"}},
		"boot": {"current_boot_mode": "uefi"}}`), &want); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, inventory); diff != "" {
		t.Errorf("inventory (-want +got):\n%s", diff)
	}
	lldp := map[string]any{"NIC.1": map[string]any{
		"switch_chassis_id": "02:00:5e:ff:00:01", "switch_port_id": "Ethernet7", "switch_port_description": "r1-u01", "switch_system_name": "leaf-1",
	}}
	if diff := cmp.Diff(lldp, plugin["parsed_lldp"]); diff != "" {
		t.Errorf("parsed_lldp (-want +got):\n%s", diff)
	}
	if got := slices.Sorted(maps.Keys(plugin)); !slices.Equal(got, []string{"all_interfaces", "macs", "parsed_lldp", "valid_interfaces"}) {
		t.Errorf("plugin data hold %v: other hooks ran", got)
	}
	// A running server's addresses decide nothing: both interfaces become ports, whatever they are called.
	if diff := cmp.Diff([]string{first, "02:00:5e:00:00:02"}, macs(f.NewPorts)); diff != "" {
		t.Errorf("ports (-want +got):\n%s", diff)
	}
}

func macs(ports []node.Port) (all []string) {
	for _, p := range ports {
		all = append(all, p.Address)
	}
	return all
}

func TestPropertiesAreNeverGuessed(t *testing.T) {
	for name, c := range map[string]struct {
		before map[string]any
		change func(*node.Hardware)
		key    string
		want   any
	}{
		"the smallest disk of 4 GiB or more counts, less one":   {change: drives(node.Drive{Bytes: 3 * gib}, node.Drive{Bytes: 4 * gib}, node.Drive{Bytes: 100 * gib}), key: "local_gb", want: int64(3)},
		"part of a GiB does not count":                          {change: drives(node.Drive{Bytes: 11*gib - 1}), key: "local_gb", want: int64(9)},
		"volumes hide what they are made of":                    {change: drives(node.Drive{Bytes: 100 * gib}, node.Drive{Bytes: 200 * gib, Volume: true}), key: "local_gb", want: int64(199)},
		"disks that are all too small count for none":           {change: drives(node.Drive{Bytes: gib}), key: "local_gb", want: int64(0)},
		"a server without a disk has 0":                         {change: drives(), key: "local_gb", want: int64(0)},
		"disks without a size leave what is there":              {before: map[string]any{"local_gb": 7}, change: drives(node.Drive{Name: "?"}), key: "local_gb", want: 7},
		"memory that is not told leaves what is there":          {before: map[string]any{"memory_mb": 512}, change: func(h *node.Hardware) { h.MemoryMiB = 0 }, key: "memory_mb", want: 512},
		"an architecture that is not told leaves what is there": {before: map[string]any{"cpu_arch": "riscv64"}, change: func(h *node.Hardware) { h.Processors = nil }, key: "cpu_arch", want: "riscv64"},
		"a boot mode that somebody set stays":                   {before: map[string]any{"capabilities": "boot_mode:bios,x:y"}, key: "capabilities", want: "boot_mode:bios,x:y"},
		"a boot mode alone":                                     {key: "capabilities", want: "boot_mode:uefi"},
		"a boot mode that is not told":                          {change: func(h *node.Hardware) { h.BootMode = "" }, key: "capabilities"},
		"capabilities of another type are left alone":           {before: map[string]any{"capabilities": 5}, key: "capabilities", want: 5},
	} {
		t.Run(name, func(t *testing.T) {
			h := server()
			if c.change != nil {
				c.change(&h)
			}
			f, err := process(t, node.Node{Properties: c.before}, h)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(c.want, f.Properties[c.key]); diff != "" {
				t.Errorf("%s (-want +got):\n%s", c.key, diff)
			}
		})
	}
}

func drives(all ...node.Drive) func(*node.Hardware) {
	return func(h *node.Hardware) { h.Drives = all }
}

func TestWhatCannotBeDiscoveredFailsInOneSentence(t *testing.T) {
	for name, c := range map[string]struct {
		hardware node.Hardware
		want     string
	}{
		"a BMC that tells nothing":       {node.Hardware{}, "Failed to discover the following properties: cpu_arch, memory_mb on node " + uuid},
		"disks of which no size is told": {node.Hardware{Drives: []node.Drive{{Name: "?"}}}, "Failed to discover the following properties: cpu_arch, local_gb, memory_mb on node " + uuid},
		"no memory":                      {node.Hardware{Processors: server().Processors, NICs: server().NICs}, "Failed to discover the following properties: memory_mb on node " + uuid},
		"no interface": {
			node.Hardware{Processors: server().Processors, MemoryMiB: 1024},
			"The following failures happened while running preprocess hooks for node " + uuid + ":\nError in preprocess hook validate-interfaces: no usable network interface was reported",
		},
	} {
		t.Run(name, func(t *testing.T) {
			f, err := process(t, node.Node{}, c.hardware)
			if err == nil || err.Error() != c.want {
				t.Errorf("got %v, want %q", err, c.want)
			}
			if f.Inventory != nil || f.Properties != nil || f.NewPorts != nil {
				t.Errorf("a failure left %+v", f)
			}
		})
	}
}

func TestInterfacesThatBMCsTellOddly(t *testing.T) {
	h := server()
	h.NICs = []node.NIC{
		{Name: "1", MAC: first}, {Name: "1", MAC: "02:00:5e:00:00:02"}, // the first ports of two cards
		{MAC: "02:00:5e:00:00:03"},
		{Name: "ib0", MAC: "00:11:22:33:44:55:66:77"},
		{Name: "docker0", MAC: "02:00:5e:00:00:04"},
	}
	for i := range 70 {
		h.NICs = append(h.NICs, node.NIC{Name: fmt.Sprint("more", i), MAC: fmt.Sprintf("02:00:5e:00:01:%02x", i)})
	}
	f, err := process(t, node.Node{}, h)
	if err != nil {
		t.Fatal(err)
	}
	got := macs(f.NewPorts)
	if len(got) != 64 || !slices.Equal(got[:4], []string{first, "02:00:5e:00:00:02", "02:00:5e:00:00:03", "02:00:5e:00:00:04"}) {
		t.Errorf("%d ports, the first %v", len(got), got[:min(4, len(got))])
	}
	notes := strings.Join(f.Notes, "\n")
	for _, want := range []string{`"ib0" was left out`, "tells of 10 more interfaces"} {
		if !strings.Contains(notes, want) {
			t.Errorf("the notes lack %q: %s", want, notes)
		}
	}
}

func TestCoresCountWhereABMCCountsNoThreads(t *testing.T) {
	h := server()
	h.Processors = []node.Processor{{Cores: 8}, {Cores: 8, Architecture: "aarch64"}}
	f, err := process(t, node.Node{}, h)
	if err != nil {
		t.Fatal(err)
	}
	inventory, _ := decoded(t, f)
	want := map[string]any{"count": 16.0, "socket_count": 2.0, "architecture": "aarch64"}
	if diff := cmp.Diff(want, inventory["cpu"]); diff != "" {
		t.Errorf("cpu (-want +got):\n%s", diff)
	}
}

func TestPortsOfOtherNodesStayTheirs(t *testing.T) {
	ports := []node.Port{{UUID: "p2", NodeUUID: uuid, Address: "02:00:5e:00:00:02"}}
	f, err := outofband.Redfish{}.Process(node.Node{UUID: uuid}, ports, map[string]string{first: "another", "02:00:5e:00:00:02": uuid}, server())
	if err != nil || len(f.NewPorts) != 0 || len(f.PortUpdates) != 0 {
		t.Errorf("new %v, changed %v, %v", f.NewPorts, f.PortUpdates, err)
	}
	if !strings.Contains(strings.Join(f.Notes, "\n"), "belongs to node another") {
		t.Errorf("notes %q", f.Notes)
	}
}

// bmcs is one BMC.
type bmcs struct {
	invalid, fails error
	asked          int
}

func (b *bmcs) Validate(node.Node) error { return b.invalid }

func (b *bmcs) Do(_ context.Context, _ node.Node, fn func(outofband.BMC) error) error { return fn(b) }

func (b *bmcs) Hardware(context.Context) (node.Hardware, error) {
	b.asked++
	return server(), b.fails
}

func TestRedfishAsksTheBMCAndNobodyElse(t *testing.T) {
	b := &bmcs{}
	r := outofband.NewRedfish(b)
	if err := r.Validate(t.Context(), node.Node{}); err != nil || b.asked != 0 {
		t.Errorf("Validate: %v, the BMC was asked %d times", err, b.asked)
	}
	h, err := r.Discover(t.Context(), node.Node{})
	if diff := cmp.Diff(server(), h); err != nil || diff != "" || b.asked != 1 {
		t.Errorf("Discover: %v, asked %d times (-want +got):\n%s", err, b.asked, diff)
	}
	b.invalid, b.fails = node.Invalidf("no address"), &node.Unsupported{Driver: "ipmi", Extension: "hardware inventory"}
	if err := r.Validate(t.Context(), node.Node{}); !errors.Is(err, b.invalid) {
		t.Errorf("Validate: %v", err)
	}
	if _, err := r.Discover(t.Context(), node.Node{}); !isUnsupported(err) {
		t.Errorf("Discover: %v", err)
	}
}

// Other hooks than the usual ones work on what a BMC tells, too.
func TestChosenHooksOutOfBand(t *testing.T) {
	list, err := hooks.Select([]string{hooks.DefaultName, "local-link-connection", "pci-devices"}, hooks.OutOfBandNames(),
		hooks.Settings{PCIAliases: []hooks.PCIAlias{{Name: "nic", VendorID: "8086", ProductID: "1563"}}})
	if err != nil {
		t.Fatal(err)
	}
	f, err := outofband.NewRedfish(nil).WithHooks(list).Process(node.Node{UUID: uuid}, nil, nil, server())
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]any{"switch_id": "02:00:5e:ff:00:01", "port_id": "Ethernet7", "switch_info": "leaf-1"}
	if diff := cmp.Diff(want, f.NewPorts[0].LocalLinkConnection); diff != "" {
		t.Errorf("local_link_connection (-want +got):\n%s", diff)
	}
	if f.Properties["capabilities"] != "boot_mode:uefi,nic:1" {
		t.Errorf("capabilities %v", f.Properties["capabilities"])
	}
}
