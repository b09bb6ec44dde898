package ipmi_test

import (
	"encoding/json"
	"testing"

	"cagenut/node"
)

// same compares sensors with what their pointers point to.
func same(t *testing.T, got, want []node.Sensor) {
	t.Helper()
	spell := func(s node.Sensor) string {
		b, err := json.Marshal(s)
		if err != nil {
			t.Fatal(err)
		}
		return string(b)
	}
	for i := range max(len(got), len(want)) {
		g, w := "nothing", "nothing"
		if i < len(got) {
			g = spell(got[i])
		}
		if i < len(want) {
			w = spell(want[i])
		}
		if g != w {
			t.Errorf("sensor %d is\n%s, want\n%s", i, g, w)
		}
	}
}
