package conductor

import (
	"net/netip"
	"strconv"
	"strings"
	"unicode"

	"cagenut/node"
)

// MostSearched is how many addresses one search may ask.
const MostSearched = 4096

// mostPorts is how many ports of each protocol a search may ask at one address.
const mostPorts = 4

// ReadAddresses reads which addresses are meant: single ones, networks such as 192.0.2.0/24 and ranges such as
// 192.0.2.10-192.0.2.40 or 192.0.2.10-40, apart by commas, semicolons or blanks. Of a network of IPv4 its own address and
// that for all are left out. *node.Invalid says what cannot be read, is too much, or may not be asked.
func ReadAddresses(text string, local bool) ([]netip.Addr, error) {
	words := strings.FieldsFunc(text, func(r rune) bool { return r == ',' || r == ';' || unicode.IsSpace(r) })
	var out []netip.Addr
	seen := map[netip.Addr]bool{}
	for _, word := range words {
		first, last, err := bounds(word)
		if err != nil {
			return nil, err
		}
		for a := first; a.IsValid() && a.Compare(last) <= 0; a = a.Next() {
			if seen[a] {
				continue
			}
			if len(out) == MostSearched {
				return nil, node.Invalidf("These are more than %d addresses. Search a smaller network at a time.", MostSearched)
			}
			if err := askable(a, local); err != nil {
				return nil, err
			}
			seen[a] = true
			out = append(out, a)
		}
	}
	if len(out) == 0 {
		return nil, node.Invalidf("Say which addresses are to be searched, such as 192.0.2.0/24 or 192.0.2.10-192.0.2.40.")
	}
	return out, nil
}

// bounds are the first and the last address that a word means.
func bounds(word string) (first, last netip.Addr, err error) {
	bad := func() (netip.Addr, netip.Addr, error) {
		return first, last, node.Invalidf("%q is neither an address nor a range of addresses, such as 192.0.2.7, 192.0.2.0/24 or 192.0.2.10-192.0.2.40.", node.Shorten(word, 80))
	}
	if strings.Contains(word, "/") {
		p, err := netip.ParsePrefix(word)
		if err != nil {
			return bad()
		}
		first, last = network(p.Masked())
		return first, last, nil
	}
	from, to, isRange := strings.Cut(word, "-")
	if first, err = netip.ParseAddr(from); err != nil {
		return bad()
	}
	first = first.Unmap()
	if !isRange {
		return first, first, nil
	}
	if last, err = netip.ParseAddr(to); err != nil { // the last part alone
		n, err := strconv.ParseUint(to, 10, 8)
		if err != nil || !first.Is4() {
			return bad()
		}
		b := first.As4()
		b[3] = byte(n)
		last = netip.AddrFrom4(b)
	}
	last = last.Unmap()
	if first.Is4() != last.Is4() || first.Zone() != last.Zone() || last.Less(first) {
		return bad()
	}
	return first, last, nil
}

// network is what may be hosts of a network.
func network(p netip.Prefix) (first, last netip.Addr) {
	first = p.Addr().Unmap()
	bytes := first.AsSlice()
	for i := p.Bits(); i < len(bytes)*8; i++ {
		bytes[i/8] |= 0x80 >> (i % 8)
	}
	last, _ = netip.AddrFromSlice(bytes) // its length is right
	if first.Is4() && p.Bits() <= 30 {
		return first.Next(), last.Prev()
	}
	return first, last
}

// Addresses that are no hosts of anybody's rack: those at which clouds tell machines their secrets.
var (
	metadata4 = netip.MustParseAddr("169.254.169.254")
	metadata6 = netip.MustParseAddr("fd00:ec2::254")
)

// askable refuses addresses that nobody may have this appliance ask. local allows its own.
func askable(a netip.Addr, local bool) error {
	a = a.Unmap()
	switch plain := a.WithZone(""); {
	case plain.IsUnspecified(), plain.Is4() && plain.As4()[0] == 0:
		return node.Invalidf("%s is no host's address.", a)
	case plain.IsMulticast(), plain.Is4() && plain.As4()[0] >= 240:
		return node.Invalidf("%s is not the address of one host.", a)
	case plain == metadata4, plain == metadata6:
		return node.Invalidf("%s is never asked: it is where clouds keep what machines must not tell.", a)
	case plain.IsLoopback() && !local:
		return node.Invalidf("%s is this machine itself. It is asked only where the appliance listens on nothing but loopback.", a)
	}
	return nil
}

// ReadRedfishPorts reads TCP ports such as "443, 8000/http"; TLS is spoken at those that do not say otherwise.
func ReadRedfishPorts(text string) (out []node.RedfishPort, err error) {
	for _, word := range portWords(text) {
		number, scheme, _ := strings.Cut(strings.ToLower(word), "/")
		port, ok := portNumber(number)
		if !ok || scheme != "" && scheme != "http" && scheme != "https" {
			return nil, node.Invalidf("%q is no port for Redfish: it should be a number between 1 and 65535, with /http behind it where no TLS is spoken.", node.Shorten(word, 60))
		}
		out = append(out, node.RedfishPort{Port: port, Plain: scheme == "http"})
	}
	return out, tooManyPorts(len(out))
}

// ReadIPMIPorts reads UDP ports.
func ReadIPMIPorts(text string) (out []int, err error) {
	for _, word := range portWords(text) {
		port, ok := portNumber(word)
		if !ok {
			return nil, node.Invalidf("%q is no port for IPMI: it should be a number between 1 and 65535.", node.Shorten(word, 60))
		}
		out = append(out, port)
	}
	return out, tooManyPorts(len(out))
}

func portWords(text string) []string {
	return strings.FieldsFunc(text, func(r rune) bool { return r == ',' || r == ';' || unicode.IsSpace(r) })
}

func portNumber(s string) (int, bool) {
	n, err := strconv.ParseUint(s, 10, 16)
	return int(n), err == nil && n > 0
}

func tooManyPorts(n int) error {
	if n > mostPorts {
		return node.Invalidf("At most %d ports of each kind are asked at an address.", mostPorts)
	}
	return nil
}

// Addresses is [ReadAddresses] for this appliance.
func (e *Enroller) Addresses(text string) ([]netip.Addr, error) {
	return ReadAddresses(text, e.LocalTargets)
}
