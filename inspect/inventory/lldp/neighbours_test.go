package lldp_test

import (
	"testing"

	"cagenut/inspect/inventory/lldp"
	"cagenut/node"
)

// G20: whatever a switch or a ramdisk says, the rest of the page is there.
func TestNeighboursAreReadFromWhateverHeardThem(t *testing.T) {
	const frame = `[[1,"04112233aabbcc"],[2,"0545746831"],[4,"7570"],[5,"73776974636837"]]`
	heard := node.Neighbour{SwitchID: "11:22:33:aa:bb:cc", PortID: "Eth1", PortDescription: "up", SwitchName: "switch7"}
	for name, tc := range map[string]struct {
		inventory, plugins string
		want               map[string]node.Neighbour
	}{
		"a hook has parsed it": {`{"interfaces":[{"name":"eno1"}]}`, `{"parsed_lldp":{"eno1":{"switch_system_name":"s1","switch_port_id":"Eth1/7","switch_chassis_id":7}}}`,
			map[string]node.Neighbour{"eno1": {SwitchName: "s1", PortID: "Eth1/7"}}},
		"the ramdisk sent it beside the inventory": {`{"interfaces":[{"name":"eno1"}]}`, `{"lldp_raw":{"eno1":` + frame + `}}`, map[string]node.Neighbour{"eno1": heard}},
		"the ramdisk sent it with the interface":   {`{"interfaces":[{"name":"eno1","lldp":` + frame + `},{"name":"eno2","lldp":null}]}`, `{}`, map[string]node.Neighbour{"eno1": heard}},
		"what is parsed counts first":              {`{"interfaces":[{"name":"eno1","lldp":` + frame + `}]}`, `{"parsed_lldp":{"eno1":{"switch_port_id":"x"}}}`, map[string]node.Neighbour{"eno1": {PortID: "x"}}},
		"nobody heard anything":                    {`{"interfaces":[{"name":"eno1"}]}`, ``, map[string]node.Neighbour{}},
		"odd documents":                            {`{"interfaces":[7,{"name":7},{"name":"eno1","lldp":[[1],"x",[300,"zz"]]}]}`, `[1]`, map[string]node.Neighbour{}},
		"no documents at all":                      {``, ``, map[string]node.Neighbour{}},
	} {
		t.Run(name, func(t *testing.T) {
			got := lldp.Neighbours(node.Inventory{Inventory: []byte(tc.inventory), PluginData: []byte(tc.plugins)})
			if len(got) != len(tc.want) {
				t.Fatalf("got %+v", got)
			}
			for i, n := range tc.want {
				if got[i] != n {
					t.Errorf("%s: %+v, want %+v", i, got[i], n)
				}
			}
		})
	}
}
