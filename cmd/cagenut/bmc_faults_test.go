package main

import (
	"fmt"
	"maps"
	"net"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"cagenut/bmc/sim"
	"cagenut/node"
)

// badPassword is in the driver_info of BMCs that must not show it to anybody.
const badPassword = "never-seen-4711"

// badBMC is a BMC that cannot be used.
type badBMC struct {
	driver string
	info   map[string]any
	says   []string // in last_error, beside the address
}

// faultySim is a rack of simulated BMCs that are not enrolled; each gets a fault of its own.
func faultySim(t *testing.T, o sim.Options, faults ...sim.Fault) []*sim.Server {
	t.Helper()
	o.Servers = len(faults)
	if o.TLS {
		o.CAFile = filepath.Join(t.TempDir(), "ca.pem")
	}
	rack, err := sim.Start(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := rack.Close(); err != nil {
			t.Error(err)
		}
	})
	for i, s := range rack.Servers() {
		if faults[i] == "" {
			continue
		}
		if err := s.SwitchOn(faults[i], sim.Strength{}); err != nil {
			t.Fatal(err)
		}
	}
	return rack.Servers()
}

// badBMCs are all faults at once: issue 4, "what bad input gets".
func badBMCs(t *testing.T) map[string]badBMC {
	t.Helper()
	elsewhere := func(body string) map[string]any {
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte(body)) }))
		t.Cleanup(server.Close)
		return map[string]any{"redfish_address": server.URL, "redfish_username": "admin", "redfish_password": badPassword}
	}
	redfishAt := func(address string) map[string]any {
		return map[string]any{"redfish_address": address, "redfish_username": "admin", "redfish_password": badPassword}
	}
	ipmiAt := func(address string, port int) map[string]any {
		return map[string]any{"ipmi_address": address, "ipmi_port": port, "ipmi_username": "admin", "ipmi_password": badPassword}
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	closed := l.Addr().(*net.TCPAddr).Port
	_ = l.Close()
	with := func(s *sim.Server, change map[string]any) map[string]any {
		info := s.DriverInfo()
		maps.Copy(info, change)
		return info
	}
	plain := faultySim(t, sim.Options{FirstAddress: "127.77.71.1", Password: badPassword}, sim.FaultHang, sim.FaultBusy, sim.FaultDrop, "", "", "")
	secure := faultySim(t, sim.Options{FirstAddress: "127.77.72.1", Password: badPassword, TLS: true},
		"", sim.FaultCertificateExpired, sim.FaultCertificateName, "", sim.FaultOldTLS, sim.FaultPlainHTTP, "")
	ipmi := faultySim(t, sim.Options{FirstAddress: "127.77.73.1", Password: badPassword, IPMI: 3}, sim.FaultHang, "", sim.FaultBusy)
	pin := strings.Repeat("ab", 32)
	all := map[string]badBMC{
		"no-way":        {node.DriverRedfish, redfishAt("https://127.255.255.255"), []string{"nothing leads to that address"}},
		"silent":        {node.DriverRedfish, plain[0].DriverInfo(), []string{"check the BMC's address"}},
		"no-name":       {node.DriverRedfish, redfishAt("bmc..example"), []string{"cannot be resolved"}},
		"refused":       {node.DriverRedfish, redfishAt(fmt.Sprintf("http://127.0.0.1:%d", closed)), []string{"nothing listens there"}},
		"hangs-up":      {node.DriverRedfish, plain[2].DriverInfo(), []string{"closed the connection"}},
		"unknown-ca":    {node.DriverRedfish, with(secure[0], map[string]any{"redfish_verify_ca": true}), []string{"nobody whom we trust", "SHA-256"}},
		"expired":       {node.DriverRedfish, secure[1].DriverInfo(), []string{"expired"}},
		"wrong-name":    {node.DriverRedfish, secure[2].DriverInfo(), []string{"of another name"}},
		"not-pinned":    {node.DriverRedfish, with(secure[3], map[string]any{"redfish_certificate_sha256": pin}), []string{"not the pinned one", "AB:AB:AB"}},
		"old-tls":       {node.DriverRedfish, secure[4].DriverInfo(), []string{"redfish_old_tls"}},
		"no-tls":        {node.DriverRedfish, secure[5].DriverInfo(), []string{"begin redfish_address with http://"}},
		"tls":           {node.DriverRedfish, with(secure[6], map[string]any{"redfish_address": strings.Replace(secure[6].Address, "https", "http", 1)}), []string{"begin redfish_address with https://"}},
		"credentials":   {node.DriverRedfish, with(plain[3], map[string]any{"redfish_password": "wrong-" + badPassword}), []string{"refused the credentials"}},
		"html":          {node.DriverRedfish, elsewhere("<html>Welcome</html>"), []string{"not a Redfish service"}},
		"json":          {node.DriverRedfish, elsewhere(`{"versions":[]}`), []string{"not a Redfish service"}},
		"no-system":     {node.DriverRedfish, with(plain[4], map[string]any{"redfish_system_id": "/redfish/v1/Systems/9"}), []string{"has no system /redfish/v1/Systems/9"}},
		"busy":          {node.DriverRedfish, plain[1].DriverInfo(), []string{"503", "stayed busy"}},
		"bad-pin":       {node.DriverRedfish, with(secure[3], map[string]any{"redfish_certificate_sha256": "first"}), []string{"redfish_certificate_sha256"}},
		"ipmi-silent":   {node.DriverIPMI, ipmi[0].DriverInfo(), []string{"check the BMC's address"}},
		"ipmi-password": {node.DriverIPMI, with(ipmi[1], map[string]any{"ipmi_password": "x" + badPassword}), []string{"refused the credentials"}},
		"ipmi-busy":     {node.DriverIPMI, ipmi[2].DriverInfo(), []string{"stayed busy"}},
		"ipmi-no-name":  {node.DriverIPMI, ipmiAt("bmc..example", 623), []string{"cannot be resolved"}},
		"ipmi-refused":  {node.DriverIPMI, ipmiAt("127.0.0.1", closed), []string{"nothing listens there"}},
	}
	return all
}

// A node whose BMC cannot be used is what it was before, and says why in a sentence with the address (issue 4; G37).
func TestANodeWithABadBMCStaysEnrolledAndSaysWhy(t *testing.T) {
	t.Parallel()
	a := serveForTest(t, true, withoutRamdisk)
	all := badBMCs(t)
	began := time.Now()
	for name, b := range all {
		a.make("/v1/nodes", map[string]any{"name": name, "driver": b.driver, "driver_info": b.info})
		a.provision(name, "manage")
	}
	for name, b := range all {
		n := a.until(name, "its end", func(n node.Node) bool { return n.ProvisionState != node.Verifying })
		address, _ := node.Text(b.info["redfish_address"])
		if b.driver == node.DriverIPMI {
			address, _ = node.Text(b.info["ipmi_address"])
		}
		if name == "bad-pin" {
			address = "" // nobody was asked
		}
		if n.ProvisionState != node.Enroll || n.Reserved() || n.Maintenance || n.PowerState != "" {
			t.Errorf("%s: %q, power %q, reserved by %q", name, n.ProvisionState, n.PowerState, n.Reservation)
		}
		for _, part := range append(b.says, address) {
			if !strings.Contains(n.LastError, part) {
				t.Errorf("%s: the last error is %q, without %q", name, n.LastError, part)
			}
		}
		_, _, shown := a.send("GET", "/v1/nodes/"+name, "latest", nil)
		if strings.Contains(n.LastError, badPassword) || strings.Contains(string(shown), badPassword) {
			t.Errorf("%s shows its password", name)
		}
		// It can be deleted at once, whatever its BMC does.
		if status, _, body := a.send("DELETE", "/v1/nodes/"+name, "latest", nil); status != http.StatusNoContent {
			t.Errorf("%s: DELETE: %d %s", name, status, body)
		}
	}
	if took := time.Since(began); took > time.Minute {
		t.Errorf("it took %s", took)
	}
}
