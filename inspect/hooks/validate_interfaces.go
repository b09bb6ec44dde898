package hooks

import (
	"errors"
	"fmt"
	"net/netip"

	"cagenut/inspect/inventory"
)

// Which interfaces become ports.
const (
	AddPXE      = "pxe"      // the one that the server booted from; where that is unknown, those with an address, or all
	AddActive   = "active"   // those that had an address while the ramdisk ran
	AddAll      = "all"      // all that are real
	AddDisabled = "disabled" // none
)

// validateInterfaces decides which reported interfaces are real, and which of them become ports: the one that the server
// booted from, or, when that is unknown, all that have an address (G21), or, when none has, all. A setting may say
// otherwise.
type validateInterfaces struct {
	noMain
	noNeeds
	add string
}

// nic is an interface that may become a port.
type nic struct {
	inventory.Interface
	pxe bool // the server may boot from it
}

func (validateInterfaces) Name() string { return "validate-interfaces" }

func (h validateInterfaces) Preprocess(w *work) error {
	w.usable = usableInterfaces(w)
	for _, n := range w.usable {
		if n.MAC == w.Report.Boot.PXEMAC {
			w.pxeMAC = n.MAC
		}
	}
	w.valid = h.choose(w)
	boots := map[string]bool{}
	for _, n := range w.valid {
		if n.pxe {
			boots[n.MAC] = true
		}
	}
	all, valid, macs := map[string]any{}, map[string]any{}, []string{}
	for _, i := range w.Report.Interfaces {
		if i.Name != "" && i.MAC != "" && all[i.Name] == nil {
			all[i.Name] = document(i, boots[i.MAC])
		}
	}
	for _, n := range w.valid {
		valid[n.Name] = document(n.Interface, n.pxe)
		macs = append(macs, n.Reported)
	}
	w.plugin["all_interfaces"], w.plugin["valid_interfaces"], w.plugin["macs"] = all, valid, macs
	switch {
	case len(w.usable) == 0:
		return errors.New("no usable network interface was reported")
	case len(w.valid) == 0:
		return fmt.Errorf("no network interfaces match the configuration (add_ports set to %q)", h.add)
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
		case i.Ignored:
			w.note("interface %q was left out: the MAC %s is one to be ignored", name, i.MAC)
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
func (h validateInterfaces) choose(w *work) []nic {
	if w.pxeMAC == "" && len(w.usable) > 0 {
		w.note("the interface that the server booted from is not known%s: every interface with an address counts as one", unmatched(w.Report.Boot.PXEMAC))
	}
	var all, booted, active []nic
	for _, n := range w.usable {
		n.pxe = w.pxeMAC == "" || n.MAC == w.pxeMAC
		all = append(all, n)
		if n.MAC == w.pxeMAC {
			booted = append(booted, n)
		}
		if n.Address() != "" {
			active = append(active, n)
		}
	}
	switch {
	case h.add == AddAll || h.add == AddDisabled:
		return all
	case h.add == AddActive:
		return active
	case w.pxeMAC != "":
		return booted
	case len(active) > 0:
		return active
	}
	return all
}

func unmatched(mac string) string {
	if mac == "" {
		return ""
	}
	return ", no usable one has the MAC " + mac
}

// document is the interface as it was reported, with `pxe_enabled`, and without the zone of its IPv6 address.
func document(i inventory.Interface, pxe bool) map[string]any {
	doc := map[string]any{"ipv6_address": nil}
	for k, v := range i.Fields {
		doc[k] = v
	}
	if i.IPv6 != "" {
		doc["ipv6_address"] = i.IPv6
	}
	doc["pxe_enabled"] = pxe
	return doc
}

func isLoopback(address string) bool {
	a, err := netip.ParseAddr(address)
	return err == nil && a.IsLoopback()
}
