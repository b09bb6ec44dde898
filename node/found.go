package node

import (
	"net"
	"net/netip"
	"strconv"
)

// FoundBMC is what a search found at an address. It was asked without credentials, so it is only what anybody may read.
type FoundBMC struct {
	Address netip.Addr
	Redfish *FoundRedfish // nil: it speaks no Redfish at the ports that were asked
	IPMI    *FoundIPMI    // nil: it speaks no IPMI there
}

// FoundRedfish is what a Redfish service root says to strangers. Every field but URL may be "".
type FoundRedfish struct {
	URL     string // as redfish_address takes it
	Product string
	Vendor  string
	Version string // of Redfish
	UUID    string // of the service
	// Fingerprint is the SHA-256 of the certificate that was shown, 64 hexadecimal digits; "" over plain HTTP. Trusted says
	// that a CA of this machine has signed it for the address.
	Fingerprint string
	Trusted     bool
}

// FoundIPMI is what a BMC says of IPMI before a login.
type FoundIPMI struct {
	Port    int
	Version string // "2.0", or "1.5" where it does not say that it speaks the newer one
}

// SearchPorts are where BMCs are looked for at each address.
type SearchPorts struct {
	Redfish []RedfishPort
	IPMI    []int
}

// RedfishPort is a TCP port; TLS is spoken there unless it is plain.
type RedfishPort struct {
	Port  int
	Plain bool
}

// Drivers are those by which the BMC can be reached, the better one first.
func (f FoundBMC) Drivers() (all []string) {
	if f.Redfish != nil {
		all = append(all, DriverRedfish)
	}
	if f.IPMI != nil {
		all = append(all, DriverIPMI)
	}
	return all
}

// Key tells finds of one search apart: a few addresses have several BMCs at different ports.
func (f FoundBMC) Key() string {
	switch {
	case f.Redfish != nil:
		return f.Redfish.URL
	case f.IPMI != nil:
		return "ipmi://" + net.JoinHostPort(f.Address.String(), strconv.Itoa(f.IPMI.Port))
	}
	return f.Address.String()
}

// DriverInfo is what a node needs to reach the BMC by one of its drivers, but for the credentials.
func (f FoundBMC) DriverInfo(driver string) map[string]any {
	info := map[string]any{}
	switch {
	case driver == DriverRedfish && f.Redfish != nil:
		info["redfish_address"] = f.Redfish.URL
	case driver == DriverIPMI && f.IPMI != nil:
		info["ipmi_address"] = f.Address.String()
		if f.IPMI.Port != usualIPMIPort {
			info["ipmi_port"] = f.IPMI.Port
		}
	}
	return info
}

const usualIPMIPort = 623
