package hooks

import "cagenut/inspect/inventory/lldp"

// localLinkConnection writes into the node's ports where their cables end. What is there already stays: somebody may know
// better than the switch.
type localLinkConnection struct {
	noPreprocess
	needsInterfaces
}

func (localLinkConnection) Name() string { return "local-link-connection" }

func (localLinkConnection) Main(w *work) error {
	for _, n := range w.usable {
		p := w.port(n.MAC)
		if p == nil {
			continue
		}
		heard := w.announced(n.Interface)
		link := lldp.LinkOf(heard.statements)
		if len(heard.statements) == 0 {
			link = lldp.LinkIn(heard.parsed)
		}
		for _, item := range []struct{ key, value string }{{"switch_id", link.SwitchID}, {"port_id", link.PortID}, {"switch_info", link.SwitchInfo}} {
			if _, there := p.LocalLinkConnection[item.key]; item.value != "" && !there {
				p.set(&p.LocalLinkConnection, item.key, item.value)
			}
		}
	}
	return nil
}
