package ironic_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"cagenut/node"
)

// fieldsSince is the table of contract.md §3.3.
var fieldsSince = map[int][]string{
	1: {"uuid", "created_at", "updated_at", "chassis_uuid", "console_enabled", "driver", "driver_info", "extra", "instance_info", "instance_uuid", "last_error",
		"maintenance", "maintenance_reason", "power_state", "target_power_state", "properties", "provision_state", "target_provision_state", "provision_updated_at",
		"reservation", "links", "ports"},
	3: {"driver_internal_info"}, 5: {"name"}, 6: {"inspection_started_at", "inspection_finished_at"}, 7: {"clean_step"},
	12: {"raid_config", "target_raid_config"}, 14: {"states"}, 20: {"network_interface"}, 21: {"resource_class"}, 24: {"portgroups"},
	31: {"boot_interface", "console_interface", "deploy_interface", "inspect_interface", "management_interface", "power_interface", "raid_interface", "vendor_interface"},
	32: {"volume"}, 33: {"storage_interface"}, 37: {"traits"}, 38: {"rescue_interface"}, 40: {"bios_interface"}, 42: {"fault"}, 44: {"deploy_step"},
	46: {"conductor_group"}, 47: {"automated_clean"}, 48: {"protected", "protected_reason"}, 49: {"conductor"}, 50: {"owner"}, 51: {"description"},
	52: {"allocation_uuid"}, 61: {"retired", "retired_reason"}, 65: {"lessee"}, 66: {"network_data"}, 75: {"boot_mode", "secure_boot"}, 82: {"shard"},
	83: {"parent_node"}, 86: {"firmware_interface"}, 87: {"service_step"}, 95: {"disable_power_off"},
}

func TestEveryVersionSeesItsOwnFields(t *testing.T) {
	base := serve(t, waiting())
	want := map[string]bool{}
	for minor := 1; minor <= 96; minor++ {
		for _, field := range fieldsSince[minor] {
			want[field] = true
		}
		got := call(t, "GET", base+"/nodes/"+one, fmt.Sprintf("1.%d", minor), "").body
		for field := range want {
			if _, ok := got[field]; !ok {
				t.Errorf("1.%d lacks %s", minor, field)
			}
		}
		for field := range got {
			if !want[field] {
				t.Errorf("1.%d has %s", minor, field)
			}
		}
	}
}

func TestANodeKeepsItsValuesOnTheWire(t *testing.T) {
	at := time.Date(2026, 11, 30, 2, 5, 27, 816528000, time.UTC)
	r := waiting()
	r.nodes[0].CreatedAt, r.nodes[0].ProvisionUpdatedAt, r.nodes[0].Traits = at, at, []string{"CUSTOM_B", "CUSTOM_A"}
	a := call(t, "GET", serve(t, r)+"/v1/nodes/n1", "1.96", "")
	for field, want := range map[string]any{
		"created_at": "2026-11-30T02:05:27.816528+00:00", "provision_updated_at": "2026-11-30T02:05:27.816528+00:00", "updated_at": nil,
		"conductor_group": "", "automated_clean": nil, "secure_boot": nil, "protected": false, "power_state": nil,
		"target_provision_state": "manageable", "inspection_started_at": nil,
	} {
		if a.body[field] != want {
			t.Errorf("%s reads %v", field, a.body[field])
		}
	}
	if a.body["driver_info"].(map[string]any)["redfish_password"] != node.Mask {
		t.Errorf("driver_info reads %v", a.body["driver_info"])
	}
}

// Whatever a client may write reads back as it was written.
func TestWhatIsCreatedReadsBack(t *testing.T) {
	base := serve(t, &rack{})
	for field, value := range map[string]string{
		"name": `"ns~n.json"`, "driver_info": `{"n":12345678901234567890,"redfish_address":"https://192.0.2.1"}`, "properties": `{"cpus":8}`,
		"extra": `{"rack":"R07","rack_unit":21}`, "instance_info": `{"a":[1,2]}`, "instance_uuid": `"` + one + `"`, "resource_class": `"baremetal"`,
		"conductor_group": `"g"`, "inspect_interface": `"agent"`, "boot_mode": `"uefi"`, "secure_boot": `true`, "console_enabled": `false`,
		"maintenance": `true`, "automated_clean": `false`, "description": `"größe"`, "disable_power_off": `true`, "owner": `"o"`, "lessee": `"l"`,
		"network_data": `{"links":[]}`, "parent_node": `"` + one + `"`, "retired": `true`, "retired_reason": `"old"`, "shard": `"s1"`,
	} {
		a := call(t, "POST", base+"/v1/nodes", "1.96", fmt.Sprintf(`{"driver":"redfish",%q:%s}`, field, value))
		if a.status != 201 {
			t.Errorf("%s: %d %s", field, a.status, a.text)
			continue
		}
		got := call(t, "GET", base+"/v1/nodes/"+a.body["uuid"].(string)+"?fields="+field, "1.96", "")
		want := fmt.Sprintf(`%q:%s`, field, value)
		if !strings.Contains(got.text, want) || len(got.body) != 2 {
			t.Errorf("%s: got %s, want %s and links", field, got.text, want)
		}
	}
}

func TestAMaskWithinAListKeepsTheSecret(t *testing.T) {
	r := waiting()
	r.nodes[0].DriverInfo = map[string]any{"redfish_address": "https://192.0.2.10", "more": []any{map[string]any{"token": "t0"}}}
	if a := call(t, "PATCH", serve(t, r)+"/v1/nodes/n1", "1.50", `[{"op":"add","path":"/driver_info/redfish_username","value":"root"}]`); a.status != 200 {
		t.Fatalf("got %d %s", a.status, a.text)
	}
	if got := r.nodes[0].DriverInfo["more"].([]any)[0].(map[string]any)["token"]; got != "t0" {
		t.Errorf("stored %v", got)
	}
}

// G59.
func TestNamesThatEndInJSON(t *testing.T) {
	r := waiting()
	r.nodes = append(r.nodes, node.Node{UUID: "6a6d0a7e-2222-4a51-9a3c-0c1f2d3e4f50", Name: "n2.json"})
	base := serve(t, r)
	for _, tc := range []struct {
		path, version string
		want          any
	}{
		{"/v1/nodes/n1.json", "1.90", "n1"}, {"/v1/nodes/n1.json", "1.91", nil},
		{"/v1/nodes/n2.json", "1.90", "n2.json"}, {"/v1/nodes/n2.json", "1.91", "n2.json"},
		{"/v1/nodes/" + one + ".json", "1.1", one}, {"/v1/nodes/ports", "1.50", nil},
	} {
		a := call(t, "GET", base+tc.path, tc.version, "")
		key := "name"
		if tc.version == "1.1" {
			key = "uuid"
		}
		if a.body[key] != tc.want || (tc.want == nil) != (a.status == 404) {
			t.Errorf("%s at %s: %d %v", tc.path, tc.version, a.status, a.body[key])
		}
	}
}

func TestTraits(t *testing.T) {
	r := waiting()
	base := serve(t, r) + "/v1/nodes/n1/traits"
	for _, tc := range []struct {
		name, method, path, version, body string
		status                            int
		after                             []string
	}{
		{"setting them before 1.37 is no method", "PUT", "", "1.36", `{"traits":[]}`, 405, nil},
		{"adding one before 1.37 neither", "PUT", "/CUSTOM_A", "1.36", "", 405, nil},
		{"reading them before 1.37 is not acceptable", "GET", "", "1.36", "", 406, nil},
		{"removing one before 1.37 finds nothing", "DELETE", "/CUSTOM_A", "1.36", "", 404, nil},
		{"all are replaced", "PUT", "", "1.37", `{"traits":["CUSTOM_B","HW_CPU_X86_VMX","CUSTOM_B"]}`, 204, []string{"CUSTOM_B", "HW_CPU_X86_VMX"}},
		{"one is added", "PUT", "/CUSTOM_A", "1.37", "", 204, []string{"CUSTOM_A", "CUSTOM_B", "HW_CPU_X86_VMX"}},
		{"adding it again changes nothing", "PUT", "/CUSTOM_A", "1.37", "", 204, []string{"CUSTOM_A", "CUSTOM_B", "HW_CPU_X86_VMX"}},
		{"a name that is none is refused", "PUT", "/custom_a", "1.37", "", 400, []string{"CUSTOM_A", "CUSTOM_B", "HW_CPU_X86_VMX"}},
		{"one is removed", "DELETE", "/CUSTOM_B", "1.37", "", 204, []string{"CUSTOM_A", "HW_CPU_X86_VMX"}},
		{"one that is not there is not found", "DELETE", "/CUSTOM_B", "1.37", "", 404, []string{"CUSTOM_A", "HW_CPU_X86_VMX"}},
		{"all are removed", "DELETE", "", "1.37", "", 204, []string{}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			a := call(t, tc.method, base+tc.path, tc.version, tc.body)
			if a.status != tc.status || !slices.Equal(r.nodes[0].Traits, tc.after) {
				t.Errorf("got %d %s, traits %v", a.status, a.text, r.nodes[0].Traits)
			}
			if tc.status == 405 && a.header.Get("Allow") == "" {
				t.Error("no Allow header")
			}
		})
	}
}
