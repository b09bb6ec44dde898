package introspection_test

import (
	"encoding/json"
	"strings"
	"testing"

	"cagenut/inspect/introspection"
)

// Whatever stands in a rule, it is refused, or kept and shown as what means the same.
func FuzzRule(f *testing.F) {
	for _, seed := range []string{
		`{"conditions":[{"op":"ge","field":"memory_mb","value":4096}],"actions":[{"action":"set-capability","name":"a","value":"b"}]}`,
		`{"scope":"{a}","conditions":[{"op":"ne","field":"node://driver_info['a b'].c[0]","value":"{x}","invert":true}],"actions":[{"action":"fail","message":"{"}]}`,
		`{"conditions":[{"op":"matches","field":"$.inventory.disks[*].name","value":"sd[a-c]{1}","multiple":"all"}],"actions":[{"action":"set-attribute","path":"/extra/x","value":{"{data[a]}":["{{{data[b]}}}",null]}}]}`,
		`{"conditions":[{"op":"is-empty","field":"a.*.'b'"},{"op":"in-net","field":"ipmi_address","value":"192.0.2.0/24"}],"actions":[{"action":"extend-attribute","path":"extra/a","value":1,"unique":true}]}`,
		`{"conditions":[null],"actions":[{"action":"add-trait","name":5}]}`,
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		var doc struct {
			Scope               string
			Conditions, Actions []map[string]any
		}
		d := json.NewDecoder(strings.NewReader(text))
		d.UseNumber()
		if d.Decode(&doc) != nil {
			return
		}
		kept, shown, err := makeRule(t, introspection.Rule{Scope: doc.Scope, Conditions: doc.Conditions, Actions: doc.Actions})
		if err != nil {
			return
		}
		if strings.Contains(asJSON(t, shown), "******") {
			return // a secret cannot be sent back
		}
		again, _, err := makeRule(t, shown)
		if err != nil {
			t.Fatalf("%s is shown as %s: %v", asJSON(t, kept), asJSON(t, shown), err)
		}
		if before, after := asJSON(t, []any{kept.Conditions, kept.Actions}), asJSON(t, []any{again.Conditions, again.Actions}); before != after {
			t.Errorf("shown as %s, %s becomes %s", asJSON(t, shown), before, after)
		}
	})
}
