package finder

import (
	"context"
	"crypto/sha256"
	"crypto/tls"
	"crypto/x509"
	"encoding/hex"
	"encoding/json"
	"io"
	"net"
	"net/http"
	"net/netip"
	"strconv"
	"strings"
	"unicode"

	"cagenut/node"
)

const (
	serviceRoot = "/redfish/v1/"
	// rootLimit is as much as is read of an answer, in bytes; a service root has some two thousand.
	rootLimit = 256 << 10
	// wordLimit is as much as is kept of a word that a stranger says, in characters.
	wordLimit = 100
)

// askRedfish reads the service root; nil where there is none.
func askRedfish(ctx context.Context, at netip.Addr, p node.RedfishPort) *node.FoundRedfish {
	base := baseURL(at, p)
	transport := &http.Transport{
		TLSClientConfig: anyTLS(), DisableKeepAlives: true, DisableCompression: true, MaxResponseHeaderBytes: 64 << 10,
		TLSNextProto: map[string]func(string, *tls.Conn) http.RoundTripper{}, // no HTTP/2
	}
	defer transport.CloseIdleConnections()
	client := &http.Client{Transport: transport, CheckRedirect: sameService(base)}
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, base+serviceRoot, nil)
	if err != nil {
		return nil
	}
	req.Header.Set("Accept", "application/json")
	res, err := client.Do(req)
	if err != nil {
		return nil
	}
	defer func() { _ = res.Body.Close() }()
	body, err := io.ReadAll(io.LimitReader(res.Body, rootLimit))
	if err != nil {
		return nil
	}
	found := readRoot(res, body)
	if found == nil {
		return nil
	}
	found.URL = base
	if res.TLS != nil && len(res.TLS.PeerCertificates) > 0 {
		found.Fingerprint, found.Trusted = digest(res.TLS.PeerCertificates[0]), trusted(at, res.TLS.PeerCertificates)
	}
	return found
}

// baseURL is the service as redfish_address takes it, the usual ports left out.
func baseURL(at netip.Addr, p node.RedfishPort) string {
	scheme, usual := "https", 443
	if p.Plain {
		scheme, usual = "http", 80
	}
	host := strings.ReplaceAll(at.String(), "%", "%25") // a zone
	switch {
	case p.Port != usual:
		return scheme + "://" + net.JoinHostPort(host, strconv.Itoa(p.Port))
	case at.Is6():
		return scheme + "://[" + host + "]"
	}
	return scheme + "://" + host
}

// anyTLS speaks with everybody: nothing is said that anybody may not hear, and old BMCs are to be found as well.
func anyTLS() *tls.Config {
	c := &tls.Config{MinVersion: tls.VersionTLS10, InsecureSkipVerify: true}
	for _, suite := range append(tls.CipherSuites(), tls.InsecureCipherSuites()...) {
		c.CipherSuites = append(c.CipherSuites, suite.ID)
	}
	return c
}

// sameService follows redirects of the service to itself, such as to a path without a slash at its end, and nowhere else:
// whoever answers must not choose what else this appliance asks.
func sameService(base string) func(*http.Request, []*http.Request) error {
	return func(r *http.Request, via []*http.Request) error {
		if len(via) >= 3 || r.URL.Scheme+"://"+r.URL.Host != base {
			return http.ErrUseLastResponse
		}
		return nil
	}
}

// readRoot is what a service root says; nil for what is none. Some BMCs want a login even for that, which those of Redfish
// refuse with the header that the standard gives every answer.
func readRoot(res *http.Response, body []byte) *node.FoundRedfish {
	if res.StatusCode == http.StatusUnauthorized || res.StatusCode == http.StatusForbidden {
		if res.Header.Get("OData-Version") == "" {
			return nil
		}
		return &node.FoundRedfish{}
	}
	var root map[string]any
	if res.StatusCode != http.StatusOK || json.Unmarshal(body, &root) != nil || !isRoot(root) {
		return nil
	}
	found := &node.FoundRedfish{Product: word(root["Product"]), Vendor: word(root["Vendor"]), Version: word(root["RedfishVersion"]), UUID: word(root["UUID"])}
	if oem, ok := root["Oem"].(map[string]any); ok && found.Vendor == "" && len(oem) == 1 {
		for vendor := range oem {
			found.Vendor = word(vendor)
		}
	}
	return found
}

func isRoot(root map[string]any) bool {
	if kind, _ := root["@odata.type"].(string); strings.Contains(kind, "ServiceRoot") {
		return true
	}
	return root["RedfishVersion"] != nil && (root["Systems"] != nil || root["Managers"] != nil || root["Chassis"] != nil)
}

// word is a text in one line of bounded length; "" for anything else.
func word(v any) string {
	s, _ := v.(string)
	s = strings.Join(strings.FieldsFunc(s, func(r rune) bool { return unicode.IsSpace(r) || !unicode.IsPrint(r) }), " ")
	if r := []rune(s); len(r) > wordLimit {
		return string(r[:wordLimit-1]) + "…"
	}
	return s
}

func digest(c *x509.Certificate) string {
	sum := sha256.Sum256(c.Raw)
	return hex.EncodeToString(sum[:])
}

func trusted(at netip.Addr, chain []*x509.Certificate) bool {
	rest := x509.NewCertPool()
	for _, c := range chain[1:] {
		rest.AddCert(c)
	}
	_, err := chain[0].Verify(x509.VerifyOptions{DNSName: at.WithZone("").String(), Intermediates: rest})
	return err == nil
}
