package redfish

import (
	"crypto/sha256"
	"crypto/tls"
	"crypto/x509"
	"os"
	"strings"

	"cagenut/node"
)

// settings are a node's driver_info as this driver reads it.
type settings struct {
	endpoint
	user     string
	password node.Secret
	system   string // path of the system; "": find it
	verify   string // "true", "false", or the path of a CA file
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
	s.verify, err = verifySetting(n)
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

func verifySetting(n node.Node) (string, error) {
	switch v := n.DriverInfo["redfish_verify_ca"].(type) {
	case nil:
		return "true", nil
	case bool:
		if v {
			return "true", nil
		}
		return "false", nil
	case string:
		switch strings.ToLower(strings.TrimSpace(v)) {
		case "", "true", "yes", "on", "1", "t", "y":
			return "true", nil
		case "false", "no", "off", "0", "f", "n":
			return "false", nil
		}
		if info, err := os.Stat(v); err != nil || info.IsDir() {
			return "", node.Invalidf("Invalid value \"%s\" set in driver_info['redfish_verify_ca'] on node %s. The value should be a Boolean or the path of a file with CA certificates that exists.", printable(v), n.UUID)
		}
		return v, nil
	}
	return "", node.Invalidf("Invalid value set in driver_info['redfish_verify_ca'] on node %s. The value should be a Boolean or the path of a file with CA certificates.", n.UUID)
}

// print identifies everything that a connection depends on. It is compared, never shown.
func (s settings) print() [32]byte {
	return sha256.Sum256([]byte(strings.Join([]string{s.base, s.user, string(s.password), s.verify}, "\x00")))
}

// tlsConfig follows redfish_verify_ca. BMCs do not speak HTTP/2 usefully; TLS 1.2 is the least.
func (s settings) tlsConfig() (*tls.Config, error) {
	c := &tls.Config{MinVersion: tls.VersionTLS12}
	switch s.verify {
	case "true":
	case "false":
		c.InsecureSkipVerify = true
	default:
		pem, err := os.ReadFile(s.verify)
		if err != nil {
			return nil, node.Invalidf("The CA file of driver_info['redfish_verify_ca'] cannot be read: %s", err)
		}
		c.RootCAs = x509.NewCertPool()
		if !c.RootCAs.AppendCertsFromPEM(pem) {
			return nil, node.Invalidf("The CA file \"%s\" of driver_info['redfish_verify_ca'] holds no certificate.", printable(s.verify))
		}
	}
	return c, nil
}
