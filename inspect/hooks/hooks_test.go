package hooks_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"cagenut/inspect/hooks"
	"cagenut/inspect/inventory"
	"cagenut/node"
)

const uuid = "1be26c0b-03f2-4d2e-ae87-c02d7f33c781"

func TestAWholeReport(t *testing.T) {
	body, err := os.ReadFile("testdata/edge-server.json")
	if err != nil {
		t.Fatal(err)
	}
	f, err := run(t, hooks.Input{Node: node.Node{UUID: uuid, Properties: map[string]any{"rack": "r1", "capabilities": "cpu_vt:true,boot_mode:bios"}}}, string(body))
	if err != nil {
		t.Fatal(err)
	}
	wantProperties := map[string]any{
		"rack": "r1", "cpu_arch": "x86_64", "memory_mb": int64(131072), "cpus": int64(24), "local_gb": int64(893),
		"capabilities": "cpu_vt:true,boot_mode:uefi",
	}
	if diff := cmp.Diff(wantProperties, f.Properties); diff != "" {
		t.Errorf("properties (-want +got):\n%s", diff)
	}
	wantPorts := []node.Port{{NodeUUID: uuid, Address: "02:00:5e:aa:00:01", PXEEnabled: true, Extra: map[string]any{}}}
	if diff := cmp.Diff(wantPorts, f.NewPorts, cmpopts.IgnoreFields(node.Port{}, "UUID")); diff != "" {
		t.Errorf("ports (-want +got):\n%s", diff)
	}
	if len(f.NewPorts) == 1 && !node.IsUUID(f.NewPorts[0].UUID) {
		t.Errorf("UUID of the new port: %q", f.NewPorts[0].UUID)
	}
	if !strings.Contains(string(body), string(f.Inventory)) || !json.Valid(f.Inventory) {
		t.Error("the inventory is not as it was reported, byte for byte")
	}
	// G24: the biggest counter survives; and markup is not respelt.
	for _, want := range []string{`"counter":18446744073709551615`, `"markup":"<b>&</b>"`} {
		if !strings.Contains(string(f.PluginData), want) {
			t.Errorf("plugin data lack %s: %s", want, f.PluginData)
		}
	}
	var plugin map[string]any
	if err := json.Unmarshal(f.PluginData, &plugin); err != nil {
		t.Fatal(err)
	}
	for key := range plugin {
		if !slices.Contains([]string{"all_interfaces", "valid_interfaces", "macs", "root_disk", "local_gb", "boot_interface", "configuration", "counter", "markup", "error"}, key) {
			t.Errorf("plugin data hold %q", key)
		}
	}
	eno1 := map[string]any{"name": "eno1", "mac_address": "02:00:5E:AA:00:01", "ipv4_address": "192.0.2.101", "ipv6_address": "fe80::5eff:feaa:1",
		"has_carrier": true, "client_id": nil, "speed_mbps": 10000.0, "pxe_enabled": true}
	eno2 := map[string]any{"name": "eno2", "mac_address": "02:00:5e:aa:00:02", "ipv4_address": nil, "ipv6_address": nil,
		"has_carrier": false, "client_id": nil, "speed_mbps": nil, "pxe_enabled": false}
	want := map[string]any{"eno1": eno1, "eno2": eno2}
	if diff := cmp.Diff(want, plugin["all_interfaces"]); diff != "" {
		t.Errorf("all_interfaces (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(map[string]any{"eno1": eno1}, plugin["valid_interfaces"]); diff != "" {
		t.Errorf("valid_interfaces (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]any{"02:00:5E:AA:00:01"}, plugin["macs"]); diff != "" {
		t.Errorf("macs (-want +got):\n%s", diff)
	}
	if len(f.Notes) != 0 {
		t.Errorf("notes: %v", f.Notes)
	}
}

// The three things that fail a run, and how they are told.
func TestWhatFailsARun(t *testing.T) {
	for _, c := range []struct {
		name, body string
		properties map[string]any
		want       string
	}{
		{"a ramdisk's error (G25)", report(`"error":"no disks \u2013 Ж"`, nic1, ""), nil,
			"The following failures happened while running preprocess hooks for node " + uuid + ":\nError in preprocess hook ramdisk-error: Ramdisk reported error: no disks – Ж"},
		{"no usable interface", report("", `{"name":"ib0","mac_address":"garbage"}`, ""), nil,
			"The following failures happened while running preprocess hooks for node " + uuid + ":\nError in preprocess hook validate-interfaces: no usable network interface was reported"},
		{"both are told together", report(`"error":"boom"`, `{"mac_address":"02:00:5e:00:00:01"}`, ""), nil,
			"The following failures happened while running preprocess hooks for node " + uuid + ":\nError in preprocess hook ramdisk-error: Ramdisk reported error: boom\nError in preprocess hook validate-interfaces: no usable network interface was reported"},
		{"hints that no disk fits", report("", nic1, `"disks":[{"name":"/dev/sda","size":10737418240}]`), map[string]any{"root_device": map[string]any{"name": "/dev/sdb"}},
			"failed to run inspection hooks: Error in hook root-device: No disks satisfied root device hints"},
		{"hints that nobody understands", report("", nic1, ""), map[string]any{"root_device": map[string]any{"colour": "red"}},
			`failed to run inspection hooks: Error in hook root-device: properties.root_device: there is no hint "colour"; there are size, rotational, name, model, vendor, serial, wwn, wwn_with_extension, wwn_vendor_extension, hctl, by_path`},
	} {
		t.Run(c.name, func(t *testing.T) {
			f, err := run(t, hooks.Input{Node: node.Node{UUID: uuid, Properties: c.properties}}, c.body)
			if err == nil || err.Error() != c.want {
				t.Errorf("\n got %v\nwant %s", err, c.want)
			}
			if f.Inventory != nil || f.NewPorts != nil || f.Properties != nil {
				t.Errorf("a failed run leaves nothing but notes, got %+v", f)
			}
		})
	}
}

func TestARamdisksErrorIsCutToALength(t *testing.T) {
	_, err := run(t, hooks.Input{Node: node.Node{UUID: uuid}}, report(`"error":"`+strings.Repeat("я", 1<<20)+`"`, nic1, ""))
	if err == nil || len(err.Error()) > 5000 || !strings.HasSuffix(err.Error(), "я…") {
		t.Errorf("the error has %d bytes", len(fmt.Sprint(err)))
	}
}

// G23, G24: what is missing, null or odd is skipped and noted; it neither fails nor overwrites.
func TestMissingValuesAreSkippedAndNoted(t *testing.T) {
	before := map[string]any{"cpu_arch": "aarch64", "memory_mb": int64(4096), "cpus": int64(8), "capabilities": "boot_mode:uefi"}
	for _, c := range []struct{ name, inventory string }{
		{"missing", ""},
		{"null", `"cpu":null,"memory":null,"boot":null,"disks":null`},
		{"null inside", `"cpu":{"architecture":null,"count":null},"memory":{"total":null,"physical_mb":null},"boot":{"current_boot_mode":null},"disks":[]`},
		{"zero", `"cpu":{"architecture":"","count":0},"memory":{"physical_mb":0},"boot":{"current_boot_mode":""}`},
		{"odd", `"cpu":{"architecture":"x<script>","count":"many"},"memory":[],"boot":{"current_boot_mode":"mainframe"}`},
	} {
		t.Run(c.name, func(t *testing.T) {
			f, err := run(t, hooks.Input{Node: node.Node{UUID: uuid, Properties: before}}, report("", nic1, c.inventory))
			if err != nil {
				t.Fatal(err)
			}
			want := map[string]any{"cpu_arch": "aarch64", "memory_mb": int64(4096), "cpus": int64(8), "capabilities": "boot_mode:uefi", "local_gb": int64(0)}
			if diff := cmp.Diff(want, f.Properties); diff != "" {
				t.Errorf("properties (-want +got):\n%s", diff)
			}
			for _, word := range []string{"cpu_arch", "memory_mb", "cpus", "boot_mode", "local_gb"} {
				if !strings.Contains(strings.Join(f.Notes, "\n"), word) {
					t.Errorf("no note about %s: %v", word, f.Notes)
				}
			}
		})
	}
	if _, ok := before["local_gb"]; ok {
		t.Error("the node's own document was changed")
	}
}

func TestBootModeLeavesOtherCapabilitiesAlone(t *testing.T) {
	for _, c := range []struct {
		name      string
		old, want any
	}{
		{"none", nil, "boot_mode:uefi"},
		{"empty", "", "boot_mode:uefi"},
		{"others", "cpu_vt:true,trusted:x", "cpu_vt:true,trusted:x,boot_mode:uefi"},
		{"replaced in its place", "a:1,boot_mode:bios,b:2", "a:1,boot_mode:uefi,b:2"},
		{"said twice", "boot_mode:bios,a:1, boot_mode:bios", "boot_mode:uefi,a:1"},
		{"values with colons and odd parts", "x:y:z,odd,,", "x:y:z,odd,boot_mode:uefi"},
		{"no text", map[string]any{"a": 1}, map[string]any{"a": 1}},
	} {
		t.Run(c.name, func(t *testing.T) {
			f, err := run(t, hooks.Input{Node: node.Node{UUID: uuid, Properties: map[string]any{"capabilities": c.old}}}, report("", nic1, `"boot":{"current_boot_mode":"uefi"}`))
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(c.want, f.Properties["capabilities"]); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

const nic1 = `{"name":"eth0","mac_address":"02:00:5e:00:00:01","ipv4_address":"192.0.2.5"}`

// report is a report with the given top-level members, interfaces and further members of the inventory.
func report(top, interfaces, inv string) string {
	if top != "" {
		top += ","
	}
	if inv != "" {
		inv = "," + inv
	}
	return `{` + top + `"inventory":{"interfaces":[` + interfaces + `]` + inv + `}}`
}

func run(t *testing.T, in hooks.Input, body string) (hooks.Findings, error) {
	t.Helper()
	r, err := inventory.Parse([]byte(body))
	if err != nil {
		t.Fatal(err)
	}
	in.Report = r
	return hooks.Run(hooks.Default(), in)
}

// compact is JSON without blanks.
func compact(t *testing.T, v []byte) string {
	t.Helper()
	var out bytes.Buffer
	if err := json.Compact(&out, v); err != nil {
		t.Fatal(err)
	}
	return out.String()
}
