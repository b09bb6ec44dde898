package lldp

import (
	"encoding/json"

	"cagenut/inspect/inventory"
	"cagenut/node"
)

// Neighbours tells from an inspection's two stored documents which switch port each interface is at, by the interface's
// name: as somebody has parsed it already, else as the ramdisk heard it. Interfaces of which nobody heard anything are not
// there.
func Neighbours(i node.Inventory) map[string]node.Neighbour {
	plugins := members(i.PluginData)
	parsed, raw := members(plugins["parsed_lldp"]), members(plugins["lldp_raw"])
	out := map[string]node.Neighbour{}
	found, _ := inventory.Elements(members(i.Inventory)["interfaces"], maxInterfaces)
	for _, element := range found {
		fields := members(element)
		name, ok := inventory.Text(fields["name"])
		if !ok || name == "" {
			continue
		}
		for _, heard := range []node.Neighbour{told(members(parsed[name])), statedIn(raw[name]), statedIn(fields["lldp"])} {
			if heard != (node.Neighbour{}) {
				out[name] = heard
				break
			}
		}
	}
	return out
}

// maxInterfaces is how many interfaces of a report are looked at.
const maxInterfaces = 256

func members(v json.RawMessage) map[string]json.RawMessage {
	m, err := inventory.Members(v)
	if err != nil {
		return nil
	}
	return m
}

// told is what stands in a description such as [Describe] makes.
func told(parsed map[string]json.RawMessage) node.Neighbour {
	read := func(key string) string {
		s, _ := inventory.Text(parsed[key])
		return s
	}
	return node.Neighbour{
		SwitchID: read("switch_chassis_id"), SwitchName: read("switch_system_name"), PortID: read("switch_port_id"), PortDescription: read("switch_port_description"),
	}
}

// statedIn is what a switch itself said.
func statedIn(list json.RawMessage) node.Neighbour {
	if len(list) == 0 {
		return node.Neighbour{}
	}
	statements, _ := Read(list) // what was wrong with them stands in the notes of the attempt
	said, _ := Describe(statements)
	read := func(key string) string {
		s, _ := said[key].(string)
		return s
	}
	return node.Neighbour{
		SwitchID: read("switch_chassis_id"), SwitchName: read("switch_system_name"), PortID: read("switch_port_id"), PortDescription: read("switch_port_description"),
	}
}
