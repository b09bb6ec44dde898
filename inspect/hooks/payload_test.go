package hooks_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"cagenut/inspect/hooks"
	"cagenut/inspect/inventory"
)

// payload is one of the real reports beside the repository.
func payload(t *testing.T, name string) json.RawMessage {
	t.Helper()
	dir := os.Getenv("CAGENUT_SHARED")
	if dir == "" {
		dir = filepath.Join("..", "..", "..", "shared")
	}
	body, err := os.ReadFile(filepath.Join(dir, "payloads", name))
	if os.IsNotExist(err) {
		if os.Getenv("CAGENUT_REQUIRE_PEERS") == "1" {
			t.Fatalf("the real reports are not here, and CAGENUT_REQUIRE_PEERS asks for them: %s", err)
		}
		t.Skipf("the shared folder with real reports is not here (set CAGENUT_SHARED): %s", err)
	}
	if err != nil {
		t.Fatal(err)
	}
	return body
}

func sample(t *testing.T, name string) json.RawMessage {
	t.Helper()
	body, err := os.ReadFile(filepath.Join("testdata", name))
	if err != nil {
		t.Fatal(err)
	}
	return body
}

// part is a member of a document, on a path.
func part(t *testing.T, doc json.RawMessage, path ...string) json.RawMessage {
	t.Helper()
	for _, key := range path {
		fields, err := inventory.Members(doc)
		if err != nil || fields[key] == nil {
			t.Fatalf("there is no %s: %v", key, err)
		}
		doc = fields[key]
	}
	return doc
}

// posted is an inventory as a ramdisk posts it.
func posted(inventory json.RawMessage) string { return `{"inventory":` + string(inventory) + `}` }

// everyHook is every hook in an order that suits all.
const everyHook = "default,cpu-capabilities,raid-device,pci-devices,accelerators,local-link-connection,parse-lldp,physical-network,extra-hardware"

type outcome struct {
	properties map[string]any
	ports      []string
	notes      []string
}

func (want outcome) check(t *testing.T, list, body string) hooks.Findings {
	t.Helper()
	f := runHooks(t, list, hooks.Settings{}, hooks.Input{}, body)
	if diff := cmp.Diff(want.properties, f.Properties); diff != "" {
		t.Errorf("properties (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(want.ports, all(f.NewPorts)); diff != "" {
		t.Errorf("ports (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(want.notes, f.Notes); diff != "" {
		t.Errorf("notes (-want +got):\n%s", diff)
	}
	return f
}

func properties(memoryMB, cpus, localGB int64, more ...any) map[string]any {
	p := map[string]any{"cpu_arch": "x86_64", "memory_mb": memoryMB, "cpus": cpus, "local_gb": localGB}
	for i := 0; i < len(more); i += 2 {
		p[more[i].(string)] = more[i+1]
	}
	return p
}

const (
	noMode = "no known boot mode was reported: the capability boot_mode stays as it is"
	noPXE  = "the interface that the server booted from is not known: every interface with an address counts as one"
	bios   = "boot_mode:bios"
)

// What the default hooks make of reports as ramdisks and services really send them: as they are, and their inventory alone.
func TestRealReports(t *testing.T) {
	vm := outcome{properties(2048, 2, 12, "capabilities", bios), []string{"52:54:00:4e:3d:30 pxe"}, nil}
	for _, c := range []struct {
		file        string
		whole, bare *outcome // nil: not posted like that
	}{
		{"01-inspector-continue-request-apiref.json", &outcome{properties(2048, 2, 12), []string{"52:54:00:4e:3d:30 pxe"}, []string{noMode}}, nil},
		{"02-inspector-processed-data-apiref.json", &vm, &vm},
		{"03-ironic-native-inventory-and-plugin-data.json", nil, &vm},
		{"04-inspector-processed-data-with-lldp.json", &vm, &vm},
		{"05-kvm-node-processed-data.json", &outcome{properties(16384, 4, 49, "capabilities", bios), []string{"02:5e:55:c0:6a:d7 pxe"}, nil},
			&outcome{properties(16384, 4, 49, "capabilities", bios), []string{"02:5e:55:c0:6a:d7 pxe"}, nil}},
		{"06-hci-node-ipv6-zones-numa.json", &outcome{properties(256000, 2, 99, "capabilities", bios), []string{"02:5e:37:2c:34:30 pxe"}, nil},
			&outcome{properties(256000, 2, 49, "capabilities", bios), []string{"02:5e:37:2c:34:30 pxe"}, nil}},
		{"08-infiniband-ipv6-bmc-prefix.json", &outcome{properties(12288, 4, 999), []string{"11:22:33:44:55:66 pxe"}, []string{noMode}},
			&outcome{properties(12288, 4, 19), []string{"11:22:33:44:55:66 pxe", "66:55:44:33:22:11 pxe", "02:5e:90:29:26:52 pxe client-id=ff:00:00:00:00:00:02:00:00:02:c9:00:02:5e:90:03:00:29:26:52"}, []string{noPXE, noMode}}},
	} {
		if c.whole != nil {
			t.Run(c.file, func(t *testing.T) { c.whole.check(t, "default", string(payload(t, c.file))) })
		}
		if c.bare != nil {
			t.Run("the inventory of "+c.file, func(t *testing.T) { c.bare.check(t, "default", posted(part(t, payload(t, c.file), "inventory"))) })
		}
	}
}

func TestRealInventoriesOfClusterAgents(t *testing.T) {
	list, err := inventory.Elements(payload(t, "15-agent-inventories-small-vms.json"), 10)
	if err != nil || len(list) != 3 {
		t.Fatalf("%d inventories, %v", len(list), err)
	}
	for i, macs := range [][]string{{"02:00:00:71:9a:0f pxe", "02:00:00:7a:88:32 pxe"}, {"02:00:00:4a:97:3a pxe", "02:00:00:1f:01:a6 pxe"}, {"02:00:00:27:b1:40 pxe", "02:00:00:72:27:76 pxe"}} {
		t.Run(fmt.Sprint(i), func(t *testing.T) {
			outcome{properties(16984, 4, 119, "capabilities", bios), macs, []string{noPXE}}.check(t, "default", posted(list[i]))
		})
	}
}

func TestRealExtraHardware(t *testing.T) {
	data := part(t, payload(t, "10-hp-gen8-extra-hardware.json"), "data")
	f := runHooks(t, "extra-hardware", hooks.Settings{}, hooks.Input{}, report(`"data":`+string(data), nic1, ""))
	noted(t, f, "")
	plugin := pluginData(t, f)
	extra := plugin["extra"].(map[string]any)
	for path, want := range map[string]any{
		"system/product/name": "ProLiant BL460c Gen8 (641016-B21)", "disk/1I:1:1/size": 300.0, "disk/sda/rev": "4.68", "memory/bank:0:0/size": 17179869184.0, "firmware/bios/date": "09/18/2013",
	} {
		keys := strings.SplitN(path, "/", 3)
		if got := extra[keys[0]].(map[string]any)[keys[1]].(map[string]any)[keys[2]]; got != want {
			t.Errorf("%s: got %v, want %v", path, got, want)
		}
	}
	values := 0
	for _, items := range extra {
		for _, keys := range items.(map[string]any) {
			values += len(keys.(map[string]any))
		}
	}
	if values != 527 || plugin["data"] != nil {
		t.Errorf("%d values, the list itself: %v", values, plugin["data"] != nil)
	}
}

// A report that the inspector service worked up holds the frames, and what it made of them: either will do.
func TestARealReportWithLLDP(t *testing.T) {
	whole := payload(t, "04-inspector-processed-data-with-lldp.json")
	fields, err := inventory.Members(whole)
	if err != nil {
		t.Fatal(err)
	}
	for name, body := range map[string]string{
		"the frames":                          string(whole),
		"what the service made of them":       fmt.Sprintf(`{"inventory":%s,"boot_interface":%s,"all_interfaces":%s}`, fields["inventory"], fields["boot_interface"], fields["all_interfaces"]),
		"what Ironic made of them and stored": fmt.Sprintf(`{"inventory":%s,"parsed_lldp":%s}`, fields["inventory"], part(t, payload(t, "03-ironic-native-inventory-and-plugin-data.json"), "plugin_data", "parsed_lldp")),
	} {
		t.Run(name, func(t *testing.T) {
			f := runHooks(t, "default,local-link-connection,parse-lldp", hooks.Settings{}, hooks.Input{}, body)
			said := map[string]any{"switch_chassis_id": "11:22:33:aa:bb:cc", "switch_system_name": "sw01-dist-1b-b12"}
			if diff := cmp.Diff(map[string]any{"eth0": said}, pluginData(t, f)["parsed_lldp"]); diff != "" {
				t.Errorf("parsed_lldp (-want +got):\n%s", diff)
			}
			if len(f.NewPorts) != 1 {
				t.Fatalf("%d ports", len(f.NewPorts))
			}
			if diff := cmp.Diff(map[string]any{"switch_id": "11:22:33:aa:bb:cc", "switch_info": "sw01-dist-1b-b12"}, f.NewPorts[0].LocalLinkConnection); diff != "" {
				t.Errorf("local_link_connection (-want +got):\n%s", diff)
			}
		})
	}
}

// The frames of the real variants, in the order of the file; those of one name belong to one test there.
func TestRealLLDP(t *testing.T) {
	full := map[string]any{
		"switch_capabilities_enabled": []any{"Bridge", "Router"}, "switch_capabilities_support": []any{"Bridge", "Router"}, "switch_chassis_id": "11:22:33:aa:bb:cc",
		"switch_mgmt_addresses": []any{"192.0.2.15", "2001:db8:85a3::8a2e:370:7334", "aa:11:bb:22:cc:33"}, "switch_port_autonegotiation_enabled": true, "switch_port_autonegotiation_support": true,
		"switch_port_description": "host02.lab.eng port 3 (Bond)", "switch_port_id": "734", "switch_port_link_aggregation_enabled": true, "switch_port_link_aggregation_id": 2.0,
		"switch_port_link_aggregation_support": true, "switch_port_management_vlan_id": 88.0, "switch_port_mau_type": "100BASE-TX full duplex", "switch_port_mtu": 1514.0,
		"switch_port_physical_capabilities": []any{"1000BASE-T fdx", "100BASE-TX fdx", "100BASE-TX hdx", "10BASE-T fdx", "10BASE-T hdx", "Asym and Sym PAUSE fdx"},
		"switch_port_protocol_vlan_enabled": true, "switch_port_protocol_vlan_ids": []any{10.0, 20.0}, "switch_port_protocol_vlan_support": true, "switch_port_untagged_vlan_id": 102.0,
		"switch_port_vlans":          []any{map[string]any{"id": 101.0, "name": "vlan101"}, map[string]any{"id": 102.0, "name": "vlan102"}, map[string]any{"id": 104.0, "name": "vlan104"}},
		"switch_protocol_identities": []any{"0026424203000000"}, "switch_system_description": "Networks, Inc. 5500, version 12 Build date: 2014-03-13 08:38:30 UTC ", "switch_system_name": "sw01-dist-1b-b12",
	}
	said := func(pairs ...string) map[string]any {
		m := map[string]any{}
		for i := 0; i < len(pairs); i += 2 {
			m[pairs[i]] = pairs[i+1]
		}
		return m
	}
	em1 := func(m map[string]any) any { return map[string]any{"em1": m} }
	id, port := "switch_chassis_id", "switch_port_id"
	want := []struct {
		name   string
		parsed any
		notes  int
	}{
		{"test_all_valid_data", em1(full), 0}, {"test_all_valid_data", nil, 0}, {"test_old_format", em1(full), 0},
		{"test_multiple_interfaces", map[string]any{"em1": said(id, "11:22:33:aa:bb:cc", port, "734"), "em3": said(id, "11:22:33:aa:bb:ee", port, "799")}, 0},
		{"test_multiple_interfaces", em1(said(id, "11:22:33:aa:bb:dd", port, "788")), 0}, {"test_multiple_interfaces", nil, 0},
		{"test_chassis_ids", em1(said(id, "192.0.2.15")), 0}, {"test_chassis_ids", em1(said(id, "sw01")), 0},
		{"test_duplicate_tlvs", em1(said(id, "11:22:33:aa:bb:cc", port, "734")), 0}, {"test_unhandled_tlvs", nil, 1}, {"test_unhandled_oui", nil, 0},
		{"test_null_strings", em1(said("switch_port_description", "", "switch_system_description", "", "switch_system_name", "")), 2},
		{"test_truncated_int", nil, 3}, {"test_invalid_ip", nil, 2}, {"test_truncated_mac", nil, 1}, {"test_bad_value_macphy", nil, 3}, {"test_bad_value_linkagg", nil, 2},
		{"test_too_many_interfaces", em1(said(id, "11:22:33:aa:bb:cc")), 0}, {"made_value_511_octets", nil, 0}, {"made_value_512_octets", nil, 1},
		{"made_not_utf8_system_name", em1(said(id, "02:00:5e:00:00:01")), 1}, {"made_odd_number_of_hex_digits", nil, 1},
	}
	variants, err := inventory.Elements(part(t, payload(t, "09-lldp-raw-variants.json"), "lldp_raw_variants"), 100)
	if err != nil || len(variants) != len(want) {
		t.Fatalf("%d variants, %v", len(variants), err)
	}
	for i, v := range variants {
		name := string(part(t, v, "case"))
		t.Run(fmt.Sprintf("%d %s", i, name), func(t *testing.T) {
			if name != fmt.Sprintf("%q", want[i].name) {
				t.Fatalf("it is not %s", want[i].name)
			}
			top, first := "", `,"lldp":`+string(part(t, v, "lldp"))
			if part(t, v, "lldp")[0] == '{' {
				top, first = `"lldp_raw":`+string(part(t, v, "lldp")), ""
			}
			nics := `{"name":"em1","mac_address":"` + macA + `"` + first + `},{"name":"em3","mac_address":"` + macB + `"}`
			f := runHooks(t, "parse-lldp", hooks.Settings{}, hooks.Input{}, report(top, nics, ""))
			if diff := cmp.Diff(want[i].parsed, pluginData(t, f)["parsed_lldp"]); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			if len(f.Notes) != want[i].notes {
				t.Errorf("notes %q", f.Notes)
			}
		})
	}
}
