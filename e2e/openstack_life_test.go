package e2e_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

// reportOf is what a ramdisk posts of a server with one disk and one interface.
func reportOf(mac string) map[string]any {
	return map[string]any{"inventory": map[string]any{
		"interfaces":    []map[string]any{{"name": "eth0", "mac_address": mac, "has_carrier": true, "ipv4_address": "192.0.2.21"}},
		"cpu":           map[string]any{"architecture": "x86_64", "count": 16, "model_name": "Test CPU"},
		"memory":        map[string]any{"physical_mb": 65536, "total": 68719476736},
		"disks":         []map[string]any{{"name": "/dev/sda", "size": 480103981056, "model": "Test SSD", "rotational": false}},
		"boot":          map[string]any{"current_boot_mode": "uefi", "pxe_interface": mac},
		"bmc_address":   "192.0.2.101",
		"hostname":      "ramdisk",
		"system_vendor": map[string]any{"manufacturer": "Test", "product_name": "Test server", "serial_number": "R7-1"},
	}}
}

// A node's whole life, every step with the client that people type, and seen by it.
func TestTheWholeLifeOfANodeWithTheOpenstackClient(t *testing.T) {
	t.Parallel()
	python(t, "openstackclient.shell", "ironicclient.osc.plugin")
	const mac = "52:54:00:aa:bb:cc"
	a := serveOn(t, withBootFiles(t))
	o := openstackFor(t, a)
	shows := func(want record) {
		t.Helper()
		n := o.show("node", "show", "spare")
		for field, value := range want {
			if n[field] != value {
				t.Errorf("the client shows %s = %v, want %v", field, n[field], value)
			}
		}
	}

	t.Log("what there is")
	for _, driver := range []string{"fake-hardware", "ipmi", "redfish"} {
		if !slices.Contains(column(o.list("driver", "list"), "Supported driver(s)"), any(driver)) {
			t.Errorf("the driver %s is not listed", driver)
		}
	}
	if d := o.show("driver", "show", "redfish"); d["name"] != "redfish" || d["default_inspect_interface"] != "agent" {
		t.Errorf("the driver redfish is %v", d)
	}
	if names := column(o.list("driver", "property", "list", "redfish"), "Property"); !slices.Contains(names, any("redfish_address")) {
		t.Errorf("the properties of redfish are %v", names)
	}
	conductors := o.list("conductor", "list")
	if len(conductors) != 1 || conductors[0]["Alive"] != true {
		t.Fatalf("the conductors are %v", conductors)
	}
	host, _ := conductors[0]["Hostname"].(string)
	if c := o.show("conductor", "show", host); c["hostname"] != host || c["alive"] != true {
		t.Errorf("the conductor is %v", c)
	}

	t.Log("enrolled, in a chassis, with a port")
	chassis, _ := o.show("chassis", "create", "--description", "rack 7")["uuid"].(string)
	made := o.show("node", "create", "--driver", "fake-hardware", "--name", "spare", "--inspect-interface", "agent", "--chassis-uuid", chassis, "--extra", "rack=R7")
	uuid, _ := made["uuid"].(string)
	if made["provision_state"] != "enroll" || made["chassis_uuid"] != chassis || uuid == "" {
		t.Fatalf("the new node is %v", made)
	}
	port := o.show("port", "create", strings.ToUpper(mac), "--node", uuid, "--local-link-connection", "port_id=Ethernet1/1", "--local-link-connection", "switch_id=02:00:5e:00:00:01")
	portUUID, _ := port["uuid"].(string)
	if port["address"] != mac || port["node_uuid"] != uuid || portUUID == "" {
		t.Fatalf("the new port is %v", port)
	}
	o.baremetal("port", "set", portUUID, "--extra", "cable=blue", "--pxe-enabled")
	if p := o.show("port", "show", "--address", mac); p["uuid"] != portUUID || p["extra"].(record)["cable"] != "blue" {
		t.Errorf("the port is %v", p)
	}
	if ports := column(o.list("port", "list", "--node", "spare"), "Address"); len(ports) != 1 || ports[0] != mac {
		t.Errorf("its ports are %v", ports)
	}

	t.Log("managed, with a boot device")
	o.baremetal("node", "manage", "spare", "--wait", "60")
	shows(record{"provision_state": "manageable", "power_state": "power off"})
	for _, v := range o.list("node", "validate", "spare") {
		if v["Result"] != true {
			t.Errorf("not valid: %v", v)
		}
	}
	o.baremetal("node", "boot", "device", "set", "spare", "pxe", "--persistent")
	if d := o.show("node", "boot", "device", "show", "spare"); d["boot_device"] != "pxe" || d["persistent"] != true {
		t.Errorf("the boot device is %v", d)
	}
	if d := o.show("node", "boot", "device", "show", "spare", "--supported"); !strings.Contains(d["supported_boot_devices"].(string), "pxe") {
		t.Errorf("the supported boot devices are %v", d)
	}

	t.Log("an inspection that somebody waits for, and somebody else aborts")
	waiting := openstackFor(t, a)
	waiting.begin("baremetal", "node", "inspect", "spare", "--wait")
	a.waitFor("spare", "inspect wait")
	o.baremetal("node", "abort", "spare")
	shows(record{"provision_state": "inspect failed", "last_error": "Inspection was aborted by request."})
	if got := waiting.end(); got.Code == 0 || !strings.Contains(got.words(), "It's in state inspect failed, and has error: Inspection was aborted by request.") {
		t.Errorf("who waited was told %d, %q", got.Code, got.words())
	}
	if events := column(o.list("node", "history", "list", "spare"), "Description of the event"); !slices.Contains(events, any("Inspection was aborted by request.")) {
		t.Errorf("the history is %q", events)
	}

	t.Log("an inspection that the server reports to")
	waiting.begin("baremetal", "node", "inspect", "spare", "--wait")
	a.waitFor("spare", "inspect wait")
	must[any](a, "POST", "/v1/continue_inspection", reportOf(mac))
	if got := waiting.end(); got.Code != 0 || !strings.Contains(got.words(), "Waiting for provision state manageable on node spare") {
		t.Errorf("who waited was told %d, %q", got.Code, got.words())
	}
	shows(record{"provision_state": "manageable", "last_error": nil})
	if properties := o.show("node", "show", "spare")["properties"].(record); properties["cpu_arch"] != "x86_64" || fmt.Sprint(properties["memory_mb"]) != "65536" {
		t.Errorf("the inspection has found %v", properties)
	}
	// Debian's client has no command for the inventory.
	inventory := must[struct {
		Inventory struct{ Memory map[string]int64 }
	}](a, "GET", "/v1/nodes/spare/inventory", nil)
	if inventory.Inventory.Memory["physical_mb"] != 65536 {
		t.Errorf("the inventory is %v", inventory)
	}

	t.Log("traits, power, maintenance")
	o.baremetal("node", "add", "trait", "spare", "CUSTOM_GPU", "HW_CPU_X86_VMX")
	o.baremetal("node", "remove", "trait", "spare", "HW_CPU_X86_VMX")
	if traits := column(o.list("node", "trait", "list", "spare"), "Traits"); !slices.Equal(traits, []any{"CUSTOM_GPU"}) {
		t.Errorf("the traits are %v", traits)
	}
	for _, power := range []string{"on", "off"} {
		o.baremetal("node", "power", power, "spare")
		until(t, "power "+power, func() bool { return a.node("spare").PowerState == "power "+power })
	}
	o.baremetal("node", "maintenance", "set", "spare", "--reason", "wrong cable")
	shows(record{"maintenance": true, "maintenance_reason": "wrong cable"})
	o.baremetal("node", "maintenance", "unset", "spare")

	t.Log("available, and gone")
	o.baremetal("node", "provide", "spare", "--wait", "60")
	shows(record{"provision_state": "available", "maintenance": false, "maintenance_reason": nil})
	o.baremetal("port", "delete", portUUID)
	o.baremetal("node", "delete", "spare")
	o.baremetal("chassis", "delete", chassis)
	for _, what := range []string{"node", "port", "chassis"} {
		if left := o.list(what, "list"); len(left) != 0 {
			t.Errorf("what is left of the %s list is %v", what, left)
		}
	}
}
