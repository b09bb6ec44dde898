package ipmi

import (
	"net"
	"net/netip"
	"strconv"
	"strings"
	"unicode"

	"cagenut/node"
)

const (
	usualPort   = 623
	maxUser     = 16 // bytes, by the standard
	maxPassword = 20 // bytes, by the standard; go-ipmi would cut silently
	// oldMaxPassword is what IPMI 1.5 had; some BMCs keep no more (quirk 61).
	oldMaxPassword = 16
)

// settings are a node's driver_info as this driver reads it.
type settings struct {
	host     string // lower case, without brackets
	port     int
	user     string
	password node.Secret
	legacy   bool // boot overrides ask for a legacy boot instead of UEFI
}

// address is "host:port", with brackets where needed.
func (s settings) address() string { return net.JoinHostPort(s.host, strconv.Itoa(s.port)) }

// readSettings reads driver_info. Numbers count as text: people write numeric passwords without quotes (G38).
func readSettings(n node.Node) (settings, error) {
	address, _ := node.Text(n.DriverInfo["ipmi_address"])
	if strings.TrimSpace(address) == "" {
		return settings{}, node.Invalidf("Missing the following IPMI credentials in node's driver_info: ['ipmi_address'].")
	}
	s := settings{port: usualPort, legacy: n.BootMode == "bios"}
	if err := s.readAddress(strings.TrimSpace(address)); err != nil {
		return settings{}, err
	}
	if v, there := n.DriverInfo["ipmi_port"]; there && v != nil {
		t, _ := node.Text(v)
		port, err := strconv.Atoi(strings.TrimSpace(t))
		if err != nil || port < 1 || port > 65535 {
			return settings{}, node.Invalidf("Invalid value set in driver_info['ipmi_port'] on node %s: it must be a number between 1 and 65535.", n.UUID)
		}
		s.port = port
	}
	var err error
	if s.user, err = limited(n, "ipmi_username", maxUser); err != nil {
		return settings{}, err
	}
	password, err := limited(n, "ipmi_password", maxPassword)
	s.password = node.Secret(password)
	return s, err
}

// readAddress takes a host name or address, IPv6 with or without brackets, optionally with a port (G66).
func (s *settings) readAddress(raw string) error {
	host := raw
	if addr, err := netip.ParseAddr(strings.Trim(raw, "[]")); err == nil {
		host = addr.Unmap().String()
	} else if h, p, err := net.SplitHostPort(raw); err == nil {
		port, err := strconv.Atoi(p)
		if err != nil || port < 1 || port > 65535 {
			return invalidAddress(raw)
		}
		host, s.port = h, port
	}
	if host == "" || strings.ContainsAny(host, "/@\"'<>\\[]") || strings.ContainsFunc(host, func(r rune) bool { return unicode.IsSpace(r) || unicode.IsControl(r) }) {
		return invalidAddress(raw)
	}
	if _, err := netip.ParseAddr(host); err != nil && strings.Contains(host, ":") {
		return invalidAddress(raw)
	}
	s.host = strings.ToLower(host)
	return nil
}

func invalidAddress(raw string) error {
	return node.Invalidf("Invalid value %q set in driver_info['ipmi_address']: it should be the host name or address of the BMC.", raw[:min(len(raw), 100)])
}

func limited(n node.Node, key string, most int) (string, error) {
	v, there := n.DriverInfo[key]
	if !there || v == nil {
		return "", nil
	}
	t, ok := node.Text(v)
	if !ok {
		return "", node.Invalidf("Invalid value set in driver_info['%s'] on node %s: it must be a string.", key, n.UUID)
	}
	if len(t) > most {
		return "", node.Invalidf("The value of driver_info['%s'] on node %s is %d bytes long; IPMI 2.0 takes at most %d.", key, n.UUID, len(t), most)
	}
	return t, nil
}
