package hooks

import "cagenut/node"

// ports creates a port for each valid interface that has none, and keeps `pxe_enabled` and `extra.client-id` of the
// node's ports true to the report. A port of another node is never taken; who owns it is noted (G28). No port is ever
// removed.
type ports struct {
	noPreprocess
	needsInterfaces
	add string
}

func (ports) Name() string { return "ports" }

func (h ports) Main(w *work) error {
	for _, p := range w.ports {
		refresh(w, p)
	}
	for _, mac := range w.Report.MACs() {
		if owner := w.Owners[mac]; owner != "" && owner != w.Node.UUID {
			w.note("MAC %s was reported, but its port belongs to node %s and stays there", mac, owner)
		}
	}
	if h.add == AddDisabled {
		return nil
	}
	for _, n := range w.valid {
		if owner := w.Owners[n.MAC]; w.port(n.MAC) != nil || owner != "" && owner != w.Node.UUID {
			continue
		}
		p := node.Port{UUID: node.NewUUID(), NodeUUID: w.Node.UUID, Address: n.MAC, PXEEnabled: n.pxe, Extra: map[string]any{}}
		if n.ClientID != "" {
			p.Extra["client-id"] = n.ClientID
		}
		w.ports = append(w.ports, &knownPort{Port: p, added: true})
	}
	return nil
}

// refresh makes an existing port what the report says it is. Where the boot interface is unknown, `pxe_enabled` stays:
// nothing better is known.
func refresh(w *work, p *knownPort) {
	if pxe := p.Address == w.pxeMAC; w.pxeMAC != "" && p.PXEEnabled != pxe {
		p.PXEEnabled, p.changed = pxe, true
	}
	for _, i := range w.Report.Interfaces {
		if i.MAC == p.Address && i.ClientID != "" && p.Extra["client-id"] != i.ClientID {
			p.set(&p.Extra, "client-id", i.ClientID)
		}
	}
}
