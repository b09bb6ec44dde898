package redfish

import (
	"net"
	"net/netip"
	"net/url"
	"strconv"
	"strings"

	"cagenut/node"
)

// endpoint is where a BMC's Redfish service is.
type endpoint struct {
	base string // "https://host:port", no trailing slash, the default port left out
	host string // lower case, without brackets
}

// parseEndpoint reads redfish_address in any spelling that people use: host, host:port, an IPv6 address with or without
// brackets, or a URL with or without /redfish/v1 and trailing slash; https unless the URL says otherwise (G66).
func parseEndpoint(s string) (endpoint, error) {
	bad := func(why string) (endpoint, error) {
		return endpoint{}, node.Invalidf("Invalid value \"%s\" set in driver_info['redfish_address'] on node: %s. It should be the URL of the BMC, or its host name or address with an optional port.", printable(s), why)
	}
	raw := strings.TrimSpace(s)
	if raw == "" {
		return bad("it is empty")
	}
	if addr, err := netip.ParseAddr(raw); err == nil && addr.Is6() {
		raw = "[" + strings.ReplaceAll(raw, "%", "%25") + "]" // a zone
	}
	if !strings.Contains(raw, "://") {
		raw = "https://" + raw
	}
	u, err := url.Parse(raw)
	if err != nil {
		return bad("it cannot be read as a URL")
	}
	scheme := strings.ToLower(u.Scheme)
	host := canonical(u.Hostname())
	path := strings.ToLower(strings.Trim(u.Path, "/"))
	switch {
	case scheme != "https" && scheme != "http":
		return bad("the scheme must be http or https")
	case host == "" || strings.ContainsAny(host, " \t\"'<>\\"):
		return bad("it names no host")
	case u.User != nil:
		return bad("user and password belong in redfish_username and redfish_password")
	case u.RawQuery != "" || u.Fragment != "" || (path != "" && path != "redfish" && path != "redfish/v1"):
		return bad("nothing but /redfish/v1 may follow the host")
	}
	port := u.Port()
	if port != "" {
		if n, err := strconv.Atoi(port); err != nil || n < 1 || n > 65535 {
			return bad("the port is not between 1 and 65535")
		}
	}
	if (scheme == "https" && port == "443") || (scheme == "http" && port == "80") {
		port = ""
	}
	hostport := host
	if strings.Contains(host, ":") {
		hostport = "[" + strings.ReplaceAll(host, "%", "%25") + "]"
	}
	if port != "" {
		hostport = net.JoinHostPort(strings.ReplaceAll(host, "%", "%25"), port)
	}
	return endpoint{base: scheme + "://" + hostport, host: host}, nil
}

// canonical is one spelling of a host: a BMC has one queue, however people write its address.
func canonical(host string) string {
	if addr, err := netip.ParseAddr(host); err == nil {
		return addr.Unmap().String()
	}
	return strings.ToLower(host)
}

// linkPath is the path of a link, "" where it is none. BMCs may send absolute URLs, which gofish would glue onto the endpoint (G13
// of the handbook); glued so, anything that begins otherwise than a path could even name another host.
func linkPath(link string) string {
	u, err := url.Parse(link)
	if err != nil || !strings.HasPrefix(u.Path, "/") {
		return ""
	}
	if u.RawQuery != "" {
		return u.EscapedPath() + "?" + u.RawQuery
	}
	return u.EscapedPath()
}
