package finder_test

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"net/url"
	"strconv"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"cagenut/bmc/finder"
	"cagenut/bmc/sim"
	"cagenut/node"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// server is a simulated BMC.
func server(t *testing.T, o sim.Options) *sim.Server {
	t.Helper()
	o.Servers, o.Seed = 1, 7
	rack, err := sim.Start(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := rack.Close(); err != nil {
			t.Error(err)
		}
	})
	return rack.Servers()[0]
}

// place is where a simulated BMC listens.
func place(t *testing.T, s *sim.Server) (netip.Addr, int) {
	t.Helper()
	if s.Driver == node.DriverIPMI {
		return netip.MustParseAddr(s.Address), s.Port
	}
	return placeOf(t, s.Address)
}

func placeOf(t *testing.T, address string) (netip.Addr, int) {
	t.Helper()
	u, err := url.Parse(address)
	if err != nil {
		t.Fatal(err)
	}
	at, err := netip.ParseAddrPort(u.Host)
	if err != nil {
		t.Fatal(err)
	}
	return at.Addr(), int(at.Port())
}

func redfish(port int, plain bool) node.SearchPorts {
	return node.SearchPorts{Redfish: []node.RedfishPort{{Port: port, Plain: plain}}}
}

func quick() *finder.Finder { return finder.New(finder.Options{Timeout: 300 * time.Millisecond}) }

func TestARedfishBMCIsFoundWithoutALogin(t *testing.T) {
	s := server(t, sim.Options{})
	at, port := place(t, s)
	found := finder.New(finder.Options{}).Find(t.Context(), at, redfish(port, true))
	if len(found) != 1 || found[0].Redfish == nil || found[0].IPMI != nil {
		t.Fatalf("found %+v", found)
	}
	if r := found[0].Redfish; r.URL != s.Address || r.Version == "" || r.Fingerprint != "" {
		t.Errorf("the BMC at %s is %+v", s.Address, r)
	}
	if s.Sessions().Opened != 0 {
		t.Errorf("somebody logged in: %+v", s.Sessions())
	}
}

func TestACertificateThatNobodyTrustsIsShownWithItsFingerprint(t *testing.T) {
	s := server(t, sim.Options{TLS: true})
	at, port := place(t, s)
	found := finder.New(finder.Options{}).Find(t.Context(), at, redfish(port, false))
	if len(found) != 1 || len(found[0].Redfish.Fingerprint) != 64 || found[0].Redfish.Trusted {
		t.Fatalf("found %+v", found)
	}
	if info := found[0].DriverInfo(node.DriverRedfish); info["redfish_address"] != s.Address {
		t.Errorf("a node of it would have %v, the BMC is at %s", info, s.Address)
	}
}

func TestAnIPMIBMCIsFoundByWhatComesBeforeALogin(t *testing.T) {
	s := server(t, sim.Options{IPMI: 1})
	at, port := place(t, s)
	found := finder.New(finder.Options{}).Find(t.Context(), at, node.SearchPorts{IPMI: []int{port}})
	if len(found) != 1 || found[0].IPMI == nil || *found[0].IPMI != (node.FoundIPMI{Port: port, Version: "2.0"}) {
		t.Fatalf("found %+v", found)
	}
	if info := found[0].DriverInfo(node.DriverIPMI); info["ipmi_address"] != at.String() || info["ipmi_port"] != port {
		t.Errorf("a node of it would have %v", info)
	}
}

func TestABMCThatSpeaksBothIsOneFind(t *testing.T) {
	web, bus := server(t, sim.Options{FirstAddress: "127.0.0.1"}), server(t, sim.Options{IPMI: 1, FirstAddress: "127.0.0.1"})
	at, port := place(t, web)
	_, other := place(t, bus)
	found := finder.New(finder.Options{}).Find(t.Context(), at, node.SearchPorts{Redfish: []node.RedfishPort{{Port: port, Plain: true}}, IPMI: []int{other}})
	if len(found) != 1 || found[0].Redfish == nil || found[0].IPMI == nil {
		t.Fatalf("found %+v", found)
	}
	if d := found[0].Drivers(); len(d) != 2 || d[0] != node.DriverRedfish {
		t.Errorf("it is reached by %v", d)
	}
}

// answering is a service that gives one answer to everything.
func answering(t *testing.T, status int, header http.Header, body string) (netip.Addr, int) {
	t.Helper()
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		for k, v := range header {
			w.Header()[k] = v
		}
		w.WriteHeader(status)
		fmt.Fprint(w, body)
	}))
	t.Cleanup(srv.Close)
	return placeOf(t, srv.URL)
}

func TestWhatIsNoRedfishServiceIsNotFound(t *testing.T) {
	for name, c := range map[string]struct {
		status int
		header http.Header
		body   string
	}{
		"a web site":                         {status: 200, body: "<html><script>alert(1)</script>"},
		"a site that answers JSON":           {status: 200, body: `{"status":"ok"}`},
		"JSON that is no object":             {status: 200, body: `["RedfishVersion"]`},
		"a site without that page":           {status: 404, body: "not here"},
		"a site that wants a login":          {status: 401, header: http.Header{"WWW-Authenticate": {"Basic"}}},
		"an answer that is too long to read": {status: 200, body: `{"RedfishVersion":"1.0.0","Systems":{},"x":"` + strings.Repeat("x", 1<<20) + `"}`},
		"a redirect to somewhere else":       {status: 302, header: http.Header{"Location": {"http://192.0.2.1/redfish/v1/"}}},
		"a redirect in a circle":             {status: 302, header: http.Header{"Location": {"/redfish/v1/"}}},
	} {
		t.Run(name, func(t *testing.T) {
			at, port := answering(t, c.status, c.header, c.body)
			if found := quick().Find(t.Context(), at, redfish(port, true)); len(found) != 0 {
				t.Errorf("found %+v", found)
			}
		})
	}
}

func TestAServiceRootThatWantsALoginIsFoundAllTheSame(t *testing.T) {
	at, port := answering(t, 401, http.Header{"OData-Version": {"4.0"}}, "")
	if found := quick().Find(t.Context(), at, redfish(port, true)); len(found) != 1 {
		t.Errorf("found %+v", found)
	}
}

func TestWhatAStrangerSaysIsKeptShortAndInOneLine(t *testing.T) {
	at, port := answering(t, 200, nil, `{"@odata.type":"#ServiceRoot.v1_5_0.ServiceRoot","Product":"a\u0000\u202e\nb `+strings.Repeat("é", 500)+`","Vendor":7,"Oem":{"Acme":{}}}`)
	found := quick().Find(t.Context(), at, redfish(port, true))
	if len(found) != 1 {
		t.Fatalf("found %+v", found)
	}
	if r := found[0].Redfish; !strings.HasPrefix(r.Product, "a b é") || len([]rune(r.Product)) != 100 || r.Vendor != "Acme" {
		t.Errorf("it is %+v", r)
	}
}

func TestAServiceAtTwoPortsIsOneFindByTheSecureOne(t *testing.T) {
	root := func(w http.ResponseWriter, _ *http.Request) {
		fmt.Fprint(w, `{"@odata.type":"#ServiceRoot.v1_5_0.ServiceRoot","RedfishVersion":"1.6.0","UUID":"92384634-2938-2342-8820-489239905423"}`)
	}
	plain, secure := httptest.NewServer(http.HandlerFunc(root)), httptest.NewTLSServer(http.HandlerFunc(root))
	t.Cleanup(plain.Close)
	t.Cleanup(secure.Close)
	at, first := placeOf(t, plain.URL)
	_, second := placeOf(t, secure.URL)
	found := finder.New(finder.Options{}).Find(t.Context(), at, node.SearchPorts{Redfish: []node.RedfishPort{{Port: first, Plain: true}, {Port: second}}})
	if len(found) != 1 || found[0].Redfish.URL != secure.URL {
		t.Errorf("found %+v", found)
	}
}

func TestWhoeverKeepsSilentCostsTheTimeOutAndNoMore(t *testing.T) {
	s := server(t, sim.Options{})
	if err := s.SwitchOn(sim.FaultHang, sim.Strength{}); err != nil {
		t.Fatal(err)
	}
	at, port := place(t, s)
	deaf, err := net.ListenPacket("udp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = deaf.Close() })
	began := time.Now()
	found := quick().Find(t.Context(), at, redfish(port, true))
	found = append(found, quick().Find(t.Context(), netip.MustParseAddr("127.0.0.1"), node.SearchPorts{IPMI: []int{deaf.LocalAddr().(*net.UDPAddr).Port}})...)
	if len(found) != 0 || time.Since(began) < 500*time.Millisecond {
		t.Errorf("found %+v after %s", found, time.Since(began))
	}
}

func TestACancelledSearchStopsAsking(t *testing.T) {
	deaf, err := net.ListenPacket("udp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = deaf.Close() })
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan []node.FoundBMC)
	go func() {
		done <- finder.New(finder.Options{Timeout: time.Hour}).Find(ctx, netip.MustParseAddr("127.0.0.1"), node.SearchPorts{IPMI: []int{deaf.LocalAddr().(*net.UDPAddr).Port}})
	}()
	if _, _, err := deaf.ReadFrom(make([]byte, 100)); err != nil {
		t.Fatal(err)
	}
	cancel()
	if found := <-done; len(found) != 0 {
		t.Errorf("found %+v", found)
	}
}

// echo answers every datagram with what say makes of it.
func echo(t *testing.T, say func([]byte) []byte) int {
	t.Helper()
	conn, err := net.ListenPacket("udp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ended := make(chan struct{})
	t.Cleanup(func() { _ = conn.Close(); <-ended })
	go func() {
		defer close(ended)
		b := make([]byte, 1024)
		for {
			n, from, err := conn.ReadFrom(b)
			if err != nil {
				return
			}
			if answer := say(b[:n]); answer != nil {
				_, _ = conn.WriteTo(answer, from)
			}
		}
	}()
	return conn.LocalAddr().(*net.UDPAddr).Port
}

func TestDatagramsAreReadWithCare(t *testing.T) {
	message := func(code, auth, extended byte) []byte {
		return []byte{6, 0, 0xff, 7, 0, 0, 0, 0, 0, 0, 0, 0, 0, 16, 0x81, 0x1c, 0x63, 0x20, 0, 0x38, code, 1, auth, 0, extended, 0, 0, 0, 0, 0}
	}
	pong := []byte{6, 0, 0xff, 6, 0, 0, 0x11, 0xbe, 0x40, 0x2a, 0, 16, 0, 0, 0x11, 0xbe, 0, 0, 0, 0, 0x81, 0, 0, 0, 0, 0, 0, 0}
	for name, c := range map[string]struct {
		say  func([]byte) []byte
		want string
	}{
		"a BMC of IPMI 2.0":          {func([]byte) []byte { return message(0, 0x96, 0x02) }, "2.0"},
		"a BMC of IPMI 1.5":          {func([]byte) []byte { return message(0, 0x16, 0) }, "1.5"},
		"a BMC that refuses":         {func([]byte) []byte { return message(0xcc, 0, 0)[:21] }, "1.5"},
		"a BMC that only pings":      {func(b []byte) []byte { return map[bool][]byte{true: pong}[len(b) == 12] }, "1.5"},
		"a ping without IPMI":        {func([]byte) []byte { return append(append([]byte{}, pong[:20]...), 1, 0, 0) }, ""},
		"our own question come back": {func(b []byte) []byte { return b }, ""},
		"a datagram that is cut":     {func([]byte) []byte { return message(0, 0x96, 2)[:10] }, ""},
		"noise":                      {func([]byte) []byte { return []byte(strings.Repeat("\x06", 1000)) }, ""},
		"an empty datagram":          {func([]byte) []byte { return []byte{} }, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			found := quick().Find(t.Context(), netip.MustParseAddr("127.0.0.1"), node.SearchPorts{IPMI: []int{echo(t, c.say)}})
			got := ""
			if len(found) == 1 {
				got = found[0].IPMI.Version
			}
			if got != c.want {
				t.Errorf("IPMI %q, want %q", got, c.want)
			}
		})
	}
}

func TestNobodyThereIsNoFind(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	_, p, _ := net.SplitHostPort(l.Addr().String())
	port, _ := strconv.Atoi(p)
	_ = l.Close()
	if found := quick().Find(t.Context(), netip.MustParseAddr("127.0.0.1"), node.SearchPorts{Redfish: []node.RedfishPort{{Port: port}}, IPMI: []int{port}}); len(found) != 0 {
		t.Errorf("found %+v", found)
	}
}
