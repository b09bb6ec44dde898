package hooks

import (
	"errors"
	"net/netip"

	"cagenut/inspect/inventory"
)

// validateInterfaces decides which reported interfaces are real, and which of them become ports: the one that the server
// booted from, or, when that is unknown, all that have an address (G21), or, when none has, all.
type validateInterfaces struct{ noMain }

// nic is an interface that may become a port.
type nic struct {
	inventory.Interface
	pxe bool
}

func (validateInterfaces) Name() string { return "validate-interfaces" }

func (validateInterfaces) Preprocess(w *work) error {
	usable := usableInterfaces(w)
	for _, n := range usable {
		if n.MAC == w.Report.Boot.PXEMAC {
			w.pxeMAC = n.MAC
		}
	}
	w.valid = choose(w, usable)
	chosen := map[string]bool{}
	for _, n := range w.valid {
		chosen[n.Name] = true
	}
	all, valid, macs := map[string]any{}, map[string]any{}, []string{}
	for _, n := range usable {
		doc := n.document(chosen[n.Name])
		all[n.Name] = doc
		if chosen[n.Name] {
			valid[n.Name] = doc
			macs = append(macs, n.MAC)
		}
	}
	w.plugin["all_interfaces"], w.plugin["valid_interfaces"], w.plugin["macs"] = all, valid, macs
	if len(w.valid) == 0 {
		return errors.New("no usable network interface was reported")
	}
	return nil
}

// usableInterfaces are the interfaces with hardware, a name and an Ethernet address, each address once (G14, G51).
func usableInterfaces(w *work) []nic {
	var usable []nic
	macs, names := map[string]string{}, map[string]bool{}
	for _, i := range w.Report.Interfaces {
		name := inventory.Excerpt(i.Name)
		switch {
		case i.Name == "":
			w.note("an interface without a name was left out: %q", inventory.Excerpt(i.Reported))
		case i.Name == "lo" || isLoopback(i.Address()):
		case i.MAC == "":
			w.note("interface %q was left out: %q is no Ethernet address", name, inventory.Excerpt(i.Reported))
		case i.Virtual:
			w.note("interface %q was left out: it is virtual", name)
		case names[i.Name]:
			w.note("interface %q was reported more than once", name)
		case macs[i.MAC] != "":
			w.note("interface %q was left out: %s is the MAC of interface %q", name, i.MAC, inventory.Excerpt(macs[i.MAC]))
		default:
			macs[i.MAC], names[i.Name] = i.Name, true
			usable = append(usable, nic{Interface: i})
		}
	}
	return usable
}

// choose picks the interfaces that become ports.
func choose(w *work, usable []nic) []nic {
	if w.pxeMAC == "" {
		if len(usable) > 0 {
			w.note("the interface that the server booted from is not known%s: every interface with an address counts as one", unmatched(w.Report.Boot.PXEMAC))
		}
		return fallback(usable)
	}
	for _, n := range usable {
		if n.MAC == w.pxeMAC {
			n.pxe = true
			return []nic{n}
		}
	}
	return nil
}

func unmatched(mac string) string {
	if mac == "" {
		return ""
	}
	return ", no usable one has the MAC " + mac
}

// fallback takes every interface with an address, or all where none has one.
func fallback(usable []nic) []nic {
	var with []nic
	for i := range usable {
		usable[i].pxe = true
		if usable[i].Address() != "" {
			with = append(with, usable[i])
		}
	}
	if len(with) == 0 {
		return usable
	}
	return with
}

// document is the interface as it was reported, with `pxe_enabled`, and without the zone of its IPv6 address.
func (n nic) document(pxe bool) map[string]any {
	doc := map[string]any{}
	for k, v := range n.Fields {
		doc[k] = v
	}
	if n.IPv6 != "" {
		doc["ipv6_address"] = n.IPv6
	}
	doc["pxe_enabled"] = pxe
	return doc
}

func isLoopback(address string) bool {
	a, err := netip.ParseAddr(address)
	return err == nil && a.IsLoopback()
}
