package redfish

import (
	"encoding/hex"
	"net"
	"strings"

	"cagenut/node"
)

// nics are the Ethernet interfaces. Some BMCs tell them of the system, some only of the adapters in the chassis, most both:
// they are merged by MAC (quirks 45 to 47, 51). The interface to the BMC itself leads to no cable and is left out.
func nics(w *walk, s system, chassis []member) []node.NIC {
	var all nicList
	for _, m := range w.collection(link(s.all["EthernetInterfaces"]), "MACAddress", "PermanentMACAddress") {
		if link(object(m.resource["Links"])["HostInterface"]) != "" {
			continue
		}
		all.add(interfaceNIC(m.resource), mac(m.word("MACAddress")))
	}
	for _, adapter := range adapters(w, s, chassis) {
		adapterNICs(w, adapter.resource, &all)
	}
	return all.nics
}

func interfaceNIC(r resource) node.NIC {
	n := node.NIC{
		Name: r.word("Id", "Name"), MAC: permanentMAC(r), SpeedMbps: speed(r), Link: linkUp(r.word("LinkStatus")),
		IPv4: address(r["IPv4Addresses"]), IPv6: address(r["IPv6Addresses"]), Health: r.state().worst(),
	}
	return n
}

func permanentMAC(r resource) string {
	if m := mac(r.word("PermanentMACAddress")); m != "" {
		return m
	}
	return mac(r.word("MACAddress"))
}

// mac is an Ethernet address in lower case with colons; "" for anything else.
func mac(s string) string {
	hw, err := net.ParseMAC(s)
	if err != nil || len(hw) != 6 || hw[0]&1 == 1 || hw.String() == "00:00:00:00:00:00" {
		return ""
	}
	return hw.String()
}

func linkUp(status string) *bool {
	switch status {
	case "LinkUp", "Up":
		return ref(true)
	case "LinkDown", "NoLink", "Down":
		return ref(false)
	}
	return nil
}

func speed(r resource) *int {
	if n := r.whole("SpeedMbps", "CurrentLinkSpeedMbps"); n > 0 {
		return ref(int(n))
	}
	if n := r.number("CurrentSpeedGbps"); n != nil && *n > 0 {
		return ref(int(*n * 1000))
	}
	return nil
}

// address is the first of a list.
func address(raw []byte) string {
	for _, a := range items(raw) {
		if ip := net.ParseIP(object(a).word("Address")); ip != nil && !ip.IsUnspecified() {
			return ip.String()
		}
	}
	return ""
}

// adapters are those in the chassis, and those that the system links to.
func adapters(w *walk, s system, chassis []member) []member {
	var all []member
	seen := map[string]bool{}
	add := func(m member) {
		if m.resource != nil && !seen[tidy(m.path)] {
			seen[tidy(m.path)] = true
			all = append(all, m)
		}
	}
	for _, ch := range chassis {
		for _, m := range w.collection(link(ch.resource["NetworkAdapters"]), "NetworkDeviceFunctions", "Ports", "NetworkPorts") {
			add(m)
		}
	}
	for _, m := range w.collection(link(s.all["NetworkInterfaces"]), "Links") {
		path := link(object(m.resource["Links"])["NetworkAdapter"])
		add(member{path: path, resource: w.get(path)})
	}
	return all
}

// adapterNICs adds what an adapter has: its functions with the ports they use, and ports that no function uses.
func adapterNICs(w *walk, adapter resource, all *nicList) {
	ports := adapterPorts(w, adapter)
	used := map[string]bool{}
	for _, f := range w.collection(link(adapter["NetworkDeviceFunctions"]), "Ethernet") {
		path := tidy(portOf(f.resource))
		used[path] = true
		if kind := f.word("NetDevFuncType"); (kind != "" && kind != "Ethernet" && kind != "Disabled") || !ports.ethernet(path) {
			continue
		}
		ethernet := object(f.resource["Ethernet"])
		n := node.NIC{Name: f.word("Id", "Name"), MAC: permanentMAC(ethernet), Health: f.state().worst()}
		connect(&n, ports.by[path])
		describe(&n, adapter)
		all.add(n, mac(ethernet.word("MACAddress")))
	}
	for _, path := range ports.order {
		if used[path] || !ports.ethernet(path) {
			continue
		}
		p := ports.by[path]
		n := node.NIC{Name: p.word("Id", "Name"), MAC: portMAC(p), Health: p.state().worst()}
		connect(&n, p)
		describe(&n, adapter)
		all.add(n, "")
	}
}

// ports are the ports of one adapter.
type ports struct {
	by    map[string]resource
	order []string
}

// adapterPorts reads them from the newer collection, else from the older one, which has the same ports.
func adapterPorts(w *walk, adapter resource) ports {
	p := ports{by: map[string]resource{}}
	for _, key := range []string{"Ports", "NetworkPorts"} {
		for _, m := range w.collection(link(adapter[key]), "LinkStatus", "Ethernet", "AssociatedNetworkAddresses") {
			p.by[tidy(m.path)] = m.resource
			p.order = append(p.order, tidy(m.path))
		}
		if len(p.order) > 0 {
			break
		}
	}
	return p
}

// ethernet tells what a port speaks; one that is not told of speaks what some other port of its card does.
func (p ports) ethernet(path string) bool {
	speaks := func(r resource) bool {
		kind := r.word("LinkNetworkTechnology", "ActiveLinkTechnology", "PortProtocol")
		return kind == "" || kind == "Ethernet"
	}
	if port, ok := p.by[path]; ok {
		return speaks(port)
	}
	for _, port := range p.by {
		if speaks(port) {
			return true
		}
	}
	return len(p.by) == 0
}

// portOf is the path of the port that a function uses, "" where it does not say.
func portOf(function resource) string {
	links := object(function["Links"])
	raw := links.first("PhysicalNetworkPortAssignment", "PhysicalPortAssignment")
	if raw == nil {
		raw = function["PhysicalPortAssignment"]
	}
	return link(raw)
}

func portMAC(p resource) string {
	for _, list := range [][]byte{object(p["Ethernet"])["AssociatedMACAddresses"], p["AssociatedNetworkAddresses"]} {
		for _, a := range texts(list) {
			if m := mac(a); m != "" {
				return m
			}
		}
	}
	return ""
}

// connect fills in what a port knows of its cable.
func connect(n *node.NIC, port resource) {
	if port == nil {
		return
	}
	n.Link, n.SpeedMbps = linkUp(port.word("LinkStatus")), speed(port)
	heard := object(object(port["Ethernet"])["LLDPReceive"])
	b := node.Neighbour{
		SwitchID: lldpID(heard, "ChassisId"), SwitchName: heard.word("SystemName"), PortID: lldpID(heard, "PortId"),
		PortDescription: heard.word("PortDescription"),
	}
	if b.SwitchID != "" || b.PortID != "" {
		n.Neighbour = &b
	}
}

// lldpID reads an identifier, which Redfish writes as octets in hexadecimal also where they are a name.
func lldpID(heard resource, key string) string {
	id := heard.word(key)
	octets, err := hex.DecodeString(strings.ReplaceAll(id, ":", ""))
	if err != nil || len(octets) == 0 || !strings.Contains(id, ":") {
		return id
	}
	if heard.word(key+"Subtype") == "MacAddr" {
		return strings.ToLower(id)
	}
	for _, o := range octets {
		if o < 0x20 || o > 0x7e {
			return id
		}
	}
	return string(octets)
}

func describe(n *node.NIC, adapter resource) {
	n.Manufacturer, n.Model = adapter.word("Manufacturer"), adapter.word("Model", "PartNumber")
}

// nicList merges what several resources tell of one interface; the first to tell is believed.
type nicList struct {
	nics  []node.NIC
	index map[string]int // by each of its MACs
}

func (l *nicList) add(n node.NIC, current string) {
	if n.MAC == "" {
		return
	}
	if l.index == nil {
		l.index = map[string]int{}
	}
	for _, m := range []string{n.MAC, current} {
		if i, ok := l.index[m]; ok && m != "" {
			l.index[n.MAC] = i
			if l.nics[i].MAC == current {
				l.nics[i].MAC = n.MAC // the first knew the current address alone
			}
			fill(&l.nics[i], n)
			return
		}
	}
	l.index[n.MAC] = len(l.nics)
	if current != "" {
		l.index[current] = len(l.nics)
	}
	l.nics = append(l.nics, n)
}

func fill(n *node.NIC, more node.NIC) {
	orElse(&n.Name, more.Name)
	orElse(&n.IPv4, more.IPv4)
	orElse(&n.IPv6, more.IPv6)
	orElse(&n.Manufacturer, more.Manufacturer)
	orElse(&n.Model, more.Model)
	orElse(&n.SpeedMbps, more.SpeedMbps)
	orElse(&n.Link, more.Link)
	orElse(&n.Neighbour, more.Neighbour)
	n.Health = n.Health.Worse(more.Health)
}

// orElse fills in what is not known yet.
func orElse[T comparable](v *T, other T) {
	var unknown T
	if *v == unknown {
		*v = other
	}
}
