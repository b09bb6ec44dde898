package lldp

import (
	"encoding/binary"
	"fmt"
	"slices"
)

// autonegotiation are the names of the bits of a port that negotiates its speed, from the highest on; the highest itself
// stands for "other".
var autonegotiation = []string{
	"10BASE-T hdx", "10BASE-T fdx", "10BASE-T4", "100BASE-TX hdx", "100BASE-TX fdx", "100BASE-T2 hdx", "100BASE-T2 fdx", "PAUSE fdx",
	"Asym PAUSE fdx", "Sym PAUSE fdx", "Asym and Sym PAUSE fdx", "1000BASE-X hdx", "1000BASE-X fdx", "1000BASE-T hdx", "1000BASE-T fdx",
}

// maxMAU is the highest number of a kind of medium that is believed. The registered ones are far below; some of them are
// newer than the names here.
const maxMAU = 255

// takeLink reads speed and medium of the switch's port.
func (d description) takeLink(v []byte) error {
	if len(v) != 5 {
		return fmt.Errorf("the state of a link has 5 bytes, not %d", len(v))
	}
	medium := int(binary.BigEndian.Uint16(v[3:]))
	if medium > maxMAU {
		return fmt.Errorf("there is no medium %d", medium)
	}
	d.set("switch_port_autonegotiation_enabled", v[0]&2 != 0)
	d.set("switch_port_autonegotiation_support", v[0]&1 != 0)
	able := []string{}
	for i, name := range autonegotiation {
		if binary.BigEndian.Uint16(v[1:])>>(14-i)&1 == 1 {
			able = append(able, name)
		}
	}
	slices.Sort(able)
	d.set("switch_port_physical_capabilities", able)
	if medium < len(media) {
		d.set("switch_port_mau_type", media[medium])
	}
	return nil
}

// media are the kinds of medium by their numbers in RFC 4836, as Ironic spells them.
var media = [...]string{
	"Unknown", "AUI", "10BASE-5", "FOIRL", "10BASE-2", "10BASE-T duplex mode unknown", "10BASE-FP", "10BASE-FB", "10BASE-FL duplex mode unknown", "10BROAD36",
	"10BASE-T half duplex", "10BASE-T full duplex", "10BASE-FL half duplex", "10BASE-FL full duplex",
	"100 BASE-T4", "100BASE-TX half duplex", "100BASE-TX full duplex", "100BASE-FX half duplex", "100BASE-FX full duplex", "100BASE-T2 half duplex", "100BASE-T2 full duplex",
	"1000BASE-X half duplex", "1000BASE-X full duplex", "1000BASE-LX half duplex", "1000BASE-LX full duplex", "1000BASE-SX half duplex", "1000BASE-SX full duplex",
	"1000BASE-CX half duplex", "1000BASE-CX full duplex", "1000BASE-T half duplex", "1000BASE-T full duplex",
	"10GBASE-X", "10GBASE-LX4", "10GBASE-R", "10GBASE-ER", "10GBASE-LR", "10GBASE-SR", "10GBASE-W", "10GBASE-EW", "10GBASE-LW", "10GBASE-SW", "10GBASE-CX4",
	"2BASE-TL", "10PASS-TS", "100BASE-BX10D", "100BASE-BX10U", "100BASE-LX10", "1000BASE-BX10D", "1000BASE-BX10U", "1000BASE-LX10",
	"1000BASE-PX10D", "1000BASE-PX10U", "1000BASE-PX20D", "1000BASE-PX20U",
}
