package redfish_test

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/pem"
	"errors"
	"io"
	"maps"
	"net"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"cagenut/bmc"
	"cagenut/bmc/redfish"
	"cagenut/bmc/sim"
	"cagenut/node"
)

// fault is a BMC that cannot be used: its driver_info, or the simulator's with a change.
type fault struct {
	name string
	info func(t *testing.T) map[string]any
	do   func(t *testing.T, c bmc.Client) error // nil: the power is read
	want error                                  // the kind: *node.Unreachable with its Trouble, or another
	says []string                               // beside the address
}

const secret = "never-to-be-seen-4711"

// bmcAt is the driver_info of a BMC at an address.
func bmcAt(address string) func(*testing.T) map[string]any {
	return func(*testing.T) map[string]any {
		return map[string]any{"redfish_address": address, "redfish_username": "admin", "redfish_password": secret}
	}
}

// simulated is that of a simulated BMC, which has a fault and another driver_info than it gives.
func simulated(f sim.Fault, change map[string]any) func(*testing.T) map[string]any {
	return func(t *testing.T) map[string]any {
		s := startServer(t, sim.Options{Password: "right-4711"})
		return faulty(t, s, f, change)
	}
}

// secure is simulated with TLS.
func secure(f sim.Fault, change map[string]any) func(*testing.T) map[string]any {
	return func(t *testing.T) map[string]any {
		s := startServer(t, sim.Options{TLS: true, CAFile: filepath.Join(t.TempDir(), "ca.pem")})
		return faulty(t, s, f, change)
	}
}

func faulty(t *testing.T, s *sim.Server, f sim.Fault, change map[string]any) map[string]any {
	t.Helper()
	info := s.DriverInfo()
	maps.Copy(info, change)
	if f == "" {
		return info
	}
	if err := s.SwitchOn(f, sim.Strength{}); err != nil {
		t.Fatal(err)
	}
	return info
}

// webServer is that of a service which is not a BMC's.
func webServer(status int, body string, header ...string) func(*testing.T) map[string]any {
	return func(t *testing.T) map[string]any {
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			if len(header) == 2 {
				w.Header().Set(header[0], header[1])
			}
			w.WriteHeader(status)
			_, _ = io.WriteString(w, body)
		}))
		t.Cleanup(server.Close)
		return bmcAt(server.URL)(t)
	}
}

// socket is that of something that does not speak HTTP: it says what it has to say to every caller and hangs up, or is silent.
func socket(says string, hangsUp bool) func(*testing.T) map[string]any {
	return func(t *testing.T) map[string]any {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		done := make(chan struct{})
		go func() {
			defer close(done)
			var open []net.Conn
			for {
				c, err := l.Accept()
				if err != nil {
					break
				}
				if !hangsUp {
					open = append(open, c)
					continue
				}
				_, _ = c.Read(make([]byte, 1<<10))
				_, _ = io.WriteString(c, says)
				_ = c.Close()
			}
			for _, c := range open {
				_ = c.Close()
			}
		}()
		t.Cleanup(func() { _ = l.Close(); <-done })
		return bmcAt("http://" + l.Addr().String())(t)
	}
}

func closedPort(t *testing.T) map[string]any {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	_ = l.Close()
	return bmcAt("http://" + l.Addr().String())(t)
}

func unreachable(kind node.Trouble) error { return &node.Unreachable{Trouble: kind} }

// faults are all the ways in which a BMC cannot be used (issue 4, "what bad input gets").
var faults = []fault{
	{"an address to which nothing leads", bmcAt("https://127.255.255.255"), nil, unreachable(node.TroubleRoute), []string{"nothing leads to that address"}},
	{"a peer that takes the connection and is silent", socket("", false), nil, unreachable(node.TroubleSilence), []string{"check the BMC's address"}},
	{"a BMC that hangs", simulated(sim.FaultHang, nil), nil, unreachable(node.TroubleSilence), []string{"network cable"}},
	{"a BMC that hangs before TLS", secure(sim.FaultHang, nil), nil, unreachable(node.TroubleSilence), []string{"network cable"}},
	{"a name that does not resolve", bmcAt("bmc..example"), nil, unreachable(node.TroubleName), []string{"cannot be resolved"}},
	{"a port at which nothing listens", closedPort, nil, unreachable(node.TroubleRefused), []string{"nothing listens there"}},
	{"a BMC that hangs up", socket("", true), nil, unreachable(node.TroubleCut), []string{"closed the connection"}},

	{"a certificate of an unknown CA", secure("", map[string]any{"redfish_verify_ca": true}), nil, unreachable(node.TroubleCertificate), []string{"nobody whom we trust", "redfish_verify_ca", "SHA-256"}},
	{"a certificate that signs itself", secure(sim.FaultCertificateSelfSigned, nil), nil, unreachable(node.TroubleCertificate), []string{"nobody whom we trust", "redfish_certificate_sha256"}},
	{"a certificate of another name", secure(sim.FaultCertificateName, nil), nil, unreachable(node.TroubleCertificate), []string{"of another name", "SHA-256"}},
	{"a certificate that has expired", secure(sim.FaultCertificateExpired, nil), nil, unreachable(node.TroubleCertificate), []string{"has expired", "SHA-256"}},
	{"a certificate that is not the pinned one", secure("", map[string]any{"redfish_certificate_sha256": strings.Repeat("ab", 32)}), nil, unreachable(node.TroublePin), []string{"not the pinned one", "pinned is AB:AB:AB", "somebody stands in between"}},
	{"TLS that is too old", secure(sim.FaultOldTLS, nil), nil, unreachable(node.TroubleOldTLS), []string{"old TLS", "redfish_old_tls"}},
	{"cipher suites that are too old", secure(sim.FaultRSAKeyExchange, nil), nil, unreachable(node.TroubleOldTLS), []string{"redfish_old_tls"}},
	{"plain HTTP where TLS was expected", secure(sim.FaultPlainHTTP, nil), nil, unreachable(node.TroubleScheme), []string{"begin redfish_address with http://"}},
	{"TLS where plain HTTP was expected", func(t *testing.T) map[string]any {
		info := secure("", nil)(t)
		info["redfish_address"] = strings.Replace(info["redfish_address"].(string), "https", "http", 1)
		return info
	}, nil, unreachable(node.TroubleScheme), []string{"begin redfish_address with https://"}},
	{"an alert of TLS where plain HTTP was expected", socket("\x15\x03\x01\x00\x02\x02\x46", true), nil, unreachable(node.TroubleScheme), []string{"https://"}},
	{"a server that sends plain callers to TLS", webServer(301, "", "Location", "https://192.0.2.1/redfish/v1/"), nil, unreachable(node.TroubleScheme), []string{"https://"}},

	{"a password that is wrong", simulated("", map[string]any{"redfish_password": secret}), nil, node.ErrCredentials, []string{"refused the credentials"}},
	{"a user that there is not", simulated("", map[string]any{"redfish_username": "nobody"}), nil, node.ErrCredentials, []string{"refused the credentials"}},
	{"a page in HTML", webServer(200, "<html>Welcome</html>"), nil, unreachable(node.TroubleForeign), []string{"not a Redfish service"}},
	{"a web server without such a page", webServer(404, "404 page not found"), nil, unreachable(node.TroubleForeign), []string{"404", "not a Redfish service"}},
	{"JSON of something else", webServer(200, `{"versions":[{"id":"v1"}]}`), nil, unreachable(node.TroubleForeign), []string{"no service root", "not a Redfish service"}},
	{"JSON that is no object", webServer(200, `[1,2]`), nil, unreachable(node.TroubleForeign), []string{"no service root"}},
	{"a system that there is not", simulated("", map[string]any{"redfish_system_id": "/redfish/v1/Systems/9"}), nil, &node.Invalid{}, []string{"has no system /redfish/v1/Systems/9", "redfish_system_id"}},
	{"an operation that it does not have", simulated("", nil), func(t *testing.T, c bmc.Client) error {
		return c.SetBoot(t.Context(), node.Boot{Device: node.BootSafe})
	}, &node.Unsupported{}, []string{"does not support"}},
	{"503 until patience ends", simulated(sim.FaultBusy, nil), nil, unreachable(node.TroubleBusy), []string{"503", "stayed busy"}},
	{"no session left, and no Basic authentication", func(t *testing.T) map[string]any {
		s := startServer(t, sim.Options{})
		info := faulty(t, s, sim.FaultNoBasic, nil)
		return faulty(t, s, sim.FaultSessionLimit, info)
	}, nil, unreachable(node.TroubleBusy), []string{"gives no session"}},
	{"409 while the server is in POST", simulated(sim.FaultPowerConflict, nil), func(t *testing.T, c bmc.Client) error { // G34
		return c.SetPower(t.Context(), node.ActionOn)
	}, unreachable(node.TroubleBusy), []string{"409", "in the state that the server is in now"}},
	{"a boot device refused while the server is in POST", func(t *testing.T) map[string]any { // G64
		s := startServer(t, sim.Options{})
		if err := s.SwitchOn(sim.FaultPOSTBusy, sim.Strength{Delay: time.Hour}); err != nil {
			t.Fatal(err)
		}
		s.SetPower(node.PowerOn)
		return s.DriverInfo()
	}, func(t *testing.T, c bmc.Client) error {
		if err := c.SetPower(t.Context(), node.ActionReboot); err != nil {
			t.Fatal(err)
		}
		return c.SetBoot(t.Context(), node.Boot{Device: node.BootPXE})
	}, unreachable(node.TroubleBusy), []string{"in the state that the server is in now"}},
}

func TestEachFaultHasAKindAndASentenceOfItsOwn(t *testing.T) { // G34, G37, G64
	o := quick()
	o.Try = 500 * time.Millisecond
	for _, f := range faults {
		t.Run(f.name, func(t *testing.T) {
			n := node.Node{UUID: node.NewUUID(), Driver: node.DriverRedfish, DriverInfo: f.info(t)}
			c := open(t, newDriver(t, o), n)
			do := f.do
			if do == nil {
				do = func(t *testing.T, c bmc.Client) error { _, err := c.Power(t.Context()); return err }
			}
			err := do(t, c)
			var u, want *node.Unreachable
			switch {
			case err == nil:
				t.Fatal("no error")
			case errors.As(f.want, &want):
				if !errors.As(err, &u) || u.Trouble != want.Trouble || u.Timeout != (want.Trouble == node.TroubleSilence) {
					t.Errorf("%v: want trouble %q", err, want.Trouble)
				}
			case errors.Is(f.want, node.ErrCredentials):
				if !errors.Is(err, node.ErrCredentials) {
					t.Errorf("%v: want refused credentials", err)
				}
			case errors.As(f.want, new(*node.Invalid)) != errors.As(err, new(*node.Invalid)), errors.As(f.want, new(*node.Unsupported)) != errors.As(err, new(*node.Unsupported)):
				t.Errorf("%v: want %T", err, f.want)
			}
			address := strings.ToLower(n.DriverInfo["redfish_address"].(string))
			for _, part := range append(f.says, address) {
				if part == address && errors.As(err, new(*node.Unsupported)) {
					continue // it is not about the BMC
				}
				if !strings.Contains(err.Error(), part) {
					t.Errorf("%v\ndoes not say %q", err, part)
				}
			}
			if strings.Contains(err.Error(), secret) || strings.ContainsAny(err.Error(), "\r\n") {
				t.Errorf("%q holds the password, or more than a line", err)
			}
		})
	}
}

// pinOf is the fingerprint of the certificate that a simulated BMC shows now.
func pinOf(t *testing.T, s *sim.Server) string {
	t.Helper()
	block, _ := pem.Decode(s.Certificate())
	if block == nil {
		t.Fatal("no certificate")
	}
	sum := sha256.Sum256(block.Bytes)
	return hex.EncodeToString(sum[:])
}

// colons is a fingerprint as openssl prints it.
func colons(pin string) string {
	var parts []string
	for i := 0; i < len(pin); i += 2 {
		parts = append(parts, strings.ToUpper(pin[i:i+2]))
	}
	return strings.Join(parts, ":")
}

func TestAPinnedCertificateIsTrustedWhoeverSignedItAndNoOther(t *testing.T) {
	for _, f := range []sim.Fault{"", sim.FaultCertificateSelfSigned, sim.FaultCertificateName, sim.FaultCertificateExpired} {
		t.Run("certificate "+string(f), func(t *testing.T) {
			s := startServer(t, sim.Options{TLS: true})
			n := node.Node{UUID: node.NewUUID(), Driver: node.DriverRedfish, DriverInfo: faulty(t, s, f, nil)}
			pin := pinOf(t, s)
			n.DriverInfo["redfish_certificate_sha256"] = "SHA256:" + colons(pin)
			d := newDriver(t, patient())
			if _, err := open(t, d, n).Power(t.Context()); err != nil {
				t.Fatal(err)
			}
			if err := s.SwitchOn(sim.FaultCertificateRenewed, sim.Strength{}); err != nil {
				t.Fatal(err)
			}
			s.ForgetRequests()
			_, err := open(t, d, n).Power(t.Context())
			var u *node.Unreachable
			if !errors.As(err, &u) || u.Trouble != node.TroublePin || u.Answered {
				t.Fatalf("a changed certificate: %v", err)
			}
			for _, print := range []string{colons(pin), colons(pinOf(t, s))} {
				if !strings.Contains(err.Error(), print) {
					t.Errorf("%v\ndoes not show %s", err, print)
				}
			}
			if asked := s.Requests(); len(asked) != 0 {
				t.Errorf("it was told all the same: %v", asked)
			}
			n.DriverInfo["redfish_certificate_sha256"] = pinOf(t, s)
			if _, err := open(t, d, n).Power(t.Context()); err != nil {
				t.Errorf("the new pin: %v", err)
			}
		})
	}
}

func TestOldTLSIsSpokenOnlyWhenItIsAllowedByName(t *testing.T) {
	for _, f := range []sim.Fault{sim.FaultOldTLS, sim.FaultRSAKeyExchange} {
		info := faulty(t, startServer(t, sim.Options{TLS: true}), f, map[string]any{"redfish_verify_ca": false})
		for _, allowed := range []any{nil, false, "no", true, "True", 1} {
			n := node.Node{Driver: node.DriverRedfish, DriverInfo: maps.Clone(info)}
			n.DriverInfo["redfish_old_tls"] = allowed
			d := newDriver(t, patient())
			_, err := open(t, d, n).Power(t.Context())
			if yes := allowed != nil && allowed != false && allowed != "no"; (err == nil) != yes {
				t.Errorf("%s, redfish_old_tls %v: %v", f, allowed, err)
			}
			if warning := d.Warn(n); (warning != "") != (err == nil) {
				t.Errorf("%s, redfish_old_tls %v: the warning is %q", f, allowed, warning)
			}
		}
	}
}

func TestACAFileThatIsWrittenAnewCountsAtOnce(t *testing.T) {
	ca := filepath.Join(t.TempDir(), "ca.pem")
	first := startServer(t, sim.Options{TLS: true, CAFile: ca})
	n := nodeOf(first)
	d := newDriver(t, patient())
	ask(t, d, n)
	startServer(t, sim.Options{TLS: true, CAFile: ca, FirstAddress: "127.77.62.1"}) // another rack's CA takes its place
	if _, err := open(t, d, n).Power(t.Context()); err == nil {
		t.Error("the BMC of the CA before is still trusted")
	}
}

func TestSettingsOfTrustThatMakeNoSenseAreInvalid(t *testing.T) {
	d := redfish.New(quick())
	pin := strings.Repeat("0a", 32)
	for _, c := range []struct {
		address, key string
		value        any
		good         bool
	}{
		{"192.0.2.10", "redfish_certificate_sha256", pin, true},
		{"192.0.2.10", "redfish_certificate_sha256", " sha-256=" + colons(pin) + "\n", true},
		{"192.0.2.10", "redfish_certificate_sha256", "sha256 Fingerprint=" + colons(pin), true}, // openssl's
		{"192.0.2.10", "redfish_certificate_sha256", "", true},
		{"192.0.2.10", "redfish_certificate_sha256", "first", false},
		{"192.0.2.10", "redfish_certificate_sha256", pin[2:], false},
		{"192.0.2.10", "redfish_certificate_sha256", pin + "0a", false},
		{"192.0.2.10", "redfish_certificate_sha256", []any{pin}, false},
		{"http://192.0.2.10", "redfish_certificate_sha256", pin, false}, // it would protect nothing
		{"192.0.2.10", "redfish_old_tls", "maybe", false},
		{"192.0.2.10", "redfish_old_tls", map[string]any{}, false},
		{"192.0.2.10", "redfish_old_tls", 2, false},
		{"192.0.2.10", "redfish_old_tls", "", true},
	} {
		n := node.Node{Driver: node.DriverRedfish, DriverInfo: map[string]any{"redfish_address": c.address, c.key: c.value}}
		err := d.Validate(n)
		if c.good != (err == nil) || !c.good && (!errors.As(err, new(*node.Invalid)) || !strings.Contains(err.Error(), c.key)) {
			t.Errorf("%s %v at %s: %v", c.key, c.value, c.address, err)
		}
	}
}
