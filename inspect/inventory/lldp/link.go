package lldp

import "cagenut/node"

// Link is where a cable ends, as a port's `local_link_connection` knows it; "" for what is not known.
type Link struct {
	SwitchID   string // the MAC of the switch: other ids do not count (contract.md §4.3)
	PortID     string
	SwitchInfo string // the name of the switch
}

// LinkOf reads it from the statements. Bad ones are passed over; [Describe] notes them.
func LinkOf(all []TLV) Link {
	var l Link
	for _, t := range all {
		switch {
		case t.Type == typeChassis && l.SwitchID == "" && len(t.Value) > 0 && t.Value[0] == chassisMAC:
			l.SwitchID, _ = chassisID(t.Value)
		case t.Type == typePort && l.PortID == "":
			l.PortID, _ = portID(t.Value)
		case t.Type == typeSystem && l.SwitchInfo == "":
			l.SwitchInfo, _ = text(t.Value)
		}
	}
	return l
}

// LinkIn reads it from a description such as [Describe] makes: of ramdisks, services and BMCs that have parsed already.
func LinkIn(parsed map[string]any) Link {
	var l Link
	chassis, _ := parsed["switch_chassis_id"].(string)
	if mac, ok := node.ParseMAC(chassis); ok {
		l.SwitchID = mac
	}
	l.PortID, _ = parsed["switch_port_id"].(string)
	l.SwitchInfo, _ = parsed["switch_system_name"].(string)
	return l
}
