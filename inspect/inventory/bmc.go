package inventory

import (
	"context"
	"fmt"
	"maps"
	"net/netip"
	"net/url"
	"slices"
	"strings"
	"time"

	"cagenut/node"
)

// KnownAddress is a BMC's address in its canonical spelling, without prefix length or zone. ok is false for what tells
// nothing: no address at all, an unspecified one such as 0.0.0.0 or ::/0 (G12), and loopback (G48).
func KnownAddress(s string) (address string, ok bool) {
	s, _, _ = strings.Cut(strings.TrimSpace(s), "/")
	a, err := netip.ParseAddr(strings.Trim(s, "[]"))
	if err != nil {
		return "", false
	}
	return knownAddr(a)
}

func knownAddr(a netip.Addr) (string, bool) {
	a = a.Unmap().WithZone("")
	if a.IsUnspecified() || a.IsLoopback() {
		return "", false
	}
	return a.String(), true
}

// Resolver finds the addresses of a host name; *net.Resolver is one.
type Resolver interface {
	LookupNetIP(ctx context.Context, network, host string) ([]netip.Addr, error)
}

// nameLimit bounds the search for one name.
const nameLimit = 3 * time.Second

// BMCAddresses are the addresses by which a report may find a node: the hosts of every driver_info key that ends in
// `_address`, names resolved (contract.md §4.1), sorted. A BMC behind an IPMI bridge does not count: the bridge's address
// is not its own. Notes tell of names that could not be resolved; that fails nothing.
func BMCAddresses(ctx context.Context, r Resolver, driverInfo map[string]any) (addresses, notes []string) {
	found := map[string]bool{}
	for _, key := range slices.Sorted(maps.Keys(driverInfo)) {
		if !strings.HasSuffix(key, "_address") || key == "ipmi_address" && bridged(driverInfo) {
			continue
		}
		value, _ := node.Text(driverInfo[key])
		host := hostOf(value)
		if host == "" {
			continue
		}
		resolved, err := resolve(ctx, r, host)
		if err != nil {
			notes = append(notes, fmt.Sprintf("%s cannot be used to recognise the report: %s", key, err))
		}
		for _, a := range resolved {
			if s, ok := knownAddr(a); ok {
				found[s] = true
			}
		}
	}
	return slices.Sorted(maps.Keys(found)), notes
}

func bridged(driverInfo map[string]any) bool {
	b, _ := node.Text(driverInfo["ipmi_bridging"])
	return b != "" && b != "no"
}

// hostOf is the host of a URL, of host:port, or the whole text.
func hostOf(s string) string {
	s = strings.TrimSpace(s)
	if a, err := netip.ParseAddr(strings.Trim(s, "[]")); err == nil {
		return a.String()
	}
	if !strings.Contains(s, "://") {
		s = "//" + s
	}
	u, err := url.Parse(s)
	if err != nil {
		return ""
	}
	return u.Hostname()
}

func resolve(ctx context.Context, r Resolver, host string) ([]netip.Addr, error) {
	if a, err := netip.ParseAddr(host); err == nil {
		return []netip.Addr{a}, nil
	}
	ctx, cancel := context.WithTimeout(ctx, nameLimit)
	defer cancel()
	return r.LookupNetIP(ctx, "ip", host)
}
