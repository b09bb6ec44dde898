package conductor_test

import (
	"strings"
	"testing"

	"cagenut/conductor"
	"cagenut/node"
)

// Warn warns of what the tests say.
func (r *rack) Warn(n node.Node) string {
	w, _ := node.Text(n.DriverInfo["warning"])
	return w
}

// The handbook's §3: old TLS is allowed by name, and shown as a warning.
func TestValidateWarnsOfWhatWorksAndIsUnwise(t *testing.T) {
	w := newWorld(t, conductor.Settings{})
	n := w.enrolled(node.Manageable, "agent")
	n, err := w.change(n, func(n *node.Node) { n.DriverInfo["warning"] = "weak ciphers" })
	w.must(err)
	all, err := w.Validate(t.Context(), n.UUID)
	w.must(err)
	for kind, v := range all {
		warned := kind == "power" || kind == "management"
		if has := strings.Contains(v.Reason, "weak ciphers"); has != warned || warned && (v.Result == nil || !*v.Result) {
			t.Errorf("%s: %+v", kind, v)
		}
	}
}
