package lldp_test

import (
	"encoding/hex"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"cagenut/inspect/inventory/lldp"
)

// entry is one [type, "hex"] of a list.
func entry(kind int, value string) string {
	return fmt.Sprintf("[%d,%q]", kind, hex.EncodeToString([]byte(value)))
}

func list(entries ...string) string { return "[" + strings.Join(entries, ",") + "]" }

func describe(t *testing.T, raw string) (map[string]any, []string) {
	t.Helper()
	all, notes := lldp.Read(json.RawMessage(raw))
	said, more := lldp.Describe(all)
	return said, append(notes, more...)
}

func TestEveryStatementThatIsUnderstood(t *testing.T) {
	const dot1, dot3 = "\x00\x80\xc2", "\x00\x12\x0f"
	for _, c := range []struct {
		name, list string
		want       map[string]any
	}{
		{"a chassis by its MAC", list(entry(1, "\x04\x02\x00\x5e\x10\x00\x01")), map[string]any{"switch_chassis_id": "02:00:5e:10:00:01"}},
		{"a chassis by its IPv4 address", list(entry(1, "\x05\x01\xc0\x00\x02\x09")), map[string]any{"switch_chassis_id": "192.0.2.9"}},
		{"a chassis by its IPv6 address", list(entry(1, "\x05\x02\x20\x01\x0d\xb8\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x09")), map[string]any{"switch_chassis_id": "2001:db8::9"}},
		{"a chassis by a name", list(entry(1, "\x07leaf-7")), map[string]any{"switch_chassis_id": "leaf-7"}},
		{"a port by its name", list(entry(2, "\x05Ethernet1/7")), map[string]any{"switch_port_id": "Ethernet1/7"}},
		{"a port by its MAC", list(entry(2, "\x03\x02\x00\x5e\x10\x00\x02")), map[string]any{"switch_port_id": "02:00:5e:10:00:02"}},
		{"a port by its address", list(entry(2, "\x04\x01\xc0\x00\x02\x0a")), map[string]any{"switch_port_id": "192.0.2.10"}},
		{"texts, one of them ended as C does it, one empty", list(entry(4, "to rack 7\x00"), entry(5, ""), entry(6, "Example OS 9")),
			map[string]any{"switch_port_description": "to rack 7", "switch_system_name": "", "switch_system_description": "Example OS 9"}},
		{"what the switch can do and does", list(entry(7, "\x07\xff\x00\x14")), map[string]any{
			"switch_capabilities_support": []any{"Repeater", "Bridge", "WLAN", "Router", "Telephone", "DOCSIS cable device", "Station only", "C-Vlan", "S-Vlan", "TPMR"},
			"switch_capabilities_enabled": []any{"Bridge", "Router"}}},
		{"addresses of three families", list(
			entry(8, "\x05\x01\xc0\x00\x02\x0f\x02\x00\x00\x00\x01\x00"), entry(8, "\x11\x02\x20\x01\x0d\xb8\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x0f"), entry(8, "\x07\x06\x02\x00\x5e\x10\x00\x03")),
			map[string]any{"switch_mgmt_addresses": []any{"192.0.2.15", "2001:db8::f", "02:00:5e:10:00:03"}}},
		{"VLANs", list(entry(127, dot1+"\x01\x00\x66"), entry(127, dot1+"\x03\x00\x65\x03red"), entry(127, dot1+"\x03\x00\x66\x05green"), entry(127, dot1+"\x06\x00\x58")),
			map[string]any{"switch_port_untagged_vlan_id": 102, "switch_port_management_vlan_id": 88,
				"switch_port_vlans": []any{map[string]any{"id": 101, "name": "red"}, map[string]any{"id": 102, "name": "green"}}}},
		{"VLANs of protocols, and protocols", list(entry(127, dot1+"\x02\x06\x00\x0a"), entry(127, dot1+"\x02\x02\x00\x14"), entry(127, dot1+"\x04\x02\x88\xcc")),
			map[string]any{"switch_port_protocol_vlan_enabled": true, "switch_port_protocol_vlan_support": true, "switch_port_protocol_vlan_ids": []any{10, 20},
				"switch_protocol_identities": []any{"88cc"}}},
		{"link aggregation", list(entry(127, dot1+"\x07\x03\x00\x00\x00\x02")),
			map[string]any{"switch_port_link_aggregation_enabled": true, "switch_port_link_aggregation_support": true, "switch_port_link_aggregation_id": int64(2)}},
		{"link aggregation, as it was told before", list(entry(127, dot3+"\x03\x01\xff\xff\xff\xff")),
			map[string]any{"switch_port_link_aggregation_enabled": false, "switch_port_link_aggregation_support": true, "switch_port_link_aggregation_id": int64(4294967295)}},
		{"speed and medium", list(entry(127, dot3+"\x01\x03\x6c\x11\x00\x10"), entry(127, dot3+"\x04\x23\xf0")),
			map[string]any{"switch_port_autonegotiation_enabled": true, "switch_port_autonegotiation_support": true, "switch_port_mau_type": "100BASE-TX full duplex", "switch_port_mtu": 9200,
				"switch_port_physical_capabilities": []string{"1000BASE-T fdx", "100BASE-TX fdx", "100BASE-TX hdx", "10BASE-T fdx", "10BASE-T hdx", "Asym and Sym PAUSE fdx"}}},
		{"a medium newer than its names", list(entry(127, dot3+"\x01\x00\x00\x00\x00\x78")),
			map[string]any{"switch_port_autonegotiation_enabled": false, "switch_port_autonegotiation_support": false, "switch_port_physical_capabilities": []string{}}},
		{"the first of several chassis and ports counts", list(entry(1, "\x07one"), entry(1, "\x07two"), entry(2, "\x07a"), entry(2, "\x07b")), map[string]any{"switch_chassis_id": "one", "switch_port_id": "a"}},
		{"nothing counts after the end", list(entry(5, "leaf"), entry(0, ""), entry(2, "\x07a")), map[string]any{"switch_system_name": "leaf"}},
		{"how long it holds, and statements of others, are passed over", list(entry(3, "\x00\x78"), entry(9, "x"), entry(127, "\x00\x90\x69\x01x"), entry(127, dot1+"\x63x")), map[string]any{}},
		{"no statements", "[]", map[string]any{}},
	} {
		t.Run(c.name, func(t *testing.T) {
			said, notes := describe(t, c.list)
			if diff := cmp.Diff(c.want, said); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			if len(notes) != 0 {
				t.Errorf("notes: %v", notes)
			}
		})
	}
}

// G20: a bad statement is left out with its type told, and the others are used.
func TestABadStatementIsLeftOutAndTheOthersAreUsed(t *testing.T) {
	const good = `[5,"6c656166"]`
	for _, c := range []struct{ name, entry, note string }{
		{"text that is not UTF-8", `[6,"fffec328"]`, "type 6 was left out: its text is not UTF-8"},
		{"a zero in a text", `[6,"610062"]`, "type 6 was left out: there is a zero byte"},
		{"an odd number of digits", `[2,"073733345"]`, "the value of type 2 is not hexadecimal"},
		{"no hexadecimal", `[2,"07zz"]`, "the value of type 2 is not hexadecimal"},
		{"512 bytes", `[127,"` + strings.Repeat("00", 512) + `"]`, "the value of type 127 is longer than 511 bytes"},
		{"a megabyte", `[127,"` + strings.Repeat("00", 1<<20) + `"]`, "the value of type 127 is longer than 511 bytes"},
		{"a value that is a number", `[2,7]`, "the value of type 2 is no text"},
		{"a value that is null", `[2,null]`, "the value of type 2 is no text"},
		{"a type that is a text", `["2","07"]`, "is no type of LLDP"},
		{"a type beyond seven bits", `[128,"00120f"]`, "128 is no type of LLDP"},
		{"a negative type", `[-1,"00"]`, "is no type of LLDP"},
		{"a type with a fraction", `[1.5,"00"]`, "is no type of LLDP"},
		{"one element", `[2]`, "is not a type and a value"},
		{"three elements", `[2,"07","00"]`, "is not a type and a value"},
		{"an object", `{"2":"07"}`, "is not a type and a value"},
		{"null", `null`, "is not a type and a value"},
		{"a chassis without an id", `[1,"04"]`, "type 1 was left out: it is too short"},
		{"a chassis with half a MAC", `[1,"04112233"]`, "a MAC has 6 bytes, not 3"},
		{"a chassis of kind 9", `[1,"0961"]`, "there is no subtype 9"},
		{"a port of kind 6", `[2,"0661"]`, "subtype 6 is not understood"},
		{"a port with an address of four bytes that claims sixteen", `[2,"0402c0000201"]`, "family 2 does not have 4 bytes"},
		{"capabilities of three bytes", `[7,"001400"]`, "capabilities have 4 bytes, not 3"},
		{"an address longer than its value", `[8,"0501"]`, "it is too short"},
		{"an address without length", `[8,"00"]`, "it is too short"},
		{"an address of a family that nobody knows", `[8,"0507c000020f"]`, "address family 7 is not understood"},
		{"an address without bytes", `[8,"0106"]`, "a MAC has 6 bytes, not 0"},
		{"an organisation of three bytes", `[127,"0080c2"]`, "it is too short"},
		{"a VLAN without its number", `[127,"0080c201"]`, "subtype 1 of 0080c2: it is too short"},
		{"a VLAN name longer than its value", `[127,"0080c203006507"]`, "subtype 3 of 0080c2: it is too short"},
		{"a VLAN name that is not UTF-8", `[127,"0080c203006501ff"]`, "its text is not UTF-8"},
		{"a protocol longer than its value", `[127,"0080c20408"]`, "subtype 4 of 0080c2: it is too short"},
		{"VLANs of protocols of two bytes", `[127,"0080c2020600"]`, "it has 3 bytes, not 2"},
		{"link aggregation of one byte", `[127,"00120f0303"]`, "link aggregation has 5 bytes, not 1"},
		{"a link of four bytes", `[127,"00120f01036c1100"]`, "the state of a link has 5 bytes, not 4"},
		{"a medium that cannot be", `[127,"00120f01036c11ffff"]`, "there is no medium 65535"},
		{"an MTU of one byte", `[127,"00120f0405"]`, "subtype 4 of 00120f: it is too short"},
	} {
		t.Run(c.name, func(t *testing.T) {
			said, notes := describe(t, list(c.entry, good))
			if diff := cmp.Diff(map[string]any{"switch_system_name": "leaf"}, said); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			if len(notes) != 1 || !strings.Contains(notes[0], c.note) || len(notes[0]) > 300 {
				t.Errorf("notes %q, want one with %q", notes, c.note)
			}
		})
	}
}

func TestWhatIsNoListIsNoted(t *testing.T) {
	for _, raw := range []string{`{}`, `"x"`, `7`, `true`} {
		if all, notes := lldp.Read(json.RawMessage(raw)); len(all) != 0 || len(notes) != 1 {
			t.Errorf("%s: %v, %q", raw, all, notes)
		}
	}
}

func TestOfAListWithoutEndTheBeginningIsRead(t *testing.T) {
	all, notes := lldp.Read(json.RawMessage("[" + strings.Repeat(`[5,"61"],`, 100_000) + `[5,"61"]]`))
	if len(all) != 512 || len(notes) != 1 {
		t.Errorf("%d statements, notes %q", len(all), notes)
	}
}

func TestAValueOf511BytesIsRead(t *testing.T) {
	all, notes := lldp.Read(json.RawMessage(`[[127,"` + strings.Repeat("00", 511) + `"]]`))
	if len(all) != 1 || len(all[0].Value) != 511 || len(notes) != 0 {
		t.Errorf("%d statements, notes %q", len(all), notes)
	}
}

func TestWhereACableEnds(t *testing.T) {
	for _, c := range []struct {
		name, list string
		want       lldp.Link
	}{
		{"all three", list(entry(1, "\x04\x02\x00\x5e\x10\x00\x01"), entry(2, "\x05Ethernet1/7"), entry(5, "leaf-7")), lldp.Link{SwitchID: "02:00:5e:10:00:01", PortID: "Ethernet1/7", SwitchInfo: "leaf-7"}},
		{"a chassis that is no MAC does not count", list(entry(1, "\x07leaf"), entry(2, "\x07a")), lldp.Link{PortID: "a"}},
		{"a bad chassis costs nothing else", list(entry(1, "\x04\x02\x00"), entry(2, "\x07a"), entry(5, "leaf")), lldp.Link{PortID: "a", SwitchInfo: "leaf"}},
		{"the first good one counts", list(entry(2, "\x07"), entry(2, "\x07b"), entry(5, "one"), entry(5, "two")), lldp.Link{PortID: "b", SwitchInfo: "one"}},
		{"nothing was said", "[]", lldp.Link{}},
	} {
		t.Run(c.name, func(t *testing.T) {
			all, _ := lldp.Read(json.RawMessage(c.list))
			if got := lldp.LinkOf(all); got != c.want {
				t.Errorf("got %+v, want %+v", got, c.want)
			}
		})
	}
	for _, c := range []struct {
		name   string
		parsed map[string]any
		want   lldp.Link
	}{
		{"all three, the MAC in capitals", map[string]any{"switch_chassis_id": "02-00-5E-10-00-01", "switch_port_id": "7", "switch_system_name": "leaf"}, lldp.Link{SwitchID: "02:00:5e:10:00:01", PortID: "7", SwitchInfo: "leaf"}},
		{"a chassis that is no MAC", map[string]any{"switch_chassis_id": "leaf"}, lldp.Link{}},
		{"other types", map[string]any{"switch_chassis_id": 7, "switch_port_id": []any{}, "switch_system_name": nil}, lldp.Link{}},
		{"nothing", nil, lldp.Link{}},
	} {
		t.Run("as somebody parsed it: "+c.name, func(t *testing.T) {
			if got := lldp.LinkIn(c.parsed); got != c.want {
				t.Errorf("got %+v, want %+v", got, c.want)
			}
		})
	}
}
