package ui_test

import (
	"strings"
	"testing"

	"cagenut/node"
)

// G12: whatever spells "none found" is none; what nobody reported is said to be missing.
func TestTheInventorySaysWhatIsMissing(t *testing.T) {
	for _, none := range []string{`null`, `""`, `"0.0.0.0"`, `"::"`, `"::/0"`} {
		r := newRack()
		n := r.add("r07-u21", node.Manageable)
		r.inventory[n.UUID] = []byte(`{"bmc_address":` + none + `,"bmc_v6address":` + none + `,"disks":[],"interfaces":[]}`)
		page := serve(t, r, 0).get("/ui/nodes/r07-u21")
		page.has(t, `<dt>BMC address</dt><dd dir="auto"> <span class="quiet">not reported</span>`, `<dt>CPU</dt><dd dir="auto"> <span class="quiet">not reported</span>`, "No disks.", "No network interfaces.")
		page.lacks(t, "0.0.0.0", "::/0", "BMC address (v6)")
	}
	r := newRack()
	n := r.add("r07-u21", node.Manageable)
	s := serve(t, r, 0)
	s.get("/ui/nodes/r07-u21").has(t, english("inventory.none"))
	r.edit(func() { r.inventory[n.UUID] = []byte(`{"cpu":{}}`) })
	s.get("/ui/nodes/r07-u21").has(t, english("inventory.disksuntold"))
	for _, odd := range []string{`[]`, `7`, `{`, `{"disks":7,"interfaces":{"a":1},"cpu":[],"memory":"x"}`} {
		r.edit(func() { r.inventory[n.UUID] = []byte(odd) })
		if a := s.get("/ui/nodes/r07-u21"); a.status != 200 {
			t.Errorf("%s: %d", odd, a.status)
		}
	}
}

func TestTheInventoryTellsWhereCablesEnd(t *testing.T) {
	r := newRack()
	n := r.add("r07-u21", node.Manageable)
	r.ports = []node.Port{{NodeUUID: n.UUID, Address: "52:54:00:aa:00:01", LocalLinkConnection: map[string]any{"switch_id": "11:22:33:aa:bb:cc", "port_id": "Eth1/7", "switch_info": "sw-7"}},
		{NodeUUID: n.UUID, Address: "52:54:00:aa:00:02", LocalLinkConnection: map[string]any{"port_id": "Eth1/8"}}}
	r.inventory[n.UUID] = []byte(`{"interfaces":[{"name":"eno1","mac_address":"52:54:00:AA:00:01","has_carrier":true},{"name":"eno2","mac_address":"52:54:00:aa:00:02","has_carrier":false},{"name":"eno3"}]}`)
	page := serve(t, r, 0).get("/ui/nodes/r07-u21")
	if got := strings.Count(page.body, "sw-7, port Eth1/7"); got != 2 {
		t.Errorf("the switch port is told %d times, want at the port and at the NIC", got)
	}
	page.has(t, "port Eth1/8", `<td class="down"><bdi>down</bdi>`)
}

// What thousands of parts a hostile report has, the page stays one that can be read.
func TestAGiantInventoryIsCut(t *testing.T) {
	r := newRack()
	n := r.add("r07-u21", node.Manageable)
	r.inventory[n.UUID] = []byte(`{"disks":[` + strings.Repeat(`{"name":"`+strings.Repeat("d", 10_000)+`"},`, 200) + `{}],"interfaces":[]}`)
	page := serve(t, r, 0).get("/ui/nodes/r07-u21")
	page.has(t, english("inventory.more"))
	if len(page.body) > 100_000 {
		t.Errorf("the page has %d bytes", len(page.body))
	}
}
