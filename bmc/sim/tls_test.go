package sim_test

import (
	"bytes"
	"context"
	"crypto/sha256"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"cagenut/bmc"
	"cagenut/bmc/redfish"
	"cagenut/bmc/sim"
	"cagenut/node"
)

// startSecure is a rack that speaks TLS; its CA's certificate is in a file that all driver_info name.
func startSecure(t *testing.T, o sim.Options) *sim.Rack {
	t.Helper()
	o.TLS, o.CAFile = true, filepath.Join(t.TempDir(), "ca.pem")
	return startRack(t, o)
}

// handshake is one with somebody who knows the rack's CA, and with old clients' patience where old is set.
func handshake(t *testing.T, r *sim.Rack, s *sim.Server, old bool) (tls.ConnectionState, error) {
	t.Helper()
	trusted := x509.NewCertPool()
	if !trusted.AppendCertsFromPEM(r.CA()) {
		t.Fatal("the CA is no certificate")
	}
	c := &tls.Config{RootCAs: trusted}
	if old {
		c.MinVersion = tls.VersionTLS10
		for _, suite := range slices.Concat(tls.CipherSuites(), tls.InsecureCipherSuites()) {
			c.CipherSuites = append(c.CipherSuites, suite.ID)
		}
	}
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	conn, err := (&tls.Dialer{Config: c}).DialContext(ctx, "tcp", strings.TrimPrefix(s.Address, "https://"))
	if err != nil {
		return tls.ConnectionState{}, err
	}
	defer func() { _ = conn.Close() }()
	return conn.(*tls.Conn).ConnectionState(), nil
}

// tlsQuirks are the faults of TLS with what a modern client and one for old machines meet.
var tlsQuirks = []struct {
	fault       sim.Fault
	modern, old func(tls.ConnectionState, error) bool
}{
	{sim.FaultCertificateExpired, invalid(x509.Expired), invalid(x509.Expired)},
	{sim.FaultCertificateRenewed, works, works},
	{sim.FaultCertificateSelfSigned, unknownAuthority, unknownAuthority},
	{sim.FaultCertificateName, otherName, otherName},
	{sim.FaultOldTLS, alert, func(c tls.ConnectionState, err error) bool { return err == nil && c.Version == tls.VersionTLS11 }},
	{sim.FaultRSAKeyExchange, alert, func(c tls.ConnectionState, err error) bool {
		return err == nil && c.Version == tls.VersionTLS12 && c.CipherSuite == tls.TLS_RSA_WITH_AES_128_GCM_SHA256
	}},
	{sim.FaultPlainHTTP, notTLS, notTLS},
}

func works(_ tls.ConnectionState, err error) bool { return err == nil }

func invalid(reason x509.InvalidReason) func(tls.ConnectionState, error) bool {
	return func(_ tls.ConnectionState, err error) bool {
		var e x509.CertificateInvalidError
		return errors.As(err, &e) && e.Reason == reason
	}
}

func unknownAuthority(_ tls.ConnectionState, err error) bool {
	var e x509.UnknownAuthorityError
	return errors.As(err, &e)
}

func otherName(_ tls.ConnectionState, err error) bool {
	var e x509.HostnameError
	return errors.As(err, &e)
}

func alert(_ tls.ConnectionState, err error) bool {
	var remote *net.OpError
	return errors.As(err, &remote) && remote.Op == "remote error" // the BMC's alert: nothing that both know
}

func notTLS(_ tls.ConnectionState, err error) bool {
	var e tls.RecordHeaderError
	return errors.As(err, &e)
}

func TestTLSFaultsOnTheWire(t *testing.T) {
	r := startSecure(t, sim.Options{Servers: 1})
	s := r.Servers()[0]
	for _, q := range tlsQuirks {
		t.Run(string(q.fault), func(t *testing.T) {
			before := s.Certificate()
			switchOn(t, s, q.fault, sim.Strength{})
			if c, err := handshake(t, r, s, false); !q.modern(c, err) {
				t.Errorf("a modern client: version %x, %v", c.Version, err)
			}
			if c, err := handshake(t, r, s, true); !q.old(c, err) {
				t.Errorf("a client for old machines: version %x, %v", c.Version, err)
			}
			if same := bytes.Equal(before, s.Certificate()); same != (q.fault == sim.FaultPlainHTTP) {
				t.Errorf("the same certificate as before: %t", same)
			}
			s.Heal()
			if _, err := handshake(t, r, s, false); err != nil || !bytes.Equal(before, s.Certificate()) {
				t.Errorf("after healing: %v", err)
			}
		})
	}
}

func TestTLSFaultsTakeTLS(t *testing.T) {
	plain := startRack(t, sim.Options{Servers: 1, FirstAddress: "127.77.9.1"}).Servers()[0]
	ipmi := startSecure(t, sim.Options{Servers: 1, IPMI: 1, FirstAddress: "127.77.9.2"}).Servers()[0]
	for _, s := range []*sim.Server{plain, ipmi} {
		if err := s.SwitchOn(sim.FaultCertificateExpired, sim.Strength{}); err == nil || len(s.ActiveFaults()) != 0 || s.Certificate() != nil {
			t.Errorf("%s at %s: %v", s.Driver, s.Address, err)
		}
	}
	if r, err := sim.Start(t.Context(), sim.Options{Servers: 1, CAFile: filepath.Join(t.TempDir(), "ca.pem")}); err == nil {
		t.Error("a file for a CA that there is not")
		closeRack(t, r)
	}
}

// TestEachBMCHasACertificateOfItsOwn shows what pins are compared with: the certificates differ, and stay while nothing changes.
func TestEachBMCHasACertificateOfItsOwn(t *testing.T) {
	r := startSecure(t, sim.Options{Servers: 2})
	seen := map[[32]byte]bool{}
	for _, s := range r.Servers() {
		for range 2 {
			c, err := handshake(t, r, s, false)
			if err != nil {
				t.Fatal(err)
			}
			block, _ := pem.Decode(s.Certificate())
			if !bytes.Equal(block.Bytes, c.PeerCertificates[0].Raw) {
				t.Errorf("%s shows another certificate than it says", s.Name)
			}
			seen[sha256.Sum256(block.Bytes)] = true
		}
	}
	if len(seen) != 2 {
		t.Errorf("%d certificates", len(seen))
	}
}

// secureClient opens the appliance's own client with a driver_info that was changed.
func secureClient(t *testing.T, s *sim.Server, change map[string]any) (bmc.Client, error) {
	t.Helper()
	d := redfish.New(redfish.Options{Try: 2 * time.Second, Operation: 5 * time.Second, Pause: 5 * time.Millisecond})
	t.Cleanup(func() { _ = d.Close(context.Background()) }) // a BMC that is trusted no more takes no logout
	info := s.DriverInfo()
	for k, v := range change {
		info[k] = v
	}
	return d.Open(node.Node{Driver: s.Driver, DriverInfo: info})
}

// TestRedfishClientTrustsTheCAThatItWasTold holds the appliance's client to redfish_verify_ca, fault by fault: its error names the
// BMC and says what to look at.
func TestRedfishClientTrustsTheCAThatItWasTold(t *testing.T) {
	s := startSecure(t, sim.Options{Servers: 1}).Servers()[0]
	unchecked := map[string]any{"redfish_verify_ca": false}
	for _, c := range []struct {
		name   string
		change map[string]any
		fault  sim.Fault // "": none
		says   string    // of the error; "": it works
	}{
		{"the CA of the rack", nil, "", ""},
		{"the CAs of the system", map[string]any{"redfish_verify_ca": true}, "", "redfish_verify_ca"},
		{"no check", unchecked, "", ""},
		{"an expired certificate", nil, sim.FaultCertificateExpired, "expired"},
		{"an expired certificate, no check", unchecked, sim.FaultCertificateExpired, ""},
		{"a renewed certificate", nil, sim.FaultCertificateRenewed, ""},
		{"a certificate signed by itself", nil, sim.FaultCertificateSelfSigned, "redfish_verify_ca"},
		{"a certificate of another name", nil, sim.FaultCertificateName, "redfish_verify_ca"},
		{"a certificate of another name, no check", unchecked, sim.FaultCertificateName, ""},
		{"old TLS", unchecked, sim.FaultOldTLS, "protocol version"},
		{"RSA key exchange", unchecked, sim.FaultRSAKeyExchange, "handshake failure"},
		{"plain HTTP at the port of TLS", nil, sim.FaultPlainHTTP, "HTTP response"},
	} {
		t.Run(c.name, func(t *testing.T) {
			s.Heal()
			s.ForgetRequests()
			if c.fault != "" {
				switchOn(t, s, c.fault, sim.Strength{})
			}
			client, err := secureClient(t, s, c.change)
			if err != nil {
				t.Fatal(err)
			}
			power, err := client.Power(t.Context())
			if c.says == "" {
				if err != nil || power != node.PowerOff {
					t.Errorf("%q, %v", power, err)
				}
				return
			}
			var u *node.Unreachable
			if !errors.As(err, &u) || u.Timeout || !strings.Contains(err.Error(), s.Address) || !strings.Contains(err.Error(), c.says) {
				t.Errorf("%v", err)
			}
			if asked := s.Requests(); len(asked) != 0 {
				t.Errorf("it was asked all the same: %v", asked)
			}
		})
	}
}

// TestHangingBMCDoesNotEvenShakeHands shows where a dead BMC with TLS is met: before any request.
func TestHangingBMCDoesNotEvenShakeHands(t *testing.T) { // G36
	r := startSecure(t, sim.Options{Servers: 1})
	s := r.Servers()[0]
	s.SetFaults(sim.Faults{Hang: true})
	done := make(chan error, 1)
	go func() {
		_, err := handshake(t, r, s, false)
		done <- err
	}()
	wait(t, s, "greeted", func(s *sim.Server) bool { return len(s.Requests()) == 1 })
	select {
	case err := <-done:
		t.Fatalf("it answered while it hangs: %v", err)
	default:
	}
	s.Heal()
	if err := <-done; err != nil {
		t.Errorf("after healing: %v", err)
	}
}

// TestChangedCertificateCutsConnections shows that a client cannot go on with a connection of before.
func TestChangedCertificateCutsConnections(t *testing.T) {
	s := startSecure(t, sim.Options{Servers: 1}).Servers()[0]
	client, err := secureClient(t, s, nil)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := client.Power(t.Context()); err != nil {
		t.Fatal(err)
	}
	switchOn(t, s, sim.FaultCertificateSelfSigned, sim.Strength{})
	if power, err := client.Power(t.Context()); err == nil {
		t.Errorf("it is trusted on: %q", power)
	}
}

func TestControlTellsOfTheCA(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "ca.pem")
	c := startControl(t, sim.Options{Servers: 1, TLS: true, CAFile: file})
	var said struct{ CA, File string }
	if status := c.do(t, http.MethodGet, "/ca", "", &said); status != http.StatusOK || said.File != file {
		t.Errorf("%d, %+v", status, said)
	}
	written, err := os.ReadFile(file)
	if err != nil || string(written) != said.CA || !bytes.Equal(written, c.rack.CA()) {
		t.Errorf("the file holds something else: %v", err)
	}
	var view struct {
		Certificate string
		DriverInfo  map[string]any `json:"driver_info"`
	}
	c.do(t, http.MethodGet, "/servers/r1-u01", "", &view)
	if view.Certificate != string(c.rack.Servers()[0].Certificate()) || view.DriverInfo["redfish_verify_ca"] != file {
		t.Errorf("%+v", view)
	}
	plain := startControl(t, sim.Options{Servers: 1, FirstAddress: "127.77.9.9"})
	if status := plain.do(t, http.MethodGet, "/ca", "", nil); status != http.StatusNotFound || plain.rack.CA() != nil {
		t.Errorf("without TLS: %d", status)
	}
}
