package hooks_test

import (
	"encoding/json"
	"errors"
	"os"
	"testing"

	"cagenut/inspect/hooks"
	"cagenut/inspect/inventory"
	"cagenut/node"
)

// G26: whatever is posted, it is either refused as invalid or worked on without harm, and what is stored is JSON again.
func FuzzAnyBody(f *testing.F) {
	body, err := os.ReadFile("testdata/edge-server.json")
	if err != nil {
		f.Fatal(err)
	}
	f.Add(body)
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
		found, err := hooks.Run(hooks.Default(), hooks.Input{Node: node.Node{UUID: uuid}, Report: r})
		if err != nil {
			return
		}
		if !json.Valid(found.Inventory) || !json.Valid(found.PluginData) {
			t.Errorf("stored documents are no JSON: %s %s", found.Inventory, found.PluginData)
		}
		if gb, _ := found.Properties["local_gb"].(int64); gb < 0 {
			t.Errorf("local_gb is %d", gb)
		}
		if len(found.NewPorts) == 0 || len(found.NewPorts) > 64 {
			t.Errorf("%d ports", len(found.NewPorts))
		}
	})
}
