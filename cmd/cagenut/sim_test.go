package main

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"
)

// heard keeps what a command prints and tells when a line is there.
type heard struct {
	mu   sync.Mutex
	text strings.Builder
	more chan struct{}
}

// Write is io.Writer's.
func (h *heard) Write(p []byte) (int, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	select {
	case h.more <- struct{}{}:
	default:
	}
	return h.text.Write(p)
}

func (h *heard) String() string {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.text.String()
}

// startSim runs the command until the test ends, and gives the address of its control API.
func startSim(t *testing.T, args ...string) (control string, out *heard) {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	out, ended := &heard{more: make(chan struct{}, 1)}, make(chan error, 1)
	go func() {
		ended <- run(ctx, append([]string{"sim", "--control", "127.0.0.1:0"}, args...), out, io.Discard)
	}()
	t.Cleanup(func() {
		cancel()
		if err := <-ended; err != nil {
			t.Errorf("it ended with %v", err)
		}
		goleak.VerifyNone(t, goleak.IgnoreCurrent())
	})
	address := regexp.MustCompile(`Control: (http://\S+)`)
	deadline := time.After(10 * time.Second)
	for {
		if m := address.FindStringSubmatch(out.String()); m != nil && strings.Contains(out.String(), "nothing is kept") {
			return m[1], out
		}
		select {
		case <-out.more:
		case err := <-ended:
			ended <- nil
			t.Fatalf("it ended: %v", err)
		case <-deadline:
			t.Fatalf("it said only %q", out)
		}
	}
}

func callSim(t *testing.T, method, url, body string, into any) int {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), method, url, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	req.Close = true
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = res.Body.Close() }()
	if into != nil {
		if err := json.NewDecoder(res.Body).Decode(into); err != nil {
			t.Fatal(err)
		}
	}
	return res.StatusCode
}

func TestSimRunsBMCsWithFaultsThatACallSwitchesOn(t *testing.T) {
	control, out := startSim(t, "--servers", "5", "--redfish", "--ipmi", "2", "--listen", "127.77.31.1", "--keep-requests", "50")
	var servers []struct {
		Name, Driver, Address string
		DriverInfo            map[string]any `json:"driver_info"`
	}
	callSim(t, "GET", control+"/servers", "", &servers)
	kinds := map[string]int{}
	redfish := ""
	for _, s := range servers {
		kinds[s.Driver]++
		if s.Driver == "redfish" && redfish == "" {
			redfish = s.Address
		}
		if !strings.Contains(out.String(), s.Name) {
			t.Errorf("%s was not printed", s.Name)
		}
	}
	if kinds["redfish"] != 3 || kinds["ipmi"] != 2 {
		t.Fatalf("%v", kinds)
	}
	before := callSim(t, "GET", redfish+"/redfish/v1/", "", nil)
	callSim(t, "PUT", control+"/servers/*/faults/busy", `{"count":1}`, nil)
	if busy, after := callSim(t, "GET", redfish+"/redfish/v1/", "", nil), callSim(t, "GET", redfish+"/redfish/v1/", "", nil); before != 200 || busy != 503 || after != 200 {
		t.Errorf("%d, busy %d, after %d", before, busy, after)
	}
}

func TestSimSpeaksTLSWithACAThatItWrites(t *testing.T) {
	file := filepath.Join(t.TempDir(), "ca.pem")
	control, out := startSim(t, "--servers", "1", "--listen", "127.77.33.1", "--tls", "--ca-file", file)
	var servers []struct {
		Address    string
		DriverInfo map[string]any `json:"driver_info"`
	}
	callSim(t, "GET", control+"/servers", "", &servers)
	ca, err := os.ReadFile(file)
	if err != nil || !strings.Contains(out.String(), file) || servers[0].DriverInfo["redfish_verify_ca"] != file {
		t.Fatalf("%v, %+v, %s", err, servers, out)
	}
	trusted := x509.NewCertPool()
	trusted.AppendCertsFromPEM(ca)
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true, TLSClientConfig: &tls.Config{RootCAs: trusted}}}
	res, err := client.Get(servers[0].Address + "/redfish/v1/")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = res.Body.Close() }()
	if res.StatusCode != http.StatusOK || !strings.HasPrefix(servers[0].Address, "https://") {
		t.Errorf("%s: %s", servers[0].Address, res.Status)
	}
}

func TestSimSharesServersAsTheFlagsSay(t *testing.T) {
	for name, c := range map[string]struct {
		args          string
		redfish, ipmi int
		refused       bool
	}{
		"nothing said: all Redfish":        {"--servers 4", 4, 0, false},
		"both without a number: halves":    {"--servers 5 --redfish --ipmi", 3, 2, false},
		"IPMI alone":                       {"--servers 3 --ipmi", 0, 3, false},
		"a number of each":                 {"--redfish 2 --ipmi 3", 2, 3, false},
		"with an equals sign":              {"--redfish=2 --ipmi=3", 2, 3, false},
		"a number and the rest":            {"--servers 6 --redfish --ipmi 2", 4, 2, false},
		"a number of Redfish and the rest": {"--servers 6 --ipmi --redfish 5", 5, 1, false},
		"a number of IPMI alone":           {"--ipmi 2", 0, 2, false},
		"more than there are":              {"--servers 2 --redfish --ipmi 3", 0, 0, true},
		"no server":                        {"--servers 0", 0, 0, true},
	} {
		t.Run(name, func(t *testing.T) {
			args := append(strings.Fields(c.args), "--listen", "127.77.32.1")
			if c.refused {
				if err := run(t.Context(), append([]string{"sim", "--control", "127.0.0.1:0"}, args...), io.Discard, io.Discard); err == nil {
					t.Error("it ran")
				}
				return
			}
			control, _ := startSim(t, args...)
			var servers []struct{ Driver string }
			callSim(t, "GET", control+"/servers", "", &servers)
			kinds := map[string]int{}
			for _, s := range servers {
				kinds[s.Driver]++
			}
			if kinds["redfish"] != c.redfish || kinds["ipmi"] != c.ipmi {
				t.Errorf("%v, want %d and %d", kinds, c.redfish, c.ipmi)
			}
		})
	}
}

func TestSimRefusesBadSettingsInOneSentence(t *testing.T) {
	for name, c := range map[string]struct{ args, says string }{
		"a control API for everybody": {"--control 0.0.0.0:7700", "loopback"},
		"an address that is none":     {"--listen rack-one", "--listen"},
		"a port of 0":                 {"--listen 127.0.0.1:0", "--listen"},
		"too many for the ports":      {"--listen 127.0.0.1:65530 --servers 12", "ports"},
		"boot files nowhere":          {"--boot-url appliance:6385", "--boot-url"},
		"a CA without TLS":            {"--ca-file ca.pem", "--tls"},
		"a CA nowhere":                {"--tls --ca-file /nowhere/ca.pem", "CA"},
		"a number that is none":       {"--ipmi=many", "number"},
		"a negative number":           {"--ipmi=-1", "number"},
	} {
		t.Run(name, func(t *testing.T) {
			args := append([]string{"sim", "--control", "127.0.0.1:0"}, strings.Fields(c.args)...)
			if err := run(t.Context(), args, io.Discard, io.Discard); err == nil || !strings.Contains(err.Error(), c.says) || strings.Contains(err.Error(), "\n") {
				t.Errorf("%v", err)
			}
		})
	}
}
