package hooks

import (
	"fmt"
	"net/netip"
	"strings"
)

// PhysicalNetwork says which network addresses of a subnet belong to.
type PhysicalNetwork struct {
	Subnet netip.Prefix
	Name   string
}

// ParsePhysicalNetwork reads one of the form subnet:name, such as 192.0.2.0/24:rack-7 or 2001:db8::/64:rack-7.
func ParsePhysicalNetwork(s string) (PhysicalNetwork, error) {
	at := strings.LastIndexByte(s, ':')
	if at < 0 {
		at = len(s)
	}
	subnet, err := netip.ParsePrefix(strings.TrimSpace(s[:at]))
	name := strings.TrimSpace(strings.TrimPrefix(s[at:], ":"))
	if err != nil || name == "" || len(name) > 64 {
		return PhysicalNetwork{}, fmt.Errorf("%q is not of the form subnet:name, such as 192.0.2.0/24:rack-7; a name has at most 64 bytes", s)
	}
	return PhysicalNetwork{Subnet: subnet.Masked(), Name: name}, nil
}

// physicalNetwork writes physical_network of the node's ports: the network that the interface had an address in while the
// ramdisk ran.
type physicalNetwork struct {
	noPreprocess
	needsInterfaces
	networks []PhysicalNetwork
}

func (physicalNetwork) Name() string { return "physical-network" }

func (h physicalNetwork) Main(w *work) error {
	for _, n := range w.usable {
		p := w.port(n.MAC)
		if p == nil {
			continue
		}
		for _, address := range []string{n.IPv4, n.IPv6} {
			if name := h.networkOf(address); name != "" {
				p.changed = p.changed || p.PhysicalNetwork != name
				p.PhysicalNetwork = name
				break
			}
		}
	}
	return nil
}

func (h physicalNetwork) networkOf(address string) string {
	a, err := netip.ParseAddr(address)
	if err != nil {
		return ""
	}
	for _, n := range h.networks {
		if n.Subnet.Contains(a.Unmap()) {
			return n.Name
		}
	}
	return ""
}
