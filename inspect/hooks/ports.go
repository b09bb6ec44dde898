package hooks

import (
	"maps"

	"cagenut/node"
)

// ports creates a port for each valid interface that has none, and keeps `pxe_enabled` and `extra.client-id` of the
// node's ports true to the report. A port of another node is never taken; who owns it is noted (G28). No port is ever
// removed.
type ports struct{ noPreprocess }

func (ports) Name() string { return "ports" }

func (ports) Main(w *work) error {
	existing := map[string]bool{}
	for _, p := range w.Ports {
		existing[p.Address] = true
		if changed, ok := refreshed(w, p); ok {
			w.PortUpdates = append(w.PortUpdates, changed)
		}
	}
	for _, mac := range w.Report.MACs() {
		if owner := w.Owners[mac]; owner != "" && owner != w.Node.UUID {
			w.note("MAC %s was reported, but its port belongs to node %s and stays there", mac, owner)
		}
	}
	for _, n := range w.valid {
		if owner := w.Owners[n.MAC]; existing[n.MAC] || owner != "" && owner != w.Node.UUID {
			continue
		}
		p := node.Port{UUID: node.NewUUID(), NodeUUID: w.Node.UUID, Address: n.MAC, PXEEnabled: n.pxe, Extra: map[string]any{}}
		if n.ClientID != "" {
			p.Extra["client-id"] = n.ClientID
		}
		w.NewPorts = append(w.NewPorts, p)
	}
	return nil
}

// refreshed is an existing port as the report says it is; false when that is what it is already. Where the boot interface
// is unknown, `pxe_enabled` stays: nothing better is known.
func refreshed(w *work, p node.Port) (node.Port, bool) {
	changed := false
	if pxe := p.Address == w.pxeMAC; w.pxeMAC != "" && p.PXEEnabled != pxe {
		p.PXEEnabled, changed = pxe, true
	}
	for _, i := range w.Report.Interfaces {
		if i.MAC != p.Address || i.ClientID == "" || p.Extra["client-id"] == i.ClientID {
			continue
		}
		p.Extra = maps.Clone(p.Extra)
		if p.Extra == nil {
			p.Extra = map[string]any{}
		}
		p.Extra["client-id"], changed = i.ClientID, true
	}
	return p, changed
}
