package hooks_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"cagenut/inspect/hooks"
	"cagenut/inspect/inventory"
	"cagenut/node"
)

// port is what the tests compare of one.
func port(p node.Port) string {
	s := p.Address
	if p.PXEEnabled {
		s += " pxe"
	}
	if id, ok := p.Extra["client-id"]; ok {
		s += fmt.Sprintf(" client-id=%v", id)
	}
	return s
}

func all(ps []node.Port) []string {
	var out []string
	for _, p := range ps {
		out = append(out, port(p))
	}
	return out
}

func TestPorts(t *testing.T) {
	const (
		m1 = "02:00:5e:00:00:01"
		m2 = "02:00:5e:00:00:02"
		m9 = "02:00:5e:00:00:09"
	)
	nics := func(s ...string) string { return strings.Join(s, ",") }
	nic := func(name, mac, ip string) string {
		return fmt.Sprintf(`{"name":%q,"mac_address":%q,"ipv4_address":%q}`, name, mac, ip)
	}
	two := nics(nic("eth0", m1, "192.0.2.5"), nic("eth1", m2, ""))
	pxe := func(s string) string { return fmt.Sprintf(`"boot":{"pxe_interface":%q}`, s) }
	for _, c := range []struct {
		name       string
		interfaces string
		inventory  string
		ports      []node.Port
		owners     map[string]string
		created    []string
		updated    []string
		note       string // part of one of the notes
	}{
		{name: "the boot interface, in pxelinux's form (G21)", interfaces: two, inventory: pxe("01-02-00-5e-00-00-01"), created: []string{m1 + " pxe"}},
		{name: "the boot interface, as a MAC in capitals (G21)", interfaces: two, inventory: pxe("02:00:5E:00:00:01"), created: []string{m1 + " pxe"}},
		{name: "no boot interface: those with an address (G21)", interfaces: two, inventory: `"boot":{"pxe_interface":null}`, created: []string{m1 + " pxe"}, note: "booted from is not known: every"},
		{name: "a boot interface that is no MAC (G21)", interfaces: two, inventory: pxe("zz"), created: []string{m1 + " pxe"}, note: "zz"},
		{name: "a boot interface that was not reported (G21)", interfaces: two, inventory: pxe(m9), created: []string{m1 + " pxe"}, note: "no usable one has the MAC " + m9},
		{name: "nothing has an address: all", interfaces: nics(nic("eth0", m1, ""), nic("eth1", m2, "")), created: []string{m1 + " pxe", m2 + " pxe"}},

		{name: "a VLAN and a bond over one NIC (G51)", interfaces: nics(nic("bond0", m1, "192.0.2.5"), nic("eth0.100", m1, "192.0.2.6"), nic("eth0", m1, "")), created: []string{m1 + " pxe"}, note: `"bond0" was left out: it is virtual`},
		{name: "two NICs of a bond with one MAC (G51)", interfaces: nics(nic("eth0", m1, "192.0.2.5"), nic("eth1", m1, "")), created: []string{m1 + " pxe"}, note: `is the MAC of interface "eth0"`},
		{name: "addresses that are no Ethernet (G14)", interfaces: nics(nic("eth0", m1, ""), nic("ib0", "80:00:02:08:fe:80:00:00:00:00:00:00:02:00:5e:03:00:29:26:52", ""), nic("fc", "21:00:02:00:5e:01:02:03", ""), nic("x", "garbage", "")), created: []string{m1 + " pxe"}, note: `"garbage" is no Ethernet address`},
		{name: "loopback and a name that is missing", interfaces: nics(nic("lo", m9, "127.0.0.1"), nic("dummy", m9, "127.0.0.2"), nic("", m2, "192.0.2.6"), nic("eth0", m1, "192.0.2.5")), created: []string{m1 + " pxe"}, note: "without a name"},
		{name: "one name twice", interfaces: nics(nic("eth0", m1, ""), nic("eth0", m2, "")), created: []string{m1 + " pxe"}, note: `"eth0" was reported more than once`},

		{name: "a port that is there stays", interfaces: two, inventory: pxe(m1), ports: []node.Port{{Address: m1, PXEEnabled: true}}, owners: map[string]string{m1: uuid}},
		{name: "pxe_enabled is set right on ports that are there", interfaces: two, inventory: pxe(m1), ports: []node.Port{{Address: m1}, {Address: m2, PXEEnabled: true}}, updated: []string{m1 + " pxe", m2}},
		{name: "and also on one that was not reported", interfaces: two, inventory: pxe(m1), ports: []node.Port{{Address: m9, PXEEnabled: true}}, created: []string{m1 + " pxe"}, updated: []string{m9}},
		{name: "without a known boot interface it stays", interfaces: two, ports: []node.Port{{Address: m1}, {Address: m9, PXEEnabled: true}}},

		{name: "InfiniBand's client id goes to a new port (G14)", interfaces: `{"name":"ib0","mac_address":"` + m1 + `","client_id":"ff:00:01"}`, created: []string{m1 + " pxe client-id=ff:00:01"}},
		{name: "and to one that is there (G14)", interfaces: `{"name":"ib0","mac_address":"` + m1 + `","client_id":"ff:00:01"}`, ports: []node.Port{{Address: m1, PXEEnabled: true}}, updated: []string{m1 + " pxe client-id=ff:00:01"}},
		{name: "and is left when it is there", interfaces: `{"name":"ib0","mac_address":"` + m1 + `","client_id":"ff:00:01"}`, ports: []node.Port{{Address: m1, PXEEnabled: true, Extra: map[string]any{"client-id": "ff:00:01"}}}},

		{name: "the second NIC's port is another node's (G28)", interfaces: nics(nic("eth0", m1, "192.0.2.5"), nic("eth1", m9, "")), inventory: pxe(m1), owners: map[string]string{m9: "n2"}, created: []string{m1 + " pxe"}, note: m9 + " was reported, but its port belongs to node n2"},
		{name: "the boot interface's port is another node's (G27, G28)", interfaces: two, inventory: pxe(m1), owners: map[string]string{m1: "n2"}, note: m1 + " was reported, but its port belongs to node n2"},
	} {
		t.Run(c.name, func(t *testing.T) {
			f, err := run(t, hooks.Input{Node: node.Node{UUID: uuid}, Ports: c.ports, Owners: c.owners}, report("", c.interfaces, c.inventory))
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(c.created, all(f.NewPorts)); diff != "" {
				t.Errorf("created (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(c.updated, all(f.PortUpdates)); diff != "" {
				t.Errorf("updated (-want +got):\n%s", diff)
			}
			if !strings.Contains(strings.Join(f.Notes, "\n"), c.note) {
				t.Errorf("no note says %q: %v", c.note, f.Notes)
			}
			for _, p := range f.NewPorts {
				if p.NodeUUID != uuid {
					t.Errorf("port %s was given to node %q", p.Address, p.NodeUUID)
				}
			}
		})
	}
}

func TestAnUpdatedPortDoesNotChangeTheOneThatWasHandedIn(t *testing.T) {
	extra := map[string]any{"note": "kept"}
	in := hooks.Input{Node: node.Node{UUID: uuid}, Ports: []node.Port{{UUID: "p1", Version: 7, Address: "02:00:5e:00:00:01", Extra: extra}}}
	f, err := run(t, in, report("", `{"name":"ib0","mac_address":"02:00:5e:00:00:01","client_id":"ff"}`, ""))
	if err != nil {
		t.Fatal(err)
	}
	want := []node.Port{{UUID: "p1", Version: 7, Address: "02:00:5e:00:00:01", Extra: map[string]any{"note": "kept", "client-id": "ff"}}}
	if diff := cmp.Diff(want, f.PortUpdates); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if len(extra) != 1 {
		t.Errorf("the port's own document was changed: %v", extra)
	}
}

// Which interfaces become ports, by the setting.
func TestAddPorts(t *testing.T) {
	// The second one booted, where that is known; the first two have an address.
	nics := fmt.Sprintf(`{"name":"eno1","mac_address":%q,"ipv4_address":"192.0.2.5"},{"name":"eno2","mac_address":%q,"ipv6_address":"2001:db8::5"},{"name":"eno3","mac_address":%q}`, macA, macB, macC)
	mute := fmt.Sprintf(`{"name":"eno1","mac_address":%q},{"name":"lo","mac_address":%q,"ipv4_address":"127.0.0.1"}`, macA, macB)
	booted := `"boot":{"pxe_interface":"` + macB + `"}`
	for _, c := range []struct {
		name, add, interfaces, inventory string
		created                          []string
		valid                            int    // members of plugin_data.valid_interfaces
		err                              string // what the run fails with
	}{
		{"the one that booted", hooks.AddPXE, nics, booted, []string{macB + " pxe"}, 1, ""},
		{"the same without a setting", "", nics, booted, []string{macB + " pxe"}, 1, ""},
		{"those with an address", hooks.AddActive, nics, booted, []string{macA, macB + " pxe"}, 2, ""},
		{"those with an address, the booted one unknown", hooks.AddActive, nics, "", []string{macA + " pxe", macB + " pxe"}, 2, ""},
		{"those with an address, of which there is none", hooks.AddActive, mute, "", nil, 0, `no network interfaces match the configuration (add_ports set to "active")`},
		{"all", hooks.AddAll, nics, booted, []string{macA, macB + " pxe", macC}, 3, ""},
		{"all but loopback", hooks.AddAll, mute, "", []string{macA + " pxe"}, 1, ""},
		{"none", hooks.AddDisabled, nics, booted, nil, 3, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			list, err := hooks.Select([]string{"default"}, hooks.DefaultNames(), hooks.Settings{AddPorts: c.add})
			if err != nil {
				t.Fatal(err)
			}
			r, err := inventory.Parse([]byte(report("", c.interfaces, c.inventory)))
			if err != nil {
				t.Fatal(err)
			}
			f, err := hooks.Run(list, hooks.Input{Node: node.Node{UUID: uuid}, Report: r})
			if c.err != "" {
				if err == nil || !strings.Contains(err.Error(), c.err) {
					t.Errorf("got %v, want %q", err, c.err)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(c.created, all(f.NewPorts)); diff != "" {
				t.Errorf("created (-want +got):\n%s", diff)
			}
			if valid := pluginData(t, f)["valid_interfaces"].(map[string]any); len(valid) != c.valid {
				t.Errorf("valid interfaces: %v", valid)
			}
		})
	}
}

// Everything with a name and an Ethernet address is told of, also what no port is made of (contract.md §4.3).
func TestAllInterfaces(t *testing.T) {
	nics := fmt.Sprintf(`{"name":"eno1","mac_address":%q,"ipv6_address":"fe80::1%%eno1"},{"name":"eno1.20","mac_address":%q},{"name":"bond0","mac_address":%q},{"name":"ib0","mac_address":"80:00:02:08"},{"name":"","mac_address":%q}`,
		strings.ToUpper(macA), macA, macB, macC)
	f := runHooks(t, "validate-interfaces", hooks.Settings{}, hooks.Input{}, report("", nics, `"boot":{"pxe_interface":"`+macA+`"}`))
	eno1 := map[string]any{"name": "eno1", "mac_address": strings.ToUpper(macA), "ipv6_address": "fe80::1", "pxe_enabled": true}
	want := map[string]any{
		"eno1":    eno1,
		"eno1.20": map[string]any{"name": "eno1.20", "mac_address": macA, "ipv6_address": nil, "pxe_enabled": true},
		"bond0":   map[string]any{"name": "bond0", "mac_address": macB, "ipv6_address": nil, "pxe_enabled": false},
	}
	plugin := pluginData(t, f)
	if diff := cmp.Diff(want, plugin["all_interfaces"]); diff != "" {
		t.Errorf("all_interfaces (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(map[string]any{"eno1": eno1}, plugin["valid_interfaces"]); diff != "" {
		t.Errorf("valid_interfaces (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]any{strings.ToUpper(macA)}, plugin["macs"]); diff != "" {
		t.Errorf("macs (-want +got):\n%s", diff)
	}
}
