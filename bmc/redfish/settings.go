package redfish

import (
	"crypto/sha256"
	"encoding/hex"
	"strconv"
	"strings"

	"cagenut/node"
)

// settings are a node's driver_info as this driver reads it.
type settings struct {
	endpoint
	user     string
	password node.Secret
	system   string // path of the system; "": find it
	trust
}

// readSettings reads driver_info. Numbers count as text: people write numeric passwords without quotes (G38).
func readSettings(n node.Node) (settings, error) {
	address, _ := node.Text(n.DriverInfo["redfish_address"])
	if strings.TrimSpace(address) == "" {
		return settings{}, node.Invalidf("Missing the following Redfish properties in node %s driver_info: ['redfish_address'].", n.UUID)
	}
	e, err := parseEndpoint(address)
	if err != nil {
		return settings{}, err
	}
	s := settings{endpoint: e}
	if s.user, err = optionalText(n, "redfish_username"); err != nil {
		return settings{}, err
	}
	password, err := optionalText(n, "redfish_password")
	if err != nil {
		return settings{}, err
	}
	s.password = node.Secret(password)
	if s.system, err = systemPath(n); err != nil {
		return settings{}, err
	}
	s.trust, err = readTrust(n, e)
	return s, err
}

func optionalText(n node.Node, key string) (string, error) {
	v, there := n.DriverInfo[key]
	if !there || v == nil {
		return "", nil
	}
	t, ok := node.Text(v)
	if !ok {
		return "", node.Invalidf("Invalid value set in driver_info['%s'] on node %s: it must be a string.", key, n.UUID)
	}
	return t, nil
}

func systemPath(n node.Node) (string, error) {
	s, err := optionalText(n, "redfish_system_id")
	if err != nil || strings.TrimSpace(s) == "" {
		return "", err
	}
	path := strings.TrimRight(linkPath(strings.TrimSpace(s)), "/")
	if !strings.HasPrefix(path, "/") {
		return "", node.Invalidf("Invalid value \"%s\" set in driver_info['redfish_system_id'] on node %s. It should be the path of the system, such as /redfish/v1/Systems/1.", printable(s), n.UUID)
	}
	return path, nil
}

// print identifies everything that a connection depends on. It is compared, never shown.
func (s settings) print() string {
	parts := []string{s.base, s.user, string(s.password), s.verify, s.stamp, s.pin, strconv.FormatBool(s.oldTLS)}
	sum := sha256.Sum256([]byte(strings.Join(parts, "\x00")))
	return hex.EncodeToString(sum[:])
}

// login names a way into a BMC: there is one connection for each.
func (s settings) login() login { return login{base: s.base, user: s.user} }

// login is a BMC and a user of it.
type login struct{ base, user string }
