package hooks_test

import (
	"encoding/json"
	"errors"
	"os"
	"strings"
	"testing"

	"cagenut/inspect/hooks"
	"cagenut/inspect/inventory"
	"cagenut/node"
)

// everyHookWithSettings is every hook, with something to look for.
func everyHookWithSettings(tb testing.TB) ([]hooks.Hook, hooks.Settings) {
	tb.Helper()
	network, err := hooks.ParsePhysicalNetwork("192.0.2.0/24:rack-7")
	if err != nil {
		tb.Fatal(err)
	}
	s := hooks.Settings{PCIAliases: []hooks.PCIAlias{{Name: "gpu", VendorID: "10de", ProductID: "1eb8"}}, PhysicalNetworks: []hooks.PhysicalNetwork{network}}
	list, err := hooks.Select(strings.Split(everyHook, ","), hooks.DefaultNames(), s)
	if err != nil {
		tb.Fatal(err)
	}
	return list, s
}

// G26: whatever is posted, it is either refused as invalid or worked on without harm, and what is stored is JSON again.
func FuzzAnyBody(f *testing.F) {
	for _, name := range []string{"edge-server.json", "all-collectors.json", "processed-data.json", "infiniband.json"} {
		body, err := os.ReadFile("testdata/" + name)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(body)
	}
	f.Add([]byte(report(`"data":[["a","b","c",{}],[],7],"pci_devices":[{"vendor_id":"10de","product_id":"1EB8"}],"lldp_raw":{"eth0":[[2,"0761"],[127,"0080c203"]]},"parsed_lldp":{"eth0":7},"all_interfaces":{"eth0":{"lldp_processed":[]}},"lshw":[]`, nic1, `"disks":[{"serial":"x","size":9e9}],"cpu":{"flags":["vmx"]}`)))
	list, settings := everyHookWithSettings(f)
	f.Add([]byte(report(`"error":[1]`, nic1, `"disks":[null,{},{"size":-1}],"cpu":{"flags":[null]},"boot":[]`)))
	f.Add([]byte(`{"inventory":{"interfaces":[{"mac_address":""}]}}`))
	f.Fuzz(func(t *testing.T, body []byte) {
		r, err := inventory.Parse(body)
		if err != nil {
			var invalid *node.Invalid
			if !errors.As(err, &invalid) {
				t.Fatalf("refused with %T: %v", err, err)
			}
			return
		}
		in := hooks.Input{Node: node.Node{UUID: uuid}, Report: r, Previous: []byte(`{"disks":[{"serial":"a"}]}`), Ports: ports("02:00:5e:00:00:01")}
		found, err := hooks.Run(list, in)
		if err != nil {
			return
		}
		if !json.Valid(found.Inventory) || !json.Valid(found.PluginData) {
			t.Errorf("stored documents are no JSON: %s %s", found.Inventory, found.PluginData)
		}
		if gb, _ := found.Properties["local_gb"].(int64); gb < 0 {
			t.Errorf("local_gb is %d", gb)
		}
		if len(found.NewPorts) > 64 || len(found.PortUpdates) > 1 || len(found.Notes) > 201 {
			t.Errorf("%d ports, %d changed, %d notes", len(found.NewPorts), len(found.PortUpdates), len(found.Notes))
		}
		if _, err := json.Marshal(found.Properties); err != nil {
			t.Error(err)
		}
		for _, p := range found.PortUpdates {
			if p.PhysicalNetwork != "" && p.PhysicalNetwork != settings.PhysicalNetworks[0].Name {
				t.Errorf("physical network %q", p.PhysicalNetwork)
			}
		}
	})
}
