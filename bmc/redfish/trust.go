package redfish

import (
	"crypto/sha256"
	"crypto/subtle"
	"crypto/tls"
	"crypto/x509"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"

	"cagenut/node"
)

// largestCA is how large a file with CA certificates may be, in bytes; that of an operating system has some 200 KiB.
const largestCA = 4 << 20

// trust is how a BMC has to prove who it is, before it gets a password.
type trust struct {
	verify string // "true", "false", or the path of a CA file
	stamp  string // of that file, so that a new one counts at once
	pin    string // SHA-256 of the BMC's certificate, lower-case hex; takes the place of all other verification; "": none
	oldTLS bool   // TLS 1.0 and every cipher suite will do
}

func readTrust(n node.Node, e endpoint) (t trust, err error) {
	if t.verify, t.stamp, err = verifySetting(n); err != nil {
		return t, err
	}
	if t.pin, err = pinSetting(n); err != nil {
		return t, err
	}
	if t.pin != "" && strings.HasPrefix(e.base, "http://") {
		return t, node.Invalidf("driver_info['redfish_certificate_sha256'] on node %s is for https, and redfish_address is %s: without TLS there is no certificate.", n.UUID, e.base)
	}
	t.oldTLS, err = flag(n, "redfish_old_tls")
	return t, err
}

// pinSetting reads a fingerprint as people copy it: in any case, with or without colons and blanks, and with what openssl and
// others write in front: "SHA256:", "sha256 Fingerprint=".
func pinSetting(n node.Node) (string, error) {
	raw, err := optionalText(n, "redfish_certificate_sha256")
	if err != nil {
		return "", err
	}
	pin := strings.ToLower(strings.TrimSpace(raw))
	if pin == "" {
		return "", nil
	}
	for _, before := range []string{"sha256", "sha-256", " fingerprint"} {
		pin = strings.TrimPrefix(pin, before)
	}
	pin = strings.TrimLeft(pin, ":= ")
	pin = strings.NewReplacer(":", "", " ", "", "-", "").Replace(pin)
	if b, err := hex.DecodeString(pin); err != nil || len(b) != sha256.Size {
		return "", node.Invalidf("Invalid value \"%s\" set in driver_info['redfish_certificate_sha256'] on node %s. It should be the SHA-256 fingerprint of the BMC's certificate: 64 hexadecimal digits, with or without colons.", printable(raw), n.UUID)
	}
	return pin, nil
}

// truths are the texts that count as Booleans.
var truths = map[string]bool{
	"true": true, "yes": true, "on": true, "1": true, "t": true, "y": true,
	"false": false, "no": false, "off": false, "0": false, "f": false, "n": false,
}

// flag reads a Boolean that is false unless it is set.
func flag(n node.Node, key string) (bool, error) {
	v := n.DriverInfo[key]
	if b, ok := v.(bool); ok || v == nil {
		return b, nil
	}
	t, ok := node.Text(v)
	if b, known := truths[strings.ToLower(strings.TrimSpace(t))]; ok && known {
		return b, nil
	}
	if ok && strings.TrimSpace(t) == "" {
		return false, nil
	}
	return false, node.Invalidf("Invalid value set in driver_info['%s'] on node %s: it should be a Boolean.", key, n.UUID)
}

func verifySetting(n node.Node) (verify, stamp string, err error) {
	switch v := n.DriverInfo["redfish_verify_ca"].(type) {
	case nil:
		return "true", "", nil
	case bool:
		return strconv.FormatBool(v), "", nil
	case string:
		name := strings.ToLower(strings.TrimSpace(v))
		if name == "" {
			return "true", "", nil
		}
		if b, known := truths[name]; known {
			return strconv.FormatBool(b), "", nil
		}
		info, err := os.Stat(v)
		// A device or a pipe would be read for ever.
		if err != nil || !info.Mode().IsRegular() || info.Size() > largestCA {
			return "", "", node.Invalidf("Invalid value \"%s\" set in driver_info['redfish_verify_ca'] on node %s. The value should be a Boolean or the path of a file with CA certificates that exists, of at most 4 MiB.", printable(v), n.UUID)
		}
		return v, fmt.Sprint(info.Size(), info.ModTime().UnixNano()), nil
	}
	return "", "", node.Invalidf("Invalid value set in driver_info['redfish_verify_ca'] on node %s. The value should be a Boolean or the path of a file with CA certificates.", n.UUID)
}

// tlsConfig carries the trust out. TLS 1.2 with forward secrecy is the least that is spoken, unless the old is allowed by name
// (the handbook's §3).
func (t trust) tlsConfig() (*tls.Config, error) {
	c := &tls.Config{MinVersion: tls.VersionTLS12}
	if t.oldTLS {
		c.MinVersion = tls.VersionTLS10
		for _, suite := range append(tls.CipherSuites(), tls.InsecureCipherSuites()...) {
			c.CipherSuites = append(c.CipherSuites, suite.ID)
		}
	}
	switch {
	case t.pin != "":
		// An address without a name and a certificate that signs itself are the usual case; the pin says more than both.
		c.InsecureSkipVerify, c.VerifyConnection = true, t.isPinned
	case t.verify == "true":
	case t.verify == "false":
		c.InsecureSkipVerify = true
	default:
		pem, err := os.ReadFile(t.verify)
		if err != nil {
			return nil, node.Invalidf("The CA file of driver_info['redfish_verify_ca'] cannot be read: %s", err)
		}
		c.RootCAs = x509.NewCertPool()
		if !c.RootCAs.AppendCertsFromPEM(pem) {
			return nil, node.Invalidf("The CA file \"%s\" of driver_info['redfish_verify_ca'] holds no certificate.", printable(t.verify))
		}
	}
	return c, nil
}

func (t trust) isPinned(s tls.ConnectionState) error {
	if len(s.PeerCertificates) == 0 {
		return errors.New("the BMC shows no certificate")
	}
	got := digest(s.PeerCertificates[0])
	if subtle.ConstantTimeCompare([]byte(got), []byte(t.pin)) != 1 {
		return &pinError{got: got, want: t.pin}
	}
	return nil
}

// pinError says that the BMC's certificate is another than the one that was pinned.
type pinError struct{ got, want string }

func (e *pinError) Error() string {
	return fmt.Sprintf("the certificate is not the pinned one: its SHA-256 is %s, pinned is %s", fingerprint(e.got), fingerprint(e.want))
}

// digest is the SHA-256 of a certificate, as tools show it.
func digest(c *x509.Certificate) string {
	sum := sha256.Sum256(c.Raw)
	return hex.EncodeToString(sum[:])
}

// fingerprint is a digest as browsers and openssl write it.
func fingerprint(digest string) string {
	var b strings.Builder
	for i := 0; i+2 <= len(digest); i += 2 {
		if i > 0 {
			b.WriteByte(':')
		}
		b.WriteString(strings.ToUpper(digest[i : i+2]))
	}
	return b.String()
}
