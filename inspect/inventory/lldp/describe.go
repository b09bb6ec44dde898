package lldp

import (
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
)

// description collects what statements say.
type description map[string]any

// set keeps the first value: a frame says a thing once.
func (d description) set(name string, v any) {
	if _, there := d[name]; !there {
		d[name] = v
	}
}

func (d description) add(name string, v any) {
	list, _ := d[name].([]any)
	d[name] = append(list, v)
}

// Describe names what the statements say: the members of Ironic's `parsed_lldp` (contract.md §4.3). A bad value is left
// out and noted; statements of other organisations than IEEE are not told.
func Describe(all []TLV) (map[string]any, []string) {
	d := description{}
	var notes []string
	for _, t := range all {
		if err := d.take(t); err != nil {
			notes = append(notes, fmt.Sprintf("LLDP type %d was left out: %s", t.Type, err))
		}
	}
	return d, notes
}

func (d description) take(t TLV) error {
	switch t.Type {
	case typeChassis:
		return d.takeText("switch_chassis_id", func() (string, error) { return chassisID(t.Value) })
	case typePort:
		return d.takeText("switch_port_id", func() (string, error) { return portID(t.Value) })
	case typeDescription:
		return d.takeText("switch_port_description", func() (string, error) { return text(t.Value) })
	case typeSystem:
		return d.takeText("switch_system_name", func() (string, error) { return text(t.Value) })
	case typeSystemText:
		return d.takeText("switch_system_description", func() (string, error) { return text(t.Value) })
	case typeCapabilities:
		return d.takeCapabilities(t.Value)
	case typeManagement:
		return d.takeManagement(t.Value)
	case typeOrganizational:
		return d.takeOrganizational(t.Value)
	}
	return nil
}

func (d description) takeText(name string, read func() (string, error)) error {
	s, err := read()
	if err == nil {
		d.set(name, s)
	}
	return err
}

// systemCapabilities are the names of the bits, from the second on; the first stands for "other".
var systemCapabilities = []string{"Repeater", "Bridge", "WLAN", "Router", "Telephone", "DOCSIS cable device", "Station only", "C-Vlan", "S-Vlan", "TPMR"}

func (d description) takeCapabilities(v []byte) error {
	if len(v) != 4 {
		return fmt.Errorf("capabilities have 4 bytes, not %d", len(v))
	}
	named := func(bits uint16) []any {
		names := []any{}
		for i, name := range systemCapabilities {
			if bits>>(i+1)&1 == 1 {
				names = append(names, name)
			}
		}
		return names
	}
	d.set("switch_capabilities_support", named(binary.BigEndian.Uint16(v)))
	d.set("switch_capabilities_enabled", named(binary.BigEndian.Uint16(v[2:])))
	return nil
}

// takeManagement reads an address at which the switch is managed: its length, then family and address, then things that
// nobody asks for.
func (d description) takeManagement(v []byte) error {
	if len(v) < 2 || len(v) < 1+int(v[0]) || v[0] == 0 {
		return errShort
	}
	a, err := address(v[1 : 1+int(v[0])])
	if err == nil {
		d.add("switch_mgmt_addresses", a)
	}
	return err
}

var errShort = errors.New("it is too short")

// The organisations whose statements are understood, and what theirs are called.
const (
	bridging = "\x00\x80\xc2" // IEEE 802.1
	ethernet = "\x00\x12\x0f" // IEEE 802.3
)

func (d description) takeOrganizational(v []byte) error {
	if len(v) < 4 {
		return errShort
	}
	organization, kind, value := string(v[:3]), v[3], v[4:]
	var take func([]byte) error
	switch organization {
	case bridging:
		take = map[byte]func([]byte) error{
			1: d.number("switch_port_untagged_vlan_id"), 2: d.takeProtocolVLAN, 3: d.takeVLAN, 4: d.takeProtocol,
			6: d.number("switch_port_management_vlan_id"), 7: d.takeAggregation,
		}[kind]
	case ethernet:
		take = map[byte]func([]byte) error{1: d.takeLink, 3: d.takeAggregation, 4: d.number("switch_port_mtu")}[kind]
	}
	if take == nil {
		return nil
	}
	if err := take(value); err != nil {
		return fmt.Errorf("subtype %d of %x: %w", kind, organization, err)
	}
	return nil
}

// number takes a number of two bytes.
func (d description) number(name string) func([]byte) error {
	return func(v []byte) error {
		if len(v) < 2 {
			return errShort
		}
		d.set(name, int(binary.BigEndian.Uint16(v)))
		return nil
	}
}

func (d description) takeProtocolVLAN(v []byte) error {
	if len(v) != 3 {
		return fmt.Errorf("it has 3 bytes, not %d", len(v))
	}
	d.set("switch_port_protocol_vlan_enabled", v[0]&4 != 0)
	d.set("switch_port_protocol_vlan_support", v[0]&2 != 0)
	d.add("switch_port_protocol_vlan_ids", int(binary.BigEndian.Uint16(v[1:])))
	return nil
}

func (d description) takeVLAN(v []byte) error {
	if len(v) < 3 || len(v) < 3+int(v[2]) {
		return errShort
	}
	name, err := text(v[3 : 3+int(v[2])])
	if err != nil {
		return err
	}
	d.add("switch_port_vlans", map[string]any{"id": int(binary.BigEndian.Uint16(v)), "name": name})
	return nil
}

func (d description) takeProtocol(v []byte) error {
	if len(v) < 1 || len(v) < 1+int(v[0]) {
		return errShort
	}
	d.add("switch_protocol_identities", hex.EncodeToString(v[1:1+int(v[0])]))
	return nil
}

func (d description) takeAggregation(v []byte) error {
	if len(v) != 5 {
		return fmt.Errorf("link aggregation has 5 bytes, not %d", len(v))
	}
	d.set("switch_port_link_aggregation_enabled", v[0]&2 != 0)
	d.set("switch_port_link_aggregation_support", v[0]&1 != 0)
	d.set("switch_port_link_aggregation_id", int64(binary.BigEndian.Uint32(v[1:])))
	return nil
}
